//! The settings of TCP and MPTCP in a plan.

use super::{Facts, FamilySettings};
use linkpool_scenario::{self as scenario, Control};
use linkpool_transport::DupackThreshold;
use linkpool_transport::control::CongestionControl;

/// The settings of TCP that other families do not have.
#[derive(Clone, Copy, Debug)]
pub struct Tcp {
    /// A connection has as many subflows as there are paths, at most as many as its config says.
    pub auto_subflows: bool,
    /// The duplicate-ACK threshold of scattered packets follows from the number of paths.
    pub auto_dupack: bool,
    /// The most measures that its congestion control algorithm reports for a flow.
    pub metrics: usize,
}

impl FamilySettings for Tcp {
    fn of(t: &scenario::Transport) -> Option<Tcp> {
        matches!(t.control, Control::Tcp(_)).then(|| Tcp {
            auto_subflows: t.subflows == scenario::Subflows::Auto,
            auto_dupack: t.config.dupack_threshold == DupackThreshold::Auto,
            metrics: metrics(t),
        })
    }

    /// A flow waits for a SYN, a SYN-ACK and the last ACK.
    fn facts(&self) -> Facts {
        Facts { spreads_over: None, trimming: false, fins: true, handshake: true, metrics: self.metrics }
    }
}

/// A new connection reports all measures but the time of MMPTCP's switch.
fn metrics(t: &scenario::Transport) -> usize {
    let mut all = usize::from(t.is_mmptcp());
    t.config.control.build(t.subflows.most() as usize + 1).metrics(&mut |_| all += 1);
    all
}
