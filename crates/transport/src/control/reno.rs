//! NewReno's growth and cut (RFC 5681).

use super::{Ack, CongestionControl, slow_start};
use crate::congestion::CongestionState;
use crate::id::SubflowId;

/// Standard TCP (RFC 5681), without ECN.
#[derive(Debug)]
pub struct Reno;

impl Reno {
    pub(super) fn new(_: &(), _n: usize) -> Reno {
        Reno
    }
}

/// One packet per round: `1/w` for each packet acknowledged (RFC 5681, equation 3).
#[inline]
pub(super) fn reno_growth(state: &mut CongestionState, acked: f64) {
    if !slow_start(state, acked) {
        state.cwnd += acked / state.cwnd;
    }
}

impl CongestionControl for Reno {
    fn needs_ecn(&self) -> bool {
        false
    }

    #[inline]
    fn in_ack_event(&mut self, _states: &mut [CongestionState], _s: SubflowId, _ack: Ack) -> bool {
        false
    }

    #[inline]
    fn cong_avoid(&mut self, states: &mut [CongestionState], s: SubflowId, acked: f64) {
        reno_growth(&mut states[s], acked);
    }
}
