//! The time of computations of which a trace has the operations and the data, and not the time.

use linkpool_units::Rate;

/// The roofline model (Williams, Waterman and Patterson, CACM 52(4), 2009): operations take place
/// at the rate of the processor, or at that at which memory gives data for them, if that is less.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Roofline {
    /// Operations in a second, at the most.
    pub compute_rate: f64,
    /// Of data; none: data take no time.
    pub memory_rate: Option<Rate>,
}

impl Roofline {
    /// Nanoseconds of so many operations on so many bytes, to the nearest. With the intensity I =
    /// operations / bytes the rate is min(compute_rate, I memory_rate), as in ASTRA-sim
    /// (`Roofline::get_perf`, astra-sim/system/Roofline.cc at 79f88d9), so the longer time of both
    /// counts. ASTRA-sim leaves parts of nanoseconds out.
    pub(super) fn nanoseconds(&self, operations: u64, bytes: u64) -> Option<u64> {
        let of_data = self.memory_rate.map_or(0.0, |rate| 8.0 * bytes as f64 / rate.0 as f64);
        let seconds = (operations as f64 / self.compute_rate).max(of_data);
        let ns = (seconds * 1e9).round();
        // A hundred years are less than the numbers of a calc hold.
        (ns < 4e18).then_some(ns as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2 operations a ps and 100 GB/s: the ridge is at 20 operations for a byte. Below it data
    /// decide, above it operations.
    #[test]
    fn the_slower_of_both_decides() {
        let of = Roofline { compute_rate: 2e12, memory_rate: Some(Rate(800_000_000_000)) };
        for (operations, bytes, ns) in [
            (4_000_000, 1_000_000, 10_000),
            (20_000_000, 1_000_000, 10_000),
            (24_000_000, 1_000_000, 12_000),
            (4_000_000, 1, 2_000),
            (2_999, 1, 1),
            (3_001, 1, 2),
            (1, 1, 0),
        ] {
            assert_eq!(of.nanoseconds(operations, bytes), Some(ns), "{operations} {bytes}");
        }
        let without = Roofline { memory_rate: None, ..of };
        assert_eq!(without.nanoseconds(4_000_000, 1_000_000), Some(2_000));
        assert_eq!(Roofline { compute_rate: 1e-9, ..of }.nanoseconds(10, 0), None);
    }
}
