//! Three bottlenecks, each on short and long ways.

use super::Generator;
use crate::fabric::{Cable, Fabric, FabricBuilder, Layer};
use linkpool_settings::{Bounds, Length, settings};
use linkpool_units::{Rate, Time, counted};

settings! {
    /// Three bottlenecks, each the short way of one flow and half of the long way of the two others
    /// (Wischik et al., NSDI 2011, section 2.2): bottleneck i is the cable `Ai->Bi`, and over `Ci`
    /// one gets from `Bi` to `A(i+1)`. Hosts `Si` and `Di` have a NIC on either side of bottleneck
    /// i and another on either side of the two after it.
    ///
    /// It is no triangle of three cables: these carry each direction for itself, and long ways
    /// would not meet short ones.
    #[derive(Eq)]
    pub struct Triangle {
        /// Rate of each bottleneck.
        bottleneck_rates: Vec<Rate>, required vec![Rate::mbps(12); 3],
            within Length::of(3, "a triangle has three bottlenecks"), within Bounds::POSITIVE;
        /// Propagation delay of each bottleneck.
        bottleneck_delays: Vec<Time>, from |t| vec![t.delay; t.bottleneck_rates.len()] => "`delay` for each",
            within Bounds::SPAN,
            refused |t| t.bottleneck_delays.len() != t.bottleneck_rates.len() => format!(
                "{} for {}; write one each",
                counted(t.bottleneck_delays.len(), "delay"), counted(t.bottleneck_rates.len(), "bottleneck")
            );
        /// Rate of all other links.
        rate: Rate, required Rate::gbps(10), within Bounds::POSITIVE;
        /// Propagation delay of all other links.
        delay: Time, required Time::from_us(2), within Bounds::SPAN;
    }
}

impl Generator for Triangle {
    fn size_keys(&self) -> &'static [&'static str] {
        &["bottleneck_rates"]
    }

    fn hosts(&self) -> u64 {
        6
    }

    fn cables(&self) -> u64 {
        21
    }

    fn fabric(&self) -> Fabric {
        let access = Cable { rate: self.rate, delay: self.delay };
        let mut b = FabricBuilder::default();
        let mut nodes = |letter: char, layer: Layer| [1, 2, 3].map(|i| b.node(format!("{letter}{i}"), layer));
        let [s, d] = ['S', 'D'].map(|letter| nodes(letter, Layer::Host));
        let [from, to, joint] = ['A', 'B', 'C'].map(|letter| nodes(letter, Layer::Switch));
        for i in 0..3 {
            b.cable(from[i], to[i], self.bottleneck_rates[i], self.bottleneck_delays[i]);
            b.lay(to[i], joint[i], access);
            b.lay(joint[i], from[(i + 1) % 3], access);
            b.lay(s[i], from[i], access);
            b.lay(s[i], from[(i + 1) % 3], access);
            b.lay(d[i], to[i], access);
            b.lay(d[i], to[(i + 2) % 3], access);
        }
        b.build()
    }
}
