//! Messages of UET as packets: kinds, fields and trailers.

use crate::host::connection::Opening;
use crate::host::handle::Handle;
use linkpool_network::{Kind, Packet, Trailer};
use linkpool_transport::uet::{Ack, Data, Nack, Probe};

/// With data: its sender wants an ACK at once.
pub(super) const ACK_NOW: Kind = Kind::OWN_0;
/// With data: it was sent before. Of an ACK or a NACK: it answers such a packet.
pub(super) const AGAIN: Kind = Kind::OWN_1;
/// With data: the last packet.
pub(super) const LAST: Kind = Kind::OWN_2;
/// Of an ACK: it answers a probe.
pub(super) const OF_PROBE: Kind = Kind::OWN_2;
/// Of a NACK: the packet was trimmed before its last link.
pub(super) const AT_LAST: Kind = Kind::OWN_2;
/// Of an ACK or a NACK: the packet that it answers had a mark.
pub(super) const MARKED: Kind = Kind::OWN_0;
pub(super) const NACK: Kind = Kind(Kind::ACK.0 | Kind::OWN_3.0);
pub(crate) const PULL: Kind = Kind::OWN_3;
/// Asks to send.
pub(super) const RTS: Kind = Kind::OWN_0;
/// It stands in queues with data, as it measures them, and has no payload.
pub(super) const PROBE: Kind = Kind(Kind::DATA.0 | Kind::OWN_3.0);

/// In the trailer of a packet that may open a connection: its PSN, and the credit that its sender wants. In
/// other packets of senders these are the two sequence fields.
pub(super) const PSN: usize = Opening::WORDS;
pub(super) const TARGET: usize = PSN + 1;

/// Words of the trailer of an ACK: the PSN of the packet that it answers, the bitmap with its base, the
/// receiver's count of bytes, its packets above a gap, and its name.
pub(super) const ANSWERED: usize = 0;
pub(super) const BASE: usize = 1;
pub(super) const BITMAP: usize = 2;
pub(super) const RECEIVED: usize = 4;
pub(super) const OUT_OF_ORDER: usize = 6;
pub(super) const RECEIVER: usize = 7;

/// The credit that the sender of `packet` wants.
pub(super) fn target(packet: &Packet, trailer: Option<&Trailer>) -> u32 {
    trailer.map_or(packet.ack, |trailer| trailer[TARGET])
}

/// The PSN of the data packet `packet`, which came with `trailer`.
pub(super) fn psn(packet: &Packet, trailer: Option<&Trailer>) -> u32 {
    trailer.map_or(packet.seq, |trailer| trailer[PSN])
}

pub(super) fn put(trailer: &mut Trailer, place: usize, value: u64) {
    (trailer[place], trailer[place + 1]) = (value as u32, (value >> 32) as u32);
}

pub(super) fn get(trailer: &Trailer, place: usize) -> u64 {
    u64::from(trailer[place]) | u64::from(trailer[place + 1]) << 32
}

/// The NACK that `packet` is.
pub(super) fn read_nack(packet: &Packet) -> Nack {
    let has = |kind| packet.kind.has(kind);
    Nack { psn: packet.seq, again: has(AGAIN), marked: has(MARKED), at_last: has(AT_LAST) }
}

/// The ACK that `packet` is, with its `trailer`.
pub(super) fn read_ack(packet: &Packet, trailer: &Trailer) -> Ack {
    Ack {
        cumulative: packet.ack,
        base: trailer[BASE],
        bitmap: get(trailer, BITMAP),
        psn: trailer[ANSWERED],
        marked: packet.kind.has(MARKED),
        again: packet.kind.has(AGAIN),
        probe: packet.kind.has(OF_PROBE),
        received: get(trailer, RECEIVED),
        out_of_order: trailer[OUT_OF_ORDER],
    }
}

/// What a packet is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Decoded {
    /// Data, whole or trimmed; the subflow stands in the name of the endpoint.
    Data(Data),
    /// A probe.
    Probe(Probe),
    /// An RTS: its sender wants so many quanta of credit in all.
    Rts(u32),
    /// An ACK.
    Ack(Ack),
    /// A NACK.
    Nack(Nack),
    /// A PULL: so many quanta of credit are granted in all.
    Pull(u32),
}

/// What `packet` with its `trailer` is.
pub(crate) fn decode(packet: &Packet, trailer: Option<&Trailer>) -> Decoded {
    let has = |kind| packet.kind.has(kind);
    match trailer {
        _ if has(PROBE) => {
            Decoded::Probe(Probe { number: psn(packet, trailer), section: target(packet, trailer), again: has(AGAIN) })
        }
        _ if has(Kind::DATA) => Decoded::Data(Data {
            psn: psn(packet, trailer),
            subflow: Handle::split(packet.endpoint).1,
            len: packet.payload(),
            ack_now: has(ACK_NOW),
            again: has(AGAIN),
            last: has(LAST),
            target: target(packet, trailer),
        }),
        _ if has(NACK) => Decoded::Nack(read_nack(packet)),
        Some(trailer) if has(Kind::ACK) => Decoded::Ack(read_ack(packet, trailer)),
        _ if has(PULL) => Decoded::Pull(packet.seq),
        _ => Decoded::Rts(target(packet, trailer)),
    }
}

/// The receiver that the answer `packet` with its `trailer` names; answers of UET all do.
pub(crate) fn named_receiver(packet: &Packet, trailer: Option<&Trailer>) -> Option<Handle> {
    let is_answer = packet.kind.has_any(Kind::ACK | PULL) && !packet.kind.has(Kind::DATA);
    is_answer.then(|| Handle::split(trailer.map_or(packet.ack, |trailer| trailer[RECEIVER])).0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkpool_network::Envelope;
    use linkpool_transport::SubflowId;

    fn packet(kind: Kind) -> Packet {
        let envelope = Envelope::new(linkpool_network::HostId::new(1), 164, 100);
        Packet {
            kind,
            seq: 7,
            ack: 5,
            endpoint: Handle::new(4, 1).of_subflow(SubflowId::new(2)),
            envelope,
            ..Packet::default()
        }
    }

    /// Each kind with each of its flags; of packets that may open a connection the numbers stand in the trailer.
    #[test]
    fn packets_are_what_their_kinds_say() {
        let mut opening = Trailer::default();
        (opening[PSN], opening[TARGET]) = (9, 8);
        let data =
            Data { psn: 7, subflow: SubflowId::new(2), len: 100, ack_now: false, again: false, last: false, target: 5 };
        for (kind, expected) in [
            (Kind::DATA, data),
            (Kind::DATA | ACK_NOW, Data { ack_now: true, ..data }),
            (Kind::DATA | AGAIN, Data { again: true, ..data }),
            (Kind::DATA | LAST, Data { last: true, ..data }),
        ] {
            assert_eq!(decode(&packet(kind), None), Decoded::Data(expected));
            let opens = decode(&packet(kind | Kind::SYN), Some(&opening));
            assert_eq!(opens, Decoded::Data(Data { psn: 9, target: 8, ..expected }));
            assert_eq!(named_receiver(&packet(kind), None), None);
        }
        let probe = Probe { number: 7, section: 5, again: false };
        assert_eq!(decode(&packet(PROBE), None), Decoded::Probe(probe));
        assert_eq!(decode(&packet(PROBE | AGAIN), None), Decoded::Probe(Probe { again: true, ..probe }));
        let opens = Decoded::Probe(Probe { number: 9, section: 8, again: false });
        assert_eq!(decode(&packet(PROBE | Kind::SYN), Some(&opening)), opens);
        assert_eq!(decode(&packet(RTS), None), Decoded::Rts(5));
        assert_eq!(decode(&packet(RTS | Kind::SYN), Some(&opening)), Decoded::Rts(8));
        assert_eq!([PROBE, RTS].map(|kind| named_receiver(&packet(kind), None)), [None; 2]);
        let nack = Nack { psn: 7, again: false, marked: false, at_last: false };
        for (kind, expected) in [
            (NACK, nack),
            (NACK | AGAIN, Nack { again: true, ..nack }),
            (NACK | MARKED, Nack { marked: true, ..nack }),
            (NACK | AT_LAST, Nack { at_last: true, ..nack }),
        ] {
            assert_eq!(decode(&packet(kind), None), Decoded::Nack(expected));
        }
        assert_eq!(decode(&packet(PULL), None), Decoded::Pull(7));
        let named = Packet { ack: Handle::new(6, 3).raw(), ..packet(PULL) };
        assert_eq!(named_receiver(&named, None), Some(Handle::new(6, 3)));
        assert_eq!(named_receiver(&Packet { kind: NACK, ..named }, None), Some(Handle::new(6, 3)));
    }

    #[test]
    fn an_ack_says_most_in_its_trailer() {
        let mut trailer = Trailer::default();
        (trailer[ANSWERED], trailer[BASE], trailer[OUT_OF_ORDER]) = (70, 6, 3);
        put(&mut trailer, BITMAP, 1 << 40 | 2);
        put(&mut trailer, RECEIVED, 1 << 33 | 1);
        trailer[RECEIVER] = Handle::new(6, 3).raw();
        let plain = Ack {
            cumulative: 5,
            base: 6,
            bitmap: 1 << 40 | 2,
            psn: 70,
            marked: false,
            again: false,
            probe: false,
            received: 1 << 33 | 1,
            out_of_order: 3,
        };
        for (kind, expected) in [
            (Kind::ACK, plain),
            (Kind::ACK | MARKED, Ack { marked: true, ..plain }),
            (Kind::ACK | AGAIN, Ack { again: true, ..plain }),
            (Kind::ACK | OF_PROBE, Ack { probe: true, ..plain }),
        ] {
            assert_eq!(decode(&packet(kind), Some(&trailer)), Decoded::Ack(expected));
            assert_eq!(named_receiver(&packet(kind), Some(&trailer)), Some(Handle::new(6, 3)));
        }
    }
}
