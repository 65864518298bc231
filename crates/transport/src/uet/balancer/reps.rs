//! REPS: entropy values that came back without a mark are used again (uec_mp.cpp, `UecMpReps` and
//! `UecMpRepsLegacy`; buffer_reps.cpp).

use super::Feedback;
use linkpool_units::Time;
use std::collections::VecDeque;

/// Values that are remembered (`repsBufferSize`).
const REMEMBERED: usize = 8;
/// Packets with random values after that (`explore_counter`).
const EXPLORING: u8 = 16;

/// A ring of the values that came back last.
#[derive(Debug)]
pub struct Reps {
    entropies: u16,
    /// The time after a timeout in which only remembered values are used; zero: none (`exit_freeze_after`).
    freezing: Time,
    ring: [u16; REMEMBERED],
    /// Has the value come back since it was used last?
    fresh: [bool; REMEMBERED],
    /// The place of the next value that comes back, and the number of places that have one.
    head: u8,
    count: u8,
    /// The place of the next value while frozen.
    frozen_head: u8,
    frozen_until: Option<Time>,
    exploring: u8,
}

impl Reps {
    pub(super) fn new(entropies: u16, freezing: Time) -> Reps {
        Reps {
            entropies,
            freezing,
            ring: [0; REMEMBERED],
            fresh: [false; REMEMBERED],
            head: 0,
            count: 0,
            frozen_head: 0,
            frozen_until: None,
            exploring: 0,
        }
    }

    /// The value that came back first of those that are fresh, or a random one; while frozen, the
    /// remembered ones by turns.
    pub(super) fn next(&mut self, mut random: impl FnMut(u32) -> u32) -> u16 {
        let any = u32::from(self.entropies);
        if self.exploring > 0 {
            self.exploring -= 1;
            return random(any) as u16;
        }
        let place = match self.frozen_until {
            Some(_) if self.count > 0 => {
                let place = usize::from(self.frozen_head);
                self.frozen_head = (self.frozen_head + 1) % self.count;
                Some(place)
            }
            Some(_) => None,
            None => (0..REMEMBERED).map(|i| (usize::from(self.head) + i) % REMEMBERED).find(|place| self.fresh[*place]),
        };
        match place {
            Some(place) => {
                self.fresh[place] = false;
                self.ring[place]
            }
            None => random(any) as u16,
        }
    }

    pub(super) fn on_feedback(&mut self, entropy: u16, feedback: Feedback, now: Time) {
        let freezes = self.freezing > Time::ZERO;
        if feedback == Feedback::Lost && freezes && self.frozen_until.is_none() && self.exploring == 0 {
            self.frozen_until = Some(now + self.freezing);
        }
        if self.frozen_until.is_some_and(|until| now > until) {
            *self = Reps { exploring: EXPLORING, ..Reps::new(self.entropies, self.freezing) };
        }
        if feedback == Feedback::Good {
            let place = usize::from(self.head);
            (self.ring[place], self.fresh[place]) = (entropy, true);
            self.head = (self.head + 1) % REMEMBERED as u8;
            self.count = (self.count + 1).min(REMEMBERED as u8);
        }
    }
}

/// REPS in its older form: all values that came back, first come, first used.
#[derive(Debug)]
pub struct Recycled {
    entropies: u16,
    last: u16,
    back: VecDeque<u16>,
}

impl Recycled {
    pub(super) fn new(entropies: u16) -> Recycled {
        Recycled { entropies, last: 0, back: VecDeque::new() }
    }

    /// In the first window one value after the other; then the values that came back, or a random one.
    pub(super) fn next(&mut self, first_window: bool, mut random: impl FnMut(u32) -> u32) -> u16 {
        if first_window {
            self.last = (self.last + 1) % self.entropies;
            return self.last;
        }
        self.take().unwrap_or_else(|| random(self.entropies.into()) as u16)
    }

    /// The value that came back first.
    pub(super) fn take(&mut self) -> Option<u16> {
        self.back.pop_front()
    }

    pub(super) fn on_feedback(&mut self, entropy: u16, feedback: Feedback) {
        if feedback == Feedback::Good {
            self.back.push_back(entropy);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RANDOM: u16 = 99;

    fn next(reps: &mut Reps, n: usize) -> Vec<u16> {
        (0..n).map(|_| reps.next(|_| RANDOM.into())).collect()
    }

    /// Of ten values that came back, the last eight are remembered, the oldest first, each used once.
    #[test]
    fn values_are_used_in_the_order_in_which_they_came_back() {
        let mut reps = Reps::new(128, Time::from_ms(10));
        assert_eq!(next(&mut reps, 1), [RANDOM]);
        for entropy in 1..=10 {
            reps.on_feedback(entropy, Feedback::Good, Time::ZERO);
            reps.on_feedback(50, Feedback::Marked, Time::ZERO);
        }
        assert_eq!(next(&mut reps, 3), [3, 4, 5]);
        reps.on_feedback(11, Feedback::Good, Time::ZERO);
        assert_eq!(next(&mut reps, 7), [6, 7, 8, 9, 10, 11, RANDOM]);
    }

    /// After a timeout the remembered values go round for 10 ms, fresh or not; then 16 are random.
    #[test]
    fn a_timeout_freezes() {
        let mut reps = Reps::new(128, Time::from_ms(10));
        for entropy in [5, 6, 7] {
            reps.on_feedback(entropy, Feedback::Good, Time::ZERO);
        }
        assert_eq!(next(&mut reps, 3), [5, 6, 7]);
        reps.on_feedback(1, Feedback::Lost, Time::from_us(1));
        assert_eq!(next(&mut reps, 5), [5, 6, 7, 5, 6]);
        reps.on_feedback(8, Feedback::Good, Time::from_us(10_001));
        assert_eq!(next(&mut reps, 3), [7, 8, 5], "10 ms later it is not over");
        reps.on_feedback(9, Feedback::Good, Time(10_001_000_001));
        assert_eq!(next(&mut reps, 18), [&[RANDOM; 16][..], &[9, RANDOM]].concat());
        let mut without = Reps::new(128, Time::ZERO);
        without.on_feedback(5, Feedback::Good, Time::ZERO);
        without.on_feedback(1, Feedback::Lost, Time::ZERO);
        assert_eq!(next(&mut without, 2), [5, RANDOM]);
    }

    #[test]
    fn the_older_form_forgets_nothing() {
        let mut reps = Recycled::new(4);
        assert_eq!([(); 5].map(|()| reps.next(true, |_| 9)), [1, 2, 3, 0, 1]);
        (0..20).for_each(|entropy| reps.on_feedback(entropy, Feedback::Good));
        reps.on_feedback(77, Feedback::Marked);
        assert_eq!(
            (0..21).map(|_| reps.next(false, |_| 99)).collect::<Vec<_>>(),
            (0..20).chain([99]).collect::<Vec<_>>()
        );
    }
}
