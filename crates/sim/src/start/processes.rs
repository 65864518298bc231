//! Processes of the workload on hosts: what they are told, and what becomes of what they ask for.

use crate::host::endpoint::key;
use crate::host::hosts::Hosts;
use crate::plan::traffic::by_size;
use crate::plan::{PlannedFlow, PlannedProcess};
use crate::results::outcome::JobOutcome;
use crate::start::agenda::Notice;
use linkpool_network::{Egress, NodeId};
use linkpool_units::Time;
use linkpool_workload::{Action, Flow, FlowEnd, Listens};

impl Hosts<'_> {
    /// Does what `host` has to do by now.
    pub(crate) fn on_agenda(&mut self, host: NodeId, now: Time, network: &mut Egress<'_>) {
        while let Some(notice) = self.agendas[host as usize].due(now) {
            match notice {
                Notice::Start(id, planned) => self.open(host, id, planned, now, network),
                Notice::Begin(process, mut state) => {
                    if now < self.plan.processes[process as usize].until {
                        let mut actions = Vec::new();
                        state.begin(host as u16, now, &mut actions);
                        self.agendas[host as usize].processes.insert(process, *state);
                        self.act(process, host, now, actions);
                    }
                }
                Notice::Over(_, follower) => self.one_less(follower, now),
                Notice::Scan => self.scan(host, now),
                Notice::Report(_, report) => self.on_report(report),
                Notice::Decide => self.decide(now),
                Notice::Place(long, path) => self.place(host, long, path),
                Notice::Ended(id, end) => {
                    if let Some((process, _)) = self.plan.of_process(id) {
                        self.tell_process(process, host, end, now);
                    }
                }
            }
        }
    }

    /// Flow `id` has ended at its sender: all data is acknowledged there, if it has `finished`, or it was stopped or given up.
    pub(crate) fn on_flow_end(&mut self, id: u32, planned: &PlannedFlow, finished: bool, now: Time) {
        let Flow { src, dst, .. } = planned.flow;
        if finished {
            self.tell_followers(id, (src, dst), src, now);
        }
        let Some((process, number)) = self.plan.of_process(id) else { return };
        let PlannedProcess { process: state, home, .. } = &self.plan.processes[process as usize];
        let end = FlowEnd { number, src, dst, at: now };
        match state.listens() {
            Listens::Sender => self.tell_process(process, src.into(), end, now),
            Listens::Anywhere => self.notices.push(((*home).into(), now + self.lookahead, Notice::Ended(id, end))),
            Listens::Receiver => {}
        }
    }

    /// All data of flow `id` has arrived at `host`.
    pub(crate) fn on_flow_arrival(&mut self, id: u32, (src, host): (u16, NodeId), now: Time) {
        self.tell_followers(id, (src, host as u16), host as u16, now);
        let Some((process, number)) = self.plan.of_process(id) else { return };
        let planned = &self.plan.processes[process as usize];
        let end = FlowEnd { number, src, dst: host as u16, at: now };
        if planned.process.listens() != Listens::Receiver {
            return;
        }
        match planned.process.answer(end) {
            Some(Action::Start(number, flow)) => self.start(process, host, (number, flow), planned.answer_label),
            _ => self.tell_process(process, host, end, now),
        }
    }

    fn tell_process(&mut self, process: u32, host: NodeId, end: FlowEnd, now: Time) {
        let mut actions = Vec::new();
        if let Some(state) = self.agendas[host as usize].processes.get_mut(&process) {
            state.on_end(end, now, &mut actions);
        }
        self.act(process, host, now, actions);
    }

    /// Does what `process`, at `host`, asks for.
    fn act(&mut self, process: u32, host: NodeId, now: Time, actions: Vec<Action>) {
        let planned = &self.plan.processes[process as usize];
        for action in actions {
            match action {
                Action::Start(number, mut flow) => {
                    if NodeId::from(flow.src) != host {
                        flow.start = flow.start.max(now + self.lookahead);
                    }
                    if flow.start < planned.until {
                        self.start(process, host, (number, flow), planned.label);
                    }
                }
                Action::Move(to, at) => {
                    if let Some(state) = self.agendas[host as usize].processes.remove(&process) {
                        let at = at.max(now + self.lookahead);
                        self.notices.push((to.into(), at, Notice::Begin(process, Box::new(state))));
                    }
                }
                Action::Finish(job) => {
                    self.ended.lock().jobs.push(JobOutcome { label: planned.answer_label, job, active_until: now })
                }
            }
        }
    }

    /// Has a flow of `process`, which is at `host`, started by its sender when it says.
    fn start(&mut self, process: u32, host: NodeId, (number, flow): (u32, Flow), label: u16) {
        let src = NodeId::from(flow.src);
        let PlannedProcess { transport, small, .. } = self.plan.processes[process as usize];
        let transport = by_size(small, flow.size, transport);
        let notice = Notice::Start(self.plan.id(process, number), PlannedFlow { flow, transport, label });
        if src == host {
            self.enter(host, flow.start, notice);
        } else {
            self.notices.push((src, flow.start, notice));
        }
    }

    /// Puts `notice` on the agenda of `host`.
    pub(crate) fn enter(&mut self, host: NodeId, at: Time, notice: Notice) {
        self.agendas[host as usize].insert(at, notice);
        self.timers[host as usize].push(at, key::AGENDA);
    }

    /// Jobs that are not done yet.
    pub(crate) fn unfinished_jobs(&mut self, now: Time) {
        for (host, agenda) in self.agendas.iter().enumerate() {
            for (process, state) in &agenda.processes {
                let label = self.plan.processes[*process as usize].answer_label;
                self.ended.lock().jobs.extend(state.unfinished(host as u16).map(|job| JobOutcome {
                    label,
                    job,
                    active_until: now,
                }));
            }
        }
    }
}
