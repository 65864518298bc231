//! Transfers over channels that lose, repeat, reorder, delay and mark, or fail. Every byte arrives
//! once and in order, or the sender does not report success (`common::ledger` checks at every
//! event); and each transfer that can end does end.

use crate::common::channel::{Crossing, Fate, Pair};
use crate::common::ledger::Ledger;
use crate::common::{DCTCP, Random, S, algorithms, config, with_rates};
use linkpool_transport::control::{ControlConfig, MmptcpConfig, Switch};
use linkpool_transport::{
    Buffers, Config, DupackThreshold, LossRecovery, Multipath, Pacing, PacketScheduler, Segment, SendBuffer,
    SenderState, SubflowId,
};
use linkpool_units::{Rate, Time};
use proptest::prelude::*;

/// The behaviour of the channel; the same in both directions, except for the marks.
#[derive(Clone, Debug)]
struct Weather {
    seed: u64,
    loss: f64,
    duplication: f64,
    mark: f64,
    jitter: Time,
    /// Arrives 300 ms late: beyond the RTO.
    late: f64,
    /// This subflow's path carries nothing from this time on.
    death: Option<(SubflowId, Time)>,
}

impl Weather {
    fn channel(&self) -> impl FnMut(&Crossing) -> Fate + use<> {
        let weather = self.clone();
        let mut random = Random(weather.seed);
        move |c| {
            let dead = weather.death.is_some_and(|(s, at)| s == c.subflow && c.at >= at);
            if dead || random.chance(weather.loss) {
                return vec![];
            }
            let ect = matches!(c.segment, Segment::Data { ect: true, .. });
            let copies = 1 + random.chance(weather.duplication) as usize;
            (0..copies)
                .map(|_| {
                    let late = Time::from_ms(300 * random.chance(weather.late) as u64);
                    let base = Time::from_us(20 * (1 + u64::from(c.subflow)));
                    (base + random.time(weather.jitter) + late, ect && random.chance(weather.mark))
                })
                .collect()
        }
    }
}

/// All algorithms, and two of them as phase 2 of MMPTCP.
fn transports() -> Vec<ControlConfig> {
    let all: Vec<ControlConfig> = with_rates().into_iter().map(|(_, algorithm)| algorithm).collect();
    let switch = Switch { bytes: 10_000, window: 30.0, congestion: true };
    let scattered = || Box::new(ControlConfig::Dctcp(DCTCP));
    let scatters = |(_, algorithm)| {
        ControlConfig::Mmptcp(MmptcpConfig { switch, scattered: scattered(), coupled: Box::new(algorithm) })
    };
    let phase_2 = algorithms().into_iter().filter(|(name, _)| ["lia", "amp"].contains(name));
    all.into_iter().chain(phase_2.map(scatters)).collect()
}

#[derive(Clone, Debug)]
struct Case {
    algorithm: usize,
    subflows: usize,
    size: u64,
    initial_window: u32,
    byte_counting: bool,
    byte_counting_limit: u32,
    ack_every: u32,
    quickack: bool,
    limited_transmit: bool,
    scheduler: PacketScheduler,
    /// One bit each.
    backup: u32,
    stale_after: u32,
    fail_after: u32,
    buffers: Buffers,
    recovery: LossRecovery,
    adaptive_threshold: bool,
    undo: bool,
    cut_in_recovery: bool,
    weather: Weather,
}

/// A failed subflow keeps its data.
const NEVER: u32 = u32::MAX;

impl Case {
    fn config(&self) -> Config {
        Config {
            subflows: self.subflows,
            initial_window: self.initial_window,
            byte_counting: self.byte_counting,
            byte_counting_limit: self.byte_counting_limit,
            quickack: self.quickack,
            ack_every: self.ack_every,
            limited_transmit: self.limited_transmit,
            recovery: self.recovery,
            dupack_threshold: if self.adaptive_threshold {
                DupackThreshold::Adaptive
            } else {
                DupackThreshold::Acks(3)
            },
            undo: self.undo,
            cut_in_recovery: self.cut_in_recovery,
            join_jitter: Time::from_us(49),
            pacing: if self.weather.seed.is_multiple_of(3) { Pacing::Fq } else { Pacing::Control },
            fail_after: self.fail_after,
            buffers: self.buffers,
            multipath: Multipath {
                scheduler: self.scheduler,
                backup: self.backup,
                stale_after: self.stale_after,
                ..Multipath::default()
            },
            ..config(transports()[self.algorithm].clone())
        }
    }

    /// Carries the flow, checking all along. Returns all that the sender did.
    fn run(&self) -> Vec<Crossing> {
        let mut pair = Pair::new(self.config(), Some(self.size), self.weather.channel());
        // A window that send buffers leave unused shrinks to the initial window (RFC 2861, section 3.2).
        let buffered = self.buffers.send == SendBuffer::Auto || self.scheduler == PacketScheduler::LowestTimeToSend;
        let unused = if (buffered || self.scheduler.waits()) && self.subflows > 1 {
            f64::from(self.initial_window)
        } else {
            f64::INFINITY
        };
        let least = match self.config().control {
            ControlConfig::Swift(swift) => swift.min_window,
            ControlConfig::Bbr(_) => 1.0,
            _ => 2.0,
        };
        let mut ledger = Ledger::new(self.subflows, self.config().mss, unused.min(least));
        ledger.edge = self.buffers.receive;
        ledger.subflow_window = self.buffers.subflow_window;
        ledger.any_order = self.scheduler == PacketScheduler::LowestTimeToSend;
        ledger.copies = self.scheduler == PacketScheduler::Redundant;
        ledger.selective = self.recovery.has_sacks();
        ledger.probes = self.recovery == LossRecovery::Rack;
        if !self.recovery.has_sacks() {
            ledger.limited_transmit = 2 * self.limited_transmit as u32;
            ledger.frto = self.undo;
        }
        let mut trace = pair.wire.sent.clone();
        // A window of a thousandth of a packet sends one in a thousand round trips.
        let limit = Time::from_secs(if least < 1.0 { 1_000_000 } else { 20_000 });
        while pair.sender.state() == SenderState::Open && pair.next_event().is_some_and(|at| at < limit) {
            let event = pair.step().unwrap();
            trace.extend(&pair.wire.sent);
            assert!(trace.len() < 1_000_000, "no end in sight");
            ledger.enter(&pair, &event);
        }
        self.check_outcome(&pair, &ledger);
        trace
    }

    fn check_outcome<C: FnMut(&Crossing) -> Fate>(&self, pair: &Pair<C>, ledger: &Ledger) {
        match pair.sender.state() {
            SenderState::Finished => {
                assert_eq!(pair.sender.acked(), self.size);
                assert_eq!(pair.receiver.delivered(), self.size);
                assert!(pair.receiver.is_complete(), "the end was not told");
                assert_eq!(ledger.stream_end(), self.size);
            }
            SenderState::Failed => {
                let unheard = pair.sender.stats(S[0]).established.is_none();
                assert!(
                    unheard || self.fail_after < NEVER && self.is_alone(pair),
                    "given up, but there is another subflow"
                );
            }
            SenderState::Open => {
                let (dead, _) = self.weather.death.expect("it must end");
                let missing = ledger.outstanding(pair, dead) || ledger.is_shut(self.size);
                assert!(missing, "nothing is missing, but it does not end");
                assert_eq!(self.fail_after, NEVER, "it must end or be given up");
                assert!(self.stale_after == NEVER || self.is_alone(pair), "another subflow could carry it");
            }
        }
    }

    /// Was no subflow ever established but the one whose path is dead?
    fn is_alone<C: FnMut(&Crossing) -> Fate>(&self, pair: &Pair<C>) -> bool {
        let dead = self.weather.death.map(|(s, _)| s);
        SubflowId::first(self.subflows).all(|s| Some(s) == dead || pair.sender.stats(s).established.is_none())
    }
}

fn weathers(death: impl Strategy<Value = Option<(SubflowId, Time)>>) -> impl Strategy<Value = Weather> {
    let chance = |most: f64| prop_oneof![1 => Just(0.0), 2 => 0.0..most];
    let jitter = prop_oneof![Just(0u64), 0u64..100, 0u64..5_000].prop_map(Time::from_us);
    (any::<u64>(), chance(0.3), chance(0.3), chance(1.0), jitter, chance(0.05), death).prop_map(
        |(seed, loss, duplication, mark, jitter, late, death)| Weather {
            seed,
            loss,
            duplication,
            mark,
            jitter,
            late,
            death,
        },
    )
}

fn transfers(death: impl Strategy<Value = Option<(SubflowId, Time)>>) -> impl Strategy<Value = Case> {
    let size = prop_oneof![1u64..20_000, 1u64..400_000];
    const RECOVERIES: &[LossRecovery] =
        &[LossRecovery::Reno, LossRecovery::NewReno, LossRecovery::Sack, LossRecovery::Rack];
    let recovery = (prop::sample::select(RECOVERIES), any::<(bool, bool, bool)>());
    let limit = prop::sample::select(&[1, 2, u32::MAX]);
    let tcp = (1u32..=10, any::<(bool, bool)>(), limit, (1u32..=2, any::<bool>()), recovery);
    const SCHEDULERS: &[PacketScheduler] = &[
        PacketScheduler::RoundRobin,
        PacketScheduler::LowestRtt,
        PacketScheduler::LowestTimeToSend,
        PacketScheduler::Blest,
        PacketScheduler::Ecf,
        PacketScheduler::Redundant,
    ];
    // Where packets are lost or late a subflow may look dead that is not: none is given up.
    let multipath = (
        proptest::sample::select(SCHEDULERS),
        0u32..63,
        prop_oneof![Just(NEVER), 1u32..=4],
        prop_oneof![Just(NEVER), 1u32..=8],
    );
    (0..transports().len(), 1usize..=6, size, tcp, multipath, buffers(), weathers(death)).prop_map(
        |(algorithm, subflows, size, tcp, (scheduler, backup, stale_after, fail_after), buffers, weather)| {
            let (initial_window, (byte_counting, limited_transmit), byte_counting_limit, acks, recovery) = tcp;
            let (ack_every, quickack) = acks;
            let (recovery, (undo, cut_in_recovery, adaptive_threshold)) = recovery;
            let fail_after = if weather.loss + weather.late > 0.0 { NEVER } else { fail_after };
            Case {
                algorithm,
                subflows,
                size,
                initial_window,
                byte_counting,
                byte_counting_limit,
                ack_every,
                quickack,
                limited_transmit,
                scheduler,
                backup,
                stale_after,
                fail_after,
                buffers,
                recovery,
                adaptive_threshold,
                undo,
                cut_in_recovery,
                weather,
            }
        },
    )
}

/// At least a segment; read at once, or at 1 Mbit/s to 1 Gbit/s.
fn buffers() -> impl Strategy<Value = Buffers> {
    let size = || prop_oneof![2 => Just(u64::MAX), 1 => 1000u64..60_000];
    let send = prop_oneof![1 => Just(SendBuffer::Auto), 2 => size().prop_map(SendBuffer::Fixed)];
    let read_rate = prop_oneof![Just(None), (1u64..1000).prop_map(|n| Some(Rate::mbps(n)))];
    (send, size(), size(), read_rate).prop_map(|(send, receive, subflow_window, read_rate)| Buffers {
        send,
        receive,
        subflow_window,
        read_rate,
        ..Buffers::default()
    })
}

/// The channel dies for one subflow at some time in the first milliseconds.
fn deaths() -> impl Strategy<Value = Option<(SubflowId, Time)>> {
    (0usize..6, 0u64..3_000).prop_map(|(s, us)| Some((S[s], Time::from_us(us))))
}

proptest! {
    #![proptest_config(crate::common::cases(500))]

    #[test]
    fn every_byte_arrives_once_and_in_order(case in transfers(Just(None))) {
        case.run();
    }

    #[test]
    fn a_dead_path_does_not_make_it_lie(case in transfers(deaths())) {
        case.run();
    }

    #[test]
    fn the_same_seed_gives_the_same_trace(case in transfers(Just(None))) {
        prop_assert_eq!(case.run(), case.run());
    }
}

/// Fair weather and 10 segments.
fn plain() -> Case {
    Case {
        algorithm: 0,
        subflows: 1,
        size: 10_000,
        initial_window: 1,
        byte_counting: false,
        byte_counting_limit: u32::MAX,
        ack_every: 1,
        quickack: false,
        limited_transmit: false,
        scheduler: PacketScheduler::RoundRobin,
        backup: 0,
        stale_after: NEVER,
        fail_after: NEVER,
        buffers: Buffers::default(),
        recovery: LossRecovery::NewReno,
        undo: false,
        adaptive_threshold: false,
        cut_in_recovery: false,
        weather: Weather {
            seed: 0,
            loss: 0.0,
            duplication: 0.0,
            mark: 0.0,
            jitter: Time::ZERO,
            late: 0.0,
            death: None,
        },
    }
}

/// The path dies while the receiver's window is shut: nothing is in flight, and the sender asks for
/// ever.
#[test]
fn a_path_that_dies_behind_a_shut_window() {
    Case {
        size: 66_083,
        initial_window: 7,
        buffers: Buffers { receive: 1334, read_rate: Some(Rate::mbps(40)), ..Buffers::default() },
        weather: Weather { death: Some((S[0], Time::from_us(61))), ..plain().weather },
        ..plain()
    }
    .run();
}

/// Probes that were lost do not keep a subflow from carrying data later.
#[test]
fn lost_probes_do_not_count_against_a_subflow() {
    Case {
        algorithm: 10,
        subflows: 2,
        size: 277_395,
        initial_window: 5,
        byte_counting: true,
        scheduler: PacketScheduler::LowestTimeToSend,
        backup: 0b10,
        stale_after: 1,
        buffers: Buffers { receive: 5496, read_rate: Some(Rate::mbps(139)), ..Buffers::default() },
        recovery: LossRecovery::Rack,
        weather: Weather {
            seed: 1370131534216519039,
            loss: 0.20689413965130798,
            jitter: Time::from_us(9),
            late: 0.03283080889214349,
            ..plain().weather
        },
        ..plain()
    }
    .run();
}

/// Of two subflows whose probes of a shut window were lost one is dead: the other goes on asking.
#[test]
fn a_dead_subflow_does_not_ask_for_all() {
    Case {
        algorithm: 12,
        subflows: 2,
        size: 250_435,
        byte_counting: true,
        limited_transmit: true,
        backup: 0b11,
        stale_after: 1,
        buffers: Buffers { receive: 1000, read_rate: Some(Rate::mbps(1)), ..Buffers::default() },
        recovery: LossRecovery::Rack,
        weather: Weather {
            seed: 4663829874133889743,
            loss: 0.1679262454143359,
            death: Some((S[0], Time::from_us(21))),
            ..plain().weather
        },
        ..plain()
    }
    .run();
}

/// The path dies behind a shut window. A probe that has not been sent yet does not count as
/// unanswered: the other subflow asks before it is given up.
#[test]
fn a_subflow_is_asked_before_it_is_given_up() {
    Case {
        algorithm: 5,
        subflows: 2,
        size: 55_072,
        initial_window: 5,
        backup: 0b110,
        fail_after: 1,
        buffers: Buffers { receive: 1880, read_rate: Some(Rate::mbps(8)), ..Buffers::default() },
        weather: Weather { death: Some((S[0], Time::from_us(61))), ..plain().weather },
        ..plain()
    }
    .run();
}

/// When the timer expires a lost segment and the copy of another one, sent as a probe, are as many
/// in flight as there are segments: the lost one waits to be sent again all the same.
#[test]
fn a_probe_s_copy_does_not_hide_a_lost_segment() {
    Case {
        algorithm: 1,
        subflows: 4,
        size: 11_001,
        initial_window: 6,
        ack_every: 2,
        scheduler: PacketScheduler::LowestTimeToSend,
        recovery: LossRecovery::Rack,
        undo: true,
        weather: Weather {
            seed: 15862027589576392628,
            loss: 0.09506879954960493,
            jitter: Time::from_us(3341),
            late: 0.0261606757490562,
            ..plain().weather
        },
        ..plain()
    }
    .run();
}

/// The window opens, unheard, while the only packet in flight is on a path that has died, and not
/// yet stale: once it is, the others ask.
#[test]
fn a_shut_window_is_watched_when_a_subflow_gets_stale() {
    Case {
        algorithm: 7,
        subflows: 3,
        size: 4985,
        scheduler: PacketScheduler::LowestRtt,
        backup: 0b110,
        stale_after: 2,
        buffers: Buffers { receive: 1334, read_rate: Some(Rate::mbps(217)), ..Buffers::default() },
        weather: Weather {
            seed: 8999282472065941743,
            loss: 0.1767974810946887,
            duplication: 0.28594479815156937,
            death: Some((S[1], Time::from_us(125))),
            ..plain().weather
        },
        ..plain()
    }
    .run();
}

/// All data is on subflows that are stale, and one that is alive has nothing.
#[test]
fn an_idle_subflow_is_not_stale() {
    Case {
        algorithm: 1,
        subflows: 3,
        size: 243_398,
        initial_window: 6,
        limited_transmit: true,
        scheduler: PacketScheduler::LowestTimeToSend,
        backup: 20,
        stale_after: 2,
        buffers: Buffers { receive: 6339, read_rate: Some(Rate::mbps(32)), ..Buffers::default() },
        recovery: LossRecovery::Rack,
        weather: Weather { seed: 4533478444855269256, loss: 0.20260406597817576, ..plain().weather },
        ..plain()
    }
    .run();
}

/// A probe that is not answered, then data on the same dead path, which gets stale by its first
/// timeout.
#[test]
fn timeouts_are_counted_anew_after_probes() {
    Case {
        subflows: 4,
        size: 43_082,
        limited_transmit: true,
        scheduler: PacketScheduler::LowestRtt,
        backup: 40,
        stale_after: 1,
        buffers: Buffers { receive: 19935, read_rate: Some(Rate::mbps(16)), ..Buffers::default() },
        recovery: LossRecovery::Rack,
        undo: true,
        weather: Weather {
            seed: 7094778274657519880,
            duplication: 0.021837202266707278,
            jitter: Time::from_us(40),
            late: 0.017047555196906733,
            death: Some((S[0], Time::from_us(504))),
            ..plain().weather
        },
        ..plain()
    }
    .run();
}

/// The last segment, of a byte, is sent twice on a subflow: it was given back to it.
#[test]
fn a_short_segment_counts_as_one() {
    Case {
        algorithm: 7,
        subflows: 5,
        size: 13_001,
        initial_window: 3,
        limited_transmit: true,
        scheduler: PacketScheduler::LowestRtt,
        backup: 53,
        stale_after: 2,
        recovery: LossRecovery::Sack,
        undo: true,
        weather: Weather {
            seed: 6101431456303794795,
            loss: 0.25692006945325024,
            duplication: 0.11213551067746215,
            late: 0.03881189621372024,
            death: Some((S[4], Time::from_us(269))),
            ..plain().weather
        },
        ..plain()
    }
    .run();
}
