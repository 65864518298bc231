//! Runs the processes of workloads at hosts: informs them of the ends of flows, and carries out
//! their actions.

use crate::host::component::{Component, Context};
use crate::host::message::Message;
use crate::plan::{FlowId, LabelId, Plan, PlannedFlow, PlannedProcess, ProcessId};
use crate::results::outcome::JobOutcome;
use crate::results::sink::Limit;
use linkpool_network::{HostId, Network, NodeId};
use linkpool_workload::{Action, Flow, FlowEnd, Listens, Process};
use std::collections::HashMap;

/// The processes at hosts of this partition.
pub(crate) struct Processes<'p> {
    plan: &'p Plan,
    /// The host and the state of each.
    here: HashMap<ProcessId, (NodeId, Process)>,
}

impl<'p> Processes<'p> {
    pub(crate) fn new(plan: &'p Plan) -> Processes<'p> {
        Processes { plan, here: HashMap::new() }
    }

    /// Process `number` begins at `host`.
    fn begin(&mut self, number: ProcessId, host: NodeId, mut process: Process, context: &mut Context) {
        if context.now < self.plan.processes[number.index()].until {
            let mut actions = Vec::new();
            process.begin(HostId::from(host), context.now, &mut actions);
            self.here.insert(number, (host, process));
            self.act(number, host, actions, context);
        }
    }

    /// Informs process `number` of the end of a flow, if it is at `host`.
    fn tell(&mut self, number: ProcessId, host: NodeId, end: FlowEnd, context: &mut Context) {
        let mut actions = Vec::new();
        if let Some((at, process)) = self.here.get_mut(&number)
            && *at == host
        {
            process.on_end(end, context.now, &mut actions);
        }
        self.act(number, host, actions, context);
    }

    /// Carries out the `actions` of process `number`, which is at `host`.
    fn act(&mut self, number: ProcessId, host: NodeId, actions: Vec<Action>, context: &mut Context) {
        let planned = &self.plan.processes[number.index()];
        let soonest = context.now + context.lookahead;
        for action in actions {
            match action {
                Action::Start(flow_number, mut flow) => {
                    if NodeId::from(flow.src) != host {
                        flow.start = flow.start.max(soonest);
                    }
                    if flow.start < planned.until {
                        self.start(number, host, (flow_number, flow), planned.label, context);
                    }
                }
                Action::Move(to, at) => {
                    if let Some((_, process)) = self.here.remove(&number) {
                        context.send(to.into(), at.max(soonest), Message::Begin(number, Box::new(process)));
                    }
                }
                Action::Finish(job) => {
                    let label = planned.answer_label;
                    let job = JobOutcome::new(label, job, context.now);
                    context.record().jobs.push(job);
                }
            }
        }
    }

    /// Starts a flow of process `number`, which is at `host`, at its sender and at its start time.
    fn start(&self, number: ProcessId, host: NodeId, (of, flow): (u32, Flow), label: LabelId, context: &mut Context) {
        let transport = self.plan.processes[number.index()].transport_of(flow.size);
        let Some(id) = self.plan.id(number, of) else { return context.fail(Limit::FlowNumbers) };
        let message = Message::Start(id, PlannedFlow { flow, transport, label });
        context.send_or_leave(host, flow.src.into(), flow.start, message);
    }
}

impl Component for Processes<'_> {
    fn on_start(&mut self, context: &mut Context) {
        for (number, planned) in ProcessId::first(self.plan.processes.len()).zip(&self.plan.processes) {
            let home = NodeId::from(planned.home);
            if context.is_mine(home) {
                context.leave(home, planned.start, Message::Begin(number, Box::new(planned.process.clone())));
            }
        }
    }

    fn on_message(&mut self, host: NodeId, message: Message, context: &mut Context) -> Option<Message> {
        match message {
            Message::Begin(number, process) => self.begin(number, host, *process, context),
            Message::Ended(flow, end) => {
                if let Some((number, _)) = self.plan.of_process(flow) {
                    self.tell(number, host, end, context);
                }
            }
            other => return Some(other),
        }
        None
    }

    fn on_delivery(&mut self, flow: FlowId, (src, dst): (HostId, HostId), context: &mut Context) {
        let Some((number, of)) = self.plan.of_process(flow) else { return };
        let planned = &self.plan.processes[number.index()];
        let end = FlowEnd { number: of, src, dst, at: context.now };
        if planned.process.listens() != Listens::Receiver {
            return;
        }
        match planned.process.answer(end) {
            Some(Action::Start(of, flow)) => self.start(number, dst.into(), (of, flow), planned.answer_label, context),
            _ => self.tell(number, dst.into(), end, context),
        }
    }

    fn on_flow_end(&mut self, flow: FlowId, planned: &PlannedFlow, _: bool, context: &mut Context) {
        let Flow { src, dst, .. } = planned.flow;
        let Some((number, of)) = self.plan.of_process(flow) else { return };
        let PlannedProcess { process, home, .. } = &self.plan.processes[number.index()];
        let end = FlowEnd { number: of, src, dst, at: context.now };
        match process.listens() {
            Listens::Sender => self.tell(number, src.into(), end, context),
            Listens::Anywhere => {
                let at = context.now + context.lookahead;
                context.send((*home).into(), at, Message::Ended(flow, end));
            }
            Listens::Receiver => {}
        }
    }

    /// Records the jobs that are not done.
    fn on_end(&mut self, _: &mut Network, context: &mut Context) {
        let now = context.now;
        let mut record = context.record();
        for (number, (host, process)) in &self.here {
            let label = self.plan.processes[number.index()].answer_label;
            let outcome = |job| JobOutcome::new(label, job, now);
            record.jobs.extend(process.unfinished(HostId::from(*host)).map(outcome));
        }
    }
}
