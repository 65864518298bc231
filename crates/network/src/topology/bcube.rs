//! BCube: hosts with several NICs that forward for each other.

use super::Generator;
use crate::fabric::{Cable, Fabric, FabricBuilder, Layer};
use linkpool_settings::{Bounds, settings};
use linkpool_units::{Rate, Time};

settings! {
    /// BCube(n, k) (Guo et al., SIGCOMM 2009): n^(k+1) servers with k + 1 NICs each, and k + 1
    /// levels of n^k switches with n ports. Servers whose addresses differ in one digit share a
    /// switch of that digit's level; between others, servers forward.
    #[derive(Copy, Eq)]
    pub struct BCube {
        /// Ports of a switch.
        n: u32, required 4, within Bounds::from(2.0, "a BCube's switches have 2 ports or more, not {}");
        /// The highest level: hosts have k + 1 NICs; 0 is one switch.
        k: u32, required 1;
        /// Rate of every link.
        rate: Rate, required Rate::gbps(10), within Bounds::POSITIVE;
        /// Propagation delay of every link.
        delay: Time, required Time::from_us(2), within Bounds::SPAN;
    }
}

impl Generator for BCube {
    fn size_keys(&self) -> &'static [&'static str] {
        &["k"]
    }

    fn hosts(&self) -> u64 {
        u64::from(self.n).saturating_pow(self.k.saturating_add(1))
    }

    fn cables(&self) -> u64 {
        self.hosts().saturating_mul(u64::from(self.k) + 1)
    }

    /// Hosts `h0..` by their addresses; switches `s<level>.<i>`. A host's NICs are in order of
    /// level.
    fn fabric(&self) -> Fabric {
        let wire = Cable { rate: self.rate, delay: self.delay };
        let mut b = FabricBuilder::default();
        let hosts: Vec<_> = (0..self.hosts()).map(|i| b.node(format!("h{i}"), Layer::Host)).collect();
        let n = self.n as usize;
        for level in 0..=self.k {
            let switches = (0..hosts.len() / n).map(|i| b.node(format!("s{level}.{i}"), Layer::Switch));
            let switches: Vec<_> = switches.collect();
            // The address without the digit of this level is the number of the switch.
            let below = n.pow(level);
            for (address, host) in hosts.iter().enumerate() {
                b.lay(*host, switches[address / (below * n) * below + address % below], wire);
            }
        }
        b.hosts_forward();
        b.build()
    }
}
