//! Packets, and the bits that say what they are.

use linkpool_units::Time;

/// What a packet is and what has happened to it: one bit each.
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
    /// The SYN joins an existing connection (MP_JOIN, RFC 8684, section 3.2); otherwise it opens one.
    pub const JOIN: Flags = Flags(1 << 7);
    /// The path is pinned: `entropy` holds its ports, not what is hashed (see [`crate::source_route`]).
    pub const PINNED: Flags = Flags(1 << 8);
    /// The last byte of the data stream is in this segment (DATA_FIN, RFC 8684, section 3.3.3).
    pub const LAST: Flags = Flags(1 << 9);
    /// It has a [`crate::Trailer`], which `seq` tells where to find.
    pub const TRAILER: Flags = Flags(1 << 10);
    /// Of high priority, where ports have two queues.
    pub const PRIORITY: Flags = Flags(1 << 11);
    /// Its receiver knows what to do with a header whose payload a switch has cut off.
    pub const TRIMMABLE: Flags = Flags(1 << 12);
    /// A switch has cut off its payload; of an ACK: what it acknowledges had lost its payload.
    pub const TRIMMED: Flags = Flags(1 << 13);
    /// It may go back to its sender, the host whose number is in `ack`, see [`Packet::returned`].
    pub const RETURNABLE: Flags = Flags(1 << 14);

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

/// A packet: 32 bytes, passed by value.
///
/// What `seq` and `ack` hold depends on the kind of packet and is the transport's business; the network reads
/// `arrival`, `entropy`, `dst`, `size` and `flags`.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(32))]
pub struct Packet {
    /// When the last bit reaches the other end of the link that it is on.
    pub arrival: Time,
    /// What ECMP hashes, or the rest of a pinned path.
    pub entropy: u32,
    /// The endpoint at the destination that it is for.
    pub endpoint: u32,
    /// First sequence field.
    pub seq: u32,
    /// Second sequence field.
    pub ack: u32,
    /// Destination host.
    pub dst: u16,
    /// Bytes on the wire.
    pub size: u16,
    /// Bytes of payload that it carries; of a trimmed packet, that it carried.
    pub payload: u16,
    /// Kind, ECN bits, path mode.
    pub flags: Flags,
}

const _: () = assert!(size_of::<Packet>() == 32);

impl Packet {
    /// Is it a header without payload: a control packet, or one that was trimmed?
    #[inline]
    pub fn is_control(&self) -> bool {
        !self.flags.has(Flags::DATA) || self.flags.has(Flags::TRIMMED)
    }

    /// Without its payload, of which it still tells the length.
    pub fn trimmed(mut self) -> Packet {
        self.size -= self.payload;
        self.flags = self.flags.with(Flags::TRIMMED);
        self
    }

    /// On its way back to its sender: source and destination change places. It can be returned and trimmed no more, and takes
    /// a hashed path.
    pub fn returned(mut self) -> Packet {
        let source = self.ack as u16;
        self.ack = self.dst.into();
        self.dst = source;
        self.flags = self.flags.without(Flags::RETURNABLE | Flags::TRIMMABLE | Flags::PINNED);
        self
    }

    /// Did a switch send it back to its sender?
    pub fn is_returned(&self) -> bool {
        self.flags.has(Flags::DATA | Flags::TRIMMED) && !self.flags.has(Flags::TRIMMABLE)
    }
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
        let packet = Packet { ack: 3, dst: 8, size: 1500, payload: 1400, flags: trimmable, ..Packet::default() };
        let trimmed = packet.trimmed();
        assert_eq!((packet.is_control(), trimmed.is_control(), trimmed.size), (false, true, 100));
        let back = trimmed.returned();
        assert_eq!((back.dst, back.ack, back.flags), (3, 8, Flags::DATA | Flags::TRIMMED));
        let plain = Packet { flags: Flags::DATA, ..packet };
        assert_eq!([packet, trimmed, back, plain].map(|p| p.is_returned()), [false, false, true, false]);
    }
}
