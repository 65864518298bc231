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
    /// Of each flow.
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
    /// Of what is drawn.
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
