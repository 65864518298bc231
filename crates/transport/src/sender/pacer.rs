//! The times at which packets leave, where a rate sets them.

use super::delivery::Deliveries;
use crate::config::Pacing;
use crate::congestion::CongestionState;
use crate::control::{CongestionControl, Control};
use crate::id::SubflowId;
use crate::segment::Output;
use crate::subflow::Subflow;
use crate::timer::Timer;
use linkpool_units::Time;

/// Linux's pacing rate in packets per ps: 2 windows per RTT while the window is below half of
/// ssthresh, else 1.2 windows (`tcp_update_pacing_rate` in net/ipv4/tcp_input.c, with the defaults
/// of `net.ipv4.tcp_pacing_ss_ratio` and `tcp_pacing_ca_ratio`). `None` before the first RTT
/// sample.
pub(super) fn linux_rate(state: &CongestionState, flight: u32) -> Option<f64> {
    let window = state.coupled_window();
    let ratio = if window < state.ssthresh / 2.0 { 2.0 } else { 1.2 };
    (state.srtt > 0.0).then(|| ratio * window.max(flight as f64) / state.srtt)
}

/// The segments of a subflow that hold nothing back: all but the last of the first ten (Linux, "does not
/// pace first 10 MSS" in `tcp_update_skb_after_send` of net/ipv4/tcp_output.c).
const UNPACED: u64 = 9;

/// Owns the time of the next departure on each subflow of a connection whose packets are paced.
///
/// A packet that is sent at a rate r holds the next one back for 1/r from then on. That time stays
/// when the rate changes meanwhile, as in a queue of packets with departure times (Linux's `fq`),
/// unless the algorithm gives no rate any more. Segments that loss recovery sends whatever the
/// window do not wait, and hold the next one back as well.
#[derive(Debug)]
pub(super) struct Pacer {
    /// Linux's rates for algorithms that give none ([`Pacing::Fq`]), and its credit for late
    /// packets.
    fq: bool,
    /// The first segments of a subflow, which hold nothing back.
    unpaced: u64,
    /// The subflows that wait for a departure, one bit each.
    waiting: u32,
    each: Box<[Paced]>,
    /// By subflow; empty if the algorithm does not measure the rate of deliveries.
    pub(super) deliveries: Box<[Deliveries]>,
}

#[derive(Debug)]
struct Paced {
    /// The next packet leaves at this time, or later.
    due: Time,
    /// Wakes the sender at that time. It is beside the timer of losses and timeouts.
    timer: Timer,
    /// Segments of which the departure has been taken into account.
    segments: u64,
}

impl Pacer {
    /// That of a connection with `n` subflows; `None` if nothing is paced.
    pub(super) fn new(pacing: Pacing, control: &Control, n: usize) -> Option<Box<Pacer>> {
        let fq = pacing == Pacing::Fq;
        let each = (0..n).map(|_| Paced { due: Time::ZERO, timer: Timer::new(), segments: 0 }).collect();
        let measured = if control.measures_rate() { n } else { 0 };
        let deliveries = (0..measured).map(|_| Deliveries::new()).collect();
        let unpaced = if fq || control.measures_rate() { UNPACED } else { 0 };
        (fq || control.paces()).then(|| Box::new(Pacer { fq, unpaced, waiting: 0, each, deliveries }))
    }

    /// Does subflow `s` wait for a departure?
    #[inline]
    pub(super) fn waits(&self, s: SubflowId) -> bool {
        s.is_in(self.waiting)
    }

    /// Does any subflow wait for a departure?
    pub(super) fn is_waiting(&self) -> bool {
        self.waiting != 0
    }

    /// The rate of subflow `s` now, packets per ps; `None`: as its window allows.
    fn rate(&self, s: SubflowId, states: &[CongestionState], subflow: &Subflow, control: &Control) -> Option<f64> {
        let own = control.rate(states, s);
        own.or_else(|| if self.fq { linux_rate(&states[s], subflow.in_flight) } else { None })
    }

    /// Subflow `s` may have sent segments, or its algorithm may have changed its rate: sets the
    /// next departure.
    pub(super) fn follow(
        &mut self,
        s: SubflowId,
        (states, subflow): (&[CongestionState], &Subflow),
        control: &Control,
        now: Time,
        out: &mut impl Output,
    ) {
        let rate = self.rate(s, states, subflow, control);
        let paced = &mut self.each[s];
        let sent = subflow.segments.saturating_sub(paced.segments.max(self.unpaced));
        paced.segments = subflow.segments;
        let Some(rate) = rate else {
            self.waiting &= !s.bit();
            return paced.timer.clear();
        };
        if sent == 0 {
            return;
        }
        let gap = gap_of(rate);
        // A packet that leaves late shortens the next gap, to half of it at most (Linux,
        // `tcp_update_skb_after_send` in net/ipv4/tcp_output.c).
        let late = if self.fq && paced.due > Time::ZERO && now > paced.due { now - paced.due } else { Time::ZERO };
        paced.due = paced.due.max(now) + gap * (sent - 1) + (gap - late.min(Time(gap.0 / 2)));
        self.waiting |= s.bit();
        paced.timer.set(s, paced.due, out);
    }

    /// The next packet of subflow `s` leaves at this time, or later.
    pub(super) fn next_departure(&self, s: SubflowId) -> Time {
        self.each[s].due
    }

    /// A wake-up of subflow `s`. Returns whether its next packet may leave now.
    pub(super) fn is_due(&mut self, s: SubflowId, now: Time, out: &mut impl Output) -> bool {
        let due = self.each[s].timer.has_passed(s, now, out);
        if due {
            self.waiting &= !s.bit();
        }
        due
    }

    /// Subflow `s` is given up.
    pub(super) fn stop(&mut self, s: SubflowId) {
        self.waiting &= !s.bit();
        self.each[s].timer.clear();
    }
}

/// The longest gap between two packets.
const LONGEST: f64 = 1e12 * 3600.0;

/// The time between packets at a rate in packets per ps.
fn gap_of(rate: f64) -> Time {
    Time((1.0 / rate).min(LONGEST).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::testing::state;

    /// 2 windows per RTT (100 us) below half of ssthresh, else 1.2 (`tcp_update_pacing_rate`). Data
    /// in flight replaces the window if it is more.
    #[test]
    fn the_pacing_rate_is_linux_s() {
        let rate = |ssthresh: f64, flight: u32| {
            linux_rate(&CongestionState { ssthresh, ..state(10.0) }, flight).unwrap() * 1e8
        };
        assert!((rate(21.0, 4) - 20.0).abs() < 1e-9);
        assert!((rate(20.0, 4) - 12.0).abs() < 1e-9);
        assert!((rate(18.0, 30) - 36.0).abs() < 1e-9);
        assert_eq!(linux_rate(&CongestionState { srtt: 0.0, ..state(10.0) }, 4), None);
    }

    #[test]
    fn a_rate_is_a_gap() {
        assert_eq!(gap_of(1e-6), Time::from_us(1));
        assert_eq!(gap_of(0.0), Time::from_secs(3600));
    }
}
