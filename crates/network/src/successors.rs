//! On which links do packets go on that have come by a link?

use crate::fabric::{Fabric, LinkId, NodeId};
use crate::routing::Routes;

/// By link to a switch: the links on which packets go on that have come by it, on their shortest paths.
///
/// The links of a switch are bits, from the first word of the switch on.
#[derive(Debug)]
pub(crate) struct Successors {
    /// The bits of link l are `bits[first[l]..first[l + 1]]`; a link to a host has none.
    bits: Vec<u64>,
    first: Vec<u32>,
    /// By link: the first link of the node to which it leads.
    next: Vec<LinkId>,
}

impl Successors {
    /// Those of all packets that `routes` guide, also of those whose path is pinned, if it is one of the shortest.
    pub(crate) fn new(fabric: &Fabric, routes: &Routes) -> Successors {
        let is_switch = |node: NodeId| node.index() >= fabric.hosts();
        let links_of = |node: NodeId| fabric.links_from(node);
        let words_of = |node: NodeId| if is_switch(node) { links_of(node).len().div_ceil(64) } else { 0 };
        let sums = |words: &mut dyn Iterator<Item = usize>| -> Vec<u32> {
            let ends = words.scan(0, |sum, words| {
                *sum += words as u32;
                Some(*sum)
            });
            std::iter::once(0).chain(ends).collect()
        };
        let first = sums(&mut fabric.links().iter().map(|spec| words_of(spec.to)));
        let at = |link: LinkId| first[link.index()] as usize..first[link.index() + 1] as usize;
        let mut bits = vec![0; first.last().copied().unwrap_or(0) as usize];
        let next = fabric.links().iter().map(|spec| links_of(spec.to).next().unwrap_or(LinkId::NONE)).collect();
        // By switch: its links to the destination, as bits, and all that lead to any destination.
        let first_of = sums(&mut NodeId::first(fabric.nodes()).map(words_of));
        let of = |node: NodeId| first_of[node.index()] as usize..first_of[node.index() + 1] as usize;
        let mut ways = vec![0u64; first_of.last().copied().unwrap_or(0) as usize];
        let mut ever = ways.clone();
        // By node: its entry for the destination, its links, and do they differ from those for the destination before?
        let mut entries = vec![None; fabric.nodes()];
        let mut links = vec![Vec::new(); fabric.nodes()];
        let mut differs = vec![true; fabric.nodes()];
        for column in 0..routes.columns() {
            for node in NodeId::first(fabric.nodes()) {
                let entry = Some(routes.entry(node, column));
                differs[node.index()] = std::mem::replace(&mut entries[node.index()], entry) != entry;
                if differs[node.index()] {
                    links[node.index()] = routes.links_to_column(fabric, node, column);
                    set(&mut ways[of(node)], links[node.index()].iter().map(|link| fabric.port(*link)));
                    of(node).for_each(|word| ever[word] |= ways[word]);
                }
            }
            for (link, from) in
                NodeId::first(fabric.nodes()).flat_map(|node| links[node.index()].iter().map(move |link| (*link, node)))
            {
                let to = fabric.links()[link.index()].to;
                if differs[from.index()] || differs[to.index()] {
                    add(&mut bits[at(link)], &ways[of(to)]);
                }
            }
        }
        // The only link of a host is on the way to all destinations.
        for host in NodeId::first(fabric.hosts()) {
            if let Some(only) = routes.only_link(host) {
                let to = fabric.links()[only.index()].to;
                add(&mut bits[at(only)], &ever[of(to)]);
            }
        }
        Successors { bits, first, next }
    }

    /// The links on which packets go on that have come by `link` to a switch.
    pub(crate) fn of(&self, link: LinkId) -> impl Iterator<Item = LinkId> {
        let words = &self.bits[self.first[link.index()] as usize..self.first[link.index() + 1] as usize];
        let next = self.next[link.index()];
        (0..words.len() as u32 * 64)
            .filter(|port| words[*port as usize / 64] >> (port % 64) & 1 == 1)
            .map(move |port| next.plus(port))
    }
}

/// Sets the bits of `ports` of a switch, and no others. A host has no bits.
fn set(bits: &mut [u64], ports: impl Iterator<Item = usize>) {
    bits.fill(0);
    if !bits.is_empty() {
        ports.for_each(|port| bits[port / 64] |= 1 << (port % 64));
    }
}

fn add(bits: &mut [u64], others: &[u64]) {
    bits.iter_mut().zip(others).for_each(|(bits, others)| *bits |= others);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::fat_tree;
    use linkpool_units::{Rate, Time};

    /// The names of the nodes to which packets go on that have come from one node to another.
    fn onward(fabric: &Fabric, from: &str, to: &str) -> Vec<String> {
        let routes = Routes::new(fabric, 1);
        let [from, to] = [from, to].map(|name| fabric.node(name).expect("a node of this name"));
        let link = fabric.link(from, to).expect("neighbours");
        let names = Successors::new(fabric, &routes);
        names.of(link).map(|next| fabric.name(fabric.links()[next.index()].to).to_string()).collect()
    }

    /// In a fat-tree of k = 4 packets go up and then down, and never up again.
    #[test]
    fn packets_do_not_go_up_again() {
        let fabric = fat_tree(4, 2, Rate::gbps(10), Time::from_us(1));
        assert_eq!(onward(&fabric, "h0", "e0.0"), ["h0", "h1", "a0.0", "a0.1"]);
        assert_eq!(onward(&fabric, "e0.0", "a0.0"), ["e0.1", "c0", "c1"]);
        assert_eq!(onward(&fabric, "a0.0", "c0"), ["a1.0", "a2.0", "a3.0"]);
        assert_eq!(onward(&fabric, "c0", "a1.0"), ["e1.0", "e1.1"]);
        assert_eq!(onward(&fabric, "a1.0", "e1.0"), ["h4", "h5"]);
        assert!(onward(&fabric, "e1.0", "h4").is_empty());
    }
}
