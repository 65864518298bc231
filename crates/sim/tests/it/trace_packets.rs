//! Traces of packets: each packet that an end sends arrives or is lost, and leaves its host when the
//! host's link is free.

use crate::common::{Run, run_on, scenario};
use linkpool_sim::{End, FlowId, Row, Sight, Traced, What, trace};
use std::collections::BTreeMap;

/// Ten Gbit/s: 0.8 ns a byte.
const BYTE: u64 = 800;
const DELAY: u64 = 2_000_000;

fn line(senders: u32, more: &str) -> String {
    format!(
        "duration = \"1ms\"\ndrain = \"2s\"\nseed = 3\n[topology.many-to-one]\nsenders = {senders}\nrate = \"10Gbps\"\n\
         delay = \"2us\"\n{more}"
    )
}

fn incast(senders: u32, queue: &str, transport: &str, size: &str) -> String {
    let text = format!(
        "[queue]\n{queue}\n[transport.t]\n{transport}\n[[workload.incast]]\ntransport = \"t\"\nsenders = {senders}\n\
         receiver = \"R\"\nsize = \"{size}\"\nevery = \"1s\"\n"
    );
    line(senders, &text)
}

/// A run, and the trace of all its flows.
fn traced(text: &str) -> (Run, Vec<Row>) {
    let s = scenario(text);
    let run = run_on(&s, 1);
    let flows: Vec<Traced> = run.outcome.flows.iter().map(|flow| Traced::from(flow.flow)).collect();
    let rows = trace(&s, &flows, &mut |_| true).unwrap();
    assert!(rows.is_sorted_by_key(|row| row.at));
    (run, rows)
}

fn count(rows: &[Row], of: impl Fn(&What) -> bool) -> u64 {
    rows.iter().filter(|row| of(&row.what)).count() as u64
}

/// A packet, whatever switches do to it.
type Name = (FlowId, u32, &'static str, u32, u32, u16);

fn name(flow: FlowId, packet: &Sight) -> Name {
    let is_data = matches!(packet.kind, "data" | "header" | "returned");
    let kind = if is_data { "data" } else { packet.kind };
    (flow, packet.subflow.into(), kind, packet.seq, packet.ack, packet.payload)
}

/// Each packet arrives or is lost once for each time that it was sent, and only those that are sent
/// at the end of their flow do neither. Gives the number of packets that were sent.
fn check_fates(rows: &[Row]) -> usize {
    let mut under_way: BTreeMap<Name, Vec<(u64, Option<u64>)>> = BTreeMap::new();
    let (mut ends, mut states) = (BTreeMap::new(), BTreeMap::new());
    let mut sent = 0;
    for Row { at, flow, what } in rows {
        match what {
            What::Sent { packet, next, .. } => {
                sent += 1;
                assert!(next.is_none_or(|next| next >= at + u64::from(packet.size) * BYTE + DELAY), "{packet:?}");
                under_way.entry(name(*flow, packet)).or_default().push((*at, *next));
            }
            // Its header goes on.
            What::Lost { cause: "trimmed" | "returned", .. } => {}
            What::Arrived { packet, .. } | What::Lost { packet, .. } => {
                let times = under_way.get_mut(&name(*flow, packet)).unwrap_or_else(|| panic!("{packet:?} at {at}"));
                // Two copies may be under way, on two ways.
                let (_, next) = times.remove(0);
                assert!(next.is_none_or(|next| next < *at) || matches!(what, What::Lost { .. }), "{packet:?} at {at}");
            }
            What::State { subflow, state } => {
                let before = states.insert((*flow, *subflow), *state);
                assert!(before != Some(*state), "{state:?} is told twice");
            }
            What::Ends { .. } => _ = ends.insert(*flow, *at),
            _ => {}
        }
    }
    for ((flow, ..), left) in &under_way {
        assert!(left.iter().all(|(at, _)| at + 100_000_000 > ends[flow]), "{flow:?}: {left:?}");
    }
    sent
}

/// By host that sends data: the link sends packets one after another, in the order in which they came,
/// and each reaches the switch a delay later. Those that find no room never do.
fn check_departures(rows: &[Row]) {
    let mut free: BTreeMap<FlowId, u64> = BTreeMap::new();
    for Row { at, flow, what } in rows {
        let What::Sent { by: End::Sender, packet, next } = what else { continue };
        let Some(next) = next else { continue };
        let free = free.entry(*flow).or_default();
        *free = (*free).max(*at) + u64::from(packet.size) * BYTE;
        assert_eq!(*next, *free + DELAY, "{packet:?} of {flow:?} at {at}");
    }
}

/// Whether a host's port is a FIFO queue or has classes, of which one is used, it sends and loses the
/// same packets at the same times; of those of the FIFO queue alone it is known beforehand when.
#[test]
fn ports_of_both_kinds_show_the_same() {
    for limit in [1000, 6] {
        let of = |discipline: &str| {
            let queue = format!("limit = 8\n[queue.layer.host]\nlimit = {limit}\n{discipline}");
            traced(&incast(4, &queue, "control = \"reno\"", "60KB"))
        };
        let (run, rows) = of("");
        check_departures(&rows);
        assert!(check_fates(&rows) > 200);
        let (_, served) = of("discipline = \"priority\"");
        check_departures(&served);
        check_fates(&served);
        let sent = |rows: &[Row]| -> Vec<(u64, FlowId, Sight)> {
            let of = |row: &Row| match &row.what {
                What::Sent { packet, .. } => Some((row.at, row.flow, packet.clone())),
                _ => None,
            };
            rows.iter().filter_map(of).collect()
        };
        assert_eq!(sent(&rows), sent(&served));
        let lost = |rows: &[Row]| count(rows, |what| matches!(what, What::Lost { cause: "full", .. }));
        let drops: u64 = run.outcome.links.iter().map(|link| link.stats.rare.drops).sum();
        assert_eq!((lost(&rows), lost(&served)), (drops, drops));
        let at_hosts = count(&rows, |what| matches!(what, What::Lost { link, .. } if link.ends_with("->W")));
        assert_eq!(at_hosts > 0, limit == 6);
        let nowhere = |rows: &[Row]| count(rows, |what| matches!(what, What::Sent { next: None, .. }));
        assert_eq!((nowhere(&rows), nowhere(&served)), (at_hosts, at_hosts));
    }
}

/// Of a connection with two subflows, each has its handshake, its data and its ACKs.
#[test]
fn subflows_are_told_apart() {
    // In turns, so that both subflows have data of 100 KB.
    let transport = "control = \"lia\"\nsubflows = 2\ninitial_window = 2\nscheduler = \"round-robin\"";
    let (run, rows) = traced(&incast(2, "limit = 12", transport, "100KB"));
    assert!(check_fates(&rows) > 200);
    for flow in &run.outcome.flows {
        for (number, subflow) in flow.subflows.iter().enumerate() {
            let of = |row: &&Row| row.flow == flow.flow;
            let sent = |by: End, kind: &str| {
                let is = |row: &&Row| {
                    matches!(&row.what, What::Sent { by: end, packet, .. } if *end == by && packet.kind == kind
                        && packet.subflow.index() == number)
                };
                rows.iter().filter(of).filter(is).count() as u64
            };
            assert_eq!((sent(End::Sender, "SYN"), sent(End::Receiver, "SYN-ACK")), (1, 1));
            assert_eq!((sent(End::Receiver, "SYN"), sent(End::Sender, "SYN-ACK")), (0, 0));
            assert_eq!(sent(End::Sender, "data"), subflow.stats.segments);
            assert!(sent(End::Receiver, "ACK") > 0 && subflow.stats.segments > 5);
        }
    }
}

/// NDP: the receiver answers each packet by an ACK, each header by a NACK, and in its turns asks for
/// packets; headers that find no room come back to their sender.
#[test]
fn ndp_shows_headers_and_pulls() {
    let queue = "discipline = \"trimming\"\ntrimming = { headers = 4 }";
    let (run, rows) = traced(&incast(8, queue, "control = \"ndp\"\nmss = \"1000B\"", "40KB"));
    assert!(check_fates(&rows) > 800);
    let links = |of: fn(&linkpool_network::RareEvents) -> u64| -> u64 {
        run.outcome.links.iter().map(|link| of(&link.stats.rare)).sum()
    };
    let lost = |cause: &str| count(&rows, |what| matches!(what, What::Lost { cause: c, .. } if *c == cause));
    // What is trimmed and has no room as a header either is sent back at once.
    assert_eq!(lost("trimmed"), links(|rare| rare.trims) - links(|rare| rare.returns));
    assert_eq!(lost("returned"), links(|rare| rare.returns));
    assert!(lost("trimmed") > 20 && lost("returned") > 20);
    let back = |what: &What| matches!(what, What::Lost { cause: "returned", to, .. } if *to == End::Receiver);
    assert_eq!(count(&rows, back), lost("returned"), "they were on their way to the receiver");
    let arrived = |at: End, kind: &str| {
        count(&rows, |what| matches!(what, What::Arrived { at_end, packet } if *at_end == at && packet.kind == kind))
    };
    let sent = |end: End, kind: &str| {
        count(&rows, |what| matches!(what, What::Sent { by, packet, .. } if *by == end && packet.kind == kind))
    };
    assert_eq!(arrived(End::Sender, "returned"), lost("returned"));
    assert_eq!(sent(End::Receiver, "ACK"), arrived(End::Receiver, "data"));
    assert_eq!(sent(End::Receiver, "NACK"), arrived(End::Receiver, "header"));
    assert_eq!(sent(End::Receiver, "PULL"), count(&rows, |what| *what == What::Turn));
    // A PULL takes the time of a full packet on the link.
    let turns: Vec<u64> = rows.iter().filter(|row| row.what == What::Turn).map(|row| row.at).collect();
    let apart = turns.windows(2).map(|two| two[1] - two[0]);
    assert_eq!(apart.min(), Some(1_064 * BYTE));
    assert!(arrived(End::Sender, "NACK") > 20 && arrived(End::Sender, "PULL") > 100);
    let segments: u64 = run.outcome.flows.iter().map(|flow| flow.total(|s| s.segments)).sum();
    assert_eq!(sent(End::Sender, "data"), segments);
    for flow in FlowId::first(8) {
        let mut numbers = Vec::new();
        for row in rows.iter().filter(|row| row.flow == flow) {
            match &row.what {
                What::Opens { pulled, mss, stays_open, size, .. } => {
                    assert_eq!((*pulled, *mss, *stays_open, *size), (true, 1_000, false, Some(40_000)));
                }
                What::State { state, .. } => assert!(state.established && !state.recovering && !state.suppressed),
                What::Sent { by: End::Sender, packet, .. } if packet.kind == "data" => {
                    assert_eq!((packet.ack, packet.payload, packet.size), (1_000 * packet.seq, 1_000, 1_064));
                    numbers.push(packet.seq);
                }
                _ => {}
            }
        }
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers, (0..40).collect::<Vec<_>>());
    }
}

fn messages(queue: &str, algorithm: &str, more: &str) -> String {
    line(
        3,
        &format!(
            "[queue]\nlimit = 20\n{queue}\n[transport.t]\ncontrol = \"reno\"\nreceive_buffer = \"60KB\"\n\
             [[workload.collective]]\ntransport = \"t\"\nalgorithm = \"{algorithm}\"\nranks = 3\nsize = \"240KB\"\n\
             chunks = 4\n{more}"
        ),
    )
}

/// A step of a ring begins when the step before has arrived: messages between hosts go on in a run that
/// is traced, and each begins and ends as in any other run. The run ends with the last flow.
#[test]
fn a_traced_run_is_the_same_run() {
    let s = scenario(&messages("", "ring-all-reduce", ""));
    let run = run_on(&s, 1);
    let flows = &run.outcome.flows;
    let all: Vec<Traced> = flows.iter().map(|flow| Traced { flow: flow.flow, connection: flow.connection }).collect();
    let (mut last, mut calls) = (0, 0);
    let rows = trace(&s, &all, &mut |progress| {
        (last, calls) = (progress.now.0, calls + 1);
        true
    });
    let rows = rows.unwrap();
    // It is told now and again, not after each window.
    assert!(last < rows.last().unwrap().at + 100_000_000_000 && calls < 10, "{last} {calls}");
    for flow in flows {
        let at = |of: &dyn Fn(&What) -> bool| rows.iter().find(|row| of(&row.what)).map(|row| row.at);
        let given = at(&|what| matches!(what, What::Given { message, .. } if *message == flow.flow));
        let done = at(&|what| matches!(what, What::Done { message, finished: true } if *message == flow.flow));
        assert_eq!((given, done), (Some(flow.planned.flow.start.0), flow.finished.map(|at| at.0)));
    }
    for Row { what, .. } in &rows {
        let What::Opens { stays_open, buffer, pulled, size, control, .. } = what else { continue };
        assert_eq!((*stays_open, *buffer, *pulled, *size, *control), (true, None, false, None, "reno"));
    }
    assert_eq!(count(&rows, |what| matches!(what, What::Opens { .. })), 3);
}

/// Of one message on a connection that has carried others: what its host sent is known whatever the
/// kind of its port, and a timer that had nothing to do leaves no row.
#[test]
fn a_message_is_traced_at_ports_of_both_kinds() {
    let of = |discipline: &str| -> (u64, Vec<Row>) {
        let s = scenario(&messages(
            &format!("[queue.layer.host]\nlimit = 1000\n{discipline}"),
            "all-to-all",
            "outstanding = 2\n",
        ));
        let flows = run_on(&s, 1).outcome.flows;
        let last = flows.iter().max_by_key(|flow| flow.finished).unwrap();
        let rows = trace(&s, &[Traced { flow: last.flow, connection: last.connection }], &mut |_| true).unwrap();
        let is_given = |row: &Row| matches!(row.what, What::Given { message, .. } if message == last.flow);
        let from = rows.iter().position(is_given).unwrap();
        // Of packets on the way it is known when they leave only if that is known as they are sent.
        let known = |what: &What| matches!(what, What::Sent { next: Some(_), .. });
        let in_flight = count(&rows[..from], |what| matches!(what, What::Sent { .. }));
        assert!(in_flight > 0);
        assert_eq!(count(&rows[..from], known), if discipline.is_empty() { in_flight } else { 0 });
        (rows.last().unwrap().at, rows[from..].to_vec())
    };
    let ((end, fifo), (_, served)) = (of(""), of("discipline = \"priority\""));
    assert_eq!(fifo.len(), served.len());
    for (one, other) in fifo.iter().zip(&served) {
        match (&one.what, &other.what) {
            (What::Sent { packet, next, .. }, What::Sent { packet: same, next: other_next, .. }) => {
                assert_eq!((one.at, packet), (other.at, same));
                let is_late = other_next.is_none() && other.at + 50_000_000 > end;
                assert!(next == other_next || is_late, "{next:?} {other_next:?}");
            }
            _ => assert_eq!(one, other),
        }
    }
    for (place, row) in fifo.iter().enumerate().filter(|(_, row)| matches!(row.what, What::Timer { .. })) {
        assert!(fifo[place + 1..].iter().any(|next| next.at == row.at && next.flow == row.flow), "{row:?}");
    }
}

/// A connection that is given up ends, and has not finished; without a bound of its buffers it has none.
#[test]
fn what_is_given_up_ends() {
    let (_, rows) = traced(
        "duration = \"30s\"\n[topology.many-to-one]\nsenders = 2\nrate = \"1Mbps\"\ndelay = \"2us\"\n[queue]\nlimit = \"100B\"\n\
         [transport.t]\ncontrol = \"reno\"\nack_size = \"200B\"\nsyn_retries = 2\n[[workload.flow]]\ntransport = \"t\"\n\
         from = \"S2\"\nto = \"R\"\nsize = \"1KB\"\n",
    );
    let first = &rows[0];
    assert_eq!(first.at, 0);
    let What::Opens { src, dst, transport, size, stays_open, buffer, .. } = &first.what else { panic!("{first:?}") };
    assert_eq!((src.as_str(), dst.as_str(), transport.as_str()), ("S2", "R", "t"));
    assert_eq!((*size, *stays_open, *buffer), (Some(1_000), false, None));
    let last = rows.last().unwrap();
    assert_eq!((last.at, &last.what), (7_000_000_000_000, &What::Ends { finished: false }));
    // Its SYN at once and after 1, 3, and never again at 7 s, when it is given up.
    let times = |of: &dyn Fn(&What) -> bool| -> Vec<u64> {
        rows.iter().filter(|row| of(&row.what)).map(|row| row.at / 1_000_000_000_000).collect()
    };
    assert_eq!(times(&|what| matches!(what, What::Timer { of: End::Sender, .. })), [1, 3, 7]);
    assert_eq!(times(&|what| matches!(what, What::Sent { packet, next: None, .. } if packet.kind == "SYN")), [0, 1, 3]);
    let lost = |what: &What| matches!(what, What::Lost { link, to: End::Receiver, .. } if link == "S2->W");
    assert_eq!(times(&lost), [0, 1, 3]);
}
