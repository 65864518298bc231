//! BALIA, the balanced linked adaptation algorithm.

use super::{Ack, CongestionControl, share_of_rate, slow_start};
use crate::congestion::CongestionState;
use crate::id::SubflowId;

/// BALIA (draft-walid-mptcp-congestion-control-04), the balanced linked adaptation, without ECN:
/// between LIA's friendliness and OLIA's responsiveness.
#[derive(Debug)]
pub struct Balia;

impl Balia {
    pub(super) fn new(_: &(), _n: usize) -> Balia {
        Balia
    }
}

/// alpha_s = max_r(x_r) / x_s, with the rates x_r = w_r / rtt_r; 1 before the first RTT sample,
/// since the rate is not known.
fn alpha(states: &[CongestionState], s: SubflowId) -> f64 {
    if !states[s].is_coupled() {
        return 1.0;
    }
    let max = states.iter().filter(|p| p.is_coupled()).map(CongestionState::rate).fold(0.0, f64::max);
    max / states[s].rate()
}

impl CongestionControl for Balia {
    fn needs_ecn(&self) -> bool {
        false
    }

    fn in_ack_event(&mut self, _states: &mut [CongestionState], _s: SubflowId, _ack: Ack) -> bool {
        false
    }

    /// For each packet acknowledged, `(x_s / rtt_s) / (sum_r x_r)^2 (1 + alpha_s) / 2 (4 + alpha_s)
    /// / 5`.
    fn cong_avoid(&mut self, states: &mut [CongestionState], s: SubflowId, acked: f64) {
        if slow_start(&mut states[s], acked) {
            return;
        }
        let (share, alpha) = (share_of_rate(states, s), alpha(states, s));
        let linked = share * share * ((1.0 + alpha) / 2.0) * ((4.0 + alpha) / 5.0);
        states[s].cwnd += acked * linked / states[s].cwnd;
    }

    /// On a loss the window goes down by `w_s / 2 min(alpha_s, 1.5)`; w_s is the data in flight, as
    /// in RFC 5681, equation 4.
    fn ssthresh(&mut self, states: &[CongestionState], s: SubflowId, flight: u32) -> f64 {
        (flight as f64 * (1.0 - alpha(states, s).min(1.5) / 2.0)).max(2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{S, state};
    use super::*;

    #[test]
    fn one_subflow_is_reno() {
        let mut states = [state(8.0)];
        Balia.cong_avoid(&mut states, S[0], 1.0);
        assert_eq!(states[0].cwnd, 8.125);
        assert_eq!(Balia.ssthresh(&states, S[0], 8), 4.0);
        assert_eq!(Balia.ssthresh(&states, S[0], 3), 2.0);
    }

    #[test]
    fn worked_example() {
        // w = 5, 20 at 100 us. Subflow 0: alpha = 4: 5/625 5/2 8/5 = 0.032; subflow 1: alpha = 1:
        // 20/625 = 0.032.
        let mut states = [state(5.0), state(20.0)];
        Balia.cong_avoid(&mut states, S[0], 1.0);
        assert!((states[0].cwnd - 5.032).abs() < 1e-12);
        states[0].cwnd = 5.0;
        Balia.cong_avoid(&mut states, S[1], 1.0);
        assert!((states[1].cwnd - 20.032).abs() < 1e-12);
    }

    #[test]
    fn rates_count_not_windows() {
        // 20 at 400 us is the rate of 5 at 100 us: alpha = 1 on both. Sum 0.1/us: 5/100/100 / 0.01
        // = 0.05, a quarter of Reno's 1/5; on the other 0.05/400 / 0.01 = 0.0125.
        let mut states = [state(5.0), state(20.0)];
        states[1].srtt = 400e6;
        Balia.cong_avoid(&mut states, S[0], 1.0);
        assert!((states[0].cwnd - 5.05).abs() < 1e-12);
        states[0].cwnd = 5.0;
        Balia.cong_avoid(&mut states, S[1], 1.0);
        assert!((states[1].cwnd - 20.0125).abs() < 1e-12);
    }

    #[test]
    fn a_slow_path_is_cut_by_up_to_three_quarters() {
        // alpha = 1, 1.25, 4.
        for (w, flight, after) in [(20.0, 20, 10.0), (16.0, 16, 6.0), (5.0, 40, 10.0)] {
            assert_eq!(Balia.ssthresh(&[state(w), state(20.0)], S[0], flight), after);
        }
    }
}
