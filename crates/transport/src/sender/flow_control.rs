//! The limit on new data by the buffers at both ends, and the probes of a zero window.

use super::Sender;
use crate::id::SubflowId;
use crate::options::AckOptions;
use crate::segment::{Output, Segment};
use crate::send_buffer::SendBuffer;
use crate::seq::Seq;
use crate::subflow::State;
use linkpool_units::Time;

impl Sender {
    /// Sets the end of new data from the end of the stream, the receiver's window and the send
    /// buffer. A segment is sent only if a full segment or the rest of the stream fits (RFC 9293,
    /// section 3.8.6.2.1).
    #[inline(never)]
    pub(super) fn set_limit(&mut self) {
        let written = match (self.config.buffers.send, &mut self.send_buffers) {
            (SendBuffer::Auto, Some(buffers)) => {
                buffers.write(self.data_una);
                buffers.written()
            }
            (send, _) => self.data_una.saturating_add(send.fixed()),
        };
        let edge = self.edge.min(written);
        let last = (edge.saturating_add(1)).saturating_sub(self.config.mss as u64);
        self.limit = if self.size <= edge { self.size } else { last };
    }

    /// The buffer of subflow `s` grows after an ACK on it that leaves room in its window, while the
    /// application waits to write more (Linux, `tcp_check_space` and `tcp_should_expand_sndbuf` in
    /// net/ipv4/tcp_input.c).
    #[inline(never)]
    pub(super) fn expand_buffer(&mut self, s: SubflowId, now: Time, out: &mut impl Output) {
        let Some(buffers) = &mut self.send_buffers else { return };
        let grows = self.config.buffers.send == SendBuffer::Auto;
        let has_room = s.is_in(self.open) && self.subflows[s].state == State::Established;
        if has_room && (!grows || buffers.written() < self.size) && buffers.expand(s.index(), self.states[s].cwnd) {
            self.set_limit();
            self.transmit(now, out);
        }
    }

    /// Takes the window that an ACK offers beyond `data_ack`. Returns true if a larger window is
    /// the only news of the ACK. Such an ACK is no duplicate ACK (RFC 5681, section 2).
    #[inline(never)]
    pub(super) fn take_window(&mut self, s: SubflowId, ack: Seq, data_ack: Seq, options: Option<&AckOptions>) -> bool {
        let Some(AckOptions { window: Some(window), sack }) = options else { return false };
        let reached = data_ack.near(self.data_una);
        let more = reached + *window as u64 > self.edge;
        self.edge = self.edge.max(reached + *window as u64);
        let (state, subflow) = (&self.states[s], &self.subflows[s]);
        let confirms = subflow.state == State::Confirming;
        let news = reached > self.data_una || ack.near(state.snd_una) > state.snd_una;
        if !news && subflow.sent.is_empty() && subflow.timeouts > 0 {
            self.subflows[s].timeouts = 0; // the receiver has answered a probe (RFC 9293, section 3.8.6.1)
        }
        if more {
            self.set_limit();
            // The timers of idle subflows are for probes only, and no probes are needed now.
            for subflow in self.subflows.iter_mut().filter(|s| s.is_idle()) {
                subflow.timer.clear();
                subflow.timeouts = 0;
            }
        }
        more && !news && !confirms && sack.as_slice().is_empty()
    }

    /// Starts to probe (RFC 9293, section 3.8.6.1) if no data is in flight and the window is zero:
    /// the ACK that opened the window may have been lost. Every subflow probes, since a path may
    /// have failed unnoticed.
    #[inline(never)]
    pub(super) fn watch_window(&mut self, now: Time, out: &mut impl Output) {
        if !self.is_shut_out() {
            return;
        }
        let numbered = self.numbers().zip(&mut self.subflows);
        for (s, subflow) in numbered.filter(|(_, s)| s.is_idle() && !s.timer.is_set()) {
            subflow.timer.set(s, now + subflow.rtt.rto(&self.config.rtt), out);
        }
    }

    fn is_shut_out(&self) -> bool {
        let next = self.size.min(self.data_nxt.saturating_add(self.config.mss as u64));
        self.data_nxt < next
            && next > self.edge
            && self.numbers().all(|s| s.is_in(self.stale) || self.subflows[s].sent.is_empty())
    }

    /// The timer of an idle subflow has expired. Sends a segment that the receiver already has; the
    /// receiver answers with its window.
    pub(super) fn probe_window(&mut self, s: SubflowId, now: Time, out: &mut impl Output) {
        let unanswered = self.subflows[s].timeouts;
        if !self.is_shut_out() || !self.endures(unanswered, s, now, out) {
            return;
        }
        let subflow = &mut self.subflows[s];
        subflow.timeouts += 1;
        subflow.rtt.back_off(&self.config.rtt);
        let seq = Seq::of(self.states[s].snd_una - 1);
        out.send(
            s,
            Segment::Data { seq, data_seq: Seq::of(self.data_una), len: 0, last: false, ect: subflow.ect, cwr: false },
        );
        self.watch_window(now, out);
    }
}
