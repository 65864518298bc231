//! The queues of a port that pauses: one of control packets, and one of each priority.

use super::waiting::{Arrival, Discipline, Verdict};
use crate::class::{CLASSES, CONTROL, ClassSet, class_of};
use crate::link::RareEvents;
use crate::packet::Packet;
use crate::thresholds::Thresholds;
use linkpool_units::Time;

/// A queue for each class; that with the largest number is served first. Classes that are closed wait.
#[derive(Debug)]
pub(super) struct Classes<D> {
    queues: [D; CLASSES],
    /// Those of which packets wait.
    waiting: ClassSet,
    /// Those of which no packet is dropped here.
    lossless: ClassSet,
    closed: ClassSet,
    /// Which queue gave the packet that is being transmitted.
    in_service: usize,
}

impl<D> Classes<D> {
    pub(super) fn new(queues: [D; CLASSES], mut lossless: ClassSet) -> Classes<D> {
        lossless.set(CONTROL, true);
        let none = ClassSet::default();
        Classes { queues, waiting: none, lossless, closed: none, in_service: 0 }
    }
}

impl<D: Discipline> Discipline for Classes<D> {
    fn enqueue(&mut self, packet: Packet, arrival: &Arrival<'_>, events: &mut RareEvents) -> Verdict {
        let class = class_of(&packet);
        let arrival = Arrival { lossless: self.lossless.has(class), ..*arrival };
        let queue = &mut self.queues[usize::from(class)];
        let verdict = queue.enqueue(packet, &arrival, events);
        self.waiting.set(class, queue.waiting().0 > 0);
        verdict
    }

    fn dequeue(&mut self, thresholds: &Thresholds, events: &mut RareEvents) -> Option<Packet> {
        let class = self.closed.missing(self.waiting).last()?;
        self.in_service = usize::from(class);
        let queue = &mut self.queues[self.in_service];
        let packet = queue.dequeue(thresholds, events);
        self.waiting.set(class, queue.waiting().0 > 0);
        packet
    }

    fn close(&mut self, closed: ClassSet) {
        self.closed = closed;
    }

    fn waits(&self, class: u8) -> bool {
        self.waiting.has(class)
    }

    fn sent(&mut self, now: Time) {
        self.queues[self.in_service].sent(now);
    }

    fn give_up(&mut self, now: Time) -> Option<Packet> {
        let class = self.waiting.last()?;
        let queue = &mut self.queues[usize::from(class)];
        let packet = queue.give_up(now);
        self.waiting.set(class, queue.waiting().0 > 0);
        packet
    }

    fn waiting(&self) -> (u32, u64) {
        let lengths = self.queues.each_ref().map(|queue| queue.waiting());
        lengths.iter().fold((0, 0), |sum, length| (sum.0 + length.0, sum.1 + length.1))
    }

    fn counted(&self, thresholds: &Thresholds) -> u32 {
        self.queues.iter().map(|queue| queue.counted(thresholds)).sum()
    }

    fn longest(&self, thresholds: &Thresholds) -> u32 {
        self.queues.iter().map(|queue| queue.longest(thresholds)).max().unwrap_or(0)
    }
}
