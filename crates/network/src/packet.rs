//! Packets, and their flags.

use linkpool_engine::hash_u64;
use linkpool_units::{HostId, Time};

/// Data that a packet carries beside its 32 bytes, such as the options of an ACK. Only the
/// transport knows the meaning of the words.
pub type Trailer = [u32; 12];

/// Declares sets of up to eight bits, each with its name.
macro_rules! bits {
    ($(#[doc = $about:literal])+ $set:ident { $($(#[doc = $doc:literal])+ $name:ident = $bit:literal;)+ }) => {
        $(#[doc = $about])+
        #[derive(Clone, Copy, PartialEq, Eq, Default)]
        pub struct $set(pub u8);

        impl $set {
            $($(#[doc = $doc])+ pub const $name: $set = $set(1 << $bit);)+

            /// All of them.
            pub const ALL: $set = $set(0 $(| 1 << $bit)+);

            /// Are all bits of `other` set?
            #[inline]
            pub const fn has(self, other: $set) -> bool {
                self.0 & other.0 == other.0
            }
            /// Is any bit of `other` set?
            #[inline]
            pub const fn has_any(self, other: $set) -> bool {
                self.0 & other.0 != 0
            }
            /// With the bits of `other` set.
            #[inline]
            pub const fn with(self, other: $set) -> $set {
                $set(self.0 | other.0)
            }
            /// With the bits of `other` cleared.
            #[inline]
            pub const fn without(self, other: $set) -> $set {
                $set(self.0 & !other.0)
            }
            /// With the bits of `other` set if `condition`.
            #[inline]
            pub const fn with_if(self, other: $set, condition: bool) -> $set {
                $set(self.0 | if condition { other.0 } else { 0 })
            }
        }

        impl std::ops::BitOr for $set {
            type Output = $set;
            fn bitor(self, other: $set) -> $set {
                self.with(other)
            }
        }

        impl std::fmt::Debug for $set {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                const NAMES: &[(&str, $set)] = &[$((stringify!($name), $set::$name)),+];
                let set: Vec<_> = NAMES.iter().filter(|(_, bit)| self.has(*bit)).map(|(name, _)| *name).collect();
                write!(f, "{}", set.join("|"))
            }
        }
    };
}

bits! {
    /// What switches do with a packet, and have done to it.
    Flags {
        /// ECN-capable transport (RFC 3168, section 5). Of a trimmed packet of such a transport: it was not trimmed
        /// before its last link ([`Packet::trimmed_at_last`]).
        ECT = 0;
        /// Congestion experienced: a switch has marked it.
        CE = 1;
        /// The path is pinned: `entropy` holds its ports, not the hashed entropy (see
        /// [`crate::source_route`]).
        PINNED = 2;
        /// It has a [`crate::Trailer`]; `seq` is its place.
        TRAILER = 3;
        /// Of high priority, where ports have two queues: one from 4 to 7.
        PRIORITY = 4;
        /// Its receiver understands a header whose payload a switch has cut off.
        TRIMMABLE = 5;
        /// A switch has cut off its payload.
        TRIMMED = 6;
        /// It may go back to its sender, the host whose number is in `ack`, see [`Packet::returned`].
        RETURNABLE = 7;
    }
}

bits! {
    /// What a packet is to its transport. Hosts and queues know four bits: `SYN` without `ACK` may
    /// open a connection, and queues may spare SYNs, FINs and packets that only acknowledge. The
    /// meaning of the other four is that of the transport's family, which names its kinds of packets
    /// beside its endpoints.
    Kind {
        /// Opens a connection or a subflow; with `ACK`: answers such a packet.
        SYN = 0;
        /// Acknowledges.
        ACK = 1;
        /// The sender is done.
        FIN = 2;
        /// Carries payload.
        DATA = 3;
        /// The first bit whose meaning is the family's.
        OWN_0 = 4;
        /// The second.
        OWN_1 = 5;
        /// The third.
        OWN_2 = 6;
        /// The fourth.
        OWN_3 = 7;
    }
}

impl Kind {
    /// A pause frame. No family has such a kind, and no host sees one.
    pub(crate) const PAUSE: Kind = Kind(Kind::SYN.0 | Kind::ACK.0 | Kind::FIN.0);

    /// Of packets with data, which neither acknowledge nor end a connection: the lower bits of their
    /// priority, which hosts take off ([`Packet::unmarked`]).
    const PRIORITY: Kind = Kind(Kind::ACK.0 | Kind::FIN.0);
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
/// network reads `arrival`, `entropy`, `flags`, of the envelope all but the payload, and of the kind
/// whether it carries data.
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
    /// ECN bits, path mode, priority, trimming.
    pub flags: Flags,
    /// What it is to its transport.
    pub kind: Kind,
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
        !self.kind.has(Kind::DATA) || self.flags.has(Flags::TRIMMED)
    }

    /// The priority of IEEE 802.1Q of a packet with data: 0 to 7. Other packets have no priority: 0 or 7.
    ///
    /// The upper bit is a flag. Of 0 and of 7 the others are not set, so that these look alike in ports that
    /// know two priorities only.
    #[inline]
    pub fn priority(&self) -> u8 {
        let (upper, lower) = (self.flags.has(Flags::PRIORITY), (self.kind.0 & Kind::PRIORITY.0) >> 1);
        match (self.kind.has(Kind::DATA), upper) {
            (true, true) => 7 - lower,
            (true, false) => lower,
            (false, upper) => {
                if upper {
                    7
                } else {
                    0
                }
            }
        }
    }

    /// Gives a packet with data this priority; of other packets only whether it is from 4 on.
    #[inline]
    pub fn set_priority(&mut self, priority: u8) {
        let upper = priority >= 4;
        self.flags = self.flags.without(Flags::PRIORITY).with_if(Flags::PRIORITY, upper);
        if self.kind.has(Kind::DATA) {
            let lower = if upper { 7 - priority } else { priority };
            self.kind = self.kind.without(Kind::PRIORITY).with(Kind(lower << 1));
        }
    }

    /// Has it a priority that its kind tells?
    #[inline]
    pub fn is_marked(&self) -> bool {
        self.kind.has(Kind::DATA) && self.kind.has_any(Kind::PRIORITY)
    }

    /// The packet as its sender made it, before it was given a priority from 1 to 6.
    #[inline]
    pub fn unmarked(mut self) -> Packet {
        if self.is_marked() {
            self.kind = self.kind.without(Kind::PRIORITY);
        }
        self
    }

    /// Bytes on the wire without its payload.
    #[inline]
    pub(crate) fn header_size(&self) -> u16 {
        if self.flags.has(Flags::TRIMMED) { self.size() } else { self.size() - self.payload() }
    }

    /// The packet without its payload; it still has the length.
    pub fn trimmed(mut self) -> Packet {
        self.envelope = self.envelope.with_size(self.header_size());
        self.flags = self.flags.with(Flags::TRIMMED);
        self
    }

    /// The packet without its payload, trimmed before its last link: the header is no longer ECT, which no further port asks. So
    /// its receiver knows that its own link was congested.
    pub(crate) fn trimmed_at_last(self) -> Packet {
        let header = self.trimmed();
        Packet { flags: header.flags.without(Flags::ECT), ..header }
    }

    /// Was the packet, of a transport that is ECN-capable, trimmed before its last link?
    pub fn is_trimmed_at_last(&self) -> bool {
        self.flags.has(Flags::TRIMMED) && !self.flags.has(Flags::ECT)
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
        self.kind.has(Kind::DATA) && self.flags.has(Flags::TRIMMED) && !self.flags.has(Flags::TRIMMABLE)
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

    /// Each bit has a name of its own, and is written by it.
    #[test]
    fn each_bit_has_its_name() {
        let name = |bit: u8| (format!("{:?}", Flags(1 << bit)), format!("{:?}", Kind(1 << bit)));
        let (flags, kinds): (Vec<_>, Vec<_>) = (0..8).map(name).unzip();
        let expected = ["ECT", "CE", "PINNED", "TRAILER", "PRIORITY", "TRIMMABLE", "TRIMMED", "RETURNABLE"];
        assert_eq!(flags, expected);
        assert_eq!(kinds, ["SYN", "ACK", "FIN", "DATA", "OWN_0", "OWN_1", "OWN_2", "OWN_3"]);
        assert_eq!(format!("{:?} {:?}", Kind::SYN | Kind::ACK, Flags::default()), "SYN|ACK ");
        assert_eq!((Flags::ALL.0, Kind::ALL.0), (u8::MAX, u8::MAX));
    }

    /// By hand: 0 and 7 have no bits of their kind, as in ports with two priorities; a header and an opening packet keep
    /// theirs, and no data looks like a pause frame.
    #[test]
    fn packets_with_data_have_priorities() {
        let bits = |kind: Kind, priority| {
            let mut packet =
                Packet { kind, flags: Flags::ECT, envelope: Envelope::new(HostId::new(1), 90, 0), ..Packet::default() };
            packet.set_priority(priority);
            assert_eq!(
                (packet.trimmed().priority(), packet.unmarked().kind, packet.flags.has(Flags::ECT)),
                (packet.priority(), kind, true)
            );
            assert_ne!(packet.kind, Kind::PAUSE);
            (packet.priority(), packet.flags.has(Flags::PRIORITY), packet.is_marked())
        };
        for priority in 0..8 {
            for kind in [Kind::DATA, Kind::DATA | Kind::SYN, Kind::DATA | Kind::OWN_0 | Kind::OWN_3] {
                assert_eq!(bits(kind, priority), (priority, priority >= 4, (1..7).contains(&priority)));
            }
            for kind in [Kind::ACK, Kind::SYN | Kind::ACK, Kind::FIN, Kind::default()] {
                assert_eq!(bits(kind, priority), (if priority >= 4 { 7 } else { 0 }, priority >= 4, false));
            }
        }
        let mut twice = Packet { kind: Kind::DATA, ..Packet::default() };
        [6, 1].into_iter().for_each(|priority| twice.set_priority(priority));
        assert_eq!(twice.priority(), 1);
    }

    #[test]
    fn flags_are_sets() {
        let (both, ce) = (Flags::ECT | Flags::CE, Flags::CE);
        assert_eq!((both.has(ce), ce.has(both), ce.has_any(both), ce.has_any(Flags::ECT)), (true, false, true, false));
        assert_eq!(
            (ce.with(both), both.with(ce), both.without(ce), ce.without(Flags::ECT)),
            (both, both, Flags::ECT, ce)
        );
        assert_eq!((ce.with_if(both, true), both.with_if(ce, true), ce.with_if(both, false)), (both, both, ce));
    }

    #[test]
    fn a_header_tells_whether_its_last_link_was_congested() {
        let packet = Packet { flags: Flags::ECT | Flags::TRIMMABLE, kind: Kind::DATA, ..Packet::default() };
        let trimmed = [packet, packet.trimmed(), packet.trimmed_at_last()].map(|packet| packet.is_trimmed_at_last());
        assert_eq!(trimmed, [false, false, true]);
        assert_eq!(packet.trimmed_at_last().flags, Flags::TRIMMABLE | Flags::TRIMMED);
    }

    #[test]
    fn a_trimmed_packet_that_can_be_trimmed_no_more_is_on_its_way_back() {
        let trimmable = Flags::TRIMMABLE | Flags::RETURNABLE;
        let envelope = Envelope::new(HostId::new(8), 1500, 1400);
        let packet = Packet { ack: 3, envelope, flags: trimmable, kind: Kind::DATA, ..Packet::default() };
        let trimmed = packet.trimmed();
        assert_eq!((packet.is_control(), trimmed.is_control(), trimmed.size()), (false, true, 100));
        let back = trimmed.returned();
        assert_eq!((back.dst(), back.ack, back.flags), (HostId::new(3), 8, Flags::TRIMMED));
        let plain = Packet { flags: Flags::default(), ..packet };
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
        let (flags, kind) = (Flags::TRIMMABLE | Flags::RETURNABLE, Kind::DATA);
        let envelope = Envelope::new(to, 1500, 1436);
        let packet = Packet { ack: from.into(), envelope, flags, kind, ..Packet::default() };
        let back = packet.trimmed().returned();
        assert_eq!((back.dst(), HostId::from(back.ack)), (from, to));
        assert_eq!((back.size(), back.payload()), (64, 1436));
    }
}
