//! The queues of a port that pauses: one of control packets, and one of each priority.

use super::waiting::{Arrival, Discipline, Verdict};
use crate::class::{CLASSES, CONTROL, ClassSet, class_of};
use crate::link::RareEvents;
use crate::packet::Packet;
use crate::thresholds::Thresholds;
use linkpool_units::Time;

/// A queue for each class, served in this order. Classes that are closed wait.
#[derive(Debug)]
pub(super) struct Classes<D> {
    queues: [D; CLASSES],
    /// Those of which no packet is dropped here.
    lossless: ClassSet,
    closed: ClassSet,
    /// Which queue gave the packet that is being transmitted.
    in_service: usize,
}

impl<D> Classes<D> {
    pub(super) fn new(queues: [D; CLASSES], mut lossless: ClassSet) -> Classes<D> {
        lossless.set(CONTROL, true);
        Classes { queues, lossless, closed: ClassSet::default(), in_service: 0 }
    }
}

impl<D: Discipline> Discipline for Classes<D> {
    fn enqueue(&mut self, packet: Packet, arrival: &Arrival<'_>, events: &mut RareEvents) -> Verdict {
        let class = class_of(&packet);
        let arrival = Arrival { lossless: self.lossless.has(class), ..*arrival };
        self.queues[usize::from(class)].enqueue(packet, &arrival, events)
    }

    fn dequeue(&mut self, thresholds: &Thresholds, events: &mut RareEvents) -> Option<Packet> {
        let mut queues = (0..).zip(&self.queues);
        let (class, _) = queues.find(|(class, queue)| queue.waiting().0 > 0 && !self.closed.has(*class))?;
        self.in_service = usize::from(class);
        self.queues[self.in_service].dequeue(thresholds, events)
    }

    fn close(&mut self, closed: ClassSet) {
        self.closed = closed;
    }

    fn waits(&self, class: u8) -> bool {
        self.queues[usize::from(class)].waiting().0 > 0
    }

    fn sent(&mut self, now: Time) {
        self.queues[self.in_service].sent(now);
    }

    fn give_up(&mut self, now: Time) -> Option<Packet> {
        self.queues.iter_mut().find_map(|queue| queue.give_up(now))
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
