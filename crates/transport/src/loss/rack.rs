//! RACK (RFC 8985): detects lost segments by the times at which they and later segments were sent.

use super::Delivered;
use crate::outstanding::Sent;
use crate::rtt::RecentLeast;
use linkpool_units::Time;

/// Number of recoveries without a D-SACK after which the reordering window is small again (RFC
/// 8985, section 6.2, step 4).
const PERSIST: u32 = 16;

/// Per-connection variables of RFC 8985, sections 5.3 and 5.4.
#[derive(Debug, Default)]
pub(crate) struct Rack {
    /// Of the segments that have arrived, the one sent last: the time of sending, and its end.
    pub(crate) latest: (Time, u64),
    /// Its RTT.
    pub(crate) rtt: Time,
    /// RACK.min_RTT (section 6.2, step 1).
    pub(crate) least_rtt: RecentLeast,
    pub(crate) reordering_seen: bool,
    /// End of the round in which a D-SACK has been counted. A round counts once.
    pub(crate) dsack_round: Option<u64>,
    /// The reordering window is a quarter of the least RTT plus this number of further quarters.
    pub(crate) more: u32,
    pub(crate) persist: u32,
    /// The current reordering window.
    pub(crate) window: Time,
    /// A probe that has been sent and not been acknowledged.
    pub(crate) probe: Option<Probe>,
    /// Is there no RTT sample since the last probe?
    pub(crate) unsampled: bool,
    pub(crate) due: Due,
}

/// The purpose of a subflow's timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Due {
    /// Retransmission timeout.
    #[default]
    Timeout,
    /// Tail loss probe.
    Probe,
    /// The reordering timer: the reordering window of a segment ends.
    Reordering,
}

#[derive(Debug)]
pub(crate) struct Probe {
    /// SND.NXT after the probe.
    pub(crate) end: u64,
    /// Was the probe a retransmission?
    pub(crate) again: bool,
}

impl Rack {
    /// Is a probe on its way that sent a segment again? An ACK of it may tell of a loss (RFC 8985,
    /// section 7.4).
    #[inline]
    pub(crate) fn probe_repeats(&self) -> bool {
        self.probe.as_ref().is_some_and(|probe| probe.again)
    }

    /// RACK_sent_after: was `latest` sent after the segment that ends at `end`?
    pub(crate) fn sent_after(&self, segment: &Sent, end: u64) -> bool {
        self.latest > (segment.at(), end)
    }

    /// The age from which a segment is lost if a later one has arrived.
    pub(crate) fn reach(&self) -> Time {
        self.rtt + self.window
    }

    /// Recovery begins, which has cut the window: what the probe has repaired is no reason to cut it
    /// again (RFC 8985, section 7.1; Linux, `tcp_enter_loss` and `tcp_init_cwnd_reduction`).
    pub(crate) fn forget_probe(&mut self) {
        self.probe = None;
    }

    pub(crate) fn leave_recovery(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.more = 0;
        }
    }

    /// RACK.reo_wnd: a quarter of the least RTT plus one more quarter for each round with D-SACKs,
    /// at most SRTT (section 6.2, step 4).
    #[inline]
    pub(crate) fn patience(&self, srtt: Time) -> Time {
        let least = self.least_rtt.get().unwrap_or(Time::ZERO);
        Time((least.0 / 4).saturating_mul(1 + self.more as u64)).min(srtt)
    }

    /// Before any other sample, the least RTT of the handshake is the least RTT.
    #[inline]
    pub(crate) fn follow_handshake(&mut self, rtt: Option<Time>, now: Time) {
        if self.least_rtt.get().is_none() {
            rtt.into_iter().for_each(|rtt| self.least_rtt.sample(rtt, now));
        }
    }

    /// Steps 1 to 3 of section 6.2, when all data before `end` has arrived in order: segments that
    /// were sent once, the first and the last of them at these times. No probe repeats one.
    #[inline]
    pub(crate) fn follow_in_order(&mut self, (first_at, last_at): (Time, Time), end: u64, now: Time) {
        self.least_rtt.sample(now - first_at, now);
        self.unsampled = false;
        (self.rtt, self.latest) = (now - last_at, (last_at, end));
        // A probe of new data has arrived, and tells nothing more.
        self.probe.take_if(|probe| end >= probe.end);
    }

    /// Steps 1 to 3 of section 6.2.
    pub(crate) fn follow(&mut self, told: &Delivered, now: Time) {
        if let Some(sent_at) = told.sent_at {
            self.least_rtt.sample(now - sent_at, now);
        }
        let min_rtt = self.least_rtt.get().unwrap_or(Time::ZERO);
        self.unsampled &= told.sent_at.is_none();
        self.reordering_seen |= told.reordered;
        if let Some((at, end, again)) = told.latest {
            let rtt = now - at;
            // It is too soon for an ACK of the retransmission, so this ACK is for an earlier
            // transmission.
            if again && rtt < min_rtt {
                return;
            }
            self.rtt = rtt;
            self.latest = self.latest.max((at, end));
        }
    }

    /// Step 4: D-SACKs widen the reordering window, at most once a round.
    #[inline]
    pub(crate) fn follow_duplicate(&mut self, duplicate: bool, snd_una: u64, snd_nxt: u64) {
        if self.dsack_round.is_some_and(|end| snd_una >= end) {
            self.dsack_round = None;
        }
        if duplicate && self.dsack_round.is_none() {
            self.dsack_round = Some(snd_nxt);
            self.more += 1;
            self.persist = PERSIST;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seq::Seq;

    fn rack(least_rtt_us: u64) -> Rack {
        let mut rack = Rack::default();
        rack.least_rtt.sample(Time::from_us(least_rtt_us), Time::from_us(least_rtt_us));
        rack
    }

    /// A quarter of the least RTT, one more for each round with D-SACKs, and never beyond the
    /// smoothed RTT (section 6.2, step 4).
    #[test]
    fn the_window_widens_by_quarters_up_to_srtt() {
        let mut rack = rack(100);
        let srtt = Time::from_us(120);
        for (round, window) in [25, 50, 75, 100, 120, 120].into_iter().enumerate() {
            assert_eq!(rack.patience(srtt), Time::from_us(window));
            let end = 1000 * round as u64;
            rack.follow_duplicate(true, end, end + 1000);
        }
    }

    /// D-SACKs of one round count once: the round ends when the data that was next to be sent at
    /// the first one is acknowledged.
    #[test]
    fn dsacks_count_once_a_round() {
        let mut rack = rack(100);
        rack.follow_duplicate(true, 1000, 5000);
        rack.follow_duplicate(true, 1000, 6000);
        rack.follow_duplicate(true, 4999, 6000);
        assert_eq!(rack.more, 1);
        rack.follow_duplicate(false, 5000, 9000); // ends the round, and begins none
        rack.follow_duplicate(true, 5500, 9000);
        assert_eq!(rack.more, 2);
        rack.follow_duplicate(true, 9000, 9500); // ends a round, and begins the next
        assert_eq!(rack.more, 3);
    }

    /// The widened window persists for 16 recoveries, counted from the last D-SACK
    /// ("RACK.reo_wnd_persist = 16").
    #[test]
    fn the_window_is_small_again_after_sixteen_recoveries() {
        let mut rack = rack(100);
        rack.follow_duplicate(true, 1000, 5000);
        (0..10).for_each(|_| rack.leave_recovery());
        rack.follow_duplicate(true, 5000, 9000);
        (0..15).for_each(|_| rack.leave_recovery());
        assert_eq!(rack.more, 2);
        rack.leave_recovery();
        assert_eq!(rack.more, 0);
        assert_eq!(rack.patience(Time::from_us(200)), Time::from_us(25));
        rack.leave_recovery(); // and stays so
        assert_eq!((rack.more, rack.persist), (0, 0));
    }

    fn arrived(at_us: u64, end: u64, again: bool) -> Delivered {
        Delivered { latest: Some((Time::from_us(at_us), end, again)), ..Delivered::default() }
    }

    /// An ACK of a retransmission within the least RTT is for the first copy, and is ignored
    /// (section 6.2, step 2).
    #[test]
    fn an_ack_that_comes_too_soon_for_a_retransmission_tells_nothing() {
        let mut rack = rack(100);
        rack.follow(&arrived(200, 1000, false), Time::from_us(300));
        rack.follow(&arrived(250, 2000, true), Time::from_us(349));
        assert_eq!((rack.latest, rack.rtt), ((Time::from_us(200), 1000), Time::from_us(100)));
        rack.follow(&arrived(250, 2000, true), Time::from_us(350));
        assert_eq!((rack.latest, rack.rtt), ((Time::from_us(250), 2000), Time::from_us(100)));
        rack.follow(&arrived(300, 3000, false), Time::from_us(390)); // not sent again: whatever its RTT
        assert_eq!((rack.latest, rack.rtt), ((Time::from_us(300), 3000), Time::from_us(90)));
        assert_eq!(rack.reach(), Time::from_us(90));
    }

    /// RACK_sent_after: of segments sent at the same time the one that ends later was sent later
    /// (section 6.2, step 2).
    #[test]
    fn of_the_same_time_the_later_end_was_sent_later() {
        let mut rack = rack(100);
        rack.latest = (Time::from_us(200), 2000);
        let sent = |at_us| Sent::new(Time::from_us(at_us), Seq(0), Seq(0));
        assert!(rack.sent_after(&sent(199), 9000));
        assert!(rack.sent_after(&sent(200), 1999));
        assert!(!rack.sent_after(&sent(200), 2000));
        assert!(!rack.sent_after(&sent(201), 1000));
    }

    /// What was sent at 200 us and has arrived by 280 us took 80 us, the least RTT now: a quarter of
    /// it is 20 us.
    #[test]
    fn the_least_rtt_comes_from_acknowledged_segments() {
        let mut rack = rack(100);
        let told = Delivered { sent_at: Some(Time::from_us(200)), ..Delivered::default() };
        rack.follow(&told, Time::from_us(280));
        assert_eq!(rack.patience(Time::from_us(200)), Time::from_us(20));
    }

    /// Of segments sent from 200 to 210 us that arrive in order by 290 us the first has the least RTT, 90 us, and the last
    /// the RTT that counts. A probe of new data before 2,000 is done when all that has arrived.
    #[test]
    fn what_arrives_in_order_ends_a_probe_of_new_data() {
        let us = Time::from_us;
        for (end, waits) in [(1_999, true), (2_000, false)] {
            let mut rack = rack(100);
            assert!(!rack.probe_repeats());
            (rack.probe, rack.unsampled) = (Some(Probe { end: 2_000, again: false }), true);
            assert!(!rack.probe_repeats());
            rack.follow_in_order((us(200), us(210)), end, us(290));
            assert_eq!((rack.rtt, rack.latest, rack.unsampled), (us(80), (us(210), end), false));
            assert_eq!((rack.probe.is_some(), rack.patience(us(200))), (waits, Time::from_ns(22_500)));
            rack.probe = Some(Probe { end: 2_000, again: true });
            assert!(rack.probe_repeats());
        }
    }

    /// The handshake is a sample if there is no other.
    #[test]
    fn the_handshake_counts_before_any_other_sample() {
        let mut rack = Rack::default();
        let windows = [None, Some(80), Some(40)].map(|rtt| {
            rack.follow_handshake(rtt.map(Time::from_us), Time::from_us(100));
            rack.patience(Time::from_us(200))
        });
        assert_eq!(windows, [0, 20, 20].map(Time::from_us));
    }
}
