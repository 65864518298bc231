//! NACKs: the receiver reports that a switch has cut off the payload of a segment.

use super::Recovery;
use crate::outstanding::Mark;
use crate::segment::Output;
use crate::seq::Seq;
use crate::subflow::State;
use linkpool_units::Time;

impl Recovery<'_> {
    /// A NACK reports that the segment at `seq` has lost its payload. So the segment has
    /// left the network, and it is lost for certain: the sender does not wait for duplicate ACKs. It
    /// sends the segment again as soon as the window has room, before new data. A connection without
    /// SACKs ignores NACKs.
    ///
    /// What the window does is up to loss recovery, as with a loss that SACKs report:
    ///
    /// - The first NACK of a window begins fast recovery, and the first retransmission does not wait
    ///   for room (RFC 6675, section 5, step 4; RFC 9937).
    /// - So does a NACK of a segment that was sent after the last cut for a loss, or after a timeout
    ///   (RFC 5681, section 4.3: losses in two successive windows, and of a retransmission, are two
    ///   indications of congestion). Other NACKs leave the window.
    /// - With RFC 6675 a NACK makes room for one segment once there are fewer in flight than the cut
    ///   window holds. With proportional rate reduction only what arrives makes room, for a NACK
    ///   delivers no data.
    ///
    /// Returns whether the NACK was news.
    #[inline(never)]
    pub(in crate::sender) fn on_nack(&mut self, seq: Seq, now: Time, out: &mut impl Output) -> bool {
        let (state, subflow) = (&self.states[self.s], &mut *self.subflow);
        let start = seq.near(state.snd_una);
        let Some(board) = subflow.board.as_ref().filter(|_| subflow.state == State::Established) else { return false };
        let cut_at = board.cut_at;
        let Some(i) = subflow.segment_at(state, start).filter(|_| start >= state.snd_una) else { return false };
        let segment = &subflow.sent[i];
        // The segment has arrived meanwhile, or already waits to be sent again.
        if segment.is(Mark::SACKED) || segment.is(Mark::LOST) && !segment.is(Mark::RESENT) {
            return false;
        }
        let cuts = segment.at() >= cut_at;
        // In recovery by RACK the window follows what is delivered; ssthresh is what it was cut to.
        let flight = (subflow.sent.len() as u32).min(state.coupled_window() as u32);
        subflow.lose(state, start, |_, (begin, _)| (begin == start).then_some(true));
        if cuts {
            self.begin_recovery(flight, now);
        }
        if let Some(board) = &mut self.subflow.board {
            board.undo = None; // a loss that is certain is never spurious
        }
        if self.states[self.s].in_recovery {
            self.reduce_in_proportion(0, false);
        }
        if cuts {
            self.send_again(i, now, out);
        }
        self.set_timeout(now, out);
        true
    }
}
