//! The sender's knowledge from SACKs: which segments have arrived, which are lost, and which of the
//! lost ones have been sent again (RFC 6675, section 4).

use crate::options::AckOptions;
use crate::outstanding::{Mark, Sent};
use crate::path::Path;
use crate::reassembly::Reassembly;
use crate::reordering::Reordering;
use crate::sender::{Probation, Prr, Rack, Undo};
use crate::seq::Seq;
use crate::subflow::{FIRST_BYTE, Subflow};
use linkpool_units::Time;

/// Loss recovery by SACKs, of one subflow.
#[derive(Debug)]
pub(crate) struct Scoreboard {
    /// The receiver's view: all before `snd_una`, and the SACKed ranges.
    pub(crate) arrived: Reassembly,
    /// Of the segments in `sent`: SACKed; lost but not SACKed; sent again but not SACKed.
    pub(crate) sacked: u32,
    pub(crate) lost: u32,
    pub(crate) resent: u32,
    /// Before this position nothing waits to be sent again.
    wait_from: u64,
    /// Segments before this position that have not been SACKed are lost by RFC 6675's rule.
    lost_to: u64,
    /// The highest position that was retransmitted (HighRxt of RFC 6675).
    pub(crate) high_rxt: u64,
    /// RescueRxt of RFC 6675.
    pub(crate) rescue: Option<u64>,
    /// After a timeout, until the outstanding data of that time is acknowledged.
    pub(crate) in_loss: bool,
    pub(crate) undo: Option<Undo>,
    pub(crate) rack: Option<Rack>,
    pub(crate) prr: Prr,
    /// How late packets come, if the number of duplicate ACKs that mean a loss depends on it.
    pub(crate) reordering: Option<Box<Reordering>>,
    /// The information of the current ACK.
    pub(crate) told: Delivered,
}

/// The information of an ACK.
#[derive(Debug, Default)]
pub(crate) struct Delivered {
    /// Segments acknowledged cumulatively, and when the first of them was sent if none was sent
    /// twice.
    pub(crate) segments: u32,
    pub(crate) sent_at: Option<Time>,
    /// Segments that were not known to have arrived.
    pub(crate) fresh: u32,
    /// Of these, SACKed ones.
    pub(crate) sacked: u32,
    /// One of these had not been sent again, and was outstanding when recovery began or the timer
    /// expired.
    pub(crate) original: bool,
    /// One of these was sent before others that arrived before: packets have been reordered.
    pub(crate) reordered: bool,
    /// When the one sent last was sent, and where it ends; was it sent again?
    pub(crate) latest: Option<(Time, u64, bool)>,
    /// Has arrived twice (RFC 2883).
    pub(crate) duplicate: Option<(u64, u64)>,
}

impl Delivered {
    fn note(&mut self, segment: &Sent, end: u64, (highest, recover): (u64, u64)) {
        self.fresh += 1;
        self.original |= !segment.is(Mark::AGAIN) && end <= recover;
        self.reordered |= end < highest && !segment.is(Mark::AGAIN);
        if self.latest.is_none_or(|(at, last, _)| (segment.at(), end) > (at, last)) {
            self.latest = Some((segment.at(), end, segment.is(Mark::AGAIN)));
        }
    }
}

impl Scoreboard {
    pub(crate) fn new(rack: bool) -> Scoreboard {
        Scoreboard {
            arrived: Reassembly::new(FIRST_BYTE),
            sacked: 0,
            lost: 0,
            resent: 0,
            wait_from: 0,
            lost_to: 0,
            high_rxt: 0,
            rescue: None,
            in_loss: false,
            undo: None,
            rack: rack.then(Rack::default),
            prr: Prr::default(),
            reordering: None,
            told: Delivered::default(),
        }
    }

    /// F-RTO sends new data before it sends anything again.
    pub(crate) fn wants_new_data(&self) -> bool {
        self.in_loss && self.undo.as_ref().is_some_and(|u| u.probation == Probation::NewData)
    }

    /// The end of the SACKed data.
    pub(crate) fn highest(&self) -> u64 {
        self.arrived.ranges().last().map_or(self.arrived.next(), |(_, end)| *end)
    }

    /// `segment`, which ends at `end`, has arrived: how late?
    fn note_lateness(&mut self, segment: &Sent, end: u64) {
        if let Some(reordering) = &mut self.reordering {
            let beyond = self.arrived.ranges().iter().rev().take_while(|(start, _)| *start >= end);
            reordering.follow(segment, end, beyond.map(|(start, end)| end - start).sum());
        }
    }

    /// A segment has arrived, or no longer counts as arrived: its state is forgotten.
    fn forget(&mut self, segment: &mut Sent) {
        self.lost -= segment.is(Mark::LOST) as u32;
        self.resent -= segment.is(Mark::RESENT) as u32;
        segment.unmark(Mark::LOST);
        segment.unmark(Mark::RESENT);
    }

    /// Segments before this position that have not been SACKed are lost: `threshold` ranges, or
    /// more than `threshold - 1` segments of `mss`, were SACKed beyond it (IsLost of RFC 6675,
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

impl Subflow {
    /// SetPipe of RFC 6675, section 4: segments that are neither SACKed nor lost, and
    /// retransmissions.
    pub(crate) fn count_in_flight(&mut self) {
        if let Some(board) = &self.board {
            self.in_flight = self.sent.len() as u32 - board.sacked - board.lost + board.resent;
        }
    }

    /// The first segment that begins at `position` or beyond, by its place in `sent`.
    fn place(&self, path: &Path, position: u64) -> usize {
        if position <= path.snd_una {
            return 0;
        }
        // The one that holds the byte before begins before.
        let before = self.sent.partition_point(|segment| segment.end.near(path.snd_una) < position);
        self.sent.len().min(before + 1)
    }

    /// The segment that begins at `start`, by its place in `sent`.
    pub(crate) fn segment_at(&self, path: &Path, start: u64) -> Option<usize> {
        let place = self.place(path, start);
        (place < self.sent.len() && self.start_of(path, place) == start).then_some(place)
    }

    /// Update of RFC 6675, section 4: enters the data that an ACK acknowledges, all before `ack`
    /// and the blocks of its SACK option. Returns how many segments of these were new, how many
    /// bytes come before `ack`, and when the first of them was sent if none was sent twice.
    #[inline(never)]
    pub(crate) fn take_ack(&mut self, path: &mut Path, ack: u64, options: Option<&AckOptions>) -> (u32, Option<Time>) {
        let mut told = Delivered::default();
        let sack = options.map_or(&[][..], |o| o.sack.as_slice());
        let Some(mut board) = self.board.take() else {
            return (0, None);
        };
        let bounds = (board.highest(), self.recover);
        let before = path.snd_una;
        let mut again = false;
        while let Some(mut first) = self.sent.front().copied().filter(|s| s.end.near(path.snd_una) <= ack) {
            path.snd_una = first.end.near(path.snd_una);
            told.segments += 1;
            told.sent_at = told.sent_at.or(Some(first.at()));
            again |= first.is(Mark::AGAIN);
            if first.is(Mark::SACKED) {
                board.sacked -= 1;
            } else {
                told.note(&first, path.snd_una, bounds);
                board.note_lateness(&first, path.snd_una);
                board.forget(&mut first);
            }
            self.sent.pop_front();
        }
        told.sent_at = told.sent_at.filter(|_| !again);
        board.arrived.insert(before, path.snd_una);
        let near = |seq: Seq| seq.near(path.snd_una);
        for (i, (start, end)) in sack.iter().map(|(start, end)| (near(*start), near(*end))).enumerate() {
            // RFC 2883, section 4: the first block reports a duplicate if it lies below the ACK, or
            // within the second.
            let within = |(s, e): (Seq, Seq)| near(s) <= start && end <= near(e);
            if i == 0 && (end <= path.snd_una || sack.get(1).copied().is_some_and(within)) {
                told.duplicate = Some((start, end));
                board.reordering.iter_mut().for_each(|reordering| reordering.follow_duplicate(end));
            } else if start >= path.snd_una && end <= path.snd_nxt {
                self.take_block(path, &mut board, (start, end), bounds, &mut told);
            }
        }
        let summary = (told.fresh, told.sent_at);
        board.told = told;
        self.board = Some(board);
        self.count_in_flight();
        summary
    }

    fn take_block(
        &mut self,
        path: &Path,
        board: &mut Scoreboard,
        (start, end): (u64, u64),
        bounds: (u64, u64),
        told: &mut Delivered,
    ) {
        while let Some((from, to)) = board.arrived.first_gap(start, end) {
            let first = self.place(path, from);
            for segment in self.sent.range_mut(first..) {
                let end = segment.end.near(path.snd_una);
                if end > to {
                    break;
                }
                board.note_lateness(segment, end);
                board.forget(segment);
                segment.mark(Mark::SACKED);
                board.sacked += 1;
                told.sacked += 1;
                told.note(segment, end, bounds);
            }
            board.arrived.insert(from, to);
        }
    }

    /// Marks segments from `from` on as lost that have not arrived and for which `is_lost`, called
    /// with the begin and end of each, returns true, until it returns none.
    pub(crate) fn lose(&mut self, path: &Path, from: u64, mut is_lost: impl FnMut(&Sent, (u64, u64)) -> Option<bool>) {
        let first = self.place(path, from);
        let mut reached = self.start_of(path, first);
        let Some(board) = &mut self.board else { return };
        for segment in self.sent.range_mut(first..) {
            let start = std::mem::replace(&mut reached, segment.end.near(path.snd_una));
            if segment.is(Mark::SACKED) || segment.is(Mark::LOST) && !segment.is(Mark::RESENT) {
                continue;
            }
            match is_lost(segment, (start, reached)) {
                None => break,
                Some(false) => {}
                Some(true) => {
                    board.forget(segment);
                    segment.mark(Mark::LOST);
                    board.lost += 1;
                    board.wait_from = board.wait_from.min(start);
                }
            }
        }
        self.count_in_flight();
    }

    /// Sets how many duplicate ACKs mean a loss, if that depends on how late packets come.
    pub(crate) fn adapt_threshold(&mut self, path: &Path, limited_transmit: bool) {
        if let Some(reordering) = self.board.as_ref().and_then(|board| board.reordering.as_ref()) {
            self.dupack_threshold = reordering.threshold(path, self.sent.len(), limited_transmit);
        }
    }

    /// RFC 6675's rule finds losses.
    pub(crate) fn lose_by_sacks(&mut self, path: &Path, mss: u16) {
        let Some(board) = &mut self.board else { return };
        let to = board.lost_before(self.dupack_threshold, mss);
        let from = board.lost_to;
        if to <= from {
            return;
        }
        board.lost_to = to;
        self.lose(path, from, |s, (_, end)| (end <= to).then_some(!s.is(Mark::RESENT)));
    }

    /// A recovery begins by RFC 6675: data that an earlier recovery has sent again is lost like
    /// other data, and may be sent again (step 4.3: HighRxt is that of the first retransmission
    /// now, and so is RescueRxt, so that no rescue goes out before more than that is acknowledged).
    pub(crate) fn forget_retransmissions(&mut self, path: &Path, mss: u16) {
        let end = self.sent.front().map_or(path.snd_nxt, |first| first.end.near(path.snd_una));
        let Some(board) = self.board.as_mut().filter(|board| board.rack.is_none()) else { return };
        (board.high_rxt, board.rescue) = (end, Some(end));
        if board.resent > 0 {
            (board.resent, board.wait_from, board.lost_to) = (0, path.snd_una, 0);
            self.sent.range_mut(0..).for_each(|segment| segment.unmark(Mark::RESENT));
            self.lose_by_sacks(path, mss);
            self.count_in_flight();
        }
    }

    /// Nothing is lost after all.
    pub(crate) fn unlose(&mut self) {
        if let Some(board) = &mut self.board {
            self.sent.range_mut(0..).for_each(|segment| segment.unmark(Mark::LOST));
            board.lost = 0;
        }
        self.count_in_flight();
    }

    /// The first segment that is lost and has not been sent again (NextSeg of RFC 6675, section 4,
    /// rule 1).
    pub(crate) fn first_lost(&mut self, path: &Path) -> Option<usize> {
        let from = self.board.as_ref().filter(|b| b.lost > 0)?.wait_from;
        let first = self.place(path, from);
        let found = self.sent.range(first..).position(|s| s.is(Mark::LOST) && !s.is(Mark::RESENT)).map(|i| first + i);
        let wait_from = found.map_or(path.snd_nxt, |i| self.start_of(path, i));
        self.board.as_mut()?.wait_from = wait_from;
        found
    }

    /// Data that may be sent again if there is no better choice (NextSeg, rules 3 and 4): a segment
    /// that was not SACKed below one that was, or once in a recovery the last segment that was not
    /// SACKed.
    pub(crate) fn last_resort(&mut self, path: &Path, recover: u64) -> Option<usize> {
        let board = self.board.as_ref()?;
        let unknown = |i: &usize| !self.sent[*i].is(Mark::SACKED) && !self.sent[*i].is(Mark::RESENT);
        let below = self.place(path, board.high_rxt)..self.place(path, board.highest());
        if let Some(i) = below.into_iter().find(unknown) {
            let end = self.sent[i].end.near(path.snd_una);
            self.board.as_mut()?.high_rxt = end;
            return Some(i);
        }
        if board.rescue.is_some_and(|rescue| path.snd_una <= rescue) {
            return None;
        }
        let last = (0..self.sent.len()).rev().find(unknown)?;
        self.board.as_mut()?.rescue = Some(recover);
        Some(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(at_us: u64, end: u32) -> Sent {
        Sent::new(Time::from_us(at_us), Seq(end), Seq(0))
    }

    /// Of the segments that an ACK brings, RACK takes the one sent last (RFC 8985, section 6.2,
    /// step 2), wherever it stands.
    #[test]
    fn the_latest_is_the_one_sent_last() {
        let mut told = Delivered::default();
        for (at, end) in [(100, 1000), (200, 2000), (150, 3000)] {
            told.note(&sent(at, end), end as u64, (0, 0));
        }
        assert_eq!(told.latest, Some((Time::from_us(200), 2000, false)));
        assert_eq!(told.fresh, 3);
    }

    /// A segment that was sent once, and arrives below data that has arrived, was reordered. Of a
    /// segment that was sent again this is not known.
    #[test]
    fn reordered_is_what_was_sent_once_and_arrives_below_the_highest() {
        for (end, again, reordered) in [(1000, false, true), (1000, true, false), (3000, false, false)] {
            let (mut told, mut segment) = (Delivered::default(), sent(100, end));
            if again {
                segment.mark(Mark::AGAIN);
            }
            told.note(&segment, end as u64, (2000, 0));
            assert_eq!(told.reordered, reordered);
        }
    }

    /// F-RTO looks at data that was outstanding when the timer expired, up to `recover`, and was
    /// not sent again (RFC 5682, section 3.1, step 3b).
    #[test]
    fn original_is_what_was_outstanding_and_not_sent_again() {
        for (end, again, original) in [(2000, false, true), (2000, true, false), (2001, false, false)] {
            let (mut told, mut segment) = (Delivered::default(), sent(100, end));
            if again {
                segment.mark(Mark::AGAIN);
            }
            told.note(&segment, end as u64, (0, 2000));
            assert_eq!(told.original, original);
        }
    }
}
