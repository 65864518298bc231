//! ECF, earliest completion first (Lim, Nahum, Towsley, Gibbens, "ECF: An MPTCP Path Scheduler to Manage
//! Heterogeneous Paths", CoNEXT 2017, Algorithm 1; the authors' code for Linux is mptcp_ecf.c of
//! multipath-tcp.org, version 0.95).
//!
//! While the window of the fastest subflow is full, a slower subflow gets data only if all data is
//! expected to arrive sooner that way. So the last data of a message does not wait for a slow path.

/// Hysteresis: by how much waiting may look worse before it ends (beta of section 4; `mptcp_ecf_r_beta`).
const BETA: f64 = 0.25;

/// A subflow, as the decision sees it.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Path {
    /// Smoothed RTT, ps.
    pub(in super::super) srtt: f64,
    /// Deviation of its RTT (sigma), ps.
    pub(in super::super) deviation: f64,
    /// Window, packets.
    pub(in super::super) window: f64,
}

/// What ECF remembers of a connection.
#[derive(Debug, Default)]
pub(in super::super) struct Ecf {
    /// Data waits for the fastest subflow.
    waiting: bool,
}

impl Ecf {
    /// Does data wait for the fastest subflow, whose window is full, rather than go to the `slow` one?
    /// `waiting` packets are not yet given to a subflow (k of Algorithm 1).
    ///
    /// The paper's transfers take k / CWND round trips. As in the authors' code they take one at least, so
    /// that a single packet does not take a part of an RTT.
    pub(in super::super) fn waits(&mut self, fast: Path, slow: Path, packets: f64) -> bool {
        let margin = fast.deviation.max(slow.deviation); // delta
        let rounds = |path: Path| (packets / path.window.max(1.0)).max(1.0);
        // Algorithm 1: n x RTT_f < (1 + waiting x beta) (RTT_s + delta), with n = 1 + k / CWND_f.
        let hysteresis = if self.waiting { BETA } else { 0.0 };
        if (1.0 + rounds(fast)) * fast.srtt >= (1.0 + hysteresis) * (slow.srtt + margin) {
            self.waiting = false;
            return false;
        }
        // Algorithm 1: k / CWND_s x RTT_s >= 2 RTT_f + delta. If not, `waiting` stays as it is.
        let waits = rounds(slow) * slow.srtt >= 2.0 * fast.srtt + margin;
        self.waiting |= waits;
        waits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(srtt: f64, window: f64) -> Path {
        Path { srtt, deviation: 0.0, window }
    }

    /// RTTs of 10 and 40 (times are relative), windows of 10: while `packets` wait for the fastest subflow,
    /// it needs 10 for what is in flight and 10 for each window of them. Up to 29 packets that is less than
    /// 40.
    #[test]
    fn little_data_waits_and_much_does_not() {
        let waits = |packets: f64| Ecf::default().waits(path(10.0, 10.0), path(40.0, 10.0), packets);
        assert_eq!([1.0, 10.0, 29.0, 30.0, 31.0, 1e18].map(waits), [true, true, true, false, false, false]);
    }

    /// A packet needs a round trip on the fastest subflow too, after what is in flight: 20 in all. So it
    /// does not wait if the slow one has an RTT of 20 or less.
    #[test]
    fn a_packet_takes_a_whole_round_trip() {
        let waits = |srtt: f64| Ecf::default().waits(path(10.0, 10.0), path(srtt, 100.0), 1.0);
        assert_eq!([19.0, 20.0, 20.1].map(waits), [false, false, true]);
    }

    /// While data waits, 39.9 packets wait too: 10 + 10 x 39.9 / 10 = 49.9 is less than 1.25 x 40. At 40
    /// packets the waiting ends, and then 30 packets do not wait.
    #[test]
    fn waiting_ends_late() {
        let (fast, slow) = (path(10.0, 10.0), path(40.0, 10.0));
        let mut ecf = Ecf::default();
        let seen = [30.0, 29.0, 30.0, 39.9, 40.0, 39.0, 30.0, 29.0].map(|packets| ecf.waits(fast, slow, packets));
        assert_eq!(seen, [false, true, true, true, false, false, false, true]);
    }

    /// The larger deviation, of 5, is added to the slow RTT: 30 packets need 40 by the fast subflow, which is
    /// less than 45. It also counts against waiting where the slow one is about as fast: 22 is less than 2 x
    /// 10 + 5.
    #[test]
    fn deviations_are_a_margin() {
        for (fast, slow) in [(5.0, 1.0), (1.0, 5.0)] {
            let [fast, slow] = [fast, slow].map(|deviation| Path { deviation, ..path(10.0, 10.0) });
            let waits = |srtt: f64, packets: f64| Ecf::default().waits(fast, Path { srtt, ..slow }, packets);
            assert_eq!([waits(40.0, 34.0), waits(40.0, 35.0)], [true, false]);
            assert_eq!([waits(22.0, 1.0), waits(25.0, 1.0)], [false, true]);
        }
    }

    /// The slow subflow needs 40 for each window of 5 packets, and its share of the margin of 60 keeps data
    /// from waiting until that is 20 + 60: for 10 packets. A decision against waiting for this reason does
    /// not end the hysteresis.
    #[test]
    fn the_slow_subflow_must_be_no_sooner() {
        let fast = path(10.0, 10.0);
        let slow = Path { deviation: 60.0, ..path(40.0, 5.0) };
        let mut ecf = Ecf::default();
        assert_eq!([9.0, 10.0, 9.0].map(|packets| ecf.waits(fast, slow, packets)), [false, true, false]);
        assert!(ecf.waits(fast, slow, 110.0), "10 + 110 is less than 1.25 x 100");
    }

    /// A window below one packet counts as one.
    #[test]
    fn small_windows_count_as_a_packet() {
        let waits = |packets: f64| Ecf::default().waits(path(10.0, 0.0), path(40.0, 1.0), packets);
        assert_eq!([2.9, 3.0].map(waits), [true, false]);
    }
}
