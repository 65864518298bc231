//! `[[change]]`: links that fail or change.

use std::borrow::Cow;
use std::fmt;

use linkpool_units::{Rate, Time};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use linkpool_network::{Layer, QueueLimit};

use crate::model::LinkState;

/// A time, or "never".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reconverge(pub(crate) Option<Time>);

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

/// A change of some links at some time: exactly one of `links`, `nodes` and `layer`, and at least
/// one of `state`, `rate`, `limit`, `loss` and `burst_loss`.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Change")]
pub(crate) struct ChangeTable {
    /// When. Default: "0s", so that it holds from the start.
    pub(crate) at: Option<Time>,
    /// Until when: then the links are again as the topology and `[queue]` have them. Default: for
    /// good.
    pub(crate) until: Option<Time>,
    /// Links: "A->B" is one direction, "A<->B" both.
    pub(crate) links: Option<Vec<String>>,
    /// Switches or hosts, by name: all links from and to them.
    pub(crate) nodes: Option<Vec<String>>,
    /// All links from and to the switches of a layer (or hosts).
    pub(crate) layer: Option<Layer>,
    /// Only of this share of the `layer`, drawn at random. Default: 1.
    #[schemars(range(min = 0, max = 1))]
    pub(crate) share: Option<f64>,
    /// "down": packets that are queued or in service are lost, and all that arrive, until "up".
    pub(crate) state: Option<LinkState>,
    /// The rate of the links.
    pub(crate) rate: Option<Rate>,
    /// The limit of the queues at their ports, in packets or as a size.
    pub(crate) limit: Option<QueueLimit>,
    /// Probability that a packet is lost on the wire, each by itself.
    #[schemars(range(min = 0, max = 1))]
    pub(crate) loss: Option<f64>,
    /// Loss in bursts instead of `loss`.
    pub(crate) burst_loss: Option<BurstLossTable>,
}

/// Loss by the model of Gilbert and Elliott: a good and a bad state, one step per packet.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "BurstLoss")]
pub(crate) struct BurstLossTable {
    /// Probability that the bad state follows the good one.
    #[schemars(required, range(min = 0, max = 1))]
    pub(crate) to_bad: Option<f64>,
    /// Probability that the good state follows the bad one: 1 / the mean length of a burst.
    #[schemars(required, range(min = 0, max = 1))]
    pub(crate) to_good: Option<f64>,
    /// Probability of loss in the good state. Default: 0.
    #[schemars(range(min = 0, max = 1))]
    pub(crate) in_good: Option<f64>,
    /// Probability of loss in the bad state. Default: 1.
    #[schemars(range(min = 0, max = 1))]
    pub(crate) in_bad: Option<f64>,
}
