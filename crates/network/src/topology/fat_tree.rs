//! Fat-trees of k-port switches.

use super::Generator;
use crate::fabric::{Cable, Fabric, FabricBuilder, Layer, NodeId};
use linkpool_settings::{Bounds, Even, settings};
use linkpool_units::{Rate, Time};

const PORTS: &str = "a fat-tree's switches have an even number of ports, 2 or more, not {}";

settings! {
/// A fat-tree of k-port switches (Al-Fares, Loukissas, Vahdat, SIGCOMM 2008).
///
/// Of three tiers: k pods of k/2 edge and k/2 aggregation switches, and (k/2)^2 cores; aggregation
/// switch i of every pod is joined to cores `i * k/2 ..`. Of two: k edge switches, each joined to
/// all of k/2 cores; the edge switches are its pods.
#[derive(Copy, Eq)]
    pub struct FatTree {
        /// Ports of a switch, which is the number of pods; even.
        k: u32, required 8, within Bounds::from(2.0, PORTS), within Even(PORTS);
        /// 3, or 2: edge and core switches only.
        tiers: u32 = 3, within Bounds::from(2.0, "a fat-tree has 2 or 3 tiers, not {}").to(3.0);
        /// Hosts at each edge switch; k/2: full bisection; more: oversubscribed.
        hosts_per_edge: u32, from |t| t.k / 2 => "k/2", within Bounds::POSITIVE;
        /// NICs of a host, 1 or 2; the second is on the edge switch of the next rack of its pod.
        nics: u32 = 1, within Bounds::from(1.0, "{} NICs; a host has 1 or 2").to(2.0),
            refused |t| t.nics == 2 && t.tiers == 3 && t.k < 4 =>
                "a pod of one rack has no other one for a second NIC; raise `k`";
        /// Rate of the hosts' links.
        rate: Rate, required Rate::gbps(10), within Bounds::POSITIVE;
        /// Propagation delay of the hosts' links.
        delay: Time, required Time::from_us(2), within Bounds::SPAN;
        /// Rate of the links between edge and aggregation.
        aggregation_rate: Rate, from |t| t.rate => "`rate`", within Bounds::POSITIVE,
            when |t| t.tiers != 2 => "fat-trees of three tiers";
        /// Propagation delay of the links between edge and aggregation.
        aggregation_delay: Time, from |t| t.delay => "`delay`", within Bounds::SPAN,
            when |t| t.tiers != 2 => "fat-trees of three tiers";
        /// Rate of the links to the core.
        core_rate: Rate, from |t| t.rate => "`rate`", within Bounds::POSITIVE;
        /// Propagation delay of the links to the core.
        core_delay: Time, from |t| t.delay => "`delay`", within Bounds::SPAN;
    }
}

impl FatTree {
    /// Number of edge switches, each with its rack of hosts.
    pub fn edges(&self) -> u64 {
        let k = u64::from(self.k);
        if self.tiers == 2 { k } else { k * (k / 2) }
    }

    /// Joins the hosts of rack `i` to its edge switch, and their second NICs to that of the rack
    /// after it.
    fn cable_rack(&self, b: &mut FabricBuilder, hosts: &[NodeId], edges: &[NodeId], i: usize) {
        for host in hosts {
            (0..self.nics as usize).for_each(|nic| {
                b.lay(*host, edges[(i + nic) % edges.len()], Cable { rate: self.rate, delay: self.delay })
            });
        }
    }
}

impl Generator for FatTree {
    fn size_keys(&self) -> &'static [&'static str] {
        &["hosts_per_edge", "k"]
    }

    fn hosts(&self) -> u64 {
        self.edges().saturating_mul(self.hosts_per_edge.into())
    }

    fn cables(&self) -> u64 {
        let between_switches = self.edges().saturating_mul(u64::from(self.k / 2) * u64::from(self.tiers - 1));
        self.hosts().saturating_mul(self.nics.into()).saturating_add(between_switches)
    }

    fn fabric(&self) -> Fabric {
        let [aggregation, core] = [(self.aggregation_rate, self.aggregation_delay), (self.core_rate, self.core_delay)]
            .map(|(rate, delay)| Cable { rate, delay });
        let mut b = FabricBuilder::default();
        let hosts: Vec<NodeId> = (0..self.hosts()).map(|i| b.node(format!("h{i}"), Layer::Host)).collect();
        let half = self.k as usize / 2;
        let racks = hosts.chunks(self.hosts_per_edge as usize);
        if self.tiers == 2 {
            let edges: Vec<_> = (0..self.k).map(|i| b.node(format!("e{i}"), Layer::Edge)).collect();
            let cores: Vec<_> = (0..half).map(|i| b.node(format!("c{i}"), Layer::Core)).collect();
            racks.enumerate().for_each(|(rack, hosts)| self.cable_rack(&mut b, hosts, &edges, rack));
            for edge in edges {
                cores.iter().for_each(|c| b.lay(edge, *c, core));
            }
            return b.build();
        }
        let mut layer = |letter: char, layer: Layer| -> Vec<Vec<NodeId>> {
            (0..self.k).map(|pod| (0..half).map(|i| b.node(format!("{letter}{pod}.{i}"), layer)).collect()).collect()
        };
        let edges = layer('e', Layer::Edge);
        let aggregations = layer('a', Layer::Aggregation);
        let cores: Vec<_> = (0..half * half).map(|i| b.node(format!("c{i}"), Layer::Core)).collect();
        racks.enumerate().for_each(|(rack, hosts)| self.cable_rack(&mut b, hosts, &edges[rack / half], rack));
        for pod in 0..self.k as usize {
            for edge in &edges[pod] {
                aggregations[pod].iter().for_each(|a| b.lay(*edge, *a, aggregation));
            }
            for (i, aggregation) in aggregations[pod].iter().enumerate() {
                cores[i * half..][..half].iter().for_each(|c| b.lay(*aggregation, *c, core));
            }
        }
        b.build()
    }
}

/// The fat-tree of three tiers whose cables are all alike.
pub fn fat_tree(k: u32, hosts_per_edge: u32, rate: Rate, delay: Time) -> Fabric {
    let (aggregation_rate, core_rate, aggregation_delay, core_delay) = (rate, rate, delay, delay);
    FatTree {
        k,
        tiers: 3,
        hosts_per_edge,
        nics: 1,
        rate,
        delay,
        aggregation_rate,
        aggregation_delay,
        core_rate,
        core_delay,
    }
    .fabric()
}
