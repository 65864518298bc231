//! Proportional rate reduction.

/// Proportional rate reduction (RFC 9937, as in Linux, `tcp_cwnd_reduction` in
/// net/ipv4/tcp_input.c): during a recovery, the amount of data sent follows the amount of data
/// delivered.
#[derive(Debug, Default)]
pub(crate) struct Prr {
    /// Segments outstanding when recovery began (RecoverFS).
    pub(crate) flight: u32,
    /// Segments delivered since recovery began (prr_delivered).
    pub(crate) delivered: u32,
    /// Segments sent before recovery began.
    pub(crate) sent_before: u64,
}

impl Prr {
    /// Returns how many segments may be sent after an ACK that reports `fresh` segments as
    /// delivered; `sent` is the number of segments sent so far. `safe`: the ACK advances
    /// cumulatively, and indicates no further loss (SafeACK).
    pub(crate) fn allowance(&mut self, pipe: u32, ssthresh: f64, fresh: u32, sent: u64, safe: bool) -> u32 {
        self.delivered += fresh;
        let out = (sent - self.sent_before) as u32;
        let allowed = if pipe as f64 > ssthresh {
            let share = self.delivered as f64 * ssthresh / self.flight as f64;
            (share.ceil() as u32).saturating_sub(out)
        } else {
            // PRR-CRB, and PRR-SSRB after a safe ACK.
            let limit = self.delivered.saturating_sub(out).max(fresh) + safe as u32;
            limit.min(ssthresh as u32 - pipe.min(ssthresh as u32))
        };
        // The first retransmission is sent whatever the window.
        allowed.max((out == 0) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10 segments are outstanding when recovery begins, and ssthresh is 5. While more than 5 are
    /// in flight, one is sent for each two that arrive, rounded up, whether ACKs are safe or not:
    /// `CEIL(prr_delivered * ssthresh / RecoverFS) - prr_out`.
    #[test]
    fn reduces_in_proportion() {
        let mut prr = Prr { flight: 10, delivered: 0, sent_before: 100 };
        assert_eq!(prr.allowance(9, 5.0, 1, 100, false), 1); // 5/10
        assert_eq!(prr.allowance(9, 5.0, 1, 101, true), 0); // 10/10, and 1 is out
        assert_eq!(prr.allowance(8, 5.0, 1, 101, true), 1); // 15/10
        assert_eq!(prr.allowance(6, 5.0, 3, 102, false), 1); // 30/10, and 2 are out
    }

    /// With fewer packets in flight than ssthresh, as many are sent as arrive:
    /// `MAX(prr_delivered - prr_out, DeliveredData)`, up to ssthresh.
    #[test]
    fn conserves_packets_below_ssthresh() {
        let mut prr = Prr { flight: 20, delivered: 0, sent_before: 100 };
        assert_eq!(prr.allowance(2, 10.0, 1, 101, false), 1); // 1 delivered, 1 out: max(0, 1)
        assert_eq!(prr.allowance(2, 10.0, 5, 102, false), 5); // 6 delivered, 2 out: max(4, 5)
        assert_eq!(prr.allowance(2, 10.0, 1, 103, false), 4); // 7 delivered, 3 out: max(4, 1)
        assert_eq!(prr.allowance(9, 10.0, 1, 103, false), 1); // up to ssthresh
        assert_eq!(prr.allowance(10, 10.0, 1, 103, false), 0);
    }

    /// After a safe ACK it is slow start: one packet more.
    #[test]
    fn grows_by_one_more_than_arrives_after_a_safe_ack() {
        let mut prr = Prr { flight: 20, delivered: 0, sent_before: 100 };
        assert_eq!(prr.allowance(2, 10.0, 1, 101, true), 2); // 1 delivered, 1 out: max(0, 1) + 1
        assert_eq!(prr.allowance(2, 10.0, 5, 102, true), 6); // 6 delivered, 2 out: max(4, 5) + 1
        assert_eq!(prr.allowance(9, 10.0, 1, 103, true), 1); // up to ssthresh
    }

    /// The ACK that begins the recovery lets the first retransmission out even if more than
    /// ssthresh are in flight and nothing was delivered.
    #[test]
    fn the_first_retransmission_is_always_allowed() {
        let mut prr = Prr { flight: 10, delivered: 0, sent_before: 100 };
        assert_eq!(prr.allowance(9, 5.0, 0, 100, false), 1);
        assert_eq!(prr.allowance(9, 5.0, 0, 101, false), 0);
        let mut prr = Prr { flight: 10, delivered: 0, sent_before: 100 };
        assert_eq!(prr.allowance(5, 5.0, 1, 100, false), 1);
    }
}
