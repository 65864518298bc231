//! Classes of packets, of which neighbours pause some ([`crate::ports`]).

use crate::packet::{Flags, Kind, Packet};

/// The number of classes of packets: one for each priority of IEEE 802.1Q, by its number, and that of
/// control packets.
pub(crate) const CLASSES: usize = 9;

/// The class of control packets, which is never paused and never dropped.
pub(crate) const CONTROL: u8 = 8;

/// The priority of data that has none.
pub(crate) const LOW: u8 = 0;

/// The priority of data of high priority.
pub(crate) const HIGH: u8 = 7;

/// A set of classes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct ClassSet(u16);

impl ClassSet {
    /// With `class`, or without it.
    pub(crate) fn set(&mut self, class: u8, is_in: bool) {
        self.0 = self.0 & !(1 << class) | u16::from(is_in) << class;
    }

    /// Is `class` in it?
    pub(crate) fn has(self, class: u8) -> bool {
        self.0 & (1 << class) != 0
    }

    /// Those of `other` that are not in it.
    pub(crate) fn missing(self, other: ClassSet) -> ClassSet {
        ClassSet(other.0 & !self.0)
    }

    /// The class of it with the largest number.
    pub(crate) fn last(self) -> Option<u8> {
        self.0.checked_ilog2().map(|class| class as u8)
    }

    /// As bits: bit n is class n.
    pub(crate) fn bits(self) -> u16 {
        self.0
    }

    /// Of such bits.
    pub(crate) fn of_bits(bits: u16) -> ClassSet {
        ClassSet(bits)
    }

    /// Is none in it?
    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// The class of `packet`: control packets, data of high priority, other data.
pub(crate) fn class_of(packet: &Packet) -> u8 {
    match packet.kind.has(Kind::DATA) {
        false => CONTROL,
        true if packet.flags.has(Flags::PRIORITY) => HIGH,
        true => LOW,
    }
}
