//! F-RTO without SACKs (RFC 5682, section 2.1), which detects spurious timeouts. For F-RTO with
//! SACKs see `undo.rs`.

use super::Recovery;
use crate::congestion::CongestionState;
use crate::loss::Frto;

/// Number of new segments that are sent before further retransmissions (step 2b).
pub(in crate::sender) const NEW_SEGMENTS: u32 = 2;

impl Recovery<'_> {
    /// Step 1: the timer has expired, and the window is not cut yet. F-RTO does not begin if the
    /// window has been cut since the outstanding data was sent.
    pub(super) fn begin_frto(&mut self) {
        let (CongestionState { cwnd, ssthresh, snd_una, .. }, subflow) =
            (self.states[self.s].clone(), &mut *self.subflow);
        let first = self.config.undo && snd_una >= subflow.recover;
        subflow.on_probation = first;
        subflow.frto = first.then(|| Box::new(Frto { cwnd, ssthresh, second: false }));
    }

    /// An ACK of `segments` segments, or a duplicate, has arrived since the timer expired. Returns the
    /// state of F-RTO if new data is to be sent now, [`NEW_SEGMENTS`], of which
    /// [`Recovery::end_step_2`] is told.
    #[inline(never)]
    pub(in crate::sender) fn follow_frto(&mut self, segments: u32) -> Option<Box<Frto>> {
        let (state, subflow) = (&mut self.states[self.s], &mut *self.subflow);
        subflow.on_probation = false;
        let frto = subflow.frto.take()?;
        if frto.second && segments > 0 {
            // Step 3b: data that was never sent again has arrived. So the timeout was spurious. The
            // window is restored (as with SACKs), and duplicate ACKs count as signs of loss again.
            subflow.recover = state.snd_una;
            self.restore((frto.cwnd, frto.ssthresh));
            return None;
        }
        if !frto.second && segments > 0 && state.snd_una < subflow.recover {
            // Step 2b: the outstanding data counts as in flight, and new data is sent.
            subflow.in_flight = subflow.sent.len() as u32;
            state.snd_nxt = subflow.recover;
            return Some(frto);
        }
        if frto.second {
            // Step 3a: the timeout was not spurious.
            state.cwnd = state.cwnd.min(3.0);
            self.go_back();
        }
        None
    }

    /// So many new segments were sent in step 2b. Without any the sender goes on as after any timeout.
    pub(in crate::sender) fn end_step_2(&mut self, mut frto: Box<Frto>, new: usize) {
        if new > 0 {
            frto.second = true;
            (self.subflow.frto, self.subflow.on_probation) = (Some(frto), true);
        } else {
            self.go_back();
        }
    }
}
