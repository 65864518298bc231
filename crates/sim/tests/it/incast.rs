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
