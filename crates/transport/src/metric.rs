//! Measures of one algorithm or one family of transports, reported by name.

use linkpool_units::Time;

/// A measure of a flow, taken at its end. Results show it under its name.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Metric {
    /// Its name in the results.
    pub name: &'static str,
    /// The unit of its value; empty for a count.
    pub unit: &'static str,
    /// Its value.
    pub value: f64,
}

impl Metric {
    /// A count; exact below 2^53.
    pub fn count(name: &'static str, count: u64) -> Metric {
        Metric { name, unit: "", value: count as f64 }
    }

    /// A point in time, in seconds.
    pub fn time(name: &'static str, at: Time) -> Metric {
        Metric { name, unit: "s", value: at.secs() }
    }
}
