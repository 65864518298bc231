use linkpool_units::Time;
use linkpool_workload::Sizes;

/// A source of flows.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// Copied to its flows.
    pub label: String,
    /// Index into [`Scenario::transports`](super::Scenario::transports).
    pub transport: usize,
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
        paths: Vec<Vec<u32>>,
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
    /// Every host sends to one other and receives from one, drawn at random.
    Permutation {
        /// Of each flow.
        size: Option<Sizes>,
        /// When the flows stop; by default the end of the run.
        stop: Time,
        /// Starts are uniform in [start, start + jitter].
        jitter: Time,
    },
    /// Poisson arrivals between hosts drawn uniformly.
    Poisson {
        /// Mean rate of arrivals over the whole network; a load has been turned into it.
        flows_per_second: f64,
        /// Of each flow.
        size: Sizes,
        /// No arrival at or after this; by default `duration`.
        stop: Time,
    },
    /// Every host sends to one other, drawn at random.
    Random {
        /// Flows into a host at most; none: as chance has it.
        at_most: Option<u32>,
        /// Of each flow.
        size: Option<Sizes>,
        /// When the flows stop; by default the end of the run.
        stop: Time,
        /// Starts are uniform in [start, start + jitter].
        jitter: Time,
    },
    /// Host i sends to host i + step, round the end.
    Stride {
        /// From a host to the one that it sends to.
        step: u32,
        /// Of each flow.
        size: Option<Sizes>,
        /// When the flows stop; by default the end of the run.
        stop: Time,
        /// Starts are uniform in [start, start + jitter].
        jitter: Time,
    },
    /// Every host sends to every other.
    AllToAll {
        /// Of each flow.
        size: Option<Sizes>,
        /// When the flows stop; by default the end of the run.
        stop: Time,
        /// Starts are uniform in [start, start + jitter].
        jitter: Time,
    },
    /// Flows that go to a few hosts more often than to others.
    Hotspot {
        /// Number of flows.
        flows: u32,
        /// The hosts that get more.
        hosts: Vec<u32>,
        /// The share of flows that go to them.
        share: f64,
        /// Of each flow.
        size: Option<Sizes>,
        /// When the flows stop; by default the end of the run.
        stop: Time,
        /// Starts are uniform in [start, start + jitter].
        jitter: Time,
    },
    /// Every host sends to one other, some within their racks, some within their pods.
    Staggered {
        /// The share of flows that stay in their rack.
        rack: f64,
        /// The share of flows that leave their rack and stay in their pod.
        pod: f64,
        /// Of each flow.
        size: Option<Sizes>,
        /// When the flows stop; by default the end of the run.
        stop: Time,
        /// Starts are uniform in [start, start + jitter].
        jitter: Time,
    },
}

impl WorkloadKind {
    /// The kind, as the scenario file writes it.
    pub fn name(&self) -> &'static str {
        match self {
            WorkloadKind::Flow { .. } => "flow",
            WorkloadKind::Incast { .. } => "incast",
            WorkloadKind::ManyToOne { .. } => "many-to-one",
            WorkloadKind::Permutation { .. } => "permutation",
            WorkloadKind::Poisson { .. } => "poisson",
            WorkloadKind::Random { .. } => "random",
            WorkloadKind::Stride { .. } => "stride",
            WorkloadKind::AllToAll { .. } => "all-to-all",
            WorkloadKind::Hotspot { .. } => "hotspot",
            WorkloadKind::Staggered { .. } => "staggered",
        }
    }
}
