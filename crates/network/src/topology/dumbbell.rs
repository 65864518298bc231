//! Pairs of hosts on either side of one bottleneck.

use super::Generator;
use crate::fabric::{Fabric, FabricBuilder, Layer};
use linkpool_settings::{Bounds, settings};
use linkpool_units::{Rate, Time};

settings! {
    /// Hosts `S1..Sn` on switch `L`, as many `D1..Dn` on switch `R`, and one cable between the
    /// switches.
    #[derive(Copy, Eq)]
    pub struct Dumbbell {
        /// Number of hosts on either side.
        pairs: u32, required 2, within Bounds::POSITIVE;
        /// Rate of the hosts' links.
        rate: Rate, required Rate::gbps(10), within Bounds::POSITIVE;
        /// Propagation delay of the hosts' links.
        delay: Time, required Time::from_us(2), within Bounds::SPAN;
        /// Rate of the link between L and R.
        bottleneck_rate: Rate, from |d| d.rate => "`rate`", within Bounds::POSITIVE;
        /// Propagation delay of the link between L and R.
        bottleneck_delay: Time, from |d| d.delay => "`delay`", within Bounds::SPAN;
    }
}

impl Generator for Dumbbell {
    fn size_keys(&self) -> &'static [&'static str] {
        &["pairs"]
    }

    fn hosts(&self) -> u64 {
        2 * u64::from(self.pairs)
    }

    fn cables(&self) -> u64 {
        self.hosts() + 1
    }

    fn fabric(&self) -> Fabric {
        let mut b = FabricBuilder::default();
        let sources: Vec<_> = (1..=self.pairs).map(|i| b.node(format!("S{i}"), Layer::Host)).collect();
        let sinks: Vec<_> = (1..=self.pairs).map(|i| b.node(format!("D{i}"), Layer::Host)).collect();
        let (left, right) = (b.node("L", Layer::Switch), b.node("R", Layer::Switch));
        sources.iter().for_each(|s| b.cable(*s, left, self.rate, self.delay));
        b.cable(left, right, self.bottleneck_rate, self.bottleneck_delay);
        sinks.iter().for_each(|d| b.cable(*d, right, self.rate, self.delay));
        b.build()
    }
}
