//! Packets scattered over all paths: packet spraying, and MMPTCP.

use crate::common::{Run, run, run_on, scenario};

const FABRIC: &str = r#"
    duration = "1s"
    drain = "20s"
    [topology.fat-tree]
    k = 4
    rate = "1Gbps"
    delay = "2us"
"#;

/// One flow of 1 MB across pods.
fn flow(transport: &str) -> Run {
    let workload = "[[workload.flow]]\ntransport = \"t\"\nfrom = \"h0\"\nto = \"h15\"\nsize = \"1MB\"\n";
    run(&format!("{FABRIC}[transport.t]\npreset = \"paper-2013\"\n{transport}\n{workload}"))
}

/// Packets that each core switch sent down into the last pod.
fn over_cores(run: &Run) -> [u64; 4] {
    [0, 1, 2, 3].map(|c| run.link(&format!("c{c}->a3.{}", c / 2)).stats.packets)
}

#[test]
fn every_core_switch_has_its_share() {
    // 1 MB are 715 packets, and the SYN, the handshake's ACK and the FIN, which keep to one path.
    // Binomial: 178.75 +- 11.6.
    let run = flow("control = \"reno\"\npaths = \"scatter\"\ndupack_threshold = \"auto\"");
    let shares = over_cores(&run);
    assert_eq!(shares.iter().sum::<u64>(), 715 + 3);
    assert!(shares.iter().all(|n| (140..=220).contains(n)), "{shares:?}");
    let hashed = over_cores(&flow("control = \"reno\""));
    assert_eq!(hashed.iter().filter(|n| **n > 0).count(), 1, "{hashed:?}");
}

#[test]
fn acks_keep_to_one_path() {
    let run = flow("control = \"reno\"\npaths = \"scatter\"\ndupack_threshold = \"auto\"");
    let back = [0, 1, 2, 3].map(|c| run.link(&format!("c{c}->a0.{}", c / 2)).stats.packets);
    assert_eq!(back.iter().filter(|n| **n > 0).count(), 1, "{back:?}");
}

/// MMPTCP's subflow 0 carries the threshold and what is sent until a handshake later, the others
/// the rest.
#[test]
fn mmptcp_hands_over() {
    let run = flow("control = \"mmptcp\"\nsubflows = 4\nswitch_bytes = \"100KB\"\ndupack_threshold = \"auto\"");
    let found = run.flow(0);
    assert_eq!(found.acked_bytes, 1_000_000);
    let acked: Vec<u64> = found.subflows.iter().map(|s| s.stats.acked_bytes).collect();
    assert_eq!(acked.len(), 5);
    assert_eq!(acked.iter().sum::<u64>(), 1_000_000);
    // What is sent until the first of the others is there: a round trip or two of at most 47
    // packets.
    assert!((100_001..200_000).contains(&acked[0]), "{acked:?}");
    assert!(acked[1..].iter().all(|bytes| *bytes > 50_000), "{acked:?}");
    let joined = found.subflows[1..].iter().map(|s| s.stats.established.unwrap());
    assert!(joined.into_iter().all(|at| at > found.subflows[0].stats.established.unwrap()));
}

/// Within a rack, within a pod, across pods: of a fat-tree with k = 4 there are 1, 2 and 4 paths.
#[test]
fn subflows_by_where_the_receiver_is() {
    for (to, paths) in [("h1", 1), ("h2", 2), ("h15", 4)] {
        for (keys, before) in [("control = \"lia\"", 0), ("control = \"mmptcp\"\nswitch_bytes = \"20KB\"", 1)] {
            let text = format!(
                "{FABRIC}[transport.t]\npreset = \"paper-2013\"\nsubflows = \"auto\"\n{keys}\n\
                 [[workload.flow]]\ntransport = \"t\"\nfrom = \"h0\"\nto = \"{to}\"\nsize = \"300KB\"\n"
            );
            let run = run(&text);
            let joined = run.flow(0).subflows.iter().filter(|s| s.stats.established.is_some()).count();
            assert_eq!((joined, run.flow(0).subflows.len()), (paths + before, paths + before), "{to} {keys}");
        }
    }
}

/// By bytes, by window, at the first congestion: each ends phase 1.
#[test]
fn each_switch_hands_over() {
    for keys in ["switch_bytes = \"50KB\"", "switch_window = 20", "switch_on_congestion = true"] {
        for phase_1 in ["reno", "dctcp"] {
            let run = run(&format!(
                "{FABRIC}[queue]\nlimit = 20\nmark = 5\n[transport.t]\npreset = \"paper-2013\"\ncontrol = \"mmptcp\"\n\
                 phase_2 = \"amp\"\nsubflows = 4\n{keys}\nphase_1 = \"{phase_1}\"\n\
                 [[workload.flow]]\ntransport = \"t\"\nfrom = \"h0\"\nto = \"h15\"\nsize = \"2MB\"\n"
            ));
            let subflows = &run.flow(0).subflows;
            let before: u64 = subflows[0].stats.acked_bytes;
            let after: u64 = subflows[1..].iter().map(|s| s.stats.acked_bytes).sum();
            assert_eq!(before + after, 2_000_000);
            assert!(before > 20_000 && after > 500_000, "{keys}, {phase_1}: {before} {after}");
            // Marks are for those that asked for ECN.
            assert_eq!(subflows[0].stats.marked_acks > 0, phase_1 == "dctcp", "{keys}, {phase_1}");
        }
    }
}

#[test]
fn a_short_flow_stays_in_phase_1() {
    let text = format!(
        "{FABRIC}[transport.t]\npreset = \"paper-2013\"\ncontrol = \"mmptcp\"\nsubflows = 4\nswitch_bytes = \"100KB\"\n\
         [[workload.flow]]\ntransport = \"t\"\nfrom = \"h0\"\nto = \"h15\"\nsize = \"70KB\"\n"
    );
    let run = run(&text);
    let found = run.flow(0);
    assert_eq!(found.subflows[0].stats.acked_bytes, 70_000);
    assert!(found.subflows[1..].iter().all(|s| s.stats.established.is_none()));
}

/// Random paths come from each host's own stream: the same on any number of threads.
#[test]
fn is_the_same_on_two_threads() {
    let text = format!(
        "{FABRIC}[queue]\nlimit = 20\n[transport.t]\npreset = \"paper-2013\"\ncontrol = \"mmptcp\"\nsubflows = 4\n\
         switch_bytes = \"100KB\"\ndupack_threshold = \"auto\"\nlimited_transmit = true\n\
         [[workload.permutation]]\ntransport = \"t\"\nsize = \"300KB\"\n"
    );
    let scenario = scenario(&text);
    let (one, two) = (run_on(&scenario, 1), run_on(&scenario, 2));
    let finished = |run: &Run| run.outcome.flows.iter().map(|f| (f.flow, f.finished)).collect::<Vec<_>>();
    assert_eq!(finished(&one), finished(&two));
    assert!(one.outcome.flows.iter().all(|f| f.finished.is_some()));
}
