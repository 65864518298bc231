//! The life of subflows: their handshakes, the time at which further ones open, their failure, and
//! their FINs.
//!
//! Other subflows send the data of a stale subflow again (RFC 8684, section 3.3.6). A stale subflow
//! gets no new data until an ACK arrives on it. After more timeouts the sender gives up the subflow.
//! When it gives up the last subflow, it gives up the connection.

use super::Sender;
use super::pieces::Pieces;
use super::scheduler::Scheduler;
use crate::control::CongestionControl;
use crate::id::SubflowId;
use crate::segment::{Output, Segment};
use crate::seq::{FIRST_BYTE, Seq};
use crate::subflow::{State, Subflow};
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
            self.schedule.open |= s.bit(); // the scheduler includes it from now on
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
        if let Some(buffers) = &mut self.limits.buffers {
            buffers.expand(s.index(), state.cwnd);
            self.set_limit();
        }
        self.choose_eligible();
        if s.is_first() {
            self.schedule.joins_wait = self.control.joins_later() || self.config.multipath.join_after > 0;
            if !self.schedule.joins_wait {
                self.open_joins(now, out);
            }
        }
        self.schedule.open |= s.bit();
        self.transmit(now, out);
        self.finish_if_done(s, now, out);
    }

    /// Is it time to open the further subflows that wait?
    pub(super) fn joins_now(&mut self, now: Time) -> bool {
        self.stream.nxt > self.config.multipath.join_after && self.control.joins_now(&self.states, self.stream.nxt, now)
    }

    /// Opens the further subflows. Each opens at its time and after a random delay.
    pub(super) fn open_joins(&mut self, now: Time, out: &mut impl Output) {
        self.schedule.joins_wait = false;
        for join in self.numbers().skip(1) {
            let wait = self.config.multipath.join_at.get(join.index() - 1).copied().unwrap_or(Time::ZERO);
            let at = now.max(self.life.started + wait) + out.jitter(self.config.join_jitter);
            self.subflows[join].timer.set(join, at, out);
        }
    }

    /// The data of subflow `s` was not acknowledged in time, `timeouts` times in a row. Returns
    /// false if the subflow is given up.
    pub(super) fn endures(&mut self, timeouts: u32, s: SubflowId, now: Time, out: &mut impl Output) -> bool {
        let endures = timeouts < self.config.fail_after;
        if !endures {
            self.fail(s, now, out);
        }
        endures
    }

    /// Data of subflow `s` has timed out `timeouts` times in a row. (A subflow that has no data to
    /// send does not become stale, even if its probes get no answer: Linux,
    /// `mptcp_subflow_get_retrans` in net/mptcp/protocol.c.)
    pub(super) fn check_stale(&mut self, timeouts: u32, s: SubflowId) {
        if timeouts == self.config.multipath.stale_after {
            self.schedule.stale |= s.bit();
            self.choose_eligible();
        }
    }

    /// New data of subflow `s` is acknowledged after timeouts, so its path works again (Linux,
    /// `mptcp_subflow_active` in net/mptcp/protocol.c).
    #[cold]
    pub(super) fn gets_through(&mut self, s: SubflowId) {
        self.subflows[s].timeouts = 0;
        if self.schedule.revive(s) {
            self.choose_eligible();
        }
    }

    /// Gives up subflow `s`. Segments that arrive on it from now on are ignored.
    pub(super) fn fail(&mut self, s: SubflowId, now: Time, out: &mut impl Output) {
        let subflow = &mut self.subflows[s];
        subflow.state = State::Failed;
        subflow.timer.clear();
        self.rescue(s);
        if let Some(buffers) = &mut self.limits.buffers {
            buffers.close(s.index());
        }
        let (state, subflow) = (&mut self.states[s], &mut self.subflows[s]);
        subflow.sent.clear();
        (subflow.in_flight, subflow.board) = (0, None);
        (state.established, state.in_recovery, state.snd_nxt) = (false, false, state.snd_una);
        self.schedule.remove(s);
        self.pacer.iter_mut().for_each(|pacer| pacer.stop(s));
        self.control.on_failed(s);
        self.choose_eligible();
        let lives = |subflow: &Subflow| subflow.state == State::Established || subflow.timer.is_set();
        if self.subflows.iter().any(lives) {
            self.transmit(now, out);
            self.watch_window(now, out);
        } else {
            self.give_up(now);
        }
    }

    /// Decides which subflows may get new data, and gives the data of stale ones to others.
    pub(super) fn choose_eligible(&mut self) {
        self.pieces.iter_mut().for_each(|pieces| pieces.forget_soonest());
        let is_established = |s: &SubflowId| self.subflows[*s].state == State::Established;
        let established = self.numbers().filter(is_established).fold(0, |set, s| set | s.bit());
        let stuck = self.schedule.choose(established, self.config.multipath.backup);
        self.numbers().filter(|s| s.is_in(stuck)).for_each(|s| self.rescue(s));
        self.schedule.note_rescued(stuck);
    }

    /// Gives the data of subflow `s` that the receiver may not have to other subflows.
    fn rescue(&mut self, s: SubflowId) {
        if matches!(self.scheduler.as_deref(), Some(Scheduler::Redundant(_))) {
            return; // the others carry all data themselves
        }
        let subflow = &self.subflows[s];
        if subflow.sent.is_empty() && self.pieces.is_none() {
            return;
        }
        let pieces = self.pieces.get_or_insert_with(Box::<Pieces>::default);
        let held = subflow.mappings(&self.states[s]).map(|(first, len)| (first.near(self.stream.una), len));
        pieces.send_again(held.filter(|(first, len)| first + *len as u64 > self.stream.una), true);
        pieces.give_back(s);
        self.choose_ways();
    }

    /// Sends a FIN on each subflow, since the last data has been sent.
    #[cold]
    pub(super) fn finish_subflows(&mut self, now: Time, out: &mut impl Output) {
        for s in self.numbers() {
            if self.subflows[s].state != State::Established {
                continue;
            }
            self.send_subflow_fin(s, out);
            if self.config.multipath.faults.fin_timeouts {
                let subflow = &mut self.subflows[s];
                subflow.fin_unanswered = true;
                if !subflow.timer.is_set() {
                    subflow.timer.set(s, now + subflow.rtt.rto(&self.config.rtt), out);
                }
            }
        }
    }

    /// The FIN stands behind the last byte, even while bytes before it are sent again.
    fn send_subflow_fin(&self, s: SubflowId, out: &mut impl Output) {
        out.send(s, Segment::SubflowFin { seq: Seq::of(self.subflows[s].end(&self.states[s])) });
    }

    /// A timeout without data: the FIN of subflow `s` has no answer.
    #[cold]
    pub(super) fn repeat_fin(&mut self, s: SubflowId, now: Time, out: &mut impl Output) {
        let subflow = &mut self.subflows[s];
        subflow.counts.timeouts += 1;
        subflow.rtt.back_off(&self.config.rtt);
        subflow.timer.set(s, now + subflow.rtt.rto(&self.config.rtt), out);
        self.send_subflow_fin(s, out);
    }

    /// The receiver has answered the FIN of subflow `s`.
    pub(super) fn on_fin_answered(&mut self, s: SubflowId) {
        let Some(subflow) = self.subflows.get_mut(s.index()) else { return };
        subflow.fin_unanswered = false;
        if subflow.sent.is_empty() {
            subflow.timer.clear();
        }
    }
}

/// Sends the third segment of the handshake of subflow `s`.
fn send_third_segment(s: SubflowId, out: &mut impl Output) {
    out.send(s, Segment::Ack { ack: Seq::of(FIRST_BYTE), data_ack: Seq::of(0), ece: false, options: None });
}
