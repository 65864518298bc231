//! How subflows use their windows: a connection that stays open, and one that a send buffer limits,
//! may not fill them (Linux: `tcp_slow_start_after_idle_check`, `tcp_cwnd_validate` and
//! `tcp_is_cwnd_limited` in net/ipv4/tcp_output.c and include/net/tcp.h; RFC 2861; RFC 9293, section
//! 3.8.2).

use crate::config::Config;
use crate::congestion::CongestionState;
use crate::control::{CongestionControl, Control};
use crate::id::SubflowId;
use crate::subflow::{State, Subflow};
use linkpool_units::Time;
use std::mem::take;

/// How a subflow uses its window; the names in brackets are of `struct tcp_sock`.
#[derive(Clone, Debug, Default)]
pub(super) struct Use {
    /// Data segments sent when it was last looked at.
    segments: u64,
    /// Nothing was in flight then.
    was_idle: bool,
    /// When it sent its last data (`lsndtime`).
    sent_at: Time,
    /// The window was full in the last round (`is_cwnd_limited`).
    is_full: bool,
    /// The most packets in flight in the last round (`max_packets_out`).
    most: u32,
    /// The round ends when this is acknowledged (`cwnd_usage_seq`).
    round_end: u64,
    /// The most packets in flight since the window was last full (`snd_cwnd_used`).
    used: u32,
    /// When it was last full, or reduced (`snd_cwnd_stamp`).
    full_at: Time,
}

/// How all subflows of a connection use their windows.
///
/// Noting the use of a window again changes nothing but [`Use::full_at`] of a full one, as long as
/// its subflow neither sends nor gets an ACK. So an ACK looks only at those that did, and `full_at` of the others follows from `full` and `noted_at`.
#[derive(Debug)]
pub(super) struct Uses {
    each: Box<[Use]>,
    /// The subflows that have sent data, or whose windows were reduced, since uses were noted.
    pub(super) touched: u32,
    /// The subflows whose windows were full when they were looked at: they have been full until
    /// `noted_at`.
    full: u32,
    /// When uses were noted.
    noted_at: Time,
}

impl Uses {
    /// Those of a connection with so many subflows, before they have sent anything.
    pub(super) fn new(subflows: usize) -> Box<Uses> {
        let each = vec![Use::default(); subflows].into();
        Box::new(Uses { each, touched: 0, full: 0, noted_at: Time::ZERO })
    }
}

/// May the window of subflow `s`, whose state is `state`, grow? A window that is not filled may not (RFC
/// 2861, section 3; RFC 9438, section 5.8).
#[inline(always)]
pub(super) fn fills_window(uses: Option<&Uses>, s: SubflowId, state: &CongestionState) -> bool {
    uses.is_none_or(|uses| uses.each[s].is_limited(state))
}

impl Use {
    /// Does the window keep the subflow from sending more? Only then it may grow. In slow start it
    /// may grow to twice the packets in flight.
    fn is_limited(&self, state: &CongestionState) -> bool {
        self.is_full || state.in_slow_start() && state.cwnd < 2.0 * f64::from(self.most)
    }

    /// Linux's `tcp_cwnd_validate`, without the reduction: `out` packets are out, and the window is
    /// full or not.
    fn note(&mut self, state: &CongestionState, is_full: bool, out: u32, now: Time) {
        if state.snd_una >= self.round_end || is_full || (!self.is_full && out > self.most) {
            (self.is_full, self.most, self.round_end) = (is_full, out, state.snd_nxt);
        }
        if self.is_limited(state) {
            (self.used, self.full_at) = (0, now);
        } else {
            self.used = self.used.max(out);
        }
    }
}

/// Linux's `tcp_current_ssthresh`: three quarters of the window, unless recovery has cut it.
fn current_ssthresh(state: &CongestionState) -> f64 {
    if state.in_recovery { state.ssthresh } else { state.ssthresh.max(0.75 * state.cwnd) }
}

/// The window after `idle` without data: half of it for each timeout that has passed, and
/// `initial` at the least (RFC 2861, section 3.1; Linux, `tcp_cwnd_restart`).
fn after_idle(cwnd: f64, initial: f64, idle: Time, rto: Time) -> f64 {
    let (least, mut cwnd, mut left) = (initial.min(cwnd), cwnd, idle);
    while left > rto && cwnd > least {
        left = left - rto;
        cwnd /= 2.0;
    }
    cwnd.max(least)
}

impl Uses {
    /// Subflow `s` is about to send new data. If it has been idle for longer than a timeout it begins
    /// again with a smaller window, whatever other subflows have sent meanwhile (Linux,
    /// `tcp_slow_start_after_idle_check`, also for subflows: `mptcp_sendmsg_frag` calls
    /// `tcp_skb_entail`).
    #[inline(never)]
    pub(super) fn restart_if_idle(
        &mut self,
        s: SubflowId,
        (state, subflow): (&mut CongestionState, &Subflow),
        config: &Config,
        now: Time,
    ) {
        let (used, rto) = (&mut self.each[s], subflow.rtt.rto(&config.rtt));
        let idle = now - used.sent_at;
        if !config.slow_start_after_idle || !subflow.is_idle() || subflow.segments == 0 || idle <= rto {
            return;
        }
        state.ssthresh = current_ssthresh(state);
        state.cwnd = after_idle(state.cwnd, f64::from(config.initial_window), idle, rto);
        (used.used, used.full_at) = (0, now);
        self.full &= !s.bit();
    }

    /// Notes how subflows use their windows, after each event: `subflows`, one bit each, which the
    /// event concerns, and those that have sent data. Returns those whose windows were reduced.
    #[inline(always)]
    pub(super) fn note(
        &mut self,
        concerned: u32,
        (states, subflows): (&mut [CongestionState], &[Subflow]),
        control: &mut Control,
        config: &Config,
        now: Time,
    ) -> u32 {
        let mut left = concerned | take(&mut self.touched);
        let mut reduced = 0;
        while left != 0 {
            let s = SubflowId::from(left.trailing_zeros());
            left &= !s.bit();
            let subflow = &subflows[s];
            if subflow.state != State::Established {
                continue;
            }
            let (used, state) = (&mut self.each[s], &mut states[s]);
            if s.is_in(self.full) {
                used.full_at = self.noted_at;
            }
            let (sent, out) = (subflow.segments > used.segments, subflow.sent.len() as u32);
            let is_full = subflow.in_flight >= state.cwnd as u32;
            if sent {
                if used.segments == 0 {
                    used.full_at = now;
                } else if used.was_idle {
                    control.tx_start(s, used.sent_at, now);
                }
                (used.segments, used.sent_at) = (subflow.segments, now);
            }
            used.was_idle = out == 0;
            self.full = self.full & !s.bit() | u32::from(is_full) << s.index();
            if sent || is_full {
                used.note(state, is_full, out, now);
                if config.slow_start_after_idle
                    && !control.owns_window(s)
                    && now > used.full_at
                    && now - used.full_at >= subflow.rtt.rto(&config.rtt)
                {
                    // RFC 2861, section 3.2; Linux, `tcp_cwnd_application_limited`.
                    let enough = f64::from(used.used.max(config.initial_window));
                    if !state.in_recovery && enough < state.cwnd {
                        state.ssthresh = current_ssthresh(state);
                        state.cwnd = (state.cwnd + enough) / 2.0;
                    }
                    (used.used, used.full_at) = (0, now);
                    reduced |= s.bit();
                }
            }
        }
        self.touched |= reduced;
        self.noted_at = now;
        reduced
    }
}

#[cfg(test)]
mod tests {
    use super::super::Sender;
    use super::*;
    use crate::control::testing::state;
    use crate::outstanding::Sent;
    use crate::seq::Seq;
    use linkpool_settings::{Preset, Settings as _};
    use std::sync::Arc;

    /// Timeouts of 200 ms: 199 ms change nothing, 201 ms halve, 900 ms halve four times, and the
    /// initial window is the least. A window below it stays.
    #[test]
    fn each_timeout_of_idleness_halves_the_window() {
        let window = |cwnd: f64, ms: u64| after_idle(cwnd, 10.0, Time::from_ms(ms), Time::from_ms(200));
        assert_eq!(
            [window(640.0, 200), window(640.0, 201), window(640.0, 401), window(640.0, 900)],
            [640.0, 320.0, 160.0, 40.0]
        );
        assert_eq!([window(640.0, 60_000), window(15.0, 201), window(4.0, 60_000)], [10.0, 10.0, 4.0]);
    }

    /// A window of 10 with 4 packets out is not full. In slow start it may grow to twice the
    /// packets out, beyond only when it is full.
    #[test]
    fn a_window_grows_only_as_far_as_it_is_used() {
        let (mut used, mut state) = (Use::default(), state(10.0));
        state.ssthresh = 100.0;
        used.note(&state, false, 4, Time::ZERO);
        assert!(!used.is_limited(&state), "10 is more than twice 4");
        used.note(&state, false, 6, Time::ZERO);
        assert!(used.is_limited(&state), "10 is less than twice 6");
        state.ssthresh = 5.0;
        assert!(!used.is_limited(&state), "congestion avoidance wants a full window");
        used.note(&state, true, 10, Time::ZERO);
        assert!(used.is_limited(&state));
        // Until the round is over, what was sent in it counts.
        state.snd_nxt += 1000;
        used.note(&state, true, 10, Time::ZERO);
        used.note(&state, false, 3, Time::ZERO);
        assert!(used.is_limited(&state));
        state.snd_una = state.snd_nxt;
        used.note(&state, false, 3, Time::ZERO);
        assert!(!used.is_limited(&state));
    }

    /// Timeouts are of 1 s, as no RTT is known. At 2.5 s subflow 0 has been idle for half a second, and
    /// subflow 1 for all of it: 80 packets are halved twice. Subflow 2 has data in flight, and subflow 3
    /// has never sent any.
    #[test]
    fn each_subflow_is_idle_for_itself() {
        let config = Config { subflows: 4, ..Config::defaults(Preset::Linux) };
        let mut sender = Sender::new(Arc::new(config), None);
        for s in sender.numbers() {
            (sender.subflows[s].state, sender.subflows[s].segments) = (State::Established, 5);
            (sender.states[s].cwnd, sender.states[s].ssthresh) = (80.0, 30.0);
        }
        sender.uses.as_mut().unwrap().each[0].sent_at = Time::from_secs(2);
        sender.subflows[2].sent.push_back(Sent::new(Time::ZERO, Seq::of(1000), Seq::of(0)));
        sender.subflows[3].segments = 0;
        let mut uses = sender.uses.take().unwrap();
        for s in sender.numbers() {
            uses.restart_if_idle(s, (&mut sender.states[s], &sender.subflows[s]), &sender.config, Time::from_ms(2500));
        }
        let after = [0, 1, 2, 3].map(|s: usize| (sender.states[s].cwnd, sender.states[s].ssthresh));
        assert_eq!(after, [(80.0, 30.0), (20.0, 60.0), (80.0, 30.0), (80.0, 30.0)]);
    }

    #[test]
    fn three_quarters_of_the_window_are_kept_as_threshold() {
        let mut p = state(40.0);
        p.ssthresh = 20.0;
        assert_eq!(current_ssthresh(&p), 30.0);
        p.in_recovery = true;
        assert_eq!(current_ssthresh(&p), 20.0);
    }

    /// Once the window has been full, more packets in the same round change nothing. A round ends
    /// where it was to end, however often as many packets are sent.
    #[test]
    fn a_round_keeps_its_end_and_that_the_window_was_full() {
        let (mut used, mut state) = (Use::default(), state(10.0));
        (state.ssthresh, state.snd_nxt) = (5.0, 1000);
        used.note(&state, true, 10, Time::ZERO);
        used.note(&state, false, 12, Time::ZERO);
        assert!(used.is_limited(&state));
        let mut used = Use::default();
        state.ssthresh = 100.0;
        used.note(&state, false, 6, Time::ZERO);
        state.snd_nxt = 2000;
        used.note(&state, false, 6, Time::ZERO);
        state.snd_una = 1000;
        used.note(&state, false, 3, Time::ZERO);
        assert!(!used.is_limited(&state), "a round has begun in which 3 packets are the most");
    }
}
