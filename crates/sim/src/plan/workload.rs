//! Plans the flows of one workload: flows listed before the run, and generators of flows.

use crate::plan::flows::{self, Poisson, To};
use linkpool_engine::{Stream, stream};
use linkpool_network::{Fabric, HostId};
use linkpool_scenario::{Scenario, Workload, WorkloadKind};
use linkpool_settings::Kinds;
use linkpool_units::Time;
use linkpool_workload::kinds::{
    self, Collective, Destinations, Incast, ManyToOneFlows, MatrixFlows, Trace, TraceFlow, Workload as _,
};
use linkpool_workload::{self as workload, Bursts, Flow, Matrix, Message, PoissonTimes, Rule, Senders, Sizes};
use rand::seq::SliceRandom;
use std::collections::BTreeMap;

/// A workload in its surroundings.
pub(crate) struct WorkloadPlan<'s> {
    pub(crate) workload: &'s Workload,
    /// Among those of its kind.
    pub(crate) index: u64,
    pub(crate) scenario: &'s Scenario,
    pub(crate) fabric: &'s Fabric,
}

impl WorkloadPlan<'_> {
    pub(crate) fn random(&self) -> Stream {
        stream(self.scenario.seed, self.workload.kind.name(), self.index)
    }

    pub(crate) fn hosts(&self) -> usize {
        self.fabric.hosts()
    }

    pub(crate) fn matrix(&self, rule: &Rule) -> Matrix {
        let senders = self.workload.role.as_ref().map(|role| self.senders(role));
        let marked = |hosts: Vec<HostId>| {
            let mut marked = vec![false; self.hosts()];
            hosts.iter().for_each(|host| marked[host.index()] = true);
            Senders::Some(marked.into())
        };
        let senders = senders.map_or(Senders::All, marked);
        Matrix { rule: rule.clone(), places: self.fabric.racks_and_pods().into(), senders }
    }

    /// The hosts that have `role`. Hosts stand in a random order; the first role has the first of
    /// them, and so on.
    fn senders(&self, role: &str) -> Vec<HostId> {
        let mut order: Vec<HostId> = HostId::first(self.hosts()).collect();
        order.shuffle(&mut stream(self.scenario.seed, "roles", 0));
        let mut order = order.into_iter();
        for r in &self.scenario.roles {
            let hosts: Vec<HostId> = order.by_ref().take(r.hosts as usize).collect();
            if r.name == role {
                return hosts;
            }
        }
        order.collect()
    }

    /// The flows that are listed before the run. They are drawn in this order: the pairs of hosts,
    /// then for each flow its size and its delay.
    pub(crate) fn flows(&self) -> Vec<Flow> {
        let (start, random) = (self.workload.start, &mut self.random());
        if let Some((rule, flows)) = self.workload.kind.matrix() {
            let MatrixFlows { size, stop, jitter, repeat: None, .. } = flows else { return Vec::new() };
            let pairs = self.matrix(&rule).draw(random);
            let flow = |pair| {
                let size = draw(size, random);
                Flow { stop: *stop, ..Flow::new(pair, size, start + workload::jitter(*jitter, random)) }
            };
            return pairs.into_iter().map(flow).collect();
        }
        match &self.workload.kind {
            WorkloadKind::Flow(kinds::Flow { from, to, size, stop, count, .. }) => {
                let flow = |size| Flow { stop: *stop, ..Flow::new((*from, *to), size, start) };
                (0..*count).map(|_| flow(draw(size, random))).collect()
            }
            WorkloadKind::ManyToOne(ManyToOneFlows { flows, first, receiver, size, stop, spacing }) => {
                let flow = |i: u32| {
                    let pair = ((first + i).into(), *receiver);
                    Flow { stop: *stop, ..Flow::new(pair, draw(size, random), start + *spacing * u64::from(i)) }
                };
                (0..*flows).map(flow).collect()
            }
            WorkloadKind::Trace(Trace { flows, .. }) => {
                let flow = |f: &TraceFlow| {
                    let start = if f.after.is_empty() { start + f.start } else { f.start };
                    Flow::new((f.from, f.to), Some(f.size), start)
                };
                flows.iter().map(flow).collect()
            }
            WorkloadKind::Collective(Collective { algorithm, ranks, size, iterations, compute }) => {
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
                    Flow { job: Some(iteration), ..Flow::new((m.from.into(), m.to.into()), Some(m.size), start) }
                };
                (0..*iterations).flat_map(|i| messages.iter().map(move |m| flow(i, m))).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The generator of the flows that are not listed: as many as the time allows.
    pub(crate) fn drawn(&self) -> Option<flows::Generator> {
        let (start, random) = (self.workload.start, self.random());
        match &self.workload.kind {
            WorkloadKind::Incast(Incast { senders, receiver, size, every, bursts, spacing }) => {
                let receiver = *receiver;
                let others = HostId::first(self.hosts()).filter(|host| *host != receiver);
                Some(flows::Generator::Bursts(Bursts {
                    senders: others.take(*senders as usize).collect(),
                    receiver,
                    size: size.clone(),
                    start,
                    every: *every,
                    spacing: *spacing,
                    left: 0..*bursts,
                    random,
                    begun: BTreeMap::new(),
                }))
            }
            WorkloadKind::Poisson(poisson) => {
                let stop = poisson.stop.min(self.scenario.duration);
                let times = PoissonTimes::new(poisson.rate(), start, stop, random);
                let senders = self.workload.role.as_ref().map(|role| self.senders(role));
                let senders = senders.unwrap_or_else(|| HostId::first(self.hosts()).collect());
                let first = || workload::permutation(self.hosts(), &mut stream(self.scenario.seed, "permutation", 0));
                let to = match poisson.to {
                    Destinations::Permutation => To::Permutation(first().into()),
                    Destinations::OtherRacks => To::OtherRacks(self.fabric.racks_and_pods().into()),
                    Destinations::Random => To::Any(self.hosts()),
                };
                Some(flows::Generator::Poisson(Poisson::new(times, senders, to, poisson.size.clone())))
            }
            _ => None,
        }
    }

    /// Which of [`WorkloadPlan::flows`] wait for which, by places: the second of each pair for the
    /// first.
    pub(crate) fn waits(&self) -> Vec<(u32, u32)> {
        let mut waits = Vec::new();
        match &self.workload.kind {
            WorkloadKind::Trace(trace) => {
                for (i, flow) in (0..).zip(&trace.flows) {
                    waits.extend(flow.after.iter().map(|before| (*before, i)));
                }
            }
            WorkloadKind::Collective(Collective { algorithm, ranks, size, iterations, .. }) => {
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
}

fn draw(size: &Option<Sizes>, random: &mut Stream) -> Option<u64> {
    size.as_ref().map(|size| size.draw(random))
}
