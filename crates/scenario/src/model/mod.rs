//! A scenario with every default filled in, every name resolved and every value checked.

mod change;
mod control;
mod measure;
mod record;
mod routing;
mod topology;
mod transport;
mod workload;

pub use change::{Change, ChangeOf, LinkState};
pub use control::{Control, ControlFile};
pub use measure::Measure;
pub use record::{CounterRecord, QueueRecord, Record, SeriesRecord};
pub use routing::{Placement, Routing, RoutingKind};
pub use topology::{Graph, Topology};
pub use transport::{NdpConfig, PathConfig, Paths, Priority, Subflows, Transport, WireConfig};
pub use workload::{Destination, OTHERS, Repeat, Role, Small, TraceFlow, Until, Workload, WorkloadKind};

use linkpool_network::{Layer, Queue};
use linkpool_units::Time;

/// One simulation, completely described: the same scenario gives the same result.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// A title for tables and figures.
    pub name: String,
    /// The only source of randomness.
    pub seed: u64,
    /// Simulated time; no flow starts at or after it.
    pub duration: Time,
    /// Time after `duration` in which started flows may still finish.
    pub drain: Time,
    /// The condition that ends the run early.
    pub until: Option<Until>,
    /// The period that statistics are about.
    pub measure: Measure,
    /// The fabric.
    pub topology: Topology,
    /// How switches choose among links of equal cost.
    pub routing: Routing,
    /// Every output port, of hosts and switches.
    pub queue: Queue,
    /// The ports of layers that differ.
    pub layer_queues: Vec<(Layer, Queue)>,
    /// Changes of links, in the order of the file.
    pub changes: Vec<Change>,
    /// So long after links fail or work again routing follows; none: never.
    pub reconverge: Option<Time>,
    /// The files that define algorithms of its transports.
    pub controls: Vec<ControlFile>,
    /// The transports, in the order of the file.
    pub transports: Vec<Transport>,
    /// Roles of hosts.
    pub roles: Vec<Role>,
    /// The workloads: kinds in the order of [`WorkloadKind`], and within a kind that of the file.
    pub workloads: Vec<Workload>,
    /// Which time series to record.
    pub record: Record,
}

impl Scenario {
    /// When the run ends: `duration` and then `drain`.
    pub fn end(&self) -> Time {
        self.duration + self.drain
    }
}
