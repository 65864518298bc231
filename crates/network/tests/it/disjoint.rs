//! Paths without a cable in common, against a count by maximum flow and against known fabrics.

use crate::common::topologies::{bcube, fat_tree_of, ring};
use crate::common::{cases, distance, fabrics, host, nodes};
use linkpool_network::topology::{Generator, fat_tree};
use linkpool_network::{Cable, Fabric, FabricBuilder, HostId, Layer, LinkId, NodeId, disjoint_paths};
use linkpool_units::{Rate, Time};
use proptest::prelude::*;
use std::collections::BTreeSet;

const CABLE: Cable = Cable { rate: Rate::gbps(1), delay: Time::from_us(1) };

/// No cable twice, not even in the two directions, but for the only one of a host; no node twice in
/// a path; shortest first.
fn check(f: &Fabric, from: HostId, to: HostId, paths: &[Vec<LinkId>]) {
    let only = |host: NodeId| host.index() < f.hosts() && f.links_from(host).len() == 1;
    let mut used = BTreeSet::new();
    for path in paths {
        let along = nodes(f, from, path);
        assert_eq!(along.last(), Some(&(NodeId::from(to))));
        assert_eq!(along.iter().collect::<BTreeSet<_>>().len(), along.len(), "a loop: {along:?}");
        let between = &along[1..along.len() - 1];
        assert!(between.iter().all(|n| f.forwards(*n)), "a host forwards");
        for link in path {
            let l = &f.links()[link.index()];
            let shared = only(l.from) || only(l.to);
            assert!(used.insert(link.min(&f.reverse(*link)).to_owned()) || shared, "{} twice", f.link_name(*link));
        }
    }
    assert!(paths.is_sorted_by_key(Vec::len));
    assert_eq!(paths.iter().collect::<BTreeSet<_>>().len(), paths.len(), "the same path twice");
}

/// How many there can be: greedy augmentation by depth-first search, the plain way (Ford and
/// Fulkerson).
fn most(f: &Fabric, from: HostId, to: HostId) -> usize {
    let (from, to) = (NodeId::from(from), NodeId::from(to));
    let only = |host: NodeId| f.links_from(host).len() == 1;
    let mut room: Vec<u32> = (0..f.links().len()).map(|_| 1).collect();
    for (id, l) in f.links().iter().enumerate() {
        if l.from == from && only(from) || l.to == to && only(to) {
            room[id] = 1000;
        }
    }
    fn augment(f: &Fabric, room: &mut [u32], node: NodeId, to: NodeId, seen: &mut BTreeSet<NodeId>) -> bool {
        if node == to {
            return true;
        }
        for link in f.links_from(node) {
            let next = f.links()[link.index()].to;
            let passes = next == to || f.forwards(next);
            if room[link.index()] > 0 && passes && seen.insert(next) && augment(f, room, next, to, seen) {
                room[link.index()] -= 1;
                room[f.reverse(link).index()] += 1;
                return true;
            }
        }
        false
    }
    (0..1000).take_while(|_| augment(f, &mut room, from, to, &mut BTreeSet::from([from]))).count()
}

proptest! {
    #![proptest_config(cases(1000))]

    #[test]
    fn as_many_as_can_be(f in fabrics()) {
        for to in HostId::first(f.hosts()).skip(1) {
            let paths = disjoint_paths(&f, host(0), to, 100);
            check(&f, host(0), to, &paths);
            let flow = most(&f, host(0), to);
            // A thousand: two hosts with one NIC each at one switch.
            prop_assert_eq!(paths.len(), if flow == 1000 { 1 } else { flow });
            prop_assert_eq!(paths.first().map(Vec::len), distance(&f, host(0), to).filter(|_| paths.len() == 1).or(paths.first().map(Vec::len)));
            prop_assert_eq!(disjoint_paths(&f, host(0), to, 1).first().map(Vec::len), distance(&f, host(0), to));
        }
    }
}

/// BCube(n, k) has k + 1 parallel paths between any two servers (Guo et al., SIGCOMM 2009, Theorem
/// 3). Of addresses that differ in d digits, d of them change one digit after the other, two links
/// each; the others change another digit first, and back last.
#[test]
fn parallel_paths_of_bcube() {
    for (n, k) in [(2, 2), (4, 1), (5, 2), (3, 3)] {
        let f = bcube(n, k, CABLE).fabric();
        for to in 1..f.hosts() as u32 {
            let differ = (0..=k).filter(|digit| to / n.pow(*digit) % n != 0).count();
            let paths = disjoint_paths(&f, host(0), to.into(), 100);
            check(&f, host(0), to.into(), &paths);
            let lengths: Vec<usize> = paths.iter().map(Vec::len).collect();
            let mut expected = vec![2 * differ; differ];
            expected.resize(k as usize + 1, 2 * (differ + 2));
            assert_eq!(lengths, expected, "BCube({n}, {k}) to {to}");
        }
    }
}

/// k/2 ways up from an edge switch; twice as many with two NICs; both bottlenecks of a ring.
#[test]
fn of_known_fabrics() {
    let tree = fat_tree(8, 4, CABLE.rate, CABLE.delay);
    assert_eq!(disjoint_paths(&tree, host(0), host(1), 8).len(), 1, "in a rack");
    assert_eq!(disjoint_paths(&tree, host(0), host(4), 8).len(), 4, "in a pod");
    assert_eq!(disjoint_paths(&tree, host(0), host(127), 8).len(), 4, "across");
    assert_eq!(disjoint_paths(&tree, host(0), host(127), 3).len(), 3, "no more than asked");
    let dual = fat_tree_of(4, 3, 2, 2, [CABLE; 3]).fabric();
    assert_eq!(disjoint_paths(&dual, host(0), host(15), 8).len(), 2, "one each NIC");
    let ring = ring(5, CABLE, CABLE).fabric();
    assert_eq!(disjoint_paths(&ring, host(0), host(5), 8).iter().map(Vec::len).collect::<Vec<_>>(), [3, 3]);
}

/// The one shortest path, a-1-4-b, stands in the way of the two that have the fewest hops together,
/// 8: a-1-y-3-b and a-2-x-4-b. With it, and a-2-p-q-r-t-b, it would be 9.
#[test]
fn the_first_path_found_gives_way() {
    let mut b = FabricBuilder::default();
    let [a, z] = ["a", "b"].map(|name| b.node(name, Layer::Host));
    let [one, two, three, four, x, y, p, q, r, t] =
        ["1", "2", "3", "4", "x", "y", "p", "q", "r", "t"].map(|name| b.node(name, Layer::Switch));
    let first = [(a, one), (one, four), (four, z)];
    let second = [(a, two), (two, x), (x, four), (one, y), (y, three), (three, z)];
    let third = [(two, p), (p, q), (q, r), (r, t), (t, z)];
    for (from, to) in first.into_iter().chain(second).chain(third) {
        b.cable(from, to, Rate::gbps(1), Time::from_us(1));
    }
    let fabric = b.build();
    let paths = disjoint_paths(&fabric, a.into(), z.into(), 2);
    let mut found: Vec<Vec<NodeId>> = paths.iter().map(|path| nodes(&fabric, a.into(), path)).collect();
    found.sort_unstable();
    assert_eq!(found, [vec![a, one, y, three, z], vec![a, two, x, four, z]]);
}
