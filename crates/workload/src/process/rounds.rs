//! Rounds: a matrix that starts again when all its flows have ended.

use super::Action;
use crate::arrivals::jitter;
use crate::flow::Flow;
use crate::gaps::Gaps;
use crate::matrix::Matrix;
use crate::sizes::Sizes;
use linkpool_engine::Stream;
use linkpool_units::Time;

/// A matrix, and when all its flows have ended, another (XMP, section 5.2.1, "Permutation").
#[derive(Clone, PartialEq, Debug)]
pub struct Rounds {
    /// Drawn for every round.
    pub matrix: Matrix,
    /// The size of each flow.
    pub size: Sizes,
    /// Starts of a round are uniform over this.
    pub jitter: Time,
    /// From the end of the last flow of a round to the next round.
    pub gap: Gaps,
    /// Flows stop here.
    pub stop: Time,
    /// Number of the next flow.
    pub next: u32,
    /// Flows of this round that have not ended.
    pub open: u32,
    /// The number of this round.
    pub round: u32,
    /// Draws sizes and destinations.
    pub random: Stream,
}

impl Rounds {
    pub(super) fn begin(&mut self, now: Time, out: &mut Vec<Action>) {
        for pair in self.matrix.draw(&mut self.random) {
            let size = Some(self.size.draw(&mut self.random));
            let at = now + jitter(self.jitter, &mut self.random);
            let flow = Flow { stop: self.stop, burst: self.round, ..Flow::new(pair, size, at) };
            out.push(Action::Start(self.next, flow));
            self.next += 1;
            self.open += 1;
        }
        self.round += 1;
    }

    pub(super) fn on_end(&mut self, now: Time, out: &mut Vec<Action>) {
        self.open -= 1;
        if self.open == 0 {
            let at = now + self.gap.draw(&mut self.random);
            self.begin(at, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::{Rule, Senders};
    use linkpool_engine::stream;

    fn started(out: &[Action]) -> Vec<(u32, Flow)> {
        let start = |action: &Action| match action {
            Action::Start(number, flow) => (*number, *flow),
            other => panic!("{other:?}"),
        };
        out.iter().map(start).collect()
    }

    /// Host i sends to host i + 1; the third round begins 50 us after the last flow of the second
    /// has ended.
    #[test]
    fn a_round_begins_when_all_flows_of_the_one_before_have_ended() {
        let places = [(0, 0); 3].into();
        let mut rounds = Rounds {
            matrix: Matrix { rule: Rule::Stride { step: 1 }, places, senders: Senders::All },
            size: Sizes::Constant(2_000),
            jitter: Time::from_us(10),
            gap: Gaps::Constant(Time::from_us(50)),
            stop: Time::from_ms(1),
            next: 0,
            open: 0,
            round: 0,
            random: stream(1, "rounds", 0),
        };
        let mut now = Time::from_us(100);
        let mut out = Vec::new();
        rounds.begin(now, &mut out);
        for round in 0..3 {
            let flows = started(&out);
            assert_eq!(flows.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [0, 1, 2].map(|i| 3 * round + i));
            for ((_, flow), src) in flows.iter().zip(0u32..) {
                assert!(flow.start >= now && flow.start <= now + Time::from_us(10), "{flow:?} at {now:?}");
                let expected = Flow {
                    stop: Time::from_ms(1),
                    burst: round,
                    ..Flow::new((src.into(), ((src + 1) % 3).into()), Some(2_000), flow.start)
                };
                assert_eq!(*flow, expected);
            }
            out.clear();
            for ends in 1..=3 {
                assert!(out.is_empty(), "before the last flow has ended");
                rounds.on_end(now + Time::from_us(100 * ends), &mut out);
            }
            now += Time::from_us(350);
        }
    }
}
