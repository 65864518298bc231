//! Segments as packets.

use crate::plan::PacketSizes;
use linkpool_network::{Envelope, Flags, HostId, Packet, Trailer};
use linkpool_transport::{AckOptions, SackBlocks, Segment, Seq};

/// Puts `segment` into a packet; addresses are the caller's.
#[inline(always)]
pub(crate) fn encode(segment: Segment, sizes: PacketSizes) -> Packet {
    let (flags, seq, ack, payload) = match segment {
        Segment::Data { seq, data_seq, len, last, ect, cwr, push } => {
            let flags = Flags::DATA.with_if(Flags::LAST, last).with_if(Flags::ECT, ect).with_if(Flags::CWR, cwr);
            let flags = flags.with_if(Flags::PUSH, push);
            (flags, seq.0, data_seq.0, Some(len))
        }
        Segment::Ack { ack, data_ack, ece, .. } => (Flags::ACK.with_if(Flags::ECE, ece), data_ack.0, ack.0, None),
        Segment::Syn { join, ecn } => (Flags::SYN.with_if(Flags::JOIN, join).with_if(Flags::ECE, ecn), 0, 0, None),
        Segment::SynAck { ecn } => ((Flags::SYN | Flags::ACK).with_if(Flags::ECE, ecn), 0, 0, None),
        Segment::Trimmed { seq, len } => (Flags::DATA, seq.0, 0, Some(len)),
        Segment::Nack { seq } => (Flags::ACK | Flags::TRIMMED, seq.0, 0, None),
        Segment::Fin { seq } => (Flags::FIN, seq.0, 0, None),
        Segment::SubflowFin { seq } => (Flags::FIN | Flags::JOIN, seq.0, 0, None),
        Segment::Reset => (Flags::FIN | Flags::ACK, 0, 0, None),
    };
    let size = payload.map_or(sizes.ack, |len| len + sizes.header);
    let envelope = Envelope::new(HostId::default(), size, payload.unwrap_or(0));
    let packet = Packet { seq, ack, envelope, flags, ..Packet::default() };
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

/// A header without its payload, or a NACK of one.
#[cold]
fn decode_trimmed(packet: &Packet) -> Segment {
    let seq = Seq(packet.seq);
    if packet.flags.has(Flags::DATA) { Segment::Trimmed { seq, len: packet.payload() } } else { Segment::Nack { seq } }
}

/// Is it an ACK and nothing else, without options?
#[inline]
pub(crate) fn is_bare_ack(packet: &Packet) -> bool {
    let others = Flags::SYN | Flags::FIN | Flags::DATA | Flags::TRAILER | Flags::TRIMMED;
    packet.flags.has(Flags::ACK) && !packet.flags.has_any(others)
}

/// The places in the subflow's stream and in the connection's that a bare ACK acknowledges.
#[inline]
pub(crate) fn bare_ack(packet: &Packet) -> (Seq, Seq) {
    (Seq(packet.ack), Seq(packet.seq))
}

/// Does it carry data, which no switch has cut off?
#[inline]
pub(crate) fn is_data(packet: &Packet) -> bool {
    packet.flags.has(Flags::DATA) && !packet.flags.has(Flags::TRIMMED)
}

/// Of a packet with data: its place in the subflow's stream and in the connection's, its length, and
/// whether the stream ends with it; and CWR and PSH.
#[inline]
pub(crate) fn data(packet: &Packet) -> ((Seq, Seq, u16, bool), (bool, bool)) {
    let flags = packet.flags;
    let place = (Seq(packet.seq), Seq(packet.ack), packet.payload(), flags.has(Flags::LAST));
    (place, (flags.has(Flags::CWR), flags.has(Flags::PUSH)))
}

/// The segment that a packet carries.
#[inline(always)]
pub(crate) fn decode(packet: &Packet, trailer: Option<&Trailer>) -> Segment {
    let f = packet.flags;
    if f.has(Flags::TRIMMED) {
        decode_trimmed(packet)
    } else if f.has(Flags::DATA) {
        let ((seq, data_seq, len, last), (cwr, push)) = data(packet);
        Segment::Data { seq, data_seq, len, last, ect: f.has(Flags::ECT), cwr, push }
    } else if f.has(Flags::SYN | Flags::ACK) {
        Segment::SynAck { ecn: f.has(Flags::ECE) }
    } else if f.has(Flags::SYN) {
        Segment::Syn { join: f.has(Flags::JOIN), ecn: f.has(Flags::ECE) }
    } else if f.has(Flags::FIN) {
        match (f.has(Flags::JOIN), f.has(Flags::ACK)) {
            (true, _) => Segment::SubflowFin { seq: Seq(packet.seq) },
            (_, true) => Segment::Reset,
            _ => Segment::Fin { seq: Seq(packet.seq) },
        }
    } else {
        let (ack, data_ack) = bare_ack(packet);
        let (data_ack, options) = match trailer.map(decode_options) {
            Some((data_ack, options)) => (data_ack, Some(options)),
            None => (data_ack, None),
        };
        Segment::Ack { ack, data_ack, ece: f.has(Flags::ECE), options }
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
