//! Sources of flows: the keys that all kinds have; each kind is in a file of its sort.

use linkpool_units::{Bytes, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

/// The keys of a table of any kind.
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
            /// The role of the hosts that send, or "others" for hosts without a role. Default: all
            /// hosts.
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

// These stand after the macro, which they use.
mod flows;
mod jobs;
mod matrices;
mod trace;

pub(crate) use flows::{FlowTable, IncastTable, ManyToOneFlowsTable, PoissonTable};
pub(crate) use jobs::{CollectiveName, CollectiveTable, PartitionAggregateTable};
pub(crate) use matrices::{
    AllToAllTable, HotspotTable, MatrixKeys, PermutationTable, RandomTable, RepeatName, StaggeredTable, StrideTable,
};
pub(crate) use trace::{BeyondEnd, TraceFlowTable, TraceFormat, TraceTable};
