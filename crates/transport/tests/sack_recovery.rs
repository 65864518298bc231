//! Loss recovery by SACKs (RFC 6675), packet by packet; every window by hand.

mod common;
use common::script::{all_in_flight, in_flight, sender};
use common::{DCTCP, config, reno};
use linkpool_transport::control::ControlConfig;
use linkpool_transport::{Config, Recovery};

fn sack() -> Config {
    Config { recovery: Recovery::Sack, limited_transmit: true, ..reno() }
}

/// Packets 2 and 5 of ten are lost. Both are repaired in one round, where NewReno takes two (`newreno.rs`).
#[test]
fn two_losses_in_a_window() {
    in_flight(10, sack()).run(
        "200us  < ack 1                 // slow start: 11, 9 in flight
                > pkt 10-11
                < ack 2
                > pkt 12-13
                = cwnd 12 flight 12
                < ack 2 sack 3-4        // the pipe is 11
                > pkt 14
                < ack 2 sack 3-5
                > pkt 15
                < ack 2 sack 6-7,3-5    // 3,000 B beyond 2: it is lost
                > pkt 2
                = cwnd 6 ssthresh 6 recovery true     // half of 12: 14 and 15 do not count
                = flight 11             // 14 less 3 that have arrived
                < ack 2 sack 6-8,3-5    // beyond 5 there are 2,000 B: not yet
                < ack 2 sack 6-9,3-5    // now there are 3,000 B
                = flight 8              // 14 less 5, less the one that is lost
                < ack 2 sack 6-10,3-5
         300us  < ack 2 sack 6-11,3-5
                = flight 6
                < ack 2 sack 6-12,3-5
                > pkt 5                 // what is lost goes first
                < ack 2 sack 6-13,3-5
                > pkt 16
                < ack 2 sack 6-14,3-5
                > pkt 17
                < ack 2 sack 6-15,3-5
                > pkt 18
                < ack 2 sack 6-16,3-5
                > pkt 19
                = cwnd 6 flight 6
                < ack 5 sack 6-16       // 2 has come
                > pkt 20
         400us  < ack 16                // 5 has come: all that was outstanding at the beginning is there
                > pkt 21
                = cwnd 6 flight 6 recovery false
                < ack 17                // congestion avoidance
                > pkt 22
                = cwnd 6.1667 recoveries 1 retransmits 2 timeouts 0",
    );
}

/// Three ranges beyond a hole mean a loss even if they are small (IsLost: "DupThresh discontiguous SACKed sequences").
#[test]
fn three_ranges_are_enough() {
    in_flight(10, Config { dupack_threshold: 3, ..sack() }).run(
        "200us  < ack 0 sack 1-2
                > pkt 10
                < ack 0 sack 3-4,1-2
                > pkt 11
                < ack 0 sack 5-6,3-4,1-2
                > pkt 0
                = recoveries 1 flight 9",
    );
}

/// A larger threshold, as spraying over many paths takes, holds for SACKs too.
#[test]
fn the_threshold_counts_segments() {
    in_flight(10, Config { dupack_threshold: 5, ..sack() }).run(
        "200us  < ack 0 sack 1-2
                > pkt 10
                < ack 0 sack 1-3
                > pkt 11
                < ack 0 sack 1-4
                > pkt 12
                < ack 0 sack 1-5
                > pkt 13
                = recoveries 0
                < ack 0 sack 1-6
                > pkt 0
                = recoveries 1 ssthresh 5",
    );
}

/// Without limited transmit the window stays closed until recovery begins.
#[test]
fn limited_transmit_can_be_left_out() {
    in_flight(10, Config { limited_transmit: false, ..sack() }).run(
        "200us  < ack 0 sack 1-2
                < ack 0 sack 1-3
                < ack 0 sack 1-4
                > pkt 0
                = cwnd 5 flight 7",
    );
}

/// Rule 4 of NextSeg: with nothing else to send, the last segment is sent again, once: here it was lost indeed.
#[test]
fn a_rescue_retransmission_repairs_the_tail() {
    all_in_flight(6, sack()).run(
        "200us  < ack 0 sack 1-2
                < ack 0 sack 1-3
                < ack 0 sack 1-4
                > pkt 0
                = cwnd 3 flight 3
                < ack 0 sack 1-5
                > pkt 5 last
         300us  < ack 5
                < ack 6
                > fin
                = timeouts 0 retransmits 2 recoveries 1",
    );
}

/// Rule 3: below what was SACKed, what is not known to be lost goes before the rescue.
#[test]
fn what_may_be_lost_is_sent_if_nothing_else_is_left() {
    all_in_flight(6, sack()).run(
        "200us  < ack 0 sack 1-2
                < ack 0 sack 1-3
                < ack 0 sack 1-4
                > pkt 0
                < ack 0 sack 5-6,1-4
                > pkt 4
         300us  < ack 4 sack 5-6
                < ack 6
                > fin",
    );
}

/// After a timeout what was SACKed is not sent again.
#[test]
fn a_timeout_spares_what_has_arrived() {
    let config = Config { undo: false, limited_transmit: false, ..sack() };
    in_flight(4, config).run(
        "200us  < ack 0 sack 2-3
         200.1ms > pkt 0
                = timeouts 1 cwnd 1 ssthresh 2
         200.2ms < ack 1 sack 2-3
                > pkt 1
                > pkt 3
                = cwnd 2
         200.3ms < ack 3
                > pkt 4
                = cwnd 2.5              // congestion avoidance: at ssthresh
                < ack 4
                > pkt 5
                = cwnd 2.9 retransmits 3",
    );
}

/// A mark that comes in fast recovery: Linux and RFC 3168 have reacted to this window already.
#[test]
fn marks_in_recovery_cut_if_told() {
    for (cuts, window, sent) in [(true, 2, ""), (false, 3, "> pkt 6 ect")] {
        let dctcp = config(ControlConfig::Dctcp(linkpool_transport::control::DctcpConfig { alpha0: 1.0, ..DCTCP }));
        let config = Config { recovery: Recovery::Sack, cut_in_recovery: cuts, initial_window: 6, ..dctcp };
        sender(config, None).run(&format!(
            "0      > syn ecn
             100us  < synack ecn
                    > ack 0
                    > pkt 0-5 ect
             200us  < ack 0 sack 1-2
                    < ack 0 sack 1-3
                    < ack 0 sack 1-4
                    > pkt 0 ect
                    = cwnd 3 flight 3
             210us  < ack 4 ece         // a half of 3 would be below the floor
                    {sent}
                    = cwnd {window} cuts {}",
            cuts as u32
        ));
    }
}
