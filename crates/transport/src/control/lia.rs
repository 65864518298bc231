//! LIA, the linked increases algorithm (RFC 6356).

use super::reno::reno_growth;
use super::{Ack, CongestionControl, slow_start};
use crate::path::Path;

/// MPTCP's Linked Increases Algorithm (RFC 6356), without ECN.
#[derive(Debug)]
pub struct Lia;

impl Lia {
    pub(super) fn new(_: &(), _n: usize) -> Lia {
        Lia
    }
}

/// For each packet acknowledged on subflow s, `min(a / w_total, 1 / w_s)` (RFC 6356, section 3)
/// with `a = w_total max_r(w_r / rtt_r^2) / (sum_r w_r / rtt_r)^2` (RFC 6356, equation 2; AMP
/// paper, equation 1).
#[inline]
pub(super) fn lia_growth(paths: &mut [Path], s: usize, acked: f64) {
    if let [path] = paths {
        // The same in reals; here to the last digit.
        return reno_growth(path, acked);
    }
    if slow_start(&mut paths[s], acked) {
        return;
    }
    let mut best = 0.0f64;
    let mut sum = 0.0;
    for p in paths.iter().filter(|p| p.is_coupled()) {
        let rate = p.rate();
        best = best.max(rate / p.srtt);
        sum += rate;
    }
    // a / w_total; w_total cancels out.
    let linked = best / (sum * sum);
    let alone = 1.0 / paths[s].cwnd;
    // Before the first RTT sample there is nothing to link.
    let per_packet = if sum > 0.0 { linked.min(alone) } else { alone };
    paths[s].cwnd += acked * per_packet;
}

impl CongestionControl for Lia {
    fn needs_ecn(&self) -> bool {
        false
    }

    fn in_ack_event(&mut self, _paths: &mut [Path], _s: usize, _ack: Ack) -> bool {
        false
    }

    fn cong_avoid(&mut self, paths: &mut [Path], s: usize, acked: f64) {
        lia_growth(paths, s, acked);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::path;
    use super::*;

    #[test]
    fn two_like_subflows_share_one_packet_a_round() {
        // w = 10, 10; equal RTT: a = 20 (10/r^2) / (20/r)^2 = 1/2, so 1/40 per ACK: 20 ACKs a round
        // give 1/2.
        let mut paths = [path(10.0), path(10.0)];
        lia_growth(&mut paths, 0, 1.0);
        assert!((paths[0].cwnd - (10.0 + 1.0 / 40.0)).abs() < 1e-12);
    }

    #[test]
    fn worked_example_with_unequal_rtts() {
        // w = 4 at 100 us, 16 at 400 us: max(4e8, 1e8) = 4e8 s^-2, sum = 80,000 s^-1: a/w_total =
        // 1/16.
        let mut paths = [path(4.0), path(16.0)];
        paths[1].srtt = 400e6;
        lia_growth(&mut paths, 0, 1.0);
        assert!((paths[0].cwnd - (4.0 + 1.0 / 16.0)).abs() < 1e-9);
    }

    #[test]
    fn is_capped_by_what_tcp_would_do() {
        // w = 40 at 100 us, 2 at 10 us: max = 2/1e-10 = 2e10, sum = 6e5: linked = 1/18 > 1/40.
        let mut paths = [path(40.0), path(2.0)];
        paths[1].srtt = 10e6;
        lia_growth(&mut paths, 0, 1.0);
        assert!((paths[0].cwnd - (40.0 + 1.0 / 40.0)).abs() < 1e-12);
    }

    #[test]
    fn one_subflow_is_reno() {
        let mut paths = [path(8.0)];
        lia_growth(&mut paths, 0, 1.0);
        assert!((paths[0].cwnd - 8.125).abs() < 1e-12);
    }

    #[test]
    fn a_subflow_in_recovery_counts_as_its_ssthresh() {
        let mut paths = [path(10.0), path(23.0)];
        paths[1].in_recovery = true;
        paths[1].ssthresh = 10.0;
        lia_growth(&mut paths, 0, 1.0);
        assert!((paths[0].cwnd - (10.0 + 1.0 / 40.0)).abs() < 1e-12);
    }

    /// A subflow without a connection, or without an RTT, is in neither the sum nor the maximum of
    /// equation (2).
    #[test]
    fn only_subflows_with_an_rtt_are_linked() {
        for spoil in [|p: &mut Path| p.established = false, |p: &mut Path| p.srtt = 0.0] {
            let mut paths = [path(10.0), path(30.0), path(10.0)];
            spoil(&mut paths[1]);
            lia_growth(&mut paths, 0, 1.0); // as in `two_like_subflows_share_one_packet_a_round`
            assert!((paths[0].cwnd - (10.0 + 1.0 / 40.0)).abs() < 1e-12);
        }
    }

    /// Before the first RTT sample a subflow grows as a TCP: there is nothing to link.
    #[test]
    fn without_any_rtt_it_is_reno() {
        let mut paths = [path(8.0), path(8.0)];
        paths.iter_mut().for_each(|p| p.srtt = 0.0);
        lia_growth(&mut paths, 0, 1.0);
        assert_eq!(paths[0].cwnd, 8.125);
    }
}
