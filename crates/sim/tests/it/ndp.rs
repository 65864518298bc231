//! NDP, and TCP whose packets are trimmed, on switches that trim.

use crate::common::{Kept, Run, run, run_on, scenario};
use crate::programs::beside;
use linkpool_sim::{Plan, Value, simulate};
use linkpool_transport::SubflowStats;
use linkpool_units::Time;
use std::fmt::Write;
use std::ops::Range;

/// S1 -- W -- R at 10 Gbps with 2 us a link: a packet of 1,000 B and its header of 64 B takes 851.2
/// ns, an ACK of 64 B 51.2 ns; both are stored and forwarded once. Without a handshake a packet and
/// its ACK take 2 (851.2 + 2,000) + 2 (51.2 + 2,000) = 9,804.8 ns.
fn lone(size: &str, more: &str) -> Run {
    run(&format!(
        r#"
        duration = "1s"
        [topology.many-to-one]
        senders = 1
        rate = "10Gbps"
        delay = "2us"
        [queue]
        discipline = "trimming"
        [transport.t]
        control = "ndp"
        mss = "1000B"
        {more}
        [[workload.flow]]
        transport = "t"
        from = "S1"
        to = "R"
        size = "{size}"
        start = "3us"
        "#
    ))
}

const ROUND: u64 = 9_804_800;
const DATA: u64 = 851_200;

/// The first window goes out at line rate, and PULLs come in time to keep it: each packet more
/// takes as long as it is on the wire.
#[test]
fn a_lone_flow_runs_at_line_rate_from_the_start() {
    for packets in [1, 2, 30, 31, 100] {
        let r = lone(&format!("{packets}KB"), "");
        assert_eq!(r.fct(0), Time::from_ps(ROUND + (packets - 1) * DATA), "{packets}");
        assert_eq!(r.flow(0).total(|s| s.segments), packets);
    }
}

/// With a window of one packet, the next one waits for the PULL, which leaves behind the ACK: 51.2
/// ns later, on the first link only.
#[test]
fn a_window_of_one_takes_a_round_for_each_packet() {
    let r = lone("3KB", "initial_window = 1");
    assert_eq!(r.fct(0), Time::from_ps(3 * ROUND + 2 * 51_200));
}

/// The packets of the first window go out together: the i-th is acknowledged a round and i packets after
/// the start, and so are those that PULLs ask for.
#[test]
fn a_lone_flow_is_recorded_by_hand() {
    let series = "{ every = \"20us\", until = \"60us\" }";
    let r = lone("50KB", &format!("[record]\nrate = {series}\ncwnd = {series}\nrtt = {{ every = \"1ps\" }}\n"));
    let rtts: Vec<u64> = r
        .samples
        .iter()
        .filter_map(|s| if let Value::Rtt { rtt, .. } = s.value { Some(rtt.0) } else { None })
        .collect();
    assert_eq!((rtts.len(), rtts[0], rtts[1], rtts[29]), (50, ROUND, ROUND + DATA, ROUND + 29 * DATA));
    // By 20 us 9 packets of the first 30 are acknowledged, by 40 us 32 of 50: (t - 3 - 9.8048) / 0.8512.
    let kb_by = |at: f64| f64::min(((at - 3.0 - 9.8048) / 0.8512).floor() + 1.0, 50.0);
    let rates: Vec<(u64, f64)> = r
        .samples
        .iter()
        .filter_map(|s| if let Value::Rate { goodput, .. } = s.value { Some((s.at.0, goodput)) } else { None })
        .collect();
    let end = 3_000_000 + ROUND + 49 * DATA;
    let expected = [
        (20_000_000, 17.0, kb_by(20.0)),
        (40_000_000, 20.0, kb_by(40.0) - kb_by(20.0)),
        (end, end as f64 / 1e6 - 40.0, 50.0 - kb_by(40.0)),
    ];
    assert_eq!(rates.len(), 3);
    for ((at, rate), (then, us, kb)) in rates.iter().zip(expected) {
        assert!(*at == then && (rate / (8.0 * kb * 1e3 / (us / 1e6)) - 1.0).abs() < 1e-9, "{at} {rate}");
    }
    // The window is the data in flight: at 20 us, nine packets are acknowledged and as many PULLs but for
    // those on their way were answered.
    let windows: Vec<(u64, f64)> = r
        .samples
        .iter()
        .filter_map(|s| if let Value::Cwnd { cwnd, .. } = s.value { Some((s.at.0, cwnd)) } else { None })
        .collect();
    assert_eq!(windows, [(20_000_000, 30.0), (40_000_000, 18.0)]);
    let subflow = &r.flow(0).subflows[0];
    assert_eq!(
        (subflow.stats.established, subflow.min_rtt, subflow.cwnd),
        (Some(Time::from_us(3)), Some(Time(ROUND)), 0.0)
    );
    let short = lone("1KB", "");
    assert_eq!(short.flow(0).subflows[0].srtt, Some(ROUND as f64 / 1e12));
    assert_eq!(short.flow(0).metric("pulls"), Some(0.0));
}

/// A packet that leaves no trace is sent again by a timeout.
#[test]
fn what_is_lost_with_its_link_is_sent_again() {
    let down =
        "[routing]\nreconverge = \"never\"\n[[change]]\nlinks = [\"W->R\"]\nstate = \"down\"\nuntil = \"10us\"\n";
    let r = lone("1KB", down);
    assert_eq!(r.link("W->R").stats.rare.drops_down, 1);
    assert_eq!((r.flow(0).total(|s| s.timeouts), r.flow(0).total(|s| s.retransmits)), (1, 1));
    assert_eq!((r.flow(0).total(|s| s.segments), r.flow(0).acked_bytes), (2, 1_000));
}

/// The first packets of flows from one host to another are spread over all paths.
#[test]
fn first_packets_take_all_paths() {
    let flows: String = (0..16)
        .map(|i| {
            format!(
                "[[workload.flow]]\ntransport = \"t\"\nfrom = \"h0\"\nto = \"h15\"\nsize = \"1KB\"\nstart = \"{i}us\"\n"
            )
        })
        .collect();
    let r = run(&format!(
        "duration = \"1ms\"\n[topology.fat-tree]\nk = 4\nrate = \"10Gbps\"\ndelay = \"1us\"\n[queue]\ndiscipline = \"trimming\"\n\
         [transport.t]\ncontrol = \"ndp\"\nmss = \"1000B\"\n{flows}"
    ));
    let at_cores = ["a0.0->c0", "a0.0->c1", "a0.1->c2", "a0.1->c3"].map(|link| r.link(link).stats.packets);
    // None of four has all 16 but once in 4^15 times; with these seeds each has some.
    assert!(at_cores.iter().all(|packets| *packets > 0), "{at_cores:?}");
}

fn incast(senders: u32, size: &str, transport: &str, queue: &str) -> String {
    format!(
        r#"
        duration = "2s"
        [topology.fat-tree]
        k = 4
        rate = "10Gbps"
        delay = "1us"
        [queue]
        {queue}
        [transport.t]
        {transport}
        [[workload.incast]]
        transport = "t"
        senders = {senders}
        receiver = "h0"
        size = "{size}"
        every = "2s"
        "#
    )
}

/// The receiver's link is busy until the last flow is done: 15 flows of 450 KB take 51 packets of
/// 9,000 B at most each.
#[test]
fn an_incast_takes_as_long_as_the_receivers_link() {
    let r = run(&incast(15, "450KB", "control = \"ndp\"", "discipline = \"trimming\""));
    let last = (0..15).map(|flow| r.fct(flow)).max().unwrap();
    let link = Time::from_ns(15 * 51 * 7_200);
    let margin = Time(link.0 / 50);
    assert!(last + margin > link && last < link + margin, "{last}, not {link}");
    let trims: u64 = r.outcome.links.iter().map(|l| l.stats.rare.trims).sum();
    let timeouts: u64 = (0..15).map(|flow| r.flow(flow).total(|s| s.timeouts)).sum();
    assert!(trims > 100 && timeouts == 0, "{trims} trimmed, {timeouts} timeouts");
}

/// With room for three headers, most of the first windows come back to their senders.
#[test]
fn what_is_returned_is_sent_again() {
    let queue = "discipline = \"trimming\"\ntrimming = { headers = 3 }";
    let r = run(&incast(15, "100KB", "control = \"ndp\"", queue));
    let returned: u64 = r.outcome.links.iter().map(|l| l.stats.rare.returns).sum();
    assert!(returned > 50, "{returned}");
    // Each comes to its sender, which acts at once: nothing waits for a timeout.
    let known: f64 = r.outcome.flows.iter().filter_map(|flow| flow.metric("returned")).sum();
    let timeouts: u64 = r.outcome.flows.iter().map(|flow| flow.total(|s| s.timeouts)).sum();
    assert_eq!((known, timeouts, r.outcome.stray), (returned as f64, 0, 0));
    assert!((0..15).all(|flow| r.flow(flow).finished.is_some() && r.flow(flow).acked_bytes == 100_000));
}

#[test]
fn any_number_of_threads_gives_the_same() {
    let queue = "discipline = \"trimming\"\ntrimming = { headers = 5 }";
    let s = scenario(&incast(15, "100KB", "control = \"ndp\"\npull_priority = true", queue));
    let one = run_on(&s, 1);
    for threads in 2..=3 {
        assert!(run_on(&s, threads).outcome == one.outcome, "{threads} threads");
    }
}

/// A core link fails in both directions, and routing does not know: data, ACKs and PULLs over it
/// are lost, and all data arrives nevertheless, with path penalties and without. (How little
/// penalties help here: `docs/limitations.md`.)
#[test]
fn all_arrives_although_a_path_loses_every_packet() {
    let text = |penalties: bool| {
        format!(
            r#"
            duration = "1s"
            [topology.fat-tree]
            k = 4
            rate = "10Gbps"
            delay = "1us"
            [queue]
            discipline = "trimming"
            [routing]
            reconverge = "never"
            [[change]]
            links = ["a0.0<->c0"]
            state = "down"
            [transport.t]
            control = "ndp"
            path_penalties = {penalties}
            [[workload.flow]]
            transport = "t"
            from = "h0"
            to = "h15"
            size = "20MB"
            "#
        )
    };
    for penalties in [true, false] {
        let run = run(&text(penalties));
        let lost: u64 = run.outcome.links.iter().map(|l| l.stats.rare.drops_down).sum();
        assert!(lost > 1000, "{lost} lost");
        assert_eq!(run.flow(0).acked_bytes, 20_000_000);
    }
}

/// TCP in an incast of which FIFO queues of eight packets make timeouts; where they trim, NACKs
/// repair all losses.
#[test]
fn nacks_spare_tcp_timeouts() {
    let transport = "control = \"reno\"\nrecovery = \"sack\"";
    let timeouts = |r: &Run| (0..15).map(|flow| r.flow(flow).total(|s| s.timeouts)).sum::<u64>();
    let dropped = run(&incast(15, "100KB", transport, "limit = 8"));
    let trimmed = run(&incast(15, "100KB", &format!("{transport}\ntrimming = true"), "discipline = \"trimming\""));
    assert!(timeouts(&dropped) > 0);
    assert_eq!(timeouts(&trimmed), 0);
    let last = |r: &Run| (0..15).map(|flow| r.fct(flow)).max().unwrap();
    assert!(last(&trimmed) * 10 < last(&dropped), "{} and {}", last(&trimmed), last(&dropped));
}
/// 15 windows of 54 packets at once into a queue of 43, at 100 Gbit/s. Who resends what was trimmed
/// within the window sends hardly more again than where the same queue drops: 728 and 868 packets, of
/// 7,395, against 668 and 648. (Without a window it was 8,935 and 10,278.)
#[test]
fn trimming_is_not_worse_than_dropping() {
    for recovery in ["rack", "sack"] {
        let again = |transport: &str, queue: &str| {
            let text = incast(15, "2MB", transport, &format!("limit = \"178450B\"\nmark = 17\n{queue}"));
            let r = run(&text.replace("10Gbps", "100Gbps"));
            assert!((0..15).all(|flow| r.flow(flow).acked_bytes == 2_000_000));
            let total = |count: fn(&SubflowStats) -> u64| (0..15).map(|flow| r.flow(flow).total(count)).sum::<u64>();
            (total(|s| s.retransmits), total(|s| s.timeouts), (0..15).map(|flow| r.fct(flow)).max().unwrap())
        };
        let transport =
            format!("control = \"dctcp\"\ninitial_window = 54\nmss = \"4060B\"\nrecovery = \"{recovery}\"\n");
        let dropped = again(&transport, "");
        let trimmed = again(&format!("{transport}trimming = true"), "discipline = \"trimming\"");
        assert!(trimmed.0 < dropped.0 * 3 / 2, "{recovery}: {trimmed:?} and {dropped:?}");
        assert!(
            trimmed.1 == 0 && dropped.1 > 0 && trimmed.2 < Time::from_ms(3),
            "{recovery}: {trimmed:?}, {dropped:?}"
        );
    }
}

/// MPTCP too.
#[test]
fn mptcp_hears_nacks() {
    let transport = "control = \"lia\"\nsubflows = 4\nrecovery = \"rack\"\ntrimming = true";
    let r = run(&incast(15, "100KB", transport, "discipline = \"trimming\""));
    let trims: u64 = r.outcome.links.iter().map(|l| l.stats.rare.trims).sum();
    assert!(trims > 0 && (0..15).all(|flow| r.flow(flow).finished.is_some()));
}

/// A receiver stays for a timeout after the end of its flow, and no longer: one place at a host is enough
/// for flows one after another.
#[test]
fn receivers_do_not_stay_for_ever() {
    let flows = "every = \"50ms\"\nbursts = 5\nsize = \"10KB\"";
    let s = scenario(&format!(
        "duration = \"1s\"\n[topology.many-to-one]\nsenders = 1\nrate = \"10Gbps\"\ndelay = \"2us\"\n[queue]\n\
         discipline = \"trimming\"\n[transport.t]\ncontrol = \"ndp\"\n[[workload.incast]]\ntransport = \"t\"\nsenders = 1\n\
         receiver = \"R\"\n{flows}\n"
    ));
    let plan = Plan { most_connections: 1, ..Plan::new(&s) };
    let mut kept = Kept::default();
    simulate(&plan, &plan.timetable(), 1, &mut kept, &mut |_| true).unwrap();
    assert!(kept.flows.len() == 5 && kept.flows.iter().all(|flow| flow.finished.is_some()));
}

/// Two connections between the same hosts: what is sent back comes to the one that has sent it, which
/// sends it again without a timeout.
#[test]
fn headers_come_back_to_their_connection() {
    let queue = "discipline = \"trimming\"\ntrimming = { headers = 3 }";
    let text = incast(15, "50KB", "control = \"ndp\"", queue);
    let second = text[text.find("[[workload").unwrap()..].to_string() + "label = \"second\"\n";
    let r = run(&format!("{text}{second}"));
    let (returns, timeouts) = (
        r.outcome.links.iter().map(|l| l.stats.rare.returns).sum::<u64>(),
        r.outcome.flows.iter().map(|flow| flow.total(|s| s.timeouts)).sum::<u64>(),
    );
    let known: f64 = r.outcome.flows.iter().filter_map(|flow| flow.metric("returned")).sum();
    assert_eq!((r.outcome.flows.len(), known, timeouts), (30, returns as f64, 0));
    // Each of the 30 flows has six packets, and is told of each that came back.
    let again: u64 = r.outcome.flows.iter().map(|flow| flow.total(|s| s.retransmits)).sum();
    assert!(returns > 50 && again >= returns, "{returns} {again}");
}

/// Two messages of 250 KB leave S1 together at 1 Gbps, so that the first windows wait in its own queue
/// for up to 4 ms, four times the timeout. Each is delivered once, and no packet is sent twice. A third
/// one follows 30 ms after the second and takes 2.05 ms: 28 packets of 9,000 B and half a one.
#[test]
fn the_own_queue_makes_no_copies() {
    let goal = "num_ranks 2\nrank 0 {\na: send 250000b to 1\nb: send 250000b to 1\nw: calc 30000000\n\
                c: send 250000b to 1\nw requires b\nc requires w\n}\n\
                rank 1 {\na: recv 250000b from 0\nb: recv 250000b from 0\nc: recv 250000b from 0\nb requires a\n\
                c requires b\n}\n";
    for (rate, more, unit) in [("1Gbps", "", 1.0), ("4Gbps", "", 4.0), ("10Gbps", "min_rto = \"200us\"", 10.0)] {
        let text = format!(
            "duration = \"100ms\"\ndrain = \"100ms\"\n[topology.many-to-one]\nsenders = 2\nrate = \"{rate}\"\ndelay = \"1us\"\n\
             [queue]\ndiscipline = \"trimming\"\n[transport.t]\ncontrol = \"ndp\"\n{more}\n\
             [[workload.program]]\ntransport = \"t\"\nfile = \"p.goal\"\nformat = \"goal\"\n"
        );
        let r = run_on(&beside(&text, &[("p.goal", goal.as_bytes())]), 1);
        let delivered: Vec<f64> = r.outcome.flows.iter().map(|f| f.delivered.unwrap().secs() * 1e3).collect();
        // 500,000 B in 56 packets, each with 64 B of headers.
        let both = 8.0 * (500_000.0 + 56.0 * 64.0) / 1e6 / unit;
        assert_eq!(delivered.len(), 3);
        // The last packet takes as long again on the second link, and 1 us on each.
        let way = 0.072 / unit + 0.002;
        assert!((delivered[1] - both - way).abs() < 0.005, "{delivered:?} {both}");
        assert!((delivered[2] - delivered[1] - 30.0 - both / 2.0 - way).abs() < 0.01, "{delivered:?} {both}");
        let again: u64 = r.outcome.flows.iter().map(|f| f.total(|s| s.retransmits + s.timeouts)).sum();
        assert_eq!((again, r.outcome.stray), (0, 0), "{rate}");
    }
}

/// S1's packet waits at the switch for 3 ms, behind those of S2 and S3, and is sent again 100, 300, 700
/// and 1,500 us later. The copies come up to 400 us after the first one, when the flow is over, and find
/// no receiver; one may be lost with S1's link. The flow is delivered once, and nothing answers.
#[test]
fn late_copies_find_no_receiver() {
    let lost = "[routing]\nreconverge = \"never\"\n[[change]]\nlinks = [\"S1->W\"]\nstate = \"down\"\nat = \"3300us\"\nuntil = \"3330us\"\n";
    for (change, copies) in [("", 4), (lost, 3)] {
        let r = run(&format!(
            r#"
            duration = "20ms"
            [topology.many-to-one]
            senders = 3
            rate = "10Gbps"
            delay = "1us"
            [queue]
            discipline = "trimming"
            limit = 2000
            {change}
            [transport.bulk]
            control = "ndp"
            initial_window = 500
            min_rto = "50ms"
            [transport.small]
            control = "ndp"
            min_rto = "100us"
            [[workload.many-to-one]]
            transport = "bulk"
            flows = 2
            first = 1
            receiver = "R"
            size = "4MB"
            [[workload.flow]]
            transport = "small"
            from = "S1"
            to = "R"
            size = "8KB"
            start = "3ms"
            "#
        ));
        let small = r.outcome.flows.last().unwrap();
        assert_eq!((r.outcome.flows.len(), small.planned.flow.size), (3, Some(8_000)));
        assert_eq!((small.total(|s| s.timeouts), small.total(|s| s.segments), r.outcome.stray), (4, 5, copies));
        let (end, delivered) = (small.finished.unwrap(), small.delivered.unwrap());
        assert!(delivered < end && end < Time::from_us(6_100), "{delivered} {end}");
    }
}

/// 200 senders of 51 packets each: a receiver sends each a PULL in 200 times 7.2 us, 1.44 times the timeout.
/// That is no silence: no packet is sent without a PULL, and the flows end together.
#[test]
fn many_senders_wait_for_their_turn() {
    let r = run(&many_to_one(200, "450KB", ""));
    let total =
        |of: fn(&linkpool_transport::SubflowStats) -> u64| r.outcome.flows.iter().map(|f| f.total(of)).sum::<u64>();
    let ends: Vec<f64> = (0..200).map(|flow| r.fct(flow).secs() * 1e3).collect();
    let (first, last) = (ends.iter().copied().fold(f64::MAX, f64::min), ends.iter().copied().fold(0.0, f64::max));
    assert_eq!(total(|s| s.timeouts), 0);
    let again = total(|s| s.retransmits);
    assert!((5_500..6_500).contains(&again), "{again}");
    assert!(first > 60.0 && (73.4..74.0).contains(&last), "{first} to {last} ms");
}

/// Senders of 450 KB to `h0` of a fat-tree, all at once, with this share of headers: the share of the last one's time at
/// which each has ended, with its host, in order; the last one's time in us; packets sent again, and timeouts.
fn to_first(k: u32, senders: Range<u32>, share: u32, seed: u64) -> (Vec<(f64, usize)>, f64, [u64; 2]) {
    let mut text = format!(
        r#"
        seed = {seed}
        duration = "1s"
        [topology.fat-tree]
        k = {k}
        rate = "10Gbps"
        delay = "1us"
        [queue]
        discipline = "trimming"
        trimming.share = {share}
        [transport.t]
        control = "ndp"
        "#
    );
    for sender in senders {
        let _ =
            write!(text, "[[workload.flow]]\ntransport = \"t\"\nfrom = \"h{sender}\"\nto = \"h0\"\nsize = \"450KB\"\n");
    }
    let r = run(&text);
    let flows = &r.outcome.flows;
    let mut ends: Vec<_> =
        (0..flows.len()).map(|f| (r.fct(f).secs() * 1e6, flows[f].planned.flow.src.index())).collect();
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    let last = ends.last().unwrap().0;
    ends.iter_mut().for_each(|end| end.0 /= last);
    let total = |of: fn(&SubflowStats) -> u64| flows.iter().map(|flow| flow.total(of)).sum();
    (ends, last, [total(|s| s.retransmits), total(|s| s.timeouts)])
}

/// A sender of the receiver's rack has a link of its own to the last switch, so more of its first window arrives whole.
/// The values beside are those of htsim's NDP (uet-htsim 40ccb05; 9,000 B, queues of 8, 30 packets first, permutations of paths).
/// With k = 4, 20 seeds: `h1` is first at 0.733 of the last one's time (deviation 0.050), the second at 0.899, the last at
/// 5,513 to 5,550 us, 441 or 442 packets are sent again. Without senders of the receiver's pod, two seeds: the
/// first at 0.92 and 0.94, the last at 4,433 and 4,440 us, 349 packets.
#[test]
fn the_sender_of_the_receivers_rack_ends_first_as_in_htsim() {
    let mut means = [0.0; 3];
    for seed in 1..=12 {
        let (ends, last, [again, timeouts]) = to_first(4, 1..16, 10, seed);
        assert_eq!((ends[0].1, timeouts), (1, 0));
        assert!((5_470.0..5_560.0).contains(&last) && again.abs_diff(441) <= 3, "{last} {again}");
        let (apart, last, [again, timeouts]) = to_first(4, 4..16, 10, seed);
        assert!((4_410.0..4_470.0).contains(&last) && again.abs_diff(349) <= 2 && timeouts == 0, "{last} {again}");
        for (mean, share) in means.iter_mut().zip([ends[0].0, ends[1].0, apart[0].0]) {
            *mean += share / 12.0;
        }
    }
    let expected = [(0.733, 0.03), (0.899, 0.03), (0.93, 0.02)];
    assert!(means.iter().zip(expected).all(|(mean, (htsim, within))| (mean - htsim).abs() < within), "{means:?}");
}

/// How large the lead is depends on how a port shares its link between headers and data. htsim sends headers first, always
/// (100,000 to 1). With k = 8 and 100 senders its first three, those of the receiver's rack, end at 0.850, 0.903 and 0.930 of
/// 36,767 us (10 seeds), 3,010 packets are sent again, and there is no timeout, not with one of 1 ms either. By the paper's 10 to 1
/// headers wait, so the lead grows and some timeouts come before the NACK.
#[test]
fn headers_first_shortens_the_lead_as_in_htsim() {
    let mean = |share| {
        let runs: Vec<_> = (1..=3).map(|seed| to_first(8, 1..101, share, seed)).collect();
        for (ends, last, _) in &runs {
            assert!((36_650.0..36_900.0).contains(last), "{last}");
            assert!(ends[..3].iter().all(|end| (1..4).contains(&end.1)), "{:?}", &ends[..4]);
        }
        let first = [0, 1, 2].map(|i| runs.iter().map(|(ends, ..)| ends[i].0).sum::<f64>() / 3.0);
        (first, runs.iter().map(|(.., counts)| *counts).collect::<Vec<_>>())
    };
    let (first, counts) = mean(100_000);
    assert!(first.iter().zip([0.850, 0.903, 0.930]).all(|(mean, htsim)| (mean - htsim).abs() < 0.03), "{first:?}");
    assert!(counts.iter().all(|[again, timeouts]| again.abs_diff(3_010) <= 3 && *timeouts == 0), "{counts:?}");
    let (first, counts) = mean(10);
    assert!((0.72..0.80).contains(&first[0]), "{first:?}");
    assert!(
        counts.iter().all(|[again, timeouts]| (200..400).contains(timeouts) && again - timeouts < 3_010),
        "{counts:?}"
    );
}

/// A tree of 4:1 at a load of 0.6 of hosts' links, 2.3 times what the uplinks carry: first windows wait in hosts' own queues for
/// longer than the timeout of 1 ms, which is no silence. No packet is sent again but those that were trimmed.
#[test]
fn packets_that_wait_at_their_host_are_not_sent_again() {
    let r = run(r#"
        duration = "2ms"
        drain = "100ms"
        [topology.fat-tree]
        k = 4
        hosts_per_edge = 8
        rate = "10Gbps"
        delay = "1us"
        [queue]
        discipline = "trimming"
        [transport.t]
        control = "ndp"
        [[workload.poisson]]
        transport = "t"
        size = { cdf = "websearch_dctcp", interpolation = "linear" }
        load = 0.6
        "#);
    let total = |of: fn(&SubflowStats) -> u64| r.outcome.flows.iter().map(|flow| flow.total(of)).sum::<u64>();
    let (again, sent) = (total(|s| s.retransmits), total(|s| s.segments));
    assert_eq!(total(|s| s.timeouts), 0);
    assert!(r.outcome.flows.iter().all(|flow| flow.finished.is_some()));
    assert!((0.15..0.4).contains(&(again as f64 / sent as f64)), "{again} of {sent}");
}

/// Many senders of the same size to `R`, all at once.
fn many_to_one(senders: u32, size: &str, more: &str) -> String {
    format!(
        "duration = \"1ms\"\ndrain = \"500ms\"\n[topology.many-to-one]\nsenders = {senders}\nrate = \"10Gbps\"\n\
         delay = \"1us\"\n[queue]\ndiscipline = \"trimming\"\n[transport.t]\ncontrol = \"ndp\"\n{more}\n\
         [[workload.incast]]\ntransport = \"t\"\nsenders = {senders}\nreceiver = \"R\"\nsize = \"{size}\"\n\
         every = \"1s\"\n"
    )
}

/// The cable from the receiver's host loses all for as long as it takes to send each of eight senders a
/// PULL. Of some all packets had been answered before, so nothing of theirs is in flight. The receiver
/// repeats its last PULL after a timeout, long before the senders would act.
#[test]
fn a_lost_pull_costs_one_timeout() {
    let change = "[[change]]\nlinks = [\"R->W\"]\nloss = 1.0\nat = \"60us\"\nuntil = \"130us\"";
    let r = run(&many_to_one(8, "70KB", &format!("initial_window = 2\n{change}")));
    assert!(r.link("R->W").stats.rare.drops_loss > 10);
    let last = (0..8).map(|flow| r.fct(flow)).max().unwrap();
    assert!(Time::from_ms(1) < last && last < Time::from_ms(3), "{last}");
}
