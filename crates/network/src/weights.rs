//! Weighted ECMP: links of equal cost that do not get equal shares.

use crate::fabric::{Fabric, LinkId, NodeId};
use std::collections::BTreeMap;

/// The shares of links that lead nearer to a destination.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Weights {
    /// All alike.
    #[default]
    Equal,
    /// By the capacity to the destination over each link: the link's rate, or less where the links
    /// behind it carry less (WCMP: Zhou et al., EuroSys 2014).
    Capacity,
    /// These; 1 for all others.
    Given(BTreeMap<LinkId, u32>),
}

/// A link is in a switch's list as often as its weight says; the list of a destination has at most
/// this many entries.
const ENTRIES: u64 = 64;

/// The capacity from each node to `target`, bit/s; `nearer` says which links of a node lead there
/// and `distance` how far it is.
pub(crate) fn capacities(
    fabric: &Fabric,
    distance: &[u32],
    target: NodeId,
    nearer: impl Fn(NodeId) -> Vec<LinkId>,
) -> Vec<u64> {
    let mut by_distance: Vec<NodeId> =
        NodeId::first(fabric.nodes()).filter(|n| distance[n.index()] != u32::MAX).collect();
    by_distance.sort_by_key(|n| distance[n.index()]);
    let mut capacity = vec![0; fabric.nodes()];
    capacity[target.index()] = u64::MAX;
    for node in by_distance.into_iter().filter(|n| *n != target) {
        capacity[node.index()] = nearer(node).into_iter().map(|l| over(fabric, l, &capacity)).sum();
    }
    capacity
}

/// The capacity to the target over `link`.
pub(crate) fn over(fabric: &Fabric, link: LinkId, capacity: &[u64]) -> u64 {
    let l = &fabric.links()[link.index()];
    l.rate.0.min(capacity[l.to.index()])
}

/// Each link as often as its weight says, in lowest terms; as near to it as the number of entries
/// allows.
pub(crate) fn repeated(links: &[LinkId], weights: &[u64]) -> Vec<LinkId> {
    let common = weights.iter().fold(0, |a, b| gcd(a, *b)).max(1);
    let sum: u64 = weights.iter().map(|w| w / common).sum();
    let entries = |weight: u64| {
        let weight = weight / common;
        let scaled = (weight as f64 * ENTRIES as f64 / sum as f64).round() as u64;
        if sum <= ENTRIES { weight } else { scaled.max(1) }
    };
    links.iter().zip(weights).flat_map(|(link, weight)| std::iter::repeat_n(*link, entries(*weight) as usize)).collect()
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::{LinkId, repeated};

    #[test]
    fn entries_are_in_proportion() {
        let [a, b, c] = [3, 4, 9].map(LinkId::new);
        assert_eq!(repeated(&[a, b], &[40_000, 10_000]), [a, a, a, a, b]);
        assert_eq!(repeated(&[a, b, c], &[7, 7, 7]), [a, b, c]);
        // 1,000 to 1 is more than 64 entries can say; 2,003 to 1,001 is two to one for them.
        assert_eq!(repeated(&[a, b], &[1000, 1]).iter().filter(|l| **l == b).count(), 1);
        let counts = [a, b].map(|link| repeated(&[a, b], &[2003, 1001]).iter().filter(|l| **l == link).count());
        assert_eq!(counts, [43, 21]);
    }
}
