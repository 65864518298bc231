//! Loss recovery by SACKs (RFC 6675), told of losses by its own rule or by RACK.

use super::Sender;
use super::undo::{Probation, Undo};
use crate::control::CongestionControl;
use crate::segment::Output;
use linkpool_units::Time;

/// Proportional rate reduction (RFC 6937, with its slow start reduction bound): in a recovery, the
/// data sent follows the data that arrives.
#[derive(Debug, Default)]
pub(crate) struct Prr {
    /// Outstanding when recovery began (RecoverFS).
    flight: u32,
    /// Delivered since.
    delivered: u32,
    /// Segments sent before.
    sent_before: u64,
}

impl Prr {
    /// How many segments the ACK that brought `fresh` lets out, `sent` ones having been sent in all
    /// (RFC 6937, section 3).
    fn allowance(&mut self, pipe: u32, ssthresh: f64, fresh: u32, sent: u64) -> u32 {
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

impl Sender {
    /// An ACK has been entered into the scoreboard of subflow `s`. Returns by how many segments the
    /// window may grow.
    #[inline(never)]
    pub(super) fn on_selective_ack(&mut self, s: usize, now: Time, out: &mut impl Output) -> u32 {
        let subflow = &mut self.subflows[s];
        let Some(board) = &mut subflow.board else { return 0 };
        let told = std::mem::take(&mut board.told);
        if told.segments > 0 {
            subflow.dupacks = 0;
            if subflow.timeouts > 0 {
                self.gets_through(s);
            }
        }
        let subflow = &mut self.subflows[s];
        subflow.dupacks += (told.sacked > 0) as u32; // RFC 6675, section 2, "duplicate acknowledgment"
        self.follow_rack(s, &told, now);
        self.follow_duplicate(s, &told);
        self.follow_probation(s, &told);
        let was_in_recovery = self.paths[s].in_recovery;
        self.leave_recovery(s);
        let again = self.find_losses(s, now);
        let (path, subflow) = (&mut self.paths[s], &mut self.subflows[s]);
        let Some(board) = &mut subflow.board else { return 0 };
        let mut grown = 0;
        let lost = board.lost > 0 || board.rack.is_none() && subflow.dupacks >= subflow.dupack_threshold;
        if path.in_recovery {
            if board.rack.is_some() {
                let segments = subflow.segments;
                let more = board.prr.allowance(subflow.in_flight, path.ssthresh, told.fresh, segments);
                path.cwnd = (subflow.in_flight + more).max(1) as f64;
            }
        } else if lost && !board.in_loss {
            self.enter_recovery(s, now, out);
        } else if !was_in_recovery && told.segments > 0 {
            // Data SACKed after a timeout has not been sent by this slow start.
            grown = if board.in_loss { told.fresh } else { told.segments };
        }
        let progress = if self.subflows[s].has_rack() { told.fresh } else { told.segments };
        if progress > 0 {
            self.arm_timer(s, now, out);
        }
        self.await_reordered(s, again, now, out);
        grown
    }

    /// Marks segments that are lost by now. Returns the time until RACK checks again.
    fn find_losses(&mut self, s: usize, now: Time) -> Option<Time> {
        if self.subflows[s].has_rack() {
            return self.lose_by_time(s, now);
        }
        let (path, subflow) = (&self.paths[s], &mut self.subflows[s]);
        subflow.adapt_threshold(path, self.config.limited_transmit);
        subflow.lose_by_sacks(path, self.config.mss);
        None
    }

    /// RFC 6675, section 5, step 4.
    pub(super) fn enter_recovery(&mut self, s: usize, now: Time, out: &mut impl Output) {
        // The first is "presumed dropped".
        let (path, subflow) = (&self.paths[s], &mut self.subflows[s]);
        let first = path.snd_una;
        let flight = subflow.flight(path);
        subflow.lose(path, first, |_, (start, _)| (start == first).then_some(true));
        self.begin_recovery(s, flight);
        let (path, subflow) = (&self.paths[s], &mut self.subflows[s]);
        subflow.forget_retransmissions(path, self.config.mss);
        if let Some(first) = subflow.first_lost(path) {
            self.send_again(s, first, now, out); // step 4.3, whatever the window
        }
        self.set_timeout(s, now, out);
    }

    /// Cuts the window for losses among the `flight` segments outstanding (RFC 6675, section 5,
    /// steps 4.1 and 4.2).
    pub(super) fn begin_recovery(&mut self, s: usize, flight: u32) {
        let (path, subflow) = (&self.paths[s], &mut self.subflows[s]);
        subflow.recover = path.snd_nxt;
        subflow.counts.recoveries += 1;
        if let Some(board) = &mut subflow.board {
            board.undo = self.config.undo.then(|| Undo::new(path, Probation::None));
            (board.high_rxt, board.rescue) = (0, None);
            board.prr = Prr { flight: flight.max(1), delivered: 0, sent_before: subflow.segments };
        }
        let ssthresh = self.control.ssthresh(&self.paths, s, flight);
        let path = &mut self.paths[s];
        (path.in_recovery, path.ssthresh, path.cwnd) = (true, ssthresh, ssthresh);
    }

    /// All that was outstanding when recovery began, or at the timeout, is acknowledged: it is over
    /// (RFC 6675, section 5).
    fn leave_recovery(&mut self, s: usize) {
        let (path, subflow) = (&mut self.paths[s], &mut self.subflows[s]);
        let Some(board) = &mut subflow.board else { return };
        if path.snd_una < subflow.recover || !(path.in_recovery || board.in_loss) {
            return;
        }
        if path.in_recovery && board.rack.is_some() {
            path.cwnd = path.ssthresh; // RFC 6937, section 3
        }
        (path.in_recovery, board.in_loss) = (false, false);
        board.rack.iter_mut().for_each(|rack| rack.leave_recovery());
    }

    /// After a timeout: outstanding data is lost, unless RACK knows that it was sent too late for
    /// that (RFC 8985, section 6.3); slow start repairs it.
    pub(super) fn enter_loss(&mut self, s: usize, now: Time) {
        let (path, subflow) = (&mut self.paths[s], &mut self.subflows[s]);
        let Some(board) = &mut subflow.board else { return };
        board.in_loss = true;
        board.rescue = None;
        let reach = board.rack.as_ref().map(|rack| rack.reach());
        let first = path.snd_una;
        subflow.lose(path, first, |segment, (start, _)| {
            Some(start == first || reach.is_none_or(|reach| segment.at() + reach <= now))
        });
        subflow.recover = path.snd_nxt;
        path.cwnd = subflow.in_flight as f64 + 1.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten outstanding when recovery began, ssthresh 5: while more than 5 are on the way, one is
    /// sent for two that arrive, rounded up (RFC 6937, section 3: `CEIL(prr_delivered * ssthresh /
    /// RecoverFS) - prr_out`).
    #[test]
    fn reduces_in_proportion() {
        let mut prr = Prr { flight: 10, delivered: 0, sent_before: 100 };
        assert_eq!(prr.allowance(9, 5.0, 1, 100), 1); // 5/10
        assert_eq!(prr.allowance(9, 5.0, 1, 101), 0); // 10/10, and 1 is out
        assert_eq!(prr.allowance(8, 5.0, 1, 101), 1); // 15/10
        assert_eq!(prr.allowance(6, 5.0, 3, 102), 1); // 30/10, and 2 are out
    }

    /// With fewer packets in flight than ssthresh, slow start: one more than have arrived
    /// (`MAX(prr_delivered - prr_out, DeliveredData) + MSS`), up to ssthresh.
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
