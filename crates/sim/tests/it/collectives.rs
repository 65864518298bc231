//! Collective operations on an idle fabric, against times worked out by hand.

use crate::common::written::{differ, written};
use crate::common::{Run, run, scenario};
use linkpool_units::Time;

/// Hosts `S1` to `S3` and `R` at one switch, 1 Gbps, 10 us a link, packets of 1,000 bytes with 40
/// of them headers and ACKs of 40, one for each packet. Two operations, far apart.
fn four_hosts(keys: &str) -> Run {
    run(&format!(
        "duration = \"90ms\"\ndrain = \"9ms\"\n[topology.many-to-one]\nsenders = 3\nrate = \"1Gbps\"\ndelay = \"10us\"\n\
         [transport.t]\ncontrol = \"reno\"\nmss = \"960B\"\nheader = \"40B\"\nack_size = \"40B\"\nack_every = 1\n\
         [[workload.collective]]\ntransport = \"t\"\niterations = 2\ncompute = \"1ms\"\n{keys}\n"
    ))
}

/// The times of both operations, us.
fn times(keys: &str) -> [f64; 2] {
    let r = four_hosts(keys);
    let took: Vec<f64> = r.outcome.jobs.iter().map(|j| (j.job.end.unwrap() - j.job.start).secs() * 1e6).collect();
    took.try_into().expect("two operations")
}

/// From the start of a message of so many packets to the last bit of it at its receiver: packets of
/// 8 us one behind another over the first link, then one over the second.
fn message(packets: f64) -> f64 {
    8.0 * packets + 10.0 + 8.0 + 10.0
}

/// The ACK of the last packet goes before the next message.
const ACK: f64 = 0.32;
/// SYN and SYN-ACK over two links each, and the third segment before the data.
const HANDSHAKE: f64 = 4.0 * 10.32 + 0.32;

#[track_caller]
fn check(keys: &str, [first, second]: [f64; 2]) {
    let [a, b] = times(keys);
    assert!((a - first).abs() < 1e-5 && (b - second).abs() < 1e-5, "{keys}: {a} {b} instead of {first} {second}");
}

/// 2 (n - 1) steps, or n - 1, of a quarter of 7,680 bytes: two packets.
#[test]
fn rings() {
    let steps = |n: f64| message(2.0) + (n - 1.0) * (ACK + message(2.0));
    for (algorithm, n) in [("ring-all-reduce", 6.0), ("ring-reduce-scatter", 3.0), ("ring-all-gather", 3.0)] {
        check(&format!("algorithm = \"{algorithm}\"\nsize = \"7680B\""), [HANDSHAKE + steps(n), steps(n)]);
    }
}

/// Steps of all of two packets; of a half, a quarter, a quarter and a half of eight packets. Each
/// step of the first operation has other partners, so it needs a handshake, but for the way back.
#[test]
fn butterflies() {
    let doubling = 2.0 * message(2.0) + ACK;
    check("algorithm = \"doubling-all-reduce\"\nsize = \"1920B\"", [2.0 * HANDSHAKE + doubling, doubling]);
    let halving = 2.0 * (message(4.0) + message(2.0)) + 3.0 * ACK;
    check("algorithm = \"halving-doubling-all-reduce\"\nsize = \"7680B\"", [2.0 * HANDSHAKE + halving, halving]);
}

/// Three hops along a chain, each of which waits for an ACK.
#[test]
fn a_chain() {
    let hops = 3.0 * message(2.0) + 2.0 * ACK;
    check("algorithm = \"chain-broadcast\"\nsize = \"1920B\"", [3.0 * HANDSHAKE + hops, hops]);
}

/// Two chunks of two packets along two hops. The first chunk is passed on after 44 us; at 60.32 us
/// its second packet is on its way. The ACKs of the second chunk wait for it, then comes the second
/// chunk: it is ready at 60 us, behind the ACKs of its two packets.
#[test]
fn chunks_follow_each_other() {
    let [_, second] = times("algorithm = \"chain-broadcast\"\nranks = 3\nsize = \"3840B\"\nchunks = 2");
    let uplink_is_free = message(2.0) + ACK + 16.0;
    assert!((second - (uplink_is_free + 2.0 * ACK + message(2.0))).abs() < 1e-5, "{second}");
}

/// Rank 0 sends to 1, and to 2 behind it. Rank 1 sends to 3 when it has its data.
#[test]
fn a_binomial_tree() {
    let to_3 = message(2.0) + ACK + message(2.0);
    let [_, second] = times("algorithm = \"binomial-broadcast\"\nsize = \"1920B\"");
    assert!((second - to_3).abs() < 1e-5, "{second}");
}

/// Ranks 1 and 2 got the first result 16.32 us apart: two packets, and the third segment of a
/// handshake. So the last packets of rank 2 arrive at rank 0 later by 0.32 us than four packets one
/// behind another. Rank 0 answers them one behind the other.
#[test]
fn a_binary_tree() {
    let [_, second] = times("algorithm = \"tree-all-reduce\"\nranks = 3\nsize = \"1920B\"");
    assert!((second - (message(4.0) + 0.32 + ACK + message(4.0))).abs() < 1e-5, "{second}");
}

/// A message of an all-to-all waits for the ACK of the one before: 20.64 us. With two at a time the
/// second is right behind the first.
#[test]
fn an_all_to_all() {
    let acknowledged = message(2.0) + 2.0 * 10.32;
    let [_, second] = times("algorithm = \"all-to-all\"\nranks = 3\nsize = \"5760B\"");
    assert!((second - (acknowledged + message(2.0))).abs() < 1e-5, "{second}");
    let [_, second] = times("algorithm = \"all-to-all\"\nranks = 3\nsize = \"5760B\"\noutstanding = 2");
    assert!((second - message(4.0)).abs() < 1e-5, "{second}");
}

/// Two groups of two ranks, host 0 with 2 and host 1 with 3: each has operations of its own, as
/// fast as one alone.
#[test]
fn groups_side_by_side() {
    let keys = "algorithm = \"ring-all-reduce\"\nsize = \"3840B\"\nranks = 2\nstride = 2\ngroups = 2\ngroup_stride = 1";
    let r = four_hosts(keys);
    let ends: Vec<_> =
        r.outcome.flows.iter().map(|f| (f.planned.flow.src.index(), f.planned.flow.dst.index())).collect();
    assert!(ends.iter().all(|(src, dst)| src.abs_diff(*dst) == 2));
    let took: Vec<Time> = r.outcome.jobs.iter().map(|j| j.job.end.unwrap() - j.job.start).collect();
    assert_eq!(took.len(), 4);
    assert!(took[0] == took[1] && took[2] == took[3] && took[2] < took[0]);
}

/// Any number of threads writes the same bytes.
#[test]
fn threads_make_no_difference() {
    for algorithm in ["tree-all-reduce", "binomial-broadcast", "all-to-all", "doubling-all-reduce"] {
        let outstanding = if algorithm == "all-to-all" { "outstanding = 3" } else { "" };
        let s = scenario(&format!(
            "duration = \"80ms\"\n[topology.fat-tree]\nk = 4\nrate = \"1Gbps\"\ndelay = \"2us\"\n\
             [queue]\nlimit = 40\nmark = 10\n[transport.t]\ncontrol = \"amp\"\nsubflows = 2\nmin_rto = \"1ms\"\n\
             [[workload.collective]]\ntransport = \"t\"\nalgorithm = \"{algorithm}\"\nranks = 8\nsize = \"80KB\"\nchunks = 2\n\
             iterations = 2\ngroups = 2\nstride = 2\ngroup_stride = 1\ncompute = \"50us\"\n{outstanding}\n"
        ));
        let one = written(&s, 1);
        assert_eq!(differ(&one, &written(&s, 3)), Vec::<String>::new(), "{algorithm}");
    }
}
