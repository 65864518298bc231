//! Retransmission timeouts: RFC 6298 and Karn, go-back-N, the window after a timeout (RFC 5681,
//! section 3.1).

use crate::common::opened::in_flight;
use crate::common::reno;
use crate::common::script::sender;
use linkpool_transport::Config;
use linkpool_units::Time;

/// 0.2, 0.6, 1.4, 3.0, 6.2 s after it was sent; doubling ends at 64 x 200 ms = 12.8 s.
#[test]
fn the_chain_of_back_offs() {
    in_flight(1, reno()).run(
        "200.1ms    > pkt 0
         600.1ms    > pkt 0
         1400.1ms   > pkt 0
         3000.1ms   > pkt 0
         6200.1ms   > pkt 0
         12600.1ms  > pkt 0
         25400.1ms  > pkt 0     // 12.8 s later: 64 times
         38200.1ms  > pkt 0     // and again
                    = timeouts 8 cwnd 1",
    );
}

/// The papers' first timeouts: without a sample 1.5, 4.5, 10.5 s.
#[test]
fn the_chain_before_the_first_sample() {
    let mut c = Config { handshake_sample: false, ..reno() };
    c.rtt.initial_rto = Time::from_ms(1500);
    in_flight(1, c).run(
        "1500.1ms   > pkt 0
         4500.1ms   > pkt 0
         10500.1ms  > pkt 0",
    );
}

#[test]
fn max_rto_bounds_the_back_off() {
    let mut c = reno();
    c.rtt.max_rto = Time::from_ms(500);
    in_flight(1, c).run(
        "200.1ms    > pkt 0
         600.1ms    > pkt 0
         1100.1ms   > pkt 0
         1600.1ms   > pkt 0",
    );
}

/// Who wants no bound but max_rto may write any number as the largest multiple: 0.2, 0.4, 0.5 s,
/// and 0.5 s for ever.
#[test]
fn the_back_off_does_not_overflow() {
    let mut c = reno();
    c.rtt.max_rto = Time::from_ms(500);
    c.rtt.max_backoff = u32::MAX;
    let mut script = in_flight(1, c);
    script.run("200.1ms > pkt 0\n600.1ms > pkt 0");
    for n in 1..100 {
        script.run(&format!("{}.1ms > pkt 0\n= rto 500ms", 600 + 500 * n));
    }
}

/// Karn: an ACK of a segment sent twice is no sample and does not end the back-off (RFC 6298,
/// section 5); that of the next one, sent once, does both.
#[test]
fn the_back_off_ends_with_a_clean_sample() {
    in_flight(1, reno()).run(
        "200.1ms    > pkt 0
         600.1ms    > pkt 0
                    = rto 800ms
         600.2ms    < ack 1
                    > pkt 1-2
                    = rto 800ms
         600.3ms    < ack 2
                    > pkt 3
                    = rto 200ms",
    );
}

/// Data after an acknowledged retransmission waits for the backed-off RTO.
#[test]
fn new_data_inherits_the_back_off() {
    in_flight(1, reno()).run(
        "200.1ms    > pkt 0
         200.2ms    < ack 1
                    > pkt 1-2
         600.2ms    > pkt 1      // 400 ms after it was sent
                    = rto 800ms",
    );
}

/// All of six are lost: ssthresh = 6/2, window 1, and slow start sends them again in order, before
/// anything new.
#[test]
fn go_back_n() {
    in_flight(6, reno()).run(
        "200.1ms    > pkt 0
                    = cwnd 1 ssthresh 3 flight 1
         200.2ms    < ack 1
                    > pkt 1-2
         200.3ms    < ack 2
                    > pkt 3-4
                    = cwnd 3
                    < ack 3
                    > pkt 5
                    = cwnd 3.3333
         200.4ms    < ack 4
                    > pkt 6
                    = retransmits 6 segments 13 timeouts 1",
    );
}

/// Only the first is lost: its retransmission is acknowledged with all the others, and none of them
/// is sent again.
#[test]
fn what_had_arrived_is_not_sent_again() {
    in_flight(3, reno()).run(
        "200us      < ack 0      // for 1
                    < ack 0      // for 2; too few for a fast retransmit
         200.1ms    > pkt 0
                    = ssthresh 2
         200.2ms    < ack 3
                    > pkt 3-4
                    = cwnd 2 retransmits 1",
    );
}

/// A late ACK of the original after a timeout: the acknowledged data no longer waits to be sent
/// again.
#[test]
fn a_late_ack_after_a_spurious_timeout() {
    in_flight(4, reno()).run(
        "200.1ms    > pkt 0
         201ms      < ack 2
                    > pkt 2-3
                    = cwnd 2 flight 2
                    < ack 4
                    > pkt 4-5
                    = retransmits 3",
    );
}

/// RFC 5681, section 3.1: a second timeout of the same segment leaves ssthresh alone.
#[test]
fn ssthresh_is_held_when_it_times_out_again() {
    in_flight(8, reno()).run(
        "200.1ms    > pkt 0
                    = ssthresh 4
         600.1ms    > pkt 0
                    = ssthresh 4
         600.2ms    < ack 1
                    > pkt 1-2
         1400.2ms   > pkt 1      // a new loss of two in flight
                    = ssthresh 2",
    );
}

/// RFC 6582, section 3.2: duplicates of data sent before the timeout must not start a recovery.
#[test]
fn no_fast_retransmit_for_what_was_sent_before_the_timeout() {
    in_flight(8, reno()).run(
        "200.1ms    > pkt 0
         200.2ms    < ack 1
                    > pkt 1-2
         200.3ms    < ack 1
                    < ack 1
                    < ack 1
                    < ack 1
                    = recoveries 0 cwnd 2
         600.2ms    > pkt 1
                    = timeouts 2",
    );
}

/// A timeout in fast recovery ends it.
#[test]
fn a_lost_retransmission_costs_a_timeout() {
    in_flight(8, reno()).run(
        "200us      < ack 0
                    < ack 0
                    < ack 0
                    > pkt 0
                    = recovery true ssthresh 4
         200.2ms    > pkt 0
                    = recovery false cwnd 1 ssthresh 4
         200.3ms    < ack 8
                    > pkt 8-9
                    = cwnd 2",
    );
}

/// The timer is restarted by every ACK of new data (RFC 6298, 5.3) and stops with the last (5.2).
#[test]
fn acks_put_the_timer_off() {
    sender(Config { initial_window: 3, ..reno() }, Some(3000)).run(
        "0          > syn
         100us      < synack
                    > ack 0
                    > pkt 0-1
                    > pkt 2 last
         150ms      < ack 1
         300ms      < ack 2
         450ms      < ack 3
                    > fin
         10s        quiet",
    );
}

/// A duplicate does not restart it.
#[test]
fn duplicates_do_not_put_the_timer_off() {
    in_flight(3, reno()).run(
        "150ms      < ack 0
         200.1ms    > pkt 0",
    );
}
