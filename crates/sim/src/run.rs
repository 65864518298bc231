//! Runs a scenario, with or without files.

use crate::hosts::Hosts;
use crate::outcome::{LinkOutcome, Outcome};
use crate::plan::Plan;
use crate::sampling::{Samples, Sampling};
use crate::tables::{self, SharedSeries};
use linkpool_network::{LinkId, Network, NodeId, Routes, Step};
use linkpool_scenario::Scenario;
use linkpool_units::Time;
use std::path::Path;
use std::time::Instant;

/// Windows between two reports of progress; a fraction of a millisecond's work.
const WINDOWS_PER_STEP: u32 = 2048;

/// How far a run is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// The simulated clock.
    pub now: Time,
    /// Where it will end at the latest.
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
    /// Progress was told to stop.
    #[error("stopped")]
    Stopped,
    /// Two hosts have no path between them.
    #[error("no path from {0} to {1}")]
    NoPath(String, String),
}

/// Simulates `plan`, giving samples to `samples`. `progress` is called now and then, and ends the run by returning
/// false.
pub fn simulate(
    plan: &Plan,
    samples: Box<dyn Samples + Send>,
    progress: &mut dyn FnMut(Progress) -> bool,
) -> Result<Outcome, RunError> {
    let routes = Routes::new(&plan.fabric, plan.seed);
    for f in &plan.flows {
        if !routes.reachable(&plan.fabric, f.flow.src, f.flow.dst) {
            let name = |host: u16| plan.fabric.name(host as NodeId).to_string();
            return Err(RunError::NoPath(name(f.flow.src), name(f.flow.dst)));
        }
    }
    let mut network = Network::new(&plan.fabric, plan.policy, routes, plan.smallest_packet());
    let mut hosts = Hosts::new(plan, Sampling::new(plan, samples));
    (0..plan.fabric.nodes() as NodeId).for_each(|node| network.wake(node, &hosts));
    let simulated = loop {
        match network.step(plan.end, WINDOWS_PER_STEP, &mut hosts) {
            Step::At(now) => {
                if !progress(Progress { now, end: plan.end, hops: network.hops() }) {
                    return Err(RunError::Stopped);
                }
            }
            Step::End => break plan.end,
            Step::Silent(at) => break at,
        }
    };
    hosts.finish(simulated);
    let flows: Vec<_> = hosts.outcomes.into_iter().flatten().collect();
    let link = |id| {
        let (stats, sent_bytes, on_the_way) = network.link_outcome(id, simulated);
        LinkOutcome { stats, sent_bytes, on_the_way }
    };
    let links = (0..plan.fabric.links().len() as LinkId).map(link);
    Ok(Outcome {
        data_packets: flows.iter().map(|f| f.total(|s| s.segments)).sum(),
        flows,
        links: links.collect(),
        hops: network.hops(),
        stray: hosts.stray,
        delivered: hosts.delivered,
        simulated,
    })
}

/// What a run took, and what differs from machine to machine: the content of `run.json`.
#[derive(Clone, Debug, serde::Serialize)]
pub struct RunInfo {
    /// Of linkpool.
    pub version: &'static str,
    /// Wall-clock seconds of the simulation, without reading and writing.
    pub wall_s: f64,
    /// Packets times links that they crossed.
    pub packet_hops: u64,
    /// Data segments sent.
    pub data_packets: u64,
    /// Simulated seconds.
    pub simulated_s: f64,
    /// Packets that came for connections already closed.
    pub stray_packets: u64,
}

/// Runs `scenario` and writes its results, as `docs/results.md` describes them, to `directory`, which is made if need be.
pub fn run_to_directory(
    scenario: &Scenario,
    directory: &Path,
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
    let series = SharedSeries::create(directory, &plan).map_err(|e| failed(directory, &e))?;
    let began = Instant::now();
    let outcome = simulate(&plan, Box::new(series.clone()), progress)?;
    let wall_s = began.elapsed().as_secs_f64();
    let routes = Routes::new(&plan.fabric, plan.seed);
    series
        .close()
        .and_then(|()| tables::flows(directory, &plan, &outcome))
        .and_then(|()| tables::subflows(directory, &plan, &routes, &outcome))
        .and_then(|()| tables::links(directory, &plan, &outcome))
        .map_err(|e| failed(directory, &e))?;
    let info = RunInfo {
        version: env!("CARGO_PKG_VERSION"),
        wall_s,
        packet_hops: outcome.hops,
        data_packets: outcome.data_packets,
        simulated_s: outcome.simulated.secs(),
        stray_packets: outcome.stray,
    };
    write("run.json", serde_json::to_string_pretty(&info).expect("plain numbers") + "\n")?;
    Ok(info)
}
