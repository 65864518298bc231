//! Collective operations, one after the other.

use linkpool_settings::{Bounds, settings};
use linkpool_units::{Bytes, Time};

use super::{Expected, Place, Setting, Workload};
use crate::collective::CollectiveAlgorithm;

settings! {
    /// Collective operations, as in training clusters.
    #[derive(Copy)]
    pub struct Collective {
        /// How ranks exchange their data.
        algorithm: CollectiveAlgorithm, required CollectiveAlgorithm::RingAllReduce;
        /// How many of the hosts take part, from the first on.
        ranks: u32, from |_c| u32::MAX => "all hosts", within Bounds::from(2.0, "{} ranks have nothing to exchange");
        /// Data of each rank.
        size: u64 as Bytes, required 100_000_000, within Bounds::POSITIVE;
        /// Operations, one after the other.
        iterations: u32 = 1, within Bounds::POSITIVE;
        /// From the end of an operation at a rank to its next.
        compute: Time = Time::ZERO, within Bounds::SPAN;
    }
}

impl Workload for Collective {
    fn complete(&mut self, place: &mut Place<'_>) {
        let hosts = place.hosts;
        if !place.has("ranks") {
            self.ranks = hosts;
        }
        let ranks = self.ranks;
        place.check(ranks <= hosts, "ranks", format!("{ranks} ranks among {hosts} hosts; write 2 to {hosts}"));
        let power = self.algorithm != CollectiveAlgorithm::TreeAllReduce || ranks.is_power_of_two();
        place.check(power, "ranks", format!("recursive halving needs a power of 2, not {ranks}"));
        let steps = match self.algorithm {
            CollectiveAlgorithm::RingAllReduce => 2 * u64::from(ranks),
            CollectiveAlgorithm::AllToAll => u64::from(ranks),
            CollectiveAlgorithm::TreeAllReduce => 64,
        };
        // Waiting flows are held in memory by pairs.
        place.check_few_flows("iterations", 4 * steps * u64::from(ranks) * u64::from(self.iterations));
    }

    fn expected(&self, _: &Setting) -> Expected {
        let (n, iterations) = (f64::from(self.ranks), f64::from(self.iterations));
        // Steps, and what a rank sends over the data that it has.
        let (steps, share) = match self.algorithm {
            CollectiveAlgorithm::TreeAllReduce => (2.0 * f64::from(self.ranks.ilog2()), 2.0),
            CollectiveAlgorithm::RingAllReduce => (2.0 * (n - 1.0), 2.0 * (n - 1.0) / n),
            CollectiveAlgorithm::AllToAll => (n - 1.0, (n - 1.0) / n),
        };
        let bytes = share * n * self.size as f64 * iterations;
        Expected { flows: n * steps * iterations, at_once: n, listed: true, bytes }
    }
}
