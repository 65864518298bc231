//! Small fabrics with a bottleneck or a few.

use crate::fabric::{Fabric, FabricBuilder, Layer, Wire};
use linkpool_units::{Rate, Time};

/// `senders` hosts `S1..Sn` and one receiver `R` on one switch `W` (AMP, Figure 1).
pub fn many_to_one(senders: u32, rate: Rate, delay: Time) -> Fabric {
    let mut b = FabricBuilder::default();
    let mut hosts: Vec<_> = (1..=senders).map(|i| b.node(format!("S{i}"), Layer::Host)).collect();
    hosts.push(b.node("R", Layer::Host));
    let switch = b.node("W", Layer::Switch);
    for host in hosts {
        b.cable(host, switch, rate, delay);
    }
    b.build()
}

/// Two disjoint bottlenecks `A1->B1` and `A2->B2`; S1 and D1 are on the first, S3 and D3 on the second, S2
/// and D2 have a NIC on each (AMP, Figure 5).
pub fn traffic_shift(rate: Rate, delay: Time) -> Fabric {
    let mut b = FabricBuilder::default();
    let [s1, s2, s3, d1, d2, d3] = ["S1", "S2", "S3", "D1", "D2", "D3"].map(|n| b.node(n, Layer::Host));
    let [a1, b1, a2, b2] = ["A1", "B1", "A2", "B2"].map(|n| b.node(n, Layer::Switch));
    for (x, y) in [(s1, a1), (s2, a1), (s2, a2), (s3, a2), (a1, b1), (a2, b2), (b1, d1), (b1, d2), (b2, d2), (b2, d3)] {
        b.cable(x, y, rate, delay);
    }
    b.build()
}

/// `pairs` hosts `S1..Sn` on switch `L`, as many `D1..Dn` on switch `R`, and one cable between the switches.
pub fn dumbbell(pairs: u32, rate: Rate, delay: Time, bottleneck_rate: Rate, bottleneck_delay: Time) -> Fabric {
    let mut b = FabricBuilder::default();
    let sources: Vec<_> = (1..=pairs).map(|i| b.node(format!("S{i}"), Layer::Host)).collect();
    let sinks: Vec<_> = (1..=pairs).map(|i| b.node(format!("D{i}"), Layer::Host)).collect();
    let (left, right) = (b.node("L", Layer::Switch), b.node("R", Layer::Switch));
    sources.iter().for_each(|s| b.cable(*s, left, rate, delay));
    b.cable(left, right, bottleneck_rate, bottleneck_delay);
    sinks.iter().for_each(|d| b.cable(*d, right, rate, delay));
    b.build()
}

/// Bottlenecks in a ring (XMP, Figure 5): bottleneck i is the cable `Ai->Bi`. Hosts `Si` and `Di` have a NIC on
/// bottleneck i and one on the next, in this order; `Xi` and `Yi`, for background traffic, on bottleneck i only.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ring {
    /// The bottlenecks, at least two.
    pub bottlenecks: Vec<Wire>,
    /// Every other cable.
    pub access: Wire,
}

impl Ring {
    /// Its hosts, switches and links.
    pub fn fabric(&self) -> Fabric {
        let n = self.bottlenecks.len();
        let mut b = FabricBuilder::default();
        let mut nodes =
            |letter: char, layer: Layer| -> Vec<_> { (1..=n).map(|i| b.node(format!("{letter}{i}"), layer)).collect() };
        let [s, d, x, y] = ['S', 'D', 'X', 'Y'].map(|letter| nodes(letter, Layer::Host));
        let [from, to] = ['A', 'B'].map(|letter| nodes(letter, Layer::Switch));
        for (i, bottleneck) in self.bottlenecks.iter().enumerate() {
            b.wire(from[i], to[i], *bottleneck);
            for (host, switches) in [(s[i], &from), (d[i], &to)] {
                b.wire(host, switches[i], self.access);
                b.wire(host, switches[(i + 1) % n], self.access);
            }
            b.wire(x[i], from[i], self.access);
            b.wire(y[i], to[i], self.access);
        }
        b.build()
    }
}

/// Three bottlenecks, each the short way of one flow and half of the long way of the two others (Wischik et al., NSDI 2011,
/// section 2.2): bottleneck i is the cable `Ai->Bi`, and over `Ci` one gets from `Bi` to `A(i+1)`. Hosts `Si` and `Di` have a NIC on
/// either side of bottleneck i and another on either side of the two after it.
///
/// It is no triangle of three cables: these carry each direction for itself, and long ways would not meet short ones.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Triangle {
    /// The bottlenecks.
    pub bottlenecks: [Wire; 3],
    /// Every other cable.
    pub access: Wire,
}

impl Triangle {
    /// Its hosts, switches and links.
    pub fn fabric(&self) -> Fabric {
        let mut b = FabricBuilder::default();
        let mut nodes = |letter: char, layer: Layer| [1, 2, 3].map(|i| b.node(format!("{letter}{i}"), layer));
        let [s, d] = ['S', 'D'].map(|letter| nodes(letter, Layer::Host));
        let [from, to, joint] = ['A', 'B', 'C'].map(|letter| nodes(letter, Layer::Switch));
        for i in 0..3 {
            b.wire(from[i], to[i], self.bottlenecks[i]);
            b.wire(to[i], joint[i], self.access);
            b.wire(joint[i], from[(i + 1) % 3], self.access);
            b.wire(s[i], from[i], self.access);
            b.wire(s[i], from[(i + 1) % 3], self.access);
            b.wire(d[i], to[i], self.access);
            b.wire(d[i], to[(i + 2) % 3], self.access);
        }
        b.build()
    }
}
