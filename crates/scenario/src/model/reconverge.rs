//! When routing follows failures.

use std::borrow::Cow;
use std::fmt;

use linkpool_units::Time;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// How long after links fail or work again routing follows; none: never.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reconverge(pub Option<Time>);

impl Serialize for Reconverge {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Some(time) => time.serialize(serializer),
            None => serializer.serialize_str("never"),
        }
    }
}

impl<'de> Deserialize<'de> for Reconverge {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Reconverge, D::Error> {
        deserializer.deserialize_str(ReconvergeVisitor)
    }
}

struct ReconvergeVisitor;

impl Visitor<'_> for ReconvergeVisitor {
    type Value = Reconverge;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a time with its unit, such as \"10ms\", or \"never\"")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Reconverge, E> {
        match text {
            "never" => Ok(Reconverge(None)),
            _ if text.starts_with(|c: char| c.is_ascii_alphabetic()) => {
                Err(E::invalid_value(Unexpected::Str(text), &self))
            }
            _ => text.parse().map(|time| Reconverge(Some(time))).map_err(E::custom),
        }
    }
}

impl JsonSchema for Reconverge {
    fn schema_name() -> Cow<'static, str> {
        "Reconverge".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A time, or \"never\".",
            "anyOf": [generator.subschema_for::<Time>(), { "const": "never" }],
        })
    }
}
