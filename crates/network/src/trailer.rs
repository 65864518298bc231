//! Data that packets carry beside their 32 bytes.

use crate::fabric::{LinkId, NodeId};
use crate::observer::{Discarded, Held, Observer, PacketLoss, Seen};
use crate::packet::{Flags, Packet, Trailer};
use crate::pauses::Pause;
use crate::telemetry::{HopRecord, Records, Written};
use linkpool_engine::prefetch_place;
use linkpool_units::Time;

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
    /// The ports that wrote records on the packet, those included that found no room; or the digest that they wrote.
    written: u16,
    telemetry: Telemetry,
    /// Which of the two parts above it has: [`TRAILER`], [`TAG`].
    parts: u8,
}

/// Bits of the parts of a slot.
const TRAILER: u8 = 1;
const TAG: u8 = 2;

const _: () = assert!(size_of::<Slot>() == 64);

/// The part of a packet in telemetry. Records stand beside its slot, a digest in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Telemetry {
    /// None: ports write nothing on it.
    None,
    /// Ports write records on it.
    Asks,
    /// It brings records of another packet to the sender of that.
    Tells,
    /// Ports write a digest on it.
    AsksDigest,
    /// It brings the digest of another packet to the sender of that.
    TellsDigest,
}

impl Slot {
    /// Of a packet whose first sequence field is `seq`, with nothing in it.
    fn empty(seq: u32) -> Slot {
        Slot { trailer: Trailer::default(), tag: Tag::default(), seq, written: 0, telemetry: Telemetry::None, parts: 0 }
    }

    /// Has it this part?
    fn has(&self, part: u8) -> bool {
        self.parts & part != 0
    }

    /// Do records stand beside it?
    pub(crate) fn has_records(&self) -> bool {
        matches!(self.telemetry, Telemetry::Asks | Telemetry::Tells)
    }
}

/// The trailers of the packets that a partition of the network holds. The `seq` of a packet with
/// [`Flags::TRAILER`] is the slot of its trailer; it comes out again when the packet reaches a
/// host, is dropped, or leaves for another partition. So do the tags of switches.
#[derive(Debug, Default)]
pub(crate) struct Trailers {
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// By slot, up to the last one that ever had some: records of ports.
    records: Vec<Records>,
    /// What happened to packets, where somebody asks.
    pub(crate) observer: Option<Box<Observer>>,
}

impl Trailers {
    /// Gives `packet` a trailer.
    pub(crate) fn attach(&mut self, packet: &mut Packet, trailer: Trailer) {
        self.put(packet, Slot { trailer, parts: TRAILER, ..Slot::empty(0) });
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

    /// A port may write on `packet`.
    #[inline(always)]
    pub(crate) fn prefetch(&self, packet: &Packet) {
        if packet.flags.has(Flags::TRAILER) && !self.records.is_empty() {
            prefetch_place(&self.slots, packet.seq as usize);
            prefetch_place(&self.records, packet.seq as usize);
        }
    }

    /// The trailer of `packet`, if it has one.
    #[inline]
    pub(crate) fn of(&self, packet: &Packet) -> Option<&Trailer> {
        self.slot(packet).filter(|slot| slot.has(TRAILER)).map(|slot| &slot.trailer)
    }

    /// The tag of `packet`, if it has one.
    pub(crate) fn tag(&self, packet: &Packet) -> Option<Tag> {
        self.slot(packet).filter(|slot| slot.has(TAG)).map(|slot| slot.tag)
    }

    /// Writes `tag` on `packet`, in place of the one that it may have.
    pub(crate) fn set_tag(&mut self, packet: &mut Packet, tag: Tag) {
        let slot = self.slot_for(packet);
        slot.tag = tag;
        slot.parts |= TAG;
    }

    /// The slot of `packet`, which it gets if it has none.
    fn slot_for(&mut self, packet: &mut Packet) -> &mut Slot {
        if !packet.flags.has(Flags::TRAILER) {
            self.put(packet, Slot::empty(packet.seq));
        }
        &mut self.slots[packet.seq as usize]
    }

    /// Ports on the way of `packet` write records on it from now on.
    pub(crate) fn ask(&mut self, packet: &mut Packet) {
        let slot = self.slot_for(packet);
        (slot.telemetry, slot.written) = (Telemetry::Asks, 0);
        self.records_of(packet);
    }

    /// Ports on the way of `packet` write a digest on it from now on.
    pub(crate) fn ask_for_digest(&mut self, packet: &mut Packet) {
        let slot = self.slot_for(packet);
        (slot.telemetry, slot.written) = (Telemetry::AsksDigest, 0);
    }

    /// Gives `packet` the records or the digest of `other`, if that has some; ports write nothing more.
    pub(crate) fn tell(&mut self, packet: &mut Packet, other: &Packet) {
        let Some(&Slot { telemetry, written, .. }) = self.slot(other) else { return };
        match telemetry {
            Telemetry::None => {}
            Telemetry::AsksDigest | Telemetry::TellsDigest => {
                let slot = self.slot_for(packet);
                (slot.telemetry, slot.written) = (Telemetry::TellsDigest, written);
            }
            Telemetry::Asks | Telemetry::Tells => {
                let slot = self.slot_for(packet);
                (slot.telemetry, slot.written) = (Telemetry::Tells, written);
                self.records_of(packet);
                if let Ok([to, from]) = self.records.get_disjoint_mut([packet.seq as usize, other.seq as usize]) {
                    to.copy(from, written);
                }
            }
        }
    }

    /// The records beside the slot of `packet`, for which there is memory from now on.
    fn records_of(&mut self, packet: &Packet) -> &mut Records {
        let number = packet.seq as usize;
        if self.records.len() <= number {
            self.records.resize(number + 1, Records::default());
        }
        &mut self.records[number]
    }

    /// Writes `records`, which stood beside the slot of `packet` elsewhere, beside it here.
    pub(crate) fn set_records(&mut self, packet: &Packet, records: &Records) {
        let count = self.slot(packet).map_or(0, |slot| slot.written);
        self.records_of(packet).copy(records, count);
    }

    /// A port writes `hop` on `packet`, if that asks for records.
    #[inline]
    pub(crate) fn stamp(&mut self, packet: &Packet, hop: HopRecord) {
        if packet.flags.has(Flags::TRAILER) {
            let slot = &mut self.slots[packet.seq as usize];
            if slot.telemetry == Telemetry::Asks {
                self.records[packet.seq as usize].put(slot.written, hop);
                slot.written = slot.written.saturating_add(1);
            }
        }
    }

    /// A port writes its digest on `packet`, if that asks for digests and has a smaller one.
    pub(crate) fn write_digest(&mut self, packet: &Packet, digest: impl FnOnce() -> u16) {
        if packet.flags.has(Flags::TRAILER) {
            let slot = &mut self.slots[packet.seq as usize];
            if slot.telemetry == Telemetry::AsksDigest {
                slot.written = slot.written.max(digest());
            }
        }
    }

    /// What stands beside the slot of `packet`, which has records.
    pub(crate) fn records(&self, packet: &Packet) -> Records {
        self.records[packet.seq as usize]
    }

    /// What ports have written on `packet`, or on the packet of which it tells.
    pub(crate) fn written(&self, packet: &Packet) -> Written<'_> {
        match self.slot(packet) {
            Some(slot) if slot.has_records() => {
                Written { hops: self.records[packet.seq as usize].all(slot.written), digest: None }
            }
            Some(slot) if slot.telemetry != Telemetry::None => Written { hops: &[], digest: Some(slot.written) },
            _ => Written::default(),
        }
    }

    /// Takes the tag off `packet`: it is again as its host has sent it.
    pub(crate) fn take_tag(&mut self, packet: &mut Packet) -> Option<Tag> {
        let tag = self.tag(packet)?;
        let slot = &mut self.slots[packet.seq as usize];
        slot.parts &= !TAG;
        if slot.parts == 0 && slot.telemetry == Telemetry::None {
            self.release(packet);
            *packet = self.untagged(packet);
        }
        Some(tag)
    }

    /// `packet` as its host has sent it, without its slot if it has no trailer.
    pub(crate) fn untagged(&self, packet: &Packet) -> Packet {
        match self.slot(packet) {
            Some(slot) if !slot.has(TRAILER) => {
                Packet { seq: slot.seq, flags: packet.flags.without(Flags::TRAILER), ..*packet }
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

    /// `packet` is lost: frees its slot, and records for the observer the cause, and what was in the
    /// `queue`.
    pub(crate) fn discard(&mut self, packet: &Packet, loss: PacketLoss, queue: Vec<Seen>) {
        self.note(packet, loss, queue);
        self.release(packet);
    }

    /// Tells the observer how `packet`, or its payload, is lost.
    pub(crate) fn note(&mut self, packet: &Packet, loss: PacketLoss, queue: Vec<Seen>) {
        if self.observer.is_none() {
            return;
        }
        let discarded = Discarded { loss, packet: self.see(packet).unmarked(), queue };
        if let Some(observer) = &mut self.observer {
            observer.discarded.push(discarded);
        }
    }

    /// Tells the observer that `node` sends `packet` on `link`.
    pub(crate) fn note_sent(&mut self, node: NodeId, link: LinkId, packet: &Packet) {
        if self.observer.as_ref().is_some_and(|observer| observer.is_host(node)) {
            let seen = self.see(packet).unmarked();
            if let Some(observer) = &mut self.observer {
                observer.sent.push((link, seen));
            }
        }
    }

    /// Tells the observer that `node` begins to transmit `packet`, which arrives at `arrival`.
    #[inline]
    pub(crate) fn note_departed(&mut self, node: NodeId, link: LinkId, (arrival, packet): (Time, &Packet)) {
        if let Some(observer) = &mut self.observer
            && observer.is_host(node)
        {
            observer.departed.push((link, Packet { arrival, ..packet.unmarked() }));
        }
    }

    /// Is there an observer?
    pub(crate) fn is_watched(&self) -> bool {
        self.observer.is_some()
    }

    /// Tells the observer that `packet`, which leaves for `link` at `at`, was held back there by pauses: for how long, and the
    /// last of them.
    pub(crate) fn note_held(&mut self, link: LinkId, at: Time, packet: &Packet, (paused, pause): (Time, Pause)) {
        let packet = self.see(packet).unmarked();
        if let Some(observer) = &mut self.observer {
            observer.held.push(Held { at, link, packet, paused, pause });
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
            assert!(!slot.has_records());
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

    /// A packet with a trailer and one without ask for records, beside the tag of a switch. Answers tell of them, on
    /// which ports write nothing more.
    #[test]
    fn packets_carry_what_ports_write_on_them() {
        let mut trailers = Trailers::default();
        let plain = Packet { seq: 77, ack: 3, ..Packet::default() };
        let mut with_trailer = Packet { seq: 5, ..plain };
        trailers.attach(&mut with_trailer, [9; 12]);
        let hop = |n: u64| HopRecord { sent: n, ..HopRecord::default() };
        for packet in [plain, with_trailer] {
            let (trailer, seen) = (trailers.of(&packet).copied(), format!("{:?}", trailers.see(&packet)));
            let mut asks = packet;
            trailers.stamp(&asks, hop(1));
            trailers.ask(&mut asks);
            assert!(trailers.written(&asks).hops.is_empty());
            trailers.stamp(&asks, hop(2));
            trailers.set_tag(&mut asks, [1; 8]);
            trailers.stamp(&asks, hop(3));
            assert_eq!((trailers.take_tag(&mut asks), trailers.take_tag(&mut asks)), (Some([1; 8]), None));
            assert_eq!(trailers.written(&asks).hops, [hop(2), hop(3)]);
            assert_eq!((trailers.of(&asks).copied(), format!("{:?}", trailers.see(&asks))), (trailer, seen));
            let mut answer = Packet { seq: 8, ..plain };
            trailers.tell(&mut answer, &asks);
            trailers.release(&asks);
            trailers.stamp(&answer, hop(4));
            assert_eq!(trailers.written(&answer).hops, [hop(2), hop(3)]);
            assert_eq!((trailers.of(&answer), trailers.untagged(&answer).seq), (None, 8));
            let mut silent = Packet { seq: 9, ..plain };
            trailers.tell(&mut silent, &plain);
            assert_eq!((silent.seq, trailers.written(&silent).hops.len()), (9, 0));
            trailers.release(&answer);
            // A slot that is used again has no records.
            let mut other = plain;
            trailers.attach(&mut other, [7; 12]);
            assert!(trailers.written(&other).hops.is_empty());
            trailers.release(&other);
        }
        assert_eq!(trailers.in_use(), 0);
    }

    /// The larger digest stays, beside the tag of a switch and in another partition; records of ports find no
    /// place. An answer brings it back, on which ports write nothing more, and a packet that asks for neither brings none.
    #[test]
    fn packets_carry_the_largest_digest() {
        let mut trailers = Trailers::default();
        let plain = Packet { seq: 77, ack: 3, ..Packet::default() };
        let mut with_trailer = Packet { seq: 5, ..plain };
        trailers.attach(&mut with_trailer, [9; 12]);
        for packet in [plain, with_trailer] {
            let (trailer, seen) = (trailers.of(&packet).copied(), format!("{:?}", trailers.see(&packet)));
            let digest = |trailers: &Trailers, packet: &Packet| trailers.written(packet).digest;
            let mut asks = packet;
            trailers.write_digest(&asks, || panic!("it does not ask"));
            assert_eq!(digest(&trailers, &asks), None);
            trailers.ask_for_digest(&mut asks);
            assert_eq!(digest(&trailers, &asks), Some(0));
            for (port, expected) in [(300, 300), (299, 300), (301, 301), (0, 301)] {
                trailers.write_digest(&asks, || port);
                trailers.stamp(&asks, HopRecord::default());
                assert_eq!(trailers.written(&asks), Written { hops: &[], digest: Some(expected) });
            }
            trailers.set_tag(&mut asks, [1; 8]);
            assert_eq!(trailers.take_tag(&mut asks), Some([1; 8]));
            assert_eq!((trailers.of(&asks).copied(), format!("{:?}", trailers.see(&asks))), (trailer, seen));
            // To another partition.
            let slot = *trailers.slot(&asks).expect("a slot");
            assert!(!slot.has_records());
            trailers.release(&asks);
            let mut elsewhere = Trailers::default();
            elsewhere.put(&mut asks, slot);
            let mut answer = Packet { seq: 8, ..plain };
            elsewhere.tell(&mut answer, &asks);
            elsewhere.release(&asks);
            elsewhere.write_digest(&answer, || panic!("it asks for none"));
            assert_eq!(digest(&elsewhere, &answer), Some(301));
            let mut again = Packet { seq: 9, ..plain };
            elsewhere.tell(&mut again, &answer);
            assert_eq!((digest(&elsewhere, &again), elsewhere.untagged(&again).seq), (Some(301), 9));
            assert_eq!(elsewhere.in_use(), 2);
        }
        assert_eq!(trailers.in_use(), 0);
    }
}
