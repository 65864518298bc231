//! FASTFLOW, once called SMaRTT: marks and delay, packet by packet. As the code of "Ordered Chaos" (SC
//! 2026, `sim/host/uec_src.cpp`) has it, whose constants replace the paper's, which its comments say
//! oscillate.

use super::config::{Config, FASTFLOW_TARGET as TARGET};
use super::window::{Signal, Window, product};
use linkpool_units::Time;

/// Gain of the share of marks, and the share from which marks cut.
const MARKS_GAIN: f64 = 0.05;
const MARKS_THAT_CUT: f64 = 0.3;
/// The delay of an empty path, at most.
const NO_DELAY: Time = Time::from_us(1);
/// Quick adapt acts if less than this part of the window got through.
const GATE: f64 = 0.25;
/// The most packets by which a packet's ACK raises the window below the target, by the distance to it.
const PROPORTIONAL: f64 = 2.0;
/// Bandwidth-delay products by which a window of ACKs raises the window.
const FAIR: f64 = 0.02;
/// The packets by which a marked ACK lowers a window of one product.
const FAIR_CUT: f64 = 0.5;

/// FASTFLOW of one sender.
#[derive(Clone, Debug)]
pub(super) struct Fastflow {
    /// The share of marked ACKs.
    marks: f64,
    /// Bytes without delay since the last ACK with some or with a mark, and the window at that ACK.
    undelayed: f64,
    at_bad_ack: f64,
    /// Bytes acknowledged in the period of quick adapt, which began then.
    achieved: u64,
    since: Time,
    trimmed: bool,
    /// Bytes of ACKs that are yet to be ignored.
    to_ignore: i64,
}

impl Fastflow {
    pub(super) fn new(now: Time) -> Fastflow {
        Fastflow { marks: 0.0, undelayed: 0.0, at_bad_ack: 0.0, achieved: 0, since: now, trimmed: false, to_ignore: 0 }
    }

    pub(super) fn on_ack(&mut self, signal: &Signal, window: &mut Window, config: &Config) {
        let Signal { marked, bytes, .. } = *signal;
        self.achieved += bytes;
        self.marks = MARKS_GAIN * f64::from(marked) + (1.0 - MARKS_GAIN) * self.marks;
        if self.quick_adapt(signal, window, config) {
            return;
        }
        if self.to_ignore > 0 {
            self.to_ignore -= bytes as i64;
            return;
        }
        // Without a valid sample nothing is known of the path.
        let Some(delay) = signal.delay else { return };
        let (mtu, base) = (config.mtu(), window.base_rtt.secs());
        let (bdp, rtt, target) = (product(config.rate, window.base_rtt), base + delay.secs(), TARGET * base);
        // The rules are those of an ACK for a packet.
        let packets = bytes as f64 / mtu;
        if !marked && delay <= NO_DELAY {
            self.undelayed += bytes as f64;
        } else {
            (self.undelayed, self.at_bad_ack) = (0.0, window.bytes);
        }
        let fair = mtu / window.bytes * FAIR * bdp;
        let fair_cut = window.bytes / bdp * FAIR_CUT * mtu;
        let change = if self.at_bad_ack > 0.0 && self.undelayed > self.at_bad_ack {
            mtu
        } else if !marked && rtt < target {
            window.part * (((target - rtt) / rtt * PROPORTIONAL * mtu * (mtu / window.bytes)).min(mtu) + fair)
        } else if !marked {
            window.part * fair
        } else if self.marks <= MARKS_THAT_CUT {
            0.0
        } else if rtt > target {
            -(mtu * (rtt - target) / rtt + fair_cut).min(mtu)
        } else {
            -fair_cut
        };
        window.bytes += packets * change;
        window.clamp(mtu);
    }

    /// Once in 1.5 base RTTs: after a trim, with less than a quarter of the window through, the window is
    /// what got through.
    fn quick_adapt(&mut self, signal: &Signal, window: &mut Window, config: &Config) -> bool {
        if signal.now - self.since < Time((TARGET * window.base_rtt.0 as f64) as u64) {
            return false;
        }
        let acts = self.trimmed && (self.achieved as f64) < GATE * window.bytes;
        if acts {
            window.bytes = self.achieved as f64;
            window.clamp(config.mtu());
            (self.to_ignore, self.trimmed) = (signal.in_flight, false);
        }
        (self.since, self.achieved) = (signal.now, 0);
        acts
    }

    /// A packet of so many bytes was trimmed, or had no answer in time.
    pub(super) fn on_loss(&mut self, bytes: u64, window: &mut Window, config: &Config) {
        self.trimmed = true;
        (self.undelayed, self.at_bad_ack) = (0.0, window.bytes);
        if self.to_ignore <= 0 {
            window.bytes -= bytes as f64;
            window.clamp(config.mtu());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::declaration::Uet;
    use super::*;
    use crate::declaration::Declare;
    use crate::wire::WireConfig;
    use linkpool_settings::{Preset, Settings};
    use std::sync::Arc;

    /// Packets of 4,096 + 64 B, 100 Gb/s and 12 us: a product of 150,000 B, and a target of 18 us.
    fn config() -> Arc<Config> {
        let mut common = crate::Config::defaults(Preset::Linux);
        common.mss = 4_096;
        let own = <Uet as Declare>::Settings::defaults(Preset::Linux);
        <Uet as Declare>::config(&own, &common, WireConfig { header: 64, ack_size: 64 })
    }

    /// The window after an ACK of one packet at `at` us with `delay` us.
    fn ack(fastflow: &mut Fastflow, window: &mut Window, at: u64, marked: bool, delay: f64) -> f64 {
        let delay = Some(Time((delay * 1e6) as u64));
        let signal = Signal { now: Time::from_us(at), marked, delay, bytes: 4_160, in_flight: 50_000, psn: None };
        fastflow.on_ack(&signal, window, &config());
        window.bytes
    }

    fn sender(bytes: f64) -> (Fastflow, Window) {
        (Fastflow::new(Time::ZERO), Window::new(Some(bytes), config().rate, Time::from_us(12), 1.5))
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-6 * b.abs()
    }

    #[test]
    fn without_marks_the_window_grows() {
        let fair = 4_160.0 / 100_000.0 * 0.02 * 150_000.0;
        let (mut fastflow, mut window) = sender(100_000.0);
        assert!(near(ack(&mut fastflow, &mut window, 1, false, 6.0), 100_000.0 + fair), "18 us are the target");
        let (mut fastflow, mut window) = sender(100_000.0);
        // 16 us: (18 - 16) / 16 x 2 packets x packet / window.
        let more = 2.0 / 16.0 * 2.0 * 4_160.0 * 0.0416 + fair;
        assert!(near(ack(&mut fastflow, &mut window, 1, false, 4.0), 100_000.0 + more));
        // One of several subflows makes a part of either.
        for (delay, whole) in [(6.0, fair), (4.0, more)] {
            let (mut fastflow, mut window) = sender(100_000.0);
            window.part = 0.25;
            assert!(near(ack(&mut fastflow, &mut window, 1, false, delay), 100_000.0 + 0.25 * whole));
        }
    }

    /// Cuts begin when more than 0.3 of ACKs are marked: 1 - 0.95^n, from the seventh on.
    #[test]
    fn many_marks_cut() {
        for (delay, cut) in [
            (8.0, 4_160.0 * 2.0 / 20.0 + 0.5 * 4_160.0 * 2.0 / 3.0),
            (4.0, 0.5 * 4_160.0 * 2.0 / 3.0),
            (200.0, 4_160.0),
        ] {
            let (mut fastflow, mut window) = sender(100_000.0);
            for _ in 0..6 {
                assert_eq!(ack(&mut fastflow, &mut window, 1, true, delay), 100_000.0);
            }
            assert!(near(ack(&mut fastflow, &mut window, 1, true, delay), 100_000.0 - cut), "{delay}");
        }
    }

    /// After a window of ACKs without delay, each raises the window by a packet.
    #[test]
    fn without_delay_the_window_grows_fast() {
        let (mut fastflow, mut window) = sender(8_000.0);
        ack(&mut fastflow, &mut window, 1, false, 2.0);
        let at_bad_ack = 8_000.0;
        assert_eq!(fastflow.at_bad_ack, at_bad_ack);
        ack(&mut fastflow, &mut window, 1, false, 1.0);
        let before = window.bytes;
        assert_eq!(ack(&mut fastflow, &mut window, 1, false, 0.0), before + 4_160.0, "8,320 B are more than 8,000 B");
    }

    /// A trim takes its packet. 18 us later 4,160 B, less than a quarter of the window, have got through: that is
    /// the window, and the ACKs of the 50,000 B in flight are ignored.
    #[test]
    fn quick_adapt_follows_a_trim() {
        let (mut fastflow, mut window) = sender(100_000.0);
        fastflow.on_loss(4_160, &mut window, &config());
        assert_eq!(window.bytes, 95_840.0);
        let untrimmed = ack(&mut sender(100_000.0).0, &mut sender(100_000.0).1.clone(), 18, false, 6.0);
        assert!(untrimmed > 90_000.0);
        assert_eq!(ack(&mut fastflow, &mut window, 18, false, 6.0), 4_160.0);
        fastflow.on_loss(4_160, &mut window, &config());
        for _ in 0..13 {
            assert_eq!(ack(&mut fastflow, &mut window, 19, false, 6.0), 4_160.0);
        }
        assert!(ack(&mut fastflow, &mut window, 19, false, 6.0) > 4_160.0);
    }

    /// 8,320 B without delay are not more than the window of 8,320 B at the last ACK with some: at 12 us, 6 us below the
    /// target, the ACK gives 6 / 12 x 2 packets x packet / window, and 1,500 B that are fair. The next gives a packet.
    #[test]
    fn as_much_as_a_window_without_delay_is_not_more() {
        let (mut fastflow, mut window) = sender(8_320.0);
        ack(&mut fastflow, &mut window, 1, false, 2.0);
        ack(&mut fastflow, &mut window, 1, false, 1.0);
        window.bytes = 8_320.0;
        assert!(near(ack(&mut fastflow, &mut window, 1, false, 0.0), 8_320.0 + 2_080.0 + 1_500.0));
        assert!(near(ack(&mut fastflow, &mut window, 1, false, 0.0), 11_900.0 + 4_160.0));
    }

    /// With 2.5 products a mark costs 1.25 packets up to the target, and above it what it costs is at most one.
    #[test]
    fn a_mark_costs_at_most_a_packet_above_the_target() {
        for (delay, cut) in [(5.9, 5_200.0), (6.0, 5_200.0), (6.1, 4_160.0)] {
            let mut fastflow = Fastflow::new(Time::ZERO);
            let mut window = Window::new(Some(375_000.0), config().rate, Time::from_us(12), 10.0);
            for _ in 0..6 {
                assert_eq!(ack(&mut fastflow, &mut window, 1, true, delay), 375_000.0);
            }
            assert!(near(ack(&mut fastflow, &mut window, 1, true, delay), 375_000.0 - cut), "{delay}");
        }
    }

    /// The second period begins where the first ended, at 18 us, and ends at 36 us.
    #[test]
    fn a_period_of_quick_adapt_follows_the_last() {
        let (mut fastflow, mut window) = sender(100_000.0);
        ack(&mut fastflow, &mut window, 18, false, 6.0);
        fastflow.on_loss(0, &mut window, &config());
        assert!(ack(&mut fastflow, &mut window, 35, false, 6.0) > 100_000.0);
        assert_eq!(ack(&mut fastflow, &mut window, 36, false, 6.0), 8_320.0);
    }

    /// 4,160 B are not less than a quarter of 16,640 B. While ACKs are ignored, a loss takes nothing.
    #[test]
    fn quick_adapt_needs_less_than_a_quarter() {
        for (bytes, acts) in [(16_640.0, false), (16_644.0, true)] {
            let (mut fastflow, mut window) = sender(bytes);
            fastflow.on_loss(0, &mut window, &config());
            assert_eq!(ack(&mut fastflow, &mut window, 18, false, 6.0) == 4_160.0, acts, "{bytes}");
            window.bytes = 50_000.0;
            fastflow.on_loss(4_160, &mut window, &config());
            assert_eq!(window.bytes, if acts { 50_000.0 } else { 45_840.0 });
        }
    }
}
