//! What happens when the timer of a subflow expires.

use super::{Sender, SenderState};
use crate::id::SubflowId;
use crate::loss::Due;
use crate::segment::{Output, Segment};
use crate::seq::Seq;
use crate::subflow::State;
use linkpool_units::Time;

impl Sender {
    /// Call it when the timer of subflow `s` may be due. A needless call does no harm.
    pub fn on_timer(&mut self, s: SubflowId, now: Time, out: &mut impl Output) {
        if self.life.state != SenderState::Open || s.index() >= self.subflows.len() {
            return;
        }
        if self.pacer.as_mut().is_some_and(|pacer| pacer.is_due(s, now, out)) {
            self.update_open(s);
            self.transmit(now, out);
            if self.ways.limited {
                self.watch_window(now, out);
            }
            self.note_use(s.bit(), now);
        }
        let subflow = &mut self.subflows[s];
        if !subflow.timer.has_passed(s, now, out) {
            return;
        }
        match subflow.state {
            State::Closed => self.send_syn(s, now, out),
            State::SynSent => self.on_syn_timeout(s, now, out),
            State::Confirming => self.send_third(s, now, out),
            State::Established => self.on_data_timer(s, now, out),
            State::Failed => {}
        }
        self.after_event(self.all(), now);
    }

    /// The timer of established subflow `s` has expired: for losses, for a probe, or for a timeout.
    fn on_data_timer(&mut self, s: SubflowId, now: Time, out: &mut impl Output) {
        match self.subflows[s].take_due() {
            Due::Timeout => return self.on_timeout(s, now, out),
            Due::Reordering => self.recovery(s).lose_reordered(now, out),
            Due::Probe => {
                let new = self.send_one(s, now, out);
                self.recovery(s).probe(new, now, out);
            }
        }
        self.pace(s, now, out);
        self.update_open(s);
        self.transmit(now, out);
    }

    /// The retransmission timer of subflow `s` has expired.
    fn on_timeout(&mut self, s: SubflowId, now: Time, out: &mut impl Output) {
        let subflow = &mut self.subflows[s];
        if subflow.sent.is_empty() {
            return match subflow.fin_unanswered {
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
        self.recovery(s).time_out(now);
        self.update_open(s);
        self.transmit(now, out);
        if self.ways.limited {
            self.watch_window(now, out); // the subflow may have become stale
        }
    }

    /// The timer of an idle subflow has expired. Sends a segment that the receiver already has; the
    /// receiver answers with its window (RFC 9293, section 3.8.6.1).
    fn probe_window(&mut self, s: SubflowId, now: Time, out: &mut impl Output) {
        let unanswered = self.subflows[s].timeouts;
        let of = (&self.subflows[..], self.schedule.stale);
        if self.awaits_departure() {
            return;
        }
        if !self.limits.is_shut_out(&self.stream, of, &self.config) || !self.endures(unanswered, s, now, out) {
            return;
        }
        let subflow = &mut self.subflows[s];
        subflow.timeouts += 1;
        subflow.rtt.back_off(&self.config.rtt);
        let (seq, data_seq) = (Seq::of(self.states[s].snd_una - 1), Seq::of(self.stream.una));
        let ect = subflow.ect;
        out.send(s, Segment::Data { seq, data_seq, len: 0, last: false, ect, cwr: false, push: false });
        self.watch_window(now, out);
    }
}
