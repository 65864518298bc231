//! A scenario with every default filled in, every name resolved and every value checked. Each
//! setting is declared here, or beside the code that it is for.

mod change;
mod changed_links;
mod control;
mod controls;
mod graph;
mod measure;
mod nic;
mod reconverge;
mod record;
mod routing;
mod slow_host;
mod subflows;
mod topology;
mod transport;
mod until;
mod workload;

pub use change::{BurstLoss, Change, LinkState, Repeat};
pub use changed_links::{ChangedLinks, Draw, Tier};
pub use control::Control;
pub use controls::ControlFile;
pub use graph::{Graph, Node};
pub use measure::Measure;
pub use nic::{Nic, NicPreset};
pub use reconverge::Reconverge;
pub use record::{Capture, CounterSeries, PauseSeries, QueueSeries, Record, Series};
pub use routing::{LinkWeight, Placement, Routing, WeightRule};
pub use slow_host::SlowHost;
pub use subflows::Subflows;
pub use topology::Topology;
pub use transport::{PathConfig, Paths, Priority, Transport};
pub use until::Until;
pub use workload::{OTHERS, Role, Small, Workload};

use linkpool_network::{Layer, Queue};
use linkpool_settings::{Bounds, Preset, settings};
use linkpool_units::Time;

settings! {
    /// A linkpool scenario: a fabric, its queues, named transports, a workload, and the time series
    /// to record. The same scenario gives the same result.
    pub struct Scenario {
        /// A title for tables and figures.
        name: String, from |_s| String::new() => "the file's name, without `.toml`";
        /// The only source of randomness, 0 to 2^63 - 1; `--seed` overrides it. Beside what the
        /// tables below draw, it decides which of several packets that reach a switch at the same
        /// instant goes first.
        seed: u64 = 1;
        /// Simulated time; no flow starts at or after it.
        duration: Time, required Time::from_secs(20), within Bounds::POSITIVE;
        /// Time after `duration` in which started flows may still finish.
        drain: Time = Time::ZERO;
        /// Files with congestion control algorithms [in Python](python-algorithm.md), relative to
        /// the scenario, as in `controls = ["mine.py"]`. Their code runs when the scenario is read.
        controls: Option<Vec<ControlFile>> = None;
    }
    tables {
        /// The condition that ends the run early, as in `{ flows = 1000, label = "long" }`: the run
        /// ends when this number of flows with this label has finished, if that is before the end.
        until: Until;
    }
    others {
        /// The period that statistics are about.
        measure: Measure = Measure::defaults(Preset::Linux);
        /// The fabric.
        topology: Topology = Topology::Graph(Graph::default());
        /// How switches choose among links of equal cost.
        routing: Routing = Routing::defaults(Preset::Linux);
        /// Every output port, of hosts and switches.
        queue: Queue = Queue::defaults(Preset::Linux);
        /// The ports of layers that differ.
        layer_queues: Vec<(Layer, Queue)> = Vec::new();
        /// Changes of links, in the order of the file.
        changes: Vec<Change> = Vec::new();
        /// The adapters of hosts; none: they take no time and have no limit.
        nic: Option<Nic> = None;
        /// Hosts that take slowly what comes, in the order of the file.
        slow_hosts: Vec<SlowHost> = Vec::new();
        /// The transports, in the order of the file.
        transports: Vec<Transport> = Vec::new();
        /// Roles of hosts.
        roles: Vec<Role> = Vec::new();
        /// The workloads: kinds in the order of their declaration, and within a kind that of the
        /// file.
        workloads: Vec<Workload> = Vec::new();
        /// Which time series to record.
        record: Record = Record::defaults(Preset::Linux);
    }
}

impl Scenario {
    /// When the run ends: `duration` and then `drain`.
    pub fn end(&self) -> Time {
        self.duration + self.drain
    }

    /// The time from a failure or repair of links until routing follows; `None`: never.
    pub fn reconverge(&self) -> Option<Time> {
        self.routing.reconverge.and_then(|Reconverge(after)| after)
    }
}
