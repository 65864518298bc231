//! The fast path of an ACK.
//!
//! A sender of bulk data gets nearly all of its ACKs in one state: it is not in recovery, nothing is
//! lost or reordered, and the ACK is the first to acknowledge a segment. [`Sender::on_ack`] asks for
//! every state and for every feature. Here [`Subflow::is_calm`] answers nearly all of them, and the
//! steps that are left are those of [`Sender::on_ack`], in the same order.

use super::usage::fills_window;
use super::{Sender, SenderState};
use crate::congestion::CongestionState;
use crate::control::{Ack, CongestionControl, Control};
use crate::id::SubflowId;
use crate::multipath::{Faults, PacketScheduler};
use crate::outstanding::Sent;
use crate::segment::Output;
use crate::seq::Seq;
use crate::subflow::{State, Subflow};
use crate::threshold::DupackThreshold;
use linkpool_units::Time;

impl Sender {
    /// Decides whether ACKs may take the fast path, and whether the connection is plain: it sends data in
    /// order to any subflow, without SACKs, buffers, windows of subflows, messages or PSH, and asks for none
    /// of them.
    pub(super) fn choose_ways(&mut self) {
        let multipath = &self.config.multipath;
        self.fast = multipath.scheduler != PacketScheduler::LowestRtt
            && multipath.faults == Faults::default()
            && self.config.dupack_threshold != DupackThreshold::Adaptive
            && self.messages.is_none()
            && !matches!(self.control, Control::Defined(_));
        self.plain = self.fast
            && !self.config.recovery.has_sacks()
            && !self.limited
            && self.config.buffers.subflow_window == u64::MAX
            && self.send_buffers.is_none()
            && self.pieces.is_none()
            && !self.config.push_acks();
    }

    /// An ACK without options has arrived on subflow `s` of a connection that has a fast path.
    /// Returns false, and does nothing, if the ACK cannot take it. `PLAIN`: the connection is plain.
    #[inline(never)]
    pub(super) fn on_ack_fast<const PLAIN: bool>(
        &mut self,
        s: SubflowId,
        (ack, data_ack, ece): (Seq, Seq, bool),
        now: Time,
        out: &mut impl Output,
    ) -> bool {
        let Sender { state: connection, control, config, data_una, uses, .. } = self;
        let states = &mut self.states[..];
        let (Some(state), Some(subflow)) = (states.get_mut(s.index()), self.subflows.get_mut(s.index())) else {
            return false;
        };
        let ack = ack.near(state.snd_una);
        let Some(first) = subflow.first_until(state, ack) else { return false };
        if !subflow.is_calm::<PLAIN>(state, first) || state.in_recovery || *connection != SenderState::Open {
            return false;
        }
        *data_una = (*data_una).max(data_ack.near(*data_una));
        let told = subflow.acknowledge_from(first, state, ack);
        let segments = told.segments;
        let rtt = told.sent_at.map(|at| now - at);
        let round_ended = subflow.note_ack(state, (ece, rtt), &config.rtt);
        if let Some(rtt) = rtt {
            out.measured_rtt(s, rtt);
        }
        let event = Ack { acked: segments, marked: ece, round_ended, now, rtt };
        let cut = control.in_ack_event(states, s, event);
        if !PLAIN && let Some(board) = &mut subflow.board {
            board.follow_in_order((&states[s], &told), subflow.rtt.min(), now);
            subflow.timer.clear(); // until it is armed below, or by a segment that is sent
        } else if subflow.sent.is_empty() {
            subflow.timer.clear(); // RFC 6298 (5.2)
        } else {
            subflow.timer.set(s, now + subflow.rtt.rto(&config.rtt), out); // RFC 6298 (5.3)
        }
        if !cut && (PLAIN || fills_window(uses.as_deref(), s, &states[s])) {
            let counted = subflow.counted(&states[s], config, segments);
            control.cong_avoid(states, s, counted);
        }
        subflow.count_cut(cut);
        subflow.count_cut(ece && control.cut_after_growth(states, s));
        if self.joins_wait && self.joins_now(now) {
            self.open_joins(now, out);
        }
        self.update_open_by::<PLAIN>(s);
        if PLAIN {
            self.transmit_here::<true>(now, out);
            self.finish_if_done(s, now, out);
        } else {
            self.end_fast(s, now, out);
        }
        true
    }

    /// The rest of an ACK on the fast path, on a connection that is not plain.
    #[inline]
    fn end_fast(&mut self, s: SubflowId, now: Time, out: &mut impl Output) {
        if self.limited {
            self.free_buffer();
        }
        let buffered = self.send_buffers.is_some();
        if buffered {
            self.expand_buffer(s, 2);
        }
        self.transmit_after(s, now, out);
        if self.subflows[s].board.is_some() && !self.subflows[s].timer.is_set() {
            self.arm_timer(s, now, out);
        }
        self.finish_if_done(s, now, out);
        self.note_writes(s);
        if buffered && self.expand_buffer(s, 1) {
            self.transmit_after(s, now, out);
        }
        if self.uses.is_some() {
            self.note_use(s.bit(), now);
        }
    }
}

impl Subflow {
    /// Has nothing happened that an ACK of the `first` segment must undo or follow: no loss, no
    /// duplicate ACK, no SACK, no timeout?
    #[inline]
    fn is_calm<const PLAIN: bool>(&self, state: &CongestionState, (first, end): (Sent, u64)) -> bool {
        self.state == State::Established
            && (self.dupacks | self.limited | self.timeouts) == 0
            && !self.on_probation
            && (PLAIN || self.board.as_ref().is_none_or(|board| board.is_calm(state.snd_una, &first, end)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, LossRecovery};
    use crate::flow_control::Buffers;
    use crate::send_buffer::SendBuffer;
    use linkpool_settings::{Preset, Settings as _};
    use std::sync::Arc;

    #[test]
    fn a_connection_with_a_feature_of_its_own_has_none() {
        let ways = |change: fn(&mut Config)| {
            let mut config = Config { subflows: 2, recovery: LossRecovery::NewReno, ..Config::defaults(Preset::Linux) };
            config.push_acks = false;
            (config.multipath.scheduler, config.buffers) = (PacketScheduler::RoundRobin, Buffers::default());
            change(&mut config);
            let sender = Sender::new(Arc::new(config), None);
            (sender.fast, sender.plain)
        };
        assert_eq!(ways(|_| ()), (true, true));
        assert_eq!(ways(|config| config.recovery = LossRecovery::Reno), (true, true));
        assert_eq!(ways(|config| config.recovery = LossRecovery::Sack), (true, false));
        assert_eq!(ways(|config| config.recovery = LossRecovery::Rack), (true, false));
        assert_eq!(ways(|config| config.buffers.send = SendBuffer::Auto), (true, false));
        assert_eq!(ways(|config| config.buffers.receive = 100_000), (true, false));
        assert_eq!(ways(|config| config.buffers.subflow_window = 100_000), (true, false));
        assert_eq!(ways(|config| config.multipath.scheduler = PacketScheduler::LowestRtt), (false, false));
        assert_eq!(ways(|config| config.multipath.faults.no_data_ack = true), (false, false));
        assert_eq!(ways(|config| config.dupack_threshold = DupackThreshold::Adaptive), (false, false));
        assert_eq!(ways(|config| config.push_acks = true), (true, false));
    }

    /// The fast path knows one end of the stream only.
    #[test]
    fn a_connection_with_messages_has_none() {
        let config = Config { recovery: LossRecovery::NewReno, push_acks: false, ..Config::defaults(Preset::Linux) };
        let mut sender = Sender::new(Arc::new(config), Some(10_000));
        assert_eq!((sender.fast, sender.plain), (true, true));
        sender.keep_open();
        assert_eq!((sender.fast, sender.plain), (false, false));
    }
}
