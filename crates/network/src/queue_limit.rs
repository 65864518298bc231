//! A queue length, as a scenario writes it: a whole number of packets, or a size.

use std::borrow::Cow;
use std::fmt;

use linkpool_settings::Quantity;
use linkpool_units::Bytes;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A queue length, in packets or in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QueueLimit {
    /// A number of packets.
    Packets(u32),
    /// A number of bytes on the wire.
    Bytes(u64),
}

impl Quantity for QueueLimit {
    fn number(&self) -> Option<f64> {
        Some(match *self {
            QueueLimit::Packets(n) => f64::from(n),
            QueueLimit::Bytes(n) => n as f64,
        })
    }

    fn text(&self) -> String {
        match *self {
            QueueLimit::Packets(n) => n.to_string(),
            QueueLimit::Bytes(n) => Bytes(n).to_string(),
        }
    }
}

impl Serialize for QueueLimit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            QueueLimit::Packets(n) => serializer.serialize_u32(n),
            QueueLimit::Bytes(n) => Bytes(n).serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for QueueLimit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<QueueLimit, D::Error> {
        deserializer.deserialize_any(QueueLimitVisitor)
    }
}

struct QueueLimitVisitor;

impl Visitor<'_> for QueueLimitVisitor {
    type Value = QueueLimit;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number of packets, such as 100, or a size, such as \"150KB\"")
    }

    fn visit_i64<E: Error>(self, n: i64) -> Result<QueueLimit, E> {
        u32::try_from(n).map(QueueLimit::Packets).map_err(|_| E::invalid_value(Unexpected::Signed(n), &self))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<QueueLimit, E> {
        // The remedy for a size would be wrong for a number of packets.
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(E::invalid_value(Unexpected::Str(text), &self));
        }
        text.parse().map(|Bytes(n)| QueueLimit::Bytes(n)).map_err(E::custom)
    }
}

impl JsonSchema for QueueLimit {
    fn schema_name() -> Cow<'static, str> {
        "QueueLimit".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Packets as a whole number, or bytes as a size.",
            "anyOf": [{ "type": "integer", "minimum": 0, "maximum": u32::MAX }, generator.subschema_for::<Bytes>()],
        })
    }
}
