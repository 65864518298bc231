//! What a flow carries in the period that statistics are about.

use linkpool_scenario::Measure;
use linkpool_units::Time;

/// Payload of a flow that was acknowledged by the ends of the period.
#[derive(Debug)]
pub(crate) struct MeasuredBytes {
    /// Once that is past.
    by_warm_up: Option<u64>,
    /// Once that is past.
    by_cut_off: Option<u64>,
}

impl MeasuredBytes {
    /// Of a flow that begins at `now`.
    pub(crate) fn new(period: &Measure, now: Time) -> MeasuredBytes {
        MeasuredBytes {
            by_warm_up: (now >= period.warm_up).then_some(0),
            by_cut_off: (now >= period.cut_off).then_some(0),
        }
    }

    /// The flow has `acked` bytes by `now`, when the period begins or ends.
    pub(crate) fn note(&mut self, period: &Measure, acked: u64, now: Time) {
        if now == period.warm_up {
            self.by_warm_up = Some(acked);
        }
        if now == period.cut_off {
            self.by_cut_off = Some(acked);
        }
    }

    /// Payload acknowledged in the period, of a flow with `acked` bytes by now.
    pub(crate) fn bytes(&self, acked: u64) -> u64 {
        self.by_warm_up.map_or(0, |before| self.by_cut_off.unwrap_or(acked) - before)
    }
}
