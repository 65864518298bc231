//! Random scenarios: all that is sent is accounted for, all flows are reported, and what is
//! finished is finished.

use crate::common::{Run, cases, random, run_on, scenario};
use linkpool_network::QueueLimit;
use linkpool_scenario::Scenario;
use linkpool_sim::{FlowOutcome, LinkOutcome, Value};
use linkpool_transport::PacketScheduler;
use linkpool_transport::control::CongestionControl;
use linkpool_units::Time;
use proptest::prelude::*;

/// Every flow of the plan has its outcome, and its numbers fit each other.
fn check_flows(r: &Run) {
    let due = r.plan.flows.iter().filter(|f| f.flow.start < r.outcome.simulated).count();
    let known = r.outcome.flows.iter().take_while(|f| f.flow.index() < r.plan.flows.len()).count();
    assert_eq!(known, due, "a row for each flow that was due");
    assert!(r.outcome.flows.windows(2).all(|pair| pair[0].flow < pair[1].flow), "no number twice");
    let mut plans = r.plan.flows.iter();
    for (i, f) in r.outcome.flows.iter().enumerate() {
        let planned = &f.planned;
        assert!(i >= known || (f.flow.index(), Some(*planned)) == (i, plans.next()));
        assert!(planned.flow.job.is_some() || planned.flow.start < Time::from_ms(2), "started too late");
        let transport = &r.plan.transports[planned.transport.index()];
        let config = &transport.config;
        assert_eq!(f.subflows.len(), config.subflows);
        let distinct = f.total(|s| s.segments) - f.total(|s| s.retransmits);
        let on_subflows = f.total(|s| s.acked_bytes);
        assert!(f.acked_bytes <= distinct * config.mss as u64 && on_subflows <= distinct * config.mss as u64);
        if let Some(size) = planned.flow.size {
            assert!(f.acked_bytes <= size);
            if let Some(end) = f.finished {
                assert_eq!(f.acked_bytes, size, "finished, but not all acknowledged");
                // Each byte on one subflow but for what is sent again on another, in full segments. Redundant
                // subflows carry each byte once at most, and send none in place of another.
                let mss = config.mss as u64;
                let (again, segments) = (f.total(|s| s.reinjected_bytes), distinct - size.div_ceil(mss));
                let copies = match config.multipath.scheduler {
                    PacketScheduler::Redundant => config.subflows as u64 - 1,
                    _ => 0,
                };
                // Copies of a message may be sent while the next one of a job is.
                let follows = planned.flow.job.is_some();
                if copies > 0 {
                    let most = copies * size.div_ceil(mss);
                    assert!(again == 0 && (follows || segments <= most), "{segments}, {again} B");
                } else {
                    assert!(
                        segments >= again.div_ceil(mss) && segments.min(1) == again.min(1),
                        "{segments}, {again} B"
                    );
                }
                let (established, start) = (f.established().unwrap(), planned.flow.start);
                let delayed = r.plan.nic.is_some_and(|nic| nic.message_time + nic.latency > Time::ZERO);
                let waits = transport.facts.handshake || delayed;
                assert!(end > established && established >= start && (established > start) == waits);
                assert!(copies > 0 && follows || on_subflows <= (1 + copies) * size + again);
            }
        }
        assert!(!(f.failed && f.finished.is_some()));
        let endured = f.total(|s| s.timeouts) < config.fail_after as u64;
        assert!(!f.failed || f.established().is_none() || !endured);
        let active_until = f.finished.unwrap_or(f.active_until);
        assert_eq!(f.active_until, active_until);
        assert!(f.active_until <= r.outcome.simulated);
        assert!(f.measured_bytes <= f.acked_bytes);
        assert!(planned.flow.start < r.plan.measure.cut_off || f.measured_bytes == 0);
        if planned.flow.start >= r.plan.measure.warm_up && f.active_until <= r.plan.measure.cut_off {
            assert_eq!(f.measured_bytes, f.acked_bytes, "all of it is in the period");
        }
        for s in &f.subflows {
            // Swift, also as MMPTCP's second phase, has windows down to `swift_min_window`, and paces below one packet.
            // RoCE's is what is in flight, or follows the rate.
            let least = match transport.facts.handshake {
                false => 0.0,
                true if config.control.build(1).paces() => 0.001,
                true => 1.0,
            };
            assert!(s.cwnd.is_finite() && s.cwnd >= least && s.ssthresh >= least);
            assert!(s.stats.established.is_some() || s.stats.segments == 0, "data without a handshake");
            assert!(s.stats.retransmits <= s.stats.segments);
            assert!(config.control.build(1).needs_ecn_or_unmarked(s.stats.marked_acks));
        }
    }
}

/// Packets: accepted = arrived + on the way at each link, and each switch passes on or drops what
/// comes.
fn check_packets(r: &Run) {
    let (o, fabric) = (&r.outcome, &r.plan.fabric);
    let arrived = |l: &LinkOutcome| l.stats.packets - l.stats.rare.drops_loss - l.in_flight as u64;
    assert_eq!(o.hops, o.links.iter().map(arrived).sum::<u64>());
    let links = || fabric.links().iter().zip(&o.links);
    let to_hosts: u64 = links().filter(|(s, _)| s.to.index() < fabric.hosts()).map(|(_, l)| arrived(l)).sum();
    assert!(o.delivered == to_hosts || o.delivered < to_hosts && fabric.hosts_forward());
    for node in fabric.node_ids().skip(fabric.hosts()) {
        let came: u64 = links().filter(|(s, _)| s.to == node).map(|(_, l)| arrived(l)).sum();
        let went = |l: &LinkOutcome| l.stats.packets + l.stats.rare.drops + l.stats.rare.drops_down;
        assert_eq!(
            came,
            links().filter(|(s, _)| s.from == node).map(|(_, l)| went(l)).sum::<u64>(),
            "{}",
            fabric.name(node)
        );
    }
    let sent_by_hosts: u64 = links()
        .filter(|(s, _)| s.from.index() < fabric.hosts())
        .map(|(_, l)| l.stats.packets + l.stats.rare.drops + l.stats.rare.drops_down)
        .sum();
    assert!(sent_by_hosts >= o.data_packets, "each data segment is a packet");
    let gone = |l: &LinkOutcome| l.stats.rare.drops + l.stats.rare.drops_down + l.stats.rare.drops_loss;
    let drops: u64 = o.links.iter().map(gone).sum();
    let in_flight: u64 = o.links.iter().map(|l| l.in_flight as u64).sum();
    assert_eq!(sent_by_hosts, to_hosts + drops + in_flight, "sent = arrived + dropped + on the way");
    for l in &o.links {
        assert!(l.sent_bytes <= l.stats.bytes);
        assert!(l.stats.rare.drop_bytes >= 40 * l.stats.rare.drops);
        assert!(l.in_flight > 0 || l.sent_bytes == l.stats.bytes);
    }
}

/// What comes after the end of its connection: segments sent twice and their ACKs, handshakes of
/// joins, and the third segment of the first handshake, which others overtake where they have paths
/// of their own. Of RoCE each packet sent twice may have an ACK and a notification of its mark.
fn check_strays(r: &Run) {
    let o = &r.outcome;
    let late =
        |f: &FlowOutcome| 3 * f.total(|s| s.retransmits + 2 * s.timeouts) + 3 * (f.subflows.len() as u64 - 1) + 1;
    let most: u64 = o.flows.iter().filter(|f| f.finished.is_some()).map(late).sum();
    assert!(o.stray <= most, "{} strays, at most {most}", o.stray);
}

/// No queue is longer than its limit, as counted and as sampled.
fn check_queues(r: &Run, s: &Scenario) {
    if !s.queue.exempt.is_empty() {
        return;
    }
    let largest =
        s.transports.iter().map(|t| (u32::from(t.config.mss) + t.wire.header).max(t.wire.ack_size)).max().unwrap()
            as u64;
    for sample in &r.samples {
        let Value::Queue { packets, bytes, .. } = sample.value else { continue };
        match s.queue.limit {
            QueueLimit::Packets(n) => assert!(packets <= n),
            QueueLimit::Bytes(n) => assert!(bytes <= n + if s.queue.count_in_service { 0 } else { largest }),
        }
    }
    if let QueueLimit::Packets(n) = s.queue.limit {
        assert!(r.outcome.links.iter().all(|l| l.stats.max_queue <= n));
    }
    assert!(!r.samples.is_empty());
}

/// An algorithm without ECN sees no marks.
trait Unmarked {
    fn needs_ecn_or_unmarked(&self, marks: u64) -> bool;
}

impl<C: CongestionControl> Unmarked for C {
    fn needs_ecn_or_unmarked(&self, marks: u64) -> bool {
        self.needs_ecn() || marks == 0
    }
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn everything_is_accounted_for(text in random::scenarios()) {
        let s = scenario(&text);
        let r = run_on(&s, 1);
        check_flows(&r);
        check_packets(&r);
        check_strays(&r);
        check_queues(&r, &s);
    }
}

proptest! {
    #![proptest_config(cases(30))]

    #[test]
    fn packets_are_accounted_for_where_links_change(text in random::changing_scenarios()) {
        check_packets(&run_on(&scenario(&text), 1));
    }
}

proptest! {
    // More threads than cores take long.
    #![proptest_config(cases(6))]

    #[test]
    fn changes_are_the_same_on_any_number_of_threads(text in random::changing_scenarios()) {
        let s = scenario(&text);
        let first = run_on(&s, 1);
        for threads in [2, 3] {
            let again = run_on(&s, threads);
            prop_assert_eq!(&again.outcome, &first.outcome);
            prop_assert_eq!(&again.samples, &first.samples);
        }
    }
}
