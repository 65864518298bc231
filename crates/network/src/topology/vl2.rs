//! VL2: a Clos network of aggregation and intermediate switches.

use crate::fabric::{Fabric, FabricBuilder, Layer, Wire};

/// VL2 (Greenberg et al., SIGCOMM 2009): racks with two uplinks each, to two aggregation switches, and a full mesh of fast
/// cables between aggregation and intermediate switches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Vl2 {
    /// Ports of an aggregation switch (the paper's D_A), half of them to racks; even.
    pub aggregation_ports: u32,
    /// Ports of an intermediate switch (D_I), which is the number of aggregation switches; even.
    pub intermediate_ports: u32,
    /// Hosts at each top-of-rack switch.
    pub hosts_per_rack: u32,
    /// Host to top of rack.
    pub host: Wire,
    /// Between switches.
    pub core: Wire,
}

impl Vl2 {
    /// Number of racks: D_A D_I / 4.
    pub fn racks(&self) -> u64 {
        u64::from(self.aggregation_ports / 2) * u64::from(self.intermediate_ports / 2)
    }

    /// Number of hosts.
    pub fn hosts(&self) -> u64 {
        self.racks().saturating_mul(self.hosts_per_rack.into())
    }

    /// Number of cables.
    pub fn cables(&self) -> u64 {
        let mesh = u64::from(self.aggregation_ports / 2) * u64::from(self.intermediate_ports);
        self.hosts().saturating_add(self.racks().saturating_mul(2)).saturating_add(mesh)
    }

    /// Hosts `h0..`, top-of-rack switches `t0..`, aggregation switches `a0..`, intermediate switches `i0..`.
    pub fn fabric(&self) -> Fabric {
        let mut b = FabricBuilder::default();
        let hosts: Vec<_> = (0..self.hosts()).map(|i| b.node(format!("h{i}"), Layer::Host)).collect();
        let racks: Vec<_> = (0..self.racks()).map(|i| b.node(format!("t{i}"), Layer::Edge)).collect();
        let aggregations: Vec<_> =
            (0..self.intermediate_ports).map(|i| b.node(format!("a{i}"), Layer::Aggregation)).collect();
        let intermediates: Vec<_> =
            (0..self.aggregation_ports / 2).map(|i| b.node(format!("i{i}"), Layer::Core)).collect();
        for (i, (hosts, rack)) in hosts.chunks(self.hosts_per_rack as usize).zip(racks).enumerate() {
            hosts.iter().for_each(|h| b.wire(*h, rack, self.host));
            for uplink in [2 * i, 2 * i + 1] {
                b.wire(rack, aggregations[uplink % aggregations.len()], self.core);
            }
        }
        for aggregation in aggregations {
            intermediates.iter().for_each(|i| b.wire(aggregation, *i, self.core));
        }
        b.build()
    }
}
