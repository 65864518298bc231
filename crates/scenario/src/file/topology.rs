use linkpool_units::{Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BCubeTable, FatTreeTable, GraphTable, LeafSpineTable, Vl2Table};

/// The fabric: exactly one kind. Links are full duplex, with one rate and one propagation delay
/// for both directions.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "Topology", extend("minProperties" = 1, "maxProperties" = 1))]
pub(crate) struct TopologyTable {
    /// Hosts S1..Sn and R around one switch W (AMP, Figure 1).
    pub(crate) many_to_one: Option<ManyToOneTable>,
    /// Hosts S1 S2 S3 D1 D2 D3, switches A1 B1 A2 B2; bottlenecks A1->B1 and A2->B2. S2 and D2
    /// have a NIC on each (AMP, Figure 5).
    pub(crate) traffic_shift: Option<TrafficShiftTable>,
    /// Hosts S1..Sn and D1..Dn on either side of the switches L and R.
    pub(crate) dumbbell: Option<DumbbellTable>,
    /// Hosts h0.. under edge switches e<pod>.<i>, aggregation switches a<pod>.<i> and core
    /// switches c<i>.
    pub(crate) fat_tree: Option<FatTreeTable>,
    /// Hosts h0.. under leaf switches l<i>, each joined to every spine switch s<i>.
    pub(crate) leaf_spine: Option<LeafSpineTable>,
    /// Hosts h0.. under top-of-rack switches t<i>, aggregation switches a<i> and intermediate switches
    /// i<i>.
    pub(crate) vl2: Option<Vl2Table>,
    /// Hosts h0.. that forward, and switches s<level>.<i>.
    pub(crate) bcube: Option<BCubeTable>,
    /// Hosts S1.. D1.. X1.. Y1.., switches A1.. B1..; bottlenecks A1->B1, A2->B2 and so on. Si and Di
    /// have a NIC on bottleneck i and one on the next (XMP, Figure 5).
    pub(crate) ring: Option<RingTable>,
    /// Hosts S1 to S3 and D1 to D3; bottlenecks A1->B1, A2->B2 and A3->B3, joined by C1 to C3. From Si to Di the short way is
    /// over bottleneck i, the long one over the two others.
    pub(crate) triangle: Option<TriangleTable>,
    /// Any graph, from a JSON file or written here.
    pub(crate) graph: Option<GraphTable>,
}

/// Hosts S1..Sn and R around one switch W.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ManyToOneTopology")]
pub(crate) struct ManyToOneTable {
    /// Number of senders.
    #[schemars(required, range(min = 1))]
    pub(crate) senders: Option<u32>,
    /// Rate of every link.
    #[schemars(required)]
    pub(crate) rate: Option<Rate>,
    /// Propagation delay of every link.
    #[schemars(required)]
    pub(crate) delay: Option<Time>,
}

/// Two bottlenecks, A1->B1 and A2->B2.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "TrafficShift")]
pub(crate) struct TrafficShiftTable {
    /// Rate of every link.
    #[schemars(required)]
    pub(crate) rate: Option<Rate>,
    /// Propagation delay of every link.
    #[schemars(required)]
    pub(crate) delay: Option<Time>,
}

/// Pairs of hosts on either side of one bottleneck.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Dumbbell")]
pub(crate) struct DumbbellTable {
    /// Number of hosts on either side.
    #[schemars(required, range(min = 1))]
    pub(crate) pairs: Option<u32>,
    /// Rate of the hosts' links.
    #[schemars(required)]
    pub(crate) rate: Option<Rate>,
    /// Propagation delay of the hosts' links.
    #[schemars(required)]
    pub(crate) delay: Option<Time>,
    /// Rate of the link between L and R. Default: `rate`.
    pub(crate) bottleneck_rate: Option<Rate>,
    /// Propagation delay of the link between L and R. Default: `delay`.
    pub(crate) bottleneck_delay: Option<Time>,
}

/// Bottlenecks in a ring, with hosts that have a NIC on two neighbouring ones.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Ring")]
pub(crate) struct RingTable {
    /// Rate of each bottleneck; at least two.
    #[schemars(required, length(min = 2))]
    pub(crate) bottleneck_rates: Option<Vec<Rate>>,
    /// Propagation delay of each bottleneck. Default: `delay`.
    pub(crate) bottleneck_delays: Option<Vec<Time>>,
    /// Rate of the hosts' links.
    #[schemars(required)]
    pub(crate) rate: Option<Rate>,
    /// Propagation delay of the hosts' links.
    #[schemars(required)]
    pub(crate) delay: Option<Time>,
}

/// Three bottlenecks, each on one flow's short way and two flows' long ways.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Triangle")]
pub(crate) struct TriangleTable {
    /// Rate of each bottleneck.
    #[schemars(required, length(min = 3, max = 3))]
    pub(crate) bottleneck_rates: Option<Vec<Rate>>,
    /// Propagation delay of each bottleneck. Default: `delay`.
    pub(crate) bottleneck_delays: Option<Vec<Time>>,
    /// Rate of all other links.
    #[schemars(required)]
    pub(crate) rate: Option<Rate>,
    /// Propagation delay of all other links.
    #[schemars(required)]
    pub(crate) delay: Option<Time>,
}
