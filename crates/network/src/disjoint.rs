//! Paths that share no link.

use crate::fabric::{Fabric, LinkId, NodeId};
use linkpool_units::HostId;
use std::collections::VecDeque;

/// As many paths from one host to another as there are without a cable in common, with the fewest
/// hops altogether, shortest first; `at_most` of them. The only cable of a host with one NIC may be
/// in all of them.
///
/// Shortest augmenting paths of a flow of unit capacities (Suurballe 1974; Bhandari 1999), so that
/// no path found first stands in the way of two others. Between two servers of BCube(n, k) these
/// are the k + 1 parallel paths of its source routing.
pub fn disjoint_paths(fabric: &Fabric, from: HostId, to: HostId, at_most: usize) -> Vec<Vec<LinkId>> {
    let ends = (NodeId::from(from), NodeId::from(to));
    let mut flow = vec![0u32; fabric.links().len()];
    let mut paths = 0;
    while paths < at_most {
        let Some(steps) = augmenting_path(fabric, &flow, ends) else { break };
        for step in &steps {
            match step {
                Step::Along(link) => flow[link.index()] += 1,
                Step::Back(link) => flow[link.index()] -= 1,
            }
        }
        paths += 1;
        // At the same switch, with one NIC each: the same path again would be shared from end to
        // end.
        if steps.iter().all(|step| matches!(step, Step::Along(link) if may_be_shared(fabric, *link, ends))) {
            break;
        }
    }
    let mut found: Vec<Vec<LinkId>> = (0..paths).map(|_| take_path(fabric, &mut flow, ends)).collect();
    found.sort_by_key(Vec::len); // stable
    found
}

/// Is it the only link from the first host, or the only one to the last?
fn may_be_shared(fabric: &Fabric, link: LinkId, (from, to): (NodeId, NodeId)) -> bool {
    let l = &fabric.links()[link.index()];
    let only = |host| fabric.links_from(host).len() == 1;
    l.from == from && only(from) || l.to == to && only(to)
}

/// Over a link with room, or against one that is taken, whose flow then goes elsewhere.
#[derive(Clone, Copy)]
enum Step {
    Along(LinkId),
    Back(LinkId),
}

/// The shortest way for one more unit of flow, a step back counting -1 (Bellman and Ford's
/// algorithm, with a queue).
fn augmenting_path(fabric: &Fabric, flow: &[u32], (from, to): (NodeId, NodeId)) -> Option<Vec<Step>> {
    let mut length = vec![i64::MAX; fabric.nodes()];
    let mut came_by: Vec<Option<(NodeId, Step)>> = vec![None; fabric.nodes()];
    let (mut queue, mut waits) = (VecDeque::from([from]), vec![false; fabric.nodes()]);
    length[from.index()] = 0;
    while let Some(node) = queue.pop_front() {
        waits[node.index()] = false;
        for link in fabric.links_from(node).filter(|_| node != to) {
            let next = fabric.links()[link.index()].to;
            let back = fabric.reverse(link);
            let passes = next == to || fabric.forwards(next);
            let (step, cost) = if flow[back.index()] > 0 {
                (Step::Back(back), -1)
            } else if passes && (flow[link.index()] == 0 || may_be_shared(fabric, link, (from, to))) {
                (Step::Along(link), 1)
            } else {
                continue;
            };
            if next != from && length[node.index()] + cost < length[next.index()] {
                length[next.index()] = length[node.index()] + cost;
                came_by[next.index()] = Some((node, step));
                if !std::mem::replace(&mut waits[next.index()], true) {
                    queue.push_back(next);
                }
            }
        }
    }
    let mut steps = Vec::new();
    let mut node = to;
    while node != from {
        let (before, step) = came_by[node.index()]?;
        steps.push(step);
        node = before;
    }
    Some(steps)
}

/// Takes one path out of the flow.
fn take_path(fabric: &Fabric, flow: &mut [u32], (from, to): (NodeId, NodeId)) -> Vec<LinkId> {
    let mut path = Vec::new();
    let mut node = from;
    while node != to {
        let link = fabric.links_from(node).find(|l| flow[l.index()] > 0).expect("flow goes on until its end");
        flow[link.index()] -= 1;
        path.push(link);
        node = fabric.links()[link.index()].to;
    }
    path
}
