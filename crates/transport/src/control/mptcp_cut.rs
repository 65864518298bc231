//! MPTCP with a constant cut on marks.

use super::lia::lia_growth;
use super::{Ack, AckOrder, CongestionControl, Floor};
use crate::congestion::CongestionState;
use crate::id::SubflowId;
use linkpool_settings::{Bounds, settings};

settings! {
    /// Parameters of a constant cut.
    pub struct CutConfig {
        /// A mark cuts the window by 1/beta.
        beta: f64 = 4.0, within Bounds::from(1.0, "a mark cuts the window by 1/beta, so beta is at least 1").below(f64::INFINITY);
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

impl CutConfig {
    #[inline]
    pub(super) fn in_ack_event(&self, state: &mut CongestionState, ack: Ack) -> bool {
        ack.marked && self.ack_order == AckOrder::CutInsteadOfGrowth && self.respond_to_ecn(state)
    }

    #[inline]
    pub(super) fn cut_after_growth(&self, state: &mut CongestionState) -> bool {
        self.ack_order == AckOrder::GrowThenCut && self.respond_to_ecn(state)
    }

    /// On the first marked ACK of a window, `w = max(w (1 - 1/beta), cwnd_min)` (AMP paper,
    /// Algorithm 1, line 29).
    fn respond_to_ecn(&self, state: &mut CongestionState) -> bool {
        let cut = state.first_mark_of_window();
        if cut {
            state.cut_to((state.cwnd * (1.0 - 1.0 / self.beta)).max(self.floor.cwnd_min));
        }
        cut
    }
}

/// MPTCP with LIA whose subflows cut their windows by a constant factor on marks: "MPTCP (beta =
/// 4)" of the AMP paper, section 4.1.
#[derive(Debug)]
pub struct MptcpCut {
    config: CutConfig,
}

impl MptcpCut {
    pub(super) fn new(config: &CutConfig, _n: usize) -> MptcpCut {
        MptcpCut { config: config.clone() }
    }
}

impl CongestionControl for MptcpCut {
    fn in_ack_event(&mut self, states: &mut [CongestionState], s: SubflowId, ack: Ack) -> bool {
        self.config.in_ack_event(&mut states[s], ack)
    }

    fn cut_after_growth(&mut self, states: &mut [CongestionState], s: SubflowId) -> bool {
        self.config.cut_after_growth(&mut states[s])
    }

    fn cong_avoid(&mut self, states: &mut [CongestionState], s: SubflowId, acked: f64) {
        lia_growth(states, s, acked);
    }
}
