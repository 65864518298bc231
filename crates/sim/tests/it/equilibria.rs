//! Equilibria of congestion control algorithms with the network simulated, against the numbers of
//! theory.
//!
//! `crates/transport/tests/it/equilibria` has the algorithms alone; `docs/equilibria` pages of
//! both, and why theory and drop-tail queues differ.

use crate::common::{Run, run_on, scenario};
use linkpool_sim::{FlowOutcome, Value};
use linkpool_transport::SubflowId;

/// Of the window with independent losses of probability p: 1.3098 / sqrt(p) (Ott, Kemperman, Mathis
/// 1996).
const RANDOM_LOSSES: f64 = 1.3098;
/// The payload rate of a link.
const GOODPUT: f64 = 1400.0 / 1462.0;

const PAPER: &str = "preset = \"paper-2013\"\ninitial_ssthresh = \"unlimited\"\n";

fn run(text: &str) -> Run {
    run_on(&scenario(text), 1)
}

const SECOND: SubflowId = SubflowId::new(1);

/// Payload acknowledged on subflow `s` of the flows of transport `t`, bytes, and how many flows
/// these are.
fn acked(r: &Run, t: &str, s: SubflowId) -> (f64, usize) {
    let is_it = |f: &&FlowOutcome| r.plan.transports[f.planned.transport.index()].name == t;
    let flows: Vec<_> = r.outcome.flows.iter().filter(is_it).collect();
    (flows.iter().map(|f| f.subflows[s].stats.acked_bytes as f64).sum(), flows.len())
}

/// `measured` is within `tolerance` of `theory`.
#[track_caller]
fn close(what: &str, measured: f64, theory: f64, tolerance: f64) {
    let off = measured / theory - 1.0;
    println!("{what}: {measured:.4}, theory {theory:.4}, {:+.1}%", 100.0 * off);
    assert!(off.abs() <= tolerance, "{what}: {measured} is {:.1}% off the theory's {theory}", 100.0 * off);
}

/// Payload that ten TCPs over a path of 10 ms that loses packets with probability `p` have had
/// acknowledged, each, after so long.
fn tcp_under_losses(p: f64, seconds: u32) -> f64 {
    let r = run(&format!(
        "duration = \"{seconds}s\"
        [topology.dumbbell]
        pairs = 1
        rate = \"10Gbps\"
        delay = \"1us\"
        bottleneck_delay = \"4998us\"
        [queue]
        limit = 10000
        [[change]]
        links = [\"L->R\"]
        loss = {p}
        [transport.tcp]
        control = \"reno\"
        {PAPER}
        [[workload.flow]]
        from = \"S1\"
        to = \"D1\"
        transport = \"tcp\"
        count = 10"
    ));
    let (bytes, flows) = acked(&r, "tcp", SubflowId::FIRST);
    bytes / flows as f64
}

/// TCP's square root, from the third second on: slow start meets no loss before 1,000 packets. Some
/// 400 losses leave the mean to chance by 4% or so, and one in fifty costs a timeout.
#[test]
fn tcp_under_random_losses() {
    let p = 0.001f64;
    let rounds = 10.0 / 0.01;
    let packets = (tcp_under_losses(p, 12) - tcp_under_losses(p, 2)) / 1400.0 / rounds;
    close("packets a round", packets, RANDOM_LOSSES / p.sqrt(), 0.1);
}

/// Round a triangle (Wischik et al., NSDI 2011, section 2.3): each of three pairs has a way over
/// one lossy link and a way over the two others, of equal RTT. Packets of a user over either, after
/// so long.
fn triangle_after(algorithm: &str, p: f64, seconds: u32) -> [f64; 2] {
    let users = 4;
    let (mut nodes, mut edges, mut flows) = (String::new(), String::new(), String::new());
    for i in 1..=3 {
        let (after, before) = (i % 3 + 1, (i + 1) % 3 + 1);
        for (name, kind) in [("S", "host"), ("D", "host"), ("A", "switch"), ("B", "switch")] {
            nodes += &format!("{{ id = \"{name}{i}\", kind = \"{kind}\" }},");
        }
        for (source, target, us) in [
            (format!("A{i}"), format!("B{i}"), 250),
            (format!("B{i}"), format!("A{after}"), 250),
            (format!("S{i}"), format!("A{i}"), 2500),
            (format!("S{i}"), format!("A{after}"), 2000),
            (format!("B{i}"), format!("D{i}"), 2500),
            (format!("B{before}"), format!("D{i}"), 2500),
        ] {
            edges += &format!("{{ source = \"{source}\", target = \"{target}\", delay = \"{us}us\" }},");
        }
        flows += &format!(
            "[[workload.flow]]
            from = \"S{i}\"
            to = \"D{i}\"
            transport = \"t\"
            count = {users}
            paths = [[\"S{i}\", \"A{i}\", \"B{i}\", \"D{i}\"],
                     [\"S{i}\", \"A{after}\", \"B{after}\", \"A{before}\", \"B{before}\", \"D{i}\"]]\n"
        );
    }
    let r = run(&format!(
        "duration = \"{seconds}s\"
        [topology.graph]
        rate = \"1Gbps\"
        nodes = [{nodes}]
        edges = [{edges}]
        [queue]
        limit = 10000
        [[change]]
        links = [\"A1->B1\", \"A2->B2\", \"A3->B3\"]
        loss = {p}
        [transport.t]
        control = \"{algorithm}\"
        subflows = 2
        {PAPER}
        {flows}"
    ));
    [SubflowId::FIRST, SECOND].map(|s| {
        let (bytes, flows) = acked(&r, "t", s);
        bytes / 1400.0 / flows as f64
    })
}

/// Mean packets in a round over either way, from the fourth second on.
fn triangle(algorithm: &str, p: f64) -> [f64; 2] {
    let (before, after) = (triangle_after(algorithm, p, 3), triangle_after(algorithm, p, 11));
    let rounds = (11.0 - 3.0) / 0.0105;
    [0, 1].map(|s| (after[s] - before[s]) / rounds)
}

/// The long way loses twice what the short one does. EWTCP has half a TCP on each; LIA what a TCP
/// gets on the better one in all, split 2 to 1; BALIA the same, split a to 1 with (1 + a)(4 + a) =
/// 30. Some 400 losses for each algorithm and path: 5% by chance; where losses are not even, LIA is
/// up to 20% off its split in the world of theory too
/// (`lia_weighs_paths_by_the_inverse_of_their_loss`).
#[test]
fn who_avoids_the_long_ways_round_a_triangle() {
    let p = 0.002f64;
    let tcp = |p: f64| RANDOM_LOSSES / p.sqrt();
    let [short, long] = triangle("ewtcp", p);
    close("EWTCP, short", short, tcp(p) / 2.0, 0.15);
    close("EWTCP, long", long, tcp(2.0 * p) / 2.0, 0.15);
    let ewtcp = short / long;
    let [short, long] = triangle("lia", p);
    close("LIA, all", short + long, tcp(p), 0.15);
    close("LIA, split", short / long, 2.0, 0.25);
    let lia = short / long;
    let [short, long] = triangle("balia", p);
    close("BALIA, all", short + long, tcp(p), 0.15);
    close("BALIA, split", short / long, (129f64.sqrt() - 5.0) / 2.0, 0.25);
    assert!(ewtcp < lia && lia < short / long, "EWTCP avoids them least, BALIA most");
}

/// Scenario C of Khalili et al., CoNEXT 2012: ten multipath users with a bottleneck of their own
/// and a share in that of ten TCP users. What one of them gets over what a TCP user gets. The
/// queues are RED's, which lose packets of all alike, as theory has it.
fn two_bottlenecks(algorithm: &str) -> f64 {
    let mut text = format!(
        "duration = \"60s\"
        [topology.ring]
        bottleneck_rates = [\"20Mbps\", \"20Mbps\"]
        bottleneck_delays = [\"20ms\", \"20ms\"]
        rate = \"80Mbps\"
        delay = \"1ms\"
        [queue]
        limit = 100
        red = {{ min = 5, max = 45, max_probability = 0.1, weight = 0.002, action = \"drop\" }}
        [transport.multi]
        control = \"{algorithm}\"
        subflows = 2
        paths = \"distinct\"
        {PAPER}
        [transport.tcp]
        control = \"reno\"
        {PAPER}"
    );
    for i in 0..10 {
        for (t, from, to, ms) in [("multi", "S1", "D1", 137 * i), ("tcp", "X2", "Y2", 151 * i)] {
            text += &format!(
                "[[workload.flow]]\nfrom = \"{from}\"\nto = \"{to}\"\ntransport = \"{t}\"\nstart = \"{ms}ms\"\n"
            );
        }
    }
    let r = run(&text);
    (acked(&r, "multi", SubflowId::FIRST).0 + acked(&r, "multi", SECOND).0) / acked(&r, "tcp", SubflowId::FIRST).0
}

/// With equal bottlenecks and z = sqrt(p1/p2) TCP users get z times what the others do. LIA: z^3 +
/// z^2 + z = 1, so z = 0.5437. BALIA: the multipath user has x on the shared one, z = (1 - x)/(1 +
/// x), and (1 + 1/x)(4 + 1/x)/15 = 1/z^2, so x = 0.2457, z = 0.6055. OLIA: z = 1, but under random
/// losses it takes the worse path for the better too often (`olia_errs_where_losses_are_random`).
/// 1,000 losses or so: 3% by chance.
#[test]
fn what_two_bottlenecks_give_multipath_users() {
    let (lia, balia, olia) = (two_bottlenecks("lia"), two_bottlenecks("balia"), two_bottlenecks("olia"));
    close("LIA", lia, 1.0 / 0.5437, 0.12);
    close("BALIA", balia, 1.0 / 0.6055, 0.15);
    println!("OLIA: {olia:.3}");
    assert!(1.0 < olia && olia < balia && balia < lia, "OLIA takes least from TCP users, LIA most");
}

/// XMP over bottlenecks of 1 Gbit/s and `second` of it, beside a flow on each: the goodputs of the
/// three flows.
fn xmp(second: f64) -> [f64; 3] {
    let r = run(&format!(
        "duration = \"0.4s\"
        [topology.ring]
        bottleneck_rates = [\"1Gbps\", \"{}Mbps\"]
        bottleneck_delays = [\"50us\", \"50us\"]
        rate = \"10Gbps\"
        delay = \"5us\"
        [queue]
        limit = 200
        mark = 20
        [transport.multi]
        control = \"xmp\"
        subflows = 2
        paths = \"distinct\"
        {PAPER}
        [transport.first]
        control = \"xmp\"
        {PAPER}
        [transport.second]
        control = \"xmp\"
        {PAPER}
        [[workload.flow]]
        from = \"S1\"
        to = \"D1\"
        transport = \"multi\"
        start = \"7us\"
        [[workload.flow]]
        from = \"X1\"
        to = \"Y1\"
        transport = \"first\"
        [[workload.flow]]
        from = \"X2\"
        to = \"Y2\"
        transport = \"second\"
        start = \"3us\"",
        (1000.0 * second).round()
    ));
    let all = (1.0 + second) * 1e9 / 8.0 * 0.4 * GOODPUT;
    let multi = acked(&r, "multi", SubflowId::FIRST).0 + acked(&r, "multi", SECOND).0;
    [multi, acked(&r, "first", SubflowId::FIRST).0, acked(&r, "second", SubflowId::FIRST).0].map(|bytes| bytes / all)
}

/// Equations 7 to 9 of Cao et al., CoNEXT 2013: a path that is used is marked with p = 1 / (1 + y T
/// / beta), y the flow's sum of rates. With equal RTTs so all three flows have a third; without
/// shifting the multipath flow would have a half. The equations take marks in a round as chance:
/// flows that meet marks together shift less than they say where the bottlenecks are not alike.
#[test]
fn xmp_shares_two_bottlenecks_in_thirds() {
    let equal = xmp(1.0);
    equal.iter().for_each(|share| close("C2 = C1", *share, 1.0 / 3.0, 0.1));
    let unequal = xmp(0.8);
    println!("C2 = 0.8 C1: {unequal:.3?}");
    close("C2 = 0.8 C1, the multipath flow", unequal[0], 1.0 / 3.0, 0.2);
    // Halves of both links would be 0.556 and 0.444 of the rest for the others.
    assert!(unequal[1] > unequal[2]);
}

/// What the queue swings by: the mean height of its sawteeth, from what is between its crossings of
/// the mean; and its greatest length.
fn swing(queue: &[f64]) -> (f64, f64) {
    let mean = queue.iter().sum::<f64>() / queue.len() as f64;
    let (mut highs, mut lows) = (Vec::new(), Vec::new());
    let parts: Vec<&[f64]> = queue.chunk_by(|a, b| (*a >= mean) == (*b >= mean)).collect();
    for part in parts[1..parts.len() - 1].iter().filter(|part| part.len() > 2) {
        let most = |sign: f64| sign * part.iter().map(|q| sign * q).fold(f64::NEG_INFINITY, f64::max);
        if part[0] >= mean { highs.push(most(1.0)) } else { lows.push(most(-1.0)) }
    }
    let mean_of = |all: &[f64]| all.iter().sum::<f64>() / all.len() as f64;
    (mean_of(&highs) - mean_of(&lows), queue.iter().copied().fold(0.0, f64::max))
}

/// N synchronised DCTCP flows swing the queue by sqrt(2 N (C RTT + K)) / 2 packets, up to K + N
/// (Alizadeh et al., SIGCOMM 2010, equations 8 to 10): less by up to a fifth, since their cuts are
/// not all in the same instant; and beyond K + N by packets that are in service.
#[test]
fn dctcp_s_amplitude() {
    let (k, bdp) = (40.0, 10e9 * 100e-6 / (8.0 * 1462.0));
    for n in [2, 6] {
        let r = run(&format!(
            "duration = \"60ms\"
            [topology.many-to-one]
            senders = {n}
            rate = \"10Gbps\"
            delay = \"24414ns\"
            [queue]
            limit = 1000
            mark = {k}
            [transport.dctcp]
            control = \"dctcp\"
            {PAPER}
            [[workload.many-to-one]]
            flows = {n}
            receiver = \"R\"
            transport = \"dctcp\"
            [record]
            queue = {{ links = [\"W->R\"], every = \"2us\", from = \"30ms\" }}"
        ));
        let queue: Vec<f64> = r
            .samples
            .iter()
            .filter_map(|s| match s.value {
                Value::Queue { packets, .. } => Some(packets as f64),
                _ => None,
            })
            .collect();
        let (amplitude, greatest) = swing(&queue);
        close(&format!("N = {n}"), amplitude, (2.0 * n as f64 * (bdp + k)).sqrt() / 2.0, 0.2);
        assert!((k + n as f64..=k + n as f64 + 2.0).contains(&greatest), "up to {greatest}");
    }
}
