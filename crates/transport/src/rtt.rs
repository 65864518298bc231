//! Round-trip times and the retransmission timer.

use linkpool_settings::{Bounds, settings};
use linkpool_units::Time;

settings! {
    /// The constants of the retransmission timer.
    pub struct RttConfig {
        /// Least retransmission timeout.
        min_rto: Time = Time::from_ms(200), within Bounds::POSITIVE;
        /// Is a retransmission timeout at least the smoothed RTT plus `min_rto`, as in Linux? If
        /// not, it is at least `min_rto` (RFC 6298).
        rto_above_srtt: bool = true, paper_2013 = false;
        /// Retransmission timeout before the first RTT sample.
        initial_rto: Time = Time::from_secs(1), paper_2013 = Time::from_ms(1_500), within Bounds::POSITIVE;
        /// Greatest retransmission timeout, back-off included.
        max_rto: Time = Time::from_secs(120), paper_2013 = Time::from_secs(60), within Bounds::POSITIVE_SPAN;
        /// Largest multiple of the retransmission timeout.
        max_backoff: u32 = 64, within Bounds::POSITIVE;
        /// Gain of the smoothed RTT (alpha of RFC 6298: 1/8).
        srtt_gain: f64 = 0.125, paper_2013 = 0.1, within Bounds::GAIN;
        /// Gain of the RTT's variation (beta of RFC 6298: 1/4).
        rttvar_gain: f64 = 0.25, paper_2013 = 0.1, within Bounds::GAIN;
    }
}

impl RttConfig {
    /// No timeout after an RTT sample is shorter.
    #[inline]
    pub(crate) fn least(&self) -> Time {
        self.min_rto.min(self.max_rto)
    }
}

/// Round-trip time and retransmission timeout of a subflow (RFC 6298).
#[derive(Debug)]
pub struct RttEstimator {
    /// Smoothed RTT, ps.
    srtt: f64,
    rttvar: f64,
    min: Time,
    backoff: u32,
}

impl RttEstimator {
    pub(crate) fn new() -> RttEstimator {
        RttEstimator { srtt: 0.0, rttvar: 0.0, min: Time::MAX, backoff: 1 }
    }

    /// Takes a sample: the RTT of a segment that was sent once.
    #[inline(always)]
    pub(crate) fn sample(&mut self, config: &RttConfig, rtt: Time) {
        let r = rtt.0 as i64 as f64; // signed, as in `rto`
        if self.min == Time::MAX {
            // RFC 6298 (2.2)
            self.srtt = r;
            self.rttvar = r / 2.0;
        } else {
            // RFC 6298 (2.3): the variation first, with the old srtt
            self.rttvar += config.rttvar_gain * ((self.srtt - r).abs() - self.rttvar);
            self.srtt += config.srtt_gain * (r - self.srtt);
        }
        self.min = self.min.min(rtt);
        // Karn: only an ACK of a segment never retransmitted ends the back-off (RFC 6298, section
        // 5)
        self.backoff = 1;
    }

    /// Doubles the timeout, since the timer has expired (RFC 6298, (5.5)).
    pub(crate) fn back_off(&mut self, config: &RttConfig) {
        self.backoff = self.backoff.saturating_mul(2).min(config.max_backoff);
    }

    /// Ends the back-off, since the timeout was spurious.
    pub(crate) fn end_back_off(&mut self) {
        self.backoff = 1;
    }

    /// Retransmission timeout, back-off included.
    #[inline]
    pub fn rto(&self, config: &RttConfig) -> Time {
        let once = if self.min == Time::MAX {
            config.initial_rto
        } else {
            // RFC 6298 (2.4), (2.5); the clock's granularity is a picosecond. Linux bounds the term
            // of the variation (`tcp_rtt_estimator` in net/ipv4/tcp_input.c).
            let variation = 4.0 * self.rttvar;
            // By way of signed numbers, which convert in one instruction; times are far below 2^63.
            let least = config.min_rto.0 as i64 as f64;
            let bounded = if config.rto_above_srtt { variation.max(least) } else { variation };
            Time((self.srtt + bounded) as i64 as u64).max(config.min_rto).min(config.max_rto)
        };
        Time(once.0.saturating_mul(self.backoff as u64)).min(config.max_rto)
    }

    /// Smoothed RTT in ps, once there is a sample.
    pub fn srtt(&self) -> Option<f64> {
        (self.min != Time::MAX).then_some(self.srtt)
    }

    /// The variation of the RTT (RTTVAR), ps; 0 before the first sample.
    pub(crate) fn variation(&self) -> f64 {
        self.rttvar
    }

    /// The least sample so far.
    pub fn min(&self) -> Option<Time> {
        (self.min != Time::MAX).then_some(self.min)
    }
}

/// Half of the time for which a least RTT is remembered, which is 5 minutes as in Linux
/// (`tcp_min_rtt_wlen`).
const HALF: Time = Time::from_secs(150);

/// The least recent RTT: the minimum over this half window and the one before, so over the last 2.5
/// to 5 minutes.
#[derive(Debug)]
pub(crate) struct RecentLeast {
    since: Time,
    this: Time,
    before: Time,
}

impl Default for RecentLeast {
    fn default() -> RecentLeast {
        RecentLeast { since: Time::ZERO, this: Time::MAX, before: Time::MAX }
    }
}

impl RecentLeast {
    /// An RTT of `rtt` was measured at `now`.
    #[inline]
    pub(crate) fn sample(&mut self, rtt: Time, now: Time) {
        if now >= self.since + HALF {
            let recent = now < self.since + HALF + HALF;
            self.before = if recent { self.this } else { Time::MAX };
            self.since = if recent { self.since + HALF } else { now };
            self.this = Time::MAX;
        }
        self.this = self.this.min(rtt);
    }

    /// The least recent RTT; `None` before the first sample.
    #[inline]
    pub(crate) fn get(&self) -> Option<Time> {
        let least = self.this.min(self.before);
        (least != Time::MAX).then_some(least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It covers all samples of the last 150 s, and no sample older than 300 s.
    #[test]
    fn the_least_rtt_of_late() {
        let mut random = 1u64;
        let (mut least, mut all) = (RecentLeast::default(), Vec::new());
        assert_eq!(least.get(), None);
        let mut now = Time::ZERO;
        for _ in 0..5000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            now += Time::from_ms((random >> 40) % if random >> 63 == 0 { 1000 } else { 40_000 });
            let rtt = Time::from_us(1 + (random >> 33) % 1000);
            least.sample(rtt, now);
            all.push((now, rtt));
            let of = |age| all.iter().filter(|(at, _)| *at + age > now).map(|(_, rtt)| *rtt).min().unwrap();
            let found = least.get().unwrap();
            assert!(of(HALF + HALF) <= found && found <= of(HALF), "{found} at {now}");
        }
    }

    /// After a silence, no earlier sample counts.
    #[test]
    fn the_least_rtt_before_a_silence_is_forgotten() {
        let mut least = RecentLeast::default();
        least.sample(Time::from_us(5), Time::from_secs(1));
        least.sample(Time::from_us(9), Time::from_secs(149));
        assert_eq!(least.get(), Some(Time::from_us(5)));
        least.sample(Time::from_us(7), Time::from_secs(160));
        assert_eq!(least.get(), Some(Time::from_us(5)));
        least.sample(Time::from_us(9), Time::from_secs(320));
        assert_eq!(least.get(), Some(Time::from_us(7)));
        least.sample(Time::from_us(20), Time::from_secs(1000));
        assert_eq!(least.get(), Some(Time::from_us(20)));
    }

    fn rfc6298() -> RttConfig {
        RttConfig {
            min_rto: Time::from_us(1),
            initial_rto: Time::from_secs(1),
            max_rto: Time::from_secs(60),
            max_backoff: 64,
            srtt_gain: 0.125,
            rttvar_gain: 0.25,
            rto_above_srtt: false,
        }
    }

    #[test]
    fn follows_rfc_6298() {
        let c = rfc6298();
        let mut r = RttEstimator::new();
        assert_eq!(r.rto(&c), Time::from_secs(1));
        r.sample(&c, Time::from_us(100));
        assert_eq!(r.rto(&c), Time::from_us(300)); // 100 + 4 * 50
        r.sample(&c, Time::from_us(180));
        // rttvar = 50 + 1/4 (80 - 50) = 57.5; srtt = 100 + 1/8 80 = 110
        assert_eq!(r.srtt(), Some(110e6));
        assert_eq!(r.rto(&c), Time::from_us(340));
        r.back_off(&c);
        r.back_off(&c);
        assert_eq!(r.rto(&c), Time::from_us(4 * 340));
        r.sample(&c, Time::from_us(110));
        assert!(r.rto(&c) < Time::from_us(340));
    }

    /// RTTs of 100 ms. The variation is 50 ms, then 37.5 ms, and after many samples nearly none: the
    /// timeout is the RTT plus four times it. Linux bounds that term to `min_rto`, the RFC the sum.
    #[test]
    fn the_least_timeout_may_stand_above_the_rtt() {
        for (rto_above_srtt, rto_ms) in [(true, [300, 300, 300]), (false, [300, 250, 200])] {
            let c = RttConfig { min_rto: Time::from_ms(200), rto_above_srtt, ..rfc6298() };
            let mut r = RttEstimator::new();
            let mut after = |samples: u32| {
                (0..samples).for_each(|_| r.sample(&c, Time::from_ms(100)));
                r.rto(&c)
            };
            assert_eq!([after(1), after(1), after(50)], rto_ms.map(Time::from_ms));
        }
    }

    #[test]
    fn backs_off_to_the_bound_and_not_beyond() {
        let c = RttConfig { min_rto: Time::from_ms(200), ..rfc6298() };
        let mut r = RttEstimator::new();
        r.sample(&c, Time::from_us(50));
        assert_eq!(r.rto(&c), Time::from_ms(200));
        for _ in 0..10 {
            r.back_off(&c);
        }
        assert_eq!(r.rto(&c), Time::from_ms(12_800)); // 64 * 200 ms
        let c = RttConfig { max_rto: Time::from_secs(5), ..c };
        assert_eq!(r.rto(&c), Time::from_secs(5));
    }

    /// A sample is forgotten when it is 300 s old, to the picosecond.
    #[test]
    fn the_least_rtt_is_forgotten_after_five_minutes() {
        for (later, expected) in [(Time(0), 9), (Time(1), 5)] {
            let mut least = RecentLeast::default();
            least.sample(Time::from_us(5), Time::ZERO);
            least.sample(Time::from_us(9), HALF + HALF - later);
            assert_eq!(least.get(), Some(Time::from_us(expected)));
        }
    }
}
