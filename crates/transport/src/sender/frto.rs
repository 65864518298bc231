//! F-RTO without SACKs (RFC 5682, section 2.1), which detects spurious timeouts. For F-RTO with
//! SACKs see `undo.rs`.

use super::Sender;
use crate::congestion::CongestionState;
use crate::id::SubflowId;
use crate::loss::Frto;
use crate::segment::Output;
use linkpool_units::Time;

/// Number of new segments that are sent before further retransmissions (step 2b).
const NEW_SEGMENTS: u32 = 2;

impl Sender {
    /// Step 1: the timer of subflow `s` has expired, and its window is not cut yet. F-RTO does not
    /// begin if the window has been cut since the outstanding data was sent.
    pub(super) fn begin_frto(&mut self, s: SubflowId) {
        let (CongestionState { cwnd, ssthresh, .. }, recover) = (self.states[s].clone(), self.subflows[s].recover);
        let first = self.config.undo && self.states[s].snd_una >= recover;
        let subflow = &mut self.subflows[s];
        subflow.on_probation = first;
        subflow.frto = first.then(|| Box::new(Frto { cwnd, ssthresh, second: false }));
    }

    /// An ACK of `segments` segments, or a duplicate, has arrived since `begin_frto`.
    #[inline(never)]
    pub(super) fn follow_frto(&mut self, s: SubflowId, segments: u32, now: Time, out: &mut impl Output) {
        let (state, subflow) = (&mut self.states[s], &mut self.subflows[s]);
        subflow.on_probation = false;
        let Some(mut frto) = subflow.frto.take() else { return };
        if frto.second && segments > 0 {
            // Step 3b: data that was never sent again has arrived. So the timeout was spurious. The
            // window is restored (as with SACKs), and duplicate ACKs count as signs of loss again.
            subflow.recover = state.snd_una;
            return self.restore(s, (frto.cwnd, frto.ssthresh));
        }
        if !frto.second && segments > 0 && state.snd_una < subflow.recover {
            // Step 2b: the outstanding data counts as in flight, and new data is sent.
            subflow.in_flight = subflow.sent.len() as u32;
            state.snd_nxt = subflow.recover;
            if (0..NEW_SEGMENTS).filter(|_| self.send_one(s, now, out)).count() > 0 {
                frto.second = true;
                let subflow = &mut self.subflows[s];
                (subflow.frto, subflow.on_probation) = (Some(frto), true);
            } else {
                self.go_back(s);
            }
        } else if frto.second {
            // Step 3a: the timeout was not spurious.
            self.states[s].cwnd = self.states[s].cwnd.min(3.0);
            self.go_back(s);
        }
    }
}
