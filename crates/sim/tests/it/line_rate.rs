//! Long flows: a link is filled, DCTCP keeps its queue near K, equals share equally.

use crate::common::{Run, jain, run};
use linkpool_sim::Value;

/// A long flow of 1,400 B in 1,462 B: 0.9576 of the line rate, within 0.1%.
#[test]
fn goodput_is_what_headers_leave() {
    for (control, queue) in [("reno", "limit = 100"), ("dctcp", "mark = 20"), ("amp", "mark = 10")] {
        let r = run(&format!(
            r#"
            duration = "200ms"
            [topology.many-to-one]
            senders = 1
            rate = "10Gbps"
            delay = "1us"
            [queue]
            {queue}
            [transport.t]
            preset = "paper-2013"
            control = "{control}"
            [[workload.flow]]
            transport = "t"
            from = "S1"
            to = "R"
            "#
        ));
        let goodput = 8.0 * r.flow(0).acked_bytes as f64 / 0.2 / 10e9;
        let exact = 1400.0 / 1462.0;
        assert!((goodput / exact - 1.0).abs() < 0.001, "{control}: {goodput}");
    }
}

/// Packets waiting at `W->R` after the first 20 ms.
fn queue(r: &Run) -> Vec<f64> {
    let packets = r.samples.iter().filter_map(|s| match s.value {
        Value::Queue { packets, .. } if s.at.secs() > 0.02 => Some(packets as f64),
        _ => None,
    });
    packets.collect()
}

/// Two DCTCP flows, K = 20 (Alizadeh et al., SIGCOMM 2010, section 3.3): the queue's maximum is K +
/// N, its amplitude about sqrt(2 N (C RTT + K)) / 2 = sqrt(4 (20 + 20)) / 2 = 6.3: between 16 and
/// 22; and the link is never idle.
#[test]
fn dctcp_keeps_the_queue_near_k() {
    let r = run(r#"
        duration = "100ms"
        [topology.many-to-one]
        senders = 2
        rate = "10Gbps"
        delay = "5us"
        [queue]
        limit = 100
        mark = 20
        [transport.dctcp]
        preset = "paper-2013"
        control = "dctcp"
        [[workload.many-to-one]]
        transport = "dctcp"
        flows = 2
        receiver = "R"
        [record]
        queue = { links = ["W->R"], every = "10us" }
    "#);
    let queue = queue(&r);
    assert!(queue.len() > 7000);
    let mean = queue.iter().sum::<f64>() / queue.len() as f64;
    assert!((14.0..22.0).contains(&mean), "mean {mean}");
    let most = queue.iter().copied().fold(0.0, f64::max);
    assert!((20.0..=26.0).contains(&most), "most {most}");
    let link = r.link("W->R");
    assert_eq!(link.stats.rare.drops, 0);
    assert!(link.sent_bytes as f64 * 8.0 / (10e9 * 0.1) > 0.99);
}

/// Equal flows over one bottleneck: nearly equal shares, all of the link.
#[test]
fn equals_share_equally() {
    for (control, queue) in [("dctcp", "mark = 20"), ("amp", "mark = 20"), ("xmp", "mark = 20"), ("dcm", "mark = 20")] {
        let r = run(&format!(
            r#"
            duration = "200ms"
            [topology.dumbbell]
            pairs = 4
            rate = "10Gbps"
            delay = "5us"
            [queue]
            {queue}
            [transport.t]
            preset = "paper-2013"
            control = "{control}"
            [[workload.flow]]
            transport = "t"
            from = "S1"
            to = "D1"
            [[workload.flow]]
            transport = "t"
            from = "S2"
            to = "D2"
            start = "1ms"
            [[workload.flow]]
            transport = "t"
            from = "S3"
            to = "D3"
            start = "2ms"
            [[workload.flow]]
            transport = "t"
            from = "S4"
            to = "D4"
            start = "3ms"
            "#
        ));
        let shares: Vec<f64> = r.outcome.flows.iter().map(|f| f.acked_bytes as f64).collect();
        assert!(jain(&shares) > 0.95, "{control}: {shares:?}");
        let utilisation = r.link("L->R").sent_bytes as f64 * 8.0 / (10e9 * 0.2);
        assert!(utilisation > 0.99, "{control}: {utilisation}");
    }
}

/// Rates from 50 ms on: none counts what was acknowledged before.
#[test]
fn the_first_rate_is_one_of_its_interval() {
    let r = run(r#"
        duration = "200ms"
        [topology.many-to-one]
        senders = 1
        rate = "10Gbps"
        delay = "1us"
        [transport.t]
        preset = "paper-2013"
        control = "reno"
        [[workload.flow]]
        transport = "t"
        from = "S1"
        to = "R"
        [record]
        rate = { every = "50ms", from = "50ms" }
    "#);
    let rates = r.samples.iter().filter_map(|s| match s.value {
        Value::Rate { goodput, .. } => Some((s.at.secs(), goodput / 10e9 / (1400.0 / 1462.0))),
        _ => None,
    });
    let rates: Vec<(f64, f64)> = rates.collect();
    assert_eq!(rates.iter().map(|r| r.0).collect::<Vec<_>>(), [0.1, 0.15, 0.2]);
    assert!(rates.iter().all(|r| (r.1 - 1.0).abs() < 0.001), "{rates:?}");
}
