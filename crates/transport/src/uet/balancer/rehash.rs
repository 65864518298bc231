//! One value for all packets until its path is congested: FlowBender (Kabbani et al., CoNEXT 2014, section 3.2)
//! and PLB (Qureshi et al., SIGCOMM 2022, section 3.2).

use super::{Feedback, Spraying};
use linkpool_units::Time;

/// A value, and how congested its path is.
#[derive(Debug)]
pub struct Rehash {
    entropies: u16,
    value: u16,
    /// A round with a larger share of marks is congested; so many in a row make it move.
    above: f64,
    after: u32,
    /// The length of a round, and when this one began.
    round: Time,
    since: Time,
    /// Answers in this round, and those with a mark.
    heard: u32,
    marked: u32,
    /// Congested rounds in a row.
    congested: u32,
    /// The next packet has another value.
    moves: bool,
}

impl Rehash {
    pub(super) fn new(spraying: &Spraying, drawn: u32) -> Rehash {
        Rehash {
            entropies: spraying.entropies,
            value: drawn as u16 & (spraying.entropies - 1),
            above: spraying.rehash_above,
            after: spraying.rehash_after,
            round: spraying.base_rtt,
            since: Time::ZERO,
            heard: 0,
            marked: 0,
            congested: 0,
            moves: false,
        }
    }

    pub(super) fn next(&mut self, mut random: impl FnMut(u32) -> u32) -> u16 {
        if std::mem::take(&mut self.moves) {
            self.value = random(self.entropies.into()) as u16;
        }
        self.value
    }

    pub(super) fn on_feedback(&mut self, feedback: Feedback, now: Time) {
        if feedback == Feedback::Lost {
            // The path may have failed (FlowBender, section 3.3; PLB, section 3.3).
            (self.moves, self.congested) = (true, 0);
            return;
        }
        self.heard += 1;
        self.marked += u32::from(feedback != Feedback::Good);
        if now - self.since >= self.round {
            let congested = f64::from(self.marked) > self.above * f64::from(self.heard);
            self.congested = if congested { self.congested + 1 } else { 0 };
            if self.congested >= self.after {
                (self.moves, self.congested) = (true, 0);
            }
            (self.since, self.heard, self.marked) = (now, 0, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rehash(above: f64, after: u32) -> Rehash {
        let spraying = Spraying { rehash_above: above, rehash_after: after, ..Spraying::for_tests(16) };
        Rehash::new(&spraying, 16 + 5)
    }

    /// The value after rounds of ten answers with so many marks, each of the base RTT of 10 us.
    fn after(rehash: &mut Rehash, first: u64, marks: &[u32]) -> u16 {
        for (round, marks) in (first..).zip(marks) {
            for i in 0..10 {
                let feedback = if i < *marks { Feedback::Marked } else { Feedback::Good };
                rehash.on_feedback(feedback, Time::from_us(10 * round + i as u64 + 1));
            }
        }
        rehash.next(|n| {
            assert_eq!(n, 16);
            9
        })
    }

    /// Rounds end with the answer 10 us after the last end: the tenth of each.
    #[test]
    fn a_congested_round_moves() {
        assert_eq!(after(&mut rehash(0.3, 1), 0, &[3]), 5, "as many as allowed");
        assert_eq!(after(&mut rehash(0.3, 1), 0, &[4]), 9);
        assert_eq!(after(&mut rehash(0.0, 1), 0, &[1]), 9, "one mark");
        let mut trimmed = rehash(0.0, 1);
        trimmed.on_feedback(Feedback::Trimmed, Time::from_us(9));
        assert_eq!(after(&mut trimmed, 0, &[0]), 9, "a trim counts as a mark");
    }

    #[test]
    fn several_rounds_in_a_row_move() {
        let mut plb = rehash(0.5, 3);
        assert_eq!(after(&mut plb, 0, &[6, 6]), 5);
        assert_eq!(after(&mut plb, 2, &[5, 6, 6]), 5, "one without congestion");
        assert_eq!(after(&mut plb, 5, &[6]), 9);
        plb.value = 5;
        assert_eq!(after(&mut plb, 6, &[6, 6]), 5, "it counts anew");
        assert_eq!(after(&mut plb, 8, &[6]), 9);
    }

    #[test]
    fn a_timeout_moves() {
        let mut plb = rehash(0.5, 3);
        plb.on_feedback(Feedback::Lost, Time::from_us(1));
        assert_eq!(plb.next(|_| 9), 9);
        assert_eq!(plb.next(|_| 3), 9, "once");
    }
}
