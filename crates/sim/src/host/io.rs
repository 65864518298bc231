//! The operations of an endpoint: send packets, and ask for wake-ups.

use crate::host::handle::Handle;
use crate::host::nic::Nic;
use crate::host::timer;
use linkpool_engine::{Stream, Timers};
use linkpool_network::{Egress, NodeId, Packet, Trailer, Written};
use linkpool_transport::uet::CreditRate;
use linkpool_transport::{SubflowId, TurnQueue};
use linkpool_units::{Rate, Time};

/// What endpoints of a host take turns for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TurnsFor {
    /// Receivers: to let a sender send.
    Grants,
    /// Senders: to put data on the links.
    Data,
}

impl TurnsFor {
    /// The key of the timer of the next turn.
    fn key(self) -> u64 {
        timer::TURNS | self as u64
    }

    /// What the timer `key` is for.
    pub(crate) fn of_key(key: u64) -> TurnsFor {
        if key as u32 == 0 { TurnsFor::Grants } else { TurnsFor::Data }
    }
}

/// The endpoints of a host that pace together.
#[derive(Debug)]
pub(crate) struct Turns {
    pub(crate) queue: TurnQueue,
    /// When the next turn is, as far as a timer is set for it.
    pub(crate) timer_at: Time,
    /// So many turns one after another were not used at this time, as the port holds the class of the endpoint back.
    skipped: usize,
    /// So many one after another were not used, each of which takes `each`, and no endpoint has begun to wait since.
    held: usize,
    each: Time,
    /// When one was not used for whose time all endpoints that wait are held back. The next turns follow from then on, and none
    /// is used for a while.
    held_at: Option<Time>,
}

impl Default for Turns {
    fn default() -> Turns {
        let (never, none) = (Time::MAX, Time::ZERO);
        Turns { queue: TurnQueue::default(), timer_at: never, skipped: 0, held: 0, each: none, held_at: None }
    }
}

impl Turns {
    /// An endpoint begins to wait at `now`.
    fn add(&mut self, (name, now): (u32, Time), priority: bool) {
        self.settle(now);
        self.held = 0;
        self.queue.add(name, priority);
    }

    /// An endpoint uses its turn.
    fn take(&mut self) {
        (self.skipped, self.held) = (0, 0);
    }

    /// An endpoint does not use its turn at `now`, which takes `each`, as the port holds it back at least until `until`. It waits
    /// again. With `separate` classes another endpoint may have the turn at once, unless all have been asked.
    fn hold(&mut self, (name, now): (u32, Time), each: Time, until: Time, separate: bool) {
        self.queue.add(name, false);
        self.held = if self.each == each { self.held + 1 } else { 1 };
        self.each = each;
        if separate && self.skipped < self.queue.waiting() {
            self.skipped += 1;
            return;
        }
        self.skipped = 0;
        let mut turns = 1;
        if self.held >= self.queue.waiting() && until > now {
            // All are held back: of the next turns, none before `until` is used.
            turns = (until - now).0.div_ceil(each.0);
            self.held_at = (turns > 1).then_some(now);
        }
        self.queue.spend(now, each * turns);
    }

    /// Something happens at the host at `now`: turns that were before it, and were not used, have gone round, and the next is due
    /// as if each had been asked for.
    fn settle(&mut self, now: Time) {
        if let Some(since) = self.held_at.take() {
            let gone = (now - since).0.saturating_sub(1) / self.each.0;
            self.queue.rotate(gone);
            self.queue.spend(since, self.each * (gone + 1));
        }
    }
}

/// The state that the endpoints of one host share.
#[derive(Debug)]
pub(crate) struct Shared {
    /// The host's source of randomness.
    pub(crate) random: Stream,
    /// The turns of its endpoints, by what they are for.
    pub(crate) turns: [Turns; 2],
    /// The rate of all its links together.
    pub(crate) rate: Rate,
    /// Has it one link?
    pub(crate) one_link: bool,
    /// Its adapter, if that takes time or has limits.
    pub(crate) nic: Option<Box<Nic>>,
    /// How fast its receivers of UET grant credit.
    pub(crate) credit_rate: CreditRate,
}

impl Shared {
    /// Do messages pass an adapter before they are at their endpoint?
    pub(crate) fn takes_messages_in(&self) -> bool {
        self.nic.as_ref().is_some_and(|nic| nic.holds_messages())
    }
}

/// The surroundings of an endpoint while it handles a packet or a timer.
#[derive(Debug)]
pub(crate) struct Io<'a> {
    pub(crate) now: Time,
    host: NodeId,
    pub(crate) shared: &'a mut Shared,
    network: &'a mut Egress,
    timers: &'a mut Timers,
}

impl<'a> Io<'a> {
    /// At `now`, for an endpoint of `host`.
    pub(crate) fn new(
        (now, host): (Time, NodeId),
        shared: &'a mut Shared,
        network: &'a mut Egress,
        timers: &'a mut Timers,
    ) -> Io<'a> {
        Io { now, host, shared, network, timers }
    }

    /// Sends `packet`.
    #[inline]
    pub(crate) fn send(&mut self, packet: &Packet) {
        self.network.send(self.now, packet);
    }

    /// Gives `packet`, which will be sent, a trailer.
    pub(crate) fn attach(&mut self, packet: &mut Packet, trailer: Trailer) {
        self.network.attach(packet, trailer);
    }

    /// Lets switches write records on `packet`, which will be sent and has its trailer.
    pub(crate) fn ask_for_telemetry(&mut self, packet: &mut Packet) {
        self.network.ask_for_telemetry(packet);
    }

    /// Lets switches write a digest on `packet`, which will be sent and has its trailer.
    pub(crate) fn ask_for_digest(&mut self, packet: &mut Packet) {
        self.network.ask_for_digest(packet);
    }

    /// Lets `packet`, which will be sent and has its trailer, tell what switches wrote on `other`,
    /// which has just come.
    pub(crate) fn tell_telemetry(&mut self, packet: &mut Packet, other: &Packet) {
        self.network.tell_telemetry(packet, other);
    }

    /// What switches wrote on a packet that has just come, or on that of which it tells.
    pub(crate) fn telemetry(&self, packet: &Packet) -> Written<'_> {
        self.network.telemetry(packet)
    }

    /// A packet that has just come as its host has sent it, see [`Egress::as_sent`].
    pub(crate) fn as_sent(&self, packet: &Packet) -> Packet {
        self.network.as_sent(packet)
    }

    /// Sends `packet` with a trailer.
    pub(crate) fn send_with(&mut self, packet: Packet, trailer: Trailer) {
        self.network.send_with(self.now, packet, trailer);
    }

    /// Sends `packet`, perhaps with a trailer, and returns when it will have left the host; see
    /// [`Egress::send_last`].
    pub(crate) fn send_last(&mut self, packet: Packet, trailer: Option<Trailer>) -> Time {
        self.network.send_last(self.now, packet, trailer)
    }

    /// The trailer of a packet that has just come.
    #[inline]
    pub(crate) fn trailer(&self, packet: &Packet) -> Option<&Trailer> {
        self.network.trailer(packet)
    }

    /// Puts the endpoint `handle`, which is not in it, into the queue for turns of its host:
    /// [`crate::host::endpoint::Endpoint::on_turn`] is called when its turn comes.
    pub(crate) fn queue_turn(&mut self, turns: TurnsFor, handle: Handle, priority: bool) {
        self.shared.turns[turns as usize].add((handle.raw(), self.now), priority);
        self.await_turns(turns);
    }

    /// Would an endpoint that takes its turn now take it from no other, and from no packet before?
    pub(crate) fn is_free(&self, turns: TurnsFor) -> bool {
        self.shared.turns[turns as usize].queue.is_free(self.now)
    }

    /// The endpoint whose turn it is uses it: the next turn is when `bytes` more bytes fit on the
    /// links of the host.
    pub(crate) fn spend_turn(&mut self, turns: TurnsFor, bytes: u64) {
        let time = self.time_of(bytes);
        let all = &mut self.shared.turns[turns as usize];
        all.held = 0;
        all.queue.spend(self.now, time);
    }

    /// In which time so many `bytes` fit on the links of the host.
    fn time_of(&self, bytes: u64) -> Time {
        self.shared.rate.time_of(bytes)
    }

    /// The endpoint whose turn it is has sent a packet of data of `size` bytes, of which `payload`
    /// are payload, that will have left at `left`, if that is known. On a host of one link the next
    /// turn is then, behind all that waits at the port; otherwise when so many more bytes fit on all
    /// links. In both cases it is when the adapter is ready, if that is later.
    pub(crate) fn spend_data_turn(&mut self, (size, payload): (u16, u16), left: Option<Time>) {
        let by_links = left.filter(|_| self.shared.one_link).unwrap_or_else(|| self.now + self.time_of(size.into()));
        let next = self.shared.nic.as_mut().map_or(by_links, |nic| nic.send(payload, self.now, by_links));
        let all = &mut self.shared.turns[TurnsFor::Data as usize];
        all.held = 0;
        all.queue.spend(next, Time::ZERO);
    }

    /// The endpoint `handle`, whose turn it is, does not use it, as the port holds its data back at least until `until`, and waits
    /// again: the next turn is when a packet of `bytes` would have left. Where ports have classes, another endpoint may have
    /// the turn at once, unless all have been asked.
    pub(crate) fn hold_turn(&mut self, turns: TurnsFor, handle: Handle, bytes: u64, until: Time) {
        let (each, separate) = (self.time_of(bytes), self.network.separates_classes());
        self.shared.turns[turns as usize].hold((handle.raw(), self.now), each, until, separate);
    }

    /// Something happens at the host, other than a turn for data.
    pub(crate) fn settle_turns(&mut self) {
        let data = &mut self.shared.turns[TurnsFor::Data as usize];
        if data.held_at.is_some() {
            data.settle(self.now);
            self.await_turns(TurnsFor::Data);
        }
    }

    /// The endpoint whose turn it is uses it.
    pub(crate) fn take_turn(&mut self, turns: TurnsFor) {
        self.shared.turns[turns as usize].take();
    }

    /// The number of endpoints that wait for a turn.
    pub(crate) fn waiting(&self, turns: TurnsFor) -> usize {
        self.shared.turns[turns as usize].queue.waiting()
    }

    /// Do packets wait at the port of the host that its switch has paused? Where ports have classes, data of this priority. If so,
    /// until when at least.
    pub(crate) fn held_until(&mut self, priority: u8) -> Option<Time> {
        self.network.held_until(self.now, priority)
    }

    /// A timer for turns is due. If it is the last that was set, the turns that are due are given until [`Io::end_turns`]: turns
    /// that were before, and were not used, have gone round, and no timer is set meanwhile.
    pub(crate) fn begin_turns(&mut self, turns: TurnsFor) -> bool {
        let all = &mut self.shared.turns[turns as usize];
        let is_last = all.timer_at == self.now;
        if is_last {
            all.settle(self.now);
        }
        is_last
    }

    /// The turns that are due have been given.
    pub(crate) fn end_turns(&mut self, turns: TurnsFor) {
        self.shared.turns[turns as usize].timer_at = Time::MAX;
        self.await_turns(turns);
    }

    /// Sets a timer for the next turn.
    pub(crate) fn await_turns(&mut self, turns: TurnsFor) {
        let all = &mut self.shared.turns[turns as usize];
        let Some(due) = all.queue.due() else { return };
        let at = due.max(self.now);
        if at < all.timer_at {
            all.timer_at = at;
            self.timers.push(self.host.index(), at, turns.key());
        }
    }

    /// Calls [`crate::host::endpoint::Endpoint::on_timer`] of the endpoint `handle` for `subflow`
    /// at `at`. Requests add up; none is taken back. A sender that paces asks to be woken when its
    /// next packet may leave.
    pub(crate) fn wake(&mut self, handle: Handle, subflow: SubflowId, at: Time) {
        self.timers.push(self.host.index(), at, timer::ENDPOINT | u64::from(handle.of_subflow(subflow)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// When which endpoints use their turns, which begin to wait at `begins`, and are held back up to `release`, all but number
    /// 3. A turn takes 84, of number 2 it takes 60. If `knows`, an endpoint that is held back knows that until the end of a
    /// window; otherwise it asks at each turn.
    fn used(begins: &[(u64, u32)], release: u64, (knows, separate): (bool, bool)) -> (Vec<(u64, u32)>, usize) {
        const WINDOW: u64 = 1_000;
        let (mut turns, mut begins, each) =
            (Turns::default(), begins.iter().copied().peekable(), |name| Time(if name == 2 { 60 } else { 84 }));
        let (mut used, mut asked, mut now) = (Vec::new(), 0, 0);
        loop {
            let due = turns.queue.due().map_or(u64::MAX, |due| due.0.max(now));
            if let Some((at, name)) = begins.next_if(|(at, _)| *at <= due) {
                now = at;
                turns.add((name, Time(now)), false);
                continue;
            }
            if due == u64::MAX {
                return (used, asked);
            }
            now = due;
            turns.settle(Time(now));
            while let Some(name) = turns.queue.next(Time(now)) {
                asked += 1;
                if now < release && name != 3 {
                    let until = if knows { release.min((now / WINDOW + 1) * WINDOW) } else { now };
                    turns.hold((name, Time(now)), each(name), Time(until), separate);
                } else {
                    turns.take();
                    turns.queue.spend(Time(now), each(name));
                    used.push((now, name));
                }
            }
        }
    }

    /// By hand: the second turn after 84 is not used; the one after 1,000 is at 12 x 84.
    #[test]
    fn who_is_held_back_is_asked_again_when_that_may_be_over() {
        assert_eq!(used(&[(0, 7)], 1_500, (false, false)), (vec![(18 * 84, 7)], 19));
        assert_eq!(used(&[(0, 7)], 1_500, (true, false)), (vec![(18 * 84, 7)], 3));
        // Of two classes each is asked, and the first again, at 0 to 10 x 84; or the other is not held back, and one is asked
        // twice at 1 to 10 x 84.
        assert_eq!(used(&[(0, 7), (0, 8)], 900, (false, true)), (vec![(11 * 84, 8), (12 * 84, 7)], 35));
        assert_eq!(used(&[(0, 7), (0, 3)], 900, (false, true)), (vec![(0, 3), (11 * 84, 7)], 23));
        // Two are each asked once before.
        assert_eq!(used(&[(0, 7), (0, 8)], 900, (true, false)), (vec![(11 * 84, 8), (12 * 84, 7)], 4));
    }

    proptest! {
        /// Endpoints use the same turns whether or not they are asked at each.
        #[test]
        fn turns_that_are_not_asked_for_change_nothing(
            begins in prop::collection::vec(0u64..6_000, 1..9),
            release in 0u64..6_000,
            separate in any::<bool>(),
        ) {
            let mut begins: Vec<_> = begins.into_iter().zip(0..).collect();
            begins.sort_unstable();
            let (all, asked) = used(&begins, release, (false, separate));
            let (found, fewer) = used(&begins, release, (true, separate));
            prop_assert_eq!(all, found);
            prop_assert!(fewer <= asked);
        }
    }
}
