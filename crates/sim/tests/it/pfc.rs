//! Priority flow control: ports that pause their neighbours.

use crate::common::{Run, into_a_slow_link, run, same_on_four_threads, scenario};
use linkpool_network::PauseStats;
use linkpool_scenario::Scenario;
use linkpool_sim::{End, FlowId, Options, Plan, RunError, Session, Traced, What, simulate, trace};
use linkpool_units::Time;
use std::sync::Arc;

const ROCE: &str = "control = \"roce\"";

fn pauses(r: &Run, link: &str) -> PauseStats {
    r.link(link).pauses.expect("its port can be paused")
}

fn flow(from: &str, to: &str, size: &str, more: &str) -> String {
    format!("[[workload.flow]]\ntransport = \"t\"\nfrom = \"{from}\"\nto = \"{to}\"\nsize = \"{size}\"\n{more}\n")
}

/// S1 at 10 Gbit/s and 2 us sends at line rate into a link of 1 Mbit/s, which sends nothing worth mention. A packet of 1,106 B
/// takes 884.8 ns. The one that passes 20 KB goes to the headroom, and asks for the pause: the frame of 84 B takes
/// 67.2 + 2,000 ns, in which S1 begins two packets more, beside the three that are on the link: (67.2 + 2 x 2,000)/884.8 =
/// 4.6, so five packets come after it. Six packets are 6,636 B: so much headroom loses nothing, and a byte less a packet.
#[test]
fn the_headroom_holds_what_comes_after_the_pause() {
    let dropped = |headroom: &str| {
        let r = run(&into_a_slow_link("1ms", headroom, ROCE));
        let PauseStats { pauses: count, paused, .. } = pauses(&r, "S1->L");
        assert_eq!((count, pauses(&r, "L->S1").frames), (1, 1));
        // From when the frame has come, to the end.
        let before = Time::from_ms(1) - paused;
        assert!(before > Time::from_us(18) && before < Time::from_us(25), "{before}");
        (r.link("L->R").stats.rare.drops, r.link("L->R").stats.max_queue)
    };
    // 18 packets are below 20 KB, and six come; one of these is in service.
    assert_eq!(dropped("headroom = \"6636B\""), (0, 18 + 6 - 1));
    assert_eq!(dropped("headroom = \"6635B\""), (1, 18 + 5 - 1));
    // By default 2 x 2,500 + 3 x 1,106 + 84 B.
    assert_eq!(dropped("").0, 0);
    assert_eq!(scenario_pfc().headroom_of(linkpool_units::Rate::gbps(10), Time::from_us(2)), 5_000 + 3 * 1_106 + 84);
}

fn scenario_pfc() -> linkpool_network::Pfc {
    let text = format!(
        "duration = \"1ms\"
        [topology.dumbbell]
        pairs = 1
        rate = \"10Gbps\"
        delay = \"2us\"
        [queue.pfc]
        buffer = \"100KB\"
        [transport.t]
        control = \"roce\"
        {}",
        flow("S1", "D1", "1MB", "")
    );
    scenario(&text).queue.pfc.expect("it has the table")
}

/// A quantum at 10 Gbit/s takes 51.2 ns, and a frame 67.2 ns. So a pause of one quantum is over before the next frame can
/// come, and the headroom does not hold what comes in between. 1,000 quanta are 51.2 us: repeated after 40 us, or just as they
/// end, they hold.
#[test]
fn a_pause_that_is_not_repeated_in_time_ends() {
    let of = |keys: &str| {
        let r = run(&into_a_slow_link("1ms", keys, ROCE));
        let PauseStats { pauses: count, lapsed, paused, .. } = pauses(&r, "S1->L");
        (count, lapsed, paused, pauses(&r, "L->S1").frames, r.link("L->R").stats.rare.drops)
    };
    let held = Time::from_ms(1) - Time(20_878_400);
    // (1,000 - 18.8112)/51.2 are 19.2 repetitions, or 24.5 after 40 us each.
    assert_eq!(of("quanta = 1000\nrefresh = 1.0"), (1, 0, held, 1 + 19, 0));
    assert_eq!(of("quanta = 1000\nrefresh = 0.78125"), (1, 0, held, 1 + 24, 0));
    let (count, lapsed, _, frames, drops) = of("quanta = 1\nrefresh = 1.0");
    assert!(count > 100 && lapsed > 100 && frames > 100 && drops > 100, "{count} {lapsed} {frames} {drops}");
}

/// A window of ten segments of 1,538 B at 10 Gbit/s meets a link of 100 Mbit/s, behind the ACK of the handshake, of 90 B. The
/// second to come to L goes to the headroom and asks for the pause, which takes 2,067.2 ns. By then S1 has begun the sixth; the
/// seventh waits. L tells S1 to go on when the six have left, and that takes 2,067.2 ns, too. So the seventh is held back
/// from 2 x 1,230.4 ns after the ACK has come until 7.2 + 6 x 123.04 us after it.
#[test]
fn a_trace_tells_what_a_pause_held_back() {
    let s = scenario(&format!(
        "duration = \"5ms\"
        [topology.dumbbell]
        pairs = 1
        rate = \"10Gbps\"
        delay = \"2us\"
        bottleneck_rate = \"100Mbps\"
        [queue.pfc]
        buffer = \"100KB\"
        xoff = \"3KB\"
        reserve = \"0B\"
        [transport.t]
        control = \"reno\"
        {}",
        flow("S1", "D1", "14480B", "")
    ));
    let rows = trace(&s, &[Traced::from(FlowId::new(0))], &mut |_| true).expect("it runs");
    let held = rows.iter().filter_map(|row| match &row.what {
        What::Held { packet, link, paused, pause, to } => Some((row.at, packet, link, *paused, pause, *to)),
        _ => None,
    });
    let held: Vec<_> = held.collect();
    let (at, packet, link, paused, pause, to) = held[0];
    assert_eq!((packet.kind, packet.seq, link.as_str(), to), ("data", 1 + 6 * 1_448, "S1->L", End::Receiver));
    assert_eq!(paused, 7_200_000 + 6 * 123_040_000 - 2 * 1_230_400);
    assert_eq!((pause.priority, pause.shared, pause.headroom, pause.threshold), (0, 1_538, 1_538, 3_000));
    assert_eq!((pause.behind.as_deref(), pause.since), (Some("L->R"), at - paused));
    // The packets behind it waited for as long.
    assert!(held.iter().filter(|(.., p, _, _)| *p == paused).count() >= 4, "{held:?}");
    let sent = rows.iter().find_map(|row| match &row.what {
        What::Sent { packet: of, next, .. } if of == packet => *next,
        _ => None,
    });
    assert_eq!(sent, Some(at + 1_230_400 + 2_000_000));
}

/// R takes 1 Gbit/s of what comes at 10: a packet of 1,106 B takes it 8,848 ns. Of 30,000 B of buffer 8,402 are headroom (2 x
/// 2,500 + 3 x 1,106 + 84), so 21,598 B are the threshold, which the 20th packet passes, and below 18,598 W goes on. The first
/// packet comes after 5,769.6 ns. All comes at the rate of R, nothing is lost, and W is paused in between.
#[test]
fn a_slow_host_gets_what_it_can_take() {
    let of = |slow: &str| {
        let r = run(&format!(
            "duration = \"20ms\"
            [topology.many-to-one]
            senders = 1
            rate = \"10Gbps\"
            delay = \"2us\"
            [queue.pfc]
            buffer = \"200KB\"
            [[slow_host]]
            hosts = [\"R\"]
            {slow}
            [transport.t]
            control = \"roce\"
            {}",
            flow("S1", "R", "1024KB", "")
        ));
        let (back, into) = (pauses(&r, "R->W"), pauses(&r, "W->R"));
        let lost: u64 = r.outcome.links.iter().map(|link| link.stats.rare.drops).sum();
        (r.flow(0).finished.map(|_| r.fct(0)), back, into, lost, r.flow(0).total(|s| s.retransmits))
    };
    let (fct, back, into, lost, again) = of("rate = \"1Gbps\"\nbuffer = \"30000B\"");
    // 1,000 packets of 8,848 ns after the first has come, and the ACK of 86 B over two links of 2 us.
    let first = 2 * (884_800 + 2_000_000);
    let ack = fct.map(|fct| fct.0 - first - 1_000 * 8_848_000);
    assert_eq!((ack, lost, again), (Some(2 * 2_000_000 + ACK), 0, 0));
    assert!(into.pauses > 30 && back.frames >= 2 * into.pauses - 1, "{into:?} {back:?}");
    assert!(into.paused > Time::from_ms(7) && into.lapsed == 0, "{into:?}");
    // It becomes slow too late to matter, or is slow for 5 ms in which it takes nothing.
    let quick = of("from = \"15ms\"\nbuffer = \"30000B\"");
    assert_eq!((quick.0.map(|fct| fct.0), quick.2.pauses), (Some(first + 999 * 884_800 + 2 * 2_000_000 + ACK), 0));
    // 20 packets wait in the adapter when it tells the switch, 17.7 us after it became slow, and the switch goes on 2.07 us
    // after the end. Meanwhile the sender's timer ends: what it sends again takes the time of as many packets.
    let (fct, _, into, lost, again) = of("from = \"100us\"\nuntil = \"5100us\"\nbuffer = \"30000B\"");
    let late = fct.map(|fct| (fct.0 - quick.0.unwrap().0 - again * 884_800) as f64 / 1e6);
    assert!(late.is_some_and(|us| (5_000.0 - 17.7 - 1.0..5_000.0 - 17.7 + 2.1).contains(&us)), "{late:?}");
    assert!(lost == 0 && (1..100).contains(&again), "{lost} {again}");
    assert_eq!((into.pauses, into.paused > Time::from_us(4_900)), (1, true));
}

/// The time of an ACK on two links of 10 Gbit/s, ps.
const ACK: u64 = 2 * 86 * 800;

/// A host that takes nothing pauses its leaf without end: the frame is repeated every 1.678 ms (half of 65,535 x 51.2 ns).
/// The spine is paused by the leaf, the other leaf by the spine, and its hosts by that. So a flow between two hosts that nobody
/// is slow at comes to a stop: its packets wait behind those for the slow host. With a priority of its own it does not.
#[test]
fn a_storm_of_pauses_stops_others() {
    let storm = |slow: &str, queue: &str, priority: &str| {
        let r = run(&format!(
            "duration = \"8ms\"
            [topology.leaf-spine]
            leaves = 2
            spines = 1
            hosts_per_leaf = 3
            rate = \"10Gbps\"
            delay = \"1us\"
            [queue]
            {queue}
            pfc = {{ buffer = \"200KB\", xoff = \"40KB\" }}
            {slow}
            [transport.t]
            control = \"roce\"
            [transport.v]
            control = \"roce\"
            {priority}
            {}
            [[workload.flow]]
            transport = \"v\"
            from = \"h1\"
            to = \"h4\"
            size = \"1024KB\"
            start = \"1ms\"",
            flow("h0", "h3", "unlimited", "")
        ));
        let paused = ["l1->h3", "s0->l1", "l0->s0", "h0->l0"].map(|link| pauses(&r, link).paused > Time::from_ms(7));
        let frames = pauses(&r, "h3->l1").frames;
        let lost: u64 = r.outcome.links.iter().map(|link| link.stats.rare.drops).sum();
        (r.flow(1).finished.is_some(), r.flow(1).acked_bytes, paused, frames, lost)
    };
    let slow = "[[slow_host]]\nhosts = [\"h3\"]";
    assert_eq!(storm("", "", ""), (true, 1_024_000, [false; 4], 0, 0));
    let (finished, acked, paused, frames, lost) = storm(slow, "", "");
    assert_eq!((finished, acked, paused, lost), (false, 0, [true; 4], 0));
    // The pause, and its repetitions by 8 ms.
    assert_eq!(frames, 1 + 4);
    let (finished, _, paused, _, lost) = storm(slow, "discipline = \"priority\"", "priority = \"high\"");
    assert_eq!((finished, paused, lost), (true, [true; 4], 0));
}

/// Three senders at line rate into one link, without a window and without a law: nothing is lost or sent again, the link is
/// busy from the first packet to the last, and ports are paused and resumed many times.
#[test]
fn nothing_is_lost() {
    for thresholds in ["", "xoff = \"20KB\"", "alpha = 0.5"] {
        let flows: String = ["S1", "S2", "S3"].iter().map(|from| flow(from, "R", "1024KB", "")).collect();
        let r = run(&format!(
            "duration = \"50ms\"
            [topology.many-to-one]
            senders = 3
            rate = \"10Gbps\"
            delay = \"2us\"
            [queue]
            limit = 5
            [queue.pfc]
            buffer = \"200KB\"
            {thresholds}
            [transport.t]
            control = \"roce\"
            {flows}"
        ));
        for f in 0..3 {
            let flow = r.flow(f);
            assert_eq!((flow.acked_bytes, flow.total(|s| s.retransmits)), (1_024_000, 0), "{thresholds}");
        }
        assert_eq!(r.link("W->R").stats.rare.drops, 0);
        // 3,000 packets of 884.8 ns, the first and its ACK over two hops.
        let last = (0..3).map(|f| r.fct(f)).max().unwrap();
        assert_eq!(last, Time(9_907_200 + 2_999 * 884_800), "{thresholds}");
        for s in 1..=3 {
            let (there, back) = (pauses(&r, &format!("S{s}->W")), pauses(&r, &format!("W->S{s}")));
            assert!(there.pauses > 5 && back.frames > 2 * there.pauses - 2, "{thresholds}: {there:?} {back:?}");
            assert!(there.paused > Time::from_us(1_000) && there.paused < Time::from_us(2_600), "{there:?}");
            assert_eq!((there.frames, back.pauses), (0, 0));
        }
    }
}

/// Sixteen senders into one link, by DCQCN, HPCC and PowerTCP: with the headroom that is the default nothing
/// is lost, whatever the law does in its first round, and all are paused. The same ports
/// without pauses lose packets.
#[test]
fn an_incast_loses_nothing_under_three_laws() {
    let marks = "red = { min = \"20KB\", max = \"80KB\", max_probability = 0.2, weight = 1, gentle = false }";
    for control in ["dcqcn", "hpcc", "powertcp"] {
        let of = |pfc: &str, duration: &str| {
            let r = run(&format!(
                "duration = \"{duration}\"
                [topology.many-to-one]
                senders = 16
                rate = \"10Gbps\"
                delay = \"1us\"
                [queue]
                limit = \"30KB\"
                {marks}
                {pfc}
                [transport.t]
                control = \"{control}\"
                [[workload.incast]]
                transport = \"t\"
                senders = 16
                receiver = \"R\"
                size = \"64KB\"
                every = \"{duration}\""
            ));
            let again: u64 = (0..16).map(|f| r.flow(f).total(|s| s.retransmits)).sum();
            let paused = (1..=16).filter_map(|s| r.link(&format!("S{s}->W")).pauses).map(|p| p.pauses).sum::<u64>();
            let all = (0..16).all(|f| r.flow(f).acked_bytes == 64_000);
            (r.outcome.links.iter().map(|link| link.stats.rare.drops).sum::<u64>(), again, paused, all)
        };
        let (drops, again, paused, all) = of("pfc = { buffer = \"400KB\", reserve = \"0B\", xoff = \"3KB\" }", "20ms");
        assert_eq!((drops, again, all), (0, 0, true), "{control}");
        let (lossy, _, none, _) = of("", "1ms");
        assert!(lossy > 10 && none == 0, "{control}: {lossy}");
        assert!(paused >= 16, "{control}: {paused}");
    }
}

/// UET in an incast of sixteen, with each law: ports pause, nothing is lost, and nothing is sent again. With SLEEK some is: the
/// answer to a probe that met no queue counts all that has not arrived as lost, also what was sent after the probe
/// (`processAck` of uet-htsim: `_recovery_seqno = _highest_sent`), and without pauses, too.
#[test]
fn uet_sends_nothing_again() {
    let of = |law: &str, more: &str, queue: &str| {
        let r = run(&format!(
            "duration = \"20ms\"
            [topology.many-to-one]
            senders = 16
            rate = \"100Gbps\"
            delay = \"1us\"
            [queue]
            mark = 20
            {queue}
            [transport.t]
            control = \"uet\"
            sender_law = \"{law}\"
            trimmable = false
            {more}
            [[workload.many-to-one]]
            transport = \"t\"
            flows = 16
            receiver = \"R\"
            size = \"1MB\""
        ));
        let flows = || (0..16).map(|f| r.flow(f));
        assert!(flows().all(|f| f.acked_bytes == 1_000_000));
        let again = flows().map(|f| f.total(|s| s.retransmits)).sum::<u64>();
        let timeouts = flows().map(|f| f.total(|s| s.timeouts)).sum::<u64>();
        let paused: u64 = (1..=16).filter_map(|s| r.link(&format!("S{s}->W")).pauses).map(|p| p.pauses).sum();
        (again, timeouts, paused)
    };
    let pauses = "pfc = { buffer = \"2MB\" }";
    // With ACKs of 16 KB three packets of STrack time out: a window is cut below what is in flight, and nobody asks about the
    // packets that have come since the last ACK.
    let each = "ack_bytes = \"1B\"";
    let laws = [("nscc", ""), ("fastflow", ""), ("swift", ""), ("strack", each), ("dctcp", ""), ("constant", "")];
    for (law, more) in laws {
        let (again, timeouts, paused) = of(law, more, pauses);
        assert_eq!((again, timeouts), (0, 0), "{law}");
        assert!(paused >= 16, "{law}: {paused}");
    }
    let (with, without) = (of("dctcp", "sleek = true", pauses), of("dctcp", "sleek = true", "limit = \"40MB\""));
    assert!(with.0 > 50 && without.0 > 50 && without.2 == 0, "{with:?} {without:?}");
}

/// Two lossless priorities, thresholds near the reserve, and no distance between pause and resume: frames follow each other as
/// closely as they can, and the default headroom still holds all that comes.
#[test]
fn two_priorities_that_change_fast_lose_nothing() {
    for (xoff, resume) in [("2KB", "0B"), ("5KB", "1B"), ("9KB", "3KB")] {
        let flows: String = (1..=6).map(|s| flow(&format!("S{s}"), "R", "256KB", "")).collect();
        let high = flows.replace("\"t\"", "\"h\"").replace("256KB", "64KB");
        let r = run(&format!(
            "duration = \"20ms\"
            [topology.many-to-one]
            senders = 6
            rate = \"10Gbps\"
            delay = \"1us\"
            [queue]
            discipline = \"priority\"
            [queue.pfc]
            buffer = \"400KB\"
            reserve = \"0B\"
            xoff = \"{xoff}\"
            resume = \"{resume}\"
            [transport.t]
            control = \"roce\"
            [transport.h]
            control = \"roce\"
            priority = \"high\"
            {flows}
            {high}"
        ));
        let lost: u64 = r.outcome.links.iter().map(|link| link.stats.rare.drops).sum();
        let done = (0..12).all(|f| r.flow(f).finished.is_some() && r.flow(f).total(|s| s.retransmits) == 0);
        let PauseStats { frames, .. } = r.link("W->S1").pauses.unwrap();
        assert!(lost == 0 && done && frames > 20, "{xoff} {resume}: {lost} {done} {frames}");
    }
}

/// Four hosts of a leaf send to one of the other, and a fifth to another, whose link is idle. Its packets wait behind
/// those of the others on a link that is paused. With a priority of their own they do not, nor if nothing is paused.
#[test]
fn a_victim_waits_behind_paused_packets() {
    let time = |queue: &str, pfc: &str, priority: &str| {
        let incast: String = (0..4).map(|h| flow(&format!("h{h}"), "h5", "unlimited", "")).collect();
        let r = run(&format!(
            "duration = \"20ms\"
            [topology.leaf-spine]
            leaves = 2
            spines = 1
            hosts_per_leaf = 5
            rate = \"10Gbps\"
            uplink_rate = \"100Gbps\"
            delay = \"1us\"
            [queue]
            {queue}
            {pfc}
            [transport.t]
            control = \"roce\"
            [transport.v]
            control = \"roce\"
            {priority}
            {incast}
            [[workload.flow]]
            transport = \"v\"
            from = \"h4\"
            to = \"h6\"
            size = \"1024KB\"
            start = \"2ms\""
        ));
        let drops = r.link("l1->h5").stats.rare.drops;
        (r.flow(4).finished.map(|_| r.fct(4).0 as f64 / 1e6), drops)
    };
    let pfc = "[queue.pfc]\nbuffer = \"400KB\"\nxoff = \"40KB\"";
    let alone = 1_000.0 * 0.8848;
    let (behind, none) = time("limit = 100", pfc, "");
    let (apart, none_apart) = time("limit = 100\ndiscipline = \"priority\"", pfc, "priority = \"high\"");
    let (lossy, some) = time("limit = 100", "", "");
    assert!(behind.is_none_or(|us| us > 3.0 * alone), "{behind:?}");
    assert!(
        apart.is_some_and(|us| us < 1.1 * alone) && lossy.is_some_and(|us| us < 1.1 * alone),
        "{apart:?} {lossy:?}"
    );
    assert!(none == 0 && none_apart == 0 && some > 1_000);
    // Of a lossy priority packets are dropped beside it.
    let (_, drops) = time(
        "limit = 20\ndiscipline = \"priority\"",
        "[queue.pfc]\nbuffer = \"400KB\"\nlow = false",
        "priority = \"high\"",
    );
    assert!(drops > 1_000, "{drops}");
}

/// Four switches in a ring, and two hosts of 5 Gbit/s at each that send by two others to the fourth. At a port of the ring 8.4
/// Gbit/s from the ring meet 10 from hosts (g + g^2 + g^3 = 1 for the share g that passes: 0.544), so the account of the
/// ring's link, which grows by 3.8 Gbit/s, fills before those of hosts, by 2.3 each. All four are full, and paused, at once; what has come
/// over each waits for the next. With windows that never fill it there is no deadlock. Any number of threads finds it at the same
/// time, and so does a session that advances by less than the time between two looks.
#[test]
fn a_ring_stands_still() {
    let ring_of = |control: &str, more: &str| {
        let ids = 0..4;
        let nodes: Vec<String> = ids
            .clone()
            .flat_map(|i| {
                let node = |name: &str, kind: &str| format!("{{ id = \"{name}{i}\", kind = \"{kind}\" }}");
                [node("h", "host"), node("g", "host"), node("s", "switch")]
            })
            .collect();
        let edges: Vec<String> = ids
            .clone()
            .flat_map(|i| {
                let next = (i + 1) % 4;
                [
                    format!("{{ source = \"h{i}\", target = \"s{i}\", rate = \"5Gbps\" }}"),
                    format!("{{ source = \"g{i}\", target = \"s{i}\", rate = \"5Gbps\" }}"),
                    format!("{{ source = \"s{i}\", target = \"s{next}\" }}"),
                ]
            })
            .collect();
        let flows: String = ids
            .flat_map(|i| ["h", "g"].map(|from| (i, from)))
            .map(|(i, from)| {
                let s = |n| format!("\"s{}\"", (i + n) % 4);
                let to = (i + 3) % 4;
                let path = format!("paths = [[\"{from}{i}\", {}, {}, {}, {}, \"h{to}\"]]", s(0), s(1), s(2), s(3));
                flow(&format!("{from}{i}"), &format!("h{to}"), "1024KB", &path)
            })
            .collect();
        scenario(&format!(
            "duration = \"50ms\"
            [topology.graph]
            rate = \"10Gbps\"
            delay = \"1us\"
            nodes = [{}]
            edges = [{}]
            [queue.pfc]
            buffer = \"200KB\"
            xoff = \"20KB\"
            resume = \"20KB\"
            reserve = \"0B\"
            [transport.t]
            control = \"{control}\"
            {more}
            {flows}",
            nodes.join(", "),
            edges.join(", "),
        ))
    };
    let ring = |more: &str| ring_of("roce", more);
    let ends = |scenario: &Scenario, threads: u8| {
        let plan = Plan::new(scenario);
        simulate(&plan, &plan.timetable(), threads, &mut crate::common::Kept::default(), &mut |_| true)
    };
    let error = ends(&ring(""), 1).expect_err("it stands still");
    for threads in [2, 4] {
        let found = ends(&ring(""), threads).expect_err("it stands still");
        assert_eq!(found.to_string(), error.to_string(), "{threads}");
    }
    let driven = ring("[[workload.session]]\ntransport = \"t\"");
    let mut session = Session::open(Arc::new(driven), Options::default()).unwrap();
    let found = (1..).map(|step| session.advance_to(Time::from_us(7 * step), &mut |_| true)).find_map(Result::err);
    assert_eq!(found.map(|found| found.to_string()), Some(error.to_string()));
    let RunError::Deadlock { at, cycle } = &error else { panic!("{error}") };
    assert!(*at < Time::from_us(70), "{at}");
    let names = ["s0->s1", "s1->s2", "s2->s3", "s3->s0"];
    let waits: Vec<String> = (0..4).map(|i| format!("{} waits for {}", names[i], names[(i + 1) % 4])).collect();
    assert_eq!(*cycle, waits.join(", "));
    assert!(ends(&ring("window = \"3KB\""), 2).is_ok());
    // So it is with TCP.
    let tcp = ends(&ring_of("reno", "initial_window = 300"), 1).expect_err("it stands still");
    let RunError::Deadlock { cycle, .. } = &tcp else { panic!("{tcp}") };
    assert_eq!(*cycle, waits.join(", "));
}

/// Frames go from partition to partition as packets do. Slow hosts are in the partition of their switch or another. A run that
/// records pauses has one thread.
#[test]
fn threads_change_nothing() {
    let text = "duration = \"2ms\"
        [topology.fat-tree]
        k = 4
        rate = \"10Gbps\"
        delay = \"1us\"
        [queue]
        limit = \"60KB\"
        red = { min = \"20KB\", max = \"80KB\", max_probability = 0.2, weight = 1, gentle = false }
        [queue.pfc]
        buffer = \"400KB\"
        [transport.a]
        control = \"dcqcn\"
        [transport.b]
        control = \"hpcc\"
        [[workload.permutation]]
        transport = \"a\"
        size = \"300KB\"
        [[workload.incast]]
        transport = \"b\"
        senders = 8
        receiver = \"h0\"
        size = \"100KB\"
        every = \"500us\"";
    let slow = "\n[[slow_host]]\nhosts = [\"h1\", \"h9\"]\nrate = \"3Gbps\"\nuntil = \"1ms\"\n";
    for more in [slow, "\n[record]\npauses = {}\n"] {
        same_on_four_threads(&scenario(&format!("{text}{more}")));
    }
    let one = same_on_four_threads(&scenario(text));
    assert!(one.outcome.links.iter().all(|link| link.stats.rare.drops == 0));
    assert!(one.outcome.links.iter().any(|link| link.pauses.is_some_and(|pauses| pauses.pauses > 0)));
}

/// Two hosts send to each other as fast as their links carry data and ACKs: an ACK that waits at a port is no pause. A link
/// carries 4 MB, the headers of 3,907 packets, 82 B each, and as many ACKs of 86 B: 4,656,376 B, 372.51 us, and then the last
/// packet and its ACK take 2 us each to cross it.
#[test]
fn answers_hold_nothing_back() {
    let both = flow("S1", "R", "4MB", "") + &flow("R", "S1", "4MB", "");
    let star = "duration = \"5ms\"\n[topology.many-to-one]\nsenders = 1\nrate = \"100Gbps\"\ndelay = \"1us\"";
    for queue in ["limit = \"2MB\"", "pfc = { buffer = \"12MB\" }"] {
        for control in ["roce", "dcqcn", "timely"] {
            let r = run(&format!("{star}\n[queue]\n{queue}\n[transport.t]\ncontrol = \"{control}\"\n{both}"));
            for fct in [r.fct(0), r.fct(1)] {
                let us = fct.0 as f64 * 1e-6;
                assert!((us - 376.5).abs() < 0.5, "{control}, {queue}: {us} us");
            }
        }
    }
}
