//! Loss recovery by SACKs (RFC 6675). RFC 6675's own rule or RACK detects the losses.

use super::Recovery;
use crate::control::CongestionControl;
use crate::loss::{Probation, Prr, Rack, Undo};
use crate::segment::Output;
use linkpool_units::Time;

impl Recovery<'_> {
    /// Acts on an ACK that the scoreboard of subflow `s` has already taken. Returns by how many
    /// segments the window may grow.
    #[inline(never)]
    pub(in crate::sender) fn on_selective_ack(&mut self, now: Time, out: &mut impl Output) -> u32 {
        let subflow = &mut *self.subflow;
        let Some(board) = &subflow.board else { return 0 };
        let told = board.told;
        if told.segments > 0 {
            subflow.dupacks = 0;
        }
        subflow.dupacks += (told.sacked > 0) as u32; // RFC 6675, section 2, "duplicate acknowledgment"
        self.follow_rack(&told, now);
        self.follow_duplicate(&told);
        self.follow_probation(&told);
        let was_in_recovery = self.states[self.s].in_recovery;
        self.leave_recovery();
        let losses = self.subflow.board.as_ref().map_or(0, |board| board.losses);
        let again = self.find_losses(now);
        let (state, subflow) = (&self.states[self.s], &mut *self.subflow);
        let Some(board) = &mut subflow.board else { return 0 };
        let mut grown = 0;
        let lost = board.lost > 0 || board.rack.is_none() && subflow.dupacks >= subflow.dupack_threshold;
        if state.in_recovery {
            let safe = told.segments > 0 && board.losses == losses;
            self.reduce(told.fresh, safe);
        } else if lost && !board.in_loss {
            self.enter_recovery(told.fresh, now, out);
        } else if !was_in_recovery && told.segments > 0 {
            // Segments that were SACKed before do not count again: not after a timeout, and not
            // with byte counting (as Linux counts them, `tcp_cong_avoid`).
            grown = if board.in_loss || self.config.byte_counting { told.fresh } else { told.segments };
        }
        let progress = if self.subflow.has_rack() { told.fresh } else { told.segments };
        if progress > 0 {
            self.arm_timer(now, out);
        }
        self.await_reordered(again, now, out);
        grown
    }

    /// Marks segments that are now lost. Returns the time after which RACK checks again.
    fn find_losses(&mut self, now: Time) -> Option<Time> {
        if self.subflow.has_rack() {
            return self.lose_by_time(now);
        }
        let (state, subflow) = (&self.states[self.s], &mut *self.subflow);
        subflow.adapt_threshold(state, self.config.limited_transmit);
        subflow.lose_by_sacks(state, self.config.mss);
        None
    }

    /// Begins a recovery, since segments are lost; an ACK that reports `fresh` segments as
    /// delivered says so, or RACK's timer.
    pub(super) fn enter_recovery(&mut self, fresh: u32, now: Time, out: &mut impl Output) {
        let (state, subflow) = (&self.states[self.s], &mut *self.subflow);
        let flight = subflow.flight(state);
        if subflow.has_rack() {
            self.begin_recovery(flight, now);
            self.reduce(fresh, false);
            return self.set_timeout(now, out);
        }
        // RFC 6675, section 5, step 4. The first is "presumed dropped".
        let first = state.snd_una;
        subflow.lose(state, first, |_, (start, _)| (start == first).then_some(true));
        self.begin_recovery(flight, now);
        let (state, subflow) = (&self.states[self.s], &mut *self.subflow);
        subflow.forget_retransmissions(state, self.config.mss);
        if let Some(first) = subflow.first_lost(state) {
            self.send_again(first, now, out); // step 4.3, whatever the window
        }
        self.set_timeout(now, out);
    }

    /// The window of a recovery by RACK, after an ACK that reports `fresh` segments as delivered. An ACK
    /// that reports no segment leaves it.
    fn reduce(&mut self, fresh: u32, safe: bool) {
        if fresh > 0 {
            self.reduce_in_proportion(fresh, safe);
        }
    }

    /// The window of a recovery by RACK, after `fresh` segments have been delivered (RFC 9937).
    pub(super) fn reduce_in_proportion(&mut self, fresh: u32, safe: bool) {
        let owned = self.control.owns_window(self.s);
        let (state, subflow) = self.parts();
        let Some(board) = subflow.board.as_mut().filter(|board| board.rack.is_some() && !owned) else { return };
        let more = board.prr.allowance(subflow.in_flight, state.ssthresh, fresh, subflow.segments, safe);
        state.cwnd = (subflow.in_flight + more).max(1) as f64;
    }

    /// Cuts the window for losses among the `flight` segments outstanding (RFC 6675, section 5,
    /// steps 4.1 and 4.2).
    pub(super) fn begin_recovery(&mut self, flight: u32, now: Time) {
        let (state, subflow) = (&self.states[self.s], &mut *self.subflow);
        subflow.recover = state.snd_nxt;
        subflow.counts.recoveries += 1;
        if let Some(board) = &mut subflow.board {
            board.undo = self.config.undo.then(|| Undo::new(state, Probation::None));
            (board.high_rxt, board.rescue) = (0, None);
            (board.in_loss, board.cut_at) = (false, now);
            board.prr = Prr { flight: flight.max(1), delivered: 0, sent_before: subflow.segments };
            board.rack.iter_mut().for_each(Rack::forget_probe);
        }
        let ssthresh = self.control.ssthresh(self.states, self.s, flight);
        let state = &mut self.states[self.s];
        (state.in_recovery, state.ssthresh, state.cwnd) = (true, ssthresh, ssthresh);
    }

    /// Ends recovery. All data that was outstanding at its begin, or at the timeout, is
    /// acknowledged (RFC 6675, section 5).
    fn leave_recovery(&mut self) {
        let owned = self.control.owns_window(self.s);
        let (state, subflow) = self.parts();
        let Some(board) = &mut subflow.board else { return };
        if state.snd_una < subflow.recover || !(state.in_recovery || board.in_loss) {
            return;
        }
        if state.in_recovery && board.rack.is_some() && !owned {
            state.cwnd = state.ssthresh; // RFC 9937
        }
        (state.in_recovery, board.in_loss) = (false, false);
        board.rack.iter_mut().for_each(|rack| rack.leave_recovery());
    }

    /// After a timeout, outstanding data counts as lost, and slow start sends it again. RACK
    /// excepts data that was sent too recently (RFC 8985, section 6.3).
    pub(super) fn enter_loss(&mut self, now: Time) {
        let (state, subflow) = self.parts();
        let Some(board) = &mut subflow.board else { return };
        (board.in_loss, board.cut_at) = (true, now);
        board.rescue = None;
        board.rack.iter_mut().for_each(Rack::forget_probe);
        let reach = board.rack.as_ref().map(|rack| rack.reach());
        let first = state.snd_una;
        subflow.lose(state, first, |segment, (start, _)| {
            Some(start == first || reach.is_none_or(|reach| segment.at() + reach <= now))
        });
        subflow.recover = state.snd_nxt;
    }
}
