//! How traffic between hosts divides over the links of a fabric: what a workload offers to each
//! tier.

use std::collections::HashSet;

use crate::fabric::{Fabric, Layer, LinkId, NodeId};
use crate::nearer::Nearer;
use linkpool_engine::ones;
use linkpool_units::HostId;

/// All ways are looked at up to so many links of ways, those to one switch after the other; then
/// only those to some switches, evenly spread.
const MOST_STEPS: usize = 300_000_000;

/// The links from one layer to another.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TierTraffic {
    /// The layer of the sending nodes.
    pub from: Layer,
    /// The layer of the receiving nodes.
    pub to: Layer,
    /// The capacity of these links together, bit/s.
    pub capacity: f64,
    /// How many of these links a bit of the traffic passes, on average.
    pub passed: f64,
    /// Of the link with the most traffic for its rate: the part of all bits that passes it, over
    /// its rate in bit/s.
    pub busiest: f64,
}

/// The tiers that uniform traffic passes: every host sends alike to all others, or, unless
/// `in_rack`, to all hosts of other racks. Switches divide it evenly over the links of all shortest
/// paths.
pub fn uniform_traffic(fabric: &Fabric, in_rack: bool) -> Vec<TierTraffic> {
    by_tier(fabric, &uniform_shares(fabric, in_rack), built(fabric))
}

/// The tiers that traffic between these pairs passes: from a host to another, and the bytes, or
/// anything that counts them. Switches divide it evenly over the links of all shortest paths.
pub fn traffic_between(fabric: &Fabric, pairs: &[(HostId, HostId, u64)]) -> Vec<TierTraffic> {
    by_tier(fabric, &shares_between(fabric, pairs), built(fabric))
}

/// By link: its rate as it is built, bit/s.
fn built(fabric: &Fabric) -> impl Fn(usize) -> f64 {
    |i| fabric.links()[i].rate.0 as f64
}

/// `shares` by link: the part of all bits that passes it; `rate` by link, bit/s.
fn by_tier(fabric: &Fabric, shares: &[f64], rate: impl Fn(usize) -> f64) -> Vec<TierTraffic> {
    let mut tiers: Vec<TierTraffic> = Vec::new();
    for (i, (share, link)) in shares.iter().copied().zip(fabric.links()).enumerate() {
        let ends = (fabric.layer(link.from), fabric.layer(link.to));
        let place = tiers.iter().position(|tier| (tier.from, tier.to) == ends).unwrap_or(tiers.len());
        if place == tiers.len() {
            tiers.push(TierTraffic { from: ends.0, to: ends.1, capacity: 0.0, passed: 0.0, busiest: 0.0 });
        }
        let tier = &mut tiers[place];
        tier.capacity += rate(i);
        tier.passed += share;
        tier.busiest = tier.busiest.max(share / rate(i));
    }
    // As a packet meets them: from hosts upwards, then down.
    let height = |layer: Layer| Layer::ALL.iter().position(|known| *known == layer).unwrap_or(0);
    tiers.sort_by_key(|tier| {
        let (from, to) = (height(tier.from), height(tier.to));
        if from <= to { (0, from, to) } else { (1, Layer::ALL.len() - from, to) }
    });
    tiers
}

/// What a fabric carries of flows that always have more to send.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Carried {
    /// How many links a bit passes, on average.
    pub passed: f64,
    /// All flows together, bit/s, if each link is shared evenly.
    pub rate: f64,
    /// The propagation delay of the way of a bit, s, on average.
    pub delay: f64,
    /// For how many seconds the links of its way are busy with a bit, one after the other, on
    /// average.
    pub busy: f64,
}

impl Carried {
    /// `share` has, by link, the part of all bits that passes it.
    fn new(fabric: &Fabric, rate: f64, share: impl Fn(usize) -> f64) -> Carried {
        let mut carried = Carried { passed: 0.0, rate, delay: 0.0, busy: 0.0 };
        for (i, link) in fabric.links().iter().enumerate() {
            carried.passed += share(i);
            carried.delay += share(i) * link.delay.secs();
            carried.busy += share(i) / link.rate.0 as f64;
        }
        carried
    }
}

/// What `fabric` carries of uniform traffic (see [`uniform_traffic`]) if its links have these
/// rates, bit/s: of each tier what its links have together, and no more than what fills the busiest
/// of its links as it is built.
pub fn carried_uniform(fabric: &Fabric, in_rack: bool, rates: &[f64]) -> Carried {
    let shares = uniform_shares(fabric, in_rack);
    let (built, left) = (by_tier(fabric, &shares, built(fabric)), by_tier(fabric, &shares, |i| rates[i]));
    let carries = |(built, left): (&TierTraffic, &TierTraffic)| (1.0 / built.busiest).min(left.capacity / left.passed);
    let rate =
        built.iter().zip(&left).filter(|(built, _)| built.passed > 0.0).map(carries).fold(f64::INFINITY, f64::min);
    Carried::new(fabric, if rate.is_finite() { rate } else { 0.0 }, |i| shares[i])
}

/// The most receivers of pairs that are looked at, evenly spread.
const MOST_RECEIVERS: usize = 256;

/// What `fabric` carries of flows between these pairs if its links have these rates, bit/s. Each
/// gets, on each of its links, as much as every other one there.
pub fn carried_between(fabric: &Fabric, pairs: &[(HostId, HostId)], rates: &[f64]) -> Carried {
    let mut pairs: Vec<(NodeId, NodeId)> = pairs.iter().map(|(from, to)| ((*to).into(), (*from).into())).collect();
    pairs.sort_unstable();
    let of_receiver: Vec<&[(NodeId, NodeId)]> = pairs.chunk_by(|a, b| a.0 == b.0).collect();
    let step = of_receiver.len() / MOST_RECEIVERS + 1;
    let receivers = || of_receiver.iter().step_by(step);
    let mut nearer = Nearer::new(fabric, &HashSet::new(), |_| true);
    // By link: the number of flows, a part for each if they divide.
    let (mut flows, mut at) = (vec![0.0; fabric.links().len()], vec![0.0; fabric.nodes()]);
    for pairs in receivers() {
        at.fill(0.0);
        pairs.iter().for_each(|(_, from)| at[from.index()] += 1.0);
        nearer.search(pairs[0].0);
        for node in nearer.farthest_first().filter(|node| *node != pairs[0].0) {
            let links = nearer.links(fabric, node);
            for link in &links {
                let part = at[node.index()] / links.len() as f64;
                flows[link.index()] += part;
                at[fabric.links()[link.index()].to.index()] += part;
            }
        }
    }
    // By node: the rate of a flow from there.
    let (mut rate, mut level) = (0.0, vec![f64::INFINITY; fabric.nodes()]);
    for pairs in receivers() {
        nearer.search(pairs[0].0);
        level[pairs[0].0.index()] = f64::INFINITY;
        let nodes: Vec<NodeId> = nearer.farthest_first().filter(|node| *node != pairs[0].0).collect();
        for node in nodes.into_iter().rev() {
            let links = nearer.links(fabric, node);
            let over = |link: &LinkId| {
                let spec = &fabric.links()[link.index()];
                (rates[link.index()] / flows[link.index()]).min(level[spec.to.index()])
            };
            level[node.index()] = links.iter().map(over).sum::<f64>() / links.len() as f64;
        }
        rate += pairs.iter().map(|(_, from)| level[from.index()]).sum::<f64>();
    }
    let looked_at = receivers().map(|pairs| pairs.len()).sum::<usize>().max(1) as f64;
    Carried::new(fabric, rate * pairs.len() as f64 / looked_at, |i| flows[i] / looked_at)
}

/// By link: the part of all bits of uniform traffic that passes it.
fn uniform_shares(fabric: &Fabric, in_rack: bool) -> Vec<f64> {
    let hosts = fabric.hosts();
    let racks: Vec<usize> = fabric.racks_and_pods().into_iter().map(|(rack, _)| rack as usize).collect();
    let mut rack_mates: Vec<Vec<NodeId>> = vec![Vec::new(); fabric.nodes()];
    NodeId::first(hosts).zip(&racks).for_each(|(host, rack)| rack_mates[*rack].push(host));
    // Of all bits, those from one host to another to which it sends.
    let of_pair = |host: NodeId| {
        let not_to = if in_rack { 1 } else { rack_mates[racks[host.index()]].len() };
        if hosts == not_to { 0.0 } else { 1.0 / (hosts as f64 * (hosts - not_to) as f64) }
    };
    let mut shares = vec![0.0; fabric.links().len()];
    let (mut columns, mut from) = (vec![Vec::new(); fabric.nodes()], vec![0.0; fabric.nodes()]);
    let all: f64 = NodeId::first(hosts).map(of_pair).sum();
    for host in NodeId::first(hosts) {
        columns[stands(fabric, host).index()].push(host);
        from[stands(fabric, host).index()] += of_pair(host);
        if let Some(up) = only(fabric, host) {
            let mates = if in_rack { std::slice::from_ref(&host) } else { &rack_mates[racks[host.index()]][..] };
            shares[up.index()] += of_pair(host) * (hosts - mates.len()) as f64;
            shares[fabric.reverse(up).index()] += all - mates.iter().map(|mate| of_pair(*mate)).sum::<f64>();
        }
    }

    let targets: Vec<NodeId> = fabric.node_ids().filter(|node| !columns[node.index()].is_empty()).collect();
    divide(fabric, &targets, &mut shares, |target, at| {
        let column = &columns[target.index()];
        at.copy_from_slice(&from);
        for mate in rack_mates[racks[column[0].index()]].iter().filter(|_| !in_rack) {
            at[stands(fabric, *mate).index()] -= of_pair(*mate);
        }
        at.iter_mut().for_each(|bits| *bits *= column.len() as f64);
    });
    shares
}

/// By link: the part of all bits between `pairs` that passes it.
fn shares_between(fabric: &Fabric, pairs: &[(HostId, HostId, u64)]) -> Vec<f64> {
    let mut shares = vec![0.0; fabric.links().len()];
    let all: f64 = pairs.iter().map(|(.., bytes)| *bytes as f64).sum();
    let mut bits: Vec<(NodeId, NodeId, f64)> = Vec::with_capacity(pairs.len());
    for (from, to, bytes) in pairs {
        let (from, to, part) = (NodeId::from(*from), NodeId::from(*to), *bytes as f64 / all);
        only(fabric, from).iter().for_each(|up| shares[up.index()] += part);
        only(fabric, to).iter().for_each(|up| shares[fabric.reverse(*up).index()] += part);
        bits.push((stands(fabric, to), stands(fabric, from), part));
    }
    bits.sort_unstable_by_key(|(to, from, _)| (*to, *from));
    let of_target: Vec<&[(NodeId, NodeId, f64)]> = bits.chunk_by(|a, b| a.0 == b.0).collect();
    let targets: Vec<NodeId> = of_target.iter().map(|of| of[0].0).collect();
    divide(fabric, &targets, &mut shares, |target, at| {
        at.fill(0.0);
        let place = targets.binary_search(&target).unwrap_or_default();
        of_target[place].iter().for_each(|(_, from, part)| at[from.index()] += part);
    });
    shares
}

/// The only link of `host` to the network, if it has one alone and its switch can stand for it: where there are servers, which
/// way a packet takes depends on the host.
fn only(fabric: &Fabric, host: NodeId) -> Option<LinkId> {
    fabric.links_from(host).next().filter(|_| fabric.servers().is_none() && fabric.links_from(host).len() == 1)
}

/// The node that stands for `host`: its switch if it has one link, else itself.
fn stands(fabric: &Fabric, host: NodeId) -> NodeId {
    only(fabric, host).map_or(host, |link| fabric.links()[link.index()].to)
}

/// Adds to `shares` what links between the nodes that stand for hosts carry of the bits to each of
/// `targets`, of which
/// `fill` says, by node, where they begin. Of very many targets some are looked at, evenly spread, and count for all.
fn divide(fabric: &Fabric, targets: &[NodeId], shares: &mut [f64], mut fill: impl FnMut(NodeId, &mut [f64])) {
    let counts =
        |node: NodeId| fabric.hosts_forward() || node.index() >= fabric.hosts() || only(fabric, node).is_none();
    let mut nearer = Nearer::new(fabric, &HashSet::new(), counts);
    let step = targets.len().saturating_mul(fabric.links().len()) / MOST_STEPS + 1;
    let looked_at = targets.iter().step_by(step);
    let each = targets.len() as f64 / looked_at.len() as f64;
    let mut at = vec![0.0; fabric.nodes()];
    for target in looked_at {
        fill(*target, &mut at);
        nearer.search(*target);
        for node in nearer.farthest_first() {
            let choices: u32 = nearer.bits(node).iter().map(|word| word.count_ones()).sum();
            let part = at[node.index()] / f64::from(choices);
            let first = fabric.links_from(node).next().unwrap_or(LinkId::NONE);
            for (i, word) in (0..).zip(nearer.bits(node)) {
                for bit in ones(*word) {
                    let link = first.plus(64 * i + bit);
                    shares[link.index()] += each * part;
                    at[fabric.links()[link.index()].to.index()] += part;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::FabricBuilder;
    use crate::topology::{BCube, Dumbbell, Generator, fat_tree};
    use linkpool_units::{Rate, Time};

    /// Of each tier: its name, how many of its links a bit passes, and Gbit/s.
    fn tiers(fabric: &Fabric, in_rack: bool) -> Vec<(String, f64, f64)> {
        let round = |x: f64| (x * 1e6).round() / 1e6;
        let name = |tier: &TierTraffic| format!("{}->{}", tier.from.name(), tier.to.name());
        let tiers = uniform_traffic(fabric, in_rack);
        tiers.iter().map(|tier| (name(tier), round(tier.passed), tier.capacity / 1e9)).collect()
    }

    fn expected(tiers: &[(&str, f64, f64)]) -> Vec<(String, f64, f64)> {
        tiers.iter().map(|(name, passed, rate)| (name.to_string(), (passed * 1e6).round() / 1e6, *rate)).collect()
    }

    /// k = 4, with 4 hosts at each of 8 edge switches: of 31 others 28 are in other racks, 24 in
    /// other pods.
    #[test]
    fn of_a_fat_tree() {
        let fabric = fat_tree(4, 4, Rate::gbps(10), Time::from_us(1));
        let by = |to_racks: f64, to_pods: f64| {
            expected(&[
                ("host->edge", 1.0, 320.0),
                ("edge->aggregation", to_racks, 160.0),
                ("aggregation->core", to_pods, 160.0),
                ("core->aggregation", to_pods, 160.0),
                ("aggregation->edge", to_racks, 160.0),
                ("edge->host", 1.0, 320.0),
            ])
        };
        assert_eq!(tiers(&fabric, true), by(28.0 / 31.0, 24.0 / 31.0));
        assert_eq!(tiers(&fabric, false), by(1.0, 24.0 / 28.0));
        // All links of a tier have the same part.
        for tier in uniform_traffic(&fabric, true) {
            let mean = tier.passed / tier.capacity;
            assert!((tier.busiest / mean - 1.0).abs() < 1e-9, "{tier:?}");
        }
    }

    /// Of 3 others 2 are at the other switch; both directions are of one tier, and take a half
    /// each.
    #[test]
    fn of_a_dumbbell() {
        let (rate, delay) = (Rate::gbps(10), Time::from_us(1));
        let fabric =
            Dumbbell { pairs: 2, rate, delay, bottleneck_rate: Rate::gbps(1), bottleneck_delay: delay }.fabric();
        let expected =
            expected(&[("host->switch", 1.0, 40.0), ("switch->switch", 2.0 / 3.0, 2.0), ("switch->host", 1.0, 40.0)]);
        assert_eq!(tiers(&fabric, true), expected);
    }

    /// Of a dumbbell of three pairs: two flows over the bottleneck of 1 Gbit/s share it, two at one
    /// switch the link to their receiver; five links of three, and two of two.
    #[test]
    fn flows_share_the_links_that_they_pass() {
        let (rate, delay) = (Rate::gbps(10), Time::from_us(1));
        let fabric =
            Dumbbell { pairs: 3, rate, delay, bottleneck_rate: Rate::gbps(1), bottleneck_delay: delay }.fabric();
        let host = |name: &str| HostId::from(fabric.node(name).unwrap());
        let pair = |from, to| (host(from), host(to));
        let rates = |fabric: &Fabric| -> Vec<f64> { (0..fabric.links().len()).map(built(fabric)).collect() };
        let whole = rates(&fabric);
        let carried = |pairs: &[(HostId, HostId)]| {
            let carried = carried_between(&fabric, pairs, &whole);
            // All links have a delay of 1 us.
            assert!((carried.delay / carried.passed * 1e6 - 1.0).abs() < 1e-9, "{carried:?}");
            (carried.passed, carried.rate)
        };
        assert_eq!(carried(&[pair("S1", "D1"), pair("S2", "D2")]), (3.0, 1e9));
        assert_eq!(carried(&[pair("S1", "S3"), pair("S2", "S3")]), (2.0, 10e9));
        // Of a bit two links of 10 Gbit/s are busy for 0.1 ns each, and the bottleneck for 1 ns.
        let busy = carried_between(&fabric, &[pair("S1", "D1")], &whole).busy;
        assert!((busy - 1.2e-9).abs() < 1e-15, "{busy}");
        let all = [pair("S1", "D1"), pair("S2", "D2"), pair("D3", "D1"), pair("S2", "S1")];
        // D3 to D1 gets half of the link to D1, S2 to S1 half of that of S2.
        assert_eq!(carried(&all), (2.5, 1e9 + 5e9 + 5e9));
        let uniform = carried_uniform(&fabric, true, &whole);
        // 3 of 5 others are beyond the bottleneck, half of them each way.
        assert!((uniform.rate - 1e9 / 0.3).abs() < 1.0 && (uniform.passed - 2.6).abs() < 1e-9, "{uniform:?}");
        // Where two ways are as long, each carries half of a flow, and both are full together.
        let tree = fat_tree(4, 2, Rate::gbps(10), Time::from_us(1));
        let whole = rates(&tree);
        let carried = carried_between(&tree, &[(0.into(), 15.into())], &whole);
        assert_eq!((carried.passed, carried.rate), (6.0, 10e9));
        // Where links of a tier are slower, uniform traffic has what is left of the tier.
        let core = |i: usize| tree.layer(tree.links()[i].from) == Layer::Core;
        let some: Vec<f64> =
            whole.iter().enumerate().map(|(i, rate)| if core(i) { rate / 10.0 } else { *rate }).collect();
        let (all, some) = (carried_uniform(&tree, false, &whole).rate, carried_uniform(&tree, false, &some).rate);
        // Of 16 links of cores and 10 Gbit/s, with 12 of 14 others in other pods; those of hosts
        // are full first.
        assert!((all - 160e9).abs() < 1.0 && (some - 16e9 * 14.0 / 12.0).abs() < 1.0, "{all} {some}");
    }

    /// All pairs alike are uniform traffic, in a tree and where hosts forward.
    #[test]
    fn of_all_pairs() {
        let bcube = BCube { n: 3, k: 1, rate: Rate::gbps(1), delay: Time::from_us(1) }.fabric();
        for fabric in [fat_tree(4, 4, Rate::gbps(10), Time::from_us(1)), bcube] {
            let hosts = 0..fabric.hosts() as u32;
            let all: Vec<(HostId, HostId, u64)> = hosts
                .clone()
                .flat_map(|from| hosts.clone().map(move |to| (from.into(), to.into(), 1500)))
                .filter(|(from, to, _)| from != to)
                .collect();
            let shares = shares_between(&fabric, &all);
            for (i, (of_pairs, uniform)) in shares.iter().zip(uniform_shares(&fabric, true)).enumerate() {
                assert!((of_pairs / uniform - 1.0).abs() < 1e-9, "link {i}: {of_pairs} for {uniform}");
            }
        }
    }

    /// Three quarters of the bytes go from pod to pod and halve twice; the rest stay in a rack.
    #[test]
    fn of_some_pairs() {
        let fabric = fat_tree(4, 2, Rate::gbps(10), Time::from_us(1));
        let tiers = traffic_between(&fabric, &[(0.into(), 15.into(), 3000), (2.into(), 3.into(), 1000)]);
        let of = |tier: &TierTraffic| (tier.passed, tier.busiest * 10e9);
        let passed: Vec<(f64, f64)> = tiers.iter().map(of).collect();
        let edges = (1.0, 0.75);
        assert_eq!(passed, [edges, (0.75, 0.375), (0.75, 0.1875), (0.75, 0.1875), (0.75, 0.375), edges]);
    }

    /// Hosts forward: two of three others are one switch away, the third two.
    #[test]
    fn of_hosts_that_forward() {
        let fabric = BCube { n: 2, k: 1, rate: Rate::gbps(1), delay: Time::from_us(1) }.fabric();
        let passed = 4.0 / 3.0;
        assert_eq!(tiers(&fabric, true), expected(&[("host->switch", passed, 8.0), ("switch->host", passed, 8.0)]));
    }

    /// Racks of 1 and 2 hosts, joined by two cables, one of them slower: each has a half of the
    /// bits. Every third bit is from the rack of one, and of the others' bits, half of those go
    /// there that may stay.
    #[test]
    fn of_unlike_racks_and_cables() {
        let mut b = FabricBuilder::default();
        let hosts: Vec<NodeId> = (0..3).map(|i| b.node(format!("h{i}"), Layer::Host)).collect();
        let [one, two] = ["one", "two"].map(|name| b.node(name, Layer::Switch));
        for (host, switch) in hosts.iter().zip([one, two, two]) {
            b.cable(*host, switch, Rate::gbps(1), Time(1));
        }
        b.cable(one, two, Rate::gbps(1), Time(1));
        b.cable(one, two, Rate::gbps(4), Time(1));
        let fabric = b.build();
        let shares = |in_rack| {
            let shares = uniform_shares(&fabric, in_rack);
            let of = |from: &str, to: &str| shares[fabric.links_named(from, to)[0].index()];
            [
                of("h0", "one"),
                of("one", "h0"),
                of("two", "h1"),
                of("one", "two#0"),
                of("one", "two#1"),
                of("two", "one#0"),
            ]
            .map(|share| (share * 1e6).round() / 1e6)
        };
        assert_eq!(shares(true), [0.333333, 0.333333, 0.333333, 0.166667, 0.166667, 0.166667]);
        assert_eq!(shares(false), [0.333333, 0.666667, 0.166667, 0.166667, 0.166667, 0.333333]);
        let between = uniform_traffic(&fabric, true)[1];
        assert_eq!((between.from, between.to), (Layer::Switch, Layer::Switch));
        assert!((between.busiest - 1.0 / 6e9).abs() < 1e-15, "the slower cable");
    }
}
