//! MMPTCP: two algorithms, one for each phase of the connection.

use super::phases::{Phase1, Phase2};
use super::{Ack, Algorithm, CongestionControl, Control, ControlConfig, RateSample};
use crate::congestion::CongestionState;
use crate::id::SubflowId;
use crate::metric::Metric;
use linkpool_settings::{Bounds, Packets, Preset, Settings, Size, Visit, settings};
use linkpool_units::Time;

/// Parameters of MMPTCP.
#[derive(Clone, Debug, PartialEq)]
pub struct MmptcpConfig {
    /// The events that end phase 1.
    pub switch: Switch,
    /// The algorithm of phase 1.
    pub scattered: Box<ControlConfig>,
    /// The algorithm of the subflows of phase 2.
    pub coupled: Box<ControlConfig>,
}

settings! {
    /// The algorithms of the phases.
    struct Phases {
        /// The algorithm of phase 1: `"reno"`, without ECN, or `"dctcp"`. The settings of `"dctcp"`
        /// apply too.
        phase_1: Algorithm as Phase1 = Algorithm::Reno;
        /// The algorithm of phase 2: any algorithm for several subflows. Its settings apply too.
        phase_2: Algorithm as Phase2 = Algorithm::Lia;
    }
}

settings! {
    /// The events that end phase 1; the first that happens counts.
    #[derive(Copy)]
    pub struct Switch {
        /// Phase 1 ends when more than this has been sent (the paper's switching threshold). At
        /// least one of the three ends must be set.
        bytes "switch_bytes": u64 as Size = u64::MAX, within Bounds::POSITIVE_OR_UNLIMITED;
        /// Phase 1 ends when its window reaches this many packets.
        window "switch_window": f64 as Packets = f64::INFINITY, within Bounds::POSITIVE_OR_UNLIMITED;
        /// true: phase 1 ends with its first congestion event: a mark to which it reacts, a loss,
        /// or a timeout.
        congestion "switch_on_congestion": bool = false;
    }
}

impl Switch {
    /// Is an end of phase 1 set?
    pub fn ends(&self) -> bool {
        self.bytes < u64::MAX || self.window < f64::INFINITY || self.congestion
    }
}

/// The settings of both algorithms stand in the same table as its own.
impl Settings for MmptcpConfig {
    fn defaults(preset: Preset) -> MmptcpConfig {
        let Phases { phase_1, phase_2 } = Phases::defaults(preset);
        MmptcpConfig {
            switch: Switch::defaults(preset),
            scattered: Box::new(ControlConfig::of(phase_1, preset)),
            coupled: Box::new(ControlConfig::of(phase_2, preset)),
        }
    }

    fn each<V: Visit>(&mut self, visit: &mut V) {
        let mut phases = Phases { phase_1: self.scattered.algorithm(), phase_2: self.coupled.algorithm() };
        phases.each(visit);
        for (config, algorithm) in [(&mut self.scattered, phases.phase_1), (&mut self.coupled, phases.phase_2)] {
            if config.algorithm() != algorithm {
                **config = ControlConfig::of(algorithm, visit.preset());
            }
        }
        self.switch.each(visit);
        self.scattered.each(visit);
        self.coupled.each(visit);
    }
}

/// MMPTCP (Kheirkhah, Wakeman, Parisis, Computer Networks 2019, sections 2.2 and 2.3): phase 1
/// scatters the packets of subflow 0 over all paths under one window, in the paper a standard TCP's
/// without ECN; phase 2 is MPTCP over the other subflows.
///
/// The subflows of phase 2 open with the first ACK after the switch is due. Scattering continues
/// until the first of them is established; then subflow 0 sends no new data. The coupled algorithm
/// never sees subflow 0.
#[derive(Debug)]
pub struct Mmptcp {
    switch: Switch,
    scattered: Box<Control>,
    coupled: Box<Control>,
    /// Has phase 1 had a cut?
    congested: bool,
    phase_2: bool,
    /// The time at which phase 1 ended and phase 2 had to open its subflows; `Time::MAX` before
    /// that.
    switched: Time,
}

impl Mmptcp {
    pub(super) fn new(config: &MmptcpConfig, n: usize) -> Mmptcp {
        Mmptcp {
            switch: config.switch,
            scattered: Box::new(config.scattered.build(1)),
            coupled: Box::new(config.coupled.build(n - 1)),
            congested: false,
            phase_2: false,
            switched: Time::MAX,
        }
    }
}

/// The number of subflow `s`, which is not the first, among those of phase 2.
fn in_phase_2(s: SubflowId) -> SubflowId {
    SubflowId::new(s.index() - 1)
}

// The calls of the inner algorithms are recursive. Functions that are not inlined here let the
// compiler inline the other algorithms in the sender.
impl CongestionControl for Mmptcp {
    fn needs_ecn(&self) -> bool {
        self.coupled.needs_ecn()
    }

    fn needs_ecn_on(&self, s: SubflowId) -> bool {
        if s.is_first() { self.scattered.needs_ecn() } else { self.coupled.needs_ecn_on(in_phase_2(s)) }
    }

    #[inline(never)]
    fn in_ack_event(&mut self, states: &mut [CongestionState], s: SubflowId, ack: Ack) -> bool {
        if !s.is_first() {
            return self.coupled.in_ack_event(&mut states[1..], in_phase_2(s), ack);
        }
        let cut = self.scattered.in_ack_event(&mut states[..1], SubflowId::FIRST, ack);
        self.congested |= cut;
        cut
    }

    #[inline(never)]
    fn cut_after_growth(&mut self, states: &mut [CongestionState], s: SubflowId) -> bool {
        if !s.is_first() {
            return self.coupled.cut_after_growth(&mut states[1..], in_phase_2(s));
        }
        let cut = self.scattered.cut_after_growth(&mut states[..1], SubflowId::FIRST);
        self.congested |= cut;
        cut
    }

    #[inline(never)]
    fn cong_avoid(&mut self, states: &mut [CongestionState], s: SubflowId, acked: f64) {
        if s.is_first() {
            self.scattered.cong_avoid(&mut states[..1], SubflowId::FIRST, acked);
        } else {
            self.coupled.cong_avoid(&mut states[1..], in_phase_2(s), acked);
        }
    }

    fn ssthresh(&mut self, states: &[CongestionState], s: SubflowId, flight: u32) -> f64 {
        if !s.is_first() {
            return self.coupled.ssthresh(&states[1..], in_phase_2(s), flight);
        }
        self.congested = true;
        self.scattered.ssthresh(&states[..1], SubflowId::FIRST, flight)
    }

    fn on_timeout(&mut self, s: SubflowId) {
        if s.is_first() { self.scattered.on_timeout(SubflowId::FIRST) } else { self.coupled.on_timeout(in_phase_2(s)) }
    }

    fn undo(&mut self, s: SubflowId) {
        if s.is_first() { self.scattered.undo(SubflowId::FIRST) } else { self.coupled.undo(in_phase_2(s)) }
    }

    fn on_established(&mut self, s: SubflowId) {
        self.phase_2 |= !s.is_first();
    }

    fn on_failed(&mut self, s: SubflowId) {
        if !s.is_first() {
            self.coupled.on_failed(in_phase_2(s));
        }
    }

    fn joins_later(&self) -> bool {
        true
    }

    fn joins_now(&mut self, states: &[CongestionState], sent: u64, now: Time) -> bool {
        let Switch { bytes, window, congestion } = self.switch;
        let is_due = sent > bytes || states[0].coupled_window() >= window || congestion && self.congested;
        if is_due {
            self.switched = now;
        }
        is_due
    }

    #[inline(never)]
    fn is_active(&self, s: SubflowId) -> bool {
        if s.is_first() { !self.phase_2 } else { self.coupled.is_active(in_phase_2(s)) }
    }

    fn suppresses(&self) -> bool {
        true
    }

    fn paces(&self) -> bool {
        self.scattered.paces() || self.coupled.paces()
    }

    fn rate(&self, states: &[CongestionState], s: SubflowId) -> Option<f64> {
        match s.is_first() {
            true => self.scattered.rate(&states[..1], SubflowId::FIRST),
            false => self.coupled.rate(&states[1..], in_phase_2(s)),
        }
    }

    fn measures_rate(&self) -> bool {
        self.scattered.measures_rate() || self.coupled.measures_rate()
    }

    fn on_rate(&mut self, states: &mut [CongestionState], s: SubflowId, sample: &RateSample) -> bool {
        match s.is_first() {
            true => self.scattered.on_rate(&mut states[..1], SubflowId::FIRST, sample),
            false => self.coupled.on_rate(&mut states[1..], in_phase_2(s), sample),
        }
    }

    fn owns_window(&self, s: SubflowId) -> bool {
        if s.is_first() { self.scattered.owns_window(s) } else { self.coupled.owns_window(in_phase_2(s)) }
    }

    fn loss_window(&mut self, states: &[CongestionState], s: SubflowId, in_flight: u32, now: Time) -> f64 {
        match s.is_first() {
            true => self.scattered.loss_window(&states[..1], SubflowId::FIRST, in_flight, now),
            false => self.coupled.loss_window(&states[1..], in_phase_2(s), in_flight, now),
        }
    }

    fn metrics(&self, report: &mut dyn FnMut(Metric)) {
        if self.switched < Time::MAX {
            report(Metric::time("switch", self.switched));
        }
        self.coupled.metrics(report);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{CUT, S, ack, marked, state};
    use super::super::{AckOrder, AmpConfig, CubicConfig, CubicRules, CutConfig, DctcpConfig, Release};
    use super::*;

    const NOW: Time = Time::from_ms(7);
    const BY_BYTES: Switch = Switch { bytes: 100_000, window: f64::INFINITY, congestion: false };
    const AT_CONGESTION: Switch = Switch { bytes: u64::MAX, window: f64::INFINITY, congestion: true };

    fn build(switch: Switch, scattered: ControlConfig, coupled: ControlConfig, n: usize) -> Mmptcp {
        Mmptcp::new(&MmptcpConfig { switch, scattered: Box::new(scattered), coupled: Box::new(coupled) }, n)
    }

    fn mmptcp(switch: Switch) -> Mmptcp {
        build(switch, ControlConfig::Reno(()), ControlConfig::Lia(()), 3)
    }

    #[test]
    fn each_end_of_phase_1_is_one() {
        let none = Switch { bytes: u64::MAX, window: f64::INFINITY, congestion: false };
        assert!(!none.ends());
        for one in [Switch { bytes: 1, ..none }, Switch { window: 9.0, ..none }, Switch { congestion: true, ..none }] {
            assert!(one.ends(), "{one:?}");
        }
    }

    #[test]
    fn phase_1_is_reno_on_subflow_0() {
        let mut m = mmptcp(BY_BYTES);
        let mut states = vec![state(8.0); 3];
        m.cong_avoid(&mut states, S[0], 1.0);
        assert_eq!(states[0].cwnd, 8.125);
        assert_eq!(m.ssthresh(&states, S[0], 9), 4.5);
        assert!(m.is_active(S[0]));
    }

    #[test]
    fn phase_2_begins_with_the_first_other_subflow_and_is_for_good() {
        let mut m = mmptcp(BY_BYTES);
        m.on_established(S[0]);
        assert!(m.is_active(S[0]));
        m.on_established(S[2]);
        assert_eq!([0, 1, 2].map(|s| m.is_active(S[s])), [false, true, true]);
    }

    #[test]
    fn subflow_0_is_not_in_the_coupled_sum() {
        // LIA over 10 and 10 gives 1/40 each, whatever subflow 0 has.
        let mut m = mmptcp(BY_BYTES);
        let mut states = vec![state(500.0), state(10.0), state(10.0)];
        m.cong_avoid(&mut states, S[1], 1.0);
        assert!((states[1].cwnd - 10.025).abs() < 1e-12);
    }

    #[test]
    fn the_switch_is_due_when_more_than_the_threshold_has_been_sent() {
        let mut m = mmptcp(BY_BYTES);
        let states = vec![state(500.0); 3];
        assert_eq!([99_999, 100_000].map(|sent| m.joins_now(&states, sent, Time::ZERO)), [false, false]);
        assert_eq!(metrics(&m), []);
        assert!(m.joins_now(&states, 100_001, NOW));
        assert_eq!(metrics(&m), [Metric::time("switch", NOW)]);
    }

    #[test]
    fn the_switch_by_window_looks_at_phase_1_only() {
        let mut m = mmptcp(Switch { bytes: u64::MAX, window: 30.0, congestion: false });
        let mut states = vec![state(29.9), state(50.0), state(50.0)];
        assert!(!m.joins_now(&states, 1 << 40, NOW));
        states[0].cwnd = 30.0;
        assert!(m.joins_now(&states, 0, NOW));
        // In recovery the window is inflated and says nothing.
        (states[0].in_recovery, states[0].ssthresh) = (true, 20.0);
        assert!(!m.joins_now(&states, 0, NOW));
    }

    #[test]
    fn the_switch_at_the_first_loss() {
        let mut m = mmptcp(AT_CONGESTION);
        let states = vec![state(10.0); 3];
        m.ssthresh(&states, S[1], 10); // not of phase 1
        assert!(!m.joins_now(&states, 1 << 40, NOW));
        m.ssthresh(&states, S[0], 10);
        assert!(m.joins_now(&states, 0, NOW));
    }

    #[test]
    fn the_switch_at_the_first_mark_that_phase_1_heeds() {
        let dctcp = DctcpConfig::defaults(Preset::Linux);
        let mut m = build(AT_CONGESTION, ControlConfig::Dctcp(dctcp), ControlConfig::MptcpCut(CUT), 3);
        let mut states = vec![state(8.0); 3];
        assert!(m.in_ack_event(&mut states, S[1], marked(1)));
        assert_eq!([1, 2].map(|s| states[s].cwnd), [6.0, 8.0]);
        assert!(!m.in_ack_event(&mut states, S[0], ack(1)));
        assert!(!m.joins_now(&states, 0, NOW));
        assert!(m.in_ack_event(&mut states, S[0], marked(1)));
        assert_eq!(states[0].cwnd, 4.0); // alpha = 1: half
        assert!(m.joins_now(&states, 0, NOW));
    }

    #[test]
    fn each_phase_says_whether_it_needs_ecn() {
        let dctcp = DctcpConfig::defaults(Preset::Linux);
        let m = build(BY_BYTES, ControlConfig::Dctcp(dctcp), ControlConfig::Lia(()), 3);
        assert_eq!([0, 1, 2].map(|s| m.needs_ecn_on(S[s])), [true, false, false]);
    }

    fn metrics(algorithm: &impl CongestionControl) -> Vec<Metric> {
        let mut all = Vec::new();
        algorithm.metrics(&mut |metric| all.push(metric));
        all
    }

    /// 10 packets in 100 us, of 20 that were delivered.
    const SAMPLE: RateSample = RateSample {
        now: Time::from_us(200),
        acked: 1,
        lost: 0,
        delivered: 20,
        measured: Some((10, Time::from_us(100), 10)),
        rtt: Some(Time::from_us(100)),
        may_be_delayed: false,
        in_flight_before: 10,
        in_flight: 9,
        limited: false,
        restarted: false,
        next_departure: Time::ZERO,
    };

    /// Each event reaches the algorithm of its phase, of phase 2 by its number there, and no other.
    #[test]
    fn events_reach_the_algorithm_of_their_phase() {
        let rules = CubicRules::Rfc9438;
        let config = CubicConfig { c: 0.4, beta: 0.7, fast_convergence: true, hystart: false, rules };
        let cubic = || ControlConfig::Cubic(config.clone());
        let cut = CutConfig { ack_order: AckOrder::GrowThenCut, ..CUT };
        let amp = AmpConfig { cut, gamma: 1, tau: 1, release: Release::Acks, ..AmpConfig::defaults(Preset::Linux) };
        let [swift, bbr] = [Algorithm::Swift, Algorithm::Bbr].map(|it| ControlConfig::of(it, Preset::Linux));
        type Event = fn(&mut dyn CongestionControl, &mut [CongestionState], SubflowId);
        let events: [Event; 10] = [
            |algorithm, states, s| {
                algorithm.in_ack_event(states, s, Ack { round_ended: true, ..marked(1) });
            },
            |algorithm, states, s| {
                algorithm.cut_after_growth(states, s);
            },
            |algorithm, states, s| {
                algorithm.ssthresh(states, s, 9);
            },
            |algorithm, states, s| algorithm.cong_avoid(states, s, 1.0),
            |algorithm, _, s| algorithm.on_timeout(s),
            |algorithm, states, s| {
                algorithm.ssthresh(states, s, 7);
            },
            |algorithm, _, s| algorithm.undo(s),
            |algorithm, states, s| {
                states[s].cwnd = algorithm.loss_window(states, s, 0, Time::from_ms(1));
            },
            |algorithm, states, s| {
                algorithm.on_rate(states, s, &SAMPLE);
            },
            |algorithm, _, s| algorithm.on_failed(s),
        ];
        for algorithm in [cubic(), ControlConfig::Amp(amp), ControlConfig::Olia(()), swift, bbr] {
            let mut m = build(BY_BYTES, cubic(), algorithm.clone(), 3);
            let (mut first, mut others) = (cubic().build(1), algorithm.build(2));
            let (mut states, mut same) = (vec![state(2.0); 3], vec![state(2.0); 3]);
            for (i, s) in (0..3).cycle().take(30).enumerate() {
                let event = events[i / 3];
                event(&mut m, &mut states, S[s]);
                match s {
                    0 if i / 3 == 9 => {} // subflow 0 is given up: nothing of phase 1 is left to be told
                    0 => event(&mut first, &mut same[..1], SubflowId::FIRST),
                    _ => event(&mut others, &mut same[1..], S[s - 1]),
                }
                assert_eq!(
                    format!("{:?} {:?} {states:?}", m.scattered, m.coupled),
                    format!("{first:?} {others:?} {same:?}")
                );
                assert_eq!(metrics(&m), metrics(&others));
                m.phase_2 = true;
                assert_eq!([1, 2].map(|s| m.is_active(S[s])), [0, 1].map(|s| others.is_active(S[s])));
                assert_eq!(m.needs_ecn(), others.needs_ecn());
                assert_eq!([1, 2].map(|s| m.owns_window(S[s])), [0, 1].map(|s| others.owns_window(S[s])));
                assert_eq!([1, 2].map(|s| m.rate(&states, S[s])), [0, 1].map(|s| others.rate(&same[1..], S[s])));
                assert_eq!((m.paces(), m.owns_window(S[0])), (others.paces(), false));
                assert_eq!(m.measures_rate(), others.measures_rate());
            }
        }
    }

    /// A cut that comes after the growth ends phase 1 too, and says that it was made.
    #[test]
    fn a_late_cut_is_congestion_of_phase_1() {
        let dctcp = DctcpConfig { ack_order: AckOrder::GrowThenCut, ..DctcpConfig::defaults(Preset::Linux) };
        let cut = CutConfig { ack_order: AckOrder::GrowThenCut, ..CUT };
        let mut m = build(AT_CONGESTION, ControlConfig::Dctcp(dctcp), ControlConfig::MptcpCut(cut), 3);
        let mut states = vec![state(8.0); 3];
        assert!(!m.in_ack_event(&mut states, S[2], marked(1)));
        assert!(m.cut_after_growth(&mut states, S[2]));
        assert_eq!([1, 2].map(|s| states[s].cwnd), [8.0, 6.0]);
        assert!(!m.joins_now(&states, 0, NOW));
        assert!(m.cut_after_growth(&mut states, S[0]));
        assert!(m.joins_now(&states, 0, NOW));
    }
}
