//! The syndrome that AMP is about (AMP paper, section 2): 30 senders of 128 KiB to one receiver,
//! one window each at its minimum, do not fit into a queue of 100 packets if each has four
//! subflows.

use crate::common::{Run, run};

fn incast(control: &str, subflows: u32) -> Run {
    let subflows = if subflows > 1 { format!("subflows = {subflows}") } else { String::new() };
    run(&format!(
        r#"
        duration = "3s"
        drain = "10s"
        [topology.many-to-one]
        senders = 30
        rate = "10Gbps"
        delay = "2us"
        [queue]
        limit = 100
        mark = 10
        non_ect = "drop"
        exempt = ["syn", "fin", "ack"]
        [transport.t]
        preset = "paper-2013"
        control = "{control}"
        {subflows}
        [[workload.incast]]
        transport = "t"
        senders = 30
        receiver = "R"
        size = "128KiB"
        every = "1s"
        spacing = "50us"
        "#
    ))
}

/// Mean completion time in ms, and timeouts.
fn summary(r: &Run) -> (f64, u64) {
    let fct = |i| r.fct(i).secs() * 1e3;
    let n = r.outcome.flows.len();
    assert_eq!(n, 90);
    ((0..n).map(fct).sum::<f64>() / n as f64, r.outcome.flows.iter().map(|f| f.total(|s| s.timeouts)).sum())
}

/// All 30 at once would take 30 x 131,072 B x 1,462/1,400 x 0.8 ns/B = 3.29 ms for the last, and
/// half of it on average for a fair share of the link among those there: without a timeout the mean
/// is between.
#[test]
fn dctcp_and_amp_have_no_timeouts() {
    for (control, subflows) in [("dctcp", 1), ("amp", 4)] {
        let (mean, timeouts) = summary(&incast(control, subflows));
        assert_eq!(timeouts, 0, "{control}");
        assert!((1.0..3.3).contains(&mean), "{control}: {mean} ms");
    }
}

/// AMP owes that to the suppression of subflows, and takes it back in time.
#[test]
fn amp_suppresses_subflows() {
    let r = incast("amp", 4);
    let suppressed = r.outcome.flows.iter().filter(|f| f.metric("suppressions").is_some_and(|n| n > 0.0)).count();
    assert!(suppressed > 60, "{suppressed} of 90");
}

/// 120 windows of two packets: XMP and DCM overrun the queue and wait for timeouts of 200 ms.
#[test]
fn xmp_and_dcm_wait_for_timeouts() {
    for control in ["xmp", "dcm"] {
        let (mean, timeouts) = summary(&incast(control, 4));
        assert!(timeouts > 30 && mean > 50.0, "{control}: {mean} ms, {timeouts} timeouts");
    }
}

/// 40 first windows of 10 packets overrun a queue of 100 without marks; a flow loses some eight packets. NewReno sends one of
/// them again in a round, SACK all (RFC 6675), into a queue that is still full: more retransmissions are lost, which neither can
/// notice but by the timeout of 1 s. RACK notices them by time (RFC 8985). Of 40 flows have timeouts, by seed:
/// 17 to 23, 29 to 36, 8 to 13; a flow has mostly one, so the mean is 1 s times their share.
#[test]
fn sacks_have_more_timeouts_than_newreno_in_an_incast_and_rack_fewer() {
    let of = |recovery: &str, seed: u64| {
        let r = run(&format!(
            r#"
            seed = {seed}
            duration = "1s"
            drain = "30s"
            [topology.many-to-one]
            senders = 40
            rate = "1Gbps"
            delay = "25us"
            [queue]
            limit = 100
            [transport.t]
            control = "reno"
            recovery = "{recovery}"
            min_rto = "1s"
            [[workload.incast]]
            transport = "t"
            senders = 40
            receiver = "R"
            size = "64KiB"
            every = "10s"
            "#
        ));
        let flows = &r.outcome.flows;
        let mean = (0..40).map(|flow| r.fct(flow).secs()).sum::<f64>() / 40.0;
        let with = flows.iter().filter(|flow| flow.total(|s| s.timeouts) > 0).count();
        assert!((mean - with as f64 / 40.0).abs() < 0.06, "{recovery}: {mean} s, {with} with timeouts");
        with
    };
    for seed in 1..=5 {
        let [newreno, sack, rack] = ["newreno", "sack", "rack"].map(|recovery| of(recovery, seed));
        assert!(
            (15..=25).contains(&newreno) && (27..=38).contains(&sack) && (6..=15).contains(&rack),
            "{newreno} {sack} {rack}"
        );
    }
}
