//! Runs a scenario, with or without result files.

use crate::capture::order::Order;
use crate::capture::{Capture, CaptureError};
use crate::host::component::{Component, Mine};
use crate::host::hosts::Hosts;
use crate::plan::{FlowId, PathError, Plan};
use crate::record::period::Period;
use crate::record::sampling::Sampling;
use crate::results::iterations::Iterations;
use crate::results::jobs::Operations;
use crate::results::outcome::{FlowOutcome, JobOutcome, LinkOutcome, MeasuredLink, Outcome, RankOutcome};
use crate::results::passing::Passed;
use crate::results::sample::Sample;
use crate::results::sink::{Buffer, Failure, Limit, Sink, failure, take};
use crate::results::tables::{self, Tables, Unknown};
use crate::start::arrivals::Arrivals;
use crate::start::followers::Followers;
use crate::start::goal::GoalCounter;
use crate::start::placement::Placer;
use crate::start::processes::Processes;
use crate::start::ranks::Ranks;
use cpu_time::{ProcessTime, ThreadTime};
use linkpool_network::{Ended, LinkId, Network, NodeId, Routes, Timetable, run_partitions};
use linkpool_scenario::Scenario;
use linkpool_transport::control::HookError;
use linkpool_units::Time;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

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
    /// The flows that processes start have used up the numbers of flows.
    #[error("at {at} the numbers of flows are used up; a run has 4,294,967,296")]
    FlowNumbers {
        /// When the flow started that is one too many.
        at: Time,
    },
}

impl RunError {
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

/// The first error in simulated time of the partitions with these `buffers`, which have stopped, or of the flow whose
/// hook failed first; at one time a limit, by host.
fn check_errors(buffers: &[Buffer], plan: &Plan, first_hook: Option<&FlowOutcome>) -> Result<(), RunError> {
    let limit = failure(buffers);
    let hook = first_hook.filter(|flow| limit.is_none_or(|limit| flow.active_until < limit.at));
    match hook.and_then(|flow| RunError::of_flow(plan, flow)) {
        Some(error) => Err(error),
        None => check_limits(buffers, plan),
    }
}

/// Why the partitions with these `buffers`, which have stopped, could not go on, if they could not.
pub(crate) fn check_limits(buffers: &[Buffer], plan: &Plan) -> Result<(), RunError> {
    failure(buffers).map_or(Ok(()), |failure| Err(RunError::of(failure, plan)))
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
    let routes = timetable.routes_at(Time::ZERO);
    plan.transports.iter().try_for_each(|t| t.paths.check((&plan.fabric, routes)))?;
    let partitions = Arc::new(plan.partitions(timetable, threads));
    let buffers = Buffer::of_partitions(threads);
    let mut order = Order::new(plan);
    let mut runs: Vec<(Network, Hosts<'_>)> = (0..threads)
        .map(|me| {
            let smallest = plan.smallest_packet();
            let mut network =
                Network::partition(&plan.fabric, plan.policies, timetable.clone(), smallest, &partitions, me);
            order.iter().for_each(|order| order.tap(&mut network));
            let components = components(plan, routes);
            let recorded = buffers[me as usize].clone();
            let mine = Mine::new(&plan.fabric, &partitions, me);
            let hosts = Hosts::new(plan, routes, recorded, network.lookahead(), mine, components);
            let nodes = NodeId::first(plan.fabric.nodes()).filter(|node| partitions.runs(me, *node));
            nodes.for_each(|node| network.wake(node, &hosts));
            (network, hosts)
        })
        .collect();
    let (mut data_packets, mut acked_bytes) = (0, 0);
    let (mut operations, mut iterations) = (Operations::default(), Iterations::default());
    let mut deliveries: HashMap<FlowId, Time> = HashMap::new();
    let first_hook = OnceCell::new();
    let mut give = |before, ended: Option<Time>| {
        let mut recorded = take(&buffers, before);
        deliveries.extend(recorded.delivered.drain(..));
        // A flow is delivered before it ends.
        recorded.flows.iter_mut().for_each(|flow| flow.delivered = deliveries.remove(&flow.flow));
        if let Some(flow) = recorded.flows.iter().find(|flow| flow.hook_error.is_some()) {
            first_hook.get_or_init(|| flow.clone());
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
        if let Some(order) = &mut order {
            order.add(recorded.passing);
            order.release(before, |passed| sink.packet(passed));
        }
        for flow in recorded.flows {
            data_packets += flow.total(|s| s.segments);
            acked_bytes += flow.total(|s| s.acked_bytes);
            sink.flow(flow);
        }
        recorded.jobs.into_iter().for_each(|job| sink.job(job));
        recorded.ranks.into_iter().for_each(|rank| sink.rank(rank));
        !sink.is_broken() && failure(&buffers).is_none_or(|failure| failure.at >= before)
    };
    let ended = run_partitions(
        runs.iter_mut().map(|(network, hosts)| (network, hosts)).collect(),
        plan.end,
        plan.goal.as_ref().map_or(u64::MAX, |goal| goal.flows),
        WINDOWS_PER_STEP,
        &mut |now, hops| give(now, None) && progress(Progress { now, end: plan.end, hops }),
    );
    check_errors(&buffers, plan, first_hook.get())?;
    let simulated = match ended {
        Ended::Stopped => return Err(RunError::Stopped),
        // Without further events the simulated time still passes to the end.
        Ended::End | Ended::Silent(_) => plan.end,
        Ended::Done(at) => at,
    };
    for (network, hosts) in &mut runs {
        hosts.finish(simulated, network);
    }
    if !give(Time::MAX, Some(simulated)) {
        check_errors(&buffers, plan, first_hook.get())?;
        return Err(RunError::Stopped);
    }
    let mut outcome =
        Outcome { links: Vec::new(), hops: 0, data_packets, acked_bytes, stray: 0, delivered: 0, simulated };
    for (network, hosts) in &runs {
        outcome.hops += network.hops();
        outcome.stray += hosts.stray;
        outcome.delivered += hosts.delivered;
    }
    let on_the_way: Vec<Vec<u32>> = runs.iter_mut().map(|(network, _)| network.on_the_way(simulated)).collect();
    for id in LinkId::first(plan.fabric.links().len()) {
        let sender = usize::from(partitions.sender(id));
        let (stats, on_wire) = runs[sender].0.link_outcome(id, simulated);
        let on_the_way = on_the_way.iter().map(|counts| counts[id.index()]).sum();
        outcome.links.push(LinkOutcome {
            stats,
            sent_bytes: on_wire.bytes(),
            measured: MeasuredLink::default(),
            on_the_way,
        });
    }
    for (link, measured) in buffers.iter().flat_map(|buffer| std::mem::take(&mut buffer.lock().measured_links)) {
        outcome.links[link.index()].measured = measured;
    }
    Ok(outcome)
}

/// The components of a partition, beside its endpoints.
pub(crate) fn components<'p>(plan: &'p Plan, routes: &'p Routes) -> Vec<Box<dyn Component + Send + 'p>> {
    let mut all: Vec<Box<dyn Component + Send + 'p>> = vec![
        Box::new(Sampling::new(plan)),
        Box::new(Period::new(plan)),
        Box::new(Arrivals::new(plan)),
        Box::new(Followers::new(plan)),
        Box::new(Processes::new(plan)),
    ];
    if !plan.programs.is_empty() {
        all.push(Box::new(Ranks::new(plan)));
    }
    if let Some(placement) = plan.placement {
        all.push(Box::new(Placer::new(plan, routes, placement)));
    }
    if let Some(goal) = &plan.goal {
        all.push(Box::new(GoalCounter(goal)));
    }
    all
}

/// The cost of a run, which differs from machine to machine: the content of `run.json`.
#[derive(Clone, Debug, serde::Serialize)]
pub struct RunInfo {
    /// The version of linkpool.
    pub version: &'static str,
    /// Threads of the simulation.
    pub threads: u8,
    /// Wall-clock seconds of the simulation, with the tables that are written during it.
    pub wall_s: f64,
    /// Processor seconds in this time, in user and system mode: of the run's thread, or of the whole
    /// process if the run has several.
    pub cpu_s: f64,
    /// Packets times links that they crossed.
    pub packet_hops: u64,
    /// Data segments sent.
    pub data_packets: u64,
    /// Simulated seconds.
    pub simulated_s: f64,
    /// Packets that arrived for connections already closed.
    pub stray_packets: u64,
}

/// Runs `scenario` on `threads` threads (none: as many as are worthwhile) and writes its results,
/// as `docs/results.md` describes them, to `directory`, which is created if necessary. All files
/// except `run.json` are the same on any number of threads.
///
/// # Errors
/// See [`simulate`]; or a file cannot be written.
pub fn run_to_directory(
    scenario: &Scenario,
    directory: &Path,
    threads: Option<u8>,
    progress: &mut dyn FnMut(Progress) -> bool,
) -> Result<RunInfo, RunError> {
    let failed = |what: &Path, e: &dyn std::fmt::Display| RunError::Write(what.display().to_string(), e.to_string());
    std::fs::create_dir_all(directory).map_err(|e| failed(directory, &e))?;
    let write = |name: &str, text: String| {
        let path = directory.join(name);
        std::fs::write(&path, text).map_err(|e| failed(&path, &e))
    };
    write("scenario.toml", scenario.to_toml())?;
    let plan = Plan::new(scenario);
    let cores = || std::thread::available_parallelism().map_or(1, |n| n.get());
    let threads = threads.unwrap_or_else(|| plan.worthwhile_threads(cores()));
    let timetable = plan.timetable();
    let tables =
        Tables::create(directory, &plan, &timetable, &Unknown::default()).map_err(|e| failed(directory, &e))?;
    let capture = Capture::create(directory, &plan).map_err(|e| failed(directory, &e))?;
    let mut files = Files { tables, capture };
    let (began, of_thread, of_process) = (Instant::now(), ThreadTime::now(), ProcessTime::now());
    let simulated = simulate(&plan, &timetable, threads, &mut files, progress);
    let wall_s = began.elapsed().as_secs_f64();
    let cpu_s = if threads == 1 { of_thread.elapsed() } else { of_process.elapsed() }.as_secs_f64();
    // A failure to write also stops the run: report it first.
    files.capture.map_or(Ok(()), Capture::close).map_err(|e: CaptureError| failed(directory, &e))?;
    let started = files.tables.close().map_err(|e| failed(directory, &e))?;
    let outcome = simulated?;
    tables::write_rest(directory, scenario, &plan, &outcome, &started).map_err(|e| failed(directory, &e))?;
    let info = RunInfo {
        version: env!("CARGO_PKG_VERSION"),
        threads,
        wall_s,
        cpu_s,
        packet_hops: outcome.hops,
        data_packets: outcome.data_packets,
        simulated_s: outcome.simulated.secs(),
        stray_packets: outcome.stray,
    };
    write("run.json", serde_json::to_string_pretty(&info).expect("plain numbers") + "\n")?;
    Ok(info)
}

/// The files that are written while a run goes on.
struct Files<'p> {
    tables: Tables<'p>,
    capture: Option<Capture<'p>>,
}

impl Sink for Files<'_> {
    fn sample(&mut self, sample: Sample) {
        self.tables.sample(sample);
    }

    fn flow(&mut self, flow: FlowOutcome) {
        self.tables.flow(flow);
    }

    fn job(&mut self, job: JobOutcome) {
        self.tables.job(job);
    }

    fn rank(&mut self, rank: RankOutcome) {
        self.tables.rank(rank);
    }

    fn packet(&mut self, passed: Passed) {
        self.capture.iter_mut().for_each(|capture| capture.packet(&passed));
    }

    fn is_broken(&self) -> bool {
        self.tables.is_broken() || self.capture.as_ref().is_some_and(Capture::is_broken)
    }
}
