//! Trimmed segments and NACKs, packet by packet; every window by hand.

use crate::common::opened::in_flight;
use crate::common::reno;
use crate::common::script::receiver;
use linkpool_transport::{Config, LossRecovery};

fn sack() -> Config {
    Config { recovery: LossRecovery::Sack, limited_transmit: true, ..reno() }
}

/// The first NACK of a window halves it; each is answered at once by the trimmed segment, and by no
/// other.
#[test]
fn what_was_trimmed_is_sent_again_at_once() {
    in_flight(10, sack()).run(
        "200us  < nack 4
                > pkt 4
                = cwnd 5 ssthresh 5 recovery true flight 10
                < nack 7
                > pkt 7
                = cwnd 5 flight 10 recoveries 1 retransmits 2
                < nack 7                // again: its second copy was trimmed too
                > pkt 7
                < ack 4
                = cwnd 5 flight 6
         300us  < ack 10                // all of that window
                > pkt 10-14
                = cwnd 5 recovery false
                < ack 11                // congestion avoidance
                > pkt 15
                = cwnd 5.2 recoveries 1 retransmits 3 timeouts 0",
    );
}

/// The first packet in flight is no different.
#[test]
fn the_oldest_packet_may_be_trimmed_too() {
    in_flight(4, sack()).run(
        "200us  < nack 0
                > pkt 0
                = cwnd 2 recovery true recoveries 1 retransmits 1",
    );
}

/// A NACK of data that has been acknowledged, or SACKed, changes nothing.
#[test]
fn a_late_nack_changes_nothing() {
    in_flight(10, sack()).run(
        "200us  < ack 2
                > pkt 10-12             // slow start: 11, 8 in flight
                < nack 1
                < ack 2 sack 5-6
                > pkt 13
                < nack 5
                = recoveries 0 retransmits 0",
    );
}

/// Packets 0 to 9 are out. No packet begins at byte 4,500 or after the last one.
#[test]
fn a_nack_of_no_packet_changes_nothing() {
    for nack in ["4+500", "10", "11"] {
        in_flight(10, sack()).run(&format!("200us  < nack {nack}\n = cwnd 10 recoveries 0 retransmits 0"));
    }
}

/// Without SACKs a sender cannot tell one segment from others.
#[test]
fn without_sacks_nacks_are_not_heard() {
    in_flight(10, reno()).run("200us  < nack 4\n = cwnd 10 recoveries 0");
}

#[test]
fn a_receiver_says_at_once_what_was_trimmed() {
    receiver(sack()).run(
        "0      < syn
                > synack
         100us  < header 0
                > nack 0
                < pkt 1
                > ack 0 sack 1-2
                < header 1              // another copy has arrived
                < pkt 0
                > ack 2",
    );
}
