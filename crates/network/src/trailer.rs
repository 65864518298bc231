//! Data that packets carry beside their 32 bytes.

use crate::packet::{Flags, Packet, Trailer};
use crate::witness::{Discarded, PacketLoss, Seen};

/// The trailers of the packets that a partition of the network holds. The `seq` of a packet with
/// [`Flags::TRAILER`] is the slot of its trailer; it comes out again when the packet reaches a
/// host, is dropped, or leaves for another partition.
#[derive(Debug, Default)]
pub(crate) struct Trailers {
    slots: Vec<Trailer>,
    free: Vec<u32>,
    /// Packets that were lost with their trailers or without, where somebody asks.
    pub(crate) witness: Option<Vec<Discarded>>,
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

    /// `packet` is lost: its slot is free, and the witness is told how, and what was in the
    /// `queue`.
    pub(crate) fn discard<'q>(&mut self, packet: &Packet, loss: PacketLoss, queue: impl Iterator<Item = &'q Packet>) {
        let see = |packet: &Packet| Seen { packet: *packet, trailer: self.of(packet).copied() };
        let discarded =
            self.witness.is_some().then(|| Discarded { loss, packet: see(packet), queue: queue.map(see).collect() });
        if let Some(witness) = &mut self.witness {
            witness.extend(discarded);
        }
        self.release(packet);
    }

    /// How many packets have one.
    pub(crate) fn in_use(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}
