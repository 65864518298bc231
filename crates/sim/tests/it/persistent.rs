//! Connections that stay open for messages.

use crate::common::written::{differ, written};
use crate::common::{Run, run, run_on, scenario};
use linkpool_sim::FlowOutcome;
use linkpool_units::Time;
use std::collections::BTreeMap;

fn us(n: f64) -> Time {
    Time::from_secs_f64(n * 1e-6)
}

/// Hosts `S1`, `S2` and `R` at one switch, 1 Gbps, 10 us a link, packets of 1,000 bytes with 40 of
/// them headers and ACKs of 40. `S1` and `S2` are the ranks.
fn two_ranks(keys: &str) -> Run {
    run(&format!(
        "duration = \"90ms\"\ndrain = \"9ms\"\n[topology.many-to-one]\nsenders = 2\nrate = \"1Gbps\"\ndelay = \"10us\"\n\
         [transport.t]\ncontrol = \"reno\"\nmss = \"960B\"\nheader = \"40B\"\nack_size = \"40B\"\n\
         [[workload.collective]]\ntransport = \"t\"\nranks = 2\n{keys}\n"
    ))
}

/// An all-reduce of two ranks takes two steps of two packets. The handshake takes two times two
/// links, 4 (10 us + 0.32 us); then the third segment of it, and two packets to the last bit, 0.32 +
/// 8 + 8 + 10 + 8 + 10 us. The second step begins at once, behind the ACK of the last packet, and needs
/// no handshake: 0.32 + 44 us.
#[test]
fn a_message_on_an_open_connection_needs_no_handshake() {
    let r = two_ranks("algorithm = \"ring-all-reduce\"\nsize = \"3840B\"");
    let flows = &r.outcome.flows;
    let first = 4.0 * 10.32 + 0.32 + 44.0;
    for step in 0..2 {
        for rank in 0..2 {
            let flow = &flows[2 * step + rank];
            let start = if step == 0 { Time::ZERO } else { us(first) };
            assert_eq!((flow.connection.index(), flow.planned.flow.start), (rank, start));
            assert_eq!(flow.delivered, Some(us(first + 44.32 * step as f64)));
            // The last ACK crosses two links.
            assert_eq!(flow.finished, flow.delivered.map(|at| at + us(20.64)));
            assert_eq!(flow.established(), Some(if step == 0 { us(41.28) } else { start }));
            // The two packets of the second are sent before the first is acknowledged: counters go
            // from end to end.
            assert_eq!((flow.acked_bytes, flow.total(|s| s.segments)), (1920, 4 - 4 * step as u64));
        }
    }
    // Without, the second step has another handshake.
    let r = two_ranks("algorithm = \"ring-all-reduce\"\nsize = \"3840B\"\npersistent = false");
    let second = &r.outcome.flows[2];
    assert_eq!((second.connection, second.planned.flow.start), (second.flow, us(first)));
    assert!(second.delivered > Some(us(first + first)));
}

/// Messages that share a connection: numbers of connections, and sums of what they count.
fn check_sums(r: &Run, pairs: usize) {
    let mut connections: BTreeMap<_, Vec<&FlowOutcome>> = BTreeMap::new();
    for flow in &r.outcome.flows {
        assert_eq!(Some(flow.acked_bytes), flow.planned.flow.size);
        assert!(flow.planned.flow.start < flow.delivered.unwrap() && flow.delivered < flow.finished);
        connections.entry(flow.connection).or_default().push(flow);
    }
    assert_eq!(connections.len(), pairs);
    for messages in connections.values_mut() {
        messages.sort_by_key(|message| message.planned.flow.start);
        let ends = |f: &&FlowOutcome| (f.planned.flow.src, f.planned.flow.dst);
        assert!(messages.iter().all(|message| ends(message) == ends(&messages[0])));
        assert!(messages.is_sorted_by_key(|message| (message.delivered, message.finished)));
    }
    let bytes: u64 = r.outcome.flows.iter().map(|f| f.acked_bytes).sum();
    let on_subflows: u64 = r.outcome.flows.iter().map(|f| f.total(|s| s.acked_bytes)).sum();
    // A DATA_ACK on another subflow may end the last message of a connection before the ACK of its
    // own subflow comes.
    assert!(on_subflows >= bytes - bytes / 100 && on_subflows <= bytes + bytes / 10, "{on_subflows} of {bytes}");
}

/// Every family of connections carries messages, on any number of threads.
#[test]
fn every_transport_holds_connections() {
    for transport in [
        "control = \"dctcp\"",
        "control = \"cubic\"\nrecovery = \"newreno\"",
        "control = \"amp\"\nsubflows = 4",
        "control = \"olia\"\nsubflows = 2\nscheduler = \"lowest-time-to-send\"\npaths = \"distinct\"",
        "control = \"xmp\"\nsubflows = \"auto\"\nreceive_buffer = \"200KB\"",
        "control = \"mmptcp\"\nsubflows = 4\nswitch_bytes = \"60KB\"\ndupack_threshold = \"auto\"",
        "control = \"dctcp\"\npaths = \"reps\"\ndupack_threshold = \"auto\"",
    ] {
        let text = format!(
            "duration = \"4s\"\n[topology.fat-tree]\nk = 4\nrate = \"1Gbps\"\ndelay = \"2us\"\n\
             [queue]\nlimit = 30\nmark = 10\n[transport.t]\n{transport}\nmin_rto = \"2ms\"\n\
             [[workload.collective]]\ntransport = \"t\"\nalgorithm = \"ring-all-reduce\"\nranks = 8\nsize = \"80KB\"\n\
             iterations = 2\ncompute = \"100us\"\n[[workload.collective]]\ntransport = \"t\"\nlabel = \"other\"\n\
             algorithm = \"halving-doubling-all-reduce\"\nranks = 16\nsize = \"160KB\"\n[record]\nrate = {{ every = \"50ms\" }}\n"
        );
        let s = scenario(&text);
        let one = run_on(&s, 1);
        assert_eq!(one.outcome.flows.len(), 2 * 8 * 14 + 16 * 8, "{transport}");
        check_sums(&one, 8 + 16 * 4);
        let bytes = written(&s, 1);
        assert_eq!(differ(&bytes, &written(&s, 3)), Vec::<String>::new(), "3 threads, {transport}");
    }
}

/// A connection that is given up takes its messages with it. What waits for them does not start,
/// and the next operation does not begin.
#[test]
fn a_connection_that_is_given_up_ends_its_messages() {
    let r = run("duration = \"1s\"\n[topology.many-to-one]\nsenders = 2\nrate = \"1Gbps\"\ndelay = \"10us\"\n\
         [transport.t]\ncontrol = \"reno\"\nmin_rto = \"1ms\"\nfail_after = 3\n\
         [routing]\nreconverge = \"never\"\n\
         [[change]]\nat = \"1ms\"\nlinks = [\"S2<->W\"]\nstate = \"down\"\n\
         [[workload.collective]]\ntransport = \"t\"\nalgorithm = \"ring-all-reduce\"\nranks = 3\nsize = \"3MB\"\niterations = 2\n");
    let failed: Vec<_> = r.outcome.flows.iter().filter(|f| f.failed).collect();
    assert!(!failed.is_empty() && failed.iter().all(|f| f.finished.is_none() && f.active_until < Time::from_secs(1)));
    assert!(r.outcome.jobs.iter().all(|job| job.job.end.is_none() && job.not_started.is_some_and(|n| n > 0)));
}

/// A ring of 16 hosts, a link of which fails in the middle and does not come back, while routes
/// follow after 1 ms: no SYN is lost, since none is sent.
#[test]
fn a_failure_does_not_hit_handshakes() {
    let text = |persistent: bool| {
        format!(
            "duration = \"5s\"\n[topology.fat-tree]\nk = 4\nrate = \"1Gbps\"\ndelay = \"2us\"\n\
             [routing]\nreconverge = \"1ms\"\n[queue]\nlimit = 100\nmark = 20\n[transport.t]\ncontrol = \"dctcp\"\nmin_rto = \"2ms\"\n\
             [[change]]\nat = \"3ms\"\nlinks = [\"a0.0<->c0\", \"a1.0<->c0\", \"a2.0<->c0\"]\nstate = \"down\"\n\
             [[workload.collective]]\ntransport = \"t\"\nalgorithm = \"ring-all-reduce\"\nsize = \"1MB\"\npersistent = {persistent}\n"
        )
    };
    let held = run(&text(true));
    let end = |r: &Run| r.outcome.jobs[0].job.end.expect("it ends");
    assert!(end(&held) < Time::from_ms(60), "{}", end(&held));
    assert!(end(&held) < end(&run(&text(false))));
}
