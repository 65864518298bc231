//! Writes the tables of a run that was not simulated, for example on the network stack of a real
//! system.

use crate::plan::Plan;
use crate::results::outcome::{FlowOutcome, JobOutcome, Outcome};
use crate::results::sample::Sample;
use crate::results::sink::Sink;
use crate::results::tables::{Tables, Unknown, write_rest};
use linkpool_network::Timetable;
use linkpool_scenario::Scenario;
use std::path::Path;

/// All results of a run.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// In any order.
    pub flows: Vec<FlowOutcome>,
    /// In any order.
    pub jobs: Vec<JobOutcome>,
    /// In any order.
    pub samples: Vec<Sample>,
    /// The outcomes of links, and the sums of the run.
    pub outcome: Outcome,
    /// The columns whose values are unknown.
    pub unknown: Unknown,
}

/// Writes `scenario.toml`, the tables and the summary of a run of `scenario`, whose plan is `plan`, to
/// `directory`, which is created if necessary. The caller writes `run.json`.
///
/// # Errors
/// A file could not be written.
pub fn write_tables(
    directory: &Path,
    (scenario, plan, timetable): (&Scenario, &Plan, &Timetable),
    mut recorded: Recorded,
) -> std::io::Result<()> {
    std::fs::create_dir_all(directory)?;
    std::fs::write(directory.join("scenario.toml"), scenario.to_toml())?;
    let mut tables = Tables::create(directory, plan, timetable, &recorded.unknown).map_err(std::io::Error::other)?;
    recorded.samples.sort_by_key(Sample::order);
    recorded.jobs.sort_by_key(|job| (job.active_until, job.label, job.job.number));
    recorded.flows.sort_by_key(|flow| (flow.active_until, flow.flow));
    recorded.samples.into_iter().for_each(|sample| tables.sample(sample));
    recorded.flows.into_iter().for_each(|flow| tables.flow(flow));
    recorded.jobs.into_iter().for_each(|job| tables.job(job));
    let started = tables.close().map_err(std::io::Error::other)?;
    write_rest(directory, scenario, plan, &recorded.outcome, &started).map_err(std::io::Error::other)
}
