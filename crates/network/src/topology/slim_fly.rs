//! Slim Flies: fabrics of diameter two.

use super::Generator;
use crate::fabric::{Cable, Fabric, FabricBuilder, Layer, NodeId};
use linkpool_settings::{Bounds, settings};
use linkpool_units::{Rate, Time};

settings! {
    /// A Slim Fly (Besta, Hoefler, SC 2014): routers in a graph of McKay, Miller and Širáň, of
    /// which any two are joined or have a neighbour in common.
    #[derive(Copy, Eq)]
    pub struct SlimFly {
        /// An odd prime: there are 2 q^2 routers with (3 q - d) / 2 ports to others, where d is 1
        /// or -1 and q - d a multiple of 4. The paper's prime powers are left out.
        q: u32, required 5, within Bounds::from(3.0, "{} is no odd prime below 1000; write for example 5, 7, 11 or 13").to(997.0),
            refused |t| !is_prime(t.q) => format!("{} is no odd prime below 1000; write for example 5, 7, 11 or 13", t.q);
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

/// Is `q`, which is at least 2, a prime?
fn is_prime(q: u32) -> bool {
    (2..=q.isqrt()).all(|divisor| !q.is_multiple_of(divisor))
}

impl SlimFly {
    /// Ports of a router to others: (3 q - d) / 2.
    fn degree(&self) -> u32 {
        let q = self.q.min(u32::MAX / 3);
        // d = 1 makes it smaller by a half, d = -1 greater.
        if q % 4 == 1 { 3 * q / 2 } else { (3 * q).div_ceil(2) }
    }

    /// The generator sets X and X' of section II-B.1: differences of neighbours within a column.
    ///
    /// With a primitive element x of the field and d = 1, the even powers of x and the odd ones.
    /// With d = -1 and q = 4 w - 1, {1, x^2 .. x^(2w-2), x^(2w-1), x^(2w+1) .. x^(4w-3)} and x
    /// times each of these (Hafner, Discrete Mathematics 2004).
    fn differences(&self) -> [Vec<u32>; 2] {
        let q = u64::from(self.q);
        let powers = |base: u64| std::iter::successors(Some(1), move |power| Some(power * base % q));
        // The powers of a primitive element come back to 1 after all others.
        let is_primitive = |base: &u64| powers(*base).skip(1).position(|power| power == 1) == Some(q as usize - 2);
        let x = (2..q).find(is_primitive).expect("a field has a primitive element");
        let count = q as usize - 1;
        let even: Vec<u64> = match q % 4 {
            1 => powers(x).take(count).step_by(2).collect(),
            _ => {
                let w = (q as usize).div_ceil(4);
                let low = powers(x).take(2 * w - 1).step_by(2);
                low.chain(powers(x).take(4 * w - 2).skip(2 * w - 1).step_by(2)).collect()
            }
        };
        let odd = even.iter().map(|power| (power * x % q) as u32).collect();
        [even.into_iter().map(|power| power as u32).collect(), odd]
    }
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
    /// a(x, y) and b(m, c) are joined if y = m x + c.
    fn fabric(&self) -> Fabric {
        let host = Cable { rate: self.rate, delay: self.delay };
        let router = Cable { rate: self.router_rate, delay: self.router_delay };
        let q = self.q;
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
        for (columns, differences) in halves.iter().zip(self.differences()) {
            for column in columns {
                for (y, one) in column.iter().enumerate() {
                    let later = column.iter().enumerate().skip(y + 1);
                    let joined = later.filter(|(other, _)| differences.contains(&((other - y) as u32)));
                    joined.for_each(|(_, other)| b.lay(*one, *other, router));
                }
            }
        }
        for (x, column) in halves[0].iter().enumerate() {
            for (m, other) in halves[1].iter().enumerate() {
                for (c, end) in other.iter().enumerate() {
                    b.lay(column[(m * x + c) % q as usize], *end, router);
                }
            }
        }
        b.build()
    }
}
