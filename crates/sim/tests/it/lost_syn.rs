//! A queue that is full when the SYN comes.

use crate::common::{Run, run};
use linkpool_units::Time;

/// Three SYNs meet at `W->R`: one is being transmitted, one waits, there is no room for the third.
fn three_at_once(queue: &str, size: &str) -> Run {
    run(&format!(
        r#"
        duration = "10s"
        [topology.many-to-one]
        senders = 3
        rate = "10Gbps"
        delay = "2us"
        [queue]
        {queue}
        [transport.t]
        preset = "paper-2013"
        control = "reno"
        [[workload.many-to-one]]
        transport = "t"
        flows = 3
        receiver = "R"
        size = "{size}"
        "#
    ))
}

/// The flow that came third sends its SYN again after 3 s, and is then alone: 8,134.4 ns of
/// handshake, 10,440 ns for a packet.
#[test]
fn is_sent_again() {
    let r = three_at_once("limit = 1", "1000B");
    assert_eq!(r.link("W->R").stats.rare.drops, 1);
    let late: Vec<usize> = (0..3).filter(|i| r.flow(*i).total(|s| s.timeouts) > 0).collect();
    let [late] = late[..] else { panic!("one SYN is lost, of flow {late:?}") };
    assert_eq!(r.flow(late).established(), Some(Time::from_secs(3) + Time::from_ps(8_134_400)));
    assert_eq!(r.flow(late).total(|s| s.timeouts), 1);
    // 1,000 B: 1,062 B on the wire, 849.6 ns.
    let packet = 33_600 + 2 * (849_600 + 2_000_000) + 4_067_200;
    assert_eq!(r.fct(late), Time::from_secs(3) + Time::from_ps(8_134_400 + packet));
    for f in &r.outcome.flows {
        assert_eq!(f.acked_bytes, 1000);
    }
}

/// A queue that spares SYNs loses none.
#[test]
fn is_spared_if_exempt() {
    let r = three_at_once("limit = 1\nexempt = [\"syn\", \"fin\", \"ack\"]", "100B");
    assert!(r.outcome.flows.iter().all(|f| f.established().unwrap() < Time::from_us(9)));
}

/// A receiver that never has room: the connection is given up after all its retries, and says so.
#[test]
fn is_given_up_at_last() {
    let r = run(r#"
        duration = "30s"
        [topology.many-to-one]
        senders = 2
        rate = "1Mbps"
        delay = "2us"
        [queue]
        limit = "100B"
        [transport.none]
        control = "reno"
        ack_size = "200B"
        syn_retries = 2
        [[workload.many-to-one]]
        transport = "none"
        flows = 1
        receiver = "R"
        size = "1KB"
    "#);
    let f = r.flow(0);
    // A SYN of 200 B never fits into 100 B. 1, 2, 4 s.
    assert!(f.failed && f.finished.is_none() && f.established().is_none());
    assert_eq!((f.acked_bytes, f.total(|s| s.timeouts), f.active_until), (0, 3, Time::from_secs(7)));
}
