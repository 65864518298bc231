//! The fat-tree (Al-Fares et al., SIGCOMM 2008): its parts, its paths, and how ECMP spreads over
//! them.

use crate::common::{hashed, host, nodes, pinned};
use linkpool_network::{
    Fabric, Flags, HostId, Layer, NodeId, Packet, Routes, reversed, source_route, topology::fat_tree,
};
use linkpool_units::{Rate, Time};
use std::collections::{BTreeMap, BTreeSet};

fn tree(k: u32, hosts_per_edge: u32) -> Fabric {
    fat_tree(k, hosts_per_edge, Rate::gbps(10), Time::from_us(1))
}

fn count(fabric: &Fabric, layer: Layer) -> u32 {
    NodeId::first(fabric.nodes()).filter(|n| fabric.layer(*n) == layer).count() as u32
}

const SIZES: [(u32, u32); 5] = [(4, 2), (6, 3), (8, 4), (8, 16), (4, 6)];

/// k^3/4 hosts (at k/2 a rack), k^2/2 edge and as many aggregation switches, (k/2)^2 cores, and k
/// ports on each switch.
#[test]
fn counts() {
    for (k, hosts_per_edge) in SIZES {
        let f = tree(k, hosts_per_edge);
        let half = k / 2;
        assert_eq!(f.hosts() as u32, k * half * hosts_per_edge);
        assert_eq!(count(&f, Layer::Edge), k * half);
        assert_eq!(count(&f, Layer::Aggregation), k * half);
        assert_eq!(count(&f, Layer::Core), half * half);
        // Cables: one per host, and k/2 up from each edge and each aggregation switch; two links
        // each.
        assert_eq!(f.links().len() as u32, 2 * (f.hosts() as u32 + 2 * k * half * half));
        for node in NodeId::first(f.nodes()) {
            let ports = match f.layer(node) {
                Layer::Host => 1,
                Layer::Edge => half + hosts_per_edge,
                _ => k,
            };
            assert_eq!(f.links_from(node).len() as u32, ports, "{}", f.name(node));
        }
    }
}

/// Links of a path by where its ends are: 2 in a rack, 4 in a pod, 6 across; and how many there
/// are: 1, k/2, (k/2)^2. Each is there for some entropy, and has no more links than it must.
#[test]
fn lengths_and_numbers_of_paths() {
    for (k, hosts_per_edge) in SIZES {
        let f = tree(k, hosts_per_edge);
        let routes = Routes::new(&f, 1);
        let (rack, pod) = (hosts_per_edge, hosts_per_edge * k / 2);
        let (half, last) = ((k / 2) as usize, f.hosts() as u32 - 1);
        for (to, links, paths) in
            [(1, 2, 1), (rack, 4, half), (pod - 1, 4, half), (pod, 6, half * half), (last, 6, half * half)]
        {
            let found: BTreeSet<Vec<_>> =
                (0..4000).map(|entropy| routes.path(&f, host(0), hashed(to.into(), entropy))).collect();
            assert!(found.iter().all(|p| p.len() == links && nodes(&f, host(0), p).last() == Some(&to.into())));
            assert_eq!(found.len(), paths, "k = {k}: from h0 to h{to}");
            assert_eq!(routes.path_count(&f, host(0), to.into()) as usize, paths);
        }
    }
}

/// Pinned path i is another for each i, the same every time, and comes round after the last; and
/// these are all that there are.
#[test]
fn pinned_paths_are_all_paths() {
    for (k, hosts_per_edge) in SIZES {
        let f = tree(k, hosts_per_edge);
        let routes = Routes::new(&f, 1);
        let other_seed = Routes::new(&f, 2);
        let to = host(f.hosts() - 1);
        let n = k * k / 4;
        let path = |i| routes.path(&f, host(0), pinned(&f, &routes, host(0), to, i));
        let paths: BTreeSet<_> = (0..n).map(path).collect();
        assert_eq!(paths.len() as u32, n);
        assert_eq!(paths, (0..4000).map(|e| routes.path(&f, host(0), hashed(to, e))).collect());
        for i in 0..n {
            assert_eq!(path(i), path(i + n));
            let other = pinned(&f, &other_seed, host(0), to, i);
            assert_eq!(path(i), other_seed.path(&f, host(0), other), "no randomness in it");
        }
    }
}

/// The first k/2 pinned paths share no link between edge switches.
#[test]
fn the_first_pinned_paths_are_disjoint() {
    let f = tree(8, 4);
    let routes = Routes::new(&f, 1);
    let mut used = BTreeSet::new();
    for i in 0..4 {
        let path = routes.path(&f, host(0), pinned(&f, &routes, host(0), host(127), i));
        assert!(path[1..5].iter().all(|link| used.insert(*link)), "path {i}");
    }
}

/// A path back runs over the same nodes as the path forth, with the cables of the path in reverse.
#[test]
fn paths_can_be_reversed() {
    let f = tree(8, 4);
    let routes = Routes::new(&f, 1);
    for i in 0..16 {
        let there = routes.path(&f, host(0), pinned(&f, &routes, host(0), host(127), i));
        let entropy = source_route(&f, &reversed(&f, &there)).unwrap();
        let mut back = nodes(
            &f,
            host(127),
            &routes.path(&f, host(127), Packet { entropy, flags: Flags::PINNED, ..Packet::default() }),
        );
        back.reverse();
        assert_eq!(nodes(&f, host(0), &there), back);
    }
}

/// Chi-square of counts against equal shares, over its degrees of freedom: near 1 if they are
/// random.
fn chi_square(counts: impl Iterator<Item = u32> + Clone) -> f64 {
    let n = counts.clone().count() as f64;
    let mean = counts.clone().sum::<u32>() as f64 / n;
    counts.map(|c| (c as f64 - mean).powi(2) / mean).sum::<f64>() / (n - 1.0)
}

/// No polarisation: flows of all hosts to one in another pod, with random and with consecutive
/// entropies, load cores alike; so do those that one edge switch sends. (If every switch hashed
/// alike, an edge switch would reach only k/2 of the cores.)
#[test]
fn cores_carry_equal_shares() {
    let f = tree(8, 4);
    for seed in [1, 2, 3] {
        let routes = Routes::new(&f, seed);
        for consecutive in [false, true] {
            let mut all = BTreeMap::new();
            let mut of_one_edge = BTreeMap::new();
            for from in HostId::first(64) {
                for i in 0..400u32 {
                    let mixed = (i + 1000 * u32::from(from)).wrapping_mul(0x9e37_79b1);
                    let entropy = if consecutive { i } else { mixed };
                    let path = routes.path(&f, from, hashed((64 + i % 64).into(), entropy));
                    let core = nodes(&f, from, &path)[3];
                    assert_eq!(f.layer(core), Layer::Core);
                    *all.entry(core).or_insert(0u32) += 1;
                    if from < host(4) {
                        *of_one_edge.entry(core).or_insert(0u32) += 1;
                    }
                }
            }
            assert_eq!((all.len(), of_one_edge.len()), (16, 16), "every core carries some");
            if !consecutive {
                // 15 degrees of freedom: above 2.5 once in 1,000.
                assert!(chi_square(all.values().copied()) < 2.5, "{all:?}");
                assert!(chi_square(of_one_edge.values().copied()) < 2.5, "{of_one_edge:?}");
            }
            let (least, most) = (*of_one_edge.values().min().unwrap(), *of_one_edge.values().max().unwrap());
            assert!(least * 3 > most, "{of_one_edge:?}");
        }
    }
}

/// Another seed, another choice of paths.
#[test]
fn the_seed_salts_the_hashes() {
    let f = tree(4, 2);
    let (a, b) = (Routes::new(&f, 1), Routes::new(&f, 2));
    let differ = (0..100)
        .filter(|e| a.path(&f, host(0), hashed(host(15), *e)) != b.path(&f, host(0), hashed(host(15), *e)))
        .count();
    assert!((50..=95).contains(&differ), "three of four, at random: {differ}");
}
