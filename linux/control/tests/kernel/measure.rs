//! What the programs cost: instructions, and nanoseconds of an ACK. Not a test: `cargo test --test
//! kernel -- --ignored --nocapture measure`.

use crate::net::{Loaded, Net, send, skipped};
use linkpool_linux_control::algorithm::ALL;
use linkpool_linux_control::settings::Settings;
use std::fs;
use std::time::Instant;

/// The kernel counts runs of BPF programs while it lives.
struct Statistics(String);

impl Statistics {
    const PATH: &str = "/proc/sys/kernel/bpf_stats_enabled";

    fn on() -> Statistics {
        let before = fs::read_to_string(Statistics::PATH).unwrap();
        fs::write(Statistics::PATH, "1").unwrap();
        Statistics(before)
    }
}

impl Drop for Statistics {
    fn drop(&mut self) {
        let _ = fs::write(Statistics::PATH, self.0.trim());
    }
}

#[test]
#[ignore = "measures, and takes a while"]
fn measure() {
    if skipped("measure") {
        return;
    }
    let net = Net::new(2);
    net.subflow_on_each_link(2);
    (0..2).for_each(|i| net.limit(i, 100));
    let _statistics = Statistics::on();
    println!(
        "{:<10} {:>12} {:>10} {:>10} {:>8} {:>8}",
        "algorithm", "cong_control", "looked at", "ACKs", "ns/ACK", "Mbit/s"
    );
    for (number, algorithm) in ALL.iter().enumerate() {
        let loaded = Loaded::new(algorithm.name, &Settings::default());
        net.enable(loaded.name());
        let port = 8000 + number as u16;
        let server = net.serve(port);
        let mut stream = net.connect(port);
        let begin = Instant::now();
        send(&mut stream, 20_000_000);
        drop(stream);
        let bytes = server.join().unwrap();
        let rate = bytes as f64 * 8.0 / begin.elapsed().as_secs_f64() / 1e6;
        let instructions = loaded.0.instructions();
        let (_, left, verified) = instructions.iter().find(|(name, ..)| name == "lp_cong_control").unwrap();
        let costs = loaded.0.costs();
        let (_, runs, time) = costs.iter().find(|(name, ..)| name == "lp_cong_control").unwrap();
        let each = *time as f64 / (*runs).max(1) as f64;
        println!("{:<10} {left:>12} {verified:>10} {runs:>10} {each:>8.0} {rate:>8.0}", algorithm.name);
        for (name, left, verified) in instructions.iter().filter(|(name, ..)| name != "lp_cong_control") {
            println!("  {name}: {left}, {verified} looked at");
        }
    }
}

/// What a thousand connections of four subflows each cost: memory of the programs' maps, and time
/// of an ACK.
#[test]
#[ignore = "measures, and takes a while"]
fn measure_thousand_connections() {
    const CONNECTIONS: usize = 1000;
    if skipped("measure_thousand_connections") {
        return;
    }
    let net = Net::new(4);
    net.subflow_on_each_link(4);
    let loaded = Loaded::new("amp", &Settings::default());
    net.enable(loaded.name());
    let memory = || loaded.0.map_memory().unwrap().iter().map(|(_, bytes)| bytes).sum::<u64>();
    let before = memory();
    let server = net.serve_many(8100, CONNECTIONS);
    let _statistics = Statistics::on();
    let mut streams: Vec<_> = (0..CONNECTIONS).map(|_| net.connect(8100)).collect();
    for _ in 0..4 {
        streams.iter_mut().for_each(|stream| send(stream, 50_000));
    }
    let connections = loaded.0.connections().unwrap();
    let ours: Vec<_> = connections.iter().filter(|(_, entry)| entry.conn.netns == net.client.inode).collect();
    let subflows: usize = ours.iter().map(|(_, entry)| entry.conn.established().count()).sum();
    println!("{} connections of the client with {subflows} subflows", ours.len());
    for (name, bytes) in loaded.0.map_memory().unwrap() {
        println!("map {name}: {bytes} bytes");
    }
    println!("{} bytes more than without connections, for {} entries", memory() - before, connections.len());
    drop(streams);
    assert_eq!(server.join().unwrap(), CONNECTIONS as u64 * 200_000);
    let costs = loaded.0.costs();
    let (_, runs, time) = costs.iter().find(|(name, ..)| name == "lp_cong_control").unwrap();
    println!("{runs} ACKs, {:.0} ns each; counters {:?}", *time as f64 / *runs as f64, loaded.0.counters().unwrap());
    assert_eq!(ours.len(), CONNECTIONS);
}
