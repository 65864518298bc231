//! Loss recovery of one subflow: which segments are lost, which are sent again, and the window
//! meanwhile.

mod duplicates;
mod frto;
mod nack;
mod rack;
mod selective;
mod undo;

use super::limits::Limits;
use super::stream::Stream;
use crate::config::Config;
use crate::congestion::CongestionState;
use crate::control::{CongestionControl, Control};
use crate::id::SubflowId;
use crate::outstanding::Mark;
use crate::segment::{Output, Segment};
use crate::seq::Seq;
use crate::subflow::Subflow;
use linkpool_units::Time;

pub(super) use frto::NEW_SEGMENTS;

/// The state that loss recovery of subflow `s` reads and sets.
pub(super) struct Recovery<'a> {
    pub(super) s: SubflowId,
    pub(super) states: &'a mut [CongestionState],
    pub(super) subflow: &'a mut Subflow,
    pub(super) control: &'a mut Control,
    pub(super) config: &'a Config,
    pub(super) stream: &'a Stream,
    pub(super) limits: &'a Limits,
}

impl Recovery<'_> {
    /// The window of the subflow, and the rest of it.
    #[inline(always)]
    fn parts(&mut self) -> (&mut CongestionState, &mut Subflow) {
        (&mut self.states[self.s], self.subflow)
    }

    /// Sends outstanding segment number `i` again.
    pub(super) fn send_again(&mut self, i: usize, now: Time, out: &mut impl Output) {
        let (state, subflow) = (&self.states[self.s], &mut *self.subflow);
        if i >= subflow.sent.len() {
            return;
        }
        let start = subflow.start_of(state, i);
        let segment = &mut subflow.sent[i];
        segment.set_at(now);
        segment.mark(Mark::AGAIN);
        subflow.segments += 1;
        subflow.counts.retransmits += 1;
        let end = segment.end.near(state.snd_una);
        let (seq, data_seq, len) = (Seq::of(start), segment.data_seq, (end - start) as u16);
        if let Some(board) = &mut subflow.board {
            board.again_to = board.again_to.max(end);
            board.resent += !segment.is(Mark::RESENT) as u32;
            segment.mark(Mark::RESENT);
            board.undo.iter_mut().for_each(|undo| undo.follow_retransmission(end));
            subflow.count_in_flight();
        }
        let ect = subflow.ect;
        let last = self.limits.is_end(self.stream, data_seq.near(self.stream.una) + len as u64);
        out.send(self.s, Segment::Data { seq, data_seq, len, last, ect, cwr: false, push: false });
    }

    /// The retransmission timer has expired: all that is outstanding is lost, and the window is cut.
    pub(super) fn time_out(&mut self, now: Time) {
        self.subflow.rtt.back_off(&self.config.rtt); // RFC 6298 (5.5)
        let flight = self.subflow.flight(&self.states[self.s]);
        if self.subflow.board.is_some() {
            self.begin_probation();
        } else {
            self.begin_frto();
        }
        if self.subflow.timeouts == 1 && !self.control.owns_window(self.s) {
            // RFC 5681, section 3.1: ssthresh stays when a segment times out again
            self.states[self.s].ssthresh = self.control.ssthresh(self.states, self.s, flight);
        }
        self.control.on_timeout(self.s);
        self.subflow.limited = 0;
        if !self.config.multipath.faults.dupacks_kept {
            self.subflow.dupacks = 0;
        }
        if self.subflow.board.is_some() {
            self.enter_loss(now);
        } else {
            self.go_back();
        }
        let window = self.control.loss_window(self.states, self.s, self.subflow.in_flight, now);
        (self.states[self.s].cwnd, self.states[self.s].in_recovery) = (window, false);
    }
}
