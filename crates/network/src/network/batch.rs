//! Packets that switches have routed and not queued yet.

use crate::fabric::LinkId;
use crate::packet::Packet;

/// Packets that switches have routed in this window and not queued yet. Queueing waits for a few nodes, so that the
/// links concerned are in the cache when it comes; each link still gets its packets in order.
#[derive(Debug, Default)]
pub(super) struct Batch {
    packets: Vec<Packet>,
    /// The link that each takes. Apart from the packets, which are copied as two aligned halves that way.
    links: Vec<LinkId>,
}

impl Batch {
    /// Adds a copy of `packet`; [`Batch::route_last`] must follow.
    #[inline]
    pub(super) fn push(&mut self, packet: &Packet) {
        self.packets.push(*packet);
    }

    /// Chooses the link of the packet that was added last.
    #[inline]
    pub(super) fn route_last(&mut self, route: impl FnOnce(&mut Packet) -> LinkId) {
        if let Some(packet) = self.packets.last_mut() {
            self.links.push(route(packet));
        }
    }

    pub(super) fn len(&self) -> usize {
        self.packets.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// The packets, and the link that each takes.
    pub(super) fn routed(&self) -> (&[Packet], &[LinkId]) {
        (&self.packets, &self.links)
    }

    pub(super) fn clear(&mut self) {
        self.packets.clear();
        self.links.clear();
    }
}
