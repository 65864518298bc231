//! Subflows on paths of their own.

mod common;
use common::run;
use linkpool_units::Time;

/// S2 has a NIC on either side: two subflows fill both bottlenecks, twice 0.9576 of a link.
#[test]
fn two_subflows_fill_two_links() {
    let r = run(r#"
        duration = "100ms"
        [topology.traffic-shift]
        rate = "1Gbps"
        delay = "10us"
        [queue]
        mark = 10
        [transport.amp]
        preset = "paper-2013"
        control = "amp"
        subflows = 2
        paths = "distinct"
        [[workload.flow]]
        transport = "amp"
        from = "S2"
        to = "D2"
    "#);
    let goodput = 8.0 * r.flow(0).acked_bytes as f64 / 0.1;
    assert!(goodput > 0.99 * 2e9 * 1400.0 / 1462.0, "{goodput}");
    let [first, second] = ["A1->B1", "A2->B2"].map(|name| r.link(name).sent_bytes as f64);
    assert!((first / second - 1.0).abs() < 0.01, "{first} and {second}");
}

/// Four subflows across a fat-tree of k = 4, each over a core of its own; their ACKs come back the same way.
#[test]
fn four_subflows_take_four_cores() {
    let r = run(r#"
        duration = "5ms"
        [topology.fat-tree]
        k = 4
        rate = "1Gbps"
        delay = "2us"
        [queue]
        mark = 5
        [transport.amp]
        preset = "paper-2013"
        control = "amp"
        subflows = 4
        paths = "distinct"
        suppression = false
        [[workload.flow]]
        transport = "amp"
        from = "h0"
        to = "h15"
    "#);
    for core in 0..4 {
        let a = core / 2;
        let there = r.link(&format!("c{core}->a3.{a}")).stats.packets;
        let back = r.link(&format!("c{core}->a0.{a}")).stats.packets;
        assert!(there > 50 && back > 50, "core {core}: {there} there, {back} back");
    }
    assert!(r.flow(0).subflows.iter().all(|s| s.min_rtt.unwrap() < Time::from_us(100)));
}
