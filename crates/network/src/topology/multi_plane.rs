//! Fabrics of several planes: a host has a port in each.

use super::Generator;
use crate::fabric::{Cable, Fabric, FabricBuilder, Layer, NodeId};
use linkpool_settings::{Bounds, settings};
use linkpool_units::{Rate, Time};

settings! {
    /// Leaves and spines in several planes. A host has a NIC port in each plane, at the leaf of its
    /// group there. With `shared_spines` the spines join the leaves of all planes, as in
    /// rail-optimised fabrics, whose rails are the leaves here (Wang et al., Rail-only, HOTI 2024,
    /// section 2).
    #[derive(Copy, Eq)]
    pub struct MultiPlane {
        /// Planes, and NIC ports of a host.
        planes: u32, required 4, within Bounds::from(1.0, "{} planes; 1 to 8 are possible").to(8.0);
        /// Leaf switches of a plane, which is the number of groups of hosts.
        leaves: u32, required 8, within Bounds::POSITIVE;
        /// Spine switches of a plane; with `shared_spines`, of all together. 0 is possible with one
        /// leaf.
        spines: u32, required 4,
            refused |t| t.spines == 0 && t.leaves > 1 => "no spine joins the leaves of a plane; write 1 or more";
        /// Are the planes joined by their spines?
        shared_spines: bool = false;
        /// Hosts of a group, each of which has a port at the group's leaf of each plane.
        hosts_per_leaf: u32, required 8, within Bounds::POSITIVE;
        /// Rate of each port of a host.
        rate: Rate, required Rate::gbps(100), within Bounds::POSITIVE;
        /// Propagation delay of the hosts' links.
        delay: Time, required Time::from_us(1), within Bounds::SPAN;
        /// Rate of the links between leaves and spines.
        uplink_rate: Rate, from |t| t.rate => "`rate`", within Bounds::POSITIVE;
        /// Propagation delay of the links between leaves and spines.
        uplink_delay: Time, from |t| t.delay => "`delay`", within Bounds::SPAN;
    }
}

impl Generator for MultiPlane {
    fn size_keys(&self) -> &'static [&'static str] {
        &["leaves"]
    }

    fn hosts(&self) -> u64 {
        u64::from(self.leaves) * u64::from(self.hosts_per_leaf)
    }

    fn cables(&self) -> u64 {
        let uplinks = u64::from(self.leaves) * u64::from(self.spines);
        self.hosts().saturating_add(uplinks).saturating_mul(self.planes.into())
    }

    /// Hosts `h0..`, group by group; then plane by plane leaves and spines. The ports of a host are
    /// in order of plane.
    fn fabric(&self) -> Fabric {
        let port = Cable { rate: self.rate, delay: self.delay };
        let uplink = Cable { rate: self.uplink_rate, delay: self.uplink_delay };
        let mut b = FabricBuilder::default();
        let hosts: Vec<_> = (0..self.hosts()).map(|i| b.node(format!("h{i}"), Layer::Host)).collect();
        let planes = 0..self.planes;
        let mut switches = |letter: char, count: u32, layer: Layer| -> Vec<Vec<NodeId>> {
            let of_plane = |p: u32| (0..count).map(|i| b.node(format!("{letter}{p}.{i}"), layer)).collect();
            planes.clone().map(of_plane).collect()
        };
        let leaves = switches('l', self.leaves, Layer::Edge);
        let mut spines = switches('s', if self.shared_spines { 0 } else { self.spines }, Layer::Core);
        if self.shared_spines {
            let all: Vec<_> = (0..self.spines).map(|i| b.node(format!("s{i}"), Layer::Core)).collect();
            spines.iter_mut().for_each(|of_plane| of_plane.clone_from(&all));
        }
        for (leaves, spines) in leaves.iter().zip(&spines) {
            for (group, leaf) in hosts.chunks(self.hosts_per_leaf as usize).zip(leaves) {
                group.iter().for_each(|host| b.lay(*host, *leaf, port));
                spines.iter().for_each(|spine| b.lay(*leaf, *spine, uplink));
            }
        }
        b.build()
    }
}
