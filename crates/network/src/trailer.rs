//! Data that packets carry beside their 32 bytes.

use crate::fabric::{LinkId, NodeId};
use crate::packet::{Flags, Packet, Trailer};
use crate::witness::{Discarded, PacketLoss, Seen, Witness};

/// The trailers of the packets that a partition of the network holds. The `seq` of a packet with
/// [`Flags::TRAILER`] is the slot of its trailer; it comes out again when the packet reaches a
/// host, is dropped, or leaves for another partition.
#[derive(Debug, Default)]
pub(crate) struct Trailers {
    slots: Vec<Trailer>,
    free: Vec<u32>,
    /// What happened to packets, where somebody asks.
    pub(crate) witness: Option<Box<Witness>>,
}

impl Trailers {
    /// Gives `packet` a trailer.
    pub(crate) fn attach(&mut self, packet: &mut Packet, trailer: Trailer) {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Trailer::default());
            self.slots.len() as u32 - 1
        });
        self.slots[slot as usize] = trailer;
        packet.seq = slot;
        packet.flags = packet.flags | Flags::TRAILER;
    }

    /// The trailer of `packet`, if it has one.
    #[inline]
    pub(crate) fn of(&self, packet: &Packet) -> Option<&Trailer> {
        packet.flags.has(Flags::TRAILER).then(|| &self.slots[packet.seq as usize])
    }

    /// `packet` is no longer here: its slot is free.
    #[inline]
    pub(crate) fn release(&mut self, packet: &Packet) {
        if packet.flags.has(Flags::TRAILER) {
            self.free.push(packet.seq);
        }
    }

    /// `packet` is lost: frees its slot, and records for the witness the cause, and what was in the
    /// `queue`.
    pub(crate) fn discard(&mut self, packet: &Packet, loss: PacketLoss, queue: Vec<Seen>) {
        self.note(packet, loss, queue);
        self.release(packet);
    }

    /// Tells the witness how `packet`, or its payload, is lost.
    pub(crate) fn note(&mut self, packet: &Packet, loss: PacketLoss, queue: Vec<Seen>) {
        if self.witness.is_none() {
            return;
        }
        let discarded = Discarded { loss, packet: self.see(packet), queue };
        if let Some(witness) = &mut self.witness {
            witness.discarded.push(discarded);
        }
    }

    /// Tells the witness that `node` sends `packet` on `link`.
    pub(crate) fn note_sent(&mut self, node: NodeId, link: LinkId, packet: &Packet) {
        if self.witness.as_ref().is_some_and(|witness| witness.is_host(node)) {
            let seen = self.see(packet);
            if let Some(witness) = &mut self.witness {
                witness.sent.push((link, seen));
            }
        }
    }

    /// Tells the witness that `node` begins to transmit `packet`, whose arrival is known.
    pub(crate) fn note_departed(&mut self, node: NodeId, link: LinkId, packet: &Packet) {
        if let Some(witness) = &mut self.witness
            && witness.is_host(node)
        {
            witness.departed.push((link, *packet));
        }
    }

    /// `packet` as it is now.
    pub(crate) fn see(&self, packet: &Packet) -> Seen {
        Seen { packet: *packet, trailer: self.of(packet).copied() }
    }

    /// How many packets have one.
    pub(crate) fn in_use(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}
