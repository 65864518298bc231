//! Time series.

use linkpool_units::Time;

/// The time series to record; none unless asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Queue lengths of links.
    pub queue: Option<QueueRecord>,
    /// The window of each subflow.
    pub cwnd: Option<SeriesRecord>,
    /// Acknowledged data of each subflow per interval.
    pub rate: Option<SeriesRecord>,
    /// RTT samples of each subflow, at most one in each interval.
    pub rtt: Option<SeriesRecord>,
    /// Counters of carried, dropped and marked packets of links, per interval.
    pub counters: Option<CounterRecord>,
}

/// Counters of links per interval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterRecord {
    /// Directed links, each a pair of names of hosts or switches: from, to; none: all.
    pub links: Option<Vec<(String, String)>>,
    /// Length of an interval.
    pub every: Time,
    /// Start of the first.
    pub from: Time,
    /// None ends after this.
    pub until: Time,
}

/// Queue lengths to sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueRecord {
    /// Directed links, each a pair of names of hosts or switches: from, to.
    pub links: Vec<(String, String)>,
    /// Sampling interval.
    pub every: Time,
    /// First sample.
    pub from: Time,
    /// No sample after this.
    pub until: Time,
}

/// A series of each subflow to sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeriesRecord {
    /// Sampling interval.
    pub every: Time,
    /// First sample.
    pub from: Time,
    /// No sample after this.
    pub until: Time,
    /// Only flows of workloads with one of these labels; none: all flows.
    pub labels: Option<Vec<String>>,
}
