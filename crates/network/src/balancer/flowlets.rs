//! Flowlets take random links (LetFlow: Vanini et al., "Let it flow: resilient asymmetric load
//! balancing with flowlet switching", NSDI 2017).

use super::flowlet_table::FlowletTables;
use super::{Balancer, Choice, Queues, one_of};
use crate::fabric::Fabric;
use crate::packet::Packet;
use linkpool_engine::{Stream, stream};
use linkpool_units::Time;
use rand::RngCore;

/// A random link for each flowlet.
#[derive(Debug)]
pub(super) struct Flowlets {
    /// The random bits of each flowlet's choice.
    tables: FlowletTables<u32>,
    /// By node.
    random: Vec<Stream>,
}

impl Flowlets {
    pub(super) fn new(gap: Time, fabric: &Fabric, seed: u64) -> Flowlets {
        let random = (0..fabric.nodes()).map(|node| stream(seed, "spreading", node as u64)).collect();
        Flowlets { tables: FlowletTables::new(gap, fabric), random }
    }
}

impl Balancer for Flowlets {
    #[inline(always)]
    fn choose(&mut self, choice: Choice<'_>, packet: &Packet, _: &mut impl Queues) -> u32 {
        let (bits, continues) = self.tables.entry(choice, packet);
        if !continues {
            *bits = self.random[choice.node.index()].next_u32();
        }
        one_of(choice.links, *bits)
    }
}
