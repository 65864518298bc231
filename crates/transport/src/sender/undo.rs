//! Spurious retransmissions: how they are detected, and how the windows that were cut for them are
//! restored.

use super::Sender;
use crate::control::CongestionControl;
use crate::id::SubflowId;
use crate::loss::{Delivered, Probation, Undo};
use crate::segment::Output;
use linkpool_units::Time;

impl Sender {
    /// A D-SACK says that a retransmission was needless; once that is true of all, so was the cut
    /// (RFC 3708, section 2).
    pub(super) fn follow_duplicate(&mut self, s: SubflowId, told: &Delivered) {
        let Some(undo) = self.subflows[s].board.as_mut().and_then(|b| b.undo.as_mut()) else { return };
        if undo.needed > 0 && told.duplicate.is_some_and(|(_, end)| undo.from < end && end <= undo.to) {
            undo.needed -= 1;
            if undo.needed == 0 {
                self.undo(s);
            }
        }
    }

    /// The timer has expired; the window is about to be cut for it, unless it has been cut for an
    /// earlier loss.
    pub(super) fn begin_probation(&mut self, s: SubflowId) {
        let (state, subflow) = (&self.states[s], &mut self.subflows[s]);
        let Some(board) = &mut subflow.board else { return };
        if !state.in_recovery && !board.in_loss {
            board.undo = self.config.undo.then(|| Undo::new(state, Probation::Timeout));
        } else if let Some(undo) = &mut board.undo {
            undo.probation = Probation::Timeout;
        }
    }

    /// F-RTO with SACKs (RFC 5682, section 3.1).
    pub(super) fn follow_probation(&mut self, s: SubflowId, told: &Delivered) {
        let (state, subflow) = (&self.states[s], &mut self.subflows[s]);
        let Some(board) = subflow.board.as_mut().filter(|b| b.in_loss) else { return };
        let Some(undo) = board.undo.as_mut() else { return };
        undo.probation = match undo.probation {
            Probation::None => return,
            // Data that was never sent again has arrived: no data was lost when the timer expired
            // (step 3b).
            _ if told.original => return self.undo(s),
            Probation::Timeout if told.segments > 0 && state.snd_una < subflow.recover => Probation::NewData,
            Probation::NewData if told.sacked == 0 && told.segments > 0 => Probation::NewData,
            _ => Probation::None,
        };
    }

    /// F-RTO calls for new data (step 2b) when there is none: go on as after any timeout.
    #[inline(never)]
    pub(super) fn end_probation(&mut self, s: SubflowId, now: Time, out: &mut impl Output) {
        let (state, subflow) = (&self.states[s], &mut self.subflows[s]);
        let undo = subflow.board.as_mut().and_then(|b| b.undo.as_mut());
        let Some(undo) = undo.filter(|u| u.probation == Probation::NewData && state.snd_nxt == subflow.recover) else {
            return;
        };
        undo.probation = Probation::None;
        self.transmit(now, out);
    }

    /// Restores the window of before the cut (as Linux does, `tcp_undo_cwnd_reduction`; RFC 9438,
    /// section 4.9).
    fn undo(&mut self, s: SubflowId) {
        let (state, subflow) = (&mut self.states[s], &mut self.subflows[s]);
        let Some(board) = &mut subflow.board else { return };
        let Some(undo) = board.undo.take() else { return };
        state.in_recovery = false;
        board.in_loss = false;
        subflow.unlose();
        self.restore(s, (undo.cwnd, undo.ssthresh));
    }

    /// The cut of subflow `s`, before which the window was so large, had no cause.
    pub(super) fn restore(&mut self, s: SubflowId, (cwnd, ssthresh): (f64, f64)) {
        let (state, subflow) = (&mut self.states[s], &mut self.subflows[s]);
        state.cwnd = state.cwnd.max(cwnd);
        state.ssthresh = state.ssthresh.max(ssthresh);
        subflow.counts.undos += 1;
        subflow.rtt.end_back_off();
        self.control.undo(s);
    }
}
