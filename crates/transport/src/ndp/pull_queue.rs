//! The pull queue of a receiving host: whose turn it is to be sent a PULL, and when.

use linkpool_units::Time;
use std::collections::VecDeque;

/// The pull queue of a host, one for all connections (section 3.2). PULLs leave it at the pace at
/// which the requested packets fit on the host's link, so that data arrives at line rate. Receivers
/// take turns; receivers with priority go first.
#[derive(Debug, Default)]
pub struct PullQueue {
    /// Receivers that owe PULLs, by class, that of priority first; each is there once.
    waiting: [VecDeque<u32>; 2],
    /// No PULL leaves before.
    free: Time,
}

impl PullQueue {
    /// The receiver `name` owes PULLs; it must not be in the queue.
    pub fn add(&mut self, name: u32, priority: bool) {
        self.waiting[usize::from(!priority)].push_back(name);
    }

    /// When the next PULL may leave; none if no receiver owes any.
    pub fn due(&self) -> Option<Time> {
        (!self.waiting.iter().all(VecDeque::is_empty)).then_some(self.free)
    }

    /// The receiver whose turn it is at `now`, if a PULL may leave. It comes back by
    /// [`PullQueue::add`] if it owes more, and says by [`PullQueue::spend`] that it has sent one.
    pub fn next(&mut self, now: Time) -> Option<u32> {
        if self.free > now {
            return None;
        }
        self.waiting.iter_mut().find_map(VecDeque::pop_front)
    }

    /// A PULL has left at `now` for a packet that takes `time` on the host's link.
    pub fn spend(&mut self, now: Time, time: Time) {
        self.free = now + time;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_paced_and_go_round() {
        let (mut queue, packet) = (PullQueue::default(), Time::from_ns(1200));
        assert_eq!((queue.due(), queue.next(Time::ZERO)), (None, None));
        [1, 2, 3].into_iter().for_each(|name| queue.add(name, false));
        let mut turns = Vec::new();
        let mut now = Time::from_us(7);
        while turns.len() < 7 {
            while let Some(name) = queue.next(now) {
                queue.spend(now, packet);
                turns.push((now - Time::from_us(7), name));
                queue.add(name, false);
            }
            now = queue.due().unwrap();
        }
        let expected: Vec<_> = (0..7).map(|i| (packet * i, 1 + (i % 3) as u32)).collect();
        assert_eq!(turns, expected);
    }

    #[test]
    fn who_has_nothing_to_pull_costs_no_turn() {
        let mut queue = PullQueue::default();
        [1, 2].into_iter().for_each(|name| queue.add(name, false));
        assert_eq!(queue.next(Time::ZERO), Some(1));
        assert_eq!(queue.next(Time::ZERO), Some(2), "1 has sent none");
        queue.spend(Time::ZERO, Time::from_ns(1));
        queue.add(2, false);
        assert_eq!((queue.next(Time::ZERO), queue.due()), (None, Some(Time::from_ns(1))));
    }

    #[test]
    fn priority_goes_first() {
        let mut queue = PullQueue::default();
        queue.add(1, false);
        queue.add(2, true);
        queue.add(3, true);
        let turns: Vec<_> = std::iter::from_fn(|| queue.next(Time::ZERO)).collect();
        assert_eq!(turns, [2, 3, 1]);
    }
}
