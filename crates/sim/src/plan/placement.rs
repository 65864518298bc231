//! Settings of the central scheduler that places flows.

use linkpool_units::Time;

/// The settings of the scheduler.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Placement {
    /// From one report to the next.
    pub period: Time,
    /// A flow is long if it got at least this share of the capacity of its host's links in a
    /// period.
    pub share: f64,
}
