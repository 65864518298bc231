//! Statistics of samples, and of samples in which some values are only known to be at least so much.
//!
//! A flow that has not finished when the run ends will take longer than it has taken: its completion time is
//! censored on the right. A statistic of the whole sample is at least what it is with each such value at its
//! bound, since means and percentiles do not fall when a value rises. It is exactly that if it does not depend on
//! how far these values rise.

/// A statistic, or the least that it may be.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Bounded {
    pub(super) value: f64,
    pub(super) at_least: bool,
}

/// A percentile that summaries have, and of how many values it is one: at least one value is to be beyond it. With
/// fewer it lies between the two last values, and says no more than the largest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Percentile {
    percent: u8,
    pub(super) needs: usize,
}

pub(super) const MEDIAN: Percentile = Percentile { percent: 50, needs: 2 };
pub(super) const P90: Percentile = Percentile { percent: 90, needs: 10 };
pub(super) const P99: Percentile = Percentile { percent: 99, needs: 100 };

/// Values, some of which are lower bounds.
#[derive(Clone, Default, Debug)]
pub(super) struct Sample {
    values: Vec<f64>,
    /// Those that are no bounds; empty: none is.
    known: Vec<f64>,
    pub(super) unfinished: usize,
    sd: Option<f64>,
}

impl Sample {
    /// Takes the values in order of rows, and which are lower bounds.
    pub(super) fn new(values: impl Iterator<Item = (f64, bool)> + Clone) -> Sample {
        let mut known: Vec<f64> = Vec::new();
        let mut all = Vec::with_capacity(values.clone().count());
        all.extend(values.clone().map(|(value, _)| value));
        let unfinished = values.clone().filter(|(_, is_bound)| *is_bound).count();
        let sd = if unfinished == 0 { deviation(&all) } else { None };
        all.sort_unstable_by(f64::total_cmp);
        if unfinished > 0 {
            known.reserve_exact(all.len() - unfinished);
            known.extend(values.filter(|(_, is_bound)| !is_bound).map(|(value, _)| value));
            known.sort_unstable_by(f64::total_cmp);
        }
        Sample { values: all, known, unfinished, sd }
    }

    pub(super) fn count(&self) -> usize {
        self.values.len()
    }

    pub(super) fn mean(&self) -> Option<Bounded> {
        Some(Bounded { value: mean(&self.values)?, at_least: self.unfinished > 0 })
    }

    pub(super) fn max(&self) -> Option<Bounded> {
        Some(Bounded { value: *self.values.last()?, at_least: self.unfinished > 0 })
    }

    /// The standard deviation (divisor n - 1); none of less than two values, or with bounds among them.
    pub(super) fn deviation(&self) -> Option<f64> {
        self.sd
    }

    /// A percentile; none of fewer values than it needs.
    pub(super) fn percentile(&self, of: Percentile) -> Option<Bounded> {
        if self.count() < of.needs {
            return None;
        }
        let (value, ranks) = percentile(&self.values, of.percent);
        Some(Bounded { value, at_least: !ranks.into_iter().all(|rank| self.is_known(rank)) })
    }

    /// Is the value of this rank, from 0, the same however far bounds rise? With all bounds far above everything,
    /// the known values alone have the lowest ranks.
    fn is_known(&self, rank: usize) -> bool {
        self.unfinished == 0 || self.known.get(rank) == self.values.get(rank)
    }
}

/// A percentile of sorted values, which interpolates linearly between the two nearest ones, and the ranks of these,
/// from 0: R's type 7, `numpy.percentile` by default.
fn percentile(sorted: &[f64], percent: u8) -> (f64, [usize; 2]) {
    let at = f64::from(percent) / 100.0 * (sorted.len() - 1) as f64;
    let ranks = [at.floor() as usize, at.ceil() as usize];
    let [low, high] = ranks.map(|rank| sorted[rank]);
    let (apart, part) = (high - low, at - at.floor());
    // From the nearer end, so that 1 is `high` to the bit.
    (if part < 0.5 { low + apart * part } else { high - apart * (1.0 - part) }, ranks)
}

/// Percentiles of values that are no bounds, however few: of samples that a run has drawn itself.
pub(super) fn percentiles(sorted: &[f64], of: [Percentile; 3]) -> Option<[f64; 3]> {
    (!sorted.is_empty()).then(|| of.map(|of| percentile(sorted, of.percent).0))
}

/// The arithmetic mean.
pub(super) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| sum(values, &|x| x) / values.len() as f64)
}

/// The standard deviation (divisor n - 1).
fn deviation(values: &[f64]) -> Option<f64> {
    let mean = mean(values).filter(|_| values.len() > 1)?;
    Some((sum(values, &|x| (x - mean) * (x - mean)) / (values.len() - 1) as f64).sqrt())
}

/// Jain's fairness index (sum x)^2 / (n sum x^2): 1 when all are equal, 1/n when one has all (Jain, Chiu and Hawe,
/// DEC-TR-301, 1984). None of no values, and of zeros.
pub(super) fn jain(values: &[f64]) -> Option<f64> {
    let squares = sum(values, &|x| x * x);
    let sum = sum(values, &|x| x);
    (squares != 0.0).then(|| sum * sum / (values.len() as f64 * squares))
}

/// The sum by halves (Higham, Accuracy and Stability of Numerical Algorithms, section 4.2), whose error grows with the
/// logarithm of their number.
fn sum(values: &[f64], of: &impl Fn(f64) -> f64) -> f64 {
    const AT_ONCE: usize = 128;
    if values.len() <= AT_ONCE {
        // In eight lanes, which a processor adds at a time.
        let mut lanes = [0.0; 8];
        let eights = values.chunks_exact(8);
        let rest = eights.remainder();
        for eight in eights {
            for (lane, value) in lanes.iter_mut().zip(eight) {
                *lane += of(*value);
            }
        }
        let [a, b, c, d, e, f, g, h] = lanes;
        let lanes = ((a + b) + (c + d)) + ((e + f) + (g + h));
        return rest.iter().fold(lanes, |sum, value| sum + of(*value));
    }
    let half = values.len() / 2;
    let (left, right) = values.split_at(half - half % 8);
    sum(left, of) + sum(right, of)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(values: &[f64]) -> Sample {
        Sample::new(values.iter().map(|value| (*value, false)))
    }

    fn exactly(value: f64) -> Option<Bounded> {
        Some(Bounded { value, at_least: false })
    }

    fn at_least(value: f64) -> Option<Bounded> {
        Some(Bounded { value, at_least: true })
    }

    #[test]
    fn statistics_by_hand() {
        let sample = known(&[7.0, 1.0, 4.0]);
        assert_eq!((sample.count(), sample.unfinished), (3, 0));
        assert_eq!((sample.mean(), sample.max()), (exactly(4.0), exactly(7.0)));
        assert_eq!(sample.deviation(), Some(3.0)); // (9 + 0 + 9) / 2
        assert_eq!((sample.percentile(MEDIAN), sample.percentile(P90)), (exactly(4.0), None));
        assert_eq!((known(&[1.0]).deviation(), known(&[1.0]).percentile(MEDIAN)), (None, None));
        assert_eq!((known(&[]).mean(), known(&[]).max(), known(&[]).deviation()), (None, None, None));
    }

    /// Rank 8.1 of ten values from 0, and 98.01 of a hundred; both ends of an interval are exact.
    #[test]
    fn percentiles_interpolate_between_the_two_nearest_values() {
        let values: Vec<f64> = (0..10).map(f64::from).collect();
        assert!((known(&values).percentile(P90).unwrap().value - 8.1).abs() < 1e-12);
        assert_eq!(known(&values).percentile(P99), None);
        let values: Vec<f64> = (0..100).map(f64::from).collect();
        assert!((known(&values).percentile(P99).unwrap().value - 98.01).abs() < 1e-12);
        assert_eq!(percentile(&[1.0, 3.0], 50), (2.0, [0, 1]));
        assert_eq!(percentile(&[1.0, 3.0, 9.0], 50), (3.0, [1, 1]));
        assert_eq!(percentile(&[5.0], 99), (5.0, [0, 0]));
        assert_eq!(percentiles(&[1.0, 3.0], [MEDIAN, MEDIAN, MEDIAN]), Some([2.0; 3]));
        assert_eq!(percentiles(&[], [MEDIAN, P90, P99]), None);
    }

    /// 1, 2, 3 and at least 2.5: the median lies between the second and a third of 2.5 or 3.
    #[test]
    fn what_bounds_may_change_is_a_bound() {
        let sample = Sample::new([(1.0, false), (2.0, false), (3.0, false), (2.5, true)].into_iter());
        assert_eq!((sample.count(), sample.unfinished, sample.deviation()), (4, 1, None));
        assert_eq!((sample.mean(), sample.max()), (at_least(2.125), at_least(3.0)));
        assert_eq!(sample.percentile(MEDIAN), at_least(2.25));
        // Ranks that are below every bound are known, and so are those that a bound cannot change.
        let sample = Sample::new([(1.0, false), (2.0, false), (9.0, true)].into_iter());
        assert_eq!(sample.percentile(MEDIAN), exactly(2.0));
        let sample = Sample::new([(2.0, false), (2.0, false), (2.0, true), (1.0, false)].into_iter());
        assert_eq!(sample.percentile(MEDIAN), exactly(2.0));
        let all = Sample::new([(1.0, true), (2.0, true)].into_iter());
        assert_eq!((all.percentile(MEDIAN), all.unfinished), (at_least(1.5), 2));
    }

    #[test]
    fn jains_index_is_1_of_equals_and_1_nth_of_one() {
        assert_eq!((jain(&[3.0; 4]), jain(&[0.0, 0.0, 5.0, 0.0])), (Some(1.0), Some(0.25)));
        assert_eq!((jain(&[]), jain(&[0.0])), (None, None));
    }

    /// Every length about those at which sums are halved, against integers, which are exact.
    #[test]
    fn sums_lose_no_value() {
        for length in (0..300).chain(1000..1010) {
            let values: Vec<f64> = (1..=length).map(f64::from).collect();
            assert_eq!(sum(&values, &|x| x), f64::from(length * (length + 1) / 2), "{length}");
            assert_eq!(sum(&values, &|x| 2.0 * x), f64::from(length * (length + 1)), "{length}");
        }
    }

    /// A million tenths one after another are off by 1.3e-6.
    #[test]
    fn sums_of_many_values_stay_exact() {
        let values = vec![0.1; 1_000_000];
        assert!((sum(&values, &|x| x) - 100_000.0).abs() < 1e-9);
    }
}
