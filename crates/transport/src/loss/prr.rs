//! Proportional rate reduction.

/// Proportional rate reduction (RFC 6937, with its slow start reduction bound): during a recovery,
/// the amount of data sent follows the amount of data delivered.
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
    /// delivered; `sent` is the number of segments sent so far (RFC 6937, section 3).
    pub(crate) fn allowance(&mut self, pipe: u32, ssthresh: f64, fresh: u32, sent: u64) -> u32 {
        self.delivered += fresh;
        let out = (sent - self.sent_before) as u32;
        if pipe as f64 > ssthresh {
            let share = self.delivered as f64 * ssthresh / self.flight as f64;
            (share.ceil() as u32).saturating_sub(out)
        } else {
            let limit = self.delivered.saturating_sub(out).max(fresh) + 1;
            limit.min(ssthresh as u32 - pipe.min(ssthresh as u32))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10 segments are outstanding when recovery begins, and ssthresh is 5. While more than 5 are
    /// in flight, one is sent for each two that arrive, rounded up (RFC 6937, section 3:
    /// `CEIL(prr_delivered * ssthresh / RecoverFS) - prr_out`).
    #[test]
    fn reduces_in_proportion() {
        let mut prr = Prr { flight: 10, delivered: 0, sent_before: 100 };
        assert_eq!(prr.allowance(9, 5.0, 1, 100), 1); // 5/10
        assert_eq!(prr.allowance(9, 5.0, 1, 101), 0); // 10/10, and 1 is out
        assert_eq!(prr.allowance(8, 5.0, 1, 101), 1); // 15/10
        assert_eq!(prr.allowance(6, 5.0, 3, 102), 1); // 30/10, and 2 are out
    }

    /// With fewer packets in flight than ssthresh, it is slow start: one more packet than has
    /// arrived (`MAX(prr_delivered - prr_out, DeliveredData) + MSS`), up to ssthresh.
    #[test]
    fn grows_by_one_more_than_arrives_up_to_ssthresh() {
        let mut prr = Prr { flight: 20, delivered: 0, sent_before: 100 };
        assert_eq!(prr.allowance(2, 10.0, 1, 101), 2); // 1 delivered, 1 out: max(0, 1) + 1
        assert_eq!(prr.allowance(2, 10.0, 0, 101), 1); // max(0, 0) + 1
        assert_eq!(prr.allowance(2, 10.0, 5, 102), 6); // 6 delivered, 2 out: max(4, 5) + 1
        assert_eq!(prr.allowance(2, 10.0, 1, 103), 5); // 7 delivered, 3 out: max(4, 1) + 1
        assert_eq!(prr.allowance(9, 10.0, 1, 103), 1); // up to ssthresh
        assert_eq!(prr.allowance(10, 10.0, 1, 103), 0);
    }
}
