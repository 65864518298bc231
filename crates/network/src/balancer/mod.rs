//! How switches choose among links of equal cost: balancers, one a file.
//!
//! [`Spreading`] lists them, and [`Spreading::balancer`] makes them. A hash of each packet's
//! addresses and ports needs no state and no order, so it has no balancer: it is part of routing
//! ([`crate::routing`]).

mod flowlet_table;
mod flowlets;
mod least_queue;
mod spray;

use crate::fabric::{Fabric, NodeId};
use crate::packet::Packet;
use linkpool_units::Time;
use std::fmt::Debug;

/// How a switch chooses among several links that lead nearer to the destination. Hosts with several
/// NICs always choose by hash.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Spreading {
    /// By the entropy of addresses and ports, hashed with a salt of the switch (ECMP, RFC 2992).
    #[default]
    Flows,
    /// Nothing: each packet goes over a random one (Dixit et al., INFOCOM 2013).
    Packets,
    /// By the time: packets of a flow follow each other unless there is a gap of at least this
    /// length between them, after which a random link is chosen (LetFlow: Vanini et al., NSDI
    /// 2017).
    Flowlets(Time),
    /// By the queues: each packet, or with a time each flowlet, goes over the link that has the
    /// fewest bytes to send; of several, over a random one.
    LeastQueue(Option<Time>),
}

/// The links of equal cost among which a switch chooses for a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice {
    /// The switch.
    pub(crate) node: NodeId,
    /// What tells its hashes from those of other switches.
    pub(crate) salt: u32,
    /// The number of links, at least two.
    pub(crate) links: u32,
}

/// The bytes that a link of a choice has not yet put on the wire; none: it is down.
pub(crate) type Queue<'a> = &'a mut dyn FnMut(u32) -> Option<u64>;

/// Chooses among links of equal cost, at all switches of a network or of a partition. It is asked
/// for the packets of each switch in the order in which they come.
pub(crate) trait Balancer: Debug + Send {
    /// The number of the link of `choice` that `packet` takes, which has come at its `arrival`.
    fn choose(&mut self, choice: Choice, packet: &Packet, queue: Queue<'_>) -> u32;

    /// Does it ask for queues? Then packets are queued one by one where it chooses.
    fn sees_queues(&self) -> bool {
        false
    }
}

impl Spreading {
    /// The balancer of the switches of `fabric`; none: they choose by hash.
    pub(crate) fn balancer(self, fabric: &Fabric, seed: u64) -> Option<Box<dyn Balancer>> {
        match self {
            Spreading::Flows => None,
            Spreading::Packets => Some(Box::new(spray::Spray::new(fabric, seed))),
            Spreading::Flowlets(gap) => Some(Box::new(flowlets::Flowlets::new(gap, fabric, seed))),
            Spreading::LeastQueue(gap) => Some(Box::new(least_queue::LeastQueue::new(gap, fabric, seed))),
        }
    }
}

/// One of `n` by 32 random bits: Lemire's multiply-and-shift maps them to 0..n without a division.
#[inline]
pub(crate) fn one_of(n: u32, bits: u32) -> u32 {
    ((u64::from(bits) * u64::from(n)) >> 32) as u32
}
