//! NewReno on each subflow, uncoupled.

use super::reno::reno_growth;
use super::{Ack, CongestionControl};
use crate::congestion::CongestionState;
use crate::id::SubflowId;

/// A standard TCP on every subflow (RFC 5681), without ECN. It is unfair at a shared bottleneck,
/// which MPTCP must not be.
#[derive(Debug)]
pub struct Uncoupled;

impl Uncoupled {
    pub(super) fn new(_: &(), _n: usize) -> Uncoupled {
        Uncoupled
    }
}

impl CongestionControl for Uncoupled {
    fn needs_ecn(&self) -> bool {
        false
    }

    fn in_ack_event(&mut self, _states: &mut [CongestionState], _s: SubflowId, _ack: Ack) -> bool {
        false
    }

    fn cong_avoid(&mut self, states: &mut [CongestionState], s: SubflowId, acked: f64) {
        reno_growth(&mut states[s], acked);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{S, state};
    use super::*;

    #[test]
    fn every_subflow_is_reno() {
        let mut states = [state(8.0), state(100.0)];
        Uncoupled.cong_avoid(&mut states, S[0], 1.0);
        assert_eq!((states[0].cwnd, states[1].cwnd), (8.125, 100.0));
        assert_eq!(Uncoupled.ssthresh(&states, S[0], 9), 4.5);
    }
}
