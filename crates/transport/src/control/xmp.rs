//! XMP: BOS and TraSh.

use super::mptcp_cut::CutConfig;
use super::{Ack, CongestionControl};
use crate::congestion::CongestionState;
use crate::id::SubflowId;
use linkpool_settings::{Written, settings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

settings! {
    /// Parameters of XMP.
    pub struct XmpConfig {
        /// Slow-start threshold after a cut to the window w: `"w"`, or `"w-1"` (the XMP paper's
        /// pseudocode).
        ssthresh_below "ssthresh_after_cut": bool as SsthreshAfterCut = false;
    }
    groups {
        /// A mark cuts the window by this, at least one packet.
        cut: CutConfig;
    }
}

/// Slow-start threshold after a cut to the window w.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum SsthreshAfterCut {
    /// w; slow start is below it.
    #[serde(rename = "w")]
    W,
    /// w - 1; slow start is up to it. Either way slow start is left.
    #[serde(rename = "w-1")]
    WMinus1,
}

/// Is the threshold below the window?
impl Written<bool> for SsthreshAfterCut {
    fn of(below: &bool) -> SsthreshAfterCut {
        if *below { SsthreshAfterCut::WMinus1 } else { SsthreshAfterCut::W }
    }
    fn value(self) -> bool {
        self == SsthreshAfterCut::WMinus1
    }
}

/// XMP (Cao, Xu, Fu, Dong, CoNEXT 2013, Algorithm 1): BOS on each subflow, its increase coupled by
/// TraSh.
///
/// A subflow is REDUCED, in the paper's words, from a cut until the data sent before it is
/// acknowledged: while `snd_una <= cut_until`. Windows are whole packets.
#[derive(Debug)]
pub struct Xmp {
    config: XmpConfig,
    pub(crate) subflows: Box<[TraSh]>,
}

#[derive(Clone, Debug)]
pub(crate) struct TraSh {
    /// Rate of the last finished round, packets per ps.
    rate: f64,
    /// Increase per round.
    delta: f64,
    /// The fraction of a packet by which increases have not grown the window yet.
    adder: f64,
}

impl Xmp {
    pub(super) fn new(config: &XmpConfig, n: usize) -> Xmp {
        Xmp { config: config.clone(), subflows: vec![TraSh { rate: 0.0, delta: 1.0, adder: 0.0 }; n].into() }
    }

    fn in_slow_start(&self, state: &CongestionState) -> bool {
        if self.config.ssthresh_below { state.cwnd <= state.ssthresh } else { state.cwnd < state.ssthresh }
    }

    /// "At receiving ECE or CWR on subflow r".
    fn bos_cut(&self, state: &mut CongestionState) -> bool {
        if !state.first_mark_of_window() {
            return false;
        }
        let cut = !self.in_slow_start(state);
        if cut {
            let part = (state.cwnd / self.config.cut.beta).floor();
            state.cwnd = (state.cwnd - part.max(1.0)).max(self.config.cut.floor.cwnd_min);
        }
        state.ssthresh = state.cwnd - self.config.ssthresh_below as u32 as f64;
        cut
    }

    /// "Per-round operations": delta by equation (9), then the increase of BOS.
    fn end_round(&mut self, states: &mut [CongestionState], s: SubflowId) {
        if states[s].srtt == 0.0 {
            return;
        }
        self.subflows[s].rate = states[s].cwnd / states[s].srtt;
        let established = || states.iter().zip(&self.subflows).filter(|(p, _)| p.established && p.srtt > 0.0);
        let total_rate: f64 = established().map(|(_, t)| t.rate).sum();
        let min_rtt = established().map(|(p, _)| p.srtt).fold(f64::INFINITY, f64::min);
        let slow = self.in_slow_start(&states[s]);
        let trash = &mut self.subflows[s];
        // delta = w / (total_rate min_rtt)
        trash.delta = states[s].cwnd / (total_rate * min_rtt);
        let normal = states[s].snd_una > states[s].cut_until;
        if normal && !slow && !states[s].in_recovery {
            trash.adder += trash.delta;
            states[s].cwnd += trash.adder.floor();
            trash.adder -= trash.adder.floor();
        }
    }
}

impl CongestionControl for Xmp {
    fn in_ack_event(&mut self, states: &mut [CongestionState], s: SubflowId, ack: Ack) -> bool {
        // The cut comes before anything else that this ACK does.
        let cut = ack.marked && self.bos_cut(&mut states[s]);
        if ack.round_ended {
            self.end_round(states, s);
        }
        cut
    }

    /// "Per-ACK operations": slow start, in state NORMAL only.
    fn cong_avoid(&mut self, states: &mut [CongestionState], s: SubflowId, acked: f64) {
        let state = &mut states[s];
        if state.snd_una > state.cut_until && self.in_slow_start(state) {
            state.cwnd += acked;
        }
    }

    /// Whole packets.
    fn ssthresh(&mut self, _states: &[CongestionState], _s: SubflowId, flight: u32) -> f64 {
        (flight / 2).max(2) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{CUT, S, ack, marked, state};
    use super::*;

    fn xmp(n: usize) -> Xmp {
        Xmp::new(&XmpConfig { cut: CUT, ssthresh_below: false }, n)
    }

    fn round() -> Ack {
        Ack { round_ended: true, ..ack(1) }
    }

    #[test]
    fn cuts_a_quarter_rounded_down_but_at_least_one_packet() {
        for (before, after) in [(20.0, 15.0), (11.0, 9.0), (7.0, 6.0), (3.0, 2.0), (2.0, 2.0)] {
            let mut states = [state(before)];
            assert!(xmp(1).in_ack_event(&mut states, S[0], marked(1)));
            assert_eq!(states[0].cwnd, after);
        }
    }

    #[test]
    fn a_mark_in_slow_start_ends_it_without_a_cut() {
        let mut x = xmp(1);
        let mut states = [state(12.0)];
        states[0].ssthresh = 46.8;
        states[0].snd_nxt = 1000;
        assert!(!x.in_ack_event(&mut states, S[0], marked(1)));
        assert_eq!((states[0].cwnd, states[0].ssthresh), (12.0, 12.0));
        x.cong_avoid(&mut states, S[0], 1.0);
        assert_eq!(states[0].cwnd, 12.0);
    }

    #[test]
    fn alone_it_grows_a_packet_a_round() {
        let mut x = xmp(1);
        let mut states = [state(10.0)];
        for expected in [11.0, 12.0, 13.0] {
            x.in_ack_event(&mut states, S[0], round());
            assert_eq!(states[0].cwnd, expected);
        }
    }

    #[test]
    fn equation_9_for_two_subflows() {
        // w = 10 at 100 us, 5 at 200 us: rates 0.1 and 0.025 per us; min rtt 100 us.
        let mut x = xmp(2);
        let mut states = [state(10.0), state(5.0)];
        states[1].srtt = 200e6;
        x.in_ack_event(&mut states, S[1], round()); // its own rate only so far: 5 / (0.025 * 100) = 2
        assert!((x.subflows[1].delta - 2.0).abs() < 1e-9);
        assert_eq!(states[1].cwnd, 7.0);
        states[1].cwnd = 5.0;
        x.in_ack_event(&mut states, S[0], round()); // 10 / (0.125 * 100) = 0.8
        assert!((x.subflows[0].delta - 0.8).abs() < 1e-9);
        assert_eq!(states[0].cwnd, 10.0);
        x.in_ack_event(&mut states, S[0], round()); // 0.8 + 0.8 = one packet and 0.6
        assert_eq!(states[0].cwnd, 11.0);
        assert!((x.subflows[0].adder - 0.6).abs() < 1e-9);
    }

    #[test]
    fn no_growth_and_no_second_cut_while_reduced() {
        let mut x = xmp(1);
        let mut states = [state(20.0)];
        states[0].snd_nxt = 30_000;
        assert!(x.in_ack_event(&mut states, S[0], marked(1)));
        states[0].snd_una = 29_000;
        assert!(!x.in_ack_event(&mut states, S[0], Ack { round_ended: true, ..marked(1) }));
        assert_eq!(states[0].cwnd, 15.0);
    }

    #[test]
    fn the_pseudocode_s_ssthresh_is_one_below() {
        let mut x = Xmp::new(&XmpConfig { cut: CUT, ssthresh_below: true }, 1);
        let mut states = [state(20.0)];
        x.in_ack_event(&mut states, S[0], marked(1));
        assert_eq!((states[0].cwnd, states[0].ssthresh), (15.0, 14.0));
    }

    /// REDUCED ends with the ACK beyond all that was sent before the cut (Algorithm 1: `cwr_seq =
    /// snd_nxt`, NORMAL again at `snd_una > cwr_seq`), not with the one that reaches it.
    #[test]
    fn reduced_ends_beyond_what_was_sent_before_the_cut() {
        let mut x = xmp(1);
        let mut states = [state(20.0)];
        states[0].snd_nxt = 30_000;
        assert!(x.in_ack_event(&mut states, S[0], marked(1)));
        assert_eq!(states[0].cwnd, 15.0);
        states[0].snd_una = 30_000;
        assert!(!x.in_ack_event(&mut states, S[0], marked(1)));
        x.in_ack_event(&mut states, S[0], round());
        assert_eq!(states[0].cwnd, 15.0);
        states[0].snd_una = 30_001;
        x.in_ack_event(&mut states, S[0], round());
        assert_eq!(states[0].cwnd, 16.0);
    }

    /// After a timeout in state REDUCED slow start waits for NORMAL too ("if state = NORMAL and
    /// cwnd <= ssthresh").
    #[test]
    fn no_slow_start_while_reduced() {
        let mut x = xmp(1);
        let mut states = [state(20.0)];
        states[0].snd_nxt = 30_000;
        assert!(x.in_ack_event(&mut states, S[0], marked(1)));
        (states[0].cwnd, states[0].ssthresh, states[0].snd_una) = (1.0, 7.0, 30_000);
        x.cong_avoid(&mut states, S[0], 1.0);
        assert_eq!(states[0].cwnd, 1.0);
        states[0].snd_una = 30_001;
        x.cong_avoid(&mut states, S[0], 1.0);
        assert_eq!(states[0].cwnd, 2.0);
    }

    /// In fast recovery the window is inflated and waits to be set; in slow start it grows by ACKs.
    #[test]
    fn no_increase_by_rounds_in_recovery_and_in_slow_start() {
        let mut x = xmp(1);
        let mut states = [state(10.0)];
        states[0].in_recovery = true;
        x.in_ack_event(&mut states, S[0], round());
        assert_eq!(states[0].cwnd, 10.0);
        (states[0].in_recovery, states[0].ssthresh) = (false, 20.0);
        x.in_ack_event(&mut states, S[0], round());
        assert_eq!(states[0].cwnd, 10.0);
        x.cong_avoid(&mut states, S[0], 1.0);
        assert_eq!(states[0].cwnd, 11.0);
        states[0].ssthresh = 11.0; // at equality: congestion avoidance
        x.cong_avoid(&mut states, S[0], 1.0);
        assert_eq!(states[0].cwnd, 11.0);
        x.in_ack_event(&mut states, S[0], round());
        assert_eq!(states[0].cwnd, 12.0);
    }

    /// With the pseudocode's ssthresh slow start is at `w <= ssthresh`.
    #[test]
    fn the_pseudocode_is_in_slow_start_at_equality() {
        let mut x = Xmp::new(&XmpConfig { cut: CUT, ssthresh_below: true }, 1);
        let mut states = [state(10.0)];
        states[0].ssthresh = 10.0;
        x.cong_avoid(&mut states, S[0], 1.0);
        assert_eq!(states[0].cwnd, 11.0);
        x.cong_avoid(&mut states, S[0], 1.0);
        assert_eq!(states[0].cwnd, 11.0);
    }

    /// Subflows that are not there, or whose RTT is not known, have no rate and no RTT in equation
    /// (9).
    #[test]
    fn only_subflows_with_an_rtt_count_in_equation_9() {
        for spoil in [|p: &mut CongestionState| p.established = false, |p: &mut CongestionState| p.srtt = 0.0] {
            let mut x = xmp(2);
            let mut states = [state(10.0), state(5.0)];
            states[1].srtt = 50e6;
            x.in_ack_event(&mut states, S[1], round());
            spoil(&mut states[1]);
            x.in_ack_event(&mut states, S[0], round()); // as a single path
            assert_eq!(x.subflows[0].delta, 1.0);
            assert_eq!(states[0].cwnd, 11.0);
        }
        // Without an RTT of its own nothing can be worked out.
        let mut x = xmp(1);
        let mut states = [state(10.0)];
        states[0].srtt = 0.0;
        x.in_ack_event(&mut states, S[0], round());
        assert_eq!((states[0].cwnd, x.subflows[0].rate), (10.0, 0.0));
    }

    /// Half, in whole packets, and at least two (RFC 5681, equation 4).
    #[test]
    fn a_loss_halves_to_whole_packets() {
        for (flight, after) in [(9, 4.0), (8, 4.0), (5, 2.0), (3, 2.0), (0, 2.0)] {
            assert_eq!(xmp(1).ssthresh(&[state(9.0)], S[0], flight), after);
        }
    }

    #[test]
    fn the_threshold_after_a_cut_has_two_names() {
        let named = [false, true].map(|below| <SsthreshAfterCut as Written<bool>>::of(&below));
        assert_eq!(named, [SsthreshAfterCut::W, SsthreshAfterCut::WMinus1]);
        assert_eq!(named.map(Written::<bool>::value), [false, true]);
    }
}
