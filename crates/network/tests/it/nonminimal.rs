//! Routing over paths that are not the shortest: which paths packets take, how evenly, and what that
//! carries. Expected loads are summed over all paths, found from the names of routers and by search.

use crate::common::topologies::{dragonfly, leaf_spine, slim_fly, xpander};
use crate::common::traffic::{HEADER, Results, Scene, Send, sends};
use crate::common::{Rules, cases, host, pinned};
use linkpool_network::topology::{Generator, fat_tree};
use linkpool_network::{
    Cable, Envelope, Fabric, Flags, HostId, Kind, LinkId, NodeId, Packet, Per, QueueLimit, Routes, Routing,
    SharedBuffer, Spreading, Trimming, Ugal, Valiant, Weights, partition,
};
use linkpool_units::{Bytes, Rate, Time};
use proptest::prelude::*;
use rand::rngs::StdRng;
use rand::{RngCore, SeedableRng};
use std::collections::{BTreeMap, HashMap, HashSet};

const CABLE: Cable = Cable { rate: Rate::gbps(10), delay: Time::from_ns(500) };

/// Of a packet, with which 10 Gbit/s send one in 800 ns.
const SIZE: u16 = 1000;

/// The dragonfly of the paper's Figure 5, of p = h = 2, a = 4 and 9 groups with one cable between any two.
fn figure_5() -> Fabric {
    dragonfly((4, 2, 2, 9), [CABLE; 3]).fabric()
}

/// The graph of Hoffman and Singleton: 50 routers of degree 7, with one shortest path between any two.
fn hoffman_singleton() -> Fabric {
    slim_fly(5, 4, [CABLE; 2]).fabric()
}

fn valiant(per: Per, minimal: u32) -> Spreading {
    Spreading::Valiant(Valiant { per, minimal })
}

fn ugal(candidates: u32, threshold: u64) -> Spreading {
    Spreading::Ugal(Ugal { candidates, threshold: Bytes(threshold) })
}

fn scene(fabric: &Fabric, spreading: Spreading, sends: Vec<Send>, limit: QueueLimit) -> Scene {
    let rules = Rules { limit, ..Rules::default() };
    let routing = Routing { spreading, gap: None, weights: Weights::Equal };
    let end = sends.last().map_or(Time::ZERO, |send| send.at) + Time::from_ms(2);
    Scene { routing, ..Scene::new(fabric.clone(), rules, sends, end) }
}

/// By number of the packet: the links that it took, where each has a number of its own.
fn paths(scene: &Scene) -> BTreeMap<u32, Vec<LinkId>> {
    let taps = LinkId::first(scene.fabric.links().len()).map(|link| (link, Kind::ALL)).collect();
    let results = Scene { taps, ..scene.clone() }.run(1000);
    let mut passed = results.passed;
    passed.sort_by_key(|(_, at, ..)| *at);
    let mut paths: BTreeMap<u32, Vec<LinkId>> = BTreeMap::new();
    passed.iter().for_each(|(link, _, number, _)| paths.entry(*number).or_default().push(*link));
    paths
}

fn packet(from: HostId, to: HostId, entropy: u32, number: u32) -> Packet {
    let envelope = Envelope::new(to, SIZE, 0);
    Packet { envelope, seq: number, entropy, endpoint: from.into(), kind: Kind::FIN, ..Packet::default() }
}

/// `n` packets from one host to another, of these entropies, far apart.
fn one_by_one(pairs: &[(usize, usize)], n: u32, entropy: impl Fn(u32) -> u32) -> Vec<Send> {
    let all = (0..n).flat_map(|i| pairs.iter().map(move |pair| (i, *pair)));
    let send = |(number, (i, (from, to)))| Send {
        at: Time::from_us(2) * u64::from(number),
        from: host(from),
        packet: packet(host(from), host(to), entropy(i), number),
    };
    (0..).zip(all).map(send).collect()
}

fn name(fabric: &Fabric, node: NodeId) -> &str {
    fabric.name(node)
}

/// The group in the name of a router `r<group>.<i>`.
fn group(fabric: &Fabric, router: NodeId) -> usize {
    let name = name(fabric, router).strip_prefix('r').expect("a router of a dragonfly");
    name.split_once('.').expect("a group").0.parse().expect("a number")
}

/// The routers on a path, which is one.
fn routers(fabric: &Fabric, path: &[LinkId]) -> Vec<NodeId> {
    let spec = |link: &LinkId| &fabric.links()[link.index()];
    assert!(path.windows(2).all(|pair| spec(&pair[0]).to == spec(&pair[1]).from), "a path without a gap");
    path[..path.len() - 1].iter().map(|link| spec(link).to).collect()
}

fn router_of(fabric: &Fabric, host: usize) -> NodeId {
    let link = fabric.links_from(NodeId::new(host)).next().expect("a host has a link");
    fabric.links()[link.index()].to
}

/// The groups through which a path goes, each once where it stays.
fn groups(fabric: &Fabric, path: &[LinkId]) -> Vec<usize> {
    let mut groups: Vec<usize> = routers(fabric, path).iter().map(|router| group(fabric, *router)).collect();
    groups.dedup();
    groups
}

/// Between groups a packet goes over a group that is drawn from all nine, within a group and at a router straight on. It never comes
/// to a router twice. From group 0 to group 3: of 9,000 packets 1,000 over each of seven, with a standard deviation of 30, and 2,000
/// straight on.
#[test]
fn in_a_dragonfly_packets_go_over_a_random_group() {
    let fabric = figure_5();
    let pairs = [(0, 24), (0, 1), (0, 2)];
    let paths =
        paths(&scene(&fabric, valiant(Per::Packet, 0), one_by_one(&pairs, 9000, |i| i), QueueLimit::Packets(9)));
    let mut over = [0; 9];
    for (number, path) in paths {
        let (groups, routers) = (groups(&fabric, &path), routers(&fabric, &path));
        assert_eq!(routers.iter().collect::<HashSet<_>>().len(), routers.len(), "{number} comes back");
        match number % 3 {
            0 => {
                assert_eq!((groups[0], groups[groups.len() - 1]), (0, 3));
                assert!(routers.len() <= 2 * groups.len(), "a link in each group at most");
                over[groups[1]] += 1;
            }
            1 => assert_eq!(routers.len(), 1),
            _ => assert_eq!((routers.len(), groups.len()), (2, 1)),
        }
    }
    assert!([1, 2, 4, 5, 6, 7, 8].iter().all(|group| (880..1120).contains(&over[*group])), "{over:?}");
    assert!(over[0] == 0 && (1840..2160).contains(&over[3]), "{over:?}");
}

/// With `minimal` 100 a path has one cable between groups, which the shortest paths of some pairs have not. With 25 it is a
/// quarter of 8,000 packets and two ninths of the others, 3,333 in all, with a standard deviation of 44.
#[test]
fn a_share_of_packets_takes_minimal_paths() {
    let fabric = figure_5();
    let between = |fabric: &Fabric, minimal, pairs: &[(usize, usize)], n| -> Vec<usize> {
        let sends = one_by_one(pairs, n, |i| i);
        let paths = paths(&scene(fabric, valiant(Per::Packet, minimal), sends, QueueLimit::Packets(9)));
        paths.values().map(|path| groups(fabric, path).len()).collect()
    };
    let pairs: Vec<(usize, usize)> = (0..72).filter(|to| to / 8 != 1).map(|to| (8 + to % 8, to)).collect();
    assert!(between(&fabric, 100, &pairs, 1).into_iter().all(|groups| groups == 2));
    let minimal = between(&fabric, 25, &[(0, 24)], 8000).into_iter().filter(|groups| *groups == 2).count();
    assert!((3150..3520).contains(&minimal), "{minimal}");
}

/// With three groups there are four cables between any two. All are used alike, those from the first group to the third
/// and on by a third of 12,000 packets, those to the second by two thirds: 1,000 and 2,000, with standard deviations below 41.
#[test]
fn parallel_cables_between_groups_are_used_alike() {
    let fabric = dragonfly((4, 2, 2, 3), [CABLE; 3]).fabric();
    let sends = one_by_one(&[(0, 8)], 12_000, |i| i);
    let paths = paths(&scene(&fabric, valiant(Per::Packet, 0), sends, QueueLimit::Packets(9)));
    let mut counts: HashMap<LinkId, u32> = HashMap::new();
    for path in paths.values() {
        let spec = |link: &LinkId| &fabric.links()[link.index()];
        let inner = &path[1..path.len() - 1];
        let cables = inner.iter().filter(|link| group(&fabric, spec(link).from) != group(&fabric, spec(link).to));
        cables.for_each(|link| *counts.entry(*link).or_default() += 1);
    }
    assert_eq!(counts.len(), 12);
    for (cable, count) in counts {
        let ends = &fabric.links()[cable.index()];
        let expected = if (group(&fabric, ends.from), group(&fabric, ends.to)) == (0, 1) { 2000 } else { 1000 };
        assert!(count.abs_diff(expected) < 200, "{count}");
    }
}

/// In the graph of Hoffman and Singleton there is one shortest path to the router that is drawn, and one from there: so the
/// path tells which it was, but where the two are in a line. Each of the 48 others is drawn alike.
#[test]
fn in_a_slim_fly_packets_go_over_a_random_router() {
    let fabric = hoffman_singleton();
    let (from, to) = (router_of(&fabric, 0), router_of(&fabric, 100));
    let paths =
        paths(&scene(&fabric, valiant(Per::Packet, 0), one_by_one(&[(0, 100)], 9600, |i| i), QueueLimit::Packets(9)));
    let mut expected: HashMap<Vec<NodeId>, f64> = HashMap::new();
    for over in fabric.node_ids().skip(fabric.hosts()).filter(|node| *node != from && *node != to) {
        let mut path = shortest(&fabric, from, over);
        path.extend(&shortest(&fabric, over, to)[1..]);
        *expected.entry(path).or_default() += 200.0;
    }
    let mut seen: HashMap<Vec<NodeId>, f64> = HashMap::new();
    for path in paths.values() {
        assert_eq!(path.iter().collect::<HashSet<_>>().len(), path.len(), "no link twice");
        let routers = routers(&fabric, path);
        assert!((3..=5).contains(&routers.len()), "2 to 4 links between routers");
        *seen.entry(routers).or_default() += 1.0;
    }
    assert_eq!(seen.keys().collect::<HashSet<_>>(), expected.keys().collect::<HashSet<_>>());
    // Five standard deviations of a binomial distribution.
    let off = |(path, n): (&Vec<NodeId>, &f64)| (seen[path] - n).abs() / n.sqrt();
    assert!(expected.iter().all(|each| off(each) < 5.0));
}

/// The only shortest path between two routers of a graph without cycles of less than five.
fn shortest(fabric: &Fabric, from: NodeId, to: NodeId) -> Vec<NodeId> {
    let neighbours = |node: NodeId| -> Vec<NodeId> {
        let all = fabric.links_from(node).map(|link| fabric.links()[link.index()].to);
        all.filter(|node| node.index() >= fabric.hosts()).collect()
    };
    if neighbours(from).contains(&to) {
        return vec![from, to];
    }
    let over: Vec<NodeId> = neighbours(from).into_iter().filter(|over| neighbours(*over).contains(&to)).collect();
    assert_eq!(over.len(), 1);
    vec![from, over[0], to]
}

/// All packets of an entropy take one path, and those of others another: of 60 entropies most groups are drawn.
#[test]
fn a_flow_has_one_path() {
    for fabric in [figure_5(), hoffman_singleton(), xpander((3, 20, 1), 1, [CABLE; 2]).fabric()] {
        let sends = one_by_one(&[(0, 24), (5, 24)], 300, |i| i % 60);
        let paths = paths(&scene(&fabric, valiant(Per::Flow, 0), sends, QueueLimit::Packets(9)));
        let mut by_flow: HashMap<(u32, u32), HashSet<&Vec<LinkId>>> = HashMap::new();
        paths
            .iter()
            .for_each(|(number, path)| _ = by_flow.entry((number % 2, number / 2 % 60)).or_default().insert(path));
        assert_eq!(by_flow.len(), 120);
        assert!(by_flow.values().all(|paths| paths.len() == 1));
        let all: HashSet<&Vec<LinkId>> = paths.values().collect();
        assert!(all.len() >= 14, "{} paths of two hosts", all.len());
    }
}

/// In an Xpander with longer paths, a packet goes the shortest way to a router and on.
#[test]
fn in_other_fabrics_both_halves_are_shortest_paths() {
    let fabric = xpander((3, 6, 1), 1, [CABLE; 2]).fabric();
    let to = fabric.hosts() - 1;
    let sends = one_by_one(&[(0, to)], 400, |i| i);
    let paths = paths(&scene(&fabric, valiant(Per::Packet, 0), sends, QueueLimit::Packets(9)));
    let distances = |node: NodeId| fabric.distances_from(node);
    let (first, last) = (router_of(&fabric, 0), router_of(&fabric, to));
    let mut longer = 0;
    for path in paths.values() {
        let routers = routers(&fabric, path);
        let is_halfway = |(i, over): (usize, &NodeId)| {
            let distances = distances(*over);
            let of = |node: NodeId| distances[node.index()].expect("a way") as usize;
            *over != first && *over != last && of(first) == i && of(last) == routers.len() - 1 - i
        };
        assert!(routers.iter().enumerate().any(is_halfway), "{routers:?}");
        longer += usize::from(distances(first)[last.index()].expect("a way") as usize + 1 < routers.len());
    }
    assert!(longer > 200, "{longer}");
}

/// What a unit of traffic from one host to another loads links with, when each of these paths between their routers has this share.
type Shares = Vec<(Vec<NodeId>, f64)>;

/// The minimal path between routers of a dragonfly with one cable between any two groups, over these groups in turn.
fn over_groups(fabric: &Fabric, from: NodeId, over: &[usize], to: NodeId) -> Vec<NodeId> {
    let mut path = vec![from];
    for next in over.windows(2) {
        let cable = fabric.links().iter().find(|link| {
            let both = link.from.index() >= fabric.hosts() && link.to.index() >= fabric.hosts();
            both && group(fabric, link.from) == next[0] && group(fabric, link.to) == next[1]
        });
        let cable = cable.expect("a cable between any two groups");
        path.extend([cable.from, cable.to]);
    }
    path.push(to);
    path.dedup();
    path
}

/// Valiant's paths in a dragonfly, or with `minimal` the minimal one.
fn in_dragonfly(fabric: &Fabric, from: NodeId, to: NodeId, minimal: bool) -> Shares {
    let (a, b) = (group(fabric, from), group(fabric, to));
    let direct = if a == b { vec![a] } else { vec![a, b] };
    let over = |g: usize| if minimal || a == b || g == a || g == b { direct.clone() } else { vec![a, g, b] };
    (0..9).map(|g| (over_groups(fabric, from, &over(g), to), 1.0 / 9.0)).collect()
}

/// Valiant's paths in the graph of Hoffman and Singleton, or with `minimal` the shortest one.
fn in_slim_fly(fabric: &Fabric, from: NodeId, to: NodeId, minimal: bool) -> Shares {
    if from == to {
        return vec![(vec![from], 1.0)];
    }
    if minimal {
        return vec![(shortest(fabric, from, to), 1.0)];
    }
    let others = fabric.node_ids().skip(fabric.hosts()).filter(|node| *node != from && *node != to);
    let over = |node| [&shortest(fabric, from, node)[..], &shortest(fabric, node, to)[1..]].concat();
    others.map(|node| (over(node), 1.0 / 48.0)).collect()
}

/// By link between routers, by these paths: what loads it, if each host sends one unit to its partner.
fn loads(fabric: &Fabric, partners: &[(usize, usize)], paths: impl Fn(NodeId, NodeId) -> Shares) -> Vec<f64> {
    let mut loads = vec![0.0; fabric.links().len()];
    let mut known: HashMap<(NodeId, NodeId), Shares> = HashMap::new();
    for (from, to) in partners {
        let ends = (router_of(fabric, *from), router_of(fabric, *to));
        for (path, share) in known.entry(ends).or_insert_with(|| paths(ends.0, ends.1)) {
            for pair in path.windows(2) {
                loads[fabric.link(pair[0], pair[1]).expect("a path").index()] += *share;
            }
        }
    }
    loads
}

/// Each host sends `n` packets to its partner, at a random instant in each n-th part of the time that leaves it at this share
/// of its rate.
fn at_load(partners: &[(usize, usize)], n: u32, load: f64) -> Vec<Send> {
    at_load_to(partners, n, load, |to, _| to)
}

/// The same to where `to` says.
fn at_load_to(partners: &[(usize, usize)], n: u32, load: f64, to: impl Fn(usize, &mut StdRng) -> usize) -> Vec<Send> {
    let mut random = StdRng::seed_from_u64(5);
    let each = 800_000.0 / load;
    let mut sends = Vec::new();
    for i in 0..n {
        for (from, partner) in partners {
            let at = Time((f64::from(i) * each) as u64 + u64::from(random.next_u32()) % each as u64);
            let to = to(*partner, &mut random);
            let packet = packet(host(*from), host(to), random.next_u32(), 0);
            sends.push(Send { at, from: host(*from), packet });
        }
    }
    sends.sort_by_key(|send| send.at);
    (0..).zip(&mut sends).for_each(|(number, send)| send.packet.seq = number);
    sends
}

/// Each host sends `n` packets at this share of its rate, each to one of the others at random.
fn at_random(hosts: usize, n: u32, load: f64) -> Vec<Send> {
    let all: Vec<(usize, usize)> = (0..hosts).map(|host| (host, host)).collect();
    at_load_to(&all, n, load, |own, random| (own + 1 + random.next_u32() as usize % (hosts - 1)) % hosts)
}

/// The part of these packets that comes through, with queues of 100 packets.
fn carried(fabric: &Fabric, spreading: Spreading, sends: Vec<Send>) -> (f64, Results) {
    let sent = sends.len() as f64;
    let results = scene(fabric, spreading, sends, QueueLimit::Packets(100)).run(1000);
    (results.arrivals.iter().map(Vec::len).sum::<usize>() as f64 / sent, results)
}

/// Host i of a group sends to host i of the next group.
fn next_group() -> Vec<(usize, usize)> {
    (0..72).map(|host| (host, (host + 8) % 72)).collect()
}

/// Each host sends to all others in turn: a permutation for each of these distances.
fn uniform(hosts: usize) -> Vec<(usize, usize)> {
    (1..hosts).flat_map(|far| (0..hosts).map(move |host| (host, (host + far) % hosts))).collect()
}

/// For an edge of the graph: the hosts of its first router send to those of a neighbour of the second, and the hosts of a
/// neighbour of the first to those of the second. Both shortest paths take the edge.
fn over_one_edge(fabric: &Fabric) -> Vec<(usize, usize)> {
    let routers = |node: NodeId| -> Vec<NodeId> {
        let all = fabric.links_from(node).map(|link| fabric.links()[link.index()].to);
        all.filter(|node| node.index() >= fabric.hosts()).collect()
    };
    let first = router_of(fabric, 0);
    let second = routers(first)[0];
    let before = routers(first)[1];
    let after = routers(second).into_iter().find(|node| *node != first).expect("seven neighbours");
    let hosts = |router: NodeId| (0..fabric.hosts()).filter(move |host| router_of(fabric, *host) == router);
    hosts(first).zip(hosts(after)).chain(hosts(before).zip(hosts(second))).collect()
}

/// Links carry what the sum over all paths says, within five standard deviations: of minimal and of Valiant's routing, under the
/// worst and under uniform traffic.
#[test]
fn links_are_loaded_as_all_paths_say() {
    let (fly, slim) = (figure_5(), hoffman_singleton());
    let edge = over_one_edge(&slim);
    let some: Vec<(usize, usize)> = uniform(200).into_iter().step_by(7).collect();
    for minimal in [false, true] {
        let routing = valiant(Per::Packet, if minimal { 100 } else { 0 });
        let of_fly = |from, to| in_dragonfly(&fly, from, to, minimal);
        let of_slim = |from, to| in_slim_fly(&slim, from, to, minimal);
        let cases = [
            (&fly, next_group(), 200u32, loads(&fly, &next_group(), of_fly)),
            (&fly, uniform(72), 3, loads(&fly, &uniform(72), of_fly)),
            (&slim, edge.clone(), 2000, loads(&slim, &edge, of_slim)),
            (&slim, some.clone(), 3, loads(&slim, &some, of_slim)),
        ];
        for (fabric, partners, n, loads) in cases {
            let sends = at_load(&partners, n, 0.01);
            let (all, results) = carried(fabric, routing, sends);
            assert_eq!(all, 1.0);
            for (link, load) in LinkId::first(loads.len()).zip(&loads) {
                let spec = &fabric.links()[link.index()];
                if spec.from.index() < fabric.hosts() || spec.to.index() < fabric.hosts() {
                    continue;
                }
                let (seen, expected) = (results.links[link.index()].0.packets as f64, load * f64::from(n));
                let off = (seen - expected).abs();
                assert!(off <= 5.0 * expected.sqrt(), "{}: {seen} and not {expected}", fabric.link_name(link));
                assert!(!minimal || off < 1e-6 * expected.max(1.0), "nothing is drawn for minimal paths");
            }
        }
    }
}

/// The most that each host may send, of its rate, before a link between routers is full.
fn most(loads: &[f64]) -> f64 {
    1.0 / loads.iter().copied().fold(0.0, f64::max)
}

/// A group sends all to the next: with minimal routing over one cable, which carries 1/(a h) of what the hosts send (a h = 8). With
/// Valiant's it is at least half: each packet takes two cables at most, of which there are as many as hosts, and two of nine draws are
/// of no detour: (2 + 7 x 2)/9 cables a packet, 9/16 by the cables alone. Links within groups allow less, as the sum over all paths says.
#[test]
fn the_worst_traffic_of_a_dragonfly() {
    let fabric = figure_5();
    let partners = next_group();
    let (minimal, _) = carried(&fabric, valiant(Per::Packet, 100), at_load(&partners, 6000, 1.0));
    // And what stands in four queues at the end.
    assert!((0.125..0.125 + 400.0 / 48_000.0).contains(&minimal), "{minimal}");
    let all = loads(&fabric, &partners, |from, to| in_dragonfly(&fabric, from, to, false));
    let is_global = |link: &(LinkId, f64)| {
        let spec = &fabric.links()[link.0.index()];
        let both = spec.from.index() >= fabric.hosts() && spec.to.index() >= fabric.hosts();
        both && group(&fabric, spec.from) != group(&fabric, spec.to)
    };
    let global = LinkId::first(all.len()).zip(all.iter().copied()).filter(is_global);
    assert!(global.clone().count() == 72 && global.into_iter().all(|(_, load)| (load - 16.0 / 9.0).abs() < 1e-9));
    let most = most(&all);
    println!("{most}");
    assert!(most > 0.5 && most < 9.0 / 16.0);
    let (below, _) = carried(&fabric, valiant(Per::Packet, 0), at_load(&partners, 2000, 0.95 * most));
    assert!(below > 0.999, "{below}");
    let (above, _) = carried(&fabric, valiant(Per::Packet, 0), at_load(&partners, 2000, 1.0));
    assert!(above > 0.45 && above < 9.0 / 16.0 + 0.05, "{above}");
}

/// Of uniform traffic, Valiant's routing carries half of what minimal routing does, a little more where a draw is of no detour: each
/// packet takes twice the cables.
#[test]
fn of_uniform_traffic_valiant_carries_half() {
    let (fly, slim) = (figure_5(), hoffman_singleton());
    let bound = |fabric: &Fabric, paths: &dyn Fn(NodeId, NodeId) -> Shares| {
        let partners = uniform(fabric.hosts());
        most(&loads(fabric, &partners, paths)) * (fabric.hosts() - 1) as f64
    };
    let of_fly = [true, false].map(|minimal| bound(&fly, &|from, to| in_dragonfly(&fly, from, to, minimal)));
    let of_slim = [true, false].map(|minimal| bound(&slim, &|from, to| in_slim_fly(&slim, from, to, minimal)));
    println!("{of_fly:?} {of_slim:?}");
    // A host of 72 sends 64 of 71 packets to other groups, over one cable, or 16/9.
    assert!((of_fly[1] - 71.0 / 64.0 * 9.0 / 16.0).abs() < 0.02, "{of_fly:?}");
    assert!((of_slim[1] / of_slim[0] - 0.5).abs() < 0.03, "{of_slim:?}");
    for (fabric, [minimal, valiants]) in [(&fly, of_fly), (&slim, of_slim)] {
        let carries =
            |share, load: f64| carried(fabric, valiant(Per::Packet, share), at_random(fabric.hosts(), 1000, load)).0;
        let (below, above) = (carries(0, 0.9 * valiants), carries(0, 1.4 * valiants));
        assert!(below > 0.999 && above < 0.95, "{below} {above}");
        let of_minimal = carries(100, 0.9 * minimal.min(1.0));
        assert!(of_minimal > 0.99, "{of_minimal}");
    }
}

/// Two routers with p = 4 hosts each send over one edge of a Slim Fly: with minimal routing it carries 1/(2 p) of what they send. With
/// Valiant's all comes through, over the other edges.
#[test]
fn the_worst_traffic_of_a_slim_fly() {
    let fabric = hoffman_singleton();
    let partners = over_one_edge(&fabric);
    let (minimal, _) = carried(&fabric, valiant(Per::Packet, 100), at_load(&partners, 4000, 1.0));
    assert!((0.125..0.135).contains(&minimal), "{minimal}");
    let (ecmp, _) = carried(&fabric, Spreading::Ecmp, at_load(&partners, 4000, 1.0));
    assert!((minimal - ecmp).abs() < 0.003, "{ecmp}");
    let all = loads(&fabric, &partners, |from, to| in_slim_fly(&fabric, from, to, false));
    let most = most(&all);
    println!("{most}");
    let (valiants, _) = carried(&fabric, valiant(Per::Packet, 0), at_load(&partners, 4000, 0.95 * most.min(1.0)));
    assert!(most > 0.5 && valiants > 0.999, "{valiants}");
}

/// UGAL-L is near the better of minimal and Valiant's routing, in their own grounds, where congestion is at the first switch: in a
/// dragonfly whose groups are single routers, of four hosts that send to the next router, in a Slim Fly of a router's hosts whose
/// shortest paths share a link, and under uniform traffic.
#[test]
fn ugal_is_near_the_better_of_both() {
    let (fly, slim) = (figure_5(), hoffman_singleton());
    let routers = dragonfly((1, 4, 8, 9), [CABLE; 3]).fabric();
    let next_router: Vec<(usize, usize)> = (0..36).map(|host| (host, (host + 4) % 36)).collect();
    let cases = [
        (&routers, at_load(&next_router, 1500, 0.9)),
        (&slim, at_load(&over_one_edge(&slim)[..4], 3000, 0.9)),
        (&fly, at_random(72, 1000, 0.85)),
        (&slim, at_random(200, 500, 0.8)),
    ];
    for (i, (fabric, sends)) in cases.into_iter().enumerate() {
        let part = |rule| carried(fabric, rule, sends.clone()).0;
        let (minimal, valiants) = (part(valiant(Per::Packet, 100)), part(valiant(Per::Packet, 0)));
        let (one, four) = (part(ugal(1, 0)), part(ugal(4, 0)));
        println!("{i}: minimal {minimal:.3}, valiant {valiants:.3}, ugal {one:.3}, of four {four:.3}");
        assert!((minimal - valiants).abs() > 0.05, "they differ");
        assert!(one.min(four) > minimal.max(valiants) - 0.03);
    }
}

/// Where congestion is behind the first switch, UGAL-L does not see it, as switches without backpressure drop what does not go
/// further: a group that sends to the next has one cable, and three of four routers see short queues to the router that has it.
#[test]
fn ugal_does_not_see_queues_behind_the_first_switch() {
    let fabric = figure_5();
    let part = |rule| carried(&fabric, rule, at_load(&next_group(), 1500, 0.45)).0;
    let (minimal, valiants) = (part(valiant(Per::Packet, 100)), part(valiant(Per::Packet, 0)));
    let (one, four) = (part(ugal(1, 0)), part(ugal(4, 0)));
    println!("minimal {minimal:.3}, valiant {valiants:.3}, ugal {one:.3}, of four {four:.3}");
    assert!(valiants > 0.999 && one > minimal + 0.2 && four > one && four < valiants - 0.03);
}

/// From router 0.0 to group 1 there is one cable, of router 0.0. Packets come ten at once: the first find no queue, and q_m H_m =
/// 0 <= q_n H_n. A packet that finds q bytes there goes another way, if that way has none and q H_m is above the threshold.
#[test]
fn ugal_weighs_queues_by_links() {
    let fabric = figure_5();
    // From host 0 at router 0.0 to the router at the other end of its cable to group 1.
    let spec = |link: LinkId| &fabric.links()[link.index()];
    let cable = LinkId::first(fabric.links().len()).find(|link| {
        let ends = (spec(*link).from, spec(*link).to);
        ends.0 == router_of(&fabric, 0) && ends.1.index() >= fabric.hosts() && group(&fabric, ends.1) == 1
    });
    let cable = cable.expect("router 0.0 has the cable to group 1");
    let to = (0..72).find(|host| router_of(&fabric, *host) == spec(cable).to).expect("a host there");
    // Two hosts of the router send at once, at twice the rate of the cable.
    let burst: Vec<Send> = (0..20u32)
        .map(|i| Send {
            at: Time::from_ns(800 * u64::from(i / 2)),
            from: host(i as usize % 2),
            packet: packet(host(i as usize % 2), host(to), i, i),
        })
        .collect();
    // Ports of several queues see the same packets, as all have one priority.
    for priority in [false, true] {
        let minimal = |rule| {
            let scene = scene(&fabric, rule, burst.clone(), QueueLimit::Packets(100));
            let paths = paths(&Scene { rules: Rules { priority, ..scene.rules }, ..scene });
            paths.values().filter(|path| path.contains(&cable)).count()
        };
        // Never: the queue is at most 20,000 bytes.
        assert_eq!(minimal(ugal(1, 20_000)), 20);
        // Above 3,000 bytes, with the one that is sent. Two come in each 800 ns and one leaves, from the first two on: the queue is 0, 1, 1,
        // 2, 2, 3, 3, 4 packets, and the eighth goes elsewhere, as do half of those that follow.
        let some = minimal(ugal(64, 3_000));
        assert_eq!(some, 13);
        // Of each two at once the first finds no queue.
        let least = minimal(ugal(64, 0));
        assert!((10..=11).contains(&least), "{least}");
    }
}

/// Cables between groups are slow, so routers of group 0 return headers that are on their way to another group. These go straight
/// back: no header leaves the router of its sender again.
#[test]
fn what_is_returned_takes_no_detour() {
    let slow = Cable { rate: Rate::gbps(1), ..CABLE };
    let fabric = dragonfly((4, 2, 2, 9), [CABLE, CABLE, slow]).fabric();
    let send = |number: u32| {
        let (from, to) = (host(number as usize % 8), host(24 + number as usize / 8 % 8));
        let (envelope, flags) = (Envelope::new(to, SIZE, SIZE - HEADER), Flags::TRIMMABLE | Flags::RETURNABLE);
        let (ack, endpoint, kind) = (from.into(), from.into(), Kind::DATA);
        let packet = Packet { envelope, seq: number, entropy: number, ack, endpoint, flags, kind, ..Packet::default() };
        Send { at: Time::from_ns(800) * u64::from(number / 8), from, packet }
    };
    let trimming = Trimming {
        headers: Some(QueueLimit::Packets(2)),
        share: 10,
        trim_arriving: 1.0,
        return_to_sender: true,
        mark_min: None,
        mark_max: None,
    };
    let base = scene(&fabric, valiant(Per::Packet, 0), (0..800).map(send).collect(), QueueLimit::Packets(4));
    let scene = Scene { rules: Rules { trimming: Some(trimming), ..base.rules }, ..base };
    let (paths, results) = (paths(&scene), scene.run(1000));
    let mut of_others = 0;
    for (from, arrivals) in results.arrivals[..8].iter().enumerate() {
        for number in arrivals.iter().filter(|arrival| arrival.returned).map(|arrival| arrival.number) {
            let path: Vec<(NodeId, NodeId)> = paths[&number]
                .iter()
                .map(|link| (fabric.links()[link.index()].from, fabric.links()[link.index()].to))
                .collect();
            assert_eq!(path[path.len() - 1].1, NodeId::new(from));
            let leaves =
                path.iter().filter(|(at, to)| *at == router_of(&fabric, from) && to.index() >= fabric.hosts()).count();
            assert!(leaves <= 1, "{number} leaves its first router {leaves} times");
            of_others += leaves;
        }
    }
    assert!(of_others > 50, "{of_others} were returned by another router than their first");
}

/// With a gap a flowlet keeps its way, so no packet of it overtakes another; without, packets part.
#[test]
fn a_flowlet_keeps_its_way() {
    let fabric = figure_5();
    let burst: Vec<Send> = (0..4000u32)
        .map(|i| Send {
            at: Time::from_ns(400 * u64::from(i)),
            from: host(i as usize % 8),
            packet: packet(host(i as usize % 8), host(8 + i as usize % 8), 1, i),
        })
        .collect();
    let ways = |gap| {
        let mut scene = scene(&fabric, ugal(4, 0), burst.clone(), QueueLimit::Packets(1000));
        scene.routing.gap = gap;
        let paths = paths(&scene);
        (0..8)
            .map(|from| {
                paths.iter().filter(|(i, _)| *i % 8 == from).map(|(_, path)| path).collect::<HashSet<_>>().len()
            })
            .collect::<Vec<_>>()
    };
    assert!(ways(Some(Time::from_us(10))).iter().all(|ways| *ways == 1));
    assert!(ways(None).iter().sum::<usize>() > 20);
    // Packets of a host are 3.2 us apart.
    assert!(ways(Some(Time::from_us(3))).iter().sum::<usize>() > 20);
}

proptest! {
    #![proptest_config(cases(40))]

    /// Each switch draws for itself, in the order in which packets come to it. All packets but lost ones arrive.
    #[test]
    fn paths_do_not_depend_on_threads(kind in 0usize..8, random in sends(18), limit in 3u32..200, seed in any::<u64>()) {
        let fabric = if kind % 2 == 0 {
            dragonfly((2, 1, 1, 3), [CABLE; 3]).fabric()
        } else {
            slim_fly(3, 1, [CABLE; 2]).fabric()
        };
        let mut sends: Vec<Send> = random.into_iter().filter(|send| send.from.index().max(send.packet.dst().index()) < fabric.hosts()).collect();
        (0..).zip(&mut sends).for_each(|(number, send)| {
            send.packet.seq = number;
            send.packet.flags = send.packet.flags.without(Flags::PINNED);
        });
        let (spreading, gap) = rules()[kind];
        let limit = QueueLimit::Packets(limit);
        let mut scene = Scene { seed, ..scene(&fabric, spreading, sends, limit) };
        scene.routing.gap = gap;
        let alone = scene.run(1000);
        prop_assert_eq!(alone.trailers, 0);
        for n in 2..=4 {
            prop_assert_eq!(&scene.run_in_parts(partition(&scene.fabric, n), n), &alone);
        }
    }
}

/// All ways, with the gap between flowlets; each on one of two fabrics.
fn rules() -> [(Spreading, Option<Time>); 8] {
    let gap = Some(Time::from_us(3));
    [
        (valiant(Per::Packet, 0), None),
        (valiant(Per::Packet, 30), None),
        (valiant(Per::Flow, 30), None),
        (valiant(Per::Flow, 0), None),
        (ugal(1, 0), None),
        (ugal(4, 2000), None),
        (ugal(2, 500), gap),
        (ugal(1, 0), gap),
    ]
}

/// A packet whose path is pinned keeps to it, also where switches take packets one by one, as with a shared buffer.
#[test]
fn pinned_packets_keep_their_paths() {
    let fabric = figure_5();
    let routes = Routes::new(&fabric, 1);
    let mut sends = one_by_one(&[(0, 24), (5, 71), (17, 40)], 30, |i| i);
    for send in &mut sends {
        let pinned = pinned(&fabric, &routes, send.from, send.packet.dst(), send.packet.seq);
        send.packet = Packet { flags: pinned.flags, entropy: pinned.entropy, ..send.packet };
    }
    for (rule, bytes) in [(valiant(Per::Packet, 0), None), (ugal(1, 0), None), (ugal(1, 0), Some(1_000_000))] {
        let mut scene = scene(&fabric, rule, sends.clone(), QueueLimit::Packets(100));
        scene.rules.shared = bytes.map(|bytes| SharedBuffer { bytes, alpha: 1.0 });
        for (number, path) in paths(&scene) {
            let send = &sends[number as usize];
            assert_eq!(path, routes.path(&fabric, send.from, send.packet), "{number}");
        }
    }
}

/// Of fabrics that are none for it, each has its reason.
#[test]
fn other_fabrics_are_refused() {
    let rule = valiant(Per::Packet, 0);
    let refused = |fabric: Fabric| rule.misfit(&fabric).expect("it is refused");
    let of_tree = refused(fat_tree(4, 2, CABLE.rate, CABLE.delay));
    assert!(of_tree.starts_with("\"valiant\" sends packets over switches that have hosts"), "{of_tree}");
    assert!(refused(leaf_spine(2, 2, 1, [CABLE; 2]).fabric()).contains("here not all have"));
    assert!(refused(dragonfly((4, 2, 2, 2), [CABLE; 3]).fabric()).contains("over a third group, and here are two"));
    for fabric in [figure_5(), hoffman_singleton(), xpander((3, 6, 1), 1, [CABLE; 2]).fabric()] {
        assert_eq!((rule.misfit(&fabric), ugal(1, 0).misfit(&fabric)), (None, None));
    }
    let of_tree = ugal(1, 0).misfit(&fat_tree(4, 2, CABLE.rate, CABLE.delay)).expect("it is refused");
    assert!(of_tree.starts_with("\"ugal\" sends"), "{of_tree}");
}
