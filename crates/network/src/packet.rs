//! Packets, and their flags.

use linkpool_engine::hash_u64;
use linkpool_units::{HostId, Time};

/// Data that a packet carries beside its 32 bytes, such as the options of an ACK. Only the
/// transport knows the meaning of the words.
pub type Trailer = [u32; 12];

/// The kind of a packet, and its fate so far: one bit each.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags(pub u16);

impl Flags {
    /// Opens a connection or a subflow.
    pub const SYN: Flags = Flags(1 << 0);
    /// Acknowledges; `SYN | ACK` is a SYN-ACK.
    pub const ACK: Flags = Flags(1 << 1);
    /// The sender is done.
    pub const FIN: Flags = Flags(1 << 2);
    /// Carries payload.
    pub const DATA: Flags = Flags(1 << 3);
    /// ECN-capable transport (RFC 3168, section 5).
    pub const ECT: Flags = Flags(1 << 4);
    /// Congestion experienced: a switch has marked it.
    pub const CE: Flags = Flags(1 << 5);
    /// ECN echo; on a SYN or SYN-ACK, ECN negotiation (RFC 3168, section 6.1.1).
    pub const ECE: Flags = Flags(1 << 6);
    /// The SYN joins an existing connection (MP_JOIN, RFC 8684, section 3.2); otherwise it opens
    /// one.
    pub const JOIN: Flags = Flags(1 << 7);
    /// Of data: nothing that continues the stream waits behind it in its sender (PSH). The bit is
    /// that of [`Flags::JOIN`], which only packets without data have.
    pub const PUSH: Flags = Flags::JOIN;
    /// The path is pinned: `entropy` holds its ports, not the hashed entropy (see
    /// [`crate::source_route`]).
    pub const PINNED: Flags = Flags(1 << 8);
    /// The last byte of the data stream is in this segment (DATA_FIN, RFC 8684, section 3.3.3).
    pub const LAST: Flags = Flags(1 << 9);
    /// It has a [`crate::Trailer`]; `seq` is its place.
    pub const TRAILER: Flags = Flags(1 << 10);
    /// Of high priority, where ports have two queues.
    pub const PRIORITY: Flags = Flags(1 << 11);
    /// Its receiver understands a header whose payload a switch has cut off.
    pub const TRIMMABLE: Flags = Flags(1 << 12);
    /// A switch has cut off its payload; of an ACK: the acknowledged packet had lost its payload.
    pub const TRIMMED: Flags = Flags(1 << 13);
    /// It may go back to its sender, the host whose number is in `ack`, see [`Packet::returned`].
    pub const RETURNABLE: Flags = Flags(1 << 14);
    /// Its sender has reduced its window (RFC 3168, section 6.1.2).
    pub const CWR: Flags = Flags(1 << 15);

    /// All of them.
    pub const ALL: Flags = Flags(u16::MAX);

    /// Are all bits of `other` set?
    #[inline]
    pub const fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }
    /// Is any bit of `other` set?
    #[inline]
    pub const fn has_any(self, other: Flags) -> bool {
        self.0 & other.0 != 0
    }
    /// With the bits of `other` set.
    #[inline]
    pub const fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
    /// With the bits of `other` cleared.
    #[inline]
    pub const fn without(self, other: Flags) -> Flags {
        Flags(self.0 & !other.0)
    }
    /// With the bits of `other` set if `condition`.
    #[inline]
    pub const fn with_if(self, other: Flags, condition: bool) -> Flags {
        Flags(self.0 | if condition { other.0 } else { 0 })
    }
}

impl std::ops::BitOr for Flags {
    type Output = Flags;
    fn bitor(self, other: Flags) -> Flags {
        self.with(other)
    }
}

impl std::fmt::Debug for Flags {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const NAMES: [&str; 15] = [
            "SYN",
            "ACK",
            "FIN",
            "DATA",
            "ECT",
            "CE",
            "ECE",
            "JOIN",
            "PINNED",
            "LAST",
            "TRAILER",
            "PRIORITY",
            "TRIMMABLE",
            "TRIMMED",
            "RETURNABLE",
        ];
        let set: Vec<_> = NAMES.iter().enumerate().filter(|(i, _)| self.0 >> i & 1 == 1).map(|(_, n)| *n).collect();
        write!(f, "{}", set.join("|"))
    }
}

/// Where a packet goes, its bytes on the wire, and its bytes of payload: in 48 bits, so that two
/// packets fit into a line of the cache.
///
/// 20 bits for the host and 14 for each length. No Ethernet frame is longer: jumbo frames have
/// 9,216 bytes. A switch needs the host and the size of each packet, so each of them is one load
/// and one mask; the payload, which endpoints alone need, is in two pieces.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
#[repr(C, packed(2))]
pub struct Envelope {
    /// The host; then the upper bits of the payload.
    host_and_payload: u32,
    /// The size; then the lower bits of the payload.
    size_and_payload: u16,
}

impl Envelope {
    /// The number of bits of a host's number.
    pub const HOST_BITS: u32 = 20;
    const LENGTH_BITS: u32 = 14;
    /// The longest packet, in bytes.
    pub const LONGEST: u16 = (1 << Envelope::LENGTH_BITS) - 1;
    /// The number of lower bits of the payload that are stored beside the size.
    const LOWER_BITS: u32 = u16::BITS - Envelope::LENGTH_BITS;

    /// To `dst`: `size` bytes, of which `payload` are payload; of a trimmed packet, were payload.
    #[inline]
    pub fn new(dst: HostId, size: u16, payload: u16) -> Envelope {
        let dst = u32::from(dst);
        debug_assert!(dst < 1 << Envelope::HOST_BITS && size.max(payload) <= Envelope::LONGEST);
        Envelope {
            host_and_payload: dst | u32::from(payload >> Envelope::LOWER_BITS) << Envelope::HOST_BITS,
            size_and_payload: size | payload << Envelope::LENGTH_BITS,
        }
    }

    /// The number of bits of [`Envelope::to_bits`].
    pub(crate) const BITS: u32 = 48;

    /// All of it as a number.
    #[inline]
    pub(crate) fn to_bits(self) -> u64 {
        u64::from(self.host_and_payload) | u64::from(self.size_and_payload) << 32
    }

    /// The inverse of [`Envelope::to_bits`]; further bits have no meaning.
    #[inline]
    pub(crate) fn from_bits(bits: u64) -> Envelope {
        Envelope { host_and_payload: bits as u32, size_and_payload: (bits >> 32) as u16 }
    }

    /// The host that it is for.
    #[inline]
    pub fn dst(self) -> HostId {
        HostId::from(self.host_and_payload & ((1 << Envelope::HOST_BITS) - 1))
    }

    /// Bytes on the wire.
    #[inline]
    pub fn size(self) -> u16 {
        self.size_and_payload & Envelope::LONGEST
    }

    /// Bytes of payload.
    #[inline]
    pub fn payload(self) -> u16 {
        let upper = (self.host_and_payload >> Envelope::HOST_BITS) as u16;
        upper << Envelope::LOWER_BITS | self.size_and_payload >> Envelope::LENGTH_BITS
    }

    /// The same to another host.
    #[inline]
    pub fn with_dst(self, dst: HostId) -> Envelope {
        Envelope::new(dst, self.size(), self.payload())
    }

    /// The same packet with this many bytes on the wire.
    #[inline]
    pub fn with_size(self, size: u16) -> Envelope {
        Envelope::new(self.dst(), size, self.payload())
    }
}

impl std::fmt::Debug for Envelope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "to {:?}: {} B, {} B of payload", self.dst(), self.size(), self.payload())
    }
}

/// A packet: 32 bytes, passed by value.
///
/// The meaning of `seq` and `ack` depends on the kind of packet; only the transport reads them. The
/// network reads `arrival`, `entropy`, `flags`, and of the envelope all but the payload.
#[derive(Clone, Copy, Debug, Default)]
pub struct Packet {
    /// When the last bit reaches the other end of the link that it is on.
    pub arrival: Time,
    /// The entropy that ECMP hashes, or the rest of a pinned path.
    pub entropy: u32,
    /// The endpoint at the destination that it is for.
    pub endpoint: u32,
    /// First sequence field.
    pub seq: u32,
    /// Second sequence field.
    pub ack: u32,
    /// Destination, bytes on the wire, and bytes of payload that it carries; of a trimmed packet,
    /// that it carried.
    pub envelope: Envelope,
    /// Kind, ECN bits, path mode.
    pub flags: Flags,
}

const _: () = assert!(size_of::<Packet>() == 32);

impl Packet {
    /// The host that it is for.
    #[inline]
    pub fn dst(&self) -> HostId {
        self.envelope.dst()
    }

    /// Bytes on the wire.
    #[inline]
    pub fn size(&self) -> u16 {
        self.envelope.size()
    }

    /// Bytes of payload that it carries; of a trimmed packet, that it carried.
    #[inline]
    pub fn payload(&self) -> u16 {
        self.envelope.payload()
    }

    /// Is it a header without payload: a control packet, or one that was trimmed?
    #[inline]
    pub fn is_control(&self) -> bool {
        !self.flags.has(Flags::DATA) || self.flags.has(Flags::TRIMMED)
    }

    /// The packet without its payload; it still has the length.
    pub fn trimmed(mut self) -> Packet {
        self.envelope = self.envelope.with_size(self.size() - self.payload());
        self.flags = self.flags.with(Flags::TRIMMED);
        self
    }

    /// On its way back to its sender: source and destination change places. It can be returned and
    /// trimmed no more, and takes a hashed path.
    pub fn returned(mut self) -> Packet {
        let source = HostId::from(self.ack);
        self.ack = self.dst().into();
        self.envelope = self.envelope.with_dst(source);
        self.flags = self.flags.without(Flags::RETURNABLE | Flags::TRIMMABLE | Flags::PINNED);
        self
    }

    /// Did a switch send it back to its sender?
    pub fn is_returned(&self) -> bool {
        self.flags.has(Flags::DATA | Flags::TRIMMED) && !self.flags.has(Flags::TRIMMABLE)
    }
}

/// The hash by which ECMP chooses.
#[inline]
pub(crate) fn hash(salt: u32, packet: &Packet) -> u32 {
    hash_u64((salt as u64) << 32 | packet.entropy as u64) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_flag_is_a_bit() {
        let flags = [
            Flags::SYN,
            Flags::ACK,
            Flags::FIN,
            Flags::DATA,
            Flags::ECT,
            Flags::CE,
            Flags::ECE,
            Flags::JOIN,
            Flags::PINNED,
            Flags::LAST,
            Flags::TRAILER,
            Flags::PRIORITY,
            Flags::TRIMMABLE,
            Flags::TRIMMED,
            Flags::RETURNABLE,
        ];
        assert_eq!(flags.map(|flag| flag.0.trailing_zeros()), std::array::from_fn(|i| i as u32));
        assert!(flags.iter().all(|flag| flag.0.is_power_of_two()));
    }

    #[test]
    fn flags_are_sets() {
        let (both, ack) = (Flags::SYN | Flags::ACK, Flags::ACK);
        assert_eq!(
            (both.has(ack), ack.has(both), ack.has_any(both), ack.has_any(Flags::SYN)),
            (true, false, true, false)
        );
        assert_eq!(
            (ack.with(both), both.with(ack), both.without(ack), ack.without(Flags::SYN)),
            (both, both, Flags::SYN, ack)
        );
        assert_eq!((ack.with_if(both, true), both.with_if(ack, true), ack.with_if(both, false)), (both, both, ack));
    }

    #[test]
    fn a_trimmed_packet_that_can_be_trimmed_no_more_is_on_its_way_back() {
        let trimmable = Flags::DATA | Flags::TRIMMABLE | Flags::RETURNABLE;
        let envelope = Envelope::new(HostId::new(8), 1500, 1400);
        let packet = Packet { ack: 3, envelope, flags: trimmable, ..Packet::default() };
        let trimmed = packet.trimmed();
        assert_eq!((packet.is_control(), trimmed.is_control(), trimmed.size()), (false, true, 100));
        let back = trimmed.returned();
        assert_eq!((back.dst(), back.ack, back.flags), (HostId::new(3), 8, Flags::DATA | Flags::TRIMMED));
        let plain = Packet { flags: Flags::DATA, ..packet };
        assert_eq!([packet, trimmed, back, plain].map(|p| p.is_returned()), [false, false, true, false]);
    }

    /// Of the numbers above 65,535, none becomes that of another host; and no length is mixed up
    /// with it.
    #[test]
    fn an_envelope_keeps_what_is_written() {
        let hosts = [0, 1, 65_535, 65_536, 131_071, (1 << Envelope::HOST_BITS) - 1].map(HostId::new);
        let lengths = [0, 1, 2, 3, 40, 1_448, 9_216, Envelope::LONGEST - 1, Envelope::LONGEST];
        for host in hosts {
            for size in lengths {
                for payload in lengths {
                    let envelope = Envelope::new(host, size, payload);
                    assert_eq!((envelope.dst(), envelope.size(), envelope.payload()), (host, size, payload));
                    for other in hosts {
                        assert_eq!(envelope.with_dst(other), Envelope::new(other, size, payload));
                    }
                    assert_eq!(envelope.with_size(7), Envelope::new(host, 7, payload));
                }
            }
        }
    }

    #[test]
    fn a_packet_goes_back_to_a_host_of_a_large_number() {
        let [from, to] = [HostId::new(65_536 + 3), HostId::new(131_071)];
        let flags = Flags::DATA | Flags::TRIMMABLE | Flags::RETURNABLE;
        let packet = Packet { ack: from.into(), envelope: Envelope::new(to, 1500, 1436), flags, ..Packet::default() };
        let back = packet.trimmed().returned();
        assert_eq!((back.dst(), HostId::from(back.ack)), (from, to));
        assert_eq!((back.size(), back.payload()), (64, 1436));
    }
}
