//! OLIA, the opportunistic linked increases algorithm.

use super::{Ack, CongestionControl, share_of_rate, slow_start};
use crate::congestion::CongestionState;
use crate::id::SubflowId;

/// OLIA (draft-khalili-mptcp-congestion-control-05; Khalili et al., CoNEXT 2012), without ECN. The
/// first term of the increase balances congestion; the second moves windows from the largest to the
/// best paths.
#[derive(Debug)]
pub struct Olia {
    pub(crate) subflows: Box<[LossDistance]>,
}

/// Packets of a subflow acknowledged without a loss.
#[derive(Clone, Debug, Default)]
pub(crate) struct LossDistance {
    /// Between its last two losses (l_1r).
    between: u64,
    /// Since its last loss (l_2r).
    since: u64,
}

impl LossDistance {
    /// l_r: 1/l_r estimates the loss probability.
    fn distance(&self) -> f64 {
        self.between.max(self.since) as f64
    }
}

impl Olia {
    pub(super) fn new(_: &(), n: usize) -> Olia {
        Olia { subflows: vec![LossDistance::default(); n].into() }
    }

    /// The square of TCP's rate on this path, up to a factor: l_r / rtt_r^2. The text of the draft
    /// has l_r^2 / rtt_r; this is the formula of the paper and of its authors' Linux module.
    fn quality(&self, state: &CongestionState, r: SubflowId) -> f64 {
        self.subflows[r].distance() / (state.srtt * state.srtt)
    }

    /// alpha_s: positive on the best paths that do not have the largest windows ("collected"),
    /// negative on the paths with the largest windows if there is a collected one, otherwise 0.
    fn alpha(&self, states: &[CongestionState], s: SubflowId) -> f64 {
        let usable = || SubflowId::first(states.len()).zip(states).filter(|(_, p)| p.is_coupled());
        let max_w = usable().map(|(_, p)| p.coupled_window()).fold(0.0, f64::max);
        let best = usable().map(|(r, p)| self.quality(p, r)).fold(0.0, f64::max);
        let has_max_w = |p: &CongestionState| p.coupled_window() == max_w;
        let is_collected = |r: SubflowId, p: &CongestionState| self.quality(p, r) == best && !has_max_w(p);
        let all = usable().count() as f64;
        let collected = usable().filter(|(r, p)| is_collected(*r, p)).count() as f64;
        if collected == 0.0 || !states[s].is_coupled() {
            0.0
        } else if is_collected(s, &states[s]) {
            1.0 / all / collected
        } else if has_max_w(&states[s]) {
            -1.0 / all / usable().filter(|(_, p)| has_max_w(p)).count() as f64
        } else {
            0.0
        }
    }
}

impl CongestionControl for Olia {
    fn needs_ecn(&self) -> bool {
        false
    }

    fn in_ack_event(&mut self, _states: &mut [CongestionState], s: SubflowId, ack: Ack) -> bool {
        self.subflows[s].since += ack.acked as u64;
        false
    }

    /// For each packet acknowledged, `(w_s / rtt_s^2) / (sum_r w_r / rtt_r)^2 + alpha_s / w_s`.
    fn cong_avoid(&mut self, states: &mut [CongestionState], s: SubflowId, acked: f64) {
        if slow_start(&mut states[s], acked) {
            return;
        }
        let share = share_of_rate(states, s);
        let cwnd = states[s].cwnd;
        states[s].cwnd = (cwnd + acked * (share * share + self.alpha(states, s)) / cwnd).max(1.0);
    }

    /// Half, as TCP; a new distance between losses begins. Losses with nothing acknowledged between
    /// them are one.
    fn ssthresh(&mut self, _states: &[CongestionState], s: SubflowId, flight: u32) -> f64 {
        let distance = &mut self.subflows[s];
        if distance.since > 0 {
            *distance = LossDistance { between: distance.since, since: 0 };
        }
        (flight as f64 / 2.0).max(2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{S, ack, state};
    use super::*;

    /// Subflow r has had `acked[r]` packets acknowledged since its last loss.
    fn olia(acked: &[u32]) -> Olia {
        let mut olia = Olia::new(&(), acked.len());
        let mut states = vec![state(10.0); acked.len()];
        for (r, acked) in acked.iter().enumerate() {
            olia.in_ack_event(&mut states, S[r], ack(*acked));
        }
        olia
    }

    #[test]
    fn one_subflow_is_reno() {
        let mut states = [state(8.0)];
        olia(&[50]).cong_avoid(&mut states, S[0], 1.0);
        assert_eq!(states[0].cwnd, 8.125);
    }

    #[test]
    fn the_best_path_with_a_small_window_gains_what_the_largest_window_loses() {
        // w = 4 (best) and 16, equal RTT: linked: 4/400, 16/400. alpha: +1/2, -1/2: 1/8 and -1/32.
        let mut states = [state(4.0), state(16.0)];
        let mut o = olia(&[200, 100]);
        o.cong_avoid(&mut states, S[0], 1.0);
        assert!((states[0].cwnd - (4.0 + 0.01 + 0.125)).abs() < 1e-12);
        states[0].cwnd = 4.0;
        o.cong_avoid(&mut states, S[1], 1.0);
        assert!((states[1].cwnd - (16.0 + 0.04 - 0.03125)).abs() < 1e-12);
    }

    #[test]
    fn nothing_moves_if_the_best_path_has_the_largest_window() {
        let mut o = olia(&[100, 200]);
        let states = [state(4.0), state(16.0)];
        assert_eq!((o.alpha(&states, S[0]), o.alpha(&states, S[1])), (0.0, 0.0));
        // w = 4 of 20 in all: 4/400.
        let mut states = states;
        o.cong_avoid(&mut states, S[0], 1.0);
        assert!((states[0].cwnd - 4.01).abs() < 1e-12);
    }

    #[test]
    fn alpha_is_shared_among_the_collected_and_among_the_largest() {
        // 0 and 1 are best (l = 200), 2 and 3 have the largest windows, 4 is neither.
        let o = olia(&[200, 200, 100, 100, 100]);
        let states = [state(4.0), state(5.0), state(16.0), state(16.0), state(9.0)];
        let alphas: Vec<f64> = (0..5).map(|s| o.alpha(&states, S[s])).collect();
        assert_eq!(alphas, [0.1, 0.1, -0.1, -0.1, 0.0]);
        assert!(alphas.iter().sum::<f64>().abs() < 1e-12);
    }

    #[test]
    fn a_path_with_half_the_rtt_needs_a_quarter_of_the_loss_distance_to_be_best() {
        let o = olia(&[51, 200]);
        let mut states = [state(4.0), state(16.0)];
        states[0].srtt = 50e6;
        assert_eq!(o.alpha(&states, S[0]), 0.5);
        let o = olia(&[49, 200]);
        assert_eq!(o.alpha(&states, S[0]), 0.0);
    }

    #[test]
    fn a_loss_keeps_the_longer_of_two_distances() {
        let mut o = olia(&[200]);
        let states = [state(9.0)];
        assert_eq!(o.ssthresh(&states, S[0], 9), 4.5);
        assert_eq!(o.subflows[0].distance(), 200.0);
        o.in_ack_event(&mut [state(4.5)], S[0], ack(30));
        assert_eq!(o.subflows[0].distance(), 200.0);
        o.ssthresh(&states, S[0], 3);
        assert_eq!(o.subflows[0].distance(), 30.0);
        assert_eq!(o.ssthresh(&states, S[0], 3), 2.0); // at once again: the same loss
        assert_eq!(o.subflows[0].distance(), 30.0);
    }

    /// A subflow without a connection, or without an RTT, is in no sum, neither best nor largest,
    /// and not one of the n.
    #[test]
    fn only_subflows_with_an_rtt_are_linked() {
        for spoil in [|p: &mut CongestionState| p.established = false, |p: &mut CongestionState| p.srtt = 0.0] {
            let mut states = [state(4.0), state(16.0), state(40.0)];
            spoil(&mut states[2]);
            let mut o = olia(&[200, 100, 900]);
            // As in `the_best_path_with_a_small_window_gains_what_the_largest_window_loses`.
            assert_eq!([0, 1, 2].map(|s| o.alpha(&states, S[s])), [0.5, -0.5, 0.0]);
            o.cong_avoid(&mut states, S[0], 1.0);
            assert!((states[0].cwnd - (4.0 + 0.01 + 0.125)).abs() < 1e-12);
        }
    }

    /// Before its first RTT sample a subflow grows as a TCP.
    #[test]
    fn without_an_rtt_it_is_reno() {
        let mut states = [state(8.0), state(16.0)];
        states[0].srtt = 0.0;
        olia(&[200, 100]).cong_avoid(&mut states, S[0], 1.0);
        assert_eq!(states[0].cwnd, 8.125);
    }

    /// In recovery the window is inflated: the slow start threshold stands for it.
    #[test]
    fn a_subflow_in_recovery_counts_as_its_ssthresh() {
        let mut states = [state(4.0), state(40.0)];
        (states[1].in_recovery, states[1].ssthresh) = (true, 16.0);
        olia(&[100, 200]).cong_avoid(&mut states, S[0], 1.0);
        assert!((states[0].cwnd - 4.01).abs() < 1e-12); // 4/400: the best has the largest window
    }
}
