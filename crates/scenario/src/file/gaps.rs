//! Times between things: always as long, or by a distribution.

use std::borrow::Cow;
use std::fmt;

use linkpool_units::Time;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// From the end of one thing to the start of the next.
#[derive(Clone, Debug)]
pub(crate) enum Gap {
    One(Time),
    Drawn(GapTable),
}

/// A distribution of gaps: exactly one of `exponential` and `lognormal`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "GapDistribution")]
pub(crate) struct GapTable {
    /// The mean of an exponential distribution.
    pub(crate) exponential: Option<Time>,
    /// The logarithm is normal.
    pub(crate) lognormal: Option<LogNormalTable>,
}

/// A log-normal distribution.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "LogNormal")]
pub(crate) struct LogNormalTable {
    /// Mean of the gap itself, not of its logarithm.
    pub(crate) mean: Time,
    /// Standard deviation of the natural logarithm.
    #[schemars(range(min = 0))]
    pub(crate) sigma: f64,
}

impl Serialize for Gap {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Gap::One(time) => time.serialize(serializer),
            Gap::Drawn(table) => table.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Gap {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Gap, D::Error> {
        deserializer.deserialize_any(GapVisitor)
    }
}

struct GapVisitor;

impl<'de> Visitor<'de> for GapVisitor {
    type Value = Gap;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a time with its unit, such as \"50ms\", or a distribution, such as { exponential = \"50ms\" }")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Gap, E> {
        text.parse().map(Gap::One).map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Gap, A::Error> {
        GapTable::deserialize(MapAccessDeserializer::new(map)).map(Gap::Drawn)
    }
}

impl JsonSchema for Gap {
    fn schema_name() -> Cow<'static, str> {
        "Gap".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A time, or a distribution of times.",
            "anyOf": [generator.subschema_for::<Time>(), generator.subschema_for::<GapTable>()],
        })
    }
}
