//! LIA, the linked increases algorithm (RFC 6356).

use super::reno::reno_growth;
use super::{Ack, CongestionControl, slow_start};
use crate::congestion::CongestionState;
use crate::id::SubflowId;

/// MPTCP's Linked Increases Algorithm (RFC 6356), without ECN.
#[derive(Debug)]
pub struct Lia;

impl Lia {
    pub(super) fn new(_: &(), _n: usize) -> Lia {
        Lia
    }
}

/// For each packet acknowledged on subflow s, `min(a / w_total, 1 / w_s)` (RFC 6356, section 3)
/// with `a = w_total max_r(w_r / rtt_r^2) / (sum_r w_r / rtt_r)^2` (RFC 6356, equation 2; AMP
/// paper, equation 1).
#[inline]
pub(super) fn lia_growth(states: &mut [CongestionState], s: SubflowId, acked: f64) {
    if let [state] = states {
        // The same in reals; here to the last digit.
        return reno_growth(state, acked);
    }
    if slow_start(&mut states[s], acked) {
        return;
    }
    let (mut best, mut sum) = (0.0, 0.0);
    for p in states.iter() {
        if p.is_coupled() {
            let rate = p.rate();
            let squared = rate / p.srtt;
            // Not `f64::max`, which looks for NaN.
            best = if best > squared { best } else { squared };
            sum += rate;
        }
    }
    // a / w_total; w_total cancels out.
    let linked = best / (sum * sum);
    let alone = 1.0 / states[s].cwnd;
    // Before the first RTT sample there is nothing to link.
    let per_packet = if sum > 0.0 { linked.min(alone) } else { alone };
    states[s].cwnd += acked * per_packet;
}

impl CongestionControl for Lia {
    fn needs_ecn(&self) -> bool {
        false
    }

    #[inline]
    fn in_ack_event(&mut self, _states: &mut [CongestionState], _s: SubflowId, _ack: Ack) -> bool {
        false
    }

    #[inline]
    fn cong_avoid(&mut self, states: &mut [CongestionState], s: SubflowId, acked: f64) {
        lia_growth(states, s, acked);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{S, state};
    use super::*;

    #[test]
    fn two_like_subflows_share_one_packet_a_round() {
        // w = 10, 10; equal RTT: a = 20 (10/r^2) / (20/r)^2 = 1/2, so 1/40 per ACK: 20 ACKs a round
        // give 1/2.
        let mut states = [state(10.0), state(10.0)];
        lia_growth(&mut states, S[0], 1.0);
        assert!((states[0].cwnd - (10.0 + 1.0 / 40.0)).abs() < 1e-12);
    }

    #[test]
    fn worked_example_with_unequal_rtts() {
        // w = 4 at 100 us, 16 at 400 us: max(4e8, 1e8) = 4e8 s^-2, sum = 80,000 s^-1: a/w_total =
        // 1/16.
        let mut states = [state(4.0), state(16.0)];
        states[1].srtt = 400e6;
        lia_growth(&mut states, S[0], 1.0);
        assert!((states[0].cwnd - (4.0 + 1.0 / 16.0)).abs() < 1e-9);
    }

    #[test]
    fn is_capped_by_what_tcp_would_do() {
        // w = 40 at 100 us, 2 at 10 us: max = 2/1e-10 = 2e10, sum = 6e5: linked = 1/18 > 1/40.
        let mut states = [state(40.0), state(2.0)];
        states[1].srtt = 10e6;
        lia_growth(&mut states, S[0], 1.0);
        assert!((states[0].cwnd - (40.0 + 1.0 / 40.0)).abs() < 1e-12);
    }

    #[test]
    fn one_subflow_is_reno() {
        let mut states = [state(8.0)];
        lia_growth(&mut states, S[0], 1.0);
        assert!((states[0].cwnd - 8.125).abs() < 1e-12);
    }

    #[test]
    fn a_subflow_in_recovery_counts_as_its_ssthresh() {
        let mut states = [state(10.0), state(23.0)];
        states[1].in_recovery = true;
        states[1].ssthresh = 10.0;
        lia_growth(&mut states, S[0], 1.0);
        assert!((states[0].cwnd - (10.0 + 1.0 / 40.0)).abs() < 1e-12);
    }

    /// A subflow without a connection, or without an RTT, is in neither the sum nor the maximum of
    /// equation (2).
    #[test]
    fn only_subflows_with_an_rtt_are_linked() {
        for spoil in [|p: &mut CongestionState| p.established = false, |p: &mut CongestionState| p.srtt = 0.0] {
            let mut states = [state(10.0), state(30.0), state(10.0)];
            spoil(&mut states[1]);
            lia_growth(&mut states, S[0], 1.0); // as in `two_like_subflows_share_one_packet_a_round`
            assert!((states[0].cwnd - (10.0 + 1.0 / 40.0)).abs() < 1e-12);
        }
    }

    /// Before the first RTT sample a subflow grows as a TCP: there is nothing to link.
    #[test]
    fn without_any_rtt_it_is_reno() {
        let mut states = [state(8.0), state(8.0)];
        states.iter_mut().for_each(|p| p.srtt = 0.0);
        lia_growth(&mut states, S[0], 1.0);
        assert_eq!(states[0].cwnd, 8.125);
    }
}
