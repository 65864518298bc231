//! NACKs: the receiver reports that a switch has cut off the payload of a segment.

use super::Sender;
use crate::id::SubflowId;
use crate::outstanding::Mark;
use crate::segment::Output;
use crate::seq::Seq;
use crate::subflow::State;
use linkpool_units::Time;

impl Sender {
    /// A NACK reports that the segment at `seq` of subflow `s` has lost its payload. The loss is
    /// certain, so the sender does not wait for duplicate ACKs and sends the segment again at once.
    /// The new packet replaces the trimmed packet in flight. The first NACK of a window begins fast
    /// recovery, as any loss does (RFC 6675, section 5, step 4). A connection without SACKs ignores
    /// NACKs.
    #[inline(never)]
    pub(super) fn on_nack(&mut self, s: SubflowId, seq: Seq, now: Time, out: &mut impl Output) {
        let (state, subflow) = (&self.states[s], &mut self.subflows[s]);
        let start = seq.near(state.snd_una);
        if subflow.state != State::Established || subflow.board.is_none() || start < state.snd_una {
            return;
        }
        let Some(i) = subflow.segment_at(state, start) else { return };
        let segment = &subflow.sent[i];
        // The segment has arrived meanwhile, or already waits to be sent again.
        if segment.is(Mark::SACKED) || segment.is(Mark::LOST) && !segment.is(Mark::RESENT) {
            return;
        }
        let flight = subflow.flight(state);
        subflow.lose(state, start, |_, (begin, _)| (begin == start).then_some(true));
        let recovers = state.in_recovery || subflow.board.as_ref().is_some_and(|board| board.in_loss);
        if !recovers {
            self.begin_recovery(s, flight);
        }
        self.send_again(s, i, now, out);
        self.set_timeout(s, now, out);
        self.update_open(s);
    }
}
