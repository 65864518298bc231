//! The network against a plain event-driven simulator, packet for packet: when each arrives, marked
//! or not, what each port drops, marks and holds.

use crate::common::topologies::{gpu_servers, leaf_spine, pods_and_racks};
use crate::common::traffic::{ANSWER, Scene, changing_scenes, long_queues, scenes, tapped, trimming_scenes};
use crate::common::{cases, fabrics, reference, serialisation};
use linkpool_network::topology::{self, Generator};
use linkpool_network::{
    Cable, Fabric, FabricBuilder, Flags, Layer, LinkChange, LinkStats, NodeId, Partitions, QueueLimit, partition,
};
use linkpool_units::{Rate, Time};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Fabrics of the papers, small.
fn topologies() -> impl Strategy<Value = Fabric> {
    (0u32..8, 0usize..4, 1u64..10_000).prop_map(|(kind, rate, delay)| {
        let (rate, delay) = (crate::common::RATES[rate], Time::from_ns(delay));
        match kind {
            0 => topology::ManyToOne { senders: 6, rate, delay }.fabric(),
            1 => topology::TrafficShift { rate, delay }.fabric(),
            2 => dumbbell(rate, delay),
            3 => topology::BCube { n: 3, k: 1, rate, delay }.fabric(),
            4 => {
                let (host, uplink) = (Cable { rate, delay }, Cable { rate: Rate::gbps(1), delay });
                leaf_spine(3, 2, 3, [host, uplink]).fabric()
            }
            5 => bundles(rate, delay),
            6 => servers(rate, delay),
            _ => topology::fat_tree(4, 2, rate, delay),
        }
    })
}

/// Four servers of four GPUs, of which two share a NIC on one of two rails, and GPUs pass packets on to their rail.
fn servers(rate: Rate, delay: Time) -> Fabric {
    let base = gpu_servers();
    let small = topology::GpuServers { servers_per_group: 2, gpus: 4, nics: 2, pxn: true, spines: 2, ..base };
    topology::GpuServers { rate, delay, pcie_rate: rate, nvlink_rate: base.rate, nvlink_delay: delay, ..small }.fabric()
}

/// Six hosts at two leaves, one with two NICs at its leaf; three cables from each leaf to a spine, of which one is slower
/// and one longer, and two to another.
fn bundles(rate: Rate, delay: Time) -> Fabric {
    let mut b = FabricBuilder::default();
    let hosts: Vec<NodeId> = (0..6).map(|i| b.node(format!("h{i}"), Layer::Host)).collect();
    let [l0, l1, s0, s1] = ["l0", "l1", "s0", "s1"].map(|name| b.node(name, Layer::Switch));
    for (host, leaf) in hosts.iter().zip([l0, l0, l0, l1, l1, l1]) {
        b.cable(*host, leaf, rate, delay);
    }
    b.cable(hosts[0], l0, rate, delay);
    for leaf in [l0, l1] {
        b.cable(leaf, s0, rate, delay);
        b.cable(s0, leaf, Rate::gbps(1), delay);
        b.cable(leaf, s0, rate, delay + Time::from_us(3));
        b.cable(leaf, s1, rate, delay);
        b.cable(leaf, s1, rate, delay);
    }
    b.build()
}

fn dumbbell(rate: Rate, delay: Time) -> Fabric {
    let (bottleneck_rate, bottleneck_delay) = (Rate::gbps(1), delay);
    topology::Dumbbell { pairs: 3, rate, delay, bottleneck_rate, bottleneck_delay }.fabric()
}

/// What holds in any network.
fn check_conservation(scene: &Scene) {
    let results = scene.run(1000);
    let arrivals: usize = results.arrivals.iter().map(Vec::len).sum();
    let answers: u64 = results
        .arrivals
        .iter()
        .flatten()
        .filter(|a| a.number & ANSWER == 0 && !a.returned)
        .filter(|a| answered(scene, a.number))
        .count() as u64;
    let sent = scene.sends.iter().filter(|s| s.at < scene.end).count() as u64 + answers;
    let gone = |stats: &LinkStats| stats.rare.drops + stats.rare.drops_down + stats.rare.drops_loss;
    let drops: u64 = results.links.iter().map(|(stats, ..)| gone(stats)).sum();
    let in_flight: u64 = results.links.iter().map(|(.., n)| *n as u64).sum();
    assert_eq!(sent, arrivals as u64 + drops + in_flight, "sent = arrived + dropped + on the way");
    for node in NodeId::first(scene.fabric.nodes()).skip(scene.fabric.hosts()) {
        let links = scene.fabric.links().iter().zip(&results.links);
        let arrived = |s: &LinkStats, in_flight: u32| s.packets - s.rare.drops_loss - in_flight as u64;
        let came: u64 = links.clone().filter(|(l, _)| l.to == node).map(|(_, (s, _, n))| arrived(s, *n)).sum();
        let taken = |s: &LinkStats| s.packets + s.rare.drops + s.rare.drops_down;
        let went: u64 = links.filter(|(l, _)| l.from == node).map(|(_, (s, ..))| taken(s)).sum();
        assert_eq!(came, went, "what comes to a switch leaves it or is dropped");
    }
    if let (QueueLimit::Packets(limit), (false, false, false), None) =
        (scene.rules.limit, scene.rules.exempt, scene.rules.shared)
    {
        for (id, (stats, ..)) in results.links.iter().enumerate() {
            let limits =
                scene.changes.iter().filter(|(_, link, _)| link.index() == id).map(|(.., change)| match change {
                    LinkChange::Limit(QueueLimit::Packets(n)) => *n,
                    LinkChange::Limit(QueueLimit::Bytes(_)) => u32::MAX,
                    _ => 0,
                });
            assert!(stats.max_queue <= limits.fold(limit, u32::max));
        }
    }
}

fn answered(scene: &Scene, number: u32) -> bool {
    crate::common::traffic::answer(&scene.sends[number as usize].packet).is_some()
}

/// On one path and in one class nothing overtakes, and nothing is faster than light and wire allow.
fn check_order_and_time(scene: &Scene) {
    let routes = scene.routes();
    let results = scene.run(1000);
    let mut last = BTreeMap::new();
    for (host, arrival) in results.arrivals.iter().enumerate().flat_map(|(h, all)| all.iter().map(move |a| (h, a))) {
        if arrival.number & ANSWER != 0 {
            continue;
        }
        let send = &scene.sends[arrival.number as usize];
        let path = routes.path(&scene.fabric, send.from, send.packet);
        let least = path
            .iter()
            .map(|l| &scene.fabric.links()[l.index()])
            .fold(send.at, |at, l| at + serialisation(l.rate, send.packet.size()) + l.delay);
        assert!(arrival.at >= least, "{} is too early by {:?}", arrival.number, least - arrival.at);
        let class = scene.rules.priority && send.packet.flags.has(Flags::PRIORITY);
        let before = last.insert((host, path, class), arrival.number);
        assert!(before.is_none_or(|before| before < arrival.number), "{} overtakes {before:?}", arrival.number);
    }
}

proptest! {
    #![proptest_config(cases(250))]

    #[test]
    fn random_graphs(scene in scenes(fabrics())) {
        prop_assert_eq!(scene.run(1000), reference::simulate(&scene));
    }

    /// Each stage is called once for each packet that comes to a host, to stay or to go on.
    #[test]
    fn prefetching_for_hosts_changes_nothing(scene in scenes(prop_oneof![fabrics(), topologies()])) {
        let (results, prefetched) = scene.run_prefetching();
        let arrived: usize = results.arrivals.iter().map(Vec::len).sum();
        prop_assert!(prefetched[0] >= arrived as u64 && prefetched == [prefetched[0]; 4], "{:?} {}", prefetched, arrived);
        prop_assert_eq!(results, scene.run(1000));
    }

    #[test]
    fn papers_fabrics(scene in scenes(topologies())) {
        prop_assert_eq!(scene.run(1000), reference::simulate(&scene));
    }

    /// Where queues are longer than the part of them that a link looks at once.
    #[test]
    fn queues_of_hundreds_of_packets(scene in long_queues(prop_oneof![fabrics(), topologies()])) {
        prop_assert_eq!(scene.run(1000), reference::simulate(&scene));
    }

    /// Each packet that comes by a link with a tap is shown.
    #[test]
    fn taps_show_what_passes(
        scene in tapped(prop_oneof![scenes(fabrics()), changing_scenes(prop_oneof![fabrics(), topologies()])]),
    ) {
        prop_assert_eq!(scene.run(1000), reference::simulate(&scene));
    }

    /// The packets that hosts send, and at each loss the packets in the queue, the one in service included.
    #[test]
    fn an_observer_sees_what_is_sent_and_what_is_lost(
        scene in prop_oneof![scenes(fabrics()), long_queues(topologies())],
    ) {
        let scene = Scene { watched: true, ..scene };
        prop_assert_eq!(scene.run(1000), reference::simulate(&scene));
    }

    #[test]
    fn nothing_is_lost_unseen(scene in scenes(fabrics())) {
        check_conservation(&scene);
    }

    #[test]
    fn nothing_overtakes_or_is_too_fast(scene in scenes(fabrics())) {
        check_order_and_time(&scene);
    }

    #[test]
    fn other_ports_and_links_that_change(scene in changing_scenes(prop_oneof![fabrics(), topologies()])) {
        prop_assert_eq!(scene.run(1000), reference::simulate(&scene));
    }

    #[test]
    fn ports_that_trim(scene in trimming_scenes(prop_oneof![fabrics(), topologies()])) {
        prop_assert_eq!(scene.run(1000), reference::simulate(&scene));
    }

    #[test]
    fn trimming_loses_nothing_unseen(scene in trimming_scenes(fabrics())) {
        check_conservation(&scene);
    }

    #[test]
    fn changes_lose_nothing_unseen(scene in changing_scenes(fabrics())) {
        check_conservation(&scene);
    }

    #[test]
    fn other_ports_keep_order_and_time(scene in changing_scenes(fabrics())) {
        // Headers overtake.
        let rules = crate::common::Rules { trimming: None, ..scene.rules };
        check_order_and_time(&Scene { changes: Vec::new(), reroutes: Vec::new(), rules, ..scene });
    }

    #[test]
    fn looking_at_the_clock_changes_nothing(scene in scenes(fabrics()), windows in 1u64..50) {
        prop_assert_eq!(scene.run(windows), scene.run(u64::MAX));
    }
}

proptest! {
    #![proptest_config(cases(40))]

    /// Partitions of whole pods or racks that run ahead of each other.
    #[test]
    fn partitions_that_run_ahead_give_the_same(scene in scenes(pods_and_racks()), n in prop_oneof![Just(2u8), Just(4)]) {
        let parts = scene.running_ahead(&partition(&scene.fabric, n));
        prop_assert!(parts.windows_apart() > 1);
        prop_assert_eq!(scene.run_in_parts(parts, n), scene.run(1000));
    }

    /// Any partitions among threads, as the library divides and at random, with switches split by output and
    /// without.
    #[test]
    fn any_number_of_threads_gives_the_same(
        scene in prop_oneof![
            scenes(prop_oneof![fabrics(), topologies()]),
            changing_scenes(prop_oneof![fabrics(), topologies()]),
            tapped(scenes(prop_oneof![fabrics(), topologies()])),
            long_queues(topologies()),
        ],
        n in 1u8..=3,
        random in prop::collection::vec(0u8..3, 64),
    ) {
        let alone = scene.run(1000);
        let at_random = (0..scene.fabric.nodes()).map(|node| random[node % 64]).collect();
        let at_random = Partitions::of_nodes(&scene.fabric, at_random);
        for (parts, n) in [(partition(&scene.fabric, n), n), (at_random, 3)] {
            prop_assert_eq!(&scene.run_in_parts(scene.running_ahead(&parts), n), &alone);
            prop_assert_eq!(&scene.run_in_parts(scene.splitting(&parts), n), &alone);
            prop_assert_eq!(&scene.run_in_parts(parts, n), &alone);
        }
    }
}
