use super::lia::lia_growth;
use super::{Ack, CongestionControl};
use crate::path::Path;

/// Parameters of a constant cut.
#[derive(Clone, Debug)]
pub struct CutConfig {
    /// A mark cuts the window by `1/beta`.
    pub beta: f64,
    /// Floor of the window after a mark, packets.
    pub cwnd_min: f64,
}

impl CutConfig {
    /// On the first marked ACK of a window, `w = max(w (1 - 1/beta), cwnd_min)` (AMP paper, Algorithm 1, line 29).
    #[inline]
    pub(super) fn respond_to_ecn(&self, path: &mut Path, marked: bool) -> bool {
        let cut = marked && path.first_mark_of_window();
        if cut {
            path.cut_to((path.cwnd * (1.0 - 1.0 / self.beta)).max(self.cwnd_min));
        }
        cut
    }
}

/// MPTCP with LIA whose subflows cut their windows by a constant factor on marks: "MPTCP (beta = 4)" of the
/// AMP paper, section 4.1.
#[derive(Debug)]
pub struct MptcpCut {
    config: CutConfig,
}

impl MptcpCut {
    pub(super) fn new(config: &CutConfig, _n: usize) -> MptcpCut {
        MptcpCut { config: config.clone() }
    }
}

impl CongestionControl for MptcpCut {
    fn in_ack_event(&mut self, paths: &mut [Path], s: usize, ack: Ack) -> bool {
        self.config.respond_to_ecn(&mut paths[s], ack.marked)
    }

    fn cong_avoid(&mut self, paths: &mut [Path], s: usize, acked: f64) {
        lia_growth(paths, s, acked);
    }
}
