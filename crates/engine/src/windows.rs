//! Windows of time in which no node can affect another.

use linkpool_units::Time;

/// Cuts time into numbered windows of (almost exactly) the lookahead.
///
/// The window of `t` is `floor(t * m / 2^64)` with `m = ceil(2^64 / lookahead)`: a multiplication
/// where a division would be needed once per packet-hop. Since `lookahead * m >= 2^64`, whatever is
/// sent in window `w` and takes at least the lookahead arrives in window `w + 1` or later, which is
/// all that the engine stands on.
#[derive(Clone, Copy, Debug)]
pub struct Windows {
    length: u64,
    multiplier: u64,
    /// `length * multiplier - 2^64`: by so little is the multiplier too large.
    excess: u64,
}

impl Windows {
    /// The longest window; longer lookaheads gain nothing.
    pub const LONGEST: Time = Time::from_secs(1);

    /// Windows for a network whose fastest hop takes `lookahead` (at least 2 ps).
    ///
    /// # Panics
    /// If `lookahead` is below 2 ps: then no two nodes may be run apart.
    pub fn new(lookahead: Time) -> Windows {
        assert!(lookahead.0 >= 2, "a hop must take at least 2 ps");
        let length = lookahead.min(Windows::LONGEST).0;
        let multiplier = (1u128 << 64).div_ceil(length as u128) as u64;
        Windows { length, multiplier, excess: length.wrapping_mul(multiplier) }
    }

    /// The number of the window that holds `t`.
    #[inline]
    pub fn of(&self, t: Time) -> u64 {
        ((t.0 as u128 * self.multiplier as u128) >> 64) as u64
    }

    /// The first instant of window `w`; [`Time::MAX`] where time ends before.
    ///
    /// That is `ceil(w * 2^64 / m)`, or `w * length - floor(w * excess / m)`: the division is of
    /// zero for as long as the windows are of the length exactly.
    #[inline]
    pub fn start(&self, w: u64) -> Time {
        let (late, m) = (w as u128 * self.excess as u128, self.multiplier as u128);
        let early = if late < m { 0 } else { late / m };
        Time(u64::try_from(w as u128 * self.length as u128 - early).unwrap_or(u64::MAX))
    }

    /// The first instant after window `w`; [`Time::MAX`] where time ends before.
    #[inline]
    pub fn end(&self, w: u64) -> Time {
        self.start(w.saturating_add(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_lookahead_later_is_a_later_window(l in 2u64..2_000_000_000_000, t in 0u64..1 << 60) {
            let w = Windows::new(Time(l));
            prop_assert!(w.of(Time(t + l)) > w.of(Time(t)));
        }

        #[test]
        fn end_is_the_first_instant_of_the_next(l in 2u64..2_000_000_000_000, t in 0u64..1 << 60) {
            let w = Windows::new(Time(l));
            let n = w.of(Time(t));
            let end = w.end(n);
            prop_assert!(w.start(n).0 <= t && t < end.0);
            prop_assert_eq!(w.of(end), n + 1);
            prop_assert_eq!(w.of(Time(end.0 - 1)), n);
            // By the definition, without the optimisation.
            let by_division = ((n as u128 + 1) << 64).div_ceil(w.multiplier as u128);
            prop_assert_eq!(end.0 as u128, by_division);
        }
    }

    /// With windows of 3 ps, m is (2^64 + 2) / 3 and the excess 2: at window m / 2 the windows have
    /// come to begin one picosecond early.
    #[test]
    fn windows_are_early_by_a_picosecond_where_the_excess_has_summed_up_to_it() {
        let w = Windows::new(Time(3));
        let m = (1u128 << 64).div_ceil(3) as u64;
        assert_eq!(w.start(m / 2 - 1), Time(3 * (m / 2 - 1)));
        assert_eq!(w.start(m / 2), Time(3 * (m / 2) - 1));
    }
}
