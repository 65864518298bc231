use super::reno::reno_growth;
use super::{Ack, CongestionControl, Control, ControlConfig};
use crate::path::Path;

/// Parameters of MMPTCP.
#[derive(Clone, Debug)]
pub struct MmptcpConfig {
    /// The switching threshold: phase 1 ends when more than this has been sent, bytes; above 0.
    pub scatter_bytes: u64,
    /// Of the subflows of phase 2.
    pub coupled: Box<ControlConfig>,
}

/// MMPTCP (Kheirkhah, Wakeman, Parisis, Computer Networks 2019, sections 2.2 and 2.3): phase 1 scatters the packets of subflow 0
/// over all paths under one window, a standard TCP's without ECN; phase 2 is MPTCP over the other subflows.
///
/// They are opened with the first ACK after more than the threshold has been sent. Scattering goes on until the first of them
/// is established; then subflow 0 sends no new data and leaves the coupled sum, in which it never was: the coupled law
/// is shown the other subflows only.
#[derive(Debug)]
pub struct Mmptcp {
    scatter_bytes: u64,
    coupled: Box<Control>,
    phase_2: bool,
}

impl Mmptcp {
    pub(super) fn new(config: &MmptcpConfig, n: usize) -> Mmptcp {
        let coupled = Box::new(config.coupled.build(n - 1));
        Mmptcp { scatter_bytes: config.scatter_bytes, coupled, phase_2: false }
    }
}

// Calls of the inner law go in a circle; what is not inlined here keeps the other laws inlined in the sender.
impl CongestionControl for Mmptcp {
    /// Of phase 2; the sender does without in phase 1.
    fn needs_ecn(&self) -> bool {
        self.coupled.needs_ecn()
    }

    #[inline(never)]
    fn in_ack_event(&mut self, paths: &mut [Path], s: usize, ack: Ack) -> bool {
        s > 0 && self.coupled.in_ack_event(&mut paths[1..], s - 1, ack)
    }

    #[inline(never)]
    fn cong_avoid(&mut self, paths: &mut [Path], s: usize, acked: f64) {
        if s == 0 {
            reno_growth(&mut paths[0], acked);
        } else {
            self.coupled.cong_avoid(&mut paths[1..], s - 1, acked);
        }
    }

    fn ssthresh(&mut self, paths: &[Path], s: usize, flight: u32) -> f64 {
        if s == 0 { (flight as f64 / 2.0).max(2.0) } else { self.coupled.ssthresh(&paths[1..], s - 1, flight) }
    }

    fn on_timeout(&mut self, s: usize) {
        if s > 0 {
            self.coupled.on_timeout(s - 1);
        }
    }

    fn on_established(&mut self, s: usize) {
        self.phase_2 |= s > 0;
    }

    fn join_after(&self) -> u64 {
        self.scatter_bytes
    }

    #[inline(never)]
    fn is_active(&self, s: usize) -> bool {
        if s == 0 { !self.phase_2 } else { self.coupled.is_active(s - 1) }
    }

    fn suppressions(&self) -> (u32, u32) {
        self.coupled.suppressions()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::path;
    use super::*;

    fn mmptcp(coupled: ControlConfig, n: usize) -> Mmptcp {
        Mmptcp::new(&MmptcpConfig { scatter_bytes: 100_000, coupled: Box::new(coupled) }, n)
    }

    #[test]
    fn phase_1_is_reno_on_subflow_0() {
        let mut m = mmptcp(ControlConfig::Lia(()), 3);
        let mut paths = vec![path(8.0); 3];
        m.cong_avoid(&mut paths, 0, 1.0);
        assert_eq!(paths[0].cwnd, 8.125);
        assert_eq!(m.ssthresh(&paths, 0, 9), 4.5);
        assert!(m.is_active(0));
    }

    #[test]
    fn phase_2_begins_with_the_first_other_subflow_and_is_for_good() {
        let mut m = mmptcp(ControlConfig::Lia(()), 3);
        m.on_established(0);
        assert!(m.is_active(0));
        m.on_established(2);
        assert_eq!([0, 1, 2].map(|s| m.is_active(s)), [false, true, true]);
    }

    #[test]
    fn subflow_0_is_not_in_the_coupled_sum() {
        // LIA over 10 and 10 gives 1/40 each, whatever subflow 0 has.
        let mut m = mmptcp(ControlConfig::Lia(()), 3);
        let mut paths = vec![path(500.0), path(10.0), path(10.0)];
        m.cong_avoid(&mut paths, 1, 1.0);
        assert!((paths[1].cwnd - 10.025).abs() < 1e-12);
    }
}
