//! A header of ours for packets of UET, in UDP: `docs/capture.md` has its layout.

use super::connections::Known;
use crate::host::uet_packet::{Decoded, decode};
use crate::plan::FlowId;
use linkpool_network::{Flags, Kind, Packet, Trailer};
use linkpool_transport::SubflowId;
use linkpool_transport::uet::{Ack, Data, Nack, Probe};

/// The port of UET (IANA).
const PORT: u16 = 4793;
/// Bytes of the header of UDP, and of ours.
const UDP: usize = 8;
const HEADER: usize = 36;

/// The first port of senders, which has entropy value 0, and the number of values from there on; those that are
/// larger follow from port 32,768 on.
const SOURCE_PORTS: u16 = 49_152;
const UPPER: u16 = 1 << 14;
const LOWER_PORTS: u16 = 32_768;

/// Kinds, in the upper four bits.
#[derive(Clone, Copy, Debug)]
#[repr(u16)]
enum Type {
    Data = 1,
    Probe = 2,
    Rts = 3,
    Ack = 4,
    Nack = 5,
    Pull = 6,
}

// Flags. A bit has one meaning in packets of senders, and one in answers.
/// Its sender has not heard of the receiver.
const OPENS: u16 = 1 << 11;
/// Data that was sent before; an answer to such data.
const AGAIN: u16 = 1 << 10;
/// The last packet of the connection.
const LAST: u16 = 1 << 9;
/// An ACK is to be sent at once.
const ACK_NOW: u16 = 1 << 8;
/// A switch has cut off the payload.
const TRIMMED: u16 = 1 << 7;
/// The packet that it answers was marked.
const MARKED: u16 = 1 << 9;
/// It answers a probe.
const OF_PROBE: u16 = 1 << 8;
/// The packet was trimmed before its last link.
const AT_LAST: u16 = 1 << 7;

/// The words of a header that depend on the kind of packet.
#[derive(Clone, Copy, Debug)]
struct Words {
    kind: Type,
    flags: u16,
    psn: u32,
    /// Credit, or the cumulative ACK.
    total: u32,
    /// Payload, or the packets above a gap.
    count: u32,
    base: u32,
    bitmap: u64,
    received: u64,
}

/// Appends to `headers` those of `packet` from UDP on, of a transport with so many entropy values. Returns the
/// bytes of payload that follow.
pub(super) fn append(
    (packet, trailer): (&Packet, Option<&Trailer>),
    entropies: u16,
    known: &Known,
    headers: &mut Vec<u8>,
) -> u16 {
    let is_trimmed = packet.flags.has(Flags::TRIMMED);
    let payload = if is_trimmed { 0 } else { packet.payload() };
    let source = port((packet.entropy & u32::from(entropies - 1)) as u16);
    let length = UDP as u16 + HEADER as u16 + payload;
    // The checksum is left out.
    headers.extend_from_slice([source, PORT, length, 0].map(u16::to_be_bytes).as_flattened());
    let words = words(decode(packet, trailer), packet.kind.has(Kind::SYN), is_trimmed);
    headers.extend(header(&words, (known.connection.flow, known.subflow)));
    payload
}

/// The header of ours, of a packet of a subflow.
fn header(words: &Words, (flow, subflow): (FlowId, SubflowId)) -> Vec<u8> {
    let first = (words.kind as u16) << 12 | words.flags | u32::from(subflow) as u16;
    let halves = [first, u32::from(flow) as u16].map(u16::to_be_bytes);
    let numbers = [words.psn, words.total, words.count, words.base].map(u32::to_be_bytes);
    let long = [words.bitmap, words.received].map(u64::to_be_bytes);
    [halves.as_flattened(), numbers.as_flattened(), long.as_flattened()].concat()
}

fn words(packet: Decoded, opens: bool, is_trimmed: bool) -> Words {
    let flags = |set: &[(bool, u16)]| set.iter().filter(|(is, _)| *is).fold(0, |all, (_, flag)| all | flag);
    let empty = |kind, flags| Words { kind, flags, psn: 0, total: 0, count: 0, base: 0, bitmap: 0, received: 0 };
    let opening = flags(&[(opens, OPENS)]);
    match packet {
        Decoded::Data(Data { psn, len, ack_now, again, last, target, .. }) => {
            let set = [(again, AGAIN), (last, LAST), (ack_now, ACK_NOW), (is_trimmed, TRIMMED)];
            let flags = opening | flags(&set);
            Words { psn, total: target, count: len.into(), ..empty(Type::Data, flags) }
        }
        Decoded::Probe(Probe { number, section, again }) => {
            let flags = opening | flags(&[(again, AGAIN)]);
            Words { psn: number, total: section, ..empty(Type::Probe, flags) }
        }
        Decoded::Rts(target) => Words { total: target, ..empty(Type::Rts, opening) },
        Decoded::Ack(Ack { cumulative, base, bitmap, psn, marked, again, probe, received, out_of_order }) => {
            let flags = flags(&[(again, AGAIN), (marked, MARKED), (probe, OF_PROBE)]);
            let (total, count) = (cumulative, out_of_order);
            Words { psn, total, count, base, bitmap, received, ..empty(Type::Ack, flags) }
        }
        Decoded::Nack(Nack { psn, again, marked, at_last }) => {
            let flags = flags(&[(again, AGAIN), (marked, MARKED), (at_last, AT_LAST)]);
            Words { psn, ..empty(Type::Nack, flags) }
        }
        Decoded::Pull(granted) => Words { total: granted, ..empty(Type::Pull, 0) },
    }
}

/// The port of an entropy value. No protocol is registered in Wireshark for ports from 49,152 on.
fn port(entropy: u16) -> u16 {
    if entropy < UPPER { SOURCE_PORTS + entropy } else { LOWER_PORTS + (entropy - UPPER) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The header of `packet` of subflow 3 of flow 0x10203.
    fn bytes(packet: Decoded, opens: bool, is_trimmed: bool) -> Vec<u8> {
        header(&words(packet, opens, is_trimmed), (FlowId::new(0x0001_0203), SubflowId::new(3)))
    }

    /// Kind, flags and subflow; the flow's lower half; PSN, credit, length; then nothing.
    fn of_sender(first: [u8; 2], psn: u32, credit: u32, length: u32) -> Vec<u8> {
        let numbers = [psn, credit, length].map(u32::to_be_bytes).concat();
        [&first[..], &[2, 3], &numbers, &[0; 20]].concat()
    }

    /// Byte by byte, each flag alone.
    #[test]
    fn packets_of_senders() {
        let plain = Data {
            psn: 0x0102_0304,
            subflow: SubflowId::new(3),
            len: 4_096,
            ack_now: false,
            again: false,
            last: false,
            target: 17,
        };
        let expected = |first| of_sender(first, 0x0102_0304, 17, 4_096);
        assert_eq!(bytes(Decoded::Data(plain), false, false), expected([0x10, 3]));
        assert_eq!(bytes(Decoded::Data(plain), true, false), expected([0x18, 3]));
        assert_eq!(bytes(Decoded::Data(plain), false, true), expected([0x10, 0x83]));
        assert_eq!(bytes(Decoded::Data(Data { again: true, ..plain }), false, false), expected([0x14, 3]));
        assert_eq!(bytes(Decoded::Data(Data { last: true, ..plain }), false, false), expected([0x12, 3]));
        assert_eq!(bytes(Decoded::Data(Data { ack_now: true, ..plain }), false, false), expected([0x11, 3]));
        let probe = Probe { number: 9, section: 5, again: false };
        assert_eq!(bytes(Decoded::Probe(probe), false, false), of_sender([0x20, 3], 9, 5, 0));
        assert_eq!(bytes(Decoded::Probe(Probe { again: true, ..probe }), false, false), of_sender([0x24, 3], 9, 5, 0));
        assert_eq!(bytes(Decoded::Probe(probe), true, false), of_sender([0x28, 3], 9, 5, 0));
        assert_eq!(bytes(Decoded::Rts(33), true, false), of_sender([0x38, 3], 0, 33, 0));
    }

    /// Byte by byte, each flag alone.
    #[test]
    fn packets_of_receivers() {
        let plain = Ack {
            cumulative: 5,
            base: 6,
            bitmap: 0x8000_0000_0000_0001,
            psn: 70,
            marked: false,
            again: false,
            probe: false,
            received: 0x1_0000_0002,
            out_of_order: 4,
        };
        let expected = |first: [u8; 2]| {
            let numbers = [70_u32, 5, 4, 6, 0x8000_0000, 1, 1, 2].map(u32::to_be_bytes).concat();
            [&first[..], &[2, 3], &numbers].concat()
        };
        assert_eq!(bytes(Decoded::Ack(plain), false, false), expected([0x40, 3]));
        assert_eq!(bytes(Decoded::Ack(Ack { again: true, ..plain }), false, false), expected([0x44, 3]));
        assert_eq!(bytes(Decoded::Ack(Ack { marked: true, ..plain }), false, false), expected([0x42, 3]));
        assert_eq!(bytes(Decoded::Ack(Ack { probe: true, ..plain }), false, false), expected([0x41, 3]));
        let plain = Nack { psn: 70, again: false, marked: false, at_last: false };
        let expected = |first| of_sender(first, 70, 0, 0);
        assert_eq!(bytes(Decoded::Nack(plain), false, false), expected([0x50, 3]));
        assert_eq!(bytes(Decoded::Nack(Nack { again: true, ..plain }), false, false), expected([0x54, 3]));
        assert_eq!(bytes(Decoded::Nack(Nack { marked: true, ..plain }), false, false), expected([0x52, 3]));
        assert_eq!(bytes(Decoded::Nack(Nack { at_last: true, ..plain }), false, false), expected([0x50, 0x83]));
        assert_eq!(bytes(Decoded::Pull(49), false, false), of_sender([0x60, 3], 0, 49, 0));
    }

    #[test]
    fn entropy_values_have_ports() {
        assert_eq!([0, 1, 16_383, 16_384, 32_767].map(port), [49_152, 49_153, 65_535, 32_768, 49_151]);
    }
}
