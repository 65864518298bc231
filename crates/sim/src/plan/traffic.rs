//! Plans the flows of all workloads, and the processes that start further flows.

use crate::plan::flows::{Drawn, Flows};
use crate::plan::ids::{FlowId, LabelId, TransportId};
use crate::plan::planned::{Driven, PlannedFlow, PlannedProcess, by_size};
use crate::plan::programs::PlannedPrograms;
use crate::plan::serving::PlannedServing;
use crate::plan::waits::{Follower, Waits};
use crate::plan::workload;
use linkpool_network::Fabric;
use linkpool_scenario::{Scenario, Workload};
use linkpool_settings::Kinds;
use linkpool_units::Time;
use linkpool_workload::Flow;
use linkpool_workload::kinds::Driven::{Outside, Replayed};
use linkpool_workload::kinds::{Demand, JobKind, ProcessStart, Run, TraceFlow, Wait};
use std::collections::HashMap;
use std::sync::Arc;

/// The flows and processes of a scenario's workloads.
#[derive(Default)]
pub(crate) struct Traffic {
    pub(crate) labels: Vec<String>,
    /// By label, the number of its workload in the file.
    pub(crate) workloads: Vec<u32>,
    /// By label, how its flows are grouped.
    pub(crate) jobs: Vec<Option<JobKind>>,
    /// By label, do its flows share connections?
    pub(crate) persistent: Vec<bool>,
    /// The listed flows, in the order of the file.
    pub(crate) flows: Vec<PlannedFlow>,
    /// The generators of flows that are drawn when they are needed.
    pub(crate) drawn: Vec<Drawn>,
    pub(crate) processes: Vec<PlannedProcess>,
    pub(crate) programs: Vec<PlannedPrograms>,
    pub(crate) served: Vec<PlannedServing>,
    pub(crate) driven: Vec<Driven>,
    /// Of each of these, the messages that a file has.
    pub(crate) replayed: Vec<Vec<PlannedFlow>>,
    /// Which of these wait for which, by their places there.
    pub(crate) waits: Vec<(usize, Wait)>,
    /// Flows that do not wait for all of these, and for how many they do.
    pub(crate) enough: HashMap<usize, u32>,
}

impl Traffic {
    /// `transport_of` numbers the transport of a workload.
    pub(crate) fn new(
        scenario: &Scenario,
        fabric: &Fabric,
        mut transport_of: impl FnMut(&Workload) -> TransportId,
    ) -> Traffic {
        let mut traffic = Traffic::default();
        let racks_and_pods = fabric.racks_and_pods().into();
        for (i, w) in scenario.workloads.iter().enumerate() {
            traffic.add(w, &workload::run(scenario, i, &racks_and_pods), transport_of(w));
            traffic.workloads.resize(traffic.labels.len(), i as u32);
        }
        traffic
    }

    /// The flows in order of start, those that start together in the order of the file, without
    /// those that would start at or after `duration`; and which wait for which.
    pub(crate) fn in_order(&mut self, duration: Time) -> (Flows, Waits) {
        let mut order: Vec<usize> = (0..self.flows.len()).collect();
        order.retain(|i| self.flows[*i].flow.start < duration);
        order.sort_by_key(|i| self.flows[*i].flow.start);
        let listed = order.iter().map(|i| self.flows[*i]).collect();
        let flows = Flows::new(listed, std::mem::take(&mut self.drawn), duration);
        if self.waits.is_empty() {
            return (flows, Waits::default());
        }
        let numbers: HashMap<usize, FlowId> = order.iter().copied().zip(flows.numbers_of_listed()).collect();
        // Who waits for a flow that never starts never starts; it has no number, or stays one that
        // waits for itself.
        let numbered = |(of_workload, wait): &(usize, Wait)| {
            let [first, second] = [wait.before, wait.after].map(|place| of_workload + place as usize);
            let flow = *numbers.get(&second)?;
            let follower = Follower { flow, on: wait.on, delay: wait.delay };
            Some((numbers.get(&first).copied().unwrap_or(flow), (follower, self.flows[second])))
        };
        let waits: Vec<_> = self.waits.iter().filter_map(numbered).collect();
        let enough = self.enough.iter().filter_map(|(flow, n)| Some((*numbers.get(flow)?, *n))).collect();
        (flows, Waits::new(&waits, &enough))
    }

    fn add(&mut self, workload: &Workload, run: &Run, transport: TransportId) {
        let (label, answer_label) = self.labels(workload);
        let small = workload.small.map(|small| (small.below, TransportId::new(small.transport)));
        self.driven.extend(workload.kind.settings().driven().map(|by| {
            let driven = Driven { transport, small, label, start: run.start, outside: by == Outside };
            if let Replayed(messages) = by {
                let flow = |m: &TraceFlow| Flow::new((m.from, m.to), Some(m.size), run.start + m.start);
                self.replayed.push(messages.iter().map(|message| driven.planned(flow(message))).collect());
            } else {
                self.replayed.push(Vec::new());
            }
            driven
        }));
        let planned = |flow: Flow| PlannedFlow { flow, transport: by_size(small, flow.size, transport), label };
        let Demand { listed, waits, enough, drawn, processes, programs, serving } =
            workload.kind.settings().demand(run);
        let first = self.flows.len();
        let place = |flow: u32| first + flow as usize;
        self.waits.extend(waits.into_iter().map(|wait| (first, wait)));
        self.enough.extend(enough.into_iter().map(|(flow, n)| (place(flow), n)));
        self.flows.extend(listed.into_iter().map(planned));
        self.drawn.extend(drawn.map(|source| Drawn { source, transport, small, label }));
        let first = self.programs.last().map_or(0, PlannedPrograms::end);
        let planned = |programs| PlannedPrograms::new(programs, run.start, (transport, small, label), first);
        self.programs.extend(programs.map(planned));
        self.served.extend(serving.map(|serving| {
            let serving = Arc::new(serving);
            PlannedServing { serving, transport, small, label, experts_label: answer_label }
        }));
        let planned = |ProcessStart { process, home, after, until }| PlannedProcess {
            process,
            home,
            start: run.start + after,
            until,
            transport,
            small,
            label,
            answer_label,
        };
        self.processes.extend(processes.into_iter().map(planned));
    }

    /// The places of the labels of `workload`, which are its own, whatever others are called.
    fn labels(&mut self, workload: &Workload) -> (LabelId, LabelId) {
        let (first, second) = workload.labels();
        let place = LabelId::new(self.labels.len());
        let kind = workload.kind.settings().jobs(workload.kind.name());
        let persistent = workload.kind.settings().persistent();
        self.labels.push(first);
        self.persistent.push(persistent);
        let Some(second) = second else {
            self.jobs.push(kind);
            return (place, place);
        };
        self.labels.push(second);
        self.persistent.push(persistent);
        self.jobs.extend([None, kind]);
        (place, place.plus(1))
    }
}
