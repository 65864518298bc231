//! Distributions of flow sizes.

mod written;

pub use written::{Distribution, FlowSize};

use crate::cdf::{Cdf, Interpolation};
use linkpool_engine::Stream;
use rand::Rng;
use std::sync::Arc;

/// How large flows are, in bytes of payload.
#[derive(Clone, PartialEq, Debug)]
pub enum Sizes {
    /// All alike.
    Constant(u64),
    /// Uniform over whole numbers of bytes, both ends included.
    Uniform {
        /// The smallest.
        min: u64,
        /// The largest.
        max: u64,
    },
    /// Pareto, cut off at `max` if there is one: larger sizes are drawn again.
    Pareto {
        /// The exponent of the tail; above 1.
        shape: f64,
        /// Mean of the distribution without the cut.
        mean: f64,
        /// The largest.
        max: Option<u64>,
    },
    /// By a table.
    Cdf {
        /// The table.
        table: Arc<Cdf>,
        /// How sizes between its points are drawn.
        interpolation: Interpolation,
    },
}

impl Sizes {
    /// The size of one flow, at least a byte.
    pub fn draw(&self, random: &mut Stream) -> u64 {
        match self {
            Sizes::Constant(size) => *size,
            Sizes::Uniform { min, max } => random.random_range(*min..=*max),
            Sizes::Pareto { shape, mean, max } => {
                let least = least(*shape, *mean);
                // The inverse of the distribution below `max`: no draw is rejected.
                let above = max.map_or(0.0, |max| (least / max as f64).powf(*shape));
                let u = above + (1.0 - above) * (1.0 - random.random::<f64>());
                let size = (least * u.powf(-1.0 / shape)).round() as u64;
                size.clamp(1, max.unwrap_or(u64::MAX))
            }
            Sizes::Cdf { table, interpolation } => {
                table.quantile(random.random(), *interpolation).round().max(1.0) as u64
            }
        }
    }

    /// The mean of the drawn sizes, bytes.
    pub fn mean(&self) -> f64 {
        match self {
            Sizes::Constant(size) => *size as f64,
            Sizes::Uniform { min, max } => (*min as f64 + *max as f64) / 2.0,
            Sizes::Pareto { mean, max: None, .. } => *mean,
            Sizes::Pareto { shape, mean, max: Some(max) } => {
                let ratio = least(*shape, *mean) / *max as f64;
                mean * (1.0 - ratio.powf(shape - 1.0)) / (1.0 - ratio.powf(*shape))
            }
            Sizes::Cdf { table, interpolation } => table.mean(*interpolation),
        }
    }

    /// Its name in results.
    pub fn name(&self) -> String {
        match self {
            Sizes::Constant(_) => "constant".to_string(),
            Sizes::Uniform { .. } => "uniform".to_string(),
            Sizes::Pareto { .. } => "pareto".to_string(),
            Sizes::Cdf { table, .. } => table.name.clone(),
        }
    }
}

/// The least size of a Pareto distribution.
pub(crate) fn least(shape: f64, mean: f64) -> f64 {
    mean * (shape - 1.0) / shape
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkpool_engine::stream;
    use proptest::prelude::*;

    fn mean_of(sizes: &Sizes, n: u32) -> f64 {
        let mut random = stream(1, "sizes", 0);
        (0..n).map(|_| sizes.draw(&mut random) as f64).sum::<f64>() / f64::from(n)
    }

    #[test]
    fn means_are_those_of_what_is_drawn() {
        for sizes in [
            Sizes::Constant(70_000),
            Sizes::Uniform { min: 1_000, max: 1_000_000 },
            // Of an infinite variance, unless cut off: the mean of draws converges slowly.
            Sizes::Pareto { shape: 3.0, mean: 100_000.0, max: None },
            Sizes::Pareto { shape: 1.5, mean: 192e6, max: Some(768_000_000) },
        ] {
            let ratio = mean_of(&sizes, 400_000) / sizes.mean();
            assert!((ratio - 1.0).abs() < 0.01, "{sizes:?}: {ratio}");
        }
        for name in Cdf::NAMES {
            for interpolation in [Interpolation::Linear, Interpolation::Stair] {
                let sizes = Sizes::Cdf { table: Arc::new(Cdf::named(name).unwrap()), interpolation };
                let ratio = mean_of(&sizes, 1_000_000) / sizes.mean();
                assert!((ratio - 1.0).abs() < 0.05, "{name}, {interpolation:?}: {ratio}");
            }
        }
    }

    proptest! {
        #[test]
        fn what_is_drawn_lies_within_bounds(min in 1u64..1000, more in 0u64..1_000_000, shape in 1.1f64..4.0, seed: u64) {
            let (max, mut random) = (min + more, stream(seed, "sizes", 0));
            for _ in 0..50 {
                let size = Sizes::Uniform { min, max }.draw(&mut random);
                prop_assert!((min..=max).contains(&size));
                let mean = min as f64 * shape / (shape - 1.0);
                let size = Sizes::Pareto { shape, mean, max: Some(max) }.draw(&mut random);
                prop_assert!(size + 1 >= min && size <= max, "{size}");
            }
        }
    }

    #[test]
    fn distributions_have_their_names() {
        let table = Arc::new(Cdf::named("fb_kv").unwrap());
        let sizes = [
            Sizes::Constant(1),
            Sizes::Uniform { min: 1, max: 2 },
            Sizes::Pareto { shape: 2.0, mean: 9.0, max: None },
            Sizes::Cdf { table, interpolation: Interpolation::Stair },
        ];
        assert_eq!(sizes.map(|sizes| sizes.name()), ["constant", "uniform", "pareto", "fb_kv"]);
        assert_eq!([Interpolation::Linear, Interpolation::Stair].map(|i| i.name()), ["linear", "stair"]);
    }
}
