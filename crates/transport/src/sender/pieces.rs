//! Pieces of the connection's stream that wait in the sender for a subflow.

use super::limits::Limits;
use super::pacer::linux_rate;
use super::schedule::Schedule;
use super::stream::{Piece, Stream};
use crate::config::Config;
use crate::congestion::CongestionState;
use crate::control::{CongestionControl, Control};
use crate::id::SubflowId;
use crate::multipath::PacketScheduler;
use crate::send_buffer::FRAGMENT;
use crate::subflow::Subflow;
use std::collections::{BTreeMap, VecDeque};

/// Bytes that the scheduler assigns to one subflow before it chooses again (Linux,
/// `MPTCP_SEND_BURST_SIZE`).
const BURST: u64 = 1 << 16;

/// The waiting pieces of a connection.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    /// Pieces of subflows whose path does not work, for any other subflow. The key is the first
    /// byte; the value is the length, and whether a subflow has sent the piece.
    again: BTreeMap<u64, (u16, bool)>,
    /// Assigned pieces by subflow; empty if the scheduler assigns none in advance.
    apart: Box<[Apart]>,
    /// The subflow that needs the least time to send its data, and this time, in ps, if its buffer is
    /// full; `None` if that is not known. New data waits for it.
    soonest: Option<(SubflowId, f64)>,
}

/// The pieces assigned to a subflow, until its window has room.
#[derive(Debug, Default)]
struct Apart {
    queue: VecDeque<Piece>,
    /// Rate at which the subflow is expected to send, packets per ps; 0 while it is not known.
    rate: f64,
}

impl Apart {
    /// Updates the weighted mean of rates: `before` bytes of memory are taken, and `burst` more are
    /// assigned at `rate`.
    fn follow_rate(&mut self, rate: f64, before: f64, burst: f64) {
        self.rate = (self.rate * before + rate * burst) / (before + burst);
    }
}

impl Pieces {
    /// Creates the list of waiting pieces, or `None` if no piece of this connection can wait.
    pub(super) fn new(scheduler: PacketScheduler, subflows: usize) -> Option<Box<Pieces>> {
        let apart = (0..subflows).map(|_| Apart::default()).collect();
        let again = BTreeMap::new();
        (scheduler == PacketScheduler::LowestTimeToSend && subflows > 1)
            .then(|| Box::new(Pieces { again, apart, soonest: None }))
    }

    /// Adds `pieces` that other subflows have to send. `sent`: a subflow has sent them before.
    pub(super) fn send_again(&mut self, pieces: impl Iterator<Item = Piece>, sent: bool) {
        self.again.extend(pieces.map(|(first, len)| (first, (len, sent))));
    }

    /// Something has changed that decides which subflow needs the least time.
    pub(super) fn forget_soonest(&mut self) {
        self.soonest = None;
    }

    /// Frees the pieces assigned to subflow `s`, so that any subflow may send them.
    pub(super) fn give_back(&mut self, s: SubflowId) {
        self.forget_soonest();
        if let Some(apart) = self.apart.get_mut(s.index()) {
            let queue = std::mem::take(&mut apart.queue);
            self.send_again(queue.into_iter(), false);
        }
    }

    /// Is a packet that ends at `end` the last that is assigned to subflow `s`, or does another part
    /// of the stream follow there?
    pub(super) fn is_last(&self, s: SubflowId, end: u64) -> bool {
        self.apart.get(s.index()).is_some_and(|apart| apart.queue.front().is_none_or(|(next, _)| *next != end))
    }

    /// Takes the first piece to be sent again that does not end before `data_una`. Returns it, and
    /// whether a subflow has sent it before.
    fn take_again(&mut self, data_una: u64) -> Option<(Piece, bool)> {
        loop {
            let (first, (len, sent)) = self.again.pop_first()?;
            if first + len as u64 > data_una {
                return Some(((first, len), sent));
            }
        }
    }
}

/// What the scheduler sees of a connection when it assigns data.
pub(super) struct Scene<'a> {
    pub(super) states: &'a [CongestionState],
    pub(super) subflows: &'a [Subflow],
    pub(super) schedule: &'a Schedule,
    pub(super) control: &'a Control,
    pub(super) config: &'a Config,
    pub(super) stream: &'a mut Stream,
    pub(super) limits: &'a mut Limits,
}

impl Pieces {
    /// Takes the next piece assigned to subflow `s`; `Err` if other pieces come first, or none is
    /// assigned in advance.
    #[inline]
    pub(super) fn take_assigned(&mut self, s: SubflowId) -> Result<Option<Piece>, ()> {
        match self.apart.get_mut(s.index()) {
            Some(apart) if self.again.is_empty() => Ok(apart.queue.pop_front()),
            _ => Err(()),
        }
    }

    /// Takes the next piece for subflow `s`: first data that other subflows could not deliver, then
    /// pieces assigned to it. Returns it, and whether a subflow has sent it before; `Err` if no piece
    /// waits any more. `may_carry`: the subflow may get new data; data before `acked` is acknowledged.
    pub(super) fn take_any(&mut self, s: SubflowId, may_carry: bool, acked: u64) -> Result<Option<(Piece, bool)>, ()> {
        if may_carry && let Some(again) = self.take_again(acked) {
            self.forget_soonest();
            return Ok(Some(again));
        }
        match self.apart.get_mut(s.index()) {
            Some(apart) => Ok(apart.queue.pop_front().map(|piece| (piece, false))),
            None if may_carry => Err(()),
            None => Ok(None),
        }
    }

    /// After an ACK on subflow `s`, if ACKs may take the fast path: only `s` has less data to send than
    /// before. So if another subflow needs the least time still, and its buffer is full, no data is
    /// assigned. Is it so?
    #[inline]
    pub(super) fn assigns_nothing(&self, s: SubflowId, subflow: &Subflow, stream: &Stream, control: &Control) -> bool {
        if let (Some((soonest, least)), Some(apart)) = (self.soonest, self.apart.get(s.index()))
            && stream.nxt < stream.limit
            && apart.rate > 0.0
            && s != soonest
            && !control.suppresses()
        {
            let linger = (subflow.sent.len() + apart.queue.len()) as f64 / apart.rate;
            return least < linger || least == linger && soonest < s;
        }
        false
    }

    /// Assigns new data in bursts, each to the subflow that needs the least time to send its data,
    /// until the send buffer of that subflow is full (Linux, `mptcp_subflow_get_send` in
    /// net/mptcp/protocol.c). A fragment is assigned as a whole (`__subflow_push_pending`).
    #[inline(never)]
    pub(super) fn assign(&mut self, scene: Scene<'_>) {
        self.forget_soonest();
        if scene.stream.nxt >= scene.stream.limit || self.apart.is_empty() {
            return;
        }
        while scene.stream.nxt < scene.stream.limit
            && let Some((s, least)) = self.find_soonest(&scene)
        {
            if !self.has_memory(s, &scene) {
                self.soonest = Some((s, least));
                break;
            }
            self.follow_rate(s, &scene);
            let end = scene.stream.nxt + BURST;
            while scene.stream.nxt < end && self.has_memory(s, &scene) {
                let fragment = scene.stream.nxt + FRAGMENT;
                while scene.stream.nxt < fragment
                    && let Some(piece) = scene.limits.fresh(scene.stream, scene.config)
                {
                    self.apart[s].queue.push_back(piece);
                }
                if scene.stream.nxt >= scene.stream.limit {
                    break;
                }
            }
        }
    }

    /// The subflow that needs the least time to send its data, and this time.
    fn find_soonest(&mut self, scene: &Scene<'_>) -> Option<(SubflowId, f64)> {
        let mut best: Option<(SubflowId, f64)> = None;
        let numbers = SubflowId::first(scene.subflows.len());
        for s in numbers.filter(|s| scene.schedule.may_carry(scene.control, *s)) {
            let rate = &mut self.apart[s].rate;
            if *rate == 0.0 {
                *rate = linux_rate(&scene.states[s], scene.subflows[s].in_flight).unwrap_or(0.0);
            }
            // Before the first RTT sample the time is not known and counts as zero.
            let linger = if *rate > 0.0 { self.held(s, scene) as f64 / self.apart[s].rate } else { 0.0 };
            if best.is_none_or(|(_, least)| linger < least) {
                best = Some((s, linger));
            }
        }
        best
    }

    /// Updates the expected rate of subflow `s`, to which a burst is about to be assigned. The rate
    /// is a mean, weighted by bytes, of the pacing rates at the time of each assignment.
    fn follow_rate(&mut self, s: SubflowId, scene: &Scene<'_>) {
        let rate = linux_rate(&scene.states[s], scene.subflows[s].in_flight);
        if let (Some(rate), Some(buffers)) = (rate, &scene.limits.buffers) {
            let before = buffers.memory_of(self.held(s, scene));
            self.apart[s].follow_rate(rate, before as f64, BURST as f64);
        }
    }

    /// Packets of subflow `s`, in flight or assigned.
    fn held(&self, s: SubflowId, scene: &Scene<'_>) -> usize {
        scene.subflows[s].sent.len() + self.apart[s].queue.len()
    }

    /// Is there room in the send buffer of subflow `s`?
    fn has_memory(&self, s: SubflowId, scene: &Scene<'_>) -> bool {
        let packets = self.held(s, scene);
        scene.limits.buffers.as_ref().is_some_and(|buffers| buffers.has_room(s.index(), packets))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Sender;
    use super::*;
    use crate::control::testing::state;
    use crate::multipath::Multipath;
    use crate::outstanding::Sent;
    use crate::send_buffer::SendBuffer;
    use crate::seq::Seq;
    use linkpool_settings::{Preset, Settings as _};
    use linkpool_units::Time;
    use std::sync::Arc;

    #[test]
    fn the_rate_of_what_is_set_apart_is_weighted_by_it() {
        let mut apart = Apart { rate: 2.0, ..Apart::default() };
        apart.follow_rate(4.0, 6.0, 2.0);
        assert_eq!(apart.rate, 2.5); // (2 x 6 + 4 x 2) / 8
        apart.follow_rate(1.0, 0.0, 3.0);
        assert_eq!(apart.rate, 1.0);
    }

    /// What follows on the same subflow continues the stream, or is another part of it, or nothing.
    #[test]
    fn the_last_piece_is_one_that_nothing_continues() {
        let (_, mut pieces) = two_subflows();
        pieces.apart[0].queue.push_back((3000, 1000));
        let last = |end: u64| [0, 1].map(|s: usize| pieces.is_last(SubflowId::new(s), end));
        assert_eq!([last(3000), last(2000)], [[false, true], [true, true]]);
        let one = Pieces::default();
        assert!(!one.is_last(SubflowId::FIRST, 3000), "nothing is assigned in advance");
    }

    fn scene(sender: &mut Sender) -> Scene<'_> {
        let Sender { config, states, subflows, stream, schedule, control, limits, .. } = sender;
        Scene { states, subflows, schedule, control, config, stream, limits }
    }

    /// Two subflows with windows of 10 and an RTT of 100 us, in slow start: both send 20 packets in
    /// 100 us, 2e-7 a picosecond. A packet takes 1,024 B of a send buffer.
    fn two_subflows() -> (Sender, Pieces) {
        let mut config = Config { subflows: 2, mss: 1024, ..Config::defaults(Preset::Linux) };
        config.multipath = Multipath { scheduler: PacketScheduler::LowestTimeToSend, ..config.multipath };
        (config.buffers.send, config.buffers.offload) = (SendBuffer::Auto, true);
        let mut sender = Sender::new(Arc::new(config), None);
        sender.schedule.eligible = 0b11;
        sender.states.iter_mut().for_each(|s| *s = CongestionState { ssthresh: f64::INFINITY, ..state(10.0) });
        let pieces = *sender.pieces.take().unwrap();
        (sender, pieces)
    }

    /// Four packets wait for each subflow. The rate of the first is known to be half of what its
    /// window says now, so it needs 40 us, the other 20 us: a rate that is known stays.
    #[test]
    fn the_rate_is_that_of_the_last_burst() {
        let (mut sender, mut pieces) = two_subflows();
        pieces.apart.iter_mut().for_each(|apart| apart.queue.extend([(0, 1024); 4]));
        pieces.apart[0].rate = 1e-7;
        assert_eq!(pieces.find_soonest(&scene(&mut sender)).map(|(s, _)| s), Some(SubflowId::new(1)));
        let rates = [0, 1].map(|s: usize| (pieces.apart[s].rate * 1e9).round());
        assert_eq!(rates, [100.0, 200.0]);
    }

    /// 64 packets are a burst, 65,536 B: the rate is half the earlier one and half that of today. A
    /// subflow without packets takes the rate of today.
    #[test]
    fn a_burst_changes_the_rate() {
        let (mut sender, mut pieces) = two_subflows();
        pieces.apart[0].queue.extend([(0, 1024); 64]);
        pieces.apart.iter_mut().for_each(|apart| apart.rate = 1e-7);
        sender.numbers().for_each(|s| pieces.follow_rate(s, &scene(&mut sender)));
        let rates = [0, 1].map(|s: usize| (pieces.apart[s].rate * 1e9).round());
        assert_eq!(rates, [150.0, 200.0]);
    }

    /// What is given back is for any subflow that may carry new data, before what is assigned to it and once, unless it
    /// has been acknowledged.
    #[test]
    fn pieces_given_back_are_for_any_subflow() {
        let (_, mut pieces) = two_subflows();
        let [first, second] = [0, 1].map(|s: usize| SubflowId::new(s));
        pieces.apart[0].queue.extend([(0, 1000), (1000, 1000), (2000, 1000)]);
        pieces.apart[1].queue.extend([(3000, 1000), (4000, 1000)]);
        assert_eq!(pieces.take_assigned(first), Ok(Some((0, 1000))));
        pieces.soonest = Some((second, 1.0));
        pieces.give_back(first);
        assert_eq!(pieces.soonest, None);
        assert_eq!(pieces.take_assigned(second), Err(()), "other pieces come first");
        assert_eq!(pieces.take_any(second, false, 0), Ok(Some(((3000, 1000), false))));
        assert_eq!(
            pieces.take_any(second, true, 2000),
            Ok(Some(((2000, 1000), false))),
            "all before 2,000 has arrived"
        );
        pieces.send_again([(3000, 1000)].into_iter(), true);
        assert_eq!(pieces.take_any(second, true, 2000), Ok(Some(((3000, 1000), true))), "it has been sent");
        assert_eq!(pieces.take_assigned(second), Ok(Some((4000, 1000))));
        assert_eq!([first, second].map(|s| pieces.take_any(s, true, 2000)), [Ok(None), Ok(None)]);
    }

    /// Three packets are assigned to each subflow and one is in flight, at 2 packets a picosecond: 2 ps. A subflow with
    /// a full buffer that needs less, or as much and comes first, is waited for.
    #[test]
    fn nothing_is_assigned_while_a_full_buffer_is_the_soonest() {
        let (mut sender, mut pieces) = two_subflows();
        sender.stream.limit = 1;
        for s in sender.numbers() {
            sender.subflows[s].sent.push_back(Sent::new(Time::ZERO, Seq(0), Seq(0)));
            pieces.apart[s].queue.extend([(0, 1024); 3]);
            pieces.apart[s].rate = 2.0;
        }
        let waits = |pieces: &Pieces, sender: &Sender, s: usize| {
            let s = SubflowId::new(s);
            pieces.assigns_nothing(s, &sender.subflows[s], &sender.stream, &sender.control)
        };
        for (least, expected) in [(1.9, [true, true]), (2.0, [false, true]), (2.1, [false, false])] {
            let found = [(0, 1), (1, 0)].map(|(s, soonest): (usize, usize)| {
                pieces.soonest = Some((SubflowId::new(soonest), least));
                waits(&pieces, &sender, s)
            });
            assert_eq!(found, expected, "{least}");
        }
        pieces.soonest = Some((SubflowId::new(0), 1.0));
        assert!(!waits(&pieces, &sender, 0), "itself");
        assert!(waits(&pieces, &sender, 1));
        pieces.apart[1].rate = 0.0;
        assert!(!waits(&pieces, &sender, 1), "its rate is not known");
        pieces.apart[1].rate = 2.0;
        sender.stream.nxt = 1;
        assert!(!waits(&pieces, &sender, 1), "there is no new data");
        sender.stream.nxt = 0;
        pieces.forget_soonest();
        assert!(!waits(&pieces, &sender, 1));
    }

    /// Bursts go to the subflow that needs the least time until its buffer is full, which the next ACK need not find out
    /// again: of 2 x 10 x 2,304 B, which the second fragment of 32 packets fills. 64 packets take 320 us. All pieces
    /// together are the stream, each byte once.
    #[test]
    fn bursts_are_assigned_until_the_soonest_is_full() {
        let (mut sender, mut pieces) = two_subflows();
        (sender.stream.size, sender.stream.limit) = (1 << 30, 1 << 30);
        for s in sender.numbers() {
            sender.limits.buffers.as_mut().unwrap().expand(s.index(), 10.0);
        }
        pieces.assign(scene(&mut sender));
        let held = [0, 1].map(|s: usize| pieces.apart[s].queue.len());
        let mut all: Vec<Piece> = pieces.apart.iter().flat_map(|apart| apart.queue.iter().copied()).collect();
        all.sort_unstable();
        assert_eq!(all, (0..all.len() as u64).map(|i| (1024 * i, 1024)).collect::<Vec<_>>());
        assert_eq!(sender.stream.nxt, 1024 * all.len() as u64);
        let (soonest, least) = pieces.soonest.unwrap();
        assert_eq!((soonest, held, (least / 1e6).round()), (SubflowId::FIRST, [64, 64], 320.0));
        let buffers = sender.limits.buffers.as_ref().unwrap();
        assert_eq!([44, 45].map(|packets| buffers.has_room(0, packets)), [true, false]);
        pieces.assign(scene(&mut sender));
        assert_eq!(pieces.apart.iter().map(|apart| apart.queue.len()).sum::<usize>(), 128, "it is full");
    }
}
