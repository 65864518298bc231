//! The sending end of a connection.

mod ack;
mod ahead;
mod delivery;
mod limits;
mod messages;
mod pacer;
mod pieces;
mod recovery;
mod schedule;
mod scheduler;
mod stream;
mod subflows;
mod timers;
mod transmit;
mod usage;
mod writes;

use crate::config::Config;
use crate::congestion::CongestionState;
use crate::control::{CongestionControl, Control, HookError, RateSample};
use crate::id::SubflowId;
use crate::metric::Metric;
use crate::multipath::{Faults, PacketScheduler};
use crate::reordering::Reordering;
use crate::segment::{Output, Segment};
use crate::seq::{FIRST_BYTE, Seq};
use crate::subflow::{OutstandingSegments, Subflow, SubflowStats};
use crate::threshold::DupackThreshold;
use limits::Limits;
use linkpool_units::Time;
use messages::Messages;
use pacer::Pacer;
use pieces::Pieces;
use recovery::Recovery;
use schedule::Schedule;
use scheduler::Scheduler;
use std::sync::Arc;
use stream::Stream;
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
    stream: Stream,
    schedule: Schedule,
    ways: Ways,
    control: Control,
    /// Data that waits for a subflow. `None` if data goes in order to any subflow with room.
    pieces: Option<Box<Pieces>>,
    /// What the scheduler remembers, if it holds data back or sends it on several subflows.
    scheduler: Option<Box<Scheduler>>,
    /// How subflows use their windows; `None` if they fill them.
    uses: Option<Box<Uses>>,
    limits: Limits,
    life: Life,
    /// When packets leave; `None` if windows alone say so.
    pacer: Option<Box<Pacer>>,
}

const _: () = assert!(std::mem::offset_of!(Sender, control) == 96);

/// Which way events take through the sender, as its connection uses many features or few. A feature
/// that a connection does not use costs it nothing on its way.
#[derive(Clone, Copy, Debug, Default)]
struct Ways {
    /// May ACKs take the fast path?
    fast: bool,
    /// Does it send data in order to any subflow, without SACKs, buffers, messages or PSH?
    plain: bool,
    /// Do the buffers at the two ends limit new data?
    limited: bool,
    /// Has a window room by the number of packets in flight alone, without pacing, and with limited
    /// transmit?
    by_flight: bool,
}

/// The life of a connection.
#[derive(Clone, Copy, Debug)]
struct Life {
    state: SenderState,
    started: Time,
    ended: Option<Time>,
}

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
            hops: 0,
        };
        let (limits, limited) = Limits::new(&config, n);
        let leaves_room = limits.buffers.is_some() || n > 1 && config.multipath.scheduler.waits();
        let mut sender = Sender {
            control: config.control.build(n),
            states: vec![state; n].into(),
            subflows: (0..n).map(|_| Subflow::new(&config)).collect(),
            stream: Stream::new(size.unwrap_or(u64::MAX)),
            schedule: Schedule::default(),
            ways: Ways { limited, ..Ways::default() },
            pieces: Pieces::new(config.multipath.scheduler, n),
            scheduler: Scheduler::new(config.multipath.scheduler, n),
            uses: leaves_room.then(|| Uses::new(n)),
            limits,
            life: Life { state: SenderState::Open, started: Time::ZERO, ended: None },
            pacer: None,
            config,
        };
        sender.pacer = Pacer::new(sender.config.pacing, &sender.control, n);
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

    /// Decides whether ACKs may take the fast path, and whether the connection is plain: it sends data in
    /// order to any subflow, without SACKs, buffers, windows of subflows, messages or PSH, and asks for none
    /// of them.
    fn choose_ways(&mut self) {
        let multipath = &self.config.multipath;
        self.ways.fast = matches!(multipath.scheduler, PacketScheduler::RoundRobin | PacketScheduler::LowestTimeToSend)
            && multipath.faults == Faults::default()
            && self.config.dupack_threshold != DupackThreshold::Adaptive
            && self.limits.messages.is_none()
            && !matches!(self.control, Control::Defined(_))
            && self.pacer.is_none();
        self.ways.by_flight = self.config.limited_transmit && self.pacer.is_none();
        self.ways.plain = self.ways.fast
            && !self.config.recovery.has_sacks()
            && !self.ways.limited
            && self.config.buffers.subflow_window == u64::MAX
            && self.limits.buffers.is_none()
            && self.pieces.is_none()
            && !self.config.push_acks();
    }

    /// Loss recovery of subflow `s`.
    #[inline(always)]
    fn recovery(&mut self, s: SubflowId) -> Recovery<'_> {
        let Sender { config, states, subflows, stream, control, limits, .. } = self;
        Recovery { s, states, subflow: &mut subflows[s], control, config, stream, limits }
    }

    /// [`Pacer::follow`], after subflow `s` may have sent, or its rate may have changed.
    #[inline]
    fn pace(&mut self, s: SubflowId, now: Time, out: &mut impl Output) {
        if let Some(pacer) = &mut self.pacer {
            if let Some(deliveries) = pacer.deliveries.get_mut(s.index()) {
                deliveries.note_sent(&self.subflows[s], now);
            }
            pacer.follow(s, (&self.states, &self.subflows[s]), &self.control, now, out);
        }
    }

    /// Lets the algorithm hear of the deliveries that an ACK on subflow `s` has told of, if it measures them.
    fn measure(&mut self, s: SubflowId, now: Time) {
        let Sender { states, subflows, control, pacer, .. } = self;
        let Some(pacer) = pacer.as_mut().filter(|pacer| !pacer.deliveries.is_empty()) else { return };
        let next_departure = pacer.next_departure(s);
        let (deliveries, subflow) = (&mut pacer.deliveries[s.index()], &subflows[s]);
        let Some(board) = &subflow.board else { return };
        let sample = RateSample { next_departure, ..deliveries.on_ack(&board.told, subflow, now) };
        if control.on_rate(states, s, &sample) {
            deliveries.limit();
        }
    }

    /// [`Limits::set`].
    fn set_limit(&mut self) {
        self.limits.set(&mut self.stream, &self.config);
    }

    /// [`Limits::expand`].
    #[inline(always)]
    fn expand_buffer(&mut self, s: SubflowId, least: u32) -> bool {
        let of = (s, &self.states[s], &self.subflows[s]);
        self.limits.expand(of, least, &mut self.stream, &self.config)
    }

    /// Does subflow 0 scatter its packets, and the others follow later (MMPTCP)?
    fn scatters_first(&self) -> bool {
        self.control.joins_later()
    }

    /// Sets the duplicate-ACK threshold of scattered subflows, whose packets overtake each other.
    pub fn expect_reordering(&mut self, dupack_threshold: u32) {
        self.scattered().iter_mut().for_each(|s| s.dupack_threshold = dupack_threshold);
    }

    /// There are so many switches on the path of each subflow.
    pub fn know_hops(&mut self, hops: &[u32]) {
        self.states.iter_mut().zip(hops).for_each(|(state, hops)| state.hops = *hops);
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
        self.life.started = now;
        self.send_syn(SubflowId::FIRST, now, out);
    }

    /// Sends no new data from now on. The connection ends when all data that was sent is
    /// acknowledged.
    pub fn stop(&mut self, now: Time, out: &mut impl Output) {
        self.stream.size = self.stream.nxt.min(self.stream.size);
        self.set_limit();
        self.finish_if_done(self.schedule.eligible.trailing_zeros().into(), now, out);
    }

    /// The connection stays open: its first message is the data that it has now, and
    /// [`Sender::extend`] adds others. Call it before [`Sender::open`].
    pub fn keep_open(&mut self) {
        self.limits.messages = Some(Box::new(Messages::new(self.stream.size)));
        self.uses = Some(Uses::new(self.subflows.len()));
        self.choose_ways();
    }

    /// Adds a message of `size` bytes, 1 or more, to the stream of a connection that stays open.
    pub fn extend(&mut self, size: u64, now: Time, out: &mut impl Output) {
        let Some(messages) = &mut self.limits.messages else { return };
        if self.life.state != SenderState::Open {
            return;
        }
        let end = messages.add(size, self.stream.una);
        if self.stream.nxt == self.stream.size {
            self.stream.size = end;
            self.set_limit();
        }
        self.transmit(now, out);
        if self.ways.limited {
            self.watch_window(now, out);
        }
        self.note_use(self.all(), now);
    }

    /// All subflows, one bit each.
    fn all(&self) -> u32 {
        u32::MAX >> (u32::BITS as usize - self.subflows.len())
    }

    /// Notes how subflows use their windows, after an event that concerns `subflows`, one bit each.
    #[inline(always)]
    fn note_use(&mut self, subflows: u32, now: Time) {
        if self.uses.is_some() {
            self.note_uses(subflows, now);
        }
    }

    #[inline(never)]
    fn note_uses(&mut self, subflows: u32, now: Time) {
        let Sender { config, states, subflows: all, control, uses, .. } = self;
        let Some(uses) = uses else { return };
        let reduced = uses.note(subflows, (states, all), control, config, now);
        if reduced != 0 {
            self.update_reduced(reduced);
        }
    }

    /// The windows of these subflows, one bit each, were reduced.
    #[inline(never)]
    fn update_reduced(&mut self, subflows: u32) {
        self.numbers().filter(|s| s.is_in(subflows)).for_each(|s| self.update_open(s));
    }

    /// After an event off the fast path that concerns `subflows`, one bit each: notes the use of
    /// their windows, and gives up if a hook of the algorithm has failed.
    #[inline]
    fn after_event(&mut self, subflows: u32, now: Time) {
        self.note_use(subflows, now);
        if let Some(pacer) = self.pacer.as_mut().filter(|pacer| !pacer.deliveries.is_empty()) {
            let data = self.stream.size - self.stream.nxt >= u64::from(self.config.mss);
            let all = pacer.deliveries.iter_mut().zip(&self.states).zip(&self.subflows);
            all.for_each(|((deliveries, state), subflow)| deliveries.note_data(data, state, subflow));
        }
        if self.control.hook_error().is_some() {
            self.give_up(now);
        }
    }

    /// Does data wait for its departure? Then the receiver's window does not hold it.
    fn awaits_departure(&self) -> bool {
        self.pacer.as_ref().is_some_and(|pacer| pacer.is_waiting())
    }

    /// [`Limits::watch`].
    #[inline]
    fn watch_window(&mut self, now: Time, out: &mut impl Output) {
        if self.awaits_departure() {
            return;
        }
        self.limits.watch(&self.stream, (&mut self.subflows, self.schedule.stale), &self.config, now, out);
    }

    /// The connection has ended. Nothing takes the fast path, which does not ask for that, from now on.
    fn end(&mut self, state: SenderState, now: Time) {
        (self.life.state, self.life.ended) = (state, Some(now));
        self.ways.fast = false;
    }

    /// The connection has failed.
    fn give_up(&mut self, now: Time) {
        self.end(SenderState::Failed, now);
    }

    #[inline]
    fn finish_if_done(&mut self, s: SubflowId, now: Time, out: &mut impl Output) {
        if self.stream.una >= self.stream.size && self.schedule.eligible != 0 {
            self.finish(s, now, out);
        }
    }

    /// All data is acknowledged: the connection ends, unless it stays open.
    #[inline(never)]
    fn finish(&mut self, s: SubflowId, now: Time, out: &mut impl Output) {
        if self.life.state == SenderState::Open && self.limits.messages.is_none() && !self.awaits_subflows() {
            self.end(SenderState::Finished, now);
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
        self.life.state
    }
    /// The time at which it was opened.
    pub fn started(&self) -> Time {
        self.life.started
    }
    /// The time at which its last data was acknowledged, or at which the sender gave up.
    pub fn ended(&self) -> Option<Time> {
        self.life.ended
    }
    /// Payload acknowledged at connection level, bytes.
    pub fn acked(&self) -> u64 {
        self.stream.una
    }
    /// Where the data must end that the receiver's window lets it send; `u64::MAX`: anywhere.
    pub fn offered(&self) -> u64 {
        self.limits.edge
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
    /// Prefetches the memory that the next ACK of subflow `s` will read and write; `marked`: it echoes a
    /// mark. Call it twice, with `stage` 1 and then 2: the second stage follows a pointer that the
    /// first stage fetches. Only the speed changes (`docs/engine.md`).
    #[inline]
    pub fn prefetch(&self, s: SubflowId, marked: bool, stage: usize) {
        // The packet may belong to an earlier connection in this slot, which had more subflows.
        let Some(subflow) = self.subflows.get(s.index()) else { return };
        if stage > 1 {
            return subflow.sent.prefetch_ends();
        }
        ahead::prefetch_subflow(subflow, marked);
        ahead::prefetch_control(&self.control, &self.states, s);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::LossRecovery;
    use crate::flow_control::Buffers;
    use crate::send_buffer::SendBuffer;
    use linkpool_settings::{Preset, Settings as _};

    #[test]
    fn a_connection_with_a_feature_of_its_own_is_not_plain() {
        let ways = |change: fn(&mut Config)| {
            let mut config = Config { subflows: 2, recovery: LossRecovery::NewReno, ..Config::defaults(Preset::Linux) };
            config.push_acks = false;
            (config.multipath.scheduler, config.buffers) = (PacketScheduler::RoundRobin, Buffers::default());
            change(&mut config);
            let Ways { fast, plain, .. } = Sender::new(Arc::new(config), None).ways;
            (fast, plain)
        };
        assert_eq!(ways(|_| ()), (true, true));
        assert_eq!(ways(|config| config.recovery = LossRecovery::Reno), (true, true));
        assert_eq!(ways(|config| config.recovery = LossRecovery::Sack), (true, false));
        assert_eq!(ways(|config| config.recovery = LossRecovery::Rack), (true, false));
        assert_eq!(ways(|config| config.buffers.send = SendBuffer::Auto), (true, false));
        assert_eq!(ways(|config| config.buffers.receive = 100_000), (true, false));
        assert_eq!(ways(|config| config.buffers.subflow_window = 100_000), (true, false));
        assert_eq!(ways(|config| config.multipath.scheduler = PacketScheduler::LowestRtt), (false, false));
        assert_eq!(ways(|config| config.multipath.faults.no_data_ack = true), (false, false));
        assert_eq!(ways(|config| config.dupack_threshold = DupackThreshold::Adaptive), (false, false));
        assert_eq!(ways(|config| config.push_acks = true), (true, false));
    }

    /// The fast path knows one end of the stream only.
    #[test]
    fn a_connection_with_messages_has_no_fast_line() {
        let config = Config { recovery: LossRecovery::NewReno, push_acks: false, ..Config::defaults(Preset::Linux) };
        let mut sender = Sender::new(Arc::new(config), Some(10_000));
        assert!(sender.ways.fast && sender.ways.plain);
        sender.keep_open();
        assert!(!sender.ways.fast && !sender.ways.plain);
    }
}
