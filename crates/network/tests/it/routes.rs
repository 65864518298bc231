//! Routes on random graphs against a breadth-first search.

use crate::common::topologies::leaf_spine;
use crate::common::{cases, distance, fabrics, hashed, nodes, pinned};
use linkpool_network::topology::Generator;
use linkpool_network::{Cable, Fabric, FabricBuilder, HostId, Layer, NodeId, Routes, ShortestPaths};
use linkpool_units::{Rate, Time};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn check(f: &Fabric, seed: u64) {
    let routes = Routes::new(f, seed);
    let hosts = || HostId::first(f.hosts());
    for (from, to) in hosts().flat_map(|a| hosts().map(move |b| (a, b))).filter(|(a, b)| a != b) {
        let shortest = distance(f, from, to);
        assert_eq!(routes.reachable(f, from, to), shortest.is_some(), "from {from:?} to {to:?}");
        let Some(shortest) = shortest else {
            assert_eq!(routes.path_count(f, from, to), 0);
            continue;
        };
        let paths = routes.path_count(f, from, to);
        assert!(paths >= 1);
        let numbered: BTreeSet<_> = (0..paths).map(|i| ShortestPaths::new(&routes, f, to).nth(from, i)).collect();
        assert_eq!(numbered.len() as u64, paths, "each number has a path of its own");
        for entropy in 0..20 {
            for packet in [hashed(to, entropy), pinned(f, &routes, from, to, entropy)] {
                let path = routes.path(f, from, packet);
                let nodes = nodes(f, from, &path);
                assert_eq!(path.len(), shortest, "not a shortest path: {nodes:?}");
                assert_eq!(*nodes.last().unwrap(), NodeId::from(to));
                let between = &nodes[1..nodes.len() - 1];
                assert!(between.iter().all(|n| f.forwards(*n)), "a host forwards: {nodes:?}");
            }
        }
    }
}

proptest! {
    #![proptest_config(cases(500))]

    /// Shortest, over switches and hosts that forward only; unreachable where there is no such path.
    #[test]
    fn routes_are_shortest_paths_over_switches(fabric in fabrics(), seed in any::<u64>()) {
        check(&fabric, seed);
    }
}

/// A host with two NICs is nearer than the switches between: the way is over these all the same.
#[test]
fn a_shortcut_through_a_host_is_no_path() {
    let mut b = FabricBuilder::default();
    let [a, c, shortcut] = ["a", "c", "shortcut"].map(|n| b.node(n, Layer::Host));
    let switches: Vec<_> = (0..4).map(|i| b.node(format!("w{i}"), Layer::Switch)).collect();
    let mut cable = |x, y| b.cable(x, y, Rate::gbps(1), Time::from_us(1));
    cable(a, switches[0]);
    cable(c, switches[3]);
    (0..3).for_each(|i| cable(switches[i], switches[i + 1]));
    cable(shortcut, switches[0]);
    cable(shortcut, switches[3]);
    check(&b.build(), 1);
}

/// A switch with more links than a word has bits.
#[test]
fn seventy_ways_are_seventy_paths() {
    let wire = Cable { rate: Rate::gbps(1), delay: Time::from_us(1) };
    let f = leaf_spine(2, 70, 1, [wire; 2]).fabric();
    let routes = Routes::new(&f, 1);
    assert_eq!(routes.path_count(&f, HostId::new(0), HostId::new(1)), 70);
    let mut paths = ShortestPaths::new(&routes, &f, HostId::new(1));
    let spines: BTreeSet<_> = (0..70).map(|i| f.links()[paths.nth(HostId::new(0), i)[1].index()].to).collect();
    assert_eq!(spines.len(), 70);
}
