//! RoCE on whole networks.

use crate::common::{Run, jain, run, same_on_four_threads, scenario};
use linkpool_sim::{Sample, Value};
use linkpool_transport::SubflowStats;
use linkpool_units::Time;

/// S1 -- W -- R at 10 Gbps with 2 us a link: a packet of 1,024 B and its headers of 82 B takes 884.8 ns, an
/// ACK of 86 B 68.8 ns; both are stored and forwarded once. Without a handshake a packet and its ACK take
/// 2 (884.8 + 2,000) + 2 (68.8 + 2,000) = 9,907.2 ns.
const ROUND: u64 = 9_907_200;
const DATA: u64 = 884_800;

fn many_to_one(senders: u32, queue: &str, transport: &str, more: &str) -> Run {
    run(&format!(
        "duration = \"100ms\"
        [topology.many-to-one]
        senders = {senders}
        rate = \"10Gbps\"
        delay = \"2us\"
        [queue]
        {queue}
        [transport.t]
        {transport}
        {more}"
    ))
}

fn flow(from: &str, size: &str) -> String {
    format!("[[workload.flow]]\ntransport = \"t\"\nfrom = \"{from}\"\nto = \"R\"\nsize = \"{size}\"\nstart = \"3us\"\n")
}

/// Marks as DCQCN has them: by the queue of the moment, linear between two thresholds.
const MARKS: &str =
    "limit = \"2MB\"\nred = { min = \"20KB\", max = \"200KB\", max_probability = 0.2, weight = 1, gentle = false }";

/// The example of its page: what the page says of it.
#[test]
fn the_example_of_the_page_runs() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/scenario/roce.md")).unwrap();
    let example = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let r = run(example);
    assert_eq!(r.link("W->R").stats.rare.drops, 0);
    assert!((0..2).all(|f| r.flow(f).finished.is_some() && r.flow(f).metric("cnps") > Some(0.0)));
}

/// Each packet more takes as long as it is on the wire, under every law and with a window of the
/// bandwidth-delay product: 12,384 B, thirteen packets.
#[test]
fn a_lone_flow_runs_at_line_rate_from_the_start() {
    for control in ["roce", "dcqcn", "dcqcn-hpcc", "roce-dctcp", "roce-swift"] {
        for packets in [1, 2, 12, 13, 14, 100] {
            let size = format!("{}B", packets * 1_024);
            let r = many_to_one(1, "limit = 1000", &format!("control = \"{control}\""), &flow("S1", &size));
            assert_eq!(r.fct(0), Time(ROUND + (packets - 1) * DATA), "{control} {packets}");
            assert_eq!((r.flow(0).total(|s| s.segments), r.flow(0).total(|s| s.retransmits)), (packets, 0));
            assert_eq!(r.flow(0).subflows[0].min_rtt, Some(Time(ROUND)));
            assert_eq!(r.flow(0).metric("sending_rate"), Some(1e10));
        }
    }
    let window = |r: &Run| r.flow(0).subflows[0].cwnd * 1_024.0;
    assert_eq!(window(&many_to_one(1, "limit = 1000", "control = \"dcqcn-hpcc\"", &flow("S1", "1KB"))), 12_384.0);
}

/// Queue pairs of a host take turns at its port, so that none waits behind the packet being sent, and each has its
/// share.
#[test]
fn queue_pairs_take_turns_at_the_port() {
    let both = flow("S1", "102400B").replace("start", "count = 3\nstart");
    let r = many_to_one(1, "limit = 1000", "control = \"roce\"", &both);
    let ends: Vec<_> = (0..3).map(|f| r.fct(f)).collect();
    assert_eq!(ends, [298, 299, 300].map(|before| Time(ROUND + (before - 1) * DATA)));
    assert_eq!(r.link("S1->W").stats.max_queue, 0);
}

/// Three senders at line rate into one link of a queue of 100 packets: two thirds are lost, and go-back-N
/// brings them all the same. NACKs say what is missing.
#[test]
fn what_a_full_queue_drops_is_sent_again() {
    for way in ["go-back-n", "selective"] {
        let flows: String = ["S1", "S2", "S3"].iter().map(|from| flow(from, "1MB")).collect();
        let transport = format!("control = \"roce\"\nretransmission = \"{way}\"\nwindow = \"60KB\"");
        let r = many_to_one(3, "limit = 100", &transport, &flows);
        assert!(r.link("W->R").stats.rare.drops > 0, "{way}");
        for f in 0..3 {
            let flow = r.flow(f);
            assert_eq!((flow.acked_bytes, flow.finished.is_some()), (1_000_000, true), "{way}");
            assert!(flow.metric("nacks") > Some(0.0) && flow.total(|s| s.retransmits) > 0);
        }
        let again: u64 = (0..3).map(|f| r.flow(f).total(|s: &SubflowStats| s.retransmits)).sum();
        let lost = r.link("W->R").stats.rare.drops;
        if way == "selective" {
            assert!(again < 2 * lost, "{again} for {lost}");
        }
    }
}

/// The bytes in the queue of W->R from 20 ms on, each 5 us, with two flows of `control` into it.
fn queue_of_two(control: &str, marks: &str) -> (Vec<f64>, f64) {
    let flows: String = ["S1", "S2"].iter().map(|from| flow(from, "unlimited")).collect();
    let record = "[measure]\nwarm_up = \"20ms\"\n[record]\nqueue = { links = [\"W->R\"], every = \"5us\" }\n";
    let r = many_to_one(2, &format!("limit = 1000{marks}"), &format!("control = \"{control}\""), &(flows + record));
    let shares: Vec<f64> = (0..2).map(|f| r.flow(f).measured_bytes as f64).collect();
    assert!(jain(&shares) > 0.99, "{control}: {shares:?}");
    assert_eq!(r.link("W->R").stats.rare.drops, 0);
    let of = |sample: &Sample| match sample.value {
        Value::Queue { bytes, .. } if sample.at >= Time::from_ms(20) => Some(bytes as f64),
        _ => None,
    };
    let busy = shares.iter().sum::<f64>() * 8.0 / 0.08 / 1e10 * 1_106.0 / 1_024.0;
    (r.samples.iter().filter_map(of).collect(), busy)
}

/// Alizadeh et al., SIGCOMM 2010, section 3.3: with N = 2 flows, K = 20 packets and C x RTT = 11.2 packets the queue is
/// K + N = 22 packets at most, and sqrt(2 N (C RTT + K))/2 = 5.6 packets lower at least. A packet may go while the window
/// is not full, which makes it one more for each flow; at least and most are within two packets of that.
#[test]
fn the_queue_of_dctcp_is_that_of_its_analysis() {
    let (queue, busy) = queue_of_two("roce-dctcp", "\nmark = 20");
    let packets = |bytes: f64| bytes / 1_106.0;
    let (least, most) = (queue.iter().copied().fold(f64::MAX, f64::min), queue.iter().copied().fold(0.0, f64::max));
    println!("{} to {} packets, busy {busy}", packets(least), packets(most));
    assert!(busy > 0.999, "{busy}");
    assert!((packets(most) - 24.0).abs() <= 2.0 && (packets(least) - 18.4).abs() <= 2.0, "{least} {most}");
}

/// Swift rests where the round-trip time is the target of the windows that make it: 2 w packets take 9.9072 us without
/// a queue, so w = 15.8, the target is 20 + 3.05 + 32.655/sqrt(w) - 3.2655 = 28.0 us, and the queue 18.1 us: 22.6 KB.
#[test]
fn swift_rests_where_its_target_is() {
    let (queue, busy) = queue_of_two("roce-swift", "");
    let mean = queue.iter().sum::<f64>() / queue.len() as f64;
    println!("{mean} B, busy {busy}");
    assert!(busy > 0.999, "{busy}");
    assert!((mean / 22_600.0 - 1.0).abs() < 0.1, "{mean}");
}

/// Without an answer for 1 ms the sender goes back; the link is down for 0.5 ms.
#[test]
fn a_timeout_brings_a_lost_tail_back() {
    let down =
        "[routing]\nreconverge = \"never\"\n[[change]]\nlinks = [\"W->R\"]\nstate = \"down\"\nuntil = \"500us\"\n";
    let r = many_to_one(1, "limit = 100", "control = \"roce\"\nmin_rto = \"1ms\"", &(flow("S1", "2KB") + down));
    let stats = &r.flow(0).subflows[0].stats;
    assert_eq!((stats.timeouts, stats.segments, stats.retransmits), (1, 4, 2));
    // The timer runs from the time at which the first packet has left.
    assert!(r.fct(0) > Time::from_ms(1) && r.fct(0) < Time::from_us(1_020));
}

/// A queue pair whose receiver is gone fails after eight timeouts.
#[test]
fn a_queue_pair_fails() {
    let down = "[routing]\nreconverge = \"never\"\n[[change]]\nlinks = [\"W->R\"]\nstate = \"down\"\n";
    let r = many_to_one(1, "limit = 100", "control = \"dcqcn\"\nmin_rto = \"1ms\"", &(flow("S1", "2KB") + down));
    assert_eq!((r.flow(0).finished, r.flow(0).total(|s| s.timeouts)), (None, 8));
    assert!(r.flow(0).active_until < Time::from_ms(9));
}

/// Four flows of DCQCN share a link of 10 Gbps: no packet is lost, the link is busy, and the shares are fair.
/// The first notifications come with alpha 1, so that rates go far down, and recover in some milliseconds.
#[test]
fn dcqcn_shares_a_link() {
    for (control, least_busy) in [("dcqcn", 0.9), ("dcqcn-hpcc", 0.9)] {
        let flows: String =
            (1..=4).map(|s| flow(&format!("S{s}"), "unlimited").replace("start", "stop = \"100ms\"\nstart")).collect();
        let measured = format!("{flows}[measure]\nwarm_up = \"40ms\"\n");
        let r = many_to_one(4, MARKS, &format!("control = \"{control}\""), &measured);
        assert_eq!(r.link("W->R").stats.rare.drops, 0, "{control}");
        let shares: Vec<f64> = (0..4).map(|f| r.flow(f).measured_bytes as f64).collect();
        let goodput = shares.iter().sum::<f64>() * 8.0 / 0.06 / (1e10 * 1_024.0 / 1_106.0);
        println!("{control}: busy {goodput:.4}, Jain {:.4}, {shares:?}", jain(&shares));
        assert!(goodput > least_busy && goodput <= 1.001, "{control}: {goodput}");
        assert!(jain(&shares) > 0.95, "{control}: {shares:?}");
        assert!((0..4).all(|f| r.flow(f).metric("cnps") > Some(10.0)));
    }
}

/// Packets that take all paths of a leaf-spine come out of order. Each gap makes go-back-N send again; a
/// receiver that keeps 64 packets needs less of it, one that keeps 1,000 none.
#[test]
fn spraying_needs_a_reordering_window() {
    let again = |more: &str| {
        let r = run(&format!(
            "duration = \"100ms\"
            [topology.leaf-spine]
            leaves = 2
            spines = 4
            hosts_per_leaf = 4
            rate = \"10Gbps\"
            delay = \"1us\"
            [queue]
            limit = 1000
            [transport.t]
            control = \"roce\"
            paths = \"scatter\"
            {more}
            [[workload.stride]]
            transport = \"t\"
            step = 4
            size = \"1MB\""
        ));
        assert!(r.outcome.flows.iter().all(|flow| flow.finished.is_some()));
        r.outcome.flows.iter().map(|flow| flow.total(|s| s.retransmits)).sum::<u64>()
    };
    let ways = ["", "reorder_window = 64", "reorder_window = 1000", "retransmission = \"selective\""];
    let [none, some, wide, selective] = ways.map(again);
    assert!(none > some && some > wide && wide == 0, "{none} {some} {wide}");
    // IRN takes each packet out of order for a loss.
    assert!(selective > 0 && selective < none, "{none} {selective}");
}

/// The messages of a ring all-reduce of four ranks, 6 to each neighbour, on connections that stay open.
#[test]
fn messages_share_a_queue_pair() {
    let r = run("duration = \"4ms\"
        drain = \"10ms\"
        [topology.leaf-spine]
        leaves = 4
        spines = 2
        hosts_per_leaf = 4
        rate = \"10Gbps\"
        delay = \"1us\"
        [queue]
        limit = 100
        [transport.t]
        control = \"dcqcn\"
        [[workload.collective]]
        transport = \"t\"
        algorithm = \"ring-all-reduce\"
        ranks = 4
        size = \"400KB\"
        persistent = true");
    assert!(r.outcome.flows.len() >= 24 && r.outcome.flows.iter().all(|flow| flow.finished.is_some()));
    assert!(r.outcome.flows.iter().all(|flow| flow.acked_bytes == 100_000 && flow.delivered <= flow.finished));
}

/// The same on any number of threads, with two laws on a fabric.
#[test]
fn threads_change_nothing() {
    let text = "duration = \"3ms\"
        [topology.fat-tree]
        k = 4
        rate = \"10Gbps\"
        delay = \"1us\"
        [queue]
        limit = \"200KB\"
        mark = \"20KB\"
        [transport.a]
        control = \"dcqcn\"
        [transport.b]
        control = \"dcqcn-hpcc\"
        paths = \"scatter\"
        reorder_window = 64
        [[workload.permutation]]
        transport = \"a\"
        size = \"300KB\"
        [[workload.incast]]
        transport = \"b\"
        senders = 8
        receiver = \"h0\"
        size = \"50KB\"
        every = \"500us\"";
    same_on_four_threads(&scenario(text));
}

/// Plain RoCE with PFC into one host of a fat-tree with k = 4, 2 MB of each sender (489 packets of 4,160 B): the last one's time is
/// that of htsim's `htsim_roce` (uet-htsim 40ccb05, `-mtu 4096 -queue_type lossless_input -pfc_thresholds 20 30`), in us to
/// the digits that it prints, alone, two from other pods, and fifteen. It has no timeout, so none comes here.
#[test]
fn incasts_with_pauses_end_as_in_htsim() {
    let htsim: [(&[u32], [f64; 3]); 2] = [
        (&[4, 8], [1_320.69, 339.173, 93.7933]),
        (&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15], [9_773.81, 2_449.45, 618.363]),
    ];
    let last = |senders: &[u32], gbps: u32| {
        let flow = |from: &u32| {
            format!("[[workload.flow]]\ntransport = \"t\"\nfrom = \"h{from}\"\nto = \"h0\"\nsize = \"2002944B\"\n")
        };
        let flows: String = senders.iter().map(flow).collect();
        let r = run(&format!(
            r#"
            duration = "12ms"
            [topology.fat-tree]
            k = 4
            rate = "{gbps}Gbps"
            delay = "1us"
            [queue.pfc]
            buffer = "64MB"
            xoff = "123KB"
            resume = "41KB"
            [transport.t]
            control = "roce"
            mss = "4096B"
            header = "64B"
            ack_size = "64B"
            min_rto = "1s"
            {flows}"#
        ));
        assert!(r.outcome.flows.iter().all(|flow| flow.total(|s| s.retransmits) == 0));
        (0..senders.len()).map(|flow| r.fct(flow).secs() * 1e6).fold(0.0, f64::max)
    };
    assert!((last(&[4], 100) - 176.434).abs() < 0.001);
    for (senders, expected) in htsim {
        for (gbps, expected) in [25, 100, 400].into_iter().zip(expected) {
            let found = last(senders, gbps);
            assert!(
                (found - expected).abs() < 0.01,
                "{} to one at {gbps} Gbit/s: {found} us for {expected}",
                senders.len()
            );
        }
    }
}
