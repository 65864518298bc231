//! HPCC: a window by the most utilised link of the path, as switches tell it.

use super::hops::Hops;
use super::target_window::{TargetWindow, TargetWindowConfig};
use super::{Ack, Path, RateLaw};
use linkpool_settings::settings;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The records with which those of an answer are compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Records {
    /// Those of the answer before.
    Latest,
    /// Those of the first answer of the path.
    First,
}

/// When the reference of the window changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reference {
    /// Once a round.
    Round,
    /// With each answer.
    Answer,
}

settings! {
    /// Parameters of what HPCC measures.
    pub struct HpccConfig {
        /// With what are the records of an answer compared? `"latest"`: with those of the answer before.
        /// `"first"`: with the first ones of the path, so that the utilisation is an average since then, as csg-htsim
        /// (`sim/hpcc.cpp` at bb98fa2) has it by mistake.
        records "hpcc_records": Records = Records::Latest;
        /// When does the reference change from which the window is computed? `"round"`: once a round. `"answer"`:
        /// with each answer, so that windows grow and shrink by compound steps, as csg-htsim has it by mistake.
        changes "hpcc_reference": Reference = Reference::Round;
    }
}

/// HPCC at the sender (Li et al., "HPCC: High precision congestion control", SIGCOMM 2019, Algorithm 1).
#[derive(Debug)]
pub struct Hpcc {
    config: HpccConfig,
    to: TargetWindow,
    hops: Hops,
    /// U. It begins at 1, as in HPCC's repository.
    utilisation: f64,
}

impl Hpcc {
    pub(super) fn new((window, config): (TargetWindowConfig, HpccConfig), path: Path) -> Hpcc {
        Hpcc { config, to: TargetWindow::new(&window, path), hops: Hops::default(), utilisation: 1.0 }
    }

    /// MeasureInflight: takes in what `ack` says. Returns false if it cannot be compared with an answer
    /// before.
    fn measure(&mut self, ack: &Ack<'_>) -> bool {
        let (mut most, mut tau, base_rtt) = (0.0, 0.0, self.to.base.base_rtt);
        let compared = self.hops.compare(ack.hops, self.config.records == Records::Latest, |before, now| {
            let queue = f64::from(now.queue.min(before.queue)) * 8e12 / (now.line() * base_rtt);
            let of_hop = queue + now.sending_rate(before) / now.line();
            if of_hop > most {
                (most, tau) = (of_hop, now.since(before));
            }
        });
        if compared {
            self.utilisation = self.to.base.averaged(self.utilisation, most, tau);
        }
        compared
    }
}

impl RateLaw for Hpcc {
    fn rate(&self) -> f64 {
        self.to.rate()
    }

    fn window(&self) -> Option<u64> {
        Some(self.to.bytes())
    }

    /// NewAck. The first answer is only remembered.
    fn on_ack(&mut self, ack: &Ack<'_>) {
        if self.measure(ack) {
            self.to.step(self.utilisation, ack, self.config.changes == Reference::Answer);
        } else if !ack.hops.is_empty() {
            self.to.begin(ack);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Hop;
    use super::*;
    use linkpool_settings::{Preset, Settings};
    use linkpool_units::{Rate, Time};

    /// At 100 Gbit/s with T = 10 us: W begins at 125,000 B, and W_AI is 62.5 B.
    fn hpcc() -> Hpcc {
        let path = Path::of(Rate::gbps(100), Time::from_us(10));
        Hpcc::new((Settings::defaults(Preset::Linux), Settings::defaults(Preset::Linux)), path)
    }

    fn hop(us: u64, sent: u64, queue: u32) -> Hop {
        Hop { at: Time::from_us(us), sent, rate: Rate::gbps(100), queue, link: 3 }
    }

    /// An ACK that makes `next` the first missing packet, when `next_new` is the next new one.
    fn ack(hpcc: &mut Hpcc, next: u32, next_new: u32, hops: &[Hop]) {
        hpcc.on_ack(&Ack { next, next_new, hops, ..Ack::default() });
    }

    fn close(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-12, "{found} {expected}");
    }

    #[test]
    fn it_begins_at_line_rate() {
        let hpcc = hpcc();
        assert_eq!((hpcc.rate(), hpcc.window()), (1e11, Some(125_000)));
        close(hpcc.to.base.additive, 62.5);
        assert_eq!(hpcc.to.base.least, 125.0);
    }

    /// By hand: in 5 us the port sent 50,000 B, 80% of what it can, and the smaller queue is 25,000 B, 20% of
    /// 125,000 B: u = 1. With tau/T = 1/2, U stays 1. W = 125,000/(1/0.95) + 62.5 = 118,812.5. Then 62,500 B in
    /// 5 us, a full link, with the same queue: u = 1.2, U = 1.1, W = 118,812.5 x 0.95/1.1 + 62.5.
    #[test]
    fn the_window_goes_to_the_target() {
        let mut hpcc = hpcc();
        ack(&mut hpcc, 1, 100, &[hop(10, 0, 30_000)]);
        assert_eq!(hpcc.window(), Some(125_000), "one record tells no rate");
        ack(&mut hpcc, 101, 200, &[hop(15, 50_000, 25_000)]);
        close(hpcc.utilisation, 1.0);
        close(hpcc.to.window, 118_812.5);
        close(hpcc.rate(), 118_812.5 * 8.0 / 10e-6);
        ack(&mut hpcc, 201, 300, &[hop(20, 112_500, 40_000)]);
        close(hpcc.utilisation, 1.1);
        close(hpcc.to.window, 118_812.5 * 0.95 / 1.1 + 62.5);
    }

    /// In a round the window follows U, but always from the reference, which changes when the ACK passes the packet
    /// that was next at its last change.
    #[test]
    fn the_reference_changes_once_in_a_round() {
        let mut hpcc = hpcc();
        ack(&mut hpcc, 1, 100, &[hop(10, 0, 0)]);
        // A full link without a queue for all of T: U = 1. The 100th packet is not passed yet.
        ack(&mut hpcc, 100, 150, &[hop(20, 125_000, 0)]);
        close(hpcc.to.window, 125_000.0 * 0.95 + 62.5);
        assert_eq!((hpcc.to.reference, hpcc.to.updated_at), (125_000.0, Some(100)));
        ack(&mut hpcc, 100, 150, &[hop(30, 250_000, 0)]);
        close(hpcc.to.window, 118_812.5);
        ack(&mut hpcc, 101, 160, &[hop(40, 375_000, 0)]);
        close(hpcc.to.reference, 118_812.5);
        assert_eq!(hpcc.to.updated_at, Some(160));
    }

    /// Half of the link used: five rounds add 62.5 B each; the sixth goes to the target at once, 1.9 times the
    /// window. Its stage is 0 again. Bounds hold.
    #[test]
    fn stages_count_rounds_that_add() {
        let mut hpcc = hpcc();
        (hpcc.to.reference, hpcc.to.window) = (20_000.0, 20_000.0);
        ack(&mut hpcc, 1, 1, &[hop(10, 0, 0)]);
        for round in 1..=6u64 {
            assert_eq!(u64::from(hpcc.to.stage), round - 1);
            ack(&mut hpcc, round as u32 + 1, round as u32 + 1, &[hop(10 + 10 * round, 62_500 * round, 0)]);
            let added = 20_000.0 + 62.5 * round.min(5) as f64;
            close(hpcc.to.window, if round < 6 { added } else { added * 0.95 / 0.5 + 62.5 });
        }
        assert_eq!(hpcc.to.stage, 0);
        // An idle path brings the window to its bound, an overfull one to the other.
        for n in 7..60u64 {
            ack(&mut hpcc, n as u32 + 1, n as u32 + 1, &[hop(10 + 10 * n, 62_500 * n, 0)]);
        }
        assert_eq!(hpcc.to.window, 125_000.0);
        for n in 60..90u64 {
            ack(&mut hpcc, n as u32 + 1, n as u32 + 1, &[hop(10 + 10 * n, 62_500 * n, 4_000_000)]);
        }
        assert_eq!(hpcc.to.window, 125.0);
    }

    /// The link with the largest u counts, with its own time.
    #[test]
    fn the_most_utilised_link_counts() {
        let mut hpcc = hpcc();
        let slow = |us, sent| Hop { rate: Rate::gbps(25), link: 4, ..hop(us, sent, 0) };
        ack(&mut hpcc, 1, 1, &[hop(10, 0, 0), slow(11, 0)]);
        // 80% of the first in 10 us, 96% of the second in 5 us: U = 0.5 + 0.5 x 0.96.
        ack(&mut hpcc, 2, 2, &[hop(20, 100_000, 0), slow(16, 15_000)]);
        close(hpcc.utilisation, 0.98);
    }

    /// As in csg-htsim. A link was 90% full for 10 us, then 10% for 10 us: since the first answer it was half full, U = 0.5,
    /// where the latest answer says 0.1. By each answer the reference becomes the window.
    #[test]
    fn faults_of_csg_htsim() {
        let path = Path::of(Rate::gbps(100), Time::from_us(10));
        let window = TargetWindowConfig::defaults(Preset::Linux);
        let with = |records, changes| Hpcc::new((window.clone(), HpccConfig { records, changes }), path);
        let mut first = with(Records::First, Reference::Round);
        for (us, sent) in [(10, 0), (20, 112_500), (30, 125_000)] {
            ack(&mut first, 1, 100, &[hop(us, sent, 0)]);
        }
        close(first.utilisation, 0.5);
        let mut latest = with(Records::Latest, Reference::Round);
        for (us, sent) in [(10, 0), (20, 112_500), (30, 125_000)] {
            ack(&mut latest, 1, 100, &[hop(us, sent, 0)]);
        }
        close(latest.utilisation, 0.1);
        let mut each = with(Records::Latest, Reference::Answer);
        ack(&mut each, 1, 100, &[hop(10, 0, 0)]);
        ack(&mut each, 2, 100, &[hop(20, 125_000, 0)]);
        ack(&mut each, 3, 100, &[hop(30, 250_000, 0)]);
        close(each.to.window, (125_000.0 * 0.95 + 62.5) * 0.95 + 62.5);
        assert_eq!((each.to.reference, each.to.stage, each.to.updated_at), (each.to.window, 0, Some(100)));
    }

    #[test]
    fn keys_replace_what_follows_from_the_path() {
        let path = Path::of(Rate::gbps(100), Time::from_us(10));
        let mut config = TargetWindowConfig::defaults(Preset::Linux);
        (config.base_rtt, config.additive) = (Some(Time::from_us(20)), Some(Rate::gbps(1)));
        let hpcc = Hpcc::new((config, Settings::defaults(Preset::Linux)), path);
        assert_eq!((hpcc.window(), hpcc.to.base.additive, hpcc.rate()), (Some(250_000), 2_500.0, 1e11));
    }
}
