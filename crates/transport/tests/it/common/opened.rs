//! Scripts that begin in the middle: the connection is open, and data is in flight.

use super::script::{Script, sender};
use linkpool_transport::{Config, Sender};

/// So many packets in flight at 100 us, of a flow without end.
pub fn in_flight(n: u32, config: Config) -> Script<Sender> {
    let mut script = sender(Config { initial_window: n, ..config }, None);
    script.run(&format!(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0-{}",
        n - 1
    ));
    script
}

/// A flow with all its packets in flight at 100 us.
pub fn all_in_flight(n: u32, config: Config) -> Script<Sender> {
    let mut script = sender(Config { initial_window: n, ..config }, Some(n as u64 * 1000));
    script.run(&format!(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0-{}
                > pkt {} last",
        n - 2,
        n - 1
    ));
    script
}

/// A packet in flight on each of two subflows at 200 us: data 0 on subflow 0 since 100 us, data 1
/// on subflow 1.
pub fn both_in_flight(config: Config, size: Option<u64>) -> Script<Sender> {
    let mut script = sender(config, size);
    script.run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0
                > s1 syn join
         200us  < s1 synack
                > s1 ack 0
                > s1 pkt 0 data 1",
    );
    script
}
