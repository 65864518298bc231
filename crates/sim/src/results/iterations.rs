//! Iterations of programs: each is done when all ranks have ended it.

use crate::plan::{Plan, PlannedPrograms};
use crate::results::outcome::{JobOutcome, RankOutcome};
use linkpool_units::Time;
use linkpool_workload::Job;
use std::collections::BTreeMap;

/// Iterations under way, by place of the programs, restarts before and number.
#[derive(Debug, Default)]
pub(crate) struct Iterations(BTreeMap<(usize, u32, u32), UnderWay>);

#[derive(Debug)]
struct UnderWay {
    /// The ranks that have not ended it.
    missing: u32,
    /// The first rank began.
    start: Time,
    /// The last receive or calc ended.
    end: Time,
}

impl Iterations {
    /// A rank has ended an iteration, or it was cut off. If it was the last rank to end it, returns
    /// the iteration.
    pub(crate) fn note(&mut self, plan: &Plan, rank: &RankOutcome) -> Option<JobOutcome> {
        let planned = &plan.programs[rank.programs];
        let key = (rank.programs, rank.restart, rank.iteration);
        let new = UnderWay { missing: planned.hosts.len() as u32, start: rank.start, end: Time::ZERO };
        let under_way = self.0.entry(key).or_insert(new);
        under_way.start = under_way.start.min(rank.start);
        rank.end?;
        under_way.end = under_way.end.max(rank.received?);
        under_way.missing -= 1;
        if under_way.missing > 0 {
            return None;
        }
        let UnderWay { start, end, .. } = self.0.remove(&key)?;
        Some(outcome(planned, (rank.restart, rank.iteration), (start, Some(end)), (rank.active_until, false)))
    }

    /// The iterations that failures have cut off, or the end of the run, at `now`.
    pub(crate) fn unfinished(&mut self, plan: &Plan, now: Time) -> impl Iterator<Item = JobOutcome> {
        let all = std::mem::take(&mut self.0).into_iter();
        all.map(move |((programs, restart, number), under_way)| {
            let planned = &plan.programs[programs];
            let failures = planned.restarts.iter().flat_map(|restarts| &restarts.failures);
            let failed = failures.copied().nth(restart as usize).filter(|at| *at < now);
            let until = (failed.unwrap_or(now), failed.is_some());
            outcome(planned, (restart, number), (under_way.start, None), until)
        })
    }
}

fn outcome(
    planned: &PlannedPrograms,
    (restart, number): (u32, u32),
    (start, end): (Time, Option<Time>),
    (active_until, failed): (Time, bool),
) -> JobOutcome {
    let job = Job { number, of: None, start, end, flows: planned.programs.sends as u32 };
    JobOutcome { restart, failed, ..JobOutcome::new(planned.label, job, active_until) }
}
