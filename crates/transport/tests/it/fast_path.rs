//! ACKs and data that take a fast path have the effect of those that do not.

use crate::common::channel::{Crossing, Fate, Pair};
use crate::common::{Random, algorithms, cases, config};
use linkpool_transport::{Buffers, Config, Faults, LossRecovery, Multipath, PacketScheduler, Segment, SendBuffer};
use linkpool_units::Time;
use proptest::prelude::*;

/// The segments that both ends of a connection without end send in 20 ms, over a channel that loses,
/// repeats, delays and marks; then what has been delivered, and what had come twice. A fault that acts
/// only at the end of a stream has no effect, but keeps ACKs and data off the fast path.
fn sent(case: &Case, is_fast: bool) -> (Vec<Crossing>, [u64; 2]) {
    let (_, control) = algorithms()[case.algorithm].clone();
    let faults = Faults { fin_timeouts: !is_fast, ..Faults::default() };
    let config = Config {
        subflows: case.subflows,
        multipath: Multipath {
            scheduler: case.scheduler,
            stale_after: case.stale_after,
            faults,
            ..Multipath::default()
        },
        buffers: Buffers { send: case.send_buffer, ..Buffers::default() },
        recovery: case.recovery,
        byte_counting: case.byte_counting,
        limited_transmit: case.limited_transmit,
        undo: case.undo,
        ack_every: case.ack_every,
        push_acks: true,
        initial_ssthresh: 20_000,
        rtt: linkpool_transport::RttConfig { min_rto: Time::from_ms(1), ..config(control.clone()).rtt },
        ..config(control)
    };
    let mut random = Random(case.seed);
    let (loss, jitter, mark) = (case.loss, case.jitter, case.mark);
    let channel = move |c: &Crossing| -> Fate {
        // Without its first SYN a connection waits for a second.
        if c.nth > 0 && random.chance(loss) {
            return vec![];
        }
        let ect = matches!(c.segment, Segment::Data { ect: true, .. });
        let delay = Time::from_us(20 * (1 + u64::from(c.subflow))) + random.time(jitter);
        vec![(delay, ect && random.chance(mark)); 1 + random.chance(loss) as usize]
    };
    let mut pair = Pair::new(config, None, channel);
    let mut all = pair.wire.sent.clone();
    while pair.next_event().is_some_and(|at| at < Time::from_ms(20)) {
        pair.step();
        all.extend(&pair.wire.sent);
    }
    (all, [pair.receiver.delivered(), pair.receiver.duplicate_bytes()])
}

#[derive(Clone, Debug)]
struct Case {
    algorithm: usize,
    recovery: LossRecovery,
    scheduler: PacketScheduler,
    send_buffer: SendBuffer,
    stale_after: u32,
    subflows: usize,
    seed: u64,
    loss: f64,
    mark: f64,
    jitter: Time,
    byte_counting: bool,
    limited_transmit: bool,
    undo: bool,
    ack_every: u32,
}

fn case() -> impl Strategy<Value = Case> {
    let channel = (any::<u64>(), 0.0f64..0.03, 0.0f64..0.2, 0u64..20);
    let settings = (any::<bool>(), any::<bool>(), any::<bool>(), 1u32..=2);
    let recovery =
        prop::sample::select(&[LossRecovery::Reno, LossRecovery::NewReno, LossRecovery::Sack, LossRecovery::Rack][..]);
    let scheduler = prop::sample::select(&[PacketScheduler::RoundRobin, PacketScheduler::LowestTimeToSend][..]);
    let send_buffer = prop::sample::select(&[SendBuffer::UNLIMITED, SendBuffer::Auto, SendBuffer::Fixed(30_000)][..]);
    let kind = (0..algorithms().len(), recovery, 1usize..5);
    let multipath = (scheduler, send_buffer, prop::sample::select(&[1, u32::MAX][..]));
    (kind, multipath, channel, settings).prop_map(|(kind, multipath, channel, settings)| {
        let (algorithm, recovery, subflows) = kind;
        let (scheduler, send_buffer, stale_after) = multipath;
        let (seed, loss, mark, jitter) = channel;
        let (byte_counting, limited_transmit, undo, ack_every) = settings;
        Case {
            algorithm,
            recovery,
            scheduler,
            send_buffer,
            stale_after,
            subflows: if algorithm < 2 { 1 } else { subflows },
            seed,
            loss,
            mark,
            jitter: Time::from_us(jitter),
            byte_counting,
            limited_transmit,
            undo,
            ack_every,
        }
    })
}

/// Two subflows whose send buffer grows with their windows, without losses: it grows at the same ACKs.
#[test]
fn both_ways_grow_the_send_buffer_alike() {
    for seed in 0..16 {
        let case = Case {
            algorithm: 2,
            recovery: LossRecovery::Rack,
            scheduler: PacketScheduler::LowestTimeToSend,
            send_buffer: SendBuffer::Auto,
            stale_after: 1,
            subflows: 2,
            seed,
            loss: if seed % 2 == 0 { 0.0 } else { 0.005 },
            mark: 0.0,
            jitter: Time::from_us(seed),
            byte_counting: true,
            limited_transmit: true,
            undo: true,
            ack_every: 1 + u32::from(seed % 4 < 2),
        };
        assert_eq!(sent(&case, true), sent(&case, false), "{seed}");
    }
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn both_ways_send_the_same(case in case()) {
        let (fast, slow) = (sent(&case, true), sent(&case, false));
        prop_assert!(fast.0.len() > 50, "{}", fast.0.len());
        prop_assert_eq!(fast, slow);
    }
}
