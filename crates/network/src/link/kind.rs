//! Rate, delay and thresholds, shared by all links that have the same.

use crate::queue_limit::QueueLimit;
use crate::thresholds::Thresholds;
use linkpool_units::{Rate, Time};

/// Serialisation time is `size * per_byte >> FRACTION`: exact for rates that divide 8 Tbit/s,
/// within 10^-6 ps a byte for others.
const FRACTION: u32 = 20;

/// Rate, delay and thresholds of a link; links that are alike share one, so that it stays in the
/// cache.
#[derive(Clone, Copy, Debug)]
pub struct LinkKind {
    pub(crate) rate: Rate,
    pub(crate) delay: Time,
    pub(crate) thresholds: Thresholds,
    per_byte: u64,
    /// The bytes of a picosecond, rounded up, if serialisations are rounded down to picoseconds; otherwise 0.
    rounding: u32,
    /// A packet that finds fewer packets present, and less time until all of them have departed,
    /// passes all thresholds: two comparisons let most packets pass.
    pub(super) acts_from: u32,
    pub(super) acts_from_backlog: Time,
}

impl LinkKind {
    /// A link of `rate` with propagation `delay` and `thresholds` at its sending port.
    pub(crate) fn new(rate: Rate, delay: Time, thresholds: Thresholds) -> LinkKind {
        let per_byte = ((8_000_000_000_000u128 << FRACTION) / rate.0 as u128) as u64;
        let is_rounded = !per_byte.is_multiple_of(1 << FRACTION);
        let acts_from_backlog = match thresholds.acts_from_bytes() {
            // What finds the link busy is left to its port.
            _ if thresholds.is_elsewhere() => Time(1),
            u64::MAX => Time::MAX,
            bytes => {
                let time = (u128::from(bytes) * u128::from(per_byte)) >> FRACTION;
                // Rounding makes each packet, of a byte at least, shorter by less than a picosecond.
                let rounded = if is_rounded { bytes } else { 0 };
                Time(u64::try_from(time).unwrap_or(u64::MAX).saturating_sub(rounded))
            }
        };
        let rounding = if is_rounded { (1u64 << FRACTION).div_ceil(per_byte) as u32 } else { 0 };
        let acts_from = thresholds.acts_from_present().min(QueueLimit::HELD_PACKETS);
        LinkKind { rate, delay, thresholds, per_byte, rounding, acts_from, acts_from_backlog }
    }

    /// Has `other` the same rate, delay and thresholds?
    pub(crate) fn is_like(&self, other: &LinkKind) -> bool {
        (self.rate, self.delay, self.thresholds) == (other.rate, other.delay, other.thresholds)
    }

    /// The time to send `size` bytes.
    #[inline]
    pub fn serialisation(&self, size: u16) -> Time {
        Time((size as u64 * self.per_byte) >> FRACTION)
    }

    /// The least number of bytes that take `span` to send, if no serialisation is rounded.
    ///
    /// # Panics
    /// If a FIFO queue cannot hold them ([`QueueLimit::HELD`]): packets that are never dropped have filled it.
    #[inline]
    pub(super) fn bytes_that_take(&self, span: Time) -> u32 {
        let bytes = match span.0 >> (u64::BITS - FRACTION) {
            0 => (span.0 << FRACTION).div_ceil(self.per_byte),
            _ => self.bytes_that_take_long(span),
        };
        assert!(bytes <= QueueLimit::HELD, "packets that are never dropped have filled a queue of 2 GiB");
        bytes as u32
    }

    #[cold]
    fn bytes_that_take_long(&self, span: Time) -> u64 {
        (u128::from(span.0) << FRACTION).div_ceil(u128::from(self.per_byte)) as u64
    }

    /// Rounding makes the serialisations of so many packets shorter, by less than the time of so many bytes.
    #[inline]
    pub(super) fn rounding(&self, packets: u32) -> u32 {
        packets * self.rounding
    }

    /// The time to send `bytes`, however many.
    pub(crate) fn time_of(&self, bytes: u64) -> Time {
        Time(((u128::from(bytes) * u128::from(self.per_byte)) >> FRACTION) as u64)
    }

    /// The number of bytes sent in `span`.
    #[inline]
    pub(crate) fn bytes_in(&self, span: Time) -> u64 {
        if span == Time::ZERO {
            return 0; // as often where links are idle; a division takes longer than to ask
        }
        // Rounded: serialisation is exact to a fraction of a byte.
        match span.0 >> (u64::BITS - 1 - FRACTION) {
            // The half is less than 2^63: no rate is below 1 bit/s.
            0 => ((span.0 << FRACTION) + self.per_byte / 2) / self.per_byte,
            _ => self.bytes_in_long(span),
        }
    }

    /// The longest time in which as many bytes are sent as in `span`, by [`LinkKind::bytes_in`].
    #[inline]
    pub(crate) fn longest_with_bytes_of(&self, span: Time) -> Time {
        let after = u128::from(self.bytes_in(span) + 1) * u128::from(self.per_byte) - u128::from(self.per_byte / 2);
        Time(u64::try_from((after - 1) >> FRACTION).unwrap_or(u64::MAX))
    }

    /// The same of no time: up to half a byte's.
    #[inline]
    pub(crate) fn longest_without_bytes(&self) -> Time {
        Time((self.per_byte - self.per_byte / 2 - 1) >> FRACTION)
    }

    #[cold]
    fn bytes_in_long(&self, span: Time) -> u64 {
        (((span.0 as u128) << FRACTION) + self.per_byte as u128 / 2).div_euclid(self.per_byte as u128) as u64
    }
}
