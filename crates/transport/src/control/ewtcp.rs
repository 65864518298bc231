//! EWTCP: on each subflow a TCP with less weight.

use super::{Ack, CongestionControl, slow_start};
use crate::congestion::CongestionState;
use crate::id::SubflowId;
use linkpool_settings::settings;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The constant `a` of EWTCP's increase `a / w_s`; its window in equilibrium is sqrt(a) of a TCP's
/// at the same loss.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub enum EwtcpIncrease {
    /// `a = 1/n^2`: every subflow takes 1/n of a TCP's share, and n over one bottleneck take that
    /// of one TCP. This is the "half TCP" on each of two paths that published throughputs of EWTCP
    /// assume.
    #[serde(rename = "1/n^2")]
    InverseSquare,
    /// `a = 1/sqrt(n)`, as the formula is printed in Wischik et al., NSDI 2011, section 2.1.
    #[serde(rename = "1/sqrt(n)")]
    InverseRoot,
}

settings! {
    /// Parameters of EWTCP.
    pub struct EwtcpConfig {
        /// The constant a of the increase a/w on each of n subflows: `"1/n^2"` (a window 1/n of
        /// TCP's at the same loss: n subflows at one bottleneck take the share of one TCP), or
        /// `"1/sqrt(n)"` (as printed in Wischik et al., NSDI 2011, whose throughputs are those of
        /// `"1/n^2"`).
        increase "ewtcp_increase": EwtcpIncrease = EwtcpIncrease::InverseSquare;
    }
}

/// EWTCP (Honda et al., PFLDNeT 2009; Wischik et al., NSDI 2011, section 2.1), without ECN: on
/// every subflow a TCP of its own, of less weight.
#[derive(Debug)]
pub struct Ewtcp {
    increase: EwtcpIncrease,
}

impl Ewtcp {
    pub(super) fn new(config: &EwtcpConfig, _n: usize) -> Ewtcp {
        Ewtcp { increase: config.increase }
    }

    /// `a`, over the subflows that are established.
    fn weight(&self, states: &[CongestionState]) -> f64 {
        let n = states.iter().filter(|p| p.established).count().max(1) as f64;
        match self.increase {
            EwtcpIncrease::InverseSquare => 1.0 / (n * n),
            EwtcpIncrease::InverseRoot => 1.0 / n.sqrt(),
        }
    }
}

impl CongestionControl for Ewtcp {
    fn needs_ecn(&self) -> bool {
        false
    }

    fn in_ack_event(&mut self, _states: &mut [CongestionState], _s: SubflowId, _ack: Ack) -> bool {
        false
    }

    /// `a / w_s` for each packet acknowledged.
    fn cong_avoid(&mut self, states: &mut [CongestionState], s: SubflowId, acked: f64) {
        if !slow_start(&mut states[s], acked) {
            states[s].cwnd += acked * self.weight(states) / states[s].cwnd;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{S, state};
    use super::*;

    fn grown(increase: EwtcpIncrease, windows: &[f64]) -> f64 {
        let mut states: Vec<CongestionState> = windows.iter().map(|w| state(*w)).collect();
        Ewtcp { increase }.cong_avoid(&mut states, S[0], 1.0);
        states[0].cwnd
    }

    #[test]
    fn one_subflow_is_reno() {
        assert_eq!(grown(EwtcpIncrease::InverseSquare, &[8.0]), 8.125);
        assert_eq!(grown(EwtcpIncrease::InverseRoot, &[8.0]), 8.125);
    }

    #[test]
    fn the_weight_depends_on_the_number_of_subflows_only() {
        assert_eq!(grown(EwtcpIncrease::InverseSquare, &[8.0, 3.0]), 8.0 + 0.25 / 8.0);
        assert_eq!(grown(EwtcpIncrease::InverseRoot, &[8.0, 1.0, 2.0, 3.0]), 8.0 + 0.5 / 8.0);
    }

    #[test]
    fn a_subflow_that_is_not_there_does_not_count() {
        let mut states = [state(8.0), state(8.0)];
        states[1].established = false;
        Ewtcp { increase: EwtcpIncrease::InverseSquare }.cong_avoid(&mut states, S[0], 1.0);
        assert_eq!(states[0].cwnd, 8.125);
    }

    /// Sawteeth by rounds, with a loss after 1/p packets: the mean window is sqrt(a) times TCP's.
    #[test]
    fn half_of_tcp_with_two_subflows() {
        let mean = |subflows: usize| {
            let mut e = Ewtcp { increase: EwtcpIncrease::InverseSquare };
            let mut states = vec![state(30.0); subflows];
            let (mut since_loss, mut sum, mut acks) = (0, 0.0, 0);
            for _ in 0..2_000_000 {
                e.cong_avoid(&mut states, S[0], 1.0);
                since_loss += 1;
                if since_loss == 2_000 {
                    since_loss = 0;
                    states[0].cwnd /= 2.0;
                }
                // A round lasts w ACKs: by time, an ACK weighs 1/w.
                sum += 1.0 / states[0].cwnd;
                acks += 1;
            }
            acks as f64 / sum
        };
        let (one, two) = (mean(1), mean(2));
        assert!((one - (1.5f64 * 2_000.0).sqrt()).abs() < 1.0, "{one}"); // sqrt(3 / 2p)
        assert!((two / one - 0.5).abs() < 0.01, "{}", two / one);
    }
}
