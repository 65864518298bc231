//! Fast retransmit and fast recovery by duplicate ACKs: Reno (RFC 5681) and NewReno (RFC 6582).

use super::Recovery;
use crate::config::LossRecovery;
use crate::control::CongestionControl;
use crate::segment::Output;
use linkpool_units::Time;

impl Recovery<'_> {
    /// An ACK has acknowledged `segments` segments for the first time. Returns how many of them may
    /// grow the window.
    pub(in crate::sender) fn on_new_ack(&mut self, segments: u32, now: Time, out: &mut impl Output) -> u32 {
        let owned = self.control.owns_window(self.s);
        let (state, subflow) = (&mut self.states[self.s], &mut *self.subflow);
        let before = state.cwnd;
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
            self.send_again(0, now, out);
        }
        if owned {
            self.states[self.s].cwnd = before;
        }
        let subflow = &mut *self.subflow;
        if subflow.sent.is_empty() && !subflow.fin_unanswered {
            subflow.timer.clear(); // RFC 6298 (5.2)
        } else if restart {
            subflow.timer.set(self.s, now + subflow.rtt.rto(&self.config.rtt), out); // RFC 6298 (5.3)
        }
        grown
    }

    /// A duplicate ACK has arrived. Returns whether limited transmit may answer it.
    pub(in crate::sender) fn on_duplicate_ack(&mut self, now: Time, out: &mut impl Output) -> bool {
        let inflation = if self.control.owns_window(self.s) { 0.0 } else { 1.0 };
        let (state, subflow) = self.parts();
        if state.in_recovery {
            state.cwnd += inflation; // RFC 5681, section 3.2, step 4
            return false;
        }
        subflow.dupacks += 1;
        // After a timeout, duplicate ACKs that retransmissions cause must not start a recovery (RFC
        // 6582, section 4.1)
        let (state, subflow) = (&self.states[self.s], &mut *self.subflow);
        if state.snd_una <= subflow.recover && !self.config.multipath.faults.dupacks_kept {
            return false;
        }
        if subflow.dupacks != subflow.dupack_threshold {
            return true;
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
        let ssthresh = self.control.ssthresh(self.states, self.s, flight);
        let state = &mut self.states[self.s];
        state.in_recovery = true;
        state.ssthresh = ssthresh;
        state.cwnd = ssthresh + 3.0 * inflation;
        self.send_again(0, now, out);
        self.subflow.timer.set(self.s, now + self.subflow.rtt.rto(&self.config.rtt), out);
        false
    }

    /// After a timeout without SACKs, all outstanding segments wait to be sent again.
    pub(super) fn go_back(&mut self) {
        let (state, subflow) = self.parts();
        subflow.recover = subflow.recover.max(state.snd_nxt); // RFC 6582, section 3.2, step 4
        subflow.in_flight = 0;
        state.snd_nxt = state.snd_una;
    }
}
