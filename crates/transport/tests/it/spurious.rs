//! Retransmissions that were not needed, found out by D-SACKs (RFC 3708) and F-RTO (RFC 5682), and what was cut for them.

use crate::common::opened::{all_in_flight, in_flight};
use crate::common::script::sender;
use crate::common::{CUBIC, config, reno};
use linkpool_transport::control::ControlConfig;
use linkpool_transport::{Config, Recovery};

fn sack() -> Config {
    Config { recovery: Recovery::Sack, limited_transmit: true, undo: true, ..reno() }
}

/// Packet 0 was overtaken by three others, and sent again for it.
const OVERTAKEN: &str = "
         200us  < ack 0 sack 1-2
                > pkt 10
                < ack 0 sack 1-3
                > pkt 11
                < ack 0 sack 1-4
                > pkt 0";

#[test]
fn a_dsack_restores_the_window() {
    in_flight(10, sack()).run(OVERTAKEN).run(
        "       = cwnd 5 ssthresh 5 flight 9
         210us  < ack 4                 // the first copy
                < ack 5
         310us  < ack 5 sack 0-1        // the second
                > pkt 12-14
                = cwnd 10 ssthresh inf recovery false undos 1",
    );
}

#[test]
fn a_dsack_restores_nothing_if_told() {
    in_flight(10, Config { undo: false, ..sack() }).run(OVERTAKEN).run(
        "210us  < ack 4
                < ack 5
         310us  < ack 5 sack 0-1
                = cwnd 5 recovery true undos 0",
    );
}

/// Two were sent again and one of them was lost: the cut was right.
#[test]
fn all_must_have_been_needless() {
    in_flight(10, sack()).run(OVERTAKEN).run(
        "210us  < ack 4
                < ack 4 sack 5-6
                < ack 4 sack 5-7
                = flight 6
                < ack 4 sack 5-8        // 4 is lost
                > pkt 4
                < ack 4 sack 0-1,5-8
                = cwnd 5 undos 0",
    );
}

/// CUBIC is as it was before, window and curve (RFC 9438, section 4.9.2).
#[test]
fn cubic_goes_on_where_it_was() {
    let cubic =
        Config { recovery: Recovery::Sack, limited_transmit: true, undo: true, ..config(ControlConfig::Cubic(CUBIC)) };
    in_flight(10, cubic).run(OVERTAKEN).run(
        "       = cwnd 7 ssthresh 7
         210us  < ack 4
                < ack 5
         310us  < ack 5 sack 0-1
                > pkt 12-14
                = cwnd 10 ssthresh inf undos 1",
    );
}

/// All four come 110 ms late: the second ACK after the timeout is for what was not sent again.
#[test]
fn frto_finds_a_timeout_spurious() {
    in_flight(4, sack()).run(
        "200.1ms > pkt 0
                = timeouts 1 cwnd 1 ssthresh 2 rto 400ms
         210ms  < ack 1                 // of either copy
                > pkt 4-5               // new data (step 2b)
         211ms  < ack 2                 // step 3b
                > pkt 6
                = cwnd 5 ssthresh inf undos 1 retransmits 1",
    );
}

/// A delayed ACK for two tells at once.
#[test]
fn frto_needs_only_what_was_not_sent_again() {
    in_flight(4, sack()).run(
        "200.1ms > pkt 0
         210ms  < ack 2
                > pkt 4-6
                = cwnd 5 undos 1",
    );
}

/// What was not sent again is missing: the timeout was right, and the rest follows.
#[test]
fn frto_leaves_a_true_timeout_alone() {
    in_flight(4, sack()).run(
        "200.1ms > pkt 0
         200.2ms < ack 1
                > pkt 4-5
         200.3ms < ack 1 sack 4-5       // step 3a
                > pkt 1
                < ack 1 sack 4-6
                > pkt 2
                = cwnd 2 undos 0 timeouts 1",
    );
}

/// Step 2b without new data: as after any timeout.
#[test]
fn frto_needs_new_data() {
    sender(Config { initial_window: 4, ..sack() }, Some(4000)).run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0-2
                > pkt 3 last
         200.1ms > pkt 0
         200.2ms < ack 1
                > pkt 1-2
         200.3ms < ack 2
                > pkt 3 last
                < ack 3
                < ack 4
                > fin
                = undos 0 retransmits 4",
    );
}

fn newreno() -> Config {
    Config { undo: true, ..reno() }
}

/// F-RTO without SACKs (RFC 5682, section 2.1): all four come 110 ms late.
#[test]
fn frto_finds_a_timeout_spurious_without_sacks() {
    in_flight(4, newreno()).run(
        "200.1ms > pkt 0
                = timeouts 1 cwnd 1 ssthresh 2 rto 400ms
         210ms  < ack 1
                > pkt 4-5               // step 2b
                = cwnd 2
         211ms  < ack 2                 // step 3b: 4 as before, and one more for the ACK; 2 to 5 are out
                > pkt 6
                = cwnd 5 ssthresh inf undos 1 retransmits 1
         212ms  < ack 3
                > pkt 7-8
         213ms  < ack 3                 // duplicates mean a loss again
                < ack 3
                < ack 3
                > pkt 3
                = recoveries 1",
    );
}

/// Step 3a: the duplicate is of new data, so that what was outstanding is missing.
#[test]
fn frto_leaves_a_true_timeout_alone_without_sacks() {
    in_flight(4, newreno()).run(
        "200.1ms > pkt 0
         200.2ms < ack 1
                > pkt 4-5
         200.3ms < ack 1
                > pkt 1-2
                < ack 1                 // of 5
                = cwnd 2 undos 0
         200.4ms < ack 2
                > pkt 3
                = cwnd 2.5 timeouts 1 recoveries 0",
    );
}

/// Step 2a: a duplicate, or an ACK for all that was outstanding, tells nothing.
#[test]
fn frto_gives_up_at_a_duplicate() {
    in_flight(4, newreno()).run(
        "200.1ms > pkt 0
         200.2ms < ack 0
         200.3ms < ack 1
                > pkt 1-2
                = cwnd 2 undos 0",
    );
    in_flight(4, newreno()).run(
        "200.1ms > pkt 0
         200.2ms < ack 4
                > pkt 4-5
                = cwnd 2 undos 0",
    );
}

/// Step 2b without new data: as after any timeout.
#[test]
fn frto_needs_new_data_without_sacks() {
    all_in_flight(4, newreno()).run(
        "200.1ms > pkt 0
         200.2ms < ack 1
                > pkt 1-2
         200.3ms < ack 2
                > pkt 3 last
                < ack 3
                < ack 4
                > fin
                = undos 0 retransmits 4",
    );
}

/// Step 1: what was sent after a timeout times out too.
#[test]
fn frto_is_for_the_first_of_several_timeouts() {
    in_flight(4, newreno()).run(
        "200.1ms > pkt 0
         600.1ms > pkt 0
         610ms  < ack 1
                > pkt 1-2
                = timeouts 2 undos 0",
    );
}

/// CUBIC's curve is as before.
#[test]
fn cubic_goes_on_where_it_was_without_sacks() {
    in_flight(10, Config { undo: true, ..config(ControlConfig::Cubic(CUBIC)) }).run(
        "200.1ms > pkt 0
                = cwnd 1 ssthresh 7
         210ms  < ack 1
                > pkt 10-11
         211ms  < ack 2
                > pkt 12
                = cwnd 11 ssthresh inf undos 1",
    );
}
