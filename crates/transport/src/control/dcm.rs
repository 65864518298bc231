//! DCM: LIA's increase with DCTCP's cut.

use super::dctcp::{DctcpConfig, DctcpCut};
use super::lia::lia_growth;
use super::{Ack, CongestionControl, prefetch_all};
use crate::congestion::CongestionState;
use crate::id::SubflowId;

/// DCM (AMP paper, section 2.1): grows as MPTCP with LIA, cuts each subflow as DCTCP.
#[derive(Debug)]
pub struct Dcm {
    cut: DctcpCut,
}

impl Dcm {
    pub(super) fn new(config: &DctcpConfig, n: usize) -> Dcm {
        Dcm { cut: DctcpCut::new(config, n) }
    }
}

impl CongestionControl for Dcm {
    #[inline]
    fn prefetch(&self, states: &[CongestionState], s: SubflowId) {
        prefetch_all(states);
        self.cut.prefetch(s);
    }

    fn in_ack_event(&mut self, states: &mut [CongestionState], s: SubflowId, ack: Ack) -> bool {
        self.cut.in_ack_event(&mut states[s], s, ack)
    }

    fn cut_after_growth(&mut self, states: &mut [CongestionState], s: SubflowId) -> bool {
        self.cut.cut_after_growth(&mut states[s], s)
    }

    fn cong_avoid(&mut self, states: &mut [CongestionState], s: SubflowId, acked: f64) {
        lia_growth(states, s, acked);
    }
}
