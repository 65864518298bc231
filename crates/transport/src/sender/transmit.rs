//! Decides which subflow sends which data next. The data is part of the connection's stream and
//! gets a place in the stream of the subflow.

use super::Sender;
use super::pieces::Piece;
use crate::id::SubflowId;
use crate::multipath::PacketScheduler;
use crate::outstanding::Sent;
use crate::segment::{Output, Segment};
use crate::seq::Seq;
use crate::subflow::State;
use linkpool_units::Time;
use std::mem::take;

impl Sender {
    #[inline]
    pub(super) fn update_open(&mut self, s: SubflowId) {
        self.update_open_by::<false>(s);
    }

    /// The same; `FAST`: the connection is plain.
    #[inline(always)]
    pub(super) fn update_open_by<const FAST: bool>(&mut self, s: SubflowId) {
        let subflow = &self.subflows[s];
        let held = if FAST || self.config.limited_transmit { 0 } else { self.held_back(s) };
        let room = subflow.in_flight + held < self.states[s].cwnd as u32;
        self.open = self.open & !s.bit() | u32::from(room) << s.index();
    }

    /// Without limited transmit, SACKs make no room in the window before recovery begins (RFC 6675,
    /// section 5, step 3).
    #[inline(never)]
    fn held_back(&self, s: SubflowId) -> u32 {
        let board = self.subflows[s].board.as_ref();
        let held = board.filter(|board| !self.states[s].in_recovery && !board.in_loss);
        held.map_or(0, |board| board.sacked)
    }

    /// Sends as much as the windows allow, one segment at a time; the scheduler chooses the
    /// subflow.
    pub(super) fn transmit(&mut self, now: Time, out: &mut impl Output) {
        if self.plain {
            return self.transmit_by::<true>(now, out);
        }
        if self.pieces.is_some() {
            self.set_apart();
        }
        self.transmit_by::<false>(now, out);
    }

    /// The same after an ACK on subflow `s`.
    #[inline]
    pub(super) fn transmit_after(&mut self, s: SubflowId, now: Time, out: &mut impl Output) {
        if self.plain {
            return self.transmit_by::<true>(now, out);
        }
        self.set_apart_after(s);
        self.transmit_by::<false>(now, out);
    }

    /// The same; `FAST`: the connection is plain. So there is nothing to ask for.
    #[inline(never)]
    fn transmit_by<const FAST: bool>(&mut self, now: Time, out: &mut impl Output) {
        self.transmit_here::<FAST>(now, out);
    }

    /// The same, compiled where it is called.
    #[inline(always)]
    pub(super) fn transmit_here<const FAST: bool>(&mut self, now: Time, out: &mut impl Output) {
        let n = self.subflows.len();
        let mut blocked = 0;
        loop {
            let candidates = self.open & !blocked;
            if candidates == 0 {
                return;
            }
            let s = if !FAST && self.config.multipath.scheduler == PacketScheduler::LowestRtt {
                self.lowest_rtt(candidates)
            } else {
                // Round robin: the first set bit from `next` on, else the first of all.
                let beyond = candidates >> self.next << self.next;
                if beyond != 0 { beyond } else { candidates }.trailing_zeros().into()
            };
            if self.send_segment::<FAST>(s, now, out) {
                self.next = if s.index() + 1 == n { 0 } else { s.index() as u8 + 1 };
                if !FAST && let Some(uses) = &mut self.uses {
                    uses.touched |= s.bit();
                }
                self.update_open_by::<FAST>(s);
            } else if !FAST && matches!(self.subflows[s].state, State::SynSent | State::Confirming) {
                // `Faults::join_stall`: all new data waits until this subflow is established.
                // Retransmissions do not wait.
                self.next = s.index() as u8;
                return self.send_backlogs(now, out);
            } else {
                blocked |= s.bit();
            }
        }
    }

    #[cold]
    fn send_backlogs(&mut self, now: Time, out: &mut impl Output) {
        for s in self.numbers() {
            while s.is_in(self.open) && self.subflows[s].has_backlog() && self.send_one(s, now, out) {
                self.update_open(s);
            }
        }
    }

    /// Sends one segment on subflow `s`: a segment that waits to be sent again, else new data.
    /// Returns false if there is neither.
    #[inline(always)]
    fn send_segment<const FAST: bool>(&mut self, s: SubflowId, now: Time, out: &mut impl Output) -> bool {
        let subflow = &self.subflows[s];
        let has_backlog = if FAST { subflow.has_unsent() } else { subflow.has_backlog() };
        let waiting = if has_backlog { self.waiting(s) } else { None };
        if let Some(i) = waiting {
            self.send_waiting(s, i, now, out);
            return true;
        }
        let Some((data, len)) = self.next_piece::<FAST>(s) else {
            return !FAST && self.subflows[s].board.is_some() && self.send_last_resort(s, now, out);
        };
        if !FAST && self.uses.is_some() {
            self.restart_if_idle(s, now);
        }
        let (state, subflow) = (&mut self.states[s], &mut self.subflows[s]);
        let (seq, data_seq) = (Seq::of(state.snd_nxt), Seq::of(data));
        state.snd_nxt += len as u64;
        subflow.sent.push_back(Sent::new(now, Seq::of(state.snd_nxt), data_seq));
        subflow.in_flight += 1;
        subflow.segments += 1;
        let (ect, cwr) = (subflow.ect, take(&mut subflow.announces_cut));
        if !subflow.timer.is_set() || !FAST && subflow.awaits_probe() {
            self.arm_timer(s, now, out); // RFC 6298 (5.1); RFC 8985, section 7.2
        }
        let end = data + len as u64;
        let last = if FAST { end == self.size } else { self.is_end(end) };
        let push = !FAST && self.pushes(s, data, end);
        out.send(s, Segment::Data { seq, data_seq, len, last, ect, cwr, push });
        if !FAST && last && self.config.multipath.faults.sends_fins() && self.messages.is_none() {
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
        self.send_again(s, i, now, out);
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
            self.arm_timer(s, now, out);
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
        self.send_again(s, i, now, out);
        true
    }

    /// Takes the next piece of the connection's stream for subflow `s`, if it may send.
    #[inline(always)]
    fn next_piece<const FAST: bool>(&mut self, s: SubflowId) -> Option<Piece> {
        if !FAST && !self.has_room_for_new(s) {
            return None;
        }
        if !FAST && self.pieces.is_some() {
            return self.take_piece(s);
        }
        if self.may_carry(s) { self.fresh() } else { None }
    }

    /// Does a full segment fit into `subflow_window` (RFC 9293, section 3.8.6.2.1, of a window)?
    #[inline]
    fn has_room_for_new(&self, s: SubflowId) -> bool {
        let state = &self.states[s];
        let end = state.snd_nxt + u64::from(self.config.mss);
        end - state.snd_una <= self.config.buffers.subflow_window
    }

    /// Takes the next piece of the stream that no subflow has sent yet.
    #[inline]
    pub(super) fn fresh(&mut self) -> Option<Piece> {
        let first = self.data_nxt;
        if first >= self.limit {
            return None;
        }
        let len = (self.size - first).min(self.config.mss as u64) as u16;
        self.data_nxt += len as u64;
        if self.data_nxt == self.size {
            self.next_message();
        }
        Some((first, len))
    }

    /// The subflow of `candidates` with the least smoothed RTT.
    #[inline(never)]
    fn lowest_rtt(&self, candidates: u32) -> SubflowId {
        let set = self.numbers().filter(|s| s.is_in(candidates));
        set.min_by(|a, b| self.states[*a].srtt.total_cmp(&self.states[*b].srtt)).unwrap_or(SubflowId::FIRST)
    }
}
