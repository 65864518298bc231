//! A run: from a scenario to tables.

use crate::carry::{Algorithms, Carried, carry};
use crate::conditions::Conditions;
use crate::controllers::{ControllerSummary, Controllers};
use crate::fabric::{FabricOutcome, Switches};
use crate::headroom::Headroom;
use crate::hosts::{Hosts, MOST_TRANSPORTS};
use crate::suppression::SuppressionSummary;
use crate::timing::{LostTime, Timing, TimingSummary};
use crate::{headroom, kernel, refuse, stolen};
use anyhow::{Context as _, Result, ensure};
use linkpool_scenario::Scenario;
use linkpool_sim::{Outcome, PathRule, Plan, Recorded, Unknown, write_tables};
use linkpool_units::Time;
use std::path::Path;
use std::time::Instant;

/// What the kernel does not tell of flows and subflows.
const UNKNOWN: Unknown = Unknown {
    of_flows: &["recoveries", "undos", "probes", "marked_acks", "reinjected_bytes"],
    of_subflows: &["recoveries", "undos", "probes", "marked_acks", "reinjected_bytes", "cuts"],
};
/// The same, where the kernel's switches choose paths by a hash of their own.
const UNKNOWN_PATHS: Unknown = Unknown {
    of_subflows: &["recoveries", "undos", "probes", "marked_acks", "reinjected_bytes", "cuts", "path"],
    ..UNKNOWN
};

/// What a run took, and how well it kept time: the content of `run.json`.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Report {
    /// Of linkpool.
    pub version: &'static str,
    /// What has run it.
    pub system: String,
    /// Wall-clock seconds, with setting up.
    pub wall_s: f64,
    /// Packets times links that they crossed.
    pub packet_hops: u64,
    /// Data segments sent.
    pub data_packets: u64,
    /// Seconds of the run.
    pub simulated_s: f64,
    /// Whose switches were between the hosts.
    pub switches: Switches,
    /// How well the fabric kept time; null: the kernel's switches have no clock of ours.
    pub timing: Option<TimingSummary>,
    /// Which port of the kernel's switches lost most time; null: the switches are the simulator's.
    pub lost: Option<LostTime>,
    /// Seconds that a hypervisor took from this machine meanwhile, all processors together.
    pub stolen_s: f64,
    /// What this machine could carry.
    pub headroom: Headroom,
    /// How fast subflows of AMP were suppressed and released; null: there are none to suppress.
    pub suppression: Option<SuppressionSummary>,
    /// Subflows that were opened in the place of closed ones: only where the run says so (`soak`).
    pub reopened: u64,
    /// What linkpool's controllers have counted, in the order of the transports.
    pub controllers: Vec<ControllerSummary>,
    /// What is to be known before the result is believed.
    pub warnings: Vec<String>,
}

impl Report {
    /// How well it kept time, in a few words.
    pub fn timekeeping(&self) -> String {
        let timing = self.timing.as_ref().map(ToString::to_string);
        timing.or_else(|| self.lost.as_ref().map(ToString::to_string)).unwrap_or_default()
    }
}

/// Tells why `scenario` cannot run here over these `switches`, if so, before anything is made.
///
/// # Errors
/// In one line, with the key of the scenario.
pub fn check(scenario: &Scenario, switches: Switches) -> Result<()> {
    refuse::check(scenario, switches).map(drop)
}

/// Runs `scenario` over these `switches` and writes its results, as `docs/results.md` describes
/// them, to `directory`. `stop` ends it before its time.
///
/// # Errors
/// It cannot run here, see [`check`]; something could not be made; or a file could not be written.
pub fn run(scenario: &Scenario, switches: Switches, directory: &Path, stop: &dyn Fn() -> bool) -> Result<Report> {
    let plan = Plan::new(scenario);
    let (report, recorded) = record(scenario, &plan, &Conditions::over(switches), stop)?;
    write(directory, (scenario, &plan), &report, recorded)?;
    Ok(report)
}

/// Writes what came out of a run to `directory`.
pub(crate) fn write(
    directory: &Path,
    (scenario, plan): (&Scenario, &Plan),
    report: &Report,
    recorded: Recorded,
) -> Result<()> {
    write_tables(directory, (scenario, plan, &plan.timetable()), recorded)
        .with_context(|| format!("cannot write {}", directory.display()))?;
    let text = serde_json::to_string_pretty(report).context("plain numbers")? + "\n";
    let path = directory.join("run.json");
    std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// Runs `scenario`, whose plan is `plan`, under `conditions`, and returns what came out of it.
pub(crate) fn record(
    scenario: &Scenario,
    plan: &Plan,
    conditions: &Conditions,
    stop: &dyn Fn() -> bool,
) -> Result<(Report, Recorded)> {
    let (mut settings, mut controllers) = refuse::check(scenario, conditions.switches)?;
    settings.ecn = conditions.ecn;
    conditions.replace(&scenario.transports, &mut controllers);
    let transports = plan.transports.len();
    ensure!(
        transports <= MOST_TRANSPORTS,
        "{transports} transports, counting one for each flow with paths of its own; at most {MOST_TRANSPORTS} are possible"
    );
    let began = Instant::now();
    let timetable = plan.timetable();
    let routes = timetable.routes_at(Time::ZERO);
    plan.transports.iter().try_for_each(|t| t.paths.check((&plan.fabric, routes)))?;
    let headroom = headroom::measure(plan, routes, conditions.switches)?;
    headroom.check()?;
    let controllers = Controllers::load(&controllers)?;
    let by_transport = with_copies(controllers.names.clone(), plan, scenario);
    let algorithms = Algorithms { by_transport, suppressing: controllers.suppressing()? };
    let stolen_before = stolen::until_now()?;
    let Carried { ended, mut of_hosts, of_fabric, suppression, hurried } =
        carry((plan, routes), (&settings, conditions), algorithms, stop)?;
    let stolen_s = stolen::until_now()?.saturating_sub(stolen_before).as_secs_f64();
    let mut warnings = std::mem::take(&mut of_hosts.warnings);
    warnings.extend(of_fabric.warnings.iter().cloned());
    warnings.extend(refuse::unlike_the_kernel(scenario));
    warnings.extend(headroom.doubt());
    if let Err(e) = hurried {
        warnings.push(format!("fabric and hosts have no real-time priority: {e}"));
    }
    warnings.extend(suppression.as_ref().and_then(SuppressionSummary::doubt));
    let timing = of_fabric.timing.as_ref().map(Timing::summary);
    warnings.extend(timing.iter().flat_map(|timing| timing.doubts(plan)));
    warnings.extend(of_fabric.lost.as_ref().and_then(|lost| lost.doubt(ended.secs())));
    warnings.extend(stolen::doubt(stolen_s, ended.secs()));
    let outcome = outcome(&of_hosts, &of_fabric, ended);
    let report = Report {
        version: env!("CARGO_PKG_VERSION"),
        system: format!("Linux {}", kernel::release()),
        wall_s: began.elapsed().as_secs_f64(),
        packet_hops: outcome.hops,
        data_packets: outcome.data_packets,
        simulated_s: ended.secs(),
        switches: conditions.switches,
        timing,
        lost: of_fabric.lost,
        stolen_s,
        headroom,
        suppression,
        reopened: of_hosts.reopened,
        controllers: controllers.summaries()?,
        warnings,
    };
    let jobs = of_hosts.jobs();
    let samples = of_fabric.samples.into_iter().chain(of_hosts.samples).collect();
    let hashed = plan.transports.iter().any(|t| t.paths == PathRule::Hash);
    let unknown = if conditions.switches == Switches::Kernel && hashed { UNKNOWN_PATHS } else { UNKNOWN };
    Ok((report, Recorded { flows: of_hosts.flows, jobs, samples, outcome, unknown }))
}

/// The names of algorithms for all transports of the plan: behind those of the scenario it has
/// copies of some, with paths of their own.
fn with_copies(mut names: Vec<String>, plan: &Plan, scenario: &Scenario) -> Vec<String> {
    for copy in &plan.transports[names.len()..] {
        let of = scenario.transports.iter().position(|t| t.name == copy.name);
        names.push(of.map_or_else(String::new, |of| names[of].clone()));
    }
    names
}

fn outcome(hosts: &Hosts<'_>, fabric: &FabricOutcome, simulated: Time) -> Outcome {
    Outcome {
        links: fabric.links.clone(),
        hops: fabric.hops,
        data_packets: hosts.flows.iter().map(|f| f.total(|s| s.segments)).sum(),
        acked_bytes: hosts.flows.iter().map(|f| f.total(|s| s.acked_bytes)).sum(),
        stray: 0,
        delivered: fabric.delivered,
        simulated,
    }
}
