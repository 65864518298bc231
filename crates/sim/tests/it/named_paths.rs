//! Subflows on paths that the flow names.

use crate::common::run;

/// Over the two bottlenecks of the long way and back; the short way stays idle.
#[test]
fn a_flow_takes_the_long_way_that_it_names() {
    let r = run(r#"
        duration = "1s"
        [topology.triangle]
        bottleneck_rates = ["12Mbps", "12Mbps", "12Mbps"]
        rate = "1Gbps"
        delay = "1ms"
        [transport.tcp]
        control = "reno"
        [[workload.flow]]
        transport = "tcp"
        from = "S1"
        to = "D1"
        size = "100KB"
        paths = [["S1", "A2", "B2", "C2", "A3", "B3", "D1"]]
    "#);
    assert!(r.flow(0).finished.is_some());
    let packets = |name: &str| r.link(name).stats.packets;
    // 100 KB are 70 segments of 1,448 B, too few to overflow a queue; a SYN, the ACK of the
    // SYN-ACK, and a FIN.
    assert_eq!([packets("A2->B2"), packets("C2->A3"), packets("A3->B3"), packets("A1->B1")], [73, 73, 73, 0]);
    assert!(packets("B3->A3") > 35 && packets("B3->A3") == packets("B2->A2"), "ACKs come back the same way");
    assert_eq!(packets("B1->A1"), 0);
}

/// Each of three flows has a subflow on its short way and one on its long way: each bottleneck
/// carries three subflows.
#[test]
fn subflows_take_short_and_long_ways() {
    let flow = |i: usize| {
        let [one, two, three] = [i, i % 3 + 1, (i + 1) % 3 + 1];
        format!(
            "[[workload.flow]]\ntransport = \"ewtcp\"\nfrom = \"S{i}\"\nto = \"D{i}\"\npaths = [[\"S{i}\", \"A{one}\", \
             \"B{one}\", \"D{i}\"], [\"S{i}\", \"A{two}\", \"B{two}\", \"C{two}\", \"A{three}\", \"B{three}\", \"D{i}\"]]\n"
        )
    };
    let r = run(&format!(
        "duration = \"20s\"\n[topology.triangle]\nbottleneck_rates = [\"12Mbps\", \"12Mbps\", \"12Mbps\"]\n\
         rate = \"100Mbps\"\ndelay = \"1ms\"\n[queue]\nlimit = 50\n[transport.ewtcp]\ncontrol = \"ewtcp\"\nsubflows = 2\n{}{}{}",
        flow(1),
        flow(2),
        flow(3)
    ));
    for i in 1..=3 {
        let used = 8.0 * r.link(&format!("A{i}->B{i}")).sent_bytes as f64 / 20.0 / 12e6;
        assert!(used > 0.9, "bottleneck {i}: {used}");
        let across = r.link(&format!("B{i}->C{i}")).sent_bytes;
        assert!(across > 0, "the long way over {i}");
        let of = &r.flow(i - 1).subflows;
        assert!(of.iter().all(|s| s.pinned && s.stats.acked_bytes > 1_000_000), "flow {i}");
    }
}
