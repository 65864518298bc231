//! Random events for each congestion control algorithm, without a sender: whatever comes, windows
//! stay windows.

use crate::common::{S, algorithms};
use linkpool_transport::control::{Ack, CongestionControl, Control};
use linkpool_transport::{CongestionState, SubflowId};
use linkpool_units::Time;
use proptest::prelude::*;

const CWND_MIN: f64 = 2.0;
const MSS: u64 = 1000;

#[derive(Clone, Debug)]
enum Op {
    Ack {
        acked: u32,
        marked: bool,
        round_ended: bool,
    },
    Duplicate {
        marked: bool,
    },
    /// Fast recovery begins: with the third duplicate, whose window is inflated, or by SACKs.
    Loss {
        selective: bool,
    },
    /// A full ACK: it ends.
    Recovered {
        cwnd: f64,
    },
    Timeout,
    /// The last loss or timeout was spurious.
    Undo,
    Establish,
    Fail,
    Rtt(f64),
    Later(Time),
}

fn ops() -> impl Strategy<Value = Vec<(usize, Op)>> {
    let ack = (1u32..=4, any::<bool>(), any::<bool>()).prop_map(|(acked, marked, round_ended)| Op::Ack {
        acked,
        marked,
        round_ended,
    });
    // Rounds in which little happens are what AMP counts.
    let quiet = (1u32..=2, any::<bool>()).prop_map(|(acked, marked)| Op::Ack { acked, marked, round_ended: true });
    let op = prop_oneof![
        20 => ack,
        20 => quiet,
        3 => any::<bool>().prop_map(|marked| Op::Duplicate { marked }),
        1 => any::<bool>().prop_map(|selective| Op::Loss { selective }),
        2 => (1.0f64..50.0).prop_map(|cwnd| Op::Recovered { cwnd }),
        1 => Just(Op::Timeout),
        1 => Just(Op::Undo),
        4 => Just(Op::Establish),
        1 => Just(Op::Fail),
        2 => (0.0f64..13.0).prop_map(|exponent| Op::Rtt(10f64.powf(exponent))),
        6 => (0.0f64..14.0).prop_map(|exponent| Op::Later(Time(10f64.powf(exponent) as u64))),
    ];
    let s = prop_oneof![3 => Just(0usize), 2 => 0usize..6];
    prop::collection::vec((s, op), 1..400)
}

struct Connection {
    control: Control,
    states: Vec<CongestionState>,
    cut_at: Vec<u64>,
    /// The windows before the last cut for a loss, and the thresholds.
    before_loss: Vec<Option<(f64, f64)>>,
    now: Time,
}

impl Connection {
    fn new(algorithm: usize, windows: &[f64], ssthresh: f64) -> Connection {
        let state = |cwnd: &f64| CongestionState {
            cwnd: *cwnd,
            ssthresh,
            srtt: 0.0,
            snd_una: 1,
            snd_nxt: 1,
            cut_until: 0,
            established: false,
            in_recovery: false,
            hops: 0,
        };
        let states: Vec<CongestionState> = windows.iter().map(state).collect();
        let n = states.len();
        Connection {
            control: algorithms()[algorithm].1.build(n),
            cut_at: vec![0; n],
            before_loss: vec![None; n],
            states,
            now: Time::ZERO,
        }
    }

    /// As the sender does it.
    fn apply(&mut self, s: SubflowId, op: &Op) {
        match *op {
            Op::Ack { acked, marked, round_ended } if self.states[s].established => {
                let state = &mut self.states[s];
                state.snd_una += acked as u64 * MSS;
                state.snd_nxt = state.snd_una + state.cwnd as u64 * MSS;
                let before = self.states.clone();
                let cut = self.acknowledge(s, Ack { acked, marked, round_ended, now: self.now, rtt: None }, &before);
                if !cut && !self.states[s].in_recovery {
                    self.control.cong_avoid(&mut self.states, s, acked as f64);
                    self.check_growth(s, acked, round_ended, &before);
                }
                self.check_others(s, &before);
            }
            Op::Duplicate { marked } if self.states[s].established => {
                let before = self.states.clone();
                self.acknowledge(s, Ack { acked: 0, marked, round_ended: false, now: self.now, rtt: None }, &before);
                self.check_others(s, &before);
            }
            Op::Loss { selective } => {
                let flight = self.states[s].cwnd as u32;
                self.before_loss[s] = selective.then_some((self.states[s].cwnd, self.states[s].ssthresh));
                let ssthresh = self.ssthresh(s, flight);
                let state = &mut self.states[s];
                let inflation = if selective { 0.0 } else { 3.0 };
                (state.in_recovery, state.ssthresh, state.cwnd) = (true, ssthresh, ssthresh + inflation);
            }
            Op::Recovered { cwnd } if self.states[s].in_recovery => {
                let state = &mut self.states[s];
                (state.in_recovery, state.cwnd) = (false, state.ssthresh.min(cwnd));
            }
            Op::Timeout => {
                let flight = self.states[s].cwnd as u32;
                if !self.states[s].in_recovery {
                    self.before_loss[s] = Some((self.states[s].cwnd, self.states[s].ssthresh));
                }
                let ssthresh = self.ssthresh(s, flight);
                self.control.on_timeout(s);
                let state = &mut self.states[s];
                (state.in_recovery, state.ssthresh, state.cwnd) = (false, ssthresh, 1.0);
                state.snd_nxt = state.snd_una;
            }
            Op::Undo => {
                if let Some((cwnd, ssthresh)) = self.before_loss[s].take() {
                    let state = &mut self.states[s];
                    (state.cwnd, state.ssthresh) = (state.cwnd.max(cwnd), state.ssthresh.max(ssthresh));
                    state.in_recovery = false;
                    let before = self.states.clone();
                    self.control.undo(s);
                    assert!(self.states.iter().zip(&before).all(|(p, b)| (p.cwnd, p.ssthresh) == (b.cwnd, b.ssthresh)));
                }
            }
            Op::Establish => self.states[s].established = true,
            Op::Fail => {
                self.states[s].established = false;
                self.control.on_failed(s);
            }
            Op::Rtt(srtt) => self.states[s].srtt = srtt,
            Op::Later(time) => self.now += time,
            _ => {}
        }
    }

    fn ssthresh(&mut self, s: SubflowId, flight: u32) -> f64 {
        let ssthresh = self.control.ssthresh(&self.states, s, flight);
        let most = if matches!(self.control, Control::Cubic(_)) { 0.7 } else { 0.5 };
        assert!(ssthresh >= 2.0 && ssthresh <= (flight as f64 * most).max(2.0), "ssthresh {ssthresh} of {flight}");
        ssthresh
    }

    fn acknowledge(&mut self, s: SubflowId, ack: Ack, before: &[CongestionState]) -> bool {
        let cut = self.control.in_ack_event(&mut self.states, s, ack);
        if cut {
            assert!(ack.marked && self.control.needs_ecn());
            let (was, is) = (before[s].cwnd, self.states[s].cwnd);
            assert!(is >= CWND_MIN && is <= was.max(CWND_MIN), "cut from {was} to {is}");
            // Once a window: all that was sent before the last cut has been acknowledged.
            assert!(self.states[s].snd_una > self.cut_at[s], "a second cut in a window");
            self.cut_at[s] = self.states[s].snd_nxt;
        }
        cut
    }

    /// No ACK grows a window by more than what it acknowledges, but for XMP at the end of a round:
    /// there by no more than the ratio of the RTTs (equation 9), in whole packets.
    fn check_growth(&self, s: SubflowId, acked: u32, round_ended: bool, before: &[CongestionState]) {
        let grown = self.states[s].cwnd - before[s].cwnd;
        let mut most = acked as f64 * (1.0 + 1e-9);
        // OLIA moves up to 1/2 between windows of two subflows or more, in a window's ACKs.
        let moved = if matches!(self.control, Control::Olia(_)) { acked as f64 / 2.0 / before[s].cwnd } else { 0.0 };
        most += moved + 1e-9;
        assert!(grown >= -moved - 1e-9, "from {} by {grown}", before[s].cwnd);
        if matches!(self.control, Control::Xmp(_)) && round_ended {
            let rtts = || before.iter().filter(|p| p.established && p.srtt > 0.0).map(|p| p.srtt);
            let least = rtts().fold(f64::INFINITY, f64::min);
            most += if before[s].srtt > 0.0 { 1.0 + before[s].srtt / least * (1.0 + 1e-9) } else { 0.0 };
        }
        assert!(grown <= most, "from {} by {grown}, at most {most}", before[s].cwnd);
    }

    fn check_others(&self, s: SubflowId, before: &[CongestionState]) {
        for (i, (now, was)) in self.states.iter().zip(before).enumerate() {
            assert!(i == s.index() || (now.cwnd, now.ssthresh) == (was.cwnd, was.ssthresh), "not its subflow");
        }
    }

    fn check(&self, before: (u64, u64)) {
        for p in &self.states {
            assert!(p.cwnd.is_finite() && p.cwnd >= 1.0, "{p:?}");
            assert!(p.ssthresh >= 1.0, "{p:?}");
        }
        assert!(self.control.is_active(S[0]), "subflow 0 always carries data");
        let (suppressions, releases) = suppressions_and_releases(&self.control);
        // They alternate, one at a time, suppression first.
        assert!(suppressions - releases <= 1 && suppressions + releases - before.0 - before.1 <= 1);
        for s in SubflowId::first(self.states.len()).skip(1) {
            assert_eq!(self.control.is_active(s), suppressions == releases);
        }
        if !matches!(self.control, Control::Amp(_)) || self.states.len() == 1 {
            assert_eq!((suppressions, releases), (0, 0));
        }
    }
}

/// What AMP counts; of all others nothing.
fn suppressions_and_releases(control: &Control) -> (u64, u64) {
    let mut counted = (0, 0);
    control.metrics(&mut |metric| match metric.name {
        "suppressions" => counted.0 = metric.value as u64,
        "releases" => counted.1 = metric.value as u64,
        name => panic!("no algorithm reports {name}"),
    });
    counted
}

/// The places of all algorithms but one.
fn all_but(name: &str) -> Vec<usize> {
    (0..algorithms().len()).filter(|i| algorithms()[*i].0 != name).collect()
}

proptest! {
    #![proptest_config(crate::common::cases(300))]

    #[test]
    fn windows_stay_windows(
        algorithm in 0..algorithms().len(),
        windows in prop::collection::vec(prop_oneof![Just(2.0), 1.0f64..200.0], 1..=6),
        ssthresh in prop_oneof![Just(2.0), Just(f64::INFINITY), 2.0f64..100.0],
        ops in ops(),
    ) {
        let mut connection = Connection::new(algorithm, &windows, ssthresh);
        for (s, op) in ops {
            let before = suppressions_and_releases(&connection.control);
            connection.apply(S[s % windows.len()], &op);
            connection.check(before);
        }
    }

    /// A loss that is undone at once leaves no trace: the windows go on as if it had never been.
    /// Not those of OLIA, which keeps the distance between losses that it has noted.
    #[test]
    fn what_is_undone_was_never_there(
        algorithm in prop::sample::select(all_but("olia")),
        windows in prop::collection::vec(2.0f64..200.0, 1..=4),
        ops in ops(),
        at in any::<prop::sample::Index>(),
        s in 0usize..4,
    ) {
        let n = windows.len();
        let run = |undone: bool| {
            let mut connection = Connection::new(algorithm, &windows, 30.0);
            for (i, (s_op, op)) in ops.iter().enumerate() {
                // A recovery takes at least four packets in flight.
                let state = &connection.states[s % n];
                if undone && i == at.index(ops.len()) && !state.in_recovery && state.cwnd >= 4.0 {
                    connection.apply(S[s % n], &Op::Loss { selective: true });
                    connection.apply(S[s % n], &Op::Undo);
                }
                if !matches!(op, Op::Undo) {
                    connection.apply(S[s_op % n], op);
                }
            }
            connection.states.iter().map(|p| p.cwnd).collect::<Vec<_>>()
        };
        prop_assert_eq!(run(false), run(true));
    }

    /// Under marks that never cease AMP is single-path soon, and multipath again when they have: it
    /// does not get stuck.
    #[test]
    fn amp_suppresses_and_releases(n in 2usize..=6, start in 2.0f64..60.0) {
        let amp = algorithms().iter().position(|(name, _)| *name == "amp").unwrap();
        let mut connection = Connection::new(amp, &vec![start; n], 2.0);
        let round = |c: &mut Connection, marked: bool| {
            for s in SubflowId::first(n) {
                c.states[s].established = true;
                for i in 0..c.states[s].cwnd as u32 {
                    let ack = Op::Ack { acked: 1, marked, round_ended: i == 0 };
                    c.apply(s, &ack);
                }
            }
        };
        // A marked round makes w at most 3/4 w + 1/2, which tends to 2: from 60 it is below 3 after
        // 15; then gamma = 2.
        (0..25).for_each(|_| round(&mut connection, true));
        prop_assert_eq!(suppressions_and_releases(&connection.control), (1, 0));
        // To floor(w) = 3 in some rounds, then tau = 8.
        (0..12).for_each(|_| round(&mut connection, false));
        prop_assert_eq!(suppressions_and_releases(&connection.control), (1, 1));
    }
}

/// Which algorithms ask for ECN.
#[test]
fn who_needs_ecn() {
    for (name, algorithm) in algorithms() {
        let needs = ["dctcp", "dcm", "mptcp-cut", "xmp", "amp"].contains(&name);
        assert_eq!(algorithm.build(1).needs_ecn(), needs, "{name}");
    }
}
