//! The number of subflows of a connection.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Subflows of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subflows {
    /// A fixed number.
    Count(u32),
    /// As many as there are equal-cost paths, at most [`Subflows::MOST_AUTO`].
    Auto,
}

impl Subflows {
    /// The most that "auto" opens (MMPTCP paper, section 3.10).
    pub const MOST_AUTO: u32 = 8;

    /// The most that a connection may have.
    pub fn most(self) -> u32 {
        match self {
            Subflows::Count(n) => n,
            Subflows::Auto => Subflows::MOST_AUTO,
        }
    }
}

impl Serialize for Subflows {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Subflows::Count(n) => serializer.serialize_u32(n),
            Subflows::Auto => serializer.serialize_str("auto"),
        }
    }
}

impl<'de> Deserialize<'de> for Subflows {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Subflows, D::Error> {
        deserializer.deserialize_any(SubflowsVisitor)
    }
}

struct SubflowsVisitor;

impl Visitor<'_> for SubflowsVisitor {
    type Value = Subflows;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number of subflows, such as 4, or \"auto\"")
    }

    fn visit_i64<E: Error>(self, n: i64) -> Result<Subflows, E> {
        u32::try_from(n).map(Subflows::Count).map_err(|_| E::invalid_value(Unexpected::Signed(n), &self))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Subflows, E> {
        if text == "auto" { Ok(Subflows::Auto) } else { Err(E::invalid_value(Unexpected::Str(text), &self)) }
    }
}

impl JsonSchema for Subflows {
    fn schema_name() -> Cow<'static, str> {
        "Subflows".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A whole number of subflows, or \"auto\".",
            "anyOf": [{ "type": "integer", "minimum": 1, "maximum": 32 }, { "const": "auto" }],
        })
    }
}
