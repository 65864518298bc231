//! HPCC's window: it goes to the one with which the most utilised link would be at the target.

use super::base_window::BaseWindow;
use super::{Ack, Path};
use linkpool_settings::{Bounds, settings};
use linkpool_units::{Rate, Time};

settings! {
    /// Parameters of HPCC's window.
    pub struct TargetWindowConfig {
        /// The utilisation of links that it aims at: eta, 0.95 (Li et al., section 5.1;
        /// `U_TARGET` of HPCC's repository).
        target "hpcc_target": f64 = 0.95, within Bounds::above(0.0, "{} is no utilisation; it is above 0 and at most 1").to(1.0);
        /// Rounds in a row that only add before one that goes to the target at once: maxStage, 5 (Li et
        /// al., section 5.1); 0 (`MI_THRESH` of HPCC's repository).
        stages "hpcc_max_stage": u32 = 5;
        /// The rate that each change of the window adds: W_AI over the base round-trip time. By default
        /// the rate of the host's link x (1 - `hpcc_target`)/100, for 100 flows (Li et al., section
        /// 5.1): 50 Mbit/s at 100 Gbit/s, as `RATE_AI` of HPCC's repository.
        additive "hpcc_additive": Option<Rate>, from |_h| None => "of the path", within Bounds::POSITIVE;
        /// The base round-trip time, T. By default that of a full packet and its ACK on the idle path
        /// of the queue pair; HPCC's repository takes the longest of all paths for all.
        base_rtt "hpcc_base_rtt": Option<Time>, from |_h| None => "of the path", within Bounds::POSITIVE_SPAN;
        /// The least rate: 100 Mbit/s (`MIN_RATE` of HPCC's repository; the paper names none).
        least "hpcc_min_rate": Rate = Rate::mbps(100), within Bounds::POSITIVE;
    }
}

/// The window of HPCC (Li et al., "HPCC: High precision congestion control", SIGCOMM 2019, Algorithm 1).
#[derive(Debug)]
pub(super) struct TargetWindow {
    target: f64,
    stages: u32,
    /// T, and W_AI.
    pub(super) base: BaseWindow,
    /// W and W^c, bytes.
    pub(super) window: f64,
    pub(super) reference: f64,
    /// incStage.
    pub(super) stage: u32,
    /// The packet that was the next when the reference changed last.
    pub(super) updated_at: Option<u32>,
}

impl TargetWindow {
    pub(super) fn new(config: &TargetWindowConfig, path: Path) -> TargetWindow {
        let line = path.line.0 as f64;
        let additive = config.additive.map_or(line * (1.0 - config.target) / 100.0, |rate| rate.0 as f64);
        let base = BaseWindow::new(path, config.base_rtt, config.least, additive);
        TargetWindow {
            target: config.target,
            stages: config.stages,
            base,
            window: base.most,
            reference: base.most,
            stage: 0,
            updated_at: None,
        }
    }

    /// R = W/T.
    pub(super) fn rate(&self) -> f64 {
        self.base.rate(self.window)
    }

    /// W, whole bytes, and one at least: with none nothing would be sent.
    pub(super) fn bytes(&self) -> u64 {
        (self.window as u64).max(1)
    }

    /// The first answer is only remembered: its round begins.
    pub(super) fn begin(&mut self, ack: &Ack<'_>) {
        self.updated_at.get_or_insert(ack.next_new);
    }

    /// ComputeWind: `ack` tells of this `utilisation`. The reference changes once a round, or with `each` answer.
    pub(super) fn step(&mut self, utilisation: f64, ack: &Ack<'_>, each: bool) {
        let is_over = utilisation >= self.target || self.stage >= self.stages;
        let by_target = if is_over { self.target / utilisation } else { 1.0 };
        self.window = self.base.bounded(self.reference * by_target + self.base.additive);
        if self.updated_at.is_none_or(|packet| ack.next > packet) {
            self.stage = if is_over { 0 } else { self.stage + 1 };
            self.reference = self.window;
            self.updated_at = Some(ack.next_new);
        } else if each {
            self.reference = self.window;
        }
    }
}
