//! Two bottlenecks, and a connection with a path over each.

use super::Generator;
use crate::fabric::{Fabric, FabricBuilder, Layer};
use linkpool_settings::{Bounds, settings};
use linkpool_units::{Rate, Time};

settings! {
    /// Two disjoint bottlenecks `A1->B1` and `A2->B2`; S1 and D1 are on the first, S3 and D3 on the
    /// second, S2 and D2 have a NIC on each (AMP, Figure 5).
    #[derive(Copy, Eq)]
    pub struct TrafficShift {
        /// Rate of every link.
        rate: Rate, required Rate::gbps(10), within Bounds::POSITIVE;
        /// Propagation delay of every link.
        delay: Time, required Time::from_us(2), within Bounds::SPAN;
    }
}

impl Generator for TrafficShift {
    fn size_keys(&self) -> &'static [&'static str] {
        &["rate"]
    }

    fn hosts(&self) -> u64 {
        6
    }

    fn cables(&self) -> u64 {
        10
    }

    fn fabric(&self) -> Fabric {
        let mut b = FabricBuilder::default();
        let [s1, s2, s3, d1, d2, d3] = ["S1", "S2", "S3", "D1", "D2", "D3"].map(|n| b.node(n, Layer::Host));
        let [a1, b1, a2, b2] = ["A1", "B1", "A2", "B2"].map(|n| b.node(n, Layer::Switch));
        for (x, y) in
            [(s1, a1), (s2, a1), (s2, a2), (s3, a2), (a1, b1), (a2, b2), (b1, d1), (b1, d2), (b2, d2), (b2, d3)]
        {
            b.cable(x, y, self.rate, self.delay);
        }
        b.build()
    }
}
