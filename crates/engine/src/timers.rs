//! Timers of nodes: a heap for each node, with the soonest of all nodes side by side.

use linkpool_units::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The timers of all nodes: (when, key), soonest first, equal times by key.
///
/// A single timer is never cancelled. A woken endpoint checks whether its deadline has come, and
/// asks again if the deadline has moved. So a retransmission timer that every ACK restarts costs
/// one comparison per ACK. [`Timers::tidy`] removes the timers of closed connections, many at a
/// time.
#[derive(Debug)]
pub struct Timers {
    /// By node, when the soonest is due. Every visit of a node asks for it, and few take anything
    /// out: so it is apart from the heaps, where eight nodes share a cache line.
    next: Vec<Time>,
    nodes: Vec<OfNode>,
}

/// The timers of one node.
#[derive(Clone, Debug)]
struct OfNode {
    heap: BinaryHeap<Reverse<(Time, u64)>>,
    /// With this many timers, [`Timers::tidy`] checks which are still wanted.
    crowd: usize,
}

/// With fewer timers than this, tidying is not worth its cost.
const FEW: usize = 64;

impl Timers {
    /// For this many nodes, none of which has a timer.
    pub fn new(nodes: usize) -> Timers {
        Timers { next: vec![Time::MAX; nodes], nodes: vec![OfNode { heap: BinaryHeap::new(), crowd: FEW }; nodes] }
    }

    /// Wakes `key` of `node` at `at`.
    #[inline]
    pub fn push(&mut self, node: usize, at: Time, key: u64) {
        self.next[node] = self.next[node].min(at);
        self.nodes[node].heap.push(Reverse((at, key)));
    }

    /// When the soonest timer of `node` is due; [`Time::MAX`] if there is none.
    #[inline]
    pub fn next(&self, node: usize) -> Time {
        self.next[node]
    }

    /// The soonest of `node`, which stays.
    pub fn peek(&self, node: usize) -> Option<(Time, u64)> {
        self.nodes[node].heap.peek().map(|Reverse(entry)| *entry)
    }

    /// Takes the soonest of `node`.
    #[inline]
    pub fn pop(&mut self, node: usize) -> Option<(Time, u64)> {
        let soonest = self.nodes[node].heap.pop().map(|Reverse(entry)| entry);
        self.look(node);
        soonest
    }

    /// Something may have left the heap of `node`: which is the soonest now?
    #[inline]
    fn look(&mut self, node: usize) {
        self.next[node] = self.peek(node).map_or(Time::MAX, |(at, _)| at);
    }

    /// Removes timers of `node` whose keys are not `wanted`, once there are twice as many as the
    /// last check left. The cost is that of a few pushes for each removed timer.
    #[inline]
    pub fn tidy(&mut self, node: usize, wanted: impl Fn(u64) -> bool) {
        let OfNode { heap, crowd } = &mut self.nodes[node];
        if heap.len() < *crowd {
            return;
        }
        heap.retain(|Reverse((_, key))| wanted(*key));
        *crowd = FEW.max(2 * heap.len());
        self.look(node);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// One of three nodes.
    const NODE: usize = 1;

    proptest! {
        /// Wanted timers expire as if there were no others, and the others do not accumulate.
        #[test]
        fn what_is_wanted_stays(
            ops in prop::collection::vec((0u64..1000, 0u64..40, prop::bool::weighted(0.3)), 1..2000),
        ) {
            let wanted = |key: u64| key.is_multiple_of(8);
            let (mut timers, mut alone) = (Timers::new(3), Timers::new(1));
            for (at, key, pop) in ops {
                timers.push(NODE, Time(at), key);
                timers.tidy(NODE, wanted);
                if wanted(key) {
                    alone.push(0, Time(at), key);
                }
                prop_assert!(timers.nodes[NODE].heap.len() < timers.nodes[NODE].crowd);
                prop_assert!(timers.next(NODE) <= alone.next(0));
                if pop && let Some(soonest) = alone.pop(0) {
                    let found = std::iter::from_fn(|| timers.pop(NODE)).find(|(_, key)| wanted(*key));
                    prop_assert_eq!(found, Some(soonest));
                }
            }
            prop_assert_eq!([timers.next(0), timers.next(2)], [Time::MAX; 2]);
        }
    }

    #[test]
    fn a_crowd_is_forgotten_when_it_has_doubled() {
        let mut timers = Timers::new(3);
        for i in 0..63 {
            timers.push(NODE, Time(i), 1);
            timers.tidy(NODE, |_| false);
        }
        assert_eq!((timers.nodes[NODE].heap.len(), timers.next(NODE)), (63, Time(0)));
        timers.push(NODE, Time(100), 2);
        timers.tidy(NODE, |key| key == 2);
        assert_eq!((timers.nodes[NODE].heap.len(), timers.next(NODE)), (1, Time(100)));
        assert_eq!((timers.pop(NODE), timers.next(NODE)), (Some((Time(100), 2)), Time::MAX));
    }

    /// Of 64, 50 stay: the next look is at 100.
    #[test]
    fn those_who_stay_are_not_looked_at_until_there_are_twice_as_many() {
        let mut timers = Timers::new(3);
        for i in 0..113 {
            timers.push(NODE, Time(i), i);
            timers.tidy(NODE, |key| key < 50);
        }
        assert_eq!(timers.nodes[NODE].heap.len(), 50 + 49);
        timers.push(NODE, Time(113), 113);
        timers.tidy(NODE, |key| key < 50);
        assert_eq!(timers.nodes[NODE].heap.len(), 50);
    }
}
