//! Segments of TCP and MPTCP as packets.

use crate::host::kinds::{PacketKind, Role};
use crate::plan::PacketSizes;
use linkpool_network::{Envelope, Flags, HostId, Kind, Packet, Trailer};
use linkpool_transport::{AckOptions, SackBlocks, Segment, Seq};

/// ECN echo; on a SYN or SYN-ACK, ECN negotiation (RFC 3168, section 6.1.1).
pub(crate) const ECE: Kind = Kind::OWN_0;
/// Without data: of a further subflow alone (a SYN with MP_JOIN, RFC 8684, section 3.2; a FIN).
pub(crate) const JOIN: Kind = Kind::OWN_1;
/// With data: nothing that continues the stream waits behind it in its sender (PSH).
pub(crate) const PUSH: Kind = Kind::OWN_1;
/// With data: the last byte of the data stream is in this segment (DATA_FIN, RFC 8684, section 3.3.3).
pub(crate) const LAST: Kind = Kind::OWN_2;
/// With data: its sender has reduced its window (RFC 3168, section 6.1.2).
pub(crate) const CWR: Kind = Kind::OWN_3;
const SYN_ACK: Kind = Kind(Kind::SYN.0 | Kind::ACK.0);
const SUBFLOW_FIN: Kind = Kind(Kind::FIN.0 | JOIN.0);
const RESET: Kind = Kind(Kind::FIN.0 | Kind::ACK.0);
/// An ACK of a header without its payload.
const NACK: Kind = Kind(Kind::ACK.0 | Kind::OWN_3.0);

/// The kinds of packets without data.
pub(crate) const KINDS: &[PacketKind] = &[
    PacketKind::new(SYN_ACK, SYN_ACK, "SYN-ACK", Role::Handshake),
    PacketKind::new(Kind::SYN, Kind::SYN, "SYN", Role::Handshake),
    PacketKind::new(RESET, RESET, "RST", Role::Close),
    PacketKind::new(Kind::FIN, Kind::FIN, "FIN", Role::Close),
    PacketKind::new(NACK, NACK, "NACK", Role::Nack),
    PacketKind::new(Kind::ACK, Kind::ACK, "ACK", Role::Ack),
];

/// Puts `segment` into a packet; addresses are the caller's.
#[inline(always)]
pub(crate) fn encode(segment: Segment, sizes: PacketSizes) -> Packet {
    let (kind, seq, ack, payload) = match segment {
        Segment::Data { seq, data_seq, len, last, cwr, push, .. } => {
            let kind = Kind::DATA.with_if(LAST, last).with_if(CWR, cwr).with_if(PUSH, push);
            (kind, seq.0, data_seq.0, Some(len))
        }
        Segment::Ack { ack, data_ack, ece, .. } => (Kind::ACK.with_if(ECE, ece), data_ack.0, ack.0, None),
        Segment::Syn { join, ecn } => (Kind::SYN.with_if(JOIN, join).with_if(ECE, ecn), 0, 0, None),
        Segment::SynAck { ecn } => (SYN_ACK.with_if(ECE, ecn), 0, 0, None),
        Segment::Trimmed { seq, len } => (Kind::DATA, seq.0, 0, Some(len)),
        Segment::Nack { seq } => (NACK, seq.0, 0, None),
        Segment::Fin { seq } => (Kind::FIN, seq.0, 0, None),
        Segment::SubflowFin { seq } => (SUBFLOW_FIN, seq.0, 0, None),
        Segment::Reset => (RESET, 0, 0, None),
    };
    let flags = match segment {
        Segment::Data { ect, .. } => Flags::default().with_if(Flags::ECT, ect),
        _ => Flags::default(),
    };
    let size = payload.map_or(sizes.ack, |len| len + sizes.header);
    let envelope = Envelope::new(HostId::default(), size, payload.unwrap_or(0));
    let packet = Packet { seq, ack, envelope, flags, kind, ..Packet::default() };
    if let Segment::Trimmed { .. } = segment { packet.trimmed() } else { packet }
}

/// The bytes that the options of an ACK add to its packet, and the trailer that holds the options
/// and `data_ack`.
pub(crate) fn encode_options(data_ack: Seq, options: &AckOptions) -> (u16, Trailer) {
    let mut trailer = Trailer::default();
    let blocks = options.sack.as_slice();
    trailer[DATA_ACK] = data_ack.0;
    trailer[WINDOW] = options.window.unwrap_or(NO_LIMIT);
    trailer[BLOCKS] = blocks.len() as u32;
    for (place, (start, end)) in trailer[FIRST_BLOCK..].chunks_exact_mut(2).zip(blocks) {
        place.copy_from_slice(&[start.0, end.0]);
    }
    // Kind, length and two bytes that align it, then 8 a block (RFC 2018, section 3). The window
    // has its place in any header.
    let bytes = if blocks.is_empty() { 0 } else { 4 + 8 * blocks.len() as u16 };
    (bytes, trailer)
}

/// Words of the trailer of an ACK.
const DATA_ACK: usize = 0;
const WINDOW: usize = 1;
const BLOCKS: usize = 2;
const FIRST_BLOCK: usize = 3;
/// A window without limit.
const NO_LIMIT: u32 = u32::MAX;

/// The acknowledged place in the connection's stream, in the trailer of an ACK.
pub(crate) fn data_ack(trailer: &Trailer) -> Seq {
    Seq(trailer[DATA_ACK])
}

fn decode_options(trailer: &Trailer) -> (Seq, AckOptions) {
    let window = (trailer[WINDOW] != NO_LIMIT).then_some(trailer[WINDOW]);
    let blocks = trailer[FIRST_BLOCK..].chunks_exact(2).take(trailer[BLOCKS] as usize);
    let sack: SackBlocks = blocks.map(|b| (Seq(b[0]), Seq(b[1]))).collect();
    (data_ack(trailer), AckOptions { window, sack })
}

/// Is it an ACK and nothing else, without options?
#[inline]
pub(crate) fn is_bare_ack(packet: &Packet) -> bool {
    packet.kind.without(ECE) == Kind::ACK && !packet.flags.has(Flags::TRAILER)
}

/// The places in the subflow's stream and in the connection's that a bare ACK acknowledges.
#[inline]
pub(crate) fn bare_ack(packet: &Packet) -> (Seq, Seq) {
    (Seq(packet.ack), Seq(packet.seq))
}

/// Does it carry data, which no switch has cut off?
#[inline]
pub(crate) fn is_data(packet: &Packet) -> bool {
    packet.kind.has(Kind::DATA) && !packet.flags.has(Flags::TRIMMED)
}

/// Of a packet with data: its place in the subflow's stream and in the connection's, its length, and
/// whether the stream ends with it; and CWR and PSH.
#[inline]
pub(crate) fn data(packet: &Packet) -> ((Seq, Seq, u16, bool), (bool, bool)) {
    let kind = packet.kind;
    let place = (Seq(packet.seq), Seq(packet.ack), packet.payload(), kind.has(LAST));
    (place, (kind.has(CWR), kind.has(PUSH)))
}

/// The segment that a packet carries.
#[inline(always)]
pub(crate) fn decode(packet: &Packet, trailer: Option<&Trailer>) -> Segment {
    let (k, seq) = (packet.kind, Seq(packet.seq));
    if k.has(Kind::DATA) {
        if packet.flags.has(Flags::TRIMMED) {
            return Segment::Trimmed { seq, len: packet.payload() };
        }
        let ((seq, data_seq, len, last), (cwr, push)) = data(packet);
        Segment::Data { seq, data_seq, len, last, ect: packet.flags.has(Flags::ECT), cwr, push }
    } else if k.has(SYN_ACK) {
        Segment::SynAck { ecn: k.has(ECE) }
    } else if k.has(Kind::SYN) {
        Segment::Syn { join: k.has(JOIN), ecn: k.has(ECE) }
    } else if k.has(Kind::FIN) {
        match k {
            SUBFLOW_FIN => Segment::SubflowFin { seq },
            RESET => Segment::Reset,
            _ => Segment::Fin { seq },
        }
    } else if k == NACK {
        Segment::Nack { seq }
    } else {
        let (ack, data_ack) = bare_ack(packet);
        let (data_ack, options) = match trailer.map(decode_options) {
            Some((data_ack, options)) => (data_ack, Some(options)),
            None => (data_ack, None),
        };
        Segment::Ack { ack, data_ack, ece: k.has(ECE), options }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_read_back_as_written() {
        let sizes = PacketSizes { header: 62, ack: 42 };
        let mut all = vec![Segment::Fin { seq: Seq(8) }, Segment::SubflowFin { seq: Seq(4) }];
        all.extend([Segment::Reset, Segment::Nack { seq: Seq(5) }]);
        all.push(Segment::Trimmed { seq: Seq(6), len: 1400 });
        for bit in [false, true] {
            let (seq, data_seq) = (Seq(7), Seq(u32::MAX));
            all.push(Segment::Data { seq, data_seq, len: 1400, last: bit, ect: !bit, cwr: bit, push: !bit });
            all.push(Segment::Ack { ack: Seq(9), data_ack: Seq(3), ece: bit, options: None });
            all.push(Segment::Syn { join: bit, ecn: !bit });
            all.push(Segment::SynAck { ecn: bit });
        }
        for segment in all {
            assert_eq!(decode(&encode(segment, sizes), None), segment);
        }
        assert_eq!(encode(Segment::Fin { seq: Seq(1) }, sizes).size(), 42);
    }

    #[test]
    fn options_read_back_as_written() {
        let sizes = PacketSizes { header: 62, ack: 42 };
        for window in [None, Some(0), Some(u32::MAX - 1)] {
            for blocks in 0..=SackBlocks::MOST as u32 {
                let sack = (0..blocks).map(|b| (Seq(1000 * b), Seq(u32::MAX - b))).collect();
                let (ack, data_ack, options) = (Seq(9), Seq(u32::MAX), AckOptions { window, sack });
                let segment = Segment::Ack { ack, data_ack, ece: true, options: Some(options) };
                let (bytes, trailer) = encode_options(data_ack, &options);
                assert_eq!(decode(&encode(segment, sizes), Some(&trailer)), segment);
                assert_eq!(bytes, [0, 12, 20, 28, 36][blocks as usize]);
            }
        }
    }
}
