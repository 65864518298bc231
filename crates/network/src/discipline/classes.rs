//! The queues of a port by class of packets: one of control packets, which is served first, and those of
//! data by its priority.

use super::fifo::Fifo;
use super::red::RedQueue;
use super::round_robin::RoundRobin;
use super::waiting::{Arrival, Discipline, Verdict};
use super::{Marking, red_stream};
use crate::class::{CLASSES, CONTROL, ClassSet, class_of};
use crate::fabric::LinkId;
use crate::link::RareEvents;
use crate::packet::{Flags, Packet};
use crate::thresholds::Thresholds;
use linkpool_units::Time;

/// A class of packets with data, as a port has it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct ClassPolicy {
    /// Its priorities.
    pub(crate) priorities: ClassSet,
    pub(crate) thresholds: Thresholds,
    pub(crate) marking: Marking,
    /// Is none of its packets dropped here?
    pub(crate) lossless: bool,
    /// Are packets trimmed that have no room?
    pub(crate) trims: bool,
    /// Bytes of a turn in which it sends; none: it has strict priority.
    pub(crate) quantum: Option<u32>,
}

impl ClassPolicy {
    /// Classes of which that with the larger priority is served first; a class that is lossless has no other priority.
    pub(super) fn strict(lossless: ClassSet, thresholds: Thresholds, marking: Marking) -> [ClassPolicy; 2] {
        use crate::class::{HIGH, LOW};
        let of = |bits, priority| ClassPolicy {
            priorities: ClassSet::of(bits),
            thresholds,
            marking,
            lossless: lossless.has(priority),
            trims: false,
            quantum: None,
        };
        [of(0x7f, LOW), of(0x80, HIGH)]
    }
}

/// A queue for each class. Queues with a larger number are served first, but for the first ones, which take turns.
/// Classes that are closed wait.
#[derive(Debug)]
pub(super) struct Classes {
    queues: Vec<Queue>,
    /// By class: the number of its queue.
    queue_of: [u8; CLASSES],
    /// The queues in which packets wait.
    waiting: ClassSet,
    /// The queues that are closed.
    closed: ClassSet,
    packets: u32,
    bytes: u64,
    /// Those of the first queues that take turns.
    in_turn: ClassSet,
    turns: RoundRobin,
    /// Which queue gave the packet that is being transmitted.
    in_service: usize,
}

/// The queue of a class.
#[derive(Debug)]
struct Queue {
    packets: Packets,
    thresholds: Thresholds,
    lossless: bool,
    trims: bool,
}

/// Packets that wait, by how they are marked.
#[derive(Debug)]
enum Packets {
    Fifo(Fifo),
    Red(RedQueue),
}

/// What is asked of either kind.
macro_rules! either {
    ($of:expr, $packets:ident => $asked:expr) => {
        match $of {
            Packets::Fifo($packets) => $asked,
            Packets::Red($packets) => $asked,
        }
    };
}

impl Queue {
    fn new(of: &ClassPolicy, name: u8, (link, seed): (LinkId, u64)) -> Queue {
        let packets = match of.marking {
            Marking::AtEnqueue => Packets::Fifo(Fifo::new(false)),
            Marking::AtDequeue => Packets::Fifo(Fifo::new(true)),
            Marking::Red(red) => Packets::Red(RedQueue::new(red, red_stream(name, link, seed))),
        };
        Queue { packets, thresholds: of.thresholds, lossless: of.lossless, trims: of.trims }
    }

    fn waits(&self) -> bool {
        self.waiting().0 > 0
    }

    fn waiting(&self) -> (u32, u64) {
        either!(&self.packets, packets => packets.waiting())
    }

    fn counted(&self) -> u32 {
        either!(&self.packets, packets => packets.counted(&self.thresholds))
    }

    fn first_size(&self) -> u16 {
        either!(&self.packets, packets => packets.first_size()).unwrap_or(0)
    }

    fn enqueue(&mut self, packet: Packet, arrival: &Arrival<'_>, events: &mut RareEvents) -> Verdict {
        let arrival = Arrival { lossless: self.lossless, thresholds: &self.thresholds, ..*arrival };
        either!(&mut self.packets, packets => packets.enqueue(packet, &arrival, events))
    }
}

impl Classes {
    /// The queues of `classes`, which have all priorities; control packets have `thresholds` and `marking`.
    pub(super) fn new(
        classes: &[ClassPolicy],
        (thresholds, marking): (Thresholds, Marking),
        place: (LinkId, u64),
    ) -> Classes {
        let mut classes = classes.to_vec();
        // Those that take turns come first, and of the others those with the larger priority come last.
        classes.sort_by_key(|class| (class.quantum.is_none(), class.priorities.last()));
        let quanta: Vec<u32> = classes.iter().filter_map(|class| class.quantum).collect();
        let control = ClassPolicy {
            priorities: ClassSet::of(1 << CONTROL),
            lossless: true,
            trims: false,
            quantum: None,
            thresholds,
            marking,
        };
        classes.push(control);
        let mut queue_of = [0; CLASSES];
        for (number, class) in (0..).zip(&classes) {
            (0..CLASSES as u8).filter(|of| class.priorities.has(*of)).for_each(|of| queue_of[usize::from(of)] = number);
        }
        let none = ClassSet::default();
        Classes {
            queues: classes
                .iter()
                .map(|class| Queue::new(class, class.priorities.first().unwrap_or(0), place))
                .collect(),
            queue_of,
            waiting: none,
            closed: none,
            packets: 0,
            bytes: 0,
            in_turn: ClassSet::of((1 << quanta.len()) - 1),
            turns: RoundRobin::new(&quanta),
            in_service: 0,
        }
    }

    /// Does `change` at the queue with this number, and counts what waits then.
    #[inline]
    fn at<T>(&mut self, number: u8, change: impl FnOnce(&mut Queue) -> T) -> T {
        let queue = &mut self.queues[usize::from(number)];
        let before = queue.waiting();
        let done = change(queue);
        let after = queue.waiting();
        self.packets = self.packets + after.0 - before.0;
        self.bytes = self.bytes + after.1 - before.1;
        self.waiting.set(number, after.0 > 0);
        done
    }
}

impl Discipline for Classes {
    fn enqueue(&mut self, packet: Packet, arrival: &Arrival<'_>, events: &mut RareEvents) -> Verdict {
        let number = self.queue_of[usize::from(class_of(&packet))];
        let verdict = self.at(number, |queue| queue.enqueue(packet, arrival, events));
        match verdict {
            Verdict::Dropped(packet)
                if self.queues[usize::from(number)].trims && packet.flags.has(Flags::TRIMMABLE) =>
            {
                events.trims += 1;
                let header = packet.trimmed();
                let control = self.queue_of[usize::from(CONTROL)];
                self.at(control, |queue| queue.enqueue(header, arrival, events));
                Verdict::Trimmed(header)
            }
            verdict => verdict,
        }
    }

    fn dequeue(&mut self, _: &Thresholds, events: &mut RareEvents) -> Option<Packet> {
        let ready = self.closed.missing(self.waiting);
        let mut number = ready.last()?;
        if self.in_turn.has(number) {
            let queues = &self.queues;
            number = self.turns.next(ready, |queue| queues[queue].first_size()) as u8;
        }
        self.in_service = usize::from(number);
        let packet = self.at(
            number,
            |Queue { packets, thresholds, .. }| either!(packets, packets => packets.dequeue(thresholds, events)),
        )?;
        if self.in_turn.has(number) {
            self.turns.spend(packet.size());
        }
        Some(packet)
    }

    fn close(&mut self, closed: ClassSet) {
        self.closed = ClassSet::default();
        for class in (0..CLASSES as u8).filter(|class| closed.has(*class)) {
            self.closed.set(self.queue_of[usize::from(class)], true);
        }
    }

    fn waits(&self, class: u8) -> bool {
        self.queues[usize::from(self.queue_of[usize::from(class)])].waits()
    }

    fn held(&self) -> u64 {
        (0..).zip(&self.queues).filter(|(number, _)| self.closed.has(*number)).map(|(_, queue)| queue.waiting().1).sum()
    }

    fn sent(&mut self, now: Time) {
        either!(&mut self.queues[self.in_service].packets, packets => packets.sent(now));
    }

    fn give_up(&mut self, now: Time) -> Option<Packet> {
        let number = self.waiting.last()?;
        self.at(number, |queue| either!(&mut queue.packets, packets => packets.give_up(now)))
    }

    fn waiting(&self) -> (u32, u64) {
        (self.packets, self.bytes)
    }

    fn counted(&self, _: &Thresholds) -> u32 {
        self.queues.iter().map(Queue::counted).sum()
    }

    fn longest(&self, _: &Thresholds) -> u32 {
        self.queues.iter().map(Queue::counted).max().unwrap_or(0)
    }
}
