//! FINs of single subflows: a fault of the implementation of AMP's and MMPTCP's authors
//! ([`crate::Faults::fin_reset`], [`crate::Faults::fin_timeouts`]).

use super::Sender;
use crate::id::SubflowId;
use crate::segment::{Output, Segment};
use crate::seq::Seq;
use crate::subflow::State;
use linkpool_units::Time;

impl Sender {
    /// Sends a FIN on each subflow, since the last data has been sent.
    #[cold]
    pub(super) fn finish_subflows(&mut self, now: Time, out: &mut impl Output) {
        for s in self.numbers() {
            if self.subflows[s].state != State::Established {
                continue;
            }
            self.send_subflow_fin(s, out);
            if self.config.multipath.faults.fin_timeouts {
                self.unanswered |= s.bit();
                let subflow = &mut self.subflows[s];
                if !subflow.timer.is_set() {
                    subflow.timer.set(s, now + subflow.rtt.rto(&self.config.rtt), out);
                }
            }
        }
    }

    /// The FIN stands behind the last byte, even while bytes before it are sent again.
    fn send_subflow_fin(&self, s: SubflowId, out: &mut impl Output) {
        let (state, subflow) = (&self.states[s], &self.subflows[s]);
        let last = subflow.sent.range(subflow.sent.len().saturating_sub(1)..).next();
        let end = last.map_or(state.snd_nxt, |last| last.end.near(state.snd_una));
        out.send(s, Segment::SubflowFin { seq: Seq::of(end) });
    }

    /// A timeout without data: the FIN of subflow `s` has no answer.
    #[cold]
    pub(super) fn repeat_fin(&mut self, s: SubflowId, now: Time, out: &mut impl Output) {
        let subflow = &mut self.subflows[s];
        subflow.counts.timeouts += 1;
        subflow.rtt.back_off(&self.config.rtt);
        subflow.timer.set(s, now + subflow.rtt.rto(&self.config.rtt), out);
        self.send_subflow_fin(s, out);
    }

    /// The receiver has answered the FIN of subflow `s`.
    pub(super) fn on_fin_answered(&mut self, s: SubflowId) {
        self.unanswered &= !s.bit();
        if let Some(subflow) = self.subflows.get_mut(s.index()).filter(|subflow| subflow.sent.is_empty()) {
            subflow.timer.clear();
        }
    }
}
