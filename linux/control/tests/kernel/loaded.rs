//! Windows on a machine that has other work, over queues of this machine that overflow.

use crate::net::{Loaded, Net, send, skipped};
use linkpool_linux_control::algorithm::ALL;
use linkpool_linux_control::settings::Settings;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Threads that compute while it lives, twice as many as there are processors.
struct Load<'a>(&'a AtomicBool);

impl Drop for Load<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A window was infinite here once: the kernel had entered recovery, and neither `ssthresh` nor
/// `set_state` had run.
#[test]
fn windows_stay_within_bounds_under_load() {
    if skipped("windows_stay_within_bounds_under_load") {
        return;
    }
    let transfers = if std::env::var_os("LINKPOOL_LONG").is_some() { 100 } else { 10 };
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let _load = Load(&stop);
        for _ in 0..2 * thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let net = Net::new(2);
        net.subflow_on_each_link(2);
        (0..2).for_each(|i| net.limit(i, 80));
        for (number, algorithm) in ALL.iter().cycle().take(transfers).enumerate() {
            let loaded = Loaded::new(algorithm.name, &Settings::default());
            net.enable(loaded.name());
            let port = 20_000 + number as u16;
            let server = net.serve(port);
            let mut stream = net.connect(port);
            send(&mut stream, 4_000_000);
            drop(stream);
            assert_eq!(server.join().unwrap(), 4_000_000, "{}", algorithm.name);
            let [.., out_of_bounds, alone, acks, untold] = loaded.0.counters().unwrap();
            assert_eq!((out_of_bounds, alone), (0, 0), "{}", algorithm.name);
            println!("{}: {acks} ACKs, {untold} changes of state not told", algorithm.name);
        }
    });
}
