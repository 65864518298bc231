//! NewReno on each subflow, uncoupled.

use super::reno::reno_growth;
use super::{Ack, CongestionControl};
use crate::path::Path;

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

    fn in_ack_event(&mut self, _paths: &mut [Path], _s: usize, _ack: Ack) -> bool {
        false
    }

    fn cong_avoid(&mut self, paths: &mut [Path], s: usize, acked: f64) {
        reno_growth(&mut paths[s], acked);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::path;
    use super::*;

    #[test]
    fn every_subflow_is_reno() {
        let mut paths = [path(8.0), path(100.0)];
        Uncoupled.cong_avoid(&mut paths, 0, 1.0);
        assert_eq!((paths[0].cwnd, paths[1].cwnd), (8.125, 100.0));
        assert_eq!(Uncoupled.ssthresh(&paths, 0, 9), 4.5);
    }
}
