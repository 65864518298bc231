//! What switches wrote on packets, from one answer to the next.

use linkpool_units::{Rate, Time};

/// The hops of a path for which there is room.
pub const MOST_HOPS: usize = 8;

/// What the port of a switch wrote on a packet as it began to send it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Hop {
    /// When.
    pub at: Time,
    /// Bytes that it had sent before.
    pub sent: u64,
    /// The rate of its link.
    pub rate: Rate,
    /// Bytes that the packet left behind.
    pub queue: u32,
    /// The number of the link.
    pub link: u32,
}

impl Hop {
    /// The rate of the link, bit/s.
    pub(super) fn line(&self) -> f64 {
        self.rate.0 as f64
    }

    /// The time since `before`, ps.
    pub(super) fn since(&self, before: &Hop) -> f64 {
        (self.at.0 - before.at.0) as f64
    }

    /// The rate at which the port sent since `before`, bit/s.
    pub(super) fn sending_rate(&self, before: &Hop) -> f64 {
        (self.sent - before.sent) as f64 * 8e12 / self.since(before)
    }
}

/// The records of the latest packet that an answer told of.
#[derive(Debug, Default)]
pub(super) struct Hops {
    hops: [Hop; MOST_HOPS],
    count: usize,
}

impl Hops {
    /// Calls `each` with the record before and the record of now of each hop, and returns true, if
    /// `hops` are later records of the same path. Those of another path are remembered (Li et al.,
    /// section 4.1), those of a packet that was overtaken are not. `latest`: later ones are, too; otherwise the
    /// first of a path stay.
    pub(super) fn compare(&mut self, hops: &[Hop], latest: bool, mut each: impl FnMut(&Hop, &Hop)) -> bool {
        let before = &self.hops[..self.count];
        let pairs = || before.iter().zip(hops);
        let same_path = before.len() == hops.len() && pairs().all(|(before, now)| before.link == now.link);
        if hops.is_empty() || hops.len() > MOST_HOPS || same_path && pairs().any(|(before, now)| now.at <= before.at) {
            return false;
        }
        if same_path {
            pairs().for_each(|(before, now)| each(before, now));
            if !latest {
                return true;
            }
        }
        self.hops[..hops.len()].copy_from_slice(hops);
        self.count = hops.len();
        same_path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hop(link: u32, us: u64) -> Hop {
        Hop { at: Time::from_us(us), link, ..Hop::default() }
    }

    /// The times between records that `hops` are compared with, in us; none: they are not compared.
    fn compare(state: &mut Hops, hops: &[Hop]) -> Option<Vec<f64>> {
        let mut times = Vec::new();
        let compared = state.compare(hops, true, |before, now| times.push(now.since(before) / 1e6));
        assert_eq!(compared, !times.is_empty());
        compared.then_some(times)
    }

    #[test]
    fn records_are_compared_with_the_latest_of_the_same_path() {
        let mut state = Hops::default();
        assert_eq!(compare(&mut state, &[]), None);
        assert_eq!(compare(&mut state, &[hop(1, 10), hop(2, 11)]), None);
        assert_eq!(compare(&mut state, &[hop(1, 12), hop(2, 14)]), Some(vec![2.0, 3.0]));
        // It was overtaken: the latest stay.
        assert_eq!(compare(&mut state, &[hop(1, 11), hop(2, 13)]), None);
        assert_eq!(compare(&mut state, &[hop(1, 13), hop(2, 14)]), None);
        assert_eq!(compare(&mut state, &[]), None);
        assert_eq!(compare(&mut state, &[hop(1, 13), hop(2, 15)]), Some(vec![1.0, 1.0]));
        // Another path, and a longer one.
        assert_eq!(compare(&mut state, &[hop(1, 14), hop(3, 16)]), None);
        assert_eq!(compare(&mut state, &[hop(1, 15), hop(3, 17)]), Some(vec![1.0, 1.0]));
        assert_eq!(compare(&mut state, &[hop(1, 16), hop(3, 18), hop(4, 19)]), None);
        assert_eq!(compare(&mut state, &[hop(1, 17), hop(3, 19), hop(4, 20)]), Some(vec![1.0; 3]));
        assert_eq!(compare(&mut state, &[Hop::default(); MOST_HOPS + 1]), None);
    }

    /// 5,000 B in 2 us are 20 Gbit/s.
    #[test]
    fn a_rate_is_bytes_by_time() {
        let (before, now) = (Hop { sent: 1_000, ..hop(1, 10) }, Hop { sent: 6_000, ..hop(1, 12) });
        assert_eq!(now.sending_rate(&before), 20e9);
    }
}
