//! Semi-coupled: a coupled increase with TCP's halving.

use super::{Ack, CongestionControl, slow_start, total_window};
use crate::congestion::CongestionState;
use crate::id::SubflowId;
use linkpool_settings::{Bounds, settings};

settings! {
    /// Parameters of semi-coupling.
    pub struct SemiCoupledConfig {
        /// The constant a of the increase a/w_total; 1: one packet a round over all subflows. With
        /// a = 1/n, n subflows over one bottleneck take the share of one TCP.
        aggressiveness: f64 = 1.0, within Bounds::POSITIVE;
    }
}

/// SEMICOUPLED (Wischik et al., NSDI 2011, section 2.4), without ECN: coupled increases, a TCP's
/// decrease, so that traffic moves off the more congested paths but not all of it.
#[derive(Debug)]
pub struct SemiCoupled {
    config: SemiCoupledConfig,
}

impl SemiCoupled {
    pub(super) fn new(config: &SemiCoupledConfig, _n: usize) -> SemiCoupled {
        SemiCoupled { config: config.clone() }
    }
}

impl CongestionControl for SemiCoupled {
    fn needs_ecn(&self) -> bool {
        false
    }

    fn in_ack_event(&mut self, _states: &mut [CongestionState], _s: SubflowId, _ack: Ack) -> bool {
        false
    }

    /// `a / w_total` for each packet acknowledged. The loss halves w_s.
    fn cong_avoid(&mut self, states: &mut [CongestionState], s: SubflowId, acked: f64) {
        if !slow_start(&mut states[s], acked) {
            states[s].cwnd += acked * self.config.aggressiveness / total_window(states);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{S, state};
    use super::*;

    fn algorithm(aggressiveness: f64) -> SemiCoupled {
        SemiCoupled { config: SemiCoupledConfig { aggressiveness } }
    }

    #[test]
    fn one_subflow_is_reno() {
        let mut states = [state(8.0)];
        algorithm(1.0).cong_avoid(&mut states, S[0], 1.0);
        assert_eq!(states[0].cwnd, 8.125);
        assert_eq!(algorithm(1.0).ssthresh(&states, S[0], 9), 4.5);
    }

    #[test]
    fn grows_by_the_sum_cuts_by_itself() {
        let mut states = [state(6.0), state(10.0)];
        algorithm(1.0).cong_avoid(&mut states, S[0], 1.0);
        assert_eq!(states[0].cwnd, 6.0625);
        states[0].cwnd = 6.0;
        algorithm(0.5).cong_avoid(&mut states, S[0], 1.0);
        assert_eq!(states[0].cwnd, 6.03125);
        assert_eq!(algorithm(1.0).ssthresh(&states, S[1], 10), 5.0);
    }

    #[test]
    fn a_subflow_in_recovery_counts_as_its_ssthresh() {
        let mut states = [state(6.0), state(23.0)];
        (states[1].in_recovery, states[1].ssthresh) = (true, 10.0);
        algorithm(1.0).cong_avoid(&mut states, S[0], 1.0);
        assert_eq!(states[0].cwnd, 6.0625);
    }
}
