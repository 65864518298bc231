//! RACK-TLP (RFC 8985): detects losses by time, and sends probes so that SACKs report a lost tail.

use super::Sender;
use crate::congestion::CongestionState;
use crate::control::CongestionControl;
use crate::id::SubflowId;
use crate::loss::{Delivered, Due, Probe, Rack, Scoreboard};
use crate::outstanding::Mark;
use crate::segment::Output;
use crate::subflow::{Acknowledged, Subflow};
use linkpool_units::Time;

impl Subflow {
    pub(crate) fn has_rack(&self) -> bool {
        self.board.as_ref().is_some_and(|b| b.rack.is_some())
    }

    /// Is the timer set for a probe?
    pub(crate) fn awaits_probe(&self) -> bool {
        self.board.as_ref().and_then(|b| b.rack.as_ref()).is_some_and(|rack| rack.due == Due::Probe)
    }

    fn rack(&mut self) -> Option<&mut Rack> {
        self.board.as_mut()?.rack.as_mut()
    }
}

impl Scoreboard {
    /// Updates the scoreboard with an ACK that takes the fast path: [`Subflow::take_ack`],
    /// [`Sender::follow_rack`] and [`Sender::lose_by_time`] for segments that were sent once and
    /// have arrived in order. `handshake` is the least RTT of the subflow.
    #[inline]
    pub(super) fn follow_in_order(
        &mut self,
        (state, told): (&CongestionState, &Acknowledged),
        handshake: Option<Time>,
        now: Time,
    ) {
        self.arrived.insert(self.arrived.next(), state.snd_una);
        let (Some(rack), Some(sent_at)) = (&mut self.rack, told.sent_at) else { return };
        rack.follow_handshake(handshake, now);
        rack.follow_in_order((sent_at, told.last_at), state.snd_una, now);
        rack.follow_duplicate(false, state.snd_una, state.snd_nxt);
        rack.window = rack.patience(Time(state.srtt as i64 as u64));
    }
}

impl Sender {
    /// Updates RACK with an ACK, and detects whether a probe has repaired a loss.
    pub(super) fn follow_rack(&mut self, s: SubflowId, told: &Delivered, now: Time) {
        let (state, subflow) = (&self.states[s], &mut self.subflows[s]);
        let handshake = subflow.rtt.min();
        let Some(rack) = subflow.rack() else { return };
        rack.follow_handshake(handshake, now);
        rack.follow(told, now);
        rack.follow_duplicate(told.duplicate.is_some(), state.snd_una, state.snd_nxt);
        // TLP_process_ack (section 7.4.2)
        let Some(Probe { end, again }) = rack.probe.take_if(|probe| state.snd_una >= probe.end) else { return };
        let needless = told.duplicate.is_some_and(|(_, duplicate)| duplicate == end);
        let twice = told.segments == 0 && told.fresh == 0 && told.duplicate.is_none();
        if !again || needless {
            return;
        }
        if state.snd_una > end {
            // The probe has repaired a loss, and the window has not been cut for it.
            let flight = state.cwnd as u32;
            let ssthresh = self.control.ssthresh(&self.states, s, flight);
            let state = &mut self.states[s];
            (state.ssthresh, state.cwnd) = (ssthresh, ssthresh.min(state.cwnd));
        } else if !twice {
            rack.probe = Some(Probe { end, again });
        }
    }

    /// RACK_update_reo_wnd and RACK_detect_loss (section 6.2, steps 4 and 5). Returns the time
    /// after which more segments may be lost.
    pub(super) fn lose_by_time(&mut self, s: SubflowId, now: Time) -> Option<Time> {
        let (state, subflow) = (&self.states[s], &mut self.subflows[s]);
        let (threshold, srtt) = (subflow.dupack_threshold, Time(state.srtt as u64));
        let board = subflow.board.as_mut()?;
        let repairing = state.in_recovery || board.in_loss;
        let sacked = board.sacked;
        let resent = board.resent > 0;
        let rack = board.rack.as_mut()?;
        let at_once = !rack.reordering_seen && (repairing || sacked >= threshold);
        rack.window = if at_once { Time::ZERO } else { rack.patience(srtt) };
        if sacked == 0 && !resent {
            // The segments arrive in order: of the segments sent before the latest one that has
            // arrived, only segments sent at the same time are outstanding.
            let first = subflow.sent.front()?;
            if !rack.sent_after(first, first.end.near(state.snd_una)) {
                return None;
            }
        }
        let (latest, reach) = (rack.latest, rack.reach());
        let mut wait = Time::ZERO;
        subflow.lose(state, state.snd_una, |segment, (_, end)| {
            if latest <= (segment.at(), end) {
                // Segments sent once are in order of time, so all further ones were sent later.
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
    pub(super) fn await_reordered(&mut self, s: SubflowId, wait: Option<Time>, now: Time, out: &mut impl Output) {
        if let (Some(wait), Some(rack)) = (wait, self.subflows[s].rack()) {
            rack.due = Due::Reordering;
            self.subflows[s].timer.set(s, now + wait, out);
        }
    }

    /// Acts if the timer of a subflow with RACK has expired for a probe or for the reordering
    /// window. Returns false if it has expired for a timeout.
    pub(super) fn on_rack_timer(&mut self, s: SubflowId, now: Time, out: &mut impl Output) -> bool {
        if self.subflows[s].sent.is_empty() {
            return false;
        }
        let Some(rack) = self.subflows[s].rack() else { return false };
        match std::mem::take(&mut rack.due) {
            Due::Timeout => return false,
            Due::Reordering => {
                let again = self.lose_by_time(s, now);
                let board = self.subflows[s].board.as_ref();
                if board.is_some_and(|b| b.lost > 0 && !b.in_loss) && !self.states[s].in_recovery {
                    self.enter_recovery(s, 1, now, out); // Linux, `tcp_rack_reo_timeout`: as if one had arrived
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

    /// TLP_send_probe (section 7.3): sends new data, beyond the window if necessary. If there is
    /// none, it sends the last segment again.
    fn send_probe(&mut self, s: SubflowId, now: Time, out: &mut impl Output) {
        let new = self.send_one(s, now, out);
        let (state, subflow) = (&self.states[s], &mut self.subflows[s]);
        subflow.counts.probes += 1;
        let (last, end) = (subflow.sent.len().checked_sub(1), state.snd_nxt);
        if let Some(rack) = subflow.rack() {
            (rack.probe, rack.unsampled) = (Some(Probe { end, again: !new }), true);
        }
        if let (false, Some(last)) = (new, last) {
            self.send_again(s, last, now, out);
        }
        self.set_timeout(s, now, out);
    }

    /// Restarts the timer after progress: for a probe (TLP_calc_PTO, section 7.2), else for the
    /// timeout. A probe that would be due after the timeout takes its place, and the timeout
    /// follows. A segment that is alone in flight waits for a delayed ACK too: for `min_rto`, as in
    /// Linux (`tcp_schedule_loss_probe` in net/ipv4/tcp_output.c).
    pub(super) fn arm_timer(&mut self, s: SubflowId, now: Time, out: &mut impl Output) {
        let (state, subflow) = (&self.states[s], &mut self.subflows[s]);
        if subflow.sent.is_empty() {
            return subflow.timer.clear(); // RFC 6298 (5.2)
        }
        let config = &self.config.rtt;
        let mut wait = None;
        if let Some(board) = &mut subflow.board
            && let Some(rack) = &mut board.rack
        {
            let calm = !state.in_recovery && !board.in_loss && (board.sacked | board.lost | board.resent) == 0;
            let probes = calm && !rack.unsampled && rack.probe.is_none() && state.srtt > 0.0;
            rack.due = if probes { Due::Probe } else { Due::Timeout };
            if probes {
                let alone = subflow.sent.len() == 1 && self.config.ack_every > 1;
                let delay = if alone { config.min_rto } else { Time::ZERO };
                let pto = Time(2 * state.srtt as u64) + delay;
                // Most probes are due before any timeout can be.
                wait = Some(if pto <= config.least() { pto } else { pto.min(subflow.rtt.rto(config)) });
            }
        }
        let wait = wait.unwrap_or_else(|| subflow.rtt.rto(config)); // RFC 6298 (5.3)
        subflow.timer.set(s, now + wait, out);
    }

    /// Sets the timer to a retransmission timeout.
    pub(super) fn set_timeout(&mut self, s: SubflowId, now: Time, out: &mut impl Output) {
        let subflow = &mut self.subflows[s];
        if let Some(rack) = subflow.rack() {
            rack.due = Due::Timeout;
        }
        let rto = subflow.rtt.rto(&self.config.rtt);
        subflow.timer.set(s, now + rto, out);
    }
}
