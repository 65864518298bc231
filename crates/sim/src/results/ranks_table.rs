//! The table of ranks.

use crate::plan::{Plan, PlannedPrograms};
use crate::results::column::table;
use crate::results::outcome::RankOutcome;
use linkpool_units::Time;

/// An iteration of a rank, done or under way.
#[derive(Debug)]
pub(crate) struct RankRow<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) outcome: &'a RankOutcome,
}

table! {
    /// A row per iteration of the program of a rank, in order of end, or of the failure of the job
    /// that cut it off; those that the end of the run cut off come last. Ranks that had not begun have none.
    "ranks" of RankRow<'_>, unless "its scenario has no workload of the kind `program` or `training`", |row|
    /// Label of the workload.
    label: str, "" = row.plan.labels[row.programs().label.index()].as_str();
    /// Number of the workload in workloads. With `rank`, `iteration` and `restart` it
    /// identifies the row.
    workload: u32, "" = row.plan.workloads[row.programs().label.index()];
    /// The rank.
    rank: u32, "" = row.outcome.rank;
    /// Host of the rank.
    host: str, "" = row.plan.fabric.name(row.programs().hosts[row.outcome.rank as usize].into());
    /// From 0; `job` in flows and in jobs.
    iteration: u32, "" = row.outcome.iteration;
    /// How often the job had failed and begun again before.
    restart: u32, "" = row.outcome.restart;
    /// How many times as long it computed as without stragglers; 1: it was none.
    compute_slowdown: f64, "" = row.programs().slowdown(row.outcome.rank, row.outcome.iteration);
    /// The rank began the iteration.
    start_s: f64, "s" = row.outcome.start.secs();
    /// Its last receive, or calc of more than 0 units, ended; null: some had not ended at the end of
    /// the run, or at a failure of the job.
    received_s: f64, "s" = row.outcome.received.map(Time::secs);
    /// All its nodes had ended: sends end when they are acknowledged. Null: under way at the end of
    /// the run, or at a failure of the job.
    end_s: f64, "s" = row.outcome.end.map(Time::secs);
    /// Nodes that had not ended at the end of the run.
    left: u32, "" = row.outcome.left.0;
    /// The first of these that had started, or the first of all if none had: its line, or its
    /// number, and what it does; null: none.
    waits_in: str, "" = row.waits_in().as_deref();
}

impl<'a> RankRow<'a> {
    fn programs(&self) -> &'a PlannedPrograms {
        &self.plan.programs[self.outcome.programs]
    }

    fn waits_in(&self) -> Option<String> {
        let (programs, rank) = (&self.programs().programs, self.outcome.rank as usize);
        let node = self.outcome.left.1?;
        let what = programs.ranks[rank].nodes()[node as usize].text();
        Some(format!("{}: {what}", programs.short_place(rank, node)))
    }
}
