use linkpool_units::Time;

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

/// The flows of a workload. Hosts are indices into the topology's host names; sizes are bytes of
/// payload, none meaning unlimited; a flow still running at `stop` stops there.
#[derive(Clone, Debug, PartialEq)]
pub enum WorkloadKind {
    /// Flows between two hosts.
    Flow {
        /// Sending host.
        from: u32,
        /// Receiving host; not `from`.
        to: u32,
        /// Of each flow.
        size: Option<u64>,
        /// When the flows stop; by default the end of the run.
        stop: Time,
        /// Number of flows.
        count: u32,
    },
    /// In every burst, one flow from each sender.
    Incast {
        /// Number of senders: the first hosts that are not the receiver.
        senders: u32,
        /// Receiving host.
        receiver: u32,
        /// Of each flow.
        size: u64,
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
        size: Option<u64>,
        /// When the flows stop; by default the end of the run.
        stop: Time,
        /// From the start of one flow to that of the next.
        spacing: Time,
    },
    /// Every host sends to one other and receives from one, drawn at random.
    Permutation {
        /// Of each flow.
        size: Option<u64>,
        /// When the flows stop; by default the end of the run.
        stop: Time,
        /// Starts are uniform in [start, start + jitter].
        jitter: Time,
    },
    /// Poisson arrivals between hosts drawn uniformly.
    Poisson {
        /// Mean rate of arrivals over the whole network.
        flows_per_second: f64,
        /// Of each flow.
        size: u64,
        /// No arrival at or after this; by default `duration`.
        stop: Time,
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
        }
    }
}
