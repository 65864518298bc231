//! The packets of a sender that are not acknowledged: each with its time and its state, those that
//! are to be sent again, and the oldest of those in flight.

use linkpool_units::Time;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// The state of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// Sent, without an answer so far.
    Flying,
    /// To be sent again.
    Queued,
    /// Arrived.
    Acked,
}

/// A packet that was sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    /// When it was sent last.
    pub(super) at: Time,
    /// Bytes of payload.
    pub(super) len: u16,
    /// Its entropy value when it was sent last.
    pub(super) entropy: u16,
    pub(super) place: Place,
    /// How often it was sent again; more than 2 are 2.
    pub(super) again: u8,
}

impl Sent {
    /// Is it known which copy an answer is about: was it sent once, or twice and the answer is to a packet
    /// that was sent `again` (`validateSendTs`)?
    pub(super) fn is_known(&self, again: bool) -> bool {
        self.place == Place::Flying && self.again == u8::from(again)
    }
}

/// Packets from the first that is not acknowledged to the last that was sent.
#[derive(Debug, Default)]
pub(super) struct Outstanding {
    /// The PSN of the first.
    base: u32,
    sent: VecDeque<Sent>,
    /// Times of sending in order, with the PSNs. Those of packets that were answered or sent again
    /// are skipped when they come to the front.
    order: VecDeque<(Time, u32)>,
    /// PSNs that are to be sent again, the lowest first. Those that have arrived are skipped.
    queue: BinaryHeap<Reverse<u32>>,
    /// The number of packets that are to be sent again.
    queued: u32,
}

impl Outstanding {
    /// The PSN of the next new packet.
    pub(super) fn next(&self) -> u32 {
        self.base + self.sent.len() as u32
    }

    /// All packets with lower PSNs have arrived.
    pub(super) fn base(&self) -> u32 {
        self.base
    }

    /// The number of packets that are to be sent again.
    pub(super) fn queued(&self) -> u32 {
        self.queued
    }

    /// The packet `psn`, if it is not below `base` and was sent.
    #[inline]
    pub(super) fn get(&self, psn: u32) -> Option<&Sent> {
        self.sent.get(psn.wrapping_sub(self.base) as usize)
    }

    /// The next new packet is sent, with `len` bytes of payload.
    pub(super) fn send_new(&mut self, len: u16, entropy: u16, now: Time) {
        self.order.push_back((now, self.next()));
        self.sent.push_back(Sent { at: now, len, entropy, place: Place::Flying, again: 0 });
    }

    /// The packet that is to be sent again first: the lowest PSN.
    pub(super) fn first_queued(&mut self) -> Option<(u32, Sent)> {
        while let Some(Reverse(psn)) = self.queue.peek().copied() {
            if let Some(sent) = self.get(psn).filter(|sent| sent.place == Place::Queued) {
                return Some((psn, *sent));
            }
            self.queue.pop();
        }
        None
    }

    /// The packet [`Outstanding::first_queued`], which is `psn`, is sent again.
    pub(super) fn send_again(&mut self, psn: u32, entropy: u16, now: Time) {
        self.queue.pop();
        self.queued -= 1;
        self.order.push_back((now, psn));
        let sent = &mut self.sent[(psn - self.base) as usize];
        *sent = Sent { at: now, entropy, place: Place::Flying, again: (sent.again + 1).min(2), ..*sent };
    }

    /// The flying packet `psn` is to be sent again.
    pub(super) fn queue(&mut self, psn: u32) {
        let sent = &mut self.sent[(psn - self.base) as usize];
        debug_assert!(sent.place == Place::Flying);
        sent.place = Place::Queued;
        self.queue.push(Reverse(psn));
        self.queued += 1;
    }

    /// Packet `psn` has arrived. Returns it as it was before, if it was not known to have arrived.
    #[inline]
    pub(super) fn acknowledge(&mut self, psn: u32) -> Option<Sent> {
        let sent = self.sent.get_mut(psn.wrapping_sub(self.base) as usize)?;
        let before = *sent;
        if before.place == Place::Acked {
            return None;
        }
        sent.place = Place::Acked;
        self.queued -= u32::from(before.place == Place::Queued);
        Some(before)
    }

    /// Forgets the first packet, which has arrived, and returns it.
    #[inline]
    pub(super) fn shift(&mut self) -> Option<Sent> {
        let first = self.sent.pop_front()?;
        self.base += 1;
        Some(first)
    }

    /// The packet in flight that was sent first, and when.
    pub(super) fn oldest(&mut self) -> Option<(Time, u32)> {
        while let Some((at, psn)) = self.order.front().copied() {
            if self.get(psn).is_some_and(|sent| sent.place == Place::Flying && sent.at == at) {
                return Some((at, psn));
            }
            self.order.pop_front();
        }
        None
    }

    /// The packet [`Outstanding::oldest`] is timed no longer; it stays in flight.
    pub(super) fn forget_oldest(&mut self) {
        self.order.pop_front();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets 0 to 4 at 0 to 4 us; 3 and 1 are trimmed, 0 arrives, then 1 although it waits to be sent
    /// again.
    #[test]
    fn the_lowest_is_sent_again_first_and_the_oldest_is_timed() {
        let us = Time::from_us;
        let mut all = Outstanding::default();
        (0..5).for_each(|i| all.send_new(100, i as u16, us(i)));
        assert_eq!((all.next(), all.oldest()), (5, Some((us(0), 0))));
        [3, 1].into_iter().for_each(|psn| all.queue(psn));
        assert_eq!((all.queued(), all.first_queued().map(|(psn, _)| psn)), (2, Some(1)));
        assert_eq!(all.acknowledge(0).map(|sent| (sent.place, sent.at)), Some((Place::Flying, us(0))));
        assert!(all.acknowledge(0).is_none() && all.shift().is_some());
        assert_eq!(all.oldest(), Some((us(2), 2)));
        assert_eq!(all.acknowledge(1).map(|sent| sent.place), Some(Place::Queued));
        assert_eq!((all.queued(), all.first_queued().map(|(psn, _)| psn)), (1, Some(3)));
        all.send_again(3, 77, us(9));
        assert_eq!((all.queued(), all.first_queued().map(|(psn, _)| psn)), (0, None));
        assert_eq!(all.get(3).map(|sent| (sent.at, sent.again, sent.entropy)), Some((us(9), 1, 77)));
        assert!([2, 4].map(|psn| all.acknowledge(psn)).iter().all(Option::is_some));
        assert_eq!(all.oldest(), Some((us(9), 3)));
        all.forget_oldest();
        assert_eq!((all.oldest(), all.get(3).map(|sent| sent.place)), (None, Some(Place::Flying)));
        all.acknowledge(3);
        assert_eq!((all.oldest(), all.get(5).is_none(), all.base()), (None, true, 1));
    }
}
