//! Routing: spreading, weights, placement.

use linkpool_network::{Spreading, Weights};
use linkpool_units::Time;

/// How switches choose among the links of equal cost to a destination.
#[derive(Clone, Debug, PartialEq)]
pub struct Routing {
    /// By what.
    pub kind: RoutingKind,
    /// In which shares.
    pub weights: Weights,
    /// The scheduler that places flows, where transports have flows placed.
    pub placement: Option<Placement>,
}

/// A central scheduler.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    /// From one look at all flows to the next.
    pub period: Time,
    /// A flow is long if it got this share of the capacity of its host's links in a period.
    pub share: f64,
}

/// How a switch chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoutingKind {
    /// A hash of addresses and ports.
    Ecmp,
    /// Nothing: a random link for each packet.
    Spray,
    /// A random link for each flowlet.
    Flowlets {
        /// Packets of a flow that are so far apart may part.
        gap: Time,
    },
    /// The address of the destination (Al-Fares et al., SIGCOMM 2008).
    TwoLevel {
        /// Of each host.
        addresses: u32,
    },
}

impl Routing {
    /// The spreading for the network; with two-level routing hosts know the paths of their packets.
    pub fn network(&self) -> linkpool_network::Routing {
        let spreading = match self.kind {
            RoutingKind::Ecmp | RoutingKind::TwoLevel { .. } => Spreading::Flows,
            RoutingKind::Spray => Spreading::Packets,
            RoutingKind::Flowlets { gap } => Spreading::Flowlets(gap),
        };
        linkpool_network::Routing { spreading, weights: self.weights.clone() }
    }
}
