//! The state before a cut of the window, kept to undo the cut if the loss was spurious.

use crate::congestion::CongestionState;

/// The state that is needed to undo a cut.
#[derive(Debug)]
pub(crate) struct Undo {
    pub(crate) cwnd: f64,
    pub(crate) ssthresh: f64,
    /// The data outstanding at the cut begins at `from` and ends at `to`. Only retransmissions of
    /// this data count.
    pub(crate) from: u64,
    pub(crate) to: u64,
    /// Number of retransmissions that no D-SACK has reported as needless.
    pub(crate) needed: u32,
    pub(crate) probation: Probation,
}

/// The step of F-RTO (RFC 5682, section 3.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Probation {
    /// There was no timeout, or F-RTO has ended.
    None,
    /// The first segment has been sent again. The next ACK decides (step 2).
    Timeout,
    /// New data has been sent instead of further retransmissions. The next ACK decides (step 3).
    NewData,
}

impl Undo {
    /// Counts the retransmission of a segment that ends at `end`.
    pub(crate) fn follow_retransmission(&mut self, end: u64) {
        self.needed += (self.from < end && end <= self.to) as u32;
    }

    /// Saves the state before the window is cut.
    pub(crate) fn new(state: &CongestionState, probation: Probation) -> Undo {
        Undo {
            cwnd: state.cwnd,
            ssthresh: state.ssthresh,
            from: state.snd_una,
            to: state.snd_nxt,
            needed: 0,
            probation,
        }
    }
}

/// The state of F-RTO without SACKs (RFC 5682, section 2.1), from a timeout to the second ACK after
/// it.
#[derive(Debug)]
pub(crate) struct Frto {
    pub(crate) cwnd: f64,
    pub(crate) ssthresh: f64,
    /// Has the first ACK arrived, and has new data been sent?
    pub(crate) second: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::testing::state;

    /// Bytes 1,000 to 4,999 were outstanding at the cut. Only their retransmissions have to be
    /// needless.
    #[test]
    fn only_what_was_outstanding_at_the_cut_counts() {
        let cut = CongestionState { snd_una: 1000, snd_nxt: 5000, ..state(4.0) };
        let mut undo = Undo::new(&cut, Probation::None);
        for (end, needed) in [(1000, 0), (1001, 1), (5000, 2), (5001, 2)] {
            undo.follow_retransmission(end);
            assert_eq!(undo.needed, needed);
        }
    }
}
