//! BCube: hosts with several NICs that forward for each other.

use crate::fabric::{Fabric, FabricBuilder, Layer, Wire};

/// BCube(n, k) (Guo et al., SIGCOMM 2009): n^(k+1) servers with k + 1 NICs each, and k + 1 levels of n^k switches with n
/// ports. Servers whose addresses differ in one digit share a switch of that digit's level; between others, servers
/// forward.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BCube {
    /// Ports of a switch.
    pub n: u32,
    /// The highest level; 0 is one switch.
    pub k: u32,
    /// Every cable.
    pub wire: Wire,
}

impl BCube {
    /// Number of hosts.
    pub fn hosts(&self) -> u64 {
        u64::from(self.n).saturating_pow(self.k.saturating_add(1))
    }

    /// Number of cables.
    pub fn cables(&self) -> u64 {
        self.hosts().saturating_mul(u64::from(self.k) + 1)
    }

    /// Hosts `h0..` by their addresses; switches `s<level>.<i>`. A host's NICs are in order of level.
    pub fn fabric(&self) -> Fabric {
        let mut b = FabricBuilder::default();
        let hosts: Vec<_> = (0..self.hosts()).map(|i| b.node(format!("h{i}"), Layer::Host)).collect();
        let n = self.n as usize;
        for level in 0..=self.k {
            let switches = (0..hosts.len() / n).map(|i| b.node(format!("s{level}.{i}"), Layer::Switch));
            let switches: Vec<_> = switches.collect();
            // The address without the digit of this level is the number of the switch.
            let below = n.pow(level);
            for (address, host) in hosts.iter().enumerate() {
                b.wire(*host, switches[address / (below * n) * below + address % below], self.wire);
            }
        }
        b.hosts_forward();
        b.build()
    }
}
