//! The sending end of a connection.

mod failure;
mod fast_path;
mod fins;
mod flow_control;
mod frto;
mod handshake;
mod messages;
mod nack;
mod pieces;
mod push;
mod rack;
mod recovery;
mod selective;
mod transmit;
mod undo;
mod usage;

use crate::config::Config;
use crate::congestion::CongestionState;
use crate::control::{CongestionControl, Control, HookError};
use crate::flow_control::Buffers;
use crate::id::SubflowId;
use crate::metric::Metric;
use crate::multipath::PacketScheduler;
use crate::reordering::Reordering;
use crate::segment::{Output, Segment};
use crate::send_buffer::{SendBuffer, SendBuffers};
use crate::seq::{FIRST_BYTE, Seq};
use crate::subflow::{OutstandingSegments, State, Subflow, SubflowStats};
use crate::threshold::DupackThreshold;
use linkpool_engine::prefetch;
use linkpool_units::Time;
use messages::Messages;
use pieces::Pieces;
use push::Writes;
use std::hint::select_unpredictable;
use std::sync::Arc;
use usage::Uses;

/// The state of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SenderState {
    /// The connection opens, or carries data.
    Open,
    /// All data is acknowledged.
    Finished,
    /// The sender gave up: it established no subflow, or all established subflows failed.
    Failed,
}

/// The sending end of a connection: subflows with coupled windows, which carry one stream of data.
///
/// The fields that every ACK reads or writes come first, then the algorithm, whose size differs.
#[derive(Debug)]
#[repr(C)]
pub struct Sender {
    config: Arc<Config>,
    states: Box<[CongestionState]>,
    subflows: Box<[Subflow]>,
    /// End of the stream; `u64::MAX` while it is not known. Of a connection that stays open, the
    /// end of the message that is being sent.
    size: u64,
    /// First byte of the stream not yet given to a subflow.
    data_nxt: u64,
    /// First byte not acknowledged at connection level.
    data_una: u64,
    /// New data ends before this.
    limit: u64,
    /// The subflows whose windows have room, one bit each.
    open: u32,
    /// Eligible subflows: they may get new data if the algorithm allows it, one bit each.
    eligible: u32,
    /// The number of the next subflow of round robin.
    next: u8,
    /// May ACKs take the fast path?
    fast: bool,
    /// Does it send data in order to any subflow, without SACKs, buffers, messages or PSH?
    plain: bool,
    /// Do the buffers at the two ends limit new data?
    limited: bool,
    /// Do further subflows wait until `joins_now` of the algorithm returns true?
    joins_wait: bool,
    state: SenderState,
    control: Control,
    /// Data that waits for a subflow. `None` if data goes in order to any subflow with room.
    pieces: Option<Box<Pieces>>,
    /// How subflows use their windows; `None` if they fill them.
    uses: Option<Box<Uses>>,
    /// The send buffers of several subflows; `None` if they limit nothing.
    send_buffers: Option<Box<SendBuffers>>,
    /// Where the application's writes end; `None` if nothing is pushed for that.
    writes: Option<Box<Writes>>,
    /// The messages of a connection that stays open.
    messages: Option<Box<Messages>>,
    /// One beyond the last byte that the receiver has room for.
    edge: u64,
    /// The stale subflows, one bit each.
    stale: u32,
    /// The stale subflows whose data other subflows have taken over, one bit each.
    rescued: u32,
    /// The subflows whose FIN has no answer yet, one bit each ([`crate::Faults::fin_timeouts`]).
    unanswered: u32,
    started: Time,
    ended: Option<Time>,
}

const _: () = assert!(std::mem::offset_of!(Sender, control) == 88);

impl Sender {
    /// Creates the sender of `size` bytes, or with `None` of data without end.
    pub fn new(config: Arc<Config>, size: Option<u64>) -> Sender {
        let n = config.subflows;
        Sender::with_subflows(config, n, size)
    }

    /// The same with `n` subflows instead of the number in `config`.
    pub fn with_subflows(config: Arc<Config>, n: usize, size: Option<u64>) -> Sender {
        let state = CongestionState {
            cwnd: config.initial_window as f64,
            ssthresh: config.ssthresh(),
            srtt: 0.0,
            snd_una: FIRST_BYTE,
            snd_nxt: FIRST_BYTE,
            cut_until: 0,
            established: false,
            in_recovery: false,
        };
        let control = config.control.build(n);
        let (grows, assigns) =
            (config.buffers.send == SendBuffer::Auto, config.multipath.scheduler == PacketScheduler::LowestTimeToSend);
        let buffered = n > 1 && (grows || assigns);
        let mut sender = Sender {
            control,
            states: vec![state; n].into(),
            subflows: (0..n).map(|_| Subflow::new(&config)).collect(),
            size: size.unwrap_or(u64::MAX),
            data_nxt: 0,
            data_una: 0,
            limit: 0,
            limited: config.buffers.send.fixed().min(config.buffers.receive) < u64::MAX || buffered && grows,
            fast: false,
            plain: false,
            // The SYN-ACK will offer this window.
            edge: config.buffers.receive,
            open: 0,
            eligible: 0,
            stale: 0,
            rescued: 0,
            unanswered: 0,
            next: 0,
            pieces: Pieces::new(config.multipath.scheduler, n),
            send_buffers: buffered.then(|| {
                let Buffers { headers, offload, .. } = config.buffers;
                Box::new(SendBuffers::new(n, config.mss, headers, offload))
            }),
            writes: Writes::new(&config, n),
            messages: None,
            uses: buffered.then(|| Uses::new(n)),
            joins_wait: false,
            state: SenderState::Open,
            started: Time::ZERO,
            ended: None,
            config,
        };
        sender.set_limit();
        sender.choose_ways();
        if sender.scatters_first() {
            // Packets of phase 2 are not scattered, so they are not reordered.
            sender.subflows[1..].iter_mut().for_each(|s| s.dupack_threshold = 3);
        }
        if sender.config.dupack_threshold == DupackThreshold::Adaptive {
            let mss = sender.config.mss;
            let boards = sender.scattered().iter_mut().filter_map(|s| s.board.as_mut());
            boards.for_each(|board| board.reordering = Some(Box::new(Reordering::new(mss))));
        }
        sender
    }

    /// Does subflow 0 scatter its packets, and the others follow later (MMPTCP)?
    fn scatters_first(&self) -> bool {
        self.control.joins_later()
    }

    /// Sets the duplicate-ACK threshold of scattered subflows, whose packets overtake each other.
    pub fn expect_reordering(&mut self, dupack_threshold: u32) {
        self.scattered().iter_mut().for_each(|s| s.dupack_threshold = dupack_threshold);
    }

    /// The subflows whose packets are scattered.
    fn scattered(&mut self) -> &mut [Subflow] {
        let scattered = if self.scatters_first() { 1 } else { self.subflows.len() };
        &mut self.subflows[..scattered]
    }

    /// The numbers of all subflows.
    fn numbers(&self) -> impl Iterator<Item = SubflowId> + use<> {
        SubflowId::first(self.subflows.len())
    }

    /// Opens the connection: sends the SYN of subflow 0.
    pub fn open(&mut self, now: Time, out: &mut impl Output) {
        self.started = now;
        self.send_syn(SubflowId::FIRST, now, out);
    }

    /// Sends no new data from now on. The connection ends when all data that was sent is
    /// acknowledged.
    pub fn stop(&mut self, now: Time, out: &mut impl Output) {
        self.size = self.data_nxt.min(self.size);
        self.set_limit();
        self.finish_if_done(self.eligible.trailing_zeros().into(), now, out);
    }

    /// A segment has arrived on subflow `s`.
    pub fn on_segment(&mut self, s: SubflowId, segment: Segment, now: Time, out: &mut impl Output) {
        match segment {
            Segment::Ack { ack, data_ack, ece, options: None } => self.on_bare_ack(s, (ack, data_ack, ece), now, out),
            other => self.on_other_segment(s, other, now, out),
        }
    }

    /// An ACK without options has arrived on subflow `s`: what it acknowledges of the subflow and of
    /// the connection's stream, and whether it echoes a mark. As [`Sender::on_segment`].
    #[inline]
    pub fn on_bare_ack(&mut self, s: SubflowId, news: (Seq, Seq, bool), now: Time, out: &mut impl Output) {
        let taken = match (self.fast, self.plain) {
            (false, _) => false,
            (true, false) => self.on_ack_fast::<false>(s, news, now, out),
            (true, true) => self.on_ack_fast::<true>(s, news, now, out),
        };
        if !taken {
            let (ack, data_ack, ece) = news;
            self.on_other_segment(s, Segment::Ack { ack, data_ack, ece, options: None }, now, out);
        }
    }

    /// A segment that cannot take the fast path.
    #[inline(never)]
    fn on_other_segment(&mut self, s: SubflowId, segment: Segment, now: Time, out: &mut impl Output) {
        if self.state != SenderState::Open {
            return;
        }
        // By reference, since options are large and most segments have none.
        match &segment {
            Segment::Ack { ack, data_ack, ece, options } => {
                let (ack, data_ack, ece, options) = (*ack, *data_ack, *ece, options.as_ref());
                if self.limited && self.take_window(s, ack, data_ack, options) {
                    self.transmit_after(s, now, out);
                } else {
                    self.on_ack(s, (ack, data_ack, ece), options, now, out);
                }
                self.note_writes(s);
                if self.send_buffers.is_some() && self.expand_buffer(s, 1) {
                    self.transmit_after(s, now, out);
                }
                if self.limited {
                    self.watch_window(now, out);
                }
            }
            Segment::Reset => self.give_up(now),
            Segment::SynAck { ecn } => self.on_syn_ack(s, *ecn, now, out),
            Segment::Nack { seq } => self.on_nack(s, *seq, now, out),
            Segment::SubflowFin { .. } => self.on_fin_answered(s),
            // The receiver never sends data.
            Segment::Syn { .. } | Segment::Data { .. } | Segment::Trimmed { .. } | Segment::Fin { .. } => {}
        }
        let concerns_one = self.fast && matches!(segment, Segment::Ack { .. });
        self.after_event(if concerns_one { s.bit() } else { self.all() }, now);
    }

    /// Call it when the timer of subflow `s` may be due. A needless call does no harm.
    pub fn on_timer(&mut self, s: SubflowId, now: Time, out: &mut impl Output) {
        let Some(subflow) = self.subflows.get_mut(s.index()) else {
            return;
        };
        if self.state != SenderState::Open || !subflow.timer.has_passed(s, now, out) {
            return;
        }
        match subflow.state {
            State::Closed => self.send_syn(s, now, out),
            State::SynSent => self.on_syn_timeout(s, now, out),
            State::Confirming => self.send_third(s, now, out),
            State::Established => {
                if !self.on_rack_timer(s, now, out) {
                    self.on_retransmission_timeout(s, now, out);
                }
            }
            State::Failed => {}
        }
        self.after_event(self.all(), now);
    }

    /// All subflows, one bit each.
    fn all(&self) -> u32 {
        u32::MAX >> (u32::BITS as usize - self.subflows.len())
    }

    /// After an event off the fast path that concerns these subflows, one bit each: notes the use of
    /// their windows, and gives up if a hook of the algorithm has failed.
    #[inline]
    fn after_event(&mut self, subflows: u32, now: Time) {
        if self.uses.is_some() {
            self.note_use(subflows, now);
        }
        if self.control.hook_error().is_some() {
            self.give_up(now);
        }
    }

    /// The connection has failed.
    fn give_up(&mut self, now: Time) {
        self.state = SenderState::Failed;
        self.ended = Some(now);
    }

    fn finish_if_done(&mut self, s: SubflowId, now: Time, out: &mut impl Output) {
        let is_done = self.state == SenderState::Open && self.data_una >= self.size && self.eligible != 0;
        if is_done && self.messages.is_none() && !self.awaits_subflows() {
            self.state = SenderState::Finished;
            self.ended = Some(now);
            out.send(s, Segment::Fin { seq: Seq::of(self.states[s].snd_nxt) });
        }
    }

    /// Is data of a subflow not acknowledged on it, which counts with a fault only
    /// ([`crate::Faults::no_data_ack`])?
    fn awaits_subflows(&self) -> bool {
        self.config.multipath.faults.no_data_ack && self.subflows.iter().any(|subflow| !subflow.sent.is_empty())
    }

    /// The error of a hook of the algorithm, if there is one. It ends the run.
    pub fn hook_error(&self) -> Option<&HookError> {
        self.control.hook_error()
    }
    /// The state of the connection.
    pub fn state(&self) -> SenderState {
        self.state
    }
    /// The time at which it was opened.
    pub fn started(&self) -> Time {
        self.started
    }
    /// The time at which its last data was acknowledged, or at which the sender gave up.
    pub fn ended(&self) -> Option<Time> {
        self.ended
    }
    /// Payload acknowledged at connection level, bytes.
    pub fn acked(&self) -> u64 {
        self.data_una
    }
    /// Where the data must end that the receiver's window lets it send; `u64::MAX`: anywhere.
    pub fn offered(&self) -> u64 {
        self.edge
    }
    /// Number of subflows, established or not.
    pub fn subflows(&self) -> usize {
        self.subflows.len()
    }
    /// Congestion state of subflow `s`.
    pub fn congestion(&self, s: SubflowId) -> &CongestionState {
        &self.states[s]
    }
    /// Counters of subflow `s`.
    pub fn stats(&self, s: SubflowId) -> SubflowStats {
        self.subflows[s].stats(&self.states[s])
    }
    /// Payload acknowledged on subflow `s`, bytes.
    pub fn acked_on(&self, s: SubflowId) -> u64 {
        self.states[s].snd_una - FIRST_BYTE
    }
    /// Prefetches the memory that the next ACK of subflow `s` will read and write; `marked`: it echoes a mark. Call it twice,
    /// with `stage` 1 and then 2: the second stage follows a pointer that the first stage fetches.
    /// Only the speed changes (`docs/performance.md`).
    #[inline]
    pub fn prefetch(&self, s: SubflowId, marked: bool, stage: usize) {
        // The packet may belong to an earlier connection in this slot, which had more subflows.
        let Some(subflow) = self.subflows.get(s.index()) else { return };
        if stage > 1 {
            return subflow.sent.prefetch_ends();
        }
        prefetch(&subflow.sent);
        prefetch(&subflow.timer);
        // No branch, since no processor can predict marks.
        prefetch(select_unpredictable(marked, &subflow.announced_until, &subflow.round_end));
        self.control.prefetch(&self.states, s);
    }
    /// The least RTT sample of subflow `s`.
    pub fn min_rtt(&self, s: SubflowId) -> Option<Time> {
        self.subflows[s].rtt.min()
    }
    /// Retransmission timeout of subflow `s`, back-off included.
    pub fn rto(&self, s: SubflowId) -> Time {
        self.subflows[s].rtt.rto(&self.config.rtt)
    }
    /// Does the congestion control algorithm keep subflow `s` from sending new data?
    pub fn is_suppressed(&self, s: SubflowId) -> bool {
        !self.control.is_active(s)
    }
    /// Reports the measures of the congestion control algorithm, each by its name in the results.
    pub fn metrics(&self, report: &mut dyn FnMut(Metric)) {
        self.control.metrics(report);
    }
    /// What the sender knows of the outstanding segments of subflow `s`.
    pub fn outstanding(&self, s: SubflowId) -> OutstandingSegments {
        self.subflows[s].outstanding()
    }
    /// Segments of subflow `s` in flight.
    pub fn in_flight(&self, s: SubflowId) -> u32 {
        self.subflows[s].in_flight
    }
}
