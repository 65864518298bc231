//! Subflows that have sent nothing for longer than a retransmission timeout.

use crate::net::{Loaded, Net, run, send, skipped};
use linkpool_linux_control::settings::Settings;
use std::io::Write as _;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The windows of the client's subflows to `port`, packets.
fn windows(net: &Net, port: u16) -> Vec<u32> {
    let listed = run(&format!("ip netns exec {} ss -tinOH state established dport = :{port}", net.client_name()));
    let window = |line: &str| line.split_whitespace().find_map(|word| word.strip_prefix("cwnd:")?.parse().ok());
    listed.lines().filter_map(window).collect()
}

/// The windows of two subflows before a second without data, and after the first data that follows.
fn around_a_pause(net: &Net, port: u16) -> (Vec<u32>, Vec<u32>) {
    let server = net.serve(port);
    let mut stream = net.connect(port);
    let end = Instant::now() + Duration::from_secs(30);
    let is_large = |window: &&u32| **window >= 40;
    let before = loop {
        while windows(net, port).iter().filter(is_large).count() < 2 {
            assert!(Instant::now() < end, "two windows of 40 packets: {:?}", windows(net, port));
            send(&mut stream, 2_000_000);
        }
        sleep(Duration::from_secs(1));
        // What was still on its way may have been lost, which cuts a window.
        let before = windows(net, port);
        if before.iter().all(|window| is_large(&window)) {
            break before;
        }
    };
    // A packet: more would let the window grow again at once.
    stream.write_all(&[7; 100]).unwrap();
    sleep(Duration::from_millis(50));
    let after = windows(net, port);
    drop(stream);
    server.join().unwrap();
    (before, after)
}

/// A window of 40 packets or more is halved for each timeout of a second without data, on the
/// subflow that sends then; that of the other, which sends nothing still, stays. The kernel does
/// this for its own algorithms, also on subflows of MPTCP, and linkpool's programs do it for
/// themselves. With the setting off, both windows stay.
#[test]
fn idle_subflows_begin_again_with_a_smaller_window() {
    if skipped("idle_subflows_begin_again_with_a_smaller_window") {
        return;
    }
    let net = Net::new(2);
    net.subflow_on_each_link(2);
    (0..2).for_each(|i| net.limit(i, 50));
    let lia = Loaded::new("lia", &Settings::default());
    for (number, control) in ["reno", lia.name()].into_iter().enumerate() {
        net.enable(control);
        for (setting, port) in [("1", 7600), ("0", 7601)] {
            net.client.set("net/ipv4/tcp_slow_start_after_idle", setting).unwrap();
            let (before, after) = around_a_pause(&net, port + 2 * number as u16);
            println!("{control}, tcp_slow_start_after_idle = {setting}: {before:?} packets, then {after:?}");
            let smaller = after.iter().zip(&before).filter(|(after, before)| **after <= **before / 2).count();
            assert_eq!((before.len(), after.len(), smaller), (2, 2, usize::from(setting == "1")));
        }
    }
}
