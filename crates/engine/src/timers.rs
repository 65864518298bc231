//! Timers of a node, in a heap with the soonest beside it.

use linkpool_units::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The timers of one node: (when, key), soonest first, equal times by key.
///
/// A single timer is never cancelled. A woken endpoint checks whether its deadline has come, and
/// asks again if the deadline has moved. So a retransmission timer that every ACK restarts costs
/// one comparison per ACK. [`Timers::tidy`] removes the timers of closed connections, many at a
/// time.
#[derive(Debug)]
pub struct Timers {
    /// The soonest, beside the heap: every visit of a node asks for it, and few take anything out.
    next: Time,
    heap: BinaryHeap<Reverse<(Time, u64)>>,
    /// With this many timers, [`Timers::tidy`] checks which are still wanted.
    crowd: usize,
}

/// With fewer timers than this, tidying is not worth its cost.
const FEW: usize = 64;

impl Default for Timers {
    fn default() -> Timers {
        Timers { next: Time::MAX, heap: BinaryHeap::new(), crowd: FEW }
    }
}

impl Timers {
    /// Wakes `key` at `at`.
    #[inline]
    pub fn push(&mut self, at: Time, key: u64) {
        self.next = self.next.min(at);
        self.heap.push(Reverse((at, key)));
    }

    /// When the soonest is due; [`Time::MAX`] if there is none.
    #[inline]
    pub fn next(&self) -> Time {
        self.next
    }

    /// The soonest, which stays.
    pub fn peek(&self) -> Option<(Time, u64)> {
        self.heap.peek().map(|Reverse(entry)| *entry)
    }

    /// Takes the soonest.
    #[inline]
    pub fn pop(&mut self) -> Option<(Time, u64)> {
        let soonest = self.heap.pop().map(|Reverse(entry)| entry);
        self.look();
        soonest
    }

    /// Something may have left the heap: which is the soonest now?
    #[inline]
    fn look(&mut self) {
        self.next = self.heap.peek().map_or(Time::MAX, |Reverse((at, _))| *at);
    }

    /// Removes timers whose keys are not `wanted`, once there are twice as many as the last check
    /// left. The cost is that of a few pushes for each removed timer.
    #[inline]
    pub fn tidy(&mut self, wanted: impl Fn(u64) -> bool) {
        if self.heap.len() < self.crowd {
            return;
        }
        self.heap.retain(|Reverse((_, key))| wanted(*key));
        self.look();
        self.crowd = FEW.max(2 * self.heap.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Wanted timers expire as if there were no others, and the others do not accumulate.
        #[test]
        fn what_is_wanted_stays(
            ops in prop::collection::vec((0u64..1000, 0u64..40, prop::bool::weighted(0.3)), 1..2000),
        ) {
            let wanted = |key: u64| key.is_multiple_of(8);
            let (mut timers, mut alone) = (Timers::default(), Timers::default());
            for (at, key, pop) in ops {
                timers.push(Time(at), key);
                timers.tidy(wanted);
                if wanted(key) {
                    alone.push(Time(at), key);
                }
                prop_assert!(timers.heap.len() < timers.crowd);
                prop_assert!(timers.next() <= alone.next());
                if pop && let Some(soonest) = alone.pop() {
                    let found = std::iter::from_fn(|| timers.pop()).find(|(_, key)| wanted(*key));
                    prop_assert_eq!(found, Some(soonest));
                }
            }
        }
    }

    #[test]
    fn a_crowd_is_forgotten_when_it_has_doubled() {
        let mut timers = Timers::default();
        for i in 0..63 {
            timers.push(Time(i), 1);
            timers.tidy(|_| false);
        }
        assert_eq!((timers.heap.len(), timers.next()), (63, Time(0)));
        timers.push(Time(100), 2);
        timers.tidy(|key| key == 2);
        assert_eq!((timers.heap.len(), timers.next()), (1, Time(100)));
        assert_eq!((timers.pop(), timers.next()), (Some((Time(100), 2)), Time::MAX));
    }

    /// Of 64, 50 stay: the next look is at 100.
    #[test]
    fn those_who_stay_are_not_looked_at_until_there_are_twice_as_many() {
        let mut timers = Timers::default();
        for i in 0..113 {
            timers.push(Time(i), i);
            timers.tidy(|key| key < 50);
        }
        assert_eq!(timers.heap.len(), 50 + 49);
        timers.push(Time(113), 113);
        timers.tidy(|key| key < 50);
        assert_eq!(timers.heap.len(), 50);
    }
}
