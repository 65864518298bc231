//! CUBIC on each subflow, by RFC 9438 or as in Linux.

use super::hystart::Hystart;
use super::{Ack, CongestionControl, slow_start};
use crate::congestion::CongestionState;
use crate::id::SubflowId;
use linkpool_settings::{Bounds, settings};
use linkpool_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where Linux's CUBIC and RFC 9438 differ: whose rules hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CubicRules {
    /// Those of Linux (net/ipv4/tcp_cubic.c).
    Linux,
    /// Those of RFC 9438.
    Rfc9438,
}

settings! {
    /// Parameters of CUBIC.
    pub struct CubicConfig {
        /// C of RFC 9438, packets per second cubed (section 5: 0.4).
        c "cubic_c": f64 = 0.4, within Bounds::POSITIVE;
        /// A loss multiplies the window by it (beta_cubic of RFC 9438, section 4.6: 0.7).
        beta "cubic_beta": f64 = 0.7,
            within Bounds::above(0.0, "a loss multiplies the window by it: above zero and below 1").below(1.0);
        /// Does a flow release more bandwidth if its window shrinks from loss to loss (fast
        /// convergence, RFC 9438, section 4.7)?
        fast_convergence: bool = true;
        /// Does slow start end before a loss, when the ACKs of a round span half of the least RTT or
        /// its RTTs have grown by an eighth (HyStart, Ha and Rhee 2011, as in Linux)?
        hystart: bool = true, paper_2013 = false;
        /// Whose rules hold where Linux and RFC 9438 differ. `"linux"`: a loss leaves `cubic_beta` of the
        /// *window*, before the first loss the window grows by at least 5% a round, and the window aims
        /// at what the curve reaches one *least* RTT ahead. `"rfc9438"`: a loss leaves `cubic_beta` of
        /// the data *in flight* (section 4.6), the window grows as Reno's at first (section 4.3), and
        /// aims one *smoothed* RTT ahead (section 4.2).
        rules "cubic_rules": CubicRules = CubicRules::Linux, paper_2013 = CubicRules::Rfc9438;
    }
}

/// The part by which the window grows at least in a round before the first loss (Linux, `bictcp_update` in
/// net/ipv4/tcp_cubic.c).
const EARLY_GROWTH: f64 = 0.05;

/// Samples of the RTT in this time after the start of an epoch do not count for the least RTT (Linux,
/// `cubictcp_acked`).
const AFTER_A_LOSS: Time = Time::from_secs(1);

/// CUBIC, without ECN. Every subflow has its own, as in Linux's MPTCP by
/// default.
#[derive(Debug)]
pub struct Cubic {
    config: CubicConfig,
    subflows: Box<[Subflow]>,
    /// The state of each subflow before its last loss.
    before: Box<[Subflow]>,
    /// By subflow; empty without HyStart.
    hystart: Box<[Hystart]>,
    /// The arrival time of the current ACK.
    now: Time,
}

#[derive(Clone, Debug, Default)]
struct Subflow {
    /// W_max; `None` before the first loss, and after a timeout: then growth begins at the end of
    /// slow start.
    w_max: Option<f64>,
    /// Window just before the last loss.
    cwnd_prior: f64,
    /// The current stage of congestion avoidance, once it has begun.
    epoch: Option<Epoch>,
    /// The least RTT since the last timeout, ps; 0 before the first sample (Linux, `delay_min`).
    least_rtt: f64,
}

#[derive(Clone, Debug)]
struct Epoch {
    start: Time,
    /// The window that W_cubic reaches after K.
    w_max: f64,
    /// Seconds.
    k: f64,
    /// The window that Reno would have.
    w_est: f64,
}

impl Epoch {
    /// `W_cubic(t) = C (t - K)^3 + W_max`, t in seconds (RFC 9438, equation 1).
    fn w_cubic(&self, c: f64, t: f64) -> f64 {
        c * (t - self.k).powi(3) + self.w_max
    }
}

impl Subflow {
    /// Notes a sample of the RTT at `now`, as Linux's `cubictcp_acked`.
    fn note_rtt(&mut self, rtt: Time, now: Time) {
        let rtt = rtt.0 as f64;
        let settles = self.epoch.as_ref().is_some_and(|epoch| now < epoch.start + AFTER_A_LOSS);
        if !settles && (self.least_rtt == 0.0 || rtt < self.least_rtt) {
            self.least_rtt = rtt;
        }
    }
}

impl Cubic {
    pub(super) fn new(config: &CubicConfig, n: usize) -> Cubic {
        let subflows: Box<[Subflow]> = vec![Subflow::default(); n].into();
        let hystart = vec![Hystart::new(); if config.hystart { n } else { 0 }].into();
        Cubic { config: config.clone(), before: subflows.clone(), subflows, hystart, now: Time::ZERO }
    }

    /// Congestion avoidance begins with a window of `cwnd`.
    fn epoch(&self, s: SubflowId, cwnd: f64) -> Epoch {
        // After a timeout, or slow start without a loss: K = 0, W_max = cwnd (RFC 9438, sections
        // 4.8 and 4.10).
        let w_max = self.subflows[s].w_max.unwrap_or(cwnd).max(cwnd);
        // K = cbrt((W_max - cwnd_epoch) / C) (RFC 9438, equation 2)
        let k = ((w_max - cwnd) / self.config.c).cbrt();
        Epoch { start: self.now, w_max, k, w_est: cwnd }
    }
}

impl CongestionControl for Cubic {
    fn needs_ecn(&self) -> bool {
        false
    }

    fn in_ack_event(&mut self, states: &mut [CongestionState], s: SubflowId, ack: Ack) -> bool {
        self.now = ack.now;
        if let Some(rtt) = ack.rtt {
            self.subflows[s].note_rtt(rtt, ack.now);
        }
        if let Some(hystart) = self.hystart.get_mut(s.index()) {
            hystart.follow(&mut states[s], &ack);
        }
        false
    }

    fn cong_avoid(&mut self, states: &mut [CongestionState], s: SubflowId, acked: f64) {
        let state = &mut states[s];
        if slow_start(state, acked) {
            return;
        }
        let cwnd = state.cwnd;
        let mut epoch = self.subflows[s].epoch.take().unwrap_or_else(|| self.epoch(s, cwnd));
        let CubicConfig { c, beta, rules, .. } = self.config;
        let t = (self.now - epoch.start).secs();
        // W_est = W_est + alpha segments_acked / cwnd (RFC 9438, equation 4); alpha is 1 once the
        // window of the last loss is reached; before that it compensates for the smaller cut
        // (section 4.3).
        let reached = epoch.w_est >= self.subflows[s].cwnd_prior;
        let alpha = if reached { 1.0 } else { 3.0 * (1.0 - beta) / (1.0 + beta) };
        epoch.w_est += alpha * acked / cwnd;
        let ahead = match rules {
            CubicRules::Linux => self.subflows[s].least_rtt,
            CubicRules::Rfc9438 => state.srtt,
        };
        let grown = if epoch.w_cubic(c, t) < epoch.w_est {
            // The Reno-friendly region (RFC 9438, section 4.3); never down.
            epoch.w_est.max(cwnd)
        } else {
            // (target - cwnd) / cwnd for each packet acknowledged (RFC 9438, sections 4.2, 4.4 and
            // 4.5)
            let target = epoch.w_cubic(c, t + ahead * 1e-12).clamp(cwnd, 1.5 * cwnd);
            cwnd + acked * (target - cwnd) / cwnd
        };
        let early = rules == CubicRules::Linux && self.subflows[s].w_max.is_none();
        state.cwnd = if early { grown.max(cwnd + acked * EARLY_GROWTH) } else { grown };
        self.subflows[s].epoch = Some(epoch);
    }

    /// RFC 9438, section 4.6, or `cubictcp_recalc_ssthresh` of Linux, with W_max of section 4.7.
    fn ssthresh(&mut self, states: &[CongestionState], s: SubflowId, flight: u32) -> f64 {
        let CubicConfig { beta, fast_convergence, rules, .. } = self.config;
        let cwnd = states[s].coupled_window();
        let gives_way = fast_convergence && self.subflows[s].w_max.is_some_and(|w_max| cwnd < w_max);
        let w_max = if gives_way { cwnd * (1.0 + beta) / 2.0 } else { cwnd };
        let least_rtt = self.subflows[s].least_rtt;
        let after = Subflow { w_max: Some(w_max), cwnd_prior: cwnd, epoch: None, least_rtt };
        self.before[s] = std::mem::replace(&mut self.subflows[s], after);
        let cut = match rules {
            CubicRules::Linux => cwnd,
            CubicRules::Rfc9438 => f64::from(flight),
        };
        (cut * beta).max(2.0)
    }

    /// RFC 9438, section 4.8; Linux forgets the least RTT, too (`cubictcp_state`).
    fn on_timeout(&mut self, s: SubflowId) {
        let subflow = &mut self.subflows[s];
        (subflow.w_max, subflow.epoch, subflow.least_rtt) = (None, None, 0.0);
        self.hystart.get_mut(s.index()).into_iter().for_each(Hystart::restart);
    }

    /// The epoch does not count the time without data (RFC 9438, section 5.8; Linux,
    /// `cubictcp_cwnd_event` in net/ipv4/tcp_cubic.c).
    fn tx_start(&mut self, s: SubflowId, before: Time, now: Time) {
        if let Some(epoch) = &mut self.subflows[s].epoch {
            epoch.start = (epoch.start + (now - before)).min(now);
        }
    }

    /// RFC 9438, section 4.9: W_max, K, the start of the epoch and W_est have the values of before
    /// the loss.
    fn undo(&mut self, s: SubflowId) {
        self.subflows[s] = self.before[s].clone();
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{S, ack, state};
    use super::*;

    fn cubic() -> Cubic {
        by(CubicRules::Rfc9438)
    }

    fn by(rules: CubicRules) -> Cubic {
        Cubic::new(&CubicConfig { c: 0.4, beta: 0.7, fast_convergence: true, hystart: false, rules }, 1)
    }

    fn acknowledge(cubic: &mut Cubic, state: &mut CongestionState, at: Time) {
        let states = std::slice::from_mut(state);
        cubic.in_ack_event(states, S[0], Ack { now: at, ..ack(1) });
        cubic.cong_avoid(states, S[0], 1.0);
    }

    fn after_a_loss_at(cwnd: f64) -> (Cubic, CongestionState) {
        let mut c = cubic();
        let mut p = state(cwnd);
        p.ssthresh = c.ssthresh(std::slice::from_ref(&p), S[0], cwnd as u32);
        p.cwnd = p.ssthresh;
        (c, p)
    }

    #[test]
    fn a_loss_leaves_seven_tenths() {
        let (_, p) = after_a_loss_at(1000.0);
        assert_eq!(p.cwnd, 700.0);
        let (_, p) = after_a_loss_at(2.0);
        assert_eq!(p.cwnd, 2.0);
    }

    /// Data at 3 s, then at 7 s: an epoch that began at 2 s goes on as if it had begun at 6 s. One
    /// that began with the last ACK, at 4 s, does not begin in the future.
    #[test]
    fn time_without_data_does_not_count() {
        for (began, begins) in [(2, 6), (4, 7)] {
            let (mut c, mut p) = after_a_loss_at(100.0);
            acknowledge(&mut c, &mut p, Time::from_secs(began));
            c.tx_start(S[0], Time::from_secs(3), Time::from_secs(7));
            assert_eq!(c.subflows[0].epoch.as_ref().unwrap().start, Time::from_secs(begins));
        }
    }

    #[test]
    fn is_back_at_the_old_window_after_k() {
        // W_max = 1000, cwnd 700: K = cbrt(300 / 0.4) = 9.0856 s. Reno, with an RTT of 100 ms, is
        // far behind: 9.0856 s are 91 rounds of alpha = 9/17: 748.
        let (mut c, mut p) = after_a_loss_at(1000.0);
        p.srtt = 100e9;
        let mut at = Time::from_secs(5);
        let mut at_half = 0.0;
        let mut plateau = 0.0;
        for ms in 0..20_000u64 {
            // A window in 100 ms is a hundredth of it in each.
            let before = p.cwnd;
            c.in_ack_event(std::slice::from_mut(&mut p), S[0], Ack { now: at, ..ack(1) });
            c.cong_avoid(std::slice::from_mut(&mut p), S[0], before / 100.0);
            assert!(p.cwnd >= before);
            at += Time::from_ms(1);
            match ms {
                0 => assert!((c.subflows[0].epoch.as_ref().unwrap().k - 9.0856).abs() < 1e-4),
                4543 => at_half = p.cwnd,
                9086 => plateau = p.cwnd,
                _ => {}
            }
        }
        // At K/2: 1000 - 0.4 (4.543)^3 = 962.5.
        assert!((at_half - 962.5).abs() < 3.0, "{at_half}");
        assert!((plateau - 1000.0).abs() < 1.0, "{plateau}");
        // Beyond, convex; 10.9 s after K: 1000 + 0.4 10.9^3 = 1518.
        assert!((p.cwnd - 1518.0).abs() < 25.0, "{}", p.cwnd);
    }

    #[test]
    fn within_a_data_centre_it_is_reno_of_the_same_mean() {
        // RTT 100 us: W_cubic hardly moves. 14 packets after a loss at 20: alpha = 3 0.3 / 1.7 =
        // 9/17 a round.
        let (mut c, mut p) = after_a_loss_at(20.0);
        acknowledge(&mut c, &mut p, Time::from_us(0));
        assert!((p.cwnd - (14.0 + 9.0 / 17.0 / 14.0)).abs() < 1e-9, "{}", p.cwnd);
        // From the window of the last loss on, a packet a round.
        (p.cwnd, c.subflows[0].epoch.as_mut().unwrap().w_est) = (20.0, 20.0);
        acknowledge(&mut c, &mut p, Time::from_us(100));
        assert!((p.cwnd - 20.05).abs() < 1e-9);
    }

    #[test]
    fn growth_is_at_most_half_a_packet_for_each() {
        // K = 0 at 10; after 60 s the target is 0.4 60^3 away.
        let mut c = cubic();
        let mut p = state(10.0);
        acknowledge(&mut c, &mut p, Time::ZERO);
        let before = p.cwnd;
        acknowledge(&mut c, &mut p, Time::from_secs(60));
        assert!((p.cwnd - before - 0.5).abs() < 1e-9);
    }

    #[test]
    fn a_loss_that_was_none_leaves_no_trace() {
        // W_max = 100, and some way along the curve back to it.
        let (mut c, mut p) = after_a_loss_at(100.0);
        acknowledge(&mut c, &mut p, Time::from_secs(1));
        acknowledge(&mut c, &mut p, Time::from_secs(2));
        let (cwnd, before) = (p.cwnd, format!("{:?}", c.subflows));
        c.ssthresh(std::slice::from_ref(&p), S[0], cwnd as u32);
        c.on_timeout(S[0]);
        assert_ne!(format!("{:?}", c.subflows), before);
        c.undo(S[0]);
        assert_eq!(format!("{:?}", c.subflows), before);
    }

    #[test]
    fn fast_convergence_gives_way() {
        let (mut c, _) = after_a_loss_at(100.0);
        c.ssthresh(&[state(80.0)], S[0], 80);
        assert_eq!(c.subflows[0].w_max, Some(68.0)); // 80 (1 + 0.7) / 2
        c.ssthresh(&[state(90.0)], S[0], 90);
        assert_eq!(c.subflows[0].w_max, Some(90.0));
        c.config.fast_convergence = false;
        c.ssthresh(&[state(80.0)], S[0], 80);
        assert_eq!(c.subflows[0].w_max, Some(80.0));
    }

    #[test]
    fn after_a_timeout_the_plateau_is_where_slow_start_ends() {
        let (mut c, mut p) = after_a_loss_at(1000.0);
        c.on_timeout(S[0]);
        p.cwnd = 700.0;
        acknowledge(&mut c, &mut p, Time::from_secs(1));
        let epoch = c.subflows[0].epoch.as_ref().unwrap();
        assert_eq!((epoch.w_max, epoch.k), (700.0, 0.0));
    }

    /// W_est grows by `alpha * segments_acked / cwnd` (RFC 9438, equation 4): two packets count
    /// twice.
    #[test]
    fn an_ack_for_two_counts_twice() {
        let (mut c, mut p) = after_a_loss_at(20.0);
        c.cong_avoid(std::slice::from_mut(&mut p), S[0], 2.0);
        assert!((p.cwnd - (14.0 + 2.0 * 9.0 / 17.0 / 14.0)).abs() < 1e-9, "{}", p.cwnd);
    }

    /// Fast convergence is for a window below that of the last loss, not one that reached it (RFC
    /// 9438, section 4.7).
    #[test]
    fn nothing_gives_way_at_the_same_window() {
        let (mut c, _) = after_a_loss_at(100.0);
        c.ssthresh(&[state(100.0)], S[0], 100);
        assert_eq!(c.subflows[0].w_max, Some(100.0));
    }
    /// Of a window of 10 packets with one in flight, Linux leaves 7, the RFC 0.7, so the least, 2.
    #[test]
    fn linux_cuts_the_window_and_the_rfc_what_is_in_flight() {
        let ssthresh = |rules: CubicRules, flight: u32| by(rules).ssthresh(&[state(10.0)], S[0], flight);
        assert_eq!([1, 5, 10].map(|flight| ssthresh(CubicRules::Linux, flight)), [7.0, 7.0, 7.0]);
        assert_eq!([1, 5, 10].map(|flight| ssthresh(CubicRules::Rfc9438, flight)), [2.0, 3.5, 7.0]);
    }

    /// Before a loss, in a data centre: Reno's growth is 1/100 of a packet for each of a window of 100, and
    /// Linux's a twentieth; after a loss, and again after a timeout, both are as the rules of the loss say.
    #[test]
    fn linux_grows_by_a_twentieth_before_the_first_loss() {
        let grown = |rules: CubicRules, lost: bool, timed_out: bool| {
            let (mut c, mut p) = (by(rules), state(100.0));
            if lost {
                c.ssthresh(&[state(100.0)], S[0], 100);
            }
            if timed_out {
                c.on_timeout(S[0]);
            }
            c.cong_avoid(std::slice::from_mut(&mut p), S[0], 2.0);
            ((p.cwnd - 100.0) * 1e6).round() / 1e6
        };
        let after = |rules: CubicRules| [(false, false), (true, false), (true, true)].map(|(l, t)| grown(rules, l, t));
        assert_eq!(after(CubicRules::Linux), [0.1, 0.02, 0.1]);
        // 2 / 100 at the window of the last loss, and of a flow without one.
        assert_eq!(after(CubicRules::Rfc9438), [0.02, 0.02, 0.02]);
    }

    /// K = 0 at 100 packets. 2 s later the curve is at 100 + 0.4 (2 + 0.1)^3 = 103.7044 one least RTT ahead, of
    /// 100 ms, and at 100 + 0.4 (2 + 1)^3 = 110.8 one smoothed RTT ahead, of 1 s.
    #[test]
    fn linux_aims_one_least_rtt_ahead() {
        let aim = |rules: CubicRules| {
            let (mut c, mut p) = (by(rules), CongestionState { srtt: 1e12, ..state(100.0) });
            c.ssthresh(&[state(100.0)], S[0], 100);
            let mut at = |now: Time, p: &mut CongestionState| {
                c.in_ack_event(std::slice::from_mut(p), S[0], Ack { now, rtt: Some(Time::from_ms(100)), ..ack(1) });
                p.cwnd = 100.0;
                c.cong_avoid(std::slice::from_mut(p), S[0], 1.0);
            };
            at(Time::from_secs(1), &mut p);
            at(Time::from_secs(3), &mut p);
            100.0 * (p.cwnd - 100.0)
        };
        let near = |found: f64, by_hand: f64| assert!((found - by_hand).abs() < 1e-6, "{found}");
        near(aim(CubicRules::Linux), 3.7044);
        near(aim(CubicRules::Rfc9438), 10.8);
    }

    /// A sample in the first second of an epoch, in which queues drain after a loss, does not count; a timeout
    /// forgets all.
    #[test]
    fn the_least_rtt_is_that_of_an_epoch_that_has_settled() {
        let mut c = by(CubicRules::Linux);
        let mut p = state(100.0);
        let mut least = |at_ms: u64, rtt_ms: u64, c: &mut Cubic| {
            let rtt = Some(Time::from_ms(rtt_ms));
            c.in_ack_event(std::slice::from_mut(&mut p), S[0], Ack { now: Time::from_ms(at_ms), rtt, ..ack(1) });
            c.cong_avoid(std::slice::from_mut(&mut p), S[0], 1.0);
            c.subflows[0].least_rtt / 1e9
        };
        assert_eq!(least(10, 50, &mut c), 50.0, "before the first epoch");
        assert_eq!(least(1_009, 40, &mut c), 50.0);
        assert_eq!([least(1_010, 60, &mut c), least(1_011, 40, &mut c)], [50.0, 40.0]);
        c.ssthresh(&[state(100.0)], S[0], 100);
        assert_eq!(c.subflows[0].least_rtt, 40e9);
        c.on_timeout(S[0]);
        assert_eq!(least(2_000, 70, &mut c), 70.0);
    }

    /// Samples of the first second after a loss do not count: 3 ms at 0.999 s is no news, 4 ms at 1 s is.
    #[test]
    fn the_least_rtt_settles_for_a_second_after_a_loss() {
        let mut subflow = Subflow { least_rtt: 5e9, ..Subflow::default() };
        subflow.epoch = Some(Epoch { start: Time::ZERO, w_max: 10.0, k: 0.0, w_est: 10.0 });
        subflow.note_rtt(Time::from_ms(3), Time::from_ms(999));
        assert_eq!(subflow.least_rtt, 5e9);
        subflow.note_rtt(Time::from_ms(4), Time::from_secs(1));
        assert_eq!(subflow.least_rtt, 4e9);
    }

    /// HyStart ends slow start at 20 packets with the ninth RTT of 100 ms in a round, after one of 10 ms. After a
    /// timeout it begins anew, and ends slow start once more.
    #[test]
    fn hystart_ends_each_slow_start() {
        let config = CubicConfig { c: 0.4, beta: 0.7, fast_convergence: true, hystart: true, rules: CubicRules::Linux };
        let mut c = Cubic::new(&config, 1);
        let mut states = [CongestionState { ssthresh: f64::INFINITY, ..state(20.0) }];
        let hear = |c: &mut Cubic, states: &mut [CongestionState; 1], at: u64, rtt: u64| {
            let ack = Ack { now: Time::from_ms(at), rtt: Some(Time::from_ms(rtt)), ..ack(1) };
            assert!(!c.in_ack_event(states, S[0], ack));
            states[0].ssthresh == 20.0
        };
        for from in [0, 1_000] {
            (states[0].snd_una, states[0].snd_nxt) = (states[0].snd_nxt + 1, states[0].snd_nxt + 1_000);
            hear(&mut c, &mut states, from, 10);
            (states[0].snd_una, states[0].snd_nxt) = (states[0].snd_nxt + 1, states[0].snd_nxt + 1_000);
            let ends: Vec<bool> = (1..10).map(|i| hear(&mut c, &mut states, from + 50 * i, 100)).collect();
            assert_eq!(ends.iter().filter(|ends| **ends).count(), 1, "from {from} ms");
            c.on_timeout(S[0]);
            states[0].ssthresh = f64::INFINITY;
        }
    }
}
