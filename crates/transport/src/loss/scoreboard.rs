//! The sender's knowledge from SACKs: which segments have arrived, are lost, or have been sent
//! again (RFC 6675, section 4).

use super::{Delivered, Probation, Prr, Rack, Undo};
use crate::outstanding::{Mark, Sent};
use crate::reassembly::Reassembly;
use crate::reordering::Reordering;
use crate::seq::FIRST_BYTE;
use linkpool_units::Time;

/// The state of loss recovery by SACKs on one subflow.
#[derive(Debug)]
pub(crate) struct Scoreboard {
    /// The data that has arrived at the receiver: everything before `snd_una`, and the SACKed
    /// ranges.
    pub(crate) arrived: Reassembly,
    /// Numbers of segments in `sent`: SACKed; lost and not SACKed; sent again and not SACKed.
    pub(crate) sacked: u32,
    pub(crate) lost: u32,
    pub(crate) resent: u32,
    /// Number of losses detected so far; a segment may be lost several times.
    pub(crate) losses: u64,
    /// No segment before this position waits to be sent again.
    pub(crate) wait_from: u64,
    /// Segments before this position that have not been SACKed are lost by RFC 6675's rule.
    pub(crate) lost_to: u64,
    /// No segment that ends beyond this position has been sent again.
    pub(crate) again_to: u64,
    /// The highest position that was retransmitted (HighRxt of RFC 6675).
    pub(crate) high_rxt: u64,
    /// RescueRxt of RFC 6675.
    pub(crate) rescue: Option<u64>,
    /// Has a timeout occurred, and is data that was outstanding then not acknowledged yet?
    pub(crate) in_loss: bool,
    /// The time of the last cut for losses, or of the last timeout; 0 if it was undone.
    pub(crate) cut_at: Time,
    pub(crate) undo: Option<Undo>,
    pub(crate) rack: Option<Rack>,
    pub(crate) prr: Prr,
    /// How late packets arrive, if the duplicate-ACK threshold depends on it.
    pub(crate) reordering: Option<Box<Reordering>>,
    /// The information of the current ACK.
    pub(crate) told: Delivered,
}

impl Scoreboard {
    pub(crate) fn new(rack: bool) -> Scoreboard {
        Scoreboard {
            arrived: Reassembly::new(FIRST_BYTE),
            sacked: 0,
            lost: 0,
            resent: 0,
            losses: 0,
            wait_from: 0,
            lost_to: 0,
            again_to: 0,
            high_rxt: 0,
            rescue: None,
            in_loss: false,
            cut_at: Time::ZERO,
            undo: None,
            rack: rack.then(Rack::default),
            prr: Prr::default(),
            reordering: None,
            told: Delivered::default(),
        }
    }

    /// Do all segments before `snd_una` have arrived, none after it, and is none after it lost or
    /// sent again? `first` is the first of them, and ends at `end`.
    #[inline]
    pub(crate) fn is_calm(&self, snd_una: u64, first: &Sent, end: u64) -> bool {
        (self.sacked | self.lost | u32::from(self.in_loss)) == 0
            && self.again_to <= snd_una
            && self.arrived.next() == snd_una
            && !self.arrived.has_gap()
            && self.undo.as_ref().is_none_or(|undo| undo.probation != Probation::NewData)
            && self.rack.as_ref().is_none_or(|rack| !rack.probe_repeats() && !rack.sent_after(first, end))
    }

    /// Does F-RTO want new data to be sent before any retransmission?
    pub(crate) fn wants_new_data(&self) -> bool {
        self.in_loss && self.undo.as_ref().is_some_and(|u| u.probation == Probation::NewData)
    }

    /// The end of the SACKed data.
    pub(crate) fn highest(&self) -> u64 {
        self.arrived.ranges().last().map_or(self.arrived.next(), |(_, end)| *end)
    }

    /// Records how late `segment`, which ends at `end`, has arrived.
    pub(crate) fn note_lateness(&mut self, segment: &Sent, end: u64) {
        if let Some(reordering) = &mut self.reordering {
            let beyond = self.arrived.ranges().iter().rev().take_while(|(start, _)| *start >= end);
            reordering.follow(segment, end, beyond.map(|(start, end)| end - start).sum());
        }
    }

    /// Removes a segment from the counts, since it has arrived or no longer counts as arrived.
    pub(crate) fn forget(&mut self, segment: &mut Sent) {
        self.lost -= segment.is(Mark::LOST) as u32;
        self.resent -= segment.is(Mark::RESENT) as u32;
        segment.unmark(Mark::LOST);
        segment.unmark(Mark::RESENT);
    }

    /// Returns the position before which segments that are not SACKed are lost: `threshold` ranges,
    /// or more than `threshold - 1` segments of `mss`, are SACKed beyond it (IsLost of RFC 6675,
    /// section 4).
    pub(crate) fn lost_before(&self, threshold: u32, mss: u16) -> u64 {
        let enough = threshold.saturating_sub(1) as u64 * mss as u64;
        let mut bytes = 0;
        for (ranges, (start, end)) in (1..).zip(self.arrived.ranges().iter().rev()) {
            bytes += end - start;
            if bytes > enough || ranges >= threshold {
                return *start;
            }
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seq::Seq;

    /// With a threshold of 3 and segments of 1,000 B: three ranges, or more than 2,000 B (RFC 6675, section 4).
    #[test]
    fn three_ranges_or_more_than_two_segments_beyond_are_a_loss() {
        let before = |ranges: &[(u64, u64)]| {
            let mut board = Scoreboard::new(false);
            ranges.iter().for_each(|(start, end)| _ = board.arrived.insert(*start, *end));
            board.lost_before(3, 1_000)
        };
        let one_byte_each = [(3_000, 3_001), (5_000, 5_001), (7_000, 7_001), (9_000, 9_001)];
        assert_eq!([2, 3, 4].map(|n| before(&one_byte_each[..n])), [0, 3_000, 5_000]);
        assert_eq!([2_000, 2_001].map(|len| before(&[(5_000, 5_000 + len)])), [0, 5_000]);
        assert_eq!([1_000, 1_001].map(|len| before(&[(3_000, 4_000), (5_000, 5_000 + len)])), [0, 3_000]);
    }

    /// What was sent again and has arrived is as what was sent once.
    #[test]
    fn a_board_is_calm_once_all_that_was_sent_again_has_arrived() {
        let first = Sent::new(Time::from_us(1), Seq(0), Seq(0));
        let calm = [0, 1, 2].map(|beyond| {
            let mut board = Scoreboard::new(true);
            board.arrived.insert(FIRST_BYTE, 1_000);
            board.again_to = 999 + beyond;
            board.is_calm(1_000, &first, 2_000)
        });
        assert_eq!(calm, [true, true, false]);
    }
}
