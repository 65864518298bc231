//! A receiver that never hears of the end of its connection stays for ten minutes. No later
//! connection may end up with it.

use crate::common::{Kept, run, scenario};
use linkpool_sim::{Plan, simulate};

/// 60 flows of ten packets beside cross traffic that has some of their FINs dropped; then 12,000
/// flows of five packets, one after another, so that every name of an endpoint at S1 comes round
/// again. A connection that is mistaken for an old one gets ACKs of data that it has not sent yet.
#[test]
fn names_of_endpoints_come_round() {
    let r = run(r#"
        duration = "450ms"
        [topology.many-to-one]
        senders = 9
        rate = "10Gbps"
        delay = "1us"
        [queue]
        limit = 3
        exempt = ["syn", "ack"]
        [transport.short]
        preset = "paper-2013"
        control = "reno"
        initial_rto = "100us"
        min_rto = "100us"
        [transport.cross]
        preset = "paper-2013"
        control = "reno"
        min_rto = "100us"
        [[workload.incast]]
        label = "first"
        transport = "short"
        senders = 1
        receiver = "R"
        size = "14000B"
        every = "1ms"
        bursts = 60
        [[workload.incast]]
        label = "second"
        transport = "short"
        senders = 1
        receiver = "R"
        size = "7000B"
        start = "70ms"
        every = "30us"
        bursts = 12000
        [[workload.many-to-one]]
        label = "cross"
        transport = "cross"
        flows = 8
        first = 1
        receiver = "R"
        stop = "60ms"
    "#);
    assert!(r.link("W->R").stats.rare.drops > 50);
    for f in &r.outcome.flows {
        let planned = &f.planned.flow;
        if let Some(size) = planned.size {
            assert!(f.finished.is_some(), "flow {:?}", f.flow);
            let packets = f.total(|s| s.segments) - f.total(|s| s.retransmits);
            assert_eq!(packets, size / 1400, "flow {:?} finished without sending all", f.flow);
        }
    }
}

/// Ten flows whose FINs find no room, 700 s apart: each makes its host look for receivers to
/// forget, so that a place at each host is enough, and finds its own. The run lasts as long as it was
/// asked to, though nothing happens at its end.
#[test]
fn the_old_are_looked_for_when_others_come() {
    let s = scenario(
        r#"
        duration = "7100s"
        [topology.many-to-one]
        senders = 1
        rate = "1Gbps"
        delay = "2us"
        [queue]
        limit = "100B"
        exempt = ["syn", "ack"]
        [transport.t]
        preset = "paper-2013"
        control = "reno"
        ack_size = "200B"
        [[workload.incast]]
        transport = "t"
        senders = 1
        receiver = "R"
        size = "10B"
        every = "700s"
        bursts = 10
    "#,
    );
    let plan = Plan { most_connections: 1, ..Plan::new(&s) };
    let mut kept = Kept::default();
    let outcome = simulate(&plan, &plan.timetable(), 1, &mut kept, &mut |_| true).unwrap();
    assert!(kept.flows.len() == 10 && kept.flows.iter().all(|f| f.finished.is_some()));
    assert_eq!(outcome.links.iter().map(|link| link.stats.rare.drops).sum::<u64>(), 10, "the FINs");
    assert_eq!(outcome.simulated, linkpool_units::Time::from_secs(7100));
}
