//! DCM: LIA's increase with DCTCP's cut.

use super::dctcp::{DctcpConfig, DctcpCut};
use super::lia::lia_growth;
use super::{Ack, CongestionControl};
use crate::congestion::CongestionState;
use crate::id::SubflowId;

/// DCM (AMP paper, section 2.1): grows as MPTCP with LIA, cuts each subflow as DCTCP.
#[derive(Debug)]
pub struct Dcm {
    pub(crate) cut: DctcpCut,
}

impl Dcm {
    pub(super) fn new(config: &DctcpConfig, n: usize) -> Dcm {
        Dcm { cut: DctcpCut::new(config, n) }
    }
}

impl CongestionControl for Dcm {
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
