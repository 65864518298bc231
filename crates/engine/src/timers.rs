use linkpool_units::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The timers of one node: (when, key), soonest first, equal times by key.
///
/// Nothing is ever cancelled here: whoever is woken looks whether its deadline has come, and if it has been put off
/// meanwhile, asks again. A retransmission timer that every ACK restarts thus costs a comparison per ACK.
#[derive(Debug)]
pub struct Timers {
    /// The soonest, beside the heap: every visit of a node asks for it, and few take anything out.
    next: Time,
    heap: BinaryHeap<Reverse<(Time, u64)>>,
}

impl Default for Timers {
    fn default() -> Timers {
        Timers { next: Time::MAX, heap: BinaryHeap::new() }
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

    /// Takes the soonest.
    #[inline]
    pub fn pop(&mut self) -> Option<(Time, u64)> {
        let soonest = self.heap.pop().map(|Reverse(entry)| entry);
        self.next = self.heap.peek().map_or(Time::MAX, |Reverse((at, _))| *at);
        soonest
    }
}
