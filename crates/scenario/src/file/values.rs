//! Values that may be written in more than one way.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::model::Subflows;

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

/// A host, by its name or its index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Host {
    Name(String),
    Index(u32),
}

impl Serialize for Host {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Host::Name(name) => serializer.serialize_str(name),
            Host::Index(index) => serializer.serialize_u32(*index),
        }
    }
}

impl<'de> Deserialize<'de> for Host {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Host, D::Error> {
        deserializer.deserialize_any(HostVisitor)
    }
}

struct HostVisitor;

impl Visitor<'_> for HostVisitor {
    type Value = Host;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a host, such as \"S1\", or its index, such as 0")
    }

    fn visit_i64<E: Error>(self, n: i64) -> Result<Host, E> {
        u32::try_from(n).map(Host::Index).map_err(|_| E::invalid_value(Unexpected::Signed(n), &self))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Host, E> {
        Ok(Host::Name(text.to_string()))
    }
}

impl JsonSchema for Host {
    fn schema_name() -> Cow<'static, str> {
        "Host".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A host, by its name or its index.",
            "anyOf": [{ "type": "string" }, { "type": "integer", "minimum": 0 }],
        })
    }
}
