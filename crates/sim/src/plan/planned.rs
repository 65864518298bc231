//! Flows and processes as the plan of a run has them.

use crate::plan::ids::{LabelId, TransportId};
use linkpool_network::HostId;
use linkpool_units::Time;
use linkpool_workload::{Flow, Process};

/// A flow with its transport.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlannedFlow {
    /// Who, to whom, how much, when.
    pub flow: Flow,
    /// Index into [`Plan::transports`](crate::Plan::transports).
    pub transport: TransportId,
    /// Index into [`Plan::labels`](crate::Plan::labels).
    pub label: LabelId,
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
    pub transport: TransportId,
    /// Below how many bytes flows have another transport, and which.
    pub small: Option<(u64, TransportId)>,
    /// Of the flows that it starts: index into [`Plan::labels`](crate::Plan::labels).
    pub label: LabelId,
    /// Of those that answer them.
    pub answer_label: LabelId,
}

impl PlannedProcess {
    /// The transport of its flow of `size`.
    pub fn transport_of(&self, size: Option<u64>) -> TransportId {
        by_size(self.small, size, self.transport)
    }
}

/// The transport of a flow of `size`.
pub(crate) fn by_size(small: Option<(u64, TransportId)>, size: Option<u64>, transport: TransportId) -> TransportId {
    match (small, size) {
        (Some((below, small)), Some(size)) if size < below => small,
        _ => transport,
    }
}
