//! What ports with service events need to put packets on links.

use crate::fabric::LinkId;
use crate::in_flight::InFlight;
use crate::link::Link;
use crate::observer::PacketLoss;
use crate::packet::Packet;
use crate::trailer::Trailers;
use linkpool_engine::{Calendar, Windows};
use linkpool_units::Time;

/// The links of a network, the packets on their way, and the calendar of ports.
#[derive(Debug)]
pub(crate) struct Transmitter<'a> {
    pub(crate) links: &'a mut [Link],
    pub(crate) in_flight: &'a mut InFlight,
    pub(crate) calendar: &'a mut Calendar,
    pub(crate) trailers: &'a mut Trailers,
    pub(crate) windows: Windows,
}

impl Transmitter<'_> {
    /// Sends `packet`, which arrives at `arrival`, on link `id`.
    #[inline(always)]
    pub(crate) fn carry(&mut self, id: LinkId, arrival: Time, packet: &Packet) {
        self.in_flight.add(id, &self.links[id.index()], arrival, packet);
    }

    /// `packet` is lost at a port that does not show its queue, or on its link.
    pub(crate) fn discard(&mut self, packet: &Packet, loss: PacketLoss) {
        self.trailers.discard(packet, loss, Vec::new());
    }

    /// `packet` has lost its payload, or goes back to its sender, at a port that does not show its
    /// queue.
    pub(crate) fn note(&mut self, packet: &Packet, loss: PacketLoss) {
        self.trailers.note(packet, loss, Vec::new());
    }
}
