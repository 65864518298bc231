//! STrack on the window of a UET sender (Le et al., arXiv 2407.15266, Algorithm 4): delay without a mark and
//! delay with one, in other quadrants than NSCC's.
//!
//! Second hand: the text of the paper was not at hand. Its rules are those of a port to uet-htsim
//! (`LeoLongmay/HTSIM` at 513407c, `htsim/sim/strack_cc.h`), with what the port's authors say of the lines in
//! which it departs from the paper; where the two differ, a setting chooses. Where neither says anything, it is
//! NSCC: the average of the delay, quick adapt, how much is added and cut, and what is lost.

use super::nscc::{Nscc, NsccConfig};
use super::window::{Signal, Window};
use linkpool_settings::{Bounds, settings};
use linkpool_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What must be above the target for a marked ACK to cut the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CutBy {
    /// The delay of the packet and the average.
    DelayAndAverage,
    /// The average.
    Average,
}

settings! {
    /// Parameters of STrack. Those of NSCC apply to all that STrack has of it.
    #[derive(Copy)]
    pub struct StrackSettings {
        /// Targets of delay above which an ACK without a mark raises the window, so that nobody starves. Between
        /// one target and so many it stays as it is. (The text of the paper is said to have 2, its table 3.)
        high "strack_high": f64 = 2.0, within Bounds::from(1.0, "must be 1 to 1000").to(1_000.0);
        /// What must be above the target for a marked ACK to cut the window. `"delay-and-average"`: the delay of
        /// its packet and the average (lines 14 and 15 of Algorithm 4). `"average"`: the average alone, as
        /// `LeoLongmay/HTSIM` has it.
        cut_by "strack_cut_by": CutBy = CutBy::DelayAndAverage;
    }
}

/// STrack of one sender.
#[derive(Clone, Debug)]
pub(super) struct Strack(Nscc);

impl Strack {
    pub(super) fn new(now: Time) -> Strack {
        Strack(Nscc::new(now))
    }

    /// The lines are those of Algorithm 4, as the port's authors number them.
    pub(super) fn on_ack(&mut self, signal: &Signal, window: &mut Window, c: &NsccConfig, own: &StrackSettings) {
        let Signal { now, marked, bytes, .. } = *signal;
        if self.0.adapts(signal, window, c) {
            return;
        }
        if let Some(delay) = self.0.delay(signal, c) {
            let target = c.target.secs();
            if marked {
                if self.asks(delay, c, own) {
                    self.0.cut(now, window, c); // line 15, which goes by the average
                }
            } else if delay < target {
                self.0.increase_below(bytes, target - delay, c); // line 9
            } else if delay > own.high * target {
                // Line 7: beta over the window, and beta = 5 bdp_sf (Table 1), which is NSCC's fair increase.
                self.0.increase_fairly(bytes, c);
            }
        }
        self.0.settle(now, window, c);
    }

    /// Does a marked ACK with this delay ask for a cut, be it made or not (line 14)?
    fn asks(&self, delay: f64, c: &NsccConfig, own: &StrackSettings) -> bool {
        let seen = match own.cut_by {
            CutBy::DelayAndAverage => delay,
            CutBy::Average => self.0.average(),
        };
        seen > c.target.secs()
    }

    /// Does an ACK ask for a cut, be it made or not?
    pub(super) fn asks_for_cut(&self, signal: &Signal, c: &NsccConfig, own: &StrackSettings) -> bool {
        signal.marked && self.asks(signal.delay.map_or(self.0.average(), Time::secs), c, own)
    }

    /// A packet was trimmed; as NSCC's.
    pub(super) fn on_nack(&mut self, lost: (u64, bool), signal: &Signal, window: &mut Window, c: &NsccConfig) {
        self.0.on_nack(lost, signal, window, c);
    }

    /// A timeout has declared so many bytes lost; as NSCC's.
    pub(super) fn on_timeout(&mut self, bytes: u64, window: &mut Window, c: &NsccConfig) {
        self.0.on_timeout(bytes, window, c);
    }
}

#[cfg(test)]
mod tests {
    use super::super::nscc::{Average, NsccSettings, WithoutSample};
    use super::super::surroundings::Network;
    use super::*;
    use linkpool_settings::{Preset, Settings};
    use linkpool_units::Rate;

    /// The reference of the constants, 100 Gb/s and 12 us: a target of 9 us, and with packets of 4,096 + 64 B
    /// alpha = 4 x 4,096 B / 12 us, a fair increase of 20,480 B a byte, and eta 614.4 B.
    const NETWORK: Network = Network { base_rtt: Time::from_us(12), rate: Rate::gbps(100) };
    const ALPHA: f64 = 4.0 * 4_096.0 / 12e-6;
    const ETA: f64 = 614.4;

    /// A sender with a window of 100,000 B. The average of the delay is over a base RTT: after 12 us it is the last.
    struct Driven {
        strack: Strack,
        window: Window,
        nscc: NsccConfig,
        own: StrackSettings,
    }

    impl Driven {
        fn new(nscc: impl Fn(&mut NsccSettings), own: impl Fn(&mut StrackSettings)) -> Driven {
            let mut settings = NsccSettings::defaults(Preset::Linux);
            settings.average = Average::BaseRtt;
            nscc(&mut settings);
            let mut strack = StrackSettings::defaults(Preset::Linux);
            own(&mut strack);
            Driven {
                strack: Strack::new(Time::ZERO),
                window: Window::new(Some(100_000.0), NETWORK.rate, NETWORK.base_rtt, 10.0),
                nscc: NsccConfig::new(settings, 4_096, 64, &NETWORK, true),
                own: strack,
            }
        }

        /// The window after an ACK of `bytes` at `at` us, with a delay of so many us if there is a sample.
        fn ack(&mut self, at: f64, marked: bool, delay: Option<f64>, bytes: u64) -> f64 {
            let signal = signal(at, marked, delay, bytes);
            self.strack.on_ack(&signal, &mut self.window, &self.nscc, &self.own);
            self.window.bytes
        }

        fn asks(&self, marked: bool, delay: Option<f64>) -> bool {
            self.strack.asks_for_cut(&signal(0.0, marked, delay, 0), &self.nscc, &self.own)
        }
    }

    fn signal(at: f64, marked: bool, delay: Option<f64>, bytes: u64) -> Signal {
        Signal { now: us(at), marked, delay: delay.map(us), bytes, in_flight: 50_000, psn: None }
    }

    fn us(us: f64) -> Time {
        Time((us * 1e6).round() as u64)
    }

    fn plain() -> Driven {
        Driven::new(|_| {}, |_| {})
    }

    fn near(found: f64, expected: f64) -> bool {
        (found - expected).abs() < 1e-6 * expected
    }

    /// Without a mark: 3 us are 6 us below the target; from 9 to 18 us nothing is added but eta, which comes after more
    /// than 12 us; above 18 us, twice the target, 5 packets for each byte.
    #[test]
    fn without_a_mark_the_delay_says_how_much_is_added() {
        let below = |us: f64| ALPHA * 4_160.0 * (9.0 - us) * 1e-6 / 100_000.0;
        let fair = 20_480.0 * 4_160.0 / 100_000.0;
        for (delay, added) in [
            (0.0, below(0.0)),
            (3.0, below(3.0)),
            (8.9, below(8.9)),
            (9.0, 0.0),
            (18.0, 0.0),
            (18.1, fair),
            (36.0, fair),
        ] {
            let found = plain().ack(13.0, false, Some(delay), 4_160);
            assert!(near(found, 100_000.0 + added + ETA), "{delay} us: {found}");
        }
        assert!(below(3.0) > 300.0 && fair > 800.0);
    }

    /// The table is said to have three targets: 27 us.
    #[test]
    fn a_setting_says_how_many_targets_are_high() {
        let fair = 20_480.0 * 4_160.0 / 100_000.0;
        for (delay, added) in [(26.9, 0.0), (27.0, 0.0), (27.1, fair)] {
            let found = Driven::new(|_| {}, |own| own.high = 3.0).ack(13.0, false, Some(delay), 4_160);
            assert!(near(found, 100_000.0 + added + ETA), "{delay} us: {found}");
        }
    }

    /// A window of bytes without delay brings no fast increase as NSCC's, which would be a quarter of it.
    #[test]
    fn nothing_is_fast_without_delay() {
        let found = plain().ack(13.0, false, Some(0.0), 100_001);
        assert!(near(found, 100_000.0 + ALPHA * 100_001.0 * 9e-6 / 100_000.0 + ETA), "{found}");
    }

    /// Increases are made after more than 8 packets, or 12 us; of several subflows each makes a part.
    #[test]
    fn increases_are_made_as_those_of_nscc() {
        let mut sender = plain();
        sender.window.part = 0.25;
        assert_eq!(sender.ack(1.0, false, Some(3.0), 33_280), 100_000.0);
        let all = ALPHA * 33_281.0 * 6e-6 / 100_000.0;
        assert!(near(sender.ack(2.0, false, Some(3.0), 1), 100_000.0 + 0.25 * all));
        let before = sender.window.bytes;
        assert!(near(sender.ack(13.0, false, Some(9.0), 0), before + 0.25 * ETA));
    }

    /// A mark at 18 us after 13 us: the average is 18 us, and 0.8 of a half is cut. At the target, and below it, the
    /// balancer leaves the path, and that is all.
    #[test]
    fn a_mark_cuts_above_the_target() {
        for (delay, left) in [(18.0, 60_000.0), (9.0, 100_000.0), (8.0, 100_000.0), (100.0, 50_000.0)] {
            let found = plain().ack(13.0, true, Some(delay), 4_160);
            assert!(near(found, left + ETA), "{delay} us: {found}");
        }
    }

    /// Once a base RTT: 12 us after a cut is too soon.
    #[test]
    fn cuts_are_a_base_rtt_apart() {
        let mut sender = plain();
        sender.ack(13.0, true, Some(18.0), 0);
        let before = sender.window.bytes;
        assert_eq!(sender.ack(24.9, true, Some(18.0), 0), before);
        assert!(near(sender.ack(25.1, true, Some(18.0), 0), before * 0.6 + ETA));
    }

    /// 8 us after 13 us, and a mark at 30 us 0.6 us later, a twentieth of a base RTT: the average is 9.1 us. A mark at
    /// 18 us after 13 us, and one at 3 us, 0.6 us later: it is 17.25 us.
    #[test]
    fn a_cut_needs_the_delay_and_the_average_above_the_target() {
        // Quick adapt stays out of it with a hundred targets.
        let after = |first: f64, then: f64, cut_by: CutBy| {
            let mut sender = Driven::new(|nscc| nscc.late = 100.0, |own| own.cut_by = cut_by);
            sender.ack(13.0, false, Some(first), 0);
            sender.window.bytes = 100_000.0;
            (sender.ack(13.6, true, Some(then), 0), sender)
        };
        for cut_by in [CutBy::DelayAndAverage, CutBy::Average] {
            let (found, sender) = after(8.0, 30.0, cut_by);
            let average = 8.0 * 0.95 + 30.0 * 0.05;
            assert!(near(sender.strack.0.average() * 1e6, average));
            assert!(near(found, 100_000.0 * (1.0 - 0.8 * (average - 9.0) / average)), "{cut_by:?}: {found}");
            assert!(near(after(8.0, 27.9, cut_by).0, 100_000.0), "{cut_by:?}: 8.995 us");
        }
        let average = 18.0 * 0.95 + 3.0 * 0.05;
        let cut = 100_000.0 * (1.0 - 0.8 * (average - 9.0) / average);
        assert!(near(after(18.0, 3.0, CutBy::DelayAndAverage).0, 100_000.0), "this packet came fast");
        assert!(near(after(18.0, 3.0, CutBy::Average).0, cut));
    }

    #[test]
    fn a_mark_asks_for_a_cut_by_what_cuts() {
        for (cut_by, expected) in [(CutBy::DelayAndAverage, [false, true, false]), (CutBy::Average, [false; 3])] {
            let sender = Driven::new(|_| {}, |own| own.cut_by = cut_by);
            let asks = [Some(9.0), Some(9.1), None].map(|delay| sender.asks(true, delay));
            assert_eq!(asks, expected, "{cut_by:?} after nothing");
            let mut sender = sender;
            sender.ack(13.0, false, Some(9.1), 0);
            let asks = [Some(9.0), Some(9.1), None].map(|delay| sender.asks(true, delay));
            assert_eq!(asks, [cut_by == CutBy::Average, true, true], "{cut_by:?} after 9.1 us");
            assert!(!sender.asks(false, Some(30.0)));
        }
    }

    /// Without a sample the average counts as the delay, or nothing does.
    #[test]
    fn an_ack_without_a_sample_goes_by_the_average() {
        for (without, added) in
            [(WithoutSample::Average, ALPHA * 4_160.0 * 6e-6 / 100_614.4), (WithoutSample::Hold, 0.0)]
        {
            let mut sender = Driven::new(|nscc| nscc.without_sample = without, |_| {});
            sender.ack(13.0, false, Some(3.0), 0);
            assert!(near(sender.ack(26.0, false, None, 4_160), 100_000.0 + 2.0 * ETA + added), "{without:?}");
        }
    }

    /// Quick adapt, NACKs and timeouts are NSCC's: 12 + 9 us after the first ACK, with a delay above 36 us and less than an
    /// eighth of the largest window, what has come is the window; marked ACKs of the 50,000 B in flight then do nothing.
    #[test]
    fn quick_adapt_and_losses_are_those_of_nscc() {
        let mut sender = plain();
        sender.window.most = 225_000.0;
        sender.ack(1.0, true, Some(0.0), 0);
        assert_eq!(sender.ack(22.1, true, Some(36.1), 20_000), 20_000.0);
        assert_eq!(sender.ack(40.0, true, Some(30.0), 49_999), 20_000.0);
        assert!(sender.ack(40.1, true, Some(30.0), 1) != 20_000.0);
        let mut sender = plain();
        let nack = signal(1.0, true, None, 0);
        sender.strack.on_nack((4_160, false), &nack, &mut sender.window, &sender.nscc);
        assert_eq!(sender.window.bytes, 95_840.0);
        sender.strack.on_nack((4_160, true), &nack, &mut sender.window, &sender.nscc);
        assert_eq!(sender.window.bytes, 95_840.0, "trimmed at the receiver's link, which grants credit");
        sender.strack.on_timeout(4_160, &mut sender.window, &sender.nscc);
        assert_eq!(sender.window.bytes, 91_680.0);
    }
}
