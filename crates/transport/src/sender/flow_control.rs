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

    /// Sets the end of new data again after an ACK that offers no window: it moves only if the buffer
    /// has room then.
    #[inline]
    pub(super) fn free_buffer(&mut self) {
        let moves = match (self.config.buffers.send, &self.send_buffers) {
            (SendBuffer::Auto, Some(buffers)) => buffers.writes(self.data_una),
            _ => true,
        };
        if moves {
            self.set_limit();
        }
    }

    /// The buffer of subflow `s` grows with its window while the application waits to write more, if
    /// the window has room for `least` packets. Returns whether it has grown.
    ///
    /// Linux looks after each packet that it sends, and after each ACK, whether the window is full
    /// (`tcp_check_space`, which `tcp_event_new_data_sent` in net/ipv4/tcp_output.c and
    /// `tcp_data_snd_check` in net/ipv4/tcp_input.c call; `tcp_should_expand_sndbuf`). So room for
    /// two packets before sending is enough, for the first of them leaves room for the second; and
    /// room for one after sending.
    #[inline]
    pub(super) fn expand_buffer(&mut self, s: SubflowId, least: u32) -> bool {
        let (state, subflow) = (&self.states[s], &self.subflows[s]);
        let has_room = state.cwnd as u32 >= subflow.in_flight + least;
        has_room && subflow.state == State::Established && self.expand_unfilled(s)
    }

    /// The same if the window has room.
    #[inline(never)]
    fn expand_unfilled(&mut self, s: SubflowId) -> bool {
        let Some(buffers) = &mut self.send_buffers else { return false };
        let waits = self.config.buffers.send != SendBuffer::Auto || buffers.written() < self.size;
        let grows = waits && buffers.expand(s.index(), self.states[s].cwnd);
        if grows {
            self.set_limit();
        }
        grows
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
    #[inline]
    pub(super) fn watch_window(&mut self, now: Time, out: &mut impl Output) {
        if self.edge < u64::MAX && self.is_shut_out() {
            self.probe_when_idle(now, out);
        }
    }

    #[inline(never)]
    fn probe_when_idle(&mut self, now: Time, out: &mut impl Output) {
        let numbered = self.numbers().zip(&mut self.subflows);
        for (s, subflow) in numbered.filter(|(_, s)| s.is_idle() && !s.timer.is_set()) {
            subflow.timer.set(s, now + subflow.rtt.rto(&self.config.rtt), out);
        }
    }

    #[inline(never)]
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
            Segment::Data {
                seq,
                data_seq: Seq::of(self.data_una),
                len: 0,
                last: false,
                ect: subflow.ect,
                cwr: false,
                push: false,
            },
        );
        self.watch_window(now, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use linkpool_settings::{Preset, Settings as _};
    use std::sync::Arc;

    /// A window of 12 packets lets the buffer grow to 55,296 B (two windows, 2,304 B a packet) when
    /// 10 are in flight before sending, or 11 after it. Linux 6.18 did so: each ACK of slow start
    /// lets two packets go, and `sk_sndbuf` followed the window packet by packet.
    #[test]
    fn the_buffer_follows_a_window_that_is_filled() {
        let mut config = Config { subflows: 2, ..Config::defaults(Preset::Linux) };
        config.buffers.headers = 256;
        let grows = |in_flight: u32, least: u32| {
            let mut sender = Sender::new(Arc::new(config.clone()), None);
            sender.subflows[0].state = State::Established;
            (sender.subflows[0].in_flight, sender.states[0].cwnd) = (in_flight, 12.0);
            sender.expand_buffer(SubflowId::FIRST, least)
        };
        assert_eq!([grows(10, 2), grows(11, 2), grows(11, 1), grows(12, 1)], [true, false, true, false]);
    }

    /// Before the first subflow is established the application fills one fragment, 32,768 B. A stream
    /// of one byte more has not been written as a whole.
    #[test]
    fn no_buffer_grows_after_all_is_written() {
        let config = Arc::new(Config { subflows: 2, ..Config::defaults(Preset::Linux) });
        let grows = |size: u64| {
            let mut sender = Sender::new(config.clone(), Some(size));
            sender.subflows[0].state = State::Established;
            (sender.subflows[0].in_flight, sender.states[0].cwnd) = (10, 12.0);
            sender.expand_buffer(SubflowId::FIRST, 1)
        };
        assert_eq!([1, 32_768, 32_769].map(grows), [false, false, true]);
    }
}
