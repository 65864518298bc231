//! VL2: a Clos network of aggregation and intermediate switches.

use super::Generator;
use crate::fabric::{Cable, Fabric, FabricBuilder, Layer};
use linkpool_settings::{Bounds, Even, settings};
use linkpool_units::{Rate, Time};

const PORTS: &str = "VL2's switches have an even number of ports, not {}";

settings! {
    /// VL2 (Greenberg et al., SIGCOMM 2009): racks with two uplinks each, to two aggregation
    /// switches, and a full mesh of fast cables between aggregation and intermediate switches.
    #[derive(Copy, Eq)]
    pub struct Vl2 {
        /// Ports of an aggregation switch, half of them to racks (the paper's D_A); even.
        aggregation_ports: u32, required 8, within Bounds::POSITIVE, within Even(PORTS);
        /// Ports of an intermediate switch, which is the number of aggregation switches (D_I);
        /// even.
        intermediate_ports: u32, required 8, within Bounds::POSITIVE, within Even(PORTS);
        /// Hosts at each top-of-rack switch.
        hosts_per_rack: u32 = 20, within Bounds::POSITIVE;
        /// Rate of the hosts' links.
        rate: Rate, required Rate::gbps(1), within Bounds::POSITIVE;
        /// Propagation delay of the hosts' links.
        delay: Time, required Time::from_us(2), within Bounds::SPAN;
        /// Rate of the links between switches.
        core_rate: Rate, from |t| Rate(t.rate.0.saturating_mul(10)) => "ten times `rate`", within Bounds::POSITIVE,
            refused |t| t.core_rate > Rate::LARGEST => format!(
                "missing: ten times `rate`, the default, is above {}, the largest rate", Rate::LARGEST
            );
        /// Propagation delay of the links between switches.
        core_delay: Time, from |t| t.delay => "`delay`", within Bounds::SPAN;
    }
}

impl Vl2 {
    /// Number of racks: D_A D_I / 4.
    pub fn racks(&self) -> u64 {
        u64::from(self.aggregation_ports / 2) * u64::from(self.intermediate_ports / 2)
    }
}

impl Generator for Vl2 {
    fn size_keys(&self) -> &'static [&'static str] {
        &["aggregation_ports"]
    }

    fn hosts(&self) -> u64 {
        self.racks().saturating_mul(self.hosts_per_rack.into())
    }

    fn cables(&self) -> u64 {
        let mesh = u64::from(self.aggregation_ports / 2) * u64::from(self.intermediate_ports);
        self.hosts().saturating_add(self.racks().saturating_mul(2)).saturating_add(mesh)
    }

    /// Hosts `h0..`, top-of-rack switches `t0..`, aggregation switches `a0..`, intermediate
    /// switches `i0..`.
    fn fabric(&self) -> Fabric {
        let host = Cable { rate: self.rate, delay: self.delay };
        let core = Cable { rate: self.core_rate, delay: self.core_delay };
        let mut b = FabricBuilder::default();
        let hosts: Vec<_> = (0..self.hosts()).map(|i| b.node(format!("h{i}"), Layer::Host)).collect();
        let racks: Vec<_> = (0..self.racks()).map(|i| b.node(format!("t{i}"), Layer::Edge)).collect();
        let aggregations: Vec<_> =
            (0..self.intermediate_ports).map(|i| b.node(format!("a{i}"), Layer::Aggregation)).collect();
        let intermediates: Vec<_> =
            (0..self.aggregation_ports / 2).map(|i| b.node(format!("i{i}"), Layer::Core)).collect();
        for (i, (hosts, rack)) in hosts.chunks(self.hosts_per_rack as usize).zip(racks).enumerate() {
            hosts.iter().for_each(|h| b.lay(*h, rack, host));
            for uplink in [2 * i, 2 * i + 1] {
                b.lay(rack, aggregations[uplink % aggregations.len()], core);
            }
        }
        for aggregation in aggregations {
            intermediates.iter().for_each(|i| b.lay(aggregation, *i, core));
        }
        b.build()
    }
}
