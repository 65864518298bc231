//! A window that is a rate over the base round-trip time, as HPCC and PowerTCP have it.

use super::Path;
use linkpool_units::{Rate, Time};

/// The bounds of such a window, and what a change adds to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct BaseWindow {
    /// The base round-trip time, ps.
    pub(super) base_rtt: f64,
    /// The window at the rate of the host's link, bytes.
    pub(super) most: f64,
    /// The window at the least rate, bytes.
    pub(super) least: f64,
    /// What a change adds, bytes.
    pub(super) additive: f64,
}

impl BaseWindow {
    /// Over `path`, whose base round-trip time `base_rtt` may replace; `additive` is a rate, bit/s.
    pub(super) fn new(path: Path, base_rtt: Option<Time>, least: Rate, additive: f64) -> BaseWindow {
        let base_rtt = base_rtt.unwrap_or(path.base_rtt).0 as f64;
        let bytes = |rate: f64| rate * base_rtt / 8e12;
        let most = bytes(path.line.0 as f64);
        BaseWindow { base_rtt, most, least: bytes(least.0 as f64).min(most), additive: bytes(additive) }
    }

    /// `window` within its bounds.
    pub(super) fn bounded(&self, window: f64) -> f64 {
        window.clamp(self.least, self.most)
    }

    /// The rate of `window`, bit/s.
    pub(super) fn rate(&self, window: f64) -> f64 {
        window * 8e12 / self.base_rtt
    }

    /// `average` with `new`, which was measured over `time`, ps: it weighs by its part of the base
    /// round-trip time.
    pub(super) fn averaged(&self, average: f64, new: f64, time: f64) -> f64 {
        let weight = time.min(self.base_rtt) / self.base_rtt;
        (1.0 - weight) * average + weight * new
    }
}
