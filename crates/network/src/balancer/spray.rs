//! Packets are sprayed: each goes over a random link (Dixit et al., "On the impact of packet spraying
//! in data center networks", INFOCOM 2013).

use super::{Balancer, Choice, Queue, one_of};
use crate::fabric::Fabric;
use crate::packet::Packet;
use linkpool_engine::{Stream, stream};
use rand::RngCore;

/// A random link for each packet.
#[derive(Debug)]
pub(super) struct Spray {
    /// By node.
    random: Vec<Stream>,
}

impl Spray {
    pub(super) fn new(fabric: &Fabric, seed: u64) -> Spray {
        Spray { random: (0..fabric.nodes()).map(|node| stream(seed, "spreading", node as u64)).collect() }
    }
}

impl Balancer for Spray {
    #[inline(always)]
    fn choose(&mut self, choice: Choice<'_>, _: &Packet, _: Queue<'_>) -> u32 {
        one_of(choice.links, self.random[choice.node.index()].next_u32())
    }
}
