//! RoCE with laws for which switches write on packets: HPCC, with PINT's digests too, and PowerTCP.

use crate::common::{Run, jain, run, same_on_four_threads, scenario};
use linkpool_sim::{Sample, Value};
use linkpool_units::Time;

fn two_to_one(control: &str, more: &str) -> Run {
    let flow = |from: &str| {
        format!(
            "[[workload.flow]]\ntransport = \"t\"\nfrom = \"{from}\"\nto = \"R\"\nsize = \"unlimited\"\nstart = \"3us\"\n\
             stop = \"20ms\"\n"
        )
    };
    run(&format!(
        "duration = \"20ms\"
        [topology.many-to-one]
        senders = 2
        rate = \"100Gbps\"
        delay = \"1us\"
        [queue]
        limit = \"4MB\"
        [measure]
        warm_up = \"5ms\"
        [record]
        queue = {{ links = [\"W->R\"], every = \"1us\" }}
        [transport.t]
        control = \"{control}\"
        {more}
        {}{}",
        flow("S1"),
        flow("S2")
    ))
}

/// A packet of 1,024 B with headers and telemetry of 124 B takes 91.84 ns, an ACK of 128 B 10.24 ns: the round is
/// 2 (91.84 + 1,000) + 2 (10.24 + 1,000) ns; with a digest, of 2 B in place of 42, packets take 88.64 ns and ACKs 7.04 ns. All
/// begin at line rate.
#[test]
fn a_lone_message_takes_the_time_of_the_path() {
    for (control, packet, round) in
        [("hpcc", 91_840, 4_204_160), ("powertcp", 91_840, 4_204_160), ("hpcc-pint", 88_640, 4_191_360)]
    {
        for packets in [1, 2, 40] {
            let r = run(&format!(
                "duration = \"1ms\"
                [topology.many-to-one]
                senders = 2
                rate = \"100Gbps\"
                delay = \"1us\"
                [queue]
                limit = \"4MB\"
                [transport.t]
                control = \"{control}\"
                [[workload.flow]]
                transport = \"t\"
                from = \"S1\"
                to = \"R\"
                size = \"{}B\"",
                packets * 1_024
            ));
            // 4,204.16 ns are 52,552 B: no answer comes before the 46th packet.
            assert_eq!(r.fct(0), Time(round + (packets - 1) * packet), "{control} {packets}");
        }
    }
}

/// Bytes in the queue of W->R, after the warm-up.
fn queue(r: &Run) -> Vec<f64> {
    let of = |sample: &Sample| match sample.value {
        Value::Queue { bytes, .. } if sample.at >= Time::from_ms(5) => Some(bytes as f64),
        _ => None,
    };
    r.samples.iter().filter_map(of).collect()
}

/// Two flows into one link of 100 Gbit/s. HPCC holds the link at 95%: the queue is that of packets that meet, no more
/// than two, and far below that of the start, which is the window of one flow. PowerTCP fills the link, and its queue is
/// that of the bytes that both add: 2 beta/(gain of the law) -- at the fixed point W = BDP + beta for each.
#[test]
fn the_queue_stays_near_zero_at_the_target() {
    for (control, least, most, longest) in [("hpcc", 0.93, 0.96, 4_000.0), ("powertcp", 0.98, 1.001, 20_000.0)] {
        let r = two_to_one(control, "");
        assert_eq!(r.link("W->R").stats.rare.drops, 0);
        let shares: Vec<f64> = (0..2).map(|f| r.flow(f).measured_bytes as f64).collect();
        let busy = shares.iter().sum::<f64>() * 8.0 / 0.015 / 1e11 * 1_148.0 / 1_024.0;
        let queue = queue(&r);
        let mean = queue.iter().sum::<f64>() / queue.len() as f64;
        let max = queue.iter().copied().fold(0.0, f64::max);
        println!("{control}: busy {busy:.4}, Jain {:.4}, queue mean {mean:.0} B, longest {max} B", jain(&shares));
        assert!((least..most).contains(&busy), "{control}: {busy}");
        assert!(jain(&shares) > 0.99, "{control}: {shares:?}");
        assert!(queue.len() > 14_000 && max < longest, "{control}: {max}");
    }
}

/// As HPCC's, the link is busy for 95%, with a queue of a few packets, where each round goes to the target
/// (`hpcc_max_stage` 0), also where the sender heeds one answer of sixteen. With five rounds that only add a digest that
/// was rounded up cuts and one that was rounded down only adds, so that the link is left a little idle: half a power of 1.05 is
/// 2.4%, of 1.01 0.5%.
#[test]
fn digests_hold_the_link_at_the_target() {
    let cases = [
        ("hpcc_max_stage = 0", 0.945, 0.955),
        ("hpcc_max_stage = 0\npint_probability = 0.0625", 0.945, 0.955),
        ("", 0.92, 0.94),
        ("pint_base = 1.01", 0.94, 0.95),
    ];
    for (more, least, most) in cases {
        let r = two_to_one("hpcc-pint", more);
        assert_eq!(r.link("W->R").stats.rare.drops, 0);
        let shares: Vec<f64> = (0..2).map(|f| r.flow(f).measured_bytes as f64).collect();
        let busy = shares.iter().sum::<f64>() * 8.0 / 0.015 / 1e11 * 1_108.0 / 1_024.0;
        let queue = queue(&r);
        let longest = queue.iter().copied().fold(0.0, f64::max);
        println!("{more}: busy {busy:.4}, Jain {:.4}, longest queue {longest} B", jain(&shares));
        assert!((least..most).contains(&busy), "{more}: {busy}");
        assert!(jain(&shares) > 0.97, "{more}: {shares:?}");
        assert!(queue.len() > 14_000 && longest < 10_000.0, "{more}: {longest}");
    }
}

/// Another seed rounds digests in another way, and nothing else: the flows end at other times, near the same ones.
#[test]
fn the_seed_rounds_digests() {
    let ends = |seed: u32| {
        let text = format!(
            "seed = {seed}\nduration = \"1ms\"\ndrain = \"9ms\"
            [topology.many-to-one]
            senders = 2
            rate = \"100Gbps\"
            delay = \"1us\"
            [queue]
            limit = \"4MB\"
            [transport.t]
            control = \"hpcc-pint\"
            [[workload.flow]]
            transport = \"t\"
            from = \"S1\"
            to = \"R\"
            size = \"1MB\"
            [[workload.flow]]
            transport = \"t\"
            from = \"S2\"
            to = \"R\"
            size = \"1MB\"
            start = \"1us\""
        );
        let r = run(&text);
        [r.fct(0), r.fct(1)]
    };
    assert_eq!(ends(1), ends(1));
    assert_ne!(ends(1), ends(2));
}

/// Five switches write on the packets of a fat-tree, on threads as on one, with the tags of CONGA's switches and where
/// links lose packets. Answers get where they belong.
#[test]
fn threads_change_nothing() {
    for kind in ["", "kind = \"spray\"", "kind = \"adaptive\""] {
        let text = format!(
            "duration = \"2ms\"
            [topology.fat-tree]
            k = 4
            rate = \"10Gbps\"
            delay = \"1us\"
            [routing]
            {kind}
            [queue]
            limit = \"60KB\"
            [transport.a]
            control = \"hpcc\"
            reorder_window = 64
            [transport.b]
            control = \"powertcp\"
            retransmission = \"selective\"
            [transport.d]
            control = \"hpcc-pint\"
            pint_probability = 0.25
            [transport.c]
            control = \"dctcp\"
            [[workload.permutation]]
            transport = \"a\"
            size = \"300KB\"
            [[workload.permutation]]
            transport = \"c\"
            size = \"100KB\"
            [[workload.permutation]]
            transport = \"d\"
            size = \"200KB\"
            [[workload.incast]]
            transport = \"b\"
            senders = 8
            receiver = \"h0\"
            size = \"50KB\"
            every = \"500us\"
            [[change]]
            links = [\"e0.0->a0.0\"]
            loss = 0.01"
        );
        let one = same_on_four_threads(&scenario(&text));
        assert!(one.outcome.flows.iter().filter(|flow| flow.finished.is_some()).count() > 30);
    }
}
