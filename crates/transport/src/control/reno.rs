//! NewReno's growth and cut (RFC 5681).

use super::{Ack, CongestionControl, slow_start};
use crate::path::Path;

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
pub(super) fn reno_growth(path: &mut Path, acked: f64) {
    if !slow_start(path, acked) {
        path.cwnd += acked / path.cwnd;
    }
}

impl CongestionControl for Reno {
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
