//! Traces of flows: they say what the tables of the run say, packet by packet and loss by loss.

use crate::common::{run_on, scenario};
use linkpool_sim::{End, FlowId, RunError, Traced, What, trace};
use linkpool_units::Time;

const INCAST: &str = "
    duration = \"1ms\"
    drain = \"5s\"
    seed = 5
    [topology.many-to-one]
    senders = 6
    rate = \"1Gbps\"
    delay = \"2us\"
    [queue]
    limit = 8
    [transport.t]
    control = \"reno\"
    [[workload.incast]]
    transport = \"t\"
    senders = 6
    receiver = \"R\"
    size = \"100KB\"
    every = \"1s\"
";

/// Flows that have connections of their own.
fn alone(flows: &[FlowId]) -> Vec<Traced> {
    flows.iter().map(|flow| Traced::from(*flow)).collect()
}

/// Six flows through a queue of eight packets: every drop, every segment and every end is in the
/// trace of all flows.
#[test]
fn a_trace_tells_what_the_tables_count() {
    let s = scenario(INCAST);
    let run = run_on(&s, 1);
    let all: Vec<FlowId> = run.outcome.flows.iter().map(|flow| flow.flow).collect();
    let rows = trace(&s, &alone(&all), &mut |_| true).unwrap();
    assert!(rows.is_sorted_by_key(|row| row.at));
    let drops: u64 = run.outcome.links.iter().map(|link| link.stats.rare.drops).sum();
    assert!(drops > 20, "{drops}");
    let mut lost = 0;
    for row in &rows {
        let What::Lost { link, cause, queued, queue, .. } = &row.what else { continue };
        lost += 1;
        // At the switch, or in the burst of a sender at its own link.
        assert!(link == "W->R" || link.ends_with("->W"), "{link}");
        assert_eq!(*cause, "full");
        // Eight wait, and one is being sent.
        assert_eq!(*queued, 9);
        assert_eq!(queue.iter().map(|(_, packets)| packets).sum::<u32>(), 9);
        assert!(queue.iter().all(|(flow, _)| flow.is_some_and(|flow| all.contains(&flow))), "{queue:?}");
    }
    assert_eq!(lost, drops);
    for flow in &run.outcome.flows {
        let of = || rows.iter().filter(|row| row.flow == flow.flow);
        let sent = |row: &&linkpool_sim::Row| matches!(&row.what, What::Sent { by: End::Sender, packet, .. } if packet.kind == "data");
        assert_eq!(of().filter(sent).count() as u64, flow.total(|subflow| subflow.segments));
        let timeouts = of().filter_map(|row| match &row.what {
            What::State { state, .. } => Some(state.timeouts),
            _ => None,
        });
        assert_eq!(timeouts.max(), Some(flow.total(|subflow| subflow.timeouts)));
        let last = of().next_back().unwrap();
        assert_eq!((Some(Time(last.at)), &last.what), (flow.finished, &What::Ends { finished: true }));
        let opens = of().next().unwrap();
        assert_eq!(Time(opens.at), flow.planned.flow.start);
    }
}

/// A trace of one flow among others is the part of the trace of all that is about it, and ends with
/// it.
#[test]
fn a_trace_of_one_flow_is_part_of_that_of_all() {
    let s = scenario(INCAST);
    let all = trace(&s, &alone(&FlowId::first(6).collect::<Vec<_>>()), &mut |_| true).unwrap();
    let one = trace(&s, &alone(&[FlowId::new(3)]), &mut |_| true).unwrap();
    assert_eq!(one, all.into_iter().filter(|row| row.flow == FlowId::new(3)).collect::<Vec<_>>());
}

#[test]
fn a_trace_may_be_stopped() {
    // Before it begins, however short it is, and when its progress is told next.
    for (size, told) in [("100KB", 0), ("5MB", 0), ("5MB", 1)] {
        let mut left = told;
        let mut tell = |_| {
            left -= 1;
            left >= 0
        };
        let stopped = trace(&scenario(&INCAST.replace("100KB", size)), &alone(&[FlowId::new(3)]), &mut tell);
        assert!(matches!(stopped, Err(RunError::Stopped)), "{size} {told}");
    }
}

/// A trace ends with the last of its flows, not with the first, and not with the run.
#[test]
fn a_trace_ends_with_its_flows() {
    let flow = |from: &str, size: &str| {
        format!("[[workload.flow]]\ntransport = \"t\"\nfrom = \"{from}\"\nto = \"R\"\n{size}\n")
    };
    let text = format!(
        "duration = \"300ms\"\n[topology.many-to-one]\nsenders = 3\nrate = \"1Gbps\"\ndelay = \"2us\"\n[queue]\nlimit = 50\n\
         [transport.t]\ncontrol = \"reno\"\n{}{}{}",
        flow("S1", "size = \"10KB\""),
        flow("S2", "size = \"2MB\""),
        flow("S3", "")
    );
    let mut last = Time::ZERO;
    let mut tell = |progress: linkpool_sim::Progress| {
        last = progress.now;
        true
    };
    let rows = trace(&scenario(&text), &alone(&FlowId::first(2).collect::<Vec<_>>()), &mut tell).unwrap();
    let ends: Vec<FlowId> =
        rows.iter().filter(|row| row.what == What::Ends { finished: true }).map(|row| row.flow).collect();
    assert_eq!(ends, [FlowId::new(0), FlowId::new(1)]);
    let end = Time(rows.last().unwrap().at);
    assert!(end > Time::from_ms(16) && last < end + Time::from_ms(10), "{end} {last}");
}

/// Links that fail, and lose packets, say so.
#[test]
fn a_trace_names_the_cause_of_a_loss() {
    let text = INCAST.replace("limit = 8", "limit = 100");
    let down = "[routing]\nreconverge = \"never\"\n[[change]]\nlinks = [\"W->R\"]\nstate = \"down\"\nat = \"500us\"\nuntil = \"2ms\"";
    let wire = "[[change]]\nlinks = [\"W->R\"]\nloss = 0.05";
    let host = wire.replace("W->R", "S1->W");
    for (change, link, cause) in [(down, "W->R", "down"), (wire, "W->R", "wire"), (&host, "S1->W", "wire")] {
        let s = scenario(&format!("{text}\n{change}"));
        let run = run_on(&s, 1);
        let rows = trace(&s, &alone(&FlowId::first(6).collect::<Vec<_>>()), &mut |_| true).unwrap();
        let named = |row: &&linkpool_sim::Row| matches!(&row.what, What::Lost { cause: c, .. } if *c == cause);
        let rare = run.link(link).stats.rare;
        assert_eq!(rows.iter().filter(named).count() as u64, rare.drops_down + rare.drops_loss, "{cause}");
        assert!(rare.drops_down + rare.drops_loss > 0);
    }
}

/// Four ranks send all to all in chunks, over queues that are too short: messages wait for others
/// on their connections, and packets are lost.
const MESSAGES: &str = "
    duration = \"1s\"
    drain = \"5s\"
    seed = 5
    [topology.many-to-one]
    senders = 4
    rate = \"1Gbps\"
    delay = \"2us\"
    [queue]
    limit = 20
    [transport.t]
    control = \"reno\"
    [[workload.collective]]
    transport = \"t\"
    algorithm = \"all-to-all\"
    ranks = 4
    size = \"400KB\"
    chunks = 5
    outstanding = 2
";

/// Each message begins and ends in the trace as in the tables, and each segment of its connection is
/// there.
#[test]
fn a_trace_of_messages_tells_what_the_tables_count() {
    let s = scenario(MESSAGES);
    let run = run_on(&s, 1);
    let flows = &run.outcome.flows;
    let all: Vec<Traced> = flows.iter().map(|flow| Traced { flow: flow.flow, connection: flow.connection }).collect();
    assert!(all.iter().filter(|of| of.flow != of.connection).count() > 20);
    let rows = trace(&s, &all, &mut |_| true).unwrap();
    assert!(rows.is_sorted_by_key(|row| row.at));
    for flow in flows {
        let given = rows.iter().find(|row| matches!(row.what, What::Given { message, .. } if message == flow.flow));
        let done = rows.iter().find(|row| matches!(row.what, What::Done { message, .. } if message == flow.flow));
        let (given, done) = (given.unwrap(), done.unwrap());
        assert_eq!((given.flow, Time(given.at)), (flow.connection, flow.planned.flow.start));
        assert_eq!((done.flow, Some(Time(done.at))), (flow.connection, flow.finished));
        let What::Given { begin, end, sent, acked, .. } = given.what else { continue };
        assert_eq!(Some(end - begin), flow.planned.flow.size);
        assert!(acked <= sent && sent <= begin, "{acked} {sent} {begin}");
    }
    let sent = |row: &&linkpool_sim::Row| matches!(&row.what, What::Sent { by: End::Sender, packet, .. } if packet.kind == "data");
    let segments: u64 = flows.iter().map(|flow| flow.total(|subflow| subflow.segments)).sum();
    assert_eq!(rows.iter().filter(sent).count() as u64, segments);
    let lost = rows.iter().filter(|row| matches!(row.what, What::Lost { .. })).count() as u64;
    assert_eq!(lost, run.outcome.links.iter().map(|link| link.stats.rare.drops).sum::<u64>());
    assert!(lost > 0);
}

/// The trace of one message is the part of its connection's from when it is given on, with the
/// packets that were on the way then; only the state of all subflows is told again.
#[test]
fn a_trace_of_one_message_begins_with_it() {
    let s = scenario(MESSAGES);
    let flows = run_on(&s, 1).outcome.flows;
    let all: Vec<Traced> = flows.iter().map(|flow| Traced { flow: flow.flow, connection: flow.connection }).collect();
    let whole = trace(&s, &all, &mut |_| true).unwrap();
    let is_state = |row: &linkpool_sim::Row| matches!(row.what, What::State { .. } | What::Acked { .. });
    let mut behind_others = 0;
    for one in all.iter().filter(|of| of.flow != of.connection).step_by(5) {
        let rows = trace(&s, &[*one], &mut |_| true).unwrap();
        let is_given = |row: &linkpool_sim::Row| matches!(row.what, What::Given { message, .. } if message == one.flow);
        let is_done = |row: &linkpool_sim::Row| matches!(row.what, What::Done { message, .. } if message == one.flow);
        let from = rows.iter().position(is_given).unwrap();
        let in_flight = rows[..from].iter().filter(|row| matches!(row.what, What::Sent { .. })).count();
        assert!(!rows[..from].iter().any(is_state), "what was on the way, and `Opens`");
        behind_others += in_flight;
        let of = |row: &&linkpool_sim::Row| row.flow == one.connection;
        // What has been sent by then, and has neither arrived nor been lost.
        let (mut sent, mut gone) = (0, 0);
        for row in whole.iter().filter(of).take_while(|row| !is_given(row)) {
            sent += usize::from(matches!(row.what, What::Sent { .. }));
            gone += usize::from(matches!(row.what, What::Arrived { .. } | What::Lost { .. }));
        }
        // An event of the instant in which the message is given may stand on either side.
        assert!((sent - gone..=sent - gone + 2).contains(&in_flight), "{in_flight} of {sent} - {gone}");
        let mine: Vec<_> = whole.iter().filter(of).skip_while(|row| !is_given(row)).collect();
        let end = 1 + mine.iter().position(|row| is_done(row)).unwrap();
        // Events of the last window may be left out, once the message has ended.
        let last = mine[end - 1].at - Time::from_us(3).0;
        let events = |rows: Vec<&linkpool_sim::Row>| -> Vec<linkpool_sim::Row> {
            rows.into_iter().filter(|row| !is_state(row) && row.at < last).cloned().collect()
        };
        let until = 1 + rows.iter().position(is_done).unwrap();
        let (alone, among) = (events(rows[from..until].iter().collect()), events(mine[..end].to_vec()));
        let differ = alone.iter().zip(&among).find(|(one, other)| one != other);
        assert!(differ.is_none() && alone.len() == among.len(), "{} {} {differ:?}", alone.len(), among.len());
        let is_told = |row: &&linkpool_sim::Row| row.at == rows[from].at && matches!(row.what, What::State { .. });
        assert!(rows[from..].iter().any(|row| is_told(&row)), "the state of the subflow");
    }
    assert!(behind_others > 0);
}
