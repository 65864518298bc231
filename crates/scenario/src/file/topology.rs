use linkpool_units::{Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

/// A fat-tree of k-port switches.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "FatTree")]
pub(crate) struct FatTreeTable {
    /// Ports of a switch, which is the number of pods; even.
    #[schemars(required, range(min = 2), extend("multipleOf" = 2))]
    pub(crate) k: Option<u32>,
    /// Hosts at each edge switch. Default: k/2.
    #[schemars(range(min = 1))]
    pub(crate) hosts_per_edge: Option<u32>,
    /// Rate of every link.
    #[schemars(required)]
    pub(crate) rate: Option<Rate>,
    /// Propagation delay of every link.
    #[schemars(required)]
    pub(crate) delay: Option<Time>,
}
