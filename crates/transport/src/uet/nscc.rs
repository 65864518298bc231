//! NSCC, network signal-based congestion control: marks and delay in four quadrants.
//!
//! uet-htsim, `htsim/sim/uec.cpp`, as corrected by its commit 2658277 (functions are named below).
//! Where the port of the specification that cites UEC 1.0.3 differs (sections 3.6.13.3, .5 and .6,
//! and Table 3-82, second hand), a setting chooses.

use super::surroundings::Network;
use super::window::{Signal, Window, product};
use linkpool_settings::{Bounds, settings};
use linkpool_units::{Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whose rules NSCC follows where uet-htsim and the specification differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub enum Rules {
    /// Those of uet-htsim.
    #[serde(rename = "uet-htsim")]
    UetHtsim,
    /// Those of UEC 1.0.3, as a public port reads it.
    #[serde(rename = "spec-1.0.3")]
    Spec103,
    /// Those of uet-htsim before its correction, as "Ordered Chaos" has them.
    #[serde(rename = "ordered-chaos")]
    OrderedChaos,
}

/// The unit of increases.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    #[default]
    /// The payload of a full packet.
    Mss,
    /// A full packet on the wire.
    Mtu,
}

/// The average of the delay.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Average {
    #[default]
    /// With a fixed gain; an unmarked sample above the target counts as a quarter of the base RTT.
    Gain,
    /// Over the last base RTT: the gain is the time since the last sample in base RTTs, at most 1.
    BaseRtt,
}

/// What an ACK without a valid sample of the delay does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WithoutSample {
    #[default]
    /// It counts as a sample of the average.
    Average,
    /// It neither raises nor cuts the window.
    Hold,
}

settings! {
    /// Parameters of NSCC.
    #[derive(Copy)]
    pub struct NsccSettings {
        /// Whose rules NSCC follows where uet-htsim and the specification differ; the keys below that
        /// follow from it can be set one by one. `"uet-htsim"`: those of commit 40ccb05.
        /// `"spec-1.0.3"`: those of UEC 1.0.3 as a public port reads it (second hand). `"ordered-chaos"`: those of
        /// uet-htsim before its commit 2658277, as the artifact of "Ordered Chaos" (SC 2026, e20b7dd) has them: the
        /// increase above the target lacks the packet size, and increases are made after 16,000 B x target / 12 us.
        rules "nscc_rules": Rules = Rules::UetHtsim;
        /// Target of the queueing delay. Without the key: `base_rtt`, or three quarters of it with
        /// `trimmable = true`.
        target "nscc_target": Option<Time>, from |_n| None => "of `base_rtt`: 0.75 of it, all of it with `trimmable = false`",
            within Bounds::POSITIVE_SPAN;
        /// The unit of increases: `"mss"` or `"mtu"`.
        unit "nscc_unit": Unit, from |n| n.by_rules(Unit::Mss, Unit::Mtu) => "by `nscc_rules`: `\"mss\"`, or `\"mtu\"`";
        /// The average of the delay. `"gain"`: with `nscc_gain`, and an unmarked sample above the
        /// target counts as a quarter of the base RTT. `"base-rtt"`: over the last base RTT; the gain
        /// is the time since the last sample, in base RTTs, at most 1.
        average "nscc_average": Average,
            from |n| n.by_rules(Average::Gain, Average::BaseRtt) => "by `nscc_rules`: `\"gain\"`, or `\"base-rtt\"`";
        /// Gain of the average.
        gain "nscc_gain": f64 = 0.0125, within Bounds::GAIN,
            when |n| n.average == Average::Gain => "`nscc_average = \"gain\"`";
        /// Does quick adapt end its period at the end itself, not only after it?
        at_end "nscc_quick_adapt_at_end": bool, from |n| n.by_rules(false, true) => "by `nscc_rules`: `false`, or `true`";
        /// Quick adapt cuts when less than the largest window divided by 2 to this power has arrived
        /// in a period.
        gate "nscc_quick_adapt_gate": u32 = 3, within Bounds::from(0.0, "must be 0 to 16").to(16.0);
        /// Without a trim or a loss quick adapt acts only above so many targets of delay (`_qa_threshold`).
        late "nscc_quick_adapt_targets": f64 = 4.0, within Bounds::from(0.0, "must be 0 to 1000").to(1000.0);
        /// Does the answer to a trimmed packet lower the base RTT? (Its header travels faster than
        /// data. uet-htsim: `-disable_base_rtt_update_on_nack` is false.)
        nacks_lower_rtt "nscc_nacks_lower_rtt": bool,
            from |n| n.by_rules(true, false) => "by `nscc_rules`: `true`, or `false`";
        /// Do bytes that a timeout declares lost count as those that quick adapt ignores?
        losses_ignored "nscc_losses_ignored": bool,
            from |n| n.by_rules(false, true) => "by `nscc_rules`: `false`, or `true`";
        /// What an ACK without a valid sample of the delay does. `"average"`: it counts as a sample of
        /// the average. `"hold"`: it neither raises nor cuts the window.
        without_sample "nscc_without_sample": WithoutSample,
            from |n| n.by_rules(WithoutSample::Average, WithoutSample::Hold) => "by `nscc_rules`: `\"average\"`, or `\"hold\"`";
    }
}

impl NsccSettings {
    fn by_rules<T>(&self, htsim: T, spec: T) -> T {
        match self.rules {
            Rules::UetHtsim | Rules::OrderedChaos => htsim,
            Rules::Spec103 => spec,
        }
    }
}

/// The constants of NSCC in a network.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct NsccConfig {
    /// The settings by which they were set.
    pub settings: NsccSettings,
    /// Target of the queueing delay.
    pub target: Time,
    /// Round-trip time of the network without load.
    pub base_rtt: Time,
    /// Increase below the target, bytes by bytes and seconds below it.
    pub alpha: f64,
    /// Increase above the target, bytes by bytes.
    pub fair: f64,
    /// Part of the acknowledged bytes by which a fast increase widens the window.
    pub fast: f64,
    /// The delay below which a fast increase counts bytes.
    pub zero_delay: Time,
    /// Increase once a round-trip time, bytes.
    pub eta: f64,
    /// Increases are made after so many bytes.
    pub adjust_bytes: f64,
    /// The least window, bytes.
    pub least: f64,
}

/// The network that the constants are for (`initNsccParams`): 100 Gb/s, 12 us.
const REFERENCE: (Rate, Time) = (Rate(100_000_000_000), Time::from_us(12));
/// The largest part of the window that stays after a cut, and the gain of cuts (`_gamma`).
const LARGEST_CUT: f64 = 0.5;
const GAMMA: f64 = 0.8;
/// The delay below which a fast increase counts bytes, without a setting (`fast_increase`).
pub(super) const ZERO_DELAY: Time = Time::from_us(1);

impl NsccConfig {
    /// The constants for packets of `mss` bytes of payload and `header` bytes of headers
    /// (`initNsccParams`).
    pub fn new(settings: NsccSettings, mss: u16, header: u16, network: &Network, trims: bool) -> NsccConfig {
        let (mss, mtu) = (f64::from(mss), f64::from(mss) + f64::from(header));
        let unit = if settings.unit == Unit::Mss { mss } else { mtu };
        let target = settings.target.unwrap_or(NsccConfig::default_target(network, trims));
        let a = product(network.rate, network.base_rtt) / product(REFERENCE.0, REFERENCE.1);
        let b = target.secs() / REFERENCE.1.secs();
        let before = settings.rules == Rules::OrderedChaos;
        NsccConfig {
            settings,
            target,
            base_rtt: network.base_rtt,
            alpha: 4.0 * unit * a * b / target.secs(),
            fair: 5.0 * a * if before { 1.0 } else { unit },
            fast: 0.25 * a,
            zero_delay: ZERO_DELAY,
            eta: 0.15 * unit * a,
            adjust_bytes: if before { 16_000.0 * b } else { 8.0 * mtu },
            least: mtu,
        }
    }
}

impl NsccConfig {
    /// The target without a setting (`initNsccParams`).
    pub(super) fn default_target(network: &Network, trims: bool) -> Time {
        if trims { Time((0.75 * network.base_rtt.0 as f64) as u64) } else { network.base_rtt }
    }
}

/// NSCC of one sender.
#[derive(Clone, Debug)]
pub struct Nscc {
    /// Average of the queueing delay, seconds.
    average: f64,
    last_sample: Time,
    /// Increases that are to be made: bytes, times the window.
    increase: f64,
    /// Bytes that have arrived since the last increases were made, and in the period of quick adapt.
    received: u64,
    achieved: u64,
    /// Bytes that arrived with a delay of about zero in a row (`_fi_count`).
    undelayed: u64,
    /// Is the fast increase on?
    fast: bool,
    last_cut: Time,
    last_adjust: Time,
    /// The end of the period of quick adapt; none before the first ACK.
    period_end: Option<Time>,
    /// After a cut by quick adapt: marked ACKs are ignored for so many bytes, of which so many have come.
    to_ignore: i64,
    ignored: i64,
    /// A packet was trimmed since quick adapt cut last.
    trimmed: bool,
}

impl Nscc {
    /// NSCC of a sender that starts now.
    pub fn new(now: Time) -> Nscc {
        Nscc {
            average: 0.0,
            last_sample: now,
            increase: 0.0,
            received: 0,
            achieved: 0,
            undelayed: 0,
            fast: false,
            last_cut: now,
            last_adjust: now,
            period_end: None,
            to_ignore: 0,
            ignored: 0,
            trimmed: false,
        }
    }

    /// Is an ACK marked, with a delay at the target or above it?
    pub(super) fn asks_for_cut(&self, signal: &Signal, c: &NsccConfig) -> bool {
        signal.marked && signal.delay.map_or(self.average, Time::secs) >= c.target.secs()
    }

    /// The average of the queueing delay, seconds.
    pub fn average(&self) -> f64 {
        self.average
    }

    /// An ACK has come (`processAck`, `updateCwndOnAck_NSCC`).
    pub fn on_ack(&mut self, signal: &Signal, window: &mut Window, c: &NsccConfig) {
        let Signal { now, marked, bytes, .. } = *signal;
        if self.adapts(signal, window, c) {
            return;
        }
        if let Some(delay) = self.delay(signal, c) {
            let target = c.target.secs();
            match (marked, delay >= target) {
                (false, true) => self.increase_fairly(bytes, c),
                (false, false) => self.proportional_increase(bytes, target - delay, delay, window, c),
                (true, true) => self.cut(now, window, c),
                (true, false) => {} // the balancer leaves the path
            }
        }
        self.settle(now, window, c);
    }

    /// What an ACK does before its mark and its delay count: bytes, the average, quick adapt. Returns whether it
    /// does nothing else.
    pub(super) fn adapts(&mut self, signal: &Signal, window: &mut Window, c: &NsccConfig) -> bool {
        let Signal { now, marked, bytes, .. } = *signal;
        self.achieved += bytes;
        self.received += bytes;
        self.ignored += bytes as i64;
        if let Some(delay) = signal.delay {
            self.sample(delay.secs(), marked, now, window, c);
        }
        let delay = signal.delay.map_or(self.average, Time::secs);
        self.quick_adapt(false, marked, delay, signal, window, c)
    }

    /// The delay by which an ACK raises or cuts the window, seconds; none if it does neither.
    pub(super) fn delay(&self, signal: &Signal, c: &NsccConfig) -> Option<f64> {
        let average = (c.settings.without_sample == WithoutSample::Average).then_some(self.average);
        signal.delay.map(Time::secs).or(average)
    }

    /// What an ACK does after its mark and its delay have counted: increases that are due are made.
    pub(super) fn settle(&mut self, now: Time, window: &mut Window, c: &NsccConfig) {
        window.clamp(c.least);
        if self.received as f64 > c.adjust_bytes || now - self.last_adjust > c.base_rtt {
            self.fulfil(now, window, c);
        }
        window.clamp(c.least);
    }

    /// `update_delay`: a sample of the queueing delay.
    fn sample(&mut self, delay: f64, marked: bool, now: Time, window: &Window, c: &NsccConfig) {
        let base = window.base_rtt.secs();
        let (gain, sample) = match c.settings.average {
            Average::Gain if !marked && delay > c.target.secs() => (c.settings.gain, 0.25 * base),
            Average::Gain => (c.settings.gain, delay),
            Average::BaseRtt => (((now - self.last_sample).secs() / base).min(1.0), delay),
        };
        self.last_sample = now;
        self.average = gain * sample + (1.0 - gain) * self.average;
    }

    /// Once a base RTT and target: if the queues are long, the window is what got through in that time
    /// (`quick_adapt`). Returns whether nothing else is to be done, as it has cut or its cut has yet to
    /// show.
    fn quick_adapt(
        &mut self,
        lost: bool,
        marked: bool,
        delay: f64,
        signal: &Signal,
        window: &mut Window,
        c: &NsccConfig,
    ) -> bool {
        let now = signal.now;
        let mut done = false;
        let is_over = |end| if c.settings.at_end { now >= end } else { now > end };
        if self.ignored < self.to_ignore && marked {
            done = true;
        } else if self.period_end.is_none_or(is_over) {
            let slow = self.trimmed || lost || delay > c.settings.late * c.target.secs();
            let gate = window.most / f64::from(1 << c.settings.gate);
            if self.period_end.is_some() && slow && (self.achieved as f64) < gate {
                window.bytes = (self.achieved as f64).max(c.least);
                (self.to_ignore, self.ignored, self.trimmed) = (signal.in_flight, 0, false);
                done = true;
            }
            (self.achieved, self.period_end) = (0, Some(now + window.base_rtt + c.target));
        }
        if done {
            (self.increase, self.received) = (0.0, 0);
        }
        done
    }

    /// Below the target: in proportion to the time below it, or fast (`proportional_increase`,
    /// `fast_increase`).
    fn proportional_increase(&mut self, bytes: u64, below: f64, delay: f64, window: &mut Window, c: &NsccConfig) {
        if delay < c.zero_delay.secs() {
            self.undelayed += bytes;
            if self.undelayed as f64 > window.bytes || self.fast {
                window.bytes += bytes as f64 * c.fast;
                self.fast = true;
                return;
            }
        } else {
            self.undelayed = 0;
        }
        self.fast = false;
        self.increase_below(bytes, below, c);
    }

    /// An increase in proportion to the time below the target.
    pub(super) fn increase_below(&mut self, bytes: u64, below: f64, c: &NsccConfig) {
        self.increase += c.alpha * bytes as f64 * below;
    }

    /// The same increase for each byte (`fair_increase`).
    pub(super) fn increase_fairly(&mut self, bytes: u64, c: &NsccConfig) {
        self.increase += c.fair * bytes as f64;
    }

    /// Marked and above the target: at most once a base RTT, if the average is above, too
    /// (`multiplicative_decrease`).
    pub(super) fn cut(&mut self, now: Time, window: &mut Window, c: &NsccConfig) {
        (self.fast, self.undelayed) = (false, 0);
        let target = c.target.secs();
        if self.average > target && now - self.last_cut > window.base_rtt {
            window.bytes *= (1.0 - GAMMA * (self.average - target) / self.average).max(LARGEST_CUT);
            window.bytes = window.bytes.max(c.least);
            self.last_cut = now;
        }
    }

    /// Makes the increases (`fulfill_adjustment`). They are additive, and of several subflows each makes a part;
    /// a fast increase is in proportion to the window, and all subflows together make as much as one window.
    fn fulfil(&mut self, now: Time, window: &mut Window, c: &NsccConfig) {
        window.bytes += window.part * (self.increase / window.bytes);
        if now - self.last_adjust >= c.base_rtt {
            window.bytes += window.part * c.eta;
            self.last_adjust = now;
        }
        (self.increase, self.received) = (0.0, 0);
    }

    /// The answer to a trimmed packet of so many bytes on the wire has come (`updateCwndOnNack_NSCC`):
    /// `signal` has no other bytes, and `in_flight` counts the packet. It is a sample of a base RTT of
    /// queueing. `spared`: the window is not to be cut by these bytes.
    pub fn on_nack(&mut self, (bytes, spared): (u64, bool), signal: &Signal, window: &mut Window, c: &NsccConfig) {
        self.ignored += bytes as i64;
        self.sample(c.base_rtt.secs(), true, signal.now, window, c);
        self.trimmed = true;
        if !self.quick_adapt(true, true, 0.0, signal, window, c) && !spared {
            window.bytes -= bytes as f64;
            window.clamp(c.least);
        }
    }

    /// A timeout has declared so many bytes lost (`mark_packet_for_retransmission`).
    pub fn on_timeout(&mut self, bytes: u64, window: &mut Window, c: &NsccConfig) {
        if c.settings.losses_ignored {
            self.ignored += bytes as i64;
        }
        window.bytes = (window.bytes - bytes as f64).max(c.least);
    }
}
