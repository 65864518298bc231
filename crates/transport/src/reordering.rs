//! The lateness of reordered packets, and the number of duplicate ACKs for which to wait: RR-TCP
//! (Zhang, Karp, Floyd, Peterson, "RR-TCP: A Reordering-Robust TCP with DSACK", ICNP 2003), with a
//! fixed ratio of avoided false fast retransmits (its DSACK-FA).

use crate::congestion::CongestionState;
use crate::outstanding::{Mark, Sent};
use std::collections::VecDeque;

/// The threshold is high enough for nine of ten late packets (the FA ratio).
const AVOIDED: (usize, usize) = (9, 10);
/// Number of late packets that are remembered.
const REMEMBERED: usize = 1000;
/// The least threshold (RFC 5681, section 3.2).
const LEAST: u32 = 3;

/// The reordering lengths of a subflow. The length of a late segment is the number of later
/// segments that arrived before it.
#[derive(Debug)]
pub(crate) struct Reordering {
    mss: u64,
    /// The last lengths, the oldest first.
    lengths: VecDeque<u32>,
    /// Number of remembered late segments by length.
    counts: Vec<usize>,
    /// The least threshold above enough of the lengths, and the number of lengths below it.
    above: usize,
    below: usize,
    /// Retransmitted segments that have arrived: the end of each, and its length. D-SACKs will show
    /// which of them were only late.
    doubtful: VecDeque<(u64, u32)>,
}

impl Reordering {
    pub(crate) fn new(mss: u16) -> Reordering {
        Reordering {
            mss: mss as u64,
            lengths: VecDeque::new(),
            counts: Vec::new(),
            above: 0,
            below: 0,
            doubtful: VecDeque::new(),
        }
    }

    /// `segment`, which ends at `end`, has arrived after `bytes` of later data.
    pub(crate) fn follow(&mut self, segment: &Sent, end: u64, bytes: u64) {
        let length = bytes.div_ceil(self.mss) as u32;
        if length == 0 {
            return;
        }
        if segment.is(Mark::AGAIN) {
            // It is not known whether the first transmission has arrived, or the retransmission.
            self.doubtful.push_back((end, length));
            if self.doubtful.len() > REMEMBERED {
                self.doubtful.pop_front();
            }
        } else {
            self.note(length);
        }
    }

    /// A D-SACK reports that both copies of the segment that ends at `end` have arrived.
    pub(crate) fn follow_duplicate(&mut self, end: u64) {
        if let Some(i) = self.doubtful.iter().position(|(doubtful, _)| *doubtful == end) {
            let (_, length) = self.doubtful.remove(i).unwrap_or_default();
            self.note(length);
        }
    }

    /// A segment was late by `length`.
    fn note(&mut self, length: u32) {
        let length = length as usize;
        self.lengths.push_back(length as u32);
        if self.counts.len() <= length {
            self.counts.resize(length + 1, 0);
        }
        self.counts[length] += 1;
        self.below += (length < self.above) as usize;
        if self.lengths.len() > REMEMBERED {
            let oldest = self.lengths.pop_front().unwrap_or_default() as usize;
            self.counts[oldest] -= 1;
            self.below -= (oldest < self.above) as usize;
        }
        let enough = (self.lengths.len() * AVOIDED.0).div_ceil(AVOIDED.1);
        while self.below < enough {
            self.below += self.counts[self.above];
            self.above += 1;
        }
        while self.below - self.counts[self.above - 1] >= enough {
            self.above -= 1;
            self.below -= self.counts[self.above];
        }
    }

    /// The duplicate-ACK threshold of a subflow with `outstanding` segments: as many as the late
    /// packets require, but no more than a loss causes. With more, the sender would wait for a
    /// timeout. A loss causes one duplicate ACK for each other outstanding segment, of a window and
    /// of the segments that `limited_transmit` sends in the next round (RR-TCP: a window more).
    pub(crate) fn threshold(&self, state: &CongestionState, outstanding: usize, limited_transmit: bool) -> u32 {
        let windows = if limited_transmit { 2.0 } else { 1.0 };
        let most = (outstanding as u32).min((windows * state.cwnd) as u32).saturating_sub(1);
        (self.above as u32).min(most).max(LEAST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn above(lengths: impl IntoIterator<Item = u32>) -> usize {
        let mut reordering = Reordering::new(1000);
        lengths.into_iter().for_each(|length| reordering.note(length));
        reordering.above
    }

    /// It is one more than the length that nine in ten do not exceed.
    #[test]
    fn is_above_nine_in_ten() {
        assert_eq!(above([]), 0);
        assert_eq!(above([4]), 5);
        assert_eq!(above(1..=10), 10);
        assert_eq!(above((1..=10).rev()), 10);
        assert_eq!(above(1..=100), 91);
        assert_eq!(above([50, 1, 1, 1, 1, 1, 1, 1, 1]), 51); // eight in nine are less than nine in ten
        assert_eq!(above([50, 1, 1, 1, 1, 1, 1, 1, 1, 1]), 2);
    }

    /// The threshold is right for any lengths in any order.
    #[test]
    fn is_what_sorting_gives() {
        let mut seed = 1u64;
        let mut reordering = Reordering::new(1000);
        let mut all = Vec::new();
        for _ in 0..3000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let length = 1 + (seed >> 33) as u32 % 60 * (1 + (seed >> 60) as u32);
            reordering.note(length);
            all.push(length);
            let mut last = all[all.len().saturating_sub(REMEMBERED)..].to_vec();
            last.sort_unstable();
            let least = last[(last.len() * 9).div_ceil(10) - 1];
            assert_eq!(reordering.above as u32, least + 1);
        }
    }

    #[test]
    fn what_came_long_ago_is_forgotten() {
        assert_eq!(above(std::iter::repeat_n(40, 1000).chain(std::iter::repeat_n(2, 899))), 41);
        assert_eq!(above(std::iter::repeat_n(40, 1000).chain(std::iter::repeat_n(2, 900))), 3);
    }

    fn state(cwnd: f64) -> CongestionState {
        CongestionState {
            cwnd,
            ssthresh: 5.0,
            srtt: 0.0,
            snd_una: 1,
            snd_nxt: 1,
            cut_until: 0,
            established: true,
            in_recovery: false,
            hops: 0,
        }
    }

    #[test]
    fn is_no_more_than_a_loss_brings_about() {
        let mut reordering = Reordering::new(1000);
        reordering.note(29);
        assert_eq!(reordering.threshold(&state(20.0), 100, true), 30);
        assert_eq!(reordering.threshold(&state(20.0), 100, false), 19);
        assert_eq!(reordering.threshold(&state(10.5), 100, true), 20);
        assert_eq!(reordering.threshold(&state(20.0), 12, true), 11);
        assert_eq!(reordering.threshold(&state(20.0), 2, true), 3);
    }

    #[test]
    fn is_three_at_least() {
        let mut reordering = Reordering::new(1000);
        assert_eq!(reordering.threshold(&state(20.0), 100, true), 3);
        reordering.note(1);
        assert_eq!(reordering.threshold(&state(20.0), 100, true), 3);
    }

    /// The oldest of 1,001 lengths is forgotten even if it decides the threshold. With 900 ones and
    /// 100 fives, two is above nine in ten.
    #[test]
    fn the_deciding_length_is_forgotten_too() {
        let mut reordering = Reordering::new(1000);
        let lengths = [2].into_iter().chain([1; 900]).chain([5; 100]);
        lengths.for_each(|length| reordering.note(length));
        assert_eq!((reordering.lengths.len(), reordering.above, reordering.below), (1000, 2, 900));
    }

    /// The last 1,000 retransmitted segments are remembered until a D-SACK arrives.
    #[test]
    fn a_thousand_doubtful_segments_are_remembered() {
        let mut reordering = Reordering::new(1000);
        let mut segment = Sent::new(linkpool_units::Time(1), crate::seq::Seq(0), crate::seq::Seq(0));
        segment.mark(Mark::AGAIN);
        (1..=1001).for_each(|n| reordering.follow(&segment, 1000 * n, 4000));
        reordering.follow_duplicate(1000); // the first: forgotten
        assert_eq!(reordering.above, 0);
        reordering.follow_duplicate(2000);
        assert_eq!(reordering.above, 5);
    }
}
