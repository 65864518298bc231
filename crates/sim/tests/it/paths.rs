//! Subflows on paths of their own.

use crate::common::{Run, run};
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

/// Four subflows across a fat-tree of k = 4, each over a core of its own; their ACKs come back the
/// same way.
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

/// The paths from h0 to h15 in order go over cores 0, 2, 1, 3: neighbours part at the edge switch. A
/// connection takes two that follow one another, and its ACKs come back the same way. With which it
/// begins is drawn from the seed.
#[test]
fn distinct_paths_begin_at_a_random_one() {
    let of_seed = |seed: u32| -> Vec<u32> {
        let r = run(&format!(
            "seed = {seed}\nduration = \"2ms\"\n[topology.fat-tree]\nk = 4\nrate = \"1Gbps\"\ndelay = \"2us\"\n\
             [transport.t]\npreset = \"paper-2013\"\ncontrol = \"uncoupled\"\nsubflows = 2\npaths = \"distinct\"\n\
             [[workload.flow]]\ntransport = \"t\"\nfrom = \"h0\"\nto = \"h15\"\n"
        ));
        let used = |pod: u32| -> Vec<u32> {
            let packets = |core: u32| r.link(&format!("c{core}->a{pod}.{}", core / 2)).stats.packets;
            (0..4).filter(|core| packets(*core) > 10).collect()
        };
        assert_eq!(used(3), used(0), "ACKs come back over the same cores");
        used(3)
    };
    let mut begun: Vec<Vec<u32>> = (1..=30).map(of_seed).collect();
    begun.sort();
    begun.dedup();
    // 30 seeds miss a pair with a chance of 4 * 0.75^30, one in 1,400; the seeds are fixed.
    assert_eq!(begun, [[0, 2], [0, 3], [1, 2], [1, 3]]);
}

/// Flows of a permutation with one path each share cores as hashed ones do: every core carries some.
#[test]
fn flows_with_one_distinct_path_use_all_cores() {
    let r = run("duration = \"5ms\"\n[topology.fat-tree]\nk = 4\nrate = \"1Gbps\"\ndelay = \"2us\"\n\
         [transport.t]\npreset = \"paper-2013\"\ncontrol = \"reno\"\npaths = \"distinct\"\n\
         [[workload.permutation]]\ntransport = \"t\"\n");
    for core in 0..4 {
        let packets = (0..4).map(|pod| r.link(&format!("c{core}->a{pod}.{}", core / 2)).stats.packets);
        assert!(packets.clone().sum::<u64>() > 100, "core {core}: {:?}", packets.collect::<Vec<_>>());
    }
}

/// Two of the three parallel paths from 0 to 1 in BCube(2, 2) go round by servers 2 and 3, 4 and 5.
/// Permutations may ask for no more than there are.
#[test]
fn subflows_take_parallel_paths_through_servers() {
    let text = |subflows: u32| {
        format!(
            "duration = \"5ms\"\n[topology.bcube]\nn = 2\nk = 2\nrate = \"1Gbps\"\ndelay = \"2us\"\n[transport.t]\npreset = \"paper-2013\"\n\
             control = \"uncoupled\"\nsubflows = {subflows}\npaths = \"disjoint\"\n[[workload.flow]]\ntransport = \"t\"\nfrom = 0\nto = 1\n"
        )
    };
    let r = run(&text(3));
    for (out, back) in [("h0->s0.0", "s0.0->h0"), ("h0->s1.0", "s1.0->h0"), ("h0->s2.0", "s2.0->h0")] {
        assert!(r.link(out).stats.packets > 100 && r.link(back).stats.packets > 100, "{out}");
    }
    for server in ["s0.1->h3", "s0.2->h5"] {
        assert!(r.link(server).stats.packets > 100, "{server}");
    }
    let permutation = text(4).replace("flow]]", "permutation]]").replace("from = 0\nto = 1\n", "");
    let closed = permutation.clone() + "size = \"9KB\"\nrepeat = \"each\"\n";
    let random = closed.replace("permutation]]", "random]]");
    for of in [permutation, closed, random] {
        let why = &linkpool_scenario::load(&of, "x.toml", None, &[]).unwrap_err()[0];
        assert!(why.message.contains("t has 4 subflows for disjoint paths, and there are 3"), "{why}");
    }
}

/// A flow between the first and the last host of a fat-tree with four core switches.
fn across_the_tree(routing: &str, transport: &str) -> Run {
    run(&format!(
        r#"
        duration = "5ms"
        [topology.fat-tree]
        k = 4
        rate = "1Gbps"
        delay = "2us"
        [routing]
        kind = "{routing}"
        [transport.t]
        {transport}
        [[workload.flow]]
        transport = "t"
        from = "h0"
        to = "h15"
    "#
    ))
}

/// By two-level lookup from h0 to h15 subflow 0 goes over core 2, subflow 1 over core 0; ACKs go to
/// addresses of h0, whose host part is 0: from edge switch 1 of pod 3 address 0 is over port 1,
/// core 3, and address 1 over port 0, core 1.
#[test]
fn two_level_routing_follows_addresses() {
    let r = across_the_tree("two-level", "control = 'uncoupled'\nsubflows = 2");
    let used = |up: bool| -> Vec<u32> {
        let name =
            |core: u32| if up { format!("a0.{}->c{core}", core / 2) } else { format!("a3.{}->c{core}", core / 2) };
        (0..4).filter(|core| r.link(&name(*core)).stats.packets > 50).collect()
    };
    assert_eq!((used(true), used(false)), (vec![0, 2], vec![1, 3]));
}

/// Switches that spray share a flow's packets out evenly over the cores.
#[test]
fn switches_spray() {
    let r = across_the_tree("spray", "control = 'reno'\ndupack_threshold = 30");
    let shares: Vec<u64> = (0..4).map(|core| r.link(&format!("a0.{}->c{core}", core / 2)).stats.packets).collect();
    let all = shares.iter().sum::<u64>() as f64;
    assert!(all > 300.0 && shares.iter().all(|n| (*n as f64 / all - 0.25).abs() < 0.08), "{shares:?}");
}

/// A subflow in each plane, and its ACKs come back there; twice as many subflows are two in each.
#[test]
fn each_plane_has_a_subflow() {
    for (shared, subflows) in [(false, 4), (true, 4), (false, 8)] {
        let r = run(&format!(
            r#"
            duration = "5ms"
            [topology.multi-plane]
            planes = 4
            leaves = 2
            spines = 3
            shared_spines = {shared}
            hosts_per_leaf = 2
            rate = "1Gbps"
            uplink_rate = "10Gbps"
            delay = "2us"
            [queue]
            mark = 10
            [transport.lia]
            control = "lia"
            subflows = {subflows}
            paths = "planes"
            [[workload.flow]]
            transport = "lia"
            from = "h0"
            to = "h3"
        "#
        ));
        for plane in 0..4 {
            let [there, back] =
                [format!("h0->l{plane}.0"), format!("h3->l{plane}.1")].map(|l| r.link(&l).stats.packets);
            // 5 ms at 1 Gbit/s are 406 packets of 1,538 bytes. Eight windows grow slower than four.
            assert!(there > 150 && back > 50, "plane {plane} of {subflows}: {there} there, {back} back");
            let [came, went] = [format!("l{plane}.1->h3"), format!("l{plane}.0->h0")].map(|l| r.link(&l).stats.packets);
            // Where planes share spines, the switches may bring packets to another plane.
            assert!(shared || (came > 150 && went > 50), "plane {plane} of {subflows}: {came} came, {went} went");
        }
    }
}

/// Each connection has ports of its own.
#[test]
fn connections_have_entropies_of_their_own() {
    let r = run(
        "duration = \"9ms\"\n[topology.many-to-one]\nsenders = 1\nrate = \"1Gbps\"\ndelay = \"2us\"\n[transport.t]\n\
         control = \"lia\"\nsubflows = 2\n[[workload.incast]]\ntransport = \"t\"\nsenders = 1\nreceiver = \"R\"\n\
         size = \"100B\"\nevery = \"10us\"\nbursts = 64\n",
    );
    let entropies = r.outcome.flows.iter().flat_map(|flow| &flow.subflows).map(|subflow| subflow.entropy);
    assert_eq!(entropies.collect::<std::collections::HashSet<u32>>().len(), 2 * 64);
}
