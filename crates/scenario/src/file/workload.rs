use linkpool_units::{Bytes, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{FlowSize, Gap, Host};

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
    /// A client asks several servers; when all answers are in, the next job begins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) partition_aggregate: Vec<PartitionAggregateTable>,
    /// Flows one by one, from a file or written here; each may wait for others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) trace: Vec<TraceTable>,
    /// Collective operations, as in training clusters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) collective: Vec<CollectiveTable>,
}

/// How ranks exchange their data.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "CollectiveAlgorithm")]
pub(crate) enum CollectiveName {
    RingAllReduce,
    TreeAllReduce,
    AllToAll,
}

/// How a file of flows is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "TraceFormat")]
pub(crate) enum TraceFormat {
    /// With a header: src, dst, size_bytes, start_s, and perhaps id and after.
    Csv,
    /// As the simulator of HPCC reads it: src dst class port bytes seconds.
    Hpcc,
    /// A connection matrix of htsim (.cm).
    Htsim,
}

/// One flow of a trace.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "TraceFlow")]
pub(crate) struct TraceFlowTable {
    /// Sending host.
    pub(crate) from: Host,
    /// Receiving host.
    pub(crate) to: Host,
    /// Payload.
    pub(crate) size: Bytes,
    /// After the start of the workload; with `after`, after the last of these. Default: "0s".
    pub(crate) start: Option<Time>,
    /// Flows that must be over, by their places in the list, from 0. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) after: Vec<u32>,
    /// How many of these must be over. Default: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub(crate) enough: Option<u32>,
}

/// The run ends when so many flows have finished.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Until")]
pub(crate) struct UntilTable {
    /// How many.
    #[schemars(required, range(min = 1))]
    pub(crate) flows: Option<u64>,
    /// The label of those that count.
    #[schemars(required)]
    pub(crate) label: Option<String>,
}

/// Small flows go by another transport.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Small")]
pub(crate) struct SmallTable {
    /// Flows of less payload than this are small.
    #[schemars(required)]
    pub(crate) below: Option<Bytes>,
    /// Name of the transport of these.
    #[schemars(required)]
    pub(crate) transport: Option<String>,
}

/// What a table of any kind says.
#[derive(Clone, Debug)]
pub(crate) struct Common {
    pub(crate) label: Option<String>,
    pub(crate) transport: Option<String>,
    pub(crate) small: Option<SmallTable>,
    pub(crate) role: Option<String>,
    pub(crate) start: Option<Time>,
}

/// A table of any kind.
pub(crate) trait AnyWorkload {
    fn common(&self) -> Common;
}

/// A number of hosts, or their share.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "RoleSize")]
pub(crate) enum RoleSize {
    /// So many.
    Hosts(u32),
    /// So many of one.
    Share(f64),
}

/// Where flows go that are drawn at random.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Destination")]
pub(crate) enum DestinationName {
    /// To any other host.
    Random,
    /// To any host of another rack.
    OtherRacks,
    /// To the host that the first workload "permutation" has for the sender.
    Permutation,
}

/// A kind of workload: the keys that all have, then its own.
macro_rules! workload {
    (
        $(#[$meta:meta])*
        $table:ident, $schema:literal { $($(#[$key_meta:meta])* $key:ident: $type:ty,)* }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        #[schemars(rename = $schema)]
        pub(crate) struct $table {
            /// Copied to the flows. Default: the name of the kind.
            pub(crate) label: Option<String>,
            /// Name of a transport.
            #[schemars(required)]
            pub(crate) transport: Option<String>,
            /// Another transport for small flows. Default: none.
            pub(crate) small: Option<SmallTable>,
            /// The role of the hosts that send, or "others" for those in none. Default: all hosts.
            pub(crate) role: Option<String>,
            /// When the first flow starts, or may start. Default: "0s".
            pub(crate) start: Option<Time>,
            $($(#[$key_meta])* pub(crate) $key: $type,)*
        }

        impl AnyWorkload for $table {
            fn common(&self) -> Common {
                let $table { label, transport, small, role, start, .. } = self;
                let (label, transport) = (label.clone(), transport.clone());
                Common { label, transport, small: small.clone(), role: role.clone(), start: *start }
            }
        }
    };
}

/// A kind of workload by a matrix: the keys that all of these have, then its own.
macro_rules! matrix {
    (
        $(#[$meta:meta])*
        $table:ident, $schema:literal { $($(#[$key_meta:meta])* $key:ident: $type:ty,)* }
    ) => {
        workload! {
            $(#[$meta])*
            $table, $schema {
                $($(#[$key_meta])* $key: $type,)*
                /// Payload of each flow. Default: "unlimited".
                size: Option<FlowSize>,
                /// When the flows stop. Default: the end of the run, `duration` and `drain`.
                stop: Option<Time>,
                /// Starts are uniform in [start, start + jitter]. Default: "0s".
                jitter: Option<Time>,
                /// What ends of flows start. Default: nothing.
                repeat: Option<RepeatName>,
                /// With `repeat`, from the end to the next start. Default: "0s".
                gap: Option<Gap>,
            }
        }

        impl From<MatrixKeys> for $table {
            fn from(keys: MatrixKeys) -> $table {
                let MatrixKeys { common, size, stop, jitter, repeat, gap } = keys;
                let Common { label, transport, small, role, start } = common;
                $table { label, transport, small, role, start, size, stop, jitter, repeat, gap, $($key: None,)* }
            }
        }

        impl $table {
            /// What it has in common with others.
            pub(crate) fn keys(&self) -> MatrixKeys {
                MatrixKeys {
                    common: self.common(),
                    size: self.size.clone(),
                    stop: self.stop,
                    jitter: self.jitter,
                    repeat: self.repeat,
                    gap: self.gap.clone(),
                }
            }
        }
    };
}

/// The keys that all workloads by a matrix have.
#[derive(Clone, Debug)]
pub(crate) struct MatrixKeys {
    pub(crate) common: Common,
    pub(crate) size: Option<FlowSize>,
    pub(crate) stop: Option<Time>,
    pub(crate) jitter: Option<Time>,
    pub(crate) repeat: Option<RepeatName>,
    pub(crate) gap: Option<Gap>,
}

/// What the end of a flow of a matrix starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Repeat")]
pub(crate) enum RepeatName {
    /// The next flow of its sender.
    Each,
    /// When all have ended: all again, drawn anew.
    All,
}

workload! {
    /// `count` flows between two hosts.
    FlowTable, "Flow" {
        /// Sending host.
        #[schemars(required)]
        from: Option<Host>,
        /// Receiving host.
        #[schemars(required)]
        to: Option<Host>,
        /// Payload of each flow. Default: "unlimited".
        size: Option<FlowSize>,
        /// When the flows stop. Default: the end of the run, `duration` and `drain`.
        stop: Option<Time>,
        /// Number of flows. Default: 1.
        #[schemars(range(min = 1))]
        count: Option<u32>,
        /// The path of each subflow: the names of its nodes from `from` to `to`. Default: by the transport.
        paths: Option<Vec<Vec<String>>>,
    }
}

workload! {
    /// In every burst, one flow from each sender.
    IncastTable, "Incast" {
        /// Number of senders: the first hosts that are not the receiver.
        #[schemars(required, range(min = 1))]
        senders: Option<u32>,
        /// Receiving host.
        #[schemars(required)]
        receiver: Option<Host>,
        /// Payload of each flow.
        #[schemars(required)]
        size: Option<FlowSize>,
        /// From the start of one burst to that of the next. Required unless `bursts` is 1.
        every: Option<Time>,
        /// Number of bursts. Default: as many as start before `duration`.
        #[schemars(range(min = 1))]
        bursts: Option<u32>,
        /// From the start of one flow of a burst to that of the next. Default: "0s".
        spacing: Option<Time>,
    }
}

workload! {
    /// One flow each from consecutive hosts.
    ManyToOneFlowsTable, "ManyToOneFlows" {
        /// Number of flows.
        #[schemars(required, range(min = 1))]
        flows: Option<u32>,
        /// Index of the first sending host. Default: 0.
        first: Option<u32>,
        /// Receiving host.
        #[schemars(required)]
        receiver: Option<Host>,
        /// Payload of each flow. Default: "unlimited".
        size: Option<FlowSize>,
        /// When the flows stop. Default: the end of the run, `duration` and `drain`.
        stop: Option<Time>,
        /// From the start of one flow to that of the next. Default: "0s".
        spacing: Option<Time>,
    }
}

workload! {
    /// Poisson arrivals, source and destination uniform over distinct hosts.
    PoissonTable, "Poisson" {
        /// Mean rate of arrivals over the whole network, per second; or else one of the next two.
        #[schemars(extend("exclusiveMinimum" = 0))]
        flows_per_second: Option<f64>,
        /// Mean rate of arrivals at each host that sends, per second.
        #[schemars(extend("exclusiveMinimum" = 0))]
        flows_per_second_per_host: Option<f64>,
        /// Payload offered over what all hosts' links carry together; beside a rate, what it must come to.
        #[schemars(extend("exclusiveMinimum" = 0))]
        load: Option<f64>,
        /// May the load be above 1? Default: false.
        allow_overload: Option<bool>,
        /// Where flows go. Default: "random".
        to: Option<DestinationName>,
        /// Payload of each flow.
        #[schemars(required)]
        size: Option<FlowSize>,
        /// No arrival at or after this. Default: `duration`.
        stop: Option<Time>,
    }
}

workload! {
    /// Jobs: a client asks several servers, each answers when it has the request whole; when all answers are in, the next begins.
    PartitionAggregateTable, "PartitionAggregate" {
        /// Servers of a job.
        #[schemars(required, range(min = 1))]
        servers: Option<u32>,
        /// Jobs side by side. Default: 1.
        #[schemars(range(min = 1))]
        chains: Option<u32>,
        /// Payload from the client to each server. Default: "2KB".
        request: Option<FlowSize>,
        /// Payload from each server to the client. Default: "64KB".
        answer: Option<FlowSize>,
        /// From the end of a job to the start of the next. Default: "0s".
        gap: Option<Gap>,
        /// No job starts at or after this. Default: `duration`.
        stop: Option<Time>,
    }
}

workload! {
    /// Collective operations, as in training clusters.
    CollectiveTable, "Collective" {
        /// How ranks exchange their data.
        #[schemars(required)]
        algorithm: Option<CollectiveName>,
        /// How many of the hosts take part, from the first on. Default: all.
        #[schemars(range(min = 2))]
        ranks: Option<u32>,
        /// Data of each rank.
        #[schemars(required)]
        size: Option<Bytes>,
        /// Operations, one after the other. Default: 1.
        #[schemars(range(min = 1))]
        iterations: Option<u32>,
        /// From the end of an operation at a rank to its next. Default: "0s".
        compute: Option<Time>,
    }
}

workload! {
    /// Flows one by one, from a file or written here; each may wait for others.
    TraceTable, "Trace" {
        /// A file of flows, relative to the scenario's directory; or else `flows`.
        file: Option<String>,
        /// How `file` is written. Required with it.
        format: Option<TraceFormat>,
        /// The flows themselves; or else `file`.
        flows: Option<Vec<TraceFlowTable>>,
    }
}

matrix! {
    /// Every host sends to one other and receives from one, drawn at random.
    PermutationTable, "Permutation" {}
}

matrix! {
    /// Every host sends to one other, drawn at random.
    RandomTable, "Random" {
        /// Flows into a host at most. Default: no limit.
        #[schemars(range(min = 1))]
        at_most: Option<u32>,
        /// Where they send to; not "permutation". Default: "random".
        to: Option<DestinationName>,
    }
}

matrix! {
    /// Host i sends to host i + `step`, round the end.
    StrideTable, "Stride" {
        /// From a host to the one that it sends to.
        #[schemars(required, range(min = 1))]
        step: Option<u32>,
    }
}

matrix! {
    /// Every host sends to every other.
    AllToAllTable, "AllToAll" {}
}

matrix! {
    /// Flows that go to a few hosts more often than to others.
    HotspotTable, "Hotspot" {
        /// Number of flows.
        #[schemars(required, range(min = 1))]
        flows: Option<u32>,
        /// The hosts that get more.
        #[schemars(required, length(min = 1))]
        hosts: Option<Vec<Host>>,
        /// The share of flows that go to them; the others go to any host.
        #[schemars(required, range(min = 0, max = 1))]
        share: Option<f64>,
    }
}

matrix! {
    /// Every host sends to one other, some within their racks, some within their pods.
    StaggeredTable, "Staggered" {
        /// The share of flows that stay in their rack.
        #[schemars(required, range(min = 0, max = 1))]
        rack: Option<f64>,
        /// The share of flows that leave their rack and stay in their pod.
        #[schemars(required, range(min = 0, max = 1))]
        pod: Option<f64>,
    }
}
