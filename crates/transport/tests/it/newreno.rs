//! Fast retransmit and fast recovery of Reno (RFC 5681, section 3.2) and NewReno (RFC 6582), packet by packet.

use crate::common::script::{Script, sender};
use crate::common::{DCTCP, config, reno};
use linkpool_transport::control::ControlConfig;
use linkpool_transport::{Config, DupackThreshold, LossRecovery, Sender};

/// Ten packets in flight at 100 us.
fn ten_in_flight(config: Config) -> Script<Sender> {
    let mut script = sender(Config { initial_window: 10, ..config }, None);
    script.run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0-9",
    );
    script
}

/// Packets 2 and 5 of ten are lost. Every window by hand.
#[test]
fn two_losses_in_a_window() {
    ten_in_flight(reno()).run(
        "200us  < ack 1         // slow start: 11, 9 in flight
                > pkt 10-11
                < ack 2         // 12, 10 in flight
                > pkt 12-13
                < ack 2         // for packet 3
                < ack 2         // for packet 4
                = cwnd 12 flight 12 recovery false
                < ack 2         // for packet 6: the third duplicate
                > pkt 2
                = cwnd 9 ssthresh 6 flight 12 recovery true   // 12/2 and 3 more
                < ack 2         // 7
                < ack 2         // 8
                < ack 2         // 9
                = cwnd 12 flight 12
         300us  < ack 2         // 10: 13 > 12
                > pkt 14
                < ack 2
                > pkt 15
                < ack 2
                > pkt 16
                < ack 2         // 13
                > pkt 17
                = cwnd 16 flight 16
                < ack 5         // 2 has come: a partial ACK of three packets
                > pkt 5         // the next hole
                > pkt 18
                = cwnd 14 flight 14   // 16 - 3 + 1
         400us  < ack 5         // for 14
                > pkt 19
                < ack 5
                > pkt 20
                < ack 5
                > pkt 21
                < ack 5         // 17
                > pkt 22
                = cwnd 18 flight 18
                < ack 18        // 5 has come: all before recover (14) is there
                > pkt 23
                = cwnd 6 ssthresh 6 flight 6 recovery false   // min(6, 5 + 1)
                < ack 19        // congestion avoidance
                > pkt 24
                = cwnd 6.1667 recoveries 1 retransmits 2 timeouts 0
        ",
    );
}

/// The same losses with Reno: the first new ACK ends the recovery, so the second hole needs three more
/// duplicates, and halves the window again.
#[test]
fn reno_recovers_from_each_loss_by_itself() {
    ten_in_flight(Config { recovery: LossRecovery::Reno, ..reno() }).run(
        "200us  < ack 1
                > pkt 10-11
                < ack 2         // 12, 10 in flight
                > pkt 12-13
                < ack 2         // for packet 3
                < ack 2         // for packet 4
                < ack 2         // for packet 6: the third duplicate
                > pkt 2
                = cwnd 9 ssthresh 6 flight 12 recovery true   // 12/2 and 3 more
                < ack 2         // 7
                < ack 2         // 8
                < ack 2         // 9
         300us  < ack 2         // 10: 13 > 12
                > pkt 14
                < ack 5         // 2 has come: a partial ACK ends the recovery
                = cwnd 6 ssthresh 6 flight 10 recovery false
                < ack 5         // 11
                < ack 5         // 12
                < ack 5         // 13: the third
                > pkt 5
                = cwnd 8 ssthresh 5 flight 10 recovery true   // 10/2 and 3 more
         400us  < ack 5         // 14
                = cwnd 9
                < ack 15        // 5 has come
                > pkt 15-19
                = cwnd 5 flight 5 recovery false recoveries 2 retransmits 2 timeouts 0
        ",
    );
}

/// Three losses with Reno: too few packets are left for duplicates of the second, which takes a timeout.
#[test]
fn reno_has_a_timeout_for_many_losses() {
    ten_in_flight(Config { recovery: LossRecovery::Reno, ..reno() }).run(
        "200us  < ack 0         // 3 has come; 0, 1 and 2 are lost
                < ack 0         // 4
                < ack 0         // 5
                > pkt 0
                = cwnd 8 ssthresh 5 flight 10 recovery true
                < ack 0         // 6
                < ack 0         // 7
                < ack 0         // 8
                > pkt 10
                < ack 0         // 9
                > pkt 11
                = cwnd 12 flight 12
         300us  < ack 1         // 0 has come
                = cwnd 5 flight 11 recovery false
                < ack 1         // 10
                < ack 1         // 11: the last duplicate
         +150ms..+350ms > pkt 1
                = timeouts 1 recoveries 1 cwnd 1
        ",
    );
}

/// One loss: nothing but the hole is sent again, and half the window goes on.
#[test]
fn one_loss() {
    ten_in_flight(reno()).run(
        "200us  < ack 0
                < ack 0
                < ack 0
                > pkt 0
                = cwnd 8 ssthresh 5
                < ack 0
                < ack 0
                < ack 0         // six duplicates: 11 > 10
                > pkt 10
                < ack 0
                > pkt 11
                < ack 0
                > pkt 12
                < ack 0         // nine
                > pkt 13
                = cwnd 14 flight 14
         300us  < ack 10
                > pkt 14
                = cwnd 5 flight 5 retransmits 1",
    );
}

/// The third duplicate, not the second: no retransmission for mild reordering.
#[test]
fn two_duplicates_are_reordering() {
    ten_in_flight(reno()).run(
        "200us  < ack 0
                < ack 0
                < ack 3
                > pkt 10-13
                = cwnd 11 recoveries 0 retransmits 0",
    );
}

/// Duplicates count anew after an ACK of new data.
#[test]
fn duplicates_must_be_in_a_row() {
    ten_in_flight(reno()).run(
        "200us  < ack 1
                > pkt 10-11
                < ack 1
                < ack 1
                < ack 2
                > pkt 12-13
                < ack 2
                < ack 2
                = recoveries 0",
    );
}

#[test]
fn the_threshold_can_be_set() {
    ten_in_flight(Config { dupack_threshold: DupackThreshold::Acks(5), ..reno() }).run(
        "200us  < ack 0
                < ack 0
                < ack 0
                < ack 0
                < ack 0
                > pkt 0
                = cwnd 8 ssthresh 5",
    );
}

/// RFC 6582, section 3.2, step 3: the first partial ACK restarts the timer, later ones do not.
#[test]
fn the_first_partial_ack_restarts_the_timer() {
    ten_in_flight(reno()).run(
        "200us  < ack 0
                < ack 0
                < ack 0
                > pkt 0         // and the timer: 200.2 ms
         300us  < ack 1
                > pkt 1         // again: 200.3 ms
         400us  < ack 2
                > pkt 2         // no more
         200.3ms > pkt 2
                = timeouts 1 cwnd 1",
    );
}

/// With nothing else in flight a full ACK leaves a window of 2: min(ssthresh, max(flight, 1) + 1).
#[test]
fn a_full_ack_of_everything_leaves_two() {
    sender(Config { initial_window: 4, ..reno() }, Some(4000)).run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0-2
                > pkt 3 last
         200us  < ack 0
                < ack 0
                < ack 0
                > pkt 0
                = cwnd 5 ssthresh 2
         300us  < ack 4
                > fin
                = cwnd 2",
    );
}

/// After a loss a second one in a later window halves again: from 5 to 2.5.
#[test]
fn each_window_with_a_loss_halves() {
    ten_in_flight(reno()).run(
        "200us  < ack 0
                < ack 0
                < ack 0
                > pkt 0
                = ssthresh 5
         300us  < ack 10        // full: recover is 10
                > pkt 10-11
                = cwnd 2        // nothing was in flight
         400us  < ack 11        // slow start to 5
                > pkt 12-13
                < ack 12
                > pkt 14-15
                = cwnd 4 flight 4
         500us  < ack 13
                > pkt 16-17
                < ack 13        // 13 is lost; 14, 15 come, and 16
                < ack 13
                = cwnd 5 flight 5
         600us  < ack 13
                > pkt 13
                = cwnd 5.5 ssthresh 2.5 recoveries 2",
    );
}

/// Old ACKs that come late change nothing.
#[test]
fn an_old_ack_is_no_duplicate() {
    ten_in_flight(reno()).run(
        "200us  < ack 5
                > pkt 10-15
                < ack 3
                < ack 4
                < ack 1
                < ack 2
                = recoveries 0 cwnd 11 flight 11",
    );
}

/// RFC 6582, section 3.2, step 1: the ACK must cover *more* than recover. The loss of the first
/// packet behind it, here 10, costs a timeout, whatever duplicates come.
#[test]
fn a_loss_right_behind_recover_costs_a_timeout() {
    ten_in_flight(reno()).run(
        "200us  < ack 0
                < ack 0
                < ack 0
                > pkt 0
                < ack 0
                < ack 0
                < ack 0
                > pkt 10
                < ack 0
                > pkt 11
                < ack 0
                > pkt 12
                < ack 0
                > pkt 13
         300us  < ack 10
                > pkt 14
         310us  < ack 10        // for 11
                < ack 10        // for 12
                < ack 10        // for 13
                < ack 10        // for 14
                = recoveries 1
         200.3ms > pkt 10
                = timeouts 1",
    );
}

/// Retransmissions are as ECN-capable as first transmissions (as Linux does it for DCTCP; RFC 3168,
/// section 6.1.5, would not).
#[test]
fn a_retransmission_is_ect() {
    let config = Config { initial_window: 4, ..config(ControlConfig::Dctcp(DCTCP)) };
    sender(config, None).run(
        "0      > syn ecn
         100us  < synack ecn
                > ack 0
                > pkt 0-3 ect
         200us  < ack 0
                < ack 0
                < ack 0
                > pkt 0 ect
                > pkt 4 ect",
    );
}
