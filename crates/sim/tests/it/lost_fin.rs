//! A receiver that never hears of the end of its connection stays for ten minutes. No later
//! connection may end up with it.

use crate::common::{Kept, run, run_on, scenario};
use crate::programs::beside;
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

/// A connection that stays open may be silent for longer than ten minutes, and a flow that is under way
/// is heard: neither is forgotten when another flow comes.
#[test]
fn those_who_are_not_silent_stay() {
    let flow = |from: &str, size: &str, start: &str| {
        format!(
            "[[workload.flow]]\ntransport = \"t\"\nfrom = \"{from}\"\nto = \"S2\"\nsize = \"{size}\"\nstart = \"{start}\"\n"
        )
    };
    // Rank 0 is at S1, rank 1 at S2; between two messages are 700 s.
    let goal = "num_ranks 2\nrank 0 {\na: send 1000b to 1\nb: calc 700000000000\nc: send 1000b to 1\nb requires a\n\
                c requires b\n}\nrank 1 {\na: recv 1000b from 0\nb: recv 1000b from 0\nb requires a\n}\n";
    let text = format!(
        "duration = \"800s\"\n[topology.many-to-one]\nsenders = 3\nrate = \"1Gbps\"\ndelay = \"2us\"\n[transport.t]\n\
         control = \"reno\"\n[[workload.program]]\ntransport = \"t\"\nfile = \"p.goal\"\nformat = \"goal\"\n{}{}",
        flow("S3", "10MB", "599.99s"),
        flow("R", "1KB", "600.05s")
    );
    let r = run_on(&beside(&text, &[("p.goal", goal.as_bytes())]), 1);
    assert_eq!(r.outcome.flows.len(), 4);
    assert!(r.outcome.flows.iter().all(|flow| flow.finished.is_some()));
}
