//! Which links lead nearer to a node: a breadth-first search from it, against the direction of the
//! links.

use crate::fabric::{Fabric, LinkId, NodeId};
use crate::servers::Servers;
use linkpool_units::HostId;
use std::collections::HashSet;

/// A link into a node: where it comes from, and its number there.
#[derive(Clone, Copy, Debug)]
struct Arc {
    from: u32,
    port: u32,
}

/// A host that has no way to one of `targets`, and that target.
pub fn cut_off(fabric: &Fabric, targets: impl IntoIterator<Item = HostId>) -> Option<(HostId, HostId)> {
    let mut nearer = Nearer::new(fabric, &HashSet::new(), |_| true);
    targets.into_iter().find_map(|target| {
        nearer.search(target.into());
        let from = HostId::first(fabric.hosts()).find(|host| nearer.distance()[host.index()] == u32::MAX)?;
        Some((from, target))
    })
}

/// Finds the links on shortest paths to one target after the other. The links of a node are bits,
/// so that two targets that a node reaches alike are told by comparing a word or two.
#[derive(Debug)]
pub(crate) struct Nearer {
    /// The links into node n are `arcs[first_arc[n]..first_arc[n + 1]]`.
    arcs: Vec<Arc>,
    first_arc: Vec<u32>,
    /// The bits of node n are `bits[first_word[n]..first_word[n + 1]]`.
    bits: Vec<u64>,
    first_word: Vec<u32>,
    distance: Vec<u32>,
    queue: Vec<u32>,
    /// By node: does it forward?
    forwards: Vec<bool>,
    /// The hosts that do not: they are ends of ways alone.
    ends: Vec<u32>,
    /// They have a say in which links lead on.
    servers: Option<Servers>,
}

impl Nearer {
    /// For the links of `fabric` that are not `down`, and the ways from the nodes of which `counts`
    /// is true.
    pub(crate) fn new(fabric: &Fabric, down: &HashSet<LinkId>, counts: impl Fn(NodeId) -> bool) -> Nearer {
        let nodes = fabric.nodes();
        let mut into: Vec<Vec<Arc>> = vec![Vec::new(); nodes];
        let (mut first_word, mut words) = (Vec::with_capacity(nodes + 1), 0);
        for node in NodeId::first(nodes) {
            first_word.push(words);
            if !counts(node) {
                continue;
            }
            for (port, link) in (0..).zip(fabric.links_from(node)).filter(|(_, link)| !down.contains(link)) {
                into[fabric.links()[link.index()].to.index()].push(Arc { from: node.into(), port });
            }
            words += fabric.links_from(node).len().div_ceil(64) as u32;
        }
        first_word.push(words);
        let mut first_arc = vec![0];
        first_arc.extend(into.iter().scan(0, |sum, arcs| {
            *sum += arcs.len() as u32;
            Some(*sum)
        }));
        Nearer {
            arcs: into.concat(),
            first_arc,
            bits: vec![0; words as usize],
            first_word,
            distance: vec![u32::MAX; nodes],
            queue: Vec::with_capacity(nodes),
            forwards: fabric.node_ids().map(|node| fabric.forwards(node)).collect(),
            ends: NodeId::first(fabric.hosts()).filter(|host| !fabric.forwards(*host)).map(u32::from).collect(),
            servers: fabric.servers().cloned(),
        }
    }

    /// Searches from `target`.
    pub(crate) fn search(&mut self, target: NodeId) {
        let Nearer { arcs, first_arc, bits, first_word, distance, queue, forwards, servers, .. } = self;
        bits.fill(0);
        distance.fill(u32::MAX);
        distance[target.index()] = 0;
        queue.clear();
        queue.push(target.into());
        let mut next = 0;
        while let Some(&node) = queue.get(next) {
            next += 1;
            let node = node as usize;
            let beyond = distance[node] + 1;
            for arc in &arcs[first_arc[node] as usize..first_arc[node + 1] as usize] {
                let from = arc.from as usize;
                let leads = |servers: &Servers| servers.leads(from, node, target.index());
                if !servers.as_ref().is_none_or(leads) {
                    continue;
                }
                if distance[from] == u32::MAX {
                    distance[from] = beyond;
                    if forwards[from] {
                        queue.push(arc.from);
                    }
                }
                if distance[from] == beyond {
                    bits[(first_word[from] + arc.port / 64) as usize] |= 1 << (arc.port % 64);
                }
            }
        }
    }

    /// The nodes with a way to the target, those farther away before those that are nearer; and hosts that do not forward, before all.
    pub(crate) fn farthest_first(&self) -> impl Iterator<Item = NodeId> {
        self.ends.iter().chain(self.queue.iter().rev()).copied().map(NodeId::from)
    }

    /// Links from each node to the target; `u32::MAX` without a way, and for nodes that do not
    /// count.
    pub(crate) fn distance(&self) -> &[u32] {
        &self.distance
    }

    /// The links of `node` that lead nearer to the target, as bits.
    #[inline]
    pub(crate) fn bits(&self, node: NodeId) -> &[u64] {
        let first = &self.first_word[node.index()..];
        &self.bits[first[0] as usize..first[1] as usize]
    }

    /// The links of `node` that lead nearer to the target.
    pub(crate) fn links(&self, fabric: &Fabric, node: NodeId) -> Vec<LinkId> {
        let bits = self.bits(node);
        let is_set = |port: &(usize, LinkId)| bits[port.0 / 64] >> (port.0 % 64) & 1 == 1;
        if bits.is_empty() {
            return Vec::new();
        }
        fabric.links_from(node).enumerate().filter(is_set).map(|(_, link)| link).collect()
    }
}
