//! The headers of RoCEv2 (InfiniBand Architecture Specification, chapter 9 and annex A17), and those of ours
//! for what it has not: `docs/capture.md` has their layout.

use super::connections::Known;
use crate::host::roce::decode;
use crate::plan::FlowId;
use linkpool_network::{Flags, HopRecord, Packet, Trailer};
use linkpool_transport::roce::Message;
use linkpool_units::Rate;

/// The port of RoCEv2 (annex A17.3).
const PORT: u16 = 4791;
/// The ports of senders: the upper two bits are set, the others are those that switches hash (annex A17.3).
const SOURCE_PORTS: u16 = 0xc000;
const SOURCE_BITS: u32 = 0x3fff;
/// Bytes of the header of UDP, and of the invariant check.
const UDP: usize = 8;
pub(super) const CHECK: usize = 4;
/// The partition of all (section 10.9.1.2).
const PARTITION: u16 = 0xffff;
/// Numbers of queue pairs come again; 0, 1 and the last have a meaning of their own (section 3.5.10).
const PAIRS: u32 = (1 << 23) - 2;

// Opcodes of the reliable connection (section 9.2.1).
const SEND: [[u8; 2]; 2] = [[SEND_MIDDLE, SEND_LAST], [SEND_FIRST, SEND_ONLY]];
const SEND_FIRST: u8 = 0x00;
const SEND_MIDDLE: u8 = 0x01;
const SEND_LAST: u8 = 0x02;
const SEND_ONLY: u8 = 0x04;
const ACKNOWLEDGE: u8 = 0x11;
/// Of a congestion notification packet (annex A17.9.3), and its reserved bytes.
const CNP: u8 = 0x81;
const CNP_RESERVED: [u8; 16] = [0; 16];
/// The bit of the BTH that says: congestion in the other direction (annex A17.9.3).
const BECN: u32 = 1 << 30;
const ACK_REQUEST: u32 = 1 << 31;
/// Syndromes (section 9.7.5.1.4): ACK with no count of credits, and NAK for a wrong sequence of packets.
const ACK: u8 = 0x1f;
const NAK_SEQUENCE: u8 = 0x60;
/// Numbers have 24 bits.
const NUMBER: u32 = 0x00ff_ffff;

/// Hops in the header of telemetry, and its bytes.
const HOPS: usize = 5;
const TELEMETRY: usize = 8 * HOPS + 2;

/// What switches wrote on a packet that has room for it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Written<'a> {
    Records(&'a [HopRecord]),
    Digest(u16),
}

/// The base transport header.
#[derive(Clone, Copy, Debug)]
struct Base {
    opcode: u8,
    pad: u8,
    pair: u32,
    /// BECN, if it is set.
    becn: u32,
    /// The request for an ACK, if it is made.
    request: u32,
    psn: u32,
}

/// Appends to `headers` those of `packet` from UDP on. `written`: what switches wrote on it, if it has room for that.
/// Returns the bytes that follow, payload and padding.
pub(super) fn append(
    (packet, trailer): (&Packet, Option<&Trailer>),
    written: Option<Written<'_>>,
    known: &Known,
    headers: &mut Vec<u8>,
) -> u16 {
    let source = SOURCE_PORTS | (hashed(packet, known) & SOURCE_BITS) as u16;
    let pair = pair(known.connection.flow, known.forth);
    write(decode(packet, trailer), written, (source, pair), known.messages, headers)
}

/// The same for `message`, from a port to a queue pair; so many messages have arrived.
fn write(
    message: Message,
    written: Option<Written<'_>>,
    (source, pair): (u16, u32),
    messages: u32,
    headers: &mut Vec<u8>,
) -> u16 {
    let start = headers.len();
    headers.extend_from_slice(&[0; UDP]);
    let (payload, pad) = match message {
        Message::Data { len, .. } => (len, padding(len)),
        _ => (0, 0),
    };
    let base = Base { opcode: ACKNOWLEDGE, pad, pair, becn: 0, request: 0, psn: 0 };
    let becn = |marked| if marked { BECN } else { 0 };
    match message {
        Message::Data { psn, first, last, .. } => {
            let opcode = SEND[usize::from(first)][usize::from(last)];
            base_header(Base { opcode, request: ACK_REQUEST, psn, ..base }, headers);
            telemetry(written, headers);
        }
        Message::Ack { psn, next, marked } => {
            // All packets up to this number have arrived (section 9.7.5.1.2).
            let up_to = next.wrapping_sub(1);
            base_header(Base { psn: up_to, becn: becn(marked), ..base }, headers);
            extended_header(ACK, messages, headers);
            telemetry(written, headers);
            answered(psn, up_to, headers);
        }
        Message::Nack { psn, next, marked } => {
            // The number that was expected (section 9.7.5.2.8).
            base_header(Base { psn: next, becn: becn(marked), ..base }, headers);
            extended_header(NAK_SEQUENCE, messages, headers);
            telemetry(written, headers);
            answered(psn, next, headers);
        }
        Message::Cnp => {
            base_header(Base { opcode: CNP, becn: BECN, ..base }, headers);
            headers.extend_from_slice(&CNP_RESERVED);
        }
    }
    let follows = payload + u16::from(pad);
    let length = (headers.len() - start + usize::from(follows) + CHECK) as u16;
    // Without a checksum (annex A17.3): the invariant check is there.
    let udp = [source, PORT, length, 0].map(u16::to_be_bytes);
    headers[start..start + UDP].copy_from_slice(udp.as_flattened());
    follows
}

/// What stands for the number that switches hash. On a pinned path they hash nothing.
fn hashed(packet: &Packet, known: &Known) -> u32 {
    if packet.flags.has(Flags::PINNED) { known.connection.flow.into() } else { packet.entropy }
}

/// Bytes that fill a payload up to whole words (section 9.2.4).
fn padding(payload: u16) -> u8 {
    (payload.next_multiple_of(4) - payload) as u8
}

/// The number of the queue pair to which a packet of `flow` goes: that of the receiver of data is even, that
/// of the sender the next one.
fn pair(flow: FlowId, forth: bool) -> u32 {
    2 + 2 * (u32::from(flow) % PAIRS) + u32::from(!forth)
}

/// Section 9.2; bits 6 and 7 of the fifth byte are BECN and FECN (annex A17.9.3).
fn base_header(base: Base, headers: &mut Vec<u8>) {
    headers.extend([base.opcode, base.pad << 4]);
    headers.extend(PARTITION.to_be_bytes());
    headers.extend((base.becn | base.pair).to_be_bytes());
    headers.extend((base.request | base.psn & NUMBER).to_be_bytes());
}

/// The AETH (section 9.3.5).
fn extended_header(syndrome: u8, messages: u32, headers: &mut Vec<u8>) {
    headers.extend((u32::from(syndrome) << 24 | messages & NUMBER).to_be_bytes());
}

/// Ours: the packet that is answered, unless its number stands in the BTH.
fn answered(psn: u32, told: u32, headers: &mut Vec<u8>) {
    if psn != told {
        headers.extend((psn & NUMBER).to_be_bytes());
    }
}

/// Records of hops or a digest, with the fields and units of HPCC's simulator
/// (alibaba-edu/High-Precision-Congestion-Control, `int-header.h` at 8551d5b).
fn telemetry(written: Option<Written<'_>>, headers: &mut Vec<u8>) {
    let hops = match written {
        None => return,
        Some(Written::Digest(digest)) => return headers.extend(digest.to_be_bytes()),
        Some(Written::Records(hops)) => hops,
    };
    let end = headers.len() + TELEMETRY;
    hops.iter().take(HOPS).for_each(|hop| headers.extend(record(hop).to_be_bytes()));
    headers.resize(end - 2, 0);
    headers.extend((hops.len() as u16).to_be_bytes());
}

/// From the upper bits on: 3 for the rate, 24 for the time in ns, 20 for the bytes sent in units of 128, 17 for
/// the queue in units of 80 bytes.
fn record(hop: &HopRecord) -> u64 {
    const RATES: [Rate; 5] = [Rate::gbps(25), Rate::gbps(50), Rate::gbps(100), Rate::gbps(200), Rate::gbps(400)];
    const OTHER: u64 = 7;
    let rate = RATES.iter().position(|rate| *rate == hop.rate).map_or(OTHER, |place| place as u64);
    let (time, sent) = (hop.at.0 / 1_000 % (1 << 24), hop.sent / 128 % (1 << 20));
    let queue = u64::from(hop.queue / 80).min((1 << 17) - 1);
    rate << 61 | time << 37 | sent << 17 | queue
}

/// The invariant check of `packet`, which begins with the header of IPv4 (annex A17.3.3): the CRC of Ethernet over
/// 8 bytes of ones and the packet, in which all that may change on the way is ones.
pub(super) fn invariant_check(packet: &[u8]) -> [u8; CHECK] {
    /// Bytes of the headers of IPv4, UDP and BTH.
    const MASKED: usize = 40;
    /// Kind of service, time to live, checksums of IPv4 and of UDP, and in the BTH the bits of congestion.
    const CHANGING: [usize; 7] = [1, 8, 10, 11, 26, 27, 32];
    let (head, rest) = packet.split_at(MASKED);
    let mut masked: [u8; MASKED] = head.try_into().expect("as many bytes");
    CHANGING.into_iter().for_each(|place| masked[place] = 0xff);
    let mut crc = crc32fast::Hasher::new();
    [&[0xff; 8], &masked[..], rest].into_iter().for_each(|part| crc.update(part));
    crc.finalize().to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkpool_network::LinkId;
    use linkpool_units::Time;

    /// Numbers 0 and 1 are of managers, the last one is of groups.
    #[test]
    fn queue_pairs_have_numbers_of_their_own() {
        let of = |flow: u32, forth| pair(FlowId::from(flow), forth);
        assert_eq!([of(0, true), of(0, false), of(1, true), of(1, false)], [2, 3, 4, 5]);
        let last = (1 << 23) - 3;
        assert_eq!((of(last, false), of(last + 1, true)), (0xff_fffd, 2));
    }

    #[test]
    fn payload_is_padded_to_words() {
        assert_eq!([0, 1, 2, 3, 4, 1_024, 1_025].map(padding), [0, 3, 2, 1, 0, 0, 3]);
    }

    /// By hand: 100 Gbit/s is 2; 5,000 ns; 256,128 B are 2,001 units of 128, and 2^20 units later the same; 8,079 B are 100
    /// units of 80. A rate that has no number is 7, and a long queue the largest number.
    #[test]
    fn hops_have_the_fields_of_hpcc() {
        let hop = |rate, sent, queue| HopRecord { at: Time::from_us(5), sent, rate, queue, link: LinkId::new(3) };
        let expected = 2_u64 << 61 | 5_000 << 37 | 2_001 << 17 | 100;
        assert_eq!(record(&hop(Rate::gbps(100), 256_128, 8_079)), expected);
        assert_eq!(record(&hop(Rate::gbps(100), 256_128 + (128 << 20), 8_079)), expected);
        assert_eq!(record(&hop(Rate::gbps(10), 127, u32::MAX)), 7 << 61 | 5_000 << 37 | 0x1_ffff);
        let late = HopRecord { at: Time::from_ns((1 << 24) + 9), ..hop(Rate::gbps(25), 0, 0) };
        assert_eq!(record(&late), 9 << 37);
        let bytes = |hops: &[HopRecord]| {
            let mut bytes = vec![1; 3];
            telemetry(Some(Written::Records(hops)), &mut bytes);
            bytes
        };
        let one = bytes(&[hop(Rate::gbps(100), 256_128, 8_079)]);
        assert_eq!(one, [&[1; 3][..], &expected.to_be_bytes(), &[0; 32], &[0, 1]].concat());
        // Of seven hops the first five have room.
        let seven = bytes(&[hop(Rate::gbps(25), 0, 0); 7]);
        let five = (5_000_u64 << 37).to_be_bytes().repeat(5);
        assert_eq!(seven, [&[1; 3][..], &five, &[0, 7]].concat());
    }

    /// The headers of `message` from port 0xc005 to queue pair 0x102, and the bytes that follow.
    fn headers(message: Message, written: Option<Written<'_>>) -> (Vec<u8>, u16) {
        let mut bytes = Vec::new();
        let follows = write(message, written, (0xc005, 0x102), 0x0100_0003, &mut bytes);
        (bytes, follows)
    }

    /// Byte by byte: ports, length and no checksum; opcode, padding, partition, queue pair, request and PSN, of
    /// which 24 bits are left. A packet of 1,021 bytes has three of padding.
    #[test]
    fn data_has_the_headers_of_a_send() {
        for (first, last, opcode) in [(true, false, 0), (false, false, 1), (false, true, 2), (true, true, 4)] {
            let data = |psn, len| Message::Data { psn, len, place: 9, first, last, opens: true };
            let length = 8 + 12 + 1_024 + 4_u16;
            let [upper, lower] = length.to_be_bytes();
            let udp = [0xc0, 5, 0x12, 0xb7, upper, lower, 0, 0];
            let whole = [opcode, 0, 0xff, 0xff, 0, 0, 1, 2, 0x80, 0x23, 0x45, 0x67];
            assert_eq!(headers(data(0x0123_4567, 1_024), None), ([&udp[..], &whole].concat(), 1_024));
            let padded = [opcode, 0x30, 0xff, 0xff, 0, 0, 1, 2, 0x80, 0, 0, 7];
            assert_eq!(headers(data(7, 1_021), None), ([&udp[..], &padded].concat(), 1_024));
        }
        // With room for telemetry.
        let data = Message::Data { psn: 7, len: 1_021, place: 9, first: false, last: false, opens: false };
        let (bytes, follows) = headers(data, Some(Written::Records(&[])));
        assert_eq!((&bytes[4..6], &bytes[20..], follows), (&1_090_u16.to_be_bytes()[..], &[0; 42][..], 1_024));
        let (bytes, follows) = headers(data, Some(Written::Digest(0x0381)));
        assert_eq!((&bytes[4..6], &bytes[20..], follows), (&1_050_u16.to_be_bytes()[..], &[3, 0x81][..], 1_024));
    }

    /// Byte by byte. The first two answers are those of RoCEv2, with the highest number that has arrived in order, and with
    /// the number that is missing: 0 is the number before it in the beginning. The others name the packet that they answer, too.
    /// The count of messages has 24 bits.
    #[test]
    fn answers_have_the_headers_of_an_acknowledgement() {
        let udp = |more: u8| [0xc0, 5, 0x12, 0xb7, 0, 28 + more, 0, 0];
        let base = |becn: u8, psn: [u8; 3]| [0x11, 0, 0xff, 0xff, becn, 0, 1, 2, 0, psn[0], psn[1], psn[2]];
        let (ack, nak) = ([0x1f, 0, 0, 3], [0x60, 0, 0, 3]);
        let of = |message| {
            let (bytes, follows) = headers(message, None);
            assert_eq!(follows, 0);
            bytes
        };
        let plain = of(Message::Ack { psn: 4, next: 5, marked: false });
        assert_eq!(plain, [&udp(0)[..], &base(0, [0, 0, 4]), &ack].concat());
        let marked = of(Message::Ack { psn: 0x0200_0004, next: 0x0200_0005, marked: true });
        assert_eq!(marked, [&udp(0)[..], &base(0x40, [0, 0, 4]), &ack].concat());
        let none = of(Message::Ack { psn: 3, next: 0, marked: false });
        assert_eq!(none, [&udp(4)[..], &base(0, [0xff, 0xff, 0xff]), &ack, &[0, 0, 0, 3]].concat());
        let missing = of(Message::Nack { psn: 0x0100_0009, next: 0x0100_0005, marked: true });
        assert_eq!(missing, [&udp(4)[..], &base(0x40, [0, 0, 5]), &nak, &[0, 0, 0, 9]].concat());
        let (told, _) = headers(Message::Nack { psn: 9, next: 5, marked: false }, Some(Written::Records(&[])));
        assert_eq!(told, [&udp(46)[..], &base(0, [0, 0, 5]), &nak, &[0; 42], &[0, 0, 0, 9]].concat());
        let (digest, _) = headers(Message::Ack { psn: 4, next: 5, marked: false }, Some(Written::Digest(128)));
        assert_eq!(digest, [&udp(2)[..], &base(0, [0, 0, 4]), &ack, &[0, 128]].concat());
    }

    #[test]
    fn a_notification_of_congestion_has_its_own_opcode() {
        let expected = [0xc0, 5, 0x12, 0xb7, 0, 40, 0, 0, 0x81, 0, 0xff, 0xff, 0x40, 0, 1, 2, 0, 0, 0, 0];
        assert_eq!(headers(Message::Cnp, None), ([&expected[..], &[0; 16]].concat(), 0));
    }

    /// What changes on the way leaves the check as it is; each other bit changes it. The value is that of Python's zlib.
    #[test]
    fn the_check_is_invariant() {
        let packet: Vec<u8> = (0..60).collect();
        let check = invariant_check(&packet);
        assert_eq!(check, [0xe3, 0x13, 0xa6, 0xa7]);
        for place in 0..packet.len() {
            let mut changed = packet.clone();
            changed[place] ^= 0x10;
            let is_masked = [1, 8, 10, 11, 26, 27, 32].contains(&place);
            assert_eq!(invariant_check(&changed) == check, is_masked, "{place}");
        }
    }
}
