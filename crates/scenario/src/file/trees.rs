//! Topologies of hosts in racks, and BCube.

use linkpool_units::{Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A fat-tree of k-port switches.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "FatTree")]
pub(crate) struct FatTreeTable {
    /// Ports of a switch, which is the number of pods; even.
    #[schemars(required, range(min = 2), extend("multipleOf" = 2))]
    pub(crate) k: Option<u32>,
    /// 3, or 2: edge and core switches only. Default: 3.
    #[schemars(range(min = 2, max = 3))]
    pub(crate) tiers: Option<u32>,
    /// Hosts at each edge switch. Default: k/2.
    #[schemars(range(min = 1))]
    pub(crate) hosts_per_edge: Option<u32>,
    /// NICs of a host, 1 or 2; the second is on the edge switch of the next rack of its pod. Default: 1.
    #[schemars(range(min = 1, max = 2))]
    pub(crate) nics: Option<u32>,
    /// Rate of the hosts' links.
    #[schemars(required)]
    pub(crate) rate: Option<Rate>,
    /// Propagation delay of the hosts' links.
    #[schemars(required)]
    pub(crate) delay: Option<Time>,
    /// Rate of the links between edge and aggregation. Default: `rate`.
    pub(crate) aggregation_rate: Option<Rate>,
    /// Propagation delay of the links between edge and aggregation. Default: `delay`.
    pub(crate) aggregation_delay: Option<Time>,
    /// Rate of the links to the core. Default: `rate`.
    pub(crate) core_rate: Option<Rate>,
    /// Propagation delay of the links to the core. Default: `delay`.
    pub(crate) core_delay: Option<Time>,
}

/// Leaf switches, each joined to every spine switch.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "LeafSpine")]
pub(crate) struct LeafSpineTable {
    /// Number of leaf switches.
    #[schemars(required, range(min = 1))]
    pub(crate) leaves: Option<u32>,
    /// Number of spine switches.
    #[schemars(required, range(min = 1))]
    pub(crate) spines: Option<u32>,
    /// Hosts at each leaf.
    #[schemars(required, range(min = 1))]
    pub(crate) hosts_per_leaf: Option<u32>,
    /// Rate of the hosts' links.
    #[schemars(required)]
    pub(crate) rate: Option<Rate>,
    /// Propagation delay of the hosts' links.
    #[schemars(required)]
    pub(crate) delay: Option<Time>,
    /// Rate of the links between leaves and spines. Default: `rate`.
    pub(crate) uplink_rate: Option<Rate>,
    /// Propagation delay of the links between leaves and spines. Default: `delay`.
    pub(crate) uplink_delay: Option<Time>,
}

/// VL2: racks with two uplinks, and a mesh of fast links above them.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Vl2")]
pub(crate) struct Vl2Table {
    /// Ports of an aggregation switch, half of them to racks (the paper's D_A); even.
    #[schemars(required, range(min = 2), extend("multipleOf" = 2))]
    pub(crate) aggregation_ports: Option<u32>,
    /// Ports of an intermediate switch, which is the number of aggregation switches (D_I); even.
    #[schemars(required, range(min = 2), extend("multipleOf" = 2))]
    pub(crate) intermediate_ports: Option<u32>,
    /// Hosts at each top-of-rack switch. Default: 20.
    #[schemars(range(min = 1))]
    pub(crate) hosts_per_rack: Option<u32>,
    /// Rate of the hosts' links.
    #[schemars(required)]
    pub(crate) rate: Option<Rate>,
    /// Propagation delay of the hosts' links.
    #[schemars(required)]
    pub(crate) delay: Option<Time>,
    /// Rate of the links between switches. Default: ten times `rate`.
    pub(crate) core_rate: Option<Rate>,
    /// Propagation delay of the links between switches. Default: `delay`.
    pub(crate) core_delay: Option<Time>,
}

/// BCube(n, k): n^(k+1) hosts that forward, with k + 1 NICs each.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "BCube")]
pub(crate) struct BCubeTable {
    /// Ports of a switch.
    #[schemars(required, range(min = 2))]
    pub(crate) n: Option<u32>,
    /// The highest level: hosts have k + 1 NICs.
    #[schemars(required)]
    pub(crate) k: Option<u32>,
    /// Rate of every link.
    #[schemars(required)]
    pub(crate) rate: Option<Rate>,
    /// Propagation delay of every link.
    #[schemars(required)]
    pub(crate) delay: Option<Time>,
}
