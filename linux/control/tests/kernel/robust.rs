//! What goes wrong in networks: a path that dies and comes back while data is sent.

use crate::net::{Loaded, Net, run, send, skipped};
use linkpool_linux_control::algorithm::ALL;
use linkpool_linux_control::settings::Settings;
use std::thread::{self, sleep};
use std::time::Duration;

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
