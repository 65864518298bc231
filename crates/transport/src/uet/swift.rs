//! Swift on the window of a UET sender (Kumar et al., SIGCOMM 2020, Algorithm 1): the delay of each packet
//! against a target. The paper leaves its constants to the operator; they are those of csg-htsim (`swift.cpp`).

use super::window::{Signal, Window};
use crate::control::flow_term;
use linkpool_settings::{Bounds, settings};
use linkpool_units::Time;

/// Packets by which the window grows in a round-trip time (`_ai`), the gain of cuts (`_beta`) and the part of
/// the window that the largest takes (`_max_mdf`).
const INCREASE: f64 = 1.0;
const GAIN: f64 = 0.8;
const LARGEST_CUT: f64 = 0.5;
/// The windows, in packets, between which the target grows by its range.
const FLOWS: (f64, f64) = (0.1, 100.0);
/// After so many timeouts in a row the window is a packet (`KILL_THRESHOLD`).
const RESET_AFTER: u32 = 5;

settings! {
    /// Parameters of Swift on UET.
    #[derive(Copy)]
    pub struct SwiftSettings {
        /// Target of the queueing delay without the term for other flows. Without the key: as
        /// `nscc_target` without its key, so that laws are compared at one target.
        target "swift_target": Option<Time>, from |_s| None => "of `base_rtt`: 0.75 of it, all of it with `trimmable = false`",
            within Bounds::POSITIVE_SPAN;
        /// The most that a small window adds to the target, as many flows share the path: the whole of it
        /// at 0.1 packets, 0.29 of it at one packet, nothing at 100. Without the key: five times the base RTT
        /// and the target together (csg-htsim).
        range "swift_range": Option<Time>, from |_s| None => "of `swift_target`", within Bounds::SPAN;
    }
}

/// The constants of Swift in a network.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SwiftTarget {
    /// Target of the queueing delay of a large window.
    pub target: Time,
    /// What a window of a tenth of a packet adds.
    pub range: Time,
    /// Bytes on the wire of a full packet.
    pub mtu: f64,
}

impl SwiftTarget {
    /// For a network with this base RTT; `target` is that of a sender whose settings say nothing.
    pub(super) fn new(settings: SwiftSettings, target: Time, base_rtt: Time, mtu: f64) -> SwiftTarget {
        let target = settings.target.unwrap_or(target);
        SwiftTarget { target, range: settings.range.unwrap_or((base_rtt + target) * 5), mtu }
    }

    /// With a window of so many packets, seconds (section 3.5).
    fn of(&self, packets: f64) -> f64 {
        self.target.secs() + flow_term(self.range.secs(), FLOWS, packets)
    }
}

/// Swift of one sender.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Swift {
    last_cut: Option<Time>,
    /// The last round-trip time.
    rtt: Time,
    /// Timeouts in a row.
    timeouts: u32,
}

impl Swift {
    pub(super) fn on_ack(&mut self, signal: &Signal, window: &mut Window, c: &SwiftTarget) {
        if signal.bytes > 0 {
            self.timeouts = 0;
        }
        let Some(delay) = signal.delay else { return };
        self.rtt = window.base_rtt + delay;
        let delay = delay.secs();
        let mtu = c.mtu;
        let target = c.of(window.bytes / mtu);
        if delay < target {
            window.bytes += window.part * (INCREASE * mtu * signal.bytes as f64 / window.bytes);
        } else if self.begins_cut(signal.now) {
            window.bytes *= (1.0 - GAIN * (delay - target) / self.rtt.secs()).max(1.0 - LARGEST_CUT);
        }
        window.clamp(mtu);
    }

    /// Is the delay at the target or above it?
    pub(super) fn asks_for_cut(signal: &Signal, window: &Window, c: &SwiftTarget) -> bool {
        signal.delay.is_some_and(|delay| delay.secs() >= c.of(window.bytes / c.mtu))
    }

    /// Once in a round-trip time.
    fn begins_cut(&mut self, now: Time) -> bool {
        let may = self.last_cut.is_none_or(|at| now - at >= self.rtt);
        if may {
            self.last_cut = Some(now);
        }
        may
    }

    /// A packet was trimmed: as at the begin of fast recovery.
    pub(super) fn on_nack(&mut self, now: Time, window: &mut Window, c: &SwiftTarget) {
        if self.begins_cut(now) {
            window.bytes *= 1.0 - LARGEST_CUT;
            window.clamp(c.mtu);
        }
    }

    /// A packet had no answer in time.
    pub(super) fn on_timeout(&mut self, now: Time, window: &mut Window, c: &SwiftTarget) {
        self.timeouts += 1;
        if self.timeouts >= RESET_AFTER {
            window.bytes = c.mtu;
        }
        self.on_nack(now, window, c);
    }
}

#[cfg(test)]
mod tests {
    use super::super::config::Config;
    use super::super::declaration::Uet;
    use super::*;
    use crate::declaration::Declare;
    use crate::wire::WireConfig;
    use linkpool_settings::{Preset, Settings};
    use std::sync::Arc;

    /// Packets of 4,096 + 64 B, a base RTT of 12 us, a target of 9 us of queueing, and a range of 105 us.
    fn config() -> Arc<Config> {
        let common = crate::Config { mss: 4_096, ..crate::Config::defaults(Preset::Linux) };
        let own = <Uet as Declare>::Settings::defaults(Preset::Linux);
        <Uet as Declare>::config(&own, &common, WireConfig { header: 64, ack_size: 64 })
    }

    fn window(packets: f64) -> Window {
        Window::new(Some(packets * 4_160.0), config().rate, Time::from_us(12), 10.0)
    }

    /// The window in packets after an ACK of one packet.
    fn ack(swift: &mut Swift, window: &mut Window, us: u64, delay: f64) -> f64 {
        let delay = Some(Time((delay * 1e6) as u64));
        let signal = Signal { now: Time::from_us(us), marked: true, delay, bytes: 4_160, in_flight: 0, psn: None };
        swift.on_ack(&signal, window, &config().swift);
        window.bytes / 4_160.0
    }

    /// a = 105 / (1 / sqrt(0.1) - 0.1) = 34.2877 us, b = -3.4288 us: 9 us at 100 packets, 9 + 34.2877 / 2 - 3.4288 =
    /// 22.715 us at 4, 39.859 us at one.
    #[test]
    fn the_target_grows_as_the_window_falls() {
        let target = config().swift;
        assert_eq!((target.target, target.range), (Time::from_us(9), Time::from_us(105)));
        for (packets, us) in [(1.0, 39.859), (4.0, 22.715), (100.0, 9.0), (400.0, 9.0)] {
            assert!((target.of(packets) * 1e6 - us).abs() < 1e-3, "{packets} {}", target.of(packets) * 1e6);
        }
        let given = SwiftSettings { target: Some(Time::from_us(3)), range: None };
        assert_eq!(SwiftTarget::new(given, Time::from_us(9), Time::from_us(12), 9.0).range, Time::from_us(75));
    }

    #[test]
    fn below_the_target_it_grows_by_a_packet_in_a_window() {
        let (mut swift, mut window) = (Swift::default(), window(4.0));
        assert_eq!(ack(&mut swift, &mut window, 1, 22.7), 4.25);
        let silent = Signal { now: Time::ZERO, marked: true, delay: None, bytes: 9, in_flight: 0, psn: None };
        swift.on_ack(&silent, &mut window, &config().swift);
        assert_eq!(window.bytes, 4.25 * 4_160.0);
        (window.bytes, window.part) = (4.0 * 4_160.0, 0.5);
        assert_eq!(ack(&mut swift, &mut window, 2, 22.7), 4.125, "one of several subflows");
    }

    #[test]
    fn a_delay_at_the_target_asks_for_a_cut() {
        let signal = |delay| Signal { now: Time::ZERO, marked: true, delay, bytes: 9, in_flight: 0, psn: None };
        let asks =
            |us, packets| Swift::asks_for_cut(&signal(Some(Time::from_us(us))), &window(packets), &config().swift);
        assert_eq!([asks(8, 100.0), asks(9, 100.0), asks(22, 4.0), asks(23, 4.0)], [false, true, false, true]);
        assert!(!Swift::asks_for_cut(&signal(None), &window(9.0), &config().swift));
    }

    /// 30 us of queueing with 4 packets: 7.285 us above the target of an RTT of 42 us. Once in 42 us.
    #[test]
    fn above_the_target_it_is_cut_once_in_a_round_trip_time() {
        let (mut swift, mut window) = (Swift::default(), window(4.0));
        let cut = 4.0 * (1.0 - 0.8 * (30.0 - 22.7151) / 42.0);
        assert!((ack(&mut swift, &mut window, 100, 30.0) - cut).abs() < 1e-4);
        window.bytes = 4.0 * 4_160.0;
        assert_eq!(ack(&mut swift, &mut window, 141, 30.0), 4.0);
        assert!(ack(&mut swift, &mut window, 142, 30.0) < 4.0);
        window.bytes = 4.0 * 4_160.0;
        assert_eq!(ack(&mut swift, &mut window, 2_000, 900.0), 2.0, "at most half");
    }

    /// Trims cut by half, once in a round-trip time; so do timeouts, of which the fifth in a row leaves a packet.
    #[test]
    fn losses_cut_by_half() {
        let (mut swift, mut window) = (Swift::default(), window(32.0));
        ack(&mut swift, &mut window, 1, 1.0);
        window.bytes = 32.0 * 4_160.0;
        let nack = |swift: &mut Swift, us, window: &mut Window| {
            swift.on_nack(Time::from_us(us), window, &config().swift);
            window.bytes / 4_160.0
        };
        assert_eq!([100, 112, 113].map(|us| nack(&mut swift, us, &mut window)), [16.0, 16.0, 8.0]);
        let timeout = |swift: &mut Swift, us, window: &mut Window| {
            swift.on_timeout(Time::from_us(us), window, &config().swift);
            window.bytes / 4_160.0
        };
        assert_eq!([200, 201, 202, 203].map(|us| timeout(&mut swift, us, &mut window)), [4.0; 4]);
        assert_eq!(timeout(&mut swift, 204, &mut window), 1.0);
        window.bytes = 32.0 * 4_160.0;
        ack(&mut swift, &mut window, 205, 1.0);
        assert!(timeout(&mut swift, 206, &mut window) > 30.0, "they count anew");
    }

    /// An ACK of no bytes, as that of a duplicate is, does not end a row of timeouts.
    #[test]
    fn an_ack_of_nothing_leaves_timeouts_in_a_row() {
        for (bytes, packets) in [(0, 1.0), (1, 16.0)] {
            let (mut swift, mut window) = (Swift::default(), window(32.0));
            (200..204).for_each(|us| swift.on_timeout(Time::from_us(us), &mut window, &config().swift));
            let signal = Signal { now: Time::ZERO, marked: false, delay: None, bytes, in_flight: 0, psn: None };
            swift.on_ack(&signal, &mut window, &config().swift);
            window.bytes = 32.0 * 4_160.0;
            swift.on_timeout(Time::from_us(300), &mut window, &config().swift);
            assert_eq!(window.bytes, packets * 4_160.0, "{bytes}");
        }
    }

    /// 9 us with 100 packets are the target: a cut by nothing, after which 21 us have no other.
    #[test]
    fn a_delay_at_the_target_is_a_cut_by_nothing() {
        let (mut swift, mut window) = (Swift::default(), window(100.0));
        window.most = 1e9;
        assert_eq!(ack(&mut swift, &mut window, 1, 9.0), 100.0);
        for (us, packets) in [(21, 100.0), (22, 50.0)] {
            swift.on_nack(Time::from_us(us), &mut window, &config().swift);
            assert_eq!(window.bytes, packets * 4_160.0, "{us} us");
        }
    }
}
