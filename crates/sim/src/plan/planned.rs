//! Flows and processes as the plan of a run has them.

use linkpool_network::HostId;
use linkpool_units::Time;
use linkpool_workload::{Flow, Process};

/// A flow with its transport.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlannedFlow {
    /// Who, to whom, how much, when.
    pub flow: Flow,
    /// Index into [`Plan::transports`](crate::Plan::transports).
    pub transport: u16,
    /// Index into [`Plan::labels`](crate::Plan::labels).
    pub label: u16,
}

/// A process, where and when it begins, and how its flows are carried.
#[derive(Clone, Debug)]
pub struct PlannedProcess {
    /// As it begins.
    pub process: Process,
    /// The host at which it begins.
    pub home: HostId,
    /// When it begins.
    pub start: Time,
    /// It starts nothing at or after this.
    pub until: Time,
    /// Index into [`Plan::transports`](crate::Plan::transports).
    pub transport: u16,
    /// Below how many bytes flows have another transport, and which.
    pub small: Option<(u64, u16)>,
    /// Of the flows that it starts: index into [`Plan::labels`](crate::Plan::labels).
    pub label: u16,
    /// Of those that answer them.
    pub answer_label: u16,
}

impl PlannedProcess {
    /// The transport of its flow of `size`.
    pub fn transport_of(&self, size: Option<u64>) -> u16 {
        by_size(self.small, size, self.transport)
    }
}

/// The transport of a flow of `size`.
pub(crate) fn by_size(small: Option<(u64, u16)>, size: Option<u64>, transport: u16) -> u16 {
    match (small, size) {
        (Some((below, small)), Some(size)) if size < below => small,
        _ => transport,
    }
}
