//! On which links do packets go on that have come by a link?

use crate::fabric::{Fabric, LinkId, NodeId};
use crate::forwarding::Next;
use crate::routing::Routes;
use linkpool_engine::ones;

/// By link to a switch: the links on which packets go on that have come by it, on their shortest paths.
#[derive(Debug)]
pub(crate) struct Successors {
    /// By link: the ports of the switch to which it leads, as bits.
    ports: Bits,
    /// By link: the first link of the node to which it leads.
    first: Vec<LinkId>,
}

impl Successors {
    /// The words that they take: for each link a bit for each port of the switch to which it leads.
    pub(crate) fn words(fabric: &Fabric) -> usize {
        fabric.links().iter().map(|spec| ports_of(fabric, spec.to).div_ceil(64)).sum()
    }

    /// Those of all packets that `routes` guide, also of those whose path is pinned, if it is one of the shortest.
    pub(crate) fn new(fabric: &Fabric, routes: &Routes) -> Successors {
        let first = |node| fabric.links_from(node).next().unwrap_or(LinkId::NONE);
        let mut ports = Bits::new(fabric.links().iter().map(|spec| ports_of(fabric, spec.to)));
        let mut towards = Towards::new(fabric, routes);
        for column in 0..routes.columns() {
            towards.search(fabric, routes, column);
            for node in &towards.nodes {
                for link in &towards.links[node.index()] {
                    let to = fabric.links()[link.index()].to;
                    if towards.differs[node.index()] || towards.differs[to.index()] {
                        ports.add(link.index(), towards.ports.of(to.index()));
                    }
                }
            }
        }
        // The only link of a host is on the way to all destinations.
        for only in NodeId::first(fabric.hosts()).filter_map(|host| routes.only_link(host)) {
            ports.add(only.index(), towards.ever.of(fabric.links()[only.index()].to.index()));
        }
        Successors { ports, first: fabric.links().iter().map(|spec| first(spec.to)).collect() }
    }

    /// The links on which packets go on that have come by `link` to a switch.
    pub(crate) fn of(&self, link: LinkId) -> impl Iterator<Item = LinkId> {
        let first = self.first[link.index()];
        let words = (0..).zip(self.ports.of(link.index()));
        words.flat_map(move |(i, word)| ones(*word).map(move |bit| first.plus(64 * i + bit)))
    }
}

/// The number of ports of a switch; a host has none here, as no packet goes on from its destination.
fn ports_of(fabric: &Fabric, node: NodeId) -> usize {
    if node.index() < fabric.hosts() { 0 } else { fabric.links_from(node).len() }
}

/// The links that lead to one destination.
struct Towards {
    /// The nodes that have several links or are switches.
    nodes: Vec<NodeId>,
    /// By node: what it knows of the destination.
    entries: Vec<Option<Option<Next>>>,
    /// By node: does this differ from what it knew of the destination before?
    differs: Vec<bool>,
    /// By node: the links to the destination.
    links: Vec<Vec<LinkId>>,
    /// By switch: their ports.
    ports: Bits,
    /// By switch: the ports that lead to any destination so far.
    ever: Bits,
}

impl Towards {
    fn new(fabric: &Fabric, routes: &Routes) -> Towards {
        let nodes = fabric.nodes();
        let ports = || Bits::new(NodeId::first(nodes).map(|node| ports_of(fabric, node)));
        Towards {
            nodes: NodeId::first(nodes).filter(|node| routes.only_link(*node).is_none()).collect(),
            entries: vec![None; nodes],
            differs: vec![false; nodes],
            links: vec![Vec::new(); nodes],
            ports: ports(),
            ever: ports(),
        }
    }

    /// Finds the links to the hosts of `column`. Most are those to the column before.
    fn search(&mut self, fabric: &Fabric, routes: &Routes, column: u32) {
        for node in &self.nodes {
            let (entry, n) = (Some(routes.entry(*node, column)), node.index());
            self.differs[n] = std::mem::replace(&mut self.entries[n], entry) != entry;
            if self.differs[n] {
                self.links[n] = routes.links_to_column(fabric, *node, column);
                if n >= fabric.hosts() {
                    self.ports.set(n, self.links[n].iter().map(|link| fabric.port(*link)));
                    self.ever.add(n, self.ports.of(n));
                }
            }
        }
    }
}

/// Sets of small numbers, one after another, each in words of its own.
#[derive(Debug)]
struct Bits {
    words: Vec<u64>,
    /// Set i has the words `first[i]..first[i + 1]`.
    first: Vec<u32>,
}

impl Bits {
    /// Empty sets of numbers below these.
    fn new(ends: impl Iterator<Item = usize>) -> Bits {
        let mut first = vec![0];
        first.extend(ends.scan(0, |sum, end| {
            *sum += end.div_ceil(64) as u32;
            Some(*sum)
        }));
        Bits { words: vec![0; first[first.len() - 1] as usize], first }
    }

    /// The words of set `i`.
    fn of(&self, i: usize) -> &[u64] {
        &self.words[self.first[i] as usize..self.first[i + 1] as usize]
    }

    fn of_mut(&mut self, i: usize) -> &mut [u64] {
        &mut self.words[self.first[i] as usize..self.first[i + 1] as usize]
    }

    /// Adds the numbers of `others` to set `i`.
    fn add(&mut self, i: usize, others: &[u64]) {
        self.of_mut(i).iter_mut().zip(others).for_each(|(word, other)| *word |= other);
    }

    /// Makes set `i` hold `numbers`.
    fn set(&mut self, i: usize, numbers: impl Iterator<Item = usize>) {
        let words = self.of_mut(i);
        words.fill(0);
        numbers.for_each(|number| words[number / 64] |= 1 << (number % 64));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::{FabricBuilder, Layer};
    use crate::topology::{Generator, LeafSpine, fat_tree};
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

    /// A spine of 70 leaves has more ports than a word has bits.
    #[test]
    fn switches_may_have_more_than_64_ports() {
        let (rate, delay) = (Rate::gbps(10), Time::from_us(1));
        let leaf_spine =
            LeafSpine { leaves: 70, spines: 2, hosts_per_leaf: 1, rate, delay, uplink_rate: rate, uplink_delay: delay };
        let fabric = leaf_spine.fabric();
        let others: Vec<String> = (0..70).filter(|leaf| *leaf != 66).map(|leaf| format!("l{leaf}")).collect();
        assert_eq!(onward(&fabric, "l66", "s1"), others);
        assert_eq!(onward(&fabric, "s0", "l69"), ["h69"]);
    }

    /// Five switches a, s, p, q, y in a ring. From a to p packets go over s, and to q over y; y sends on to q what goes to
    /// either. So of p's hosts to q's only the way of a changes.
    #[test]
    fn a_way_may_change_where_the_next_switch_goes_on_as_before() {
        let (rate, delay) = (Rate::gbps(10), Time::from_us(1));
        let mut ring = FabricBuilder::default();
        let hosts = ["at p", "at q", "at y", "at s", "at a"].map(|name| ring.node(name, Layer::Host));
        let [p, q, y, s, a] = ["p", "q", "y", "s", "a"].map(|name| ring.node(name, Layer::Switch));
        hosts.into_iter().zip([p, q, y, s, a]).for_each(|(host, switch)| ring.cable(host, switch, rate, delay));
        [(a, s), (s, p), (p, q), (q, y), (y, a)]
            .into_iter()
            .for_each(|(one, other)| ring.cable(one, other, rate, delay));
        let fabric = ring.build();
        assert_eq!(onward(&fabric, "a", "y"), ["at y", "q"]);
        assert_eq!(onward(&fabric, "a", "s"), ["at s", "p"]);
    }
}
