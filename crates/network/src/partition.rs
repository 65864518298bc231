//! Divides the nodes of a fabric among partitions.

use crate::fabric::{Fabric, NodeId};

/// Splits `fabric` into `n` partitions, one per thread. Returns the partition of each node.
///
/// Hosts are split into runs of neighbours, as fabrics number them rack by rack and pod by pod.
/// Then each switch joins the partition of most of its neighbours, from the edge upwards; at a tie,
/// as at the core of a tree, the partition with the fewest links so far. So few links cross
/// partitions, and the work is spread evenly.
pub fn partition(fabric: &Fabric, n: u8) -> Vec<u8> {
    const NONE: u8 = u8::MAX;
    let hosts = fabric.hosts();
    let mut part = vec![NONE; fabric.nodes()];
    let mut links = vec![0usize; n as usize];
    for host in 0..hosts {
        part[host] = (host * n as usize / hosts) as u8;
        links[part[host] as usize] += fabric.links_from(NodeId::new(host)).len();
    }
    // Switches are numbered from the edge upwards; a switch without any neighbour placed yet has
    // its turn again.
    let mut waiting: Vec<NodeId> = NodeId::first(fabric.nodes()).skip(hosts).collect();
    while !waiting.is_empty() {
        let mut still = Vec::new();
        for node in waiting.iter().copied() {
            let mut votes = vec![0usize; n as usize];
            for link in fabric.links_from(node) {
                let neighbour = part[fabric.links()[link.index()].to.index()];
                if neighbour != NONE {
                    votes[neighbour as usize] += 1;
                }
            }
            let most = votes.iter().max().copied().unwrap_or(0);
            if most == 0 && still.len() + 1 < waiting.len() {
                still.push(node);
                continue;
            }
            let candidates = (0..n).filter(|p| votes[*p as usize] == most);
            let chosen = candidates.min_by_key(|p| links[*p as usize]).unwrap_or(0);
            part[node.index()] = chosen;
            links[chosen as usize] += fabric.links_from(node).len();
        }
        waiting = still;
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::fat_tree;
    use linkpool_units::{Rate, Time};

    #[test]
    fn pods_stay_together_and_cores_are_shared_out() {
        let fabric = fat_tree(8, 4, Rate::gbps(10), Time::from_us(1));
        for n in [2, 4] {
            let part = partition(&fabric, n);
            for l in fabric.links() {
                let core = fabric.name(l.from).starts_with('c') || fabric.name(l.to).starts_with('c');
                assert!(core || part[l.from.index()] == part[l.to.index()]);
            }
            for p in 0..n {
                assert_eq!(part.iter().filter(|x| **x == p).count(), fabric.nodes() / n as usize);
            }
        }
    }
}
