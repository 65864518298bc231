//! Flows that belong together, and start each other.

use linkpool_units::{Bytes, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::{FlowSize, Gap};
use super::{AnyWorkload, Common, SmallTable};

/// How ranks exchange their data.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "CollectiveAlgorithm")]
pub(crate) enum CollectiveName {
    RingAllReduce,
    TreeAllReduce,
    AllToAll,
}

workload! {
    /// Jobs: a client asks several servers, each answers when it has the request whole; when all
    /// answers are in, the next begins.
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
