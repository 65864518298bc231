//! The measured period.

use linkpool_units::Time;

/// The period that statistics are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measure {
    /// Its start: flows that start before it are left out.
    pub warm_up: Time,
    /// Its end: flows that start at or after it are left out.
    pub cut_off: Time,
}
