//! Hosts that forward for others, some of them, and links between hosts.

use crate::common::{cases, distance, hashed, nodes};
use linkpool_network::{
    Fabric, FabricBuilder, HostId, Layer, NodeId, Place, Routes, Servers, ShortestPaths, cut_off, disjoint_paths,
    uniform_traffic,
};
use linkpool_units::{Rate, Time};
use proptest::prelude::*;

/// Hosts and switches, of which these numbers are joined; bits say which hosts forward.
fn fabric(hosts: usize, switches: usize, forwarding: u32, cables: &[(usize, usize)]) -> Fabric {
    let mut b = FabricBuilder::default();
    let host = |i| (format!("h{i}"), Layer::Host);
    let all = (0..hosts).map(host).chain((0..switches).map(|i| (format!("w{i}"), Layer::Switch)));
    let ids: Vec<NodeId> = all.map(|(name, layer)| b.node(name, layer)).collect();
    (0..hosts).filter(|i| forwarding >> i & 1 == 1).for_each(|i| b.forwards(ids[i]));
    let ends = cables.iter().map(|(x, y)| (x % ids.len(), y % ids.len()));
    ends.filter(|(x, y)| x != y).for_each(|(x, y)| b.cable(ids[x], ids[y], Rate::gbps(1), Time::from_us(1)));
    b.build()
}

fn fabrics() -> impl Strategy<Value = Fabric> {
    (2usize..8, 0usize..5, any::<u32>(), prop::collection::vec((0usize..64, 0usize..64), 1..24))
        .prop_map(|(hosts, switches, forwarding, cables)| fabric(hosts, switches, forwarding, &cables))
}

proptest! {
    #![proptest_config(cases(500))]

    /// Routes, paths by number and disjoint paths pass switches and hosts that forward alone; routes are the shortest of these. A host
    /// is cut off from another if there is none.
    #[test]
    fn no_path_passes_a_host_that_does_not_forward(f in fabrics(), seed in any::<u64>()) {
        let routes = Routes::new(&f, seed);
        let hosts = || HostId::first(f.hosts());
        for to in hosts() {
            let cut = hosts().find(|from| distance(&f, *from, to).is_none());
            prop_assert_eq!(cut_off(&f, [to]), cut.map(|from| (from, to)));
        }
        for (from, to) in hosts().flat_map(|a| hosts().map(move |b| (a, b))).filter(|(a, b)| a != b) {
            let Some(shortest) = distance(&f, from, to) else { continue };
            let mut paths = ShortestPaths::new(&routes, &f, to);
            let numbered = (0..paths.count(from.into()).min(8)).map(|i| paths.nth(from, i));
            let hashed = (0..8).map(|entropy| routes.path(&f, from, hashed(to, entropy)));
            let all: Vec<_> = numbered.chain(hashed).collect();
            prop_assert!(!all.is_empty() && all.iter().all(|path| path.len() == shortest));
            for path in all.into_iter().chain(disjoint_paths(&f, from, to, 3)) {
                let nodes = nodes(&f, from, &path);
                prop_assert_eq!(nodes.last(), Some(&to.into()));
                let between = &nodes[1..nodes.len() - 1];
                prop_assert!(between.iter().all(|node| node.index() >= f.hosts() || f.forwards(*node)), "{:?}", nodes);
            }
        }
    }
}

/// Four hosts in a row, of which the inner two forward. Of all pairs: 6 have one link, 4 two, 2 three. The link in the middle
/// has the 4 pairs of 12 each way that cross it.
#[test]
fn load_counts_what_hosts_pass_on() {
    let f = fabric(4, 0, 0b0110, &[(0, 1), (1, 2), (2, 3)]);
    let [tier] = uniform_traffic(&f, true)[..] else { panic!("one tier") };
    assert_eq!((tier.from, tier.to), (Layer::Host, Layer::Host));
    let is = |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 1e-12, "{found}, not {expected}");
    is(tier.passed, (6.0 + 2.0 * 4.0 + 3.0 * 2.0) / 12.0);
    is(tier.busiest, 4.0 / 12.0 / 1e9);
    assert_eq!(tier.capacity, 6e9);
}

/// Two servers of two hosts each, joined inside by a cable, with a NIC of each host at a switch of its rail; a host outside has a
/// link to both switches. By rail, a packet to the other rail of the other server goes over the other host first, if that forwards.
#[test]
fn packets_stay_in_servers_and_leave_by_rail() {
    let with = |by_rail: bool, forwarding: u32| {
        let mut b = FabricBuilder::default();
        let hosts: Vec<NodeId> = (0..5).map(|i| b.node(format!("h{i}"), Layer::Host)).collect();
        let rails: Vec<NodeId> = (0..3).map(|i| b.node(format!("w{i}"), Layer::Edge)).collect();
        let mut cable = |x: NodeId, y: NodeId| b.cable(x, y, Rate::gbps(1), Time::from_us(1));
        cable(hosts[0], hosts[1]);
        cable(hosts[2], hosts[3]);
        [(0, 0), (1, 1), (2, 0), (3, 1), (4, 0), (4, 1)].iter().for_each(|(h, w)| cable(hosts[*h], rails[*w]));
        // A switch that joins the rails.
        (0..2).for_each(|w| cable(rails[w], rails[2]));
        (0..4).filter(|i| forwarding >> i & 1 == 1).for_each(|i| b.forwards(hosts[i]));
        let host = |i: u32| Place::Host { server: i / 2, rail: (i < 4).then_some(i % 2) };
        let places = (0..5).map(host).chain([Place::Outside; 3]).collect();
        b.servers(Servers::new(places, by_rail));
        b.build()
    };
    let ways = |f: &Fabric, from: u32, to: u32| -> Vec<String> {
        let (routes, from, to) = (Routes::new(f, 1), HostId::from(from), HostId::from(to));
        let mut paths = ShortestPaths::new(&routes, f, to);
        let name = |path: Vec<_>| nodes(f, from, &path).iter().map(|n| f.name(*n)).collect::<Vec<_>>().join(" ");
        let mut all: Vec<String> = (0..paths.count(from.into())).map(|i| name(paths.nth(from, i))).collect();
        all.sort();
        all
    };
    let own = with(false, 0);
    assert_eq!(ways(&own, 0, 1), ["h0 h1"]);
    assert_eq!(ways(&own, 0, 2), ["h0 w0 h2"]);
    assert_eq!(ways(&own, 0, 3), ["h0 w0 w2 w1 h3"]);
    assert_eq!(ways(&own, 4, 3), ["h4 w1 h3"]);
    let by_rail = with(true, 0b1111);
    assert_eq!(ways(&by_rail, 0, 1), ["h0 h1"]);
    assert_eq!(ways(&by_rail, 0, 3), ["h0 h1 w1 h3"]);
    assert_eq!(ways(&by_rail, 3, 4), ["h3 w1 h4"]);
    assert_eq!(cut_off(&by_rail, HostId::first(5)), None);
    // Host 1 does not forward, and by another rail nothing leaves.
    assert_eq!(cut_off(&with(true, 0b1101), HostId::first(5)), Some((0.into(), 3.into())));
    // Five hosts with six links that leave servers; two racks of servers, and one of a host by itself.
    assert_eq!(own.access_rate(), 6e9);
    let racks: Vec<u32> = own.racks_and_pods().into_iter().map(|(rack, _)| rack).collect();
    assert_eq!(racks, [0, 0, 2, 2, 4]);
}
