//! Classes of packets, of which neighbours pause some ([`crate::ports`]).

use crate::packet::{Flags, Kind, Packet};

/// The number of classes of packets.
pub(crate) const CLASSES: usize = 3;

/// The class of control packets, which is never paused and never dropped.
pub(crate) const CONTROL: u8 = 0;

/// A set of classes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct ClassSet(u8);

impl ClassSet {
    /// With `class`, or without it.
    pub(crate) fn set(&mut self, class: u8, is_in: bool) {
        self.0 = self.0 & !(1 << class) | u8::from(is_in) << class;
    }

    /// Is `class` in it?
    pub(crate) fn has(self, class: u8) -> bool {
        self.0 & (1 << class) != 0
    }

    /// As bits: bit n is class n.
    pub(crate) fn bits(self) -> u8 {
        self.0
    }

    /// Of such bits.
    pub(crate) fn of_bits(bits: u8) -> ClassSet {
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
        true if packet.flags.has(Flags::PRIORITY) => 1,
        true => 2,
    }
}
