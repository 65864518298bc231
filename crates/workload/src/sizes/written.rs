//! Sizes of flows as a scenario writes them: a quantity, "unlimited", or a distribution.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use linkpool_settings::{Names, Size, Written, Wrong, closest, mixed};
use linkpool_units::Bytes;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Sizes, least};
use crate::cdf::{Cdf, Interpolation};

/// How large flows are.
#[derive(Clone, Debug)]
pub enum FlowSize {
    /// All alike, or without end.
    One(Size),
    /// By a distribution.
    Drawn(Box<Distribution>),
}

/// A distribution of sizes: exactly one of `uniform`, `pareto` and `cdf`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Distribution {
    /// From the first to the second, both included.
    #[schemars(length(min = 2, max = 2))]
    uniform: Option<Vec<Bytes>>,
    /// Many small ones and a heavy tail.
    pareto: Option<Pareto>,
    /// A table: the name of a published one, a file, or points of size in bytes and probability of
    /// at most this.
    cdf: Option<Table>,
    /// Between the points of `cdf`: "linear", or "stair" (only the sizes of the points). Required
    /// with `cdf`.
    interpolation: Option<Interpolation>,
    /// The mean of `cdf` with this interpolation, if it is to be checked: it may differ by 1%.
    mean: Option<Bytes>,
    /// The name of `cdf` in results. Default: its name or file.
    name: Option<String>,
}

/// A Pareto distribution.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Pareto {
    /// The exponent of the tail, above 1.
    #[schemars(extend("exclusiveMinimum" = 1))]
    shape: f64,
    /// Mean of the distribution without `max`.
    mean: Bytes,
    /// The largest size: larger sizes are drawn again. Default: none.
    max: Option<Bytes>,
}

/// Where a table of sizes is.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
enum Table {
    /// A published one, or a file.
    Named(String),
    /// Here.
    Points(Vec<(f64, f64)>),
}

impl FlowSize {
    fn from_sizes(sizes: Option<&Sizes>) -> FlowSize {
        let drawn = |distribution| FlowSize::Drawn(Box::new(distribution));
        match sizes {
            None => FlowSize::One(Size(None)),
            Some(Sizes::Constant(bytes)) => FlowSize::One(Size(Some(Bytes(*bytes)))),
            Some(Sizes::Uniform { min, max }) => {
                drawn(Distribution { uniform: Some(vec![Bytes(*min), Bytes(*max)]), ..Distribution::default() })
            }
            Some(Sizes::Pareto { shape, mean, max }) => {
                let pareto = Pareto { shape: *shape, mean: Bytes(*mean as u64), max: max.map(Bytes) };
                drawn(Distribution { pareto: Some(pareto), ..Distribution::default() })
            }
            Some(Sizes::Cdf { table, interpolation }) => {
                let mean = table.mean(*interpolation).round() as u64;
                // A published table by its name; any other in full, so that the scenario as run
                // needs no other file.
                let published = Cdf::named(&table.name).as_ref() == Some(&**table);
                let points = || Table::Points(table.points().to_vec());
                drawn(Distribution {
                    cdf: Some(if published { Table::Named(table.name.clone()) } else { points() }),
                    name: (!published).then(|| table.name.clone()),
                    interpolation: Some(*interpolation),
                    mean: Some(Bytes(mean)),
                    ..Distribution::default()
                })
            }
        }
    }

    /// None: without end.
    fn sizes(self, names: &dyn Names) -> Result<Option<Sizes>, Vec<Wrong>> {
        match self {
            FlowSize::One(Size(None)) => Ok(None),
            FlowSize::One(Size(Some(Bytes(0)))) => {
                Err(vec!["must be above zero: a flow carries at least \"1B\"".into()])
            }
            FlowSize::One(Size(Some(Bytes(size)))) => Ok(Some(Sizes::Constant(size))),
            FlowSize::Drawn(distribution) => distribution.sizes(names).map(Some).map_err(|wrong| vec![wrong]),
        }
    }
}

impl Distribution {
    fn sizes(self, names: &dyn Names) -> Result<Sizes, Wrong> {
        let of_cdf = [
            ("interpolation", self.interpolation.is_some()),
            ("name", self.name.is_some()),
            ("mean", self.mean.is_some()),
        ];
        if let Some((key, _)) = of_cdf.iter().find(|(_, given)| *given && self.cdf.is_none()) {
            return Err(Wrong::at(key, "says something about `cdf`, which is not given; leave it out"));
        }
        match (self.uniform, self.pareto, self.cdf) {
            (Some(ends), None, None) => uniform(&ends),
            (None, Some(pareto), None) => pareto.sizes(),
            (None, None, Some(source)) => {
                let missing = "missing, and it changes the load by up to a half; write \"linear\" or \"stair\"";
                let interpolation = self.interpolation.ok_or_else(|| Wrong::at("interpolation", missing))?;
                let sizes = Sizes::Cdf { table: Arc::new(source.cdf(self.name, names)?), interpolation };
                let mean = sizes.mean();
                match self.mean {
                    Some(Bytes(stated)) if (stated as f64 - mean).abs() > 0.01 * mean + 1.0 => Err(Wrong::at(
                        "mean",
                        format!("{stated}B is not the mean of this table with this interpolation, {mean:.0}B"),
                    )),
                    _ => Ok(sizes),
                }
            }
            _ => Err("a distribution has exactly one of `uniform`, `pareto` and `cdf`".into()),
        }
    }
}

fn uniform(ends: &[Bytes]) -> Result<Sizes, Wrong> {
    let [Bytes(min), Bytes(max)] = *ends else {
        return Err(Wrong::at("uniform", "write the smallest and the largest, such as [\"1KB\", \"1MB\"]"));
    };
    if 0 < min && min <= max {
        Ok(Sizes::Uniform { min, max })
    } else {
        Err(Wrong::at("uniform", "the smallest must be at least \"1B\", and the largest not smaller"))
    }
}

impl Pareto {
    fn sizes(self) -> Result<Sizes, Wrong> {
        let Pareto { shape, mean: Bytes(mean), max } = self;
        if !(shape > 1.0 && shape.is_finite()) {
            return Err(Wrong::at("pareto.shape", format!("{shape}: a Pareto distribution has a mean only above 1")));
        }
        let (mean, max) = (mean as f64, max.map(|Bytes(max)| max));
        let least = least(shape, mean);
        if least < 1.0 {
            return Err(Wrong::at("pareto.mean", "the smallest flows would carry less than a byte; raise it"));
        }
        if max.is_some_and(|max| max as f64 <= least) {
            let message = format!("must be above the smallest size, {least:.0}B with this mean and shape");
            return Err(Wrong::at("pareto.max", message));
        }
        Ok(Sizes::Pareto { shape, mean, max })
    }
}

impl Table {
    /// A published table, one from a file, or one written out.
    fn cdf(self, name: Option<String>, names: &dyn Names) -> Result<Cdf, Wrong> {
        let given = match self {
            Table::Points(points) => {
                let table = Cdf::new(name.as_deref().unwrap_or("table"), points);
                return table.map_err(|(i, why)| Wrong::at(format!("cdf.{i}"), why));
            }
            Table::Named(given) => given,
        };
        if let Some(table) = Cdf::named(&given) {
            let twice = || Wrong::at("name", "a published table has its name; leave it out");
            return name.map_or(Ok(table), |_| Err(twice()));
        }
        let text = names.content(&given).map_err(|why| {
            let meant = closest(&given, &Cdf::NAMES).map(|meant| format!("did you mean `{meant}`? "));
            let (meant, known) = (meant.unwrap_or_default(), Cdf::NAMES.join(", "));
            let message = format!(
                "{given:?} is no published table ({meant}known: {known}) and no file that can be read: it {why}"
            );
            Wrong::at("cdf", message)
        })?;
        let table = Cdf::parse(name.as_ref().unwrap_or(&given), &text);
        table.map_err(|(line, why)| Wrong::at("cdf", format!("{given}:{line}: {why}")))
    }
}

impl Written<Option<Sizes>> for FlowSize {
    fn of(value: &Option<Sizes>) -> FlowSize {
        FlowSize::from_sizes(value.as_ref())
    }
    fn value(self) -> Option<Sizes> {
        self.find(&linkpool_settings::NoNames).ok().flatten()
    }
    fn find(self, names: &dyn Names) -> Result<Option<Sizes>, Vec<Wrong>> {
        self.sizes(names)
    }
}

/// Of flows that must end.
impl Written<Sizes> for FlowSize {
    fn of(value: &Sizes) -> FlowSize {
        FlowSize::from_sizes(Some(value))
    }
    fn value(self) -> Sizes {
        Written::<Option<Sizes>>::value(self).unwrap_or(Sizes::Constant(1))
    }
    fn find(self, names: &dyn Names) -> Result<Sizes, Vec<Wrong>> {
        let endless = || vec!["these flows must end; write a size, such as \"128KiB\"".into()];
        self.sizes(names)?.ok_or_else(endless)
    }
}

impl Serialize for FlowSize {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            FlowSize::One(size) => size.serialize(serializer),
            FlowSize::Drawn(distribution) => distribution.serialize(serializer),
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
        mixed::read_text(text).map(FlowSize::One)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<FlowSize, A::Error> {
        let distribution = Distribution::deserialize(MapAccessDeserializer::new(map))?;
        Ok(FlowSize::Drawn(Box::new(distribution)))
    }
}

impl JsonSchema for FlowSize {
    fn schema_name() -> Cow<'static, str> {
        "FlowSize".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A size, \"unlimited\", or a distribution.",
            "anyOf": [generator.subschema_for::<Size>(), generator.subschema_for::<Distribution>()],
        })
    }
}

impl<'de> Deserialize<'de> for Table {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Table, D::Error> {
        deserializer.deserialize_any(TableVisitor)
    }
}

struct TableVisitor;

impl<'de> Visitor<'de> for TableVisitor {
    type Value = Table;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "the name of a table, such as \"websearch_dctcp\", a file, or points such as [[0, 0.0], [1000, 1.0]]",
        )
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Table, E> {
        Ok(Table::Named(name.to_string()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Table, A::Error> {
        let mut points = Vec::new();
        while let Some(point) = seq.next_element()? {
            points.push(point);
        }
        Ok(Table::Points(points))
    }
}

impl JsonSchema for Table {
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
