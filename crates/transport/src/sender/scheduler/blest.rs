//! BLEST, blocking estimation (Ferlin, Alay, Mehani, Boreli, "BLEST: Blocking Estimation-based MPTCP
//! Scheduler for Heterogeneous Networks", IFIP Networking 2016; the authors' code for Linux is
//! mptcp_blest.c of multipath-tcp.org, version 0.95).
//!
//! Data on a slow subflow occupies the connection's window for an RTT of that subflow. BLEST estimates
//! what the fastest subflow could send in that time. If the rest of the window is too small for it, the
//! data waits for the fastest subflow.

use crate::congestion::CongestionState;
use crate::id::SubflowId;
use linkpool_units::Time;

/// The factor lambda of the estimate in thousandths: at first, at least, at most, more after a blocked
/// round, less after another one (`lambda`, `min_lambda`, `max_lambda`, `dyn_lambda_bad`,
/// `dyn_lambda_good`).
const FIRST: u64 = 1200;
const LEAST: u64 = 1000;
const MOST: u64 = 1300;
const MORE: u64 = 40;
const LESS: u64 = 10;

/// In slow start, the most round trips that are looked ahead.
const ROUNDS: u32 = 16;

/// What BLEST remembers of a connection.
#[derive(Debug)]
pub(in super::super) struct Blest {
    /// lambda, in thousandths.
    lambda: u64,
    /// When it was last set.
    set_at: Time,
    /// Has the connection's window held back data since then?
    blocked: bool,
    /// The least and the greatest smoothed RTT of each subflow, ps.
    rtts: Box<[(f64, f64)]>,
}

/// The slow subflow, as the decision sees it.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Slow<'a> {
    pub(in super::super) number: SubflowId,
    pub(in super::super) state: &'a CongestionState,
    /// Packets in flight.
    pub(in super::super) in_flight: u32,
    /// Bytes that it has sent and that are not acknowledged.
    pub(in super::super) outstanding: u64,
}

impl Blest {
    pub(super) fn new(subflows: usize) -> Blest {
        let rtts = vec![(f64::INFINITY, 0.0); subflows].into();
        Blest { lambda: FIRST, set_at: Time::ZERO, blocked: false, rtts }
    }

    /// The connection's window has held back data from a subflow that had room for it.
    pub(in super::super) fn note_blocked(&mut self) {
        self.blocked = true;
    }

    /// Notes the smoothed RTT of subflow `s`, if there is one.
    pub(in super::super) fn note_rtt(&mut self, s: SubflowId, state: &CongestionState) {
        if state.srtt > 0.0 {
            let (least, most) = &mut self.rtts[s];
            (*least, *most) = (least.min(state.srtt), most.max(state.srtt));
        }
    }

    /// Does a packet of `mss` bytes wait for subflow `f`, the fastest, whose state is `fast`, rather than go
    /// to the slow one? The receiver has offered a window of so many bytes for the connection.
    pub(in super::super) fn waits(
        &mut self,
        (f, fast): (SubflowId, &CongestionState),
        slow: Slow<'_>,
        (window, mss): (u64, u64),
        now: Time,
    ) -> bool {
        self.adapt(slow.number, now);
        // Section III: wait if X x lambda > |MPTCP_SW| - MSS_S x (inflight_S + 1).
        let sent = self.packets(f, fast, self.linger(slow)) * mss * self.lambda / 1000;
        sent > window.saturating_sub(slow.outstanding + mss)
    }

    /// Sets lambda, once in an RTT of the slow subflow.
    fn adapt(&mut self, slow: SubflowId, now: Time) {
        let (least, _) = self.rtts[slow];
        if ((now - self.set_at).0 as f64) < least {
            return;
        }
        self.lambda = if self.blocked { (self.lambda + MORE).min(MOST) } else { (self.lambda - LESS).max(LEAST) };
        (self.blocked, self.set_at) = (false, now);
    }

    /// For how long a packet more on the slow subflow is out, ps: from its least RTT with nothing in flight
    /// to its greatest with a full window, and at least the smoothed RTT.
    fn linger(&self, slow: Slow<'_>) -> f64 {
        let (least, most) = self.rtts[slow.number];
        let (out, window) = (f64::from(slow.in_flight + 1), slow.state.cwnd.floor());
        let estimate = if out >= window { most } else { least + (most - least) * out / window };
        slow.state.srtt.max(estimate)
    }

    /// The packets that subflow `f` sends in so many ps: X of section III.
    fn packets(&self, f: SubflowId, fast: &CongestionState, time: f64) -> u64 {
        let (least, most) = self.rtts[f];
        let rtt = (least + most) / 2.0;
        // One more than the whole round trips, as in the authors' code.
        let rounds = if rtt.is_finite() { (time / rtt) as u32 + 1 } else { 1 };
        if fast.ssthresh.is_infinite() {
            // The authors' code, of the first slow start: the window doubles in each round trip.
            return fast.cwnd as u64 * ((1 << rounds.min(ROUNDS)) - 1);
        }
        // Section III: X = MSS_F x (CWND_F + (rtts - 1) / 2) x rtts. In slow start, the authors' code
        // takes the window with which it will end.
        let (window, rounds) = (fast.cwnd.max(fast.ssthresh + 1.0) as u64, u64::from(rounds));
        window * rounds + rounds * (rounds - 1) / 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::testing::{S, state};

    /// Subflow 0 has an RTT of 10 us, subflow 1 of 40 us.
    fn blest() -> Blest {
        let mut blest = Blest::new(2);
        for (s, us) in [(S[0], 10.0), (S[1], 40.0)] {
            blest.note_rtt(s, &with_rtt(us, 10.0));
        }
        blest
    }

    fn with_rtt(us: f64, cwnd: f64) -> CongestionState {
        CongestionState { srtt: us * 1e6, ..state(cwnd) }
    }

    fn slow(state: &CongestionState, in_flight: u32) -> Slow<'_> {
        Slow { number: S[1], state, in_flight, outstanding: u64::from(in_flight) * 1000 }
    }

    /// In 40 us subflow 0 has 5 round trips, the last one begun: (10 + 4 / 2) x 5 = 60 packets. With lambda at
    /// 1.2 that is 72,000 B, beside 3,000 B in flight and 1,000 B more on the slow subflow.
    #[test]
    fn a_window_too_small_for_both_is_kept_for_the_fast_one() {
        let (fast, other) = (with_rtt(10.0, 10.0), with_rtt(40.0, 10.0));
        let waits = |window: u64| blest().waits((S[0], &fast), slow(&other, 3), (window, 1000), Time::from_us(39));
        assert_eq!([3_000, 75_999, 76_000, u64::MAX].map(waits), [true, true, false, false]);
    }

    #[test]
    fn the_fast_subflow_grows_by_a_packet_a_round() {
        let blest = blest();
        let packets = |us: f64, cwnd: f64| blest.packets(S[0], &with_rtt(10.0, cwnd), us * 1e6);
        assert_eq!([packets(9.9, 10.0), packets(10.0, 10.0), packets(25.0, 10.0)], [10, 21, 33]);
        // Below the slow-start threshold the window is taken to be that, and a packet more.
        let starting = CongestionState { ssthresh: 20.0, ..with_rtt(10.0, 10.0) };
        assert_eq!(blest.packets(S[0], &starting, 5e6), 21);
    }

    /// 10 + 20 + 40 packets in three round trips; sixteen at most.
    #[test]
    fn the_fast_subflow_doubles_in_its_first_slow_start() {
        let fast = CongestionState { ssthresh: f64::INFINITY, ..with_rtt(10.0, 10.0) };
        let packets = |us: f64| blest().packets(S[0], &fast, us * 1e6);
        assert_eq!([packets(25.0), packets(1e6)], [70, 10 * 65_535]);
        assert_eq!(Blest::new(2).packets(S[0], &fast, 25e6), 10, "before the first sample, one round trip");
    }

    /// The mean of 10 and 30 us is 20 us: two round trips in 30 us.
    #[test]
    fn the_fast_rtt_is_between_its_least_and_greatest() {
        let mut blest = blest();
        blest.note_rtt(S[0], &with_rtt(30.0, 10.0));
        blest.note_rtt(S[0], &with_rtt(0.0, 10.0));
        assert_eq!(blest.packets(S[0], &with_rtt(30.0, 10.0), 30e6), 21);
    }

    /// From 40 us with an empty window to 80 us with a full one. The packet to be sent counts.
    #[test]
    fn a_full_window_takes_longer() {
        let mut blest = blest();
        blest.note_rtt(S[1], &with_rtt(80.0, 10.0));
        let linger = |srtt: f64, in_flight: u32| blest.linger(slow(&with_rtt(srtt, 10.5), in_flight)) / 1e6;
        assert_eq!([linger(40.0, 0), linger(40.0, 4), linger(40.0, 8), linger(40.0, 9)], [44.0, 60.0, 76.0, 80.0]);
        assert_eq!([linger(70.0, 4), linger(70.0, 8)], [70.0, 76.0]);
    }

    /// Less by a hundredth in each slow RTT, down to 1; after a round in which the window blocked data, more
    /// by four, up to 1.3.
    #[test]
    fn lambda_follows_blocking() {
        let mut blest = blest();
        let mut after = |us: u64, blocked: bool| {
            if blocked {
                blest.note_blocked();
            }
            blest.adapt(S[1], Time::from_us(us));
            blest.lambda
        };
        assert_eq!([after(39, false), after(40, false), after(79, true), after(80, false)], [1200, 1190, 1190, 1230]);
        assert_eq!([after(120, false), after(160, true), after(200, true), after(240, true)], [1220, 1260, 1300, 1300]);
        let least = (0..40).map(|i| after(280 + 40 * i, false)).min();
        assert_eq!(least, Some(1000));
    }
}
