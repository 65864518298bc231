//! Random loss on a link.

use crate::change::Loss;
use linkpool_engine::Stream;
use rand::Rng;

/// The random loss of a link, packet by packet.
#[derive(Debug)]
pub(super) struct LossProcess {
    model: Loss,
    in_bad_state: bool,
    /// ln(1 - p)^8, for the probability p that a bit is wrong: the logarithm of the probability
    /// that all bits of a byte are right.
    byte_is_right: f64,
    random: Stream,
}

impl LossProcess {
    pub(super) fn new(model: Loss, bit_errors: f64, random: Stream) -> LossProcess {
        let mut process = LossProcess { model, in_bad_state: false, byte_is_right: 0.0, random };
        process.have_bit_errors(bit_errors);
        process
    }

    /// From now on losses follow `model`; the chain begins in its good state.
    pub(super) fn follow(&mut self, model: Loss) {
        (self.model, self.in_bad_state) = (model, false);
    }

    /// From now on a bit is wrong with the probability `rate`, whatever becomes of others.
    pub(super) fn have_bit_errors(&mut self, rate: f64) {
        self.byte_is_right = 8.0 * (-rate).ln_1p();
    }

    /// Is the next packet, of `size` bytes, lost?
    pub(super) fn loses_next(&mut self, size: u16) -> bool {
        let (loss, change) = match self.in_bad_state {
            true => (self.model.in_bad, self.model.to_good),
            false => (self.model.in_good, self.model.to_bad),
        };
        let lost = self.happens(loss);
        self.in_bad_state ^= self.happens(change);
        // 1 - (1 - p)^bits, exact where p is tiny, too.
        let has_wrong_bit = -(self.byte_is_right * f64::from(size)).exp_m1();
        lost | self.happens(has_wrong_bit)
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
        let mut process = LossProcess::new(model, 0.0, stream(1, "loss", 0));
        let fates: Vec<bool> = (0..1_000_000).map(|_| process.loses_next(1500)).collect();
        let lost = fates.iter().filter(|lost| **lost).count() as f64;
        let bursts = fates.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
        // Bursts are 1/0.25 long on average. Their number over 10^6 packets, about 9,600, and their
        // lengths spread by 1%.
        assert!((lost / 1e6 / model.rate() - 1.0).abs() < 0.06, "{lost}");
        assert!((lost / bursts / 4.0 - 1.0).abs() < 0.05, "{lost} in {bursts} bursts");
    }

    #[test]
    fn losses_are_independent_if_random() {
        let mut process = LossProcess::new(Loss::random(0.2), 0.0, stream(2, "loss", 0));
        let fates: Vec<bool> = (0..1_000_000).map(|_| process.loses_next(1500)).collect();
        let lost = fates.iter().filter(|lost| **lost).count() as f64;
        let pairs = fates.windows(2).filter(|pair| pair[0] && pair[1]).count() as f64;
        // Five standard deviations: 0.002 and 0.001 or so.
        assert!((lost / 1e6 - 0.2).abs() < 0.002, "{lost}");
        assert!((pairs / 1e6 - 0.04).abs() < 0.0015, "{pairs}");
    }

    #[test]
    fn certain_loss_and_none() {
        let mut process = LossProcess::new(Loss::random(1.0), 0.0, stream(3, "loss", 0));
        assert!((0..1000).all(|_| process.loses_next(64)));
        process.follow(Loss::NONE);
        assert!(!(0..1000).any(|_| process.loses_next(64)));
        process.have_bit_errors(1.0);
        assert!((0..1000).all(|_| process.loses_next(1)));
        process.have_bit_errors(0.0);
        assert!(!(0..1000).any(|_| process.loses_next(u16::MAX)));
    }

    /// Of 10^-5 a bit, a packet of 64 bytes (512 bits) is lost with 0.5107%, one of
    /// 1,500 with 11.308%, one of 9,000 with 51.325%.
    #[test]
    fn long_packets_have_more_bits_to_go_wrong() {
        let mut process = LossProcess::new(Loss::NONE, 1e-5, stream(4, "loss", 0));
        for (size, expected) in [(64, 0.005_106_9), (1500, 0.113_080_1), (9000, 0.513_249_5)] {
            let lost = (0..1_000_000).filter(|_| process.loses_next(size)).count() as f64 / 1e6;
            // Five standard deviations.
            assert!((lost - expected).abs() < 5.0 * (expected * (1.0 - expected) / 1e6f64).sqrt(), "{size} B: {lost}");
        }
    }

    /// Where a packet is lost for either reason, it is lost once.
    #[test]
    fn bit_errors_come_beside_other_loss() {
        let mut process = LossProcess::new(Loss::random(0.5), 1.0 - 0.5f64.powf(1.0 / 800.0), stream(5, "loss", 0));
        let lost = (0..1_000_000).filter(|_| process.loses_next(100)).count() as f64 / 1e6;
        assert!((lost - 0.75).abs() < 0.0022, "{lost}");
    }
}
