//! Data that packets carry beside their 32 bytes.

use crate::fabric::{LinkId, NodeId};
use crate::packet::{Flags, Packet, Trailer};
use crate::witness::{Discarded, PacketLoss, Seen, Witness};

/// What a switch writes on a packet for switches further on, as in the header of an overlay. Only
/// the balancer knows its meaning. The switch before the host takes it off.
pub(crate) type Tag = [u8; 8];

/// What a packet carries beside its 32 bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    /// The trailer from the host.
    trailer: Trailer,
    tag: Tag,
    /// Of a packet without a trailer from its host: its `seq`, in place of which the slot's number
    /// stands.
    seq: u32,
    has_trailer: bool,
    has_tag: bool,
}

const _: () = assert!(size_of::<Slot>() == 64);

/// The trailers of the packets that a partition of the network holds. The `seq` of a packet with
/// [`Flags::TRAILER`] is the slot of its trailer; it comes out again when the packet reaches a
/// host, is dropped, or leaves for another partition. So do the tags of switches.
#[derive(Debug, Default)]
pub(crate) struct Trailers {
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// What happened to packets, where somebody asks.
    pub(crate) witness: Option<Box<Witness>>,
}

impl Trailers {
    /// Gives `packet` a trailer.
    pub(crate) fn attach(&mut self, packet: &mut Packet, trailer: Trailer) {
        self.put(packet, Slot { trailer, tag: Tag::default(), seq: 0, has_trailer: true, has_tag: false });
    }

    /// Gives `packet`, which has no slot here, this one.
    pub(crate) fn put(&mut self, packet: &mut Packet, slot: Slot) {
        let number = match self.free.pop() {
            Some(free) => {
                self.slots[free as usize] = slot;
                free
            }
            None => {
                self.slots.push(slot);
                self.slots.len() as u32 - 1
            }
        };
        packet.seq = number;
        packet.flags = packet.flags | Flags::TRAILER;
    }

    /// The slot of `packet`, if it has one.
    #[inline]
    pub(crate) fn slot(&self, packet: &Packet) -> Option<&Slot> {
        packet.flags.has(Flags::TRAILER).then(|| &self.slots[packet.seq as usize])
    }

    /// The trailer of `packet`, if it has one.
    #[inline]
    pub(crate) fn of(&self, packet: &Packet) -> Option<&Trailer> {
        self.slot(packet).filter(|slot| slot.has_trailer).map(|slot| &slot.trailer)
    }

    /// The tag of `packet`, if it has one.
    pub(crate) fn tag(&self, packet: &Packet) -> Option<Tag> {
        self.slot(packet).filter(|slot| slot.has_tag).map(|slot| slot.tag)
    }

    /// Writes `tag` on `packet`, in place of the one that it may have.
    pub(crate) fn set_tag(&mut self, packet: &mut Packet, tag: Tag) {
        if packet.flags.has(Flags::TRAILER) {
            let slot = &mut self.slots[packet.seq as usize];
            (slot.tag, slot.has_tag) = (tag, true);
        } else {
            let seq = packet.seq;
            self.put(packet, Slot { trailer: Trailer::default(), tag, seq, has_trailer: false, has_tag: true });
        }
    }

    /// Takes the tag off `packet`: it is again as its host has sent it.
    pub(crate) fn take_tag(&mut self, packet: &mut Packet) -> Option<Tag> {
        let tag = self.tag(packet)?;
        self.slots[packet.seq as usize].has_tag = false;
        if self.of(packet).is_none() {
            self.release(packet);
            *packet = self.untagged(packet);
        }
        Some(tag)
    }

    /// `packet` as its host has sent it, without the tag of a switch.
    fn untagged(&self, packet: &Packet) -> Packet {
        match self.slot(packet) {
            Some(Slot { has_trailer: false, seq, .. }) => {
                Packet { seq: *seq, flags: packet.flags.without(Flags::TRAILER), ..*packet }
            }
            _ => *packet,
        }
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

    /// `packet` as it is now, but for the tag of a switch.
    pub(crate) fn see(&self, packet: &Packet) -> Seen {
        Seen { packet: self.untagged(packet), trailer: self.of(packet).copied() }
    }

    /// How many packets have one.
    pub(crate) fn in_use(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A packet with a trailer and one without get tags, which change, and lose them: they are as before.
    #[test]
    fn a_tag_leaves_no_trace() {
        let mut trailers = Trailers::default();
        let plain = Packet { seq: 77, flags: Flags::ECT, ..Packet::default() };
        let mut with_trailer = Packet { seq: 5, ..plain };
        trailers.attach(&mut with_trailer, [9; 12]);
        for packet in [plain, with_trailer] {
            let (mut tagged, slots) = (packet, trailers.in_use());
            let (trailer, seen) = (trailers.of(&packet).copied(), format!("{:?}", trailers.see(&packet)));
            assert_eq!((trailers.tag(&packet), trailers.take_tag(&mut tagged)), (None, None));
            for tag in [[1; 8], [2; 8]] {
                trailers.set_tag(&mut tagged, tag);
                assert_eq!((trailers.tag(&tagged), trailers.of(&tagged).copied()), (Some(tag), trailer));
                assert_eq!(trailers.in_use(), slots + usize::from(trailer.is_none()));
                assert_eq!(format!("{:?}", trailers.see(&tagged)), seen);
            }
            // To another partition.
            let slot = *trailers.slot(&tagged).expect("a slot");
            trailers.release(&tagged);
            let mut elsewhere = Trailers::default();
            elsewhere.put(&mut tagged, slot);
            assert_eq!((elsewhere.tag(&tagged), elsewhere.of(&tagged).copied()), (Some([2; 8]), trailer));
            assert_eq!(elsewhere.take_tag(&mut tagged), Some([2; 8]));
            assert_eq!((elsewhere.tag(&tagged), elsewhere.of(&tagged).copied()), (None, trailer));
            assert_eq!(elsewhere.in_use(), usize::from(trailer.is_some()));
            assert_eq!(format!("{:?}", elsewhere.see(&tagged)), seen);
        }
    }
}
