//! Failures of a job, after which all its ranks go back to a checkpoint.

use linkpool_engine::stream;
use linkpool_settings::{Bounds, Length, settings};
use linkpool_units::Time;
use rand_distr::{Distribution, Exp1};

use super::{Place, Run};
use crate::restarts::Restarts;

settings! {
    /// Failures of a job: all its ranks stop, and go on from the last checkpoint.
    pub struct Failures {
        /// Times at which the job fails, counted from `start`, in order. This key or `mtbf` is
        /// required.
        at: Option<Vec<Time>> = None, within Bounds::SPAN, within Length::from(1, "must have a time"),
            refused |f| f.at.is_some() && f.mtbf.is_some() => "there is `mtbf`, too; leave one out";
        /// Mean time between failures of the job, which come as a Poisson process.
        mtbf: Option<Time> = None, within Bounds::POSITIVE_SPAN;
        /// Time from a failure until the ranks go on: to find it, to start them, to read the
        /// checkpoint. It is at least that of the smallest packet over a link.
        recovery: Time, required Time::from_secs(60), within Bounds::POSITIVE_SPAN;
        /// Iterations from one checkpoint to the next. The start of the job is one, too.
        checkpoint_every: u32 = 1, within Bounds::POSITIVE;
        /// Time for which each rank writes a checkpoint, before its next iteration.
        checkpoint_time: Time = Time::ZERO, within Bounds::SPAN;
    }
}

/// Failures of a run, at the most.
const MOST: usize = 10_000;

impl Failures {
    /// Checks it.
    pub(super) fn check(&self, place: &mut Place<'_>) {
        let missing = "missing; write for example at = [\"10ms\"] or mtbf = \"1s\"";
        place.check(self.at.is_some() || self.mtbf.is_some(), "failures.at", missing);
        let ordered = self.at.iter().all(|at| at.is_sorted_by(|a, b| a < b));
        place.check(ordered, "failures.at", "must ascend, and have no time twice");
        let span = place.duration.saturating_sub(place.start);
        let last = self.at.iter().flatten().max().copied().unwrap_or(Time::ZERO);
        place.check(last < span, "failures.at", format!("{last} after the start of the job is not before `duration`"));
        let about = self.mtbf.map_or(0.0, |mtbf| span.secs() / mtbf.secs());
        let message = format!("about {about:.0} failures; at most {}", MOST / 2);
        place.check(about <= MOST as f64 / 2.0, "failures.mtbf", message);
        let number = self.at.as_ref().map_or(0, Vec::len);
        place.check(number <= MOST, "failures.at", format!("{number} failures; at most {MOST}"));
    }

    /// Those of a job.
    pub(super) fn of(&self, run: &Run) -> Restarts {
        let failures = match (&self.at, self.mtbf) {
            (Some(at), _) => at.iter().map(|at| run.start.saturating_add(*at)).collect(),
            (None, mtbf) => {
                let mut random = stream(run.seed, &format!("{} failures", run.kind), run.index);
                let mean = mtbf.unwrap_or(Time::MAX).0 as f64;
                let mut at = run.start;
                let next = || {
                    let gap: f64 = Exp1.sample(&mut random);
                    at = at.saturating_add(Time((gap * mean).max(1.0) as u64));
                    Some(at)
                };
                std::iter::from_fn(next).take_while(|at| *at < run.duration).take(MOST).collect()
            }
        };
        let Failures { recovery, checkpoint_every, checkpoint_time, .. } = *self;
        Restarts { failures, recovery, every: checkpoint_every, write: checkpoint_time }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkpool_settings::{Preset, Settings};

    fn of(at: Option<Vec<Time>>, mtbf: Option<Time>, seed: u64) -> Vec<Time> {
        let failures = Failures { at, mtbf, ..Failures::defaults(Preset::Linux) };
        let run = Run {
            seed,
            kind: "training",
            index: 0,
            start: Time::from_ms(5),
            duration: Time::from_ms(1005),
            racks_and_pods: Vec::new().into(),
            senders: None,
        };
        failures.of(&run).failures
    }

    /// Times are from the start of the job.
    #[test]
    fn listed_failures_are_from_the_start() {
        assert_eq!(of(Some(vec![Time::from_ms(1)]), None, 1), [Time::from_ms(6)]);
    }

    /// In 1 s with a mean time of 1 ms there are 1,000, with a standard deviation of 32; their gaps
    /// are exponential, so 37% are longer than the mean. Another seed has other ones.
    #[test]
    fn drawn_failures_are_a_poisson_process() {
        let drawn = of(None, Some(Time::from_ms(1)), 1);
        assert!((900..1100).contains(&drawn.len()), "{}", drawn.len());
        assert!(drawn.is_sorted_by(|a, b| a < b));
        assert!(drawn.iter().all(|at| (Time::from_ms(5)..Time::from_ms(1005)).contains(at)));
        let long = drawn.windows(2).filter(|two| two[1] - two[0] > Time::from_ms(1)).count() as f64;
        assert!((0.30..0.44).contains(&(long / drawn.len() as f64)), "{long}");
        assert_ne!(drawn, of(None, Some(Time::from_ms(1)), 2));
    }
}
