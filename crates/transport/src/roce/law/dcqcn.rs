//! DCQCN: a rate that marks cut, and that timers and bytes raise again.

use super::{Path, RateLaw};
use linkpool_settings::{Bounds, Size, settings};
use linkpool_units::{Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When a notification cuts the rate and raises alpha.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reaction {
    /// As it comes (Zhu et al., equation 1).
    AtOnce,
    /// At the next expiry of two timers, one for alpha and one for the rate (HPCC's repository).
    Sampled,
}

settings! {
    /// Parameters of DCQCN.
    pub struct DcqcnConfig {
        /// When a notification of congestion cuts the rate. `"at-once"`: as it comes; alpha rises by
        /// it, and falls whenever `dcqcn_alpha_timer` passes without one (Zhu et al., equations 1 and
        /// 2). `"sampled"`: every `dcqcn_alpha_timer` alpha rises or falls, and every
        /// `dcqcn_cut_timer` the rate is cut, if a notification has come since (HPCC's repository).
        reaction "dcqcn_reaction": Reaction = Reaction::AtOnce;
        /// Gain of alpha, g: 1/256 (Zhu et al., figure 14; `EWMA_GAIN` of HPCC's repository).
        gain "dcqcn_gain": f64 = 1.0 / 256.0, within Bounds::GAIN;
        /// The time after which alpha falls without a notification: 55 us (Zhu et al., figure 14);
        /// 1 us (`ALPHA_RESUME_INTERVAL` of HPCC's repository).
        alpha_timer "dcqcn_alpha_timer": Time = Time::from_us(55), within Bounds::POSITIVE_SPAN;
        /// The time between two cuts: 4 us (`RATE_DECREASE_INTERVAL` of HPCC's repository).
        cut_timer "dcqcn_cut_timer": Time = Time::from_us(4), within Bounds::POSITIVE_SPAN,
            when |c| c.reaction == Reaction::Sampled => "`dcqcn_reaction = \"sampled\"`";
        /// The time after which the rate rises: 55 us (Zhu et al., figure 14); 900 us (`RP_TIMER` of
        /// HPCC's repository).
        increase_timer "dcqcn_increase_timer": Time = Time::from_us(55), within Bounds::POSITIVE_SPAN;
        /// The bytes on the wire after which the rate rises, too: 10 MB (Zhu et al., figure 14).
        /// `"unlimited"`: time alone counts (HPCC's repository).
        byte_counter "dcqcn_byte_counter": u64 as Size = 10_000_000, within Bounds::POSITIVE_OR_UNLIMITED;
        /// Rounds of fast recovery after a cut, F, each of which halves the distance to the target: 5
        /// (Zhu et al., section 3.1); 1 (`FAST_RECOVERY_TIMES` of HPCC's repository).
        fast_rounds "dcqcn_fast_rounds": u32 = 5;
        /// By how much a round of additive increase raises the target: 40 Mbit/s (Zhu et al., section
        /// 3.1); 50 Mbit/s (`RATE_AI` of HPCC's repository).
        additive "dcqcn_additive": Rate = Rate::mbps(40), within Bounds::POSITIVE;
        /// By how much a round of hyper increase raises the target. Zhu et al. name no number; it is
        /// ten times the additive one here, the ratio of the attributes of HPCC's repository (`RateAI`
        /// 5 Mbit/s, `RateHAI` 50). Its settings have 100 Mbit/s (`RATE_HAI`).
        hyper "dcqcn_hyper": Rate = Rate::mbps(400), within Bounds::POSITIVE;
        /// The least rate: 100 Mbit/s (`MIN_RATE` of HPCC's repository; Zhu et al. name none).
        least "dcqcn_min_rate": Rate = Rate::mbps(100), within Bounds::POSITIVE;
        /// Does each cut set the target to the rate before it (Zhu et al., equation 1)? If not, only the
        /// first cut after an increase does (`CLAMP_TARGET_RATE 0` of HPCC's repository).
        clamp "dcqcn_clamp_target": bool = true;
    }
}

impl DcqcnConfig {
    /// What HPCC's repository ships: `simulation/mix/config.txt`.
    pub fn hpcc(&mut self) {
        *self = DcqcnConfig {
            reaction: Reaction::Sampled,
            gain: 1.0 / 256.0,
            alpha_timer: Time::from_us(1),
            cut_timer: Time::from_us(4),
            increase_timer: Time::from_us(900),
            byte_counter: u64::MAX,
            fast_rounds: 1,
            additive: Rate::mbps(50),
            hyper: Rate::mbps(100),
            least: Rate::mbps(100),
            clamp: false,
        };
    }
}

/// DCQCN at the sender: the reaction point (Zhu et al., section 3.1).
#[derive(Debug)]
pub struct Dcqcn {
    config: DcqcnConfig,
    /// The rate of the host's link, R_C and R_T, bit/s.
    line: f64,
    current: f64,
    target: f64,
    alpha: f64,
    /// A notification has come for alpha, and for the rate, that is not taken in ("sampled").
    alpha_waits: bool,
    cut_waits: bool,
    /// When the timers expire; never before the first notification.
    alpha_at: Time,
    cut_at: Time,
    increase_at: Time,
    /// Rounds of increase by time and by bytes since the last cut, and bytes since the last of these.
    by_time: u32,
    by_bytes: u32,
    bytes: u64,
}

impl Dcqcn {
    pub(super) fn new(config: DcqcnConfig, path: Path) -> Dcqcn {
        let line = path.line.0 as f64;
        Dcqcn {
            config,
            line,
            current: line,
            target: line,
            alpha: 1.0,
            alpha_waits: false,
            cut_waits: false,
            alpha_at: Time::MAX,
            cut_at: Time::MAX,
            increase_at: Time::MAX,
            by_time: 0,
            by_bytes: 0,
            bytes: 0,
        }
    }

    /// Alpha, the estimate of how much is marked.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// R_T, the rate to which it recovers, bit/s.
    pub fn target(&self) -> f64 {
        self.target
    }

    fn has_begun(&self) -> bool {
        self.alpha_at != Time::MAX
    }

    fn average(&mut self, marked: bool) {
        self.alpha = (1.0 - self.config.gain) * self.alpha + if marked { self.config.gain } else { 0.0 };
        // Below this, no rate differs by it.
        if self.alpha < 1e-30 {
            self.alpha = 0.0;
        }
    }

    fn cut(&mut self, now: Time) {
        if self.config.clamp || self.by_time > 0 || self.by_bytes > 0 {
            self.target = self.current;
        }
        let least = (self.config.least.0 as f64).min(self.line);
        self.current = (self.current * (1.0 - self.alpha / 2.0)).max(least);
        (self.by_time, self.by_bytes, self.bytes) = (0, 0, 0);
        self.increase_at = now + self.config.increase_timer;
    }

    /// A round of increase, by time or by bytes (Zhu et al., equations 3 and 4).
    fn increase(&mut self) {
        let fast = self.config.fast_rounds;
        let (most, least) = (self.by_time.max(self.by_bytes), self.by_time.min(self.by_bytes));
        let counts_bytes = self.config.byte_counter < u64::MAX;
        let hyper = if counts_bytes { least > fast } else { most > fast.saturating_add(1) };
        if most > fast {
            let step = if hyper { self.config.hyper } else { self.config.additive };
            self.target = (self.target + step.0 as f64).min(self.line);
        }
        self.current = (self.current + self.target) / 2.0;
    }

    /// The alpha timer has expired `at` this time. Once alpha is zero nothing happens until a
    /// notification comes, and the expiries by `now` are passed over.
    fn expire_alpha(&mut self, at: Time, now: Time) {
        let marked = std::mem::take(&mut self.alpha_waits);
        self.average(marked);
        let period = self.config.alpha_timer;
        let expiries = if self.alpha == 0.0 { (now - at).0 / period.0 + 1 } else { 1 };
        self.alpha_at = at + period * expiries;
    }

    /// The timer for cuts has expired `at` this time.
    fn expire_cut(&mut self, at: Time, now: Time) {
        let period = self.config.cut_timer;
        if std::mem::take(&mut self.cut_waits) {
            self.cut(at);
            self.cut_at = at + period;
        } else {
            self.cut_at = at + period * ((now - at).0 / period.0 + 1);
        }
    }
}

impl RateLaw for Dcqcn {
    fn rate(&self) -> f64 {
        self.current
    }

    /// At one instant alpha comes first, then a cut, then an increase.
    fn advance(&mut self, now: Time) {
        loop {
            let at = self.alpha_at.min(self.cut_at).min(self.increase_at);
            if at > now {
                return;
            }
            if self.alpha_at == at {
                self.expire_alpha(at, now);
            } else if self.cut_at == at {
                self.expire_cut(at, now);
            } else {
                self.by_time = self.by_time.saturating_add(1);
                self.increase();
                self.increase_at = at + self.config.increase_timer;
            }
        }
    }

    fn next_change(&self) -> Time {
        if self.cut_waits { self.cut_at.min(self.increase_at) } else { self.increase_at }
    }

    fn on_cnp(&mut self, now: Time) {
        match self.config.reaction {
            Reaction::AtOnce => {
                self.cut(now);
                self.average(true);
                self.alpha_at = now + self.config.alpha_timer;
            }
            Reaction::Sampled => {
                // The first one starts the timers. Alpha, which begins at 1, takes it in already.
                self.alpha_waits = self.has_begun();
                self.cut_waits = true;
                if !self.has_begun() {
                    (self.alpha_at, self.cut_at) = (now + self.config.alpha_timer, now + self.config.cut_timer);
                }
            }
        }
    }

    fn on_sent(&mut self, _psn: u32, bytes: u32) {
        if !self.has_begun() || self.config.byte_counter == u64::MAX {
            return;
        }
        self.bytes += u64::from(bytes);
        while self.bytes >= self.config.byte_counter {
            self.bytes -= self.config.byte_counter;
            self.by_bytes = self.by_bytes.saturating_add(1);
            self.increase();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkpool_settings::{Preset, Settings as _};

    const G: f64 = 1.0 / 256.0;

    fn path(line: Rate) -> Path {
        Path::of(line, us(10))
    }

    fn paper() -> Dcqcn {
        Dcqcn::new(DcqcnConfig::defaults(Preset::Linux), path(Rate::gbps(40)))
    }

    fn hpcc() -> Dcqcn {
        let mut config = DcqcnConfig::defaults(Preset::Linux);
        config.hpcc();
        Dcqcn::new(config, path(Rate::gbps(100)))
    }

    fn us(n: u64) -> Time {
        Time::from_us(n)
    }

    /// Rate and target, Gbit/s.
    fn rates(dcqcn: &Dcqcn) -> (f64, f64) {
        (dcqcn.current / 1e9, dcqcn.target / 1e9)
    }

    fn close(found: (f64, f64), expected: (f64, f64)) {
        let near = |a: f64, b: f64| (a - b).abs() < 1e-9 * b.abs().max(1.0);
        assert!(near(found.0, expected.0) && near(found.1, expected.1), "{found:?} {expected:?}");
    }

    /// By hand, equation 1 with alpha = 1: 40 becomes 20 with target 40, and alpha stays 1 - g + g = 1.
    /// 20 us later alpha is still 1: 20 becomes 10 with target 20. 55 us without a notification: alpha
    /// is 1 - g, and the rate recovers by half of the distance, to 15.
    #[test]
    fn a_notification_cuts_by_half_alpha() {
        let mut dcqcn = paper();
        dcqcn.on_cnp(us(100));
        close(rates(&dcqcn), (20.0, 40.0));
        dcqcn.advance(us(120));
        dcqcn.on_cnp(us(120));
        close(rates(&dcqcn), (10.0, 20.0));
        assert_eq!(dcqcn.alpha(), 1.0);
        dcqcn.advance(Time(us(175).0 - 1));
        close(rates(&dcqcn), (10.0, 20.0));
        dcqcn.advance(us(175));
        close(rates(&dcqcn), (15.0, 20.0));
        assert_eq!(dcqcn.alpha(), 1.0 - G);
        // The cut is (1 - g)/2 of 15, then alpha takes the notification in.
        dcqcn.on_cnp(us(180));
        close(rates(&dcqcn), (15.0 * (1.0 - (1.0 - G) / 2.0), 15.0));
        assert_eq!(dcqcn.alpha(), (1.0 - G) * (1.0 - G) + G);
        assert_eq!(dcqcn.next_change(), us(235));
    }

    /// After a cut to 20: five rounds of fast recovery, 30, 35, 37.5, 38.75, 39.375. Then additive
    /// increase of 40 Mbit/s would pass the line: so from a target of 30.
    #[test]
    fn five_rounds_recover_and_then_the_target_rises() {
        let mut dcqcn = paper();
        (dcqcn.current, dcqcn.target) = (30e9, 30e9);
        dcqcn.on_cnp(us(0));
        let mut expected = 15.0;
        for round in 1..=5 {
            dcqcn.advance(us(55 * round));
            expected = (expected + 30.0) / 2.0;
            close(rates(&dcqcn), (expected, 30.0));
        }
        for round in 6..=8 {
            dcqcn.advance(us(55 * round));
            let target = 30.0 + 0.04 * (round - 5) as f64;
            expected = (expected + target) / 2.0;
            close(rates(&dcqcn), (expected, target));
        }
        // Time alone is no hyper increase: bytes must have come round more than five times, too.
        assert_eq!((dcqcn.by_time, dcqcn.by_bytes), (8, 0));
    }

    /// Bytes count as rounds of their own, 10 MB each, once there was a notification. With more than
    /// five of both the target rises by 400 Mbit/s.
    #[test]
    fn bytes_raise_the_rate_too_and_with_time_faster() {
        let mut dcqcn = paper();
        dcqcn.on_sent(0, 50_000_000);
        assert_eq!(dcqcn.bytes, 0, "no limiter works before the first notification");
        (dcqcn.current, dcqcn.target) = (20e9, 20e9);
        dcqcn.on_cnp(us(0));
        dcqcn.on_sent(0, 9_999_999);
        close(rates(&dcqcn), (10.0, 20.0));
        dcqcn.on_sent(0, 1);
        close(rates(&dcqcn), (15.0, 20.0));
        dcqcn.on_sent(0, 50_000_000);
        // Four more rounds of fast recovery, and one that adds.
        let fast = 20.0 - 10.0 / 32.0;
        close(rates(&dcqcn), ((fast + 20.04) / 2.0, 20.04));
        // Five rounds by time: additive, since more than five by bytes; the sixth is hyper.
        dcqcn.advance(us(5 * 55));
        let target = 20.04 + 5.0 * 0.04;
        assert!((dcqcn.target / 1e9 - target).abs() < 1e-9);
        dcqcn.advance(us(6 * 55));
        assert!((dcqcn.target / 1e9 - target - 0.4).abs() < 1e-9);
        // A cut begins anew.
        dcqcn.on_cnp(us(6 * 55));
        assert_eq!((dcqcn.by_time, dcqcn.by_bytes, dcqcn.bytes), (0, 0, 0));
    }

    /// The line is the most, and 100 Mbit/s the least.
    #[test]
    fn the_rate_stays_between_the_least_and_the_line() {
        let mut dcqcn = paper();
        for _ in 0..20 {
            dcqcn.on_cnp(us(0));
        }
        close(rates(&dcqcn), (0.1, 0.1));
        dcqcn.advance(Time::from_secs(1));
        close(rates(&dcqcn), (40.0, 40.0));
        let slow = Dcqcn::new(DcqcnConfig::defaults(Preset::Linux), path(Rate::mbps(10)));
        assert_eq!(slow.rate(), 1e7);
    }

    /// HPCC's repository: nothing changes before the first timers, 4 us after the first notification,
    /// which alpha does not count. By then alpha was averaged four times without one.
    #[test]
    fn sampled_notifications_wait_for_timers() {
        let mut dcqcn = hpcc();
        dcqcn.on_cnp(us(10));
        assert_eq!((rates(&dcqcn), dcqcn.alpha(), dcqcn.next_change()), ((100.0, 100.0), 1.0, us(14)));
        dcqcn.advance(us(13));
        assert_eq!((rates(&dcqcn), dcqcn.alpha()), ((100.0, 100.0), (1.0 - G).powi(3)));
        dcqcn.advance(us(14));
        let alpha = (1.0 - G) * (1.0 - G).powi(3);
        assert!((dcqcn.alpha() - alpha).abs() < 1e-15);
        let first = 100.0 * (1.0 - alpha / 2.0);
        close(rates(&dcqcn), (first, 100.0));
        // Many in an interval are one: the cut at 18 us, before which alpha rose once. No increase has
        // come since the last cut, so the target stays.
        for at in [15, 16] {
            dcqcn.advance(us(at));
            dcqcn.on_cnp(us(at));
        }
        dcqcn.advance(us(18));
        let mut alpha = alpha * (1.0 - G);
        alpha = ((1.0 - G) * alpha + G) * (1.0 - G) + G;
        alpha *= 1.0 - G;
        close((dcqcn.alpha(), 0.0), (alpha, 0.0));
        close(rates(&dcqcn), (first * (1.0 - alpha / 2.0), 100.0));
        // Without one there is no cut.
        dcqcn.advance(us(22));
        close(rates(&dcqcn), (first * (1.0 - alpha / 2.0), 100.0));
    }

    /// Every 900 us: one round of fast recovery, one additive of 50 Mbit/s, then hyper of 100.
    #[test]
    fn rounds_of_the_repository() {
        let mut dcqcn = hpcc();
        (dcqcn.current, dcqcn.target, dcqcn.alpha) = (20e9, 40e9, 0.0);
        dcqcn.cut(us(0));
        close(rates(&dcqcn), (20.0, 40.0));
        dcqcn.advance(us(900));
        close(rates(&dcqcn), (30.0, 40.0));
        dcqcn.advance(us(1_800));
        close(rates(&dcqcn), (35.025, 40.05));
        dcqcn.advance(us(2_700));
        close(rates(&dcqcn), (37.5875, 40.15));
        // A cut after an increase sets the target, one right after it does not.
        dcqcn.alpha = 1.0;
        dcqcn.cut(us(2_700));
        close(rates(&dcqcn), (18.79375, 37.5875));
        dcqcn.cut(us(2_704));
        close(rates(&dcqcn), (9.396_875, 37.5875));
        let mut clamped = hpcc();
        clamped.config.clamp = true;
        clamped.cut(us(0));
        clamped.cut(us(4));
        close(rates(&clamped), (25.0, 50.0));
    }

    /// A notification behind every seventh expiry of the timers (55 us each). Analysis: alpha before it
    /// falls seven times and rises once in a period, so a = ((1 - g) a + g) (1 - g)^7. The rate falls by a/2, fast
    /// recovery leaves 1/32 of that, and two rounds of additive increase s halve the distance to a rising
    /// target: R = R + 2 s - (a R/64/4 + 3 s/4), so R = 320 s/a. It is where the rate goes from above
    /// and from below.
    #[test]
    fn the_rate_goes_to_its_fixed_point() {
        let alpha = G * (1.0 - G).powi(7) / (1.0 - (1.0 - G).powi(8));
        let expected = 320.0 * 40e6 / alpha;
        assert!((expected / 1e9 - 103.8166).abs() < 1e-3, "{expected}");
        for start in [20e9, 380e9] {
            let mut dcqcn = Dcqcn::new(DcqcnConfig::defaults(Preset::Linux), path(Rate::gbps(400)));
            (dcqcn.current, dcqcn.target) = (start, start);
            let mut now = us(0);
            for _ in 0..40_000 {
                dcqcn.on_cnp(now);
                now += us(55) * 7;
                dcqcn.advance(now);
            }
            assert!((dcqcn.alpha() / alpha - 1.0).abs() < 1e-9);
            assert!((dcqcn.rate() / expected - 1.0).abs() < 1e-6, "{} {expected}", dcqcn.rate());
        }
    }

    /// Long silences cost little, and alpha is then as if each expiry had come.
    #[test]
    fn a_silence_ends_alpha() {
        let mut dcqcn = hpcc();
        dcqcn.on_cnp(us(0));
        dcqcn.advance(Time::from_secs(100));
        assert_eq!((dcqcn.alpha(), dcqcn.alpha_at), (0.0, Time::from_secs(100) + us(1)));
        assert_eq!(dcqcn.cut_at, Time::from_secs(100) + us(4));
        dcqcn.on_cnp(Time::from_secs(100));
        dcqcn.advance(Time::from_secs(100) + us(1));
        assert_eq!(dcqcn.alpha(), G);
    }
}
