//! UET with NSCC: lone flows by hand and as uet-htsim has them, incasts on switches that trim, messages
//! on one connection, and the same bytes on threads.

use crate::common::{Run, run, run_on, scenario};
use linkpool_units::Time;

/// The network of uet-htsim's experiments: a fat-tree of 16 hosts, 100 Gb/s, 1 us a link; packets of
/// 4,150 B with 64 B of headers; data queues of one bandwidth-delay product, 43 packets, marked from 9
/// packets to 35.
const HTSIM: &str = r#"
duration = "1ms"
drain = "20ms"
[topology.fat-tree]
k = 4
rate = "100Gbps"
delay = "1us"
[queue]
discipline = "trimming"
limit = "178450B"
count_in_service = true
[queue.trimming]
headers = "356900B"
share = 100000
mark_min = "37350B"
mark_max = "145250B"
return_to_sender = false
[transport.t]
control = "uet"
mss = "4086B"
"#;

fn flow(from: u32, to: u32, size: u64) -> String {
    format!("[[workload.flow]]\ntransport = \"t\"\nfrom = \"h{from}\"\nto = \"h{to}\"\nsize = \"{size}B\"\n")
}

fn htsim(more: &str) -> Run {
    run(&format!("{HTSIM}{more}"))
}

/// Of a flow, in ps.
fn fct(r: &Run, flow: usize) -> u64 {
    r.fct(flow).0
}

/// A packet takes 332 ns a link and an ACK 5.12 ns, over six links of 1 us each way; each further packet
/// of a sender that is never held back takes 332 ns more. uet-htsim: 17.01 and 46.89 us.
#[test]
fn a_lone_flow_runs_at_line_rate_from_the_start() {
    for packets in [1, 2, 10, 100] {
        let r = htsim(&flow(0, 13, packets * 4_086));
        let by_hand = 12_000_000 + 6 * (332_000 + 5_120) + (packets - 1) * 332_000;
        assert_eq!(fct(&r, 0), by_hand, "{packets}");
        let flow = r.flow(0);
        assert_eq!((flow.total(|s| s.segments), flow.acked_bytes), (packets, packets * 4_086));
        assert_eq!(flow.subflows[0].min_rtt, Some(Time(12_000_000 + 6 * 337_120)));
    }
}

/// 2 MB in 490 packets: uet-htsim takes 176.2 us with 124 ACKs; both ways at once 176.8 us with 248.
#[test]
fn two_megabytes_take_as_long_as_in_uet_htsim() {
    let one = htsim(&flow(0, 13, 2_000_000));
    assert_eq!((fct(&one, 0) + 50_000) / 100_000, 1_762, "{}", fct(&one, 0));
    assert_eq!((one.flow(0).total(|s| s.segments), one.flow(0).metric("acks")), (490, Some(124.0)));
    let both = htsim(&(flow(0, 13, 2_000_000) + &flow(13, 0, 2_000_000)));
    for i in 0..2 {
        assert_eq!((fct(&both, i) + 50_000) / 100_000, 1_768, "{}", fct(&both, i));
        assert_eq!(both.flow(i).metric("acks"), Some(124.0));
    }
}

/// 15 hosts send 2 MB each to one. uet-htsim with 6 seeds: the last flow ends at 2,455 to 2,503 us, 780 to
/// 811 packets are trimmed, and 6,985 to 7,163 ACKs come.
#[test]
fn an_incast_is_that_of_uet_htsim() {
    let flows: String = (0..15).map(|host| flow(host, 15, 2_000_000)).collect();
    let r = htsim(&flows);
    let last = (0..15).map(|i| fct(&r, i)).max().unwrap() as f64 / 1e6;
    assert!((last / 2_478.5 - 1.0).abs() < 0.02, "{last}");
    let sum = |name| (0..15).map(|i| r.flow(i).metric(name).unwrap()).sum::<f64>();
    let (nacks, acks) = (sum("nacks"), sum("acks"));
    assert!((nacks / 797.0 - 1.0).abs() < 0.05 && (acks / 7_085.0 - 1.0).abs() < 0.03, "{nacks} {acks}");
    let total =
        |stat: fn(&linkpool_transport::SubflowStats) -> u64| (0..15).map(|i| r.flow(i).total(stat)).sum::<u64>();
    // What was trimmed was sent once more, and nothing else.
    assert_eq!((total(|s| s.retransmits) as f64, total(|s| s.timeouts)), (nacks, 0));
    let trims = r.outcome.links.iter().map(|link| link.stats.rare.trims).sum::<u64>();
    assert!(trims as f64 == nacks && r.link("e3.1->h15").stats.rare.trims > 100);
    assert_eq!(total(|s| s.segments), 15 * 490 + nacks as u64);
    assert!((0..15).all(|i| r.flow(i).acked_bytes == 2_000_000));
}

/// A permutation of 16 hosts, sprayed obliviously over 128 entropy values. uet-htsim with 3 seeds: the last
/// flow ends at 201 to 207 us, and at most 14 packets are trimmed.
#[test]
fn a_permutation_is_that_of_uet_htsim() {
    let flows: String = (0..16).map(|host| flow(host, (host + 5) % 16, 2_000_000)).collect();
    let r = run(&format!("{HTSIM}entropies = 128\nbalancer = \"oblivious\"\n{flows}"));
    let last = (0..16).map(|i| fct(&r, i)).max().unwrap() as f64 / 1e6;
    assert!((last / 203.3 - 1.0).abs() < 0.1, "{last}");
}

/// The same with each balancer, and an ACK for each packet. uet-htsim: 204.8 us obliviously, 197.1 by penalties,
/// 189.3 by REPS, 187.0 in its older form, 187.9 mixed.
#[test]
fn balancers_hear_of_marks() {
    let flows: String = (0..16).map(|host| flow(host, (host + 5) % 16, 2_000_000)).collect();
    let last = |balancer: &str| {
        let r = run(&format!("{HTSIM}entropies = 128\nack_bytes = \"1B\"\nbalancer = \"{balancer}\"\n{flows}"));
        (0..16).map(|i| fct(&r, i)).max().unwrap() as f64 / 1e6
    };
    let htsim = [("oblivious", 204.8), ("bitmap", 197.1), ("reps", 189.3), ("reps-legacy", 187.0), ("mixed", 187.9)];
    let found = htsim.map(|(balancer, htsim)| (balancer, last(balancer), htsim));
    assert!(found.iter().all(|(_, found, htsim)| (found / htsim - 1.0).abs() < 0.1), "{found:?}");
    assert!(found[1..].iter().all(|(_, last, _)| *last < found[0].1), "{found:?}");
}

/// Eight flows of 4 MB between leaves with eight spines, one of which has links at a quarter of their rate: 7.25 links of
/// 100 Gbit/s take 358.6 us for 32 MB in packets of 4,150 B. Marks bring MP-RDMA's paths to parts of the packets in
/// proportion, so that the slow spine has 0.25 of 7.25 of them, not an eighth as with paths that hear of nothing. With a small
/// delta that spine's packets are late, and it has less.
#[test]
fn mp_rdma_leaves_slow_paths() {
    let network = HTSIM
        .split("[transport.t]")
        .next()
        .unwrap()
        .replace("[topology.fat-tree]\nk = 4\n", "[topology.leaf-spine]\nleaves = 2\nspines = 8\nhosts_per_leaf = 8\n");
    let flows: String = (0..8).map(|host| flow(host, host + 8, 4_000_000)).collect();
    let (proportional, full) = (0.25 / 7.25, 358.6);
    // Both in parts of what they would be if all links were full.
    let of = |how: &str| {
        let r = run(&format!(
            "{network}[[change]]\nlinks = [\"l0<->s0\"]\nrate_factor = 0.25\n[transport.t]\ncontrol = \"uet\"\n\
             mss = \"4086B\"\nentropies = 256\nack_bytes = \"1B\"\n{how}\n{flows}"
        ));
        let up = |spine: usize| r.link(&format!("l0->s{spine}")).stats.bytes as f64;
        let share = up(0) / (0..8).map(up).sum::<f64>();
        let last = (0..8).map(|i| fct(&r, i)).max().unwrap() as f64 / 1e6;
        (share / proportional, last / full)
    };
    let both = "sender_law = \"mp-rdma\"\nbalancer = \"mp-rdma\"";
    let (share, last) = of(&format!("{both}\nmp_rdma_delta = 1000"));
    assert!((share - 1.0).abs() < 0.1 && (1.0..1.1).contains(&last), "{share} {last}");
    let (share, last) = of(&format!("{both}\nmp_rdma_delta = 8"));
    assert!(share < 0.7 && (1.0..1.4).contains(&last), "{share} {last}");
    let (share, last) = of("sender_law = \"mp-rdma\"\nbalancer = \"oblivious\"");
    assert!(share > 2.5 && last > 2.5, "{share} {last}");
    // The paths leave it with another law's window, too.
    let (share, last) = of("sender_law = \"nscc\"\nbalancer = \"mp-rdma\"");
    assert!((share - 1.0).abs() < 0.2 && (1.0..1.2).contains(&last), "{share} {last}");
}

/// Credit of the receiver alone. uet-htsim takes 177.37 us for a lone flow of 2 MB, with 126 ACKs and 157 PULLs until
/// its end (49 more come after it: a receiver waits among the idle ones as often as its demand was met); both ways at
/// once 177.8 to 179.1 us over 3 seeds.
#[test]
fn receivers_grant_credit_as_in_uet_htsim() {
    let credit = format!("{HTSIM}sender_law = \"none\"\nreceiver_credit = true\n");
    let one = run(&format!("{credit}{}", flow(0, 13, 2_000_000)));
    let us = fct(&one, 0) as f64 / 1e6;
    let of = |r: &Run, i, name| r.flow(i).metric(name).unwrap();
    let (acks, pulls) = (of(&one, 0, "acks"), of(&one, 0, "pulls"));
    assert!((us / 177.37 - 1.0).abs() < 0.000_1, "{us}");
    assert_eq!((acks, pulls), (126.0, 157.0));
    let both = run(&format!("{credit}{}{}", flow(0, 13, 2_000_000), flow(13, 0, 2_000_000)));
    assert!((0..2).all(|i| (fct(&both, i) as f64 / 178.4e6 - 1.0).abs() < 0.02));
}

/// An incast of 15 on credit: uet-htsim ends at 2,464 us, with 755 to 765 trims and 1,868 to 1,870
/// PULLs until the end of each flow (279 to 281 come after it); with NSCC beside it at 2,463 us, with 752 to 762 trims.
#[test]
fn an_incast_on_credit_is_that_of_uet_htsim() {
    let flows: String = (0..15).map(|host| flow(host, 15, 2_000_000)).collect();
    for (law, last, trims) in [("none", 2_464.4, 763.0), ("nscc", 2_463.4, 758.0)] {
        let r = run(&format!("{HTSIM}sender_law = \"{law}\"\nreceiver_credit = true\n{flows}"));
        let found = (0..15).map(|i| fct(&r, i)).max().unwrap() as f64 / 1e6;
        let sum = |name| (0..15).map(|i| r.flow(i).metric(name).unwrap()).sum::<f64>();
        let (nacks, pulls) = (sum("nacks"), sum("pulls"));
        assert!(
            (found / last - 1.0).abs() < 0.02 && (nacks / trims - 1.0).abs() < 0.1,
            "{law} {found} {nacks} {pulls}"
        );
        assert!((pulls / 1_869.0 - 1.0).abs() < 0.03, "{law} {found} {nacks} {pulls}");
    }
}

/// 15 to 1 with a window beside credit, where ports to hosts do not mark. uet-htsim (three seeds): the last flow ends at 2,463.8 to
/// 2,464.0 us, 2,557 to 2,590 ACKs. With marks there, which credit makes needless, each has an ACK.
#[test]
fn ports_to_hosts_mark_nothing_beside_credit() {
    let flows: String = (0..15).map(|host| flow(host, 15, 2_000_000)).collect();
    let of = |marks: &str| {
        let tree = HTSIM.replace("count_in_service = true", &format!("count_in_service = true\n{marks}"));
        let r = run(&format!("{tree}receiver_credit = true\n{flows}"));
        let last = (0..15).map(|i| fct(&r, i)).max().unwrap() as f64 / 1e6;
        let acks = (0..15).map(|i| r.flow(i).metric("acks").unwrap()).sum::<f64>();
        let marks = |to_hosts| {
            let all = r.outcome.links.iter().zip(r.plan.fabric.links());
            let all = all.filter(|(_, link)| (link.to.index() < 16) == to_hosts);
            all.map(|(link, _)| link.stats.rare.marks).sum::<u64>()
        };
        (last, acks, marks(true), marks(false))
    };
    let (last, acks, to_hosts, elsewhere) = of("mark_to_hosts = false");
    assert!((last / 2_463.9 - 1.0).abs() < 0.005 && (acks / 2_575.0 - 1.0).abs() < 0.03, "{last} {acks}");
    assert!(to_hosts == 0 && elsewhere > 0, "{to_hosts} {elsewhere}");
    let (_, acks, to_hosts, _) = of("");
    assert!(to_hosts > 500 && acks > 2_900.0, "{to_hosts} {acks}");
}

/// Senders to one of 128 hosts; ports to hosts do not mark. A PULL comes once in 80 us to each of 60 senders, and once in 168 us to
/// each of 127, which is longer than a timeout: that they wait for it is no reason to ask. uet-htsim: the last flow ends at
/// 4,942.9 us, 2,699 packets sent again, 5,816 ACKs, 10 RTS; and at 5,251 and 5,253 us, 6,219 and 6,218, 8,764, 27 and 20 RTS.
#[test]
fn senders_wait_their_turn_for_credit() {
    let near = |found: f64, expected: f64, by: f64| (found / expected - 1.0).abs() < by;
    let tree = HTSIM.replace("k = 4", "k = 8").replace("count_in_service", "mark_to_hosts = false\ncount_in_service");
    for (senders, size, last, again, acks) in
        [(60, 1_000_000, 4_942.9, 2_699.0, 5_816.0), (127, 500_000, 5_252.0, 6_218.0, 8_764.0)]
    {
        let hosts = (0..128).filter(|host| *host != 33).take(senders);
        let flows: String = hosts.map(|host| flow(host, 33, size)).collect();
        let r = run(&format!("{tree}sender_law = \"none\"\nreceiver_credit = true\n{flows}"));
        let found = (0..senders).map(|i| fct(&r, i)).max().unwrap() as f64 / 1e6;
        let sum = |name| (0..senders).map(|i| r.flow(i).metric(name).unwrap()).sum::<f64>();
        let sent_again = (0..senders).map(|i| r.flow(i).total(|s| s.retransmits)).sum::<u64>() as f64;
        assert!(near(found, last, 0.005) && near(sent_again, again, 0.05), "{found} {sent_again}");
        let (found, asked) = (sum("acks"), sum("asked"));
        assert!(near(found, acks, 0.05) && asked < senders as f64, "{found} {asked}");
    }
}

/// 64 hosts under switches that carry a quarter of what they send, one flow of 1 MB each to the third rack from its own, on credit.
/// uet-htsim with three seeds: the last ends after 380.3 to 392.8 us, 368.2 to 372.6 us on average; 3,944 to 4,052 packets sent
/// again, 11,110 to 11,459 ACKs. Without the slower credit many times as much is sent again.
#[test]
fn credit_follows_an_oversubscribed_fabric() {
    let flows: String = (0..64).map(|host| flow(host, (host + 24) % 64, 1_000_000)).collect();
    let tree = HTSIM.replace("k = 4", "k = 4\nhosts_per_edge = 8");
    let text = format!("{tree}sender_law = \"none\"\nreceiver_credit = true\n");
    let r = run(&format!("{text}{flows}"));
    let fcts: Vec<f64> = (0..64).map(|i| fct(&r, i) as f64 / 1e6).collect();
    let (last, mean) = (fcts.iter().copied().fold(0.0, f64::max), fcts.iter().sum::<f64>() / 64.0);
    let sum = |r: &Run, name| (0..64).map(|i| r.flow(i).metric(name).unwrap()).sum::<f64>();
    let near = |found: f64, expected: f64, by: f64| (found / expected - 1.0).abs() < by;
    let counts = (sum(&r, "nacks"), sum(&r, "acks"));
    assert!(near(last, 386.0, 0.03) && near(mean, 370.0, 0.02), "{last} {mean}");
    assert!(near(counts.0, 3_983.0, 0.1) && near(counts.1, 11_248.0, 0.05), "{counts:?}");
    let same = run(&format!("{text}oversubscription = 4\n{flows}"));
    assert_eq!(same.outcome.flows, r.outcome.flows, "four is what the fabric has");
    let without = run(&format!("{text}oversubscription = 1\n{flows}"));
    assert!(sum(&without, "nacks") > 5.0 * counts.0);
    // Of 15 to 1 at one switch all is trimmed before the last link, which is no reason to grant less.
    let sender = |host| flow(0, 0, 1_000_000).replace("h0\"\nto = \"h0", &format!("S{host}\"\nto = \"R"));
    let star = HTSIM.replace("fat-tree]\nk = 4", "many-to-one]\nsenders = 15").replace("37350B", "178450B");
    let star = star.replace("145250B", "178451B");
    let last = |ratio: u32| {
        let credit = format!("sender_law = \"none\"\nreceiver_credit = true\noversubscription = {ratio}\n");
        let r = run(&format!("{star}{credit}{}", (1..16).map(sender).collect::<String>()));
        (0..15).map(|i| fct(&r, i)).max().unwrap() as f64
    };
    assert!(near(last(4), last(1), 0.002));
}

/// An incast of 15 without trimming, data queues of 5 products: SLEEK finds what is lost. uet-htsim ends at 2,448
/// to 2,469 us, with 432 to 450 packets sent again, and 16 to 19 timeouts, which send nothing, as it recovers already.
#[test]
fn sleek_repairs_an_incast() {
    let flows: String = (0..15).map(|host| flow(host, 15, 2_000_000)).collect();
    let larger = HTSIM.replace("178450B", "892250B").replace("356900B", "1784500B");
    let r = run(&format!("{larger}trimmable = false\nsleek = true\n{flows}"));
    let last = (0..15).map(|i| fct(&r, i)).max().unwrap() as f64 / 1e6;
    let total =
        |stat: fn(&linkpool_transport::SubflowStats) -> u64| (0..15).map(|i| r.flow(i).total(stat)).sum::<u64>();
    let (again, timeouts) = (total(|s| s.retransmits), total(|s| s.timeouts));
    assert!((last / 2_460.0 - 1.0).abs() < 0.02, "{last} {again} {timeouts}");
    assert!((again as f64 / 441.0 - 1.0).abs() < 0.1 && timeouts < 30, "{last} {again} {timeouts}");
}

/// Balancers with one value at a time, subflows, and Swift carry a permutation to its end; spread over subflows it
/// ends before it does on one path.
#[test]
fn values_may_stay_for_many_packets() {
    let flows: String = (0..16).map(|host| flow(host, (host + 5) % 16, 500_000)).collect();
    let last = |keys: &str| {
        let r = run(&format!("{HTSIM}entropies = 128\n{keys}\n{flows}"));
        assert!((0..16).all(|i| r.flow(i).acked_bytes == 500_000), "{keys}");
        (0..16).map(|i| fct(&r, i)).max().unwrap() as f64 / 1e6
    };
    let one = last("balancer = \"plb\"");
    let moved = last("balancer = \"flowbender\"");
    let spread = last("balancer = \"rss\"");
    assert!(spread < one && spread < moved, "{one} {moved} {spread}");
    last("balancer = \"flowlets\"");
    last("sender_law = \"swift\"");
    last("sender_law = \"strack\"");
}

/// 16 senders of 250 packets in csg-htsim's dumb-bell: with its window that is assigned below the target flows wait for a
/// packet in 400 round-trip times, and its last ends 2.8 to 6.6 times as late as with the line mended. A lone flow that is
/// mended has the link to itself: 249 packets of 3.2 us after the first.
#[test]
fn an_assigned_window_starves_flows() {
    let last = |flows: usize, below: &str| {
        let flow =
            |i| format!("[[workload.flow]]\ntransport = \"t\"\nfrom = \"S{i}\"\nto = \"R\"\nsize = \"984000B\"\n");
        let r = run(&format!(
            "duration = \"1ms\"\ndrain = \"400ms\"\n[topology.many-to-one]\nsenders = 16\nrate = \"10Gbps\"\ndelay = \"2500ns\"
            [queue]\nlimit = 1000\n[transport.t]\ncontrol = \"uet\"\nsender_law = \"strack-htsim\"\nmss = \"3936B\"
            strack_htsim_below = \"{below}\"\nstrack_htsim_target = \"3500ns\"\ntrimmable = false\nentropies = 1
            first_window = \"48000B\"\nmax_window_bdp = 193\nrto = \"100ms\"\n{}",
            (1..=flows).map(flow).collect::<String>()
        ));
        assert!((0..flows).all(|i| r.flow(i).acked_bytes == 984_000 && r.flow(i).total(|s| s.retransmits) == 0));
        (0..flows).map(|i| fct(&r, i)).max().unwrap() as f64 / 1e6
    };
    assert!((last(1, "added") - (249.0 * 3.2 + 2.0 * (3.2 + 2.5) + 2.0 * (0.0512 + 2.5))).abs() < 0.01);
    let (assigned, added) = (last(16, "assigned"), last(16, "added"));
    assert!(assigned > 1.5 * added && added < 1.8 * 12_817.0, "{assigned} {added}");
}

/// A path fails while routing does not know. Subflow n of RSS carries the packets n modulo their number, those that
/// are sent again too: if timeouts do not make it the slowest, it stays on the dead path.
#[test]
fn a_subflow_leaves_a_dead_path() {
    let down =
        "[routing]\nreconverge = \"never\"\n[[change]]\nlinks = [\"e0.0->a0.0\"]\nstate = \"down\"\nat = \"20us\"\n";
    let ends = |heeds| {
        let r = run(&format!(
            "{HTSIM}entropies = 128\nbalancer = \"rss\"\nrss_heeds_timeouts = {heeds}\n{}{down}",
            flow(0, 13, 2_000_000)
        ));
        r.outcome.flows[0].finished.is_some()
    };
    assert_eq!((ends(true), ends(false)), (true, false));
}

/// The spine of a quarter of the paths fails, and SLEEK probes for what is lost. When nothing new is left to send, the value of
/// RSS that a probe takes does not change by itself: of 24 flows none ended before a probe without an answer was told lost.
#[test]
fn probes_leave_a_dead_path() {
    for (seed, balancer) in (1..=6).flat_map(|seed| [(seed, "rss"), (seed, "reps"), (seed, "flowlets")]) {
        let r = run(&format!(
            "duration = \"1ms\"\ndrain = \"200ms\"\nseed = {seed}\n[topology.leaf-spine]\nleaves = 2\nspines = 4
            hosts_per_leaf = 4\nrate = \"100Gbps\"\ndelay = \"1us\"\n[queue]\nlimit = \"580000B\"
            [routing]\nreconverge = \"never\"\n[[change]]\nat = \"50us\"\nlinks = [\"l0<->s0\"]\nstate = \"down\"
            [transport.t]\ncontrol = \"uet\"\nmss = \"4086B\"\ntrimmable = false\nsleek = true\nbalancer = \"{balancer}\"\n{}",
            (0..4).map(|host| flow(host, host + 4, 2_000_000)).collect::<String>()
        ));
        assert!((0..4).all(|i| r.flow(i).acked_bytes == 2_000_000), "{balancer}, seed {seed}");
    }
}

/// The order of a subflow's packets (PFLD) shows each random loss on a lossy link of the sender: as many are sent again as
/// were lost, without a timeout, where timeouts alone take longer. Same bytes on threads.
#[test]
fn the_order_of_a_subflow_shows_what_is_lost() {
    let lossy = "[[change]]\nlinks = [\"h0->e0.0\"]\nloss = 0.02\n";
    let text = |finds| {
        format!(
            "{HTSIM}trimmable = false\nack_bytes = \"1B\"\nbalancer = \"rss\"\nrss_finds_losses = {finds}\n{}{lossy}",
            flow(0, 13, 4_000_000)
        )
    };
    let (with, without) = (run(&text(true)), run(&text(false)));
    let of = |r: &crate::common::Run| {
        let flow = r.flow(0);
        (flow.total(|s| s.retransmits), flow.total(|s| s.timeouts), flow.acked_bytes)
    };
    let link = with.link("h0->e0.0").stats;
    // Of some 1,000 packets, and of the probes behind the last 16 and behind those that are sent again.
    let (lost, probes) = (link.rare.drops_loss, with.flow(0).metric("probes").unwrap_or(0.0));
    let (again, timeouts, acked) = of(&with);
    assert!(lost > 10 && again <= lost && lost - again <= 2, "{lost} lost, {again} sent again");
    assert_eq!((timeouts, acked), (0, 4_000_000));
    assert!(probes >= (16 + again) as f64, "{probes}");
    assert!(of(&without).1 > 10 && fct(&with, 0) < fct(&without, 0), "{:?}", of(&without));
    crate::common::same_on_four_threads(&crate::common::scenario(&text(true)));
}

/// Losses without a trace are found by the constant timeout.
#[test]
fn what_is_lost_with_its_link_is_sent_again() {
    let down =
        "[routing]\nreconverge = \"never\"\n[[change]]\nlinks = [\"e3.0->h13\"]\nstate = \"down\"\nuntil = \"30us\"\n";
    let r = htsim(&(flow(0, 13, 40_860) + down));
    assert_eq!(r.link("e3.0->h13").stats.rare.drops_down, 10);
    let flow = r.flow(0);
    assert_eq!((flow.total(|s| s.timeouts), flow.total(|s| s.retransmits), flow.acked_bytes), (10, 10, 40_860));
    // 15 us and 6 x 178,450 B at 100 Gb/s.
    assert_eq!(flow.subflows[0].rto, Time(15_000_000 + 6 * 178_450 * 80));
}

/// Without trimming a full queue drops what comes, and timeouts repair it.
#[test]
fn without_trimming_packets_are_dropped() {
    let flows: String = (0..8).map(|host| flow(host, 15, 400_000)).collect();
    let r = run(&format!("{HTSIM}trimmable = false\n{flows}"));
    let link = r.link("e3.1->h15").stats.rare;
    assert!(link.trims == 0 && link.drops > 0);
    assert!((0..8).all(|i| r.flow(i).acked_bytes == 400_000 && r.flow(i).metric("nacks") == Some(0.0)));
}

/// An incast of 15 that timeouts alone repair, data queues of 5 products. uet-htsim (six seeds): flows end at 1,362 us on average
/// (1,301 to 1,398), the last at 1,495 to 1,543 us; 429 to 440 packets sent again, 3,450 to 3,517 ACKs, 15 to 20 RTS, which tell
/// senders what has arrived though nobody asked.
#[test]
fn timeouts_repair_an_incast_as_in_uet_htsim() {
    let flows: String = (0..15).map(|host| flow(host, 15, 1_000_000)).collect();
    let larger = HTSIM.replace("178450B", "892250B").replace("356900B", "1784500B");
    let r = run(&format!("{larger}trimmable = false\n{flows}"));
    let fcts = (0..15).map(|i| fct(&r, i) as f64 / 1e6);
    let (last, mean) = (fcts.clone().fold(0.0, f64::max), fcts.sum::<f64>() / 15.0);
    let sum = |name| (0..15).map(|i| r.flow(i).metric(name).unwrap()).sum::<f64>();
    let again = (0..15).map(|i| r.flow(i).total(|s| s.retransmits)).sum::<u64>() as f64;
    let near = |found: f64, expected: f64, by: f64| (found / expected - 1.0).abs() < by;
    assert!(near(last, 1_519.0, 0.02) && near(mean, 1_362.0, 0.05), "{last} {mean}");
    let (acks, asked) = (sum("acks"), sum("asked"));
    assert!(near(again, 433.0, 0.05) && near(acks, 3_480.0, 0.03) && (15.0..=20.0).contains(&asked), "{acks} {asked}");
}

/// Messages on one connection: each is a flow of the results, and they share a window.
#[test]
fn messages_share_a_connection() {
    let ring = "[[workload.collective]]\ntransport = \"t\"\nalgorithm = \"ring-all-reduce\"\nsize = \"1MB\"\npersistent = true\n";
    let r = htsim(ring);
    assert_eq!(r.outcome.jobs.len(), 1);
    assert!(
        r.outcome
            .flows
            .iter()
            .all(|flow| flow.finished.is_some() && flow.acked_bytes == flow.planned.flow.size.unwrap())
    );
    let connections: std::collections::BTreeSet<_> = r.outcome.flows.iter().map(|flow| flow.connection).collect();
    assert_eq!((r.outcome.flows.len(), connections.len()), (16 * 30, 16));
}

#[test]
fn threads_do_not_change_the_bytes() {
    let flows: String = (0..16)
        .map(|host| flow(host, (7 * host + 3) % 16, 300_000))
        .chain((0..12).map(|h| flow(h, 15, 90_000)))
        .collect();
    let credit = "sender_law = \"none\"\nreceiver_credit = true\noversubscription = 2\n";
    for keys in ["", "subflows = 4\nsubflow_suppression = true\n", credit] {
        let scenario = scenario(&format!("{HTSIM}{keys}{flows}"));
        let one = run_on(&scenario, 1);
        assert!(one.outcome.links.iter().map(|link| link.stats.rare.trims).sum::<u64>() > 0);
        for threads in [2, 4] {
            assert_eq!(one.outcome, run_on(&scenario, threads).outcome, "{threads}");
        }
    }
}
