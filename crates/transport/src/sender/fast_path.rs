//! The fast path of an ACK.
//!
//! A sender of bulk data gets nearly all of its ACKs in one state: it is not in recovery, and the
//! ACK is the first to acknowledge a segment. [`Sender::on_ack`] asks for every state and for every
//! feature. Here two questions answer all of them, and the steps that are left are those of
//! [`Sender::on_ack`], in the same order.

use super::{Sender, SenderState};
use crate::config::LossRecovery;
use crate::control::{Ack, CongestionControl, Control};
use crate::id::SubflowId;
use crate::multipath::{Faults, PacketScheduler};
use crate::segment::Output;
use crate::seq::Seq;
use crate::subflow::{State, Subflow};
use linkpool_units::Time;

impl Sender {
    /// May ACKs take the fast path? Not if the connection has a feature for which they would have
    /// to ask.
    pub(super) fn has_fast_path(&self) -> bool {
        let (recovery, multipath) = (self.config.recovery, &self.config.multipath);
        recovery == LossRecovery::NewReno
            && multipath.scheduler != PacketScheduler::LowestRtt
            && multipath.faults == Faults::default()
            && !self.limited
            && self.send_buffers.is_none()
            && self.uses.is_none()
            && self.messages.is_none()
            && !matches!(self.control, Control::Defined(_))
    }

    /// An ACK without options has arrived on subflow `s` of a connection that has a fast path.
    /// Returns false, and does nothing, if the ACK cannot take it.
    #[inline(never)]
    pub(super) fn on_ack_fast(
        &mut self,
        s: SubflowId,
        (ack, data_ack, ece): (Seq, Seq, bool),
        now: Time,
        out: &mut impl Output,
    ) -> bool {
        let Sender { state: connection, control, config, data_una, .. } = self;
        let states = &mut self.states[..];
        let (Some(state), Some(subflow)) = (states.get_mut(s.index()), self.subflows.get_mut(s.index())) else {
            return false;
        };
        let ack = ack.near(state.snd_una);
        let is_new = subflow.sent.front().is_some_and(|first| first.end.near(state.snd_una) <= ack);
        if !is_new || !subflow.is_calm() || state.in_recovery || *connection != SenderState::Open {
            return false;
        }
        *data_una = (*data_una).max(data_ack.near(*data_una));
        let (segments, sent_at) = subflow.acknowledge(state, ack);
        let rtt = sent_at.map(|at| now - at);
        let round_ended = subflow.note_ack(state, (ece, rtt), &config.rtt);
        if let Some(rtt) = rtt {
            out.measured_rtt(s, rtt);
        }
        let event = Ack { acked: segments, marked: ece, round_ended, now, rtt };
        let cut = control.in_ack_event(states, s, event);
        if subflow.sent.is_empty() && !s.is_in(self.unanswered) {
            subflow.timer.clear(); // RFC 6298 (5.2)
        } else {
            subflow.timer.set(s, now + subflow.rtt.rto(&config.rtt), out); // RFC 6298 (5.3)
        }
        if !cut {
            let counted = subflow.counted(&states[s], config, segments);
            control.cong_avoid(states, s, counted);
        }
        let cut = cut as u64 + (ece && control.cut_after_growth(states, s)) as u64;
        subflow.counts.cuts += cut;
        if self.joins_wait && self.joins_now(now) {
            self.open_joins(now, out);
        }
        self.update_open(s);
        self.transmit(now, out);
        self.finish_if_done(s, now, out);
        true
    }
}

impl Subflow {
    /// Has nothing happened to it that an ACK must undo or follow: no loss, no duplicate ACK, no
    /// timeout?
    #[inline]
    fn is_calm(&self) -> bool {
        self.state == State::Established && (self.dupacks | self.limited | self.timeouts) == 0 && !self.on_probation
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::flow_control::Buffers;
    use linkpool_settings::{Preset, Settings as _};
    use std::sync::Arc;

    #[test]
    fn a_connection_with_a_feature_of_its_own_has_none() {
        let has = |change: fn(&mut Config)| {
            let mut config = Config { subflows: 2, recovery: LossRecovery::NewReno, ..Config::defaults(Preset::Linux) };
            (config.multipath.scheduler, config.buffers) = (PacketScheduler::RoundRobin, Buffers::default());
            change(&mut config);
            Sender::new(Arc::new(config), None).has_fast_path()
        };
        assert!(has(|_| ()));
        assert!(!has(|config| config.multipath.scheduler = PacketScheduler::LowestRtt));
        assert!(!has(|config| config.multipath.faults.no_data_ack = true));
        assert!(!has(|config| config.recovery = LossRecovery::Sack));
    }
}
