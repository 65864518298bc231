//! The setting of the duplicate-ACK threshold: how many duplicate ACKs mean a loss.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// Duplicate ACKs that mean a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DupackThreshold {
    /// A fixed number.
    Acks(u32),
    /// For scattered packets: by the number of paths;
    /// [`Sender::expect_reordering`](crate::Sender::expect_reordering) sets it.
    Auto,
    /// By the reordering that SACKs and D-SACKs show (RR-TCP; with MMPTCP, in phase 1).
    Adaptive,
}

impl DupackThreshold {
    /// Before anything else is known.
    pub(crate) fn initial(self) -> u32 {
        match self {
            DupackThreshold::Acks(n) => n,
            DupackThreshold::Auto | DupackThreshold::Adaptive => 3,
        }
    }
}

impl Serialize for DupackThreshold {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            DupackThreshold::Acks(n) => serializer.serialize_u32(n),
            DupackThreshold::Auto => serializer.serialize_str("auto"),
            DupackThreshold::Adaptive => serializer.serialize_str("adaptive"),
        }
    }
}

impl<'de> Deserialize<'de> for DupackThreshold {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<DupackThreshold, D::Error> {
        deserializer.deserialize_any(DupackThresholdVisitor)
    }
}

struct DupackThresholdVisitor;

impl Visitor<'_> for DupackThresholdVisitor {
    type Value = DupackThreshold;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number of duplicate ACKs, such as 3, or \"auto\" or \"adaptive\"")
    }

    fn visit_i64<E: Error>(self, n: i64) -> Result<DupackThreshold, E> {
        u32::try_from(n).map(DupackThreshold::Acks).map_err(|_| E::invalid_value(Unexpected::Signed(n), &self))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<DupackThreshold, E> {
        match text {
            "auto" => Ok(DupackThreshold::Auto),
            "adaptive" => Ok(DupackThreshold::Adaptive),
            _ => Err(E::invalid_value(Unexpected::Str(text), &self)),
        }
    }
}

impl JsonSchema for DupackThreshold {
    fn schema_name() -> Cow<'static, str> {
        "DupackThreshold".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A whole number of duplicate ACKs, \"auto\" or \"adaptive\".",
            "anyOf": [{ "type": "integer", "minimum": 1, "maximum": u32::MAX }, { "enum": ["auto", "adaptive"] }],
        })
    }
}
