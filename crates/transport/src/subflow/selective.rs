//! Updates the scoreboard of a subflow and its outstanding segments by SACKs (RFC 6675, section 4).

use super::{Acknowledged, Subflow};
use crate::congestion::CongestionState;
use crate::loss::{Delivered, Scoreboard};
use crate::options::AckOptions;
use crate::outstanding::{Mark, Sent};
use crate::seq::Seq;
use linkpool_units::Time;

impl Subflow {
    /// SetPipe of RFC 6675, section 4: the number of segments that are neither SACKed nor lost,
    /// plus retransmissions.
    pub(crate) fn count_in_flight(&mut self) {
        if let Some(board) = &self.board {
            self.in_flight = self.sent.len() as u32 - board.sacked - board.lost + board.resent;
        }
    }

    /// The place in `sent` of the first segment that begins at `position` or later.
    fn place(&self, state: &CongestionState, position: u64) -> usize {
        if position <= state.snd_una {
            return 0;
        }
        // The segment that holds the byte before `position` begins before it.
        let before = self.sent.partition_point(|segment| segment.end.near(state.snd_una) < position);
        self.sent.len().min(before + 1)
    }

    /// The place in `sent` of the segment that begins at `start`.
    pub(crate) fn segment_at(&self, state: &CongestionState, start: u64) -> Option<usize> {
        let place = self.place(state, start);
        (place < self.sent.len() && self.start_of(state, place) == start).then_some(place)
    }

    /// Update of RFC 6675, section 4: enters the data that an ACK acknowledges, which is everything
    /// before `ack` and the blocks of its SACK option. The ACK may be an old one, which later ACKs
    /// have overtaken. Returns the segments that the ACK is the first to report, with the time at
    /// which the first segment acknowledged cumulatively was sent, if none of these was sent twice.
    #[inline(never)]
    pub(crate) fn take_ack(
        &mut self,
        state: &mut CongestionState,
        ack: u64,
        options: Option<&AckOptions>,
    ) -> Acknowledged {
        let mut told = Delivered::default();
        let sack = options.map_or(&[][..], |o| o.sack.as_slice());
        let Some(mut board) = self.board.take() else {
            return Acknowledged { segments: 0, sent_at: None, last_at: Time::ZERO };
        };
        let bounds = (board.highest(), self.recover);
        let before = state.snd_una;
        let mut again = false;
        while let Some(mut first) = self.sent.front().copied().filter(|s| s.end.near(state.snd_una) <= ack) {
            state.snd_una = first.end.near(state.snd_una);
            told.segments += 1;
            told.sent_at = told.sent_at.or(Some(first.at()));
            again |= first.is(Mark::AGAIN);
            if first.is(Mark::SACKED) {
                board.sacked -= 1;
            } else {
                told.note(&first, state.snd_una, bounds);
                board.note_lateness(&first, state.snd_una);
                board.forget(&mut first);
            }
            self.sent.pop_front();
        }
        told.sent_at = told.sent_at.filter(|_| !again);
        board.arrived.insert(before, state.snd_una);
        let near = |seq: Seq| seq.near(state.snd_una);
        for (i, (start, end)) in sack.iter().map(|(start, end)| (near(*start), near(*end))).enumerate() {
            // RFC 2883, section 4: the first block reports a duplicate if it is before the ACK, or
            // within the second block.
            let within = |(s, e): (Seq, Seq)| near(s) <= start && end <= near(e);
            if i == 0 && (end <= ack || sack.get(1).copied().is_some_and(within)) {
                told.duplicate = Some((start, end));
                board.reordering.iter_mut().for_each(|reordering| reordering.follow_duplicate(end));
            } else if start >= ack.min(state.snd_una) && end > state.snd_una && end <= state.snd_nxt {
                self.take_block(state, &mut board, (start.max(state.snd_una), end), bounds, &mut told);
            }
        }
        let summary = Acknowledged { segments: told.fresh, sent_at: told.sent_at, last_at: Time::ZERO };
        board.told = told;
        self.board = Some(board);
        self.count_in_flight();
        summary
    }

    fn take_block(
        &mut self,
        state: &CongestionState,
        board: &mut Scoreboard,
        (start, end): (u64, u64),
        bounds: (u64, u64),
        told: &mut Delivered,
    ) {
        while let Some((from, to)) = board.arrived.first_gap(start, end) {
            let first = self.place(state, from);
            for segment in self.sent.range_mut(first..) {
                let end = segment.end.near(state.snd_una);
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

    /// Marks segments as lost, from `from` on: segments that have not arrived and for which
    /// `is_lost` (called with start and end) returns `Some(true)`. Ends when it returns `None`.
    pub(crate) fn lose(
        &mut self,
        state: &CongestionState,
        from: u64,
        mut is_lost: impl FnMut(&Sent, (u64, u64)) -> Option<bool>,
    ) {
        let first = self.place(state, from);
        let mut reached = self.start_of(state, first);
        let Some(board) = &mut self.board else { return };
        for segment in self.sent.range_mut(first..) {
            let start = std::mem::replace(&mut reached, segment.end.near(state.snd_una));
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
                    board.losses += 1;
                    board.wait_from = board.wait_from.min(start);
                }
            }
        }
        self.count_in_flight();
    }

    /// Sets the duplicate-ACK threshold, if it depends on how late packets arrive.
    pub(crate) fn adapt_threshold(&mut self, state: &CongestionState, limited_transmit: bool) {
        if let Some(reordering) = self.board.as_ref().and_then(|board| board.reordering.as_ref()) {
            self.dupack_threshold = reordering.threshold(state, self.sent.len(), limited_transmit);
        }
    }

    /// Marks losses by RFC 6675's rule.
    pub(crate) fn lose_by_sacks(&mut self, state: &CongestionState, mss: u16) {
        let Some(board) = &mut self.board else { return };
        let to = board.lost_before(self.dupack_threshold, mss);
        let from = board.lost_to;
        if to <= from {
            return;
        }
        board.lost_to = to;
        self.lose(state, from, |s, (_, end)| (end <= to).then_some(!s.is(Mark::RESENT)));
    }

    /// Begins a recovery by RFC 6675. Data that an earlier recovery has sent again counts like
    /// other data, and may be sent again. In step 4.3 HighRxt and RescueRxt become the end of the
    /// first retransmission, so no rescue is sent before later data is acknowledged.
    pub(crate) fn forget_retransmissions(&mut self, state: &CongestionState, mss: u16) {
        let end = self.sent.front().map_or(state.snd_nxt, |first| first.end.near(state.snd_una));
        let Some(board) = self.board.as_mut().filter(|board| board.rack.is_none()) else { return };
        (board.high_rxt, board.rescue) = (end, Some(end));
        if board.resent > 0 {
            (board.resent, board.wait_from, board.lost_to) = (0, state.snd_una, 0);
            self.sent.range_mut(0..).for_each(|segment| segment.unmark(Mark::RESENT));
            self.lose_by_sacks(state, mss);
            self.count_in_flight();
        }
    }

    /// Removes all marks of loss, since no segment was lost.
    pub(crate) fn unlose(&mut self) {
        if let Some(board) = &mut self.board {
            self.sent.range_mut(0..).for_each(|segment| segment.unmark(Mark::LOST));
            board.lost = 0;
        }
        self.count_in_flight();
    }

    /// The first lost segment that has not been sent again (NextSeg of RFC 6675, section 4, rule
    /// 1).
    pub(crate) fn first_lost(&mut self, state: &CongestionState) -> Option<usize> {
        let from = self.board.as_ref().filter(|b| b.lost > 0)?.wait_from;
        let first = self.place(state, from);
        let found = self.sent.range(first..).position(|s| s.is(Mark::LOST) && !s.is(Mark::RESENT)).map(|i| first + i);
        let wait_from = found.map_or(state.snd_nxt, |i| self.start_of(state, i));
        self.board.as_mut()?.wait_from = wait_from;
        found
    }

    /// A segment that may be sent again if there is no better choice: a segment without a SACK
    /// before one with a SACK (NextSeg, rule 3), or, once in a recovery, the last segment without a
    /// SACK (rule 4).
    pub(crate) fn last_resort(&mut self, state: &CongestionState, recover: u64) -> Option<usize> {
        let board = self.board.as_ref()?;
        let unknown = |i: &usize| !self.sent[*i].is(Mark::SACKED) && !self.sent[*i].is(Mark::RESENT);
        let below = self.place(state, board.high_rxt)..self.place(state, board.highest());
        if let Some(i) = below.into_iter().find(unknown) {
            let end = self.sent[i].end.near(state.snd_una);
            self.board.as_mut()?.high_rxt = end;
            return Some(i);
        }
        if board.rescue.is_some_and(|rescue| state.snd_una <= rescue) {
            return None;
        }
        let last = (0..self.sent.len()).rev().find(unknown)?;
        self.board.as_mut()?.rescue = Some(recover);
        Some(last)
    }
}
