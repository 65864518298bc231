use linkpool_network::Wire;
use linkpool_network::topology::{BCube, FatTree, LeafSpine, Vl2};
use linkpool_units::{Rate, Time};

use super::section::Section;
use super::topology::{fits, link};
use crate::file::{BCubeTable, FatTreeTable, LeafSpineTable, Vl2Table};

pub(super) fn fat_tree(table: &FatTreeTable, section: &mut Section<'_, '_>) -> Option<FatTree> {
    let k = section.required("k", table.k, "8");
    let host = host_wire(table.rate, table.delay, section);
    let tiers = table.tiers.unwrap_or(3);
    section.check(tiers == 2 || tiers == 3, "tiers", format!("{tiers} tiers; a fat-tree has 2 or 3"));
    for key in ["aggregation_rate", "aggregation_delay"] {
        let message = "a fat-tree of two tiers has no aggregation switches; leave it out";
        section.check(tiers != 2 || !section.has(key), key, message);
    }
    let k = k?;
    if k < 2 || k % 2 == 1 {
        section.error("k", format!("{k} ports; a fat-tree's switches have an even number of them, 2 or more"));
        return None;
    }
    let hosts_per_edge = table.hosts_per_edge.unwrap_or(k / 2);
    section.positive("hosts_per_edge", hosts_per_edge)?;
    let nics = table.nics.unwrap_or(1);
    section.check(nics == 1 || nics == 2, "nics", format!("{nics} NICs; a host has 1 or 2"));
    let racks = if tiers == 2 { k } else { k / 2 };
    section.check(nics != 2 || racks > 1, "nics", "a pod of one rack has no other one for a second NIC; raise `k`");
    let aggregation = wire(
        ("aggregation_rate", table.aggregation_rate),
        ("aggregation_delay", table.aggregation_delay),
        host,
        section,
    );
    let core = wire(("core_rate", table.core_rate), ("core_delay", table.core_delay), host, section);
    let (host, aggregation, core) = (host?, aggregation?, core?);
    let tree = FatTree { k, tiers, hosts_per_edge, nics, host, aggregation, core };
    if !section.is_good() {
        return None;
    }
    fits(tree.hosts(), tree.cables(), if table.hosts_per_edge.is_some() { "hosts_per_edge" } else { "k" }, section)?;
    Some(tree)
}

pub(super) fn leaf_spine(table: &LeafSpineTable, section: &mut Section<'_, '_>) -> Option<LeafSpine> {
    let leaves = section.required_positive("leaves", table.leaves, "16");
    let spines = section.required_positive("spines", table.spines, "4");
    let hosts_per_leaf = section.required_positive("hosts_per_leaf", table.hosts_per_leaf, "16");
    let host = host_wire(table.rate, table.delay, section);
    let uplink = wire(("uplink_rate", table.uplink_rate), ("uplink_delay", table.uplink_delay), host, section);
    let (leaves, spines, hosts_per_leaf) = (leaves?, spines?, hosts_per_leaf?);
    let tree = LeafSpine { leaves, spines, hosts_per_leaf, host: host?, uplink: uplink? };
    fits(tree.hosts(), tree.cables(), "leaves", section)?;
    Some(tree)
}

pub(super) fn vl2(table: &Vl2Table, section: &mut Section<'_, '_>) -> Option<Vl2> {
    let aggregation_ports = section.required_positive("aggregation_ports", table.aggregation_ports, "8");
    let intermediate_ports = section.required_positive("intermediate_ports", table.intermediate_ports, "8");
    for (key, ports) in [("aggregation_ports", aggregation_ports), ("intermediate_ports", intermediate_ports)] {
        if let Some(ports) = ports {
            section.check(ports % 2 == 0, key, format!("{ports} ports; VL2's switches have an even number of them"));
        }
    }
    let hosts_per_rack = section.positive("hosts_per_rack", table.hosts_per_rack.unwrap_or(20));
    let host = host_wire(table.rate, table.delay, section);
    let faster = host.map(|wire| Wire { rate: Rate(wire.rate.0.saturating_mul(10)), ..wire });
    let core = wire(("core_rate", table.core_rate), ("core_delay", table.core_delay), faster, section);
    let slow_enough = core.is_none_or(|core| core.rate <= Rate::LARGEST);
    let message = format!("missing: ten times `rate`, the default, is above {}, the largest rate", Rate::LARGEST);
    section.check(slow_enough, "core_rate", message);
    let tree = Vl2 {
        aggregation_ports: aggregation_ports?,
        intermediate_ports: intermediate_ports?,
        hosts_per_rack: hosts_per_rack?,
        host: host?,
        core: core?,
    };
    if !section.is_good() {
        return None;
    }
    fits(tree.hosts(), tree.cables(), "aggregation_ports", section)?;
    Some(tree)
}

pub(super) fn bcube(table: &BCubeTable, section: &mut Section<'_, '_>) -> Option<BCube> {
    let n = section.required("n", table.n, "4");
    let k = section.required("k", table.k, "1");
    let wire = host_wire(table.rate, table.delay, section);
    let n = n?;
    section.check(n >= 2, "n", format!("{n} ports; a BCube's switches have 2 or more"));
    let cube = BCube { n, k: k?, wire: wire? };
    if !section.is_good() {
        return None;
    }
    fits(cube.hosts(), cube.cables(), "k", section)?;
    Some(cube)
}

fn host_wire(rate: Option<Rate>, delay: Option<Time>, section: &mut Section<'_, '_>) -> Option<Wire> {
    let (rate, delay) = link(rate, delay, section);
    Some(Wire { rate: rate?, delay: delay? })
}

/// A cable of its own rate and delay, or what it has otherwise.
fn wire(
    (rate_key, rate): (&str, Option<Rate>),
    (delay_key, delay): (&str, Option<Time>),
    otherwise: Option<Wire>,
    section: &mut Section<'_, '_>,
) -> Option<Wire> {
    if let Some(rate) = rate {
        section.positive(rate_key, rate)?;
    }
    if let Some(delay) = delay {
        section.span(delay_key, delay);
    }
    let otherwise = otherwise?;
    Some(Wire { rate: rate.unwrap_or(otherwise.rate), delay: delay.unwrap_or(otherwise.delay) })
}
