//! Leaf-spine fabrics.

use crate::fabric::{Fabric, FabricBuilder, Layer, Wire};

/// Leaves, each with a rack of hosts and a cable to every spine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LeafSpine {
    /// Number of leaf switches.
    pub leaves: u32,
    /// Number of spine switches.
    pub spines: u32,
    /// Hosts at each leaf.
    pub hosts_per_leaf: u32,
    /// Host to leaf.
    pub host: Wire,
    /// Leaf to spine.
    pub uplink: Wire,
}

impl LeafSpine {
    /// Number of hosts.
    pub fn hosts(&self) -> u64 {
        u64::from(self.leaves) * u64::from(self.hosts_per_leaf)
    }

    /// Number of cables.
    pub fn cables(&self) -> u64 {
        self.hosts().saturating_add(u64::from(self.leaves) * u64::from(self.spines))
    }

    /// Hosts `h0..`, leaves `l0..`, spines `s0..`.
    pub fn fabric(&self) -> Fabric {
        let mut b = FabricBuilder::default();
        let hosts: Vec<_> = (0..self.hosts()).map(|i| b.node(format!("h{i}"), Layer::Host)).collect();
        let leaves: Vec<_> = (0..self.leaves).map(|i| b.node(format!("l{i}"), Layer::Edge)).collect();
        let spines: Vec<_> = (0..self.spines).map(|i| b.node(format!("s{i}"), Layer::Core)).collect();
        for (hosts, leaf) in hosts.chunks(self.hosts_per_leaf as usize).zip(leaves) {
            hosts.iter().for_each(|h| b.wire(*h, leaf, self.host));
            spines.iter().for_each(|s| b.wire(leaf, *s, self.uplink));
        }
        b.build()
    }
}
