//! What is drawn of events that are made up here: tracks, slices, instants and counters.

use super::file::File;
use super::message::{Kind, Trace};
use super::tracks::Tracks;
use crate::plan::FlowId;
use crate::trace::{End, Row, Sight, State, What};
use linkpool_network::{FabricBuilder, Layer};
use linkpool_units::{Rate, Time};
use prost::Message;
use std::collections::BTreeMap;

const STATE: State = State {
    cwnd: 10.0,
    ssthresh: None,
    srtt: None,
    rto: 0,
    established: true,
    suppressed: false,
    paced: false,
    recovering: false,
    acked: 0,
    segments: 0,
    retransmits: 0,
    timeouts: 0,
    recoveries: 0,
    undos: 0,
    probes: 0,
    marked_acks: 0,
    cuts: 0,
};

/// Not established.
const CLOSED: State = State { established: false, ..STATE };

fn opens(control: &'static str, stays_open: bool) -> What {
    What::Opens {
        src: "A".to_string(),
        dst: "B".to_string(),
        transport: "t".to_string(),
        control,
        size: None,
        stays_open,
        mss: 1448,
        buffer: None,
        subflow_window: None,
        grows: false,
        reads: false,
        ack_delay: 0,
        pulled: false,
        phases: true,
    }
}

/// Of a family whose packets have no handshake.
fn opens_without_phases() -> What {
    let mut what = opens("pulled", false);
    if let What::Opens { phases, .. } = &mut what {
        *phases = false;
    }
    what
}

fn sight(subflow: u32, kind: &'static str) -> Sight {
    Sight { subflow: subflow.into(), kind, seq: 0, ack: 0, payload: 0, size: 90, ce: false, ece: false }
}

fn sent(subflow: u32, kind: &'static str) -> What {
    What::Sent { by: End::Sender, packet: sight(subflow, kind), next: None }
}

fn state(subflow: u32, state: State) -> What {
    What::State { subflow: subflow.into(), state }
}

fn given(message: usize, end: u64) -> What {
    What::Given { message: FlowId::new(message), begin: end - 100, end, sent: 0, acked: 0 }
}

fn done(message: usize) -> What {
    What::Done { message: FlowId::new(message), finished: true }
}

/// What is drawn of flow 0, by nanosecond: a line for each event, with its track, but the counters
/// only if they are asked for.
fn drawn(events: &[(u64, What)], counters: bool) -> Vec<String> {
    let mut builder = FabricBuilder::default();
    let (a, b) = (builder.node("A", Layer::Host), builder.node("B", Layer::Host));
    builder.cable(a, b, Rate(1), Time(1));
    let fabric = builder.build();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace");
    let mut tracks = Tracks::new(File::create(&path).unwrap(), &fabric);
    for (ns, what) in events {
        tracks.row(&Row { at: 1000 * ns, flow: FlowId::new(0), what: what.clone() });
    }
    tracks.file.close().unwrap();
    let trace = Trace::decode(&std::fs::read(&path).unwrap()[..]).unwrap();
    let mut names: BTreeMap<u64, String> = BTreeMap::new();
    let mut lines = Vec::new();
    for packet in trace.packets {
        if let Some(track) = packet.track {
            let name = track.name.or(track.process.and_then(|process| process.name)).unwrap();
            assert!(names.insert(track.uuid.unwrap(), name).is_none(), "one track for each number");
        }
        let Some(event) = packet.event else { continue };
        let what = match Kind::try_from(event.kind.unwrap()).unwrap() {
            Kind::Begin => format!("{} begins", event.name.unwrap()),
            Kind::End => "end".to_string(),
            Kind::Counter if counters => event.value.unwrap().to_string(),
            Kind::Counter => continue,
            _ => event.name.unwrap(),
        };
        lines.push(format!("{} {}: {what}", packet.timestamp.unwrap(), names[&event.track.unwrap()]));
    }
    lines
}

/// Slow start while the window is below the threshold, congestion avoidance from it on.
#[test]
fn phases_follow_each_other() {
    let window = |cwnd, ssthresh| State { cwnd, ssthresh: Some(ssthresh), ..STATE };
    let lines = drawn(
        &[
            (0, opens("reno", false)),
            (0, sent(0, "SYN")),
            (0, state(0, CLOSED)),
            (1, sent(0, "data")),
            (2, state(0, STATE)),
            (3, state(0, window(10.0, 10.5))),
            (4, state(0, window(10.5, 10.5))),
            (5, state(0, State { recovering: true, recoveries: 1, ..window(5.0, 5.0) })),
            (6, state(0, State { recoveries: 1, ..window(5.0, 5.0) })),
            (7, state(0, State { recoveries: 1, ..window(1.0, 5.0) })),
            (8, state(0, State { recoveries: 1, ..CLOSED })),
            (9, What::Ends { finished: false }),
        ],
        false,
    );
    let expected = [
        "0 subflow 0: handshake begins",
        "2 subflow 0: end",
        "2 subflow 0: slow start begins",
        "4 subflow 0: end",
        "4 subflow 0: congestion avoidance begins",
        "5 subflow 0: end",
        "5 subflow 0: fast recovery begins",
        "6 subflow 0: end",
        "6 subflow 0: congestion avoidance begins",
        "7 subflow 0: end",
        "7 subflow 0: slow start begins",
        "8 subflow 0: end",
        "8 subflow 0: given up begins",
        "9 subflow 0: end",
    ];
    assert_eq!(lines, expected);
}

/// A recovery that begins in the instant in which another ends has a slice of its own, and so has
/// one that ends in the instant in which it begins.
#[test]
fn each_recovery_is_a_slice() {
    let recovery = |recovering, recoveries| state(0, State { recovering, recoveries, ..STATE });
    let lines = drawn(
        &[
            (0, opens("reno", false)),
            (0, sent(0, "SYN")),
            (1, state(0, STATE)),
            (2, recovery(true, 1)),
            (3, recovery(true, 1)),
            (4, recovery(true, 2)),
            (5, recovery(false, 2)),
            (6, recovery(false, 3)),
        ],
        false,
    );
    let recoveries: Vec<_> = lines.iter().filter(|line| line.contains("fast recovery")).collect();
    let at = |ns: u64| format!("{ns} subflow 0: fast recovery begins");
    assert_eq!(recoveries, [&at(2), &at(4), &at(6)]);
    assert_eq!(lines[lines.len() - 2..], ["6 subflow 0: end", "6 subflow 0: slow start begins"]);
}

/// What has just been counted is drawn once, also a timeout of the SYN; counts of before the trace are
/// not.
#[test]
fn counts_are_instants() {
    let of = |timeouts, probes, undos| State { timeouts, probes, undos, ..STATE };
    let instants = |first: State, shakes_hands: bool| -> Vec<String> {
        let begins = if shakes_hands { (0, sent(0, "SYN")) } else { (0, What::Acked { bytes: 0 }) };
        let lines = drawn(
            &[
                (0, opens("reno", !shakes_hands)),
                begins,
                (1, state(0, first)),
                (2, state(0, of(2, 0, 0))),
                (3, state(0, of(4, 1, 1))),
                (4, state(0, of(4, 1, 1))),
            ],
            false,
        );
        let is_phase = |line: &String| line.contains("begins") || line.contains("end");
        lines.into_iter().filter(|line| !is_phase(line)).collect()
    };
    let later = [
        "3 subflow 0: retransmission timeout",
        "3 subflow 0: retransmission timeout",
        "3 subflow 0: tail loss probe",
        "3 subflow 0: window restored",
    ];
    let first = ["1 subflow 0: retransmission timeout", "2 subflow 0: retransmission timeout"];
    assert_eq!(instants(State { timeouts: 1, ..CLOSED }, true), [&first[..], &later[..]].concat());
    assert_eq!(instants(of(2, 0, 0), false), later);
}

/// Windows, thresholds and round-trip times are drawn when they change, a window only of a subflow
/// that is established.
#[test]
fn counters_change() {
    let lines = drawn(
        &[
            (0, opens("reno", false)),
            (0, sent(1, "SYN")),
            (0, state(1, CLOSED)),
            (1, state(1, State { srtt: Some(0.5e-6), ..STATE })),
            (2, state(1, State { srtt: Some(0.5e-6), ssthresh: Some(4.0), cwnd: 5.5, ..STATE })),
            (3, state(1, State { srtt: Some(0.25e-6), ssthresh: Some(4.0), cwnd: 5.5, ..STATE })),
            (4, What::Acked { bytes: 77 }),
        ],
        true,
    );
    let expected = [
        "1 subflow 1: cwnd: 10",
        "1 subflow 1: srtt: 0.5",
        "2 subflow 1: cwnd: 5.5",
        "2 subflow 1: ssthresh: 4",
        "3 subflow 1: srtt: 0.25",
        "4 acknowledged: 77",
    ];
    let is_phase = |line: &String| line.contains("begins") || line.contains("end");
    assert_eq!(lines.into_iter().filter(|line| !is_phase(line)).collect::<Vec<_>>(), expected);
}

/// A suppression is a slice on a track of its own. It ends with the subflow, or with the flow.
#[test]
fn suppressions_end() {
    let suppressed = State { suppressed: true, ..STATE };
    let lines = drawn(
        &[
            (0, opens("amp", false)),
            (0, sent(0, "SYN")),
            (0, sent(1, "SYN")),
            (0, state(1, State { suppressed: true, ..CLOSED })),
            (1, state(0, suppressed)),
            (1, state(1, suppressed)),
            (2, state(0, STATE)),
            (3, state(0, suppressed)),
            (4, state(1, State { suppressed: true, ..CLOSED })),
            (5, What::Ends { finished: true }),
        ],
        false,
    );
    let of: Vec<_> = lines.iter().filter(|line| line.contains("suppression")).collect();
    let expected = [
        "1 subflow 0: suppression: suppressed begins",
        "1 subflow 1: suppression: suppressed begins",
        "2 subflow 0: suppression: end",
        "3 subflow 0: suppression: suppressed begins",
        "4 subflow 1: suppression: end",
        "5 subflow 0: suppression: end",
    ];
    assert_eq!(of, expected);
}

/// Packets of some families have no handshake and no phases; of a connection that was open before, subflows
/// begin with their states, and SYNs begin others.
#[test]
fn subflows_begin_in_different_ways() {
    let plain = drawn(&[(0, opens_without_phases()), (0, sent(0, "data")), (1, state(0, STATE))], true);
    assert_eq!(plain, ["1 subflow 0: cwnd: 10"]);
    let open = [
        (0, opens("lia", true)),
        (1, sent(0, "data")),
        (2, state(0, STATE)),
        (3, state(1, CLOSED)),
        (4, sent(1, "SYN")),
        (5, state(1, CLOSED)),
        (6, sent(0, "data")),
    ];
    assert_eq!(drawn(&open, false), ["2 subflow 0: slow start begins", "4 subflow 1: handshake begins"]);
}

/// Packets are lost for a reason.
#[test]
fn losses_are_instants() {
    let lost = |cause| What::Lost {
        to: End::Receiver,
        packet: sight(0, "data"),
        link: "A->B".to_string(),
        cause,
        queued: 3,
        queue: Vec::new(),
    };
    let lines = drawn(
        &[
            (0, opens_without_phases()),
            (0, sent(0, "data")),
            (1, lost("full")),
            (2, lost("down")),
            (3, lost("wire")),
            (4, lost("trimmed")),
            (5, lost("returned")),
        ],
        false,
    );
    let expected = [
        "1 subflow 0: data lost at A->B: its queue is full",
        "2 subflow 0: data lost at A->B: it is down",
        "3 subflow 0: data lost on A->B",
        "4 subflow 0: data trimmed at A->B",
        "5 subflow 0: data sent back from A->B: no room for it",
    ];
    assert_eq!(lines, expected);
}

/// Messages take the first lane that is free. Those that are left end with the connection.
#[test]
fn messages_take_lanes() {
    let lines = drawn(
        &[
            (0, opens("reno", true)),
            (1, given(0, 100)),
            (2, given(1, 200)),
            (3, done(0)),
            (3, done(7)),
            (4, given(2, 300)),
            (5, done(1)),
            (6, What::Ends { finished: false }),
        ],
        false,
    );
    let expected = [
        "1 messages: flow 0, 100 B begins",
        "2 messages, lane 2: flow 1, 100 B begins",
        "3 messages: end",
        "4 messages: flow 2, 100 B begins",
        "5 messages, lane 2: end",
        "6 messages: end",
    ];
    assert_eq!(lines, expected);
}
