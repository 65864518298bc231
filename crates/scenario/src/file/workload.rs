use linkpool_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{FlowSize, Host};

/// Sources of flows: any number, of any kinds.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "Workload", extend("minProperties" = 1))]
pub(crate) struct WorkloadTable {
    /// Flows between two hosts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) flow: Vec<FlowTable>,
    /// In every burst, one flow from each sender.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) incast: Vec<IncastTable>,
    /// One flow each from consecutive hosts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) many_to_one: Vec<ManyToOneFlowsTable>,
    /// Every host sends to one other and receives from one, drawn at random.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) permutation: Vec<PermutationTable>,
    /// Poisson arrivals, source and destination uniform over distinct hosts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) poisson: Vec<PoissonTable>,
    /// Every host sends to one other, drawn at random.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) random: Vec<RandomTable>,
    /// Host i sends to host i + `step`, round the end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) stride: Vec<StrideTable>,
    /// Every host sends to every other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) all_to_all: Vec<AllToAllTable>,
    /// Flows that go to a few hosts more often than to others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) hotspot: Vec<HotspotTable>,
    /// Every host sends to one other, some within their racks, some within their pods.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) staggered: Vec<StaggeredTable>,
}

/// `count` flows between two hosts.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Flow")]
pub(crate) struct FlowTable {
    /// Copied to the flows. Default: "flow".
    pub(crate) label: Option<String>,
    /// Name of a transport.
    #[schemars(required)]
    pub(crate) transport: Option<String>,
    /// Sending host.
    #[schemars(required)]
    pub(crate) from: Option<Host>,
    /// Receiving host.
    #[schemars(required)]
    pub(crate) to: Option<Host>,
    /// Payload of each flow. Default: "unlimited".
    pub(crate) size: Option<FlowSize>,
    /// When the flows start. Default: "0s".
    pub(crate) start: Option<Time>,
    /// When the flows stop. Default: the end of the run, `duration` and `drain`.
    pub(crate) stop: Option<Time>,
    /// Number of flows. Default: 1.
    #[schemars(range(min = 1))]
    pub(crate) count: Option<u32>,
    /// The path of each subflow: the names of its nodes from `from` to `to`. Default: by the transport.
    pub(crate) paths: Option<Vec<Vec<String>>>,
}

/// In every burst, one flow from each sender.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Incast")]
pub(crate) struct IncastTable {
    /// Copied to the flows. Default: "incast".
    pub(crate) label: Option<String>,
    /// Name of a transport.
    #[schemars(required)]
    pub(crate) transport: Option<String>,
    /// Number of senders: the first hosts that are not the receiver.
    #[schemars(required, range(min = 1))]
    pub(crate) senders: Option<u32>,
    /// Receiving host.
    #[schemars(required)]
    pub(crate) receiver: Option<Host>,
    /// Payload of each flow.
    #[schemars(required)]
    pub(crate) size: Option<FlowSize>,
    /// When the first burst starts. Default: "0s".
    pub(crate) start: Option<Time>,
    /// From the start of one burst to that of the next. Required unless `bursts` is 1.
    pub(crate) every: Option<Time>,
    /// Number of bursts. Default: as many as start before `duration`.
    #[schemars(range(min = 1))]
    pub(crate) bursts: Option<u32>,
    /// From the start of one flow of a burst to that of the next. Default: "0s".
    pub(crate) spacing: Option<Time>,
}

/// One flow each from consecutive hosts.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ManyToOneFlows")]
pub(crate) struct ManyToOneFlowsTable {
    /// Copied to the flows. Default: "many-to-one".
    pub(crate) label: Option<String>,
    /// Name of a transport.
    #[schemars(required)]
    pub(crate) transport: Option<String>,
    /// Number of flows.
    #[schemars(required, range(min = 1))]
    pub(crate) flows: Option<u32>,
    /// Index of the first sending host. Default: 0.
    pub(crate) first: Option<u32>,
    /// Receiving host.
    #[schemars(required)]
    pub(crate) receiver: Option<Host>,
    /// Payload of each flow. Default: "unlimited".
    pub(crate) size: Option<FlowSize>,
    /// When the first flow starts. Default: "0s".
    pub(crate) start: Option<Time>,
    /// When the flows stop. Default: the end of the run, `duration` and `drain`.
    pub(crate) stop: Option<Time>,
    /// From the start of one flow to that of the next. Default: "0s".
    pub(crate) spacing: Option<Time>,
}

/// Every host sends to one other and receives from one, drawn at random.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Permutation")]
pub(crate) struct PermutationTable {
    /// Copied to the flows. Default: "permutation".
    pub(crate) label: Option<String>,
    /// Name of a transport.
    #[schemars(required)]
    pub(crate) transport: Option<String>,
    /// Payload of each flow. Default: "unlimited".
    pub(crate) size: Option<FlowSize>,
    /// The earliest start of a flow. Default: "0s".
    pub(crate) start: Option<Time>,
    /// When the flows stop. Default: the end of the run, `duration` and `drain`.
    pub(crate) stop: Option<Time>,
    /// Starts are uniform in [start, start + jitter]. Default: "0s".
    pub(crate) jitter: Option<Time>,
}

/// Poisson arrivals, source and destination uniform over distinct hosts.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Poisson")]
pub(crate) struct PoissonTable {
    /// Copied to the flows. Default: "poisson".
    pub(crate) label: Option<String>,
    /// Name of a transport.
    #[schemars(required)]
    pub(crate) transport: Option<String>,
    /// Mean rate of arrivals over the whole network, per second; or else `load`.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub(crate) flows_per_second: Option<f64>,
    /// Payload offered over what all hosts' links carry together; or else `flows_per_second`.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub(crate) load: Option<f64>,
    /// May `load` be above 1? Default: false.
    pub(crate) allow_overload: Option<bool>,
    /// Payload of each flow.
    #[schemars(required)]
    pub(crate) size: Option<FlowSize>,
    /// No arrival before this. Default: "0s".
    pub(crate) start: Option<Time>,
    /// No arrival at or after this. Default: `duration`.
    pub(crate) stop: Option<Time>,
}

/// Every host sends to one other, drawn at random.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Random")]
pub(crate) struct RandomTable {
    /// Copied to the flows. Default: "random".
    pub(crate) label: Option<String>,
    /// Name of a transport.
    #[schemars(required)]
    pub(crate) transport: Option<String>,
    /// Flows into a host at most. Default: no limit.
    #[schemars(range(min = 1))]
    pub(crate) at_most: Option<u32>,
    /// Payload of each flow. Default: "unlimited".
    pub(crate) size: Option<FlowSize>,
    /// The earliest start of a flow. Default: "0s".
    pub(crate) start: Option<Time>,
    /// When the flows stop. Default: the end of the run, `duration` and `drain`.
    pub(crate) stop: Option<Time>,
    /// Starts are uniform in [start, start + jitter]. Default: "0s".
    pub(crate) jitter: Option<Time>,
}

/// Host i sends to host i + `step`, round the end.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Stride")]
pub(crate) struct StrideTable {
    /// Copied to the flows. Default: "stride".
    pub(crate) label: Option<String>,
    /// Name of a transport.
    #[schemars(required)]
    pub(crate) transport: Option<String>,
    /// From a host to the one that it sends to.
    #[schemars(required, range(min = 1))]
    pub(crate) step: Option<u32>,
    /// Payload of each flow. Default: "unlimited".
    pub(crate) size: Option<FlowSize>,
    /// The earliest start of a flow. Default: "0s".
    pub(crate) start: Option<Time>,
    /// When the flows stop. Default: the end of the run, `duration` and `drain`.
    pub(crate) stop: Option<Time>,
    /// Starts are uniform in [start, start + jitter]. Default: "0s".
    pub(crate) jitter: Option<Time>,
}

/// Every host sends to every other.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "AllToAll")]
pub(crate) struct AllToAllTable {
    /// Copied to the flows. Default: "all-to-all".
    pub(crate) label: Option<String>,
    /// Name of a transport.
    #[schemars(required)]
    pub(crate) transport: Option<String>,
    /// Payload of each flow. Default: "unlimited".
    pub(crate) size: Option<FlowSize>,
    /// The earliest start of a flow. Default: "0s".
    pub(crate) start: Option<Time>,
    /// When the flows stop. Default: the end of the run, `duration` and `drain`.
    pub(crate) stop: Option<Time>,
    /// Starts are uniform in [start, start + jitter]. Default: "0s".
    pub(crate) jitter: Option<Time>,
}

/// Flows that go to a few hosts more often than to others.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Hotspot")]
pub(crate) struct HotspotTable {
    /// Copied to the flows. Default: "hotspot".
    pub(crate) label: Option<String>,
    /// Name of a transport.
    #[schemars(required)]
    pub(crate) transport: Option<String>,
    /// Number of flows.
    #[schemars(required, range(min = 1))]
    pub(crate) flows: Option<u32>,
    /// The hosts that get more.
    #[schemars(required, length(min = 1))]
    pub(crate) hosts: Option<Vec<Host>>,
    /// The share of flows that go to them; the others go to any host.
    #[schemars(required, range(min = 0, max = 1))]
    pub(crate) share: Option<f64>,
    /// Payload of each flow. Default: "unlimited".
    pub(crate) size: Option<FlowSize>,
    /// The earliest start of a flow. Default: "0s".
    pub(crate) start: Option<Time>,
    /// When the flows stop. Default: the end of the run, `duration` and `drain`.
    pub(crate) stop: Option<Time>,
    /// Starts are uniform in [start, start + jitter]. Default: "0s".
    pub(crate) jitter: Option<Time>,
}

/// Every host sends to one other, some within their racks, some within their pods.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Staggered")]
pub(crate) struct StaggeredTable {
    /// Copied to the flows. Default: "staggered".
    pub(crate) label: Option<String>,
    /// Name of a transport.
    #[schemars(required)]
    pub(crate) transport: Option<String>,
    /// The share of flows that stay in their rack.
    #[schemars(required, range(min = 0, max = 1))]
    pub(crate) rack: Option<f64>,
    /// The share of flows that leave their rack and stay in their pod.
    #[schemars(required, range(min = 0, max = 1))]
    pub(crate) pod: Option<f64>,
    /// Payload of each flow. Default: "unlimited".
    pub(crate) size: Option<FlowSize>,
    /// The earliest start of a flow. Default: "0s".
    pub(crate) start: Option<Time>,
    /// When the flows stop. Default: the end of the run, `duration` and `drain`.
    pub(crate) stop: Option<Time>,
    /// Starts are uniform in [start, start + jitter]. Default: "0s".
    pub(crate) jitter: Option<Time>,
}
