//! Shortest paths, counted and numbered.

use crate::fabric::{Fabric, LinkId, NodeId};
use crate::routing::Routes;
use linkpool_units::HostId;
use std::collections::HashMap;

/// The shortest paths to a host, counted and numbered.
#[derive(Debug)]
pub struct ShortestPaths<'a> {
    routes: &'a Routes,
    fabric: &'a Fabric,
    to: HostId,
    /// The number of paths from each node seen so far.
    counts: HashMap<NodeId, u64>,
    widths: HashMap<NodeId, u64>,
}

impl<'a> ShortestPaths<'a> {
    /// The paths to host `to`.
    pub fn new(routes: &'a Routes, fabric: &'a Fabric, to: HostId) -> ShortestPaths<'a> {
        ShortestPaths { routes, fabric, to, counts: HashMap::new(), widths: HashMap::new() }
    }

    /// How many there are from `node`.
    pub fn count(&mut self, node: NodeId) -> u64 {
        if node == NodeId::from(self.to) {
            return 1;
        }
        if let Some(count) = self.counts.get(&node) {
            return *count;
        }
        let links = self.routes.links_towards(node, self.to);
        let count = links.into_iter().map(|link| self.beyond(link)).fold(0, u64::saturating_add);
        self.counts.insert(node, count);
        count
    }

    fn beyond(&mut self, link: LinkId) -> u64 {
        self.count(self.fabric.links()[link.index()].to)
    }

    /// Do all paths from `node` fit into a packet (see [`crate::source_route`])?
    pub fn can_be_pinned(&mut self, node: NodeId) -> bool {
        self.width(node) <= 1 << 32
    }

    /// The greatest product of the numbers of ports along a path.
    fn width(&mut self, node: NodeId) -> u64 {
        if node == NodeId::from(self.to) {
            return 1;
        }
        if let Some(width) = self.widths.get(&node) {
            return *width;
        }
        let links = self.routes.links_towards(node, self.to);
        let next = |link: LinkId| self.fabric.links()[link.index()].to;
        let beyond = links.into_iter().map(|link| self.width(next(link))).max().unwrap_or(1);
        let width = beyond.saturating_mul(self.fabric.links_from(node).len() as u64);
        self.widths.insert(node, width);
        width
    }

    /// Path `i` from host `from`, counted from 0, round the end: another for each `i` below their
    /// number. Neighbouring ones part as early as they can.
    ///
    /// # Panics
    /// If there is none.
    pub fn nth(&mut self, from: HostId, i: u64) -> Vec<LinkId> {
        let mut node = NodeId::from(from);
        let mut rank = i % self.count(node);
        let mut path = Vec::new();
        while node != NodeId::from(self.to) {
            let ways = self.routes.links_towards(node, self.to);
            let counts: Vec<u64> = ways.iter().map(|link| self.beyond(*link)).collect();
            let (way, rank_beyond) = deal(&counts, rank);
            path.push(ways[way]);
            node = self.fabric.links()[ways[way].index()].to;
            rank = rank_beyond;
        }
        path
    }
}

impl Routes {
    /// How many equal-cost paths lead from one host to another.
    pub fn path_count(&self, fabric: &Fabric, from: HostId, to: HostId) -> u64 {
        ShortestPaths::new(self, fabric, to).count(NodeId::from(from))
    }
}

/// Numbers are dealt to links like cards, in turn, until each link has as many as it has paths.
/// Returns the link that gets number `rank`, and which of the link's paths this is.
fn deal(counts: &[u64], rank: u64) -> (usize, u64) {
    let mut takers: Vec<usize> = (0..counts.len()).filter(|way| counts[*way] > 0).collect();
    let (mut rank, mut round) = (rank, 0);
    loop {
        let n = takers.len() as u64;
        let full = takers.iter().map(|way| counts[*way]).min().expect("a rank is below the number of paths");
        let cards = n.saturating_mul(full - round);
        if rank < cards {
            return (takers[(rank % n) as usize], round + rank / n);
        }
        rank -= cards;
        round = full;
        takers.retain(|way| counts[*way] > full);
    }
}

#[cfg(test)]
mod tests {
    use super::deal;

    #[test]
    fn each_way_gets_what_it_can_take() {
        let dealt: Vec<_> = (0..6).map(|rank| deal(&[1, 0, 3, 2], rank)).collect();
        assert_eq!(dealt, [(0, 0), (2, 0), (3, 0), (2, 1), (3, 1), (2, 2)]);
        let equal: Vec<_> = (0..4).map(|rank| deal(&[u64::MAX, u64::MAX], rank)).collect();
        assert_eq!(equal, [(0, 0), (1, 0), (0, 1), (1, 1)]);
    }

    /// Links with one, two and three paths: the first is full after one round, the second after two.
    #[test]
    fn cards_are_dealt_until_each_link_has_its_own() {
        let dealt: Vec<_> = (0..6).map(|rank| deal(&[1, 0, 2, 3], rank)).collect();
        assert_eq!(dealt, [(0, 0), (2, 0), (3, 0), (2, 1), (3, 1), (3, 2)]);
    }
}
