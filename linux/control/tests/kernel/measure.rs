//! What the programs cost: instructions, and nanoseconds of an ACK. Not a test: `cargo test --test kernel -- --ignored --nocapture measure`.

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
        "{:<10} {:>12} {:>12} {:>10} {:>8} {:>8}",
        "algorithm", "cong_control", "all programs", "ACKs", "ns/ACK", "Mbit/s"
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
        let of = |name: &str| instructions.iter().filter(|(n, _)| n == name).map(|(_, i)| i).sum::<usize>();
        let costs = loaded.0.costs();
        let (_, runs, time) = costs.iter().find(|(name, ..)| name == "lp_cong_control").unwrap();
        let each = *time as f64 / (*runs).max(1) as f64;
        println!("{:<10} {:>12} {runs:>10} {each:>8.0} {rate:>8.0}", algorithm.name, of("lp_cong_control"));
    }
}
