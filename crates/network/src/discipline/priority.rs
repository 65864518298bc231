//! Strict priority: two queues, of which the one of high priority is served first.

use super::waiting::{Arrival, Discipline, Verdict};
use crate::link::RareEvents;
use crate::packet::{Flags, Packet};
use crate::thresholds::Thresholds;
use linkpool_units::Time;

/// Two queues, the one of [`Flags::PRIORITY`] first; each has the thresholds.
#[derive(Debug)]
pub(super) struct Priority<D> {
    queues: [D; 2],
    /// Which queue gave the packet that is being transmitted.
    in_service: usize,
}

impl<D> Priority<D> {
    pub(super) fn new(queues: [D; 2]) -> Priority<D> {
        Priority { queues, in_service: 0 }
    }
}

/// The queue of `packet`.
fn class_of(packet: &Packet) -> usize {
    if packet.flags.has(Flags::PRIORITY) { 0 } else { 1 }
}

impl<D: Discipline> Discipline for Priority<D> {
    fn enqueue(&mut self, packet: Packet, arrival: &Arrival<'_>, events: &mut RareEvents) -> Verdict {
        self.queues[class_of(&packet)].enqueue(packet, arrival, events)
    }

    fn dequeue(&mut self, thresholds: &Thresholds, events: &mut RareEvents) -> Option<Packet> {
        self.in_service = self.queues.iter().position(|queue| queue.waiting().0 > 0)?;
        self.queues[self.in_service].dequeue(thresholds, events)
    }

    fn sent(&mut self, now: Time) {
        self.queues[self.in_service].sent(now);
    }

    fn leaves_at_once(&self, thresholds: &Thresholds) -> bool {
        self.queues.iter().all(|queue| queue.leaves_at_once(thresholds))
    }

    fn serve(&mut self, packet: &Packet) {
        self.in_service = class_of(packet);
        self.queues[self.in_service].serve(packet);
    }

    fn give_up(&mut self, now: Time) -> Option<Packet> {
        self.queues.iter_mut().find_map(|queue| queue.give_up(now))
    }

    fn prefetch(&self) {
        self.queues.iter().for_each(D::prefetch);
    }

    fn waiting(&self) -> (u32, u64) {
        let lengths = self.queues.each_ref().map(|queue| queue.waiting());
        (lengths[0].0 + lengths[1].0, lengths[0].1 + lengths[1].1)
    }

    fn counted(&self, thresholds: &Thresholds) -> u32 {
        self.queues.iter().map(|queue| queue.counted(thresholds)).sum()
    }

    fn longest(&self, thresholds: &Thresholds) -> u32 {
        self.queues.iter().map(|queue| queue.longest(thresholds)).max().unwrap_or(0)
    }
}
