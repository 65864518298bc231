//! How switches spread packets over links of equal cost: by flow, by packet, by flowlet, and by
//! weight.

use crate::common::topologies::leaf_spine;
use crate::common::traffic::{Scene, Send, sends};
use crate::common::{cases, hashed, host};
use linkpool_network::topology::{Generator, fat_tree};
use linkpool_network::{
    Cable, Conga, Drill, Envelope, Fabric, FabricBuilder, Flags, Kind, Layer, LinkChange, LinkId, Packet, QueueLimit,
    Routes, Routing, Spreading, Weights, partition,
};
use linkpool_units::{Rate, Time};
use proptest::prelude::*;
use std::collections::{BTreeMap, HashSet};

const CABLE: Cable = Cable { rate: Rate::gbps(10), delay: Time::from_us(1) };

/// A rule with the gap between flowlets.
type Rule = (Spreading, Option<Time>);

fn scene(fabric: Fabric, (spreading, gap): Rule, sends: Vec<Send>) -> Scene {
    let rules = crate::common::Rules { limit: QueueLimit::Packets(100_000), ..crate::common::Rules::default() };
    let routing = Routing { spreading, gap, weights: Weights::Equal };
    Scene { routing, ..Scene::new(fabric, rules, sends, Time::from_ms(500)) }
}

/// So many packets of one flow from host 0 to the last, each so long after the one before.
fn flow(fabric: &Fabric, n: u32, every: Time) -> Vec<Send> {
    let envelope = Envelope::new(host(fabric.hosts() - 1), 1000, 0);
    let packet = |i| Packet { envelope, seq: i, entropy: 7, kind: Kind::FIN, ..Packet::default() };
    (0..n).map(|i| Send { at: every * u64::from(i), from: host(0), packet: packet(i) }).collect()
}

/// Packets over each of the links from a leaf to the four spines.
fn shares(rule: Rule, n: u32, every: Time) -> Vec<u64> {
    let fabric = leaf_spine(2, 4, 2, [CABLE; 2]).fabric();
    let leaf = fabric.node("l0").unwrap();
    let up: Vec<_> = (0..4).map(|i| fabric.link(leaf, fabric.node(&format!("s{i}")).unwrap()).unwrap()).collect();
    let results = scene(fabric.clone(), rule, flow(&fabric, n, every)).run(1000);
    up.iter().map(|l| results.links[l.index()].0.packets).collect()
}

#[test]
fn a_flow_keeps_to_one_link_and_its_packets_need_not() {
    let mut shares_of_flow = shares((Spreading::Ecmp, None), 4000, Time::from_us(1));
    shares_of_flow.sort_unstable();
    assert_eq!(shares_of_flow, [0, 0, 0, 4000]);
    // 1,000 each, with a standard deviation of sqrt(4000 * 1/4 * 3/4) = 27.
    let by_packet = shares((Spreading::Spray, None), 4000, Time::from_us(1));
    assert!(by_packet.iter().all(|n| (890..1110).contains(n)), "{by_packet:?}");
}

/// Packets 1 us apart are one flowlet if the gap is longer than that, and each its own if it is
/// not.
#[test]
fn flowlets_end_at_gaps() {
    let used = |gap: Time, every: Time| {
        shares((Spreading::Flowlets, Some(gap)), 4000, every).into_iter().filter(|n| *n > 0).collect::<Vec<_>>()
    };
    assert_eq!(used(Time::from_us(2), Time::from_us(1)), [4000], "no gap");
    let by_packet = used(Time::from_us(1), Time::from_us(1));
    assert!(by_packet.len() == 4 && by_packet.iter().all(|n| (890..1110).contains(n)), "{by_packet:?}");
    assert_eq!(used(Time(1_000_001), Time::from_us(1)), [4000], "just below the gap");
}

/// Packets that come ten times as fast as a link takes them: each goes where the queue is shortest,
/// so the four links have as many each. As one flowlet they take one link. It is so whether queues are FIFO queues or served
/// packet by packet.
#[test]
fn adaptive_routing_keeps_queues_alike() {
    let fabric = leaf_spine(2, 4, 2, [Cable { rate: Rate::gbps(100), ..CABLE }, CABLE]).fabric();
    let leaf = fabric.node("l0").unwrap();
    let up: Vec<_> = (0..4).map(|i| fabric.link(leaf, fabric.node(&format!("s{i}")).unwrap()).unwrap()).collect();
    for priority in [false, true] {
        let used = |gap| {
            let mut scene = scene(fabric.clone(), (Spreading::Adaptive, gap), flow(&fabric, 4000, Time::from_ns(80)));
            scene.rules.priority = priority;
            let results = scene.run(1000);
            up.iter()
                .map(|l| (results.links[l.index()].0.packets, results.links[l.index()].0.max_queue))
                .collect::<Vec<_>>()
        };
        let by_packet = used(None);
        assert!(by_packet.iter().all(|(packets, _)| (999..=1001).contains(packets)), "{by_packet:?}");
        // In 320 us each of the links sends 400 of its 1,000 packets, and holds the rest.
        assert!(by_packet.iter().all(|(_, queue)| (598..=602).contains(queue)), "{by_packet:?}");
        let by_flowlet = used(Some(Time::from_ns(81))).into_iter().filter(|(packets, _)| *packets > 0).count();
        assert_eq!(by_flowlet, 1);
    }
}

/// A packet with one way counts in the queue that a balancer sees, also after routes have changed. Two ways lead to host a
/// first, over s1 and s2, then two others, over s3 and s4. Host b is behind s3. In each round a packet to b comes to the
/// switch 20 ns before one to a, which then finds the queue of s3 the longer one.
#[test]
fn queues_are_seen_where_routes_lead_now() {
    let mut builder = FabricBuilder::default();
    let [a, b, one, other] = ["a", "b", "one", "other"].map(|name| builder.node(name, Layer::Host));
    let [sw, s1, s2, s3, s4, x, d] =
        ["sw", "s1", "s2", "s3", "s4", "x", "d"].map(|name| builder.node(name, Layer::Switch));
    for (host, switch) in [(a, d), (b, s3), (one, sw), (other, sw)] {
        builder.cable(host, switch, Rate::gbps(100), Time::from_us(1));
    }
    for (from, to) in [(sw, s1), (sw, s2), (s1, d), (s2, d), (sw, s3), (sw, s4), (s3, x), (s4, x), (x, d)] {
        builder.cable(from, to, Rate::gbps(10), Time::from_us(1));
    }
    let fabric = builder.build();
    let packet =
        |to, seq| Packet { envelope: Envelope::new(host(to), 1000, 0), seq, kind: Kind::FIN, ..Packet::default() };
    let rounds = (0..300).map(|round| (round, Time::from_us(5) * u64::from(round)));
    let sends = rounds
        .flat_map(|(round, at)| [(at, 2, packet(1, 2 * round)), (at + Time::from_ns(20), 3, packet(0, 2 * round + 1))]);
    let sends = sends.map(|(at, from, packet)| Send { at, from: host(from), packet }).collect();
    let link = |to| fabric.link(sw, to).expect("neighbours");
    let (far, near) = (link(s4), [link(s1), link(s2)]);
    let mut scene = scene(fabric.clone(), (Spreading::Adaptive, None), sends);
    scene.reroutes = vec![(Time::from_us(500), HashSet::from(near))];
    let results = scene.run(1000);
    let packets = |link: LinkId| results.links[link.index()].0.packets;
    assert_eq!((packets(near[0]) + packets(near[1]), packets(far), packets(link(s3))), (100, 200, 300));
}

/// A link that has failed has the shortest queue, and is not chosen. One that has only changed is.
#[test]
fn adaptive_routing_avoids_a_link_that_has_failed() {
    let fabric = leaf_spine(2, 4, 2, [Cable { rate: Rate::gbps(100), ..CABLE }, CABLE]).fabric();
    let leaf = fabric.node("l0").unwrap();
    let up: Vec<_> = (0..4).map(|i| fabric.link(leaf, fabric.node(&format!("s{i}")).unwrap()).unwrap()).collect();
    let sends = flow(&fabric, 3000, Time::from_ns(80));
    let mut scene = scene(fabric, (Spreading::Adaptive, None), sends);
    scene.changes = vec![(Time::ZERO, up[0], LinkChange::Up(true)), (Time::ZERO, up[2], LinkChange::Up(false))];
    let results = scene.run(1000);
    let packets: Vec<u64> = up.iter().map(|l| results.links[l.index()].0.packets).collect();
    assert_eq!(packets[2], 0);
    assert!([0, 1, 3].iter().all(|i| (999..=1001).contains(&packets[*i])), "{packets:?}");
}

/// CONGA as in the paper, with another gap.
fn conga(gap: Time) -> Conga {
    let (tau, period) = (Time::from_us(160), Time::from_us(20));
    Conga { tau, period, bits: 3, gap, age: Time::from_ms(10) }
}

/// Beyond spine 1 there are 10 of 40 Gbit/s. Host 0 sends 24 Gbit/s in flowlets of ten packets, and host 1 answers with as many
/// small ones. Hashing gives half of the load to spine 1, and so does the shortest queue at leaf 0, where no packet waits:
/// 12 Gbit/s. With CONGA, what takes spine 1 fits through it but for the first bursts: at full load its link has the measure 7,
/// with 10 of 24 Gbit/s spine 0 has 14 of 40, 2 of 8 steps.
#[test]
fn congestion_far_away_is_avoided() {
    let fabric = uneven();
    let link = |from: &str, to: &str| fabric.link(fabric.node(from).unwrap(), fabric.node(to).unwrap()).unwrap();
    let (far, thin) = (link("l0", "s1"), link("s1", "l1"));
    let mut sends = flow(&fabric, 20_000, Time::from_ns(300));
    for (i, send) in (0u32..).zip(&mut sends) {
        // Forty flows in turn, each with ten packets 300 ns apart and then 117 us without.
        send.packet.entropy = i / 10 % 40;
        send.packet.envelope = Envelope::new(host(1), 900, 0);
    }
    let answers: Vec<Send> = sends
        .iter()
        .map(|send| {
            let envelope = Envelope::new(host(0), 64, 0);
            Send { from: host(1), packet: Packet { envelope, seq: send.packet.seq + 20_000, ..send.packet }, ..*send }
        })
        .collect();
    sends.extend(answers);
    sends.sort_by_key(|send| send.at);
    let over_spine_1 = |rule| {
        let results = scene(fabric.clone(), rule, sends.clone()).run(1000);
        let arrived: usize = results.arrivals.iter().map(Vec::len).sum();
        assert_eq!(arrived, 40_000, "each packet comes");
        (results.links[far.index()].0.packets, results.links[thin.index()].0.max_queue)
    };
    let gap = Time::from_us(50);
    let (hashed, _) = over_spine_1((Spreading::Flowlets, Some(gap)));
    assert!((9_000..11_000).contains(&hashed), "{hashed}");
    let (local, local_queue) = over_spine_1((Spreading::Adaptive, Some(gap)));
    let (aware, aware_queue) = over_spine_1((Spreading::Conga(conga(gap)), None));
    println!("{hashed} {local} {local_queue} {aware} {aware_queue}");
    assert!(aware < 8_333, "{aware} of 20,000 packets are more than 10 of 24 Gbit/s");
    assert!(aware_queue * 4 < local_queue, "{aware_queue} and {local_queue}");
}

proptest! {
    #![proptest_config(cases(60))]

    /// Each switch draws for itself, in the order in which packets come to it.
    #[test]
    fn choices_do_not_depend_on_threads(sends in sends(16), kind in 0u32..6, seed in any::<u64>()) {
        let gap = Time::from_us(3);
        let spreading = match kind {
            0 => (Spreading::Spray, None),
            1 => (Spreading::Flowlets, Some(gap)),
            2 => (Spreading::Adaptive, None),
            3 => (Spreading::Drill(Drill { samples: 2, memory: 1, engines: 3 }), None),
            4 => (Spreading::Conga(conga(gap)), None),
            _ => (Spreading::Adaptive, Some(gap)),
        };
        let fabric = fat_tree(4, 2, CABLE.rate, CABLE.delay);
        let mut sends = sends;
        sends.iter_mut().enumerate().for_each(|(i, s)| {
            s.packet.seq = i as u32;
            s.packet.flags = s.packet.flags.without(Flags::PINNED);
        });
        let scene = Scene { seed, ..scene(fabric, spreading, sends) };
        let alone = scene.run(1000);
        for n in 2..=4 {
            prop_assert_eq!(&scene.run_in_parts(partition(&scene.fabric, n), n), &alone);
        }
    }
}

/// Two leaves; spine 0 has 40 Gbps to each, spine 1 has 10 Gbps to the one and 40 to the other.
fn uneven() -> Fabric {
    let mut b = FabricBuilder::default();
    let hosts = [0, 1].map(|i| b.node(format!("h{i}"), Layer::Host));
    let leaves = [0, 1].map(|i| b.node(format!("l{i}"), Layer::Edge));
    let spines = [0, 1].map(|i| b.node(format!("s{i}"), Layer::Core));
    for (host, leaf) in hosts.into_iter().zip(leaves) {
        b.cable(host, leaf, Rate::gbps(100), Time::from_us(1));
        b.cable(leaf, spines[0], Rate::gbps(40), Time::from_us(1));
    }
    b.cable(leaves[0], spines[1], Rate::gbps(40), Time::from_us(1));
    b.cable(leaves[1], spines[1], Rate::gbps(10), Time::from_us(1));
    b.build()
}

fn share_of_spine_0(weights: Weights) -> f64 {
    let f = uneven();
    let routes = Routes::with(&f, 1, &Routing { weights, ..Routing::default() }, &HashSet::new());
    let over = |e| routes.path(&f, host(0), hashed(host(1), e))[1];
    let spine_0 = f.link(f.node("l0").unwrap(), f.node("s0").unwrap()).unwrap();
    let n = 100_000;
    (0..n).filter(|e| over(*e) == spine_0).count() as f64 / f64::from(n)
}

/// 40 Gbps over the one spine and, though the link to it is as fast, 10 over the other: four to
/// one.
#[test]
fn weights_by_capacity_look_beyond_the_next_link() {
    assert!((share_of_spine_0(Weights::Equal) - 0.5).abs() < 0.01);
    assert!((share_of_spine_0(Weights::Capacity) - 0.8).abs() < 0.01);
    let f = uneven();
    let link = f.link(f.node("l0").unwrap(), f.node("s1").unwrap()).unwrap();
    assert!((share_of_spine_0(Weights::Given(BTreeMap::from([(link, 3)]))) - 0.25).abs() < 0.01);
    let routes = Routes::with(&f, 1, &Routing { weights: Weights::Capacity, ..Routing::default() }, &HashSet::new());
    assert_eq!(routes.path_count(&f, host(0), host(1)), 2, "weights make no paths");
}

/// Where all is alike, capacity changes nothing.
#[test]
fn weights_of_a_regular_fabric_are_equal() {
    let f = fat_tree(4, 2, CABLE.rate, CABLE.delay);
    let [equal, weighted] = [Weights::Equal, Weights::Capacity]
        .map(|weights| Routes::with(&f, 1, &Routing { weights, ..Routing::default() }, &HashSet::new()));
    for entropy in 0..200 {
        let packet = hashed(host(15), entropy);
        assert_eq!(equal.path(&f, host(0), packet), weighted.path(&f, host(0), packet));
    }
}
