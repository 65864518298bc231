//! Bottlenecks in a ring.

use super::Generator;
use crate::fabric::{Cable, Fabric, FabricBuilder, Layer};
use linkpool_settings::{Bounds, Length, settings};
use linkpool_units::{Rate, Time, counted};

settings! {
    /// Bottlenecks in a ring (XMP, Figure 5): bottleneck i is the cable `Ai->Bi`. Hosts `Si` and
    /// `Di` have a NIC on bottleneck i and one on the next, in this order; `Xi` and `Yi`, for
    /// background traffic, on bottleneck i only.
    #[derive(Eq)]
    pub struct Ring {
        /// Rate of each bottleneck; at least two.
        bottleneck_rates: Vec<Rate>, required vec![Rate::mbps(300); 2],
            within Length::from(2, "a ring has two bottlenecks or more"), within Bounds::POSITIVE;
        /// Propagation delay of each bottleneck.
        bottleneck_delays: Vec<Time>, from |r| vec![r.delay; r.bottleneck_rates.len()] => "`delay` for each",
            within Bounds::SPAN,
            refused |r| r.bottleneck_delays.len() != r.bottleneck_rates.len() => format!(
                "{} for {}; write one each",
                counted(r.bottleneck_delays.len(), "delay"), counted(r.bottleneck_rates.len(), "bottleneck")
            );
        /// Rate of the hosts' links.
        rate: Rate, required Rate::gbps(10), within Bounds::POSITIVE;
        /// Propagation delay of the hosts' links.
        delay: Time, required Time::from_us(2), within Bounds::SPAN;
    }
}

impl Generator for Ring {
    fn size_keys(&self) -> &'static [&'static str] {
        &["bottleneck_rates"]
    }

    fn hosts(&self) -> u64 {
        4 * self.bottleneck_rates.len() as u64
    }

    fn cables(&self) -> u64 {
        7 * self.bottleneck_rates.len() as u64
    }

    fn fabric(&self) -> Fabric {
        let n = self.bottleneck_rates.len();
        let access = Cable { rate: self.rate, delay: self.delay };
        let mut b = FabricBuilder::default();
        let mut nodes =
            |letter: char, layer: Layer| -> Vec<_> { (1..=n).map(|i| b.node(format!("{letter}{i}"), layer)).collect() };
        let [s, d, x, y] = ['S', 'D', 'X', 'Y'].map(|letter| nodes(letter, Layer::Host));
        let [from, to] = ['A', 'B'].map(|letter| nodes(letter, Layer::Switch));
        for i in 0..n {
            b.cable(from[i], to[i], self.bottleneck_rates[i], self.bottleneck_delays[i]);
            for (host, switches) in [(s[i], &from), (d[i], &to)] {
                b.lay(host, switches[i], access);
                b.lay(host, switches[(i + 1) % n], access);
            }
            b.lay(x[i], from[i], access);
            b.lay(y[i], to[i], access);
        }
        b.build()
    }
}
