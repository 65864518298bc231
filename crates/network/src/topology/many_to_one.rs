//! Senders and one receiver around one switch.

use super::Generator;
use crate::fabric::{Fabric, FabricBuilder, Layer};
use linkpool_settings::{Bounds, settings};
use linkpool_units::{Rate, Time};

settings! {
    /// Hosts `S1..Sn` and `R` around one switch `W` (AMP, Figure 1).
    #[derive(Copy, Eq)]
    pub struct ManyToOne {
        /// Number of senders.
        senders: u32, required 30, within Bounds::POSITIVE;
        /// Rate of every link.
        rate: Rate, required Rate::gbps(10), within Bounds::POSITIVE;
        /// Propagation delay of every link.
        delay: Time, required Time::from_us(2), within Bounds::SPAN;
    }
}

impl Generator for ManyToOne {
    fn size_keys(&self) -> &'static [&'static str] {
        &["senders"]
    }

    fn hosts(&self) -> u64 {
        u64::from(self.senders) + 1
    }

    fn cables(&self) -> u64 {
        self.hosts()
    }

    /// The receiver is the last host.
    fn fabric(&self) -> Fabric {
        let mut b = FabricBuilder::default();
        let mut hosts: Vec<_> = (1..=self.senders).map(|i| b.node(format!("S{i}"), Layer::Host)).collect();
        hosts.push(b.node("R", Layer::Host));
        let switch = b.node("W", Layer::Switch);
        for host in hosts {
            b.cable(host, switch, self.rate, self.delay);
        }
        b.build()
    }
}
