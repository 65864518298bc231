//! Loss recovery by SACKs (RFC 6675), packet by packet; every window by hand.

use crate::common::opened::{all_in_flight, in_flight};
use crate::common::script::sender;
use crate::common::{DCTCP, config, reno};
use linkpool_transport::control::ControlConfig;
use linkpool_transport::{Buffers, Config, DupackThreshold, LossRecovery};

fn sack() -> Config {
    Config { recovery: LossRecovery::Sack, limited_transmit: true, ..reno() }
}

/// Packets 2 and 5 of ten are lost. Both are repaired in one round, where NewReno takes two
/// (`newreno.rs`).
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

/// Three ranges beyond a hole mean a loss even if they are small (IsLost: "DupThresh discontiguous
/// SACKed sequences").
#[test]
fn three_ranges_are_enough() {
    in_flight(10, Config { dupack_threshold: DupackThreshold::Acks(3), ..sack() }).run(
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
    in_flight(10, Config { dupack_threshold: DupackThreshold::Acks(5), ..sack() }).run(
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

/// Rule 4 of NextSeg: with nothing else to send, the last segment is sent again, once: here it was
/// lost indeed. Not before more than the first retransmission is acknowledged (step 4.3: "to
/// prevent ... a premature rescue retransmission").
#[test]
fn a_rescue_retransmission_repairs_the_tail() {
    all_in_flight(6, sack()).run(
        "200us  < ack 0 sack 1-2
                < ack 0 sack 1-3
                < ack 0 sack 1-4
                > pkt 0
                = cwnd 3 flight 3
                < ack 0 sack 1-5
                = flight 2
         300us  < ack 5
                > pkt 5 last
         400us  < ack 6
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

/// After a timeout SACKed data is not sent again.
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

/// The timer doubles with each timeout (RFC 6298, 5.5), of the first hole only; what was SACKed
/// stays so. Acknowledgments of what was sent twice are no samples and leave the back-off as it is
/// (Karn); that of packet 4, sent once, ends it.
#[test]
fn the_back_off_of_a_hole() {
    let config = Config { undo: false, limited_transmit: false, ..sack() };
    in_flight(4, config).run(
        "200us  < ack 0 sack 2-3
         200.1ms > pkt 0
                = cwnd 1 ssthresh 2
         600.1ms > pkt 0
         1400.1ms > pkt 0
         3000.1ms > pkt 0
                = cwnd 1 ssthresh 2 timeouts 4 rto 3.2s
         3000.2ms < ack 1 sack 2-3
                > pkt 1
                > pkt 3
         3000.3ms < ack 3
                > pkt 4
         3000.4ms < ack 4
                > pkt 5
                = rto 3.2s
         3000.5ms < ack 5
                > pkt 6-7
                = rto 200ms retransmits 6",
    );
}

/// RFC 6675, section 5.1: a timeout ends the recovery, and none begins before all that was
/// outstanding then, up to 7, is acknowledged: three SACKs beyond 4, which is lost once more, mean
/// nothing, and packet 4 takes a timeout again.
#[test]
fn no_recovery_for_what_was_sent_before_the_timeout() {
    let config = Config { undo: false, limited_transmit: false, ..sack() };
    in_flight(8, config).run(
        "200us  < ack 0 sack 1-2
                < ack 0 sack 1-3
                < ack 0 sack 1-4
                > pkt 0                 // lost again, and so are 4 to 7
                = recovery true cwnd 4 flight 5
         200.2ms > pkt 0
                = recovery false cwnd 1 ssthresh 2
         200.3ms < ack 4                // 1 to 3 are not of this slow start
                > pkt 4-5
                = cwnd 2
         200.4ms < ack 4 sack 5-6
                > pkt 6
                < ack 4 sack 5-7
                > pkt 7
                < ack 4 sack 5-8
                > pkt 8
                = recoveries 1 recovery false
         600.3ms > pkt 4                // 400 ms after the last progress: the back-off has not ended
                = timeouts 2 cwnd 1
         600.4ms < ack 8
                > pkt 8-9
                = cwnd 2
         600.5ms < ack 9                // now all is
                > pkt 10
         600.6ms < ack 11
                > pkt 11-12
         600.7ms < ack 12
                > pkt 13-14
         600.8ms < ack 13
                > pkt 15
         600.9ms < ack 14
                > pkt 16
         601ms  < ack 15                // 2.5 + 1/2.5 + ...: 4.1
                > pkt 17-18
         601.1ms < ack 15 sack 16-17
                < ack 15 sack 16-18
                < ack 15 sack 16-19
                > pkt 15
                > pkt 19
                = recoveries 2 recovery true cwnd 2 flight 2",
    );
}

/// A mark that comes in fast recovery: Linux and RFC 3168 have reacted to this window already.
#[test]
fn marks_in_recovery_cut_if_told() {
    for (cuts, window, sent) in [(true, 2, ""), (false, 3, "> pkt 6 ect")] {
        let dctcp = config(ControlConfig::Dctcp(linkpool_transport::control::DctcpConfig { alpha0: 1.0, ..DCTCP }));
        let config = Config { recovery: LossRecovery::Sack, cut_in_recovery: cuts, initial_window: 6, ..dctcp };
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

/// Slow start after a timeout counts what it has sent itself, not what was SACKed before (RFC 5681,
/// section 3.1: "for each ACK received that cumulatively acknowledges new data", by the packets,
/// RFC 3465): of nine packets one.
#[test]
fn slow_start_does_not_count_what_was_sacked_before_the_timeout() {
    let waits = Config { dupack_threshold: DupackThreshold::Acks(20), limited_transmit: false, ..sack() };
    in_flight(10, Config { byte_counting: true, ..waits }).run(
        "200us  < ack 0 sack 1-9
         200.1ms > pkt 0
                = timeouts 1 cwnd 1 ssthresh 5 flight 1
         200.2ms < ack 9
                > pkt 9-10
                = cwnd 2",
    );
}

/// Blocks of data that was never sent, or that begin before the ACK and end beyond it, are ignored.
#[test]
fn blocks_that_make_no_sense_are_ignored() {
    in_flight(4, sack()).run(
        "200us  < ack 0 sack 3-9
                < ack 0 sack 50-51
                = flight 4
                < ack 2 sack 3-4,1-4
                > pkt 4-6
                = flight 5 cwnd 5",
    );
}

/// Step 4.3: HighRxt is set anew at each recovery, so that what an earlier one has sent again is
/// lost, and sent again, as anything else.
///
/// Packets 0, 8 and 10 are lost, and so are 8 and 10 once more. The receiver has room up to packet
/// 12, so that the first recovery, up to 8, sends both again for want of new data: 8 by three SACKs
/// beyond (rule 1), 10 below what was SACKed (rule 3).
#[test]
fn a_second_recovery_repairs_what_the_first_has_sent_again() {
    let buffers = Buffers { receive: 13_000, ..Buffers::default() };
    in_flight(8, Config { buffers, limited_transmit: false, ..sack() }).run(
        "200us  < ack 0 win 13000 sack 1-2
                < ack 0 win 13000 sack 1-3
                < ack 0 win 13000 sack 1-4
                > pkt 0
                = cwnd 4 flight 5
                < ack 0 win 13000 sack 1-6
                > pkt 8
                < ack 0 win 13000 sack 1-8
                > pkt 9-10
                < ack 0 win 13000 sack 9-10,1-8
                > pkt 11
                < ack 0 win 13000 sack 11-12,9-10,1-8
                > pkt 12
                < ack 0 win 13000 sack 11-13,9-10,1-8
                > pkt 8
                > pkt 10
                = flight 4 recoveries 1
         300us  < ack 8 win 5000 sack 11-13,9-10    // the first is over, and the second begins
                > pkt 8
                = recoveries 2 cwnd 2 flight 2      // 8, and 10, of which nobody knows
         400us  < ack 10 win 8000 sack 11-13
                > pkt 13
                = flight 2
         500us  < ack 10 win 8000 sack 11-14        // three beyond: 10 is lost
                > pkt 10
                > pkt 14
                = flight 2 recovery true
         600us  < ack 14 win 8000
                > pkt 15
                = recovery false timeouts 0",
    );
}

/// An ACK after a timeout that reports packets beyond the hole is no progress: the next timeout is the second
/// in a row, with which the connection is given up. An ACK of packet 0 makes it the first again.
#[test]
fn only_what_is_acknowledged_ends_a_row_of_timeouts() {
    let config = || Config { fail_after: 2, undo: false, limited_transmit: false, ..sack() };
    in_flight(4, config()).run(
        "200.1ms > pkt 0
         200.2ms < ack 0 sack 2-3
         600.1ms = timeouts 2 state failed",
    );
    in_flight(4, config()).run(
        "200.1ms > pkt 0
         200.2ms < ack 1 sack 2-3
                > pkt 1
                > pkt 3
         600.2ms > pkt 1
                = timeouts 2 state open",
    );
}
