//! Two-level routing of the fat-tree (Al-Fares et al., SIGCOMM 2008).

use crate::common::topologies::fat_tree_of;
use linkpool_network::topology::{FatTree, Generator};
use linkpool_network::{Cable, Fabric, HostId, Layer, NodeId};
use linkpool_units::{Rate, Time};
use std::collections::{BTreeMap, BTreeSet};

fn tree(k: u32, tiers: u32, hosts_per_edge: u32) -> FatTree {
    let wire = Cable { rate: Rate::gbps(1), delay: Time::from_us(1) };
    fat_tree_of(k, tiers, hosts_per_edge, 1, [wire; 3])
}

fn names(f: &Fabric, path: &[NodeId]) -> String {
    path.iter().map(|n| f.name(*n)).collect::<Vec<_>>().join(" ")
}

/// Three hosts at an edge switch of k = 4: h6 is host 0 of its rack, so port 0, and core 0.
#[test]
fn more_hosts_than_ports_upwards() {
    let tree = tree(4, 3, 3);
    let f = tree.fabric();
    assert_eq!(names(&f, &tree.two_level_path(0.into(), 6.into(), 0)), "h0 e0.0 a0.0 c0 a1.0 e1.0 h6");
}

/// k = 4, from h0 (switch 0 of pod 0) to h15, host 1 of its rack, so ID - 2 = 1: the edge switch
/// takes port (1 + 0) mod 2 = 1, aggregation switch z = 3 takes (1 + 3) mod 2 = 0, that is core 2.
/// At address 1 the ID is one higher: port 0 of the edge switch, and aggregation switch z = 2 takes
/// (2 + 2) mod 2 = 0, core 0. From h2, at edge switch 1: port (1 + 1) mod 2 = 0, and (1 + 2) mod 2
/// = 1, core 1.
#[test]
fn worked_out_by_hand() {
    let tree = tree(4, 3, 2);
    let f = tree.fabric();
    let path = |from: u32, to: u32, address| names(&f, &tree.two_level_path(from.into(), to.into(), address));
    assert_eq!(path(0, 15, 0), "h0 e0.0 a0.1 c2 a3.1 e3.1 h15");
    assert_eq!(path(0, 15, 1), "h0 e0.0 a0.0 c0 a3.0 e3.1 h15");
    // Host 2 is host 0 of its rack, which is in the same pod: port 0.
    assert_eq!(path(0, 2, 0), "h0 e0.0 a0.0 e0.1 h2");
    assert_eq!(path(2, 15, 0), "h2 e0.1 a0.0 c1 a3.0 e3.1 h15");
    assert_eq!(path(0, 1, 1), "h0 e0.0 h1");
    assert_eq!(path(0, 3, 0), "h0 e0.0 a0.1 e0.1 h3");
}

/// Paths are paths of the fabric; switches look at the destination's address only; addresses of a
/// host have paths of their own; all cores carry the same.
#[test]
fn what_holds_of_all_pairs() {
    for tree in [tree(4, 3, 2), tree(8, 3, 4), tree(8, 2, 4), tree(4, 3, 8)] {
        let f = tree.fabric();
        let mut next = BTreeMap::new();
        let mut cores = BTreeMap::new();
        for (from, to) in HostId::first(f.hosts()).flat_map(|a| HostId::first(f.hosts()).map(move |b| (a, b))) {
            if from == to {
                continue;
            }
            let paths: BTreeSet<_> = (0..tree.k / 2)
                .map(|address| {
                    let path = tree.two_level_path(from, to, address);
                    for hop in path.windows(2) {
                        assert!(f.link(hop[0], hop[1]).is_some(), "{}", names(&f, &path));
                        let chosen = *next.entry((hop[0], to, address)).or_insert(hop[1]);
                        assert_eq!(chosen, hop[1], "{} chooses by more than the address", f.name(hop[0]));
                        if f.layer(hop[1]) == Layer::Core {
                            *cores.entry(hop[1]).or_insert(0) += 1;
                        }
                    }
                    path
                })
                .collect();
            let racks = [from, to].map(|host| u32::from(host) / tree.hosts_per_edge);
            assert_eq!(paths.len() as u32, if racks[0] == racks[1] { 1 } else { tree.k / 2 });
        }
        let all = NodeId::first(f.nodes()).filter(|n| f.layer(*n) == Layer::Core).count();
        assert_eq!(cores.len(), all);
        assert_eq!(cores.values().collect::<BTreeSet<_>>().len(), 1, "{cores:?}");
    }
}
