//! The limit on new data: the buffers at both ends, the writes of the application, and its
//! messages.

use super::messages::Messages;
use super::stream::{Piece, Stream};
use super::writes::Writes;
use crate::config::Config;
use crate::congestion::CongestionState;
use crate::flow_control::Buffers;
use crate::id::SubflowId;
use crate::multipath::PacketScheduler;
use crate::options::AckOptions;
use crate::segment::Output;
use crate::send_buffer::{SendBuffer, SendBuffers};
use crate::seq::Seq;
use crate::subflow::{State, Subflow};
use linkpool_units::Time;

/// What limits new data of a connection.
#[derive(Debug)]
pub(super) struct Limits {
    /// One beyond the last byte that the receiver has room for.
    pub(super) edge: u64,
    /// The send buffers of several subflows; `None` if they limit nothing.
    pub(super) buffers: Option<Box<SendBuffers>>,
    /// Where the application's writes end; `None` if nothing is pushed for that.
    pub(super) writes: Option<Box<Writes>>,
    /// The messages of a connection that stays open.
    pub(super) messages: Option<Box<Messages>>,
}

impl Limits {
    /// Those of a connection with `n` subflows, and whether the buffers at the two ends limit new data.
    pub(super) fn new(config: &Config, n: usize) -> (Limits, bool) {
        let Buffers { send, receive, headers, offload, .. } = config.buffers;
        let grows = send == SendBuffer::Auto;
        let buffered = n > 1 && (grows || config.multipath.scheduler == PacketScheduler::LowestTimeToSend);
        let limits = Limits {
            // The SYN-ACK will offer this window.
            edge: receive,
            buffers: buffered.then(|| Box::new(SendBuffers::new(n, config.mss, headers, offload))),
            writes: Writes::new(config, n),
            messages: None,
        };
        (limits, send.fixed().min(receive) < u64::MAX || buffered && grows)
    }

    /// Sets the end of new data from the end of the stream, the receiver's window and the send
    /// buffer. A segment is sent only if a full segment or the rest of the stream fits (RFC 9293,
    /// section 3.8.6.2.1).
    #[inline(never)]
    pub(super) fn set(&mut self, stream: &mut Stream, config: &Config) {
        if let (SendBuffer::Auto, Some(buffers)) = (config.buffers.send, &mut self.buffers) {
            buffers.write(stream.una);
        }
        let edge = self.edge.min(self.room(stream, config));
        let last = (edge.saturating_add(1)).saturating_sub(config.mss as u64);
        stream.limit = if stream.size <= edge { stream.size } else { last };
    }

    /// Where the data ends for which the send buffer has room.
    fn room(&self, stream: &Stream, config: &Config) -> u64 {
        match (config.buffers.send, &self.buffers) {
            (SendBuffer::Auto, Some(buffers)) => buffers.written(),
            (send, _) => stream.una.saturating_add(send.fixed()),
        }
    }

    /// Bytes that the application has written and no subflow has got.
    pub(super) fn unassigned(&self, stream: &Stream, config: &Config) -> u64 {
        let end = self.messages.as_ref().map_or(stream.size, |messages| messages.end());
        end.min(self.room(stream, config)).saturating_sub(stream.nxt)
    }

    /// Does the end of the window, or of the send buffer, hold back data?
    pub(super) fn holds_back(&self, stream: &Stream) -> bool {
        stream.limit <= stream.nxt && stream.nxt < stream.size
    }

    /// Sets the end of new data again after an ACK: it moves only if the buffer has room then.
    #[inline(always)]
    pub(super) fn free(&mut self, stream: &mut Stream, config: &Config) {
        let moves = match (config.buffers.send, &self.buffers) {
            (SendBuffer::Auto, Some(buffers)) => buffers.writes(stream.una),
            _ => true,
        };
        if moves {
            self.set(stream, config);
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
    #[inline(always)]
    pub(super) fn expand(
        &mut self,
        (s, state, subflow): (SubflowId, &CongestionState, &Subflow),
        least: u32,
        stream: &mut Stream,
        config: &Config,
    ) -> bool {
        let has_room = state.cwnd as u32 >= subflow.in_flight + least;
        has_room && subflow.state == State::Established && self.expand_unfilled(s, state.cwnd, stream, config)
    }

    /// The same if the window, of `cwnd` packets, has room.
    #[inline(never)]
    fn expand_unfilled(&mut self, s: SubflowId, cwnd: f64, stream: &mut Stream, config: &Config) -> bool {
        let Some(buffers) = &mut self.buffers else { return false };
        let waits = config.buffers.send != SendBuffer::Auto || buffers.written() < stream.size;
        let grows = waits && buffers.expand(s.index(), cwnd);
        if grows {
            self.set(stream, config);
        }
        grows
    }

    /// Takes the window that an ACK on subflow `s` offers beyond `data_ack`. Returns true if a larger
    /// window is the only news of the ACK. Such an ACK is no duplicate ACK (RFC 5681, section 2).
    #[inline(never)]
    pub(super) fn take_window(
        &mut self,
        (s, states, subflows): (SubflowId, &[CongestionState], &mut [Subflow]),
        (ack, data_ack, options): (Seq, Seq, Option<&AckOptions>),
        stream: &mut Stream,
        config: &Config,
    ) -> bool {
        let Some(AckOptions { window: Some(window), sack }) = options else { return false };
        let reached = data_ack.near(stream.una);
        let more = reached + *window as u64 > self.edge;
        self.edge = self.edge.max(reached + *window as u64);
        let (state, subflow) = (&states[s], &mut subflows[s]);
        let confirms = subflow.state == State::Confirming;
        let news = reached > stream.una || ack.near(state.snd_una) > state.snd_una;
        if !news && subflow.sent.is_empty() && subflow.timeouts > 0 {
            subflow.timeouts = 0; // the receiver has answered a probe (RFC 9293, section 3.8.6.1)
        }
        if more {
            self.set(stream, config);
            // The timers of idle subflows are for probes only, and no probes are needed now.
            for subflow in subflows.iter_mut().filter(|s| s.is_idle()) {
                subflow.timer.clear();
                subflow.timeouts = 0;
            }
        }
        more && !news && !confirms && sack.as_slice().is_empty()
    }

    /// Starts to probe (RFC 9293, section 3.8.6.1) if no data is in flight and the window is zero:
    /// the ACK that opened the window may have been lost. Every subflow probes, since a path may
    /// have failed unnoticed. `stale`: the stale subflows, one bit each.
    #[inline]
    pub(super) fn watch(
        &self,
        stream: &Stream,
        (subflows, stale): (&mut [Subflow], u32),
        config: &Config,
        now: Time,
        out: &mut impl Output,
    ) {
        if self.edge < u64::MAX && self.is_shut_out(stream, (subflows, stale), config) {
            for (s, subflow) in idle(subflows) {
                subflow.timer.set(s, now + subflow.rtt.rto(&config.rtt), out);
            }
        }
    }

    /// Is there data to send, none in flight, and no room at the receiver?
    #[inline(never)]
    pub(super) fn is_shut_out(&self, stream: &Stream, (subflows, stale): (&[Subflow], u32), config: &Config) -> bool {
        let next = stream.size.min(stream.nxt.saturating_add(config.mss as u64));
        stream.nxt < next
            && next > self.edge
            && numbered(subflows).all(|(s, subflow)| s.is_in(stale) || subflow.sent.is_empty())
    }

    /// Takes the next piece of the stream that no subflow has sent yet.
    #[inline]
    pub(super) fn fresh(&mut self, stream: &mut Stream, config: &Config) -> Option<Piece> {
        let first = stream.nxt;
        if first >= stream.limit {
            return None;
        }
        let len = (stream.size - first).min(config.mss as u64) as u16;
        stream.nxt += len as u64;
        if stream.nxt == stream.size {
            self.next_message(stream, config);
        }
        Some((first, len))
    }

    /// The piece that begins at `first`, which a subflow has sent.
    pub(super) fn piece(&self, stream: &Stream, first: u64, config: &Config) -> Piece {
        let end = self.messages.as_ref().and_then(|messages| messages.end_beyond(first)).unwrap_or(stream.size);
        (first, (end - first).min(u64::from(config.mss)) as u16)
    }

    /// Does a message, or the stream, end at `end`?
    #[inline]
    pub(super) fn is_end(&self, stream: &Stream, end: u64) -> bool {
        match &self.messages {
            None => end == stream.size,
            Some(messages) => messages.end_at(end),
        }
    }

    /// All data of a message has been given to subflows: the next message is the one to send.
    #[cold]
    fn next_message(&mut self, stream: &mut Stream, config: &Config) {
        let next = self.messages.as_ref().and_then(|messages| messages.end_beyond(stream.nxt));
        if let Some(end) = next {
            stream.size = end;
            self.set(stream, config);
        }
    }
}

fn numbered(subflows: &[Subflow]) -> impl Iterator<Item = (SubflowId, &Subflow)> {
    SubflowId::first(subflows.len()).zip(subflows)
}

/// The subflows that have no data in flight, and no timer.
fn idle(subflows: &mut [Subflow]) -> impl Iterator<Item = (SubflowId, &mut Subflow)> {
    SubflowId::first(subflows.len()).zip(subflows).filter(|(_, s)| s.is_idle() && !s.timer.is_set())
}

#[cfg(test)]
mod tests {
    use super::super::Sender;
    use super::*;
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
