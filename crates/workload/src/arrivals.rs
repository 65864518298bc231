use linkpool_engine::Stream;
use linkpool_units::Time;
use rand::Rng;
use rand_distr::{Distribution, Exp};

/// Arrival times of a Poisson process in `[start, stop)`.
pub fn poisson_times(per_second: f64, start: Time, stop: Time, random: &mut Stream) -> Vec<Time> {
    let gap = Exp::new(per_second).expect("a positive rate");
    let mut times = Vec::new();
    let mut at = start;
    loop {
        at = at.saturating_add(Time::from_secs_f64(gap.sample(random)));
        if at >= stop {
            return times;
        }
        times.push(at);
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
        let times = poisson_times(1000.0, Time::ZERO, Time::from_secs(100), &mut stream(7, "poisson", 0));
        let n = times.len() as f64;
        assert!((n - 100_000.0).abs() < 4.0 * 100_000f64.sqrt(), "{n}");
        assert!(times.is_sorted());
        let gaps: Vec<f64> = times.windows(2).map(|w| (w[1] - w[0]).secs()).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.02);
    }
}
