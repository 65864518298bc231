//! A run: its partitions, what is recorded of them, and the way from its begin to its end.

use crate::by_id::ById;
use crate::capture::order::Order;
use crate::host::component::{Component, Mine};
use crate::host::hosts::Hosts;
use crate::host::message::Message;
use crate::plan::{FlowId, PathError, Plan};
use crate::record::period::Period;
use crate::record::sampling::Sampling;
use crate::results::iterations::Iterations;
use crate::results::jobs::Operations;
use crate::results::outcome::{FlowOutcome, LinkOutcome, MeasuredLink, Outcome};
use crate::results::sink::{Buffer, Failure, Limit, Sink, failure, take};
use crate::start::arrivals::Arrivals;
use crate::start::driver::Replay;
use crate::start::followers::Followers;
use crate::start::goal::GoalCounter;
use crate::start::placement::Placer;
use crate::start::processes::Processes;
use crate::start::ranks::{Checkpoints, Ranks};
use crate::start::serving::{Instances, Served};
use linkpool_network::{Ended, HostId, LinkId, Network, NodeId, Partitions, Routes, Timetable, run_partitions};
use linkpool_transport::control::HookError;
use linkpool_units::Time;
use std::sync::Arc;

/// Windows between two reports of progress; they take a fraction of a millisecond.
pub(crate) const WINDOWS_PER_STEP: u64 = 2048;

/// The progress of a run.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// The simulated clock.
    pub now: Time,
    /// The latest end of the run.
    pub end: Time,
    /// Packet-hops so far.
    pub hops: u64,
}

/// Why a run has no result.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A file of the result directory could not be written.
    #[error("cannot write {0}: {1}")]
    Write(String, String),
    /// The progress callback returned false.
    #[error("stopped")]
    Stopped,
    /// The messages of the scenario come from a program.
    #[error(
        "[[workload.session]]: a program sends its messages while the run goes on; open a session, or name the `file` of \
         messages that another session has written"
    )]
    Undriven,
    /// Flows cannot have the paths of their transport.
    #[error(transparent)]
    Paths(#[from] PathError),
    /// A hook of a congestion control algorithm did what it must not.
    #[error(
        "flow {flow:?} of transport {transport:?}, at {at}: {} of control {:?} {}",
        hook_error.hook, hook_error.algorithm, hook_error.what
    )]
    Control {
        /// The flow's number.
        flow: FlowId,
        /// Its transport.
        transport: String,
        /// When.
        at: Time,
        /// What the hook did.
        hook_error: HookError,
    },
    /// A host has more open connections than a packet can name.
    #[error("at {at} host {host} has more than {limit} open connections; no packet can name another one")]
    Connections {
        /// The name of the host.
        host: String,
        /// When it opened the connection that is one too many.
        at: Time,
        /// The connections that it may have open at one time.
        limit: usize,
    },
    /// Ports that are paused wait for each other for ever.
    #[error(
        "at {at} the network is in deadlock: {cycle}; each port is paused by the switch behind it, whose packets from it wait \
             at the next port"
    )]
    Deadlock {
        /// When it was found.
        at: Time,
        /// The ports.
        cycle: String,
    },
    /// The flows that processes start have used up the numbers of flows.
    #[error("at {at} the numbers of flows are used up; a run has 4,294,967,296")]
    FlowNumbers {
        /// When the flow started that is one too many.
        at: Time,
    },
}

impl RunError {
    /// The ports of `links` stand still since before `at`.
    pub(crate) fn deadlock(plan: &Plan, links: &[LinkId], at: Time) -> RunError {
        let names: Vec<String> = links.iter().map(|link| plan.fabric.link_name(*link).to_string()).collect();
        let next = names.iter().cycle().skip(1);
        let waits: Vec<String> =
            names.iter().zip(next).map(|(port, next)| format!("{port} waits for {next}")).collect();
        RunError::Deadlock { at, cycle: waits.join(", ") }
    }

    /// Why `flow` ends the run, if it does.
    fn of_flow(plan: &Plan, flow: &FlowOutcome) -> Option<RunError> {
        let hook_error = flow.hook_error.clone()?;
        let transport = plan.transports[flow.planned.transport.index()].name.clone();
        Some(RunError::Control { flow: flow.flow, transport, at: flow.active_until, hook_error })
    }

    fn of(Failure { at, what }: Failure, plan: &Plan) -> RunError {
        match what {
            Limit::Connections(host) => {
                RunError::Connections { host: plan.fabric.name(host).to_string(), at, limit: plan.most_connections }
            }
            Limit::FlowNumbers => RunError::FlowNumbers { at },
            Limit::PathLength(from, to) => PathError::of(&plan.fabric, (from, to)).into(),
        }
    }
}

/// Why the partitions with these `buffers`, which have stopped, could not go on, if they could not.
pub(crate) fn check_limits(buffers: &[Buffer], plan: &Plan) -> Result<(), RunError> {
    failure(buffers).map_or(Ok(()), |failure| Err(RunError::of(failure, plan)))
}

/// Is nothing missing that a program would have to send?
pub(crate) fn check_undriven(plan: &Plan) -> Result<(), RunError> {
    if plan.driven.iter().any(|driven| driven.outside) { Err(RunError::Undriven) } else { Ok(()) }
}

/// Simulates `plan`, whose `timetable` is [`Plan::timetable`], on `threads` threads. The result is
/// the same on any number of threads. Flows and samples go to `sink` during the run. `progress` is
/// called before the first window and regularly after it; it returns false to stop the run.
///
/// # Errors
/// Paths do not fit into packets, a limit is reached, or `progress` or `sink` has stopped the run.
pub fn simulate(
    plan: &Plan,
    timetable: &Timetable,
    threads: u8,
    sink: &mut dyn Sink,
    progress: &mut dyn FnMut(Progress) -> bool,
) -> Result<Outcome, RunError> {
    check_undriven(plan)?;
    let shared = (&Served::new(plan), &Checkpoints::new(plan));
    let routes = timetable.routes_at(Time::ZERO);
    let mut run = Run::new(plan, timetable, threads, &|| components(plan, routes, shared))?;
    let goal = plan.goal.as_ref().map_or(u64::MAX, |goal| goal.flows);
    let simulated = match run.advance(plan.end, goal, sink, progress)? {
        Ended::Done(at) => at,
        // Without further events the simulated time still passes to the end.
        _ => plan.end,
    };
    run.finish(simulated, sink)
}

/// A run: the networks and hosts of its partitions, and what is recorded of them.
pub(crate) struct Run<'p> {
    plan: &'p Plan,
    partitions: Arc<Partitions>,
    buffers: Vec<Buffer>,
    order: Option<Order<'p>>,
    parts: Vec<(Network, Hosts<'p>)>,
    kept: Kept,
}

/// What is kept of records that have been given to the sink.
#[derive(Default)]
struct Kept {
    data_packets: u64,
    acked_bytes: u64,
    operations: Operations,
    iterations: Iterations,
    /// Flows that have not ended, and when they were delivered.
    deliveries: ById<FlowId, Time>,
    /// The flow whose hook failed first.
    failed: Option<FlowOutcome>,
}

impl<'p> Run<'p> {
    /// A run that has not begun, with `components` in each partition.
    ///
    /// # Errors
    /// Paths do not fit into packets.
    pub(crate) fn new(
        plan: &'p Plan,
        timetable: &'p Timetable,
        threads: u8,
        components: &dyn Fn() -> Vec<Box<dyn Component + Send + 'p>>,
    ) -> Result<Run<'p>, RunError> {
        let routes = timetable.routes_at(Time::ZERO);
        plan.transports.iter().try_for_each(|t| t.paths.check((&plan.fabric, routes)))?;
        let threads = plan.threads(threads);
        let partitions = Arc::new(plan.partitions(timetable, threads));
        let buffers = Buffer::of_partitions(threads);
        let order = Order::new(plan);
        let part = |me| {
            let smallest = plan.smallest_packet();
            let mut network =
                Network::partition(&plan.fabric, plan.policies.clone(), timetable.clone(), smallest, &partitions, me);
            order.iter().for_each(|order| order.tap(&mut network));
            plan.slow_down(&mut network);
            if plan.record.pauses.is_some() {
                network.keep_pauses();
            }
            let recorded = buffers[me as usize].clone();
            let mine = Mine::new(&plan.fabric, &partitions, me);
            let hosts = Hosts::new(plan, routes, recorded, network.lookahead(), mine, components());
            let nodes = NodeId::first(plan.fabric.nodes()).filter(|node| partitions.runs(me, *node));
            nodes.for_each(|node| network.wake(node, &hosts));
            (network, hosts)
        };
        let parts = (0..threads).map(part).collect();
        Ok(Run { plan, partitions: partitions.clone(), buffers, order, parts, kept: Kept::default() })
    }

    /// Runs what is due before `end`, or until components have counted `goal` together.
    ///
    /// # Errors
    /// A limit is reached, or `progress` or `sink` has stopped the run.
    pub(crate) fn advance(
        &mut self,
        end: Time,
        goal: u64,
        sink: &mut dyn Sink,
        progress: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<Ended, RunError> {
        let Run { plan, buffers, order, parts, kept, .. } = self;
        let ended = run_partitions(
            parts.iter_mut().map(|(network, hosts)| (network, hosts)).collect(),
            end,
            goal,
            WINDOWS_PER_STEP,
            &mut |now, hops| {
                kept.give(plan, (buffers, order), (now, None), sink) && progress(Progress { now, end: plan.end, hops })
            },
        );
        kept.check(buffers, plan)?;
        match ended {
            Ended::Stopped => Err(RunError::Stopped),
            Ended::Deadlock(at, links) => Err(RunError::deadlock(plan, &links, at)),
            ended => Ok(ended),
        }
    }

    /// Gives `sink` all records from before `before`; all that is due before has happened.
    ///
    /// # Errors
    /// A limit is reached, or `sink` has stopped the run.
    pub(crate) fn give(&mut self, before: Time, sink: &mut dyn Sink) -> Result<(), RunError> {
        self.give_until((before, None), sink)
    }

    fn give_until(&mut self, until: (Time, Option<Time>), sink: &mut dyn Sink) -> Result<(), RunError> {
        let Run { plan, buffers, order, kept, .. } = self;
        if kept.give(plan, (buffers, order), until, sink) {
            return Ok(());
        }
        kept.check(buffers, plan)?;
        Err(RunError::Stopped)
    }

    /// Ends the run at `simulated`, and returns what is known of it as a whole.
    ///
    /// # Errors
    /// A limit is reached, or `sink` has stopped the run.
    pub(crate) fn finish(mut self, simulated: Time, sink: &mut dyn Sink) -> Result<Outcome, RunError> {
        for (network, hosts) in &mut self.parts {
            hosts.finish(simulated, network);
        }
        self.give_until((Time::MAX, Some(simulated)), sink)?;
        let Run { plan, partitions, buffers, mut parts, kept: Kept { data_packets, acked_bytes, .. }, .. } = self;
        let links = Vec::with_capacity(plan.fabric.links().len());
        let mut outcome = Outcome { links, hops: 0, data_packets, acked_bytes, stray: 0, delivered: 0, simulated };
        for (network, hosts) in &parts {
            outcome.hops += network.hops();
            outcome.stray += hosts.stray;
            outcome.delivered += hosts.delivered;
        }
        let in_flight: Vec<Vec<u32>> = parts.iter_mut().map(|(network, _)| network.in_flight(simulated)).collect();
        for id in LinkId::first(plan.fabric.links().len()) {
            let sender = usize::from(partitions.sender(id));
            let (stats, on_wire) = parts[sender].0.link_outcome(id, simulated);
            let in_flight = in_flight.iter().map(|counts| counts[id.index()]).sum();
            let (sent_bytes, measured) = (on_wire.bytes(), MeasuredLink::default());
            let pauses = parts[sender].0.pauses(id, simulated);
            outcome.links.push(LinkOutcome { stats, sent_bytes, measured, in_flight, pauses });
        }
        for (link, measured) in buffers.iter().flat_map(|buffer| std::mem::take(&mut buffer.lock().measured_links)) {
            outcome.links[link.index()].measured = measured;
        }
        Ok(outcome)
    }

    /// Gives `host` a message at `at`, which is not past.
    pub(crate) fn leave(&mut self, host: HostId, at: Time, message: Message) {
        let (network, hosts) = &mut self.parts[usize::from(self.partitions.of_host(host))];
        hosts.context.leave(host.into(), at, message);
        network.wake(host.into(), hosts);
    }

    /// The least time of a message between hosts.
    pub(crate) fn lookahead(&self) -> Time {
        self.parts.first().map_or(Time::ZERO, |(network, _)| network.lookahead())
    }

    /// What components have counted so far.
    pub(crate) fn done(&self) -> u64 {
        self.parts.iter().map(|(_, hosts)| hosts.context.done).sum()
    }
}

impl Kept {
    /// The first error in simulated time of the partitions with these `buffers`, which have stopped, or of the flow
    /// whose hook failed first; at one time a limit, by host.
    fn check(&self, buffers: &[Buffer], plan: &Plan) -> Result<(), RunError> {
        let limit = failure(buffers);
        let hook = self.failed.as_ref().filter(|flow| limit.is_none_or(|limit| flow.active_until < limit.at));
        match hook.and_then(|flow| RunError::of_flow(plan, flow)) {
            Some(error) => Err(error),
            None => check_limits(buffers, plan),
        }
    }

    /// Gives `sink` the records from before a time; if the run has ended, and when. Returns whether the run may go on.
    fn give(
        &mut self,
        plan: &Plan,
        (buffers, order): (&[Buffer], &mut Option<Order<'_>>),
        (before, ended): (Time, Option<Time>),
        sink: &mut dyn Sink,
    ) -> bool {
        let Kept { operations, iterations, deliveries, .. } = self;
        let mut recorded = take(buffers, before);
        deliveries.extend(recorded.delivered.drain(..));
        // A flow is delivered before it ends.
        recorded.flows.iter_mut().for_each(|flow| flow.delivered = deliveries.remove(&flow.flow));
        if let Some(flow) = recorded.flows.iter().find(|flow| flow.hook_error.is_some()) {
            self.failed.get_or_insert_with(|| flow.clone());
            return false;
        }
        recorded.jobs.extend(recorded.flows.iter().filter_map(|flow| operations.note(plan, flow)));
        recorded.jobs.extend(recorded.ranks.iter().filter_map(|rank| iterations.note(plan, rank)));
        if let Some(now) = ended {
            recorded.jobs.extend(operations.unfinished(plan, now));
            recorded.jobs.extend(iterations.unfinished(plan, now));
        }
        recorded.jobs.sort_unstable_by_key(|j| (j.active_until, j.label, j.job.number));
        recorded.samples.into_iter().for_each(|sample| sink.sample(sample));
        if let Some(order) = order {
            order.add(recorded.passing);
            order.release(before, |passed| sink.packet(passed));
        }
        recorded.events.into_iter().for_each(|event| sink.event(event));
        for flow in recorded.flows {
            self.data_packets += flow.total(|s| s.segments);
            self.acked_bytes += flow.total(|s| s.acked_bytes);
            sink.flow(flow);
        }
        recorded.jobs.into_iter().for_each(|job| sink.job(job));
        recorded.ranks.into_iter().for_each(|rank| sink.rank(rank));
        recorded.requests.into_iter().for_each(|request| sink.request(request));
        !sink.is_broken() && failure(buffers).is_none_or(|failure| failure.at >= before)
    }
}

/// The components of a partition, beside its endpoints; all partitions of a run share `served`
/// and `checkpoints`.
pub(crate) fn components<'p>(
    plan: &'p Plan,
    routes: &'p Routes,
    (served, checkpoints): (&Served, &Checkpoints),
) -> Vec<Box<dyn Component + Send + 'p>> {
    let mut all: Vec<Box<dyn Component + Send + 'p>> = vec![
        Box::new(Sampling::new(plan)),
        Box::new(Period::new(plan)),
        Box::new(Arrivals::new(plan)),
        Box::new(Followers::new(plan)),
        Box::new(Processes::new(plan)),
    ];
    if !plan.programs.is_empty() {
        all.push(Box::new(Ranks::new(plan, checkpoints.clone())));
    }
    if !plan.served.is_empty() {
        all.push(Box::new(Instances::new(plan, served.clone())));
    }
    if plan.replayed.iter().any(|messages| !messages.is_empty()) {
        all.push(Box::new(Replay(plan)));
    }
    if let Some(placement) = plan.placement {
        all.push(Box::new(Placer::new(plan, routes, placement)));
    }
    if let Some(goal) = &plan.goal {
        all.push(Box::new(GoalCounter(goal)));
    }
    all
}
