//! Sizes of flows: a quantity, "unlimited", or a distribution.

use std::borrow::Cow;
use std::fmt;

use linkpool_units::Bytes;
use linkpool_workload::Interpolation;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Size;

/// How large flows are.
#[derive(Clone, Debug)]
pub(crate) enum FlowSize {
    One(Size),
    Drawn(Box<DistributionTable>),
}

/// A distribution of sizes: exactly one of `uniform`, `pareto` and `cdf`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Distribution")]
pub(crate) struct DistributionTable {
    /// From the first to the second, both included.
    #[schemars(length(min = 2, max = 2))]
    pub(crate) uniform: Option<Vec<Bytes>>,
    /// Many small ones and a heavy tail.
    pub(crate) pareto: Option<ParetoTable>,
    /// A table: the name of a published one, a file, or points of size in bytes and probability of
    /// at most this.
    pub(crate) cdf: Option<CdfSource>,
    /// Between the points of `cdf`: "linear", or "stair" (only the sizes of the points). Required
    /// with `cdf`.
    pub(crate) interpolation: Option<InterpolationName>,
    /// The mean of `cdf` with this interpolation, if it is to be checked: it may differ by 1%.
    pub(crate) mean: Option<Bytes>,
    /// The name of `cdf` in results. Default: its name or file.
    pub(crate) name: Option<String>,
}

/// A Pareto distribution.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Pareto")]
pub(crate) struct ParetoTable {
    /// The exponent of the tail, above 1.
    #[schemars(extend("exclusiveMinimum" = 1))]
    pub(crate) shape: f64,
    /// Mean of the distribution without `max`.
    pub(crate) mean: Bytes,
    /// The largest size: larger sizes are drawn again. Default: none.
    pub(crate) max: Option<Bytes>,
}

/// How sizes between the points of a table are drawn.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum InterpolationName {
    Linear,
    Stair,
}

impl InterpolationName {
    pub(crate) fn of(interpolation: Interpolation) -> InterpolationName {
        match interpolation {
            Interpolation::Linear => InterpolationName::Linear,
            Interpolation::Stair => InterpolationName::Stair,
        }
    }

    pub(crate) fn interpolation(self) -> Interpolation {
        match self {
            InterpolationName::Linear => Interpolation::Linear,
            InterpolationName::Stair => Interpolation::Stair,
        }
    }
}

/// Where a table of sizes is.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum CdfSource {
    /// A published one, or a file.
    Named(String),
    /// Here.
    Points(Vec<(f64, f64)>),
}

impl<'de> Deserialize<'de> for CdfSource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<CdfSource, D::Error> {
        deserializer.deserialize_any(CdfVisitor)
    }
}

struct CdfVisitor;

impl<'de> Visitor<'de> for CdfVisitor {
    type Value = CdfSource;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "the name of a table, such as \"websearch_dctcp\", a file, or points such as [[0, 0.0], [1000, 1.0]]",
        )
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<CdfSource, E> {
        Ok(CdfSource::Named(name.to_string()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<CdfSource, A::Error> {
        let mut points = Vec::new();
        while let Some(point) = seq.next_element()? {
            points.push(point);
        }
        Ok(CdfSource::Points(points))
    }
}

impl JsonSchema for CdfSource {
    fn schema_name() -> Cow<'static, str> {
        "Cdf".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let point = json_schema!({ "type": "array", "items": { "type": "number" }, "minItems": 2, "maxItems": 2 });
        json_schema!({
            "description": "A table by its name or file, or its points.",
            "anyOf": [{ "type": "string" }, { "type": "array", "items": point, "minItems": 1 }],
        })
    }
}

impl Serialize for FlowSize {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            FlowSize::One(size) => size.serialize(serializer),
            FlowSize::Drawn(table) => table.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for FlowSize {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<FlowSize, D::Error> {
        deserializer.deserialize_any(FlowSizeVisitor)
    }
}

struct FlowSizeVisitor;

impl<'de> Visitor<'de> for FlowSizeVisitor {
    type Value = FlowSize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a size with its unit, such as \"128KiB\", a distribution, such as { uniform = [\"1KB\", \"1MB\"] }, or \"unlimited\"",
        )
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<FlowSize, E> {
        Size::read(text).map(FlowSize::One)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<FlowSize, A::Error> {
        DistributionTable::deserialize(MapAccessDeserializer::new(map)).map(|table| FlowSize::Drawn(Box::new(table)))
    }
}

impl JsonSchema for FlowSize {
    fn schema_name() -> Cow<'static, str> {
        "FlowSize".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A size, \"unlimited\", or a distribution.",
            "anyOf": [generator.subschema_for::<Size>(), generator.subschema_for::<DistributionTable>()],
        })
    }
}
