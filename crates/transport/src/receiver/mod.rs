//! The receiving end of a connection.

mod fast_path;
mod faults;
mod handshake;

use crate::config::Config;
use crate::flow_control::Window;
use crate::id::SubflowId;
use crate::options::{AckOptions, SackBlocks};
use crate::quickack::Quickack;
use crate::reassembly::Reassembly;
use crate::reporting::Reporting;
use crate::segment::{Output, Segment};
use crate::seq::{FIRST_BYTE, Seq};
use crate::timer::Timer;
use faults::Faulty;
use handshake::Repeats;
use linkpool_engine::prefetch_place;
use linkpool_units::Time;
use smallvec::SmallVec;
use std::sync::Arc;

/// The effect of a segment's arrival on the receiving application.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Delivery {
    /// No effect.
    None,
    /// The stream is complete, for the first time.
    Complete,
    /// The sender is done, so the receiver can be removed.
    Closed,
}

/// The receiving end of a connection: reassembles the subflows and the stream, sends ACKs, and
/// echoes each mark.
///
/// The fields that every segment with data reads or writes come first.
#[derive(Debug)]
#[repr(C)]
pub struct Receiver {
    /// The data of each subflow that has arrived. That of a single subflow is in the receiver itself: data
    /// reads one cache line less.
    arrived: SmallVec<[Reassembly; 1]>,
    data: Reassembly,
    /// End of the stream, once it is known.
    end: u64,
    last_heard: Time,
    complete: bool,
    /// May data take the fast path?
    fast: bool,
    /// The subflows on which data with PSH waits for a delayed ACK, one bit each.
    pushed: u32,
    subflows: Vec<Incoming>,
    config: Arc<Config>,
    /// The window of a limited buffer; `None` if the buffer is unlimited.
    window: Option<Box<Window>>,
    /// The faults of the subflows, if there are any.
    faulty: Option<Box<Faulty>>,
    duplicate_bytes: u64,
}

const _: () = assert!(std::mem::offset_of!(Receiver, subflows) == 64);

/// A subflow at the receiver: its handshake, its ACKs that are delayed, and what they report.
#[derive(Debug)]
struct Incoming {
    timer: Timer,
    /// Number of packets that wait for a delayed ACK.
    pending: u32,
    /// The mark of these packets (DCTCP.CE, RFC 8257, section 3.2).
    ce: bool,
    /// Has the third segment of the handshake arrived?
    confirmed: bool,
    /// The timer of its SYN-ACK, if the sender does not repeat its SYN.
    repeats: Option<Box<Repeats>>,
    reporting: Reporting,
    quickack: Quickack,
}

impl Receiver {
    /// Creates the receiver of a connection whose SYN has just arrived.
    pub fn new(config: Arc<Config>) -> Receiver {
        let mut receiver = Receiver {
            arrived: SmallVec::new(),
            subflows: Vec::new(),
            data: Reassembly::new(0),
            end: u64::MAX,
            complete: false,
            window: Window::new(config.buffers, config.mss),
            duplicate_bytes: 0,
            pushed: 0,
            fast: false,
            last_heard: Time::ZERO,
            faulty: Faulty::new(config.multipath.faults),
            config,
        };
        receiver.fast = receiver.has_fast_path();
        receiver
    }

    /// A segment has arrived on subflow `s`. `ce`: a switch has marked it.
    pub fn on_segment(
        &mut self,
        s: SubflowId,
        segment: Segment,
        ce: bool,
        now: Time,
        out: &mut impl Output,
    ) -> Delivery {
        self.last_heard = now;
        match segment {
            Segment::Data { seq, data_seq, len, last, cwr, push, .. } => {
                self.on_data(s, (seq, data_seq, len, last), (ce, cwr, push), now, out)
            }
            Segment::Syn { ecn, .. } => {
                while self.subflows.len() <= s.index() {
                    self.arrived.push(Reassembly::new(FIRST_BYTE));
                    self.subflows.push(Incoming {
                        pending: 0,
                        ce: false,
                        timer: Timer::new(),
                        confirmed: false,
                        repeats: None,
                        reporting: Reporting::default(),
                        quickack: Quickack::default(),
                    });
                }
                let ecn = ecn && self.config.accept_ecn;
                out.send(s, Segment::SynAck { ecn });
                self.repeat_later(s, ecn, now, out);
                Delivery::None
            }
            Segment::Fin { .. } => Delivery::Closed,
            Segment::Ack { .. } => {
                self.on_third(s, now, out);
                Delivery::None
            }
            Segment::SubflowFin { .. } if self.config.multipath.faults.fin_reset && self.awaits_handshake(s) => {
                out.send(s, Segment::Reset);
                Delivery::Closed
            }
            Segment::SubflowFin { seq } => {
                self.on_subflow_fin(s, seq, out);
                Delivery::None
            }
            Segment::Trimmed { seq, len } => {
                self.on_trimmed(s, seq, len, out);
                Delivery::None
            }
            Segment::SynAck { .. } | Segment::Reset | Segment::Nack { .. } => Delivery::None,
        }
    }

    /// A segment with data has arrived on subflow `s`: its place in the subflow's stream and in the
    /// connection's, its length, and whether the stream ends with it; its marks CE, CWR and PSH. As
    /// [`Receiver::on_segment`].
    pub fn on_data(
        &mut self,
        s: SubflowId,
        place: (Seq, Seq, u16, bool),
        marks: (bool, bool, bool),
        now: Time,
        out: &mut impl Output,
    ) -> Delivery {
        self.last_heard = now;
        match self.on_data_fast(s, place, marks.0, out) {
            Some(delivery) => delivery,
            None => self.on_data_slowly(s, place, marks, now, out),
        }
    }

    /// Data that cannot take the fast path.
    #[inline(never)]
    fn on_data_slowly(
        &mut self,
        s: SubflowId,
        (seq, data_seq, len, last): (Seq, Seq, u16, bool),
        (ce, cwr, push): (bool, bool, bool),
        now: Time,
        out: &mut impl Output,
    ) -> Delivery {
        let Some(subflow) = self.subflows.get_mut(s.index()) else {
            return Delivery::None;
        };
        let start = seq.near(self.arrived[s].next());
        let data_start = data_seq.near(self.data.next());
        let data_end = data_start + len as u64;
        // RFC 8257, section 3.2: when the mark changes, first acknowledge the data that came with
        // the old mark.
        let changes = ce != subflow.ce;
        if subflow.pending > 0 && changes {
            self.acknowledge(s, None, now, out);
        }
        let (subflow, arrived) = (&mut self.subflows[s], &mut self.arrived[s]);
        subflow.ce = ce;
        let in_order = start == arrived.next() && !arrived.has_gap();
        let end = start + len as u64;
        let new_here = arrived.insert(start, end);
        let duplicate = (!new_here && len > 0).then_some((start, end));
        if start > arrived.next() && self.config.recovery.has_sacks() {
            subflow.reporting.note(arrived, start);
        }
        subflow.pending += 1;
        let mut at_once = false;
        if self.config.quickack() {
            // A sender that has cut its window may have room for no more than this segment (Linux,
            // `dctcp_ece_ack_update` in net/ipv4/tcp_dctcp.h, `tcp_ecn_accept_cwr` in tcp_input.c).
            at_once = changes || cwr;
            subflow.quickack.on_data(&self.config, now);
            if duplicate.is_some() {
                subflow.quickack.begin(&self.config);
            }
        }
        if push && self.config.push_acks() {
            self.pushed |= s.bit();
        }
        let (read, continues) = (self.data.next(), data_start <= self.data.next());
        if !self.data.insert(data_start, data_end) && new_here {
            self.duplicate_bytes += len as u64;
        }
        if self.faulty.is_some() {
            self.acknowledge_faultily(s, (start, end), continues, new_here);
        }
        let subflow = &mut self.subflows[s];
        if let Some(window) = &mut self.window {
            window.deliver(self.data.next(), now);
            at_once |= window.announces(now);
        }
        if last {
            self.end = data_end;
        }
        // Segments that are out of order, fill a gap or end the stream are acknowledged at once
        // (RFC 5681, section 4.2).
        if !in_order || last || subflow.pending >= self.config.ack_every || subflow.quickack.is_on() || at_once {
            self.acknowledge(s, duplicate, now, out);
        } else {
            if !subflow.timer.is_set() {
                subflow.timer.set(s, now + self.config.ack_delay, out);
            }
            self.window.iter_mut().for_each(|window| window.watch(out));
        }
        if self.pushed != 0 && self.data.next() > read && !self.data.has_gap() {
            self.acknowledge_pushed(now, out);
        }
        if self.faulty.is_some() && continues {
            self.answer_fin(s, out);
        }
        self.delivery()
    }

    /// Is the stream complete, for the first time?
    #[inline]
    fn delivery(&mut self) -> Delivery {
        let completes = !self.complete && self.data.next() == self.end;
        self.complete |= completes;
        if completes { Delivery::Complete } else { Delivery::None }
    }

    /// A header has arrived without its payload. Sends a NACK at once unless another copy of the
    /// data has arrived (Handley et al., SIGCOMM 2017, section 3.2, rule for NACKs).
    fn on_trimmed(&mut self, s: SubflowId, seq: Seq, len: u16, out: &mut impl Output) {
        let Some(arrived) = self.arrived.get(s.index()) else { return };
        let start = seq.near(arrived.next());
        if arrived.first_gap(start, start + u64::from(len)).is_some() {
            out.send(s, Segment::Nack { seq });
        }
    }

    /// The window that an ACK on subflow `s` offers.
    #[inline(never)]
    fn offer(&mut self, s: SubflowId, now: Time, out: &mut impl Output) -> Option<u32> {
        let window = self.window.as_mut()?;
        let offer = window.offer(now);
        window.offered(s, out);
        Some(offer)
    }

    #[inline]
    fn acknowledge(&mut self, s: SubflowId, duplicate: Option<(u64, u64)>, now: Time, out: &mut impl Output) {
        let window = if self.window.is_some() { self.offer(s, now, out) } else { None };
        let (subflow, arrived) = (&mut self.subflows[s], &self.arrived[s]);
        self.pushed &= !s.bit();
        subflow.pending = 0;
        subflow.quickack.spend();
        subflow.timer.clear();
        let ack = Seq::of(self.faulty.as_ref().map_or(arrived.next(), |faulty| faulty.acked(s)));
        let (data_ack, ece) = (Seq::of(self.data.next()), subflow.ce);
        let reports = (duplicate.is_some() || arrived.has_gap()) && self.config.recovery.has_sacks();
        if !reports && window.is_none() {
            return out.send(s, Segment::Ack { ack, data_ack, ece, options: None });
        }
        let sack = if reports { subflow.reporting.blocks(arrived, duplicate) } else { SackBlocks::default() };
        out.send(s, Segment::Ack { ack, data_ack, ece, options: Some(AckOptions { window, sack }) });
    }

    /// The application has read all that has come, on any subflow. What had PSH is acknowledged, on
    /// each subflow where ACKs are delayed (Linux: `tcp_measure_rcv_mss` notes PSH, and
    /// `tcp_cleanup_rbuf` and, of MPTCP, `mptcp_cleanup_rbuf` look whether nothing is left to read).
    #[inline(never)]
    fn acknowledge_pushed(&mut self, now: Time, out: &mut impl Output) {
        if let Some(window) = self.window.as_mut().filter(|window| !window.is_read(now)) {
            return window.await_read(out);
        }
        while self.pushed != 0 {
            self.acknowledge(self.pushed.trailing_zeros().into(), None, now, out);
        }
    }

    /// The timer of subflow `s` may be due. A wake-up that was not asked for does no harm.
    pub fn on_timer(&mut self, s: SubflowId, now: Time, out: &mut impl Output) {
        let Some(subflow) = self.subflows.get_mut(s.index()) else {
            return;
        };
        if subflow.timer.has_passed(s, now, out) {
            self.acknowledge(s, None, now, out);
        }
        self.repeat_syn_ack(s, now, out);
        let Some(window) = &mut self.window else { return };
        let (announces, read) = window.look(s, now, out);
        if let Some(on) = announces {
            self.acknowledge(on, None, now, out);
        }
        if read {
            self.acknowledge_pushed(now, out);
        }
    }

    /// Prefetches the memory that the next segment of subflow `s` will read and write, in two stages as
    /// [`crate::Sender::prefetch`]. Only the speed changes.
    #[inline]
    pub fn prefetch(&self, s: SubflowId, stage: usize) {
        if stage == 1 {
            prefetch_place(&self.arrived, s.index());
        }
        self.data.prefetch_ranges(stage);
    }

    /// Bytes delivered in order to the application.
    pub fn delivered(&self) -> u64 {
        self.data.next()
    }

    /// Bytes that arrived for the first time on one subflow after they had arrived on another.
    pub fn duplicate_bytes(&self) -> u64 {
        self.duplicate_bytes
    }

    /// Has the whole stream been delivered to the application?
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// The time at which the last segment of the sender arrived.
    pub fn last_heard(&self) -> Time {
        self.last_heard
    }
}

#[cfg(test)]
mod tests {
    use super::{Incoming, Reassembly};

    /// Of docs/engine.md, "Memory".
    #[test]
    fn a_subflow_takes_so_many_bytes() {
        assert_eq!((size_of::<Incoming>(), size_of::<Reassembly>()), (80, 16));
    }
}
