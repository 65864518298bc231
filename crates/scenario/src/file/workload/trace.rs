//! Flows one by one.

use linkpool_units::{Bytes, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::Host;
use super::{AnyWorkload, Common, SmallTable};

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

/// The treatment of flows of a trace that would start at or after `duration`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "BeyondEnd")]
pub(crate) enum BeyondEnd {
    /// They do not start, and results count them.
    Drop,
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

workload! {
    /// Flows one by one, from a file or written here; each may wait for others.
    TraceTable, "Trace" {
        /// A file of flows, relative to the scenario's directory; or else `flows`.
        file: Option<String>,
        /// How `file` is written. Required with it.
        format: Option<TraceFormat>,
        /// The flows themselves; or else `file`.
        flows: Option<Vec<TraceFlowTable>>,
        /// The treatment of flows that would start at or after `duration`. Default: they are an
        /// error.
        beyond_end: Option<BeyondEnd>,
    }
}
