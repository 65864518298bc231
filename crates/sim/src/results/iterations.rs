//! Iterations of programs: each is done when all ranks have ended it.

use crate::plan::{Plan, PlannedPrograms};
use crate::results::outcome::{JobOutcome, Lost, RankOutcome};
use linkpool_units::Time;
use linkpool_workload::{Job, Restarts};
use std::collections::BTreeMap;

/// Iterations under way.
#[derive(Debug, Default)]
pub(crate) struct Iterations {
    /// By place of the programs, restarts before and number.
    under_way: BTreeMap<(usize, u32, u32), UnderWay>,
    /// Of programs that may fail, by place: the attempt of which an iteration began last.
    attempts: BTreeMap<usize, Attempt>,
}

#[derive(Debug)]
struct UnderWay {
    /// The ranks that have not ended it.
    missing: u32,
    /// The first rank began.
    start: Time,
    /// The last receive or calc ended.
    end: Time,
    /// What failures before it cost.
    lost: Option<Lost>,
}

/// What a job does from a restart to the next failure.
#[derive(Debug)]
struct Attempt {
    /// Failures before.
    restart: u32,
    /// Its first iteration.
    first: u32,
    /// By iteration from there: the first rank began.
    starts: Vec<Time>,
}

impl Attempt {
    /// What the failures after it cost, if the job goes on at restart number `restart` from iteration `from`.
    fn lost(&self, restarts: &Restarts, (restart, from): (u32, u32)) -> Lost {
        let [failed, last] = [self.restart, restart - 1].map(|failure| restarts.failures[failure as usize]);
        let goes_on = last.saturating_add(restarts.recovery);
        // A rank that has written a checkpoint has begun the next iteration.
        let begun = self.starts[(from - self.first) as usize];
        Lost { all: goes_on - begun, recovery: goes_on - failed }
    }
}

impl Iterations {
    /// A rank has ended an iteration, or it was cut off. If it was the last rank to end it, returns
    /// the iteration.
    pub(crate) fn note(&mut self, plan: &Plan, rank: &RankOutcome) -> Option<JobOutcome> {
        let planned = &plan.programs[rank.programs];
        let lost = planned.restarts.as_ref().and_then(|restarts| self.begin(restarts, rank));
        let key = (rank.programs, rank.restart, rank.iteration);
        let new = UnderWay { missing: planned.hosts.len() as u32, start: rank.start, end: Time::ZERO, lost };
        let under_way = self.under_way.entry(key).or_insert(new);
        under_way.start = under_way.start.min(rank.start);
        rank.end?;
        under_way.end = under_way.end.max(rank.received?);
        under_way.missing -= 1;
        if under_way.missing > 0 {
            return None;
        }
        let UnderWay { start, end, lost, .. } = self.under_way.remove(&key)?;
        let done = outcome(planned, (rank.restart, rank.iteration), (start, Some(end)), (rank.active_until, false));
        Some(JobOutcome { lost, ..done })
    }

    /// A rank of a job that may fail has ended an iteration, or was cut off. If it is the first to tell of an attempt, returns
    /// what failures before cost.
    fn begin(&mut self, restarts: &Restarts, rank: &RankOutcome) -> Option<Lost> {
        let RankOutcome { restart, iteration, start, .. } = *rank;
        let before = self.attempts.get(&rank.programs);
        let is_new = before.is_none_or(|attempt| attempt.restart < restart);
        let lost = before.filter(|_| is_new).map(|attempt| attempt.lost(restarts, (restart, iteration)));
        if is_new {
            let attempt = Attempt { restart, first: iteration, starts: Vec::new() };
            self.attempts.insert(rank.programs, attempt);
        }
        let Attempt { first, starts, .. } = self.attempts.get_mut(&rank.programs)?;
        // Each rank tells of its iterations in order.
        match starts.get_mut((iteration - *first) as usize) {
            Some(earliest) => *earliest = start.min(*earliest),
            None => starts.push(start),
        }
        lost
    }

    /// The iterations that failures have cut off, or the end of the run, at `now`.
    pub(crate) fn unfinished(&mut self, plan: &Plan, now: Time) -> impl Iterator<Item = JobOutcome> {
        let all = std::mem::take(&mut self.under_way).into_iter();
        all.map(move |((programs, restart, number), under_way)| {
            let planned = &plan.programs[programs];
            let failures = planned.restarts.iter().flat_map(|restarts| &restarts.failures);
            let failed = failures.copied().nth(restart as usize).filter(|at| *at < now);
            let until = (failed.unwrap_or(now), failed.is_some());
            let cut = outcome(planned, (restart, number), (under_way.start, None), until);
            JobOutcome { lost: under_way.lost, ..cut }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Iterations 2 and 3 of the attempt after the second failure began at 14 and 16. It failed at 21, and again in the recovery
    /// from that, at 22: the job goes on at 25.
    #[test]
    fn what_is_made_again_and_the_wait_are_lost() {
        let attempt = Attempt { restart: 2, first: 2, starts: vec![Time(14), Time(16)] };
        let failures = [10, 11, 21, 22].map(Time).to_vec();
        let restarts = Restarts { failures, recovery: Time(3), every: 1, write: Time::ZERO };
        let lost = |from| attempt.lost(&restarts, (4, from));
        let of = |all| Lost { all: Time(all), recovery: Time(4) };
        assert_eq!([2, 3].map(lost), [of(25 - 14), of(25 - 16)]);
        assert_eq!(attempt.lost(&restarts, (3, 2)), Lost { all: Time(24 - 14), recovery: Time(3) });
    }
}
