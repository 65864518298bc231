//! Trimmed segments and NACKs, packet by packet; every window by hand.

use crate::common::opened::{all_in_flight, in_flight};
use crate::common::reno;
use crate::common::script::{receiver, sender};
use linkpool_transport::{Config, DupackThreshold, LossRecovery, Pacing};

fn sack() -> Config {
    Config { recovery: LossRecovery::Sack, limited_transmit: true, ..reno() }
}

fn rack() -> Config {
    Config { recovery: LossRecovery::Rack, ..sack() }
}

/// The first NACK of a window halves it, and the trimmed segment is sent again at once. Others wait:
/// seven NACKs leave four in flight, and the window of five has room for the first segment that waits.
#[test]
fn the_window_decides_when_what_was_trimmed_is_sent_again() {
    in_flight(10, sack()).run(
        "200us  < nack 4
                > pkt 4
                = cwnd 5 ssthresh 5 recovery true flight 10
                < nack 7
                < nack 8
                < nack 0
                < nack 1
                < nack 2
                = cwnd 5 flight 5 recoveries 1 retransmits 1
                < nack 3
                > pkt 0
                < nack 5
                > pkt 1
                < nack 5                // it waits already
                = cwnd 5 flight 5 lost 8 resent 3 recoveries 1 retransmits 3
         300us  < ack 2
                > pkt 2-3
                = cwnd 5 flight 5
         400us  < ack 10                // all of that window
                > pkt 10-14
                = cwnd 5 recovery false
                < ack 11                // congestion avoidance
                > pkt 15
                = cwnd 5.2 recoveries 1 retransmits 5 timeouts 0",
    );
}

/// What was sent after the cut and is trimmed cuts the window once more: a retransmission, and new data.
#[test]
fn a_loss_after_the_cut_is_another_indication() {
    in_flight(10, sack()).run(
        "200us  < nack 4
                > pkt 4
         300us  < nack 4
                > pkt 4
                = cwnd 2.5 ssthresh 2.5 flight 10 recoveries 2 retransmits 2
         310us  < nack 7                // sent before
                = cwnd 2.5 flight 9 recoveries 2 retransmits 2",
    );
    in_flight(10, sack()).run(
        "200us  < nack 4
                > pkt 4
         300us  < ack 4 sack 5-10
                > pkt 10-13
                = cwnd 5 flight 5
         400us  < nack 11
                > pkt 11
                = cwnd 2.5 ssthresh 2.5 flight 5 recoveries 2",
    );
}

/// After a timeout, slow start has sent packet 0 again; that it was trimmed ends slow start.
#[test]
fn a_loss_after_a_timeout_is_another_indication() {
    in_flight(10, sack()).run(
        "200.1ms > pkt 0
                = cwnd 1 ssthresh 5 timeouts 1 recovery false
         200.2ms < nack 0
                > pkt 0
                > pkt 1
                = cwnd 2 ssthresh 2 recovery true recoveries 1",
    );
}

/// With proportional rate reduction, what arrives makes room for retransmissions, and NACKs do not:
/// ceil(2 * 5/10) - 1 and so on (RFC 9937).
#[test]
fn with_rack_what_arrives_makes_room() {
    in_flight(10, rack()).run(
        "200us  < nack 4
                > pkt 4
                = cwnd 10 ssthresh 5 recovery true flight 10
                < nack 7
                = cwnd 9 flight 9 retransmits 1
                < ack 2
                = cwnd 7 flight 7
                < ack 4
                = cwnd 5 flight 5 retransmits 1
         300us  < ack 4 sack 5-6
                > pkt 7
                = cwnd 5 flight 5 recoveries 1 retransmits 2",
    );
}

/// All of a window is trimmed, and so is the first retransmission: a packet is in flight all the same.
/// Once it arrives, slow start (PRR-SSRB) sends the rest.
#[test]
fn with_rack_one_packet_is_always_allowed() {
    in_flight(4, rack()).run(
        "200us  < nack 0
                > pkt 0
                < nack 1
                < nack 2
                < nack 3
                = cwnd 1 ssthresh 2 flight 1 recoveries 1
         300us  < nack 0
                > pkt 0
                = cwnd 1 ssthresh 2 flight 1 recoveries 2
         400us  < ack 1
                > pkt 1-2
                = cwnd 2 flight 2 timeouts 0",
    );
}

/// The timeout counts from the last NACK.
#[test]
fn a_nack_restarts_the_timer() {
    for recovery in [sack(), rack()] {
        in_flight(10, recovery).run(
            "200us  < nack 4
                    > pkt 4
             200.2ms > pkt 0
                    = timeouts 1",
        );
    }
}

/// D-SACKs have undone the cut for a loss. A NACK of what was sent before it cuts the window then.
#[test]
fn after_an_undone_cut_a_nack_cuts() {
    in_flight(10, Config { undo: true, ..sack() }).run(
        "200us  < ack 0 sack 1-4
                > pkt 0
                = cwnd 5 recovery true
         300us  < ack 4 sack 0-1
                > pkt 10-14             // slow start goes on
                = cwnd 11 recovery false undos 1
                < nack 7
                > pkt 7
                = recovery true recoveries 2",
    );
}

/// A second copy of what was trimmed has come: a D-SACK would undo a cut for a loss that was only
/// presumed.
#[test]
fn what_was_trimmed_was_lost() {
    in_flight(10, Config { undo: true, ..sack() }).run(
        "200us  < nack 4
                > pkt 4
         300us  < ack 5 sack 4-5
                = cwnd 5 recovery true undos 0",
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

/// Nor does it restart the timer, which the NACK before has set to 200 ms later.
#[test]
fn a_nack_that_is_no_news_leaves_the_timer() {
    in_flight(10, sack()).run(
        "200us      < nack 4
                    > pkt 4
                    < nack 7
         150ms      < nack 7            // it waits already
         200.2ms    > pkt 0
                    = timeouts 1",
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

/// What goes out again for a NACK takes its place among paced departures: packet 11 was to leave 2.27 us after
/// packet 10, and leaves a gap after that does again at 201 us. That gap is 41.7 us: 1.2 windows of two packets
/// in 100 us. The first ten packets hold nothing back.
#[test]
fn a_retransmission_for_a_nack_is_paced() {
    let fq = Config { pacing: Pacing::Fq, initial_window: 10, handshake_sample: true, ..sack() };
    sender(fq, None).run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0-9
         200us  < ack 10
                > pkt 10
         201us  < nack 10
                > pkt 10
                = cwnd 2 flight 1
         243us..244us > pkt 11",
    );
}

/// Packets 4 and 7 were trimmed, and what is above them has come. With nothing else to send, rule 3 of
/// NextSeg (RFC 6675, section 4) asks for data beyond the highest that was sent again, which is packet 7, and
/// rule 4 for the last one of which nothing is known: packet 3. Not for packet 2.
#[test]
fn what_is_below_the_highest_retransmission_is_not_sent_for_want_of_other_data() {
    let patient = Config { dupack_threshold: DupackThreshold::Acks(20), limited_transmit: false, ..sack() };
    all_in_flight(10, patient).run(
        "200us  < nack 4
                > pkt 4
                < nack 7
                < ack 0 sack 8-10
                < ack 0 sack 8-10,5-6
                = flight 6
                < ack 0 sack 8-10,5-7
                = cwnd 5 flight 5
                < ack 1 sack 8-10,5-7
                > pkt 7
                < ack 2 sack 8-10,5-7
                > pkt 3",
    );
}
