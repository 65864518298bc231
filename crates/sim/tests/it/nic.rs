//! Adapters of hosts on whole networks.

use crate::common::{Run, run, run_on, same_on_four_threads, scenario};
use linkpool_units::Time;

/// S1 -- W -- R at 10 Gbps with 2 us a link, as in `roce.rs`: a packet of 1,024 B of payload takes
/// 884.8 ns, and with its ACK 9,907.2 ns.
const ROUND: u64 = 9_907_200;
const DATA: u64 = 884_800;

fn text(nic: &str, more: &str) -> String {
    format!(
        "duration = \"1ms\"
        [topology.many-to-one]
        senders = 2
        rate = \"10Gbps\"
        delay = \"2us\"
        [queue]
        limit = 1000
        [transport.t]
        control = \"roce\"
        {nic}
        {more}"
    )
}

fn flows(count: u32, packets: u64) -> String {
    let size = 1_024 * packets;
    format!(
        "[[workload.flow]]\ntransport = \"t\"\nfrom = \"S1\"\nto = \"R\"\nsize = \"{size}B\"\nstart = \"3us\"\ncount = {count}\n"
    )
}

/// S1 is given so many messages for S2 at once, of one packet each, on one connection.
fn messages(count: u32) -> String {
    let size = 1_024 * count;
    format!(
        "[[workload.collective]]\ntransport = \"t\"\nalgorithm = \"chain-broadcast\"\nranks = 2\nchunks = {count}\nsize = \"{size}B\"\n"
    )
}

fn ends(r: &Run) -> Vec<u64> {
    (0..r.outcome.flows.len()).map(|f| r.fct(f).0).collect()
}

/// A message takes its time and the latency; then each packet keeps the adapter busy for 1,024 B at
/// 8 Gbit/s, 1,024 ns, or for 1,100 ns, or the link for 884.8 ns, whichever is longest.
#[test]
fn a_lone_message_by_hand() {
    for (keys, each) in [
        ("rate = \"8Gbps\"", 1_024_000),
        ("rate = \"8Gbps\"\npacket_time = \"1us\"", 1_024_000),
        ("rate = \"8Gbps\"\npacket_time = \"1100ns\"", 1_100_000),
        ("rate = \"20Gbps\"\npacket_time = \"884799ps\"", DATA),
    ] {
        for packets in [1, 2, 30] {
            let nic = format!("[nic]\nmessage_time = \"300ns\"\nlatency = \"1700ns\"\n{keys}");
            let r = run(&text(&nic, &flows(1, packets)));
            assert_eq!(ends(&r), [2_000_000 + ROUND + (packets - 1) * each], "{keys}");
            let established = r.flow(0).planned.flow.start + Time::from_us(2);
            assert_eq!(r.flow(0).established(), Some(established));
        }
    }
}

/// Three queue pairs take turns at an adapter that needs 1,024 ns a packet: the last packets of the
/// three are the 298th to the 300th. Their messages enter one after another, while the first one's
/// packets leave.
#[test]
fn queue_pairs_share_the_adapter() {
    let nic = "[nic]\nmessage_time = \"300ns\"\nlatency = \"1700ns\"\nrate = \"8Gbps\"";
    let r = run(&text(nic, &flows(3, 100)));
    assert_eq!(ends(&r), [298, 299, 300].map(|before| 2_000_000 + ROUND + (before - 1) * 1_024_000));
    assert_eq!(r.link("S1->W").stats.max_queue, 0);
}

/// Ten messages of one packet at once: the adapter takes one in 5 us, or the link one in 884.8 ns.
#[test]
fn the_rate_of_messages_is_limited() {
    for (nic, first, each) in [
        ("message_time = \"5us\"\nlatency = \"1us\"", 6_000_000, 5_000_000),
        ("message_time = \"500ns\"\nlatency = \"1us\"", 1_500_000, DATA),
        ("latency = \"1us\"\npacket_time = \"2us\"", 1_000_000, 2_000_000),
    ] {
        let expected: Vec<u64> = (0..10).map(|k| first + ROUND + k * each).collect();
        assert_eq!(ends(&run(&text(&format!("[nic]\n{nic}"), &flows(10, 1)))), expected, "{nic}");
        // On one connection as well.
        assert_eq!(ends(&run(&text(&format!("[nic]\n{nic}"), &messages(10)))), expected, "{nic}");
    }
}

/// An adapter holds one message of a connection, or two: the next enters when one is acknowledged.
#[test]
fn later_messages_wait_for_a_place() {
    let nic = |places: u32, more: &str| format!("[nic]\nsend_queue = {places}\n{more}");
    let time = "message_time = \"2us\"\nlatency = \"1us\"";
    let round = 3_000_000 + ROUND;
    let one: Vec<u64> = (1..=10).map(|k| k * round).collect();
    assert_eq!(ends(&run(&text(&nic(1, time), &messages(10)))), one);
    // The second enters 2 us after the first.
    let two: Vec<u64> = (0..10).map(|k| round + k / 2 * round + k % 2 * 2_000_000).collect();
    assert_eq!(ends(&run(&text(&nic(2, time), &messages(10)))), two);
    // Messages that take no time wait as well.
    let one: Vec<u64> = (1..=10).map(|k| k * ROUND).collect();
    assert_eq!(ends(&run(&text(&nic(1, ""), &messages(10)))), one);
    // Connections have places of their own.
    let all: Vec<u64> = (0..4).map(|k| ROUND + k * DATA).collect();
    assert_eq!(ends(&run(&text(&nic(1, ""), &flows(4, 1)))), all);
}

/// An adapter holds one message of all connections, or two: the next enters when one is acknowledged, of the connections
/// that wait in turn, one of each.
#[test]
fn connections_share_the_places_of_an_adapter() {
    let nic = |places: u32, more: &str| format!("[nic]\nshared_send_queue = {places}\n{more}");
    let one: Vec<u64> = (1..=4).map(|k| k * ROUND).collect();
    assert_eq!(ends(&run(&text(&nic(1, ""), &flows(4, 1)))), one);
    let two: Vec<u64> = (0..4).map(|k| (1 + k / 2) * ROUND + k % 2 * DATA).collect();
    assert_eq!(ends(&run(&text(&nic(2, ""), &flows(4, 1)))), two);
    // On one connection as `send_queue`, which holds as well.
    let one: Vec<u64> = (1..=10).map(|k| k * (3_000_000 + ROUND)).collect();
    let time = "message_time = \"2us\"\nlatency = \"1us\"";
    assert_eq!(ends(&run(&text(&nic(1, time), &messages(10)))), one);
    assert_eq!(ends(&run(&text(&nic(2, &format!("send_queue = 1\n{time}")), &messages(10)))), one);
    // Two connections with three messages each (labels 1 and 2), and a flow (0) 4 us later: the second message of the first
    // waits before the other connection begins; then the place goes round among the three.
    let rounds = |k: u64| k * ROUND;
    let other = messages(3).replace("chunks", "label = \"other\"\nchunks");
    let pairs = messages(3) + &other + &flows(1, 1).replace("3us", "4us");
    let r = run(&text(&nic(1, ""), &pairs));
    let mut all: Vec<(usize, u64)> =
        (0..7).map(|f| (r.flow(f).planned.label.index(), r.flow(f).finished.unwrap().0)).collect();
    all.sort_by_key(|(_, end)| *end);
    let expected = [(1, 1), (1, 2), (2, 3), (0, 4), (1, 5), (2, 6), (2, 7)];
    assert_eq!(all, expected.map(|(workload, k)| (workload, rounds(k))));
}

/// What is stopped gives its place to the next.
#[test]
fn a_flow_that_is_stopped_leaves_its_place() {
    let long = flows(1, 100_000).replace("start", "stop = \"50us\"\nstart");
    let r = run(&text("[nic]\nshared_send_queue = 1\n", &(long + &flows(1, 1).replace("3us", "4us"))));
    let (stopped, next) = (r.flow(0), r.flow(1));
    assert!(stopped.finished.is_none() || stopped.acked_bytes < 1_024 * 100_000);
    assert!(
        next.finished
            .is_some_and(|end| end > Time::from_us(50) + Time(ROUND) && end < Time::from_us(50) + Time(3 * ROUND))
    );
}

/// A flow that is stopped while it waits has no place to give; one that is stopped on its way through the adapter has.
#[test]
fn places_are_given_by_those_that_have_them() {
    let at = |start: &str, stop: &str, packets| {
        let keys = if stop.is_empty() { String::new() } else { format!("stop = \"{stop}\"\nstart") };
        let flow = flows(1, packets).replace("3us", start);
        if stop.is_empty() { flow } else { flow.replace("start", &keys) }
    };
    // 20 packets hold the only place; the second flow gives up, and the third enters when they are acknowledged.
    let r =
        run(&text("[nic]\nshared_send_queue = 1\n", &(at("3us", "", 20) + &at("4us", "9us", 1) + &at("5us", "", 1))));
    let end = r.flow(0).finished.unwrap();
    assert_eq!((r.flow(1).acked_bytes, r.flow(2).finished.unwrap()), (0, end + Time(ROUND)));
    // The first is stopped at 6 us, while the adapter takes 10 us for it: the second enters then.
    let slow = "[nic]\nshared_send_queue = 1\nlatency = \"10us\"\n";
    let r = run(&text(slow, &(at("3us", "6us", 20) + &at("4us", "", 1))));
    assert_eq!((r.flow(0).acked_bytes, r.flow(1).finished.unwrap()), (0, Time::from_us(16) + Time(ROUND)));
}

/// UET: packets of 4,086 B on a fat-tree at 100 Gbit/s, one in 332 ns, or in 653.76 ns at 50 Gbit/s
/// of payload.
#[test]
fn packets_of_uet_pass_the_adapter() {
    let uet = |nic: &str, packets: u64| {
        let r = run(&format!(
            "duration = \"1ms\"\n[topology.fat-tree]\nk = 4\nrate = \"100Gbps\"\ndelay = \"1us\"\n\
             [queue]\ndiscipline = \"trimming\"\nlimit = \"178450B\"\n{nic}\n\
             [transport.t]\ncontrol = \"uet\"\nmss = \"4086B\"\n[[workload.flow]]\ntransport = \"t\"\nfrom = 0\nto = 13\nsize = \"{}B\"\n",
            packets * 4_086
        ));
        r.fct(0).0
    };
    let one = uet("", 1);
    assert_eq!(uet("", 20), one + 19 * 332_000);
    assert_eq!(uet("[nic]\nrate = \"50Gbps\"", 20), one + 19 * 653_760);
    assert_eq!(uet("[nic]\npacket_time = \"1us\"\nlatency = \"7us\"", 20), one + 7_000_000 + 19 * 1_000_000);
}

/// An adapter without time or limits, and no table, make the same run.
#[test]
fn an_adapter_by_default_changes_nothing() {
    for workload in [flows(3, 100), messages(20)] {
        let runs = ["", "[nic]", "[nic]\nrate = \"11Gbps\""].map(|nic| run(&text(nic, &workload)).outcome);
        assert!(runs.iter().all(|r| (&r.flows, &r.rest) == (&runs[0].flows, &runs[0].rest)));
    }
}

/// A flow whose message is still in the adapter when the run ends has not begun; one that is
/// stopped there is over.
#[test]
fn a_message_may_be_in_the_adapter_when_it_ends() {
    let r = run(&text("[nic]\nlatency = \"2ms\"", &flows(1, 9)));
    let flow = r.flow(0);
    assert_eq!((flow.finished, flow.established(), flow.acked_bytes, flow.total(|s| s.segments)), (None, None, 0, 0));
    let endless = flows(1, 1).replace("size = \"1024B\"", "size = \"unlimited\"\nstop = \"5us\"");
    let r = run(&text("[nic]\nlatency = \"8us\"", &endless));
    assert_eq!((r.flow(0).finished, r.flow(0).total(|s| s.segments)), (Some(Time::from_us(5)), 0));
    assert_eq!(r.link("S1->W").stats.packets, 0);
}

/// A ConnectX-5 writes 4 to 256 KiB, one message after another, with 7.04, 21.95, 49.63 and 79.23
/// Gbit/s (github.com/openfabric-systems/simllm, commit 1dc6eb8,
/// `examples/cx5_msgsize_v1/expectations.md`, T3), which its authors fit as S/(4.48 us + S/97.1
/// Gbit/s). That is an adapter with 97.1 Gbit/s and what the network leaves of 4.48 us as its
/// latency: here 4,096 B and 82 B are on two links of 100 Gbit/s and 10 ns, 344.24 ns each, and the
/// ACK 16.88 ns each; the last packet's 4,096 B are in the 97.1 Gbit/s, too, 337.46 ns.
#[test]
fn one_message_after_another_as_measured_on_a_connectx_5() {
    let latency = 4_480_000 - 2 * (344_240 + 16_880) + 337_463;
    for (size, measured) in [(4, 7.04), (16, 21.95), (64, 49.63), (256, 79.23)] {
        let bytes = size * 1_024 * 10;
        let r = run(&format!(
            "duration = \"9ms\"\n[topology.many-to-one]\nsenders = 2\nrate = \"100Gbps\"\ndelay = \"10ns\"\n[queue]\nlimit = 1000\n\
             [nic]\npreset = \"connectx-5\"\nlatency = \"{latency}ps\"\nrate = \"97.1Gbps\"\nsend_queue = 1\n\
             [transport.t]\ncontrol = \"roce\"\nmss = \"4096B\"\n\
             [[workload.collective]]\ntransport = \"t\"\nalgorithm = \"chain-broadcast\"\nranks = 2\nchunks = 10\nsize = \"{bytes}B\"\n"
        ));
        let rate = bytes as f64 * 8e3 / *ends(&r).last().unwrap() as f64;
        let fitted = size as f64 * 8.192 / (4.48 + size as f64 * 8.192 / 97.1);
        assert!((rate / fitted - 1.0).abs() < 1e-3, "{size} KiB: {rate}, fitted {fitted}");
        assert!((rate / measured - 1.0).abs() < 0.08, "{size} KiB: {rate}, measured {measured}");
    }
    // The preset by itself: 2 B over a switch take 2.08 us and the way.
    let one = "[[workload.flow]]\ntransport = \"t\"\nfrom = \"S1\"\nto = \"R\"\nsize = \"2B\"\n";
    let way = run(&text("", one)).fct(0);
    assert_eq!(run(&text("[nic]\npreset = \"connectx-5\"", one)).fct(0), way + Time::from_ns(2_080));
}

/// Adapters of all hosts, on any number of threads.
#[test]
fn threads_change_nothing() {
    let text = |control: &str| {
        let keys = if control == "uet" { "trimmable = false" } else { "" };
        format!(
            "duration = \"1ms\"\n[topology.leaf-spine]\nleaves = 3\nspines = 2\nhosts_per_leaf = 3\nrate = \"10Gbps\"\ndelay = \"1us\"\n\
             [queue]\nlimit = 20\n[nic]\nmessage_time = \"700ns\"\nlatency = \"2us\"\npacket_time = \"900ns\"\nsend_queue = 2\nshared_send_queue = 5\n\
             [transport.t]\ncontrol = \"{control}\"\n{keys}\n\
             [[workload.collective]]\ntransport = \"t\"\nalgorithm = \"ring-all-reduce\"\nchunks = 4\nsize = \"400KB\"\n\
             [[workload.poisson]]\ntransport = \"t\"\nload = 0.5\nsize = \"20KB\"\n"
        )
    };
    for control in ["roce", "uet"] {
        let r = same_on_four_threads(&scenario(&text(control)));
        assert!(r.outcome.flows.iter().filter(|flow| flow.finished.is_some()).count() > 100);
    }
    assert_eq!(run_on(&scenario(&text("roce")), 2).outcome.flows, run(&text("roce")).outcome.flows);
}

/// A receiver that takes 1,106 B in 1,600 ns of what comes in 884.8 ns pauses its switch, and that
/// the sender: nothing is lost, and the last packet is taken when all have been. By rate, or by
/// packet.
#[test]
fn a_receiver_takes_its_time() {
    let fct = |keys: &str, packets: u64| {
        let nic = format!("[queue.pfc]\nbuffer = \"400KB\"\n[nic]\nreceive_buffer = \"40KB\"\n{keys}");
        let r = run(&text(&nic, &flows(1, packets)));
        assert_eq!(r.outcome.rest.links.iter().map(|link| link.stats.rare.drops).sum::<u64>(), 0);
        r.fct(0).0
    };
    for keys in [
        "receive_rate = \"5530Mbps\"",
        "receive_packet_time = \"1600ns\"",
        "receive_rate = \"99Gbps\"\nreceive_packet_time = \"1600ns\"",
    ] {
        for packets in [1, 2, 100] {
            // Each is taken in 1,600 ns, and the last one's ACK by the sender. That has ACKs to
            // take all the time if they need 1,600 ns, too: one that waited behind a pause frame of
            // 84 B delays all later ones.
            let frame = if packets == 100 && !keys.contains("5530") { 67_200 } else { 0 };
            let ack = if keys.contains("5530") { 124_413 } else { 1_600_000 };
            assert_eq!(fct(keys, packets), ROUND + packets * 1_600_000 + ack + frame, "{keys} {packets}");
        }
    }
}

/// Two senders whose adapters need 900 ns for a packet that the link carries in 884.8 ns, into one
/// link whose switch pauses them: nothing is lost, and that link is busy all the time with 600
/// packets.
#[test]
fn adapters_heed_pauses() {
    let nic = "[queue.pfc]\nbuffer = \"80KB\"\n[nic]\nlatency = \"2us\"\npacket_time = \"900ns\"";
    let both = flows(1, 300) + &flows(1, 300).replace("S1", "S2");
    let r = run(&text(nic, &both));
    let links = &r.outcome.rest.links;
    assert_eq!(links.iter().map(|link| link.stats.rare.drops).sum::<u64>(), 0);
    assert!(r.link("S1->W").stats.max_queue <= 1);
    let last = *ends(&r).iter().max().unwrap();
    let all = 2_000_000 + ROUND + 599 * DATA;
    // Pause frames of 67.2 ns go before ACKs.
    assert!((all..all + 500_000).contains(&last), "{last}, {all}");
    assert!(r.fct(0).0.abs_diff(r.fct(1).0) < 20 * DATA);
}
