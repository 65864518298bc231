//! BBR, version 1, as Linux 6.18 has it: a model of the path, its bandwidth and its least RTT, sets
//! a rate and a window.

use super::{Ack, CongestionControl, RateSample};
use crate::congestion::CongestionState;
use crate::id::SubflowId;
use linkpool_engine::hash_u64;
use linkpool_settings::{Bounds, settings};
use linkpool_units::Time;
use std::collections::VecDeque;

settings! {
    /// Parameters of BBR.
    pub struct BbrConfig {
        /// How long a least RTT is believed; then the window is four packets for `bbr_probe_rtt`,
        /// so that the queue is empty (`bbr_min_rtt_win_sec`).
        rtt_window "bbr_rtt_window": Time = Time::from_secs(10), within Bounds::POSITIVE_SPAN;
        /// Time for which the window is four packets then (`bbr_probe_rtt_mode_ms`).
        probe_rtt "bbr_probe_rtt": Time = Time::from_ms(200), within Bounds::POSITIVE_SPAN;
        /// Most packets that segmentation offload sends as one: Linux's window has room for three
        /// such (64 KiB of packets of 1,448 B).
        offload "bbr_offload": u32 = 44, within Bounds::POSITIVE;
    }
}

/// "2/ln(2) ... the smallest pacing gain that will allow the sending rate to double each round"
/// (`bbr_high_gain`).
const HIGH_GAIN: f64 = 2.885;

/// Of the window, in PROBE_BW: "to tolerate delayed and stretched ACKs" (`bbr_cwnd_gain`).
const WINDOW_GAIN: f64 = 2.0;

/// Of the rate, by phase of PROBE_BW: probe for more, drain what that has queued, cruise
/// (`bbr_pacing_gain`).
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];

/// Rounds over which the bandwidth is the greatest (`bbr_bw_rtts`).
const BANDWIDTH_ROUNDS: u64 = 10;

/// The pipe is full after so many rounds without so much growth (`bbr_full_bw_cnt`,
/// `bbr_full_bw_thresh`).
const FULL_ROUNDS: u32 = 3;
const FULL_GROWTH: f64 = 1.25;

/// The least window, packets (`bbr_cwnd_min_target`).
const LEAST_WINDOW: f64 = 4.0;

/// The rate is so much below the bandwidth (`bbr_pacing_margin_percent`).
const MARGIN: f64 = 0.99;

/// The window allows for ACKs that come in bursts: by the most that was acknowledged beyond the
/// bandwidth in the last five to ten rounds, at most what goes in 100 ms
/// (`bbr_extra_acked_win_rtts`, `bbr_extra_acked_max_us`).
const BURST_ROUNDS: u32 = 5;
const BURST_SPAN: f64 = 100e9;

/// A round-trip time for the first rate, where none is known (`bbr_init_pacing_rate_from_rtt`).
const NOMINAL_RTT: f64 = 1e9;

/// Linux's initial window, below which STARTUP grows in any case (`TCP_INIT_CWND`).
const INITIAL_WINDOW: f64 = 10.0;

/// A picosecond's worth of rates: 1.2 Mbit/s of packets of 1,500 bytes, below which one packet is
/// sent at a time, not two (`bbr_min_tso_rate`).
const SLOW: f64 = 1.2e6 / (8.0 * 1500.0) / 1e12;

/// What the flow does (`enum bbr_mode`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    /// Doubles its rate each round.
    Startup,
    /// Empties the queue that has made.
    Drain,
    /// Sends at the bandwidth, and looks for more.
    ProbeBw,
    /// Empties the queue to see the least RTT.
    ProbeRtt,
}

/// The greatest bandwidth of ten rounds: each with its round, falling, the first the greatest.
/// (Linux keeps three of them, `minmax_running_max`, which gives the same but where more than three
/// fall one after another.)
#[derive(Debug, Default)]
struct Greatest(VecDeque<(u64, f64)>);

impl Greatest {
    fn enter(&mut self, round: u64, bandwidth: f64) {
        while self.0.back().is_some_and(|(_, less)| *less <= bandwidth) {
            self.0.pop_back();
        }
        self.0.push_back((round, bandwidth));
        while self.0.front().is_some_and(|(at, _)| round - at > BANDWIDTH_ROUNDS) {
            self.0.pop_front();
        }
    }

    /// Packets per ps; 0 before the first.
    fn get(&self) -> f64 {
        self.0.front().map_or(0.0, |(_, bandwidth)| *bandwidth)
    }
}

/// Recovery of a loss, as BBR sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Repair {
    None,
    Recovery,
    /// After a timeout, until this byte is acknowledged.
    Loss(u64),
}

/// BBR on one subflow.
#[derive(Debug)]
struct Path {
    mode: Mode,
    /// Packets per ps.
    bandwidth: Greatest,
    /// Rounds so far; the next begins when a segment is delivered that was sent after so many were.
    rounds: u64,
    round_begins: bool,
    next_round: u64,
    /// Ps; none before the first sample.
    least_rtt: Option<f64>,
    least_rtt_at: Time,
    /// When PROBE_RTT may end, once the window has been small for a round.
    probe_done: Option<Time>,
    probe_round: bool,
    /// The greatest bandwidth when it last grew much, and rounds since.
    full_bandwidth: f64,
    full_rounds: u32,
    is_full: bool,
    phase: usize,
    phase_at: Time,
    /// Gains of the rate and of the window.
    gain: f64,
    window_gain: f64,
    /// Packets per ps; none before the first ACK.
    rate: Option<f64>,
    repair: Repair,
    /// One packet for each that is delivered, in the first round of a recovery.
    conserves: bool,
    /// The window before a recovery, or before PROBE_RTT.
    window_before: f64,
    /// It has begun to send after it was idle.
    idle_restart: bool,
    /// Packets acknowledged since a time at the bandwidth, and the most beyond it: of this and of
    /// the last few rounds.
    burst_from: Time,
    burst_acked: f64,
    burst_rounds: u32,
    extra: [f64; 2],
}

/// BBR v1 (Linux 6.18, net/ipv4/tcp_bbr.c, whose names are given) on every subflow, without ECN.
///
/// It lacks the detection of policers (`bbr_lt_bw_sampling`), which acts where a fifth of the
/// packets and more is lost at a steady rate. A flow that begins again after it was idle keeps the
/// gain of its phase until the first ACK; in Linux it has none from the first packet on. Packets
/// leave one by one, also where Linux's offload takes several as one.
#[derive(Debug)]
pub struct Bbr {
    config: BbrConfig,
    paths: Box<[Path]>,
}

impl Bbr {
    pub(super) fn new(config: &BbrConfig, n: usize) -> Bbr {
        let path = || Path {
            mode: Mode::Startup,
            bandwidth: Greatest::default(),
            rounds: 0,
            round_begins: false,
            next_round: 0,
            least_rtt: None,
            least_rtt_at: Time::ZERO,
            probe_done: None,
            probe_round: false,
            full_bandwidth: 0.0,
            full_rounds: 0,
            is_full: false,
            phase: 0,
            phase_at: Time::ZERO,
            gain: HIGH_GAIN,
            window_gain: HIGH_GAIN,
            rate: None,
            repair: Repair::None,
            conserves: false,
            window_before: 0.0,
            idle_restart: false,
            burst_from: Time::ZERO,
            burst_acked: 0.0,
            burst_rounds: 0,
            extra: [0.0; 2],
        };
        Bbr { config: config.clone(), paths: (0..n).map(|_| path()).collect() }
    }
}

impl Path {
    /// Packets that the offload sends as one: those of a millisecond, two at least
    /// (`bbr_tso_segs_goal`, `sk_pacing_shift`).
    fn offload(&self, config: &BbrConfig) -> f64 {
        let rate = self.rate.unwrap_or(0.0);
        let least = if rate < SLOW { 1.0 } else { 2.0 };
        (rate * 1e9 / 1.024).floor().min(f64::from(config.offload)).max(least)
    }

    /// The packets of `gain` bandwidth-delay products (`bbr_bdp`).
    fn product(&self, gain: f64) -> f64 {
        match self.least_rtt {
            Some(rtt) => (self.bandwidth.get() * rtt * gain).ceil(),
            None => INITIAL_WINDOW,
        }
    }

    /// With room for what hosts hold as one (`bbr_quantization_budget`).
    fn with_room(&self, window: f64, config: &BbrConfig) -> f64 {
        let even = 2.0 * ((window + 3.0 * self.offload(config)) / 2.0).ceil();
        even + if self.mode == Mode::ProbeBw && self.phase == 0 { 2.0 } else { 0.0 }
    }

    /// The packets in flight that keep the pipe full at `gain` (`bbr_inflight`).
    fn flight(&self, gain: f64, config: &BbrConfig) -> f64 {
        self.with_room(self.product(gain), config)
    }

    /// The packets in the network when the next one leaves (`bbr_packets_in_net_at_edt`).
    fn in_network(&self, in_flight: u32, sample: &RateSample, config: &BbrConfig) -> f64 {
        let wait = sample.next_departure.0.saturating_sub(sample.now.0) as f64;
        let more = if self.gain > 1.0 { self.offload(config) } else { 0.0 };
        (f64::from(in_flight) + more - (self.bandwidth.get() * wait).floor()).max(0.0)
    }

    /// `bbr_update_bw`.
    fn update_bandwidth(&mut self, sample: &RateSample) {
        self.round_begins = false;
        let Some((delivered, interval, before)) = sample.measured else { return };
        if before >= self.next_round {
            self.next_round = sample.delivered;
            self.rounds += 1;
            self.round_begins = true;
            self.conserves = false;
        }
        let bandwidth = delivered as f64 / interval.0 as f64;
        if !sample.limited || bandwidth >= self.bandwidth.get() {
            self.bandwidth.enter(self.rounds, bandwidth);
        }
    }

    /// `bbr_update_ack_aggregation`.
    fn update_bursts(&mut self, sample: &RateSample, cwnd: f64) {
        if sample.acked == 0 || sample.measured.is_none() {
            return;
        }
        if self.round_begins {
            self.burst_rounds += 1;
            if self.burst_rounds >= BURST_ROUNDS {
                self.burst_rounds = 0;
                self.extra = [0.0, self.extra[0]];
            }
        }
        let mut expected = self.bandwidth.get() * (sample.now - self.burst_from).0 as f64;
        if self.burst_acked <= expected {
            (self.burst_acked, self.burst_from, expected) = (0.0, sample.now, 0.0);
        }
        self.burst_acked += f64::from(sample.acked);
        self.extra[0] = self.extra[0].max((self.burst_acked - expected).min(cwnd));
    }

    /// `bbr_update_cycle_phase`: a phase lasts a least RTT; the first until it has filled the pipe,
    /// the second no longer than until it has drained it.
    fn update_phase(&mut self, sample: &RateSample, config: &BbrConfig) {
        if self.mode != Mode::ProbeBw {
            return;
        }
        let is_long = self.least_rtt.is_some_and(|rtt| (sample.now - self.phase_at).0 as f64 > rtt);
        let before = self.in_network(sample.in_flight_before, sample, config);
        let ends = match self.phase {
            0 => is_long && (sample.lost > 0 || before >= self.flight(self.gain, config)),
            1 => is_long || before <= self.flight(1.0, config),
            _ => is_long,
        };
        if ends {
            self.phase = (self.phase + 1) % CYCLE.len();
            self.phase_at = sample.now;
        }
    }

    /// `bbr_check_full_bw_reached`.
    fn check_full(&mut self, sample: &RateSample) {
        if self.is_full || !self.round_begins || sample.limited {
            return;
        }
        if self.bandwidth.get() >= self.full_bandwidth * FULL_GROWTH {
            (self.full_bandwidth, self.full_rounds) = (self.bandwidth.get(), 0);
            return;
        }
        self.full_rounds += 1;
        self.is_full = self.full_rounds >= FULL_ROUNDS;
    }

    /// `bbr_check_drain`.
    fn check_drain(&mut self, s: SubflowId, sample: &RateSample, config: &BbrConfig) {
        if self.mode == Mode::Startup && self.is_full {
            self.mode = Mode::Drain;
        }
        if self.mode == Mode::Drain && self.in_network(sample.in_flight, sample, config) <= self.flight(1.0, config) {
            self.probe_bandwidth(s, sample.now);
        }
    }

    /// `bbr_reset_probe_bw_mode`: it begins with any phase but the second. Which is a hash of the
    /// time here.
    fn probe_bandwidth(&mut self, s: SubflowId, now: Time) {
        self.mode = Mode::ProbeBw;
        let drawn = hash_u64(now.0 ^ s.index() as u64) % 7;
        self.phase = (CYCLE.len() - drawn as usize) % CYCLE.len();
        self.phase_at = now;
    }

    /// `bbr_save_cwnd`.
    fn save_window(&mut self, cwnd: f64) {
        let fresh = self.repair == Repair::None && self.mode != Mode::ProbeRtt;
        self.window_before = if fresh { cwnd } else { self.window_before.max(cwnd) };
    }

    /// `bbr_update_min_rtt`. Returns whether deliveries count as those of an application that is
    /// short of data, since the window is kept small.
    fn update_least_rtt(
        &mut self,
        s: SubflowId,
        state: &mut CongestionState,
        sample: &RateSample,
        config: &BbrConfig,
    ) -> bool {
        let expired = sample.now > self.least_rtt_at + config.rtt_window;
        if let Some(rtt) = sample.rtt.map(|rtt| rtt.0 as f64)
            && (self.least_rtt.is_none_or(|least| rtt < least) || expired && !sample.may_be_delayed)
        {
            (self.least_rtt, self.least_rtt_at) = (Some(rtt), sample.now);
        }
        if expired && !self.idle_restart && self.mode != Mode::ProbeRtt {
            self.save_window(state.cwnd);
            (self.mode, self.probe_done) = (Mode::ProbeRtt, None);
        }
        let probes = self.mode == Mode::ProbeRtt;
        if probes {
            match self.probe_done {
                None if f64::from(sample.in_flight) <= LEAST_WINDOW => {
                    self.probe_done = Some(sample.now + config.probe_rtt);
                    (self.probe_round, self.next_round) = (false, sample.delivered);
                }
                None => {}
                Some(done) => {
                    self.probe_round |= self.round_begins;
                    if self.probe_round && sample.now > done {
                        self.least_rtt_at = sample.now;
                        state.cwnd = state.cwnd.max(self.window_before);
                        match self.is_full {
                            true => self.probe_bandwidth(s, sample.now),
                            false => self.mode = Mode::Startup,
                        }
                    }
                }
            }
        }
        if sample.acked > 0 {
            self.idle_restart = false;
        }
        probes
    }

    /// `bbr_update_gains`.
    fn update_gains(&mut self) {
        (self.gain, self.window_gain) = match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (1.0 / HIGH_GAIN, HIGH_GAIN),
            Mode::ProbeBw => (CYCLE[self.phase], WINDOW_GAIN),
            Mode::ProbeRtt => (1.0, 1.0),
        };
    }

    /// `bbr_set_pacing_rate`: before the pipe is full, the rate does not fall.
    fn set_rate(&mut self, state: &CongestionState) {
        let rate = self.bandwidth.get() * self.gain * MARGIN;
        let before = self.rate.unwrap_or_else(|| first_rate(state));
        self.rate = Some(if self.is_full || rate > before { rate } else { before });
    }

    /// `bbr_set_cwnd`.
    fn set_window(&mut self, state: &mut CongestionState, sample: &RateSample, config: &BbrConfig) {
        let acked = f64::from(sample.acked);
        if sample.acked > 0 && !self.recover(state, sample) {
            let mut target = self.product(self.window_gain);
            if self.is_full {
                target += self.extra[0].max(self.extra[1]).min(self.bandwidth.get() * BURST_SPAN);
            }
            let target = self.with_room(target, config);
            if self.is_full {
                state.cwnd = (state.cwnd + acked).min(target);
            } else if state.cwnd < target || (sample.delivered as f64) < INITIAL_WINDOW {
                state.cwnd += acked;
            }
            state.cwnd = state.cwnd.max(LEAST_WINDOW);
        }
        if self.mode == Mode::ProbeRtt {
            state.cwnd = state.cwnd.min(LEAST_WINDOW);
        }
    }

    /// `bbr_set_cwnd_to_recover_or_restore`. Returns whether a recovery sets the window.
    fn recover(&mut self, state: &mut CongestionState, sample: &RateSample) -> bool {
        let mut cwnd = (state.cwnd - f64::from(sample.lost)).max(1.0);
        let kept = f64::from(sample.in_flight) + f64::from(sample.acked);
        let repair = match self.repair {
            _ if state.in_recovery => Repair::Recovery,
            Repair::Loss(until) if state.snd_una < until => Repair::Loss(until),
            _ => Repair::None,
        };
        if repair == Repair::Recovery && self.repair != Repair::Recovery {
            (self.conserves, self.next_round) = (true, sample.delivered);
            cwnd = kept;
        } else if repair == Repair::None && self.repair != Repair::None {
            cwnd = cwnd.max(self.window_before);
            self.conserves = false;
        }
        self.repair = repair;
        state.cwnd = if self.conserves { cwnd.max(kept) } else { cwnd };
        self.conserves
    }
}

/// `bbr_init_pacing_rate_from_rtt`.
fn first_rate(state: &CongestionState) -> f64 {
    let rtt = if state.srtt > 0.0 { state.srtt } else { NOMINAL_RTT };
    state.cwnd / rtt * HIGH_GAIN * MARGIN
}

impl CongestionControl for Bbr {
    fn needs_ecn(&self) -> bool {
        false
    }

    fn paces(&self) -> bool {
        true
    }

    fn measures_rate(&self) -> bool {
        true
    }

    fn owns_window(&self, _s: SubflowId) -> bool {
        true
    }

    fn rate(&self, states: &[CongestionState], s: SubflowId) -> Option<f64> {
        Some(self.paths[s].rate.unwrap_or_else(|| first_rate(&states[s])))
    }

    fn in_ack_event(&mut self, _states: &mut [CongestionState], _s: SubflowId, _ack: Ack) -> bool {
        false
    }

    fn cong_avoid(&mut self, _states: &mut [CongestionState], _s: SubflowId, _acked: f64) {}

    /// `bbr_main`.
    fn on_rate(&mut self, states: &mut [CongestionState], s: SubflowId, sample: &RateSample) -> bool {
        let (path, config, state) = (&mut self.paths[s], &self.config, &mut states[s]);
        if sample.restarted {
            path.idle_restart = true;
            (path.burst_from, path.burst_acked) = (sample.now, 0.0);
        }
        path.update_bandwidth(sample);
        path.update_bursts(sample, state.cwnd);
        path.update_phase(sample, config);
        path.check_full(sample);
        path.check_drain(s, sample, config);
        let limits = path.update_least_rtt(s, state, sample, config);
        path.update_gains();
        path.set_rate(state);
        path.set_window(state, sample, config);
        limits
    }

    /// `bbr_ssthresh`: a loss does not cut the window, but the window of before is restored after
    /// it.
    fn ssthresh(&mut self, states: &[CongestionState], s: SubflowId, _flight: u32) -> f64 {
        self.paths[s].save_window(states[s].cwnd);
        states[s].cwnd
    }

    /// `bbr_set_state` with `TCP_CA_Loss`; the window is that of Linux's `tcp_enter_loss`.
    fn loss_window(&mut self, states: &[CongestionState], s: SubflowId, in_flight: u32, _now: Time) -> f64 {
        let path = &mut self.paths[s];
        path.save_window(states[s].cwnd);
        path.repair = Repair::Loss(states[s].snd_nxt);
        path.full_bandwidth = 0.0;
        f64::from(in_flight) + 1.0
    }

    /// `bbr_undo_cwnd`.
    fn undo(&mut self, s: SubflowId) {
        (self.paths[s].full_bandwidth, self.paths[s].full_rounds) = (0.0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::testing::{S, state};
    use linkpool_settings::{Preset, Settings};

    const RTT: Time = Time::from_us(100);

    /// The rate of 1 packet per us, at which 100 packets are a bandwidth-delay product.
    const PER_US: f64 = 1e-6;

    fn bbr() -> Bbr {
        Bbr::new(&BbrConfig::defaults(Preset::Linux), 1)
    }

    /// An ACK at `us` for one packet, of a round in which `packets` were delivered in an RTT.
    fn sample(us: u64, delivered: u64, packets: u64) -> RateSample {
        RateSample {
            now: Time::from_us(us),
            acked: 1,
            lost: 0,
            delivered,
            measured: Some((packets, RTT, delivered - packets)),
            rtt: Some(RTT),
            may_be_delayed: false,
            in_flight_before: 100,
            in_flight: 100,
            limited: false,
            restarted: false,
            next_departure: Time::ZERO,
        }
    }

    /// In STARTUP with a bandwidth of 1 packet per us for so many rounds, each with its first ACK
    /// alone.
    fn rounds(bbr: &mut Bbr, states: &mut [CongestionState], from: u64, n: u64) -> u64 {
        for round in from..from + n {
            bbr.on_rate(states, S[0], &sample(100 * round, 100 * round, 100));
        }
        from + n
    }

    #[test]
    fn the_first_rate_is_that_of_the_window() {
        let (bbr, mut states) = (bbr(), [state(10.0)]);
        // 2.885 windows of 10 packets per 100 us, less 1%.
        assert!((bbr.rate(&states, S[0]).unwrap() / PER_US - 0.2856).abs() < 1e-4);
        states[0].srtt = 0.0;
        assert!((bbr.rate(&states, S[0]).unwrap() / PER_US - 0.02856).abs() < 1e-5);
    }

    /// The rate rises with the bandwidth and does not fall before the pipe is full: it is full when
    /// the bandwidth has not grown by a quarter in three rounds. Then the queue is drained at
    /// 1/2.885.
    #[test]
    fn startup_ends_after_three_rounds_without_growth() {
        let (mut bbr, mut states) = (bbr(), [state(10.0)]);
        bbr.on_rate(&mut states, S[0], &sample(100, 50, 50));
        assert!((bbr.rate(&states, S[0]).unwrap() / PER_US - 2.885 * 0.5 * 0.99).abs() < 1e-9);
        assert_eq!(states[0].cwnd, 11.0);
        // 1 packet per us: grown by more than a quarter. Then twice by less.
        let next = rounds(&mut bbr, &mut states, 2, 3);
        assert_eq!((bbr.paths[0].mode, bbr.paths[0].is_full), (Mode::Startup, false));
        assert!((bbr.rate(&states, S[0]).unwrap() / PER_US - 2.885 * 0.99).abs() < 1e-9);
        let full = RateSample { in_flight: 300, in_flight_before: 300, ..sample(100 * next, 100 * next, 100) };
        bbr.on_rate(&mut states, S[0], &full);
        assert_eq!((bbr.paths[0].mode, bbr.paths[0].is_full), (Mode::Drain, true));
        assert!((bbr.rate(&states, S[0]).unwrap() / PER_US - 0.99 / 2.885).abs() < 1e-9);
        // Drained at a bandwidth-delay product and three times 44 packets, as the rate is above 44
        // per ms.
        let at = |in_flight: u32| RateSample { in_flight, ..sample(100 * next + 1, 100 * next + 1, 100) };
        bbr.on_rate(&mut states, S[0], &at(233));
        assert_eq!(bbr.paths[0].mode, Mode::Drain);
        bbr.on_rate(&mut states, S[0], &at(232));
        assert_eq!(bbr.paths[0].mode, Mode::ProbeBw);
        assert_ne!(bbr.paths[0].phase, 1, "it begins with any phase but the one that drains");
    }

    /// Rounds whose packets the application limited do not end STARTUP.
    #[test]
    fn a_lack_of_data_is_no_full_pipe() {
        let (mut bbr, mut states) = (bbr(), [state(10.0)]);
        for round in 1..20 {
            bbr.on_rate(&mut states, S[0], &RateSample { limited: true, ..sample(100 * round, 10 * round, 10) });
        }
        assert_eq!(bbr.paths[0].mode, Mode::Startup);
        // A lower rate of a flow that lacks data is no news, a higher one is.
        let bandwidth = bbr.paths[0].bandwidth.get();
        bbr.on_rate(&mut states, S[0], &RateSample { limited: true, ..sample(2_000, 200, 5) });
        assert_eq!(bbr.paths[0].bandwidth.get(), bandwidth);
        bbr.on_rate(&mut states, S[0], &RateSample { limited: true, ..sample(2_100, 220, 20) });
        assert_eq!(bbr.paths[0].bandwidth.get(), 2.0 * bandwidth);
    }

    fn in_probe_bw() -> (Bbr, [CongestionState; 1], u64) {
        let (mut bbr, mut states) = (bbr(), [state(10.0)]);
        let next = rounds(&mut bbr, &mut states, 1, 6);
        assert_eq!(bbr.paths[0].mode, Mode::ProbeBw);
        (bbr, states, next)
    }

    /// 1.25 until the pipe is full by it, 0.75 until that is drained or an RTT is over, then six
    /// RTTs of 1.
    #[test]
    fn phases_of_probe_bw() {
        let (mut bbr, mut states, mut next) = in_probe_bw();
        bbr.paths[0].phase = 7;
        let mut step = |bbr: &mut Bbr, states: &mut [CongestionState; 1], in_flight: u32| {
            let at = sample(101 * next, 100 * next, 100);
            bbr.on_rate(states, S[0], &RateSample { in_flight_before: in_flight, ..at });
            next += 1;
            (bbr.paths[0].phase, (bbr.rate(&*states, S[0]).unwrap() / PER_US / 0.99 * 100.0).round())
        };
        assert_eq!(step(&mut bbr, &mut states, 100), (0, 125.0));
        // 125 packets, 3 x 44 more, and 2 in this phase, less the 44 that leave as one: 260 - 44 is
        // enough.
        assert_eq!(step(&mut bbr, &mut states, 215), (0, 125.0));
        assert_eq!(step(&mut bbr, &mut states, 216), (1, 75.0));
        assert_eq!(step(&mut bbr, &mut states, 240), (2, 100.0));
        for phase in 3..8 {
            assert_eq!(step(&mut bbr, &mut states, 100), (phase, 100.0));
        }
        // The second phase ends at once when the queue is drained: 100 packets and 3 x 44.
        bbr.paths[0].phase = 1;
        let now = bbr.paths[0].phase_at + Time::from_us(1);
        let drained = |n: u32| RateSample { now, in_flight_before: n, ..sample(0, 100 * next, 100) };
        bbr.on_rate(&mut states, S[0], &drained(233));
        assert_eq!(bbr.paths[0].phase, 1);
        bbr.on_rate(&mut states, S[0], &drained(232));
        assert_eq!(bbr.paths[0].phase, 2);
        // A loss ends the first, though the pipe is not full.
        bbr.paths[0].phase = 0;
        let lost = RateSample { now: now + RTT + Time(1), lost: 1, ..sample(0, 100 * next, 100) };
        bbr.on_rate(&mut states, S[0], &lost);
        assert_eq!(bbr.paths[0].phase, 1);
    }

    /// Twice the product, 3 x 44, rounded up to an even number, and what ACKs in bursts need.
    #[test]
    fn the_window_is_two_products_and_room() {
        let (mut bbr, mut states, next) = in_probe_bw();
        bbr.paths[0].phase = 3;
        bbr.paths[0].extra = [0.0; 2];
        states[0].cwnd = 1_000.0;
        bbr.paths[0].burst_from = Time::ZERO;
        bbr.on_rate(&mut states, S[0], &RateSample { measured: None, ..sample(100 * next, 100 * next, 100) });
        assert_eq!(states[0].cwnd, 332.0);
        // 50 packets in an ACK 10 us after the last begin of a burst: 40 more than the bandwidth.
        let burst = RateSample { acked: 50, ..sample(100 * next + 10, 100 * next + 50, 100) };
        (bbr.paths[0].burst_from, bbr.paths[0].burst_acked) = (Time::from_us(100 * next), 11.0);
        bbr.on_rate(&mut states, S[0], &burst);
        assert!((bbr.paths[0].extra[0] - 51.0).abs() < 1e-9, "{:?}", bbr.paths[0].extra);
        bbr.on_rate(&mut states, S[0], &RateSample { acked: 400, measured: None, ..burst });
        assert_eq!(states[0].cwnd, 384.0);
    }

    /// After 10 s without a lower RTT the window is four packets for 200 ms and a round; then it is
    /// what it was.
    #[test]
    fn the_least_rtt_is_probed() {
        let (mut bbr, mut states, next) = in_probe_bw();
        let before = states[0].cwnd.max(300.0);
        states[0].cwnd = before;
        let seen = bbr.paths[0].least_rtt_at.0 / 1_000_000;
        let higher = |us: u64, delivered: u64, in_flight: u32| RateSample {
            rtt: Some(Time::from_us(150)),
            in_flight,
            ..sample(us, delivered, 100)
        };
        let end = seen + 10_000_000;
        assert!(!bbr.on_rate(&mut states, S[0], &higher(end, 100 * next, 100)));
        assert_eq!(bbr.paths[0].least_rtt, Some(100e6));
        assert!(bbr.on_rate(&mut states, S[0], &higher(end + 1, 100 * next + 1, 100)), "it limits the rate itself");
        assert_eq!((bbr.paths[0].mode, bbr.paths[0].least_rtt), (Mode::ProbeRtt, Some(150e6)));
        assert_eq!(states[0].cwnd, 4.0);
        // The time begins when no more than four are in flight.
        bbr.on_rate(&mut states, S[0], &higher(end + 2, 100 * next + 97, 4));
        let done = end + 2 + 200_000;
        bbr.on_rate(&mut states, S[0], &higher(done, 100 * next + 500, 4));
        assert_eq!((bbr.paths[0].mode, states[0].cwnd), (Mode::ProbeRtt, 4.0));
        bbr.on_rate(&mut states, S[0], &higher(done + 1, 100 * next + 501, 4));
        assert_eq!(bbr.paths[0].mode, Mode::ProbeBw);
        assert!(states[0].cwnd >= 300.0, "{}", states[0].cwnd);
        assert_eq!(bbr.paths[0].least_rtt_at, Time::from_us(done + 1));
    }

    /// A flow that was idle does not shrink its window at once for an old least RTT.
    #[test]
    fn a_flow_that_was_idle_is_not_probed_first() {
        let (mut bbr, mut states, next) = in_probe_bw();
        let late = RateSample { restarted: true, rtt: None, ..sample(60_000_000, 100 * next, 100) };
        bbr.on_rate(&mut states, S[0], &late);
        assert_eq!(bbr.paths[0].mode, Mode::ProbeBw);
        bbr.on_rate(&mut states, S[0], &RateSample { restarted: false, ..late });
        assert_eq!(bbr.paths[0].mode, Mode::ProbeRtt);
    }

    /// In the first round of a recovery a packet leaves for each that is delivered; after it the
    /// window is what it was.
    #[test]
    fn a_recovery_conserves_packets_and_ends_as_it_began() {
        let (mut bbr, mut states, next) = in_probe_bw();
        states[0].cwnd = 200.0;
        assert_eq!(bbr.ssthresh(&states, S[0], 150), 200.0);
        states[0].in_recovery = true;
        let at = |delivered: u64, in_flight: u32, lost: u32| RateSample {
            in_flight,
            lost,
            measured: None,
            ..sample(100 * next, delivered, 100)
        };
        bbr.on_rate(&mut states, S[0], &at(100 * next, 150, 3));
        assert_eq!(states[0].cwnd, 151.0);
        bbr.on_rate(&mut states, S[0], &at(100 * next + 1, 140, 0));
        assert_eq!(states[0].cwnd, 151.0);
        bbr.on_rate(&mut states, S[0], &at(100 * next + 2, 160, 5));
        assert_eq!(states[0].cwnd, 161.0);
        // A round later the window grows again.
        let round = RateSample { in_flight: 100, ..sample(100 * next, 100 * next + 200, 100) };
        bbr.on_rate(&mut states, S[0], &round);
        assert_eq!(states[0].cwnd, 162.0);
        states[0].in_recovery = false;
        bbr.on_rate(&mut states, S[0], &at(100 * next + 201, 100, 0));
        assert_eq!(states[0].cwnd, 201.0);
    }

    /// After a timeout the window begins with what is in flight and grows with deliveries; when all
    /// of it is acknowledged it is what it was.
    #[test]
    fn a_timeout_ends_as_it_began() {
        let (mut bbr, mut states, next) = in_probe_bw();
        states[0] = CongestionState { cwnd: 200.0, snd_una: 1, snd_nxt: 1_001, ..states[0].clone() };
        states[0].cwnd = bbr.loss_window(&states, S[0], 0, Time::ZERO);
        assert_eq!((states[0].cwnd, bbr.paths[0].full_bandwidth), (1.0, 0.0));
        let at = |delivered: u64| RateSample { measured: None, in_flight: 1, ..sample(100 * next, delivered, 100) };
        bbr.on_rate(&mut states, S[0], &at(100 * next));
        assert_eq!(states[0].cwnd, 4.0, "never below four");
        states[0].snd_una = 1_000;
        bbr.on_rate(&mut states, S[0], &at(100 * next + 1));
        assert_eq!(states[0].cwnd, 5.0);
        states[0].snd_una = 1_001;
        bbr.on_rate(&mut states, S[0], &at(100 * next + 2));
        assert_eq!(states[0].cwnd, 201.0);
    }

    /// The pipe is full after three rounds without growth by a quarter.
    #[test]
    fn less_than_a_quarter_is_no_growth() {
        for (rounds, full) in [([1_000, 1_100, 1_200, 1_240], true), ([1_000, 1_100, 1_200, 1_250], false)] {
            let (mut bbr, mut states) = (bbr(), [state(10.0)]);
            let mut delivered = 0;
            for (round, packets) in (1..).zip(rounds) {
                delivered += packets;
                bbr.on_rate(&mut states, S[0], &sample(100 * round, delivered, packets));
            }
            assert_eq!(bbr.paths[0].is_full, full);
        }
    }

    /// Bursts of ACKs count as far as the window, for five to ten rounds, and give room for what goes
    /// in 100 ms at most.
    #[test]
    fn bursts_have_bounds() {
        let (mut bbr, mut states, next) = in_probe_bw();
        let (path, config) = (&mut bbr.paths[0], &bbr.config);
        (path.burst_from, path.burst_acked, path.extra) = (Time::from_us(100 * next), 0.0, [0.0; 2]);
        (path.burst_rounds, path.round_begins) = (0, false);
        let burst = RateSample { acked: 100, ..sample(100 * next, 100 * next, 100) };
        path.update_bursts(&burst, 60.0);
        assert_eq!(path.extra, [60.0, 0.0]);
        path.round_begins = true;
        for extra in [[3.0, 60.0], [3.0, 3.0]] {
            (0..5).for_each(|_| path.update_bursts(&burst, 3.0));
            assert_eq!(path.extra, extra);
        }
        (path.extra, path.phase, states[0].cwnd) = ([1e6, 0.0], 3, 1e9);
        path.set_window(&mut states[0], &burst, config);
        assert_eq!(states[0].cwnd, 100_332.0);
    }

    /// PROBE_RTT lasts a round at least. An ACK that the receiver may have delayed is no new least
    /// round-trip time.
    #[test]
    fn a_round_of_four_packets_is_needed() {
        let (mut bbr, mut states, next) = in_probe_bw();
        let end = bbr.paths[0].least_rtt_at.0 / 1_000_000 + 10_000_000;
        let at = |us: u64, delivered: u64| RateSample {
            rtt: Some(Time::from_us(150)),
            may_be_delayed: true,
            in_flight: 4,
            ..sample(us, delivered, 100)
        };
        let delivered = 100 * next + 97;
        bbr.on_rate(&mut states, S[0], &at(end + 1, delivered));
        assert_eq!((bbr.paths[0].mode, bbr.paths[0].least_rtt), (Mode::ProbeRtt, Some(100e6)));
        bbr.on_rate(&mut states, S[0], &at(end + 300_000, delivered + 99));
        assert_eq!(bbr.paths[0].mode, Mode::ProbeRtt);
        bbr.on_rate(&mut states, S[0], &at(end + 300_001, delivered + 100));
        assert_eq!(bbr.paths[0].mode, Mode::ProbeBw);
    }

    /// A loss that was none: the pipe may be wider than it seemed.
    #[test]
    fn what_is_undone_is_no_full_pipe() {
        let (mut bbr, mut states) = (bbr(), [state(10.0)]);
        rounds(&mut bbr, &mut states, 1, 3);
        assert!(bbr.paths[0].full_bandwidth > 0.0 && bbr.paths[0].full_rounds == 2);
        bbr.undo(S[0]);
        assert_eq!((bbr.paths[0].full_bandwidth, bbr.paths[0].full_rounds), (0.0, 0));
    }

    /// The greatest of the last ten rounds.
    #[test]
    fn an_old_bandwidth_is_forgotten() {
        let mut greatest = Greatest::default();
        for (round, bandwidth, expected) in
            [(0, 5.0, 5.0), (1, 3.0, 5.0), (10, 4.0, 5.0), (11, 1.0, 4.0), (20, 1.0, 4.0), (21, 0.5, 1.0)]
        {
            greatest.enter(round, bandwidth);
            assert_eq!(greatest.get(), expected, "round {round}");
        }
    }

    /// A lower bandwidth counts once the higher ones are ten rounds old.
    #[test]
    fn the_bandwidth_falls_after_ten_rounds() {
        let (mut bbr, mut states) = (bbr(), [state(10.0)]);
        let next = rounds(&mut bbr, &mut states, 1, 3);
        for round in next..next + 12 {
            bbr.on_rate(&mut states, S[0], &sample(100 * round, 100 * round, 50));
        }
        assert!((bbr.paths[0].bandwidth.get() / PER_US - 0.5).abs() < 1e-9);
    }

    /// A packet for each ACK, where the bandwidth lets one expect a hundred: each begins a new count, and is itself more
    /// than that expects.
    #[test]
    fn acks_that_come_late_are_no_burst() {
        let (mut bbr, mut states) = (bbr(), [state(10.0)]);
        rounds(&mut bbr, &mut states, 1, 3);
        assert_eq!(bbr.paths[0].extra[0], 1.0);
    }

    /// The window of before the repair, or before PROBE_RTT, is the largest that was saved since.
    #[test]
    fn the_window_of_before_is_the_largest() {
        for (repair, mode, kept) in [
            (Repair::None, Mode::ProbeBw, 4.0),
            (Repair::None, Mode::ProbeRtt, 50.0),
            (Repair::Recovery, Mode::ProbeBw, 50.0),
        ] {
            let mut bbr = bbr();
            (bbr.paths[0].repair, bbr.paths[0].mode, bbr.paths[0].window_before) = (repair, mode, 50.0);
            bbr.paths[0].save_window(4.0);
            assert_eq!(bbr.paths[0].window_before, kept);
        }
    }

    /// In STARTUP the window grows up to its target, to which bursts add nothing yet: 2.885 bandwidth-delay products of
    /// 100 packets and what hosts hold.
    #[test]
    fn a_window_beyond_its_target_does_not_grow_in_startup() {
        let (mut bbr, mut states) = (bbr(), [state(1000.0)]);
        bbr.paths[0].extra = [5000.0, 0.0];
        bbr.on_rate(&mut states, S[0], &sample(100, 100, 100));
        assert_eq!((bbr.paths[0].mode, states[0].cwnd), (Mode::Startup, 1000.0));
    }

    /// 1.2 Mbit/s of packets of 1,500 B are no slow rate: two packets are held as one.
    #[test]
    fn hosts_hold_two_packets_from_a_rate_on() {
        for (rate, packets) in [(SLOW, 2.0), (SLOW * 0.99, 1.0)] {
            let mut bbr = bbr();
            bbr.paths[0].rate = Some(rate);
            assert_eq!(bbr.paths[0].offload(&BbrConfig::defaults(Preset::Linux)), packets);
        }
    }

    /// PROBE_BW begins its first phase when it begins. An ACK that delivers nothing does not end a start after idleness.
    #[test]
    fn phases_and_restarts_have_their_times() {
        let (mut bbr, mut states, next) = in_probe_bw();
        bbr.paths[0].probe_bandwidth(S[0], Time::from_us(100 * next + 7));
        assert_eq!(bbr.paths[0].phase_at, Time::from_us(100 * next + 7));
        for (acked, stays) in [(0, true), (1, false)] {
            bbr.paths[0].idle_restart = true;
            bbr.on_rate(&mut states, S[0], &RateSample { acked, ..sample(100 * next + 8, 100 * next, 100) });
            assert_eq!(bbr.paths[0].idle_restart, stays);
        }
    }
}
