//! The handshake of a subflow, and the time at which the further subflows of a connection open.

use super::Sender;
use crate::control::CongestionControl;
use crate::id::SubflowId;
use crate::segment::{Output, Segment};
use crate::seq::{FIRST_BYTE, Seq};
use crate::subflow::State;
use linkpool_units::Time;

impl Sender {
    /// Is ECN asked for on subflow `s`?
    pub(super) fn wants_ecn(&self, s: SubflowId) -> bool {
        self.control.needs_ecn_on(s)
    }

    pub(super) fn send_syn(&mut self, s: SubflowId, now: Time, out: &mut impl Output) {
        let subflow = &mut self.subflows[s];
        subflow.state = State::SynSent;
        subflow.syn_sent_at = now;
        let timeout = self.config.syn_wait(subflow.syns);
        subflow.syns += 1;
        let faults = self.config.multipath.faults;
        if s.is_first() || !faults.join_syn_once {
            subflow.timer.set(s, now + timeout, out);
        }
        if faults.join_stall {
            self.open |= s.bit(); // the scheduler includes it from now on
        }
        out.send(s, Segment::Syn { join: !s.is_first(), ecn: self.wants_ecn(s) });
    }

    pub(super) fn on_syn_timeout(&mut self, s: SubflowId, now: Time, out: &mut impl Output) {
        self.subflows[s].counts.timeouts += 1;
        out.timed_out(s);
        if self.subflows[s].syns <= self.config.syn_retries {
            return self.send_syn(s, now, out);
        }
        // Further subflows open when the SYN-ACK of the first subflow arrives. Without that SYN-ACK
        // the connection does not exist.
        self.fail(s, now, out);
    }

    pub(super) fn on_syn_ack(&mut self, s: SubflowId, ecn: bool, now: Time, out: &mut impl Output) {
        let ecn = ecn && self.wants_ecn(s);
        let subflow = &mut self.subflows[s];
        if subflow.state != State::SynSent {
            return; // a duplicate
        }
        subflow.timer.clear();
        subflow.ect = ecn;
        let state = &mut self.states[s];
        if subflow.syns > 1 {
            // A lost SYN or SYN-ACK: the initial window is one segment (RFC 5681, section 3.1).
            state.cwnd = 1.0;
        } else if self.config.handshake_sample {
            subflow.rtt.sample(&self.config.rtt, now - subflow.syn_sent_at);
            state.srtt = subflow.rtt.srtt().unwrap_or(0.0);
            out.measured_rtt(s, now - subflow.syn_sent_at);
        }
        if !s.is_first() && self.config.multipath.join_confirmed {
            self.subflows[s].state = State::Confirming;
            self.send_third(s, now, out);
        } else {
            send_third_segment(s, out);
            self.begin(s, now, out);
        }
    }

    /// Sends the third segment of the handshake of a further subflow. It is sent again until it is
    /// acknowledged (RFC 8684, section 3.2), after two RTTs (Linux,
    /// `schedule_3rdack_retransmission` in net/mptcp/options.c).
    pub(super) fn send_third(&mut self, s: SubflowId, now: Time, out: &mut impl Output) {
        let subflow = &mut self.subflows[s];
        let wait = subflow.rtt.srtt().map_or(self.config.syn_timeout, |srtt| Time(2 * srtt as u64));
        subflow.timer.set(s, now + wait, out);
        send_third_segment(s, out);
    }

    /// The third segment of the handshake of subflow `s` is acknowledged.
    #[cold]
    pub(super) fn on_confirmed(&mut self, s: SubflowId, now: Time, out: &mut impl Output) {
        self.subflows[s].timer.clear();
        self.begin(s, now, out);
    }

    /// Subflow `s` may carry data from now on.
    fn begin(&mut self, s: SubflowId, now: Time, out: &mut impl Output) {
        self.control.on_established(s);
        let (state, subflow) = (&mut self.states[s], &mut self.subflows[s]);
        subflow.state = State::Established;
        subflow.counts.established = Some(now);
        state.established = true;
        subflow.round_end = state.snd_nxt;
        if let Some(buffers) = &mut self.send_buffers {
            buffers.expand(s.index(), state.cwnd);
            self.set_limit();
        }
        self.choose_eligible();
        if s.is_first() {
            self.joins_wait = self.control.joins_later() || self.config.multipath.join_after > 0;
            if !self.joins_wait {
                self.open_joins(now, out);
            }
        }
        self.open |= s.bit();
        self.transmit(now, out);
        self.finish_if_done(s, now, out);
    }

    /// Is it time to open the further subflows that wait?
    pub(super) fn joins_now(&mut self, now: Time) -> bool {
        self.data_nxt > self.config.multipath.join_after && self.control.joins_now(&self.states, self.data_nxt, now)
    }

    /// Opens the further subflows. Each opens at its time and after a random delay.
    pub(super) fn open_joins(&mut self, now: Time, out: &mut impl Output) {
        self.joins_wait = false;
        for join in self.numbers().skip(1) {
            let wait = self.config.multipath.join_at.get(join.index() - 1).copied().unwrap_or(Time::ZERO);
            let at = now.max(self.started + wait) + out.jitter(self.config.join_jitter);
            self.subflows[join].timer.set(join, at, out);
        }
    }
}

/// Sends the third segment of the handshake of subflow `s`.
fn send_third_segment(s: SubflowId, out: &mut impl Output) {
    out.send(s, Segment::Ack { ack: Seq::of(FIRST_BYTE), data_ack: Seq::of(0), ece: false, options: None });
}
