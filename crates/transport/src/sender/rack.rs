//! RACK-TLP (RFC 8985): losses detected by time, and probes that let SACKs report a lost tail.

use super::Sender;
use crate::control::CongestionControl;
use crate::outstanding::{Mark, Sent};
use crate::rtt::RecentLeast;
use crate::scoreboard::Delivered;
use crate::segment::Output;
use crate::subflow::Subflow;
use linkpool_units::Time;

/// Recoveries without a D-SACK before the reordering window is small again (RFC 8985, section 6.2,
/// step 4).
const PERSIST: u32 = 16;

/// Per-connection variables of RFC 8985, sections 5.3 and 5.4.
#[derive(Debug, Default)]
pub(crate) struct Rack {
    /// Of the segments that have arrived, the one sent last: when it was sent, and where it ends.
    latest: (Time, u64),
    /// Its RTT.
    rtt: Time,
    /// RACK.min_RTT (section 6.2, step 1).
    least_rtt: RecentLeast,
    reordering_seen: bool,
    /// D-SACKs count once a round; this is its end.
    dsack_round: Option<u64>,
    /// The reordering window is a quarter of the least RTT, and this many quarters more.
    more: u32,
    persist: u32,
    /// The reordering window now.
    window: Time,
    /// A probe is out.
    probe: Option<Probe>,
    /// There has been no RTT sample since the last probe.
    unsampled: bool,
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
    /// The reordering timer: segments that may be reordered have had their time.
    Reordering,
}

#[derive(Debug)]
struct Probe {
    /// SND.NXT after it.
    end: u64,
    /// It was not new data.
    again: bool,
}

impl Rack {
    /// RACK_sent_after: was `latest` sent after the segment that ends at `end`?
    fn sent_after(&self, segment: &Sent, end: u64) -> bool {
        self.latest > (segment.at(), end)
    }

    /// A segment older than this, when a later one has arrived, is lost.
    pub(super) fn reach(&self) -> Time {
        self.rtt + self.window
    }

    pub(super) fn leave_recovery(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.more = 0;
        }
    }

    /// RACK.reo_wnd where reordering is given time: a quarter of the least RTT, and one more for
    /// each D-SACK, at most SRTT (section 6.2, step 4).
    fn patience(&self, srtt: Time) -> Time {
        let least = self.least_rtt.get().unwrap_or(Time::ZERO);
        Time((least.0 / 4).saturating_mul(1 + self.more as u64)).min(srtt)
    }

    /// Steps 1 to 3 of section 6.2.
    fn follow(&mut self, told: &Delivered, now: Time) {
        if let Some(sent_at) = told.sent_at {
            self.least_rtt.sample(now - sent_at, now);
        }
        let min_rtt = self.least_rtt.get().unwrap_or(Time::ZERO);
        self.unsampled &= told.sent_at.is_none();
        self.reordering_seen |= told.reordered;
        if let Some((at, end, again)) = told.latest {
            let rtt = now - at;
            // Too soon: this is an ACK of an earlier transmission.
            if again && rtt < min_rtt {
                return;
            }
            self.rtt = rtt;
            self.latest = self.latest.max((at, end));
        }
    }

    /// Step 4: D-SACKs widen the reordering window, once a round.
    fn follow_duplicate(&mut self, duplicate: bool, snd_una: u64, snd_nxt: u64) {
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

impl Subflow {
    pub(crate) fn has_rack(&self) -> bool {
        self.board.as_ref().is_some_and(|b| b.rack.is_some())
    }

    fn rack(&mut self) -> Option<&mut Rack> {
        self.board.as_mut()?.rack.as_mut()
    }
}

impl Sender {
    /// Updates RACK with an ACK, and detects whether a probe has repaired a loss.
    pub(super) fn follow_rack(&mut self, s: usize, told: &Delivered, now: Time) {
        let (path, subflow) = (&self.paths[s], &mut self.subflows[s]);
        let handshake = subflow.rtt.min();
        let Some(rack) = subflow.rack() else { return };
        if rack.least_rtt.get().is_none() {
            handshake.into_iter().for_each(|rtt| rack.least_rtt.sample(rtt, now));
        }
        rack.follow(told, now);
        rack.follow_duplicate(told.duplicate.is_some(), path.snd_una, path.snd_nxt);
        // TLP_process_ack (section 7.4.2)
        let Some(Probe { end, again }) = rack.probe.take_if(|probe| path.snd_una >= probe.end) else { return };
        let needless = told.duplicate.is_some_and(|(_, duplicate)| duplicate == end);
        let twice = told.segments == 0 && told.fresh == 0 && told.duplicate.is_none();
        if !again || needless {
            return;
        }
        if path.snd_una > end {
            // It has repaired a loss for which no window was cut.
            let flight = path.cwnd as u32;
            let ssthresh = self.control.ssthresh(&self.paths, s, flight);
            let path = &mut self.paths[s];
            (path.ssthresh, path.cwnd) = (ssthresh, ssthresh.min(path.cwnd));
        } else if !twice {
            rack.probe = Some(Probe { end, again });
        }
    }

    /// RACK_update_reo_wnd and RACK_detect_loss (section 6.2, steps 4 and 5). Returns how long
    /// until there may be more.
    pub(super) fn lose_by_time(&mut self, s: usize, now: Time) -> Option<Time> {
        let (path, subflow) = (&self.paths[s], &mut self.subflows[s]);
        let (threshold, srtt) = (subflow.dupack_threshold, Time(path.srtt as u64));
        let board = subflow.board.as_mut()?;
        let repairing = path.in_recovery || board.in_loss;
        let sacked = board.sacked;
        let resent = board.resent > 0;
        let rack = board.rack.as_mut()?;
        let at_once = !rack.reordering_seen && (repairing || sacked >= threshold);
        rack.window = if at_once { Time::ZERO } else { rack.patience(srtt) };
        if sacked == 0 && !resent {
            // In order: no segment sent before the latest arrived one is outstanding, except those
            // sent with it.
            let first = subflow.sent.front()?;
            if !rack.sent_after(first, first.end.near(path.snd_una)) {
                return None;
            }
        }
        let (latest, reach) = (rack.latest, rack.reach());
        let mut wait = Time::ZERO;
        subflow.lose(path, path.snd_una, |segment, (_, end)| {
            if latest <= (segment.at(), end) {
                // The segments sent first are in order: all that follow were sent later.
                return if segment.is(Mark::AGAIN) { Some(false) } else { None };
            }
            let due = segment.at() + reach;
            if due <= now {
                return Some(true);
            }
            wait = wait.max(due - now);
            Some(false)
        });
        (wait > Time::ZERO).then_some(wait)
    }

    /// Sets the timer to look for losses again.
    pub(super) fn await_reordered(&mut self, s: usize, wait: Option<Time>, now: Time, out: &mut impl Output) {
        if let (Some(wait), Some(rack)) = (wait, self.subflows[s].rack()) {
            rack.due = Due::Reordering;
            self.subflows[s].timer.set(s, now + wait, out);
        }
    }

    /// The timer of a subflow with RACK has expired, and not for a timeout. False if it has.
    pub(super) fn on_rack_timer(&mut self, s: usize, now: Time, out: &mut impl Output) -> bool {
        if self.subflows[s].sent.is_empty() {
            return false;
        }
        let Some(rack) = self.subflows[s].rack() else { return false };
        match std::mem::take(&mut rack.due) {
            Due::Timeout => return false,
            Due::Reordering => {
                let again = self.lose_by_time(s, now);
                let board = self.subflows[s].board.as_ref();
                if board.is_some_and(|b| b.lost > 0 && !b.in_loss) && !self.paths[s].in_recovery {
                    self.enter_recovery(s, now, out);
                }
                self.set_timeout(s, now, out);
                self.await_reordered(s, again, now, out);
            }
            Due::Probe => self.send_probe(s, now, out),
        }
        self.update_open(s);
        self.transmit(now, out);
        true
    }

    /// TLP_send_probe (section 7.3): new data if there is any, beyond the window; else the last
    /// segment again.
    fn send_probe(&mut self, s: usize, now: Time, out: &mut impl Output) {
        let new = self.send_one(s, now, out);
        let (path, subflow) = (&self.paths[s], &mut self.subflows[s]);
        subflow.counts.probes += 1;
        let (last, end) = (subflow.sent.len().checked_sub(1), path.snd_nxt);
        if let Some(rack) = subflow.rack() {
            (rack.probe, rack.unsampled) = (Some(Probe { end, again: !new }), true);
        }
        if let (false, Some(last)) = (new, last) {
            self.send_again(s, last, now, out);
        }
        self.set_timeout(s, now, out);
    }

    /// Restarts the timer after progress: to a probe where one is due sooner (TLP_calc_PTO, section
    /// 7.2), else to a timeout.
    pub(super) fn arm_timer(&mut self, s: usize, now: Time, out: &mut impl Output) {
        let (path, subflow) = (&self.paths[s], &mut self.subflows[s]);
        if subflow.sent.is_empty() {
            return subflow.timer.clear(); // RFC 6298 (5.2)
        }
        let rto = subflow.rtt.rto(&self.config.rtt);
        let alone = subflow.sent.len() == 1 && self.config.ack_every > 1;
        let pto = Time(2 * path.srtt as u64) + if alone { self.config.ack_delay } else { Time::ZERO };
        let calm = !path.in_recovery
            && subflow.board.as_ref().is_some_and(|b| !b.in_loss && b.sacked == 0 && b.lost == 0 && b.resent == 0);
        if let Some(rack) = subflow.rack() {
            let probes = calm && !rack.unsampled && rack.probe.is_none() && path.srtt > 0.0 && pto < rto;
            rack.due = if probes { Due::Probe } else { Due::Timeout };
            if probes {
                return subflow.timer.set(s, now + pto, out);
            }
        }
        subflow.timer.set(s, now + rto, out); // RFC 6298 (5.3)
    }

    /// Sets the timer to a retransmission timeout.
    pub(super) fn set_timeout(&mut self, s: usize, now: Time, out: &mut impl Output) {
        let subflow = &mut self.subflows[s];
        if let Some(rack) = subflow.rack() {
            rack.due = Due::Timeout;
        }
        let rto = subflow.rtt.rto(&self.config.rtt);
        subflow.timer.set(s, now + rto, out);
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
}
