//! What an endpoint may do at an instant: send packets, and ask to be woken.

use crate::host::handle::Handle;
use crate::host::timer;
use linkpool_engine::{Stream, Timers};
use linkpool_network::{Egress, Packet, Trailer};
use linkpool_units::Time;

/// What the endpoints of one host share.
#[derive(Debug)]
pub(crate) struct Shared {
    /// The host's source of randomness.
    pub(crate) random: Stream,
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

    /// Calls [`crate::host::endpoint::Endpoint::on_timer`] of the endpoint `handle` for `subflow` at `at`. Requests add up; none is
    /// taken back. A sender that paces asks to be woken when its next packet may leave.
    pub(crate) fn wake(&mut self, handle: Handle, subflow: usize, at: Time) {
        self.timers.push(at, timer::ENDPOINT | u64::from(handle.of_subflow(subflow)));
    }
}
