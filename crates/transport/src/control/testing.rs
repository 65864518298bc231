//! Values that the tests of algorithms share.

use super::{Ack, AckOrder, CutConfig, Floor};
use crate::congestion::CongestionState;
use crate::id::SubflowId;
use linkpool_units::Time;

/// The numbers of subflows.
pub(crate) const S: [SubflowId; 6] =
    [SubflowId::FIRST, SubflowId::new(1), SubflowId::new(2), SubflowId::new(3), SubflowId::new(4), SubflowId::new(5)];

/// AMP's and XMP's cut on marks.
pub(super) const CUT: CutConfig =
    CutConfig { beta: 4.0, floor: Floor { cwnd_min: 2.0 }, ack_order: AckOrder::CutInsteadOfGrowth };

/// An established subflow in congestion avoidance with an RTT of 100 us.
pub(crate) fn state(cwnd: f64) -> CongestionState {
    CongestionState {
        cwnd,
        ssthresh: cwnd.min(2.0),
        srtt: 100e6,
        snd_una: 1,
        snd_nxt: 1,
        cut_until: 0,
        established: true,
        in_recovery: false,
        hops: 0,
    }
}

pub(crate) fn ack(acked: u32) -> Ack {
    Ack { acked, marked: false, round_ended: false, now: Time::ZERO, rtt: None }
}

pub(crate) fn marked(acked: u32) -> Ack {
    Ack { marked: true, ..ack(acked) }
}
