//! Full coupling: one TCP whose window is the sum of all subflows.

use super::{Ack, CongestionControl, slow_start, total_window};
use crate::congestion::CongestionState;
use crate::id::SubflowId;
use linkpool_settings::{Bounds, settings};

settings! {
    /// Parameters of full coupling.
    pub struct FullyCoupledConfig {
        /// Floor of the window after a loss, packets: 1 in Wischik et al., NSDI 2011, section 2.2;
        /// 2 in the implementation of MMPTCP's authors, as in RFC 5681.
        loss_floor: f64 as u32 = 2.0, within Bounds::POSITIVE;
    }
}

/// Full coupling (Kelly and Voice 2005; COUPLED of Wischik et al., NSDI 2011, section 2.2), without
/// ECN: the subflows behave as one TCP whose window is the sum of theirs, and traffic moves off the
/// more congested ones altogether.
#[derive(Debug)]
pub struct FullyCoupled {
    config: FullyCoupledConfig,
}

impl FullyCoupled {
    pub(super) fn new(config: &FullyCoupledConfig, _n: usize) -> FullyCoupled {
        FullyCoupled { config: config.clone() }
    }
}

impl CongestionControl for FullyCoupled {
    fn needs_ecn(&self) -> bool {
        false
    }

    fn in_ack_event(&mut self, _states: &mut [CongestionState], _s: SubflowId, _ack: Ack) -> bool {
        false
    }

    /// `1 / w_total` for each packet acknowledged.
    fn cong_avoid(&mut self, states: &mut [CongestionState], s: SubflowId, acked: f64) {
        if !slow_start(&mut states[s], acked) {
            states[s].cwnd += acked / total_window(states);
        }
    }

    /// `w_s - w_total / 2`; w of subflow s is its data in flight, as in RFC 5681, equation 4.
    fn ssthresh(&mut self, states: &[CongestionState], s: SubflowId, flight: u32) -> f64 {
        let flight = flight as f64;
        let others = SubflowId::first(states.len()).zip(states).filter(|(r, p)| *r != s && p.established);
        let others: f64 = others.map(|(_, p)| p.coupled_window()).sum();
        (flight - (flight + others) / 2.0).max(self.config.loss_floor)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{S, state};
    use super::*;

    fn algorithm(loss_floor: f64) -> FullyCoupled {
        FullyCoupled { config: FullyCoupledConfig { loss_floor } }
    }

    #[test]
    fn one_subflow_is_reno() {
        let mut states = [state(8.0)];
        algorithm(2.0).cong_avoid(&mut states, S[0], 1.0);
        assert_eq!(states[0].cwnd, 8.125);
        assert_eq!(algorithm(2.0).ssthresh(&states, S[0], 8), 4.0);
        assert_eq!(algorithm(2.0).ssthresh(&states, S[0], 3), 2.0);
    }

    #[test]
    fn all_subflows_grow_by_one_packet_a_round_between_them() {
        let mut states = [state(6.0), state(10.0)];
        algorithm(2.0).cong_avoid(&mut states, S[1], 1.0);
        assert_eq!(states[1].cwnd, 10.0625);
    }

    #[test]
    fn a_loss_takes_half_of_the_sum_off_one_window() {
        // 12 - 16/2 = 4; 4 - 16/2 < 0.
        let states = [state(12.0), state(4.0)];
        assert_eq!(algorithm(1.0).ssthresh(&states, S[0], 12), 4.0);
        assert_eq!(algorithm(1.0).ssthresh(&states, S[1], 4), 1.0);
        assert_eq!(algorithm(2.0).ssthresh(&states, S[1], 4), 2.0);
    }
}
