//! Subflows whose data is not acknowledged. Other subflows send the data of a stale subflow again
//! (RFC 8684, section 3.3.6). A stale subflow gets no new data until an ACK arrives on it. After
//! more timeouts the sender gives up the subflow. When it gives up the last subflow, it gives up
//! the connection.

use super::Sender;
use super::pieces::Pieces;
use crate::control::CongestionControl;
use crate::id::SubflowId;
use crate::segment::Output;
use crate::subflow::{State, Subflow};
use linkpool_units::Time;

impl Sender {
    /// The data of subflow `s` was not acknowledged in time, `timeouts` times in a row. Returns
    /// false if the subflow is given up.
    pub(super) fn endures(&mut self, timeouts: u32, s: SubflowId, now: Time, out: &mut impl Output) -> bool {
        let endures = timeouts < self.config.fail_after;
        if !endures {
            self.fail(s, now, out);
        }
        endures
    }

    /// Data of subflow `s` has timed out `timeouts` times in a row. (A subflow that has no data to
    /// send does not become stale, even if its probes get no answer: Linux,
    /// `mptcp_subflow_get_retrans` in net/mptcp/protocol.c.)
    pub(super) fn check_stale(&mut self, timeouts: u32, s: SubflowId) {
        if timeouts == self.config.multipath.stale_after {
            self.stale |= s.bit();
            self.choose_eligible();
        }
    }

    /// New data of subflow `s` is acknowledged after timeouts, so its path works again (Linux,
    /// `mptcp_subflow_active` in net/mptcp/protocol.c).
    #[cold]
    pub(super) fn gets_through(&mut self, s: SubflowId) {
        self.subflows[s].timeouts = 0;
        if s.is_in(self.stale) {
            self.stale &= !s.bit();
            self.rescued &= !s.bit();
            self.choose_eligible();
        }
    }

    /// Gives up subflow `s`. Segments that arrive on it from now on are ignored.
    pub(super) fn fail(&mut self, s: SubflowId, now: Time, out: &mut impl Output) {
        let subflow = &mut self.subflows[s];
        subflow.state = State::Failed;
        subflow.timer.clear();
        self.rescue(s);
        if let Some(buffers) = &mut self.send_buffers {
            buffers.close(s.index());
        }
        let (state, subflow) = (&mut self.states[s], &mut self.subflows[s]);
        subflow.sent.clear();
        (subflow.in_flight, subflow.board) = (0, None);
        (state.established, state.in_recovery, state.snd_nxt) = (false, false, state.snd_una);
        let others = !s.bit();
        (self.open, self.stale, self.rescued) = (self.open & others, self.stale & others, self.rescued & others);
        self.control.on_failed(s);
        self.choose_eligible();
        let lives = |subflow: &Subflow| subflow.state == State::Established || subflow.timer.is_set();
        if self.subflows.iter().any(lives) {
            self.transmit(now, out);
            self.watch_window(now, out);
        } else {
            self.give_up(now);
        }
    }

    /// Decides which subflows may get new data. Backup subflows get data only while no other
    /// subflow works, and stale subflows only while all subflows are stale.
    pub(super) fn choose_eligible(&mut self) {
        self.pieces.iter_mut().for_each(|pieces| pieces.forget_soonest());
        let is_established = |s: &SubflowId| self.subflows[*s].state == State::Established;
        let established = self.numbers().filter(is_established).fold(0, |set, s| set | s.bit());
        let live = established & !self.stale;
        let regular = live & !self.config.multipath.backup;
        self.eligible = [regular, live].into_iter().find(|set| *set != 0).unwrap_or(established);
        if live == 0 {
            self.rescued = 0; // these subflows may get data again
            return;
        }
        let stuck = established & self.stale & !self.rescued;
        self.numbers().filter(|s| s.is_in(stuck)).for_each(|s| self.rescue(s));
        self.rescued |= stuck;
    }

    /// Gives the data of subflow `s` that the receiver may not have to other subflows.
    fn rescue(&mut self, s: SubflowId) {
        let subflow = &self.subflows[s];
        if subflow.sent.is_empty() && self.pieces.is_none() {
            return;
        }
        let pieces = self.pieces.get_or_insert_with(Box::<Pieces>::default);
        let held = subflow.mappings(&self.states[s]).map(|(first, len)| (first.near(self.data_una), len));
        pieces.send_again(held.filter(|(first, len)| first + *len as u64 > self.data_una), true);
        pieces.give_back(s);
        self.choose_ways();
    }
}
