//! Slow start and congestion avoidance without loss (RFC 5681, section 3.1).

use crate::common::opened::in_flight;
use crate::common::script::sender;
use crate::common::{AMP, config, reno};
use linkpool_transport::Config;
use linkpool_transport::control::{AmpConfig, ControlConfig, Signal};
use linkpool_units::Time;

/// One more for every ACK: 1, 2, 4, 8 in flight.
#[test]
fn slow_start_doubles() {
    sender(reno(), None).run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0
         200us  < ack 1
                > pkt 1-2
         300us  < ack 2
                > pkt 3-4
                < ack 3
                > pkt 5-6
         400us  < ack 4
                > pkt 7-8
                < ack 5
                > pkt 9-10
                < ack 6
                > pkt 11-12
                < ack 7
                > pkt 13-14
                = cwnd 8 flight 8 ssthresh inf",
    );
}

#[test]
fn the_initial_window_is_sent_at_once() {
    sender(Config { initial_window: 10, ..reno() }, None).run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0-9",
    );
}

/// From ssthresh on each ACK adds 1/cwnd: 4 + 1/4 = 4.25, + 1/4.25 = 4.4853, + 1/4.4853 = 4.7082,
/// 4.9206, 5.1239. The window that counts is rounded down.
#[test]
fn congestion_avoidance_adds_a_packet_a_round() {
    let config = Config { initial_window: 4, initial_ssthresh: 4_000, ..reno() };
    sender(config, None).run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0-3
         200us  < ack 1
                > pkt 4
                = cwnd 4.25
                < ack 2
                > pkt 5
                = cwnd 4.4853
                < ack 3
                > pkt 6
                = cwnd 4.7082
                < ack 4
                > pkt 7
                = cwnd 4.9206 flight 4
         300us  < ack 5
                > pkt 8-9
                = cwnd 5.1239 flight 5",
    );
}

/// Slow start ends at ssthresh, not one beyond.
#[test]
fn slow_start_ends_at_ssthresh() {
    let config = Config { initial_window: 2, initial_ssthresh: 3_000, ..reno() };
    sender(config, None).run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0-1
         200us  < ack 1
                > pkt 2-3
                = cwnd 3
                < ack 2
                > pkt 4
                = cwnd 3.3333",
    );
}

/// An ACK of two packets: one more (RFC 5681) or two (RFC 3465).
#[test]
fn byte_counting_counts_packets_not_acks() {
    for (counting, sent, cwnd) in [(false, "pkt 4-6", "5"), (true, "pkt 4-7", "6")] {
        let config = Config { initial_window: 4, byte_counting: counting, ..reno() };
        sender(config, None).run(&format!(
            "0      > syn
             100us  < synack
                    > ack 0
                    > pkt 0-3
             200us  < ack 2
                    > {sent}
                    = cwnd {cwnd}"
        ));
    }
}

/// Growth in congestion avoidance by byte counting: 2/cwnd for two packets.
#[test]
fn byte_counting_in_congestion_avoidance() {
    let config = Config { initial_window: 4, initial_ssthresh: 4_000, byte_counting: true, ..reno() };
    sender(config, None).run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0-3
         200us  < ack 2
                > pkt 4-5
                = cwnd 4.5",
    );
}

fn counting(limit: u32) -> Config {
    Config { initial_window: 10, byte_counting: true, byte_counting_limit: limit, ..reno() }
}

/// An ACK for five packets: in slow start the window grows by as many as RFC 3465's L says, at
/// most.
#[test]
fn slow_start_counts_packets_up_to_a_limit() {
    for (limit, cwnd) in [(1, 11), (2, 12), (8, 15), (u32::MAX, 15)] {
        let last = 14 + cwnd - 10;
        in_flight(10, counting(limit)).run(&format!(
            "200us  < ack 5
                    > pkt 10-{last}
                    = cwnd {cwnd}"
        ));
    }
}

/// Congestion avoidance has no limit: 5/10 (RFC 3465, section 2.1).
#[test]
fn congestion_avoidance_counts_all() {
    in_flight(10, Config { initial_ssthresh: 10_000, ..counting(1) }).run(
        "200us  < ack 5
                > pkt 10-14
                = cwnd 10.5",
    );
}

/// After a timeout L is 1 until what had been sent before is acknowledged (RFC 3465, section 2.3).
#[test]
fn after_a_timeout_the_limit_is_one() {
    in_flight(20, Config { undo: false, ..counting(2) }).run(
        "200.1ms > pkt 0
                = cwnd 1 ssthresh 10
         200.2ms < ack 5                // 1 to 4 had arrived
                > pkt 5-6
                = cwnd 2
         200.3ms < ack 10
                > pkt 10-12
                = cwnd 3
         200.4ms < ack 20               // all that was sent before the timeout
                > pkt 20-23
                = cwnd 4
         200.5ms < ack 22
                > pkt 24-27
                = cwnd 6",
    );
}

/// Two duplicates report one of the two packets that the ACK after them acknowledges: not the one
/// that was late. So the window grows by that one.
#[test]
fn byte_counting_does_not_count_packets_twice() {
    let config = Config { byte_counting: true, ..reno() };
    in_flight(10, config).run(
        "200us  < ack 0
                < ack 0
                = cwnd 10
                < ack 2
                > pkt 10-12
                = cwnd 11",
    );
}

/// A round-trip time of 100 us is below the target of 250 us.
#[test]
fn algorithms_learn_of_round_trip_times() {
    let amp = |us| ControlConfig::Amp(AmpConfig { signal: Signal::Delay(Time::from_us(us)), ..AMP });
    in_flight(4, config(amp(250))).run("200us < ack 1\n> pkt 4-5\n= cwnd 5");
    // 4 (1 - 0.8 x 20/100) = 3.36
    in_flight(4, config(amp(80))).run("200us < ack 1\n= cwnd 3.36");
}
