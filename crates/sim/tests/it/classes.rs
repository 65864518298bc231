//! Classes of data with queues of their own: what they share, what they keep apart.

use crate::common::{Run, run, same_on_four_threads, scenario};
use linkpool_sim::Value;
use linkpool_units::Time;

/// Long flows of Reno with these priorities, each from a host of its own, into one link of 1 Gbit/s.
fn bed(queue: &str, priorities: &[&str]) -> String {
    let flows = (1..).zip(priorities).map(|(i, priority)| {
        format!("[[workload.flow]]\ntransport = \"t\"\nfrom = \"S{i}\"\nto = \"D{i}\"\npriority = {priority}\n")
    });
    format!(
        "duration = \"100ms\"\n[topology.dumbbell]\npairs = 3\nrate = \"10Gbps\"\ndelay = \"5us\"\n\
         bottleneck_rate = \"1Gbps\"\n{queue}\n[transport.t]\ncontrol = \"reno\"\n{}",
        flows.collect::<String>()
    )
}

/// What each flow has of all that is acknowledged.
fn shares(r: &Run, flows: usize) -> Vec<f64> {
    let acked: Vec<f64> = (0..flows).map(|flow| r.flow(flow).acked_bytes as f64).collect();
    let all: f64 = acked.iter().sum();
    acked.iter().map(|bytes| bytes / all).collect()
}

const WEIGHTS: &str = "[queue]\nlimit = 200\n[[queue.class]]\npriorities = [1]\nweight = 3\n[[queue.class]]\n\
                       priorities = [2]\nweight = 1\n";

/// Reno keeps a queue of 200 packets from being empty: a window of 200 is halved where the link carries 7. Of 100 ms, a
/// slow start of some ms is not in proportion.
#[test]
fn weights_share_a_link() {
    let two = shares(&run(&bed(WEIGHTS, &["1", "2"])), 2);
    assert!((two[0] - 0.75).abs() < 0.01, "{two:?}");
    // Who is in no class has the least weight.
    let three = shares(&run(&bed(WEIGHTS, &["1", "2", "0"])), 3);
    let expected = [0.6, 0.2, 0.2];
    assert!(three.iter().zip(expected).all(|(share, of)| (share - of).abs() < 0.01), "{three:?}");
}

/// A class without packets leaves the whole link to the others.
#[test]
fn a_class_without_packets_gives_its_share_away() {
    let r = run(&bed(WEIGHTS, &["2"]));
    let link = r.link("L->R");
    assert!(link.sent_bytes as f64 * 8.0 > 0.97e8, "{link:?}");
}

/// A class without a weight goes before all that have one, whatever its priority, and of two without that of the
/// larger priority.
#[test]
fn strict_priority_starves() {
    let strict = format!("{WEIGHTS}[[queue.class]]\npriorities = [0]\n");
    let found = shares(&run(&bed(&strict, &["1", "2", "0"])), 3);
    assert!(found[2] > 0.97, "{found:?}");
    let two = "[[queue.class]]\npriorities = [3, 4]\n[[queue.class]]\npriorities = [5]\n";
    let found = shares(&run(&bed(two, &["4", "5", "3"])), 3);
    assert!(found[1] > 0.97, "{found:?}");
    // Without classes for them, all share one queue.
    let found = shares(&run(&bed("[[queue.class]]\npriorities = [7]\n", &["4", "5", "3"])), 3);
    assert!(found.iter().all(|share| *share > 0.1), "{found:?}");
}

/// Each class has its own limit and its own marks: the longest queue is that of the larger limit, and DCTCP's marks are at
/// the threshold of its class.
#[test]
fn classes_have_their_own_limits_and_marks() {
    let queue = |mark: &str| {
        format!(
            "[[queue.class]]\npriorities = [1]\nlimit = 30\nweight = 1\n[[queue.class]]\npriorities = [2]\nlimit = 70\nweight = 1\n{mark}"
        )
    };
    let of = |text: String| run(&text).link("L->R").stats;
    let (small, large) = (of(bed(&queue(""), &["1"])), of(bed(&queue(""), &["2"])));
    assert_eq!((small.max_queue, large.max_queue), (30, 70));
    assert!(small.rare.drops > 0 && large.rare.drops > 0 && large.rare.marks == 0);
    let dctcp = |priority| bed(&queue("mark = 20\n"), &[priority]).replace("reno", "dctcp");
    let (unmarked, marked) = (of(dctcp("1")), of(dctcp("2")));
    assert_eq!(unmarked.rare.marks, 0);
    assert!(marked.rare.marks > 0 && marked.rare.drops == 0 && marked.max_queue < 60, "{marked:?}");
    let red = queue("red = { min = 5, max = 15, weight = 0.1 }\n");
    let early = of(bed(&red, &["2"]));
    assert!(early.rare.drops > 0 && early.max_queue < 70, "{early:?}");
}

/// Two flows of RoCE from h0, one to h2, which takes nothing between 100 us and 2 ms, one of 1 MB to h3. Returns when the second
/// has ended, and the priorities that were paused.
fn beside_a_slow_host(classes: &str, other: &str) -> (Time, Vec<u8>) {
    let r = run(&format!(
        "duration = \"10ms\"
        [topology.leaf-spine]
        leaves = 2
        spines = 1
        hosts_per_leaf = 2
        rate = \"10Gbps\"
        delay = \"1us\"
        uplink_rate = \"40Gbps\"
        [queue.pfc]
        buffer = \"400KB\"
        {classes}
        [[slow_host]]
        hosts = [\"h2\"]
        from = \"100us\"
        until = \"2ms\"
        buffer = \"60KB\"
        [transport.t]
        control = \"roce\"
        priority = 3
        [[workload.flow]]
        transport = \"t\"
        from = \"h0\"
        to = \"h2\"
        size = \"3MB\"
        [[workload.flow]]
        transport = \"t\"
        from = \"h0\"
        to = \"h3\"
        size = \"1MB\"
        priority = {other}
        [record]
        pauses = {{}}
        "
    ));
    let lost: u64 = r.outcome.links.iter().map(|link| link.stats.rare.drops).sum();
    assert_eq!(lost, 0);
    let mut paused: Vec<u8> = r
        .samples
        .iter()
        .filter_map(|sample| match sample.value {
            Value::Pause(change) => Some(change.priority),
            _ => None,
        })
        .collect();
    paused.sort_unstable();
    paused.dedup();
    (r.flow(1).finished.expect("it ends"), paused)
}

/// Only the priority that is paused stops. 1 MB at 10 Gbit/s are 977 packets of 1,106 B, which take 864 us, and the
/// other flow has half of the link until h0 is paused. By then its packets fill the adapter, and some 37 KB (an eighth of what
/// is shared) at each of three switches: 170 KB of 5 Gbit/s, 275 us from 100 us on, so that 187 us of 375 are lost. The path takes 6 us: 1,057 us, but for some packets. In one class with the
/// other flow it waits for the host.
#[test]
fn only_the_paused_priority_stops() {
    let classes =
        "[[queue.class]]\npriorities = [3]\nlossless = true\n[[queue.class]]\npriorities = [5]\nlossless = true\n";
    let (apart, paused) = beside_a_slow_host(classes, "5");
    assert!(apart > Time::from_us(1_050) && apart < Time::from_us(1_065), "{apart}");
    assert_eq!(paused, [3]);
    let (together, paused) = beside_a_slow_host(classes, "3");
    assert!(together > Time::from_ms(2), "{together}");
    assert_eq!(paused, [3]);
    // The other flow in a lossy class.
    let (lossy, paused) = beside_a_slow_host(classes, "1");
    assert!(lossy < Time::from_us(1_065), "{lossy}");
    assert_eq!(paused, [3]);
}

/// Four flows of RoCE in a lossless class and four of Reno in a lossy one meet at one port: packets are lost in the lossy class
/// alone.
#[test]
fn a_lossy_class_drops_beside_one_that_does_not() {
    for order in ["", "weight = 1\n"] {
        let flows = (1..=8).map(|i| {
            let transport = if i <= 4 { "rdma" } else { "tcp" };
            format!("[[workload.flow]]\ntransport = \"{transport}\"\nfrom = \"S{i}\"\nto = \"R\"\nsize = \"500KB\"\n")
        });
        let r = run(&format!(
            "duration = \"2s\"
            [topology.many-to-one]
            senders = 8
            rate = \"10Gbps\"
            delay = \"1us\"
            [queue.pfc]
            buffer = \"400KB\"
            xoff = \"10KB\"
            [[queue.class]]
            priorities = [3]
            lossless = true
            {order}
            [[queue.class]]
            priorities = [1]
            limit = 20
            {order}
            [transport.rdma]
            control = \"roce\"
            priority = 3
            [transport.tcp]
            control = \"reno\"
            priority = 1
            min_rto = \"1ms\"
            {}",
            flows.collect::<String>()
        ));
        let again = |flow: usize| r.flow(flow).total(|s| s.retransmits);
        let (lossless, lossy): (u64, u64) = ((0..4).map(again).sum(), (4..8).map(again).sum());
        assert_eq!(lossless, 0, "{order}");
        assert!(lossy > 0 && r.link("W->R").stats.rare.drops > 0, "{order}");
        assert!((0..8).all(|flow| r.flow(flow).finished.is_some()), "{order}");
        assert!(r.link("S1->W").pauses.unwrap().pauses > 0 && r.link("S5->W").pauses.unwrap().pauses == 0, "{order}");
    }
}

/// Ports with classes and without pauses are those of one thread on four.
#[test]
fn classes_are_the_same_on_four_threads() {
    let red = format!("{WEIGHTS}[[queue.class]]\npriorities = [6]\nred = {{ min = 3, max = 9, weight = 0.1 }}\n");
    let r = same_on_four_threads(&scenario(&bed(&red, &["1", "2", "6"]).replace("100ms", "20ms")));
    assert!(r.link("L->R").stats.rare.drops > 0);
}
