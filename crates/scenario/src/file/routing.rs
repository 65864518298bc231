//! `[routing]`: choice among links of equal cost, and the central scheduler.

use linkpool_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Reconverge;

/// How switches choose among the links of equal cost to a destination.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Routing")]
pub(crate) struct RoutingTable {
    /// "ecmp": by a hash of addresses and ports; "spray": at random for each packet; "flowlets": at
    /// random for each flowlet; "two-level": by the address of the destination, of which each host
    /// has several. Default: "ecmp".
    pub(crate) kind: Option<RoutingName>,
    /// Of "flowlets": packets of a flow that are so far apart may part.
    pub(crate) gap: Option<Time>,
    /// Of "two-level": addresses of each host; subflow i uses the i-th. Default: half of the ports
    /// of a switch.
    #[schemars(range(min = 1))]
    pub(crate) addresses: Option<u32>,
    /// "equal", or "capacity": in proportion to the capacity to the destination over each link.
    /// Default: "equal".
    pub(crate) weights: Option<WeightsName>,
    /// The weights of links, if not by rule; 1 for links that are not named.
    pub(crate) link: Option<Vec<LinkWeightTable>>,
    /// The central scheduler of transports with `paths = "placed"`, which need it.
    pub(crate) placement: Option<PlacementTable>,
    /// So long after links fail or work again, switches and hosts route accordingly; or "never".
    /// Required where a change has a `state`.
    pub(crate) reconverge: Option<Reconverge>,
}

/// A central scheduler.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Placement")]
pub(crate) struct PlacementTable {
    /// From one look at all flows to the next.
    #[schemars(required)]
    pub(crate) period: Option<Time>,
    /// A flow is long if it got this share of the capacity of its host's links in a period.
    /// Default: 0.1.
    #[schemars(extend("exclusiveMinimum" = 0), range(max = 1))]
    pub(crate) share: Option<f64>,
}

/// How a switch chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum RoutingName {
    Ecmp,
    Spray,
    Flowlets,
    TwoLevel,
}

/// The shares of links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum WeightsName {
    Equal,
    Capacity,
}

/// The weight of a link.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "LinkWeight")]
pub(crate) struct LinkWeightTable {
    /// The link, as FROM->TO.
    pub(crate) name: String,
    /// Its share relative to the other links.
    #[schemars(range(min = 1, max = 64))]
    pub(crate) weight: u32,
}
