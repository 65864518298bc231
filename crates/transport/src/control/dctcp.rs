//! DCTCP (RFC 8257).

use super::reno::reno_growth;
use super::{Ack, AckOrder, CongestionControl, Floor};
use crate::congestion::CongestionState;
use crate::id::SubflowId;
use linkpool_settings::{Bounds, settings};
use smallvec::{SmallVec, smallvec};

settings! {
    /// Parameters of DCTCP.
    pub struct DctcpConfig {
        /// Initial alpha, 0 to 1 (RFC 8257, section 4.2: 1).
        alpha0: f64 = 1.0, paper_2013 = 0.0, within Bounds::from(0.0, "alpha is a fraction, 0 to 1").to(1.0);
        /// Gain of alpha (RFC 8257, section 4.2: 1/16).
        g: f64 = 0.0625, within Bounds::GAIN;
        /// What else an ACK does that cuts the window for a mark: `"grow-then-cut"`: it grows the
        /// window first, and AMP checks its windows before both (the authors' implementation);
        /// `"cut-instead-of-growth"`: it does not grow (RFC 3168, section 6.1.2).
        ack_order: AckOrder = AckOrder::CutInsteadOfGrowth, paper_2013 = AckOrder::GrowThenCut;
    }
    groups {
        /// Of the window after a mark.
        floor: Floor;
    }
}

/// The running estimate of the fraction of marked packets on one subflow (RFC 8257, section 3.3).
#[derive(Clone, Debug)]
pub(crate) struct MarkedFraction {
    pub(super) alpha: f64,
    acked: u32,
    marked: u32,
}

impl MarkedFraction {
    fn new(alpha0: f64) -> MarkedFraction {
        MarkedFraction { alpha: alpha0, acked: 0, marked: 0 }
    }

    /// Counts an ACK; a duplicate ACK reports on one packet.
    #[inline]
    fn count(&mut self, ack: Ack) {
        let packets = ack.acked.max(1);
        self.acked += packets;
        self.marked += packets * ack.marked as u32;
    }

    /// The round has ended: M = marked / acked, alpha = alpha (1 - g) + g M (RFC 8257, section 3.3, steps 5
    /// and 6).
    fn end_round(&mut self, g: f64) {
        let fraction = self.marked as f64 / self.acked as f64;
        self.alpha = self.alpha * (1.0 - g) + g * fraction;
        (self.acked, self.marked) = (0, 0);
    }
}

/// The cut of DCTCP and of each subflow of DCM: in proportion to alpha, once in a window.
///
/// Every ACK reads the fractions, which come first, and marks the order. Ends of rounds and cuts alone read the rest.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct DctcpCut {
    /// By subflow. That of a single subflow is in the algorithm itself: an ACK reads one cache line less.
    pub(crate) subflows: SmallVec<[MarkedFraction; 1]>,
    order: AckOrder,
    g: f64,
    floor: Floor,
}

impl DctcpCut {
    pub(super) fn new(config: &DctcpConfig, n: usize) -> DctcpCut {
        let DctcpConfig { alpha0, g, ack_order: order, floor } = config.clone();
        DctcpCut { subflows: smallvec![MarkedFraction::new(alpha0); n], order, g, floor }
    }

    #[inline]
    pub(super) fn in_ack_event(&mut self, state: &mut CongestionState, s: SubflowId, ack: Ack) -> bool {
        let fraction = &mut self.subflows[s];
        fraction.count(ack);
        // The gain is asked for only here: it is in another cache line.
        if ack.round_ended {
            fraction.end_round(self.g);
        }
        ack.marked && self.order == AckOrder::CutInsteadOfGrowth && self.respond_to_ecn(state, s)
    }

    #[inline]
    pub(super) fn cut_after_growth(&self, state: &mut CongestionState, s: SubflowId) -> bool {
        self.order == AckOrder::GrowThenCut && self.respond_to_ecn(state, s)
    }

    fn respond_to_ecn(&self, state: &mut CongestionState, s: SubflowId) -> bool {
        let cut = state.first_mark_of_window();
        if cut {
            // cwnd = cwnd (1 - alpha / 2) (RFC 8257, section 3.3, step 9; AMP paper, section 2.1)
            state.cut_to((state.cwnd * (1.0 - self.subflows[s].alpha / 2.0)).max(self.floor.cwnd_min));
        }
        cut
    }
}

/// DCTCP (RFC 8257): grows as standard TCP, cuts in proportion to the fraction of marked packets.
#[derive(Debug)]
pub struct Dctcp {
    cut: DctcpCut,
}

impl Dctcp {
    pub(super) fn new(config: &DctcpConfig, n: usize) -> Dctcp {
        Dctcp { cut: DctcpCut::new(config, n) }
    }
}

impl CongestionControl for Dctcp {
    #[inline]
    fn in_ack_event(&mut self, states: &mut [CongestionState], s: SubflowId, ack: Ack) -> bool {
        self.cut.in_ack_event(&mut states[s], s, ack)
    }

    #[inline]
    fn cut_after_growth(&mut self, states: &mut [CongestionState], s: SubflowId) -> bool {
        self.cut.cut_after_growth(&mut states[s], s)
    }

    #[inline]
    fn cong_avoid(&mut self, states: &mut [CongestionState], s: SubflowId, acked: f64) {
        reno_growth(&mut states[s], acked);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{S, ack, marked, state};
    use super::*;

    fn dctcp(alpha0: f64) -> Dctcp {
        Dctcp::new(
            &DctcpConfig {
                alpha0,
                g: 1.0 / 16.0,
                floor: Floor { cwnd_min: 2.0 },
                ack_order: AckOrder::CutInsteadOfGrowth,
            },
            1,
        )
    }

    #[test]
    fn alpha_is_the_average_of_the_marked_fraction() {
        let mut d = dctcp(0.0);
        let mut states = [state(10.0)];
        for _ in 0..4 {
            d.in_ack_event(&mut states, S[0], ack(1));
        }
        d.in_ack_event(&mut states, S[0], marked(1));
        // 2 of 6 marked when the round ends: alpha = 1/16 * 1/3
        d.in_ack_event(&mut states, S[0], Ack { round_ended: true, ..marked(1) });
        assert!((d.cut.subflows[0].alpha - 1.0 / 48.0).abs() < 1e-12);
        // A round without marks: alpha (1 - 1/16)
        d.in_ack_event(&mut states, S[0], Ack { round_ended: true, ..ack(1) });
        assert!((d.cut.subflows[0].alpha - 15.0 / 16.0 / 48.0).abs() < 1e-12);
    }

    #[test]
    fn cuts_once_a_window_by_half_of_alpha_and_not_below_the_floor() {
        let mut d = dctcp(0.5);
        let mut states = [state(20.0)];
        states[0].snd_nxt = 10_000;
        assert!(d.in_ack_event(&mut states, S[0], marked(1)));
        assert_eq!((states[0].cwnd, states[0].ssthresh), (15.0, 15.0)); // 20 (1 - 0.5/2)
        states[0].snd_una = 10_000; // the window's last byte but not beyond
        assert!(!d.in_ack_event(&mut states, S[0], marked(1)));
        states[0].snd_una = 10_001;
        assert!(d.in_ack_event(&mut states, S[0], marked(1)));
        assert_eq!(states[0].cwnd, 11.25);
        let mut states = [state(2.2)];
        assert!(d.in_ack_event(&mut states, S[0], marked(1)));
        assert_eq!(states[0].cwnd, 2.0);
    }

    #[test]
    fn an_ack_that_covers_two_packets_weighs_two() {
        let mut d = dctcp(0.0);
        let mut states = [state(10.0)];
        d.in_ack_event(&mut states, S[0], marked(2));
        d.in_ack_event(&mut states, S[0], Ack { round_ended: true, ..ack(6) });
        assert!((d.cut.subflows[0].alpha - 0.25 / 16.0).abs() < 1e-12);
    }

    /// A duplicate ACK reports on the packet that caused it: it is in both counts, and its mark in
    /// the second.
    #[test]
    fn a_duplicate_ack_counts_as_one_packet() {
        let mut d = dctcp(0.0);
        let mut states = [state(10.0)];
        d.in_ack_event(&mut states, S[0], marked(0));
        d.in_ack_event(&mut states, S[0], ack(0));
        d.in_ack_event(&mut states, S[0], Ack { round_ended: true, ..ack(2) });
        // 1 of 4 is marked.
        assert!((d.cut.subflows[0].alpha - 0.25 / 16.0).abs() < 1e-12);
    }

    /// The cut takes the alpha of the round that this ACK has ended: 1/16 after a round of one
    /// packet, marked.
    #[test]
    fn alpha_is_new_when_the_round_ends_with_a_cut() {
        for order in [AckOrder::CutInsteadOfGrowth, AckOrder::GrowThenCut] {
            let mut d = dctcp(0.0);
            d.cut.order = order;
            let mut states = [state(32.0)];
            let first = d.in_ack_event(&mut states, S[0], Ack { round_ended: true, ..marked(1) });
            assert_eq!(first, order == AckOrder::CutInsteadOfGrowth);
            assert_eq!(d.cut_after_growth(&mut states, S[0]), !first);
            assert_eq!((states[0].cwnd, states[0].ssthresh), (31.0, 31.0)); // 32 (1 - 1/32)
        }
    }
}
