use linkpool_units::Time;

/// The constants of the retransmission timer.
#[derive(Clone, Debug)]
pub struct RttConfig {
    /// Lower bound of the RTO.
    pub min_rto: Time,
    /// RTO before the first sample.
    pub initial_rto: Time,
    /// Upper bound of the RTO, back-off included.
    pub max_rto: Time,
    /// Largest back-off factor.
    pub max_backoff: u32,
    /// Gain of the smoothed RTT (alpha of RFC 6298: 1/8).
    pub srtt_gain: f64,
    /// Gain of the variation (beta of RFC 6298: 1/4).
    pub rttvar_gain: f64,
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

    /// A measurement of a segment that was sent once.
    pub(crate) fn sample(&mut self, config: &RttConfig, rtt: Time) {
        let r = rtt.0 as f64;
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
        // Karn: only an ACK of a segment never retransmitted ends the back-off (RFC 6298, section 5)
        self.backoff = 1;
    }

    /// The timer has expired (RFC 6298, (5.5)).
    pub(crate) fn back_off(&mut self, config: &RttConfig) {
        self.backoff = self.backoff.saturating_mul(2).min(config.max_backoff);
    }

    /// The timeout was spurious.
    pub(crate) fn end_back_off(&mut self) {
        self.backoff = 1;
    }

    /// Retransmission timeout, back-off included.
    #[inline]
    pub fn rto(&self, config: &RttConfig) -> Time {
        let once = if self.min == Time::MAX {
            config.initial_rto
        } else {
            // RFC 6298 (2.4), (2.5); the clock's granularity is a picosecond
            Time((self.srtt + 4.0 * self.rttvar) as u64).clamp(config.min_rto, config.max_rto)
        };
        Time(once.0.saturating_mul(self.backoff as u64)).min(config.max_rto)
    }

    /// Smoothed RTT in ps, once there is a sample.
    pub fn srtt(&self) -> Option<f64> {
        (self.min != Time::MAX).then_some(self.srtt)
    }

    /// The least sample.
    pub fn min(&self) -> Option<Time> {
        (self.min != Time::MAX).then_some(self.min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rfc6298() -> RttConfig {
        RttConfig {
            min_rto: Time::from_us(1),
            initial_rto: Time::from_secs(1),
            max_rto: Time::from_secs(60),
            max_backoff: 64,
            srtt_gain: 0.125,
            rttvar_gain: 0.25,
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
}
