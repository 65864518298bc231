//! Needless retransmissions, detected by D-SACKs (RFC 3708) and F-RTO (RFC 5682), and the cuts that
//! are undone.

use crate::common::opened::{all_in_flight, in_flight};
use crate::common::script::sender;
use crate::common::{CUBIC, config, reno};
use linkpool_transport::control::ControlConfig;
use linkpool_transport::{Config, LossRecovery};

fn sack() -> Config {
    Config { recovery: LossRecovery::Sack, limited_transmit: true, undo: true, ..reno() }
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

/// The packet outstanding at the cut ends where that data ends.
#[test]
fn a_dsack_of_the_last_byte_at_the_cut_counts() {
    in_flight(1, sack()).run(
        "200.1ms > pkt 0
         300ms  < ack 1 sack 0-1
                > pkt 1-2
                = undos 1",
    );
}

/// CUBIC is as it was before, window and curve (RFC 9438, section 4.9.2).
#[test]
fn cubic_goes_on_where_it_was() {
    let cubic = Config {
        recovery: LossRecovery::Sack,
        limited_transmit: true,
        undo: true,
        ..config(ControlConfig::Cubic(CUBIC))
    };
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
                = cwnd 2 undos 0
         200.3ms < ack 5
                > pkt 6
                = cwnd 2.5 undos 0",
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

/// Only what was outstanding at the cut has to be needless: the D-SACK of packet 0, which was
/// acknowledged before, and that of packet 14, which was sent later, say nothing of the cut (RFC
/// 3708, section 2). That of packet 1 does.
#[test]
fn dsacks_of_other_packets_do_not_undo() {
    in_flight(10, sack()).run(
        "200us  < ack 1
                > pkt 10-11
                < ack 1 sack 2-3
                > pkt 12
                < ack 1 sack 2-4
                > pkt 13
                < ack 1 sack 2-5
                > pkt 1
                = cwnd 5.5 ssthresh 5.5 recovery true
                < ack 1 sack 0-1,2-5
                = undos 0 recovery true flight 10
                < ack 1 sack 2-12
                > pkt 14-15
                < ack 1 sack 14-15,2-12
                > pkt 16
                < ack 1 sack 14-15,14-15,2-12
                = undos 0 recovery true
                < ack 12 sack 14-15
                > pkt 17
                = undos 0 recovery true flight 5
                < ack 12 sack 1-2,14-15
                > pkt 18-23
                = undos 1 recovery false cwnd 11 ssthresh inf",
    );
}

/// Two copies of packet 0 and one of packet 4 were in flight: the ACK for both is no RTT sample
/// (Karn), and so does not end the back-off. That the timeout was spurious does.
#[test]
fn undo_ends_the_back_off() {
    in_flight(4, sack()).run(
        "200.1ms > pkt 0
                = rto 400ms
         210ms  < ack 2
                > pkt 4-6
                = undos 1 rto 200ms",
    );
}

/// Packets 0 and 4 were lost, and so were their retransmissions and the new ones, 8 and 9. After
/// the timeout 0 arrives, and new data goes out (step 2b).
const STEP_3: &str = "
         200us  < ack 0 sack 1-2
                < ack 0 sack 1-3
                < ack 0 sack 1-4
                > pkt 0
                < ack 0 sack 5-8,1-4
                > pkt 4
                > pkt 8-9
                = cwnd 4 flight 4
         200.2ms > pkt 0
                = timeouts 1 cwnd 1 ssthresh 2 recovery false
         200.3ms < ack 4 sack 5-8
                > pkt 10-11
                = cwnd 2";

/// Step 3a: a SACK of new data, and nothing of what was outstanding and not sent again. The timeout
/// was right.
#[test]
fn frto_step_3_with_a_sack_of_new_data() {
    in_flight(8, Config { limited_transmit: false, ..sack() }).run(STEP_3).run(
        "200.4ms < ack 8 sack 10-11     // of the second copy of packet 4
                > pkt 8
                = undos 0",
    );
}

/// An ACK of retransmissions alone decides nothing; the next, of data that was not sent again, does
/// (step 3b).
#[test]
fn frto_step_3_goes_on_with_acks_of_retransmissions() {
    in_flight(8, Config { limited_transmit: false, ..sack() }).run(STEP_3).run(
        "200.4ms < ack 8
                = undos 0 cwnd 2.5
         200.5ms < ack 9
                > pkt 12-17
                = undos 1 cwnd 9 ssthresh inf",
    );
}

/// Step 2a with SACKs: a duplicate ACK tells nothing; the rest is sent again as after any timeout.
#[test]
fn frto_with_sacks_gives_up_at_a_duplicate() {
    in_flight(4, sack()).run(
        "200.1ms > pkt 0
         200.2ms < ack 0
         200.3ms < ack 1
                > pkt 1-2
                = cwnd 2 undos 0",
    );
}

/// A duplicate ACK after the timeout means that a packet was lost (RFC 5682, section 3.1, step 2a):
/// that originals arrive later does not undo the timeout.
#[test]
fn a_duplicate_ack_after_a_timeout_ends_f_rto() {
    for (duplicate, undos) in [("200.2ms < ack 0\n", 0), ("", 1)] {
        let script = format!("200.1ms > pkt 0\n{duplicate}200.3ms < ack 4\n> fin\n= timeouts 1 undos {undos}");
        all_in_flight(4, sack()).run(&script);
    }
}

/// In step 3 too (RFC 5682, section 3.1): after a duplicate ACK the arrival of packet 1, which was
/// not sent again, undoes nothing.
#[test]
fn a_duplicate_ack_of_new_data_ends_f_rto() {
    for (duplicate, then) in [("210.5ms < ack 1", "= undos 0 cwnd 2.5"), ("", "> pkt 6\n= undos 1 cwnd 5")] {
        in_flight(4, sack()).run(&format!(
            "200.1ms > pkt 0
             210ms  < ack 1
                    > pkt 4-5
             {duplicate}
             211ms  < ack 2
                    {then}"
        ));
    }
}

/// The D-SACK comes in an ACK that a later one has overtaken.
#[test]
fn a_dsack_in_an_overtaken_ack_restores_the_window() {
    in_flight(10, sack()).run(OVERTAKEN).run(
        "210us  < ack 5
         310us  < ack 4 sack 0-1
                > pkt 12-14
                = cwnd 10 ssthresh inf recovery false undos 1",
    );
}

/// Packet 3 has overtaken packet 2, and the ACK that says so comes once more after the timeout. It is older
/// than the last one and no news, so F-RTO goes on: packets 2, 4 and 5 come late, and were not lost.
#[test]
fn an_overtaken_ack_without_news_leaves_frto() {
    in_flight(6, Config { limited_transmit: false, ..sack() }).run(
        "200us  < ack 2 sack 3-4
                > pkt 6-8
                = cwnd 7 flight 6
         200.2ms > pkt 2
                = timeouts 1 cwnd 1
         210ms  < ack 1 sack 3-4
                = undos 0
         211ms  < ack 6
                > pkt 9-13
                = cwnd 8 undos 1",
    );
}
