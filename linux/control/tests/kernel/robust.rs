//! What goes wrong in networks while data is sent: paths that die.
//!
//! The short test runs with all others. The long one takes a minute, for all controllers side by
//! side: `cargo test --test kernel -- --ignored minute`.

use crate::net::{Loaded, Net, run, send, skipped};
use linkpool_linux_control::algorithm::ALL;
use linkpool_linux_control::settings::Settings;
use std::net::TcpStream;
use std::process::Command;
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

/// Every controller delivers all bytes over the other path, as stock MPTCP would.
#[test]
fn a_path_dies_and_comes_back() {
    if skipped("a_path_dies_and_comes_back") {
        return;
    }
    // Side by side: each waits for timeouts most of the time.
    thread::scope(|scope| {
        for algorithm in ALL {
            scope.spawn(|| {
                let net = Net::new(2);
                net.subflow_on_each_link(2);
                (0..2).for_each(|i| net.limit(i, 20));
                let loaded = Loaded::new(algorithm.name, &Settings::default());
                net.enable(loaded.name());
                let server = net.serve(9000);
                let mut stream = net.connect(9000);
                send(&mut stream, 500_000);
                run(&format!("ip -n {} link set l1 down", net.names[1]));
                send(&mut stream, 1_500_000);
                run(&format!("ip -n {} link set l1 up", net.names[1]));
                sleep(Duration::from_millis(100));
                send(&mut stream, 500_000);
                drop(stream);
                assert_eq!(server.join().unwrap(), 2_500_000, "{}", algorithm.name);
                assert_eq!(loaded.0.counters().unwrap()[2], 0, "{}: windows within bounds", algorithm.name);
            });
        }
    });
}

/// Bytes that left the client on link `i` so far.
fn bytes_on(net: &Net, i: u8) -> u64 {
    let file = format!("/sys/class/net/l{i}/statistics/tx_bytes");
    run(&format!("ip netns exec {} cat {file}", net.client_name())).trim().parse().unwrap()
}

/// Which link carries a connection that each could carry alone, while one fails, comes back, and is
/// removed and added again (multipath-tcp/mptcp_net-next#581).
#[test]
#[ignore = "measures for 10 s"]
fn measure_restored_paths() {
    if skipped("measure_restored_paths") {
        return;
    }
    let net = Net::new(2);
    net.subflow_on_each_link(2);
    (0..2).for_each(|i| net.limit(i, 50));
    net.enable("reno");
    let server = net.serve(9200);
    let mut stream = net.connect(9200);
    let mut sends = |what: &str| {
        let before = [0, 1].map(|i| bytes_on(&net, i));
        for _ in 0..100 {
            send(&mut stream, 10_000);
            sleep(Duration::from_millis(20));
        }
        let kilobytes = [0, 1].map(|i| (bytes_on(&net, i) - before[usize::from(i)]) / 1000);
        println!("{what}: {kilobytes:?} KB on links 0 and 1");
    };
    let [client, server_name] = &net.names;
    sends("both links");
    run(&format!("ip -n {server_name} link set l0 down"));
    sends("link 0 is down");
    run(&format!("ip -n {server_name} link set l0 up"));
    sends("link 0 is back");
    run(&format!("ip -n {server_name} link set l0 down"));
    sends("link 0 is down again");
    run(&format!("ip -n {client} mptcp endpoint delete id 1"));
    run(&format!("ip -n {server_name} link set l0 up"));
    sends("the address of link 1 is removed, link 0 is back");
    run(&format!("ip -n {client} mptcp endpoint add 10.9.1.1 dev l1 subflow"));
    sends("the address of link 1 is added again");
    drop(stream);
    assert_eq!(server.join().unwrap(), 6_000_000);
}

const MINUTE: Duration = Duration::from_secs(60);
/// A connection that cannot send for so long has stalled: a timeout that has doubled to its bound
/// of 120 s is far from that.
const STALL: Duration = Duration::from_secs(40);

/// For a minute each controller sends over two links of 20 Mbit/s, while `disturb` does to its
/// network what it does, again and again: it is told how often it has been called. All bytes
/// arrive, none stalls, windows stay within bounds, and the kernel does not complain.
fn for_a_minute(name: &str, disturb: impl Fn(&Net, u32) + Sync) {
    if skipped(name) {
        return;
    }
    let complaints = complaints_of_kernel();
    let nets: Vec<(Net, Loaded)> = ALL
        .iter()
        .map(|algorithm| {
            let net = Net::new(2);
            (0..2).for_each(|i| net.limit(i, 20));
            net.subflow_on_each_link(2);
            let loaded = Loaded::new(algorithm.name, &Settings::default());
            net.enable(loaded.name());
            (net, loaded)
        })
        .collect();
    thread::scope(|scope| {
        for (net, loaded) in &nets {
            let disturb = &disturb;
            scope.spawn(move || {
                let server = net.serve(9100);
                let mut stream = net.connect(9100);
                stream.set_write_timeout(Some(STALL)).unwrap();
                let sent = send_for(&mut stream, |n| disturb(net, n));
                let lost: u64 =
                    loaded.0.connections().unwrap().iter().flat_map(|(_, e)| e.conn.paths).map(|p| p.lost).sum();
                drop(stream);
                let name = loaded.0.algorithm.name;
                assert_eq!(server.join().unwrap(), sent, "{name}");
                let [.., out_of_bounds, alone, acks, _] = loaded.0.counters().unwrap();
                assert_eq!((out_of_bounds, alone), (0, 0), "{name}");
                println!(
                    "{name}: {:.1} Mbit/s, {acks} ACKs, {lost} packets lost",
                    sent as f64 * 8e-6 / MINUTE.as_secs_f64()
                );
            });
        }
    });
    assert_eq!(complaints_of_kernel(), complaints, "dmesg");
}

/// Sends for a minute, and calls `disturb` every second. Returns how many bytes.
fn send_for(stream: &mut TcpStream, disturb: impl Fn(u32)) -> u64 {
    let (begin, mut sent, mut called) = (Instant::now(), 0, 0);
    while begin.elapsed() < MINUTE {
        send(stream, 20_000);
        sent += 20_000;
        if begin.elapsed() > Duration::from_secs(1) * called {
            disturb(called);
            called += 1;
        }
    }
    sent
}

/// Lines of the kernel's log that tell of a fault in it.
fn complaints_of_kernel() -> usize {
    let log = Command::new("dmesg").output().expect("dmesg of util-linux");
    let faults = ["WARNING:", "BUG:", "Oops", "general protection", "Call Trace"];
    String::from_utf8_lossy(&log.stdout).lines().filter(|line| faults.iter().any(|fault| line.contains(fault))).count()
}

/// A path is gone for three seconds of six; the paths take turns.
#[test]
#[ignore = "takes a minute"]
fn a_minute_of_paths_that_die() {
    let die = |net: &Net, n: u32| {
        let (link, up) = (n / 6 % 2, n % 6 >= 3);
        run(&format!("ip -n {} link set l{link} {}", net.names[1], if up { "up" } else { "down" }));
    };
    for_a_minute("a_minute_of_paths_that_die", die);
}
