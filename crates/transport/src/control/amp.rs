//! AMP: congestion control that suppresses subflows while all windows are at the minimum.

use super::delay::{Signal, respond_to_delay};
use super::mptcp_cut::CutConfig;
use super::{Ack, AckOrder, CongestionControl, slow_start, total_window};
use crate::congestion::CongestionState;
use crate::id::SubflowId;
use crate::metric::Metric;
use linkpool_settings::{Bounds, settings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The rule by which AMP decides that congestion is over.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Release {
    /// Counts consecutive rounds of subflow 0 that had no mark and ended outside recovery with a
    /// window above `cwnd_min`. This is the authors' implementation, which gave the published
    /// figures.
    Rounds,
    /// Counts rounds of subflow 0 since its last marked ACK: the paper's Algorithm 1, lines 14 to
    /// 21.
    Acks,
}

settings! {
    /// Parameters of AMP.
    pub struct AmpConfig {
        /// Number of rounds with all windows at the minimum before subflows are suppressed.
        gamma: u32 = 2, within Bounds::POSITIVE, when |c| c.suppression => "`suppression = true`";
        /// Number of unmarked rounds before they are released.
        tau: u32 = 8, within Bounds::POSITIVE, when |c| c.suppression => "`suppression = true`";
        /// false: AMP without suppression of subflows (SSR).
        suppression: bool = true;
        /// `"rounds"`: count rounds of subflow 0 with no mark, no recovery and a window above
        /// `cwnd_min` (the authors' implementation); `"acks"`: the paper's Algorithm 1, any marked
        /// ACK resets the count, no condition on the window.
        release: Release = Release::Rounds, when |c| c.suppression => "`suppression = true`";
        /// A target of the round-trip time: the base round-trip time plus, for each hop, the delay
        /// that is allowed there. Round-trip times at or above it are the signal of congestion
        /// instead of marks, and packets are not ECN-capable. A window is cut in proportion to the
        /// excess, by 1/beta at most, at most once in a window of data, and does not grow while its
        /// last round-trip time was there (Swift, Kumar et al., SIGCOMM 2020, Algorithm 1). `"none"`:
        /// marks are the signal.
        signal "target_delay": Signal = Signal::Marks,
            refused |c| c.signal != Signal::Marks && c.cut.ack_order != AckOrder::CutInsteadOfGrowth =>
                "a target delay needs `ack_order = \"cut-instead-of-growth\"`";
    }
    groups {
        /// The cut for marks: beta, cwnd_min, and the order of an ACK's growth, cut and check.
        cut: CutConfig;
    }
}

/// AMP (Kheirkhah and Lee, Algorithm 1): one packet a round over all subflows, a constant cut on
/// marks, and one subflow only while every window sits at its minimum. The paper's subflow 1 is
/// subflow 0 here.
#[derive(Debug)]
pub struct Amp {
    config: AmpConfig,
    suppressed: bool,
    /// nRound of the pseudocode: rounds towards suppression, or, while suppressed, towards release.
    rounds: u32,
    /// Has subflow 0 seen a mark, or its delay above the target, in this round?
    marked: bool,
    /// With the delay signal, a bit for each subflow: its last round-trip time was at or above the
    /// target.
    above: u64,
    suppressions: u32,
    releases: u32,
}

impl Amp {
    pub(super) fn new(config: &AmpConfig, _n: usize) -> Amp {
        Amp {
            config: config.clone(),
            suppressed: false,
            rounds: 0,
            marked: false,
            above: 0,
            suppressions: 0,
            releases: 0,
        }
    }

    /// Returns whether the window was cut for the round-trip time of an ACK.
    fn respond_to_delay(&mut self, state: &mut CongestionState, s: SubflowId, ack: Ack) -> bool {
        let (Some(rtt), Signal::Delay(target)) = (ack.rtt, self.config.signal) else { return false };
        let bit = 1 << s.index();
        if rtt < target {
            self.above &= !bit;
            return false;
        }
        self.above |= bit;
        let cut = &self.config.cut;
        respond_to_delay(state, (rtt, target), (cut.beta, cut.floor.cwnd_min))
    }

    fn at_minimum(&self, state: &CongestionState) -> bool {
        state.cwnd.floor() == self.config.cut.floor.cwnd_min
    }

    /// Algorithm 1, lines 2 to 13, when a round of subflow 0 ends.
    fn suppress_subflows(&mut self, states: &[CongestionState]) {
        let stuck = |p: &CongestionState| p.established && !p.in_recovery && self.at_minimum(p);
        self.rounds = if states.iter().all(stuck) { self.rounds + 1 } else { 0 };
        if self.rounds >= self.config.gamma {
            (self.suppressed, self.rounds) = (true, 0);
            self.suppressions += 1;
        }
    }

    /// Algorithm 1, lines 14 to 21, when a round of subflow 0 ends.
    fn release_subflows(&mut self, first: &CongestionState) {
        let calm = match self.config.release {
            Release::Rounds => {
                !self.marked && !first.in_recovery && first.cwnd.floor() > self.config.cut.floor.cwnd_min
            }
            Release::Acks => !self.marked,
        };
        self.rounds = if calm { self.rounds + 1 } else { 0 };
        if self.rounds >= self.config.tau {
            (self.suppressed, self.rounds) = (false, 0);
            self.releases += 1;
        }
    }
}

impl CongestionControl for Amp {
    fn needs_ecn(&self) -> bool {
        self.config.signal == Signal::Marks
    }

    fn in_ack_event(&mut self, states: &mut [CongestionState], s: SubflowId, ack: Ack) -> bool {
        let (cut, congested) = match self.config.signal {
            Signal::Marks => (self.config.cut.in_ack_event(&mut states[s], ack), ack.marked),
            Signal::Delay(_) => (self.respond_to_delay(&mut states[s], s, ack), self.above >> s.index() & 1 == 1),
        };
        if s.is_first() && states.len() > 1 && self.config.suppression {
            self.marked |= congested;
            if ack.round_ended {
                if self.suppressed {
                    self.release_subflows(&states[0]);
                } else {
                    self.suppress_subflows(states);
                }
                self.marked = false;
            }
        }
        cut
    }

    fn cut_after_growth(&mut self, states: &mut [CongestionState], s: SubflowId) -> bool {
        self.config.cut.cut_after_growth(&mut states[s])
    }

    /// `1 / w_total` for each packet acknowledged (Algorithm 1, line 25); of one subflow only while
    /// suppressed.
    fn cong_avoid(&mut self, states: &mut [CongestionState], s: SubflowId, acked: f64) {
        if self.above >> s.index() & 1 == 1 || slow_start(&mut states[s], acked) {
            return;
        }
        let total = if self.suppressed { states[0].coupled_window() } else { total_window(states) };
        states[s].cwnd += acked / total;
    }

    /// The rounds of subflow 0 would have shown the end of congestion.
    fn on_failed(&mut self, s: SubflowId) {
        if s.is_first() && self.suppressed {
            (self.suppressed, self.rounds) = (false, 0);
            self.releases += 1;
        }
    }

    fn is_active(&self, s: SubflowId) -> bool {
        s.is_first() || !self.suppressed
    }

    fn suppresses(&self) -> bool {
        self.config.suppression
    }

    fn metrics(&self, report: &mut dyn FnMut(Metric)) {
        report(Metric::count("suppressions", self.suppressions.into()));
        report(Metric::count("releases", self.releases.into()));
    }
}

#[cfg(test)]
mod tests {
    use super::super::AckOrder;
    use super::super::testing::{CUT, S, ack, marked, state};
    use super::*;
    use linkpool_settings::{Preset, Settings};
    use linkpool_units::Time;

    fn amp(release: Release) -> Amp {
        amp_in_order(release, AckOrder::CutInsteadOfGrowth)
    }

    fn amp_in_order(release: Release, ack_order: AckOrder) -> Amp {
        let cut = CutConfig { ack_order, ..CUT };
        Amp::new(&AmpConfig { cut, gamma: 2, tau: 3, release, ..AmpConfig::defaults(Preset::Linux) }, 4)
    }

    fn round(marks: bool) -> Ack {
        Ack { round_ended: true, ..if marks { marked(1) } else { ack(1) } }
    }

    fn suppressed(release: Release) -> (Amp, Vec<CongestionState>) {
        let mut a = amp(release);
        let mut states = vec![state(2.4); 4];
        a.in_ack_event(&mut states, S[0], round(true));
        assert!(!a.suppressed);
        a.in_ack_event(&mut states, S[0], round(true));
        assert!(a.suppressed);
        (a, states)
    }

    #[test]
    fn grows_one_packet_a_round_over_all_subflows() {
        let mut a = amp(Release::Rounds);
        let mut states = vec![state(2.0), state(3.0), state(4.0), state(7.0)];
        a.cong_avoid(&mut states, S[2], 1.0);
        assert_eq!(states[2].cwnd, 4.0625); // 4 + 1/16
    }

    #[test]
    fn cuts_a_quarter_to_the_floor() {
        let mut a = amp(Release::Rounds);
        let mut states = vec![state(8.0), state(2.5), state(4.0), state(4.0)];
        a.in_ack_event(&mut states, S[0], marked(1));
        a.in_ack_event(&mut states, S[1], marked(1));
        assert_eq!((states[0].cwnd, states[1].cwnd), (6.0, 2.0));
    }

    #[test]
    fn suppresses_after_gamma_rounds_with_all_at_the_minimum() {
        let (a, _) = suppressed(Release::Rounds);
        assert!(a.is_active(S[0]));
        assert!((1..4).all(|s| !a.is_active(S[s])));
        assert_eq!((a.suppressions, a.releases), (1, 0));
    }

    #[test]
    fn a_subflow_that_is_larger_or_recovering_or_not_there_blocks_it() {
        let spoil: [fn(&mut CongestionState); 4] =
            [|p| p.cwnd = 3.0, |p| p.in_recovery = true, |p| p.established = false, |p| p.cwnd = 1.0];
        for spoil in spoil {
            let mut a = amp(Release::Rounds);
            let mut states = vec![state(2.0); 4];
            spoil(&mut states[3]);
            for _ in 0..5 {
                a.in_ack_event(&mut states, S[0], round(true));
            }
            assert!(!a.suppressed);
        }
    }

    #[test]
    fn rounds_must_be_in_a_row() {
        let mut a = amp(Release::Rounds);
        let mut states = vec![state(2.0); 4];
        a.in_ack_event(&mut states, S[0], round(true));
        states[1].cwnd = 3.0;
        a.in_ack_event(&mut states, S[0], round(true));
        states[1].cwnd = 2.0;
        a.in_ack_event(&mut states, S[0], round(true));
        assert!(!a.suppressed);
    }

    #[test]
    fn release_by_rounds_needs_a_window_above_the_minimum() {
        let (mut a, mut states) = suppressed(Release::Rounds);
        for _ in 0..5 {
            a.in_ack_event(&mut states, S[0], round(false));
        }
        assert!(a.suppressed); // floor(2.4) = 2
        states[0].cwnd = 3.1;
        a.in_ack_event(&mut states, S[0], round(false));
        a.in_ack_event(&mut states, S[0], round(false));
        assert!(a.suppressed);
        a.in_ack_event(&mut states, S[0], round(false));
        assert!(!a.suppressed);
        assert_eq!((a.suppressions, a.releases), (1, 1));
    }

    #[test]
    fn release_by_acks_has_no_condition_on_the_window() {
        let (mut a, mut states) = suppressed(Release::Acks);
        a.in_ack_event(&mut states, S[0], round(false));
        a.in_ack_event(&mut states, S[0], round(false));
        a.in_ack_event(&mut states, S[0], marked(1)); // resets
        a.in_ack_event(&mut states, S[0], round(false)); // the round with the mark
        a.in_ack_event(&mut states, S[0], round(false));
        a.in_ack_event(&mut states, S[0], round(false));
        assert!(a.suppressed);
        a.in_ack_event(&mut states, S[0], round(false));
        assert!(!a.suppressed);
    }

    #[test]
    fn while_suppressed_it_grows_as_a_single_path() {
        let (mut a, mut states) = suppressed(Release::Rounds);
        states[0].cwnd = 4.0;
        a.cong_avoid(&mut states, S[0], 1.0);
        assert_eq!(states[0].cwnd, 4.25);
    }

    /// No subflow would count the rounds to the release.
    #[test]
    fn the_others_are_released_when_subflow_0_is_given_up() {
        let (mut a, _) = suppressed(Release::Rounds);
        a.on_failed(S[1]);
        assert!(a.suppressed);
        a.on_failed(S[0]);
        assert!(!a.suppressed);
        assert_eq!((a.suppressions, a.releases), (1, 1));
    }

    #[test]
    fn without_ssr_nothing_is_suppressed() {
        let mut a = amp(Release::Rounds);
        a.config.suppression = false;
        let mut states = vec![state(2.0); 4];
        for _ in 0..10 {
            a.in_ack_event(&mut states, S[0], round(true));
        }
        assert!(!a.suppressed);
    }

    /// The authors' implementation counts a round only if it ends outside fast recovery, where the
    /// window is inflated.
    #[test]
    fn release_by_rounds_waits_for_the_end_of_a_recovery() {
        let (mut a, mut states) = suppressed(Release::Rounds);
        (states[0].cwnd, states[0].in_recovery) = (5.0, true);
        for _ in 0..4 {
            a.in_ack_event(&mut states, S[0], round(false));
        }
        assert!(a.suppressed);
        states[0].in_recovery = false;
        a.in_ack_event(&mut states, S[0], round(false));
        a.in_ack_event(&mut states, S[0], round(false));
        assert!(a.suppressed);
        a.in_ack_event(&mut states, S[0], round(false));
        assert!(!a.suppressed);
    }

    /// Only rounds of subflow 0 count, and its marks only.
    #[test]
    fn other_subflows_neither_suppress_nor_release() {
        let mut a = amp(Release::Acks);
        let mut states = vec![state(2.0); 4];
        for _ in 0..5 {
            a.in_ack_event(&mut states, S[1], round(true));
        }
        assert!(!a.suppressed);
        let (mut a, mut states) = suppressed(Release::Acks);
        for _ in 0..3 {
            a.in_ack_event(&mut states, S[1], round(true));
            a.in_ack_event(&mut states, S[0], round(false));
        }
        assert!(!a.suppressed);
    }

    /// Suppression begins a new count: the rounds that led to it are no rounds without marks.
    #[test]
    fn the_count_begins_anew_at_suppression_and_at_release() {
        let (mut a, mut states) = suppressed(Release::Acks);
        for expected in [true, true, false] {
            a.in_ack_event(&mut states, S[0], round(false));
            assert_eq!(a.suppressed, expected);
        }
        for expected in [false, true] {
            a.in_ack_event(&mut states, S[0], round(true));
            assert_eq!(a.suppressed, expected);
        }
        assert_eq!((a.suppressions, a.releases), (2, 1));
    }

    /// An ACK that ends a round at 3.2 packets and cuts the window to 2.4. Algorithm 1 and the
    /// authors' implementation check first, and find a window above the minimum; with the cut first
    /// it is at the minimum.
    #[test]
    fn the_check_comes_before_growth_and_cut_or_after_the_cut() {
        for (order, suppressed) in [(AckOrder::GrowThenCut, false), (AckOrder::CutInsteadOfGrowth, true)] {
            let mut a = amp_in_order(Release::Rounds, order);
            a.config.gamma = 1;
            let mut states = vec![state(3.2), state(2.0)];
            let cut = a.in_ack_event(&mut states, S[0], round(true));
            assert_eq!(a.suppressed, suppressed);
            assert_eq!(cut, order == AckOrder::CutInsteadOfGrowth);
            assert_eq!(a.cut_after_growth(&mut states, S[0]), !cut);
            assert!((states[0].cwnd - 2.4).abs() < 1e-12); // 3.2 x 3/4, once
        }
    }

    /// A single path has nothing to suppress.
    #[test]
    fn one_subflow_is_never_suppressed() {
        let mut a = amp(Release::Rounds);
        let mut states = vec![state(2.0)];
        for _ in 0..5 {
            a.in_ack_event(&mut states, S[0], round(true));
        }
        assert_eq!((a.suppressions, a.releases), (0, 0));
    }

    fn sample(us: u64) -> Ack {
        Ack { rtt: Some(Time::from_us(us)), ..ack(1) }
    }

    fn by_delay() -> Amp {
        let mut a = amp(Release::Rounds);
        a.config.signal = Signal::Delay(Time::from_us(40));
        a
    }

    /// 10 packets at 50 us: 10 (1 - 0.8 x 10/50) = 8.4. The window grows again when a round-trip
    /// time is below the target: by 1 / (8.4 + 3).
    #[test]
    fn the_delay_signal_cuts_in_proportion_and_stops_growth() {
        let mut a = by_delay();
        let mut states = vec![state(10.0), state(3.0)];
        assert!(!a.needs_ecn());
        assert!(a.in_ack_event(&mut states, S[0], sample(50)));
        assert!((states[0].cwnd - 8.4).abs() < 1e-12);
        a.cong_avoid(&mut states, S[0], 1.0);
        assert!((states[0].cwnd - 8.4).abs() < 1e-12);
        assert!(!a.in_ack_event(&mut states, S[0], sample(39)));
        a.cong_avoid(&mut states, S[0], 1.0);
        assert!((states[0].cwnd - 8.4 - 1.0 / 11.4).abs() < 1e-12);
    }

    /// A mark means nothing, and an ACK without a sample leaves all as it is.
    #[test]
    fn the_delay_signal_ignores_marks() {
        let mut a = by_delay();
        let mut states = vec![state(10.0), state(3.0)];
        assert!(!a.in_ack_event(&mut states, S[0], marked(1)));
        assert_eq!(states[0].cwnd, 10.0);
    }

    /// Suppression has the same conditions; rounds below the target count towards the release.
    #[test]
    fn the_delay_signal_suppresses_and_releases() {
        let mut a = by_delay();
        let mut states = vec![state(2.0); 4];
        for _ in 0..2 {
            a.in_ack_event(&mut states, S[0], Ack { round_ended: true, ..sample(60) });
        }
        assert!(a.suppressed);
        states[0].cwnd = 3.0;
        for us in [39, 39, 41, 39, 39] {
            a.in_ack_event(&mut states, S[0], Ack { round_ended: true, ..sample(us) });
        }
        assert!(a.suppressed);
        states[0].cwnd = 3.0;
        a.in_ack_event(&mut states, S[0], Ack { round_ended: true, ..sample(39) });
        assert!(!a.suppressed);
    }

    /// An RTT at the target stops the growth of its subflow alone, and takes nothing away, as the
    /// excess is zero. The other one grows by 1/13.
    #[test]
    fn the_delay_of_a_subflow_stops_its_own_growth() {
        let mut a = by_delay();
        let mut states = vec![state(10.0), state(3.0)];
        a.in_ack_event(&mut states, S[0], sample(39));
        a.in_ack_event(&mut states, S[1], sample(40));
        a.cong_avoid(&mut states, S[1], 1.0);
        a.cong_avoid(&mut states, S[0], 1.0);
        assert_eq!((states[0].cwnd, states[1].cwnd), (10.0 + 1.0 / 13.0, 3.0));
    }
}
