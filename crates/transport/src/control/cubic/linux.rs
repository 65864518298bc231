//! CUBIC's window as Linux computes it, in whole packets and whole ticks of its clock:
//! net/ipv4/tcp_cubic.c, and `tcp_slow_start` and `tcp_cong_avoid_ai` of net/ipv4/tcp_cong.c. K is
//! the exact cube root; Linux's table and one step of Newton's are 0.195% away on average (`cubic_root`).

use super::CubicConfig;
use crate::congestion::CongestionState;
use linkpool_units::Time;

/// A tick of Linux's clock, with `CONFIG_HZ=1000`.
const TICK: Time = Time::from_ms(1);

/// Ticks in a second.
const HZ: u64 = 1_000;

/// K and the time since the start of an epoch are in 1/1024 s (`BICTCP_HZ`, a power of two).
const FINE: u32 = 10;

/// Parameters are in 1/1024 (`BICTCP_BETA_SCALE`).
const ONE: u64 = 1 << 10;

/// A window that stays the same looks at the curve again after more than so many ticks (`HZ / 32`).
const SAME_FOR: u64 = HZ / 32;

/// Before the first loss at least one packet more for each so many (`bictcp_update`).
const EARLY: u64 = 20;

/// Where the curve is below the window: one packet more for so many windows ("very small increment").
const FLAT: u64 = 100;

/// At most one packet more for so many (`bictcp_update`: 1.5 windows a round).
const LEAST: u64 = 2;

/// The parameters, as Linux has them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Factors {
    /// A loss multiplies the window by it, 1/1024 (`beta`).
    beta: u64,
    /// C, 1/1024 of a packet per second cubed (`cube_rtt_scale`).
    curve: u64,
    /// Packets for each one that Reno's window grows, in 1/8 of a window (`beta_scale`).
    friendly: u64,
    fast_convergence: bool,
}

impl Factors {
    pub(super) fn new(config: &CubicConfig) -> Factors {
        // What `has_beta` and `has_c` refuse is an error of the scenario, which asks the algorithm before whether it
        // heeds marks.
        let (beta, curve) = (beta_of(config.beta).clamp(1, ONE - 1), 10 * scale_of(config.c).clamp(1, u32::MAX.into()));
        let friendly = 8 * (ONE + beta) / 3 / (ONE - beta);
        Factors { beta, curve, friendly, fast_convergence: config.fast_convergence }
    }

    /// K = cbrt(distance / C) in 1/1024 s (`cube_factor`, `cubic_root`).
    fn k(&self, distance: u64) -> u64 {
        let factor = (1u64 << (10 + 3 * FINE)) / self.curve;
        (factor as f64 * distance as f64).cbrt() as u64
    }
}

/// `beta`, in 1/1024.
fn beta_of(beta: f64) -> u64 {
    (beta * ONE as f64).round() as u64
}

/// `bic_scale`, in 10/1024.
fn scale_of(c: f64) -> u64 {
    (c * ONE as f64 / 10.0).round() as u64
}

/// Is it a number of steps of C, up to 10^6 packets per second cubed?
pub(super) fn has_c(c: f64) -> bool {
    scale_of(c) >= 1 && c <= 1e6
}

/// Is it a number of steps that cuts a window, and leaves some of it?
pub(super) fn has_beta(beta: f64) -> bool {
    (1..ONE).contains(&beta_of(beta))
}

/// The state of a subflow (`struct bictcp`, and `snd_cwnd_cnt` of `struct tcp_sock`).
#[derive(Clone, Debug, Default)]
pub(super) struct Subflow {
    /// Packets acknowledged since the window grew (`snd_cwnd_cnt`).
    counted: u64,
    /// The window grows by one packet for each so many (`cnt`).
    each: u64,
    /// W_max; 0 before the first loss, and after a timeout (`last_max_cwnd`).
    w_max: u64,
    /// The window, and the tick, when the curve was looked at (`last_cwnd`, `last_time`).
    looked: (u64, u64),
    /// The current stage of congestion avoidance, once it has begun (`epoch_start`).
    epoch: Option<Epoch>,
    /// The least RTT since the last timeout, us; 0 before the first sample (`delay_min`).
    least_rtt: u64,
}

#[derive(Clone, Debug)]
struct Epoch {
    /// The tick at which it began.
    start: u64,
    /// The window that the curve reaches after K (`bic_origin_point`).
    w_max: u64,
    /// 1/1024 s (`bic_K`).
    k: u64,
    /// The window that Reno would have (`tcp_cwnd`), and the packets acknowledged since it grew
    /// (`ack_cnt`).
    reno: (u64, u64),
}

fn ticks(at: Time) -> u64 {
    at.0 / TICK.0
}

impl Subflow {
    /// `cubictcp_acked`: samples of the first second of an epoch do not count.
    pub(super) fn note_rtt(&mut self, rtt: Time, now: Time) {
        if self.epoch.as_ref().is_some_and(|epoch| ticks(now) < epoch.start + HZ) {
            return;
        }
        let rtt = (rtt.0 / Time::from_us(1).0).max(1);
        if self.least_rtt == 0 || rtt < self.least_rtt {
            self.least_rtt = rtt;
        }
    }

    /// `cubictcp_cong_avoid`.
    pub(super) fn cong_avoid(&mut self, factors: &Factors, state: &mut CongestionState, acked: f64, now: Time) {
        let mut left = acked;
        if state.in_slow_start() {
            // tcp_slow_start: up to the threshold, and no further.
            let grown = left.min(state.ssthresh - state.cwnd);
            state.cwnd += grown;
            left -= grown;
        }
        let acked = left as u64;
        if acked == 0 {
            return;
        }
        self.update(factors, state.cwnd as u64, acked, ticks(now));
        // tcp_cong_avoid_ai
        let mut grown = 0;
        if self.counted >= self.each {
            (self.counted, grown) = (0, 1);
        }
        self.counted += acked;
        grown += self.counted / self.each;
        self.counted %= self.each;
        state.cwnd += grown as f64;
    }

    /// `bictcp_update`: how many packets make the window grow by one.
    fn update(&mut self, factors: &Factors, cwnd: u64, acked: u64, now: u64) {
        if let Some(epoch) = &mut self.epoch {
            epoch.reno.1 += acked;
        }
        if self.looked.0 == cwnd && now - self.looked.1 <= SAME_FOR {
            return;
        }
        if self.epoch.is_none() || self.looked.1 != now {
            self.looked = (cwnd, now);
            self.each = self.by_curve(factors, cwnd, acked, now);
        }
        if let Some(Epoch { reno: (window, counted), .. }) = &mut self.epoch {
            let one_more = ((cwnd * factors.friendly) >> 3).max(1);
            let more = counted.saturating_sub(1) / one_more;
            (*window, *counted) = (*window + more, *counted - more * one_more);
            if *window > cwnd {
                self.each = self.each.min(cwnd / (*window - cwnd));
            }
        }
        self.each = self.each.max(LEAST);
    }

    /// What the curve asks for.
    fn by_curve(&mut self, factors: &Factors, cwnd: u64, acked: u64, now: u64) -> u64 {
        let w_max = self.w_max;
        let epoch = self.epoch.get_or_insert_with(|| Epoch {
            start: now,
            w_max: w_max.max(cwnd),
            k: factors.k(w_max.saturating_sub(cwnd)),
            reno: (cwnd, acked),
        });
        let ahead = Time::from_us(self.least_rtt).0.div_ceil(TICK.0);
        let t = ((now - epoch.start + ahead) << FINE) / HZ;
        // C (t - K)^3
        let far = u128::from(t.abs_diff(epoch.k));
        let cube = u128::from(factors.curve).saturating_mul(far * far * far);
        let delta = (cube >> (10 + 3 * FINE)).min(u32::MAX.into()) as u64;
        let target = if t < epoch.k { epoch.w_max.saturating_sub(delta) } else { epoch.w_max + delta };
        let each = if target > cwnd { cwnd / (target - cwnd) } else { FLAT * cwnd };
        if w_max == 0 { each.min(EARLY) } else { each }
    }

    /// `cubictcp_recalc_ssthresh`, of the window; the count begins anew with a recovery
    /// (`tcp_init_cwnd_reduction`, `tcp_enter_loss`).
    pub(super) fn ssthresh(&mut self, factors: &Factors, cwnd: f64) -> f64 {
        let cwnd = cwnd as u64;
        let gives_way = factors.fast_convergence && cwnd < self.w_max;
        self.w_max = if gives_way { cwnd * (ONE + factors.beta) / (2 * ONE) } else { cwnd };
        (self.epoch, self.counted) = (None, 0);
        (cwnd * factors.beta / ONE).max(2) as f64
    }

    /// `bictcp_reset`.
    pub(super) fn on_timeout(&mut self) {
        *self = Subflow::default();
    }

    /// The epoch does not count the time without data (`cubictcp_cwnd_event`).
    pub(super) fn tx_start(&mut self, before: Time, now: Time) {
        if let Some(epoch) = &mut self.epoch {
            epoch.start = (epoch.start + (ticks(now) - ticks(before))).min(ticks(now));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::state;
    use super::super::CubicRules;
    use super::*;

    fn factors() -> Factors {
        of(0.4, 0.7)
    }

    fn of(c: f64, beta: f64) -> Factors {
        let rules = CubicRules::Linux;
        Factors::new(&CubicConfig { c, beta, fast_convergence: true, hystart: false, rules })
    }

    /// By net/ipv4/tcp_cubic.c: bic_scale 41, beta 717, and 8 (1024 + 717) / 3 / (1024 - 717) = 15.
    #[test]
    fn factors_are_those_of_linux() {
        let Factors { beta, curve, friendly, .. } = factors();
        assert_eq!((beta, curve, friendly), (717, 410, 15));
        // 2^40 / 410 = 2,681,735,677; times 300 its cube root is 9,300.6: 9.082 s.
        assert_eq!((factors().k(300), factors().k(0)), (9_300, 0));
        // The ends of what can be said in steps of 1/1024 and 10/1024: half a step is one.
        let Factors { beta, curve, friendly, .. } = of(0.005, 0.9994);
        assert_eq!((beta, curve, friendly), (1_023, 10, 8 * 2_047 / 3));
        assert_eq!([0.0004, 0.0005, 0.9995, 0.9996].map(has_beta), [false, true, true, false]);
        assert_eq!([0.0048, 0.0049, 1e6, 1.1e6].map(has_c), [false, true, true, false]);
    }

    struct Flow {
        subflow: Subflow,
        state: CongestionState,
        factors: Factors,
    }

    impl Flow {
        fn new(cwnd: f64) -> Flow {
            Flow { subflow: Subflow::default(), state: state(cwnd), factors: factors() }
        }

        /// After a loss with a window of `cwnd`.
        fn after_a_loss_at(cwnd: f64) -> Flow {
            let mut flow = Flow::new(cwnd);
            flow.lose();
            flow
        }

        fn lose(&mut self) {
            let left = self.subflow.ssthresh(&self.factors, self.state.cwnd);
            (self.state.ssthresh, self.state.cwnd) = (left, left);
        }

        /// The window after an ACK for so many packets at so many milliseconds.
        fn ack(&mut self, packets: u32, ms: u64) -> f64 {
            self.subflow.cong_avoid(&self.factors, &mut self.state, packets.into(), Time::from_ms(ms));
            self.state.cwnd
        }

        /// The number of ACKs of one packet, at one time, that the window takes to grow.
        fn acks_to_grow(&mut self, ms: u64) -> u32 {
            let before = self.state.cwnd;
            (1..10_000).find(|_| self.ack(1, ms) > before).unwrap()
        }
    }

    /// 717/1024 of the whole packets of the window, rounded down: 7.0, 70 and 700; and two at least.
    #[test]
    fn a_loss_leaves_seven_tenths_in_whole_packets() {
        let left = |cwnd: f64| Flow::after_a_loss_at(cwnd).state.cwnd;
        assert_eq!([10.0, 10.9, 100.0, 1000.0, 2.0].map(left), [7.0, 7.0, 70.0, 700.0, 2.0]);
    }

    /// A second loss at 80 of 100: 80 (1024 + 717) / 2048 = 68; a third at 90, which is more: 90; a
    /// fourth at the same: 90.
    #[test]
    fn fast_convergence_gives_way() {
        let mut flow = Flow::after_a_loss_at(100.0);
        let mut lose = |cwnd: f64| {
            flow.subflow.ssthresh(&flow.factors, cwnd);
            flow.subflow.w_max
        };
        assert_eq!([lose(80.0), lose(90.0), lose(90.0)], [68, 90, 90]);
        flow.factors.fast_convergence = false;
        flow.subflow.ssthresh(&flow.factors, 80.0);
        assert_eq!(flow.subflow.w_max, 80);
    }

    /// W_max 1000, cwnd 700, K = 9,300/1024 s. With no RTT yet t = 0 and the target is
    /// 1000 - 410 x 9300^3 / 2^40 = 1000 - 299 (299.9) = 701: one packet for 700.
    /// After 1 s: t = 1024, 1000 - 410 x 8277^3 / 2^40 = 1000 - 211 = 789: each 701 / 88 = 7.
    #[test]
    fn follows_the_curve() {
        let mut flow = Flow::after_a_loss_at(1000.0);
        flow.ack(1, 5_000);
        let epoch = flow.subflow.epoch.as_ref().unwrap();
        assert_eq!((epoch.start, epoch.w_max, epoch.k), (5_000, 1_000, 9_300));
        assert_eq!(flow.subflow.each, 700);
        // 699 more make it 701.
        assert_eq!(flow.acks_to_grow(5_000), 699);
        flow.ack(1, 6_000);
        assert_eq!(flow.subflow.each, 7);
        // A least RTT of 999.5 ms looks 1,000 ticks ahead: t = (1032 + 1000) x 1024 / 1000 = 2080:
        // 1000 - 410 x 7220^3 / 2^40 = 860; 701 / 159.
        flow.subflow.least_rtt = 999_500;
        flow.ack(1, 6_032);
        assert_eq!((flow.subflow.looked, flow.subflow.each), ((701, 6_032), 4));
        // Beyond K: 10 s after it, 1000 + 410 x 10240^3 / 2^40 = 1,400.
        flow.subflow.least_rtt = 0;
        (flow.state.cwnd, flow.subflow.counted) = (1_390.0, 0);
        flow.ack(1, 5_000 + 19_083);
        assert_eq!(flow.subflow.each, 139, "1390 / 10");
    }

    /// An RTT of 1 us is a tick (`usecs_to_jiffies`): 40 ms after its start the curve is at 704, and at 705 a tick
    /// later; 700 / 4 and 700 / 5.
    #[test]
    fn looks_ahead_by_whole_ticks() {
        for (least_rtt, each) in [(0, 175), (1, 140)] {
            let mut flow = Flow::after_a_loss_at(1000.0);
            flow.subflow.least_rtt = least_rtt;
            flow.ack(1, 0);
            flow.ack(1, 40);
            assert_eq!(flow.subflow.each, each);
        }
    }

    /// A window that stays the same looks again after 32 ms, another at the next tick.
    #[test]
    fn looks_at_the_curve_each_32_ms() {
        let mut flow = Flow::after_a_loss_at(1000.0);
        let mut looked = |cwnd: f64, ms: u64| {
            flow.state.cwnd = cwnd;
            flow.ack(1, ms);
            flow.subflow.looked
        };
        assert_eq!(looked(700.0, 1), (700, 1));
        assert_eq!(looked(700.0, 32), (700, 1));
        assert_eq!(looked(700.0, 33), (700, 33));
        assert_eq!(looked(702.0, 34), (702, 34));
        // At the same tick Reno's window alone is asked.
        assert_eq!(looked(703.0, 34), (702, 34));
    }

    /// RTT 100 us: the curve hardly moves. After a loss at 20 the window is 14, and the curve is at 20 - 5 (5.995)
    /// = 15: one packet for 14. A curve at the window asks for 1 of 1,500. Reno's window, 14, has one more for
    /// each 14 x 15 / 8 = 26 packets, or 15 x 15 / 8 = 28: with 27 + 28 acknowledged it is 16.
    #[test]
    fn within_a_data_centre_it_follows_renos_window() {
        let mut flow = Flow::after_a_loss_at(20.0);
        assert_eq!((flow.state.cwnd, flow.acks_to_grow(0)), (14.0, 14));
        let reno = |flow: &Flow| flow.subflow.epoch.as_ref().unwrap().reno;
        assert_eq!((flow.state.cwnd, flow.subflow.each, reno(&flow)), (15.0, 14, (14, 14)));
        assert_eq!((flow.ack(1, 1), flow.subflow.each), (15.0, 1_500));
        // For 31 ms more nothing is computed, however many packets are acknowledged.
        assert_eq!((flow.ack(40, 32), reno(&flow)), (15.0, (14, 55)));
        // The 41 packets counted make one.
        assert_eq!((flow.ack(2, 33), flow.subflow.each), (16.0, 15));
        assert_eq!(reno(&flow), (16, 1));
    }

    /// Reno's window of 105 is 5 ahead of 100: a packet for 20. The curve, at 101, asks for one for 100.
    #[test]
    fn a_reno_that_is_ahead_is_followed() {
        let mut flow = Flow::after_a_loss_at(143.0);
        flow.ack(1, 0);
        assert_eq!((flow.state.cwnd, flow.subflow.each), (100.0, 100));
        flow.subflow.epoch.as_mut().unwrap().reno = (105, 0);
        flow.ack(1, 32);
        assert_eq!(flow.subflow.each, 20);
    }

    /// The least is a packet for two; before a loss a packet for 20, unless the curve is faster.
    #[test]
    fn growth_has_bounds() {
        let mut flow = Flow::new(100.0);
        assert_eq!(flow.acks_to_grow(0), 20);
        flow.ack(1, 60_000);
        assert_eq!(flow.subflow.each, LEAST);
        // After a loss at 10,000 the curve is flat there: a packet for 100 windows.
        let mut flow = Flow::after_a_loss_at(20.0);
        flow.state.cwnd = 20.0;
        flow.ack(1, 0);
        assert_eq!(flow.subflow.each, 2_000);
    }

    /// In slow start up to the threshold; what an ACK has beyond it counts for the curve: 4 of 5.
    #[test]
    fn slow_start_ends_at_its_threshold() {
        let mut flow = Flow::new(9.0);
        flow.state.ssthresh = 10.0;
        assert_eq!(flow.ack(5, 0), 10.0);
        assert_eq!(flow.subflow.counted, 4);
        flow.state.ssthresh = f64::INFINITY;
        assert_eq!((flow.ack(5, 0), flow.subflow.counted), (15.0, 4));
    }

    /// A count above what is asked for now makes one packet, and begins anew (`tcp_cong_avoid_ai`).
    #[test]
    fn a_count_of_before_makes_one_packet() {
        let mut flow = Flow::new(100.0);
        flow.subflow.counted = 90;
        assert_eq!((flow.ack(1, 0), flow.subflow.counted), (101.0, 1));
        assert_eq!((flow.ack(45, 0), flow.subflow.counted), (103.0, 6));
        flow.lose();
        assert_eq!(flow.subflow.counted, 0);
    }

    /// After a timeout all is forgotten: K = 0 at the window at which slow start ends.
    #[test]
    fn a_timeout_forgets_all() {
        let mut flow = Flow::after_a_loss_at(1000.0);
        flow.subflow.note_rtt(Time::from_ms(40), Time::ZERO);
        flow.ack(1, 0);
        flow.subflow.on_timeout();
        assert_eq!((flow.subflow.w_max, flow.subflow.least_rtt), (0, 0));
        flow.ack(1, 1_000);
        let epoch = flow.subflow.epoch.as_ref().unwrap();
        assert_eq!((epoch.start, epoch.w_max, epoch.k), (1_000, 700, 0));
    }

    /// Data at 3 s, then at 7 s: an epoch that began at 2 s goes on as if it had begun at 6 s. One
    /// that began with the last ACK, at 4 s, does not begin in the future.
    #[test]
    fn time_without_data_does_not_count() {
        for (began, begins) in [(2_000, 6_000), (4_000, 7_000)] {
            let mut flow = Flow::after_a_loss_at(100.0);
            flow.ack(1, began);
            flow.subflow.tx_start(Time::from_secs(3), Time::from_secs(7));
            assert_eq!(flow.subflow.epoch.as_ref().unwrap().start, begins);
        }
    }

    /// A sample in the first second of an epoch, in which queues drain after a loss, does not count.
    /// One of less than 1 us is 1 us.
    #[test]
    fn the_least_rtt_is_that_of_an_epoch_that_has_settled() {
        let mut flow = Flow::after_a_loss_at(100.0);
        let note = |flow: &mut Flow, rtt: u64, ms: u64| {
            flow.subflow.note_rtt(Time::from_ns(rtt), Time::from_ms(ms));
            flow.subflow.least_rtt
        };
        assert_eq!(note(&mut flow, 50_000, 10), 50, "before the epoch");
        flow.ack(1, 10);
        assert_eq!(note(&mut flow, 40_000, 1_009), 50);
        assert_eq!(note(&mut flow, 60_000, 1_010), 50);
        assert_eq!(note(&mut flow, 40_000, 1_010), 40);
        assert_eq!(note(&mut flow, 900, 1_011), 1);
        flow.lose();
        assert_eq!(flow.subflow.least_rtt, 1);
    }
}
