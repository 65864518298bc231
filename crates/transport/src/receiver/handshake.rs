//! The handshake of a subflow at the receiving end.

use super::Receiver;
use crate::id::SubflowId;
use crate::reassembly::Reassembly;
use crate::segment::{Output, Segment};
use crate::seq::FIRST_BYTE;
use crate::timer::Timer;
use linkpool_units::Time;

/// A SYN-ACK that is sent again until a segment arrives on the subflow (RFC 9293, section 3.8.1).
///
/// Only used if the sender never repeats its SYN ([`crate::Faults::join_syn_once`]). Otherwise the
/// repeated SYN makes the receiver send the SYN-ACK again, at nearly the same time.
#[derive(Debug)]
pub(super) struct Repeats {
    timer: Timer,
    sent: u32,
    ecn: bool,
}

impl Receiver {
    /// Has a SYN for subflow `s` arrived, and no segment after it?
    pub(super) fn awaits_handshake(&self, s: SubflowId) -> bool {
        let silent = |arrived: &Reassembly| arrived.next() == FIRST_BYTE && !arrived.has_gap();
        self.subflows.get(s.index()).is_some_and(|subflow| !subflow.confirmed && silent(&self.arrived[s]))
    }

    /// The third segment of the handshake of subflow `s` has arrived. The sender of a further
    /// subflow waits for an ACK of it (RFC 8684, section 3.2).
    pub(super) fn on_third(&mut self, s: SubflowId, now: Time, out: &mut impl Output) {
        let Some(subflow) = self.subflows.get_mut(s.index()) else { return };
        subflow.confirmed = true;
        if !s.is_first() && self.config.multipath.join_confirmed {
            self.acknowledge(s, None, now, out);
        }
    }

    /// The first SYN-ACK of subflow `s` has been sent.
    pub(super) fn repeat_later(&mut self, s: SubflowId, ecn: bool, now: Time, out: &mut impl Output) {
        if !s.is_first() && self.config.multipath.faults.join_syn_once {
            let mut repeats = Box::new(Repeats { timer: Timer::new(), sent: 0, ecn });
            repeats.timer.set(s, now + self.config.syn_wait(0), out);
            self.subflows[s].repeats = Some(repeats);
        }
    }

    /// Call it when the timer of subflow `s` may be due.
    pub(super) fn repeat_syn_ack(&mut self, s: SubflowId, now: Time, out: &mut impl Output) {
        let Some(subflow) = self.subflows.get_mut(s.index()) else { return };
        let Some(mut repeats) = subflow.repeats.take_if(|repeats| repeats.timer.has_passed(s, now, out)) else {
            return;
        };
        if !self.awaits_handshake(s) || repeats.sent == self.config.syn_retries {
            return;
        }
        repeats.sent += 1;
        out.send(s, Segment::SynAck { ecn: repeats.ecn });
        repeats.timer.set(s, now + self.config.syn_wait(repeats.sent), out);
        self.subflows[s].repeats = Some(repeats);
    }
}
