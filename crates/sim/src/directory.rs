//! Runs with a directory of results.

use crate::capture::{Capture, CaptureError};
use crate::plan::Plan;
use crate::results::event::Posted;
use crate::results::outcome::{FlowOutcome, JobOutcome, Outcome, RankOutcome, RequestOutcome};
use crate::results::passing::Passed;
use crate::results::sample::Sample;
use crate::results::sink::Sink;
use crate::results::tables::{self, Tables, Unknown};
use crate::run::{Progress, RunError, simulate};
use cpu_time::{ProcessTime, ThreadTime};
use linkpool_network::{Fabric, Timetable};
use linkpool_scenario::{Scenario, sha256};
use linkpool_units::Time;
use linkpool_workload::kinds::{Session, WorkloadKind};
use std::path::Path;
use std::time::{Duration, Instant};

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

/// The time that a run takes.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Cost {
    wall: Duration,
    cpu: Duration,
}

impl Cost {
    /// Does `work` on `threads` threads, and adds its time.
    pub(crate) fn add<T>(&mut self, threads: u8, work: impl FnOnce() -> T) -> T {
        let (began, of_thread, of_process) = (Instant::now(), ThreadTime::now(), ProcessTime::now());
        let done = work();
        self.wall += began.elapsed();
        self.cpu += if threads == 1 { of_thread.elapsed() } else { of_process.elapsed() };
        done
    }
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
    let plan = Plan::new(scenario);
    let threads = plan.threads(threads.unwrap_or_else(|| plan.worthwhile_threads(cores())));
    let timetable = plan.timetable();
    let mut files = Files::create(scenario, directory, &plan, &timetable)?;
    let mut cost = Cost::default();
    let simulated = cost.add(threads, || simulate(&plan, &timetable, threads, &mut files, progress));
    files.close(scenario, &plan, simulated, (threads, cost))
}

/// The cores of the machine.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
}

/// The files that are written while a run goes on, and their directory.
pub(crate) struct Files<'p> {
    directory: &'p Path,
    tables: Tables<'p>,
    capture: Option<Capture<'p>>,
}

impl<'p> Files<'p> {
    /// Creates `directory` if necessary, and the files.
    ///
    /// # Errors
    /// One cannot be written.
    pub(crate) fn create(
        scenario: &Scenario,
        directory: &'p Path,
        plan: &'p Plan,
        timetable: &'p Timetable,
    ) -> Result<Files<'p>, RunError> {
        std::fs::create_dir_all(directory).map_err(|e| failed(directory, &e))?;
        write(directory, "scenario.toml", scenario.to_toml())?;
        for workload in &scenario.workloads {
            if let WorkloadKind::Session(Session { file: Some(file), path, .. }) = &workload.kind
                && Session::is_of_result(file)
            {
                std::fs::copy(path, directory.join(file)).map_err(|e| failed(&directory.join(file), &e))?;
            }
        }
        let tables =
            Tables::create(directory, plan, timetable, &Unknown::default()).map_err(|e| failed(directory, &e))?;
        let capture = Capture::create(directory, plan).map_err(|e| failed(directory, &e))?;
        Ok(Files { directory, tables, capture })
    }

    /// Writes the messages of a session, with their channels, and the scenario that runs them again, which it returns.
    ///
    /// # Errors
    /// A file cannot be written.
    pub(crate) fn write_messages(
        &self,
        scenario: &Scenario,
        plan: &Plan,
        messages: Vec<(usize, Posted)>,
    ) -> Result<Scenario, RunError> {
        let mut scenario = scenario.clone();
        let sessions = scenario.workloads.iter_mut().filter_map(|workload| match &mut workload.kind {
            WorkloadKind::Session(session) => Some(session),
            _ => None,
        });
        let mut messages = messages;
        for (channel, (session, driven)) in sessions.zip(&plan.driven).enumerate() {
            if !driven.outside {
                continue;
            }
            let name = Session::file_name(channel);
            let mine: Vec<Posted> =
                messages.extract_if(.., |(of, _)| *of == channel).map(|(_, posted)| posted).collect();
            let text = to_csv(&mine, driven.start, &plan.fabric);
            write(self.directory, &name, &text)?;
            session.sha256 = Some(sha256(&text));
            session.file = Some(name);
        }
        write(self.directory, "scenario.toml", scenario.to_toml())?;
        Ok(scenario)
    }

    /// Writes what is known at the end of a run.
    ///
    /// # Errors
    /// A file cannot be written, or the run has failed.
    pub(crate) fn close(
        self,
        scenario: &Scenario,
        plan: &Plan,
        simulated: Result<Outcome, RunError>,
        (threads, cost): (u8, Cost),
    ) -> Result<RunInfo, RunError> {
        let Files { directory, tables, capture } = self;
        // A failure to write also stops the run: report it first.
        capture.map_or(Ok(()), Capture::close).map_err(|e: CaptureError| failed(directory, &e))?;
        let started = tables.close().map_err(|e| failed(directory, &e))?;
        let outcome = simulated?;
        tables::write_rest(directory, scenario, plan, &outcome, &started).map_err(|e| failed(directory, &e))?;
        let info = RunInfo {
            version: env!("CARGO_PKG_VERSION"),
            threads,
            wall_s: cost.wall.as_secs_f64(),
            cpu_s: cost.cpu.as_secs_f64(),
            packet_hops: outcome.hops,
            data_packets: outcome.data_packets,
            simulated_s: outcome.simulated.secs(),
            stray_packets: outcome.stray,
        };
        write(directory, "run.json", &(serde_json::to_string_pretty(&info).expect("plain numbers") + "\n"))?;
        Ok(info)
    }
}

/// Messages as a trace, in order of their numbers, with starts from `start` on.
fn to_csv(messages: &[Posted], start: Time, fabric: &Fabric) -> Vec<u8> {
    // A name may hold whatever separates.
    let mut csv = csv::WriterBuilder::new().quote_style(csv::QuoteStyle::NonNumeric).from_writer(Vec::new());
    let mut row = |cells: [&str; 5]| csv.write_record(cells).expect("memory takes what is written");
    row(["src", "dst", "size_bytes", "start_s", "tag"]);
    for Posted { from, to, bytes, at, tag, .. } in messages {
        let [from, to] = [*from, *to].map(|host| fabric.name(host.into()));
        let ps = (*at - start).0;
        let (whole, part) = (ps / 1_000_000_000_000, ps % 1_000_000_000_000);
        row([from, to, &bytes.max(&1).to_string(), &format!("{whole}.{part:012}"), &tag.to_string()]);
    }
    csv.into_inner().expect("memory takes what is written")
}

fn failed(what: &Path, error: &dyn std::fmt::Display) -> RunError {
    RunError::Write(what.display().to_string(), error.to_string())
}

fn write(directory: &Path, name: &str, text: impl AsRef<[u8]>) -> Result<(), RunError> {
    let path = directory.join(name);
    std::fs::write(&path, text).map_err(|e| failed(&path, &e))
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

    fn request(&mut self, request: RequestOutcome) {
        self.tables.request(request);
    }

    fn packet(&mut self, passed: Passed) {
        self.capture.iter_mut().for_each(|capture| capture.packet(&passed));
    }

    fn is_broken(&self) -> bool {
        self.tables.is_broken() || self.capture.as_ref().is_some_and(Capture::is_broken)
    }
}
