//! CUBIC on each subflow, without ECN: by RFC 9438 in [`rfc9438`], or as Linux computes it in
//! [`linux`].

mod linux;
mod rfc9438;

use super::hystart::Hystart;
use super::{Ack, CongestionControl};
use crate::congestion::CongestionState;
use crate::id::SubflowId;
use linkpool_settings::{Bounds, settings};
use linkpool_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where Linux's CUBIC and RFC 9438 differ: whose rules hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CubicRules {
    /// Those of Linux (net/ipv4/tcp_cubic.c).
    Linux,
    /// Those of RFC 9438.
    Rfc9438,
}

settings! {
    /// Parameters of CUBIC.
    pub struct CubicConfig {
        /// C of RFC 9438, packets per second cubed (section 5: 0.4).
        c "cubic_c": f64 = 0.4, within Bounds::POSITIVE,
            refused |t| t.rules == CubicRules::Linux && !linux::has_c(t.c) =>
                "`cubic_rules = \"linux\"` counts it in steps of 10/1024, from 0.005 to 1000000; write for example 0.4, or `cubic_rules = \"rfc9438\"`";
        /// A loss multiplies the window by it (beta_cubic of RFC 9438, section 4.6: 0.7).
        beta "cubic_beta": f64 = 0.7,
            within Bounds::above(0.0, "a loss multiplies the window by it: above zero and below 1").below(1.0),
            refused |t| t.rules == CubicRules::Linux && !linux::has_beta(t.beta) =>
                "`cubic_rules = \"linux\"` counts it in steps of 1/1024, from 1 to 1023 of them; write for example 0.7, or `cubic_rules = \"rfc9438\"`";
        /// Does a flow release more bandwidth if its window shrinks from loss to loss (fast
        /// convergence, RFC 9438, section 4.7)?
        fast_convergence: bool = true;
        /// Does slow start end before a loss, when the ACKs of a round span half of the least RTT or
        /// its RTTs have grown by an eighth (HyStart, Ha and Rhee 2011, as in Linux)?
        hystart: bool = true, paper_2013 = false;
        /// Whose rules hold where Linux and RFC 9438 differ. `"linux"`: windows and the curve are whole
        /// packets, and time is whole ticks of 1 ms; a window that stays the same looks at the curve
        /// every 32 ms; `cubic_beta` is counted in steps of 1/1024, `cubic_c` of 10/1024; a loss leaves
        /// `cubic_beta` of the *window*, before the first loss the window grows by at least 5% a round,
        /// and the window aims at what the curve reaches one *least* RTT ahead. `"rfc9438"`: windows
        /// have fractions; a loss leaves `cubic_beta` of the data *in flight* (section 4.6), the window
        /// grows as Reno's at first (section 4.3), and aims one *smoothed* RTT ahead (section 4.2).
        rules "cubic_rules": CubicRules = CubicRules::Linux, paper_2013 = CubicRules::Rfc9438;
    }
}

/// CUBIC, without ECN. Every subflow has its own, as in Linux's MPTCP by
/// default.
#[derive(Debug)]
pub struct Cubic {
    config: CubicConfig,
    rules: Rules,
    /// By subflow; empty without HyStart.
    hystart: Box<[Hystart]>,
    /// The arrival time of the current ACK.
    now: Time,
}

/// The state of each subflow, by the rules that hold.
#[derive(Debug)]
enum Rules {
    Linux(linux::Factors, Box<[linux::Subflow]>),
    Rfc9438(Box<[rfc9438::Subflow]>),
}

impl Cubic {
    pub(super) fn new(config: &CubicConfig, n: usize) -> Cubic {
        let rules = match config.rules {
            CubicRules::Linux => Rules::Linux(linux::Factors::new(config), vec![linux::Subflow::default(); n].into()),
            CubicRules::Rfc9438 => Rules::Rfc9438(vec![rfc9438::Subflow::default(); n].into()),
        };
        let hystart = vec![Hystart::new(); if config.hystart { n } else { 0 }].into();
        Cubic { config: config.clone(), rules, hystart, now: Time::ZERO }
    }
}

impl CongestionControl for Cubic {
    fn needs_ecn(&self) -> bool {
        false
    }

    fn in_ack_event(&mut self, states: &mut [CongestionState], s: SubflowId, ack: Ack) -> bool {
        self.now = ack.now;
        if let (Rules::Linux(_, subflows), Some(rtt)) = (&mut self.rules, ack.rtt) {
            subflows[s.index()].note_rtt(rtt, ack.now);
        }
        if let Some(hystart) = self.hystart.get_mut(s.index()) {
            hystart.follow(&mut states[s], &ack);
        }
        false
    }

    fn cong_avoid(&mut self, states: &mut [CongestionState], s: SubflowId, acked: f64) {
        let state = &mut states[s];
        match &mut self.rules {
            Rules::Linux(factors, subflows) => subflows[s.index()].cong_avoid(factors, state, acked, self.now),
            Rules::Rfc9438(subflows) => subflows[s.index()].cong_avoid(&self.config, state, acked, self.now),
        }
    }

    fn ssthresh(&mut self, states: &[CongestionState], s: SubflowId, flight: u32) -> f64 {
        let cwnd = states[s].coupled_window();
        match &mut self.rules {
            Rules::Linux(factors, subflows) => subflows[s.index()].ssthresh(factors, cwnd),
            Rules::Rfc9438(subflows) => subflows[s.index()].ssthresh(&self.config, cwnd, flight),
        }
    }

    fn on_timeout(&mut self, s: SubflowId) {
        match &mut self.rules {
            Rules::Linux(_, subflows) => subflows[s.index()].on_timeout(),
            Rules::Rfc9438(subflows) => subflows[s.index()].on_timeout(),
        }
        self.hystart.get_mut(s.index()).into_iter().for_each(Hystart::restart);
    }

    fn tx_start(&mut self, s: SubflowId, before: Time, now: Time) {
        match &mut self.rules {
            Rules::Linux(_, subflows) => subflows[s.index()].tx_start(before, now),
            Rules::Rfc9438(subflows) => subflows[s.index()].tx_start(before, now),
        }
    }

    /// Linux restores the window alone (`tcp_reno_undo_cwnd` of net/ipv4/tcp_cong.c).
    fn undo(&mut self, s: SubflowId) {
        if let Rules::Rfc9438(subflows) = &mut self.rules {
            subflows[s.index()].undo();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{S, ack, state};
    use super::*;

    /// HyStart ends slow start at 20 packets with the ninth RTT of 100 ms in a round, after one of 10 ms. After a
    /// timeout it begins anew, and ends slow start once more.
    #[test]
    fn hystart_ends_each_slow_start() {
        let config = CubicConfig { c: 0.4, beta: 0.7, fast_convergence: true, hystart: true, rules: CubicRules::Linux };
        let mut c = Cubic::new(&config, 1);
        let mut states = [CongestionState { ssthresh: f64::INFINITY, ..state(20.0) }];
        let hear = |c: &mut Cubic, states: &mut [CongestionState; 1], at: u64, rtt: u64| {
            let ack = Ack { now: Time::from_ms(at), rtt: Some(Time::from_ms(rtt)), ..ack(1) };
            assert!(!c.in_ack_event(states, S[0], ack));
            states[0].ssthresh == 20.0
        };
        for from in [0, 1_000] {
            (states[0].snd_una, states[0].snd_nxt) = (states[0].snd_nxt + 1, states[0].snd_nxt + 1_000);
            hear(&mut c, &mut states, from, 10);
            (states[0].snd_una, states[0].snd_nxt) = (states[0].snd_nxt + 1, states[0].snd_nxt + 1_000);
            let ends: Vec<bool> = (1..10).map(|i| hear(&mut c, &mut states, from + 50 * i, 100)).collect();
            assert_eq!(ends.iter().filter(|ends| **ends).count(), 1, "from {from} ms");
            c.on_timeout(S[0]);
            states[0].ssthresh = f64::INFINITY;
        }
    }
}
