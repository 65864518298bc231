//! Time series, and the measured period: components beside the endpoints.

pub(crate) mod counters;
pub(crate) mod period;
pub(crate) mod sampling;
