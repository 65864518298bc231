//! The ideal completion time: no flow betters it, and one alone with a window that does not hold it
//! back comes next to it.

use crate::common::{Run, cases, random, run, run_on, scenario};
use linkpool_network::Routes;
use linkpool_sim::Ideal;
use linkpool_units::Time;
use proptest::prelude::*;

/// The ideal of each flow, none for flows without end.
fn ideals(r: &Run) -> Vec<Option<Time>> {
    let routes = Routes::new(&r.plan.fabric, r.plan.seed);
    let mut ideal = Ideal::new(&r.plan, &routes);
    r.outcome.flows.iter().map(|f| ideal.fct(&f.planned, false)).collect()
}

/// The only flow's completion time, and its ideal, in picoseconds.
pub fn lone(topology: &str, transport: &str, (from, to, size): (&str, &str, &str)) -> (u64, u64) {
    let r = run(&format!(
        r#"
        duration = "1s"
        topology.{topology}
        [queue]
        limit = 100000
        [transport.t]
        preset = "paper-2013"
        {transport}
        [[workload.flow]]
        transport = "t"
        from = "{from}"
        to = "{to}"
        size = "{size}"
        "#
    ));
    assert_eq!(r.flow(0).total(|s| s.retransmits), 0);
    (r.fct(0).0, ideals(&r)[0].unwrap().0)
}

/// The tolerance of the ideal for rounding: 2 ps a packet and hop.
pub fn rounding(packets: u64, hops: u64) -> u64 {
    2 * (packets + 4 * hops)
}

pub const RENO: &str = "control = \"reno\"\ninitial_window = 10000";

/// 7 packets at 10 Gbps over two links of 2 us: each is 1,169.6 ns on the wire, an ACK 33.6 ns. The
/// third segment of the handshake is before the data.
#[test]
fn a_window_as_large_as_the_flow() {
    let ack = 33_600 + 2_000_000;
    let by_hand = 2 * 2 * ack + 33_600 + 2 * 2_000_000 + (7 + 1) * 1_169_600 + 2 * ack;
    let (fct, ideal) =
        lone("many-to-one = { senders = 1, rate = \"10Gbps\", delay = \"2us\" }", RENO, ("S1", "R", "9800B"));
    assert_eq!(ideal, by_hand - rounding(7, 2));
    assert_eq!(fct, by_hand);
}

/// A subflow for each port uses the same links as hashed subflows may.
#[test]
fn a_subflow_in_each_plane() {
    let planes =
        "multi-plane = { planes = 2, leaves = 2, spines = 2, hosts_per_leaf = 2, rate = \"10Gbps\", delay = \"1us\" }";
    let ideal = |paths: &str| {
        let transport = format!("control = \"lia\"\nsubflows = 2\ninitial_window = 10000\npaths = \"{paths}\"");
        lone(planes, &transport, ("h0", "h2", "98000B"))
    };
    let ((_, hashed), (fct, by_plane)) = (ideal("hash"), ideal("planes"));
    assert_eq!(hashed, by_plane);
    assert!(by_plane <= fct && fct < 2 * by_plane, "{fct} {by_plane}");
}

/// The last of 7 packets has 100 B, 162 B on the wire, and waits behind the full ones at every hop.
#[test]
fn a_short_last_packet() {
    let ack = 33_600 + 2_000_000;
    let by_hand = 2 * 2 * ack + 33_600 + 2 * 2_000_000 + (6 + 1) * 1_169_600 + 129_600 + 2 * ack;
    let (fct, ideal) =
        lone("many-to-one = { senders = 1, rate = \"10Gbps\", delay = \"2us\" }", RENO, ("S1", "R", "8500B"));
    assert_eq!(ideal, by_hand - rounding(7, 2));
    assert_eq!(fct, by_hand);
}

/// Two packets, the second of 600 B, over paths that are chosen for each packet: the second may
/// overtake the first, which then ends the flow, 1,169.6 ns on each of six links. Behind it, the
/// second is 529.6 ns later at each.
#[test]
fn a_short_last_packet_that_may_overtake() {
    let reps = "control = \"dctcp\"\npaths = \"reps\"\ninitial_window = 10\nmss = \"1400B\"";
    let (fct, ideal) = lone("fat-tree = { k = 4, rate = \"10Gbps\", delay = \"2us\" }", reps, ("h0", "h15", "2000B"));
    let by_hand = 3 * 6 * (33_600 + 2_000_000) + 33_600 + 6 * (1_169_600 + 2_000_000);
    assert_eq!(ideal, by_hand - rounding(2, 6));
    assert!(fct >= ideal && fct <= by_hand + 529_600, "{fct} ps, ideally {ideal} ps");
}

/// A bottleneck of 1 Gbps between links of 10: the packets pass one after another there, 11,696 ns
/// each, and once over each other link.
#[test]
fn a_bottleneck_on_the_way() {
    let acks = 2 * 33_600 + 336_000 + 2 * 2_000_000 + 7_000_000;
    let data = 2 * 1_169_600 + 100 * 11_696_000 + 2 * 2_000_000 + 7_000_000;
    let topology = r#"dumbbell = { pairs = 1, rate = "10Gbps", delay = "2us", bottleneck_rate = "1Gbps", bottleneck_delay = "7us" }"#;
    let (fct, ideal) = lone(topology, RENO, ("S1", "D1", "140000B"));
    let by_hand = 3 * acks + 33_600 + data;
    assert_eq!(ideal, by_hand - rounding(100, 3));
    assert_eq!(fct, by_hand);
}

/// Two NICs and two disjoint paths: half of 2,000 packets over each. Windows exceed the
/// bandwidth-delay product of some 7 packets, and hardly grow; the second subflow comes a handshake
/// later, and the last packets are not shared evenly: 1% goes to such things.
#[test]
fn two_paths() {
    let (fct, ideal) = lone(
        "traffic-shift = { rate = \"1Gbps\", delay = \"2us\" }",
        "control = \"uncoupled\"\nsubflows = 2\npaths = \"distinct\"\ninitial_window = 20\ninitial_ssthresh = \"28000B\"",
        ("S2", "D2", "2800000B"),
    );
    let one_way_ack = 3 * (336_000 + 2_000_000);
    let by_hand = 3 * one_way_ack + 1_000 * 11_696_000 + 2 * 11_696_000 + 3 * 2_000_000;
    assert_eq!(ideal, by_hand - rounding(2_000, 3));
    assert!(fct >= ideal && fct < ideal + ideal / 100, "{fct} ps, ideally {ideal} ps");
}

/// A way of one bottleneck and one of two, 1 Gbps each, and hosts' links of 10: both together carry
/// 2 Gbps, and the quickest handshake is over the short one: 3 links. A packet is on the wire for
/// 1,169.6 ns on the short way before and after its bottleneck; on the long one for four times as long, and
/// at the second bottleneck. If both ways end together, each gives half of its time for this.
#[test]
fn paths_of_unlike_lengths() {
    let r = run(r#"
        duration = "1s"
        topology.triangle = { bottleneck_rates = ["1Gbps", "1Gbps", "1Gbps"], rate = "10Gbps", delay = "2us" }
        [transport.t]
        preset = "paper-2013"
        control = "uncoupled"
        subflows = 2
        [[workload.flow]]
        transport = "t"
        from = "S1"
        to = "D1"
        size = "2800000B"
        paths = [["S1", "A1", "B1", "D1"], ["S1", "A2", "B2", "C2", "A3", "B3", "D1"]]
        "#);
    let ack = 2 * 33_600 + 336_000 + 3 * 2_000_000;
    let short = 2 * 1_169_600 + 3 * 2_000_000;
    let long = 4 * 1_169_600 + 11_696_000 + 6 * 2_000_000;
    let by_hand = 3 * ack + 1_000 * 11_696_000 + (short + long) / 2;
    let ideal = ideals(&r)[0].unwrap().0;
    assert_eq!(ideal, by_hand - rounding(2_000, 6));
    assert!(r.fct(0).0 > ideal);
}

/// The only flow of a graph, from `a` to `b`: its completion time and its ideal, in picoseconds.
fn lone_in(nodes: &[&str], edges: &[(&str, &str, &str, &str)], (transport, size): (&str, &str)) -> (u64, u64) {
    let nodes: String = nodes
        .iter()
        .map(|id| format!("{{ id = \"{id}\", kind = \"{}\" }},", if id.len() == 1 { "host" } else { "switch" }))
        .collect();
    let edges: String = edges
        .iter()
        .map(|(from, to, rate, delay)| {
            format!("{{ source = \"{from}\", target = \"{to}\", rate = \"{rate}\", delay = \"{delay}\" }},")
        })
        .collect();
    lone(&format!("graph = {{ nodes = [{nodes}], edges = [{edges}] }}"), transport, ("a", "b", size))
}

/// Two ways with 11 us between the switches at their ends: 1 us and 10 us, or 10 us and 1 us. No packet
/// takes the short half of each.
#[test]
fn the_short_halves_of_two_ways_are_no_way() {
    let edges = [
        ("a", "s0", "10Gbps", "2us"),
        ("s0", "s1", "10Gbps", "1us"),
        ("s1", "s3", "10Gbps", "10us"),
        ("s0", "s2", "10Gbps", "10us"),
        ("s2", "s3", "10Gbps", "1us"),
        ("s3", "b", "10Gbps", "2us"),
    ];
    let (fct, ideal) = lone_in(&["a", "b", "s0", "s1", "s2", "s3"], &edges, (RENO, "9800B"));
    let by_hand = 2 * (4 * 33_600 + 15_000_000) + 33_600 + (7 + 3) * 1_169_600 + 15_000_000 + 4 * 33_600 + 15_000_000;
    assert_eq!(ideal, by_hand - rounding(7, 4));
    assert_eq!(fct, by_hand);
}

/// A quick way for short packets of 1 Gbps and no delay, and one of 10 Gbps and 3 us: ACKs of 336 ns take the
/// first, a full packet of 11.696 us the second.
#[test]
fn the_quickest_way_depends_on_the_size() {
    let edges = [
        ("a", "s0", "10Gbps", "1us"),
        ("s0", "s1", "1Gbps", "0.1us"),
        ("s1", "s3", "10Gbps", "0.1us"),
        ("s0", "s2", "10Gbps", "1.5us"),
        ("s2", "s3", "10Gbps", "1.5us"),
        ("s3", "b", "10Gbps", "1us"),
    ];
    let spread = "control = \"reno\"\npaths = \"scatter\"\ndupack_threshold = \"auto\"\ninitial_window = 10";
    let (fct, ideal) = lone_in(&["a", "b", "s0", "s1", "s2", "s3"], &edges, (spread, "1400B"));
    let ack = 3 * 33_600 + 336_000 + 2_200_000;
    let by_hand = 3 * ack + 33_600 + 4 * 1_169_600 + 5_000_000;
    assert_eq!(ideal, by_hand - rounding(1, 4));
    assert!(fct >= ideal);
}

/// Hosts that one cable joins, without a switch: 20 packets of 1,462 B and three of 42 B.
#[test]
fn two_hosts_and_a_cable() {
    let (fct, ideal) = lone_in(&["a", "b"], &[("a", "b", "10Gbps", "1us")], (RENO, "28000B"));
    let by_hand = 4 * (33_600) + 3 * 1_000_000 + 20 * 1_169_600 + 1_000_000;
    assert_eq!(ideal, by_hand - rounding(20, 1));
    assert_eq!(fct, by_hand);
}

/// Three hosts in a row, two cables: hosts pass on nothing, but one with two cables sends over each.
#[test]
fn a_host_between_two_hosts() {
    let edges = [
        ("a", "c", "10Gbps", "1us"),
        ("a", "b", "1Gbps", "2us"),
        ("c", "s0", "10Gbps", "1us"),
        ("s0", "b", "10Gbps", "1us"),
    ];
    let (fct, ideal) = lone_in(&["a", "b", "c", "s0"], &edges, (RENO, "1400B"));
    let by_hand = 3 * (336_000 + 2_000_000) + 11_696_000 + 2_000_000;
    assert_eq!(ideal, by_hand - rounding(1, 1));
    assert_eq!(fct, by_hand + 336_000);
}

/// Hosts with one or two ports at switches in a random graph, whose cables differ in rate and delay.
fn uneven_graphs() -> impl Strategy<Value = String> {
    let cable = (prop::sample::select(&["1Gbps", "3Gbps", "10Gbps"][..]), 1u32..4_000);
    let more = prop::collection::vec((0usize..5, 0usize..5, cable.clone()), 0..6);
    let hosts = prop::collection::vec((0usize..5, prop::option::of(1usize..5), cable.clone()), 4);
    let chain = prop::collection::vec((0usize..5, cable), 4);
    (chain, more, hosts).prop_map(|(chain, more, hosts)| {
        let mut cables = std::collections::BTreeMap::new();
        let mut lay = |a: String, b: String, (rate, delay): (&str, u32)| {
            let ends = if a < b { (a, b) } else { (b, a) };
            cables.entry(ends).or_insert(format!("rate = \"{rate}\", delay = \"{delay}ns\""));
        };
        chain
            .into_iter()
            .enumerate()
            .for_each(|(i, (to, cable))| lay(format!("s{}", i + 1), format!("s{}", to % (i + 1)), cable));
        more.into_iter()
            .filter(|(a, b, _)| a != b)
            .for_each(|(a, b, cable)| lay(format!("s{a}"), format!("s{b}"), cable));
        for (i, (at, second, cable)) in hosts.into_iter().enumerate() {
            lay(format!("h{i}"), format!("s{at}"), cable);
            if let Some(step) = second {
                lay(format!("h{i}"), format!("s{}", (at + step) % 5), cable);
            }
        }
        let edges =
            cables.into_iter().map(|((a, b), rest)| format!("{{ source = \"{a}\", target = \"{b}\", {rest} }},"));
        let nodes = (0..4).map(|i| format!("{{ id = \"h{i}\", kind = \"host\" }},"));
        let nodes = nodes.chain((0..5).map(|i| format!("{{ id = \"s{i}\", kind = \"switch\" }},")));
        format!(
            "topology.graph = {{ nodes = [{}], edges = [{}] }}",
            nodes.collect::<String>(),
            edges.collect::<String>()
        )
    })
}

/// Transports whose packets take one path each, several, or any.
const TRANSPORTS: &[&str] = &[
    "control = \"reno\"\ninitial_window = 100",
    "control = \"dctcp\"\ninitial_window = 10\npaths = \"reps\"\nmss = \"500B\"",
    "control = \"lia\"\nsubflows = 3\ninitial_window = 50\npaths = \"distinct\"",
    "control = \"uncoupled\"\nsubflows = 2\ninitial_window = 50\npaths = \"hash\"",
    "control = \"reno\"\npaths = \"scatter\"\ndupack_threshold = \"auto\"\ninitial_window = 30",
    "control = \"ndp\"\ninitial_window = 40",
];

proptest! {
    #![proptest_config(cases(40))]

    #[test]
    fn no_flow_betters_the_ideal_where_cables_differ(
        graph in uneven_graphs(),
        transport in prop::sample::select(TRANSPORTS),
        (size, second) in (1u32..60_000, prop::option::of(1u32..60_000)),
    ) {
        let flow = |to: &str, size| {
            format!("[[workload.flow]]\ntransport = \"t\"\nfrom = \"h0\"\nto = \"{to}\"\nsize = \"{size}B\"\n")
        };
        let flows = flow("h1", size) + &second.map_or(String::new(), |size| flow("h2", size));
        let discipline = if transport.contains("ndp") { "discipline = \"trimming\"\nlimit = 8" } else { "limit = 1000\nmark = 900" };
        let text = format!("duration = \"1ms\"\ndrain = \"1s\"\n{graph}\n[queue]\n{discipline}\n[transport.t]\n{transport}\n{flows}");
        let r = run_on(&scenario(&text), 1);
        for (f, ideal) in r.outcome.flows.iter().zip(ideals(&r)) {
            let fct = f.finished.unwrap() - f.planned.flow.start;
            prop_assert!(Some(fct) >= ideal, "{f:?}: {fct:?} beats {ideal:?}");
        }
    }
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn no_slowdown_is_below_one(text in random::scenarios()) {
        let r = run_on(&scenario(&text), 1);
        for (f, ideal) in r.outcome.flows.iter().zip(ideals(&r)) {
            if let Some(end) = f.finished {
                let fct = end - f.planned.flow.start;
                prop_assert!(Some(fct) >= ideal, "{f:?}: {fct:?} beats {ideal:?}");
            }
        }
    }
}
