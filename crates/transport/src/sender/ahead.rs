//! What the next ACK of a subflow will read: the policy of prefetching at the sender.
//!
//! Algorithms do not know of it. One that is not listed here is right, and at most slower with more
//! connections than the caches hold.

use crate::congestion::CongestionState;
use crate::control::Control;
use crate::id::SubflowId;
use crate::subflow::Subflow;
use linkpool_engine::{prefetch, prefetch_place};
use std::hint::select_unpredictable;

/// Prefetches what an ACK reads of its subflow; `marked`: it echoes a mark.
#[inline]
pub(super) fn prefetch_subflow(subflow: &Subflow, marked: bool) {
    prefetch(&subflow.sent);
    prefetch(&subflow.timer);
    // No branch, since no processor can predict marks.
    prefetch(select_unpredictable(marked, &subflow.announced_until, &subflow.round_end));
}

/// Prefetches what the algorithm reads on an ACK of subflow `s`: the state of the subflow, or of all for
/// a coupled increase, and the algorithm's own that is apart from it.
#[inline]
pub(super) fn prefetch_control(control: &Control, states: &[CongestionState], s: SubflowId) {
    match control {
        Control::Lia(_)
        | Control::Dcm(_)
        | Control::Amp(_)
        | Control::MptcpCut(_)
        | Control::Olia(_)
        | Control::Balia(_)
        | Control::FullyCoupled(_)
        | Control::SemiCoupled(_) => states.iter().for_each(prefetch),
        _ => prefetch_place(states, s.index()),
    }
    match control {
        Control::Dcm(dcm) => prefetch_place(&dcm.cut.subflows, s.index()),
        Control::Olia(olia) => prefetch_place(&olia.subflows, s.index()),
        Control::Xmp(xmp) => prefetch_place(&xmp.subflows, s.index()),
        _ => {}
    }
}
