//! The paths of a sender: it uses each path once in a random order, then again in another order.
//! Outliers are left out for some time.

use super::config::Penalties;

/// The outcome of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Feedback {
    /// It arrived whole.
    Ack,
    /// It was trimmed.
    Nack,
    /// There was no answer to it.
    Loss,
}

/// The weight of a loss. It says more than a NACK, since switches that trim lose packets only on
/// links that fail.
const WEIGHT_OF_LOSS: u32 = 4;

/// Counts are halved when they reach this multiple of the needed samples, so that old samples are
/// forgotten.
const MEMORY: u32 = 4;

/// All paths to a destination, with the outcomes of packets on them.
#[derive(Debug)]
pub struct PathSet {
    scores: Box<[Score]>,
    /// A permutation of the paths in use. The paths before `next` have had their packet.
    order: Vec<u16>,
    next: usize,
    penalties: Option<Penalties>,
    /// Sums over all paths.
    good: u64,
    bad: u64,
}

#[derive(Clone, Copy, Default, Debug)]
struct Score {
    good: u32,
    bad: u32,
    /// The number of further permutations that leave the path out.
    left_out: u32,
    /// The last penalty; 0 if there is none, or if it is forgiven.
    penalty: u32,
}

impl PathSet {
    /// `paths` is the number of paths, which are numbered from 0; at least one.
    pub fn new(paths: usize, penalties: Option<Penalties>) -> PathSet {
        assert!((1..1 << 16).contains(&paths), "between 1 and 65,535 paths");
        let scores = vec![Score::default(); paths].into();
        PathSet { scores, order: Vec::new(), next: 0, penalties, good: 0, bad: 0 }
    }

    /// The number of paths.
    pub fn count(&self) -> usize {
        self.scores.len()
    }

    /// The path of the next packet (section 3.1.1: the sender permutes its list of paths, sends a
    /// packet on each, and permutes it again). `random` draws a number below its argument.
    pub fn next(&mut self, mut random: impl FnMut(usize) -> usize) -> usize {
        if self.next == self.order.len() {
            self.permute(&mut random);
        }
        self.next += 1;
        self.order[self.next - 1].into()
    }

    /// As [`PathSet::next`], for a packet sent again: on another path than `last` if there is one.
    pub fn next_but(&mut self, last: usize, mut random: impl FnMut(usize) -> usize) -> usize {
        let path = self.next(&mut random);
        if path != last || self.next == self.order.len() {
            return path;
        }
        // Its turn comes one packet later.
        self.order.swap(self.next - 1, self.next);
        self.order[self.next - 1].into()
    }

    /// Fisher and Yates' shuffle of the paths that are not left out; of all if all are.
    fn permute(&mut self, random: &mut impl FnMut(usize) -> usize) {
        self.order.clear();
        for (path, score) in (0..).zip(&mut self.scores) {
            if score.left_out == 0 {
                self.order.push(path);
            }
            score.left_out = score.left_out.saturating_sub(1);
        }
        if self.order.is_empty() {
            self.order.extend((0..).take(self.scores.len()));
        }
        for i in (1..self.order.len()).rev() {
            self.order.swap(i, random(i + 1));
        }
        self.next = 0;
    }

    /// Records the `outcome` of a packet on `path`.
    pub fn on_feedback(&mut self, path: usize, feedback: Feedback) {
        let Some(penalties) = self.penalties.filter(|_| self.scores.len() > 1) else { return };
        let (good, bad) = match feedback {
            Feedback::Ack => (1, 0),
            Feedback::Nack => (0, 1),
            Feedback::Loss => (0, WEIGHT_OF_LOSS),
        };
        let score = &mut self.scores[path];
        (score.good, score.bad) = (score.good + good, score.bad + bad);
        (self.good, self.bad) = (self.good + u64::from(good), self.bad + u64::from(bad));
        let samples = score.good + score.bad;
        if samples < penalties.samples || score.left_out > 0 {
            return;
        }
        let share = f64::from(score.bad) / f64::from(samples);
        let (others_bad, others_good) = (self.bad - u64::from(score.bad), self.good - u64::from(score.good));
        let others = others_bad as f64 / (others_bad + others_good).max(1) as f64;
        if share > penalties.least_share && share > penalties.ratio * others {
            let again = (score.penalty * 2).min(penalties.most_rounds);
            score.penalty = again.max(penalties.rounds);
            score.left_out = score.penalty;
            // It is judged again soon after it comes back.
            self.forget(path, 4);
        } else if samples >= MEMORY * penalties.samples {
            score.penalty = 0;
            self.forget(path, 2);
        }
    }

    /// Divides the counts of `path`.
    fn forget(&mut self, path: usize, by: u32) {
        let score = &mut self.scores[path];
        let (good, bad) = (score.good / by, score.bad / by);
        self.good -= u64::from(score.good - good);
        self.bad -= u64::from(score.bad - bad);
        (score.good, score.bad) = (good, bad);
    }

    /// The number of paths that are left out now.
    pub fn left_out(&self) -> usize {
        self.scores.iter().filter(|score| score.left_out > 0).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Numbers that look random: a linear congruential generator (Knuth's MMIX).
    fn random(seed: u64) -> impl FnMut(usize) -> usize {
        let mut state = seed;
        move |n| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) % n as u64) as usize
        }
    }

    proptest! {
        #[test]
        fn each_path_once_a_round(paths in 1usize..40, seed: u64) {
            let (mut set, mut random) = (PathSet::new(paths, None), random(seed));
            for _ in 0..5 {
                let mut round: Vec<usize> = (0..paths).map(|_| set.next(&mut random)).collect();
                round.sort_unstable();
                prop_assert_eq!(round, (0..paths).collect::<Vec<_>>());
            }
        }

        #[test]
        fn a_packet_sent_again_takes_another_path(paths in 2usize..40, sends in 1usize..100, seed: u64) {
            let (mut set, mut random) = (PathSet::new(paths, None), random(seed));
            let mut last = set.next(&mut random);
            let mut repeated = 0;
            for _ in 0..sends {
                let path = set.next_but(last, &mut random);
                repeated += usize::from(path == last);
                last = path;
            }
            // Only where a permutation ends with the path that it may not take.
            prop_assert!(repeated <= sends.div_ceil(paths));
        }
    }

    #[test]
    fn a_path_that_loses_is_left_out_and_comes_back() {
        let penalties = Penalties { samples: 8, rounds: 2, ..Penalties::default() };
        let (mut set, mut random) = (PathSet::new(4, Some(penalties)), random(1));
        let mut used = [0; 4];
        for _ in 0..400 {
            let path = set.next(&mut random);
            used[path] += 1;
            set.on_feedback(path, if path == 2 { Feedback::Loss } else { Feedback::Ack });
        }
        // Two losses weigh 8; the next two again, after 2, 4, 8 ... permutations.
        assert!((4..20).contains(&used[2]), "{used:?}");
        assert!(used.iter().sum::<i32>() == 400 && used[0] > 120);
        for _ in 0..20_000 {
            let path = set.next(&mut random);
            set.on_feedback(path, Feedback::Ack);
        }
        used = [0; 4];
        (0..400).for_each(|_| used[set.next(&mut random)] += 1);
        // These 400 begin and end within a permutation.
        assert!(used.iter().all(|n| (99..=101).contains(n)), "{used:?}");
    }

    #[test]
    fn trimming_everywhere_leaves_no_path_out() {
        let (mut set, mut random) = (PathSet::new(16, Some(Penalties::default())), random(2));
        for i in 0..100_000 {
            let path = set.next(&mut random);
            set.on_feedback(path, if i % 10 == 0 { Feedback::Ack } else { Feedback::Nack });
            assert_eq!(set.left_out(), 0);
        }
    }

    #[test]
    fn where_all_are_left_out_all_are_used() {
        let mut set = PathSet::new(3, Some(Penalties::default()));
        set.scores.iter_mut().for_each(|score| score.left_out = 5);
        let mut round: Vec<usize> = (0..3).map(|_| set.next(|_| 0)).collect();
        round.sort_unstable();
        assert_eq!(round, [0, 1, 2]);
    }

    /// Fisher and Yates' shuffle with zeros alone: 0, 1, 2 become 1, 2, 0.
    #[test]
    fn a_packet_sent_again_gives_way_to_the_next_path() {
        let mut set = PathSet::new(3, None);
        assert_eq!(set.count(), 3);
        assert_eq!([set.next_but(1, |_| 0), set.next(|_| 0), set.next(|_| 0)], [2, 1, 0]);
        assert_eq!([set.next_but(2, |_| 0), set.next_but(1, |_| 0)], [1, 2], "they are others anyway");
        assert_eq!(set.next_but(0, |_| 0), 0, "the last path of a permutation has no next");
    }

    /// The last place is filled by one of four paths, the one before it by one of three, and so on.
    #[test]
    fn a_shuffle_draws_from_all_paths_that_are_left() {
        let (mut set, mut asked) = (PathSet::new(4, None), Vec::new());
        set.next(|n| {
            asked.push(n);
            0
        });
        assert_eq!(asked, [4, 3, 2]);
    }

    fn penalties(least_share: f64) -> Option<Penalties> {
        Some(Penalties { samples: 8, ratio: 2.0, least_share, rounds: 3, most_rounds: 20 })
    }

    fn feed(set: &mut PathSet, path: usize, feedback: Feedback, times: usize) {
        (0..times).for_each(|_| set.on_feedback(path, feedback));
    }

    /// The good and bad outcomes of a path that count, and of all paths.
    fn counts(set: &PathSet, path: usize) -> ([u32; 2], [u64; 2]) {
        ([set.scores[path].good, set.scores[path].bad], [set.good, set.bad])
    }

    /// Eight outcomes are enough for a judgement. Where there is no other path, none is left out.
    #[test]
    fn a_path_is_judged_by_eight_outcomes() {
        let mut set = PathSet::new(3, penalties(0.1));
        feed(&mut set, 1, Feedback::Nack, 7);
        assert_eq!((set.left_out(), counts(&set, 1)), (0, ([0, 7], [0, 7])));
        feed(&mut set, 1, Feedback::Nack, 1);
        assert_eq!((set.left_out(), set.scores[1].left_out), (1, 3));
        let mut single = PathSet::new(1, penalties(0.1));
        feed(&mut single, 0, Feedback::Nack, 8);
        assert_eq!(single.left_out(), 0);
    }

    /// 1 of 10 is not above a least share of 0.1, 2 of 11 are.
    #[test]
    fn an_outlier_has_more_than_the_least_share() {
        let mut set = PathSet::new(3, penalties(0.1));
        feed(&mut set, 1, Feedback::Ack, 9);
        feed(&mut set, 1, Feedback::Nack, 1);
        assert_eq!(set.left_out(), 0);
        feed(&mut set, 1, Feedback::Nack, 1);
        assert_eq!(set.left_out(), 1);
    }

    /// The others have 4 bad outcomes of 16, a quarter. Twice that is 4 of 8; 5 of 9 are more.
    #[test]
    fn an_outlier_has_more_than_twice_the_share_of_the_others() {
        let mut set = PathSet::new(3, penalties(0.3));
        feed(&mut set, 0, Feedback::Ack, 12);
        feed(&mut set, 0, Feedback::Nack, 4);
        feed(&mut set, 1, Feedback::Ack, 4);
        feed(&mut set, 1, Feedback::Nack, 4);
        assert_eq!((set.left_out(), counts(&set, 1)), (0, ([4, 4], [16, 8])));
        feed(&mut set, 1, Feedback::Nack, 1);
        // 4 and 5 are divided by 4.
        assert_eq!((set.left_out(), counts(&set, 1)), (1, ([1, 1], [13, 5])));
    }

    /// It is left out for 3, 6, 12, and then the most, 20 permutations. Packets that were on their
    /// way meanwhile do not lengthen that. Each penalty leaves a quarter of the counts.
    #[test]
    fn an_outlier_is_left_out_twice_as_long_each_time() {
        let mut set = PathSet::new(3, penalties(0.1));
        for rounds in [3, 6, 12, 20, 20] {
            let had = set.scores[1].bad;
            feed(&mut set, 1, Feedback::Nack, 8 - had as usize);
            assert_eq!((set.scores[1].left_out, set.scores[1].bad), (rounds, 2));
            feed(&mut set, 1, Feedback::Nack, 6);
            assert_eq!((set.scores[1].left_out, counts(&set, 1)), (rounds, ([0, 8], [0, 8])));
            set.scores[1].left_out = 0;
            set.forget(1, 8);
        }
    }

    /// A loss weighs four. After 4 times 8 outcomes without a penalty the last one is forgiven, and
    /// half of the counts are forgotten.
    #[test]
    fn a_penalty_is_forgiven_after_four_times_the_samples() {
        let mut set = PathSet::new(3, penalties(0.3));
        feed(&mut set, 1, Feedback::Loss, 2);
        assert_eq!((set.scores[1].penalty, counts(&set, 1)), (3, ([0, 2], [0, 2])));
        set.scores[1].left_out = 0;
        feed(&mut set, 1, Feedback::Ack, 29);
        assert_eq!((set.scores[1].penalty, counts(&set, 1)), (3, ([29, 2], [29, 2])));
        feed(&mut set, 1, Feedback::Ack, 1);
        assert_eq!((set.scores[1].penalty, counts(&set, 1)), (0, ([15, 1], [15, 1])));
    }
}
