//! The operations of an endpoint: send packets, and ask for wake-ups.

use crate::host::handle::Handle;
use crate::host::timer;
use linkpool_engine::{Stream, Timers};
use linkpool_network::{Egress, HopRecord, NodeId, Packet, Trailer};
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
    /// So many turns one after another were not used, as the port holds the class of the endpoint back.
    skipped: usize,
}

impl Default for Turns {
    fn default() -> Turns {
        Turns { queue: TurnQueue::default(), timer_at: Time::MAX, skipped: 0 }
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

    /// Lets switches write on `packet`, which will be sent and has its trailer.
    pub(crate) fn ask_for_telemetry(&mut self, packet: &mut Packet) {
        self.network.ask_for_telemetry(packet);
    }

    /// Lets `packet`, which will be sent and has its trailer, tell what switches wrote on `other`,
    /// which has just come.
    pub(crate) fn tell_telemetry(&mut self, packet: &mut Packet, other: &Packet) {
        self.network.tell_telemetry(packet, other);
    }

    /// What switches wrote on a packet that has just come, or on that of which it tells.
    pub(crate) fn telemetry(&self, packet: &Packet) -> &[HopRecord] {
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
        self.shared.turns[turns as usize].queue.add(handle.raw(), priority);
        self.await_turns(turns);
    }

    /// Would an endpoint that takes its turn now take it from no other, and from no packet before?
    pub(crate) fn is_free(&self, turns: TurnsFor) -> bool {
        self.shared.turns[turns as usize].queue.is_free(self.now)
    }

    /// The endpoint whose turn it is uses it: the next turn is when `bytes` more bytes fit on the
    /// links of the host.
    pub(crate) fn spend_turn(&mut self, turns: TurnsFor, bytes: u64) {
        let time = Time((u128::from(bytes) * 8_000_000_000_000).div_ceil(u128::from(self.shared.rate.0)) as u64);
        self.shared.turns[turns as usize].queue.spend(self.now, time);
    }

    /// The endpoint whose turn it is has sent `bytes` that will have left at `left`. On a host of one
    /// link the next turn is then, behind all that waits at the port; on others when so many more bytes
    /// fit on all links.
    pub(crate) fn spend_turn_until(&mut self, turns: TurnsFor, left: Time, bytes: u16) {
        if self.shared.one_link {
            self.shared.turns[turns as usize].queue.spend(left, Time::ZERO);
        } else {
            self.spend_turn(turns, bytes.into());
        }
    }

    /// The endpoint whose turn it is does not use it, and waits again: the next turn is when a packet of `bytes` would have
    /// left. Where ports have classes, another endpoint may have the turn at once, unless all have been asked.
    pub(crate) fn skip_turn(&mut self, turns: TurnsFor, bytes: u64) {
        let all = &mut self.shared.turns[turns as usize];
        if self.network.separates_classes() && all.skipped < all.queue.waiting() {
            all.skipped += 1;
            return;
        }
        all.skipped = 0;
        self.spend_turn(turns, bytes);
    }

    /// The endpoint whose turn it is uses it.
    pub(crate) fn take_turn(&mut self, turns: TurnsFor) {
        self.shared.turns[turns as usize].skipped = 0;
    }

    /// The number of endpoints that wait for a turn.
    pub(crate) fn waiting(&self, turns: TurnsFor) -> usize {
        self.shared.turns[turns as usize].queue.waiting()
    }

    /// Do packets wait at the port of the host that its switch has paused? Where ports have classes, data of this priority.
    pub(crate) fn is_held(&mut self, priority: u8) -> bool {
        self.network.is_held(self.now, priority)
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
