//! What the schedulers of several subflows are for, on two paths; and what becomes of a path that fails
//! and comes back.

use crate::common::{Run, run};
use linkpool_units::Time;

/// Hosts A and B with a path over switch F, of `fast` (rate, delay of each of its two cables), and one over
/// G, of `slow`. The flow has a subflow on each, and `rest` says more of it.
fn two_paths(fast: (&str, &str), slow: (&str, &str), duration: &str, transport: &str, rest: &str) -> Run {
    let path = |switch: &str, (rate, delay): (&str, &str)| {
        ["A", "B"].map(|host| {
            format!("{{ source = \"{host}\", target = \"{switch}\", rate = \"{rate}\", delay = \"{delay}\" }}")
        })
    };
    let edges = [path("F", fast), path("G", slow)].concat().join(", ");
    let node = |id: &str, kind: &str| format!("{{ id = \"{id}\", kind = \"{kind}\" }}");
    let nodes = [node("A", "host"), node("B", "host"), node("F", "switch"), node("G", "switch")].join(", ");
    run(&format!(
        "seed = 1\nduration = \"{duration}\"\ndrain = \"0s\"\n[topology.graph]\nnodes = [{nodes}]\nedges = [{edges}]\n\
         [queue]\nlimit = 50\n[transport.t]\ncontrol = \"uncoupled\"\nsubflows = 2\n{transport}\n\
         [[workload.flow]]\nfrom = \"A\"\nto = \"B\"\ntransport = \"t\"\n\
         paths = [[\"A\", \"F\", \"B\"], [\"A\", \"G\", \"B\"]]\n{rest}"
    ))
}

const FAST: (&str, &str) = ("100Mbps", "500us");
const SLOW: (&str, &str) = ("10Mbps", "25ms");

/// 3 MB over 100 Mbit/s with an RTT of 2 ms beside 10 Mbit/s with one of 100 ms. By the fast path alone they
/// take 3 MB x 1,538 / 1,448 B on the wire, 255 ms, and the handshake and slow start. The slow path is open
/// from 200 ms on, and its initial window, which the lowest RTT fills, arrives after 300 ms.
#[test]
fn ecf_ends_a_message_before_lowest_rtt() {
    let fct = |scheduler: &str| {
        let keys = format!("scheduler = \"{scheduler}\"\nsend_buffer = \"unlimited\"");
        two_paths(FAST, SLOW, "1s", &keys, "size = \"3MB\"").fct(0)
    };
    let [ecf, lowest_rtt] = ["ecf", "lowest-rtt"].map(fct);
    assert!(Time::from_ms(255) < ecf && ecf < Time::from_ms(265), "{ecf}");
    assert!(lowest_rtt > Time::from_ms(310), "{lowest_rtt}");
}

/// Of more data than the fast path carries in the RTT of the slow one, ECF gives the slow path its share.
#[test]
fn ecf_uses_both_paths_for_much_data() {
    let r = two_paths(FAST, SLOW, "2s", "scheduler = \"ecf\"\nsend_buffer = \"unlimited\"", "");
    assert!(r.flow(0).subflows.iter().all(|s| s.stats.acked_bytes > 500_000), "{:?}", r.flow(0).subflows);
}

/// The same paths with a receive buffer of 100 KB. With data on the slow path the connection has at most that
/// in its RTT of 100 ms, 8 Mbit/s. BLEST leaves the slow path aside: 100 Mbit/s less headers and handshake.
#[test]
fn blest_keeps_the_receive_buffer_for_the_fast_path() {
    let goodput = |scheduler: &str| {
        let keys = format!("scheduler = \"{scheduler}\"\nreceive_buffer = \"100KB\"");
        let r = two_paths(FAST, SLOW, "2s", &keys, "");
        8.0 * r.flow(0).acked_bytes as f64 / 2.0 / 1e6
    };
    let [blest, lowest_rtt] = ["blest", "lowest-rtt"].map(goodput);
    assert!(blest > 90.0, "{blest}");
    assert!(lowest_rtt < 30.0, "{lowest_rtt}");
}

/// With room for both paths BLEST uses both.
#[test]
fn blest_uses_both_paths_if_there_is_room() {
    let r = two_paths(FAST, SLOW, "2s", "scheduler = \"blest\"\nreceive_buffer = \"50MB\"", "");
    assert!(r.flow(0).subflows.iter().all(|s| s.stats.acked_bytes > 500_000), "{:?}", r.flow(0).subflows);
}

/// 40 flows of 10 KB over two equal paths, of which each loses 5% of its packets in the direction of the data.
/// All bytes arrive once at the application, and most cross both paths. Three in four flows end without a
/// timeout, of 200 ms, and fewer with one copy.
#[test]
fn redundant_subflows_hide_losses() {
    let flows = |scheduler: &str| {
        let keys = format!(
            "scheduler = \"{scheduler}\"\nreceive_buffer = \"1MB\"\njoin_after = \"0B\"\njoin_confirmed = false"
        );
        let rest = "size = \"10KB\"\ncount = 40\n[[change]]\nlinks = [\"F->B\", \"G->B\"]\nloss = 0.05\n";
        let r = two_paths(("1Gbps", "1ms"), ("1Gbps", "1ms"), "60s", &keys, rest);
        let mut all: Vec<Time> = (0..40).map(|flow| r.fct(flow)).collect();
        all.sort();
        assert!((0..40).all(|flow| r.flow(flow).acked_bytes == 10_000));
        (all[30], (0..40).map(|flow| r.flow(flow).total(|s| s.acked_bytes)).sum::<u64>())
    };
    let ((copies, carried_twice), (single, carried)) = (flows("redundant"), flows("round-robin"));
    assert!(copies < Time::from_ms(40) && single > Time::from_ms(200), "{copies}, {single}");
    assert!(carried_twice > 500_000 && carried < 410_000, "{carried_twice}, {carried}");
}

/// The path over F fails at 1 s and comes back at 2 s. Its subflow times out at about 1.2, 1.7 and 2.6 s, and
/// carries new data again from the last of these on, whatever the scheduler.
#[test]
fn a_restored_path_is_used_again_at_the_next_timeout() {
    for scheduler in ["round-robin", "lowest-rtt", "lowest-time-to-send", "blest", "ecf", "redundant"] {
        let change = "[routing]\nreconverge = \"never\"\n[[change]]\nlinks = [\"F<->B\"]\nstate = \"down\"\nat = \"1s\"\nuntil = \"2s\"\n";
        let keys = format!("scheduler = \"{scheduler}\"\nreceive_buffer = \"1MB\"");
        let path = ("20Mbps", "500us");
        let carried = ["1.1s", "2.3s", "3.2s"].map(|end| {
            let r = two_paths(path, path, end, &keys, change);
            [0, 1].map(|s: usize| r.flow(0).subflows[s].stats.acked_bytes)
        });
        let [before, just_back, after] = carried;
        assert_eq!(before[0], just_back[0], "{scheduler}");
        // At 20 Mbit/s 0.6 s are 1.5 MB.
        assert!(after[0] > just_back[0] + 500_000, "{scheduler}: {carried:?}");
        assert!(just_back[1] > before[1] + 2_000_000, "{scheduler}: {carried:?}");
    }
}
