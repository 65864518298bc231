//! The shortest paths between two hosts, hop by hop.

use crate::fabric::{Fabric, LinkId, NodeId};
use crate::routing::Routes;
use linkpool_units::HostId;

impl Routes {
    /// The links that lead from one host to another: all that may be the first of a path, all that
    /// may be the second, ... A path has one of each level, so each level is a cut between the two.
    /// Empty if no path leads there.
    pub fn levels(&self, fabric: &Fabric, from: HostId, to: HostId) -> Vec<Vec<LinkId>> {
        let mut levels = Vec::new();
        let mut nodes = vec![NodeId::from(from)];
        while nodes != [NodeId::from(to)] {
            let links: Vec<LinkId> = nodes.iter().flat_map(|n| self.links_towards(*n, to)).collect();
            if links.is_empty() {
                return Vec::new();
            }
            nodes = links.iter().map(|l| fabric.links()[l.index()].to).collect();
            nodes.sort_unstable();
            nodes.dedup();
            levels.push(links);
        }
        levels
    }
}
