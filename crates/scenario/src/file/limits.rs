//! Values that may be without limit.

use std::borrow::Cow;
use std::fmt;

use linkpool_units::Rate;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A number that may be without limit: the type, how it is written then, what it counts.
macro_rules! numbers {
    ($($name:ident, $visitor:ident, $endless:literal, $what:literal;)*) => {$(
        #[doc = concat!("A whole number of ", $what, ", or \"", $endless, "\".")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) struct $name(pub(crate) Option<u32>);

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self.0 {
                    Some(n) => serializer.serialize_u32(n),
                    None => serializer.serialize_str($endless),
                }
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<$name, D::Error> {
                deserializer.deserialize_any($visitor)
            }
        }

        struct $visitor;

        impl Visitor<'_> for $visitor {
            type Value = $name;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(concat!("a whole number of ", $what, ", such as 3, or \"", $endless, "\""))
            }

            fn visit_i64<E: Error>(self, n: i64) -> Result<$name, E> {
                u32::try_from(n).map(|n| $name(Some(n))).map_err(|_| E::invalid_value(Unexpected::Signed(n), &self))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<$name, E> {
                if text == $endless { Ok($name(None)) } else { Err(E::invalid_value(Unexpected::Str(text), &self)) }
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({
                    "description": concat!("A whole number of ", $what, ", or \"", $endless, "\"."),
                    "anyOf": [{ "type": "integer", "minimum": 1, "maximum": u32::MAX }, { "const": $endless }],
                })
            }
        }
    )*};
}

numbers! {
    Timeouts, TimeoutsVisitor, "never", "timeouts in a row";
    Packets, PacketsVisitor, "unlimited", "packets";
}

/// A rate, or "unlimited".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Speed(pub(crate) Option<Rate>);

impl Serialize for Speed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Some(rate) => rate.serialize(serializer),
            None => serializer.serialize_str("unlimited"),
        }
    }
}

impl<'de> Deserialize<'de> for Speed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Speed, D::Error> {
        deserializer.deserialize_str(SpeedVisitor)
    }
}

struct SpeedVisitor;

impl Visitor<'_> for SpeedVisitor {
    type Value = Speed;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a rate with its unit, such as \"10Gbps\", or \"unlimited\"")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Speed, E> {
        match text {
            "unlimited" => Ok(Speed(None)),
            _ if text.starts_with(|c: char| c.is_ascii_alphabetic()) => {
                Err(E::invalid_value(Unexpected::Str(text), &self))
            }
            _ => text.parse().map(|rate| Speed(Some(rate))).map_err(E::custom),
        }
    }
}

impl JsonSchema for Speed {
    fn schema_name() -> Cow<'static, str> {
        "Speed".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A rate, or \"unlimited\".",
            "anyOf": [generator.subschema_for::<Rate>(), { "const": "unlimited" }],
        })
    }
}
