//! How long it takes from a BPF event to its effect.

use rustix::time::{ClockId, clock_gettime};
use std::fmt;

/// Latencies, in microseconds.
#[derive(Clone, Debug, Default)]
pub struct Latency {
    samples: Vec<f64>,
}

/// Samples kept: a daemon that runs for months needs no more.
const MOST: usize = 100_000;

impl Latency {
    /// An event of this time (nanoseconds of CLOCK_MONOTONIC) has had its effect now.
    pub(super) fn note(&mut self, time: u64) {
        let now = clock_gettime(ClockId::Monotonic);
        let now = now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64;
        if self.samples.len() < MOST {
            self.samples.push(now.saturating_sub(time) as f64 / 1e3);
        }
    }

    /// How many.
    pub fn count(&self) -> usize {
        self.samples.len()
    }

    /// The value that a fraction `q` of the samples does not exceed; `None` without samples.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        let mut sorted = self.samples.clone();
        sorted.sort_by(f64::total_cmp);
        let at = (q * (sorted.len().checked_sub(1)?) as f64).round() as usize;
        sorted.get(at).copied()
    }
}

impl fmt::Display for Latency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.quantile(0.5), self.quantile(0.99), self.quantile(1.0)) {
            (Some(median), Some(high), Some(most)) => {
                write!(f, "median {median:.0} us, 99% {high:.0} us, most {most:.0} us, of {}", self.samples.len())
            }
            _ => f.write_str("none"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles() {
        let latency = Latency { samples: vec![3.0, 1.0, 2.0] };
        assert_eq!(
            (latency.quantile(0.0), latency.quantile(0.5), latency.quantile(1.0)),
            (Some(1.0), Some(2.0), Some(3.0))
        );
        assert_eq!(latency.to_string(), "median 2 us, 99% 3 us, most 3 us, of 3");
        assert_eq!(Latency::default().to_string(), "none");
    }
}
