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
fn lone(topology: &str, transport: &str, (from, to, size): (&str, &str, &str)) -> (u64, u64) {
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
fn rounding(packets: u64, hops: u64) -> u64 {
    2 * (packets + 4 * hops)
}

const RENO: &str = "control = \"reno\"\ninitial_window = 10000";

/// 7 packets at 10 Gbps over two links of 2 us: each is 1,169.6 ns on the wire, an ACK 33.6 ns. The
/// flow itself takes 33.6 ns more: the third segment of the handshake is before its data.
#[test]
fn a_window_as_large_as_the_flow() {
    let ack = 33_600 + 2_000_000;
    let by_hand = 2 * 2 * ack + 2 * 2_000_000 + (7 + 1) * 1_169_600 + 2 * ack;
    let (fct, ideal) =
        lone("many-to-one = { senders = 1, rate = \"10Gbps\", delay = \"2us\" }", RENO, ("S1", "R", "9800B"));
    assert_eq!(ideal, by_hand - rounding(7, 2));
    assert_eq!(fct, by_hand + 33_600);
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
    let by_hand = 2 * 2 * ack + 2 * 2_000_000 + (6 + 1) * 1_169_600 + 129_600 + 2 * ack;
    let (fct, ideal) =
        lone("many-to-one = { senders = 1, rate = \"10Gbps\", delay = \"2us\" }", RENO, ("S1", "R", "8500B"));
    assert_eq!(ideal, by_hand - rounding(7, 2));
    assert_eq!(fct, by_hand + 33_600);
}

/// Two packets, the second of 600 B, over paths that are chosen for each packet: the second may
/// overtake the first, which then ends the flow, 1,169.6 ns on each of six links. Behind it, the
/// second is 529.6 ns later at each.
#[test]
fn a_short_last_packet_that_may_overtake() {
    let reps = "control = \"dctcp\"\npaths = \"reps\"\ninitial_window = 10\nmss = \"1400B\"";
    let (fct, ideal) = lone("fat-tree = { k = 4, rate = \"10Gbps\", delay = \"2us\" }", reps, ("h0", "h15", "2000B"));
    let by_hand = 3 * 6 * (33_600 + 2_000_000) + 6 * (1_169_600 + 2_000_000);
    assert_eq!(ideal, by_hand - rounding(2, 6));
    assert!(fct >= ideal && fct <= by_hand + 529_600 + 33_600, "{fct} ps, ideally {ideal} ps");
}

/// A bottleneck of 1 Gbps between links of 10: the packets pass one after another there, 11,696 ns
/// each, and once over each other link.
#[test]
fn a_bottleneck_on_the_way() {
    let acks = 2 * 33_600 + 336_000 + 2 * 2_000_000 + 7_000_000;
    let data = 2 * 1_169_600 + 100 * 11_696_000 + 2 * 2_000_000 + 7_000_000;
    let topology = r#"dumbbell = { pairs = 1, rate = "10Gbps", delay = "2us", bottleneck_rate = "1Gbps", bottleneck_delay = "7us" }"#;
    let (fct, ideal) = lone(topology, RENO, ("S1", "D1", "140000B"));
    assert_eq!(ideal, 3 * acks + data - rounding(100, 3));
    assert_eq!(fct, 3 * acks + data + 33_600);
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
/// 2 Gbps, and the quickest handshake is over the short one: 3 links.
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
    let by_hand = 3 * ack + 1_000 * 11_696_000 + 3 * 2_000_000;
    let ideal = ideals(&r)[0].unwrap().0;
    assert_eq!(ideal, by_hand - rounding(2_000, 1));
    assert!(r.fct(0).0 > ideal);
}

proptest! {
    #![proptest_config(cases(150))]

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
