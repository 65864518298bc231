//! Quantities that carry their unit: [`Time`], [`Rate`], [`Bytes`]; and [ids](id!) that carry their
//! kind.
//!
//! As text they are written as a person writes them, `"5.6us"`, `"10Gbps"`, `"128KiB"`: exactly,
//! without a float on the way, in both directions. So are they in any serde format.

mod count;
mod id;
mod serde;
mod text;

pub use count::counted;
pub use id::HostId;
pub use text::ParseQuantityError;

use std::ops::{Add, AddAssign, Mul, Sub};

/// A point in simulated time or a span of it, in integer picoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(pub u64);

impl Time {
    /// The beginning of the simulation, or no time at all.
    pub const ZERO: Time = Time(0);
    /// The longest that may be written: 18 of them together still fit.
    pub const LONGEST: Time = Time::from_secs(1_000_000);
    /// Later than everything: "never".
    pub const MAX: Time = Time(u64::MAX);

    /// `n` picoseconds.
    pub const fn from_ps(n: u64) -> Time {
        Time(n)
    }
    /// `n` nanoseconds.
    pub const fn from_ns(n: u64) -> Time {
        Time(n * 1_000)
    }
    /// `n` microseconds.
    pub const fn from_us(n: u64) -> Time {
        Time(n * 1_000_000)
    }
    /// `n` milliseconds.
    pub const fn from_ms(n: u64) -> Time {
        Time(n * 1_000_000_000)
    }
    /// `n` seconds.
    pub const fn from_secs(n: u64) -> Time {
        Time(n * 1_000_000_000_000)
    }
    /// The nearest picosecond to `s` seconds.
    pub fn from_secs_f64(s: f64) -> Time {
        Time((s * 1e12).round() as u64)
    }
    /// In seconds; exact up to 2^53 ps (2.5 hours).
    pub fn secs(self) -> f64 {
        self.0 as f64 / 1e12
    }
    /// The span from `earlier` to `self`, or zero if there is none.
    pub const fn saturating_sub(self, earlier: Time) -> Time {
        Time(self.0.saturating_sub(earlier.0))
    }
    /// `self + span`, or [`Time::MAX`].
    pub const fn saturating_add(self, span: Time) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl Add for Time {
    type Output = Time;
    #[inline]
    fn add(self, o: Time) -> Time {
        Time(self.0 + o.0)
    }
}
impl AddAssign for Time {
    #[inline]
    fn add_assign(&mut self, o: Time) {
        self.0 += o.0;
    }
}
impl Sub for Time {
    type Output = Time;
    #[inline]
    fn sub(self, o: Time) -> Time {
        Time(self.0 - o.0)
    }
}
impl Mul<u64> for Time {
    type Output = Time;
    #[inline]
    fn mul(self, n: u64) -> Time {
        Time(self.0 * n)
    }
}

impl std::fmt::Debug for Time {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}ps", self.0)
    }
}

/// A rate in bits per second.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Rate(pub u64);

impl Rate {
    /// The largest that may be written: the shortest packet of TCP, 40 B, takes 3 ps, and 1 ps is
    /// the unit of [`Time`].
    pub const LARGEST: Rate = Rate(100_000_000_000_000);

    /// `n` Gbit/s.
    pub const fn gbps(n: u64) -> Rate {
        Rate(n * 1_000_000_000)
    }
    /// `n` Mbit/s.
    pub const fn mbps(n: u64) -> Rate {
        Rate(n * 1_000_000)
    }
    /// The time in which so many `bytes` pass, up to the next picosecond; at most [`Time::MAX`].
    pub fn time_of(self, bytes: u64) -> Time {
        let time = (u128::from(bytes) * 8_000_000_000_000).div_ceil(self.0.into());
        Time(u64::try_from(time).unwrap_or(u64::MAX))
    }
}

/// A number of bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Bytes(pub u64);

impl Bytes {
    /// The largest that may be written: counted in bits it still fits into 64 bits.
    pub const LARGEST: Bytes = Bytes(1_000_000_000_000_000_000);
}
