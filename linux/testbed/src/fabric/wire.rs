//! Between the packets of the kernel and those of the simulator's network.

use crate::address::End;
use linkpool_engine::hash_u64;
use linkpool_network::{Envelope, Flags, Kind, Packet};
use std::net::Ipv4Addr;

/// Bytes on the wire around an IP packet: Ethernet with preamble and gap.
pub(crate) const FRAMING: usize = 38;

/// Addresses and ports: source, destination.
pub(crate) type Ports = ((Ipv4Addr, u16), (Ipv4Addr, u16));

/// What a switch sees of a TCP packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    pub(crate) to: End,
    pub(crate) ports: Ports,
    pub(crate) packet: Packet,
}

/// Reads an IP packet; none: it is not TCP over IPv4 between ends of the test bed.
pub(crate) fn parse(ip: &[u8]) -> Option<Seen> {
    let header = usize::from(ip.first()? & 15) * 4;
    let is_too_long = ip.len() + FRAMING > usize::from(Envelope::LONGEST);
    if is_too_long || ip[0] >> 4 != 4 || ip.len() < 20 || *ip.get(9)? != 6 {
        return None;
    }
    let address = |at: usize| Some(Ipv4Addr::from(<[u8; 4]>::try_from(ip.get(at..at + 4)?).ok()?));
    let (from, to) = (address(12)?, address(16)?);
    let tcp = ip.get(header..)?;
    let port = |at: usize| Some(u16::from_be_bytes([*tcp.get(at)?, *tcp.get(at + 1)?]));
    let ports = ((from, port(0)?), (to, port(2)?));
    let payload = ip.len() - header - usize::from(tcp.get(12)? >> 4) * 4;
    let end = End::of(to)?;
    let packet = Packet {
        entropy: entropy(ports),
        envelope: Envelope::new(end.host, (ip.len() + FRAMING) as u16, payload as u16),
        flags: flags(ip[1]),
        kind: kind(*tcp.get(13)?, payload),
        ..Packet::default()
    };
    Some(Seen { to: end, ports, packet })
}

/// What ECMP hashes: addresses and ports.
pub(crate) fn entropy(((from, from_port), (to, to_port)): Ports) -> u32 {
    let addresses = u64::from(u32::from(from)) << 32 | u64::from(u32::from(to));
    hash_u64(hash_u64(addresses) ^ (u64::from(from_port) << 16 | u64::from(to_port))) as u32
}

fn flags(traffic_class: u8) -> Flags {
    let ecn = traffic_class & 3;
    Flags::default().with_if(Flags::ECT, ecn != 0).with_if(Flags::CE, ecn == 3)
}

fn kind(tcp: u8, payload: usize) -> Kind {
    let bits = [(1, Kind::FIN), (2, Kind::SYN), (16, Kind::ACK)];
    // A data segment of the simulator is no ACK.
    let is = |bit: u8, kind: Kind| tcp & bit != 0 && (kind != Kind::ACK || payload == 0);
    let kind = bits.into_iter().fold(Kind::default(), |all, (bit, kind)| all.with_if(kind, is(bit, kind)));
    kind.with_if(Kind::DATA, payload > 0)
}

/// Sets Congestion Experienced in an IPv4 packet (RFC 3168, section 5), and mends its checksum (RFC
/// 1624, equation 3).
pub(crate) fn mark(ip: &mut [u8]) {
    let word = |ip: &[u8], at: usize| u32::from(u16::from_be_bytes([ip[at], ip[at + 1]]));
    let before = word(ip, 0);
    ip[1] |= 3;
    let sum = (!word(ip, 10) & 0xffff) + (!before & 0xffff) + word(ip, 0);
    let folded = (sum & 0xffff) + (sum >> 16);
    let folded = (folded & 0xffff) + (folded >> 16);
    ip[10..12].copy_from_slice(&(!folded as u16).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::Side;
    use linkpool_network::HostId;

    /// An IPv4 header with `ecn` and a TCP header with `flags`, both without options, and this
    /// amount of payload.
    fn packet(ecn: u8, flags: u8, payload: usize) -> Vec<u8> {
        let [from, to] = [(3, Side::Sending), (5, Side::Receiving)]
            .map(|(host, side)| End { host: HostId::new(host), side }.address());
        let mut ip = vec![0x45, ecn, 0, 0, 0, 0, 0, 0, 64, 6, 0, 0];
        let length = (40 + payload) as u16;
        ip[2..4].copy_from_slice(&length.to_be_bytes());
        ip.extend(from.octets().into_iter().chain(to.octets()));
        let sum = checksum(&ip);
        ip[10..12].copy_from_slice(&sum.to_be_bytes());
        ip.extend([0x27, 0x10, 0x13, 0x88, 0, 0, 0, 0, 0, 0, 0, 0, 0x50, flags, 0, 0, 0, 0, 0, 0]);
        ip.resize(40 + payload, 0);
        ip
    }

    /// RFC 1071.
    fn checksum(header: &[u8]) -> u16 {
        let words = header.chunks(2).map(|w| u32::from(u16::from_be_bytes([w[0], w[1]])));
        let mut sum: u32 = words.sum();
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        !sum as u16
    }

    #[test]
    fn headers_are_read() {
        let seen = parse(&packet(2, 16, 1000)).unwrap();
        assert_eq!((seen.to.host.index(), seen.ports.0.1, seen.ports.1.1), (5, 10_000, 5_000));
        assert_eq!(
            (seen.packet.envelope.dst(), seen.packet.envelope.size(), seen.packet.envelope.payload()),
            (HostId::new(5), 1078, 1000)
        );
        assert_eq!((seen.packet.kind, seen.packet.flags), (Kind::DATA, Flags::ECT));
        let seen = |ecn, tcp, payload| {
            let packet = parse(&packet(ecn, tcp, payload)).unwrap().packet;
            (packet.kind, packet.flags)
        };
        assert_eq!(seen(0, 2, 0), (Kind::SYN, Flags::default()));
        assert_eq!(seen(1, 18, 0), (Kind::SYN | Kind::ACK, Flags::ECT));
        assert_eq!(seen(3, 17, 0), (Kind::FIN | Kind::ACK, Flags::ECT | Flags::CE));
        let mut other = packet(0, 16, 0);
        assert!(parse(&other[..19]).is_none() && parse(&other[..30]).is_none() && parse(&[]).is_none());
        other[9] = 17;
        assert!(parse(&other).is_none());
    }

    #[test]
    fn a_mark_leaves_the_checksum_right() {
        for ecn in [1, 2] {
            for payload in 0..300 {
                let mut ip = packet(ecn, 16, payload);
                mark(&mut ip);
                assert_eq!((ip[1], checksum(&ip[..20])), (3, 0));
            }
        }
    }

    #[test]
    fn each_port_counts_for_the_path() {
        let ((from, _), (to, _)) = parse(&packet(0, 16, 0)).unwrap().ports;
        let all: std::collections::HashSet<u32> =
            (0..100).flat_map(|a| (0..100).map(move |b| entropy(((from, a), (to, b))))).collect();
        assert!(all.len() > 9_990);
        assert_ne!(entropy(((from, 1), (to, 2))), entropy(((to, 2), (from, 1))));
    }
}
