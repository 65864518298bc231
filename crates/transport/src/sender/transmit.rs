//! Decides which subflow sends which data next. The data is part of the connection's stream and
//! gets a place in the stream of the subflow.

use super::Sender;
use super::pieces::Scene;
use super::scheduler::{Path, Scheduler, Slow};
use super::stream::Piece;
use crate::congestion::CongestionState;
use crate::control::CongestionControl;
use crate::id::SubflowId;
use crate::outstanding::Sent;
use crate::segment::{Output, Segment};
use crate::seq::Seq;
use crate::subflow::{State, Subflow};
use linkpool_units::Time;
use std::mem::take;

impl Sender {
    #[inline]
    pub(super) fn update_open(&mut self, s: SubflowId) {
        self.update_open_by::<false>(s);
    }

    /// The same; `PLAIN`: the connection is plain.
    #[inline(always)]
    pub(super) fn update_open_by<const PLAIN: bool>(&mut self, s: SubflowId) {
        let room = if PLAIN || self.ways.by_flight {
            self.subflows[s].in_flight < self.states[s].cwnd as u32
        } else {
            self.has_room(s)
        };
        self.schedule.set_open(s, room);
    }

    /// Has the window of subflow `s` room, with pacing or without limited transmit? With a pacer, a window
    /// below one packet lets a packet go when its time has come.
    #[inline(never)]
    fn has_room(&self, s: SubflowId) -> bool {
        !self.pacer.as_ref().is_some_and(|pacer| pacer.waits(s)) && self.window_has_room(s)
    }

    /// Does the pacer alone keep subflow `s` from sending? Its window has room.
    pub fn is_paced(&self, s: SubflowId) -> bool {
        self.pacer.as_ref().is_some_and(|pacer| pacer.waits(s)) && self.window_has_room(s)
    }

    fn window_has_room(&self, s: SubflowId) -> bool {
        let (mut window, mut held) = (self.states[s].cwnd as u32, 0);
        if self.pacer.is_some() {
            window = window.max(1);
        }
        if !self.config.limited_transmit {
            held = self.held_back(s);
        }
        self.subflows[s].in_flight + held < window
    }

    /// Without limited transmit, SACKs make no room in the window before recovery begins (RFC 6675,
    /// section 5, step 3).
    fn held_back(&self, s: SubflowId) -> u32 {
        let board = self.subflows[s].board.as_ref();
        let held = board.filter(|board| !self.states[s].in_recovery && !board.in_loss);
        held.map_or(0, |board| board.sacked)
    }

    /// Sends as much as the windows allow, one segment at a time; the scheduler chooses the
    /// subflow.
    pub(super) fn transmit(&mut self, now: Time, out: &mut impl Output) {
        if self.ways.plain {
            return self.transmit_by::<true>(now, out);
        }
        self.assign();
        self.transmit_by::<false>(now, out);
    }

    /// The same after an ACK on subflow `s`.
    #[inline(always)]
    pub(super) fn transmit_after(&mut self, s: SubflowId, now: Time, out: &mut impl Output) {
        if self.ways.plain {
            return self.transmit_by::<true>(now, out);
        }
        let nothing = self.ways.fast
            && self
                .pieces
                .as_ref()
                .is_some_and(|pieces| pieces.assigns_nothing(s, &self.subflows[s], &self.stream, &self.control));
        if !nothing {
            self.assign();
        }
        self.transmit_by::<false>(now, out);
    }

    /// Assigns new data to subflows, if the scheduler does so in advance.
    #[inline]
    fn assign(&mut self) {
        let Sender { config, states, subflows, stream, schedule, control, pieces, limits, .. } = self;
        if let Some(pieces) = pieces {
            pieces.assign(Scene { states, subflows, schedule, control, config, stream, limits });
        }
    }

    /// The same; `PLAIN`: the connection is plain. So there is nothing to ask for.
    #[inline(never)]
    fn transmit_by<const PLAIN: bool>(&mut self, now: Time, out: &mut impl Output) {
        self.transmit_here::<PLAIN>(now, out);
    }

    /// The same, compiled where it is called.
    #[inline(always)]
    pub(super) fn transmit_here<const PLAIN: bool>(&mut self, now: Time, out: &mut impl Output) {
        let n = self.subflows.len();
        let mut blocked = 0;
        loop {
            let candidates = self.schedule.open & !blocked;
            if candidates == 0 {
                return;
            }
            let s = if !PLAIN && self.config.multipath.scheduler.goes_by_rtt() {
                self.lowest_rtt(candidates)
            } else {
                self.schedule.in_turn(candidates)
            };
            if self.send_segment::<PLAIN>(s, now, out) {
                self.schedule.end_turn(s, n);
                if !PLAIN {
                    if let Some(uses) = &mut self.uses {
                        uses.touched |= s.bit();
                    }
                    if !self.ways.by_flight {
                        self.pace(s, now, out);
                    }
                }
                self.update_open_by::<PLAIN>(s);
            } else if !PLAIN && matches!(self.subflows[s].state, State::SynSent | State::Confirming) {
                // `Faults::join_stall`: all new data waits until this subflow is established.
                // Retransmissions do not wait.
                self.schedule.keep_turn(s);
                return self.send_backlogs(now, out);
            } else {
                blocked |= s.bit();
            }
        }
    }

    #[cold]
    fn send_backlogs(&mut self, now: Time, out: &mut impl Output) {
        for s in self.numbers() {
            while s.is_in(self.schedule.open) && self.subflows[s].has_backlog() && self.send_one(s, now, out) {
                self.update_open(s);
            }
        }
    }

    /// Sends one segment on subflow `s`: a segment that waits to be sent again, else new data.
    /// Returns false if there is neither.
    #[inline(always)]
    fn send_segment<const PLAIN: bool>(&mut self, s: SubflowId, now: Time, out: &mut impl Output) -> bool {
        let subflow = &self.subflows[s];
        let has_backlog = if PLAIN { subflow.has_unsent() } else { subflow.has_backlog() };
        let waiting = if has_backlog { self.waiting(s) } else { None };
        if let Some(i) = waiting {
            self.send_waiting(s, i, now, out);
            return true;
        }
        let Some((data, len)) = self.next_piece::<PLAIN>(s, now) else {
            return !PLAIN && self.subflows[s].board.is_some() && self.send_last_resort(s, now, out);
        };
        if !PLAIN
            && let Some(uses) = &mut self.uses
            && !self.control.owns_window(s)
        {
            uses.restart_if_idle(s, (&mut self.states[s], &self.subflows[s]), &self.config, now);
        }
        let (state, subflow) = (&mut self.states[s], &mut self.subflows[s]);
        let (seq, data_seq) = (Seq::of(state.snd_nxt), Seq::of(data));
        state.snd_nxt += len as u64;
        subflow.sent.push_back(Sent::new(now, Seq::of(state.snd_nxt), data_seq));
        subflow.in_flight += 1;
        subflow.segments += 1;
        let (ect, cwr) = (subflow.ect, take(&mut subflow.announces_cut));
        if !subflow.timer.is_set() || !PLAIN && subflow.awaits_probe() {
            subflow.arm_timer(s, state, &self.config, now, out); // RFC 6298 (5.1); RFC 8985, section 7.2
        }
        let end = data + len as u64;
        let last = if PLAIN { end == self.stream.size } else { self.limits.is_end(&self.stream, end) };
        let push = !PLAIN && self.pushes(s, data, end);
        out.send(s, Segment::Data { seq, data_seq, len, last, ect, cwr, push });
        if !PLAIN && last && self.config.multipath.faults.sends_fins() && self.limits.messages.is_none() {
            self.finish_subflows(now, out);
        }
        true
    }

    /// [`Sender::send_segment`] for callers off the fast path, where it is not inlined.
    #[inline(never)]
    pub(super) fn send_one(&mut self, s: SubflowId, now: Time, out: &mut impl Output) -> bool {
        self.send_segment::<false>(s, now, out)
    }

    /// The segment of subflow `s` that must be sent again before new data.
    #[inline(never)]
    fn waiting(&mut self, s: SubflowId) -> Option<usize> {
        let subflow = &mut self.subflows[s];
        match &subflow.board {
            None => Some(subflow.in_flight as usize),
            Some(board) if board.wants_new_data() => None,
            Some(_) => subflow.first_lost(&self.states[s]),
        }
    }

    /// Sends segment number `i`, which is not in flight, again.
    #[inline(never)]
    fn send_waiting(&mut self, s: SubflowId, i: usize, now: Time, out: &mut impl Output) {
        self.recovery(s).send_again(i, now, out);
        let (state, subflow) = (&mut self.states[s], &mut self.subflows[s]);
        let end = subflow.sent[i].end.near(state.snd_una);
        match &mut subflow.board {
            None => {
                state.snd_nxt = end;
                subflow.in_flight += 1;
            }
            Some(board) => board.high_rxt = board.high_rxt.max(end),
        }
        if !subflow.timer.is_set() {
            subflow.arm_timer(s, state, &self.config, now, out);
        }
    }

    /// Sends a segment again if subflow `s` is in recovery, no segment is known to be lost, and
    /// there is no new data (RFC 6675, NextSeg, rules 3 and 4). Returns whether it has sent a
    /// segment.
    #[inline(never)]
    fn send_last_resort(&mut self, s: SubflowId, now: Time, out: &mut impl Output) -> bool {
        let (state, subflow) = (&self.states[s], &mut self.subflows[s]);
        if !state.in_recovery || subflow.has_rack() {
            return false;
        }
        let Some(i) = subflow.last_resort(state, subflow.recover) else { return false };
        self.recovery(s).send_again(i, now, out);
        true
    }

    /// Takes the next piece of the connection's stream for subflow `s`, if it may send.
    #[inline(always)]
    fn next_piece<const PLAIN: bool>(&mut self, s: SubflowId, now: Time) -> Option<Piece> {
        if !PLAIN && !self.has_room_for_new(s) {
            return None;
        }
        if !PLAIN && self.scheduler.is_some() {
            return self.next_by_scheduler(s, now);
        }
        if !PLAIN && self.pieces.is_some() {
            return self.take_piece(s);
        }
        if self.schedule.may_carry(&self.control, s) { self.fresh() } else { None }
    }

    /// Does a full segment fit into `subflow_window` (RFC 9293, section 3.8.6.2.1, of a window)?
    #[inline]
    fn has_room_for_new(&self, s: SubflowId) -> bool {
        let state = &self.states[s];
        let end = state.snd_nxt + u64::from(self.config.mss);
        end - state.snd_una <= self.config.buffers.subflow_window
    }

    /// [`super::limits::Limits::fresh`].
    #[inline]
    fn fresh(&mut self) -> Option<Piece> {
        self.limits.fresh(&mut self.stream, &self.config)
    }

    /// Takes the next piece for subflow `s`: first data that other subflows could not deliver, then
    /// pieces assigned to it, then new data.
    #[inline]
    fn take_piece(&mut self, s: SubflowId) -> Option<Piece> {
        let pieces = self.pieces.as_mut()?;
        pieces.take_assigned(s).unwrap_or_else(|()| self.take_any_piece(s))
    }

    #[inline(never)]
    fn take_any_piece(&mut self, s: SubflowId) -> Option<Piece> {
        let may_carry = self.schedule.may_carry(&self.control, s);
        let Ok(taken) = self.pieces.as_mut()?.take_any(s, may_carry, self.stream.una) else {
            self.pieces = None; // no piece waits any more
            return self.fresh();
        };
        let (piece, sent) = taken?;
        self.subflows[s].counts.reinjected_bytes += if sent { piece.1 as u64 } else { 0 };
        Some(piece)
    }

    /// [`Sender::next_piece`] by a scheduler that may hold data back, or sends it on several subflows.
    #[inline(never)]
    fn next_by_scheduler(&mut self, s: SubflowId, now: Time) -> Option<Piece> {
        if !self.schedule.may_carry(&self.control, s) {
            return None;
        }
        let Sender { config, stream, limits, scheduler, .. } = self;
        if let Some(Scheduler::Redundant(redundant)) = scheduler.as_deref_mut() {
            return redundant.take(s, stream, limits, config);
        }
        if !self.is_worth(s, now) {
            return None;
        }
        let piece = if self.pieces.is_some() { self.take_piece(s) } else { self.fresh() };
        if let Some(Scheduler::Blest(blest)) = self.scheduler.as_deref_mut()
            && piece.is_none()
            && self.limits.holds_back(&self.stream)
        {
            blest.note_blocked();
        }
        piece
    }

    /// Does new data go to subflow `s`, rather than wait for the fastest subflow, whose window is full? Of
    /// the subflows with room, only the one with the least RTT is asked for.
    fn is_worth(&mut self, s: SubflowId, now: Time) -> bool {
        let set_of =
            |keeps: &dyn Fn(SubflowId) -> bool| self.numbers().filter(|s| keeps(*s)).fold(0, |set, s| set | s.bit());
        let carriers = set_of(&|s| self.schedule.may_carry(&self.control, s));
        let ready = set_of(&|one| (one == s || one.is_in(self.schedule.open)) && self.has_room_for_new(one));
        let (fastest, chosen) = (self.lowest_rtt(carriers), self.lowest_rtt(carriers & ready));
        let Sender { config, states, subflows, stream, limits, scheduler, .. } = self;
        let (state, subflow) = (&states[s], &subflows[s]);
        match scheduler.as_deref_mut() {
            Some(Scheduler::Ecf(ecf)) if s != fastest && s == chosen => {
                let packets = limits.unassigned(stream, config) as f64 / f64::from(config.mss);
                !ecf.waits(path(&states[fastest], &subflows[fastest]), path(state, subflow), packets)
            }
            Some(Scheduler::Blest(blest)) => {
                let carriers = SubflowId::first(states.len()).filter(|s| s.is_in(carriers));
                carriers.for_each(|s| blest.note_rtt(s, &states[s]));
                let outstanding = subflow.end(state) - state.snd_una;
                let slow = Slow { number: s, state, in_flight: subflow.in_flight, outstanding };
                let window = (limits.edge.saturating_sub(stream.una), u64::from(config.mss));
                s == fastest || s == chosen && !blest.waits((fastest, &states[fastest]), slow, window, now)
            }
            _ => s == chosen,
        }
    }

    /// Is the packet with the data from `start` to `end`, which subflow `s` sends now, pushed (PSH)? If it
    /// is the last that was assigned to the subflow, or data that does not continue it follows
    /// (Linux, `mptcp_sendmsg_frag` and `mptcp_push_release` in net/mptcp/protocol.c); of one
    /// subflow, if a write ends with it.
    fn pushes(&mut self, s: SubflowId, start: u64, end: u64) -> bool {
        match (&mut self.limits.writes, &self.pieces) {
            (Some(writes), _) => writes.push(start, end),
            (None, Some(pieces)) => self.config.push_acks() && pieces.is_last(s, end),
            (None, None) => false,
        }
    }

    /// Limited transmit. A duplicate ACK below the threshold means that a packet has left the
    /// network, so the sender may send a packet of new data. It exceeds the window by at most the
    /// number of duplicates (RFC 3042, section 2: by two, with a threshold of three).
    pub(super) fn limited_transmit(&mut self, s: SubflowId, now: Time, out: &mut impl Output) {
        let subflow = &self.subflows[s];
        let below = self.config.limited_transmit && subflow.dupacks < subflow.dupack_threshold;
        let allowed = self.states[s].cwnd as u32 + subflow.dupacks;
        if below && !subflow.has_backlog() && subflow.in_flight < allowed && self.send_one(s, now, out) {
            self.subflows[s].limited += 1;
        }
    }

    /// The subflow of `candidates` with the least smoothed RTT.
    #[inline(never)]
    fn lowest_rtt(&self, candidates: u32) -> SubflowId {
        let set = self.numbers().filter(|s| s.is_in(candidates));
        set.min_by(|a, b| self.states[*a].srtt.total_cmp(&self.states[*b].srtt)).unwrap_or(SubflowId::FIRST)
    }
}

/// A subflow, as ECF sees it. The deviation of its RTT is RTTVAR (RFC 6298). The authors' code has `rttvar_us >>
/// 1`, twice that and half of Linux's least timeout (200 ms) at least, so that nothing waits on short paths.
fn path(state: &CongestionState, subflow: &Subflow) -> Path {
    Path { srtt: state.srtt, deviation: subflow.rtt.variation(), window: state.cwnd.floor() }
}
