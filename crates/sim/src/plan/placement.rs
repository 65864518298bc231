//! Settings of the central scheduler that places flows.

use linkpool_units::Time;

/// What the scheduler goes by.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Placement {
    /// From one report to the next.
    pub period: Time,
    /// A flow is long if it got at least this share of what the links of its host carry in a period.
    pub share: f64,
}
