//! Pieces of the connection's stream that wait in the sender for a subflow.

use super::Sender;
use crate::congestion::CongestionState;
use crate::control::CongestionControl;
use crate::id::SubflowId;
use crate::multipath::PacketScheduler;
use std::collections::{BTreeMap, VecDeque};

/// Pieces are assigned to the same subflow until they have this many bytes together (Linux,
/// `MPTCP_SEND_BURST_SIZE`).
const BURST: u32 = 1 << 16;

/// A piece of the stream that becomes one segment: its first byte, and its length.
pub(super) type Piece = (u64, u16);

/// The pieces that wait.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    /// Taken from subflows that do not get through, for whichever may carry data: by first byte,
    /// the length, and whether it has been sent.
    again: BTreeMap<u64, (u16, bool)>,
    /// By subflow; none if the scheduler sets nothing apart.
    apart: Box<[Apart]>,
}

/// The pieces assigned to a subflow, until its window has room.
#[derive(Debug, Default)]
struct Apart {
    queue: VecDeque<Piece>,
    /// Rate at which the subflow is expected to send, packets per ps; 0: not known yet.
    rate: f64,
}

impl Apart {
    /// `burst` packets are assigned at `rate`, beside the packets `before`: the weighted mean.
    fn follow_rate(&mut self, rate: f64, before: f64, burst: f64) {
        self.rate = (self.rate * before + rate * burst) / (before + burst);
    }
}

impl Pieces {
    /// The pieces of a connection with these settings; none if it can have none.
    pub(super) fn new(scheduler: PacketScheduler, subflows: usize) -> Option<Box<Pieces>> {
        let apart = (0..subflows).map(|_| Apart::default()).collect();
        let again = BTreeMap::new();
        (scheduler == PacketScheduler::LowestTimeToSend && subflows > 1).then(|| Box::new(Pieces { again, apart }))
    }

    /// `pieces` are to be sent by other subflows; `sent`: they have been, by one.
    pub(super) fn send_again(&mut self, pieces: impl Iterator<Item = Piece>, sent: bool) {
        self.again.extend(pieces.map(|(first, len)| (first, (len, sent))));
    }

    /// The pieces assigned to subflow `s` may go to any subflow.
    pub(super) fn give_back(&mut self, s: SubflowId) {
        if let Some(apart) = self.apart.get_mut(s.index()) {
            let queue = std::mem::take(&mut apart.queue);
            self.send_again(queue.into_iter(), false);
        }
    }

    /// The first piece to be sent again that is not wholly before `data_una`, and whether it has
    /// been sent.
    fn take_again(&mut self, data_una: u64) -> Option<(Piece, bool)> {
        loop {
            let (first, (len, sent)) = self.again.pop_first()?;
            if first + len as u64 > data_una {
                return Some(((first, len), sent));
            }
        }
    }
}

/// Linux's pacing rate, packets per ps: twice the window an RTT while it is below half the
/// threshold, else 1.2 times (`tcp_update_pacing_rate` in net/ipv4/tcp_input.c). None before the
/// first RTT sample.
fn pacing_rate(state: &CongestionState, flight: u32) -> Option<f64> {
    let window = state.coupled_window();
    let ratio = if window < state.ssthresh / 2.0 { 2.0 } else { 1.2 };
    (state.srtt > 0.0).then(|| ratio * window.max(flight as f64) / state.srtt)
}

impl Sender {
    /// The next piece of subflow `s`: data that others could not deliver, then pieces assigned to
    /// it, then new data.
    #[inline(never)]
    pub(super) fn take_piece(&mut self, s: SubflowId) -> Option<Piece> {
        let may_carry = self.may_carry(s);
        let pieces = self.pieces.as_mut()?;
        if may_carry && let Some((piece, sent)) = pieces.take_again(self.data_una) {
            self.subflows[s].counts.reinjected_bytes += if sent { piece.1 as u64 } else { 0 };
            return Some(piece);
        }
        match pieces.apart.get_mut(s.index()) {
            Some(apart) => apart.queue.pop_front(),
            None if may_carry => {
                self.pieces = None; // nothing waits any more
                self.fresh()
            }
            None => None,
        }
    }

    /// Assigns new data to the subflow that needs the least time to send its data, a burst at a
    /// time, until the send buffer of that subflow is full (Linux, `mptcp_subflow_get_send` in
    /// net/mptcp/protocol.c).
    pub(super) fn set_apart(&mut self) {
        let Some(mut pieces) = self.pieces.take_if(|pieces| !pieces.apart.is_empty()) else {
            return;
        };
        while let Some(s) = self.soonest(&mut pieces) {
            let mut burst = 0;
            while burst < BURST && self.has_memory(s, &pieces) {
                let Some(piece) = self.fresh() else { break };
                pieces.apart[s].queue.push_back(piece);
                burst += piece.1 as u32;
            }
            if burst == 0 {
                break;
            }
            self.follow_rate(s, &mut pieces, burst as f64 / self.config.mss as f64);
        }
        self.pieces = Some(pieces);
    }

    /// The subflow that needs the least time to send its data.
    fn soonest(&self, pieces: &mut Pieces) -> Option<SubflowId> {
        let mut best = None;
        for s in self.numbers().filter(|s| self.may_carry(*s)) {
            let rate = &mut pieces.apart[s].rate;
            if *rate == 0.0 {
                *rate = pacing_rate(&self.states[s], self.subflows[s].in_flight).unwrap_or(0.0);
            }
            // Before the first sample nothing is known to be in the way.
            let linger = if *rate > 0.0 { self.has(s, pieces) as f64 / pieces.apart[s].rate } else { 0.0 };
            if best.is_none_or(|(least, _)| linger < least) {
                best = Some((linger, s));
            }
        }
        best.map(|(_, s)| s)
    }

    /// The mean of the rates at which its data was set apart, weighted by it, `burst` packets of it
    /// now.
    fn follow_rate(&self, s: SubflowId, pieces: &mut Pieces, burst: f64) {
        let before = (self.has(s, pieces) as f64 - burst).max(0.0);
        if let Some(rate) = pacing_rate(&self.states[s], self.subflows[s].in_flight) {
            pieces.apart[s].follow_rate(rate, before, burst);
        }
    }

    /// Packets of subflow `s`, in flight or assigned.
    fn has(&self, s: SubflowId, pieces: &Pieces) -> usize {
        self.subflows[s].sent.len() + pieces.apart[s].queue.len()
    }

    /// Is there room in the send buffer of subflow `s`, of two windows (Linux, `tcp_sndbuf_expand`
    /// in net/ipv4/tcp_input.c)?
    fn has_memory(&self, s: SubflowId, pieces: &Pieces) -> bool {
        let window = self.states[s].coupled_window().max(self.config.initial_window as f64);
        (self.has(s, pieces) as f64) < 2.0 * window
    }

    /// May subflow `s` be given new data?
    #[inline]
    pub(super) fn may_carry(&self, s: SubflowId) -> bool {
        s.is_in(self.eligible) && (self.control.is_active(s) || self.nobody_else_can())
    }

    /// The subflows that the algorithm would use are stale or failed, so the algorithm is ignored.
    #[inline(never)]
    fn nobody_else_can(&self) -> bool {
        !self.numbers().any(|s| s.is_in(self.eligible) && self.control.is_active(s))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::testing::state;

    /// Below half of ssthresh two windows an RTT (100 us), else 1.2 (`tcp_update_pacing_rate`); of
    /// the data in flight, if that is more.
    #[test]
    fn the_pacing_rate_is_linux_s() {
        let rate = |ssthresh: f64, flight: u32| {
            pacing_rate(&CongestionState { ssthresh, ..state(10.0) }, flight).unwrap() * 1e8
        };
        assert!((rate(21.0, 4) - 20.0).abs() < 1e-9);
        assert!((rate(20.0, 4) - 12.0).abs() < 1e-9);
        assert!((rate(18.0, 30) - 36.0).abs() < 1e-9);
        assert_eq!(pacing_rate(&CongestionState { srtt: 0.0, ..state(10.0) }, 4), None);
    }

    #[test]
    fn the_rate_of_what_is_set_apart_is_weighted_by_it() {
        let mut apart = Apart { rate: 2.0, ..Apart::default() };
        apart.follow_rate(4.0, 6.0, 2.0);
        assert_eq!(apart.rate, 2.5); // (2 x 6 + 4 x 2) / 8
        apart.follow_rate(1.0, 0.0, 3.0);
        assert_eq!(apart.rate, 1.0);
    }
}
