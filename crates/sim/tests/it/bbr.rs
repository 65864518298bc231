//! BBR over one bottleneck, beside Linux's own: how it starts, what queue it keeps, how it shares.
//!
//! Linux's values were measured with the kernel 6.18 (docs/validation.md): two network namespaces,
//! and between them a queue of so many packets at 20 Mbit/s and 40 ms of propagation there and
//! back.

use crate::common::{Run, run};
use linkpool_sim::Value;

/// 20 Mbit/s and 40 ms: 65 packets of 1,538 B on the wire are a bandwidth-delay product.
fn dumbbell(seconds: u32, limit: u32, flows: &[(&str, u32)]) -> Run {
    let mut text = format!(
        "duration = \"{seconds}s\"\n[topology.dumbbell]\npairs = {}\nrate = \"1Gbps\"\ndelay = \"1ms\"\n\
         bottleneck_rate = \"20Mbps\"\nbottleneck_delay = \"18ms\"\n[queue]\nlimit = {limit}\n\
         [record]\ncwnd = {{ every = \"1ms\" }}\nrate = {{ every = \"1s\" }}\n\
         queue = {{ links = [\"L->R\"], every = \"1ms\" }}\n\
         [transport.bbr]\ncontrol = \"bbr\"\n[transport.cubic]\ncontrol = \"cubic\"\n",
        flows.len()
    );
    for (i, (transport, start)) in flows.iter().enumerate() {
        let pair = i + 1;
        text += &format!(
            "[[workload.flow]]\ntransport = \"{transport}\"\nfrom = \"S{pair}\"\nto = \"D{pair}\"\nstart = \"{start}s\"\n"
        );
    }
    run(&text)
}

/// The part of both flows' goodput that is the first one's.
fn part(r: &Run, seconds: [f64; 2]) -> f64 {
    let [first, second] = [0, 1].map(|i| r.flow(i).acked_bytes as f64 / seconds[i]);
    assert!((first + second) * 8e-6 > 18.0, "the link is full: {first} {second}");
    first / (first + second)
}

/// Alone. Linux's window stays at 205 packets for most of STARTUP, whose queue grows to 140; DRAIN
/// begins 0.56 s after the handshake of 40 ms and ends after 0.67 s; then the window is 142 to 152,
/// and 142 to 146 after a few rounds. The second that has PROBE_RTT carries 14.4 Mbit/s, the others
/// 18.8.
#[test]
fn a_lone_flow_is_linux_s() {
    let r = dumbbell(12, 500, &[("bbr", 0)]);
    assert_eq!(r.flow(0).total(|s| s.retransmits), 0);
    let windows: Vec<(f64, f64)> = r
        .samples
        .iter()
        .filter_map(|s| if let Value::Cwnd { cwnd, .. } = s.value { Some((s.at.secs(), cwnd)) } else { None })
        .collect();
    let between = |from: f64, to: f64| {
        let some = windows.iter().filter(|(at, _)| (from..to).contains(at)).map(|(_, cwnd)| *cwnd);
        some.fold((f64::MAX, 0f64), |(least, most), cwnd| (least.min(cwnd), most.max(cwnd)))
    };
    assert_eq!(between(0.35, 0.55), (205.0, 205.0));
    let drained = windows.iter().find(|(at, cwnd)| *at > 0.55 && *cwnd < 200.0).unwrap().0;
    assert!((0.690..0.730).contains(&drained), "{drained}");
    let (least, most) = between(1.2, 9.8);
    assert!(least >= 142.0 && most <= 146.0, "{least} to {most}");
    assert_eq!(between(10.15, 10.25), (4.0, 4.0));
    // 200 ms, and what it takes to come to four packets and to hear of it: 263 ms in Linux, by
    // samples of 20 ms.
    let small = windows.iter().filter(|(_, cwnd)| *cwnd == 4.0).count();
    assert!((235..285).contains(&small), "{small} ms");
    let queue =
        r.samples.iter().filter_map(|s| if let Value::Queue { packets, .. } = s.value { Some(packets) } else { None });
    let most = queue.max().unwrap();
    assert!((137..=143).contains(&most), "{most}");
    let rates: Vec<f64> = r
        .samples
        .iter()
        .filter_map(|s| if let Value::Rate { goodput, .. } = s.value { Some(goodput * 1e-6) } else { None })
        .collect();
    assert!(rates[1..10].iter().all(|rate| (18.7..18.95).contains(rate)), "{rates:?}");
    assert!((14.1..14.7).contains(&rates[10]), "{rates:?}");
}

/// Beside CUBIC, 30 s. With a queue of one product BBR has 0.85, 0.87 and 0.89 of the goodput in
/// three runs of Linux, and with one of three products 0.37 in each.
#[test]
fn beside_cubic_a_short_queue_is_bbr_s() {
    let part = part(&dumbbell(30, 65, &[("bbr", 0), ("cubic", 0)]), [30.0; 2]);
    assert!((0.82..0.92).contains(&part), "{part}");
}

/// See above.
#[test]
fn beside_cubic_a_long_queue_is_cubic_s() {
    let part = part(&dumbbell(30, 200, &[("bbr", 0), ("cubic", 0)]), [30.0; 2]);
    assert!((0.32..0.42).contains(&part), "{part}");
}

/// A second flow begins after 2 s. The first one's part in Linux is 0.52 with a queue that loses
/// nothing, and 0.59 with one of 50 packets, which loses 3,733 packets in 30 s, here within a quarter.
#[test]
fn two_flows_share_a_long_queue() {
    let r = dumbbell(30, 400, &[("bbr", 0), ("bbr", 2)]);
    let part = part(&r, [30.0, 28.0]);
    assert!((0.47..0.57).contains(&part), "{part}");
    assert_eq!(r.link("L->R").stats.rare.drops, 0);
}

/// See above.
#[test]
fn two_flows_share_a_short_queue_with_losses() {
    let r = dumbbell(30, 50, &[("bbr", 0), ("bbr", 2)]);
    let (part, lost) = (part(&r, [30.0, 28.0]), r.link("L->R").stats.rare.drops);
    assert!((0.50..0.66).contains(&part), "{part}");
    assert!((2_800..4_666).contains(&lost), "{lost}");
}
