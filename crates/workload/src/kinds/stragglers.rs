//! Ranks that compute slower than others: stragglers.

use linkpool_engine::stream;
use linkpool_settings::{Bounds, settings};
use linkpool_units::counted;
use rand::RngCore;
use rand::seq::index::sample;

use super::{Place, Run};
use crate::slow_ranks::{SlowRanks, Which};

settings! {
    /// Ranks that compute slower than others.
    pub struct Stragglers {
        /// How many times as long the computation of a slow rank takes.
        slowdown: f64, required 2.0, within Bounds::from(1.0, "{} is no slowdown; it is from 1 to 1000000").to(1e6);
        /// The slow ranks. This key, `number` or `probability` is required.
        ranks: Option<Vec<u32>> = None,
            refused |s| s.ways() > 1 => "there are several of `ranks`, `number` and `probability`; leave one";
        /// Number of slow ranks, which are drawn once for the job.
        number: Option<u32> = None, within Bounds::POSITIVE;
        /// Probability that a rank is slow in an iteration, drawn for each rank and each iteration.
        probability: Option<f64> = None, within Bounds::SHARE;
        /// The first iteration in which they are slow, from 0.
        from_iteration: u32 = 0;
        /// From this iteration on they are no longer slow.
        until_iteration: u32, from |_s| u32::MAX => "none";
    }
}

impl Stragglers {
    fn ways(&self) -> usize {
        [self.ranks.is_some(), self.number.is_some(), self.probability.is_some()].into_iter().filter(|is| *is).count()
    }

    /// Checks it for a job of so many ranks and iterations.
    pub(super) fn check(&self, ranks: u128, iterations: u32, place: &mut Place<'_>) {
        let missing = "missing; write for example ranks = [0], number = 1, or probability = 0.01";
        place.check(self.ways() > 0, "stragglers.ranks", missing);
        if let Some(listed) = &self.ranks {
            let beyond = listed.iter().find(|rank| u128::from(**rank) >= ranks);
            let message =
                beyond.map(|rank| format!("there is no rank {rank}; they are 0 to {}", ranks.saturating_sub(1)));
            place.check(beyond.is_none(), "stragglers.ranks", message.unwrap_or_default());
            place.check(!listed.is_empty(), "stragglers.ranks", "there is no rank in it; leave `stragglers` out");
        }
        let number = self.number.unwrap_or(0);
        place.check(
            u128::from(number) <= ranks,
            "stragglers.number",
            format!("{number} of {}", counted(ranks, "rank")),
        );
        let from = self.from_iteration;
        let message = format!("the last iteration is {}, counted from 0", iterations.saturating_sub(1));
        place.check(from < iterations, "stragglers.from_iteration", message);
        let message = format!("it must be above from_iteration, {from}");
        place.check(self.until_iteration > from, "stragglers.until_iteration", message);
    }

    /// Those of a job of `ranks` ranks.
    pub(super) fn of(&self, ranks: u32, run: &Run) -> SlowRanks {
        let mut random = stream(run.seed, &format!("{} stragglers", run.kind), run.index);
        let which = if let Some(probability) = self.probability {
            Which::Now(random.next_u64(), probability)
        } else {
            let mut slow = vec![false; ranks as usize];
            let drawn = self.number.map(|number| sample(&mut random, slow.len(), number as usize));
            let listed = self.ranks.iter().flatten().map(|rank| *rank as usize);
            listed.chain(drawn.into_iter().flatten()).for_each(|rank| slow[rank] = true);
            Which::Always(slow)
        };
        SlowRanks { slowdown: self.slowdown, which, from: self.from_iteration, until: self.until_iteration }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkpool_settings::{Preset, Settings};
    use linkpool_units::Time;

    fn of(change: impl FnOnce(&mut Stragglers), seed: u64) -> SlowRanks {
        let mut stragglers =
            Stragglers { slowdown: 2.0, until_iteration: u32::MAX, ..Stragglers::defaults(Preset::Linux) };
        change(&mut stragglers);
        let run = Run {
            seed,
            kind: "training",
            index: 0,
            start: Time::ZERO,
            duration: Time::from_ms(1),
            racks_and_pods: Vec::new().into(),
            senders: None,
        };
        stragglers.of(100, &run)
    }

    /// Rank 3 takes 2.5 times as long in iterations 2 and 3; 1,001 ps become 2,502.5, which is
    /// 2,503.
    #[test]
    fn listed_ranks_are_slow_for_some_iterations() {
        let slow = of(
            |s| {
                (s.slowdown, s.ranks) = (2.5, Some(vec![3]));
                (s.from_iteration, s.until_iteration) = (2, 4);
            },
            1,
        );
        let factors = [(3, 1), (3, 2), (3, 3), (3, 4), (2, 2)].map(|(rank, iteration)| slow.slowdown(rank, iteration));
        assert_eq!(factors, [1.0, 2.5, 2.5, 1.0, 1.0]);
        assert_eq!([1, 2].map(|iteration| slow.time(Time(1_001), 3, iteration)), [Time(1_001), Time(2_503)]);
    }

    /// Seven of 100 ranks, in each iteration the same; others with another seed.
    #[test]
    fn a_number_of_ranks_is_drawn_once() {
        let slow = |seed: u64, iteration: u32| -> Vec<u32> {
            let slow = of(|s| s.number = Some(7), seed);
            (0..100).filter(|rank| slow.slowdown(*rank, iteration) > 1.0).collect()
        };
        assert_eq!(slow(1, 0).len(), 7);
        assert_eq!(slow(1, 0), slow(1, 9));
        assert_ne!(slow(1, 0), slow(2, 0));
    }

    /// With probability 0.1, 100 ranks in 100 iterations: 1,000 expected, with a standard deviation
    /// of 30. Ranks and iterations have draws of their own: of pairs of neighbours, one in 100 is
    /// slow twice.
    #[test]
    fn ranks_are_drawn_for_each_iteration() {
        let slow = of(|s| s.probability = Some(0.1), 1);
        let is = |rank: u32, iteration: u32| slow.slowdown(rank, iteration) > 1.0;
        let all = || (0..100).flat_map(|rank| (0..100).map(move |iteration| (rank, iteration)));
        let count = all().filter(|(rank, iteration)| is(*rank, *iteration)).count();
        assert!((900..1100).contains(&count), "{count}");
        let twice = |(rank, iteration): &(u32, u32)| is(*rank, *iteration) && is((rank + 1) % 100, *iteration);
        let later = |(rank, iteration): &(u32, u32)| is(*rank, *iteration) && is(*rank, (iteration + 1) % 100);
        for pairs in [all().filter(twice).count(), all().filter(later).count()] {
            assert!((60..140).contains(&pairs), "{pairs}");
        }
        let certain = of(|s| s.probability = Some(1.0), 1);
        assert!((0..100).all(|rank| certain.slowdown(rank, rank) > 1.0));
    }
}
