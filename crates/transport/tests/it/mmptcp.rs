//! MMPTCP's switch, packet by packet: phase 1 on subflow 0, the hand-over, phase 2 on the others.

use crate::common::script::sender;
use crate::common::{AMP, DCTCP};
use linkpool_transport::control::{ControlConfig, MmptcpConfig, Switch};
use linkpool_transport::{Config, LossRecovery};

/// Switches to two subflows.
fn switching(switch: Switch, scattered: ControlConfig, coupled: ControlConfig) -> Config {
    let config = MmptcpConfig { switch, scattered: Box::new(scattered), coupled: Box::new(coupled) };
    Config { subflows: 3, ..crate::common::config(ControlConfig::Mmptcp(config)) }
}

/// When more than three packets have been sent.
fn mmptcp(coupled: ControlConfig) -> Config {
    let switch = Switch { bytes: 3000, window: f64::INFINITY, congestion: false };
    switching(switch, ControlConfig::Reno(()), coupled)
}

#[test]
fn the_hand_over() {
    sender(mmptcp(ControlConfig::Lia(())), None).run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0
         200us  < ack 1
                > pkt 1-2               // the threshold, and not more
         300us  < ack 2
                > pkt 3-4               // more: on the next ACK
                < ack 3
                > pkt 5-6
                > s1 syn join
                > s2 syn join
         350us  < ack 4                 // until one of them is there, on as before
                > pkt 7-8
         400us  < s1 synack
                > s1 ack 0
                > s1 pkt 0 data 9       // from the initial window on
                = s0 suppressed true s1 suppressed false s2 suppressed false
                < ack 8                 // no new data here
                = s0 cwnd 6 flight 1
         500us  < s1 ack 1 data 8
                > s1 pkt 1 data 10
                > s1 pkt 2 data 11
         600us  < s2 synack
                > s2 ack 0
                > s2 pkt 0 data 12
         200.4ms > pkt 8                // the last one was lost: again, on subflow 0
                = s0 timeouts 1 cwnd 1",
    );
}

/// A short flow never leaves phase 1.
#[test]
fn a_short_flow_opens_nothing() {
    let mut script = sender(mmptcp(ControlConfig::Lia(())), Some(3000));
    script.run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0
         200us  < ack 1
                > pkt 1
                > pkt 2 last
         300us  < ack 3
                > fin
                = state finished",
    );
}

/// ECN is for phase 2.
#[test]
fn phase_1_has_no_ecn() {
    sender(mmptcp(ControlConfig::Amp(AMP)), None).run(
        "0      > syn
         100us  < synack ecn
                > ack 0
                > pkt 0
         200us  < ack 1
                > pkt 1-2
         300us  < ack 3
                > pkt 3-5
         400us  < ack 4
                > pkt 6-7
                > s1 syn join ecn
                > s2 syn join ecn
         500us  < s1 synack ecn
                > s1 ack 0
                > s1 pkt 0 data 8 ect",
    );
}

/// The threshold for scattered packets is subflow 0's; the others take 3.
#[test]
fn scattered_packets_have_a_threshold_of_their_own() {
    let mut script = sender(Config { initial_window: 8, ..mmptcp(ControlConfig::Lia(())) }, None);
    script.end.expect_reordering(5);
    script.run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0-7
         200us  < ack 0
                > s1 syn join
                > s2 syn join
                < ack 0
                < ack 0
                < ack 0
                = s0 recovery false
                < ack 0
                > pkt 0
                = s0 recovery true
         300us  < s1 synack
                > s1 ack 0
                > s1 pkt 0 data 8
                > s1 pkt 1 data 9
                > s1 pkt 2 data 10
                > s1 pkt 3 data 11
                > s1 pkt 4 data 12
                > s1 pkt 5 data 13
                > s1 pkt 6 data 14
                > s1 pkt 7 data 15
         400us  < s1 ack 0 data 0
                < s1 ack 0 data 0
                < s1 ack 0 data 0
                > s1 pkt 0 data 8
                = s1 recovery true",
    );
}

/// By window: at the first ACK with which phase 1 has four packets.
#[test]
fn the_switch_by_window() {
    let switch = Switch { bytes: u64::MAX, window: 4.0, congestion: false };
    sender(switching(switch, ControlConfig::Reno(()), ControlConfig::Lia(())), None).run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0
         200us  < ack 1
                > pkt 1-2
         300us  < ack 2
                > pkt 3-4
                < ack 3
                = cwnd 4
                > pkt 5-6
                > s1 syn join
                > s2 syn join
         400us  < s2 synack
                > s2 ack 0
                > s2 pkt 0 data 7
                < ack 7
                = s0 suppressed true",
    );
}

/// At the first loss: with the third duplicate ACK.
#[test]
fn the_switch_at_the_first_loss() {
    let switch = Switch { bytes: u64::MAX, window: f64::INFINITY, congestion: true };
    let config = switching(switch, ControlConfig::Reno(()), ControlConfig::Lia(()));
    sender(Config { initial_window: 5, ..config }, None).run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0-4
         200us  < ack 0
                < ack 0
                < ack 0
                > pkt 0
                > s1 syn join
                > s2 syn join
                < ack 0
                > pkt 5
         300us  < ack 6
                > pkt 6-7               // on as before until one of them is there
         310us  < s1 synack
                > s1 ack 0
                > s1 pkt 0 data 8
                > s1 pkt 1 data 9
                > s1 pkt 2 data 10
                > s1 pkt 3 data 11
                > s1 pkt 4 data 12
                < ack 8",
    );
}

/// What phase 1 has lost is found and repaired by SACKs after the hand-over too, on subflow 0; it
/// has no new data, so that the last packet is sent again in its place (rule 4 of RFC 6675's
/// NextSeg).
#[test]
fn sacks_repair_what_phase_1_has_lost() {
    let config = Config { initial_window: 6, recovery: LossRecovery::Sack, ..mmptcp(ControlConfig::Lia(())) };
    sender(config, None).run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0-5
         200us  < ack 0 sack 1-2
                > s1 syn join
                > s2 syn join
         210us  < s1 synack
                > s1 ack 0
                > s1 pkt 0 data 6
                > s1 pkt 1 data 7
                > s1 pkt 2 data 8
                > s1 pkt 3 data 9
                > s1 pkt 4 data 10
                > s1 pkt 5 data 11
         220us  < ack 0 sack 1-3
                < ack 0 sack 1-4
                > pkt 0
                = s0 recovery true cwnd 3 s1 recovery false cwnd 6
                < ack 0 sack 1-5
         320us  < ack 5
                > pkt 5
                < ack 6
                = s0 recovery false flight 0 suppressed true timeouts 0
         330us  < s1 ack 0 data 6 sack 1-2
                < s1 ack 0 data 6 sack 1-3
                < s1 ack 0 data 6 sack 1-4
                > s1 pkt 0 data 6
                = s1 recovery true cwnd 3",
    );
}

/// A timeout is a congestion event too; the switch is with the next ACK.
#[test]
fn the_switch_after_a_timeout() {
    let switch = Switch { bytes: u64::MAX, window: f64::INFINITY, congestion: true };
    let config = switching(switch, ControlConfig::Reno(()), ControlConfig::Lia(()));
    sender(config, None).run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0
         200.1ms > pkt 0
         201ms  < ack 1
                > pkt 1-2
                > s1 syn join
                > s2 syn join",
    );
}

/// DCTCP in phase 1: packets are ECN-capable, a marked ACK cuts the window by alpha/2, and is the
/// first congestion event.
#[test]
fn phase_1_by_dctcp() {
    let switch = Switch { bytes: u64::MAX, window: f64::INFINITY, congestion: true };
    let dctcp = ControlConfig::Dctcp(linkpool_transport::control::DctcpConfig { alpha0: 1.0, ..DCTCP });
    let config = switching(switch, dctcp, ControlConfig::Lia(()));
    sender(Config { initial_window: 8, ..config }, None).run(
        "0      > syn ecn
         100us  < synack ecn
                > ack 0
                > pkt 0-7 ect
         200us  < ack 1
                > pkt 8-9 ect
                = cwnd 9
                < ack 2 ece
                > s1 syn join           // LIA has no ECN
                > s2 syn join
                = cwnd 4.7813           // 9 (1 - alpha/2), alpha = 15/16 after a round without marks",
    );
}
