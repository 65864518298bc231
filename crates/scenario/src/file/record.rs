//! `[record]`: time series.

use linkpool_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Time series to record, only where asked.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Record")]
pub(crate) struct RecordTable {
    /// Queue length of links.
    pub(crate) queue: Option<QueueSeriesTable>,
    /// Window of each subflow.
    pub(crate) cwnd: Option<SeriesTable>,
    /// Acknowledged data of each subflow per interval.
    pub(crate) rate: Option<SeriesTable>,
    /// Round-trip times of each subflow, at most one sample in each `every`.
    pub(crate) rtt: Option<SeriesTable>,
    /// Counters of carried, dropped and marked packets of links, per interval.
    pub(crate) counters: Option<CounterSeriesTable>,
}

/// Counters of carried, dropped and marked packets of links, per interval.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CounterSeries")]
pub(crate) struct CounterSeriesTable {
    /// Directed links, each written "FROM->TO" with names of hosts or switches. Default: all links.
    #[schemars(length(min = 1), inner(regex(pattern = "^.+->.+$")))]
    pub(crate) links: Option<Vec<String>>,
    /// Length of an interval.
    #[schemars(required)]
    pub(crate) every: Option<Time>,
    /// Start of the first interval. Default: "0s".
    pub(crate) from: Option<Time>,
    /// No interval ends after this. Default: the end of the run, `duration` and `drain`.
    pub(crate) until: Option<Time>,
}

/// Queue length of links.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "QueueSeries")]
pub(crate) struct QueueSeriesTable {
    /// Directed links, each written "FROM->TO" with names of hosts or switches.
    #[schemars(required, length(min = 1), inner(regex(pattern = "^.+->.+$")))]
    pub(crate) links: Option<Vec<String>>,
    /// Sampling interval.
    #[schemars(required)]
    pub(crate) every: Option<Time>,
    /// First sample. Default: "0s".
    pub(crate) from: Option<Time>,
    /// No sample after this. Default: the end of the run, `duration` and `drain`.
    pub(crate) until: Option<Time>,
}

/// A series of each subflow.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Series")]
pub(crate) struct SeriesTable {
    /// Sampling interval.
    #[schemars(required)]
    pub(crate) every: Option<Time>,
    /// First sample. Default: "0s".
    pub(crate) from: Option<Time>,
    /// No sample after this. Default: the end of the run, `duration` and `drain`.
    pub(crate) until: Option<Time>,
    /// Only flows of workloads with one of these labels. Default: all flows.
    #[schemars(length(min = 1))]
    pub(crate) labels: Option<Vec<String>>,
}
