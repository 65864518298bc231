//! Timers of connections that are over, when their names at the host have come round: 2,048
//! connections later.

use crate::common::{Run, run};
use linkpool_units::Time;

/// A connection of four subflows is over after 20 us; the timers of its SYNs are due at 60 ms, and
/// so is its stop. 2,047 connections later, at 50 ms, one of one subflow has its name.
fn long_after_others() -> Run {
    run(r#"
        duration = "120ms"
        [topology.many-to-one]
        senders = 1
        rate = "10Gbps"
        delay = "2us"
        [transport.four]
        preset = "paper-2013"
        control = "lia"
        subflows = 4
        syn_timeout = "60ms"
        [transport.one]
        preset = "paper-2013"
        control = "reno"
        [[workload.flow]]
        label = "first"
        transport = "four"
        from = "S1"
        to = "R"
        size = "1400B"
        stop = "60ms"
        [[workload.incast]]
        label = "between"
        transport = "one"
        senders = 1
        receiver = "R"
        size = "100B"
        start = "80us"
        every = "20us"
        bursts = 2047
        [[workload.flow]]
        label = "last"
        transport = "one"
        from = "S1"
        to = "R"
        start = "50ms"
        stop = "100ms"
    "#)
}

#[test]
fn a_late_timer_is_not_for_who_has_the_name_now() {
    let r = long_after_others();
    assert_eq!(r.outcome.flows.len(), 2049);
    assert!(r.outcome.flows[..2048].iter().all(|f| f.finished.is_some()));
}

#[test]
fn nor_is_a_late_stop() {
    let r = long_after_others();
    let last = &r.flow(2048);
    assert!(last.active_until >= Time::from_ms(100), "stopped at {:?}", last.active_until);
}
