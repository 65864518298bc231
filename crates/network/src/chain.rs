//! Packets of a window that take the same link, in order.

use crate::in_flight::Incoming;
use crate::packet::Packet;
use linkpool_units::Time;

/// Packets of a window that take the same link, in order of time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chain<'a> {
    packets: &'a [Incoming],
    /// Arrivals and numbers in `packets`, the last one first.
    numbers: &'a [(Time, u32)],
}

impl<'a> Chain<'a> {
    /// The packets of `packets` with these arrivals and numbers, the last one first.
    pub(crate) fn new(packets: &'a [Incoming], numbers: &'a [(Time, u32)]) -> Chain<'a> {
        Chain { packets, numbers }
    }

    /// The packets, the first first. They came at their `arrival`.
    #[inline(always)]
    pub(crate) fn iter(self) -> impl Iterator<Item = &'a Packet> {
        self.numbers.iter().rev().map(move |(_, number)| &self.packets[*number as usize].packet)
    }
}
