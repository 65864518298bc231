//! The world in which the theory is set: an algorithm alone, an ACK per packet at the subflow's
//! rate w/RTT, constant RTTs, independent losses that are known at once and cost no time.

use crate::common::{Random, S};
use linkpool_transport::control::{Ack, CongestionControl, Control, ControlConfig};
use linkpool_transport::{CongestionState, SubflowId};
use linkpool_units::Time;

/// A subflow's path.
#[derive(Clone, Copy)]
pub struct Hop {
    pub rtt_ms: f64,
    /// Probability that a packet is lost.
    pub loss: f64,
}

pub struct Ideal {
    control: Control,
    hops: Vec<Hop>,
    states: Vec<CongestionState>,
    round_ends: Vec<u64>,
    /// When the next ACK of each subflow is due, ms.
    due: Vec<f64>,
    random: Random,
}

/// Means over time.
#[derive(Debug)]
pub struct Means {
    /// Packets per ms.
    pub rates: Vec<f64>,
}

impl Means {
    pub fn total(&self) -> f64 {
        self.rates.iter().sum()
    }
}

impl Ideal {
    pub fn new(control: &ControlConfig, hops: &[Hop], seed: u64) -> Ideal {
        let state = |hop: &Hop| CongestionState {
            cwnd: 10.0,
            ssthresh: 2.0,
            srtt: hop.rtt_ms * 1e9,
            snd_una: 1,
            snd_nxt: 11,
            cut_until: 0,
            established: true,
            in_recovery: false,
            hops: 0,
        };
        Ideal {
            control: control.build(hops.len()),
            hops: hops.to_vec(),
            states: hops.iter().map(state).collect(),
            round_ends: vec![0; hops.len()],
            due: hops.iter().map(|hop| hop.rtt_ms / 10.0).collect(),
            random: Random(seed),
        }
    }

    /// The next ACK, of subflow `s`; `lost`: of a packet that was lost instead; `marked`: it echoes
    /// a mark. True if a round has ended.
    fn ack(&mut self, s: SubflowId, lost: bool, marked: bool) -> bool {
        let state = &mut self.states[s];
        state.snd_una += 1;
        state.snd_nxt = state.snd_una + state.cwnd as u64;
        let round_ended = state.snd_una > self.round_ends[s];
        if round_ended {
            self.round_ends[s] = state.snd_nxt;
        }
        if lost {
            let flight = state.cwnd as u32;
            let w = self.control.ssthresh(&self.states, s, flight);
            self.states[s].cut_to(w);
        } else {
            let event = Ack { acked: 1, marked, round_ended, now: Time::ZERO, rtt: None };
            if !self.control.in_ack_event(&mut self.states, s, event) {
                self.control.cong_avoid(&mut self.states, s, 1.0);
            }
            if marked {
                self.control.cut_after_growth(&mut self.states, s);
            }
        }
        round_ended
    }

    /// So many ACKs.
    fn acks(&mut self, count: u64, mut each: impl FnMut(&mut Ideal, SubflowId)) -> Means {
        let start = self.due.iter().copied().fold(f64::INFINITY, f64::min);
        let mut packets = vec![0u64; self.hops.len()];
        let mut now = start;
        for _ in 0..count {
            let mut s = 0;
            for other in 1..self.due.len() {
                if self.due[other] < self.due[s] {
                    s = other;
                }
            }
            now = self.due[s];
            packets[s] += 1;
            each(self, S[s]);
            self.due[s] = now + self.hops[s].rtt_ms / self.states[s].cwnd;
        }
        Means { rates: packets.iter().map(|n| *n as f64 / (now - start)).collect() }
    }

    /// Means over this number of ACKs, after a tenth of them. Each packet is lost with its path's
    /// probability.
    pub fn under_losses(&mut self, acks: u64) -> Means {
        let mut each = |ideal: &mut Ideal, s: SubflowId| {
            let lost = ideal.random.chance(ideal.hops[s].loss);
            ideal.ack(s, lost, false);
        };
        self.acks(acks / 10, &mut each);
        self.acks(acks, &mut each)
    }

    /// The same with losses as evenly spaced as can be: every `1/p`-th packet of a path.
    pub fn under_even_losses(&mut self, acks: u64) -> Means {
        let mut lost_share = vec![0.0; self.hops.len()];
        let mut each = |ideal: &mut Ideal, s: SubflowId| {
            lost_share[s] += ideal.hops[s].loss;
            let lost = lost_share[s] >= 1.0;
            lost_share[s] -= lost as u32 as f64;
            ideal.ack(s, lost, false);
        };
        self.acks(acks / 10, &mut each);
        self.acks(acks, &mut each)
    }

    /// Means over this number of ACKs, after a tenth of them. In each round of a subflow a packet
    /// is marked with probability `p`: its first.
    pub fn under_round_marks(&mut self, acks: u64, p: f64) -> Means {
        let mut mark = vec![false; self.hops.len()];
        let mut each = |ideal: &mut Ideal, s: SubflowId| {
            let round_ended = ideal.ack(s, false, mark[s]);
            mark[s] = round_ended && ideal.random.chance(p);
        };
        self.acks(acks / 10, &mut each);
        self.acks(acks, &mut each)
    }
}
