//! Time series, and what flows carry in the measured period.

pub(crate) mod counters;
pub(crate) mod period;
pub(crate) mod rtts;
pub(crate) mod sampling;
