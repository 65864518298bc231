//! Detects spurious retransmissions, and restores the windows that were cut for them.

use super::Recovery;
use crate::control::CongestionControl;
use crate::loss::{Delivered, Probation, Undo};
use linkpool_units::Time;

impl Recovery<'_> {
    /// A D-SACK reports that a retransmission was needless. When all retransmissions after a cut
    /// were needless, the cut was needless too (RFC 3708, section 2).
    pub(super) fn follow_duplicate(&mut self, told: &Delivered) {
        let Some(undo) = self.subflow.board.as_mut().and_then(|b| b.undo.as_mut()) else { return };
        if undo.needed > 0 && told.duplicate.is_some_and(|(_, end)| undo.from < end && end <= undo.to) {
            undo.needed -= 1;
            if undo.needed == 0 {
                self.undo();
            }
        }
    }

    /// Begins F-RTO with SACKs, since the timer has expired. Saves the window, which will be cut
    /// for the timeout, unless an earlier loss has already cut it.
    pub(super) fn begin_probation(&mut self) {
        let (state, subflow) = (&self.states[self.s], &mut *self.subflow);
        let Some(board) = &mut subflow.board else { return };
        if !state.in_recovery && !board.in_loss {
            board.undo = self.config.undo.then(|| Undo::new(state, Probation::Timeout));
        } else if let Some(undo) = &mut board.undo {
            undo.probation = Probation::Timeout;
        }
    }

    /// F-RTO with SACKs (RFC 5682, section 3.1).
    pub(super) fn follow_probation(&mut self, told: &Delivered) {
        let (state, subflow) = (&self.states[self.s], &mut *self.subflow);
        let Some(board) = subflow.board.as_mut().filter(|b| b.in_loss) else { return };
        let Some(undo) = board.undo.as_mut() else { return };
        undo.probation = match undo.probation {
            Probation::None => return,
            // Data that was never sent again has arrived, so no data was lost when the timer
            // expired (step 3b).
            _ if told.original => return self.undo(),
            Probation::Timeout if told.segments > 0 && state.snd_una < subflow.recover => Probation::NewData,
            Probation::NewData if told.sacked == 0 && told.segments > 0 => Probation::NewData,
            _ => Probation::None,
        };
    }

    /// Ends F-RTO if it needs new data (step 2b) and there is none. The sender goes on as after any
    /// timeout. Returns whether it has ended.
    #[inline(never)]
    pub(in crate::sender) fn end_probation(&mut self) -> bool {
        let (state, subflow) = self.parts();
        let undo = subflow.board.as_mut().and_then(|b| b.undo.as_mut());
        let waits = undo.filter(|u| u.probation == Probation::NewData && state.snd_nxt == subflow.recover);
        waits.map(|undo| undo.probation = Probation::None).is_some()
    }

    /// Restores the window to its value before the cut (as Linux does, `tcp_undo_cwnd_reduction`;
    /// RFC 9438, section 4.9).
    fn undo(&mut self) {
        let (state, subflow) = self.parts();
        let Some(board) = &mut subflow.board else { return };
        let Some(undo) = board.undo.take() else { return };
        state.in_recovery = false;
        (board.in_loss, board.cut_at) = (false, Time::ZERO);
        subflow.unlose();
        self.restore((undo.cwnd, undo.ssthresh));
    }

    /// Undoes a needless cut; `cwnd` and `ssthresh` are the values before the cut.
    pub(super) fn restore(&mut self, (cwnd, ssthresh): (f64, f64)) {
        let (state, subflow) = self.parts();
        state.cwnd = state.cwnd.max(cwnd);
        state.ssthresh = state.ssthresh.max(ssthresh);
        subflow.counts.undos += 1;
        subflow.rtt.end_back_off();
        self.control.undo(self.s);
    }
}
