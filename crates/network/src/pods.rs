//! Divides the pods of a fabric among partitions.

use crate::fabric::{Fabric, Layer, NodeId};
use linkpool_units::HostId;

/// Packets that a host is expected to send to another, which answers each with an ACK.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Exchange {
    /// The host that sends data.
    pub from: HostId,
    /// The host that gets it.
    pub to: HostId,
    /// How many packets.
    pub packets: f64,
}

/// The most hosts of a partition, in even shares. Packets between partitions cost less where pods are whole, and partitions
/// meet less often ([`crate::Partitions::running_ahead`]).
const MOST: f64 = 1.25;

/// What a packet costs that goes to another partition, beyond another packet, in hops: 223 instructions of 305
/// (`docs/reports/2026-11-26-speed.md`).
const CROSSING: f64 = 0.73;

/// By host: its partition of `n` that have whole pods, and numbers of hosts as even as they may be.
pub(crate) fn whole_pods(fabric: &Fabric, n: u8, exchanges: impl IntoIterator<Item = Exchange>) -> Option<Vec<u8>> {
    let pods = pods(fabric);
    let count = pods.last()? + 1;
    // Where the hosts of pods are mixed, runs of neighbours are no pods.
    if usize::from(n) > count || !pods.is_sorted() {
        return None;
    }
    let mut shares: Vec<u8> = (0..count).map(|pod| (pod * usize::from(n) / count) as u8).collect();
    let hosts_of = |partition| pods.iter().filter(|pod| shares[**pod] == partition).count();
    let most = (0..n).map(hosts_of).max()?;
    let is_even = most as f64 <= MOST * fabric.hosts() as f64 / f64::from(n);
    if !is_even {
        return None;
    }
    Work::new(fabric, &pods, exchanges).even_out(&mut shares, n.into());
    Some(pods.into_iter().map(|pod| shares[pod]).collect())
}

/// By host: the number of its pod, all that is joined without the core.
fn pods(fabric: &Fabric) -> Vec<usize> {
    let mut pods = vec![None; fabric.nodes()];
    let mut count = 0;
    for host in NodeId::first(fabric.hosts()) {
        if pods[host.index()].is_some() {
            continue;
        }
        let mut reached = vec![host];
        while let Some(node) = reached.pop() {
            if fabric.layer(node) != Layer::Core && pods[node.index()].replace(count).is_none() {
                reached.extend(fabric.links_from(node).map(|link| fabric.links()[link.index()].to));
            }
        }
        count += 1;
    }
    pods.into_iter().take(fabric.hosts()).flatten().collect()
}

/// The links from the first host to another one, on average over the hosts of its pod and over those of other pods.
fn distances(fabric: &Fabric, pods: &[usize]) -> [f64; 2] {
    let distances = fabric.distances_from(NodeId::default());
    [true, false].map(|is_near| {
        let others = (1..pods.len()).filter(|host| (pods[*host] == pods[0]) == is_near);
        let found: Vec<f64> = others.filter_map(|host| distances[host].map(f64::from)).collect();
        found.iter().sum::<f64>() / (found.len() as f64).max(1.0)
    })
}

/// The work of pods.
struct Work {
    /// By pod: the hops of its packets that a partition with this pod runs.
    hops: Vec<f64>,
    /// By pod: the packets that it sends to other pods; it gets as many.
    out: Vec<f64>,
    /// By pod and pod: the packets that one sends to the other.
    between: Vec<Vec<f64>>,
}

impl Work {
    fn new(fabric: &Fabric, pods: &[usize], exchanges: impl IntoIterator<Item = Exchange>) -> Work {
        let count = pods.last().map_or(0, |last| last + 1);
        let (mut inside, mut between) = (vec![0.0; count], vec![vec![0.0; count]; count]);
        for Exchange { from, to, packets } in exchanges {
            let (from, to) = (pods[from.index()], pods[to.index()]);
            if from == to {
                inside[from] += packets;
            } else {
                // ACKs go the other way.
                between[from][to] += packets;
                between[to][from] += packets;
            }
        }
        let [near, far] = distances(fabric, pods);
        let out: Vec<f64> = between.iter().map(|to| to.iter().sum()).collect();
        // Of the hops of two pods that exchange packets, each runs half.
        let hops = inside.iter().zip(&out).map(|(inside, out)| 2.0 * near * inside + far * out).collect();
        Work { hops, out, between }
    }

    /// Exchanges pods in pairs between the `n` partitions that have them, by pod in `shares`, as long as that makes the sum of
    /// the squares of their work smaller. So work becomes more even, and fewer packets go from one partition to another.
    fn even_out(&self, shares: &mut [u8], n: usize) {
        let pods = shares.len();
        // By pod and partition: the packets that the pod sends to other pods there.
        let mut towards = vec![vec![0.0; n]; pods];
        for (towards, between) in towards.iter_mut().zip(&self.between) {
            shares.iter().zip(between).for_each(|(share, packets)| towards[usize::from(*share)] += packets);
        }
        let mut work = vec![0.0; n];
        for (pod, share) in shares.iter().map(|share| usize::from(*share)).enumerate() {
            work[share] += self.hops[pod] + CROSSING * (self.out[pod] - towards[pod][share]);
        }
        let mut is_better = true;
        while std::mem::take(&mut is_better) {
            for first in 0..pods {
                for second in first + 1..pods {
                    let (a, b) = (usize::from(shares[first]), usize::from(shares[second]));
                    if a == b {
                        continue;
                    }
                    let by = |from: usize, to: usize, share: usize| self.gain(from, to, |pod| towards[pod][share]);
                    let [then_a, then_b] = [work[a] + by(first, second, a), work[b] + by(second, first, b)];
                    let [before, then] = [[work[a], work[b]], [then_a, then_b]].map(|[a, b]| a * a + b * b);
                    // Rounding must not make two divisions better than each other.
                    if then >= before * (1.0 - 1e-9) {
                        continue;
                    }
                    is_better = true;
                    shares.swap(first, second);
                    (work[a], work[b]) = (then_a, then_b);
                    for (towards, between) in towards.iter_mut().zip(&self.between) {
                        let more = between[second] - between[first];
                        towards[a] += more;
                        towards[b] -= more;
                    }
                }
            }
        }
    }

    /// The work that a partition gains which gives pod `old` for pod `new` of another partition; `towards` are the packets that a
    /// pod sends to other pods of this partition.
    fn gain(&self, old: usize, new: usize, towards: impl Fn(usize) -> f64) -> f64 {
        // What goes to the old pod crosses from now on, what goes to the new one does not.
        let crossing = |pod: usize| self.out[pod] - 2.0 * towards(pod);
        let crossings = crossing(new) - crossing(old) + 2.0 * self.between[new][old];
        self.hops[new] - self.hops[old] + CROSSING * crossings
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::FabricBuilder;
    use crate::topology::fat_tree;
    use linkpool_units::{Rate, Time};
    use proptest::prelude::*;

    /// Pods of four hosts.
    fn tree() -> Fabric {
        fat_tree(4, 2, Rate::gbps(10), Time::from_us(1))
    }

    /// Packets between these pods, from and to any of their hosts.
    fn exchange((from, to, packets): (usize, usize, u32)) -> Exchange {
        let [from, to] = [4 * from, 4 * to + 3].map(HostId::new);
        Exchange { from, to, packets: packets.into() }
    }

    /// By pod of the tree: its partition of two.
    fn shares(exchanges: &[(usize, usize, u32)]) -> Vec<u8> {
        let of_hosts = whole_pods(&tree(), 2, exchanges.iter().copied().map(exchange)).expect("four pods for two");
        of_hosts.chunks(4).map(|hosts| hosts[0]).collect()
    }

    #[test]
    fn pods_that_exchange_packets_are_in_one_partition() {
        assert_eq!(shares(&[]), [0, 0, 1, 1]);
        assert_eq!(shares(&[(0, 1, 9), (2, 3, 9)]), [0, 0, 1, 1]);
        assert_eq!(shares(&[(0, 2, 9), (3, 1, 9)]), [1, 0, 1, 0]);
        assert_eq!(shares(&[(0, 3, 9), (1, 2, 9)]), [1, 0, 0, 1]);
    }

    /// Racks of four and of five hosts under one core switch: a partition each.
    #[test]
    fn as_many_pods_as_partitions_stay_whole() {
        let mut builder = FabricBuilder::default();
        let hosts: Vec<NodeId> = (0..9).map(|i| builder.node(format!("h{i}"), Layer::Host)).collect();
        let [first, second] = ["e0", "e1"].map(|name| builder.node(name, Layer::Edge));
        let core = builder.node("c", Layer::Core);
        let ends = hosts.iter().map(|host| (*host, if host.index() < 4 { first } else { second }));
        for (a, b) in ends.chain([(first, core), (second, core)]) {
            builder.cable(a, b, Rate::gbps(10), Time::from_us(1));
        }
        assert_eq!(whole_pods(&builder.build(), 2, []), Some(vec![0, 0, 0, 0, 1, 1, 1, 1, 1]));
    }

    #[test]
    fn busy_pods_are_in_different_partitions() {
        assert_eq!(shares(&[(0, 0, 9), (1, 1, 8), (2, 2, 1)]), [1, 0, 0, 1]);
        assert_eq!(shares(&[(2, 2, 9), (3, 3, 9)]), [1, 0, 0, 1]);
    }

    /// In a pod there are two links between hosts of a rack and four between others; six lead to other pods.
    #[test]
    fn the_work_of_pods() {
        let (fabric, pods) = (tree(), pods(&tree()));
        assert_eq!(pods, [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3]);
        assert_eq!(distances(&fabric, &pods), [10.0 / 3.0, 6.0]);
        let work = Work::new(&fabric, &pods, [(0, 0, 3), (0, 1, 5)].map(exchange));
        assert_eq!((work.hops, work.out), (vec![50.0, 30.0, 0.0, 0.0], vec![5.0, 5.0, 0.0, 0.0]));
    }

    /// The sum of the squares of the work of `n` partitions, without the sums that the search keeps.
    fn squares(work: &Work, shares: &[u8], n: usize) -> f64 {
        let of = |partition: usize| {
            let own = (0..shares.len()).filter(|pod| usize::from(shares[*pod]) == partition);
            let crossing = |pod: usize| {
                let others = (0..shares.len()).filter(|other| shares[*other] != shares[pod]);
                others.map(|other| work.between[pod][other]).sum::<f64>()
            };
            own.map(|pod| work.hops[pod] + CROSSING * crossing(pod)).sum::<f64>()
        };
        (0..n).map(|partition| of(partition).powi(2)).sum()
    }

    proptest! {
        /// No two pods of eight are left whose exchange makes the work more even, and the partitions have as many pods as
        /// before.
        #[test]
        fn no_exchange_of_two_pods_is_better(
            flows in prop::collection::vec((0..8usize, 0..8usize, 1..100u32), 0..40),
            n in 2..5usize,
        ) {
            let fabric = fat_tree(8, 4, Rate::gbps(10), Time::from_us(1));
            let pods = pods(&fabric);
            let of_flow = |(from, to, packets): (usize, usize, u32)| {
                let [from, to] = [16 * from, 16 * to + 9].map(HostId::new);
                Exchange { from, to, packets: packets.into() }
            };
            let work = Work::new(&fabric, &pods, flows.into_iter().map(of_flow));
            let before: Vec<u8> = (0..8).map(|pod| (pod * n / 8) as u8).collect();
            let mut shares = before.clone();
            work.even_out(&mut shares, n);
            let (found, mut sorted) = (squares(&work, &shares, n), shares.clone());
            sorted.sort_unstable();
            prop_assert_eq!(&sorted, &before);
            prop_assert!(found <= squares(&work, &before, n) * (1.0 + 1e-9));
            for (first, second) in (0..8).flat_map(|first| (0..first).map(move |second| (first, second))) {
                let mut other = shares.clone();
                other.swap(first, second);
                prop_assert!(squares(&work, &other, n) >= found * (1.0 - 1e-8));
            }
        }
    }
}
