//! Sources of flows.

use linkpool_network::NodeId;
use linkpool_units::Time;
use linkpool_workload::{Collective, Gaps, Rule, Sizes};

/// A source of flows.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// Copied to its flows.
    pub label: String,
    /// Index into [`Scenario::transports`](super::Scenario::transports).
    pub transport: usize,
    /// The transport of small flows.
    pub small: Option<Small>,
    /// The role of the hosts that send, [`OTHERS`], or none: all.
    pub role: Option<String>,
    /// When the first flow starts or may start.
    pub start: Time,
    /// Which flows.
    pub kind: WorkloadKind,
}

/// The flows of a workload. Hosts are indices into the topology's host names; a size of
/// none means unlimited; a flow still running at `stop` stops there.
#[derive(Clone, Debug, PartialEq)]
pub enum WorkloadKind {
    /// Flows between two hosts.
    Flow {
        /// Sending host.
        from: u32,
        /// Receiving host; not `from`.
        to: u32,
        /// Of each flow.
        size: Option<Sizes>,
        /// When the flows stop; by default the end of the run.
        stop: Time,
        /// Number of flows.
        count: u32,
        /// The path of each subflow, node by node; empty: by the transport.
        paths: Vec<Vec<NodeId>>,
    },
    /// In every burst, one flow from each sender.
    Incast {
        /// Number of senders: the first hosts that are not the receiver.
        senders: u32,
        /// Receiving host.
        receiver: u32,
        /// Of each flow.
        size: Sizes,
        /// From one burst to the next.
        every: Time,
        /// Number of bursts.
        bursts: u32,
        /// From one flow of a burst to the next.
        spacing: Time,
    },
    /// One flow each from consecutive hosts.
    ManyToOne {
        /// Number of flows.
        flows: u32,
        /// First sending host.
        first: u32,
        /// Receiving host; not one of the senders.
        receiver: u32,
        /// Of each flow.
        size: Option<Sizes>,
        /// When the flows stop; by default the end of the run.
        stop: Time,
        /// From the start of one flow to that of the next.
        spacing: Time,
    },
    /// Poisson arrivals between hosts drawn uniformly.
    Poisson {
        /// Mean rate of arrivals over the whole network; a load, or a rate of each host, has been
        /// turned into it.
        flows_per_second: f64,
        /// Of each flow.
        size: Sizes,
        /// Where a flow goes.
        to: Destination,
        /// No arrival at or after this; by default `duration`.
        stop: Time,
    },
    /// Hosts send to each other by a rule.
    Matrix {
        /// Who to whom.
        rule: Rule,
        /// Of each flow.
        size: Option<Sizes>,
        /// When the flows stop; by default the end of the run.
        stop: Time,
        /// Starts are uniform in [start, start + jitter].
        jitter: Time,
        /// The flows that ends of flows start; with it, `size` is finite.
        repeat: Option<Repeat>,
    },
    /// Collective operations, one after the other.
    Collective {
        /// How ranks exchange their data.
        algorithm: Collective,
        /// Hosts that take part, from the first on.
        ranks: u32,
        /// Data of each rank, bytes.
        size: u64,
        /// How many operations.
        iterations: u32,
        /// From the end of an operation at a rank to its next.
        compute: Time,
    },
    /// Flows one by one.
    Trace {
        /// In the order of the file.
        flows: Vec<TraceFlow>,
        /// Some may start at or after `duration`: they do not start.
        drop_beyond_end: bool,
    },
    /// Jobs: a client asks several servers, each answers; when all answers are in, the next begins.
    PartitionAggregate {
        /// Servers of a job.
        servers: u32,
        /// Jobs side by side.
        chains: u32,
        /// From the client to each server.
        request: Sizes,
        /// From each server to the client.
        answer: Sizes,
        /// From the end of a job to the start of the next.
        gap: Gaps,
        /// No job starts at or after this; by default `duration`.
        stop: Time,
    },
}

/// Where Poisson arrivals go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Destination {
    /// To any other host.
    Any,
    /// To any host of another rack.
    OtherRacks,
    /// To the host that the first workload of kind permutation has for the sender.
    Permutation,
}

/// One flow of a trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TraceFlow {
    /// Sending host.
    pub from: u32,
    /// Receiving host.
    pub to: u32,
    /// Payload, bytes.
    pub size: u64,
    /// After the start of the workload, or after the last of the flows that it waits for.
    pub start: Time,
    /// Flows that it waits for, by their places in the list.
    pub after: Vec<u32>,
    /// How many of these must be over.
    pub enough: u32,
}

/// Small flows go by another transport.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Small {
    /// Flows of less payload than this, bytes, are small.
    pub below: u64,
    /// Index into [`Scenario::transports`](super::Scenario::transports).
    pub transport: usize,
}

/// Hosts that do the same; which ones is drawn at random.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Role {
    /// The name.
    pub name: String,
    /// How many hosts have it; no host has two.
    pub hosts: u32,
}

/// The role of the hosts that have no other.
pub const OTHERS: &str = "others";

/// The flows that the end of a flow of a matrix starts.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Repeat {
    /// True: the flow starts the next of its sender. False: the last of all starts all again, with
    /// another draw.
    pub each: bool,
    /// From the end to the next start.
    pub gap: Gaps,
}

/// The run ends when this many flows of a label have finished.
#[derive(Clone, PartialEq, Debug)]
pub struct Until {
    /// How many.
    pub flows: u64,
    /// The label of the flows that count.
    pub label: String,
}

impl Workload {
    /// The labels of its flows: of flows that the workload starts by itself, and of flows that
    /// answer them.
    pub fn labels(&self) -> (String, &str) {
        match self.kind {
            WorkloadKind::PartitionAggregate { .. } => (format!("{} request", self.label), &self.label),
            _ => (self.label.clone(), &self.label),
        }
    }
}

impl WorkloadKind {
    /// The kind, as the scenario file writes it.
    pub fn name(&self) -> &'static str {
        match self {
            WorkloadKind::Flow { .. } => "flow",
            WorkloadKind::Incast { .. } => "incast",
            WorkloadKind::ManyToOne { .. } => "many-to-one",
            WorkloadKind::Poisson { .. } => "poisson",
            WorkloadKind::Matrix { rule, .. } => rule.name(),
            WorkloadKind::PartitionAggregate { .. } => "partition-aggregate",
            WorkloadKind::Trace { .. } => "trace",
            WorkloadKind::Collective { .. } => "collective",
        }
    }
}
