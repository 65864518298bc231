//! CUBIC's window by RFC 9438.

use super::super::slow_start;
use super::CubicConfig;
use crate::congestion::CongestionState;
use linkpool_units::Time;

/// A subflow, and what it was before its last loss.
#[derive(Clone, Debug, Default)]
pub(super) struct Subflow {
    is: State,
    was: State,
}

#[derive(Clone, Debug, Default)]
struct State {
    /// W_max; `None` before the first loss, and after a timeout: then growth begins at the end of
    /// slow start.
    w_max: Option<f64>,
    /// Window just before the last loss.
    cwnd_prior: f64,
    /// The current stage of congestion avoidance, once it has begun.
    epoch: Option<Epoch>,
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
    /// Congestion avoidance begins at `start` with a window of `cwnd`.
    fn new(w_max: Option<f64>, cwnd: f64, c: f64, start: Time) -> Epoch {
        // After a timeout, or slow start without a loss: K = 0, W_max = cwnd (RFC 9438, sections
        // 4.8 and 4.10).
        let w_max = w_max.unwrap_or(cwnd).max(cwnd);
        // K = cbrt((W_max - cwnd_epoch) / C) (RFC 9438, equation 2)
        let k = ((w_max - cwnd) / c).cbrt();
        Epoch { start, w_max, k, w_est: cwnd }
    }

    /// `W_cubic(t) = C (t - K)^3 + W_max`, t in seconds (RFC 9438, equation 1).
    fn w_cubic(&self, c: f64, t: f64) -> f64 {
        c * (t - self.k).powi(3) + self.w_max
    }
}

impl Subflow {
    pub(super) fn cong_avoid(&mut self, config: &CubicConfig, state: &mut CongestionState, acked: f64, now: Time) {
        if slow_start(state, acked) {
            return;
        }
        let CubicConfig { c, beta, .. } = *config;
        let State { w_max, cwnd_prior, epoch } = &mut self.is;
        let cwnd = state.cwnd;
        let epoch = epoch.get_or_insert_with(|| Epoch::new(*w_max, cwnd, c, now));
        let t = (now - epoch.start).secs();
        // W_est = W_est + alpha segments_acked / cwnd (RFC 9438, equation 4); alpha is 1 once the
        // window of the last loss is reached; before that it compensates for the smaller cut
        // (section 4.3).
        let reached = epoch.w_est >= *cwnd_prior;
        let alpha = if reached { 1.0 } else { 3.0 * (1.0 - beta) / (1.0 + beta) };
        epoch.w_est += alpha * acked / cwnd;
        state.cwnd = if epoch.w_cubic(c, t) < epoch.w_est {
            // The Reno-friendly region (RFC 9438, section 4.3); never down.
            epoch.w_est.max(cwnd)
        } else {
            // (target - cwnd) / cwnd for each packet acknowledged (RFC 9438, sections 4.2, 4.4 and
            // 4.5)
            let target = epoch.w_cubic(c, t + state.srtt * 1e-12).clamp(cwnd, 1.5 * cwnd);
            cwnd + acked * (target - cwnd) / cwnd
        };
    }

    /// RFC 9438, section 4.6, with W_max of section 4.7.
    pub(super) fn ssthresh(&mut self, config: &CubicConfig, cwnd: f64, flight: u32) -> f64 {
        let CubicConfig { beta, fast_convergence, .. } = *config;
        let gives_way = fast_convergence && self.is.w_max.is_some_and(|w_max| cwnd < w_max);
        let w_max = if gives_way { cwnd * (1.0 + beta) / 2.0 } else { cwnd };
        let after = State { w_max: Some(w_max), cwnd_prior: cwnd, epoch: None };
        self.was = std::mem::replace(&mut self.is, after);
        (f64::from(flight) * beta).max(2.0)
    }

    /// RFC 9438, section 4.8.
    pub(super) fn on_timeout(&mut self) {
        (self.is.w_max, self.is.epoch) = (None, None);
    }

    /// The epoch does not count the time without data (RFC 9438, section 5.8).
    pub(super) fn tx_start(&mut self, before: Time, now: Time) {
        if let Some(epoch) = &mut self.is.epoch {
            epoch.start = (epoch.start + (now - before)).min(now);
        }
    }

    /// RFC 9438, section 4.9: W_max, K, the start of the epoch and W_est have the values of before
    /// the loss.
    pub(super) fn undo(&mut self) {
        self.is = self.was.clone();
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{S, ack, state};
    use super::super::super::{Ack, CongestionControl};
    use super::super::{Cubic, CubicConfig, CubicRules, Rules};
    use super::*;

    fn cubic() -> Cubic {
        let rules = CubicRules::Rfc9438;
        Cubic::new(&CubicConfig { c: 0.4, beta: 0.7, fast_convergence: true, hystart: false, rules }, 1)
    }

    fn of(cubic: &mut Cubic) -> &mut State {
        match &mut cubic.rules {
            Rules::Rfc9438(subflows) => &mut subflows[0].is,
            Rules::Linux(..) => panic!("Linux's rules"),
        }
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
            assert_eq!(of(&mut c).epoch.as_ref().unwrap().start, Time::from_secs(begins));
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
                0 => assert!((of(&mut c).epoch.as_ref().unwrap().k - 9.0856).abs() < 1e-4),
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
        (p.cwnd, of(&mut c).epoch.as_mut().unwrap().w_est) = (20.0, 20.0);
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
        let (cwnd, before) = (p.cwnd, format!("{:?}", of(&mut c)));
        c.ssthresh(std::slice::from_ref(&p), S[0], cwnd as u32);
        c.on_timeout(S[0]);
        assert_ne!(format!("{:?}", of(&mut c)), before);
        c.undo(S[0]);
        assert_eq!(format!("{:?}", of(&mut c)), before);
    }

    #[test]
    fn fast_convergence_gives_way() {
        let (mut c, _) = after_a_loss_at(100.0);
        c.ssthresh(&[state(80.0)], S[0], 80);
        assert_eq!(of(&mut c).w_max, Some(68.0)); // 80 (1 + 0.7) / 2
        c.ssthresh(&[state(90.0)], S[0], 90);
        assert_eq!(of(&mut c).w_max, Some(90.0));
        c.config.fast_convergence = false;
        c.ssthresh(&[state(80.0)], S[0], 80);
        assert_eq!(of(&mut c).w_max, Some(80.0));
    }

    #[test]
    fn after_a_timeout_the_plateau_is_where_slow_start_ends() {
        let (mut c, mut p) = after_a_loss_at(1000.0);
        c.on_timeout(S[0]);
        p.cwnd = 700.0;
        acknowledge(&mut c, &mut p, Time::from_secs(1));
        let epoch = of(&mut c).epoch.as_ref().unwrap();
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
        assert_eq!(of(&mut c).w_max, Some(100.0));
    }

    /// K = 0 at 100 packets. 2 s later the curve is at 100 + 0.4 (2 + 1)^3 = 110.8 one smoothed RTT ahead, of 1 s.
    #[test]
    fn aims_one_smoothed_rtt_ahead() {
        let (mut c, mut p) = (cubic(), CongestionState { srtt: 1e12, ..state(100.0) });
        c.ssthresh(&[state(100.0)], S[0], 100);
        acknowledge(&mut c, &mut p, Time::from_secs(1));
        p.cwnd = 100.0;
        acknowledge(&mut c, &mut p, Time::from_secs(3));
        assert!((100.0 * (p.cwnd - 100.0) - 10.8).abs() < 1e-6, "{}", p.cwnd);
    }

    /// With one packet in flight of a window of 10 a loss leaves the least, 2.
    #[test]
    fn a_loss_cuts_what_is_in_flight() {
        let ssthresh = |flight: u32| cubic().ssthresh(&[state(10.0)], S[0], flight);
        assert_eq!([1, 5, 10].map(ssthresh), [2.0, 3.5, 7.0]);
    }

    /// Before a loss a window of 100 grows as Reno's, and so it does after a timeout.
    #[test]
    fn grows_as_renos_without_a_loss() {
        for timed_out in [false, true] {
            let (mut c, mut p) = (cubic(), state(100.0));
            if timed_out {
                c.ssthresh(&[state(100.0)], S[0], 100);
                c.on_timeout(S[0]);
            }
            c.cong_avoid(std::slice::from_mut(&mut p), S[0], 2.0);
            assert!((p.cwnd - 100.02).abs() < 1e-9, "{}", p.cwnd);
        }
    }
}
