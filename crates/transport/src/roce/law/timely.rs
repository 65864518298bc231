//! TIMELY: a rate that follows the slope of the round-trip time.

use super::{Ack, Path, RateLaw};
use linkpool_settings::{Bounds, settings};
use linkpool_units::{Bytes, Rate, Time};

settings! {
    /// Parameters of TIMELY.
    pub struct TimelyConfig {
        /// Below this round-trip time the rate rises whatever the slope: T_low, 50 us (Mittal et al.,
        /// section 4.4).
        low "timely_low": Time = Time::from_us(50), within Bounds::POSITIVE_SPAN;
        /// Above this round-trip time the rate falls whatever the slope: T_high, 500 us (Mittal et al.,
        /// section 4.4).
        high "timely_high": Time = Time::from_us(500), within Bounds::POSITIVE_SPAN,
            refused |c| c.high < c.low => "must not be below `timely_low`";
        /// The round-trip time by which slopes are divided: 20 us (`TimelyMinRtt` of HPCC's repository).
        min_rtt "timely_min_rtt": Time = Time::from_us(20), within Bounds::POSITIVE_SPAN;
        /// Weight of the latest difference of round-trip times in their average: alpha, 0.875 (Mittal
        /// et al., Algorithm 1; `TimelyAlpha` of HPCC's repository).
        weight "timely_weight": f64 = 0.875, within Bounds::GAIN;
        /// Gain of a fall: beta, 0.8 (Mittal et al., Algorithm 1).
        gain "timely_gain": f64 = 0.8, within Bounds::GAIN;
        /// By how much the rate rises: delta, 10 Mbit/s (Mittal et al., Algorithm 1).
        increase "timely_increase": Rate = Rate::mbps(10), within Bounds::POSITIVE;
        /// Completions in a row without a positive slope after which the rate rises five times as fast: 5
        /// (Mittal et al., Algorithm 1).
        fast_after "timely_fast_after": u32 = 5, within Bounds::POSITIVE;
        /// Payload acknowledged from one completion to the next, each of which sets the rate: a segment
        /// (Mittal et al., section 5: 16 KB). Its round-trip time is that of its last packet.
        segment "timely_segment": Bytes = Bytes(16_000), within Bounds::POSITIVE;
        /// The least rate: 100 Mbit/s (`MIN_RATE` of HPCC's repository).
        least "timely_min_rate": Rate = Rate::mbps(100), within Bounds::POSITIVE;
    }
}

/// How many times faster the rate rises after completions in a row without a positive slope.
const FAST: f64 = 5.0;

/// TIMELY at the sender (Mittal et al., "TIMELY: RTT-based congestion control for the datacenter", SIGCOMM
/// 2015, Algorithm 1). Packets are paced one by one, where the paper's leave in bursts of a segment.
#[derive(Debug)]
pub struct Timely {
    config: TimelyConfig,
    /// The rate of the host's link, and the rate, bit/s.
    line: f64,
    rate: f64,
    /// The round-trip time of the last completion, ps, and the average of their differences.
    before: Option<f64>,
    difference: f64,
    /// Completions in a row without a positive slope.
    calm: u32,
    /// Payload acknowledged since the last completion.
    bytes: u64,
}

impl Timely {
    pub(super) fn new(config: TimelyConfig, path: Path) -> Timely {
        let line = path.line.0 as f64;
        Timely { config, line, rate: line, before: None, difference: 0.0, calm: 0, bytes: 0 }
    }

    /// A segment was acknowledged after `rtt`, ps.
    fn complete(&mut self, rtt: f64) {
        let c = &self.config;
        let Some(before) = self.before.replace(rtt) else { return };
        self.difference += c.weight * (rtt - before - self.difference);
        let slope = self.difference / c.min_rtt.0 as f64;
        let (low, high, step) = (c.low.0 as f64, c.high.0 as f64, c.increase.0 as f64);
        let rate = if rtt < low {
            self.calm = 0;
            self.rate + step
        } else if rtt > high {
            self.calm = 0;
            self.rate * (1.0 - c.gain * (1.0 - high / rtt))
        } else if slope <= 0.0 {
            self.calm += 1;
            self.rate + if self.calm >= c.fast_after { FAST * step } else { step }
        } else {
            self.calm = 0;
            self.rate * (1.0 - c.gain * slope)
        };
        self.rate = rate.clamp((c.least.0 as f64).min(self.line), self.line);
    }
}

impl RateLaw for Timely {
    fn rate(&self) -> f64 {
        self.rate
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        self.bytes += ack.acked;
        if let Some(rtt) = ack.rtt.filter(|_| self.bytes >= self.config.segment.0) {
            self.bytes = 0;
            self.complete(rtt.0 as f64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkpool_settings::{Preset, Settings as _};

    fn timely() -> Timely {
        let mut timely =
            Timely::new(TimelyConfig::defaults(Preset::Linux), Path::of(Rate::gbps(10), Time::from_us(10)));
        timely.rate = 5e9;
        timely
    }

    fn answer(timely: &mut Timely, acked: u64, rtt: Option<u64>) {
        timely.on_ack(&Ack { acked, rtt: rtt.map(Time::from_us), ..Ack::default() });
    }

    /// The rate in Mbit/s after completions with these round-trip times, in us.
    fn after(timely: &mut Timely, rtts: &[u64]) -> f64 {
        for rtt in rtts {
            answer(timely, 16_000, Some(*rtt));
        }
        timely.rate() / 1e6
    }

    /// By hand: from 100 us to 102 us the average is 0.875 x 2 = 1.75 us, the slope 1.75/20 = 0.0875, the fall 0.8
    /// x 0.0875 = 7%: 5,000 becomes 4,650. Then 101 us: 0.125 x 1.75 - 0.875 = -0.65625 us, no positive
    /// slope: 10 more.
    #[test]
    fn the_rate_follows_the_slope() {
        let mut timely = timely();
        assert_eq!(after(&mut timely, &[100]), 5_000.0, "one round-trip time has no slope");
        assert!((after(&mut timely, &[102]) - 4_650.0).abs() < 1e-6);
        assert!((after(&mut timely, &[101]) - 4_660.0).abs() < 1e-6);
        assert!((timely.difference + 656_250.0).abs() < 1e-6);
    }

    /// Below 50 us the rate rises though the time does; above 500 us it falls though the time does not: at 1 ms by
    /// 0.8 (1 - 500/1000) = 40%.
    #[test]
    fn two_times_bound_what_the_slope_says() {
        assert_eq!(after(&mut timely(), &[20, 49]), 5_010.0);
        assert!((after(&mut timely(), &[1_000, 1_000]) - 3_000.0).abs() < 1e-6);
        // At the bounds the slope counts.
        assert_eq!(after(&mut timely(), &[50, 50]), 5_010.0);
        assert_eq!(after(&mut timely(), &[500, 500]), 5_010.0);
    }

    /// Four calm completions add 10 Mbit/s each, from the fifth on 50. A rise of the time ends it.
    #[test]
    fn calm_makes_it_rise_faster() {
        let mut timely = timely();
        assert_eq!(after(&mut timely, &[100; 5]), 5_040.0);
        assert_eq!(after(&mut timely, &[100; 2]), 5_140.0);
        after(&mut timely, &[101, 100]);
        assert_eq!(timely.calm, 1);
    }

    /// A completion is a segment of 16,000 B, at the first round-trip time after it.
    #[test]
    fn a_segment_counts_once() {
        let mut timely = timely();
        answer(&mut timely, 15_999, Some(20));
        assert_eq!((timely.before, timely.bytes), (None, 15_999));
        answer(&mut timely, 1, None);
        answer(&mut timely, 0, Some(20));
        assert_eq!((timely.before, timely.bytes), (Some(20e6), 0));
    }

    #[test]
    fn the_rate_stays_between_the_least_and_the_line() {
        let mut timely = timely();
        assert_eq!(after(&mut timely, &[20; 2_000]), 10_000.0);
        assert_eq!(after(&mut timely, &[100_000; 100]), 100.0);
    }
}
