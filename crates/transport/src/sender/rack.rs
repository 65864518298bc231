//! RACK-TLP (RFC 8985): losses found by time, and probes that turn a lost tail into something that SACKs can tell.

use super::Sender;
use crate::control::CongestionControl;
use crate::outstanding::{Mark, Sent};
use crate::rtt::RecentLeast;
use crate::scoreboard::Delivered;
use crate::segment::Output;
use crate::subflow::Subflow;
use linkpool_units::Time;

/// Recoveries without a D-SACK before the reordering window is small again (RFC 8985, section 6.2, step 4).
const PERSIST: u32 = 16;

/// Per-connection variables of RFC 8985, sections 5.3 and 5.4.
#[derive(Debug, Default)]
pub(crate) struct Rack {
    /// The segment sent last of those that have arrived: when it was sent, and where it ends.
    latest: (Time, u64),
    /// Its RTT.
    rtt: Time,
    /// RACK.min_RTT (section 6.2, step 1).
    least_rtt: RecentLeast,
    reordering_seen: bool,
    /// D-SACKs count once a round; this is its end.
    dsack_round: Option<u64>,
    /// The reordering window is a quarter of the least RTT, and so many more.
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

/// What the timer of a subflow is set for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Due {
    /// Retransmission timeout.
    #[default]
    Timeout,
    /// Tail loss probe.
    Probe,
    /// What may have been reordered has had its time.
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
            // Too soon: that was an ACK of what had been sent before.
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
    /// What an ACK tells RACK; and whether a probe has repaired a loss.
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
            // It has repaired a loss that nobody has answered for.
            let flight = path.cwnd as u32;
            let ssthresh = self.control.ssthresh(&self.paths, s, flight);
            let path = &mut self.paths[s];
            (path.ssthresh, path.cwnd) = (ssthresh, ssthresh.min(path.cwnd));
        } else if !twice {
            rack.probe = Some(Probe { end, again });
        }
    }

    /// RACK_update_reo_wnd and RACK_detect_loss (section 6.2, steps 4 and 5). Returns how long until there may be more.
    pub(super) fn lose_by_time(&mut self, s: usize, now: Time) -> Option<Time> {
        let (path, subflow) = (&self.paths[s], &mut self.subflows[s]);
        let (threshold, srtt) = (subflow.dupack_threshold, path.srtt as u64);
        let board = subflow.board.as_mut()?;
        let repairing = path.in_recovery || board.in_loss;
        let sacked = board.sacked;
        let resent = board.resent > 0;
        let rack = board.rack.as_mut()?;
        let at_once = !rack.reordering_seen && (repairing || sacked >= threshold);
        let min_rtt = rack.least_rtt.get().unwrap_or(Time::ZERO);
        let window = if at_once { 0 } else { (min_rtt.0 / 4).saturating_mul(1 + rack.more as u64).min(srtt) };
        rack.window = Time(window);
        if sacked == 0 && !resent {
            // In order: nothing sent before the latest that has arrived is outstanding, but for what was sent with it.
            let first = subflow.sent.front()?;
            if !rack.sent_after(first, first.end.near(path.snd_una)) {
                return None;
            }
        }
        let (latest, reach) = (rack.latest, rack.reach());
        let mut wait = Time::ZERO;
        subflow.lose(path, path.snd_una, |segment, (_, end)| {
            if latest <= (segment.at(), end) {
                // Those sent first are in order: all that follow were sent later still.
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

    /// TLP_send_probe (section 7.3): new data if there is any, beyond the window; else the last segment again.
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

    /// Sets the timer anew after progress: to a probe where one is due sooner (TLP_calc_PTO, section 7.2), else to a timeout.
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
