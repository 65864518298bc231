//! A subflow at the sender: its timers, outstanding segments and counters.

mod selective;

use crate::config::{Config, LossRecovery};
use crate::congestion::CongestionState;
use crate::loss::{Frto, Scoreboard};
use crate::outstanding::{Mark, Outstanding, Sent};
use crate::rtt::{RttConfig, RttEstimator};
use crate::seq::{FIRST_BYTE, Seq};
use crate::timer::Timer;
use linkpool_units::Time;

/// Counters of a subflow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SubflowStats {
    /// When its SYN-ACK arrived.
    pub established: Option<Time>,
    /// Payload acknowledged, bytes.
    pub acked_bytes: u64,
    /// Data segments sent, retransmissions included.
    pub segments: u64,
    /// Data segments sent again.
    pub retransmits: u64,
    /// Timeouts, including timeouts of SYNs.
    pub timeouts: u64,
    /// Fast recoveries entered.
    pub recoveries: u64,
    /// Window cuts that were undone because the loss was spurious.
    pub undos: u64,
    /// Tail loss probes.
    pub probes: u64,
    /// ACKs that echoed a mark.
    pub marked_acks: u64,
    /// Window cuts for marks.
    pub cuts: u64,
    /// Payload that it sent in place of another subflow whose path does not work, bytes.
    pub reinjected_bytes: u64,
}

/// The counters that follow from nothing else, by their names in [`SubflowStats`]; first those of
/// marks, the most frequent events.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Counts {
    pub(crate) marked_acks: u64,
    pub(crate) cuts: u64,
    pub(crate) established: Option<Time>,
    pub(crate) retransmits: u64,
    pub(crate) timeouts: u64,
    pub(crate) recoveries: u64,
    pub(crate) undos: u64,
    pub(crate) probes: u64,
    pub(crate) reinjected_bytes: u64,
}

impl SubflowStats {
    /// What has been counted since it was `before`.
    #[must_use]
    pub fn since(&self, before: &SubflowStats) -> SubflowStats {
        SubflowStats {
            established: self.established,
            acked_bytes: self.acked_bytes - before.acked_bytes,
            segments: self.segments - before.segments,
            retransmits: self.retransmits - before.retransmits,
            timeouts: self.timeouts - before.timeouts,
            recoveries: self.recoveries - before.recoveries,
            undos: self.undos - before.undos,
            probes: self.probes - before.probes,
            marked_acks: self.marked_acks - before.marked_acks,
            cuts: self.cuts - before.cuts,
            reinjected_bytes: self.reinjected_bytes - before.reinjected_bytes,
        }
    }
}

/// The segments that an ACK acknowledges cumulatively.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acknowledged {
    /// Their number.
    pub(crate) segments: u32,
    /// The time at which the first of them was sent if none was sent twice.
    pub(crate) sent_at: Option<Time>,
    /// The time at which the last of them was sent last.
    pub(crate) last_at: Time,
}

/// Numbers of segments that are not acknowledged cumulatively, by what the sender knows of them
/// (RFC 6675, section 4; Linux: `struct tcp_info`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutstandingSegments {
    /// All of them.
    pub segments: u32,
    /// Those that SACKs report.
    pub sacked: u32,
    /// Those that are lost, sent again or not.
    pub lost: u32,
    /// Those that were sent again.
    pub resent: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    /// Not opened yet.
    Closed,
    SynSent,
    /// A further subflow whose third segment of the handshake is not acknowledged: the state
    /// PRE_ESTABLISHED of RFC 8684, section 3.2.
    Confirming,
    Established,
    /// The sender has given it up.
    Failed,
}

/// Sequence space, loss recovery and timer of one subflow at the sender. Its window is in
/// [`CongestionState`].
///
/// The fields that every ACK reads or writes are in the first two cache lines, those of marks in the
/// third.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Subflow {
    /// Segments from `snd_una` on, in order.
    pub(crate) sent: Outstanding,
    /// The scoreboard; `None` without SACKs.
    pub(crate) board: Option<Box<Scoreboard>>,
    /// The number of segments in `sent` that count as in flight. Without SACKs these are the first
    /// ones. The other segments were sent before a timeout and wait to be sent again (go-back-N).
    pub(crate) in_flight: u32,
    pub(crate) dupacks: u32,
    /// The number of duplicate ACKs that signals a loss.
    pub(crate) dupack_threshold: u32,
    /// Segments sent by limited transmit since the last ACK that was no duplicate (RFC 3042).
    pub(crate) limited: u32,
    /// Timeouts since new data was acknowledged, or probes of a closed window since the last
    /// answer.
    pub(crate) timeouts: u32,
    pub(crate) state: State,
    pub(crate) ect: bool,
    /// Does the next new segment carry CWR?
    pub(crate) announces_cut: bool,
    /// Does F-RTO wait for the next ACK?
    pub(crate) on_probation: bool,
    /// The timer for retransmissions of data or of segments of the handshake, and for the time to
    /// open the subflow.
    pub(crate) timer: Timer,
    pub(crate) rtt: RttEstimator,
    /// The round ends with the first ACK beyond this byte.
    pub(crate) round_end: u64,
    /// Data segments sent, retransmissions included.
    pub(crate) segments: u64,
    /// CWR has been sent, or is about to be, for marks of data before this byte.
    pub(crate) announced_until: u64,
    pub(crate) counts: Counts,
    /// The variable `recover` of NewReno (RFC 6582, section 3.2).
    pub(crate) recover: u64,
    pub(crate) syn_sent_at: Time,
    pub(crate) syns: u32,
    /// Has a partial ACK arrived in this recovery?
    pub(crate) partial: bool,
    /// Has its FIN no answer yet ([`crate::Faults::fin_timeouts`])?
    pub(crate) fin_unanswered: bool,
    /// F-RTO without SACKs, which decides whether the last timeout was spurious.
    pub(crate) frto: Option<Box<Frto>>,
}

const _: () =
    assert!(std::mem::offset_of!(Subflow, timer) == 64 && std::mem::offset_of!(Subflow, announced_until) == 128);
const _: () = assert!(size_of::<Subflow>() == 256);

impl Subflow {
    pub(crate) fn new(config: &Config) -> Subflow {
        Subflow {
            sent: Outstanding::default(),
            board: match config.recovery {
                LossRecovery::Reno | LossRecovery::NewReno => None,
                LossRecovery::Sack => Some(Box::new(Scoreboard::new(false))),
                LossRecovery::Rack => Some(Box::new(Scoreboard::new(true))),
            },
            in_flight: 0,
            dupacks: 0,
            dupack_threshold: config.dupack_threshold.initial(),
            limited: 0,
            timeouts: 0,
            state: State::Closed,
            ect: false,
            announces_cut: false,
            on_probation: false,
            timer: Timer::new(),
            rtt: RttEstimator::new(),
            round_end: 0,
            segments: 0,
            recover: 0,
            announced_until: 0,
            syn_sent_at: Time::ZERO,
            syns: 0,
            partial: false,
            fin_unanswered: false,
            frto: None,
            counts: Counts::default(),
        }
    }

    /// Updates the counters, the RTT and the round with an ACK: does it echo a mark, and which RTT
    /// has it measured? Returns whether a round ends with it.
    #[inline(always)]
    pub(crate) fn note_ack(
        &mut self,
        state: &mut CongestionState,
        (ece, rtt): (bool, Option<Time>),
        config: &RttConfig,
    ) -> bool {
        if ece {
            self.counts.marked_acks += 1;
            self.announce_cut(state);
        }
        if let Some(rtt) = rtt {
            self.rtt.sample(config, rtt);
            state.srtt = self.rtt.srtt().unwrap_or(0.0);
        }
        let round_ended = state.snd_una > self.round_end;
        if round_ended {
            self.round_end = state.snd_nxt;
        }
        round_ended
    }

    /// Counts a cut for a mark, if there was one. Most ACKs cut nothing, and do not touch the counters,
    /// which are far from what they read.
    #[inline]
    pub(crate) fn count_cut(&mut self, cut: bool) {
        if cut {
            self.counts.cuts += 1;
        }
    }

    /// Packets by which an ACK of `acked` packets grows the window: one without byte counting. With it,
    /// in slow start, L of RFC 3465 at most, and 1 while the ACK may acknowledge data sent before a
    /// timeout (section 2.3).
    #[inline]
    pub(crate) fn counted(&self, state: &CongestionState, config: &Config, acked: u32) -> f64 {
        if !config.byte_counting {
            return 1.0;
        }
        let limit = config.byte_counting_limit;
        let most = match state.in_slow_start() && limit < u32::MAX {
            true if state.snd_una <= self.recover => 1,
            true => limit,
            false => u32::MAX,
        };
        f64::from(acked.min(most))
    }

    /// A mark was echoed. The first new segment of each window in which that happens carries CWR
    /// (RFC 3168, section 6.1.2), unless fast recovery has cut the window (Linux, `tcp_enter_cwr`
    /// in net/ipv4/tcp_input.c and `tcp_ecn_send` in tcp_output.c).
    #[inline]
    pub(crate) fn announce_cut(&mut self, state: &CongestionState) {
        if self.ect && state.snd_una > self.announced_until && !state.in_recovery {
            self.announced_until = state.snd_nxt;
            self.announces_cut = true;
        }
    }

    /// The counters of the subflow.
    pub(crate) fn stats(&self, state: &CongestionState) -> SubflowStats {
        let Counts {
            established,
            retransmits,
            timeouts,
            recoveries,
            undos,
            probes,
            marked_acks,
            cuts,
            reinjected_bytes,
        } = self.counts;
        SubflowStats {
            established,
            acked_bytes: state.snd_una - FIRST_BYTE,
            segments: self.segments,
            retransmits,
            timeouts,
            recoveries,
            undos,
            probes,
            marked_acks,
            cuts,
            reinjected_bytes,
        }
    }

    /// What the sender knows of the outstanding segments; without SACKs it knows their number only.
    pub(crate) fn outstanding(&self) -> OutstandingSegments {
        let (sacked, lost, resent) = self.board.as_ref().map_or((0, 0, 0), |b| (b.sacked, b.lost, b.resent));
        OutstandingSegments { segments: self.sent.len() as u32, sacked, lost, resent }
    }

    /// Is it established, with all data that it sent acknowledged?
    pub(crate) fn is_idle(&self) -> bool {
        self.state == State::Established && self.sent.is_empty()
    }

    /// FlightSize of RFC 5681: packets sent within the window and not acknowledged.
    pub(crate) fn flight(&self, state: &CongestionState) -> u32 {
        if self.board.is_some() { (self.sent.len() as u32).min(state.cwnd as u32) } else { self.in_flight }
    }

    /// Are there segments that wait to be sent again?
    #[inline]
    pub(crate) fn has_backlog(&self) -> bool {
        match &self.board {
            None => self.has_unsent(),
            Some(board) => board.lost > 0,
        }
    }

    /// The same without SACKs.
    #[inline]
    pub(crate) fn has_unsent(&self) -> bool {
        (self.in_flight as usize) < self.sent.len()
    }

    /// The first byte of segment number `i` of `sent`.
    pub(crate) fn start_of(&self, state: &CongestionState, i: usize) -> u64 {
        i.checked_sub(1).map_or(state.snd_una, |before| self.sent[before].end.near(state.snd_una))
    }

    /// One beyond the last byte that it has sent, even while bytes before it are sent again.
    pub(crate) fn end(&self, state: &CongestionState) -> u64 {
        let last = self.sent.range(self.sent.len().saturating_sub(1)..).next();
        last.map_or(state.snd_nxt, |last| last.end.near(state.snd_una))
    }

    /// The start in the connection's stream, and the length, of each segment in `sent`.
    pub(crate) fn mappings(&self, state: &CongestionState) -> impl Iterator<Item = (Seq, u16)> {
        let mut reached = Seq::of(state.snd_una);
        self.sent.range(0..).map(move |segment| {
            let start = std::mem::replace(&mut reached, segment.end);
            (segment.data_seq, segment.end.0.wrapping_sub(start.0) as u16)
        })
    }

    /// The first segment, with its end, if `ack` acknowledges it.
    #[inline(always)]
    pub(crate) fn first_until(&self, state: &CongestionState, ack: u64) -> Option<(Sent, u64)> {
        let first = self.sent.front()?;
        let end = first.end.near(state.snd_una);
        (end <= ack).then_some((*first, end))
    }

    /// Removes the segments that `ack` acknowledges from the list.
    pub(crate) fn acknowledge(&mut self, state: &mut CongestionState, ack: u64) -> Acknowledged {
        match self.first_until(state, ack) {
            Some(first) => self.acknowledge_from(first, state, ack),
            None => {
                state.snd_nxt = state.snd_nxt.max(state.snd_una);
                Acknowledged { segments: 0, sent_at: None, last_at: Time::ZERO }
            }
        }
    }

    /// The same; [`Subflow::first_until`] has found the `first` of these segments.
    #[inline(always)]
    pub(crate) fn acknowledge_from(
        &mut self,
        first: (Sent, u64),
        state: &mut CongestionState,
        ack: u64,
    ) -> Acknowledged {
        let sent_at = first.0.at();
        let (mut next, mut segments, mut last_at, mut again) = (Some(first), 0, sent_at, false);
        while let Some((segment, end)) = next {
            state.snd_una = end;
            last_at = segment.at();
            again |= segment.is(Mark::AGAIN);
            self.sent.pop_front();
            segments += 1;
            // Most ACKs end with a segment. The next one may be in a line that nothing has fetched.
            next = if end < ack { self.first_until(state, ack) } else { None };
        }
        self.in_flight = self.in_flight.saturating_sub(segments);
        state.snd_nxt = state.snd_nxt.max(state.snd_una);
        Acknowledged { segments, sent_at: (!again).then_some(sent_at), last_at }
    }
}

#[cfg(test)]
mod tests {
    use super::{CongestionState, Scoreboard, Sent, Subflow, SubflowStats};
    use linkpool_units::Time;

    /// Of docs/engine.md, "Memory".
    #[test]
    fn a_subflow_takes_so_many_bytes() {
        let sizes = [size_of::<CongestionState>(), size_of::<Subflow>(), size_of::<Sent>(), size_of::<Scoreboard>()];
        assert_eq!(sizes, [64, 256, 16, 344]);
    }

    #[test]
    fn counters_are_those_since_then() {
        let established = Some(Time::from_us(7));
        let counted = |n: u64| SubflowStats {
            established,
            acked_bytes: 3 * n,
            segments: 4 * n,
            retransmits: 5 * n,
            timeouts: 6 * n,
            recoveries: 7 * n,
            undos: 8 * n,
            probes: 9 * n,
            marked_acks: 10 * n,
            cuts: 11 * n,
            reinjected_bytes: 12 * n,
        };
        assert_eq!(counted(9).since(&counted(2)), counted(7));
    }
}
