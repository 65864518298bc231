//! Counts that hold of every topology, whatever its parameters.

use crate::common::topologies::{
    bcube, dragonfly, fat_tree_of, leaf_spine, multi_plane, ring, slim_fly, triangle, vl2, xpander,
};
use linkpool_network::topology::{Generator, fat_tree};
use linkpool_network::{Cable, Fabric, HostId, Layer, NodeId, Routes, ShortestPaths, reversed};
use linkpool_units::{Rate, Time};
use proptest::prelude::*;
use std::collections::BTreeSet;

const SLOW: Cable = Cable { rate: Rate::gbps(1), delay: Time::from_us(1) };
const FAST: Cable = Cable { rate: Rate::gbps(10), delay: Time::from_us(2) };
const FASTEST: Cable = Cable { rate: Rate::gbps(40), delay: Time::from_us(3) };

fn layers<const N: usize>(fabric: &Fabric, layers: [Layer; N]) -> [usize; N] {
    layers.map(|layer| NodeId::first(fabric.nodes()).filter(|n| fabric.layer(*n) == layer).count())
}

/// How many cables are of each kind.
fn cables<const N: usize>(fabric: &Fabric, wires: [Cable; N]) -> [usize; N] {
    let is = |l: &linkpool_network::LinkSpec, wire: Cable| (l.rate, l.delay) == (wire.rate, wire.delay);
    wires.map(|wire| fabric.links().iter().filter(|l| is(l, wire)).count() / 2)
}

fn paths(fabric: &Fabric, from: usize, to: usize) -> u64 {
    Routes::new(fabric, 1).path_count(fabric, HostId::new(from), HostId::new(to))
}

/// What all links from one layer to another carry, bit/s.
fn capacity(fabric: &Fabric, from: Layer, to: Layer) -> u64 {
    let links = fabric.links().iter();
    links.filter(|l| fabric.layer(l.from) == from && fabric.layer(l.to) == to).map(|l| l.rate.0).sum()
}

proptest! {
    #[test]
    fn fat_trees_of_three_tiers(half in 1u32..5, hosts_per_edge in 1u32..5) {
        let k = 2 * half;
        let tree = fat_tree_of(k, 3, hosts_per_edge, 1, [SLOW, FAST, FASTEST]);
        let f = tree.fabric();
        let (half, racks) = (half as usize, (k * half) as usize);
        prop_assert_eq!((f.hosts() as u64, f.links().len() as u64), (tree.hosts(), 2 * tree.cables()));
        prop_assert_eq!(layers(&f, [Layer::Edge, Layer::Aggregation, Layer::Core]), [racks, racks, half * half]);
        prop_assert_eq!(cables(&f, [SLOW, FAST, FASTEST]), [f.hosts(), racks * half, racks * half]);
        prop_assert_eq!(paths(&f, 0, f.hosts() - 1), (half * half) as u64);
        if half > 1 {
            prop_assert_eq!(paths(&f, 0, hosts_per_edge as usize), half as u64);
        }
    }

    #[test]
    fn fat_trees_of_two_tiers(half in 1u32..6, hosts_per_edge in 1u32..5) {
        let k = 2 * half;
        let tree = fat_tree_of(k, 2, hosts_per_edge, 1, [SLOW, FAST, FASTEST]);
        let f = tree.fabric();
        prop_assert_eq!((f.hosts() as u64, f.links().len() as u64), (tree.hosts(), 2 * tree.cables()));
        prop_assert_eq!(layers(&f, [Layer::Edge, Layer::Core]), [k as usize, half as usize]);
        prop_assert_eq!(cables(&f, [SLOW, FAST, FASTEST]), [(k * hosts_per_edge) as usize, 0, (k * half) as usize]);
        prop_assert_eq!(paths(&f, 0, f.hosts() - 1), u64::from(half));
    }

    #[test]
    fn dual_homed_fat_trees(half in 2u32..5, hosts_per_edge in 1u32..4) {
        let (k, n) = (2 * half, u64::from(half));
        let tree = fat_tree_of(k, 3, hosts_per_edge, 2, [SLOW, FAST, FASTEST]);
        let f = tree.fabric();
        prop_assert_eq!(f.links().len() as u64, 2 * tree.cables());
        prop_assert!(NodeId::first(f.hosts()).all(|h| f.links_from(h).len() == 2));
        // By either NIC, any aggregation switch, any of its cores, to either NIC.
        prop_assert_eq!(paths(&f, 0, f.hosts() - 1), 2 * n * n * 2);
        // Neighbouring racks share an edge switch; the two racks of a pod of two share both.
        prop_assert_eq!(paths(&f, 0, hosts_per_edge as usize), if half == 2 { 2 } else { 1 });
    }

    #[test]
    fn leaves_and_spines(leaves in 1u32..6, spines in 1u32..6, hosts_per_leaf in 1u32..5) {
        let tree = leaf_spine(leaves, spines, hosts_per_leaf, [SLOW, FAST]);
        let f = tree.fabric();
        prop_assert_eq!((f.hosts() as u64, f.links().len() as u64), (tree.hosts(), 2 * tree.cables()));
        prop_assert_eq!(layers(&f, [Layer::Edge, Layer::Core]), [leaves, spines].map(|n| n as usize));
        prop_assert_eq!(cables(&f, [SLOW, FAST]), [leaves * hosts_per_leaf, leaves * spines].map(|n| n as usize));
        if leaves > 1 {
            prop_assert_eq!(paths(&f, 0, f.hosts() - 1), u64::from(spines));
        }
    }

    #[test]
    fn vl2s(half_a in 1u32..5, half_i in 1u32..5, hosts_per_rack in 1u32..4) {
        let (aggregation_ports, intermediate_ports) = (2 * half_a, 2 * half_i);
        let tree = vl2(aggregation_ports, intermediate_ports, hosts_per_rack, [SLOW, FAST]);
        let f = tree.fabric();
        let racks = (half_a * half_i) as usize;
        prop_assert_eq!((f.hosts() as u64, f.links().len() as u64), (tree.hosts(), 2 * tree.cables()));
        let switches = [racks, intermediate_ports as usize, half_a as usize];
        prop_assert_eq!(layers(&f, [Layer::Edge, Layer::Aggregation, Layer::Core]), switches);
        for node in NodeId::first(f.nodes()) {
            match f.layer(node) {
                Layer::Aggregation => prop_assert_eq!(f.links_from(node).len(), aggregation_ports as usize),
                Layer::Core => prop_assert_eq!(f.links_from(node).len(), intermediate_ports as usize),
                _ => {}
            }
        }
        prop_assert_eq!(
            capacity(&f, Layer::Edge, Layer::Aggregation),
            capacity(&f, Layer::Aggregation, Layer::Core)
        );
        // Racks of other aggregation switches: either uplink, any intermediate switch, either
        // downlink.
        if half_i > 1 {
            prop_assert_eq!(paths(&f, 0, hosts_per_rack as usize), 2 * u64::from(half_a) * 2);
        }
    }

    #[test]
    fn bcubes(n in 2u32..5, k in 0u32..3) {
        let cube = bcube(n, k, SLOW);
        let f = cube.fabric();
        let (n, levels) = (n as usize, k as usize + 1);
        prop_assert_eq!((f.hosts() as u64, f.links().len() as u64), (cube.hosts(), 2 * cube.cables()));
        prop_assert_eq!((f.hosts(), f.nodes() - f.hosts()), (n.pow(levels as u32), levels * n.pow(k)));
        prop_assert!(NodeId::first(f.hosts()).all(|h| f.links_from(h).len() == levels));
        prop_assert!(NodeId::first(f.nodes()).skip(f.hosts()).all(|s| f.links_from(s).len() == n));
        // Digits may be set right in any order.
        for to in 1..f.hosts() {
            let differing = (0..levels as u32).filter(|level| to / n.pow(*level) % n != 0).count() as u64;
            prop_assert_eq!(paths(&f, 0, to), (1..=differing).product::<u64>());
        }
    }

    #[test]
    fn several_planes(planes in 1u32..9, leaves in 1u32..5, spines in 1u32..4, hosts_per_leaf in 1u32..4, shared: bool) {
        let tree = multi_plane(planes, (leaves, spines, shared), hosts_per_leaf, [SLOW, FAST]);
        let f = tree.fabric();
        prop_assert_eq!((f.hosts() as u64, f.links().len() as u64), (tree.hosts(), 2 * tree.cables()));
        let all_spines = if shared { spines } else { planes * spines };
        prop_assert_eq!(layers(&f, [Layer::Edge, Layer::Core]), [planes * leaves, all_spines].map(|n| n as usize));
        let (ports, uplinks) = (planes * leaves * hosts_per_leaf, planes * leaves * spines);
        prop_assert_eq!(cables(&f, [SLOW, FAST]), [ports, uplinks].map(|n| n as usize));
        for host in NodeId::first(f.hosts()) {
            let at = f.links_from(host).map(|l| f.name(f.links()[l.index()].to).to_string());
            let group = host.index() / hosts_per_leaf as usize;
            prop_assert!(at.eq((0..planes).map(|plane| format!("l{plane}.{group}"))), "a port in each plane");
        }
        let (planes, spines) = (u64::from(planes), u64::from(spines));
        if hosts_per_leaf > 1 {
            prop_assert_eq!(paths(&f, 0, 1), planes);
        }
        if leaves > 1 {
            // Where planes share spines, a packet may arrive in another plane than it left in.
            let ends = if shared { planes } else { 1 };
            prop_assert_eq!(paths(&f, 0, f.hosts() - 1), planes * spines * ends);
        }
    }

    #[test]
    fn dragonflies(a in 1u32..6, p in 1u32..3, h in 1u32..4, fewer in 0u32..20) {
        let groups = (a * h + 1).saturating_sub(fewer).max(2);
        let fly = dragonfly((a, p, h, groups), [SLOW, FAST, FASTEST]);
        let f = fly.fabric();
        let (routers, copies) = (groups * a, a * h / (groups - 1));
        prop_assert_eq!((f.hosts() as u64, f.links().len() as u64), (fly.hosts(), 2 * fly.cables()));
        prop_assert_eq!(layers(&f, [Layer::Host, Layer::Switch]), [routers * p, routers].map(|n| n as usize));
        let counts = [routers * p, groups * (a * (a - 1) / 2), groups * (groups - 1) / 2 * copies];
        prop_assert_eq!(cables(&f, [SLOW, FAST, FASTEST]), counts.map(|n| n as usize));
        // As many cables between any two groups, and no router has more global ports than it may.
        let group = |node: NodeId| (node.index() - f.hosts()) / a as usize;
        let global = || f.links().iter().filter(|l| l.rate == FASTEST.rate);
        for one in 0..groups as usize {
            for other in (0..groups as usize).filter(|other| *other != one) {
                let between = global().filter(|l| (group(l.from), group(l.to)) == (one, other)).count();
                prop_assert_eq!(between, copies as usize);
            }
        }
        for router in NodeId::first(f.nodes()).skip(f.hosts()) {
            let ports = global().filter(|l| l.from == router).count();
            prop_assert!(ports <= h as usize && (groups != a * h + 1 || ports == h as usize));
        }
        // Kim et al., section 3.1: a local, a global and a local link at the most, and two links of
        // hosts.
        let routes = Routes::new(&f, 1);
        for to in HostId::first(f.hosts()).skip(1) {
            prop_assert!(routes.levels(&f, HostId::new(0), to).len() <= 5);
        }
    }

    /// Valadarsky et al., section 3: (d + 1) k switches with d cables to others, one to a switch of
    /// each other group; a matching between any two groups. The same seed draws the same fabric.
    #[test]
    fn xpanders(d in 3u32..9, k in 1u32..9, h in 1u32..4, seed: u64) {
        let x = xpander((d, k, h), seed, [SLOW, FAST]);
        let f = x.fabric();
        prop_assert_eq!((f.hosts() as u64, f.links().len() as u64), (x.hosts(), 2 * x.cables()));
        prop_assert_eq!((f.hosts(), f.nodes() - f.hosts()), (((d + 1) * k * h) as usize, ((d + 1) * k) as usize));
        prop_assert_eq!(cables(&f, [SLOW, FAST]), [f.hosts(), (d * (d + 1) / 2 * k) as usize]);
        let group = |node: NodeId| (node.index() - f.hosts()) / k as usize;
        for switch in NodeId::first(f.nodes()).skip(f.hosts()) {
            let to = f.links_from(switch).map(|l| f.links()[l.index()].to).filter(|to| to.index() >= f.hosts());
            let mut groups: Vec<usize> = to.map(group).collect();
            groups.push(group(switch));
            groups.sort_unstable();
            prop_assert_eq!(groups, (0..=d as usize).collect::<Vec<_>>());
        }
        // One host of every fifth switch: the paths to its others are the same.
        for to in HostId::first(f.hosts()).step_by(5 * h as usize).skip(1) {
            prop_assert!(paths(&f, 0, to.index()) > 0);
        }
        let again = xpander((d, k, h), seed, [SLOW, FAST]).fabric();
        prop_assert!(f.links().iter().zip(again.links()).all(|(one, other)| (one.from, one.to) == (other.from, other.to)));
    }

    #[test]
    fn rings(n in 2usize..7) {
        let f = ring(n, SLOW, FAST).fabric();
        prop_assert_eq!((f.hosts() as u64, f.links().len() as u64), (ring(n, SLOW, FAST).hosts(), 2 * ring(n, SLOW, FAST).cables()));
        prop_assert_eq!(layers(&f, [Layer::Host, Layer::Switch]), [4 * n, 2 * n]);
        prop_assert_eq!(cables(&f, [SLOW, FAST]), [n, 6 * n]);
        for i in 0..n {
            prop_assert_eq!(paths(&f, i, n + i), 2);
            prop_assert_eq!(paths(&f, 2 * n + i, 3 * n + i), 1);
        }
    }
}

/// Besta and Hoefler, section II-B: 2 q^2 routers of the degree (3 q - d) / 2, of which any two are
/// joined or have a neighbour in common. Of q = 5 it is the graph of Hoffman and Singleton: 50
/// routers of degree 7, a Moore graph, in which there is one shortest path between any two.
#[test]
fn slim_flies_have_the_diameter_two() {
    let primes = [(3, 5), (5, 7), (7, 11), (11, 17), (13, 19)];
    let powers = [(4, 6), (8, 12), (9, 13), (16, 24), (25, 37), (27, 41)];
    for (q, degree) in primes.into_iter().chain(powers) {
        let fly = slim_fly(q, 1, [SLOW, FAST]);
        let f = fly.fabric();
        assert_eq!((f.hosts() as u64, f.links().len() as u64), (fly.hosts(), 2 * fly.cables()));
        assert_eq!((f.hosts(), f.nodes()), (2 * (q * q) as usize, 4 * (q * q) as usize));
        assert_eq!(cables(&f, [SLOW, FAST]), [f.hosts(), (q * q * degree) as usize]);
        let others = |router: NodeId| -> BTreeSet<NodeId> {
            f.links_from(router).map(|l| f.links()[l.index()].to).filter(|to| to.index() >= f.hosts()).collect()
        };
        let neighbours: Vec<BTreeSet<NodeId>> = NodeId::first(f.nodes()).map(others).collect();
        for router in NodeId::first(f.nodes()).skip(f.hosts()) {
            let near = &neighbours[router.index()];
            assert_eq!(near.len(), degree as usize, "{}", f.name(router));
            let mut reached = near.clone();
            near.iter().for_each(|other| reached.extend(&neighbours[other.index()]));
            assert_eq!(reached.len(), f.nodes() - f.hosts(), "{} of q = {q}", f.name(router));
        }
        if q > 13 {
            continue;
        }
        let routes = Routes::new(&f, 1);
        for from in [0, 1, (q * q) as usize, f.hosts() - 1] {
            for to in HostId::first(f.hosts()).filter(|to| to.index() != from) {
                let hops = routes.levels(&f, HostId::new(from), to).len();
                assert!((3..=4).contains(&hops), "{hops}");
                assert!(q != 5 || paths(&f, from, to.index()) == 1);
            }
        }
    }
}

/// The smallest balanced dragonfly of the paper's rule a = 2 p = 2 h, drawn there as Figure 5: 9
/// groups of 4 routers, 72 hosts. From a router to the group of its own global port there is one
/// hop between groups.
#[test]
fn the_dragonfly_of_figure_5() {
    let fly = dragonfly((4, 2, 2, 9), [SLOW, FAST, FASTEST]);
    let f = fly.fabric();
    assert_eq!((fly.hosts(), fly.cables(), f.nodes()), (72, 72 + 9 * 6 + 36, 108));
    let joined = |one: &str, other: &str| f.link(f.node(one).unwrap(), f.node(other).unwrap()).is_some();
    // Ports 0 and 1 of group 0 lead to groups 1 and 2, from where it stands 8 and 7 further: ports
    // 7 and 6.
    assert!(joined("r0.0", "r1.3") && joined("r0.0", "r2.3"));
    assert!(joined("r0.3", "r8.0") && joined("r0.3", "r7.0") && joined("r0.1", "r0.2"));
}

#[test]
fn oversubscription_is_hosts_over_uplinks() {
    for (hosts_per_edge, hosts, ratio) in [(4, 128, 1), (8, 256, 2), (16, 512, 4)] {
        let f = fat_tree(8, hosts_per_edge, Rate::gbps(1), Time::from_us(1));
        assert_eq!(f.hosts(), hosts);
        let (down, up) = (capacity(&f, Layer::Host, Layer::Edge), capacity(&f, Layer::Edge, Layer::Aggregation));
        assert_eq!(down, ratio * up);
    }
}

#[test]
fn pinned_subflows_of_a_ring_take_neighbouring_bottlenecks() {
    let f = ring(5, SLOW, FAST).fabric();
    let routes = Routes::new(&f, 1);
    for i in 0..5 {
        for subflow in 0..2 {
            let bottleneck = (i as u64 + subflow) % 5 + 1;
            let there = ShortestPaths::new(&routes, &f, HostId::new(5 + i)).nth(HostId::new(i), subflow);
            assert_eq!(f.link_name(there[1]), format!("A{bottleneck}->B{bottleneck}"));
            let back = reversed(&f, &there);
            assert_eq!(f.link_name(back[1]), format!("B{bottleneck}->A{bottleneck}"));
        }
    }
}

/// The short way is the only shortest path, in both directions.
#[test]
fn a_triangle_has_one_shortest_path_each() {
    let f = triangle(SLOW, FAST).fabric();
    assert_eq!((f.hosts(), f.nodes(), f.links().len()), (6, 15, 2 * 21));
    let routes = Routes::new(&f, 1);
    for i in 0..3 {
        let there = ShortestPaths::new(&routes, &f, HostId::new(3 + i)).nth(HostId::new(i), 0);
        assert_eq!((paths(&f, i, 3 + i), there.len()), (1, 3));
        assert_eq!(f.link_name(there[1]), format!("A{0}->B{0}", i + 1));
        assert_eq!(paths(&f, 3 + i, i), 1);
    }
}

/// Wischik et al., NSDI 2011, section 2.2: the cables beside the bottlenecks, by hand. Each host
/// has a NIC on its own bottleneck and one on the two others; a bottleneck ends where the next
/// begins.
#[test]
fn a_triangle_has_long_ways_over_the_two_others() {
    let f = triangle(SLOW, FAST).fabric();
    let cables =
        "S1-A1 S2-A2 S3-A3 S1-A2 S2-A3 S3-A1 D1-B1 D2-B2 D3-B3 D1-B3 D2-B1 D3-B2 B1-C1 B2-C2 B3-C3 C1-A2 C2-A3 C3-A1";
    for cable in cables.split(' ') {
        let (one, other) = cable.split_once('-').unwrap();
        let [one, other] = [one, other].map(|name| f.node(name).unwrap());
        assert!(f.link(one, other).is_some() && f.link(other, one).is_some(), "{cable}");
    }
}

/// Level by level, the links that a shortest path may take in a fat-tree of 4 pods: two ways up,
/// and two again; in a rack, none.
#[test]
fn levels_of_a_fat_tree() {
    let fabric = fat_tree(4, 2, Rate::gbps(1), Time::from_us(1));
    let routes = Routes::new(&fabric, 1);
    let levels = |to: usize| routes.levels(&fabric, HostId::new(0), HostId::new(to));
    for (to, widths) in [(0, vec![]), (1, vec![1, 1]), (2, vec![1, 2, 2, 1]), (15, vec![1, 2, 4, 4, 2, 1])] {
        assert_eq!(levels(to).iter().map(Vec::len).collect::<Vec<_>>(), widths, "to {to}");
    }
    // Each link goes on where one of the level before it ended.
    for pair in levels(15).windows(2) {
        let ends: Vec<NodeId> = pair[0].iter().map(|link| fabric.links()[link.index()].to).collect();
        assert!(pair[1].iter().all(|link| ends.contains(&fabric.links()[link.index()].from)));
    }
}
