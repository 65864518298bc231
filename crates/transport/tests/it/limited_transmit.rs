//! Limited transmit (RFC 3042), packet by packet.

use crate::common::script::{Script, sender};
use crate::common::{DCTCP, config, reno};
use linkpool_transport::control::{ControlConfig, DctcpConfig};
use linkpool_transport::{Config, DupackThreshold, Sender};

/// Ten packets in flight at 100 us; the stream has `size` packets.
fn ten_in_flight(config: Config, size: u64) -> Script<Sender> {
    let config = Config { initial_window: 10, limited_transmit: true, ..config };
    let mut script = sender(config, Some(size * 1000));
    let last = if size == 10 { "-8\n > pkt 9 last" } else { "-9" };
    script.run(&format!(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0{last}"
    ));
    script
}

/// The first two duplicates let out a new segment each; the third signals a loss, and the two do
/// not count in what is halved (RFC 5681, section 3.2, step 2).
#[test]
fn two_new_segments_and_then_a_retransmission() {
    ten_in_flight(reno(), 1000).run(
        "200us  < ack 0         // for 1
                > pkt 10
                < ack 0         // for 2
                > pkt 11
                = cwnd 10 flight 12
                < ack 0         // for 3
                > pkt 0
                = cwnd 8 ssthresh 5 recovery true   // 10/2, and 3 more
                < ack 0         // for 4 to 9
                < ack 0
                < ack 0
                < ack 0
                < ack 0         // 13
                > pkt 12
                < ack 0
                > pkt 13
         300us  < ack 12        // 0 has come, and 10 and 11 before: beyond recover
                > pkt 14
                = cwnd 3 recovery false   // min(5, 2 + 1)",
    );
}

/// Reordering that is over before the threshold costs nothing.
#[test]
fn reordering_costs_nothing() {
    ten_in_flight(reno(), 1000).run(
        "200us  < ack 0
                > pkt 10
                < ack 0
                > pkt 11
                < ack 3         // 0 has come after all
                > pkt 12-13     // 11, 9 in flight
                = cwnd 11 flight 11 recovery false retransmits 0
                < ack 3         // a new series
                > pkt 14
                = cwnd 11 flight 12",
    );
}

/// With a larger threshold, a segment for each duplicate below it.
#[test]
fn as_many_as_the_threshold_leaves() {
    ten_in_flight(Config { dupack_threshold: DupackThreshold::Acks(5), ..reno() }, 1000).run(
        "200us  < ack 0
                > pkt 10
                < ack 0
                > pkt 11
                < ack 0
                > pkt 12
                < ack 0
                > pkt 13
                < ack 0
                > pkt 0
                = cwnd 8 ssthresh 5",
    );
}

#[test]
fn new_data_only() {
    ten_in_flight(reno(), 10).run(
        "200us  < ack 0
                < ack 0
                = flight 10
                < ack 0
                > pkt 0
                = ssthresh 5",
    );
}

/// After a timeout, duplicates come from what was sent before it.
#[test]
fn not_after_a_timeout() {
    ten_in_flight(reno(), 1000).run(
        "200.1ms > pkt 0
         200.2ms < ack 0
                 < ack 0
                 < ack 0
                 = cwnd 1 flight 1",
    );
}

/// A mark cuts a window of four to two, with three packets in flight: a duplicate ACK allows three, and they
/// are there.
#[test]
fn a_window_that_was_cut_has_no_room_for_a_packet_more() {
    let dctcp = config(ControlConfig::Dctcp(DctcpConfig { alpha0: 1.0, ..DCTCP }));
    let config = Config { limited_transmit: true, initial_window: 4, ..dctcp };
    sender(config, None).run(
        "0      > syn ecn
         100us  < synack ecn
                > ack 0
                > pkt 0-3 ect
         200us  < ack 1 ece
                = cwnd 2 flight 3
                < ack 1
                = flight 3
                < ack 1
                > pkt 4 ect cwr",
    );
}
