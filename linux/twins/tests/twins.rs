//! The same trace of events through the BPF programs' arithmetic and through the simulator's
//! algorithms: windows are equal within one packet after every event, and AMP suppresses at the
//! same one.
//!
//! Differences are those of rounding: the kernel's numbers have 20 fractional bits (`bpf/fixed.h`),
//! the simulator's 52. XMP adds whole packets only, and there a rounding is worth a packet: where
//! an increase of exactly one packet falls short of it by 2^-53 in floating point, the simulator
//! adds that packet a round later than `whole()` of `bpf/fixed.h` does. So after such an event
//! XMP's windows are made equal again: what is held equal is the effect of each event.

use linkpool_linux_control::intf::{self, Conn, Params};
use linkpool_linux_control::settings;
use linkpool_linux_twins::{ALL, Hooks};
use linkpool_settings::Preset;
use linkpool_transport::control::{
    Ack, AckOrder, Algorithm, CongestionControl, Control, ControlConfig, EwtcpIncrease, Release,
};
use linkpool_transport::{CongestionState, SubflowId};
use linkpool_units::Time;
use proptest::prelude::*;

const MSS: u64 = 1448;

#[derive(Clone, Copy, Debug)]
enum Event {
    /// An ACK of so many packets; 0: a duplicate.
    Ack { s: SubflowId, acked: u32, marked: bool },
    /// The third duplicate ACK: fast recovery begins.
    Loss { s: SubflowId },
    /// Fast recovery ends.
    Recovered { s: SubflowId },
    /// The retransmission timer expires.
    Timeout { s: SubflowId },
    /// The smoothed RTT is so many microseconds now.
    Rtt { s: SubflowId, us: u32 },
}

/// One connection, twice.
struct Twins {
    name: &'static str,
    hooks: Hooks,
    params: Params,
    conn: Conn,
    control: Control,
    states: Vec<CongestionState>,
    round_ends: Vec<u64>,
}

impl Twins {
    fn new(
        name: &'static str,
        config: &ControlConfig,
        params: Params,
        n: usize,
        cwnd: u32,
        ssthresh: Option<u32>,
    ) -> Twins {
        let hooks = ALL.iter().find(|(known, _)| *known == name).unwrap().1;
        let mut conn = Conn::zeroed();
        conn.subflows = n as u8;
        let states = (0..n).map(|_| CongestionState {
            cwnd: cwnd.into(),
            ssthresh: ssthresh.map_or(f64::INFINITY, f64::from),
            srtt: 0.0,
            snd_una: 1,
            snd_nxt: 1 + u64::from(cwnd) * MSS,
            cut_until: 0,
            established: true,
            in_recovery: false,
            hops: 0,
        });
        let states: Vec<CongestionState> = states.collect();
        for state in &mut conn.paths[..n] {
            state.established = 1;
            state.cwnd = u64::from(cwnd) << intf::FIX_BITS;
            state.ssthresh = u64::from(ssthresh.unwrap_or(0x7fff_ffff)) << intf::FIX_BITS;
            if matches!(name, "dctcp" | "dcm") {
                state.own[0] = params.alpha0;
            }
        }
        let round_ends = states.iter().map(|p| p.snd_nxt).collect();
        let mut twins = Twins { name, hooks, params, conn, control: config.build(n), states, round_ends };
        SubflowId::first(n).for_each(|s| twins.share_sequences(s));
        twins
    }

    /// Both see the same sequence numbers; the kernel's wrap.
    fn share_sequences(&mut self, s: SubflowId) {
        let (state, own) = (&self.states[s], &mut self.conn.paths[s]);
        (own.snd_una, own.snd_nxt) = (state.snd_una as u32, state.snd_nxt as u32);
    }

    fn flight(&self, s: SubflowId) -> u32 {
        ((self.states[s].snd_nxt - self.states[s].snd_una) / MSS) as u32
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Rtt { s, us } => {
                self.states[s].srtt = f64::from(us) * 1e6;
                self.conn.paths[s].srtt = us * 8;
            }
            Event::Ack { s, acked, marked } => self.ack(s, acked.min(self.flight(s)), marked),
            Event::Loss { s } if !self.states[s].in_recovery => {
                self.lose(s);
                self.states[s].in_recovery = true;
                self.conn.paths[s].in_recovery = 1;
                self.set_window(s, 3.0);
            }
            Event::Recovered { s } if self.states[s].in_recovery => {
                self.states[s].in_recovery = false;
                self.conn.paths[s].in_recovery = 0;
                self.set_window(s, 0.0);
            }
            Event::Timeout { s } => {
                self.lose(s);
                self.states[s].in_recovery = false;
                self.conn.paths[s].in_recovery = 0;
                self.states[s].cwnd = 1.0;
                self.conn.paths[s].cwnd = 1 << intf::FIX_BITS;
            }
            Event::Loss { .. } | Event::Recovered { .. } => {}
        }
    }

    fn lose(&mut self, s: SubflowId) {
        let flight = self.flight(s);
        self.states[s].ssthresh = self.control.ssthresh(&self.states, s, flight);
        self.conn.paths[s].ssthresh = self.hooks.ssthresh(&mut self.conn, s, flight, &self.params);
    }

    fn set_window(&mut self, s: SubflowId, more: f64) {
        self.states[s].cwnd = self.states[s].ssthresh + more;
        self.conn.paths[s].cwnd = self.conn.paths[s].ssthresh + intf::fixed(more);
    }

    /// As the sender does it: the algorithm sees the ACK, grows outside recovery, cuts after
    /// growth; a mark in recovery cuts nothing.
    fn ack(&mut self, s: SubflowId, acked: u32, marked: bool) {
        self.states[s].snd_una += u64::from(acked) * MSS;
        self.share_sequences(s);
        let round_ended = self.states[s].snd_una > self.round_ends[s];
        if round_ended {
            self.round_ends[s] = self.states[s].snd_nxt;
        }
        let recovering = self.states[s].in_recovery;
        let before = (self.states[s].cwnd, self.states[s].ssthresh);
        let own_before = (self.conn.paths[s].cwnd, self.conn.paths[s].ssthresh);
        let ack = Ack { acked, marked, round_ended, now: Time::ZERO, rtt: None };
        let own_ack = intf::Ack { acked, marked: marked.into(), round_ended: round_ended.into() };
        let cut = self.control.in_ack_event(&mut self.states, s, ack);
        let own_cut = self.hooks.in_ack_event(&mut self.conn, s, own_ack, &self.params);
        assert_eq!(cut, own_cut, "{}: who cuts for a mark", self.name);
        if acked > 0 && !recovering && !cut {
            self.control.cong_avoid(&mut self.states, s, acked.into());
            self.hooks.cong_avoid(&mut self.conn, s, acked, &self.params);
        }
        if marked {
            let cut = self.control.cut_after_growth(&mut self.states, s);
            assert_eq!(cut, self.hooks.cut_after_growth(&mut self.conn, s, &self.params));
        }
        if recovering {
            (self.states[s].cwnd, self.states[s].ssthresh) = before;
            (self.conn.paths[s].cwnd, self.conn.paths[s].ssthresh) = own_before;
        }
        let sent = self.states[s].snd_una + (self.states[s].cwnd.min(1e6) as u64) * MSS;
        self.states[s].snd_nxt = self.states[s].snd_nxt.max(sent);
        self.share_sequences(s);
    }

    /// The largest distance of two windows, in packets.
    fn distance(&self) -> f64 {
        let pairs = self.states.iter().zip(&self.conn.paths);
        pairs.map(|(state, own)| (state.cwnd - intf::real(own.cwnd)).abs()).fold(0.0, f64::max)
    }

    fn check(&mut self, event: Event) {
        let windows = || self.conn.paths.iter().map(|p| intf::real(p.cwnd)).collect::<Vec<_>>();
        let theirs = || self.states.iter().map(|p| p.cwnd).collect::<Vec<_>>();
        assert!(self.distance() < 1.001, "{} after {event:?}: {:?} for {:?}", self.name, windows(), theirs());
        if self.name == "xmp" {
            for (state, own) in self.states.iter().zip(&mut self.conn.paths) {
                own.cwnd = intf::fixed(state.cwnd);
                own.ssthresh = intf::fixed(state.ssthresh.min(f64::from(0x7fff_ffff)));
            }
        }
        if self.states.len() > 1 {
            assert_eq!(
                self.conn.suppressed != 0,
                !self.control.is_active(SubflowId::new(1)),
                "{} after {event:?}",
                self.name
            );
        }
    }
}

fn config_of(name: &str) -> ControlConfig {
    ControlConfig::of(Algorithm::named(name).unwrap(), Preset::Linux)
}

/// Four subflows in turns, with RTTs of 100, 150, 200 and 250 us, a mark every 40 ACKs, losses and
/// a timeout: 20,000 ACKs.
#[test]
fn a_long_fixed_trace() {
    let mut table = String::new();
    for (name, _) in ALL {
        let mut twins = Twins::new(name, &config_of(name), settings::defaults(), 4, 10, None);
        let mut farthest: f64 = 0.0;
        for s in SubflowId::first(4) {
            twins.take(Event::Rtt { s, us: 100 + 50 * u32::from(s) });
        }
        for i in 0..20_000u32 {
            let s = SubflowId::from(i % 4);
            let event = match i {
                5_000 => Event::Loss { s: SubflowId::new(1) },
                5_100 => Event::Recovered { s: SubflowId::new(1) },
                9_000 => Event::Timeout { s: SubflowId::new(2) },
                _ if i % 3_001 == 3_000 => Event::Loss { s },
                _ if i % 3_001 == 40 => Event::Recovered { s },
                _ => Event::Ack { s, acked: 1 + i % 2, marked: i % 41 == 40 },
            };
            twins.take(event);
            twins.check(event);
            farthest = farthest.max(twins.distance());
        }
        table += &format!("{name:<10} {farthest:.6}\n");
        assert!(
            twins.states.iter().all(|p| p.cwnd > 1.0 && p.cwnd < 1e5),
            "{name}: the trace reaches no sensible windows"
        );
    }
    println!("farthest apart, packets:\n{table}");
}

/// Windows at the floor and full marking: AMP suppresses, and is released when marks cease.
#[test]
fn amp_suppresses_and_releases_at_the_same_events() {
    let mut twins = Twins::new("amp", &config_of("amp"), settings::defaults(), 4, 2, Some(2));
    let mut seen = Vec::new();
    for s in SubflowId::first(4) {
        twins.take(Event::Rtt { s, us: 100 });
    }
    for i in 0..2_000 {
        let event = Event::Ack { s: SubflowId::new(i % 4), acked: 1, marked: i < 400 };
        twins.take(event);
        twins.check(event);
        if seen.last() != Some(&twins.conn.suppressed) {
            seen.push(twins.conn.suppressed);
        }
    }
    assert_eq!((seen.first(), seen.last(), twins.conn.suppressions > 0), (Some(&0), Some(&0), true));
    assert_eq!(twins.conn.suppressions, twins.conn.releases);
}

/// Two gigabytes and more: the kernel's sequence numbers wrap, and a mark cuts all the same.
#[test]
fn sequence_numbers_wrap() {
    let mut twins = Twins::new("amp", &config_of("amp"), settings::defaults(), 2, 100, Some(50));
    for i in 0..4_000_000u64 {
        let marked = i % 1_900_001 == 1_900_000;
        let event = Event::Ack { s: SubflowId::FIRST, acked: 1, marked };
        twins.take(event);
        if marked {
            twins.check(event);
        }
    }
    assert_eq!(twins.conn.paths[0].cuts, 2);
}

fn events(n: usize) -> impl Strategy<Value = Vec<Event>> {
    let s = (0..n).prop_map(SubflowId::new);
    let event = prop_oneof![
        60 => (s.clone(), 0..3u32, proptest::bool::weighted(0.15)).prop_map(|(s, acked, marked)| Event::Ack { s, acked, marked }),
        1 => s.clone().prop_map(|s| Event::Loss { s }),
        3 => s.clone().prop_map(|s| Event::Recovered { s }),
        1 => s.clone().prop_map(|s| Event::Timeout { s }),
        2 => (s, 20..50_000u32).prop_map(|(s, us)| Event::Rtt { s, us }),
    ];
    proptest::collection::vec(event, 1..600)
}

prop_compose! {
    /// An algorithm with parameters, in both languages.
    fn algorithms()(
        at in 0..ALL.len(), beta in prop_oneof![Just(2.0), Just(3.0), Just(4.0), Just(8.0)], cwnd_min in 1..4u32,
        gamma in 1..4u32, tau in 1..6u32, late in any::<bool>(), acks in any::<bool>(), below in any::<bool>(), root in any::<bool>(),
    ) -> (&'static str, ControlConfig, Params) {
        let name = ALL[at].0;
        let mut config = config_of(name);
        let order = if late { AckOrder::GrowThenCut } else { AckOrder::CutInsteadOfGrowth };
        match &mut config {
            ControlConfig::Amp(amp) => {
                (amp.cut.beta, amp.cut.floor.cwnd_min, amp.cut.ack_order) = (beta, cwnd_min.into(), order);
                (amp.gamma, amp.tau) = (gamma, tau);
                amp.release = if acks { Release::Acks } else { Release::Rounds };
            }
            ControlConfig::Xmp(xmp) => {
                (xmp.cut.beta, xmp.cut.floor.cwnd_min, xmp.ssthresh_below) = (beta, cwnd_min.into(), below);
            }
            ControlConfig::MptcpCut(cut) => {
                (cut.beta, cut.floor.cwnd_min, cut.ack_order) = (beta, cwnd_min.into(), order);
            }
            ControlConfig::Dctcp(dctcp) | ControlConfig::Dcm(dctcp) => {
                (dctcp.floor.cwnd_min, dctcp.ack_order) = (cwnd_min.into(), order);
            }
            ControlConfig::Ewtcp(ewtcp) if root => ewtcp.increase = EwtcpIncrease::InverseRoot,
            _ => {}
        }
        let params = Params {
            beta: intf::fixed(beta), cwnd_min, gamma, tau, release: acks.into(), ack_order: (!late).into(),
            ssthresh_below: below.into(), ewtcp_increase: root.into(), ..settings::defaults()
        };
        (name, config, params)
    }
}

proptest! {
    #[test]
    fn random_traces((name, config, params) in algorithms(), (n, trace) in (1..=8usize).prop_flat_map(|n| (Just(n), events(n))),
                     cwnd in 1..60u32, ssthresh in proptest::option::of(2..60u32)) {
        let mut twins = Twins::new(name, &config, params, n, cwnd, ssthresh);
        for event in trace {
            twins.take(event);
            twins.check(event);
        }
    }
}
