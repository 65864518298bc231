//! The payload of a flow that is acknowledged in the measured period.

use crate::host::endpoint::Sending;
use linkpool_scenario::Measure;
use linkpool_transport::SubflowId;
use linkpool_units::Time;

/// Payload of a flow that has been acknowledged, bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Acked {
    /// At connection level, in order.
    pub in_order: u64,
    /// On its subflows.
    pub on_subflows: u64,
}

impl Acked {
    /// The payload acknowledged so far at `end`.
    pub(crate) fn of(end: &impl Sending) -> Acked {
        let on_subflows = SubflowId::first(end.subflows()).map(|s| end.acked_on(s)).sum();
        Acked { in_order: end.acked(), on_subflows }
    }
}

/// Payload of a flow that was acknowledged by the two ends of the period.
#[derive(Debug)]
pub struct MeasuredBytes {
    /// By the end of the warm-up; none before that.
    by_warm_up: Option<Acked>,
    /// By the cut-off; none before that.
    by_cut_off: Option<Acked>,
}

impl MeasuredBytes {
    /// For a flow that begins at `now`.
    pub fn new(period: &Measure, now: Time) -> MeasuredBytes {
        let past = |end: Time| (now >= end).then(Acked::default);
        MeasuredBytes { by_warm_up: past(period.warm_up), by_cut_off: past(period.cut_off) }
    }

    /// Notes that `acked` is acknowledged at `now`, when the period begins or ends.
    pub fn note(&mut self, period: &Measure, acked: Acked, now: Time) {
        if now == period.warm_up {
            self.by_warm_up = Some(acked);
        }
        if now == period.cut_off {
            self.by_cut_off = Some(acked);
        }
    }

    /// Payload acknowledged in the period; `acked` is acknowledged so far.
    pub fn bytes(&self, acked: Acked) -> Acked {
        let Some(before) = self.by_warm_up else { return Acked::default() };
        let by_end = self.by_cut_off.unwrap_or(acked);
        Acked { in_order: by_end.in_order - before.in_order, on_subflows: by_end.on_subflows - before.on_subflows }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A period from 2 s to 5 s.
    const PERIOD: Measure = Measure { warm_up: Time::from_secs(2), cut_off: Time::from_secs(5) };

    fn acked(in_order: u64) -> Acked {
        Acked { in_order, on_subflows: 2 * in_order }
    }

    #[test]
    fn payload_acknowledged_before_or_after_the_period_does_not_count() {
        let mut flow = MeasuredBytes::new(&PERIOD, Time::from_secs(1));
        assert_eq!(flow.bytes(acked(9)), acked(0), "it has not begun");
        flow.note(&PERIOD, acked(10), Time::from_secs(2));
        assert_eq!(flow.bytes(acked(30)), acked(20), "it goes on");
        flow.note(&PERIOD, acked(40), Time::from_secs(5));
        assert_eq!(flow.bytes(acked(90)), acked(30));
    }

    #[test]
    fn flows_begin_in_the_period_or_after_it() {
        let mut flow = MeasuredBytes::new(&PERIOD, Time::from_secs(2));
        assert_eq!(flow.bytes(acked(7)), acked(7));
        flow.note(&PERIOD, acked(8), Time::from_secs(5));
        assert_eq!(flow.bytes(acked(9)), acked(8));
        assert_eq!(MeasuredBytes::new(&PERIOD, Time::from_secs(5)).bytes(acked(9)), acked(0));
    }
}
