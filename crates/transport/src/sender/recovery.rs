//! The effect of an ACK on a subflow, and fast retransmit and fast recovery of Reno (RFC 5681) and NewReno
//! (RFC 6582).

use super::usage::fills_window;
use super::{Sender, SenderState};
use crate::config::LossRecovery;
use crate::congestion::CongestionState;
use crate::control::{Ack, CongestionControl, Control};
use crate::id::SubflowId;
use crate::options::AckOptions;
use crate::outstanding::Mark;
use crate::segment::{Output, Segment};
use crate::seq::Seq;
use crate::subflow::State;
use linkpool_units::Time;

impl Sender {
    pub(super) fn on_ack(
        &mut self,
        s: SubflowId,
        (ack, data_ack, ece): (Seq, Seq, bool),
        options: Option<&AckOptions>,
        now: Time,
        out: &mut impl Output,
    ) {
        self.data_una = self.data_una.max(data_ack.near(self.data_una));
        if self.limited {
            self.set_limit();
        }
        let (state, subflow) = (&mut self.states[s], &mut self.subflows[s]);
        if subflow.state != State::Established {
            if subflow.state == State::Confirming {
                self.on_confirmed(s, now, out);
            }
            return;
        }
        let ack = ack.near(state.snd_una);
        if ack < state.snd_una {
            return self.on_old_ack(s, ack, options, now, out);
        }
        let (was_in_flight, timeouts) = (subflow.in_flight, subflow.timeouts);
        let selective = subflow.board.is_some();
        let told = if selective {
            subflow.take_ack(state, ack, options)
        } else {
            let told = subflow.acknowledge(state, ack);
            (told.segments, told.sent_at)
        };
        let cut = self.note_ack(s, told, ece, now, out);
        let segments = told.0;
        let grown = if selective {
            self.on_selective_ack(s, now, out)
        } else if segments > 0 {
            if timeouts > 0 {
                self.gets_through(s);
            }
            self.on_new_ack(s, segments, now, out)
        } else {
            if was_in_flight > 0 {
                self.on_duplicate_ack(s, now, out);
            }
            0
        };
        if self.subflows[s].on_probation {
            self.follow_frto(s, segments, now, out);
        }
        // Only the ACK that cuts the window does not grow it here. The other ACKs of that window
        // do.
        if grown > 0 && !cut && fills_window(self.uses.as_deref(), s, &self.states[s]) {
            let counted = self.subflows[s].counted(&self.states[s], &self.config, grown);
            self.control.cong_avoid(&mut self.states, s, counted);
        }
        if ece {
            self.cut_for_mark(s, |control, states| control.cut_after_growth(states, s));
        }
        if self.state == SenderState::Open {
            if self.joins_wait && self.joins_now(now) {
                self.open_joins(now, out);
            }
            self.update_open(s);
            if self.send_buffers.is_some() {
                self.expand_buffer(s, 2);
            }
            self.transmit_after(s, now, out);
            if selective {
                self.end_probation(s, now, out);
            }
            self.finish_if_done(s, now, out);
        }
    }

    /// An ACK that later ones have overtaken. Its SACKs may be news all the same, since an ACK has
    /// room for three blocks (Linux: `tcp_ack`, at `old_ack`).
    #[cold]
    fn on_old_ack(&mut self, s: SubflowId, ack: u64, options: Option<&AckOptions>, now: Time, out: &mut impl Output) {
        if options.is_none_or(|options| options.sack.as_slice().is_empty()) {
            return;
        }
        let (state, subflow) = (&mut self.states[s], &mut self.subflows[s]);
        let (fresh, _) = subflow.take_ack(state, ack, options);
        let Some(board) = &mut subflow.board else { return };
        if fresh == 0 && board.told.duplicate.is_none() {
            return;
        }
        self.on_selective_ack(s, now, out);
        self.update_open(s);
        self.transmit(now, out);
        self.end_probation(s, now, out);
    }

    /// Updates the counters, the RTT and the round of subflow `s` with an ACK, and calls the
    /// algorithm. Returns whether the window was cut.
    #[inline]
    fn note_ack(
        &mut self,
        s: SubflowId,
        (acked, sent_at): (u32, Option<Time>),
        ece: bool,
        now: Time,
        out: &mut impl Output,
    ) -> bool {
        let (state, subflow) = (&mut self.states[s], &mut self.subflows[s]);
        let rtt = sent_at.map(|at| now - at);
        let round_ended = subflow.note_ack(state, (ece, rtt), &self.config.rtt);
        if let Some(rtt) = rtt {
            out.measured_rtt(s, rtt);
        }
        let event = Ack { acked, marked: ece, round_ended, now, rtt };
        self.cut_for_mark(s, |control, states| control.in_ack_event(states, s, event))
    }

    /// Lets the algorithm cut the window of subflow `s` for a mark, unless fast recovery forbids
    /// it. Returns whether the window was cut.
    #[inline]
    fn cut_for_mark(
        &mut self,
        s: SubflowId,
        respond: impl FnOnce(&mut Control, &mut [CongestionState]) -> bool,
    ) -> bool {
        let state = &self.states[s];
        let (before, spared) = ((state.cwnd, state.ssthresh), state.in_recovery && !self.config.cut_in_recovery);
        let mut cut = respond(&mut self.control, &mut self.states);
        if cut && spared {
            let state = &mut self.states[s];
            (state.cwnd, state.ssthresh) = before;
            cut = false;
        }
        self.subflows[s].counts.cuts += cut as u64;
        cut
    }

    /// An ACK has acknowledged `segments` segments for the first time. Returns how many of them may
    /// grow the window.
    fn on_new_ack(&mut self, s: SubflowId, segments: u32, now: Time, out: &mut impl Output) -> u32 {
        let (state, subflow) = (&mut self.states[s], &mut self.subflows[s]);
        // Each duplicate ACK has reported a segment, but not the one that was late (Linux:
        // `tcp_remove_reno_sacks`).
        let reported = if self.config.byte_counting { subflow.dupacks.min(segments - 1) } else { 0 };
        (subflow.dupacks, subflow.limited) = (0, 0);
        let mut restart = true;
        let mut grown = 0;
        if !state.in_recovery {
            grown = segments - reported;
        } else if self.config.recovery == LossRecovery::Reno {
            // RFC 5681, section 3.2, step 6
            state.in_recovery = false;
            state.cwnd = state.ssthresh;
        } else if state.snd_una >= subflow.recover {
            // Full acknowledgment (RFC 6582, section 3.2, step 3)
            state.in_recovery = false;
            state.cwnd = state.ssthresh.min(subflow.in_flight.max(1) as f64 + 1.0);
        } else {
            // Partial acknowledgment: deflate the window; the next hole is lost too
            state.cwnd = (state.cwnd - segments as f64 + 1.0).max(1.0);
            // "For the first partial ACK, also reset the retransmit timer"
            restart = !subflow.partial;
            subflow.partial = true;
            self.send_again(s, 0, now, out);
        }
        let subflow = &mut self.subflows[s];
        if subflow.sent.is_empty() && !s.is_in(self.unanswered) {
            subflow.timer.clear(); // RFC 6298 (5.2)
        } else if restart {
            subflow.timer.set(s, now + subflow.rtt.rto(&self.config.rtt), out); // RFC 6298 (5.3)
        }
        grown
    }

    pub(super) fn on_duplicate_ack(&mut self, s: SubflowId, now: Time, out: &mut impl Output) {
        let (state, subflow) = (&mut self.states[s], &mut self.subflows[s]);
        if state.in_recovery {
            state.cwnd += 1.0; // RFC 5681, section 3.2, step 4
            return;
        }
        subflow.dupacks += 1;
        // After a timeout, duplicate ACKs that retransmissions cause must not start a recovery (RFC
        // 6582, section 4.1)
        if state.snd_una <= subflow.recover && !self.config.multipath.faults.dupacks_kept {
            return;
        }
        if subflow.dupacks != subflow.dupack_threshold {
            return self.limited_transmit(s, now, out);
        }
        // RFC 6582, section 3.2, step 2; RFC 5681, section 3.2, steps 2 and 3
        // Reno enters it again for the next hole; only its timeouts set `recover`, in `go_back`.
        if self.config.recovery != LossRecovery::Reno {
            subflow.recover = state.snd_nxt;
        }
        subflow.partial = false;
        subflow.counts.recoveries += 1;
        // Segments that limited transmit has sent do not count (RFC 5681, section 3.2, step 2).
        let flight = subflow.in_flight.saturating_sub(subflow.limited);
        let ssthresh = self.control.ssthresh(&self.states, s, flight);
        let state = &mut self.states[s];
        state.in_recovery = true;
        state.ssthresh = ssthresh;
        state.cwnd = ssthresh + 3.0;
        self.send_again(s, 0, now, out);
        let subflow = &mut self.subflows[s];
        subflow.timer.set(s, now + subflow.rtt.rto(&self.config.rtt), out);
    }

    /// Limited transmit. A duplicate ACK below the threshold means that a packet has left the
    /// network, so the sender may send a packet of new data. It exceeds the window by at most the
    /// number of duplicates (RFC 3042, section 2: by two, with a threshold of three).
    pub(super) fn limited_transmit(&mut self, s: SubflowId, now: Time, out: &mut impl Output) {
        let subflow = &self.subflows[s];
        let below = self.config.limited_transmit && subflow.dupacks < subflow.dupack_threshold;
        let allowed = self.states[s].cwnd as u32 + subflow.dupacks;
        if below && !subflow.has_backlog() && subflow.in_flight < allowed && self.send_one(s, now, out) {
            self.subflows[s].limited += 1;
        }
    }

    pub(super) fn on_retransmission_timeout(&mut self, s: SubflowId, now: Time, out: &mut impl Output) {
        let subflow = &mut self.subflows[s];
        if subflow.sent.is_empty() {
            return match s.is_in(self.unanswered) {
                true => self.repeat_fin(s, now, out),
                false => self.probe_window(s, now, out),
            };
        }
        subflow.counts.timeouts += 1;
        subflow.timeouts += 1;
        let timeouts = subflow.timeouts;
        out.timed_out(s);
        if !self.endures(timeouts, s, now, out) {
            return;
        }
        self.check_stale(timeouts, s);
        let subflow = &mut self.subflows[s];
        subflow.rtt.back_off(&self.config.rtt); // RFC 6298 (5.5)
        let (state, subflow) = (&self.states[s], &mut self.subflows[s]);
        let flight = subflow.flight(state);
        if subflow.board.is_some() {
            self.begin_probation(s);
        } else {
            self.begin_frto(s);
        }
        if self.subflows[s].timeouts == 1 {
            // RFC 5681, section 3.1: ssthresh stays when a segment times out again
            self.states[s].ssthresh = self.control.ssthresh(&self.states, s, flight);
        }
        self.control.on_timeout(s);
        let (state, subflow) = (&mut self.states[s], &mut self.subflows[s]);
        subflow.limited = 0;
        if !self.config.multipath.faults.dupacks_kept {
            subflow.dupacks = 0;
        }
        if subflow.board.is_some() {
            self.enter_loss(s, now);
        } else {
            state.cwnd = 1.0; // the loss window (RFC 5681, section 3.1)
            self.go_back(s);
        }
        self.states[s].in_recovery = false;
        self.update_open(s);
        self.transmit(now, out);
        if self.limited {
            self.watch_window(now, out); // the subflow may have become stale
        }
    }

    /// After a timeout without SACKs, all outstanding segments wait to be sent again.
    pub(super) fn go_back(&mut self, s: SubflowId) {
        let (state, subflow) = (&mut self.states[s], &mut self.subflows[s]);
        subflow.recover = subflow.recover.max(state.snd_nxt); // RFC 6582, section 3.2, step 4
        subflow.in_flight = 0;
        state.snd_nxt = state.snd_una;
    }

    /// Sends outstanding segment number `i` of subflow `s` again.
    pub(super) fn send_again(&mut self, s: SubflowId, i: usize, now: Time, out: &mut impl Output) {
        let state = &self.states[s];
        let subflow = &mut self.subflows[s];
        if i >= subflow.sent.len() {
            return;
        }
        let start = subflow.start_of(state, i);
        let segment = &mut subflow.sent[i];
        segment.set_at(now);
        segment.mark(Mark::AGAIN);
        subflow.segments += 1;
        subflow.counts.retransmits += 1;
        let end = segment.end.near(state.snd_una);
        let (seq, data_seq, len) = (Seq::of(start), segment.data_seq, (end - start) as u16);
        if let Some(board) = &mut subflow.board {
            board.again_to = board.again_to.max(end);
            board.resent += !segment.is(Mark::RESENT) as u32;
            segment.mark(Mark::RESENT);
            board.undo.iter_mut().for_each(|undo| undo.follow_retransmission(end));
            subflow.count_in_flight();
        }
        let ect = subflow.ect;
        let last = self.is_end(data_seq.near(self.data_una) + len as u64);
        out.send(s, Segment::Data { seq, data_seq, len, last, ect, cwr: false, push: false });
    }
}
