//! Rate, delay and thresholds, shared by all links that have the same.

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
    /// A packet that finds fewer packets present, and less time until all of them have departed,
    /// passes all thresholds: two comparisons let most packets pass.
    pub(super) acts_from: u32,
    pub(super) acts_from_backlog: Time,
}

impl LinkKind {
    /// A link of `rate` with propagation `delay` and `thresholds` at its sending port.
    pub(crate) fn new(rate: Rate, delay: Time, thresholds: Thresholds) -> LinkKind {
        let per_byte = ((8_000_000_000_000u128 << FRACTION) / rate.0 as u128) as u64;
        let acts_from_backlog = match thresholds.acts_from_bytes() {
            u64::MAX => Time::MAX,
            // Counting bytes rounds to the nearest: half a byte less than this many may count as
            // this many.
            bytes => {
                let time = (u128::from(bytes.saturating_sub(1)) * u128::from(per_byte)) >> FRACTION;
                Time(u64::try_from(time).unwrap_or(u64::MAX))
            }
        };
        LinkKind { rate, delay, thresholds, per_byte, acts_from: thresholds.acts_from_present(), acts_from_backlog }
    }

    /// The time to send `size` bytes.
    #[inline]
    pub fn serialisation(&self, size: u16) -> Time {
        Time((size as u64 * self.per_byte) >> FRACTION)
    }

    /// The number of bytes sent in `span`.
    pub(crate) fn bytes_in(&self, span: Time) -> u64 {
        // Rounded: serialisation is exact to a fraction of a byte.
        (((span.0 as u128) << FRACTION) + self.per_byte as u128 / 2).div_euclid(self.per_byte as u128) as u64
    }
}
