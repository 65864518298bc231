//! The settings for the algorithms of MMPTCP's phases.

use super::Algorithm;
use linkpool_settings::Written;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;
use std::fmt;

macro_rules! choices {
    ($($name:ident: $names:expr, $doc:literal;)*) => {$(
        #[doc = $doc]
        #[derive(Clone, Copy, Debug, Serialize)]
        pub(super) struct $name(Algorithm);

        impl Written<Algorithm> for $name {
            fn of(algorithm: &Algorithm) -> $name {
                $name(*algorithm)
            }
            fn value(self) -> Algorithm {
                self.0
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<$name, D::Error> {
                deserializer.deserialize_any(OneOf($names)).map($name)
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "description": $doc, "enum": $names })
            }
        }
    )*};
}

choices! {
    Phase1: Algorithm::SINGLE_PATH, "An algorithm for one path.";
    Phase2: Algorithm::MULTIPATH, "An algorithm for several subflows.";
}

struct OneOf(&'static [&'static str]);

impl Visitor<'_> for OneOf {
    type Value = Algorithm;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "one of {}", self.0.join(", "))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Algorithm, E> {
        let known = Algorithm::named(text).filter(|_| self.0.contains(&text));
        known.ok_or_else(|| E::unknown_variant(text, self.0))
    }
}
