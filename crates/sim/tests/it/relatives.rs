//! With one subflow a multipath algorithm is its single-path relative, to the last digit.

use crate::common::{Whole, run, scenario};

/// Flows that meet at one port, with losses and marks, under `control`.
fn outcome(control: &str, queue: &str) -> Whole {
    let text = format!(
        r#"
        duration = "30ms"
        [topology.many-to-one]
        senders = 6
        rate = "10Gbps"
        delay = "4us"
        [queue]
        {queue}
        [transport.t]
        preset = "paper-2013"
        control = "{control}"
        min_rto = "2ms"
        [[workload.many-to-one]]
        transport = "t"
        flows = 2
        receiver = "R"
        [[workload.incast]]
        transport = "t"
        senders = 6
        receiver = "R"
        size = "100KB"
        every = "5ms"
        "#
    );
    assert_eq!(scenario(&text).transports[0].config.control.algorithm().name(), control);
    let mut outcome = run(&text).outcome;
    // What an algorithm counts of its own, as AMP its suppressions, its relative does not count.
    outcome.flows.iter_mut().for_each(|flow| flow.metrics.clear());
    outcome
}

fn same(a: &str, b: &str, queue: &str) {
    let (one, other) = (outcome(a, queue), outcome(b, queue));
    let losses: u64 = one.flows.iter().map(|f| f.total(|s| s.retransmits)).sum();
    let marks: u64 = one.flows.iter().map(|f| f.total(|s| s.marked_acks)).sum();
    assert!(losses + marks > 100, "something happens: {losses} losses, {marks} marks");
    for (x, y) in one.flows.iter().zip(&other.flows) {
        assert_eq!(x, y, "{a} and {b}");
    }
    assert_eq!(one, other, "{a} and {b}");
}

#[test]
fn lia_with_one_subflow_is_reno() {
    same("lia", "reno", "limit = 30");
}

#[test]
fn dcm_with_one_subflow_is_dctcp() {
    same("dcm", "dctcp", "limit = 100\nmark = 10");
    same("dcm", "dctcp", "limit = 12\nmark = 10");
}

/// One packet a round, cut by a quarter.
#[test]
fn amp_with_one_subflow_is_mptcp_cut() {
    same("amp", "mptcp-cut", "limit = 100\nmark = 10");
    same("amp", "mptcp-cut", "limit = 12\nmark = 10");
}
