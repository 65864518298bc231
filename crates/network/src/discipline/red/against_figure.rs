//! RED at a port against a slow model: Figure 2 of Floyd and Jacobson (1993), step by step, with the same random numbers.

use super::*;
use crate::link::LinkKind;
use crate::packet::Kind;
use linkpool_engine::stream;
use linkpool_units::{HostId, Rate};
use proptest::prelude::{Just, Strategy, any, prop, prop_assert, prop_assert_eq, prop_oneof, proptest};

#[derive(Clone, Copy, Debug)]
enum Step {
    Comes {
        size: u16,
        is_capable: bool,
    },
    /// The packet in service has left.
    Leaves,
    /// The link fails: what waits is given up.
    Fails,
}

/// Sizes and ECN capability of packets in order, and what the figure knows.
struct Model {
    red: Red,
    counts_in_service: bool,
    limit: usize,
    waiting: Vec<(u32, u16, bool)>,
    serving: Option<u16>,
    average: f64,
    count: f64,
    last_left: Time,
    random: Stream,
}

impl Model {
    fn length(&self) -> (f64, f64) {
        let serving = self.serving.filter(|_| self.counts_in_service);
        let sizes: Vec<u16> = self.waiting.iter().map(|(_, size, _)| *size).chain(serving).collect();
        (sizes.len() as f64, sizes.iter().map(|size| f64::from(*size)).sum())
    }

    /// The threshold's value, and the length of the queue in its unit.
    fn measured(&self) -> (f64, f64, f64) {
        let (packets, bytes) = self.length();
        match (self.red.min, self.red.max) {
            (QueueLimit::Packets(min), QueueLimit::Packets(max)) => (f64::from(min), f64::from(max), packets),
            (QueueLimit::Bytes(min), QueueLimit::Bytes(max)) => (min as f64, max as f64, bytes),
            _ => unreachable!("of one unit"),
        }
    }

    /// Is the packet chosen? `idle` packets might have been sent while nobody was there.
    fn chooses(&mut self, idle: Option<f64>) -> bool {
        let (min, max, length) = self.measured();
        let Red { weight, max_probability, gentle, even, .. } = self.red;
        match idle {
            Some(packets) => self.average *= (1.0 - weight).powf(packets),
            None => self.average += weight * (length - self.average),
        }
        let average = self.average;
        if average < min {
            self.count = -1.0;
            return false;
        }
        let end = if gentle { 2.0 * max } else { max };
        if average >= end {
            self.count = 0.0;
            return true;
        }
        let by_itself = if average < max {
            max_probability * (average - min) / (max - min)
        } else {
            max_probability + (1.0 - max_probability) * (average - max) / max
        };
        if !even {
            return self.random.random::<f64>() < by_itself;
        }
        self.count += 1.0;
        let passed = self.count * by_itself;
        let chosen = passed >= 1.0 || self.random.random::<f64>() < by_itself / (1.0 - passed);
        self.count = if chosen { 0.0 } else { self.count };
        chosen
    }

    /// What becomes of a packet: queued, marked, or neither.
    fn comes(&mut self, now: Time, (number, size, is_capable): (u32, u16, bool)) -> Option<bool> {
        let full = self.limit <= self.length().0 as usize;
        let mut over = false;
        if !self.red.leaving {
            let is_idle = self.waiting.is_empty() && self.serving.is_none();
            // 1,000 B at 10 Gbit/s are 800 ns.
            let idle = is_idle.then(|| (now.0 - self.last_left.0) as f64 / 800_000.0);
            over = self.chooses(idle);
        }
        let marks = is_capable && self.red.action == RedAction::Mark;
        if full || over && !marks {
            return None;
        }
        self.waiting.push((number, size, is_capable));
        Some(over)
    }

    /// The number of the next packet, and whether it is marked as it leaves.
    fn begins(&mut self) -> Option<(u32, bool)> {
        if self.waiting.is_empty() {
            return None;
        }
        let (number, size, is_capable) = self.waiting.remove(0);
        self.serving = Some(size);
        Some((number, self.red.leaving && is_capable && self.chooses(None)))
    }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let comes =
        (64u16..1500, prop::bool::weighted(0.8)).prop_map(|(size, is_capable)| Step::Comes { size, is_capable });
    let step = prop_oneof![12 => comes, 9 => Just(Step::Leaves), 1 => Just(Step::Fails)];
    prop::collection::vec(step, 1..150)
}

proptest! {
    #[test]
    fn red_is_as_the_figure_says(
        steps in steps(),
        (min, more) in (0u32..5, 1u32..5),
        (in_bytes, gentle, even, leaving, counts_in_service, drops) in any::<(bool, bool, bool, bool, bool, bool)>(),
        weight in prop::sample::select(vec![1.0, 0.5, 0.1]),
        max_probability in prop::sample::select(vec![0.2, 0.7, 1.0]),
    ) {
        let length = |n: u32| if in_bytes { QueueLimit::Bytes(700 * u64::from(n)) } else { QueueLimit::Packets(n) };
        let red = Red {
            min: length(min),
            max: length(min + more),
            max_probability,
            weight: if leaving { 1.0 } else { weight },
            gentle,
            even,
            leaving,
            action: if drops && !leaving { RedAction::Drop } else { RedAction::Mark },
            packet: Some(Bytes(1_000)),
        };
        let thresholds = Thresholds { drop_non_ect: true, ..Thresholds::drop_tail(QueueLimit::Packets(12)) };
        let thresholds = Thresholds { uncounted: u32::from(!counts_in_service), ..thresholds };
        let kind = LinkKind::new(Rate::gbps(10), Time::ZERO, thresholds);
        let (mut queue, mut events) = (RedQueue::new(red, stream(1, "red", 0)), RareEvents::default());
        let mut model = Model {
            red, counts_in_service, limit: 12, waiting: Vec::new(), serving: None, average: 0.0, count: -1.0,
            last_left: Time::ZERO, random: stream(1, "red", 0),
        };
        let mut marks = 0;
        for (number, step) in (0..).zip(steps) {
            let now = Time::from_ns(700 * u64::from(number));
            match step {
                Step::Comes { size, is_capable } => {
                    let envelope = Envelope::new(HostId::new(7), size, size - 64);
                    let flags = Flags::default().with_if(Flags::ECT, is_capable);
                    let packet = Packet { seq: number, envelope, flags, kind: Kind::DATA, ..Packet::default() };
                    let arrival = Arrival {
                        now, to: HostId::new(0).into(), kind: &kind, thresholds: &thresholds, buffer: None, lossless: false,
                    };
                    prop_assert_eq!(queue.has_room(size, &arrival), (model.length().0 as usize) < model.limit);
                    let verdict = queue.enqueue(packet, &arrival, &mut events);
                    let expected = model.comes(now, (number, size, is_capable));
                    prop_assert_eq!(matches!(verdict, Verdict::Queued), expected.is_some());
                    marks += u64::from(expected == Some(true));
                }
                Step::Leaves if model.serving.is_some() => {
                    (model.serving, model.last_left) = (None, now);
                    queue.sent(now);
                }
                Step::Leaves => {}
                Step::Fails => {
                    for (number, ..) in std::mem::take(&mut model.waiting) {
                        prop_assert_eq!(queue.give_up(now).map(|packet| packet.seq), Some(number));
                        model.last_left = now;
                    }
                    prop_assert!(queue.give_up(now).is_none());
                }
            }
            if model.serving.is_none() {
                let expected = model.begins();
                let next = queue.dequeue(&thresholds, &mut events);
                prop_assert_eq!(next.map(|packet| packet.seq), expected.map(|(number, _)| number));
                if let Some((_, is_marked)) = expected {
                    marks += u64::from(is_marked);
                    prop_assert!(!is_marked || next.is_some_and(|packet| packet.flags.has(Flags::CE)));
                }
            }
            prop_assert_eq!(events.marks, marks);
            prop_assert_eq!(f64::from(queue.counted(&thresholds)), model.length().0);
            let first = model.waiting.first().map(|(_, size, _)| *size);
            prop_assert_eq!((queue.waiting().0 as usize, queue.first_size()), (model.waiting.len(), first));
        }
    }
}
