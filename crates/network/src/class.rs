//! Classes of packets, of which neighbours pause some ([`crate::ports`]).

use crate::packet::Packet;

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

    /// Of these classes, bit by bit.
    pub(crate) const fn of(bits: u16) -> ClassSet {
        ClassSet(bits)
    }

    /// How many there are.
    pub(crate) fn len(self) -> u32 {
        self.0.count_ones()
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

    /// The class of it with the smallest number.
    pub(crate) fn first(self) -> Option<u8> {
        (!self.is_empty()).then(|| self.0.trailing_zeros() as u8)
    }

    /// As bits: bit n is class n.
    pub(crate) fn bits(self) -> u16 {
        self.0
    }

    /// Is none in it?
    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// The class of `packet`: that of control packets, and of headers whose payload was cut off, or its priority.
#[inline]
pub(crate) fn class_of(packet: &Packet) -> u8 {
    if packet.is_control() { CONTROL } else { packet.priority() }
}
