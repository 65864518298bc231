//! Values that may be written in more than one way.

use std::borrow::Cow;
use std::fmt;

use linkpool_units::Bytes;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::model::{QueueSize, Subflows};

impl Serialize for QueueSize {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            QueueSize::Packets(n) => serializer.serialize_u32(n),
            QueueSize::Bytes(n) => Bytes(n).serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for QueueSize {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<QueueSize, D::Error> {
        deserializer.deserialize_any(QueueSizeVisitor)
    }
}

struct QueueSizeVisitor;

impl Visitor<'_> for QueueSizeVisitor {
    type Value = QueueSize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number of packets, such as 100, or a size, such as \"150KB\"")
    }

    fn visit_i64<E: Error>(self, n: i64) -> Result<QueueSize, E> {
        u32::try_from(n).map(QueueSize::Packets).map_err(|_| E::invalid_value(Unexpected::Signed(n), &self))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<QueueSize, E> {
        // The remedy of a size would be wrong for what is meant as packets.
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(E::invalid_value(Unexpected::Str(text), &self));
        }
        text.parse().map(|Bytes(n)| QueueSize::Bytes(n)).map_err(E::custom)
    }
}

impl JsonSchema for QueueSize {
    fn schema_name() -> Cow<'static, str> {
        "QueueSize".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Packets as a whole number, or bytes as a size.",
            "anyOf": [{ "type": "integer", "minimum": 0, "maximum": u32::MAX }, generator.subschema_for::<Bytes>()],
        })
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
