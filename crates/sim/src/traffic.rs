//! From the workloads of a scenario to flows, and to the processes that start others.

use crate::flows::{self, Drawn, Flows, Poisson, To};
use crate::jobs::JobKind;
use crate::plan::{PlannedFlow, PlannedProcess};
use crate::waits::Waits;
use linkpool_engine::{Stream, stream};
use linkpool_network::Fabric;
use linkpool_scenario::{Destination, Repeat, Scenario, TraceFlow, Workload, WorkloadKind};
use linkpool_units::Time;
use linkpool_workload::{
    self as workload, Bursts, Chain, ClosedLoop, Destinations, Flow, Gaps, Matrix, Message, PartitionAggregate,
    PoissonTimes, Process, Redraw, Rounds, Rule, Scheduler, Senders, Sizes,
};
use rand::RngCore;
use rand::seq::SliceRandom;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// What the workloads of a scenario come to.
#[derive(Default)]
pub(crate) struct Traffic {
    pub(crate) labels: Vec<String>,
    /// By label, what its flows make together.
    pub(crate) jobs: Vec<Option<JobKind>>,
    /// Those that are listed, in the order of the file.
    pub(crate) flows: Vec<PlannedFlow>,
    /// Those that are drawn while they are needed.
    pub(crate) drawn: Vec<Drawn>,
    pub(crate) processes: Vec<PlannedProcess>,
    /// Pairs of flows: the second waits for the first.
    pub(crate) waits: Vec<(u32, u32)>,
    /// Flows that do not wait for all of these, and for how many they do.
    pub(crate) enough: HashMap<u32, u32>,
}

impl Traffic {
    /// `transport_of` numbers the transport of a workload.
    pub(crate) fn new(scenario: &Scenario, fabric: &Fabric, mut transport_of: impl FnMut(&Workload) -> u16) -> Traffic {
        let mut traffic = Traffic::default();
        for (i, w) in scenario.workloads.iter().enumerate() {
            // Numbered within its kind: one more workload of a kind does not shift those of others.
            let index = scenario.workloads[..i].iter().filter(|other| other.kind.name() == w.kind.name()).count();
            let source = Source { workload: w, index: index as u64, scenario, fabric };
            traffic.add(&source, transport_of(w));
        }
        traffic
    }

    /// The flows in order of start, those that start together in the order of the file, without those that would start at or after
    /// `duration`; and which wait for which.
    pub(crate) fn in_order(&mut self, duration: Time) -> (Flows, Waits) {
        let mut order: Vec<u32> = (0..).take(self.flows.len()).collect();
        order.retain(|i| self.flows[*i as usize].flow.start < duration);
        order.sort_by_key(|i| self.flows[*i as usize].flow.start);
        let listed = order.iter().map(|i| self.flows[*i as usize]).collect();
        let flows = Flows::new(listed, std::mem::take(&mut self.drawn), duration);
        if self.waits.is_empty() {
            return (flows, Waits::default());
        }
        let numbers: HashMap<u32, u32> = order.iter().copied().zip(flows.numbers_of_listed()).collect();
        // Who waits for a flow that never starts never starts; it has no number, or stays one that waits for itself.
        let numbered = |(first, second): &(u32, u32)| {
            let number = *numbers.get(second)?;
            let planned = self.flows[*second as usize];
            Some((numbers.get(first).copied().unwrap_or(number), (number, planned)))
        };
        let waits: Vec<_> = self.waits.iter().filter_map(numbered).collect();
        let enough = self.enough.iter().filter_map(|(flow, n)| Some((*numbers.get(flow)?, *n))).collect();
        (flows, Waits::new(&waits, &enough))
    }

    fn add(&mut self, source: &Source<'_>, transport: u16) {
        let (label, answer_label) = self.labels(source.workload);
        let small = source.workload.small.map(|small| (small.below, small.transport as u16));
        let planned = |flow: Flow| PlannedFlow { flow, transport: by_size(small, flow.size, transport), label };
        let first = self.flows.len() as u32;
        self.waits.extend(source.waits().into_iter().map(|(before, after)| (first + before, first + after)));
        if let WorkloadKind::Trace { flows } = &source.workload.kind {
            let some = (first..).zip(flows).filter(|(_, flow)| (flow.enough as usize) < flow.after.len());
            self.enough.extend(some.map(|(i, flow)| (i, flow.enough)));
        }
        self.flows.extend(source.flows().into_iter().map(planned));
        self.drawn.extend(source.drawn().map(|source| Drawn { source, transport, small, label }));
        let start = source.workload.start;
        let planned = |(process, home, after, until)| PlannedProcess {
            process,
            home,
            start: start + after,
            until,
            transport,
            small,
            label,
            answer_label,
        };
        self.processes.extend(source.processes().into_iter().map(planned));
    }

    /// The places of the labels of `workload`, which are its own, whatever others are called.
    fn labels(&mut self, workload: &Workload) -> (u16, u16) {
        let (first, answers) = workload.labels();
        let place = self.labels.len() as u16;
        let kind = JobKind::of(&workload.kind);
        if first == answers {
            self.labels.push(first);
            self.jobs.push(kind);
            return (place, place);
        }
        self.labels.extend([first, answers.to_string()]);
        self.jobs.extend([None, kind]);
        (place, place + 1)
    }
}

/// A workload in its surroundings.
struct Source<'s> {
    workload: &'s Workload,
    /// Among those of its kind.
    index: u64,
    scenario: &'s Scenario,
    fabric: &'s Fabric,
}

impl Source<'_> {
    fn random(&self) -> Stream {
        stream(self.scenario.seed, self.workload.kind.name(), self.index)
    }

    fn hosts(&self) -> u16 {
        self.fabric.hosts() as u16
    }

    fn matrix(&self, rule: &Rule) -> Matrix {
        let senders = self.workload.role.as_ref().map(|role| self.senders(role));
        let marked = |hosts: Vec<u16>| Senders::Some((0..self.hosts()).map(|h| hosts.contains(&h)).collect());
        let senders = senders.map_or(Senders::All, marked);
        Matrix { rule: rule.clone(), places: self.fabric.racks_and_pods().into(), senders }
    }

    /// The hosts that have `role`. Hosts stand in a random order; the first role has the first of them, and so on.
    fn senders(&self, role: &str) -> Vec<u16> {
        let mut order: Vec<u16> = (0..self.hosts()).collect();
        order.shuffle(&mut stream(self.scenario.seed, "roles", 0));
        let mut order = order.into_iter();
        for r in &self.scenario.roles {
            let hosts: Vec<u16> = order.by_ref().take(r.hosts as usize).collect();
            if r.name == role {
                return hosts;
            }
        }
        order.collect()
    }

    /// The flows that are listed before the run. What is drawn comes in this order: who sends to whom, then of each flow its
    /// size and its delay.
    fn flows(&self) -> Vec<Flow> {
        let (start, random) = (self.workload.start, &mut self.random());
        match &self.workload.kind {
            WorkloadKind::Flow { from, to, size, stop, count, .. } => {
                let pair = (*from as u16, *to as u16);
                let flow = |size| Flow { stop: *stop, ..Flow::new(pair, size, start) };
                (0..*count).map(|_| flow(draw(size, random))).collect()
            }
            WorkloadKind::ManyToOne { flows, first, receiver, size, stop, spacing } => {
                let flow = |i: u32| {
                    let pair = ((first + i) as u16, *receiver as u16);
                    Flow { stop: *stop, ..Flow::new(pair, draw(size, random), start + *spacing * u64::from(i)) }
                };
                (0..*flows).map(flow).collect()
            }
            WorkloadKind::Matrix { rule, size, stop, jitter, repeat: None } => {
                let pairs = self.matrix(rule).draw(random);
                let flow = |pair| {
                    let size = draw(size, random);
                    Flow { stop: *stop, ..Flow::new(pair, size, start + workload::jitter(*jitter, random)) }
                };
                pairs.into_iter().map(flow).collect()
            }
            WorkloadKind::Trace { flows } => {
                let flow = |f: &TraceFlow| {
                    let start = if f.after.is_empty() { start + f.start } else { f.start };
                    Flow::new((f.from as u16, f.to as u16), Some(f.size), start)
                };
                flows.iter().map(flow).collect()
            }
            WorkloadKind::Collective { algorithm, ranks, size, iterations, compute } => {
                let messages = algorithm.messages(*ranks, *size);
                let flow = |iteration: u32, m: &Message| {
                    let first = m.after.is_empty();
                    let start = if !first {
                        Time::ZERO
                    } else if iteration == 0 {
                        start
                    } else {
                        *compute
                    };
                    Flow { job: Some(iteration), ..Flow::new((m.from as u16, m.to as u16), Some(m.size), start) }
                };
                (0..*iterations).flat_map(|i| messages.iter().map(move |m| flow(i, m))).collect()
            }
            WorkloadKind::Matrix { .. }
            | WorkloadKind::PartitionAggregate { .. }
            | WorkloadKind::Incast { .. }
            | WorkloadKind::Poisson { .. } => Vec::new(),
        }
    }

    /// What draws the flows that are not listed: as many as time lasts.
    fn drawn(&self) -> Option<flows::Source> {
        let (start, random) = (self.workload.start, self.random());
        match &self.workload.kind {
            WorkloadKind::Incast { senders, receiver, size, every, bursts, spacing } => {
                let others = (0..self.hosts()).filter(|h| u32::from(*h) != *receiver);
                Some(flows::Source::Bursts(Bursts {
                    senders: others.take(*senders as usize).collect(),
                    receiver: *receiver as u16,
                    size: size.clone(),
                    start,
                    every: *every,
                    spacing: *spacing,
                    left: 0..*bursts,
                    random,
                    begun: BTreeMap::new(),
                }))
            }
            WorkloadKind::Poisson { flows_per_second, size, to, stop } => {
                let stop = (*stop).min(self.scenario.duration);
                let times = PoissonTimes::new(*flows_per_second, start, stop, random);
                let senders = self.workload.role.as_ref().map(|role| self.senders(role));
                let senders = senders.unwrap_or_else(|| (0..self.hosts()).collect());
                let first = || workload::permutation(self.hosts(), &mut stream(self.scenario.seed, "permutation", 0));
                let to = match to {
                    Destination::Permutation => To::Permutation(first().into()),
                    Destination::OtherRacks => To::OtherRacks(self.fabric.racks_and_pods().into()),
                    Destination::Any => To::Any(self.hosts()),
                };
                Some(flows::Source::Poisson(Poisson::new(times, senders, to, size.clone())))
            }
            _ => None,
        }
    }

    /// Which of [`Source::flows`] wait for which, by places: the second of each pair for the first.
    fn waits(&self) -> Vec<(u32, u32)> {
        let mut waits = Vec::new();
        match &self.workload.kind {
            WorkloadKind::Trace { flows } => {
                for (i, flow) in (0..).zip(flows) {
                    waits.extend(flow.after.iter().map(|before| (*before, i)));
                }
            }
            WorkloadKind::Collective { algorithm, ranks, size, iterations, .. } => {
                let messages = algorithm.messages(*ranks, *size);
                let n = messages.len() as u32;
                for iteration in 0..*iterations {
                    for (i, m) in (0..).zip(&messages) {
                        let place = iteration * n + i;
                        waits.extend(m.after.iter().map(|before| (iteration * n + before, place)));
                        // A rank is done with an operation when it has received all that is for it.
                        if m.after.is_empty() && iteration > 0 {
                            let received = (0..).zip(&messages).filter(|(_, other)| other.to == m.from);
                            waits.extend(received.map(|(j, _): (u32, _)| ((iteration - 1) * n + j, place)));
                        }
                    }
                }
            }
            _ => {}
        }
        waits
    }

    /// What starts flows during the run: the process, where it begins, how long after the start of the workload, and when it
    /// ceases to start flows.
    fn processes(&self) -> Vec<(Process, u16, Time, Time)> {
        let duration = self.scenario.duration;
        match &self.workload.kind {
            WorkloadKind::Matrix { rule, size: Some(size), stop, jitter, repeat: Some(repeat) } => {
                let set = |(process, home, after)| (process, home, after, duration.min(*stop));
                self.repeated(rule, size, (*stop, *jitter), repeat).into_iter().map(set).collect()
            }
            WorkloadKind::PartitionAggregate { servers, chains, request, answer, gap, stop } => {
                let all = Arc::new(PartitionAggregate {
                    hosts: self.hosts(),
                    servers: *servers,
                    chains: *chains,
                    request: request.clone(),
                    answer: answer.clone(),
                    gap: *gap,
                    answers: stream(self.scenario.seed, "partition-aggregate answers", self.index).next_u64(),
                });
                let chain = |i| {
                    let (chain, client) = Chain::new(all.clone(), i, self.stream_of(i));
                    (Process::Chain(chain), client, Time::ZERO, duration.min(*stop))
                };
                (0..*chains).map(chain).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The stream of the i-th process.
    fn stream_of(&self, i: u32) -> Stream {
        stream(self.scenario.seed, &format!("{} process", self.workload.kind.name()), self.index << 32 | u64::from(i))
    }

    fn repeated(
        &self,
        rule: &Rule,
        size: &Sizes,
        (stop, jitter): (Time, Time),
        Repeat { each, gap }: &Repeat,
    ) -> Vec<(Process, u16, Time)> {
        let (matrix, size, gap) = (self.matrix(rule), size.clone(), *gap);
        let mut random = self.random();
        if !each {
            let (open, round) = (0, 0);
            let rounds = Rounds { matrix, size, jitter, gap, stop, next: 0, open, round, random };
            return vec![(Process::Rounds(rounds), 0, Time::ZERO)];
        }
        let hosts = self.hosts();
        let redraw = match rule {
            Rule::Random { at_most: Some(n), .. } => Redraw::Room(vec![*n; hosts.into()]),
            Rule::Hotspot { hosts: hot, share, .. } => Redraw::Hotspot { hosts, hot: hot.clone(), share: *share },
            _ => return self.loops(&matrix, &size, (stop, jitter), gap, &mut random),
        };
        let scheduler = Scheduler { matrix, redraw, size, jitter, gap, stop, next: 0, random };
        vec![(Process::Scheduler(scheduler), 0, Time::ZERO)]
    }

    /// A closed loop for each pair of the matrix, or for each host that draws its destinations.
    fn loops(
        &self,
        matrix: &Matrix,
        size: &Sizes,
        (stop, jitter): (Time, Time),
        gap: Gaps,
        random: &mut Stream,
    ) -> Vec<(Process, u16, Time)> {
        let pairs = matrix.draw(random);
        let one = |(i, (src, dst)): (u32, (u16, u16))| {
            let to = match &matrix.rule {
                Rule::Random { other_racks: true, .. } => Destinations::OtherRacks(matrix.places.clone()),
                Rule::Random { .. } => Destinations::Uniform(self.hosts()),
                Rule::Staggered { rack, pod } => {
                    Destinations::Staggered { places: matrix.places.clone(), shares: (*rack, *pod) }
                }
                _ => Destinations::Fixed(dst),
            };
            let looped = ClosedLoop { to, size: size.clone(), gap, stop, next: 0, random: self.stream_of(i) };
            (Process::ClosedLoop(looped), src, workload::jitter(jitter, random))
        };
        (0..).zip(pairs).map(one).collect()
    }
}

/// The transport of a flow of `size`.
pub(crate) fn by_size(small: Option<(u64, u16)>, size: Option<u64>, transport: u16) -> u16 {
    match (small, size) {
        (Some((below, small)), Some(size)) if size < below => small,
        _ => transport,
    }
}

fn draw(size: &Option<Sizes>, random: &mut Stream) -> Option<u64> {
    size.as_ref().map(|size| size.draw(random))
}
