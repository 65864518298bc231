//! The laws that give a queue pair its rate, one in each file.

mod base_window;
mod dcqcn;
mod hops;
mod hpcc;
mod hpcc_pint;
mod power_tcp;
mod target_window;
mod timely;
mod windowed;

pub use dcqcn::{Dcqcn, DcqcnConfig, Reaction};
pub use hops::{Hop, MOST_HOPS};
pub use hpcc::{Hpcc, HpccConfig, Records, Reference};
pub use hpcc_pint::{HpccPint, LEAST_UTILISATION, PintConfig};
pub use power_tcp::{PowerTcp, PowerTcpConfig};
pub use target_window::TargetWindowConfig;
pub use timely::{Timely, TimelyConfig};
pub use windowed::Windowed;

use crate::control::ControlConfig;
use linkpool_units::{Rate, Time};

/// The path of a queue pair without load.
#[derive(Clone, Copy, Debug)]
pub(super) struct Path {
    /// The rate of the host's link.
    pub(super) line: Rate,
    /// The time of a full packet and its ACK.
    pub(super) base_rtt: Time,
    /// Bytes of payload of a full packet, and those beside it on the wire.
    pub(super) packet: (u16, u32),
    /// The most payload in flight, bytes, whatever the law says.
    pub(super) window: Option<u64>,
}

impl Path {
    /// The payload in flight that fills it, bytes: rounded up, to a packet at least.
    pub(super) fn product(&self) -> u64 {
        let bits = u128::from(self.line.0) * u128::from(self.base_rtt.0);
        (bits.div_ceil(8 * 1_000_000_000_000) as u64).max(self.packet.0.into())
    }
}

/// An answer of the receiver, as laws see it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ack<'a> {
    /// The packet that it answers.
    pub(super) psn: u32,
    /// The first packet that is missing, and the first that was never sent.
    pub(super) next: u32,
    pub(super) next_new: u32,
    /// Bytes of payload that it acknowledges in order, and no answer before.
    pub(super) acked: u64,
    /// The round-trip time of the packet that it answers, if that was sent once.
    pub(super) rtt: Option<Time>,
    /// When it came, and whether that packet was marked, if answers tell of marks.
    pub(super) now: Time,
    pub(super) marked: bool,
    /// The smoothed round-trip time, ps; 0 before the first one.
    pub(super) srtt: f64,
    /// Did the window keep the sender from sending more?
    pub(super) filled: bool,
    /// What switches wrote on that packet, in the order of the path; empty unless the law asks for it.
    pub(super) hops: &'a [Hop],
    /// The largest digest of switches on that packet, if the law asks for it and the sender heeds it.
    pub(super) digest: Option<u16>,
}

/// What gives a queue pair its rate. [`RateLaw::advance`] brings the law to the time of an event before the event.
pub(super) trait RateLaw {
    /// The rate in bit/s, of all bytes on the wire.
    fn rate(&self) -> f64;

    /// Does all that timers do by `now`.
    fn advance(&mut self, _now: Time) {}

    /// The next time at which a timer may change the rate.
    fn next_change(&self) -> Time {
        Time::MAX
    }

    /// The receiver tells of a mark at `now`.
    fn on_cnp(&mut self, _now: Time) {}

    /// Payload that may be in flight, bytes, if the law sets it.
    fn window(&self) -> Option<u64> {
        None
    }

    /// Packet `psn` of `bytes` on the wire was sent, perhaps again.
    fn on_sent(&mut self, _psn: u32, _bytes: u32) {}

    /// An answer has come.
    fn on_ack(&mut self, _ack: &Ack<'_>) {}

    /// A NACK has come at `now`: the sender sends again what is below packet `next_new`, or some of it.
    fn on_loss(&mut self, _now: Time, _next_new: u32) {}

    /// The sender has heard of no progress for as long as its timeout; packet `next_new` was never sent. It
    /// is the first timeout in a row, or not.
    fn on_timeout(&mut self, _now: Time, _next_new: u32, _first: bool) {}

    /// So many switches are on the path.
    fn know_hops(&mut self, _hops: u32) {}
}

/// Without congestion control: the rate of the host's link.
#[derive(Debug)]
pub(super) struct Line(f64);

impl RateLaw for Line {
    fn rate(&self) -> f64 {
        self.0
    }
}

/// Registers laws: the type, and the type of its settings.
macro_rules! laws {
    ($($law:ident($config:ty),)+) => {
        /// A law with its settings.
        #[derive(Clone, Debug, PartialEq)]
        pub enum LawConfig {
            /// None: packets leave at the rate of the host's link.
            Line,
            $(#[doc = concat!("See [`", stringify!($law), "`].")] $law($config),)+
        }

        impl LawConfig {
            /// The state of a queue pair with this path.
            pub(super) fn build(&self, path: Path) -> Law {
                match self {
                    LawConfig::Line => Law::Line(Line(path.line.0 as f64)),
                    $(LawConfig::$law(config) => Law::$law($law::new(config.clone(), path)),)+
                }
            }
        }

        /// A law with the state of a queue pair.
        #[derive(Debug)]
        pub(super) enum Law {
            Line(Line),
            $($law($law),)+
        }

        impl RateLaw for Law {
            #[inline]
            fn rate(&self) -> f64 {
                match self { Law::Line(law) => law.rate(), $(Law::$law(law) => law.rate(),)+ }
            }
            #[inline]
            fn advance(&mut self, now: Time) {
                match self { Law::Line(law) => law.advance(now), $(Law::$law(law) => law.advance(now),)+ }
            }
            #[inline]
            fn next_change(&self) -> Time {
                match self { Law::Line(law) => law.next_change(), $(Law::$law(law) => law.next_change(),)+ }
            }
            fn on_cnp(&mut self, now: Time) {
                match self { Law::Line(law) => law.on_cnp(now), $(Law::$law(law) => law.on_cnp(now),)+ }
            }
            #[inline]
            fn window(&self) -> Option<u64> {
                match self { Law::Line(law) => law.window(), $(Law::$law(law) => law.window(),)+ }
            }
            #[inline]
            fn on_sent(&mut self, psn: u32, bytes: u32) {
                match self { Law::Line(law) => law.on_sent(psn, bytes), $(Law::$law(law) => law.on_sent(psn, bytes),)+ }
            }
            #[inline]
            fn on_ack(&mut self, ack: &Ack<'_>) {
                match self { Law::Line(law) => law.on_ack(ack), $(Law::$law(law) => law.on_ack(ack),)+ }
            }
            fn on_loss(&mut self, now: Time, next_new: u32) {
                match self { Law::Line(law) => law.on_loss(now, next_new), $(Law::$law(law) => law.on_loss(now, next_new),)+ }
            }
            fn on_timeout(&mut self, now: Time, next_new: u32, first: bool) {
                match self {
                    Law::Line(law) => law.on_timeout(now, next_new, first),
                    $(Law::$law(law) => law.on_timeout(now, next_new, first),)+
                }
            }
            fn know_hops(&mut self, hops: u32) {
                match self { Law::Line(law) => law.know_hops(hops), $(Law::$law(law) => law.know_hops(hops),)+ }
            }
        }
    };
}

laws! {
    Dcqcn(DcqcnConfig),
    Timely(TimelyConfig),
    Hpcc((TargetWindowConfig, HpccConfig)),
    HpccPint((TargetWindowConfig, PintConfig)),
    PowerTcp(PowerTcpConfig),
    Windowed(ControlConfig),
}

#[cfg(test)]
impl Path {
    /// Packets of 1,000 B and 66 B, and no window beside the law's.
    fn of(line: Rate, base_rtt: Time) -> Path {
        Path { line, base_rtt, packet: (1_000, 66), window: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkpool_settings::{Preset, Settings};

    /// The windows of two queue pairs in bytes, and the queue that they share, at the end of each of 24 rounds of 10 us: a
    /// link of 100 Gbit/s whose queue takes in what both send at their rates. The second begins in round 8.
    fn rounds(config: &LawConfig) -> Vec<(u64, u64, u32)> {
        let path = Path::of(Rate::gbps(100), Time::from_us(10));
        let mut laws = [config.build(path), config.build(path)];
        let (mut queue, mut sent) = (0.0f64, 0.0);
        let round = |round: u32| {
            let active = if round < 8 { 1 } else { 2 };
            let come: f64 = laws[..active].iter().map(|law| law.rate() * 10e-6 / 8.0).sum();
            let goes = (queue + come).min(125_000.0);
            (queue, sent) = (queue + come - goes, sent + goes);
            let at = Time::from_us(10 * u64::from(round + 1));
            let hop = Hop { at, sent: sent as u64, rate: path.line, queue: queue as u32, link: 0 };
            // The port's average is that of the round, said by the power below.
            let utilisation = (goes + queue) / 125_000.0;
            let digest = Some(((utilisation * LEAST_UTILISATION).ln() / 1.05f64.ln()) as u16);
            for law in &mut laws[..active] {
                law.on_sent(round, 1_000);
                let (next, next_new) = (round + 1, round + 1);
                law.on_ack(&Ack { psn: round, next, next_new, hops: &[hop], digest, ..Ack::default() });
            }
            let window = |law: &Law| law.window().unwrap_or(0);
            (window(&laws[0]), window(&laws[1]), queue as u32)
        };
        (0..24).map(round).collect()
    }

    #[test]
    fn windows_by_rounds() {
        let window = TargetWindowConfig::defaults(Preset::Linux);
        let hpcc = LawConfig::Hpcc((window, Settings::defaults(Preset::Linux)));
        let power_tcp = LawConfig::PowerTcp(Settings::defaults(Preset::Linux));
        insta::assert_debug_snapshot!((rounds(&hpcc), rounds(&power_tcp)));
    }

    #[test]
    fn windows_by_rounds_of_digests() {
        let window = TargetWindowConfig::defaults(Preset::Linux);
        let pint = LawConfig::HpccPint((window, Settings::defaults(Preset::Linux)));
        insta::assert_debug_snapshot!(rounds(&pint));
    }
}
