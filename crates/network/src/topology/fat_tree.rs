//! Fat-trees of k-port switches.

use crate::fabric::{Fabric, FabricBuilder, Layer, NodeId, Wire};
use linkpool_units::{Rate, Time};

/// A fat-tree of k-port switches (Al-Fares, Loukissas, Vahdat, SIGCOMM 2008).
///
/// Of three tiers: k pods of k/2 edge and k/2 aggregation switches, and (k/2)^2 cores; aggregation switch i of every
/// pod is joined to cores `i * k/2 ..`. Of two: k edge switches, each joined to all of k/2 cores; the edge switches are
/// its pods.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FatTree {
    /// Ports of a switch; even.
    pub k: u32,
    /// 2 or 3.
    pub tiers: u32,
    /// k/2: full bisection; more: oversubscribed.
    pub hosts_per_edge: u32,
    /// 1, or 2: then a host of one rack has a second NIC, on the edge switch of the next rack of its pod.
    pub nics: u32,
    /// Host to edge.
    pub host: Wire,
    /// Edge to aggregation; of two tiers there are none.
    pub aggregation: Wire,
    /// To the core.
    pub core: Wire,
}

impl FatTree {
    /// Number of edge switches, each with its rack of hosts.
    pub fn edges(&self) -> u64 {
        let k = u64::from(self.k);
        if self.tiers == 2 { k } else { k * (k / 2) }
    }

    /// Number of hosts.
    pub fn hosts(&self) -> u64 {
        self.edges().saturating_mul(self.hosts_per_edge.into())
    }

    /// Number of cables.
    pub fn cables(&self) -> u64 {
        let between_switches = self.edges() * u64::from(self.k / 2) * u64::from(self.tiers - 1);
        self.hosts().saturating_mul(self.nics.into()).saturating_add(between_switches)
    }

    /// Its hosts, switches and links.
    pub fn fabric(&self) -> Fabric {
        let mut b = FabricBuilder::default();
        let hosts: Vec<NodeId> = (0..self.hosts()).map(|i| b.node(format!("h{i}"), Layer::Host)).collect();
        let half = self.k as usize / 2;
        let racks = hosts.chunks(self.hosts_per_edge as usize);
        if self.tiers == 2 {
            let edges: Vec<_> = (0..self.k).map(|i| b.node(format!("e{i}"), Layer::Edge)).collect();
            let cores: Vec<_> = (0..half).map(|i| b.node(format!("c{i}"), Layer::Core)).collect();
            racks.enumerate().for_each(|(rack, hosts)| self.cable_rack(&mut b, hosts, &edges, rack));
            for edge in edges {
                cores.iter().for_each(|c| b.wire(edge, *c, self.core));
            }
            return b.build();
        }
        let mut layer = |letter: char, layer: Layer| -> Vec<Vec<NodeId>> {
            (0..self.k).map(|pod| (0..half).map(|i| b.node(format!("{letter}{pod}.{i}"), layer)).collect()).collect()
        };
        let edges = layer('e', Layer::Edge);
        let aggregations = layer('a', Layer::Aggregation);
        let cores: Vec<_> = (0..half * half).map(|i| b.node(format!("c{i}"), Layer::Core)).collect();
        racks.enumerate().for_each(|(rack, hosts)| self.cable_rack(&mut b, hosts, &edges[rack / half], rack % half));
        for pod in 0..self.k as usize {
            for edge in &edges[pod] {
                aggregations[pod].iter().for_each(|a| b.wire(*edge, *a, self.aggregation));
            }
            for (i, aggregation) in aggregations[pod].iter().enumerate() {
                cores[i * half..][..half].iter().for_each(|c| b.wire(*aggregation, *c, self.core));
            }
        }
        b.build()
    }

    /// Joins the hosts of rack `i` to its edge switch, and their second NICs to that of the rack after it.
    fn cable_rack(&self, b: &mut FabricBuilder, hosts: &[NodeId], edges: &[NodeId], i: usize) {
        for host in hosts {
            (0..self.nics as usize).for_each(|nic| b.wire(*host, edges[(i + nic) % edges.len()], self.host));
        }
    }
}

/// The fat-tree of three tiers whose cables are all alike.
pub fn fat_tree(k: u32, hosts_per_edge: u32, rate: Rate, delay: Time) -> Fabric {
    let wire = Wire { rate, delay };
    FatTree { k, tiers: 3, hosts_per_edge, nics: 1, host: wire, aggregation: wire, core: wire }.fabric()
}
