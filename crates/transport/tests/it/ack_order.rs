//! The order of growth and cut: an ACK that cuts the window for a mark grows it before, as in the
//! implementation of AMP's authors, or does not grow it (RFC 3168, section 6.1.2).

use crate::common::channel::{Crossing, Pair};
use crate::common::opened::in_flight;
use crate::common::script::sender;
use crate::common::{AMP, CUT, DCTCP, S, config};
use linkpool_transport::control::AckOrder::{CutInsteadOfGrowth, GrowThenCut};
use linkpool_transport::control::{AckOrder, AmpConfig, ControlConfig, CutConfig, DctcpConfig};
use linkpool_transport::{Config, LossRecovery, Segment};
use linkpool_units::Time;

fn dctcp(ack_order: AckOrder) -> ControlConfig {
    ControlConfig::Dctcp(DctcpConfig { alpha0: 1.0, ack_order, ..DCTCP })
}

fn amp(ack_order: AckOrder) -> ControlConfig {
    ControlConfig::Amp(AmpConfig { cut: CutConfig { ack_order, ..CUT }, ..AMP })
}

fn with_ecn(control: ControlConfig, window: u32, initial_ssthresh: u64) -> Config {
    Config { initial_window: window, initial_ssthresh, ..config(control) }
}

/// Each algorithm that has the setting, with a cut by half: alpha = 1, or beta = 2.
fn halving(ack_order: AckOrder) -> [ControlConfig; 4] {
    let dctcp = DctcpConfig { alpha0: 1.0, ack_order, ..DCTCP };
    let cut = CutConfig { beta: 2.0, ack_order, ..CUT };
    let amp = AmpConfig { cut: cut.clone(), ..AMP };
    [
        ControlConfig::Dctcp(dctcp.clone()),
        ControlConfig::Dcm(dctcp),
        ControlConfig::MptcpCut(cut),
        ControlConfig::Amp(amp),
    ]
}

/// A cut by half in congestion avoidance: the first of two marked ACKs cuts 4 packets, or 4 and
/// 1/4; the second grows what is left.
#[test]
fn the_first_marked_ack_of_a_window_grows_it_before_the_cut_or_not_at_all() {
    for (order, cut, grown) in [(CutInsteadOfGrowth, 2.0, 2.5), (GrowThenCut, 2.125, 2.5956)] {
        for control in halving(order) {
            sender(with_ecn(control, 4, 2_000), None).run(&format!(
                "0      > syn ecn
                 100us  < synack ecn
                        > ack 0
                        > pkt 0-3 ect
                 200us  < ack 1 ece
                        = cwnd {cut} ssthresh {cut} cuts 1
                        < ack 2 ece
                        = cwnd {grown} cuts 1 marked 2"
            ));
        }
    }
}

/// In slow start a packet more, and slow start is over.
#[test]
fn slow_start_ends_with_the_cut() {
    for (order, window) in [(CutInsteadOfGrowth, 3.0), (GrowThenCut, 3.5)] {
        sender(with_ecn(dctcp(order), 6, u64::MAX), None).run(&format!(
            "0      > syn ecn
             100us  < synack ecn
                    > ack 0
                    > pkt 0-5 ect
             200us  < ack 1 ece
                    = cwnd {window} ssthresh {window}"
        ));
    }
}

/// A duplicate ACK does not grow the window in any order, and its mark cuts it.
#[test]
fn a_marked_duplicate_cuts() {
    for order in [CutInsteadOfGrowth, GrowThenCut] {
        sender(with_ecn(dctcp(order), 6, 2_000), None).run(
            "0      > syn ecn
             100us  < synack ecn
                    > ack 0
                    > pkt 0-5 ect
             200us  < ack 0 ece
                    = cwnd 3 ssthresh 3 cuts 1",
        );
    }
}

/// Fast recovery has answered for this window, if a mark is not to cut it again.
#[test]
fn recovery_keeps_a_mark_from_cutting_in_any_order() {
    for order in [CutInsteadOfGrowth, GrowThenCut] {
        let config =
            Config { recovery: LossRecovery::Sack, cut_in_recovery: false, ..with_ecn(dctcp(order), 6, 2_000) };
        sender(config, None).run(
            "0      > syn ecn
             100us  < synack ecn
                    > ack 0
                    > pkt 0-5 ect
             200us  < ack 0 sack 1-2
                    < ack 0 sack 1-3
                    < ack 0 sack 1-4
                    > pkt 0 ect
             210us  < ack 4 ece
                    > pkt 6 ect
                    = cwnd 3 ssthresh 3 cuts 0 recovery true",
        );
    }
}

/// An algorithm without ECN has no cut to make: the ECN echo of a peer that was not asked for it
/// means nothing.
#[test]
fn what_takes_no_marks_is_not_cut() {
    in_flight(4, config(ControlConfig::Reno(()))).run(
        "200us  < ack 1 ece
                > pkt 4-5
                = cwnd 5 cuts 0",
    );
}

/// The first new segment of each window in which a mark was echoed carries CWR (RFC 3168, section
/// 6.1.2). Each cut is by half, and each other ACK grows the window by its inverse.
#[test]
fn the_first_new_segment_after_a_mark_says_so() {
    sender(with_ecn(dctcp(CutInsteadOfGrowth), 4, 2_000), None).run(
        "0      > syn ecn
         100us  < synack ecn
                > ack 0
                > pkt 0-3 ect
         200us  < ack 1 ece
                = cwnd 2
         210us  < ack 2 ece
         220us  < ack 3 ece             // 2 + 1/2 + 1/2.5: room for one more
                > pkt 4 ect cwr
         230us  < ack 4 ece             // the window that was cut: said already
                > pkt 5-6 ect
         300us  < ack 5 ece             // beyond it
         310us  < ack 6
                > pkt 7 ect cwr
         320us  < ack 7
                > pkt 8 ect",
    );
}

/// The window after each round under marks on every packet, from `window` packets on in congestion
/// avoidance or slow start.
fn under_full_marking(control: ControlConfig, window: u32, rounds: u64) -> f64 {
    let half_a_round = Time::from_us(50);
    let carry = move |c: &Crossing| vec![(half_a_round, matches!(c.segment, Segment::Data { .. }))];
    let mut pair = Pair::new(with_ecn(control, window, 2_000), None, carry);
    pair.run_until(half_a_round * (2 * rounds + 3));
    pair.sender.congestion(S[0]).cwnd
}

/// Every ACK is marked: the first of a round grows `w` to `w + 1/w` and cuts that, the others of
/// its `floor(w)` packets grow what is left. In reals AMP's fixed point is that of `w = 3/4 (w +
/// 1/w) + (w - 1)/w`: 2 + sqrt(3), or 3.73. In whole packets there is one with 4, 3 and 2 in flight
/// each, and from above AMP comes to the first. If the cutting ACK does not grow, it is 3.14 with
/// 3.
#[test]
fn amp_stays_at_four_packets_under_full_marking() {
    for (order, window, expected) in [
        (GrowThenCut, 16, 4.1121),
        (GrowThenCut, 3, 3.5106),
        (GrowThenCut, 2, 2.7788),
        (CutInsteadOfGrowth, 16, 3.1387),
        (CutInsteadOfGrowth, 2, 2.5),
    ] {
        let w = under_full_marking(amp(order), window, 300);
        assert!((w - expected).abs() < 1e-3, "{order:?} from {window}: {w}");
    }
}

/// DCTCP with alpha = 1 comes to its floor of 2, where a round ends at 2 + 1/2, from wherever it
/// begins: there is no second equilibrium at 3, as there is if the ACK that has cut the window
/// grows it after that (3/2, at least 2, and 1/2, 2/5, 1/3 more).
#[test]
fn dctcp_comes_to_its_floor_under_full_marking() {
    for order in [GrowThenCut, CutInsteadOfGrowth] {
        for window in [2, 3, 4, 16] {
            let w = under_full_marking(dctcp(order), window, 300);
            assert!((w - 2.5).abs() < 1e-9, "{order:?} from {window}: {w}");
        }
    }
}
