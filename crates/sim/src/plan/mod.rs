//! From a scenario to what is simulated.

pub(crate) mod changes;
pub(crate) mod flows;
pub(crate) mod ids;
pub(crate) mod jobs;
pub(crate) mod paths;
pub(crate) mod placement;
pub(crate) mod planned;
pub(crate) mod source;
pub(crate) mod starters;
pub(crate) mod traffic;
pub(crate) mod transports;
pub(crate) mod waits;

pub use changes::Changes;
pub use flows::{Flows, Merged};
pub use ids::{FlowId, LabelId, ProcessId, TransportId};
pub use jobs::{JobKind, Operation};
pub use paths::{PathError, PathRule};
pub use placement::Placement;
pub use planned::{PlannedFlow, PlannedProcess};
pub use transports::{PlannedTransport, WireSizes};
pub use waits::Waits;

use linkpool_network::{Fabric, HostId, LinkId, NodeId, Policies, QueuePolicy, Routing, Timetable, topology};
use linkpool_scenario as scenario;
use linkpool_scenario::{Scenario, Topology};
use linkpool_units::Time;
use linkpool_workload::Flow;
use traffic::Traffic;

/// Everything about a run that does not change while it runs.
#[derive(Debug)]
pub struct Plan {
    /// The network.
    pub fabric: Fabric,
    /// How switches choose.
    pub routing: Routing,
    /// At the output ports.
    pub policies: Policies,
    /// As in the scenario; then those of flows with paths of their own.
    pub transports: Vec<PlannedTransport>,
    /// Those known before the run, in order of start; in the results they have their places here as numbers.
    pub flows: Flows,
    /// Which of them wait for others; these start so much after the last of those as they would after time zero.
    pub waits: Waits,
    /// What starts others during the run.
    pub processes: Vec<PlannedProcess>,
    /// What ends the run before its end.
    pub goal: Option<Goal>,
    /// Names that flows carry into the results: of each workload one, or two if some of its flows answer others.
    pub labels: Vec<String>,
    /// By label, what its flows make together.
    pub jobs: Vec<Option<JobKind>>,
    /// The period that statistics are about.
    pub measure: scenario::Measure,
    /// The scheduler that places flows, if there is one.
    pub placement: Option<Placement>,
    /// What becomes of links.
    pub changes: Changes,
    /// Which time series are wanted.
    pub record: scenario::Record,
    /// The source of all randomness.
    pub seed: u64,
    /// No flow starts at or after this, but for answers.
    pub last_start: Time,
    /// When the run ends at the latest.
    pub end: Time,
}

/// The run ends when so many flows of some labels have finished.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Goal {
    /// By label of [`Plan::labels`]: do its flows count?
    pub labels: Vec<bool>,
    /// How many.
    pub flows: u64,
}

impl Plan {
    /// Plans `scenario`.
    pub fn new(scenario: &Scenario) -> Plan {
        let fabric = scenario.topology.fabric();
        let mut transports: Vec<PlannedTransport> = scenario.transports.iter().map(PlannedTransport::new).collect();
        if let (scenario::RoutingKind::TwoLevel { .. }, Topology::Drawn(topology::Topology::FatTree(tree))) =
            (scenario.routing.kind, &scenario.topology)
        {
            transports.iter_mut().for_each(|t| t.paths = PathRule::TwoLevel(*tree));
        }
        let of = |w: &scenario::Workload| transport_of(w, &fabric, &mut transports);
        let mut traffic = Traffic::new(scenario, &fabric, of);
        let (flows, waits) = traffic.in_order(scenario.duration);
        let Traffic { labels, jobs, processes, .. } = traffic;
        let goal = scenario.until.as_ref().map(|until| Goal {
            labels: labels.iter().map(|label| *label == until.label).collect(),
            flows: until.flows,
        });
        let layers = scenario.layer_queues.iter();
        let policies = layers
            .fold(QueuePolicy::from(&scenario.queue).into(), |all: Policies, (layer, q)| all.with(*layer, q.into()));
        let built = |link: LinkId| {
            let layer = fabric.layer(fabric.links()[link.index()].from);
            let of_layer = scenario.layer_queues.iter().find(|(other, _)| *other == layer);
            of_layer.map_or(&scenario.queue, |(_, queue)| queue).limit
        };
        let changes = Changes::new(scenario, &fabric, built);
        Plan {
            fabric,
            routing: scenario.routing.network(),
            policies,
            changes,
            transports,
            flows,
            waits,
            processes,
            goal,
            measure: scenario.measure,
            labels,
            jobs,
            placement: scenario.routing.placement.map(|p| Placement { period: p.period, share: p.share }),
            record: scenario.record.clone(),
            seed: scenario.seed,
            last_start: scenario.duration,
            end: scenario.end(),
        }
    }

    /// The number in the results of the flow that `process` calls `number`: behind those of the list, those of all processes by
    /// turns.
    ///
    /// # Panics
    /// With more than 2^32 flows.
    pub fn id(&self, process: ProcessId, number: u32) -> FlowId {
        let id = self.flows.len() as u64 + u64::from(number) * self.processes.len() as u64 + u64::from(process);
        u32::try_from(id).expect("a run has at most 4,294,967,296 flows").into()
    }

    /// The process, if any, that started flow `id`, and what it calls it.
    pub fn of_process(&self, id: FlowId) -> Option<(ProcessId, u32)> {
        let index = id.index().checked_sub(self.flows.len())?;
        let processes = self.processes.len();
        Some((ProcessId::new(index % processes), (index / processes) as u32))
    }

    /// Hosts that send, or may.
    pub(crate) fn senders(&self) -> impl Iterator<Item = HostId> {
        self.ends(|flow| flow.src)
    }

    /// Hosts that are sent to, or may be.
    pub(crate) fn receivers(&self) -> impl Iterator<Item = HostId> {
        self.ends(|flow| flow.dst)
    }

    /// Processes send from anywhere to anywhere.
    fn ends(&self, end: impl Fn(&Flow) -> HostId) -> impl Iterator<Item = HostId> {
        let mut found = vec![!self.processes.is_empty(); self.fabric.hosts()];
        self.flows.iter().for_each(|f| found[end(&f.flow).index()] = true);
        HostId::first(found.len()).zip(found).filter_map(|(host, is)| is.then_some(host))
    }

    /// What changes in the network, and its routes.
    pub fn timetable(&self) -> Timetable {
        self.changes.timetable(&self.fabric, &self.routing, self.seed, self.end)
    }

    /// The smallest packet that will be sent, bytes.
    pub fn smallest_packet(&self) -> u16 {
        // A packet that was trimmed is all header.
        let data = |t: &PlannedTransport| t.sizes.header + u16::from(!t.trimming);
        self.transports.iter().map(|t| t.sizes.ack.min(data(t))).min().unwrap_or(1)
    }
}

/// The transport of `w`: if it names paths, a copy that takes these.
fn transport_of(w: &scenario::Workload, fabric: &Fabric, transports: &mut Vec<PlannedTransport>) -> TransportId {
    match &w.kind {
        scenario::WorkloadKind::Flow { paths, .. } if !paths.is_empty() => {
            let link = |ends: &[NodeId]| fabric.link(ends[0], ends[1]).expect("paths are checked");
            let links = |nodes: &Vec<NodeId>| nodes.windows(2).map(link).collect();
            let paths = PathRule::Given(paths.iter().map(links).collect());
            transports.push(PlannedTransport { paths, ..transports[w.transport].clone() });
            TransportId::new(transports.len() - 1)
        }
        _ => TransportId::new(w.transport),
    }
}

/// How many threads a run on a fabric of so many `hosts` is worth on so many `cores`: with fewer than 64 hosts a thread,
/// waiting for each other at the end of every window costs more than it saves.
pub fn worthwhile_threads(hosts: usize, cores: usize) -> u8 {
    cores.min(hosts / 64).clamp(1, 64) as u8
}
