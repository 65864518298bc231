//! Gaps as a scenario writes them: a time, or a distribution of times.

use std::borrow::Cow;
use std::fmt;

use linkpool_settings::{Bounds, Names, NoNames, Quantity, Written, Wrong};
use linkpool_units::Time;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Gaps;

/// From the end of one thing to the start of the next.
#[derive(Clone, Debug)]
pub enum Gap {
    /// Always as long.
    One(Time),
    /// By a distribution.
    Drawn(GapDistribution),
}

/// A distribution of gaps: exactly one of `exponential` and `lognormal`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GapDistribution {
    /// The mean of an exponential distribution.
    exponential: Option<Time>,
    /// The logarithm is normal.
    lognormal: Option<LogNormal>,
}

/// A log-normal distribution.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LogNormal {
    /// Mean of the gap itself, not of its logarithm.
    mean: Time,
    /// Standard deviation of the natural logarithm.
    #[schemars(range(min = 0))]
    sigma: f64,
}

/// Beyond this sigma, a millionth of the gaps makes the mean.
const SIGMA: Bounds = Bounds::from(0.0, "{}: must be from 0 to 5").to(5.0);

impl Written<Gaps> for Gap {
    fn of(value: &Gaps) -> Gap {
        let none = GapDistribution::default();
        match *value {
            Gaps::Constant(gap) => Gap::One(gap),
            Gaps::Exponential { mean } => Gap::Drawn(GapDistribution { exponential: Some(mean), ..none }),
            Gaps::LogNormal { mean, sigma } => {
                Gap::Drawn(GapDistribution { lognormal: Some(LogNormal { mean, sigma }), ..none })
            }
        }
    }

    fn value(self) -> Gaps {
        self.find(&NoNames).unwrap_or(Gaps::NONE)
    }

    fn find(self, _: &dyn Names) -> Result<Gaps, Vec<Wrong>> {
        let within = |bounds: &Bounds, value: &dyn Quantity, at: &str| {
            value.outside(bounds).map_or(Ok(()), |wrong| Err(vec![Wrong::at(at, wrong.message)]))
        };
        match self {
            Gap::One(gap) => gap.outside(&Bounds::SPAN).map_or(Ok(Gaps::Constant(gap)), |wrong| Err(vec![wrong])),
            Gap::Drawn(GapDistribution { exponential: Some(mean), lognormal: None }) => {
                within(&Bounds::POSITIVE_SPAN, &mean, "exponential")?;
                Ok(Gaps::Exponential { mean })
            }
            Gap::Drawn(GapDistribution { exponential: None, lognormal: Some(LogNormal { mean, sigma }) }) => {
                within(&Bounds::POSITIVE_SPAN, &mean, "lognormal.mean")?;
                within(&SIGMA, &sigma, "lognormal.sigma")?;
                Ok(Gaps::LogNormal { mean, sigma })
            }
            Gap::Drawn(_) => Err(vec!["a distribution has exactly one of `exponential` and `lognormal`".into()]),
        }
    }
}

impl Serialize for Gap {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Gap::One(time) => time.serialize(serializer),
            Gap::Drawn(distribution) => distribution.serialize(serializer),
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
        GapDistribution::deserialize(MapAccessDeserializer::new(map)).map(Gap::Drawn)
    }
}

impl JsonSchema for Gap {
    fn schema_name() -> Cow<'static, str> {
        "Gap".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A time, or a distribution of times.",
            "anyOf": [generator.subschema_for::<Time>(), generator.subschema_for::<GapDistribution>()],
        })
    }
}
