//! The operations of an endpoint: send packets, and ask for wake-ups.

use crate::host::handle::Handle;
use crate::host::timer;
use linkpool_engine::{Stream, Timers};
use linkpool_network::{Egress, Packet, Trailer};
use linkpool_transport::ndp::PullQueue;
use linkpool_units::{Rate, Time};

/// The state that the endpoints of one host share.
#[derive(Debug)]
pub(crate) struct Shared {
    /// The host's source of randomness.
    pub(crate) random: Stream,
    /// The turns of its NDP receivers.
    pub(crate) pulls: PullQueue,
    /// The rate of all its links together.
    pub(crate) rate: Rate,
    /// When the host looks at the pull queue next, as far as it is known.
    pub(crate) pulls_at: Time,
}

/// The surroundings of an endpoint while it handles a packet or a timer.
#[derive(Debug)]
pub(crate) struct Io<'a, 'n> {
    pub(crate) now: Time,
    pub(crate) shared: &'a mut Shared,
    network: &'a mut Egress<'n>,
    timers: &'a mut Timers,
}

impl<'a, 'n> Io<'a, 'n> {
    pub(crate) fn new(
        now: Time,
        shared: &'a mut Shared,
        network: &'a mut Egress<'n>,
        timers: &'a mut Timers,
    ) -> Io<'a, 'n> {
        Io { now, shared, network, timers }
    }

    /// Sends `packet`.
    #[inline]
    pub(crate) fn send(&mut self, packet: Packet) {
        self.network.send(self.now, packet);
    }

    /// Sends `packet` with a trailer.
    pub(crate) fn send_with(&mut self, packet: Packet, trailer: Trailer) {
        self.network.send_with(self.now, packet, trailer);
    }

    /// The trailer of a packet that has just come.
    #[inline]
    pub(crate) fn trailer(&self, packet: &Packet) -> Option<&Trailer> {
        self.network.trailer(packet)
    }

    /// Puts the receiver `handle`, which owes PULLs, into the pull queue of its host.
    pub(crate) fn queue_pull(&mut self, handle: Handle, priority: bool) {
        self.shared.pulls.add(handle.raw(), priority);
        self.await_pulls();
    }

    /// A PULL has been sent, for a packet of `bytes` bytes.
    pub(crate) fn pulled(&mut self, bytes: u16) {
        let time = Time((u128::from(bytes) * 8_000_000_000_000).div_ceil(u128::from(self.shared.rate.0)) as u64);
        self.shared.pulls.spend(self.now, time);
    }

    /// Has the host look at its pull queue when the next PULL may leave.
    pub(crate) fn await_pulls(&mut self) {
        let Some(due) = self.shared.pulls.due() else { return };
        let at = due.max(self.now);
        if at < self.shared.pulls_at {
            self.shared.pulls_at = at;
            self.timers.push(at, timer::PULLS);
        }
    }

    /// Calls [`crate::host::endpoint::Endpoint::on_timer`] of the endpoint `handle` for `subflow`
    /// at `at`. Requests add up; none is taken back. A sender that paces asks to be woken when its
    /// next packet may leave.
    pub(crate) fn wake(&mut self, handle: Handle, subflow: usize, at: Time) {
        self.timers.push(at, timer::ENDPOINT | u64::from(handle.of_subflow(subflow)));
    }
}
