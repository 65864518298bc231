//! Measures that only one algorithm or one family of transports has come out by name.

use crate::common::{Run, run};
use linkpool_units::Time;

/// Two hosts with one cable between them and a switch each, and a flow of 1 MB.
fn lone(queue: &str, transport: &str) -> Run {
    run(&format!(
        r#"
        duration = "1s"
        [topology.many-to-one]
        senders = 1
        rate = "10Gbps"
        delay = "2us"
        {queue}
        [transport.t]
        {transport}
        [[workload.flow]]
        transport = "t"
        from = "S1"
        to = "R"
        size = "1MB"
        start = "3us"
        "#
    ))
}

fn names(run: &Run) -> Vec<&'static str> {
    run.flow(0).metrics.iter().map(|metric| metric.name).collect()
}

#[test]
fn ndp_reports_its_counters() {
    let r = lone("[queue]\ndiscipline = \"trimming\"", "control = \"ndp\"\nmss = \"1000B\"\ninitial_window = 30");
    assert_eq!(names(&r), ["nacks", "returned", "pulls"]);
    assert_eq!([r.flow(0).metric("nacks"), r.flow(0).metric("returned")], [Some(0.0); 2]);
    // A thousand packets, 30 of which need no PULL; the last 30 are answered by one each too.
    let pulls = r.flow(0).metric("pulls").unwrap();
    assert!((970.0..=1000.0).contains(&pulls), "{pulls}");
}

#[test]
fn mmptcp_reports_when_it_switches() {
    let r = lone("", "control = \"mmptcp\"\nswitch_bytes = \"100KB\"\nsubflows = 3");
    assert_eq!(names(&r), ["switch"]);
    let flow = r.flow(0);
    let switch = flow.metric("switch").unwrap();
    // The windows 10, 20 and 40 packets together have 100 KB: the switch is in the third round
    // after the handshake, and a round takes at least the 8 us of propagation.
    assert!((27e-6..flow.finished.unwrap().secs()).contains(&switch), "{switch}");
    let phase_2 = flow.subflows[1].stats.established.unwrap();
    assert!(phase_2.secs() > switch && phase_2 < Time::from_secs_f64(switch + 1e-3), "{phase_2} after {switch}");
}

#[test]
fn an_algorithm_without_measures_reports_none() {
    let r = lone("", "control = \"reno\"");
    assert_eq!((names(&r), r.flow(0).metric("switch")), (vec![], None));
}
