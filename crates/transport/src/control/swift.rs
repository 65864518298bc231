//! Swift: the delay of each packet against a target, with windows below one packet.

use super::{Ack, CongestionControl};
use crate::congestion::CongestionState;
use crate::id::SubflowId;
use linkpool_settings::{Bounds, settings};
use linkpool_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the window enters the term of the target that grows with the number of flows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FlowScaling {
    /// As it is (Kumar et al., section 3.5).
    Exact,
    /// In whole packets, rounded down, as csg-htsim divides integers: below one packet the term has
    /// its full range at once.
    WholePackets,
}

/// The round-trip time that is meant by "once in a round-trip time".
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SwiftRtt {
    /// The one just measured (Kumar et al., Algorithm 1).
    Last,
    /// The smoothed one, as in csg-htsim.
    Smoothed,
}

settings! {
    /// Parameters of Swift.
    pub struct SwiftConfig {
        /// Target of the round-trip time without hops and without other flows (csg-htsim: 20 us).
        /// It should be above the round-trip time of an idle path, less `swift_hop` for each
        /// switch.
        base_target "swift_base_target": Time = Time::from_us(20), within Bounds::POSITIVE_SPAN;
        /// What each switch on the way to the receiver adds to the target (csg-htsim: the base
        /// target divided by 6.55). Switches are counted when the connection opens.
        hop "swift_hop": Time = Time(3_053_435), within Bounds::SPAN;
        /// The most that the window adds to the target: a small window means many flows (csg-htsim:
        /// five times the base target). `"0us"`: nothing.
        flow_range "swift_flow_range": Time = Time::from_us(100), within Bounds::SPAN;
        /// The window at and below which that is added in full, packets (csg-htsim).
        flow_min "swift_flow_min": f64 = 0.1, within Bounds::POSITIVE;
        /// The window at and above which nothing is added, packets (csg-htsim).
        flow_max "swift_flow_max": f64 = 100.0, within Bounds::POSITIVE,
            refused |c| c.flow_max <= c.flow_min => "must be above `swift_flow_min`";
        /// How the window enters that term. `"exact"`: as it is (the paper). `"whole-packets"`:
        /// rounded down to whole packets, so that a window below one packet adds all of it
        /// (csg-htsim).
        flow_scaling "swift_flow_scaling": FlowScaling = FlowScaling::Exact;
        /// Packets by which the window grows in a round-trip time below the target (csg-htsim: 1).
        increase "swift_increase": f64 = 1.0, within Bounds::POSITIVE;
        /// Gain of the cut: beta of the paper's Algorithm 1 (csg-htsim: 0.8).
        gain "swift_gain": f64 = 0.8, within Bounds::POSITIVE;
        /// The largest part of the window that a cut takes, above 0 and below 1: `max_mdf`
        /// (csg-htsim: 0.5).
        max_cut "swift_max_cut": f64 = 0.5, within Bounds::above(0.0, "must be above 0 and below 1").below(1.0);
        /// The round-trip time in "one cut in a round-trip time", and in the gap between packets of
        /// a window below one packet. `"last"`: the one just measured (the paper). `"smoothed"`:
        /// the smoothed one (csg-htsim).
        rtt "swift_rtt": SwiftRtt = SwiftRtt::Last;
        /// The least window, packets. Below one packet, packets leave at the rate of a window per
        /// round-trip time (csg-htsim: 10 B, which is this of a packet of 9,000 B).
        min_window "swift_min_window": f64 = 0.001, within Bounds::POSITIVE;
        /// The largest window, packets (csg-htsim: 1,000).
        max_window "swift_max_window": f64 = 1_000.0, within Bounds::POSITIVE,
            refused |c| c.max_window < c.min_window => "must not be below `swift_min_window`";
        /// Number of timeouts in a row after which the window is `swift_min_window` (csg-htsim: 5).
        reset_after "swift_reset_after": u32 = 5, within Bounds::POSITIVE;
    }
}

/// What a window of `cwnd` packets adds to the target: `range` at the lesser of two windows, nothing at the
/// larger (section 3.5).
pub(crate) fn flow_term(range: f64, (least, most): (f64, f64), cwnd: f64) -> f64 {
    let root = |w: f64| 1.0 / w.sqrt();
    let a = range / (root(least) - root(most));
    let b = -a * root(most);
    if cwnd <= least { range } else { (a * root(cwnd) + b).max(0.0) }
}

impl SwiftConfig {
    /// The target of the round-trip time with a window of `cwnd` packets over `hops` switches
    /// (section 3.5): base + hops h + min(max(a / sqrt(cwnd) + b, 0), range), where a and b follow
    /// from the windows at which the term is the range and zero. In ps.
    fn target(&self, cwnd: f64, hops: u32) -> f64 {
        let cwnd = if self.flow_scaling == FlowScaling::WholePackets { cwnd.floor() } else { cwnd };
        let flows = flow_term(self.flow_range.0 as f64, (self.flow_min, self.flow_max), cwnd);
        self.base_target.0 as f64 + f64::from(hops) * self.hop.0 as f64 + flows
    }
}

/// Swift on one subflow.
#[derive(Clone, Debug)]
struct Path {
    /// The last ACK was below the target: it grows the window.
    grows: bool,
    /// When an ACK came last, and its round-trip time, ps.
    heard_at: Time,
    rtt: f64,
    /// When the window was cut last; `None`: never.
    cut_at: Option<Time>,
    /// Timeouts since an ACK of new data.
    timeouts: u32,
}

/// Swift (Kumar et al., SIGCOMM 2020, Algorithm 1 and section 3.5) on every subflow, without ECN.
///
/// Hosts take no time in this model. So all delay is the fabric's, and the paper's second window,
/// which follows the delay of the receiving host, would always be the larger one. With delayed ACKs
/// their delay counts as the fabric's: `ack_every = 1` is what Swift has.
///
/// In loss recovery the window stays Swift's: it is cut once, and may be cut by delay, but does not
/// grow before the recovery is over.
#[derive(Debug)]
pub struct Swift {
    config: SwiftConfig,
    paths: Box<[Path]>,
}

impl Swift {
    pub(super) fn new(config: &SwiftConfig, n: usize) -> Swift {
        let path = Path { grows: false, heard_at: Time::ZERO, rtt: 0.0, cut_at: None, timeouts: 0 };
        Swift { config: config.clone(), paths: vec![path; n].into() }
    }

    fn bounded(&self, cwnd: f64) -> f64 {
        cwnd.clamp(self.config.min_window, self.config.max_window)
    }

    /// The round-trip time that counts, ps.
    fn rtt_of(&self, state: &CongestionState, s: SubflowId) -> f64 {
        match self.config.rtt {
            SwiftRtt::Last => self.paths[s].rtt,
            SwiftRtt::Smoothed => state.srtt,
        }
    }

    /// Has a round-trip time passed since the last cut? If so, the window is cut at `now`.
    fn begins_cut(&mut self, state: &CongestionState, s: SubflowId, now: Time) -> bool {
        let rtt = self.rtt_of(state, s);
        let path = &mut self.paths[s];
        let may = path.cut_at.is_none_or(|at| (now - at).0 as f64 >= rtt);
        if may {
            path.cut_at = Some(now);
        }
        may
    }
}

impl CongestionControl for Swift {
    fn needs_ecn(&self) -> bool {
        false
    }

    fn paces(&self) -> bool {
        true
    }

    fn owns_window(&self, _s: SubflowId) -> bool {
        true
    }

    /// A window below one packet is a rate (section 3.4).
    fn rate(&self, states: &[CongestionState], s: SubflowId) -> Option<f64> {
        let (cwnd, rtt) = (states[s].cwnd, self.rtt_of(&states[s], s));
        (cwnd < 1.0 && rtt > 0.0).then(|| cwnd / rtt)
    }

    fn in_ack_event(&mut self, states: &mut [CongestionState], s: SubflowId, ack: Ack) -> bool {
        let (path, state) = (&mut self.paths[s], &mut states[s]);
        path.grows = false;
        path.heard_at = ack.now;
        if ack.acked > 0 {
            path.timeouts = 0;
        }
        let Some(rtt) = ack.rtt else { return false };
        let delay = rtt.0 as f64;
        path.rtt = delay;
        let target = self.config.target(state.cwnd, state.hops);
        path.grows = delay < target;
        let cuts = !path.grows && self.begins_cut(state, s, ack.now);
        if cuts {
            let SwiftConfig { gain, max_cut, .. } = self.config;
            state.cut_to(self.bounded(state.cwnd * (1.0 - gain * (delay - target) / delay).max(1.0 - max_cut)));
        }
        cuts
    }

    fn cong_avoid(&mut self, states: &mut [CongestionState], s: SubflowId, acked: f64) {
        if self.paths[s].grows {
            let cwnd = states[s].cwnd;
            let grown = self.config.increase * acked / cwnd.max(1.0);
            states[s].cwnd = self.bounded(cwnd + grown);
        }
    }

    /// On fast recovery: the largest cut, if a round-trip time has passed since the last one.
    fn ssthresh(&mut self, states: &[CongestionState], s: SubflowId, _flight: u32) -> f64 {
        let now = self.paths[s].heard_at;
        let kept = if self.begins_cut(&states[s], s, now) { 1.0 - self.config.max_cut } else { 1.0 };
        self.bounded(states[s].cwnd * kept)
    }

    fn loss_window(&mut self, states: &[CongestionState], s: SubflowId, _in_flight: u32, now: Time) -> f64 {
        self.paths[s].timeouts += 1;
        if self.paths[s].timeouts >= self.config.reset_after {
            return self.config.min_window;
        }
        let kept = if self.begins_cut(&states[s], s, now) { 1.0 - self.config.max_cut } else { 1.0 };
        self.bounded(states[s].cwnd * kept)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{S, ack, state};
    use super::*;
    use linkpool_settings::{Preset, Settings as _};

    fn config() -> SwiftConfig {
        SwiftConfig { hop: Time::from_us(1), ..SwiftConfig::defaults(Preset::Linux) }
    }

    fn swift(config: &SwiftConfig) -> (Swift, [CongestionState; 1]) {
        (Swift::new(config, 1), [CongestionState { hops: 5, ..state(4.0) }])
    }

    fn at(us: u64, rtt_us: u64) -> Ack {
        Ack { now: Time::from_us(us), rtt: Some(Time::from_us(rtt_us)), ..ack(1) }
    }

    /// One ACK of a packet, with the growth that the sender would ask for.
    fn hear(swift: &mut Swift, states: &mut [CongestionState], ack: Ack) -> f64 {
        if !swift.in_ack_event(states, S[0], ack) {
            swift.cong_avoid(states, S[0], f64::from(ack.acked));
        }
        states[0].cwnd
    }

    /// By hand: 1/sqrt(0.1) = 3.16228, 1/sqrt(100) = 0.1; a = 100 us / 3.06228 = 32.6554 us and b =
    /// -3.26554 us. With a window of 4: 32.6554 / 2 - 3.26554 = 13.0622 us; of 1: 29.3899 us; of
    /// 0.25: 62.0453 us. Five hops of 1 us and 20 us come on top.
    #[test]
    fn the_target_grows_with_hops_and_with_small_windows() {
        let config = config();
        let target = |cwnd: f64, hops: u32| config.target(cwnd, hops) / 1e6;
        let is = |value: f64, expected: f64| assert!((value - expected).abs() < 1e-4, "{value} {expected}");
        is(target(4.0, 5), 38.0622);
        is(target(1.0, 5), 54.3899);
        is(target(0.25, 5), 87.0453);
        is(target(0.25, 1), 83.0453);
        is(target(100.0, 0), 20.0);
        is(target(400.0, 0), 20.0);
        is(target(0.1, 0), 120.0);
        is(target(0.01, 0), 120.0);
    }

    /// Whole packets: 3.9 counts as 3, 32.6554 / sqrt(3) - 3.26554 = 15.5880 us; 0.9 as none, the
    /// range.
    #[test]
    fn windows_may_count_in_whole_packets() {
        let config = SwiftConfig { flow_scaling: FlowScaling::WholePackets, ..config() };
        assert!((config.target(3.9, 0) / 1e6 - 35.5880).abs() < 1e-4);
        assert!((config.target(0.9, 0) / 1e6 - 120.0).abs() < 1e-9);
        let none = SwiftConfig { flow_range: Time::ZERO, ..config };
        assert_eq!([0.9, 1.0, 500.0].map(|cwnd| none.target(cwnd, 0) / 1e6), [20.0; 3]);
    }

    /// Below the target, which is 38.06 us, an ACK of a packet grows a window of 4 by 1/4; of two,
    /// by 2/4. A window below one packet grows by a packet for each.
    #[test]
    fn it_grows_by_a_packet_in_a_round() {
        let (mut swift, mut states) = swift(&config());
        assert_eq!(hear(&mut swift, &mut states, at(100, 38)), 4.25);
        states[0].cwnd = 4.0;
        assert_eq!(hear(&mut swift, &mut states, Ack { acked: 2, ..at(101, 38) }), 4.5);
        states[0].cwnd = 0.25;
        assert_eq!(hear(&mut swift, &mut states, at(102, 38)), 1.25);
        // A retransmitted packet has no round-trip time, and says nothing.
        assert_eq!(hear(&mut swift, &mut states, Ack { rtt: None, ..at(103, 0) }), 1.25);
    }

    /// At 50 us the excess over 38.0622 us is 0.238757, and 0.8 of it 0.191005: 4 becomes 3.23598.
    /// At 400 us the cut is half. A cut waits until a round-trip time has passed since the last.
    #[test]
    fn it_cuts_in_proportion_once_in_a_round() {
        let (mut swift, mut states) = swift(&config());
        let cut = hear(&mut swift, &mut states, at(100, 50));
        assert!((cut - 3.235_98).abs() < 1e-4, "{cut}");
        assert_eq!((states[0].ssthresh, hear(&mut swift, &mut states, at(149, 50))), (cut, cut));
        states[0].cwnd = 4.0;
        assert_eq!(hear(&mut swift, &mut states, at(150, 50)), cut);
        states[0].cwnd = 4.0;
        assert_eq!(hear(&mut swift, &mut states, at(549, 400)), 4.0, "the last RTT counts, 400 us");
        assert_eq!(hear(&mut swift, &mut states, at(550, 400)), 2.0);
    }

    #[test]
    fn the_smoothed_rtt_may_count() {
        let (mut swift, mut states) = swift(&SwiftConfig { rtt: SwiftRtt::Smoothed, ..config() });
        states[0].srtt = 200e6;
        hear(&mut swift, &mut states, at(100, 400));
        states[0].cwnd = 4.0;
        assert_eq!(hear(&mut swift, &mut states, at(299, 400)), 4.0);
        assert_eq!(hear(&mut swift, &mut states, at(300, 400)), 2.0);
        states[0].cwnd = 0.5;
        assert_eq!(swift.rate(&states, S[0]), Some(0.5 / 200e6));
    }

    /// A window of 1/4 and an RTT of 40 us: a packet in 160 us. From one packet on, the window
    /// counts.
    #[test]
    fn a_window_below_a_packet_is_a_rate() {
        let (mut swift, mut states) = swift(&config());
        states[0].cwnd = 0.25;
        assert_eq!(swift.rate(&states, S[0]), None, "no RTT is known");
        swift.in_ack_event(&mut states, S[0], at(100, 40));
        assert_eq!(swift.rate(&states, S[0]).map(|rate| (1e-6 / rate).round()), Some(160.0));
        states[0].cwnd = 1.0;
        assert_eq!(swift.rate(&states, S[0]), None);
    }

    /// A loss halves once in a round-trip time, a timeout too; the fifth in a row leaves the least
    /// window.
    #[test]
    fn losses_cut_by_half() {
        let (mut swift, mut states) = swift(&config());
        hear(&mut swift, &mut states, at(100, 38));
        states[0].cwnd = 4.0;
        assert_eq!([4, 4].map(|flight| swift.ssthresh(&states, S[0], flight)), [2.0, 4.0]);
        let mut timeout = |ms: u64| swift.loss_window(&states, S[0], 0, Time::from_ms(ms));
        assert_eq!([1, 2, 3, 4, 5].map(&mut timeout), [2.0, 2.0, 2.0, 2.0, 0.001]);
        hear(&mut swift, &mut states, at(6_000, 38));
        assert_eq!(swift.loss_window(&states, S[0], 0, Time::from_ms(7)), 2.125);
    }

    #[test]
    fn windows_have_bounds() {
        let (mut swift, mut states) = swift(&SwiftConfig { min_window: 0.5, max_window: 4.1, ..config() });
        assert_eq!(hear(&mut swift, &mut states, at(100, 10)), 4.1);
        states[0].cwnd = 0.6;
        assert_eq!(hear(&mut swift, &mut states, at(200, 4_000)), 0.5);
    }

    /// A recovery counts its cut from the last ACK, at 500 us: 10 us later a delay of 100 us cuts nothing, and an
    /// RTT later it does.
    #[test]
    fn a_recovery_and_a_delay_cut_once_in_a_round_trip() {
        let (mut swift, mut states) = swift(&config());
        hear(&mut swift, &mut states, at(500, 20));
        let kept = swift.ssthresh(&states, S[0], 4);
        assert!(kept < states[0].cwnd, "it cuts: {kept}");
        assert!(!swift.in_ack_event(&mut states, S[0], at(510, 100)));
        assert!(swift.in_ack_event(&mut states, S[0], at(600, 100)));
    }

    /// Four timeouts, an ACK, and a fifth: only an ACK of new data makes that the first in a row.
    #[test]
    fn an_ack_of_new_data_ends_a_row_of_timeouts() {
        for (acked, is_reset) in [(0, true), (1, false)] {
            let (mut swift, mut states) = swift(&config());
            (1..5).for_each(|n| _ = swift.loss_window(&states, S[0], 0, Time::from_us(n)));
            swift.in_ack_event(&mut states, S[0], Ack { acked, ..at(10, 20) });
            let window = swift.loss_window(&states, S[0], 0, Time::from_us(11));
            assert_eq!(window == swift.config.min_window, is_reset);
        }
    }
}
