//! STrack as csg-htsim has it (`sim/strack.cpp` at 841d9e7, functions are named below), on the window of a UET
//! sender: by the round-trip time alone, as Swift, with a window that is assigned where the paper's grows.
//!
//! Times and bytes are whole numbers, as in that program. Its hops and its 20 us are the base RTT and the target
//! here. A window below a packet sends a packet now and then.

use super::window::{Signal, Window};
use linkpool_settings::{Bounds, settings};
use linkpool_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The constants of the constructor: gain of increases, bytes x bytes by ps; gain of cuts, and the part of the
/// window that the largest takes; the bounds of the window, bytes and packets; the timeouts in a row after which
/// the window is the least.
const ALPHA: f64 = 0.25;
const BETA: f64 = 0.8;
const LARGEST_CUT: f64 = 0.5;
const LEAST: u32 = 10;
const MOST_PACKETS: u32 = 1_000;
const RESET_AFTER: u32 = 5;
/// Targets of the round-trip time above which the window becomes what got through.
const HIGH: u64 = 2;

/// What becomes of the window below the target.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Below {
    /// It becomes the increase.
    Assigned,
    /// It grows by the increase.
    Added,
}

settings! {
    /// Parameters of STrack as csg-htsim has it.
    #[derive(Copy)]
    pub struct StrackHtsimSettings {
        /// Target of the queueing delay. Without the key: as `nscc_target` without its key, so that laws are
        /// compared at one target.
        target "strack_htsim_target": Option<Time>, from |_s| None => "of `base_rtt`: 0.75 of it, all of it with `trimmable = false`",
            within Bounds::POSITIVE_SPAN;
        /// What becomes of the window on an ACK below the target. `"assigned"`: a quarter of the time from the
        /// smoothed round-trip time to the target, in ps, over the window in bytes; this is csg-htsim's fault.
        /// `"added"`: it grows by that, as the line would read with `+=`.
        below "strack_htsim_below": Below = Below::Assigned;
    }
}

/// The constants of csg-htsim's STrack in a network.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct StrackHtsimTarget {
    /// Target of the queueing delay.
    pub target: Time,
    /// What becomes of the window below it.
    pub below: Below,
    /// Round-trip time of the network without load.
    pub base_rtt: Time,
    /// Bytes on the wire of a full packet.
    pub mtu: u32,
}

/// STrack of csg-htsim of one sender.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StrackHtsim {
    /// The window, bytes; none before the first answer.
    cwnd: Option<u32>,
    /// The smoothed round-trip time (`_rtt`); 0 before the first.
    smoothed: u64,
    last_cut: Time,
    /// Timeouts in a row.
    timeouts: u32,
    through: Through,
    /// When the last packet was sent, and when the next is due whatever is in flight, if the window is below a packet.
    sent: Time,
    due: Option<Time>,
}

/// What got through in a base RTT.
#[derive(Clone, Copy, Debug, Default)]
struct Through {
    /// Bytes since the last base RTT ended.
    bytes: u32,
    /// When that was, and when the last ACK came.
    ended: Time,
    heard: Time,
    /// Bytes of the last base RTT; 0: not known.
    last: u32,
}

impl Through {
    /// An ACK of a packet has come (`receivePacket`).
    fn hear(&mut self, now: Time, packet: u32, base_rtt: Time) {
        self.bytes += packet;
        if now - self.ended > base_rtt {
            let flows = now - self.heard < base_rtt;
            (self.last, self.bytes) = if flows { (self.bytes, 0) } else { (0, packet) };
            self.ended = now;
        }
        self.heard = now;
    }
}

impl StrackHtsim {
    pub(super) fn on_ack(&mut self, signal: &Signal, window: &mut Window, c: &StrackHtsimTarget) {
        if signal.bytes > 0 {
            self.timeouts = 0;
        }
        let Some(delay) = signal.delay else { return };
        let rtt = window.base_rtt + delay;
        self.through.hear(signal.now, c.mtu, window.base_rtt);
        let before = self.cwnd(window);
        let target = window.base_rtt + c.target;
        let may_cut = self.may_cut(signal.now);
        self.smooth(rtt);
        if rtt < target {
            self.cwnd = Some(self.below(before, target, c.below));
        } else if may_cut {
            self.cwnd = Some(self.above(before, rtt, target));
            self.last_cut = signal.now;
        }
        self.limit(before, signal.now, window, c);
    }

    fn cwnd(&self, window: &Window) -> u32 {
        self.cwnd.unwrap_or(window.bytes as u32)
    }

    fn may_cut(&self, now: Time) -> bool {
        (now - self.last_cut).0 >= self.smoothed
    }

    /// `update_rtt`.
    fn smooth(&mut self, rtt: Time) {
        self.smoothed = if self.smoothed == 0 { rtt.0 } else { 7 * self.smoothed / 8 + rtt.0 / 8 };
    }

    /// Line 120 (`adjust_cwnd`).
    fn below(&self, cwnd: u32, target: Time, below: Below) -> u32 {
        match below {
            // Where the smoothed time is above the target, the difference of unsigned numbers wraps round. What
            // does not fit into 32 bits is undefined in C++; compilers for x86-64 keep the lowest 32 of 64 bits.
            Below::Assigned => (ALPHA * target.0.wrapping_sub(self.smoothed) as f64 / f64::from(cwnd)) as u64 as u32,
            Below::Added => {
                cwnd.saturating_add((ALPHA * target.0.saturating_sub(self.smoothed) as f64 / f64::from(cwnd)) as u32)
            }
        }
    }

    /// What got through, far above the target; else a cut as Swift's (`adjust_cwnd`).
    fn above(&self, cwnd: u32, rtt: Time, target: Time) -> u32 {
        if rtt.0 > HIGH * target.0 && self.through.last > 0 {
            return self.through.last;
        }
        let cut = BETA * (rtt - target).0 as f64 / rtt.0 as f64;
        (f64::from(cwnd) * (1.0 - cut).max(1.0 - LARGEST_CUT)) as u32
    }

    /// `applySTrackLimits`. A lower window than before counts as cut.
    fn limit(&mut self, before: u32, now: Time, window: &mut Window, c: &StrackHtsimTarget) {
        let cwnd = self.cwnd(window).clamp(LEAST, MOST_PACKETS * c.mtu);
        if cwnd < before {
            self.last_cut = now;
        }
        self.cwnd = Some(cwnd);
        window.bytes = f64::from(cwnd);
        if cwnd >= c.mtu {
            window.clamp(c.mtu.into());
        }
        // `schedule_send`: what is due stays due, unless the window sends before.
        if cwnd < c.mtu && self.due.is_none() {
            self.due = Some(now.max(self.sent + self.gap(cwnd, c)));
        }
    }

    /// The time from one packet to the next with a window below a packet (`_pacing_delay`).
    fn gap(&self, cwnd: u32, c: &StrackHtsimTarget) -> Time {
        let rtt = if self.smoothed == 0 { c.base_rtt.0 } else { self.smoothed };
        let gap = u128::from(rtt) * u128::from(c.mtu) / u128::from(cwnd);
        Time(gap.min(Time::MAX.0.into()) as u64)
    }

    /// When a packet is due whatever is in flight.
    pub(super) fn due(&self) -> Option<Time> {
        self.due
    }

    /// A packet has been sent (`just_sent`, `STrackPacer::doNextEvent`, `cancel`).
    pub(super) fn on_send(&mut self, now: Time, c: &StrackHtsimTarget) {
        self.sent = now;
        self.due = self.cwnd.filter(|cwnd| *cwnd < c.mtu).map(|cwnd| now + self.gap(cwnd, c));
    }

    /// A packet was trimmed: as at the end of fast recovery (`handle_ack`).
    pub(super) fn on_nack(&mut self, now: Time, window: &mut Window, c: &StrackHtsimTarget) {
        let before = self.cwnd(window);
        if self.may_cut(now) {
            self.cwnd = Some((f64::from(before) * (1.0 - LARGEST_CUT)) as u32);
            self.last_cut = now;
        }
        self.limit(before, now, window, c);
    }

    /// A packet had no answer in time (`doNextEvent`).
    pub(super) fn on_timeout(&mut self, now: Time, window: &mut Window, c: &StrackHtsimTarget) {
        self.timeouts += 1;
        if self.timeouts >= RESET_AFTER {
            self.cwnd = Some(LEAST);
        }
        self.on_nack(now, window, c);
    }
}

#[cfg(test)]
mod tests {
    use super::super::declaration::Uet;
    use super::*;
    use crate::declaration::Declare;
    use crate::wire::WireConfig;
    use linkpool_settings::{Preset, Settings};

    /// A sender with packets of 4,000 B, a base RTT of 12 us and a target of 20 us of queueing: 32 us of the round-trip
    /// time.
    struct Driven {
        strack: StrackHtsim,
        window: Window,
        target: StrackHtsimTarget,
    }

    impl Driven {
        fn new(below: Below, bytes: f64) -> Driven {
            let common = crate::Config { mss: 3_936, ..crate::Config::defaults(Preset::Linux) };
            let mut own = <Uet as Declare>::Settings::defaults(Preset::Linux);
            own.strack_htsim.target = Some(Time::from_us(20));
            own.strack_htsim.below = below;
            let config = <Uet as Declare>::config(&own, &common, WireConfig { header: 64, ack_size: 64 });
            let window = Window::new(Some(bytes), config.rate, Time::from_us(12), 100.0);
            Driven { strack: StrackHtsim::default(), window, target: config.strack_htsim }
        }

        /// The number of the law after an ACK at `at` us with a round-trip time of so many us.
        fn ack(&mut self, at: u64, rtt: u64) -> u32 {
            let delay = Some(Time::from_us(rtt - 12));
            let signal = Signal { now: Time::from_us(at), marked: true, delay, bytes: 4_000, in_flight: 0, psn: None };
            self.strack.on_ack(&signal, &mut self.window, &self.target);
            self.number()
        }

        fn number(&self) -> u32 {
            self.strack.cwnd.unwrap()
        }

        fn send(&mut self, at: Time) {
            self.strack.on_send(at, &self.target);
        }

        fn nack(&mut self, at: u64) -> u32 {
            self.strack.on_nack(Time::from_us(at), &mut self.window, &self.target);
            self.number()
        }

        fn timeout(&mut self, at: u64) -> u32 {
            self.strack.on_timeout(Time::from_us(at), &mut self.window, &self.target);
            self.number()
        }
    }

    fn added() -> Driven {
        Driven::new(Below::Added, 48_000.0)
    }

    /// 12 us of 32: a quarter of 20,000,000 ps over 48,000 B are 104, over 104 B 48,076, and so on.
    #[test]
    fn below_the_target_the_window_becomes_the_increase() {
        let mut sender = Driven::new(Below::Assigned, 48_000.0);
        let found = [20, 21, 22, 23].map(|at| (sender.ack(at, 12), sender.window.bytes));
        assert_eq!(found, [(104, 104.0), (48_076, 48_076.0), (104, 104.0), (48_076, 48_076.0)]);
    }

    /// With `+=` it grows by 104 B, and by 103 from 48,104 B: 5,000,000 / 48,104 = 103.9.
    #[test]
    fn mended_it_grows_by_the_increase() {
        let mut sender = added();
        assert_eq!([20, 21].map(|at| sender.ack(at, 12)), [48_104, 48_207]);
        assert_eq!(sender.window.bytes, 48_207.0);
    }

    /// After 12 us, 20 us: 7 x 12 / 8 + 20 / 8 = 13 us are smoothed, 19 us below the target.
    #[test]
    fn increases_go_by_the_smoothed_round_trip_time() {
        let mut sender = Driven::new(Below::Assigned, 48_000.0);
        sender.ack(20, 12);
        assert_eq!(sender.strack.smoothed, 12_000_000);
        assert_eq!(sender.ack(21, 20), 4_750_000 / 104);
        assert_eq!(sender.strack.smoothed, 13_000_000);
    }

    /// 50 us leave 48,000 x (1 - 0.8 x 18 / 50) = 34,176 B. Then 12 us come, and 45.25 us are smoothed, 13.25 us above the
    /// target: a quarter of 2^64 - 13,250,000 over 34,176, of which the lowest 32 bits are 32,171,942 by whole numbers. That is
    /// above the largest window, 1,000 packets.
    #[test]
    fn above_the_target_the_difference_wraps_round() {
        let mut sender = Driven::new(Below::Assigned, 48_000.0);
        assert_eq!(sender.ack(100, 50), 34_176);
        let mut smoothed = sender.strack;
        smoothed.smooth(Time::from_us(12));
        let whole = (((1u128 << 64) - 13_250_000) / (4 * 34_176)) as u32;
        assert_eq!((smoothed.below(34_176, Time::from_us(32), Below::Assigned), whole), (32_171_942, 32_171_942));
        assert_eq!(sender.ack(101, 12), 4_000_000);
        let mut sender = added();
        sender.ack(100, 50);
        assert_eq!(sender.ack(101, 12), 34_176, "mended, it adds nothing");
    }

    /// What csg-htsim's program (841d9e7) does in its own dumb-bell of 10 Gb/s, with packets of 4,000 B, a base RTT of 10 us,
    /// a target of 20 us and a window of 12 packets: the time and the round-trip time of an ACK in ns, and the window after
    /// it. A lone flow is assigned 18 B, then 44,444 B; it is 2 x 20 us late, with four packets through; and when the smoothed time
    /// is above the target, the difference wraps round.
    #[rustfmt::skip]
    const ALONE: [(u64, u64, u32); 32] = [
        (16_400, 16_400, 18), (19_600, 19_600, 44_444), (22_800, 22_800, 44_444),
        (26_000, 26_000, 44_444), (29_200, 29_200, 44_444), (32_400, 32_400, 44_444),
        (35_600, 35_600, 44_444), (38_800, 38_800, 44_444), (42_000, 42_000, 16_000),
        (45_200, 45_200, 16_000), (48_400, 48_400, 16_000), (51_600, 51_600, 16_000),
        (54_800, 35_200, 16_000), (58_000, 35_200, 16_000), (61_200, 35_200, 16_000),
        (64_400, 35_200, 16_000), (67_600, 35_200, 16_000), (70_800, 35_200, 16_000),
        (74_000, 35_200, 16_000), (80_800, 16_400, 4_000_000), (84_000, 16_400, 4_000_000),
        (87_200, 16_400, 4_000_000), (90_400, 16_400, 4_000_000), (97_200, 16_400, 4_000_000),
        (100_400, 19_600, 4_000_000), (103_600, 22_800, 3_607_017),
        (106_800, 26_000, 3_607_017), (110_000, 29_200, 3_607_017),
        (113_200, 32_400, 3_607_017), (116_400, 35_600, 3_607_017),
        (119_600, 38_800, 3_607_017), (122_800, 42_000, 3_607_017),
    ];
    /// One of four flows that begin together.
    #[rustfmt::skip]
    const ONE_OF_FOUR: [(u64, u64, u32); 21] = [
        (19_600, 19_600, 10), (32_400, 32_400, 10), (45_200, 45_200, 10), (58_000, 58_000, 10),
        (70_800, 70_800, 10), (83_600, 83_600, 10), (96_400, 96_400, 10),
        (109_200, 109_200, 10), (122_000, 122_000, 10), (134_800, 134_800, 10),
        (147_600, 147_600, 10), (160_400, 160_400, 10), (7_856_400, 16_400, 4_000_000),
        (7_872_800, 16_400, 4_000_000), (7_876_000, 19_600, 4_000_000),
        (7_879_200, 22_800, 3_607_017), (7_882_400, 26_000, 3_607_017),
        (7_885_600, 29_200, 3_607_017), (7_888_800, 32_400, 3_607_017),
        (7_892_000, 35_600, 3_607_017), (7_895_200, 38_800, 3_607_017),
    ];

    #[test]
    fn windows_are_those_of_the_program() {
        for acks in [&ALONE[..], &ONE_OF_FOUR[..]] {
            let mut sender = Driven::new(Below::Assigned, 48_000.0);
            sender.window.base_rtt = Time::from_us(10);
            sender.target.target = Time::from_us(10);
            for (at, rtt, expected) in acks.iter().copied() {
                let delay = Some(Time::from_ns(rtt - 10_000));
                let signal =
                    Signal { now: Time::from_ns(at), marked: false, delay, bytes: 4_000, in_flight: 0, psn: None };
                sender.strack.on_ack(&signal, &mut sender.window, &sender.target);
                assert_eq!(sender.number(), expected, "{at} ns");
            }
        }
    }

    /// 40 us are 8 us above the target: 0.8 x 8 / 40 = 0.16 of it goes; at most a half. At the target nothing goes, but it
    /// counts as a cut.
    #[test]
    fn above_the_target_it_is_cut_as_swift() {
        assert_eq!(added().ack(100, 40), 40_320);
        let mut sender = Driven::new(Below::Added, 48_001.0);
        assert_eq!(sender.ack(100, 63), 29_105, "48,001 x (1 - 0.8 x 31 / 63) = 29,105.3");
        for (at, expected) in [(1_031, 48_000), (1_032, 40_320)] {
            let mut sender = added();
            assert_eq!(sender.ack(1_000, 32), 48_000);
            assert_eq!(sender.ack(at, 40), expected, "32 us are smoothed before this ACK");
        }
    }

    /// Above 64 us the window is what got through in a base RTT, 12 us, if ACKs came within the last: the first ACK is after a
    /// silence, three come in the 13 us that follow.
    #[test]
    fn far_above_the_target_the_window_is_what_got_through() {
        let after = |last: u64, rtt: u64| {
            let mut sender = Driven::new(Below::Added, 400_000.0);
            for at in [500, 505, 509] {
                sender.strack.through.hear(Time::from_us(at), 4_000, Time::from_us(12));
            }
            sender.ack(last, rtt)
        };
        assert_eq!(after(513, 65), 16_000, "with the first one");
        assert_eq!(after(512, 65), 237_538, "12 us are not yet over: 400,000 x (1 - 0.8 x 33 / 65)");
        assert_eq!(after(513, 64), 240_000, "twice the target is not above it");
        assert_eq!(after(521, 65), 237_538, "12 us of silence");
        assert_eq!(after(513, 1_000), 16_000);
        let mut sender = Driven::new(Below::Added, 400_000.0);
        assert_eq!(sender.ack(500, 1_000), 200_000, "nothing is known: at most a half goes");
        // A silence ends with the first, which counts for the period that follows: three end it, and two the next.
        let mut through = Through::default();
        for (at, last) in [(500, 0), (507, 0), (513, 12_000), (515, 12_000), (526, 8_000)] {
            through.hear(Time::from_us(at), 4_000, Time::from_us(12));
            assert_eq!(through.last, last, "{at}");
        }
    }

    /// Not below 10 B nor above 1,000 packets; a lower number than before is a cut, and the next is 12 us later.
    #[test]
    fn the_number_has_bounds_of_its_own() {
        let mut sender = Driven::new(Below::Assigned, 800_000.0);
        assert_eq!(sender.ack(100, 12), 10, "6 B");
        assert_eq!(sender.window.bytes, 10.0);
        assert_eq!(sender.ack(101, 12), 500_000);
        sender.strack.cwnd = Some(10);
        assert_eq!(sender.ack(110, 40), 10, "a cut 9 us after the lower number comes too soon");
        assert_eq!(sender.strack.last_cut, Time::from_us(100));
        let mut sender = Driven::new(Below::Added, 3_999_999.0);
        sender.strack.cwnd = Some(4_000_000);
        assert_eq!(sender.ack(100, 12), 4_000_000);
        assert_eq!(sender.window.bytes, 4_000_000.0);
        sender.window.most = 225_000.0;
        sender.ack(101, 12);
        assert_eq!((sender.number(), sender.window.bytes), (4_000_000, 225_000.0), "the bound of UET");
        sender.window.most = 1_875.0;
        sender.ack(102, 12);
        assert_eq!((sender.number(), sender.window.bytes), (4_000_000, 4_000.0), "which leaves a packet");
    }

    /// After an ACK at 20 us a window of 104 B has a packet in 12 us x 4,000 / 104, 461.538461 us after the last, and so on; a
    /// packet that the window lets go before then ends that. 10 B are 4.8 ms, which have passed after 9 ms.
    #[test]
    fn a_window_below_a_packet_is_paced() {
        let gap = Time(461_538_461);
        let mut sender = Driven::new(Below::Assigned, 48_000.0);
        sender.send(Time::from_us(1));
        assert_eq!(sender.strack.due(), None, "before the first ACK");
        sender.ack(20, 12);
        let due = Time::from_us(1) + gap;
        assert_eq!(sender.strack.due(), Some(due));
        sender.strack.smoothed = 24_000_000;
        sender.nack(21);
        assert_eq!(sender.strack.due(), Some(due), "what is due stays so");
        sender.strack.smoothed = 12_000_000;
        sender.send(due);
        assert_eq!(sender.strack.due(), Some(due + gap));
        sender.ack(500, 12);
        assert_eq!((sender.number(), sender.strack.due()), (48_076, Some(due + gap)), "it stays due");
        sender.send(Time::from_us(501));
        assert_eq!(sender.strack.due(), None);
        sender.ack(502, 12);
        assert_eq!((sender.number(), sender.strack.due()), (104, Some(Time::from_us(501) + gap)));
        sender.send(Time::from_us(600));
        assert_eq!(sender.strack.due(), Some(Time::from_us(600) + gap), "what goes before it is due is the last");
        sender.strack.cwnd = Some(3_999);
        sender.ack(700, 40);
        sender.strack.cwnd = Some(4_000);
        sender.send(Time::from_us(800));
        assert_eq!(sender.strack.due(), None, "a packet is not below a packet");
        sender.strack.cwnd = Some(10);
        sender.strack.smoothed = 12_000_000;
        sender.nack(9_000);
        assert_eq!(sender.strack.due(), Some(Time::from_us(9_000)));
        sender.strack.smoothed = 0;
        sender.send(Time::from_us(9_000));
        assert_eq!(sender.strack.due(), Some(Time::from_us(9_000 + 4_800)), "400 base RTTs before the first sample");
        sender.strack.smoothed = 12_000_000;
        sender.strack.due = None;
        sender.strack.cwnd = Some(4_000);
        sender.nack(9_001);
        assert_eq!((sender.number(), sender.strack.due()), (4_000, None), "a cut 1 us after the last is none");
    }

    /// Trims cut by half, once in a smoothed round-trip time; so do timeouts, of which the fifth in a row leaves 10 B.
    #[test]
    fn losses_cut_by_half() {
        let mut sender = Driven::new(Below::Added, 64_000.0);
        assert_eq!(sender.nack(50), 32_000, "nothing is smoothed");
        sender.strack.smoothed = 12_000_000;
        assert_eq!([61, 62, 73, 74].map(|at| sender.nack(at)), [32_000, 16_000, 16_000, 8_000]);
        assert_eq!([75, 86, 87, 88].map(|at| sender.timeout(at)), [8_000, 4_000, 4_000, 4_000]);
        assert_eq!((sender.timeout(89), sender.window.bytes), (10, 10.0));
        sender.strack.cwnd = Some(64_000);
        sender.ack(90, 40);
        assert!(sender.timeout(91) > 10_000, "they count anew");
        // An ACK without a sample ends the row, too, and does nothing else; one of no bytes does not end it.
        for (bytes, left) in [(1, 64_000), (0, 10)] {
            sender.strack.timeouts = 4;
            sender.strack.cwnd = Some(64_000);
            let signal = Signal { now: Time::from_us(92), marked: false, delay: None, bytes, in_flight: 0, psn: None };
            sender.strack.on_ack(&signal, &mut sender.window, &sender.target);
            assert_eq!(sender.timeout(93), left);
        }
    }
}
