//! Two-level routing of a fat-tree.

use super::{FatTree, Generator};
use crate::fabric::NodeId;
use linkpool_units::HostId;

impl FatTree {
    /// The nodes on the way from one host to an address of another by two-level lookup (Al-Fares et
    /// al., SIGCOMM 2008, section 3.4). Upwards, a switch looks at the host part of the address
    /// only: switch z of a pod takes port (ID - 2 + z) mod k/2 (their Algorithm 1, where edge
    /// switches are 0 to k/2 - 1 and aggregation switches k/2 to k - 1). Downwards there is one
    /// way.
    ///
    /// The ID of address j of host n of a rack is n + j + 2, modulo k/2, so that each address of a
    /// host has a path of its own, and first addresses are as they are in the paper.
    pub fn two_level_path(&self, from: HostId, to: HostId, address: u32) -> Vec<NodeId> {
        let half = self.k / 2;
        let (from, to) = (u32::from(from), u32::from(to));
        let [rack, rack_to] = [from, to].map(|host| host / self.hosts_per_edge);
        let edges = self.hosts() as u32;
        let mut path = vec![from, edges + rack];
        if rack != rack_to {
            let host_part = to % self.hosts_per_edge + address;
            let above = edges + self.edges() as u32;
            let up = (host_part + rack % half) % half;
            if self.tiers == 2 {
                path.push(above + (host_part + rack) % half);
            } else if rack / half == rack_to / half {
                path.push(above + rack / half * half + up);
            } else {
                let core = up * half + (host_part + up) % half;
                path.push(above + rack / half * half + up);
                path.push(above + self.edges() as u32 + core);
                path.push(above + rack_to / half * half + up);
            }
            path.push(edges + rack_to);
        }
        path.push(to);
        path.into_iter().map(NodeId::from).collect()
    }
}
