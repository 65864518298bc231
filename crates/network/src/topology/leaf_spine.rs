//! Leaf-spine fabrics.

use super::Generator;
use crate::fabric::{Cable, Fabric, FabricBuilder, Layer};
use linkpool_settings::{Bounds, settings};
use linkpool_units::{Rate, Time};

settings! {
    /// Leaf switches, each with a rack of hosts and a cable to every spine switch.
    #[derive(Copy, Eq)]
    pub struct LeafSpine {
        /// Number of leaf switches.
        leaves: u32, required 16, within Bounds::POSITIVE;
        /// Number of spine switches.
        spines: u32, required 4, within Bounds::POSITIVE;
        /// Hosts at each leaf.
        hosts_per_leaf: u32, required 16, within Bounds::POSITIVE;
        /// Rate of the hosts' links.
        rate: Rate, required Rate::gbps(10), within Bounds::POSITIVE;
        /// Propagation delay of the hosts' links.
        delay: Time, required Time::from_us(2), within Bounds::SPAN;
        /// Rate of the links between leaves and spines.
        uplink_rate: Rate, from |t| t.rate => "`rate`", within Bounds::POSITIVE;
        /// Propagation delay of the links between leaves and spines.
        uplink_delay: Time, from |t| t.delay => "`delay`", within Bounds::SPAN;
    }
}

impl Generator for LeafSpine {
    fn size_keys(&self) -> &'static [&'static str] {
        &["leaves"]
    }

    fn hosts(&self) -> u64 {
        u64::from(self.leaves) * u64::from(self.hosts_per_leaf)
    }

    fn cables(&self) -> u64 {
        self.hosts().saturating_add(u64::from(self.leaves) * u64::from(self.spines))
    }

    /// Hosts `h0..`, leaves `l0..`, spines `s0..`.
    fn fabric(&self) -> Fabric {
        let host = Cable { rate: self.rate, delay: self.delay };
        let uplink = Cable { rate: self.uplink_rate, delay: self.uplink_delay };
        let mut b = FabricBuilder::default();
        let hosts: Vec<_> = (0..self.hosts()).map(|i| b.node(format!("h{i}"), Layer::Host)).collect();
        let leaves: Vec<_> = (0..self.leaves).map(|i| b.node(format!("l{i}"), Layer::Edge)).collect();
        let spines: Vec<_> = (0..self.spines).map(|i| b.node(format!("s{i}"), Layer::Core)).collect();
        for (hosts, leaf) in hosts.chunks(self.hosts_per_leaf as usize).zip(leaves) {
            hosts.iter().for_each(|h| b.lay(*h, leaf, host));
            spines.iter().for_each(|s| b.lay(leaf, *s, uplink));
        }
        b.build()
    }
}
