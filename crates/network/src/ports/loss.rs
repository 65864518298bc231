//! Random loss on a link.

use crate::change::Loss;
use linkpool_engine::Stream;
use rand::Rng;

/// The random loss of a link, packet by packet.
#[derive(Debug)]
pub(super) struct LossProcess {
    model: Loss,
    in_bad_state: bool,
    random: Stream,
}

impl LossProcess {
    pub(super) fn new(model: Loss, random: Stream) -> LossProcess {
        LossProcess { model, in_bad_state: false, random }
    }

    /// From now on losses follow `model`; the chain begins in its good state.
    pub(super) fn follow(&mut self, model: Loss) {
        (self.model, self.in_bad_state) = (model, false);
    }

    /// Is the next packet lost?
    pub(super) fn loses_next(&mut self) -> bool {
        let (loss, change) = match self.in_bad_state {
            true => (self.model.in_bad, self.model.to_good),
            false => (self.model.in_good, self.model.to_bad),
        };
        let lost = self.happens(loss);
        self.in_bad_state ^= self.happens(change);
        lost
    }

    /// An impossible loss takes no random number.
    fn happens(&mut self, probability: f64) -> bool {
        probability > 0.0 && self.random.random::<f64>() < probability
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkpool_engine::stream;

    /// Bursts in the bad state are as long as they should be, and losses as many.
    #[test]
    fn losses_come_in_bursts() {
        let model = Loss { in_good: 0.0, in_bad: 1.0, to_bad: 0.01, to_good: 0.25 };
        let mut process = LossProcess::new(model, stream(1, "loss", 0));
        let fates: Vec<bool> = (0..1_000_000).map(|_| process.loses_next()).collect();
        let lost = fates.iter().filter(|lost| **lost).count() as f64;
        let bursts = fates.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
        // Bursts are 1/0.25 long on average. Their number over 10^6 packets, about 9,600, and their
        // lengths spread by 1%.
        assert!((lost / 1e6 / model.rate() - 1.0).abs() < 0.06, "{lost}");
        assert!((lost / bursts / 4.0 - 1.0).abs() < 0.05, "{lost} in {bursts} bursts");
    }

    #[test]
    fn losses_are_independent_if_random() {
        let mut process = LossProcess::new(Loss::random(0.2), stream(2, "loss", 0));
        let fates: Vec<bool> = (0..1_000_000).map(|_| process.loses_next()).collect();
        let lost = fates.iter().filter(|lost| **lost).count() as f64;
        let pairs = fates.windows(2).filter(|pair| pair[0] && pair[1]).count() as f64;
        // Five standard deviations: 0.002 and 0.001 or so.
        assert!((lost / 1e6 - 0.2).abs() < 0.002, "{lost}");
        assert!((pairs / 1e6 - 0.04).abs() < 0.0015, "{pairs}");
    }

    #[test]
    fn certain_loss_and_none() {
        let mut process = LossProcess::new(Loss::random(1.0), stream(3, "loss", 0));
        assert!((0..1000).all(|_| process.loses_next()));
        process.follow(Loss::NONE);
        assert!(!(0..1000).any(|_| process.loses_next()));
    }
}
