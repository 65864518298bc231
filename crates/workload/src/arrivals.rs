//! Poisson arrivals of flows.

use crate::destination::{random_in_other_rack, random_other};
use crate::flow::Flow;
use crate::sizes::Sizes;
use linkpool_engine::Stream;
use linkpool_units::{HostId, Time};
use rand::Rng;
use rand_distr::{Distribution, Exp};
use std::sync::Arc;

/// Arrival times of a Poisson process in `[start, stop)`, drawn one by one.
#[derive(Clone, Debug)]
pub struct PoissonTimes {
    gap: Exp<f64>,
    at: Time,
    stop: Time,
    random: Stream,
}

impl PoissonTimes {
    /// `per_second` arrivals a second on average.
    pub fn new(per_second: f64, start: Time, stop: Time, random: Stream) -> PoissonTimes {
        PoissonTimes { gap: Exp::new(per_second).expect("a positive rate"), at: start, stop, random }
    }

    /// How many there are still, and the stream when they have been drawn.
    pub fn count_and_rest(mut self) -> (usize, Stream) {
        (self.by_ref().count(), self.random)
    }
}

impl Iterator for PoissonTimes {
    type Item = Time;

    fn next(&mut self) -> Option<Time> {
        if self.at >= self.stop {
            return None;
        }
        self.at = self.at.saturating_add(Time::from_secs_f64(self.gap.sample(&mut self.random)));
        (self.at < self.stop).then_some(self.at)
    }
}

/// Flows that arrive as a Poisson process, in order of start.
#[derive(Clone, Debug)]
pub(crate) struct PoissonFlows {
    times: PoissonTimes,
    /// The stream as it is after all times have been drawn; ends and sizes come from it.
    random: Stream,
    senders: Arc<[HostId]>,
    to: Receivers,
    size: Sizes,
}

/// The receivers of flows.
#[derive(Clone, Debug)]
pub(crate) enum Receivers {
    /// Any other of this many hosts.
    Any(usize),
    /// Any in another rack; rack and pod of each host.
    OtherRacks(Arc<[(u32, u32)]>),
    /// By the sender.
    Permutation(Arc<[HostId]>),
}

impl PoissonFlows {
    pub(crate) fn new(times: PoissonTimes, senders: Vec<HostId>, to: Receivers, size: Sizes) -> PoissonFlows {
        let (_, random) = times.clone().count_and_rest();
        PoissonFlows { times, random, senders: senders.into(), to, size }
    }
}

impl Iterator for PoissonFlows {
    type Item = Flow;

    fn next(&mut self) -> Option<Flow> {
        let (start, random) = (self.times.next()?, &mut self.random);
        let src = self.senders[random.random_range(0..self.senders.len())];
        let dst = match &self.to {
            Receivers::Permutation(to) => to[src.index()],
            Receivers::OtherRacks(places) => random_in_other_rack(src, places, random),
            Receivers::Any(hosts) => random_other(*hosts, src, random),
        };
        Some(Flow::new((src, dst), Some(self.size.draw(random)), start))
    }
}

/// A uniformly random delay of at most `most`.
pub fn jitter(most: Time, random: &mut Stream) -> Time {
    Time(random.random_range(0..=most.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkpool_engine::stream;

    #[test]
    fn poisson_arrivals_have_the_rate_and_the_variance() {
        let drawn = PoissonTimes::new(1000.0, Time::ZERO, Time::from_secs(100), stream(7, "poisson", 0));
        let times: Vec<Time> = drawn.clone().collect();
        assert_eq!(drawn.count_and_rest().0, times.len());
        let n = times.len() as f64;
        assert!((n - 100_000.0).abs() < 4.0 * 100_000f64.sqrt(), "{n}");
        assert!(times.is_sorted());
        let gaps: Vec<f64> = times.windows(2).map(|w| (w[1] - w[0]).secs()).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.02);
    }

    #[test]
    fn an_arrival_at_the_end_is_none() {
        let draw = |stop| PoissonTimes::new(1000.0, Time::ZERO, stop, stream(7, "poisson", 0)).next();
        let first = draw(Time::MAX).unwrap();
        assert_eq!(draw(first), None);
        assert_eq!(draw(first + Time(1)), Some(first));
    }

    #[test]
    fn a_jitter_is_any_time_up_to_the_longest() {
        let mut random = stream(7, "jitter", 0);
        let mut found: Vec<Time> = (0..100).map(|_| jitter(Time(3), &mut random)).collect();
        found.sort_unstable();
        found.dedup();
        assert_eq!(found, [0, 1, 2, 3].map(Time));
    }
}
