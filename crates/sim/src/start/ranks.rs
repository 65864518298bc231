//! Runs the programs of ranks at their hosts: starts the messages that they send, informs them of
//! arrivals, and lets the time of their computation pass.

use crate::host::component::{Component, Context};
use crate::host::message::Message;
use crate::plan::{FlowId, MessageOf, Plan, PlannedFlow, PlannedPrograms};
use crate::results::outcome::RankOutcome;
use crate::results::sample::{Sample, Value};
use crate::results::sink::Limit;
use crate::results::timeline::{RankChange, RankEvent};
use linkpool_network::{HostId, Network, NodeId};
use linkpool_units::Time;
use linkpool_workload::Saved;
use linkpool_workload::program::{Action, Machine};
use std::sync::{Arc, Mutex, MutexGuard};

/// What the ranks of all partitions have saved, by place of the programs in the plan.
#[derive(Clone, Debug)]
pub(crate) struct Checkpoints(Arc<Vec<Mutex<Saved>>>);

impl Checkpoints {
    pub(crate) fn new(plan: &Plan) -> Checkpoints {
        let saved = |planned: &PlannedPrograms| Mutex::new(Saved::new(planned.hosts.len()));
        Checkpoints(Arc::new(plan.programs.iter().map(saved).collect()))
    }

    fn of(&self, programs: u32) -> MutexGuard<'_, Saved> {
        self.0[programs as usize].lock().expect("nothing panics while it holds checkpoints")
    }
}

/// The ranks at hosts of this partition.
pub(crate) struct Ranks<'p> {
    plan: &'p Plan,
    checkpoints: Checkpoints,
    /// By place of the programs in the plan, and by rank; none elsewhere, none that is done, and none
    /// between a failure and a restart.
    here: Vec<Vec<Option<Running<'p>>>>,
    /// How often each of the programs has failed, by place in the plan and by rank.
    failed: Vec<Vec<u32>>,
    /// How many of its events are recorded, by place and by rank; empty: none are.
    recorded: Vec<Vec<u32>>,
    /// Empty, for use.
    actions: Vec<Action>,
}

/// A rank that runs its program.
struct Running<'p> {
    restart: u32,
    iteration: u32,
    machine: Machine<'p>,
    /// The start of the iteration.
    start: Time,
    /// When all receives, and calcs of more than 0 units, of the iteration had ended.
    received: Option<Time>,
    /// It has ended the iteration, and writes a checkpoint.
    saves: bool,
}

impl<'p> Ranks<'p> {
    pub(crate) fn new(plan: &'p Plan, checkpoints: Checkpoints) -> Ranks<'p> {
        let none = |programs: &PlannedPrograms| programs.hosts.iter().map(|_| None).collect();
        let here = plan.programs.iter().map(none).collect();
        let failed: Vec<_> = plan.programs.iter().map(|programs| vec![0; programs.hosts.len()]).collect();
        let recorded = if plan.record.ranks { failed.clone() } else { Vec::new() };
        Ranks { plan, checkpoints, here, failed, recorded, actions: Vec::new() }
    }

    /// A rank begins: at the start of its job, or where it goes on after a failure.
    fn begin(&mut self, (programs, rank): (u32, u32), context: &mut Context) {
        let planned = &self.plan.programs[programs as usize];
        let restart = self.failed[programs as usize][rank as usize];
        let iteration = if restart > 0 { self.checkpoints.of(programs).go_on(rank, restart) } else { 0 };
        if iteration < planned.iterations {
            let machine = Machine::new(&planned.programs.ranks[rank as usize]);
            let running = Running { restart, iteration, machine, start: context.now, received: None, saves: false };
            self.here[programs as usize][rank as usize] = Some(running);
            record(&mut self.recorded, (programs, rank), RankChange::Begins(iteration), context);
            self.with((programs, rank), context, Machine::begin);
        } else {
            record(&mut self.recorded, (programs, rank), RankChange::Done, context);
        }
    }

    /// The job of a rank fails: the rank stops, and goes on when all have recovered.
    fn fail(&mut self, (programs, rank): (u32, u32), context: &mut Context) {
        let planned = &self.plan.programs[programs as usize];
        let Some(restarts) = &planned.restarts else { return };
        let host = NodeId::from(planned.hosts[rank as usize]);
        context.cancel(host, |message| {
            let of = match message {
                Message::BeginRank(of) | Message::Calculated(of, _) | Message::Saved(of) => *of,
                _ => return false,
            };
            of == (programs, rank)
        });
        if let Some(running) = self.here[programs as usize][rank as usize].take()
            && !running.machine.is_done()
        {
            context.record().ranks.push(outcome((programs, rank), &running, None, context.now));
        }
        self.failed[programs as usize][rank as usize] += 1;
        record(&mut self.recorded, (programs, rank), RankChange::Fails, context);
        // All ranks of all partitions have stopped before: a recovery is a lookahead at least.
        let at = context.now.saturating_add(restarts.recovery);
        context.leave(host, at, Message::BeginRank((programs, rank)));
    }

    /// A rank has written a checkpoint, and begins its next iteration.
    fn saved(&mut self, (programs, rank): (u32, u32), context: &mut Context) {
        if let Some(running) = &mut self.here[programs as usize][rank as usize] {
            running.iteration += 1;
            (running.start, running.received, running.saves) = (context.now, None, false);
            self.checkpoints.of(programs).save(rank, running.iteration);
            record(&mut self.recorded, (programs, rank), RankChange::Begins(running.iteration), context);
            self.with((programs, rank), context, Machine::begin);
        }
    }

    /// Has the job of `rank` not failed since the message was sent?
    fn is_current(&self, programs: usize, of: MessageOf, rank: u32) -> bool {
        self.failed[programs][rank as usize] == of.restart
    }

    /// Lets `act` change the machine of a rank, and carries out the actions that follow.
    fn with(
        &mut self,
        (programs, rank): (u32, u32),
        context: &mut Context,
        act: impl FnOnce(&mut Machine<'p>, &mut Vec<Action>),
    ) {
        let place = &mut self.here[programs as usize][rank as usize];
        let Some(running) = place else { return };
        act(&mut running.machine, &mut self.actions);
        let mut note = |change, context: &Context| record(&mut self.recorded, (programs, rank), change, context);
        let planned = &self.plan.programs[programs as usize];
        let host = NodeId::from(planned.hosts[rank as usize]);
        loop {
            for action in self.actions.drain(..) {
                match action {
                    Action::Send(node) => {
                        let of = MessageOf { restart: running.restart, iteration: running.iteration, rank, node };
                        let Some(id) = self.plan.message_id(programs as usize, of) else {
                            return context.fail(Limit::FlowNumbers);
                        };
                        if context.now < self.plan.last_start {
                            context.leave(host, context.now, Message::Start(id, planned.flow(of, context.now)));
                            let to = planned.programs.ranks[rank as usize].nodes()[node as usize].peer;
                            note(RankChange::Sends(to, running.restart), context);
                        }
                    }
                    Action::Tell(other, node) => {
                        let there = NodeId::from(planned.hosts[other as usize]);
                        let at = context.now.saturating_add(context.lookahead);
                        context.send(there, at, Message::Told((programs, other), node));
                    }
                    Action::Calculate(node) => {
                        let units = planned.programs.ranks[rank as usize].nodes()[node as usize].size;
                        let (usual, time) = planned.computation(units, rank, running.iteration);
                        let at = context.now.saturating_add(time);
                        context.leave(host, at, Message::Calculated((programs, rank), node));
                        note(RankChange::Computes(context.now.saturating_add(usual)), context);
                    }
                }
            }
            if running.machine.has_received_all() && running.received.is_none() {
                running.received = Some(context.now);
            }
            // Messages of the next iteration may come to a rank that writes a checkpoint.
            if !running.machine.is_done() || running.saves {
                return;
            }
            let done = outcome((programs, rank), running, Some(context.now), context.now);
            context.record().ranks.push(done);
            if running.iteration + 1 == planned.iterations {
                *place = None;
                self.checkpoints.of(programs).save(rank, planned.iterations);
                return note(RankChange::Done, context);
            }
            if let Some(restarts) = &planned.restarts
                && restarts.saves(running.iteration, planned.iterations)
            {
                note(RankChange::Saves, context);
                running.saves = true;
                return context.leave(
                    host,
                    context.now.saturating_add(restarts.write),
                    Message::Saved((programs, rank)),
                );
            }
            running.iteration += 1;
            (running.start, running.received) = (context.now, None);
            note(RankChange::Begins(running.iteration), context);
            running.machine.begin(&mut self.actions);
        }
    }
}

/// Records an event of a rank, if such events are wanted.
fn record(recorded: &mut [Vec<u32>], (programs, rank): (u32, u32), change: RankChange, context: &Context) {
    if let Some(of_programs) = recorded.get_mut(programs as usize) {
        let number = &mut of_programs[rank as usize];
        let value = Value::Rank(RankEvent { programs, rank, number: *number, change });
        context.sample([Sample { at: context.now, value }]);
        *number = number.wrapping_add(1);
    }
}

fn outcome((programs, rank): (u32, u32), running: &Running<'_>, end: Option<Time>, active_until: Time) -> RankOutcome {
    let Running { restart, iteration, start, received, ref machine, .. } = *running;
    let left = (machine.left(), if end.is_none() { machine.first_left() } else { None });
    RankOutcome { programs: programs as usize, rank, restart, iteration, start, received, end, active_until, left }
}

impl<'p> Component for Ranks<'p> {
    fn on_start(&mut self, context: &mut Context) {
        for (number, planned) in (0u32..).zip(&self.plan.programs) {
            for (rank, host) in (0u32..).zip(&planned.hosts) {
                let host = NodeId::from(*host);
                if context.is_mine(host) {
                    context.leave(host, planned.start, Message::BeginRank((number, rank)));
                    let failures = planned.restarts.iter().flat_map(|restarts| &restarts.failures);
                    for (before, at) in (0u32..).zip(failures) {
                        context.leave(host, *at, Message::Failed((number, rank), before));
                    }
                }
            }
        }
    }

    fn on_message(&mut self, _: NodeId, message: Message, context: &mut Context) -> Option<Message> {
        match message {
            Message::BeginRank(rank) => self.begin(rank, context),
            Message::Failed(rank, _) => self.fail(rank, context),
            Message::Saved(rank) => self.saved(rank, context),
            Message::Calculated(rank, node) => {
                record(&mut self.recorded, rank, RankChange::Computed, context);
                self.with(rank, context, |machine, actions| machine.ended(node, actions));
            }
            Message::Told(rank, node) => {
                self.with(rank, context, |machine, actions| machine.told(node, actions));
            }
            other => return Some(other),
        }
        None
    }

    fn on_delivery(&mut self, flow: FlowId, _: (HostId, HostId), context: &mut Context) {
        let Some((programs, of)) = self.plan.of_programs(flow) else { return };
        let rank = &self.plan.programs[programs].programs.ranks[of.rank as usize];
        let (send, channel) = (&rank.nodes()[of.node as usize], rank.channel(of.node));
        if !self.is_current(programs, of, send.peer) {
            return;
        }
        record(&mut self.recorded, (programs as u32, send.peer), RankChange::Heard, context);
        self.with((programs as u32, send.peer), context, |machine, actions| {
            machine.arrived(of.rank, send, channel, actions);
        });
    }

    fn on_flow_end(&mut self, flow: FlowId, _: &PlannedFlow, finished: bool, context: &mut Context) {
        if let Some((programs, of)) = self.plan.of_programs(flow).filter(|_| finished)
            && self.is_current(programs, of, of.rank)
        {
            record(&mut self.recorded, (programs as u32, of.rank), RankChange::Heard, context);
            self.with((programs as u32, of.rank), context, |machine, actions| machine.ended(of.node, actions));
        }
    }

    /// Records the iterations that are not done.
    fn on_end(&mut self, _: &mut Network, context: &mut Context) {
        let now = context.now;
        for (programs, planned) in (0u32..).zip(&self.plan.programs) {
            for (rank, _) in (0u32..).zip(&planned.hosts).filter(|(_, host)| context.is_mine(NodeId::from(**host))) {
                record(&mut self.recorded, (programs, rank), RankChange::Cut, context);
            }
        }
        let ranks = |(programs, ranks): (u32, &'_ Vec<Option<Running<'p>>>)| -> Vec<RankOutcome> {
            let begun = (0u32..).zip(ranks).filter_map(|(rank, running)| Some((rank, running.as_ref()?)));
            let begun = begun.filter(|(_, running)| running.start < now && !running.saves);
            begun.map(|(rank, running)| outcome((programs, rank), running, None, now)).collect()
        };
        let outcomes: Vec<RankOutcome> = (0u32..).zip(&self.here).flat_map(ranks).collect();
        context.record().ranks.extend(outcomes);
    }
}
