//! Workloads: who sends how much to whom, and when.

use linkpool_engine::Stream;
use linkpool_units::Time;
use rand::Rng;
use rand::seq::SliceRandom;
use rand_distr::{Distribution, Exp};

/// One flow that will be asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flow {
    /// Sending host.
    pub src: u16,
    /// Receiving host; not `src`.
    pub dst: u16,
    /// Payload in bytes; none: without end.
    pub size: Option<u64>,
    /// When it is asked for.
    pub start: Time,
    /// When it stops sending new data; [`Time::MAX`]: never.
    pub stop: Time,
    /// Number of its burst, 0 if there are none.
    pub burst: u32,
}

/// `bursts` bursts `every` apart, the first at `start`; in each, one flow of `size` bytes from every sender to
/// `receiver`, `spacing` apart.
pub fn incast(
    senders: &[u16],
    receiver: u16,
    size: u64,
    (start, every, bursts): (Time, Time, u32),
    spacing: Time,
) -> Vec<Flow> {
    let burst = |b: u32| {
        senders.iter().enumerate().map(move |(i, src)| Flow {
            src: *src,
            dst: receiver,
            size: Some(size),
            start: start + every * b as u64 + spacing * i as u64,
            stop: Time::MAX,
            burst: b,
        })
    };
    (0..bursts).flat_map(burst).collect()
}

/// A permutation without fixed points, uniform among them: host i sends to entry i.
///
/// # Panics
/// With fewer than 2 hosts, which have none.
pub fn permutation(hosts: u16, random: &mut Stream) -> Vec<u16> {
    assert!(hosts >= 2, "one host cannot send to another");
    let mut to: Vec<u16> = (0..hosts).collect();
    // About one permutation in e has no fixed point, so this ends soon.
    loop {
        to.shuffle(random);
        if to.iter().enumerate().all(|(from, to)| from != *to as usize) {
            return to;
        }
    }
}

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

/// Two distinct hosts, uniformly.
pub fn random_pair(hosts: u16, random: &mut Stream) -> (u16, u16) {
    let src = random.random_range(0..hosts);
    let dst = random.random_range(0..hosts - 1);
    (src, if dst >= src { dst + 1 } else { dst })
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
    fn bursts_start_when_they_should() {
        let flows = incast(&[0, 1, 2], 9, 1000, (Time::from_ms(1), Time::from_secs(1), 2), Time::from_us(50));
        assert_eq!(flows.len(), 6);
        assert_eq!((flows[5].src, flows[5].burst), (2, 1));
        assert_eq!(flows[5].start, Time::from_ms(1) + Time::from_secs(1) + Time::from_us(100));
    }

    #[test]
    fn a_permutation_sends_to_everyone_once_and_never_to_itself() {
        for seed in 0..50 {
            let mut to = permutation(17, &mut stream(seed, "permutation", 0));
            assert!(to.iter().enumerate().all(|(i, t)| i as u16 != *t));
            to.sort_unstable();
            assert!(to.iter().enumerate().all(|(i, t)| i as u16 == *t));
        }
    }

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

    #[test]
    fn pairs_are_distinct_and_cover_all() {
        let mut random = stream(3, "pairs", 0);
        let mut seen = [[false; 5]; 5];
        for _ in 0..1000 {
            let (a, b) = random_pair(5, &mut random);
            seen[a as usize][b as usize] = true;
        }
        for (a, row) in seen.iter().enumerate() {
            for (b, s) in row.iter().enumerate() {
                assert_eq!(*s, a != b);
            }
        }
    }
}
