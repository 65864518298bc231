//! Packets that find nobody leave at once, without passing the queues, as they would have left if they had passed them.

use super::classes::{ClassPolicy, Classes};
use super::fifo::Fifo;
use super::priority::Priority;
use super::red::{Red, RedAction, RedQueue};
use super::trimming::{Trimming, TrimmingQueue};
use super::{Arrival, Discipline, Marking, Verdict};
use crate::class::ClassSet;
use crate::fabric::LinkId;
use crate::link::{LinkKind, RareEvents};
use crate::packet::{Envelope, Flags, Kind, Packet};
use crate::queue_limit::QueueLimit;
use crate::thresholds::Thresholds;
use linkpool_engine::stream;
use linkpool_settings::{Preset, Settings as _};
use linkpool_units::{Bytes, HostId, Rate, Time};
use proptest::prelude::*;

/// A packet comes, or that in service has left.
#[derive(Clone, Copy, Debug)]
enum Event {
    Comes(Packet),
    Left,
}

/// What is transmitted, what is refused and cut, and the longest queue, if packets that find nobody leave `at_once` or pass the
/// queues; and how many do.
fn transmitted<D: Discipline>(
    mut queues: D,
    thresholds: Thresholds,
    events: &[Event],
    at_once: bool,
) -> ((Vec<String>, u32, u64), usize) {
    let kind = LinkKind::new(Rate::gbps(10), Time::ZERO, thresholds);
    let (mut rare, mut out, mut serving, mut longest, mut alone) = (RareEvents::default(), Vec::new(), false, 0, 0);
    let leaves = queues.leaves_at_once(&thresholds);
    assert!(!queues.passes(&thresholds) || leaves);
    for (number, event) in (0..).zip(events) {
        let now = Time::from_us(number);
        match event {
            Event::Comes(packet) => {
                let packet = Packet { seq: number as u32, ..*packet };
                if at_once && leaves && !serving {
                    alone += 1;
                    serving = true;
                    // Where packets pass, the queues are not told.
                    if !queues.passes(&thresholds) {
                        queues.serve(&packet);
                    }
                    out.push(format!("{packet:?}"));
                } else {
                    let to = HostId::new(0).into();
                    let arrival =
                        Arrival { now, to, kind: &kind, thresholds: &thresholds, buffer: None, lossless: false };
                    let verdict = queues.enqueue(packet, &arrival, &mut rare);
                    if !matches!(verdict, Verdict::Queued) {
                        out.push(format!("{verdict:?}"));
                    }
                }
            }
            Event::Left if serving => {
                serving = false;
                if !at_once || !queues.passes(&thresholds) {
                    queues.sent(now);
                }
            }
            Event::Left => {}
        }
        if !serving && let Some(packet) = queues.dequeue(&thresholds, &mut rare) {
            serving = true;
            out.push(format!("{packet:?}"));
        }
        longest = longest.max(queues.longest(&thresholds));
    }
    ((out, longest, rare.marks + 1_000 * rare.trims), alone)
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let flags = prop::sample::select(vec![Flags::ECT, Flags::ECT | Flags::TRIMMABLE, Flags::default()]);
    let kinds = prop::sample::select(vec![Kind::DATA, Kind::DATA, Kind::ACK]);
    let comes = (flags, kinds, 64u16..1500, 0u8..8).prop_map(|(flags, kind, size, priority)| {
        let payload = if kind == Kind::DATA { size - 64 } else { 0 };
        let envelope = Envelope::new(HostId::new(7), size, payload);
        let mut packet = Packet { envelope, flags, kind, ..Packet::default() };
        packet.set_priority(priority);
        Event::Comes(packet)
    });
    prop::collection::vec(prop_oneof![3 => comes, 3 => Just(Event::Left)], 1..120)
}

proptest! {
    /// Of all disciplines, with thresholds of a few packets or bytes that count the packet in service or not.
    #[test]
    fn who_finds_nobody_need_not_pass_the_queues(
        events in events(),
        (limit, mark) in (1u32..9, 0u32..6),
        (counts_in_service, in_bytes, marks_leaving) in any::<(bool, bool, bool)>(),
        (min, even) in (0u32..4, any::<bool>()),
    ) {
        let length = |n: u32| if in_bytes { QueueLimit::Bytes(900 * u64::from(n)) } else { QueueLimit::Packets(n) };
        let thresholds = Thresholds::drop_tail(length(limit + 2)).marking(length(mark), false);
        let thresholds = Thresholds { uncounted: u32::from(!counts_in_service), ..thresholds };
        let random = |n| stream(1, "at once", n);
        let fifo = || Fifo::new(marks_leaving);
        let priority = || Priority::new([fifo(), fifo()]);
        let trimming = || {
            let marks = (mark > 0).then_some((Bytes(400), Bytes(3_000))).unzip();
            let trimming = Trimming { mark_min: marks.0, mark_max: marks.1, ..Trimming::defaults(Preset::Linux) };
            TrimmingQueue::new(trimming, random(0))
        };
        let red = Red {
            min: length(min),
            max: length(min + 3),
            max_probability: 0.7,
            weight: 1.0,
            leaving: marks_leaving,
            even,
            action: RedAction::Mark,
            packet: Some(Bytes(1_500)),
            ..Red::defaults(Preset::Linux)
        };
        let class = |bits, marking, quantum| ClassPolicy {
            priorities: ClassSet::of(bits),
            thresholds,
            marking,
            lossless: bits == 0x0f,
            trims: bits == 0xf0,
            quantum,
        };
        let classes = |quantum| {
            let policies = [class(0x0f, Marking::Red(red), quantum), class(0xf0, Marking::AtDequeue, quantum)];
            Classes::new(&policies, thresholds, (LinkId::new(3), 1))
        };
        macro_rules! compare {
            ($make:expr) => {{
                let (slow, none) = transmitted($make, thresholds, &events, false);
                let (fast, alone) = transmitted($make, thresholds, &events, true);
                prop_assert_eq!((&fast, none), (&slow, 0));
                alone
            }};
        }
        let alone = [
            compare!(fifo()),
            compare!(priority()),
            compare!(trimming()),
            compare!(RedQueue::new(red, random(1))),
            compare!(classes(None)),
            compare!(classes(Some(1_500))),
        ];
        let comes = events.iter().any(|event| matches!(event, Event::Comes(_)));
        if comes && mark > 1 && !in_bytes {
            let counts_itself = counts_in_service && marks_leaving;
            prop_assert!(alone[..2].iter().all(|alone| (*alone > 0) != counts_itself));
            prop_assert_eq!(alone[3] > 0, marks_leaving && !even && min > 0 && !counts_in_service);
            prop_assert_eq!(alone[5], 0, "where queues take turns, it passes them");
        }
    }
}
