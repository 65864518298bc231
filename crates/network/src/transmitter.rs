//! Puts packets on links, and wakes the nodes at their other ends.

use crate::fabric::LinkId;
use crate::link::{LOCAL, Link};
use crate::packet::Packet;
use crate::trailer::Trailers;
use crate::witness::PacketLoss;
use linkpool_engine::{Calendar, Windows};
use linkpool_units::Time;

/// The links of a network, and the calendar in which their receivers are woken.
#[derive(Debug)]
pub(crate) struct Transmitter<'a> {
    pub(crate) links: &'a mut [Link],
    pub(crate) calendar: &'a mut Calendar,
    pub(crate) handed: &'a mut [Vec<LinkId>],
    pub(crate) trailers: &'a mut Trailers,
    pub(crate) windows: Windows,
}

impl Transmitter<'_> {
    /// Sends `packet`, whose arrival is known, on link `id`.
    pub(crate) fn carry(&mut self, id: LinkId, packet: Packet) {
        if let Some(arrival) = self.links[id.index()].carry(packet) {
            self.announce(id, arrival);
        }
    }

    /// Wakes the receiver of link `id` for its first packet in flight.
    #[inline(always)]
    pub(crate) fn announce(&mut self, id: LinkId, arrival: Time) {
        let link = &self.links[id.index()];
        if link.remote == LOCAL {
            self.calendar.schedule(self.windows.of(arrival), link.input);
        } else {
            self.handed[link.remote as usize].push(id);
        }
    }

    /// `packet` is lost at a port that does not show its queue, or on its link.
    pub(crate) fn discard(&mut self, packet: &Packet, loss: PacketLoss) {
        self.trailers.discard(packet, loss, std::iter::empty());
    }

    /// `packet` has lost its payload, or goes back to its sender, at a port that does not show its
    /// queue.
    pub(crate) fn note(&mut self, packet: &Packet, loss: PacketLoss) {
        self.trailers.note(packet, loss, std::iter::empty());
    }
}
