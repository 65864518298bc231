//! Gaps between the end of a flow and the next start.

mod written;

pub use written::{Gap, GapDistribution};

use linkpool_engine::Stream;
use linkpool_units::Time;
use rand_distr::{Distribution, Exp1, StandardNormal};

/// From the end of one thing to the start of the next.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Gaps {
    /// Always as long.
    Constant(Time),
    /// Exponential: nothing is known of how long it still takes.
    Exponential {
        /// Mean.
        mean: Time,
    },
    /// The logarithm is normal.
    LogNormal {
        /// Mean of the gap itself, not of its logarithm.
        mean: Time,
        /// Standard deviation of the natural logarithm.
        sigma: f64,
    },
}

impl Gaps {
    /// None at all.
    pub const NONE: Gaps = Gaps::Constant(Time::ZERO);

    /// One gap.
    pub fn draw(&self, random: &mut Stream) -> Time {
        match *self {
            Gaps::Constant(gap) => gap,
            Gaps::Exponential { mean } => Time::from_secs_f64(mean.secs() * Distribution::<f64>::sample(&Exp1, random)),
            Gaps::LogNormal { mean, sigma } => {
                // The mean is exp(mu + sigma^2 / 2).
                let normal: f64 = StandardNormal.sample(random);
                Time::from_secs_f64(mean.secs() * (sigma * normal - sigma * sigma / 2.0).exp())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkpool_engine::stream;

    #[test]
    fn gaps_have_their_mean_and_their_spread() {
        let mean = Time::from_ms(50);
        for (gaps, variation) in [
            (Gaps::Constant(mean), 0.0),
            (Gaps::Exponential { mean }, 1.0),
            // Variance over mean squared: exp(sigma^2) - 1.
            (Gaps::LogNormal { mean, sigma: 0.5 }, (0.25f64.exp() - 1.0).sqrt()),
        ] {
            let mut random = stream(1, "gaps", 0);
            let drawn: Vec<f64> = (0..200_000).map(|_| gaps.draw(&mut random).secs()).collect();
            let found = drawn.iter().sum::<f64>() / drawn.len() as f64;
            let variance = drawn.iter().map(|g| (g - found).powi(2)).sum::<f64>() / drawn.len() as f64;
            assert!((found / 0.05 - 1.0).abs() < 0.01, "{gaps:?}: mean {found}");
            assert!((variance.sqrt() / found - variation).abs() < 0.01, "{gaps:?}: {}", variance.sqrt() / found);
        }
    }
}
