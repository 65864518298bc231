//! Servers of several GPUs: their cables, and the paths inside of them and between them, by hand.

use crate::common::topologies::gpu_servers;
use crate::common::{cases, hashed, nodes};
use linkpool_network::topology::{Generator, GpuServers};
use linkpool_network::{Fabric, HostId, Layer, NodeId, Routes, ShortestPaths, uniform_traffic};
use linkpool_units::{Rate, Time};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Servers of several sizes, with rails or racks between them.
fn servers() -> impl Strategy<Value = GpuServers> {
    let sizes = (1u32..3, 1u32..4, prop::sample::select(vec![(2, 2), (4, 4), (4, 2), (4, 1), (3, 3), (6, 2)]));
    (sizes, 1u32..3, 1u32..3, 0u32..4).prop_map(
        |((groups, servers_per_group, (gpus, nics)), nvlink_switches, spines, kind)| GpuServers {
            groups,
            servers_per_group,
            gpus,
            nics,
            rails: kind > 0,
            pxn: kind > 1,
            shared_spines: kind < 3,
            spines,
            nvlink_switches,
            ..gpu_servers()
        },
    )
}

/// The nodes on all shortest paths between two hosts, by name, without the two.
fn ways(fabric: &Fabric, routes: &Routes, from: HostId, to: HostId) -> Vec<Vec<String>> {
    let mut paths = ShortestPaths::new(routes, fabric, to);
    let names = |path: Vec<_>| {
        let nodes = nodes(fabric, from, &path);
        nodes[1..nodes.len() - 1].iter().map(|node| fabric.name(*node).to_string()).collect()
    };
    (0..paths.count(from.into())).map(|i| names(paths.nth(from, i))).collect()
}

/// The same, from what the topology says.
fn expected(t: &GpuServers, from: (u32, u32), to: (u32, u32)) -> BTreeSet<Vec<String>> {
    let inner = |server: u32| (0..t.nvlink_switches).map(move |i| format!("n{server}.{i}"));
    if from.0 == to.0 {
        return inner(from.0).map(|switch| vec![switch]).collect();
    }
    let share = t.gpus / t.nics;
    let rail = |gpu: u32| gpu / share;
    let group = |server: u32| server / t.servers_per_group;
    // From the GPUs that send to a leaf: their names, or none if it is the sender itself.
    let relays: Vec<Vec<String>> = if t.pxn && rail(from.1) != rail(to.1) {
        let gpus = (0..t.gpus).filter(|gpu| rail(*gpu) == rail(to.1));
        gpus.flat_map(|gpu| inner(from.0).map(move |switch| vec![switch, format!("g{}.{gpu}", from.0)])).collect()
    } else {
        vec![vec![]]
    };
    let out = if t.pxn { rail(to.1) } else { rail(from.1) };
    let pcie = |server: u32, rail: u32| if share > 1 { vec![format!("p{server}.{rail}")] } else { vec![] };
    let leaf = |rail: u32, server: u32| {
        if t.rails { format!("l{rail}.{}", group(server)) } else { format!("l{}", group(server)) }
    };
    let leaves = (leaf(out, from.0), leaf(rail(to.1), to.0));
    let spines: Vec<Vec<String>> = if leaves.0 == leaves.1 {
        vec![vec![leaves.0]]
    } else {
        let spine = |i: u32| if t.rails && !t.shared_spines { format!("s{out}.{i}") } else { format!("s{i}") };
        (0..t.spines).map(|i| vec![leaves.0.clone(), spine(i), leaves.1.clone()]).collect()
    };
    let paths = relays.iter().flat_map(|relay| spines.iter().map(move |spines| (relay, spines)));
    let whole = |(relay, spines): (&Vec<String>, &Vec<String>)| {
        [relay.clone(), pcie(from.0, out), spines.clone(), pcie(to.0, rail(to.1))].concat()
    };
    paths.map(whole).collect()
}

proptest! {
    #![proptest_config(cases(60))]

    /// Inside a server over NVLink alone; to others by the own NIC, or with PXN by that of the destination's rail; nothing else.
    #[test]
    fn paths_are_those_of_the_rule(t in servers(), seed in any::<u64>()) {
        let f = t.fabric();
        prop_assert_eq!((f.hosts() as u64, f.links().len() as u64), (t.hosts(), 2 * t.cables()));
        let routes = Routes::new(&f, seed);
        let place = |host: HostId| (u32::from(host) / t.gpus, u32::from(host) % t.gpus);
        let hosts = || HostId::first(f.hosts());
        for (from, to) in hosts().flat_map(|a| hosts().map(move |b| (a, b))).filter(|(a, b)| a != b) {
            let (server, gpu) = place(from);
            prop_assert_eq!(f.name(from.into()), format!("g{server}.{gpu}"));
            let found = ways(&f, &routes, from, to);
            let expected = expected(&t, place(from), place(to));
            prop_assert_eq!(found.len(), expected.len(), "each path once");
            prop_assert_eq!(&found.into_iter().collect::<BTreeSet<_>>(), &expected);
            for entropy in 0..8 {
                let path = routes.path(&f, from, hashed(to, entropy));
                let nodes = nodes(&f, from, &path);
                let between: Vec<String> = nodes[1..nodes.len() - 1].iter().map(|n| f.name(*n).to_string()).collect();
                prop_assert!(expected.contains(&between), "{:?}", between);
            }
        }
    }
}

/// Two groups of 4 servers, of 8 GPUs and 4 NICs each, on rails with 2 spines.
#[test]
fn cables_are_in_their_layers() {
    let t = GpuServers { nics: 4, nvlink_switches: 2, spines: 2, ..gpu_servers() };
    let f = t.fabric();
    let count = |layer: Layer| f.node_ids().filter(|node| f.layer(*node) == layer).count();
    assert_eq!(Layer::ALL.map(count), [64, 16, 32, 0, 8, 0, 2]);
    // 128 + 64 + 32 + 16.
    assert_eq!((t.cables(), f.links().len()), (240, 480));
    // 32 NICs of 400 Gbit/s.
    assert_eq!(f.access_rate(), 32.0 * 400e9);
    // A rack is a server, by its first NVLink switch (64 hosts before), a pod those
    // that are joined below the spines, by its first switch: a PCIe switch, of which the second group has the 17th.
    let places = f.racks_and_pods();
    assert_eq!((places[0], places[8], places[63]), ((64, 80), (66, 80), (78, 96)));
}

/// The longest way of PXN is by NVLink, NIC, two uplinks and a NIC; it is longer than that by spines between rails.
#[test]
fn the_longest_round_trip_is_that_of_the_rule() {
    let t = GpuServers { pxn: true, ..gpu_servers() };
    // 3.2 Tbit/s, 150 ns; 400 Gbit/s, 500 ns: a byte takes 2.5 ps, or 20 ps. 900 B and 90 B.
    let inner = Time(2_250 + 225) + Time::from_ns(300);
    let outer = Time(18_000 + 1_800) + Time::from_ns(1_000);
    let sum = |inners: u64, outers: u64| Time(inners * inner.0 + outers * outer.0);
    assert_eq!(t.fabric().longest_round_trip(900, 90), sum(2, 4));
    assert_eq!(t.fabric().most_switches(), 5);
    let own = GpuServers { pxn: false, ..t };
    assert_eq!(own.fabric().longest_round_trip(900, 90), sum(0, 4));
    assert_eq!(own.fabric().most_switches(), 3);
}

/// Of 63 others 7 are in the server. Of 56, a GPU's own rail has 7: 3 of its group, and 4 of the other. The others are on
/// seven rails, by spines without PXN, and by NVLink with it. A leaf has 4 of the 64 GPUs.
#[test]
fn uniform_traffic_passes_what_the_rule_says() {
    let tiers = |t: GpuServers| -> Vec<(String, f64)> {
        let name = |layers: (Layer, Layer)| format!("{}->{}", layers.0.name(), layers.1.name());
        let of = uniform_traffic(&t.fabric(), true);
        of.iter().map(|tier| (name((tier.from, tier.to)), (tier.passed * 63.0 * 1e9).round() / 1e9)).collect()
    };
    let expected = |inner: f64, up: f64| -> Vec<(String, f64)> {
        let tiers = [
            ("host->nvlink", inner),
            ("host->edge", 56.0),
            ("edge->core", up),
            ("core->edge", up),
            ("edge->host", 56.0),
            ("nvlink->host", inner),
        ];
        tiers.map(|(name, passed)| (name.to_string(), passed)).to_vec()
    };
    // Without PXN all but the 3 of the own leaf pass a spine.
    assert_eq!(tiers(gpu_servers()), expected(7.0, 53.0));
    // With it, those of the other group, and all 49 of other rails pass NVLink before.
    assert_eq!(tiers(GpuServers { pxn: true, ..gpu_servers() }), expected(56.0, 32.0));
}

/// Of a server of two GPUs with a cable that is down, nothing goes round by the NICs.
#[test]
fn no_detour_leaves_the_server() {
    let f = GpuServers { gpus: 2, nics: 2, rails: false, ..gpu_servers() }.fabric();
    let inner = f.node("n0.0").unwrap();
    let down = [f.link(NodeId::new(0), inner).unwrap()].into();
    let routes = Routes::with(&f, 1, &linkpool_network::Routing::default(), &down);
    // As if the cable worked: there it is lost.
    let path = routes.path(&f, HostId::new(0), hashed(HostId::new(1), 7));
    assert_eq!(nodes(&f, HostId::new(0), &path)[1], inner);
}

#[test]
fn rates_are_those_of_the_keys() {
    let t = GpuServers {
        nics: 4,
        pcie_rate: Rate::gbps(512),
        pcie_delay: Time::from_ns(120),
        uplink_rate: Rate::gbps(800),
        uplink_delay: Time::from_ns(700),
        ..gpu_servers()
    };
    let f = t.fabric();
    for link in f.links() {
        let kinds = [f.layer(link.from), f.layer(link.to)];
        let of = |layer: Layer| kinds.contains(&layer);
        let (rate, delay) = match () {
            () if of(Layer::Nvlink) => (3200, 150),
            () if of(Layer::Core) => (800, 700),
            () if of(Layer::Edge) => (400, 500),
            () => (512, 120),
        };
        assert_eq!((link.rate, link.delay), (Rate::gbps(rate), Time::from_ns(delay)), "{kinds:?}");
    }
}
