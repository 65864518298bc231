//! Pacing of several endpoints of a host together: whose turn it is, and when.

use linkpool_units::Time;
use std::collections::VecDeque;

/// A queue of endpoints that each wait to send one packet, one queue for all endpoints of a host.
///
/// Each packet takes time, and the next packet waits until that time has passed. Endpoints take
/// turns, and endpoints with priority go first. It is the pull queue of Handley et al.,
/// SIGCOMM 2017, section 3.2: there a turn is a PULL, and its time is that of the requested packet
/// on the host's link, so that data arrives at line rate.
#[derive(Debug, Default)]
pub struct TurnQueue {
    /// Waiting endpoints by class, the class with priority first. Each endpoint waits once.
    waiting: [VecDeque<u32>; 2],
    /// The earliest time of the next turn.
    free: Time,
}

impl TurnQueue {
    /// Adds the endpoint `name`, which must not be in the queue.
    pub fn add(&mut self, name: u32, priority: bool) {
        self.waiting[usize::from(!priority)].push_back(name);
    }

    /// The earliest time of the next turn; `None` if no endpoint waits.
    pub fn due(&self) -> Option<Time> {
        (!self.waiting.iter().all(VecDeque::is_empty)).then_some(self.free)
    }

    /// Returns the endpoint whose turn it is at `now`, or `None` if it is too early. The endpoint
    /// calls [`TurnQueue::spend`] if it uses the turn, and [`TurnQueue::add`] if it wants another
    /// turn.
    pub fn next(&mut self, now: Time) -> Option<u32> {
        if self.free > now {
            return None;
        }
        self.waiting.iter_mut().find_map(VecDeque::pop_front)
    }

    /// Is a turn to be had at `now`, without another endpoint that waits for it?
    pub fn is_free(&self, now: Time) -> bool {
        self.free <= now && self.waiting.iter().all(VecDeque::is_empty)
    }

    /// The number of endpoints that wait.
    pub fn waiting(&self) -> usize {
        self.waiting.iter().map(VecDeque::len).sum()
    }

    /// So many endpoints without priority, one after another, have had a turn and wait again.
    pub fn rotate(&mut self, turns: u64) {
        let waiting = &mut self.waiting[1];
        if let Some(turns) = turns.checked_rem(waiting.len() as u64) {
            waiting.rotate_left(turns as usize);
        }
    }

    /// The turn at `now` takes `time`.
    pub fn spend(&mut self, now: Time, time: Time) {
        self.free = now + time;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_paced_and_go_round() {
        let (mut queue, packet) = (TurnQueue::default(), Time::from_ns(1200));
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
    fn an_endpoint_with_nothing_to_send_costs_no_turn() {
        let mut queue = TurnQueue::default();
        [1, 2].into_iter().for_each(|name| queue.add(name, false));
        assert_eq!(queue.next(Time::ZERO), Some(1));
        assert_eq!(queue.next(Time::ZERO), Some(2), "1 has sent none");
        queue.spend(Time::ZERO, Time::from_ns(1));
        queue.add(2, false);
        assert_eq!((queue.next(Time::ZERO), queue.due()), (None, Some(Time::from_ns(1))));
    }

    #[test]
    fn turns_that_are_not_used_go_round() {
        let mut queue = TurnQueue::default();
        queue.rotate(3);
        [1, 2, 3].into_iter().for_each(|name| queue.add(name, false));
        queue.rotate(7);
        queue.rotate(0);
        queue.add(4, false);
        let turns: Vec<_> = std::iter::from_fn(|| queue.next(Time::ZERO)).collect();
        assert_eq!(turns, [2, 3, 1, 4]);
    }

    #[test]
    fn priority_goes_first() {
        let mut queue = TurnQueue::default();
        queue.add(1, false);
        queue.add(2, true);
        queue.add(3, true);
        let turns: Vec<_> = std::iter::from_fn(|| queue.next(Time::ZERO)).collect();
        assert_eq!(turns, [2, 3, 1]);
    }
}
