//! What is left of a job that fails: nothing of its connections, whatever its transport.

use crate::common::written::{differ, written};
use crate::common::{Run, run_on};
use crate::programs::{FOUR_HOSTS, SENDS, WORKLOAD, beside};
use linkpool_sim::{FlowId, FlowOutcome, Traced, What, trace};
use linkpool_units::Time;

/// Ranks 0 and 1, on S1 and S2, each send 2 MB to rank 2, on S3, whose link takes 16 ms for each; before that, rank 0 sends
/// it ten packets.
const TO_ONE: &str = "num_ranks 3\nrank 0 {\nsend 9600b to 2 tag 1\nsend 2000000b to 2 tag 2\n}\nrank 1 {\nsend 2000000b to 2\n}\n\
    rank 2 {\nrecv 9600b from 0 tag 1\nrecv 2000000b from 0 tag 2\nrecv 2000000b from 1\n}\n";

/// Each family, with what it needs: keys of the transport, and tables before it.
const FAMILIES: [(&str, &str, &str); 6] = [
    ("reno", "control = \"reno\"\n", ""),
    ("amp", "control = \"amp\"\nsubflows = 4\n", ""),
    ("ndp", "control = \"ndp\"\n", "[queue]\ndiscipline = \"trimming\"\n"),
    ("nscc", "control = \"uet\"\nsender_law = \"nscc\"\n", "[queue]\ndiscipline = \"trimming\"\n"),
    ("roce", "control = \"dcqcn\"\n", "[queue.pfc]\nbuffer = \"200KB\"\n"),
    (
        "nic",
        "control = \"dcqcn\"\n",
        "[nic]\nmessage_time = \"3us\"\nlatency = \"7us\"\nshared_send_queue = 1\n[queue.pfc]\nbuffer = \"200KB\"\n",
    ),
];

fn job(duration: &str, (transport, before): (&str, &str), workload: &str, goal: &str) -> Run {
    let network = "[topology.many-to-one]\nsenders = 3\nrate = \"1Gbps\"\ndelay = \"10us\"\n";
    let text = format!("duration = \"{duration}\"\n{network}{before}[transport.t]\n{transport}{WORKLOAD}{workload}");
    run_on(&beside(&text, &[("p.goal", goal.as_bytes())]), 1)
}

/// No host sends a packet after the failure: its links have taken as many after 80 ms as at that time. Packets are under way
/// then: those that open a connection, the first windows, and those of the middle of a message.
#[test]
fn nothing_is_sent_after_a_failure() {
    for (name, transport, before) in FAMILIES {
        for persistent in [true, false].into_iter().filter(|persistent| name != "ndp" || !persistent) {
            for at in ["5003ns", "31007ns", "45013ns", "3000011ns"] {
                let keys = format!("persistent = {persistent}\n");
                let [until, after] = [
                    (at, keys.clone()),
                    ("80ms", format!("{keys}failures = {{ at = [\"{at}\"], recovery = \"1s\" }}\n")),
                ]
                .map(|(duration, keys)| job(duration, (transport, before), &keys, TO_ONE));
                for host in ["S1", "S2", "S3"] {
                    let sent = |run: &Run| run.link(&format!("{host}->W")).stats.packets;
                    assert_eq!(sent(&until), sent(&after), "{name}, persistent = {persistent}, at {at}, {host}");
                }
                // What was under way has come, and nobody was there.
                let flows = |run: &Run| run.outcome.flows.iter().map(|flow| flow.acked_bytes).sum::<u64>();
                assert_eq!(flows(&until), flows(&after), "{name}, at {at}");
            }
        }
    }
}

/// A message that the failure cuts off has failed at that time, wherever it was; one before it has ended.
#[test]
fn messages_that_are_cut_off_have_failed() {
    for (name, transport, before) in FAMILIES {
        let failures = "failures = { at = [\"2ms\"], recovery = \"1s\" }\n";
        let run = job("80ms", (transport, before), failures, TO_ONE);
        let of = |f: &FlowOutcome| (f.finished.is_some(), f.failed, f.active_until == Time::from_ms(2));
        let [first, large, other] = [0, 1, 2].map(|flow| of(&run.outcome.flows[flow]));
        assert_eq!(first, (true, false, false), "{name}");
        assert_eq!([large, other], [(false, true, true); 2], "{name}");
    }
}

/// What is sent again is sent as if for the first time, on connections of its own: with each transport the second attempt
/// takes as long as the first of another run.
#[test]
fn the_second_attempt_is_like_a_first() {
    for (name, transport, before) in FAMILIES {
        let end = |failures: &str| {
            let run = job("90ms", (transport, before), failures, SENDS);
            run.outcome.jobs.iter().find_map(|job| job.job.end).unwrap()
        };
        let again = end("failures = { at = [\"115us\"], recovery = \"2ms\" }\n");
        assert_eq!(again, end("") + Time::from_us(2_115), "{name}");
    }
}

/// A second job on the same hosts goes on, also if its receivers have not opened its connections at 15 us, and know what these
/// will carry.
#[test]
fn other_jobs_keep_their_connections() {
    let two = |failures: &str| {
        let workload = format!("{failures}{WORKLOAD}label = \"other\"\n");
        let run = job("2s", ("control = \"reno\"\n", ""), &workload, TO_ONE);
        let other = |flow: &&FlowOutcome| run.plan.labels[flow.planned.label.index()] == "other";
        run.outcome.flows.iter().filter(other).map(|f| (f.finished.is_some(), f.failed)).collect::<Vec<_>>()
    };
    for at in ["15us", "2ms"] {
        assert_eq!(two(&format!("failures = {{ at = [\"{at}\"], recovery = \"5s\" }}\n")), [(true, false); 3], "{at}");
    }
}

/// The trace of each message ends with the failure.
#[test]
fn a_trace_tells_that_a_connection_is_gone() {
    for persistent in [true, false] {
        let keys = format!("persistent = {persistent}\nfailures = {{ at = [\"2ms\"], recovery = \"1s\" }}\n");
        let text = format!("{FOUR_HOSTS}{WORKLOAD}{keys}");
        let scenario = beside(&text, &[("p.goal", TO_ONE.as_bytes())]);
        let flows = run_on(&scenario, 1).outcome.flows;
        let all: Vec<Traced> = flows.iter().map(|f| Traced { flow: f.flow, connection: f.connection }).collect();
        let rows = trace(&scenario, &all, &mut |_| true).unwrap();
        let cut: Vec<FlowId> = flows.iter().filter(|flow| flow.failed).map(|flow| flow.connection).collect();
        assert_eq!(cut.len(), 2);
        for connection in cut {
            let last =
                rows.iter().rfind(|row| row.flow == connection && matches!(row.what, What::Ends { .. })).unwrap();
            assert_eq!((Time(last.at), &last.what), (Time::from_ms(2), &What::Ends { finished: false }));
            assert!(!rows.iter().any(|row| row.flow == connection && Time(row.at) > Time::from_ms(2)));
        }
    }
}

/// 16 ranks that train on four racks and fail again and again: the same on any number of threads, with each family.
#[test]
fn failures_on_any_number_of_threads() {
    for (name, transport, before) in &FAMILIES[1..] {
        let text = format!(
            "duration = \"6ms\"\n[topology.leaf-spine]\nleaves = 4\nspines = 2\nhosts_per_leaf = 4\nrate = \"10Gbps\"\n\
             delay = \"1us\"\n{before}[transport.t]\n{transport}[[workload.training]]\ntransport = \"t\"\npp = 4\ndp = 4\n\
             forward = \"5us\"\nbackward = \"9us\"\nactivations = \"20KB\"\ngradients = \"40KB\"\niterations = 8\n\
             failures = {{ mtbf = \"600us\", recovery = \"50us\", checkpoint_every = 2 }}\n"
        );
        let scenario = beside(&text, &[]);
        let one = run_on(&scenario, 1).outcome;
        let cut = one.flows.iter().filter(|flow| flow.failed).count();
        assert!(cut > 20, "{name}: {cut}");
        assert_eq!(differ(&written(&scenario, 1), &written(&scenario, 4)), [] as [&str; 0], "{name}");
    }
}
