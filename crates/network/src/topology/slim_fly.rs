//! Slim Flies: fabrics of diameter two.

use super::Generator;
use super::galois::{Field, prime_of_power};
use crate::fabric::{Cable, Fabric, FabricBuilder, Layer, NodeId};
use linkpool_settings::{Bounds, settings};
use linkpool_units::{Rate, Time};

settings! {
    /// A Slim Fly (Besta, Hoefler, SC 2014): routers in a graph of McKay, Miller and Širáň, of
    /// which any two are joined or have a neighbour in common.
    #[derive(Copy, Eq)]
    pub struct SlimFly {
        /// A power of a prime, 3 or more: there are 2 q^2 routers with (3 q - d) / 2 ports to
        /// others, where d is 1, 0 or -1 and q - d a multiple of 4.
        q: u32, required 5, within Bounds::from(3.0, "{} is no power of a prime from 3 to 997; write for example 4, 5, 7, 8 or 9").to(997.0),
            refused |t| prime_of_power(t.q).is_none() => format!("{} is no power of a prime from 3 to 997; write for example 4, 5, 7, 8 or 9", t.q);
        /// Hosts at each router.
        hosts_per_router: u32, from |t| t.degree().div_ceil(2) => "half of its ports to others, rounded up",
            within Bounds::POSITIVE;
        /// Rate of the hosts' links.
        rate: Rate, required Rate::gbps(100), within Bounds::POSITIVE;
        /// Propagation delay of the hosts' links.
        delay: Time, required Time::from_us(1), within Bounds::SPAN;
        /// Rate of the links between routers.
        router_rate: Rate, from |t| t.rate => "`rate`", within Bounds::POSITIVE;
        /// Propagation delay of the links between routers.
        router_delay: Time, from |t| t.delay => "`delay`", within Bounds::SPAN;
    }
}

impl SlimFly {
    /// Ports of a router to others: (3 q - d) / 2.
    fn degree(&self) -> u32 {
        let q = self.q.min(u32::MAX / 3);
        // d = 1 makes it smaller by a half, d = -1 greater.
        if q % 4 == 1 { 3 * q / 2 } else { (3 * q).div_ceil(2) }
    }
}

/// The generator sets X and X' of section II-B.1: differences of neighbours within a column.
///
/// With a primitive element x of the field of q elements and d = 1, the even powers of x and the odd
/// ones. With d = 0, the even powers from x^0 to x^(q-2), and the odd ones from x^1 to x^(q-1), which
/// is 1. With d = -1 and q = 4 w - 1, {1, x^2 .. x^(2w-2), x^(2w-1), x^(2w+1) .. x^(4w-3)} and x times
/// each of these (Hafner, Discrete Mathematics 2004).
fn differences(q: usize, field: &Field) -> [Vec<u32>; 2] {
    let even: Vec<usize> = match q % 4 {
        3 => {
            let w = q.div_ceil(4);
            (0..2 * w - 1).step_by(2).chain((2 * w - 1..4 * w - 2).step_by(2)).collect()
        }
        _ => (0..q - 1).step_by(2).collect(),
    };
    [0, 1].map(|more| even.iter().map(|exponent| field.power(exponent + more)).collect())
}

impl Generator for SlimFly {
    fn size_keys(&self) -> &'static [&'static str] {
        &["q"]
    }

    fn hosts(&self) -> u64 {
        (2 * u64::from(self.q).pow(2)).saturating_mul(self.hosts_per_router.into())
    }

    fn cables(&self) -> u64 {
        // Each router has this degree, and each cable two ends.
        self.hosts().saturating_add(u64::from(self.q).pow(2) * u64::from(self.degree()))
    }

    /// Hosts `h0..`; routers `a<x>.<y>` and `b<m>.<c>`: (0, x, y) and (1, m, c) of the paper.
    /// Within a column, routers are joined whose difference is in X, or in X' of the second half;
    /// a(x, y) and b(m, c) are joined if y = m x + c. Sums and products are those of the field.
    fn fabric(&self) -> Fabric {
        let host = Cable { rate: self.rate, delay: self.delay };
        let router = Cable { rate: self.router_rate, delay: self.router_delay };
        let (q, field) = (self.q, Field::new(self.q));
        let mut b = FabricBuilder::default();
        let hosts: Vec<_> = (0..self.hosts()).map(|i| b.node(format!("h{i}"), Layer::Host)).collect();
        let mut half = |letter: char| -> Vec<Vec<NodeId>> {
            let column = |x: u32| (0..q).map(|y| b.node(format!("{letter}{x}.{y}"), Layer::Switch)).collect();
            (0..q).map(column).collect()
        };
        let halves = ['a', 'b'].map(&mut half);
        let routers = halves.iter().flatten().flatten();
        for (hosts, router) in hosts.chunks(self.hosts_per_router as usize).zip(routers) {
            hosts.iter().for_each(|h| b.lay(*h, *router, host));
        }
        let elements = || 0..q;
        for (columns, differences) in halves.iter().zip(differences(q as usize, &field)) {
            for column in columns {
                for y in elements() {
                    let joined = elements().skip(y as usize + 1);
                    let joined = joined.filter(|other| differences.contains(&field.subtract(*other, y)));
                    joined.for_each(|other| b.lay(column[y as usize], column[other as usize], router));
                }
            }
        }
        for (x, column) in elements().zip(&halves[0]) {
            for (m, other) in elements().zip(&halves[1]) {
                for (c, end) in elements().zip(other) {
                    b.lay(column[field.add(field.multiply(m, x), c) as usize], *end, router);
                }
            }
        }
        b.build()
    }
}
