//! RACK-TLP (RFC 8985): detects losses by time, and sends probes so that SACKs report a lost tail.

use super::Recovery;
use crate::config::Config;
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

    /// What the timer, which has expired, was set for.
    pub(crate) fn take_due(&mut self) -> Due {
        let waits = !self.sent.is_empty();
        self.rack().filter(|_| waits).map_or(Due::Timeout, |rack| std::mem::take(&mut rack.due))
    }

    /// Restarts the timer after progress: for a probe (TLP_calc_PTO, section 7.2), else for the
    /// timeout. A probe that would be due after the timeout takes its place, and the timeout
    /// follows. A segment that is alone in flight waits for a delayed ACK too: for `min_rto`, as in
    /// Linux (`tcp_schedule_loss_probe` in net/ipv4/tcp_output.c).
    pub(crate) fn arm_timer(
        &mut self,
        s: SubflowId,
        state: &CongestionState,
        config: &Config,
        now: Time,
        out: &mut impl Output,
    ) {
        if self.sent.is_empty() {
            return self.timer.clear(); // RFC 6298 (5.2)
        }
        let (config, ack_every) = (&config.rtt, config.ack_every);
        let mut wait = None;
        if let Some(board) = &mut self.board
            && let Some(rack) = &mut board.rack
        {
            let calm = !state.in_recovery && !board.in_loss && (board.sacked | board.lost | board.resent) == 0;
            let probes = calm && !rack.unsampled && rack.probe.is_none() && state.srtt > 0.0;
            rack.due = if probes { Due::Probe } else { Due::Timeout };
            if probes {
                let alone = self.sent.len() == 1 && ack_every > 1;
                let delay = if alone { config.min_rto } else { Time::ZERO };
                let pto = Time(2 * state.srtt as u64) + delay;
                // Most probes are due before any timeout can be.
                wait = Some(if pto <= config.least() { pto } else { pto.min(self.rtt.rto(config)) });
            }
        }
        let wait = wait.unwrap_or_else(|| self.rtt.rto(config)); // RFC 6298 (5.3)
        self.timer.set(s, now + wait, out);
    }

    /// Follows a calm ACK, which acknowledges segments in order: in the scoreboard, and by the timer,
    /// which the sender arms or the next segment. `PLAIN`: there is no scoreboard.
    #[inline(always)]
    pub(in crate::sender) fn follow_in_order<const PLAIN: bool>(
        &mut self,
        (s, state): (SubflowId, &CongestionState),
        told: &Acknowledged,
        config: &Config,
        now: Time,
        out: &mut impl Output,
    ) {
        if !PLAIN && let Some(board) = &mut self.board {
            board.follow_in_order((state, told), self.rtt.min(), now);
            self.timer.clear();
        } else if self.sent.is_empty() {
            self.timer.clear(); // RFC 6298 (5.2)
        } else {
            self.timer.set(s, now + self.rtt.rto(&config.rtt), out); // RFC 6298 (5.3)
        }
    }

    /// Sets the timer to a retransmission timeout.
    pub(crate) fn set_timeout(&mut self, s: SubflowId, config: &Config, now: Time, out: &mut impl Output) {
        if let Some(rack) = self.rack() {
            rack.due = Due::Timeout;
        }
        self.timer.set(s, now + self.rtt.rto(&config.rtt), out);
    }
}

impl Scoreboard {
    /// Updates the scoreboard with an ACK that takes the fast path: [`Subflow::take_ack`],
    /// [`Recovery::follow_rack`] and [`Recovery::lose_by_time`] for segments that were sent once and
    /// have arrived in order. `handshake` is the least RTT of the subflow.
    #[inline]
    fn follow_in_order(
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

impl Recovery<'_> {
    /// Updates RACK with an ACK, and detects whether a probe has repaired a loss.
    pub(super) fn follow_rack(&mut self, told: &Delivered, now: Time) {
        let (state, subflow) = (&self.states[self.s], &mut *self.subflow);
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
            let ssthresh = self.control.ssthresh(self.states, self.s, flight);
            let state = &mut self.states[self.s];
            (state.ssthresh, state.cwnd) = (ssthresh, ssthresh.min(state.cwnd));
        } else if !twice {
            rack.probe = Some(Probe { end, again });
        }
    }

    /// RACK_update_reo_wnd and RACK_detect_loss (section 6.2, steps 4 and 5). Returns the time
    /// after which more segments may be lost.
    pub(super) fn lose_by_time(&mut self, now: Time) -> Option<Time> {
        let (state, subflow) = (&self.states[self.s], &mut *self.subflow);
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
    pub(super) fn await_reordered(&mut self, wait: Option<Time>, now: Time, out: &mut impl Output) {
        if let (Some(wait), Some(rack)) = (wait, self.subflow.rack()) {
            rack.due = Due::Reordering;
            self.subflow.timer.set(self.s, now + wait, out);
        }
    }

    /// The reordering window is over: marks what is lost now.
    pub(in crate::sender) fn lose_reordered(&mut self, now: Time, out: &mut impl Output) {
        let again = self.lose_by_time(now);
        let board = self.subflow.board.as_ref();
        if board.is_some_and(|b| b.lost > 0 && !b.in_loss) && !self.states[self.s].in_recovery {
            self.enter_recovery(1, now, out); // Linux, `tcp_rack_reo_timeout`: as if one had arrived
        }
        self.set_timeout(now, out);
        self.await_reordered(again, now, out);
    }

    /// TLP_send_probe (section 7.3): new data has been sent, beyond the window if necessary (`new`).
    /// If there was none, sends the last segment again.
    pub(in crate::sender) fn probe(&mut self, new: bool, now: Time, out: &mut impl Output) {
        let (state, subflow) = self.parts();
        subflow.counts.probes += 1;
        let (last, end) = (subflow.sent.len().checked_sub(1), state.snd_nxt);
        if let Some(rack) = subflow.rack() {
            (rack.probe, rack.unsampled) = (Some(Probe { end, again: !new }), true);
        }
        if let (false, Some(last)) = (new, last) {
            self.send_again(last, now, out);
        }
        self.set_timeout(now, out);
    }

    /// [`Subflow::arm_timer`].
    pub(super) fn arm_timer(&mut self, now: Time, out: &mut impl Output) {
        self.subflow.arm_timer(self.s, &self.states[self.s], self.config, now, out);
    }

    /// [`Subflow::set_timeout`].
    pub(in crate::sender) fn set_timeout(&mut self, now: Time, out: &mut impl Output) {
        self.subflow.set_timeout(self.s, self.config, now, out);
    }
}
