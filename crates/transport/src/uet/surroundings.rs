//! The network that the numbers of a transport depend on.

use linkpool_units::{Rate, Time};

/// The network that a transport is for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Network {
    /// Round-trip time without load between the two hosts that are farthest apart.
    pub base_rtt: Time,
    /// Rate of all links of a host together.
    pub rate: Rate,
}
