//! Flowlets of the sender: after a gap in what it sends, its packets have another value (Sinha, Kandula and
//! Katabi, HotNets 2004; with a gap above the difference of the paths' delays nothing is reordered).

use super::{Feedback, Spraying};
use linkpool_units::Time;

/// The value of the flowlet that is sent now.
#[derive(Debug)]
pub struct Flowlets {
    entropies: u16,
    value: u16,
    gap: Time,
    /// Are gaps those between ACKs? Then so long a rest follows a change.
    rest: Option<Time>,
    /// The time of the last packet, or of the last answer.
    last: Option<Time>,
    rests_until: Time,
    /// The next packet has another value.
    moves: bool,
}

impl Flowlets {
    pub(super) fn new(spraying: &Spraying, drawn: u32) -> Flowlets {
        Flowlets {
            entropies: spraying.entropies,
            value: drawn as u16 & (spraying.entropies - 1),
            gap: spraying.flowlet_gap,
            rest: spraying.flowlet_rest,
            last: None,
            rests_until: Time::ZERO,
            moves: false,
        }
    }

    fn after_gap(&mut self, now: Time) -> bool {
        self.last.replace(now).is_some_and(|last| now - last > self.gap)
    }

    pub(super) fn next(&mut self, now: Time, mut random: impl FnMut(u32) -> u32) -> u16 {
        if self.rest.is_none() && self.after_gap(now) || std::mem::take(&mut self.moves) {
            self.value = random(self.entropies.into()) as u16;
        }
        self.value
    }

    pub(super) fn on_feedback(&mut self, feedback: Feedback, now: Time) {
        let Some(rest) = self.rest.filter(|_| feedback != Feedback::Lost) else { return };
        if self.after_gap(now) && now >= self.rests_until {
            (self.moves, self.rests_until) = (true, now + rest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flowlets(rest: Option<Time>) -> Flowlets {
        let spraying = Spraying { flowlet_gap: Time::from_us(5), flowlet_rest: rest, ..Spraying::for_tests(16) };
        Flowlets::new(&spraying, 16 + 5)
    }

    /// Packets at 1, 6 and 11.001 us: the last comes more than 5 us after the one before it.
    #[test]
    fn a_gap_between_packets_changes_the_value() {
        let mut flowlets = flowlets(None);
        let us = Time::from_us;
        flowlets.on_feedback(Feedback::Good, us(0));
        flowlets.on_feedback(Feedback::Good, us(20));
        let values = [us(1), us(6), us(11) + Time(1_000), us(12)].map(|at| flowlets.next(at, |_| 9));
        assert_eq!(values, [5, 5, 9, 9]);
    }

    /// With gaps between answers, and a rest of 100 us: those at 6 us and at 115 us change the value, that at
    /// 50 us does not; gaps between packets count for nothing, nor do timeouts.
    #[test]
    fn a_gap_between_answers_changes_the_value() {
        let mut flowlets = flowlets(Some(Time::from_us(100)));
        let mut random = 8;
        let mut value_at = |flowlets: &mut Flowlets, us: u64| {
            flowlets.on_feedback(Feedback::Good, Time::from_us(us));
            flowlets.next(Time::from_us(us), |_| {
                random += 1;
                random
            })
        };
        assert_eq!([0, 5, 11, 50, 115].map(|us| value_at(&mut flowlets, us)), [5, 5, 9, 9, 10]);
        flowlets.on_feedback(Feedback::Lost, Time::from_us(400));
        assert_eq!(flowlets.next(Time::from_us(400), |_| 3), 10);
    }
}
