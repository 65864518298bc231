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

/// Six senders of this transport and one receiver at 10 Gbit/s; `queue` has the keys of `[queue]`.
fn incast(queue: &str, transport: &str) -> String {
    let flows = (1..=6).map(|i| {
        format!("[[workload.flow]]\ntransport = \"t\"\nfrom = \"S{i}\"\nto = \"R\"\nsize = \"{}KB\"\n", 100 + 30 * i)
    });
    format!(
        "duration = \"1ms\"\ndrain = \"50ms\"\n[topology.many-to-one]\nsenders = 6\nrate = \"10Gbps\"\ndelay = \"1us\"\n\
         [queue]\n{queue}\n[transport.t]\n{transport}\n{}",
        flows.collect::<String>()
    )
}

const ONE_CLASS: &str = "class = [{ priorities = [0, 1, 2, 3, 4, 5, 6, 7], limit = 8, trim = true }]";

/// Ports that trim the packet that arrives, and serve headers always first and without limit, are ports of one class that
/// trims: flows and links of UET and of NDP are the same.
#[test]
fn a_class_that_trims_is_a_port_that_trims() {
    let alone = "discipline = \"trimming\"\nlimit = 8\n\
                 trimming = { trim_arriving = 1, share = 1000000000, headers = 1000000000, return_to_sender = false }";
    for transport in ["control = \"uet\"\nmss = \"4096B\"", "control = \"ndp\"\nmin_rto = \"5ms\""] {
        let [port, class] = [alone, ONE_CLASS].map(|queue| run(&incast(queue, transport)));
        let flows = |r: &Run| -> Vec<_> {
            r.outcome
                .flows
                .iter()
                .map(|f| (f.finished, f.subflows.iter().map(|s| s.stats).collect::<Vec<_>>()))
                .collect()
        };
        assert_eq!(flows(&port), flows(&class), "{transport}");
        let links = |r: &Run| -> Vec<_> {
            r.outcome.links.iter().map(|l| (l.stats.packets, l.stats.bytes, l.stats.rare.trims, l.sent_bytes)).collect()
        };
        assert_eq!(links(&port), links(&class), "{transport}");
        let rare = class.link("W->R").stats.rare;
        assert!(rare.trims > 10 && rare.drops == 0, "{transport}: {rare:?}");
        assert!(class.outcome.flows.iter().all(|flow| flow.finished.is_some()));
    }
}

/// A number chooses the class of the data of UET and of NDP: of the flows of priority 2 packets are trimmed, and sent again;
/// those of priority 5 have room.
#[test]
fn a_number_chooses_the_class_of_uet_and_ndp() {
    let classes = "[[queue.class]]\npriorities = [2]\nlimit = 3\ntrim = true\nweight = 1\n\
                   [[queue.class]]\npriorities = [5]\nlimit = 5000\ntrim = true\nweight = 1\n";
    for transport in ["control = \"uet\"", "control = \"ndp\"\nmin_rto = \"5ms\""] {
        let text = incast(classes, &format!("{transport}\npriority = 2"));
        let (head, flows) = text.split_once("[[workload.flow]]").expect("a flow");
        let flows: Vec<_> = flows.split("[[workload.flow]]").collect();
        let flows = flows.iter().enumerate().map(|(number, flow)| {
            let flow = if number % 2 == 1 { flow.replace("\"t\"", "\"u\"") } else { flow.to_string() };
            format!("[[workload.flow]]{flow}")
        });
        let r = run(&format!("{head}[transport.u]\n{transport}\npriority = 5\n{}", flows.collect::<String>()));
        let again = |first| (first..6).step_by(2).map(|flow| r.flow(flow).total(|s| s.retransmits)).sum::<u64>();
        assert_eq!((again(0), again(1)), (r.link("W->R").stats.rare.trims, 0), "{transport}");
        assert!(again(0) > 0 && r.outcome.flows.iter().all(|flow| flow.finished.is_some()), "{transport}");
    }
}

/// A lossless class of RoCE, one of UET that trims and one of TCP that drops share a port. Each keeps to its own: nothing of
/// RoCE is sent again, headers and drops are those of the others, and all flows end.
#[test]
fn a_class_trims_beside_one_that_drops_and_one_that_pauses() {
    let r = run("duration = \"1ms\"
        drain = \"1s\"
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
        weight = 1
        [[queue.class]]
        priorities = [2]
        limit = 4
        trim = true
        weight = 1
        [[queue.class]]
        priorities = [1]
        limit = 20
        weight = 1
        [transport.rdma]
        control = \"roce\"
        priority = 3
        [transport.uet]
        control = \"uet\"
        priority = 2
        ack_bytes = \"1B\"
        rto = \"20ms\"
        [transport.tcp]
        control = \"reno\"
        priority = 1
        min_rto = \"1ms\"
        [[workload.flow]]
        transport = \"rdma\"
        from = \"S1\"
        to = \"R\"
        size = \"500KB\"
        [[workload.flow]]
        transport = \"rdma\"
        from = \"S2\"
        to = \"R\"
        size = \"500KB\"
        [[workload.flow]]
        transport = \"uet\"
        from = \"S3\"
        to = \"R\"
        size = \"500KB\"
        [[workload.flow]]
        transport = \"uet\"
        from = \"S4\"
        to = \"R\"
        size = \"500KB\"
        [[workload.flow]]
        transport = \"uet\"
        from = \"S5\"
        to = \"R\"
        size = \"500KB\"
        [[workload.flow]]
        transport = \"uet\"
        from = \"S6\"
        to = \"R\"
        size = \"500KB\"
        [[workload.flow]]
        transport = \"tcp\"
        from = \"S7\"
        to = \"R\"
        size = \"500KB\"
        [[workload.flow]]
        transport = \"tcp\"
        from = \"S8\"
        to = \"R\"
        size = \"500KB\"
        ");
    assert!(r.outcome.flows.iter().all(|flow| flow.finished.is_some()));
    let again = |flows: std::ops::Range<usize>| flows.map(|flow| r.flow(flow).total(|s| s.retransmits)).sum::<u64>();
    let rare = r.link("W->R").stats.rare;
    assert_eq!(again(0..2), 0);
    // Each packet is acknowledged: otherwise a window that is cut below what is in flight leaves packets without a request for
    // an ACK, and a sender waits for its timeout.
    assert_eq!(again(2..6), rare.trims, "each header asks for one packet");
    assert!(rare.trims > 0 && rare.drops > 0 && again(6..8) >= rare.drops, "{rare:?}");
    let pauses = |link| r.link(link).pauses.unwrap().pauses;
    assert!(pauses("S1->W") > 0 && pauses("S3->W") == 0 && pauses("S7->W") == 0);
    // A host keeps what it has not sent.
    let hosts = r.outcome.links.iter().zip(r.plan.fabric.links()).filter(|(_, spec)| spec.from.index() < 9);
    assert!(hosts.into_iter().all(|(link, _)| link.stats.rare.trims + link.stats.rare.drops == 0));
}

/// Ports of hosts do not trim, even where `[queue.layer.host]` has other keys: two flows of NDP of one host wait there.
#[test]
fn hosts_do_not_trim() {
    let two = |more: &str| {
        let text = incast(ONE_CLASS, "control = \"ndp\"\nmin_rto = \"5ms\"").replace("from = \"S2\"", "from = \"S1\"");
        let r = run(&text.replace("[transport.t]", &format!("{more}[transport.t]")));
        r.link("S1->W").stats.rare.trims
    };
    assert_eq!(two(""), 0);
    assert_eq!(two("[queue.layer.host]\ncount_in_service = true\n"), 0);
    assert!(two(&format!("[queue.layer.host]\n{ONE_CLASS}\n")) > 0, "unless classes of their own say so");
}

/// Ports that trim by class are the same on four threads.
#[test]
fn trimming_in_classes_is_the_same_on_four_threads() {
    for transport in ["control = \"uet\"", "control = \"ndp\"\nmin_rto = \"5ms\""] {
        let r = same_on_four_threads(&scenario(&format!(
            "duration = \"1ms\"
            drain = \"20ms\"
            [topology.fat-tree]
            k = 4
            rate = \"10Gbps\"
            delay = \"1us\"
            [[queue.class]]
            priorities = [1]
            weight = 2
            limit = 8
            trim = true
            [transport.t]
            {transport}
            priority = 1
            [transport.u]
            {transport}
            [[workload.permutation]]
            transport = \"t\"
            size = \"50KB\"
            [[workload.incast]]
            transport = \"u\"
            senders = 8
            receiver = 3
            size = \"20KB\"
            bursts = 1
            [[workload.incast]]
            transport = \"t\"
            senders = 8
            receiver = 3
            size = \"20KB\"
            bursts = 1
            "
        )));
        assert!(r.outcome.links.iter().map(|link| link.stats.rare.trims).sum::<u64>() > 0);
        assert!(r.outcome.flows.iter().all(|flow| flow.finished.is_some()));
    }
}
