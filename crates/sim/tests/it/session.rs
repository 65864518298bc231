//! Runs that a program drives: the same as if all messages had been in the file, whenever it pauses, on any number of
//! threads.

use crate::common::{cases, run, run_on, scenario};
use crate::programs::beside;
use linkpool_network::HostId;
use linkpool_sim::{Event, Happened, Here, Options, Plan, Send, SendError, Session, SessionError, Timer};
use linkpool_units::Time;
use proptest::prelude::*;
use std::sync::Arc;

/// A fat-tree of 16 hosts.
fn tree(more: &str) -> String {
    format!(
        "duration = \"20ms\"\ndrain = \"1s\"\n[topology.fat-tree]\nk = 4\nrate = \"10Gbps\"\ndelay = \"1us\"\n\
         [queue]\nlimit = 100\nmark = 20\n[transport.t]\ncontrol = \"dctcp\"\n[[workload.session]]\ntransport = \"t\"\n{more}"
    )
}

/// Two senders and a receiver, `R`, which is host 2.
fn two_to_one(more: &str) -> String {
    many_to_one(&format!("[[workload.session]]\ntransport = \"t\"\n{more}"))
}

fn many_to_one(more: &str) -> String {
    format!(
        "duration = \"20ms\"\ndrain = \"1s\"\n[topology.many-to-one]\nsenders = 2\nrate = \"10Gbps\"\ndelay = \"2us\"\n\
         [transport.t]\ncontrol = \"dctcp\"\n[transport.u]\ncontrol = \"reno\"\n{more}"
    )
}

fn open(text: &str, options: Options) -> Session {
    Session::open(Arc::new(scenario(text)), options).unwrap_or_else(|error| panic!("{error}"))
}

fn message((from, to): (usize, usize), bytes: u64, at: Time) -> Send {
    Send { from: HostId::new(from), to: HostId::new(to), bytes, tag: bytes + 7, at, channel: 0 }
}

fn go_on(_: linkpool_sim::Progress) -> bool {
    true
}

fn times(events: &[Event], what: Happened) -> Vec<Time> {
    events.iter().filter(|event| event.what == what).map(|event| event.at).collect()
}

/// Messages with a connection each are the flows that a file lists: they arrive, and are acknowledged, at the same
/// picosecond.
#[test]
fn messages_are_flows_of_a_file() {
    let flow = |from: &str, bytes: u64, ns: u64| {
        format!(
            "[[workload.flow]]\ntransport = \"t\"\nfrom = \"{from}\"\nto = \"R\"\nsize = \"{bytes}B\"\nstart = \"{ns}ns\"\n"
        )
    };
    let listed = [("S1", 100_000, 0), ("S2", 3_000_000, 17_001), ("S1", 1, 900_000)];
    let file = run(&many_to_one(&listed.map(|(from, bytes, ns)| flow(from, bytes, ns)).concat()));
    let expected = |time: fn(&linkpool_sim::FlowOutcome) -> Option<Time>| {
        let mut all: Vec<Time> = file.outcome.flows.iter().map(|flow| time(flow).expect("an end")).collect();
        all.sort();
        all
    };
    let mut session = open(&two_to_one("persistent = false\n"), Options { threads: Some(1), ..Options::default() });
    for (from, bytes, ns) in listed {
        let from = session.host(from).unwrap();
        // Each is sent when it is time.
        session.advance_to(Time::from_ns(ns), &mut go_on).unwrap();
        session.send(Send { from, ..message((0, 2), bytes, session.now()) }).unwrap();
    }
    // The first has ended long before the third is sent.
    assert_eq!(session.open_messages(), 2);
    assert!(session.drain(&mut go_on).unwrap());
    assert_eq!(session.open_messages(), 0);
    let events = session.events();
    assert_eq!(times(&events, Happened::Delivered), expected(|flow| flow.delivered));
    assert_eq!(times(&events, Happened::Acked), expected(|flow| flow.finished));
    assert!(
        events.is_sorted_by_key(|event| event.at)
            && events.iter().all(|event| event.message.tag == event.message.bytes + 7)
    );
    let (outcome, info) = session.close().unwrap();
    assert_eq!((outcome.data_packets, info.is_none()), (file.outcome.data_packets, true));
}

/// The second message finds the connection open: it has no handshake, and goes on with the window of the first.
#[test]
fn messages_share_a_connection_unless_each_has_its_own() {
    let second = |persistent| {
        let text = two_to_one(&format!("persistent = {persistent}\n"));
        let mut session = open(&text, Options { threads: Some(1), ..Options::default() });
        session.send(message((0, 2), 1_000_000, Time::ZERO)).unwrap();
        session.send(message((0, 2), 1_000, Time::from_ms(5))).unwrap();
        assert!(session.drain(&mut go_on).unwrap());
        times(&session.events(), Happened::Delivered)[1] - Time::from_ms(5)
    };
    // A link of 2 us and 1,000 B with headers twice; the handshake takes a round trip of 4 links more.
    let (shared, alone) = (second(true), second(false));
    assert!(shared > Time::from_us(4) && shared < Time::from_us(7), "{shared:?}");
    assert!(alone > shared + Time::from_us(8) && alone < shared + Time::from_us(9), "{alone:?}");
}

/// 48 messages over a fat-tree with several paths, once as a trace and once sent by a program: they have the same ports,
/// so the same paths, and arrive at the same picosecond, beside a flow or not, and with a connection for each as well. Two
/// of each host's go to the same host: the connections between two hosts have ports of their own.
#[test]
fn a_program_gets_the_paths_of_a_trace() {
    const TRIMMING: &str = "[queue]\ndiscipline = \"trimming\"\nlimit = 8\n";
    const FIFO: &str = "[queue]\nlimit = 100\nmark = 20\n";
    let networks = [
        (FIFO, "control = \"dctcp\"", "persistent = true"),
        (FIFO, "control = \"dctcp\"", "persistent = false"),
        (FIFO, "control = \"dctcp\"\npaths = \"scatter\"", "persistent = true"),
        (FIFO, "control = \"lia\"\nsubflows = 4\npaths = \"distinct\"", "persistent = true"),
        (TRIMMING, "control = \"uet\"\nbalancer = \"reps\"", "persistent = true"),
        ("[queue.pfc]\nbuffer = \"1MB\"\n", "control = \"dcqcn\"", "persistent = false"),
        (TRIMMING, "control = \"ndp\"", "persistent = false"),
    ];
    let sends = |rank: usize| [(4, 100_000), (4, 50_000), (9, 200_000)].map(|(on, bytes)| ((rank + on) % 16, bytes));
    let program = |rank: usize| {
        let sent = sends(rank).map(|(to, bytes)| format!("send {bytes}b to {to} tag {bytes}\n"));
        let from = |on: usize, bytes: u64| format!("recv {bytes}b from {} tag {bytes}\n", (rank + 16 - on) % 16);
        format!("rank {rank} {{\n{}{}{}{}}}\n", sent.concat(), from(4, 100_000), from(4, 50_000), from(9, 200_000))
    };
    let goal = format!("num_ranks 16\n{}", (0..16).map(program).collect::<String>());
    for (queue, transport, persistent) in networks {
        let text = |workload: &str| {
            format!(
                "duration = \"20ms\"\ndrain = \"1s\"\n[topology.fat-tree]\nk = 4\nrate = \"10Gbps\"\ndelay = \"1us\"\n\
                 {queue}[transport.t]\n{transport}\n{workload}transport = \"t\"\n"
            )
        };
        let traced = text(&format!("[[workload.program]]\nfile = \"p.goal\"\nformat = \"goal\"\n{persistent}\n"));
        let traced = run_on(&beside(&traced, &[("p.goal", goal.as_bytes())]), 1);
        let ends = |(at, from, to, bytes): (Option<Time>, HostId, HostId, u64)| (at.unwrap(), from, to, bytes);
        let flow = |flow: &linkpool_sim::FlowOutcome| {
            let of = &flow.planned.flow;
            ends((flow.delivered, of.src, of.dst, of.size.unwrap()))
        };
        let mut expected: Vec<_> = traced.outcome.flows.iter().map(flow).collect();
        expected.sort_unstable();
        // A process that starts flows long after changes the numbers of messages, but no ports.
        let later = "[[workload.poisson]]\ntransport = \"t\"\nload = 0.1\nsize = \"1KB\"\nstart = \"19ms\"\n";
        for beside in ["", later] {
            let driven = text(&format!("{beside}[[workload.session]]\n{persistent}\n"));
            let mut session = open(&driven, Options { threads: Some(1), ..Options::default() });
            for rank in 0..16 {
                for (to, bytes) in sends(rank) {
                    session.send(message((rank, to), bytes, Time::ZERO)).unwrap();
                }
            }
            assert!(session.drain(&mut go_on).unwrap());
            let delivered = session.events().into_iter().filter(|event| event.what == Happened::Delivered);
            let mut seen: Vec<_> =
                delivered.map(|e| ends((Some(e.at), e.message.from, e.message.to, e.message.bytes))).collect();
            seen.sort_unstable();
            assert_eq!(seen, expected, "{transport} {persistent} {beside}");
        }
    }
}

/// Eight messages from one host to another of another pod, with a connection each: they do not all have one path, as the
/// hash of the edge switch sends some by each of its two uplinks.
#[test]
fn connections_between_two_hosts_have_paths_of_their_own() {
    let mut session = open(&tree("persistent = false\n"), Options { threads: Some(1), ..Options::default() });
    for _ in 0..8 {
        session.send(message((0, 15), 100_000, Time::ZERO)).unwrap();
    }
    let edge = session.name(HostId::new(0));
    assert!(session.drain(&mut go_on).unwrap());
    let (outcome, _) = session.close().unwrap();
    let plan = Plan::new(&scenario(&tree("persistent = false\n")));
    let edge = plan.fabric.links_from(plan.fabric.node(&edge).unwrap()).next().expect("a cable");
    let uplinks = plan.fabric.links_from(plan.fabric.links()[edge.index()].to);
    let packets: Vec<u64> = uplinks.map(|link| outcome.links[link.index()].stats.packets).collect();
    // Two links to hosts, of which one gets ACKs, and two uplinks.
    assert_eq!(packets.iter().filter(|packets| **packets > 0).count(), 3, "{packets:?}");
}

/// A program that answers at the instant of an event: a message goes back and forth, and each begins when the one before
/// has arrived.
#[test]
fn a_program_answers_at_the_instant_of_an_event() {
    let answer = |event: &Event, here: &mut Here<'_>| {
        assert_eq!((here.now(), event.what == Happened::Delivered), (event.at, here.host() == event.message.to));
        if event.what == Happened::Delivered && event.message.tag < 9 {
            let back = Send {
                tag: event.message.tag + 1,
                ..message((here.host().index(), event.message.from.index()), 5_000, here.now())
            };
            here.send(back).unwrap();
        }
    };
    for threads in [1, 2, 4] {
        let options = Options { threads: Some(threads), react: Some(Arc::new(answer)), ..Options::default() };
        let mut session = open(&tree(""), options);
        session.send(Send { tag: 0, ..message((0, 15), 5_000, Time::from_us(3)) }).unwrap();
        assert!(session.drain(&mut go_on).unwrap());
        let events = session.events();
        let delivered: Vec<&Event> = events.iter().filter(|event| event.what == Happened::Delivered).collect();
        assert_eq!(delivered.iter().map(|event| event.message.tag).collect::<Vec<_>>(), (0..10).collect::<Vec<_>>());
        for pair in delivered.windows(2) {
            assert_eq!((pair[1].message.at, pair[1].message.from), (pair[0].at, pair[0].message.to));
        }
    }
}

/// The clock stops after the first event, in its window.
#[test]
fn a_step_ends_with_the_first_event() {
    let mut session = open(&tree(""), Options { threads: Some(1), ..Options::default() });
    assert!(!session.step(Time::from_us(9), &mut go_on).unwrap());
    assert_eq!(session.now(), Time::from_us(9));
    session.send(message((0, 15), 2_000, Time::from_us(10))).unwrap();
    session.send(message((1, 14), 2_000, Time::from_us(400))).unwrap();
    assert!(session.step(session.end(), &mut go_on).unwrap());
    let event = session.poll().unwrap();
    assert_eq!((event.what, event.message.from, session.poll()), (Happened::Delivered, HostId::new(0), None));
    assert!(event.at < session.now() && session.now() <= event.at + session.lookahead());
    // With an event at hand no time passes.
    assert!(session.step(session.end(), &mut go_on).unwrap());
    let now = session.now();
    assert!(session.step(session.end(), &mut go_on).unwrap());
    assert_eq!(session.now(), now);
}

#[test]
fn what_cannot_be_sent_is_said() {
    let mut session = open(&two_to_one(""), Options { threads: Some(1), ..Options::default() });
    session.advance_to(Time::from_us(5), &mut go_on).unwrap();
    let now = session.now();
    let ok = message((0, 2), 1, now);
    let said = |session: &mut Session, send| session.send(send).unwrap_err().to_string();
    assert_eq!(
        said(&mut session, Send { to: HostId::new(3), ..ok }),
        "host 3 is not in the fabric, whose hosts are 0 to 2"
    );
    assert_eq!(said(&mut session, Send { to: HostId::new(0), ..ok }), "host S1 would send to itself");
    assert_eq!(
        said(&mut session, Send { channel: 1, ..ok }),
        "channel 1 is not in the scenario, whose channels (its workloads of kind session) are 0 to 0"
    );
    let past = Time::from_us(5) - Time(1);
    assert_eq!(session.send(Send { at: past, ..ok }), Err(SendError::Past { at: past, now }));
    let end = session.end();
    assert_eq!(session.send(Send { at: end, ..ok }), Err(SendError::End { at: end, end }));
    assert!(matches!(session.advance_to(past, &mut go_on), Err(SessionError::Past { .. })));
    let beyond = end + Time(1);
    assert!(matches!(session.advance_to(beyond, &mut go_on), Err(SessionError::End { .. })));
    assert!(matches!(session.step(beyond, &mut go_on), Err(SessionError::End { .. })));
    assert_eq!((session.channels().collect::<Vec<_>>(), session.host("x")), (vec!["session"], None));
    assert_eq!((session.hosts(), session.host("R"), session.open_messages()), (3, Some(HostId::new(2)), 0));
    session.send(ok).unwrap();
    assert!(matches!(session.advance_to(end - Time(1), &mut |_| false), Err(SessionError::Run(_))));
    let until = two_to_one(
        "[until]\nflows = 1\nlabel = \"x\"\n[[workload.flow]]\ntransport = \"t\"\nfrom = \"S1\"\nto = \"R\"\nsize = \"1KB\"\nlabel = \"x\"\n",
    );
    let opened = Session::open(Arc::new(scenario(&until)), Options::default());
    assert!(matches!(opened, Err(SessionError::Until)));
}

/// Timers come at their instant, those of one instant in the order in which they were set, and before the events of a
/// later one; the program may set more at that instant.
#[test]
fn timers_are_due_at_their_instant() {
    let answer = |event: &Event, here: &mut Here<'_>| {
        let (now, host) = (here.now(), here.host());
        if event.what == Happened::Timer {
            assert_eq!((event.at, event.message.to, event.message.at), (now, host, now));
            match event.message.tag {
                // At this instant, and a message.
                1 => here.set_timer(Timer { host, tag: 10, at: now }).unwrap(),
                10 => {
                    let to = HostId::new(15);
                    here.send(Send { from: host, to, bytes: 1_000, tag: 11, at: now, channel: 0 }).unwrap();
                }
                _ => {}
            }
        }
        // The receiver tells the sender, who knows it a lookahead later.
        if event.what == Happened::Delivered {
            let (host, soonest) = (event.message.from, now + here.lookahead());
            let soon = here.set_timer(Timer { host, tag: 12, at: soonest - Time(1) }).unwrap_err();
            assert!(matches!(soon, SendError::Soon { .. }), "{soon}");
            here.set_timer(Timer { host, tag: 12, at: soonest }).unwrap();
            let nobody = here.set_timer(Timer { host: HostId::new(16), tag: 0, at: soonest });
            assert_eq!(nobody, Err(SendError::Host(16, 15)));
        }
    };
    for threads in [1, 2, 4] {
        let options = Options { threads: Some(threads), react: Some(Arc::new(answer)), ..Options::default() };
        let mut session = open(&tree(""), options);
        let at = Time::from_us(3);
        // Set first, and due last; of two at one instant the first comes first.
        for (host, tag, at) in [(2, 4, Time::from_ms(3)), (2, 3, at), (2, 2, at), (0, 1, at), (5, 0, Time::ZERO)] {
            session.set_timer(Timer { host: HostId::new(host), tag, at }).unwrap();
        }
        assert_eq!((session.open_timers(), session.open_messages()), (5, 0));
        assert!(session.step(session.end(), &mut go_on).unwrap());
        assert_eq!(session.events().iter().map(|event| event.message.tag).collect::<Vec<_>>(), [0]);
        assert_eq!(session.open_timers(), 4);
        assert!(session.drain(&mut go_on).unwrap());
        assert_eq!((session.open_timers(), session.open_messages()), (0, 0));
        let events = session.events();
        let due: Vec<(u64, Time)> = events
            .iter()
            .filter(|event| event.what == Happened::Timer)
            .map(|event| (event.message.tag, event.at))
            .collect();
        let delivered = times(&events, Happened::Delivered)[0];
        let told = (12, delivered + session.lookahead());
        let mut first: Vec<u64> = due[..4].iter().map(|(tag, _)| *tag).collect();
        assert!(due[..4].iter().all(|(_, when)| *when == at));
        let of_host_2: Vec<u64> = first.iter().copied().filter(|tag| [2, 3].contains(tag)).collect();
        assert_eq!(of_host_2, [3, 2]);
        first.sort_unstable();
        assert_eq!((first, &due[4..]), (vec![1, 2, 3, 10], &[told, (4, Time::from_ms(3))][..]));
        assert!(events.iter().all(|event| event.what != Happened::Timer || event.message.bytes == 0));
        // Nothing left: no time passes for nothing.
        assert!(session.now() < Time::from_ms(3) + session.lookahead() + Time(1));
        session.close().unwrap();
    }
}

#[test]
fn timers_that_cannot_be_set_are_said() {
    let mut session = open(&two_to_one(""), Options { threads: Some(1), ..Options::default() });
    session.advance_to(Time::from_us(5), &mut go_on).unwrap();
    let (now, end) = (session.now(), session.end());
    let ok = Timer { host: HostId::new(2), tag: 7, at: now };
    assert_eq!(session.set_timer(Timer { host: HostId::new(3), ..ok }), Err(SendError::Host(3, 2)));
    let past = now - Time(1);
    assert_eq!(session.set_timer(Timer { at: past, ..ok }), Err(SendError::Past { at: past, now }));
    assert_eq!(session.set_timer(Timer { at: end, ..ok }), Err(SendError::End { at: end, end }));
    assert_eq!(session.open_timers(), 0);
    // The present is not past, and the last instant is not the end.
    session.set_timer(ok).unwrap();
    session.set_timer(Timer { at: end - Time(1), ..ok }).unwrap();
    session.advance_to(end, &mut go_on).unwrap();
    assert_eq!(session.events().iter().map(|event| event.at).collect::<Vec<_>>(), [now, end - Time(1)]);
}

/// What a sender gives up has ended: nothing waits for it, and the scenario does not pass to its end.
#[test]
fn a_message_that_is_given_up_is_not_open() {
    let fails = "[[change]]\nat = \"1ms\"\nnodes = [\"R\"]\nstate = \"down\"\n[routing]\nreconverge = \"never\"\n";
    let gives_up = "control = \"dctcp\"\nfail_after = 2\nmin_rto = \"1ms\"";
    let text = two_to_one(fails).replace("control = \"dctcp\"", gives_up);
    let mut session = open(&text, Options { threads: Some(1), ..Options::default() });
    session.send(message((0, 2), 1_000, Time::ZERO)).unwrap();
    session.send(message((0, 2), 2_000, Time::from_ms(2))).unwrap();
    assert_eq!(session.open_messages(), 2);
    assert!(session.drain(&mut go_on).unwrap());
    let events = session.events();
    assert_eq!((session.open_messages(), times(&events, Happened::Acked).len()), (0, 1));
    let given_up = times(&events, Happened::GivenUp)[0];
    assert!(given_up > Time::from_ms(3) && session.now() < given_up + session.lookahead() + Time(1));
}

/// Messages beside the workload of the file, and a directory with the results of all.
#[test]
fn results_are_those_of_any_run() {
    let directory = tempfile::tempdir().unwrap();
    let workload = "[[workload.permutation]]\ntransport = \"t\"\nsize = \"100KB\"\n";
    let options = Options { threads: Some(1), directory: Some(directory.path().join("out")), ..Options::default() };
    let mut session = open(&tree(workload), options);
    // Sixteen flows of the file come first; each host numbers its own messages.
    let ids: Vec<usize> =
        [(3, 5), (3, 9), (4, 9)].map(|ends| session.send(message(ends, 4_000, Time::ZERO)).unwrap().index()).into();
    assert_eq!(ids, [16 + 3, 16 + 3 + 16, 16 + 4]);
    assert!(session.drain(&mut go_on).unwrap());
    session.advance_to(Time::from_ms(10), &mut go_on).unwrap();
    let (outcome, info) = session.close().unwrap();
    let info = info.unwrap();
    assert_eq!((info.data_packets, info.simulated_s, info.threads), (outcome.data_packets, 0.01, 1));
    for name in ["scenario.toml", "flows.parquet", "links.parquet", "run.json"] {
        assert!(directory.path().join("out").join(name).exists(), "{name}");
    }
}

/// A result of a session is run again as any scenario, and has the same tables: messages at the present, in the future
/// and at the instant of an event.
#[test]
fn a_session_is_run_again_from_its_results() {
    let answer = |event: &Event, here: &mut Here<'_>| {
        if event.what == Happened::Delivered && event.message.tag > 0 {
            let back = message((here.host().index(), event.message.from.index()), 9_000, here.now());
            here.send(Send { tag: event.message.tag - 1, channel: event.message.tag as usize % 2, ..back }).unwrap();
        }
    };
    let second = "label = \"a, b # c\"\n[[workload.session]]\ntransport = \"t\"\nlabel = \"d\"\nstart = \"5us\"\npersistent = false\n";
    let directory = tempfile::tempdir().unwrap();
    let (first, again) = (directory.path().join("first"), directory.path().join("again"));
    let options = Options { threads: Some(2), react: Some(Arc::new(answer)), directory: Some(first.clone()) };
    let mut session = open(&tree(second), options);
    for host in 1..9 {
        session
            .send(Send { tag: host as u64, ..message((host, host / 2), 40_000, Time(host as u64 * 1_234_567)) })
            .unwrap();
    }
    session.advance_to(Time::from_us(77), &mut go_on).unwrap();
    let now = session.now();
    session.send(message((3, 15), 0, now)).unwrap();
    assert!(session.drain(&mut go_on).unwrap());
    session.advance_to(session.end(), &mut go_on).unwrap();
    assert!(session.events().len() > 2 * 36);
    session.close().unwrap();
    let messages = std::fs::read_to_string(first.join("messages.0.csv")).unwrap();
    let tags: Vec<&str> = messages.lines().map(|line| line.rsplit_once(',').unwrap().1).collect();
    assert_eq!(tags[0], "\"tag\"");
    assert_eq!(tags[1..10], ["1", "2", "3", "4", "5", "6", "7", "8", "1"]);
    let text = std::fs::read_to_string(first.join("scenario.toml")).unwrap();
    let loaded = linkpool_scenario::load(&text, &first.join("scenario.toml").to_string_lossy(), None, &[]);
    let loaded = loaded.unwrap_or_else(|why| panic!("{why:?}"));
    linkpool_sim::run_to_directory(&loaded, &again, Some(1), &mut go_on).unwrap();
    for name in ["flows.parquet", "links.parquet", "messages.0.csv", "messages.1.csv"] {
        let read = |at: &std::path::Path| std::fs::read(at.join(name)).unwrap_or_default();
        assert!(!read(&first).is_empty() && read(&first) == read(&again), "{name}");
    }
    // Without the file, nobody sends.
    let undriven = linkpool_sim::run_to_directory(&scenario(&tree("")), &again, Some(1), &mut go_on);
    assert!(matches!(undriven, Err(linkpool_sim::RunError::Undriven)));
    // What a file has is not driven.
    assert!(matches!(Session::open(Arc::new(loaded), Options::default()), Err(SessionError::Undriven)));
}

#[path = "../../examples/session.rs"]
#[allow(dead_code, unreachable_pub)]
mod example;

/// Sixteen parts of 62,500 B go round: 30 steps, of which none is faster than two links.
#[test]
fn the_example_drives_a_ring() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/workloads/session.toml");
    let took = example::all_reduce(path, 1_000_000, 1).unwrap();
    // 62,500 B with headers take 5.2 us on a link of 100 Gb/s, and each link 0.5 us.
    assert!(took > Time::from_us(30 * 6) && took < Time::from_us(30 * 20), "{took}");
    assert_eq!(example::all_reduce(path, 1_000_000, 3).unwrap(), took);
    assert!(example::all_reduce("no such file", 1, 1).is_err());
}

proptest! {
    #![proptest_config(cases(20))]

    /// The same events however time passes, and on how many threads.
    #[test]
    fn time_may_pass_in_any_steps(
        sends in prop::collection::vec((0usize..16, 1usize..16, 0u64..60_000, 0u64..300), 1..24),
        pauses in prop::collection::vec(0u64..900_000_000, 0..8),
        persistent in any::<bool>(),
        threads in 1u8..=4,
    ) {
        let sent = |(from, apart, bytes, us): (usize, usize, u64, u64)| message((from, (from + apart) % 16), bytes, Time::from_us(us));
        let run = |threads, pauses: &[Time], late: bool| {
            let text = tree(&format!("persistent = {persistent}\n"));
            let mut session = open(&text, Options { threads: Some(threads), ..Options::default() });
            let mut sends: Vec<Send> = sends.iter().copied().map(sent).collect();
            sends.sort_by_key(|send| send.at);
            if !late {
                sends.drain(..).for_each(|send| _ = session.send(send).unwrap());
            }
            for pause in pauses {
                // What starts by the pause is sent before it, some of it just then.
                while sends.first().is_some_and(|send| send.at <= *pause) {
                    let send = sends.remove(0);
                    session.advance_to(send.at.max(session.now()), &mut go_on).unwrap();
                    session.send(send).unwrap();
                }
                session.advance_to((*pause).max(session.now()), &mut go_on).unwrap();
            }
            sends.into_iter().for_each(|send| _ = session.send(send).unwrap());
            session.drain(&mut go_on).unwrap();
            session.advance_to(Time::from_ms(900), &mut go_on).unwrap();
            (session.events(), session.close().unwrap().0)
        };
        let mut pauses: Vec<Time> = pauses.into_iter().map(Time::from_ps).collect();
        pauses.sort();
        let whole = run(1, &[], false);
        prop_assert_eq!(&run(threads, &pauses, true), &whole);
        prop_assert_eq!(&run(threads, &[], false), &whole);
    }
}
