use linkpool_units::{Bytes, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Host, Size};

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
    pub(crate) size: Option<Size>,
    /// When the flows start. Default: "0s".
    pub(crate) start: Option<Time>,
    /// When the flows stop. Default: the end of the run, `duration` and `drain`.
    pub(crate) stop: Option<Time>,
    /// Number of flows. Default: 1.
    #[schemars(range(min = 1))]
    pub(crate) count: Option<u32>,
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
    pub(crate) size: Option<Bytes>,
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
    pub(crate) size: Option<Size>,
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
    pub(crate) size: Option<Size>,
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
    /// Mean rate of arrivals over the whole network, per second.
    #[schemars(required, extend("exclusiveMinimum" = 0))]
    pub(crate) flows_per_second: Option<f64>,
    /// Payload of each flow.
    #[schemars(required)]
    pub(crate) size: Option<Bytes>,
    /// No arrival before this. Default: "0s".
    pub(crate) start: Option<Time>,
    /// No arrival at or after this. Default: `duration`.
    pub(crate) stop: Option<Time>,
}
