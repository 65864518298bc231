//! Which ranks of a job compute slower than others, and when.

use linkpool_engine::hash_u64;
use linkpool_units::Time;

/// Which ranks are slow, and when.
#[derive(Clone, PartialEq, Debug)]
pub struct SlowRanks {
    /// How many times as long they compute.
    pub(crate) slowdown: f64,
    pub(crate) which: Which,
    /// In iterations from this one on,
    pub(crate) from: u32,
    /// and before this one.
    pub(crate) until: u32,
}

/// Which ranks.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Which {
    /// By rank: is it slow in each of these iterations?
    Always(Vec<bool>),
    /// A rank is slow in an iteration if the hash of both with this salt is below the bound.
    Now(u64, f64),
}

impl SlowRanks {
    /// How many times as long `rank` computes in `iteration`.
    pub fn slowdown(&self, rank: u32, iteration: u32) -> f64 {
        let slow = (self.from..self.until).contains(&iteration)
            && match &self.which {
                Which::Always(slow) => slow[rank as usize],
                Which::Now(salt, probability) => {
                    let drawn = hash_u64(salt ^ (u64::from(iteration) << 32 | u64::from(rank)));
                    // 53 bits, as a fraction below 1.
                    *probability > (drawn >> 11) as f64 / (1u64 << 53) as f64
                }
            };
        if slow { self.slowdown } else { 1.0 }
    }

    /// How long a computation of `time` takes at `rank` in `iteration`, to the next picosecond.
    pub fn time(&self, time: Time, rank: u32, iteration: u32) -> Time {
        match self.slowdown(rank, iteration) {
            1.0 => time,
            slowdown => Time((time.0 as f64 * slowdown).round() as u64),
        }
    }
}
