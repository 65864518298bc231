//! Planned flows and processes.

use crate::plan::ids::{LabelId, TransportId};
use linkpool_network::HostId;
use linkpool_units::Time;
use linkpool_workload::{Flow, Process};

/// A flow with its transport.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlannedFlow {
    /// Its ends, size and start.
    pub flow: Flow,
    /// Its transport.
    pub transport: TransportId,
    /// Its label.
    pub label: LabelId,
}

/// A process, where and when it begins, and how its flows are carried.
#[derive(Clone, Debug)]
pub struct PlannedProcess {
    /// Its state at the beginning.
    pub process: Process,
    /// The host at which it begins.
    pub home: HostId,
    /// When it begins.
    pub start: Time,
    /// It starts no flow at or after this.
    pub until: Time,
    /// The transport of its flows.
    pub transport: TransportId,
    /// Flows below this many bytes have this other transport.
    pub small: Option<(u64, TransportId)>,
    /// The label of the flows that it starts.
    pub label: LabelId,
    /// The label of the flows that answer them.
    pub answer_label: LabelId,
}

/// How the messages are carried that a program sends by one `[[workload.session]]`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Driven {
    /// Their transport.
    pub transport: TransportId,
    /// Messages below this many bytes have this other transport.
    pub small: Option<(u64, TransportId)>,
    /// The label of their flows.
    pub label: LabelId,
    /// None is sent before this.
    pub start: Time,
    /// Does the program send them in this run? Otherwise they are in a file, as it has sent them in another.
    pub outside: bool,
}

impl Driven {
    /// A message that is `flow`.
    pub(crate) fn planned(&self, flow: Flow) -> PlannedFlow {
        PlannedFlow { flow, transport: by_size(self.small, flow.size, self.transport), label: self.label }
    }
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
