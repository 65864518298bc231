//! From a scenario to the plan of a run: fabric, transports, flows and processes.

pub(crate) mod capture;
pub(crate) mod changes;
pub(crate) mod exchanges;
pub(crate) mod flows;
pub(crate) mod ids;
pub(crate) mod paths;
pub(crate) mod placement;
pub(crate) mod planned;
pub(crate) mod programs;
pub(crate) mod serving;
pub(crate) mod traffic;
pub(crate) mod transports;
pub(crate) mod waits;
pub(crate) mod workload;

pub use capture::{CapturePlan, View};
pub use changes::LinkChanges;
pub use flows::{Flows, Merged};
pub use ids::{FlowId, LabelId, ProcessId, TransportId};
pub use paths::{PathError, PathRule};
pub use placement::Placement;
pub use planned::{Driven, PlannedFlow, PlannedProcess};
pub use programs::{MessageOf, PlannedPrograms};
pub use serving::PlannedServing;
pub use transports::{PacketSizes, PlannedTransport};
pub use waits::{Follower, Waits};

use linkpool_engine::hash_u64;
use linkpool_network::{
    Digests, Fabric, HostId, Intake, LinkId, Network, NodeId, Partitions, Policies, QueuePolicy, Routing, Spreading,
    Timetable, partition_for, topology,
};
use linkpool_scenario as scenario;
use linkpool_scenario::{Scenario, Topology};
use linkpool_transport::{DigestForm, Telemetry};
use linkpool_units::{Rate, Time};
use linkpool_workload::Flow;
use linkpool_workload::kinds;
pub use linkpool_workload::kinds::{JobKind, Operation};
use linkpool_workload::program::Rank;
use std::collections::HashSet;
use traffic::Traffic;

/// Everything that is known about a run before it begins.
#[derive(Debug)]
pub struct Plan {
    /// The network.
    pub fabric: Fabric,
    /// How switches choose among links.
    pub routing: Routing,
    /// The queue policies of output ports.
    pub policies: Policies,
    /// The transports of the scenario, then a copy for each flow with paths of its own.
    pub transports: Vec<PlannedTransport>,
    /// The flows that are known before the run, in order of start. Their places are their numbers
    /// in the results.
    pub flows: Flows,
    /// Which of these flows wait for others. The start of a flow that waits is a time after the end
    /// of the last flow that it waits for.
    pub waits: Waits,
    /// The processes that start further flows during the run.
    pub processes: Vec<PlannedProcess>,
    /// The programs of ranks, whose messages are flows of the run.
    pub programs: Vec<PlannedPrograms>,
    /// The models that are served, whose messages are flows of the run.
    pub served: Vec<PlannedServing>,
    /// The goal that ends the run early, if there is one.
    pub goal: Option<Goal>,
    /// The kinds of messages that a program sends while the run goes on: one for each workload of kind `session`.
    pub driven: Vec<Driven>,
    /// Of each of these, the messages that a file has, in the order in which their hosts number them.
    pub replayed: Vec<Vec<PlannedFlow>>,
    /// The labels of flows in the results: one for each workload, or two if some of its flows
    /// answer others.
    pub labels: Vec<String>,
    /// By label: the number of its workload, in the order of the file. Workloads may be called the same.
    pub workloads: Vec<u32>,
    /// By label: the kind of job that its flows form, if any.
    pub jobs: Vec<Option<JobKind>>,
    /// By label: do its flows from one host to another share a connection, which stays open?
    pub persistent: Vec<bool>,
    /// By label: are the ports of its connections drawn by their ends, and not by the number of the flow? So are those of
    /// jobs, of models that are served and of programs that drive the run: the same messages then have the same ports,
    /// whether a trace has them or a program sends them, and whatever runs beside them.
    pub by_pair: Vec<bool>,
    /// The period that statistics are about.
    pub measure: scenario::Measure,
    /// The settings of the scheduler that places flows, if there is one.
    pub placement: Option<Placement>,
    /// The changes of links during the run.
    pub changes: LinkChanges,
    /// The time series and packets to record.
    pub record: scenario::Record,
    /// The adapters of hosts, if they take time or have limits.
    pub nic: Option<scenario::Nic>,
    /// Hosts that take what comes to them more slowly than their links bring it.
    pub slow_hosts: Vec<scenario::SlowHost>,
    /// The ports whose packets are recorded, if there are any.
    pub capture: Option<CapturePlan>,
    /// The seed of all random streams.
    pub seed: u64,
    /// The most connections that may be open at a host at one time; a run that needs more stops.
    pub most_connections: usize,
    /// No flow starts at or after this, except answers.
    pub last_start: Time,
    /// The latest end of the run.
    pub end: Time,
}

/// A packet has 16 bits for the place of its endpoint at the host.
const MOST_CONNECTIONS: usize = 1 << 16;

/// The goal of a run: it ends when enough flows of some labels have finished.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Goal {
    /// By place in [`Plan::labels`]: do its flows count?
    pub labels: Vec<bool>,
    /// The number of flows that must finish.
    pub flows: u64,
}

impl Plan {
    /// Plans `scenario`.
    pub fn new(scenario: &Scenario) -> Plan {
        let fabric = scenario.topology.fabric();
        let mut transports: Vec<PlannedTransport> = scenario.transports.iter().map(PlannedTransport::new).collect();
        if let (Spreading::TwoLevel, Topology::Drawn(topology::Topology::FatTree(tree))) =
            (scenario.routing.kind, &scenario.topology)
        {
            transports.iter_mut().for_each(|t| t.paths = PathRule::TwoLevel(*tree));
        }
        let of = |w: &scenario::Workload| transport_of(w, &fabric, &mut transports);
        let mut traffic = Traffic::new(scenario, &fabric, of);
        let (flows, waits) = traffic.in_order(scenario.duration);
        let Traffic { labels, workloads, jobs, persistent, processes, programs, served, driven, replayed, .. } =
            traffic;
        let mut by_pair = vec![false; labels.len()];
        let of_models = served.iter().flat_map(|served| [served.label, served.experts_label]);
        let of_others = programs.iter().map(|programs| programs.label).chain(driven.iter().map(|driven| driven.label));
        of_models.chain(of_others).for_each(|label| by_pair[label.index()] = true);
        let goal = scenario.until.as_ref().map(|until| Goal {
            labels: labels.iter().map(|label| *label == until.label).collect(),
            flows: until.flows,
        });
        let layers = scenario.layer_queues.iter();
        let policies = layers
            .fold(QueuePolicy::from(&scenario.queue).into(), |all: Policies, (layer, q)| all.with(*layer, q.into()));
        let telemetry: Vec<Telemetry> = scenario.transports.iter().filter_map(|t| t.telemetry()).collect();
        let digests = telemetry.iter().find_map(|telemetry| match telemetry {
            Telemetry::Records => None,
            Telemetry::Digest(DigestForm { base, bits, base_rtt }) => Some(Digests::new(*base, *bits, *base_rtt)),
        });
        let policies = if telemetry.is_empty() { policies } else { policies.stamping(digests) };
        let returns = scenario.transports.iter().any(|t| t.control.family().facts().returns);
        let policies = if returns { policies } else { policies.returning_nothing() };
        let built = |link: LinkId| {
            let layer = fabric.layer(fabric.links()[link.index()].from);
            let of_layer = scenario.layer_queues.iter().find(|(other, _)| *other == layer);
            of_layer.map_or(&scenario.queue, |(_, queue)| queue).limit
        };
        let changes = LinkChanges::new(scenario, &fabric, built);
        let capture = CapturePlan::new(scenario, &fabric);
        Plan {
            routing: scenario.routing.network(&fabric),
            fabric,
            policies,
            changes,
            transports,
            flows,
            waits,
            processes,
            programs,
            served,
            goal,
            driven,
            replayed,
            measure: scenario.measure,
            labels,
            workloads,
            jobs,
            persistent,
            by_pair,
            placement: scenario.routing.placement.map(|p| Placement { period: p.period, share: p.share }),
            record: scenario.record.clone(),
            nic: scenario.nic,
            slow_hosts: scenario.slow_hosts.clone(),
            capture,
            seed: scenario.seed,
            most_connections: MOST_CONNECTIONS,
            last_start: scenario.duration,
            end: scenario.end(),
        }
    }

    /// The number in the results of message `number` that `host` sends by `channel`, a place in [`Plan::driven`]. The
    /// messages of a host are numbered as the flows of a process are. None beyond 32 bits.
    pub(crate) fn driven_id(&self, channel: usize, host: HostId, number: u32) -> Option<FlowId> {
        self.id(ProcessId::new(self.processes.len() + channel * self.fabric.hosts() + host.index()), number)
    }

    /// Of which sender flow `id` is a message, by channel times the number of hosts and host, and which of its messages; if it
    /// may be one. The inverse of [`Plan::driven_id`].
    pub(crate) fn of_driven(&self, id: FlowId) -> Option<(usize, u32)> {
        let index = u64::from(id).checked_sub(self.first_of_processes())?;
        let (who, number) = (index % self.numbering(), index / self.numbering());
        let sender = (who as usize).checked_sub(self.processes.len())?;
        (sender < self.driven.len() * self.fabric.hosts()).then_some((sender, number as u32))
    }

    /// The number in the results of message `number` that an instance of `served`, a place in [`Plan::served`], sends;
    /// its instances of prefill are counted first. The messages of an instance are numbered as the flows of a process
    /// are. None beyond 32 bits.
    pub(crate) fn served_id(&self, served: usize, instance: usize, number: u32) -> Option<FlowId> {
        self.id(ProcessId::new(self.first_of_served(served) + instance), number)
    }

    /// The place in [`Plan::served`] of the model of which flow `id` is a message, if it is one.
    pub(crate) fn of_served(&self, id: FlowId) -> Option<u32> {
        if self.served.is_empty() {
            return None;
        }
        let index = u64::from(id).checked_sub(self.first_of_processes())?;
        let who = (index % self.numbering()) as usize;
        // There are few models.
        let served = (0..self.served.len()).rev().find(|served| self.first_of_served(*served) <= who);
        served.map(|served| served as u32)
    }

    /// The number of the first instance of `served` among those that number messages.
    fn first_of_served(&self, served: usize) -> usize {
        let before = self.served[..served].iter().map(PlannedServing::instances).sum::<usize>();
        self.processes.len() + self.driven.len() * self.fabric.hosts() + before
    }

    /// Processes, hosts and instances that number messages of their own.
    fn numbering(&self) -> u64 {
        self.first_of_served(self.served.len()) as u64
    }

    /// The number in the results of flow `number` of `process`. The flows of the plan come first,
    /// then the messages of programs; the flows of processes follow, one of each process by turns.
    /// None beyond 32 bits.
    pub fn id(&self, process: ProcessId, number: u32) -> Option<FlowId> {
        let id = self.first_of_processes() + u64::from(number) * self.numbering() + u64::from(process);
        u32::try_from(id).ok().map(FlowId::from)
    }

    /// The process that started flow `id`, if one did, and its own number for the flow.
    pub fn of_process(&self, id: FlowId) -> Option<(ProcessId, u32)> {
        let index = u64::from(id).checked_sub(self.first_of_processes())?;
        let process = (index % self.numbering()) as usize;
        (process < self.processes.len()).then(|| (ProcessId::new(process), (index / self.numbering()) as u32))
    }

    /// A random number of the connection that is opened for flow `id`, unless its label is [by pair](Plan::by_pair). It
    /// stands for addresses and ports.
    pub fn ports(&self, id: FlowId) -> u32 {
        hash_u64(hash_u64(self.seed) ^ u64::from(id)) as u32
    }

    /// As [`Plan::ports`], of a connection whose label is [by pair](Plan::by_pair): the `number`th, from 0, that is opened
    /// between these hosts.
    pub fn ports_between(&self, (src, dst): (HostId, HostId), number: u32) -> u32 {
        let ends = u64::from(src) << 32 | u64::from(dst);
        hash_u64(hash_u64(hash_u64(self.seed) ^ ends) ^ u64::from(number)) as u32
    }

    fn first_of_processes(&self) -> u64 {
        self.flows.len() as u64 + self.programs.last().map_or(0, PlannedPrograms::end)
    }

    /// The number in the results of a message of programs `programs`. None beyond 32 bits.
    pub fn message_id(&self, programs: usize, message: MessageOf) -> Option<FlowId> {
        let id = self.flows.len() as u64 + self.programs[programs].number(message);
        u32::try_from(id).ok().map(FlowId::from)
    }

    /// The programs of which flow `id` is a message, if it is one, and the message.
    pub fn of_programs(&self, id: FlowId) -> Option<(usize, MessageOf)> {
        let index = u64::from(id).checked_sub(self.flows.len() as u64)?;
        let programs = self.programs.partition_point(|programs| programs.end() <= index);
        Some((programs, self.programs.get(programs)?.message(index)))
    }

    /// Has the job of message `id` failed by `now`, since it began again for the time at which the message was sent?
    pub(crate) fn is_reset(&self, id: FlowId, now: Time) -> bool {
        let Some((programs, of)) = self.of_programs(id) else { return false };
        let failures = self.programs[programs].restarts.as_ref().map_or(&[][..], |restarts| &restarts.failures);
        failures.get(of.restart as usize).is_some_and(|at| *at <= now)
    }

    /// Hosts that may send.
    pub(crate) fn senders(&self) -> impl Iterator<Item = HostId> {
        self.ends(|flow| flow.src)
    }

    /// Hosts that may receive.
    pub(crate) fn receivers(&self) -> impl Iterator<Item = HostId> {
        self.ends(|flow| flow.dst)
    }

    /// The ends of all flows, and the hosts of ranks; with processes, or a program that drives the
    /// run, all hosts, as these may use any.
    fn ends(&self, end: impl Fn(&Flow) -> HostId) -> impl Iterator<Item = HostId> {
        let any = !self.processes.is_empty() || !self.driven.is_empty();
        let mut found = vec![any; self.fabric.hosts()];
        self.flows.iter().for_each(|f| found[end(&f.flow).index()] = true);
        self.programs.iter().flat_map(|programs| &programs.hosts).for_each(|host| found[host.index()] = true);
        self.served.iter().flat_map(PlannedServing::hosts).for_each(|host| found[host.index()] = true);
        HostId::first(found.len()).zip(found).filter_map(|(host, is)| is.then_some(host))
    }

    /// The changes of the network, with its routes at each time.
    pub fn timetable(&self) -> Timetable {
        self.changes.timetable(&self.fabric, &self.routing, self.seed, self.end)
    }

    /// Lets hosts of `network` that are slow take slowly what comes to them.
    pub(crate) fn slow_down(&self, network: &mut Network) {
        let mut slow_down = |host: HostId, intake| {
            for link in self.fabric.links_from(NodeId::from(host)) {
                network.slow_down(self.fabric.reverse(link), intake, &self.fabric);
            }
        };
        for slow in &self.slow_hosts {
            let (rate, packet_time) = (slow.rate, Time::ZERO);
            let intake = Intake { buffer: slow.buffer, rate, packet_time, from: slow.from, until: slow.until };
            slow.hosts.iter().for_each(|host| slow_down(*host, intake));
        }
        let Some(nic) = self.nic.filter(|nic| nic.receives_slowly()) else { return };
        let rate = nic.receive_rate.or(Some(Rate(u64::MAX)));
        let (packet_time, from, until) = (nic.receive_packet_time, Time::ZERO, Time::MAX);
        let intake = Intake { buffer: nic.receive_buffer, rate, packet_time, from, until };
        let others = |host: &HostId| !self.slow_hosts.iter().any(|slow| slow.hosts.contains(host));
        HostId::first(self.fabric.hosts()).filter(others).for_each(|host| slow_down(host, intake));
    }

    /// The threads of its run, of those that it may have ([`scenario::Record::threads`]).
    pub fn threads(&self, threads: u8) -> u8 {
        self.record.threads(threads)
    }

    /// The number of threads for its run on `cores` cores: one per 64 hosts that may send or receive.
    pub fn worthwhile_threads(&self, cores: usize) -> u8 {
        let busy: HashSet<HostId> = self.senders().chain(self.receivers()).collect();
        self.threads(cores.min(busy.len() / HOSTS_OF_A_THREAD).clamp(1, 64) as u8)
    }

    /// The partitions of the fabric for `threads` threads. `timetable` is [`Plan::timetable`].
    pub fn partitions(&self, timetable: &Timetable, threads: u8) -> Partitions {
        let threads = self.threads(threads);
        // To go through all flows takes time, and one partition needs none.
        let exchanges =
            (threads > 1).then(|| exchanges::expected(&self.fabric, &self.flows, &self.transports, self.end));
        let partitions = partition_for(&self.fabric, threads, exchanges.into_iter().flatten());
        let partitions = partitions.splitting(&self.fabric, self.policies.clone(), timetable);
        let may_run_ahead = !self.sends_messages()
            && self.goal.is_none()
            && self.capture.is_none()
            && self.transports.iter().all(|transport| transport.paths.is_shortest());
        if may_run_ahead {
            partitions.running_ahead(&self.fabric, self.policies.clone(), timetable)
        } else {
            partitions
        }
    }

    /// May a host send another a message without a packet? So do processes, models that are served,
    /// jobs that begin again, programs that drive the run, flows that wait for others, messages that
    /// share a connection, a scheduler, and connections that have no FIN.
    pub(crate) fn sends_messages(&self) -> bool {
        !self.driven.is_empty()
            || !self.processes.is_empty()
            || !self.served.is_empty()
            || self.programs.iter().any(|programs| programs.restarts.is_some())
            || !self.waits.is_empty()
            || self.persistent.contains(&true)
            || self.programs.iter().any(|programs| programs.programs.ranks.iter().any(Rank::is_tied))
            || self.placement.is_some()
            || self.transports.iter().any(|transport| !transport.facts.fins)
    }

    /// The size of the smallest packet, in bytes.
    pub fn smallest_packet(&self) -> u16 {
        // A trimmed packet is only a header.
        let data = |t: &PlannedTransport| t.sizes.header + u16::from(!t.trimming);
        self.transports.iter().map(|t| t.sizes.ack.min(data(t))).min().unwrap_or(1)
    }
}

/// The transport of `w`. If `w` names paths, a copy of the transport takes these paths.
fn transport_of(w: &scenario::Workload, fabric: &Fabric, transports: &mut Vec<PlannedTransport>) -> TransportId {
    match &w.kind {
        scenario::WorkloadKind::Flow(kinds::Flow { paths: Some(paths), .. }) => {
            let from = |name: &String| fabric.name(fabric.step(name).expect("paths are checked"));
            let link = |ends: &[String]| fabric.links_named(from(&ends[0]), &ends[1])[0];
            let links = |names: &Vec<String>| names.windows(2).map(link).collect();
            let paths = PathRule::Given(paths.iter().map(links).collect());
            transports.push(PlannedTransport { paths, ..transports[w.transport].clone() });
            TransportId::new(transports.len() - 1)
        }
        _ => TransportId::new(w.transport),
    }
}

/// The hosts that may send or receive which a thread needs: with fewer, waiting for each other costs more than the threads save.
const HOSTS_OF_A_THREAD: usize = 64;

/// The number of threads for a run of `scenario` on `cores` cores, as [`Plan::worthwhile_threads`] counts them.
pub fn worthwhile_threads(scenario: &Scenario, cores: usize) -> u8 {
    // A plan of a large fabric takes a while.
    if cores < 2 || scenario.topology.hosts() < 2 * HOSTS_OF_A_THREAD {
        return 1;
    }
    Plan::new(scenario).worthwhile_threads(cores)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(transport: &str, more: &str) -> Plan {
        let text = format!(
            "duration = \"100ms\"\n[topology.many-to-one]\nsenders = 3\nrate = \"10Gbps\"\ndelay = \"2us\"\n[transport.t]\n\
             control = \"reno\"\n{transport}\n[[workload.flow]]\ntransport = \"t\"\nfrom = \"S1\"\nto = \"R\"\nsize = \"1KB\"\n\
             start = \"10ms\"\n{more}"
        );
        Plan::new(&crate::scenario(&text))
    }

    /// An ACK, or a header with a byte of payload; what is trimmed has none.
    #[test]
    fn the_smallest_packet_is_an_ack_or_a_header() {
        let smallest = |transport: &str, more: &str| plan(transport, more).smallest_packet();
        assert_eq!(smallest("", ""), 90);
        assert_eq!(smallest("ack_size = \"200B\"", ""), 91);
        assert_eq!(smallest("ack_size = \"80B\"", ""), 80);
        let trimming = "[queue]\ndiscipline = \"trimming\"\n";
        assert_eq!(smallest("ack_size = \"200B\"\ntrimming = true", trimming), 90);
    }

    /// Flows that are listed and flows that are drawn are numbered by their starts.
    #[test]
    fn listed_flows_have_their_numbers_among_others() {
        let poisson = "[[workload.poisson]]\ntransport = \"t\"\nflows_per_second = 1000\nsize = \"10KB\"\n";
        let mixed = plan("", poisson);
        let starts: Vec<Time> = mixed.flows.iter().map(|flow| flow.flow.start).collect();
        assert!(starts.is_sorted() && starts.len() == mixed.flows.len() && !mixed.flows.is_empty());
        let place = starts.iter().position(|start| *start == Time::from_ms(10)).unwrap();
        assert!(place > 0 && place + 1 < starts.len());
        assert_eq!(mixed.flows.numbers_of_listed(), [FlowId::new(place)]);
    }

    #[test]
    fn small_flows_are_below_the_bound() {
        let [small, large] = [1, 0].map(TransportId::new);
        let of = |size| planned::by_size(Some((100, small)), size, large);
        assert_eq!([Some(99), Some(100), None].map(of), [small, large, large]);
        assert_eq!(planned::by_size(None, Some(1), large), large);
        assert!(Flows::default().is_empty());
    }

    /// Processes begin with their workload, each up to the jitter later.
    #[test]
    fn processes_begin_with_their_workload() {
        let repeated = "[[workload.permutation]]\ntransport = \"t\"\nsize = \"5KB\"\nrepeat = \"each\"\nstart = \"3ms\"\njitter = \"1ms\"\n";
        let starts: Vec<Time> = plan("", repeated).processes.iter().map(|process| process.start).collect();
        assert!(starts.iter().all(|at| (Time::from_ms(3)..=Time::from_ms(4)).contains(at)), "{starts:?}");
        assert!(starts.iter().any(|at| *at > Time::from_ms(3)));
    }

    /// Each connection between two hosts has ports of its own, in each direction, and other ones with another seed; none
    /// of them those of a flow by its number. Of 16 x 15 pairs by two connections none are alike.
    #[test]
    fn ports_are_those_of_a_pair() {
        let plan = |seed: u64| Plan { seed, ..plan("", "") };
        let (one, other) = (plan(1), plan(2));
        let mut all = HashSet::new();
        for src in HostId::first(16) {
            for dst in HostId::first(16).filter(|dst| *dst != src) {
                let of = |plan: &Plan| [0, 1].map(|number| plan.ports_between((src, dst), number));
                assert_eq!(of(&one), of(&one));
                all.extend(of(&one).into_iter().chain(of(&other)));
            }
        }
        all.extend(FlowId::first(480).map(|id| one.ports(id)));
        assert_eq!(all.len(), 4 * 240 + 480);
    }

    /// Messages of traces, of models that are served and of programs that drive the run have ports by their ends.
    #[test]
    fn ports_of_jobs_are_by_pair() {
        let of = |workload: &str| plan("", workload).by_pair;
        let served = "[[workload.inference]]\ntransport = \"t\"\nprefill = 1\ndecode = 2\nrequests_per_second = 1\n\
                      prefill_time_per_token = \"1us\"\nkv_per_token = \"1KB\"\ndecode_time = \"1ms\"\n\
                      experts = { number = 2, dispatch = \"1KB\" }\n";
        // The listed flow; then the messages; of a served model those of its experts, too.
        assert_eq!(of(served), [false, true, true]);
        assert_eq!(of("[[workload.session]]\ntransport = \"t\"\n"), [false, true]);
        assert_eq!(
            of(
                "[[workload.training]]\ntransport = \"t\"\ndp = 2\nforward = \"1us\"\nbackward = \"1us\"\ngradients = \"1KB\"\n"
            ),
            [false, true]
        );
        assert_eq!(of("[[workload.permutation]]\ntransport = \"t\"\nsize = \"5KB\"\n"), [false, false]);
    }

    /// Of all hosts, those that send or receive.
    #[test]
    fn ends_are_those_of_flows() {
        let alone = plan("", "");
        assert_eq!(alone.senders().collect::<Vec<_>>(), [HostId::new(0)]);
        assert_eq!(alone.receivers().collect::<Vec<_>>(), [HostId::new(3)]);
    }
}
