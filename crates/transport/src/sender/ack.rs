//! What arrives: the way of an ACK through the parts of the sender.
//!
//! A sender of bulk data gets nearly all of its ACKs in one state: the subflow is not in recovery,
//! nothing is lost or reordered, and the ACK is the first to acknowledge a segment. Such an ACK is
//! *calm* ([`Subflow::is_calm`]), and takes the fast path ([`Sender::on_calm_ack`]): the same steps in the
//! same order as the general way ([`Sender::on_ack`]), with [`Subflow::follow_in_order`] in place of loss
//! recovery. Compiled for a plain connection ([`super::Ways::plain`]), it is without the features that
//! the connection does not use.

use super::recovery::NEW_SEGMENTS;
use super::usage::fills_window;
use super::{Sender, SenderState};
use crate::config::Config;
use crate::congestion::CongestionState;
use crate::control::{Ack, CongestionControl, Control};
use crate::id::SubflowId;
use crate::options::AckOptions;
use crate::outstanding::Sent;
use crate::segment::{Output, Segment};
use crate::seq::Seq;
use crate::subflow::{Acknowledged, State, Subflow};
use linkpool_units::Time;

impl Sender {
    /// A segment has arrived on subflow `s`.
    pub fn on_segment(&mut self, s: SubflowId, segment: Segment, now: Time, out: &mut impl Output) {
        match segment {
            Segment::Ack { ack, data_ack, ece, options: None } => self.on_bare_ack(s, (ack, data_ack, ece), now, out),
            other => self.on_other_segment(s, other, now, out),
        }
    }

    /// An ACK without options has arrived on subflow `s`: what it acknowledges of the subflow and of
    /// the connection's stream, and whether it echoes a mark. As [`Sender::on_segment`].
    #[inline]
    pub fn on_bare_ack(&mut self, s: SubflowId, news: (Seq, Seq, bool), now: Time, out: &mut impl Output) {
        let taken = match (self.ways.fast, self.ways.plain) {
            (false, _) => false,
            (true, false) => self.on_calm_ack::<false>(s, news, now, out),
            (true, true) => self.on_calm_ack::<true>(s, news, now, out),
        };
        if !taken {
            let (ack, data_ack, ece) = news;
            self.on_other_segment(s, Segment::Ack { ack, data_ack, ece, options: None }, now, out);
        }
    }

    /// A segment that cannot take the fast path.
    #[inline(never)]
    fn on_other_segment(&mut self, s: SubflowId, segment: Segment, now: Time, out: &mut impl Output) {
        if self.life.state != SenderState::Open {
            return;
        }
        let concerns_one = self.ways.fast && matches!(segment, Segment::Ack { .. });
        // By reference, since options are large and most segments have none.
        match &segment {
            Segment::Ack { ack, data_ack, ece, options } => {
                let (ack, data_ack, ece, options) = (*ack, *data_ack, *ece, options.as_ref());
                if self.ways.limited && self.take_window(s, ack, data_ack, options) {
                    self.transmit_after(s, now, out);
                } else {
                    self.on_ack(s, (ack, data_ack, ece), options, now, out);
                }
                self.end_ack(s, now, out);
                if self.ways.limited {
                    self.watch_window(now, out);
                }
            }
            Segment::Reset => self.give_up(now),
            Segment::SynAck { ecn } => self.on_syn_ack(s, *ecn, now, out),
            Segment::Nack { seq } => {
                if self.recovery(s).on_nack(*seq, now, out) {
                    self.pace(s, now, out);
                    self.update_open(s);
                    self.transmit_after(s, now, out);
                }
            }
            Segment::SubflowFin { .. } => self.on_fin_answered(s),
            // The receiver never sends data.
            Segment::Syn { .. } | Segment::Data { .. } | Segment::Trimmed { .. } | Segment::Fin { .. } => {}
        }
        self.after_event(if concerns_one { s.bit() } else { self.all() }, now);
    }

    /// [`super::limits::Limits::take_window`].
    #[inline]
    fn take_window(&mut self, s: SubflowId, ack: Seq, data_ack: Seq, options: Option<&AckOptions>) -> bool {
        let Sender { config, states, subflows, stream, limits, .. } = self;
        limits.take_window((s, states, subflows), (ack, data_ack, options), stream, config)
    }

    /// The fast path: an ACK without options has arrived on subflow `s`. Returns false, and does nothing, if
    /// the ACK is not calm. `PLAIN`: the connection is plain.
    #[inline(never)]
    fn on_calm_ack<const PLAIN: bool>(
        &mut self,
        s: SubflowId,
        (ack, data_ack, ece): (Seq, Seq, bool),
        now: Time,
        out: &mut impl Output,
    ) -> bool {
        let Sender { config, states, subflows, control, stream, uses, .. } = self;
        let states = &mut states[..];
        let (Some(state), Some(subflow)) = (states.get_mut(s.index()), subflows.get_mut(s.index())) else {
            return false;
        };
        let ack = ack.near(state.snd_una);
        let Some(first) = subflow.first_until(state, ack) else { return false };
        if !subflow.is_calm::<PLAIN>(state, first) || state.in_recovery {
            return false;
        }
        stream.acknowledge(data_ack);
        let told = subflow.acknowledge_from(first, state, ack);
        let cut = hear::<true>(s, (states, subflow), (control, config), (&told, ece), now, out);
        subflow.follow_in_order::<PLAIN>((s, &states[s]), &told, config, now, out);
        let fills = PLAIN || fills_window(uses.as_deref(), s, &states[s]);
        grow::<true>(s, (states, subflow), (control, config), (told.segments, !cut && fills), ece);
        self.send_after_ack::<true, PLAIN>(s, now, out);
        if !PLAIN {
            self.end_ack(s, now, out);
            self.note_use(s.bit(), now);
        }
        true
    }

    /// The general way: any ACK.
    fn on_ack(
        &mut self,
        s: SubflowId,
        (ack, data_ack, ece): (Seq, Seq, bool),
        options: Option<&AckOptions>,
        now: Time,
        out: &mut impl Output,
    ) {
        let Sender { config, states, subflows, control, stream, limits, ways, .. } = self;
        let states = &mut states[..];
        stream.acknowledge(data_ack);
        if ways.limited {
            limits.free(stream, config);
        }
        let (state, subflow) = (&mut states[s], &mut subflows[s]);
        if subflow.state != State::Established {
            if subflow.state == State::Confirming {
                self.on_confirmed(s, now, out);
            }
            return;
        }
        let ack = ack.near(state.snd_una);
        if ack < state.snd_una {
            return self.on_old_ack(s, ack, options, now, out);
        }
        let had_data = subflow.in_flight > 0;
        let told = match subflow.board.is_some() {
            true => subflow.take_ack(state, ack, options),
            false => subflow.acknowledge(state, ack),
        };
        let cut = hear::<false>(s, (states, subflow), (control, config), (&told, ece), now, out);
        let grown = self.recover(s, told.segments, had_data, now, out);
        let Sender { config, states, subflows, control, uses, .. } = self;
        let grows = grown > 0 && !cut && fills_window(uses.as_deref(), s, &states[s]);
        grow::<false>(s, (states, &mut subflows[s]), (control, config), (grown, grows), ece);
        self.send_after_ack::<false, false>(s, now, out);
    }

    /// An ACK that later ones have overtaken. Its SACKs may be news all the same, since an ACK has
    /// room for three blocks (Linux: `tcp_ack`, at `old_ack`).
    #[cold]
    fn on_old_ack(&mut self, s: SubflowId, ack: u64, options: Option<&AckOptions>, now: Time, out: &mut impl Output) {
        let (state, subflow) = (&mut self.states[s], &mut self.subflows[s]);
        let told = subflow.take_ack(state, ack, options);
        let Some(board) = &mut subflow.board else { return };
        if told.segments == 0 && board.told.duplicate.is_none() {
            return;
        }
        self.on_selective_ack(s, now, out);
        self.measure(s, now);
        self.pace(s, now, out);
        self.update_open(s);
        self.transmit(now, out);
    }

    /// Sends what may be sent after an ACK on subflow `s`.
    #[inline(always)]
    fn send_after_ack<const CALM: bool, const PLAIN: bool>(&mut self, s: SubflowId, now: Time, out: &mut impl Output) {
        if self.schedule.joins_wait && self.joins_now(now) {
            self.open_joins(now, out);
        }
        if !CALM {
            self.measure(s, now);
            self.pace(s, now, out);
        }
        self.update_open_by::<PLAIN>(s);
        if PLAIN {
            self.transmit_here::<true>(now, out);
        } else {
            if CALM && self.ways.limited {
                self.limits.free(&mut self.stream, &self.config);
            }
            if self.limits.buffers.is_some() {
                self.expand_buffer(s, 2);
            }
            self.transmit_after(s, now, out);
            if !CALM {
                self.end_probation(s, now, out);
            } else if self.subflows[s].board.is_some() && !self.subflows[s].timer.is_set() {
                self.subflows[s].arm_timer(s, &self.states[s], &self.config, now, out);
            }
        }
        self.finish_if_done(s, now, out);
    }

    /// After an ACK on subflow `s`: the application may write, and the send buffer may have grown.
    #[inline(always)]
    fn end_ack(&mut self, s: SubflowId, now: Time, out: &mut impl Output) {
        if let Some(writes) = &mut self.limits.writes {
            writes.write(self.stream.una, self.states[s].cwnd);
        }
        if self.limits.buffers.is_some() && self.expand_buffer(s, 1) {
            self.transmit_after(s, now, out);
        }
    }

    /// Loss recovery of subflow `s` after an ACK of `segments` new segments. Returns by how many segments the
    /// window may grow. `had_data`: data was in flight.
    fn recover(&mut self, s: SubflowId, segments: u32, had_data: bool, now: Time, out: &mut impl Output) -> u32 {
        let subflow = &self.subflows[s];
        let grown = if subflow.board.is_some() {
            self.on_selective_ack(s, now, out)
        } else if segments > 0 {
            if subflow.timeouts > 0 {
                self.gets_through(s);
            }
            self.recovery(s).on_new_ack(segments, now, out)
        } else {
            if had_data && self.recovery(s).on_duplicate_ack(now, out) {
                self.limited_transmit(s, now, out);
            }
            0
        };
        if self.subflows[s].on_probation {
            self.follow_frto(s, segments, now, out);
        }
        grown
    }

    /// Loss recovery of subflow `s` by SACKs, after an ACK that the scoreboard has taken. Returns by how
    /// many segments the window may grow.
    fn on_selective_ack(&mut self, s: SubflowId, now: Time, out: &mut impl Output) -> u32 {
        let subflow = &self.subflows[s];
        let news = subflow.board.as_ref().is_some_and(|board| board.told.segments > 0);
        if news && subflow.timeouts > 0 {
            self.gets_through(s);
        }
        self.recovery(s).on_selective_ack(now, out)
    }

    /// F-RTO without SACKs: an ACK of `segments` segments, or a duplicate, follows a timeout.
    #[inline(never)]
    fn follow_frto(&mut self, s: SubflowId, segments: u32, now: Time, out: &mut impl Output) {
        let Some(frto) = self.recovery(s).follow_frto(segments) else { return };
        let new = (0..NEW_SEGMENTS).filter(|_| self.send_one(s, now, out)).count();
        self.recovery(s).end_step_2(frto, new);
    }

    /// F-RTO with SACKs: the sender goes on as after any timeout if there is no new data.
    fn end_probation(&mut self, s: SubflowId, now: Time, out: &mut impl Output) {
        if self.recovery(s).end_probation() {
            self.transmit(now, out);
        }
    }
}

/// What an ACK on subflow `s` says of its path: counters, RTT and round, and the algorithm. It has `told`
/// of these segments, and echoes a mark or not. Returns whether the window was cut. `CALM`: the subflow is
/// not in recovery.
#[inline(always)]
fn hear<const CALM: bool>(
    s: SubflowId,
    (states, subflow): (&mut [CongestionState], &mut Subflow),
    (control, config): (&mut Control, &Config),
    (told, ece): (&Acknowledged, bool),
    now: Time,
    out: &mut impl Output,
) -> bool {
    let rtt = told.sent_at.map(|at| now - at);
    let round_ended = subflow.note_ack(&mut states[s], (ece, rtt), &config.rtt);
    if let Some(rtt) = rtt {
        out.measured_rtt(s, rtt);
    }
    let event = Ack { acked: told.segments, marked: ece, round_ended, now, rtt };
    let spared = spared::<CALM>((s, &states[s]), control, config);
    cut_for_mark(s, (states, subflow), spared, |states| control.in_ack_event(states, s, event))
}

/// The window of subflow `s` after an ACK: it `grows` by so many segments or not, and is cut after it. Only
/// the ACK that cuts it does not grow it. The other ACKs of that window do.
#[inline(always)]
fn grow<const CALM: bool>(
    s: SubflowId,
    (states, subflow): (&mut [CongestionState], &mut Subflow),
    (control, config): (&mut Control, &Config),
    (segments, grows): (u32, bool),
    ece: bool,
) {
    if grows {
        let counted = subflow.counted(&states[s], config, segments);
        control.cong_avoid(states, s, counted);
    }
    if ece {
        let spared = spared::<CALM>((s, &states[s]), control, config);
        cut_for_mark(s, (states, subflow), spared, |states| control.cut_after_growth(states, s));
    }
}

/// Does fast recovery forbid that a mark cuts the window?
#[inline(always)]
fn spared<const CALM: bool>((s, state): (SubflowId, &CongestionState), control: &Control, config: &Config) -> bool {
    !CALM && state.in_recovery && !config.cut_in_recovery && !control.owns_window(s)
}

/// Lets the algorithm cut the window of subflow `s` for a mark, unless it is `spared`. Returns whether
/// the window was cut.
#[inline(always)]
fn cut_for_mark(
    s: SubflowId,
    (states, subflow): (&mut [CongestionState], &mut Subflow),
    spared: bool,
    respond: impl FnOnce(&mut [CongestionState]) -> bool,
) -> bool {
    let before = spared.then(|| (states[s].cwnd, states[s].ssthresh));
    let cut = respond(states);
    if let (true, Some(before)) = (cut, before) {
        (states[s].cwnd, states[s].ssthresh) = before;
        return false;
    }
    subflow.count_cut(cut);
    cut
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
    use crate::multipath::PacketScheduler;
    use linkpool_settings::{Preset, Settings as _};
    use std::sync::Arc;

    /// Counts what is sent.
    #[derive(Default)]
    struct Sent(usize);

    impl Output for Sent {
        fn send(&mut self, _: SubflowId, _: Segment) {
            self.0 += 1;
        }
        fn wake(&mut self, _: SubflowId, _: Time) {}
        fn jitter(&mut self, _: Time) -> Time {
            Time::ZERO
        }
    }

    /// A sender of packets of 1,000 B has eleven in flight on the first of two subflows, and the stream up to
    /// `next` has been taken. The send buffers are of 50,176 B, and 65,536 B are written. An ACK of packet 0
    /// finds a window of `cwnd` packets, and all before 31,000 B acknowledged for the connection. The rest, 34,536
    /// B, is more than two thirds of the buffers, but less once they have grown for eleven packets, to 54,784 B.
    /// Returns how many packets the ACK lets go, and how much is written then.
    fn after_an_ack(cwnd: f64, next: u64) -> (usize, u64) {
        let mut config = Config { subflows: 2, mss: 1000, initial_window: 11, ..Config::defaults(Preset::Linux) };
        config.multipath.scheduler = PacketScheduler::RoundRobin;
        config.buffers.headers = 256;
        let (s, mut sender) = (SubflowId::FIRST, Sender::new(Arc::new(config), None));
        sender.open(Time::ZERO, &mut Sent::default());
        sender.on_segment(s, Segment::SynAck { ecn: false }, Time::from_us(100), &mut Sent::default());
        let buffers = sender.limits.buffers.as_mut().unwrap();
        buffers.close(0);
        buffers.expand(0, 10.0);
        assert_eq!((sender.subflows[s].in_flight, buffers.written()), (11, 65_536));
        (sender.states[s].cwnd, sender.states[s].ssthresh, sender.stream.nxt) = (cwnd, 5.0, next);
        let (mut out, ack) = (
            Sent::default(),
            Segment::Ack { ack: Seq::of(1001), data_ack: Seq::of(31_000), ece: false, options: None },
        );
        sender.on_segment(s, ack, Time::from_us(200), &mut out);
        (out.0, sender.limits.buffers.as_ref().unwrap().written())
    }

    /// Nothing is left to send when the ACK makes room for a packet: the buffer grows, the application writes,
    /// and a packet goes out. With room for two packets, which fill the window, it grows before they do.
    #[test]
    fn an_ack_lets_the_send_buffer_grow_before_and_after_it_is_answered() {
        assert_eq!(after_an_ack(11.0, 65_000), (1, 98_304));
        assert_eq!(after_an_ack(12.0, 50_000), (2, 98_304));
    }
}
