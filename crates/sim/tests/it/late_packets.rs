//! Packets for connections that are over, when another has taken their place at the host.

use crate::common::run;
use linkpool_units::Time;
use std::fmt::Write;

/// Flows of one packet and four subflows are over 18,574.4 ns after their start, when some of their
/// joins are on the way: the SYN-ACKs come up to 8 us late. Flows of one subflow have taken their
/// places by then.
#[test]
fn a_late_packet_of_a_subflow_that_the_next_connection_does_not_have() {
    let mut text = String::from(
        r#"
        duration = "1ms"
        [topology.many-to-one]
        senders = 8
        rate = "10Gbps"
        delay = "2us"
        [transport.four]
        preset = "paper-2013"
        control = "lia"
        subflows = 4
        join_jitter = "20us"
        [transport.one]
        preset = "paper-2013"
        control = "reno"
        "#,
    );
    for pair in 0..4 {
        for (transport, start) in [("four", "0ns"), ("one", "18580ns")] {
            let (from, to) = (2 * pair, 2 * pair + 1);
            let keys = format!("from = {from}\nto = {to}\nsize = \"1400B\"\nstart = \"{start}\"");
            writeln!(text, "[[workload.flow]]\ntransport = \"{transport}\"\n{keys}").unwrap();
        }
    }
    let r = run(&text);
    for f in 0..4 {
        assert_eq!(r.fct(f), Time::from_ps(18_574_400));
        assert!(r.fct(f + 4) < Time::from_us(20));
    }
    assert!(r.outcome.stray > 0, "packets come late");
}
