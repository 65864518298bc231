//! Any path can be written into a packet, and the packet takes it.

use crate::common::{cases, fabrics, hashed, host, nodes};
use linkpool_network::{
    Fabric, FabricBuilder, Flags, Layer, LinkId, NodeId, Packet, Routes, ShortestPaths, reversed, source_route,
    topology,
};
use linkpool_units::{Rate, Time};
use proptest::prelude::*;

/// A walk from host 0 over `steps`, ended by the first host that it comes to.
fn walk(f: &Fabric, steps: &[u32]) -> Vec<LinkId> {
    let mut path = Vec::new();
    let mut node = NodeId::default();
    for step in steps {
        let mut links = f.links_from(node);
        if links.len() == 0 {
            return path;
        }
        let link = links.nth(*step as usize % links.len()).unwrap();
        path.push(link);
        node = f.links()[link.index()].to;
        if node.index() < f.hosts() {
            break;
        }
    }
    path
}

proptest! {
    #![proptest_config(cases(2000))]

    /// Shortest or not, even in circles.
    #[test]
    fn packets_take_the_paths_written_into_them(f in fabrics(), steps in prop::collection::vec(any::<u32>(), 1..9)) {
        let routes = Routes::new(&f, 1);
        let path = walk(&f, &steps);
        let Some(end) = nodes(&f, host(0), &path).last().copied().filter(|n| *n != NodeId::default() && n.index() < f.hosts()) else {
            return Ok(());
        };
        let product: u64 = path.iter().map(|l| f.links_from(f.links()[l.index()].from).len() as u64).product();
        let Some(entropy) = source_route(&f, &path) else {
            prop_assert!(product > 1 << 32);
            return Ok(());
        };
        let packet = |entropy, dst| Packet { flags: Flags::PINNED, ..hashed(dst, entropy) };
        prop_assert_eq!(&routes.path(&f, host(0), packet(entropy, end.into())), &path);
        let back = reversed(&f, &path);
        if let Some(entropy) = source_route(&f, &back) {
            let mut nodes_back = nodes(&f, end.into(), &routes.path(&f, end.into(), packet(entropy, host(0))));
            nodes_back.reverse();
            prop_assert_eq!(nodes_back, nodes(&f, host(0), &path));
        }
    }
}

/// 2^30 for the largest fat-tree that can be simulated; by hand: e has ports h0.. (32) then a's,
/// and so on.
#[test]
fn six_hops_of_64_port_switches_fit() {
    let f = topology::fat_tree(8, 4, Rate::gbps(10), Time::from_us(1));
    let way = ["h0", "e0.0", "a0.1", "c6", "a1.1", "e1.0", "h16"].map(|name| f.node(name).unwrap());
    let path: Vec<LinkId> = way.windows(2).map(|w| f.link(w[0], w[1]).unwrap()).collect();
    // Ports: 0 of 1, then of 8 each: 4 + 1, 4 + 2, 1, 0, 0.
    assert_eq!(source_route(&f, &path), Some(5 + 8 * (6 + 8)));
    assert!(64u64.pow(5) <= 1 << 32);
}

/// Eight switches with 16 links each, one behind the other: 16^8 = 2^32 paths' worth of ports is
/// what 32 bits can say. One link more at the last of them is too many.
#[test]
fn paths_can_be_pinned_if_the_numbers_of_their_ports_fit_into_32_bits() {
    for (more, fits) in [(0, true), (1, false)] {
        let mut b = FabricBuilder::default();
        let ends = [b.node("from", Layer::Host), b.node("to", Layer::Host)];
        let others: Vec<NodeId> = (0..8 * 14 + more).map(|i| b.node(format!("h{i}"), Layer::Host)).collect();
        let switches: Vec<NodeId> = (0..8).map(|i| b.node(format!("w{i}"), Layer::Switch)).collect();
        let mut cable = |x, y| b.cable(x, y, Rate::gbps(1), Time::from_us(1));
        cable(ends[0], switches[0]);
        cable(ends[1], switches[7]);
        switches.windows(2).for_each(|pair| cable(pair[0], pair[1]));
        others.iter().zip(0..).for_each(|(host, i)| cable(*host, switches[(i / 14).min(7)]));
        let fabric = b.build();
        let routes = Routes::new(&fabric, 1);
        assert_eq!(ShortestPaths::new(&routes, &fabric, host(1)).can_be_pinned(ends[0]), fits, "{more} more");
    }
}
