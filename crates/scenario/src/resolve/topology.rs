use linkpool_units::{Rate, Time};

use super::section::Section;
use crate::errors::Report;
use crate::file::{DumbbellTable, FatTreeTable, ManyToOneTable, TopologyTable, TrafficShiftTable};
use crate::model::Topology;
use crate::source::Path;

/// The simulator numbers hosts with 16 bits.
const MOST_HOSTS: u64 = 65_535;

const RATE: &str = "\"10Gbps\"";
const DELAY: &str = "\"2us\"";

pub(super) fn resolve(table: Option<TopologyTable>, report: &mut Report<'_>) -> Option<Topology> {
    let path = Path::default().at("topology");
    let given: Vec<String> =
        report.root().get(&path).into_iter().flat_map(|node| node.keys().map(str::to_string)).collect();
    if let [_, .., last] = &given[..] {
        let all = given.join(" and ");
        report.error(&path.at(last), format!("there is exactly one topology, and here are {all}; leave only one"));
        return None;
    }
    let table = table.unwrap_or_default();
    if let Some(table) = table.many_to_one {
        many_to_one(&table, &mut Section::new(report, path.at("many-to-one")))
    } else if let Some(table) = table.traffic_shift {
        traffic_shift(&table, &mut Section::new(report, path.at("traffic-shift")))
    } else if let Some(table) = table.dumbbell {
        dumbbell(&table, &mut Section::new(report, path.at("dumbbell")))
    } else if let Some(table) = table.fat_tree {
        fat_tree(&table, &mut Section::new(report, path.at("fat-tree")))
    } else {
        let kinds = "[topology.many-to-one], [topology.traffic-shift], [topology.dumbbell] or [topology.fat-tree]";
        report.error(&path, format!("missing; write exactly one of {kinds}"));
        None
    }
}

fn many_to_one(table: &ManyToOneTable, section: &mut Section<'_, '_>) -> Option<Topology> {
    let senders = section.required_positive("senders", table.senders, "30");
    let (rate, delay) = link(table.rate, table.delay, section);
    let senders = senders?;
    few_enough(u64::from(senders) + 1, "senders", section)?;
    Some(Topology::ManyToOne { senders, rate: rate?, delay: delay? })
}

fn traffic_shift(table: &TrafficShiftTable, section: &mut Section<'_, '_>) -> Option<Topology> {
    let (rate, delay) = link(table.rate, table.delay, section);
    Some(Topology::TrafficShift { rate: rate?, delay: delay? })
}

fn dumbbell(table: &DumbbellTable, section: &mut Section<'_, '_>) -> Option<Topology> {
    let pairs = section.required_positive("pairs", table.pairs, "2");
    let (rate, delay) = link(table.rate, table.delay, section);
    let bottleneck_rate = table.bottleneck_rate.or(rate);
    let bottleneck_delay = table.bottleneck_delay.or(delay);
    let bottleneck_rate = bottleneck_rate.and_then(|rate| section.positive("bottleneck_rate", rate));
    if let Some(delay) = table.bottleneck_delay {
        section.span("bottleneck_delay", delay);
    }
    let pairs = pairs?;
    few_enough(2 * u64::from(pairs), "pairs", section)?;
    Some(Topology::Dumbbell {
        pairs,
        rate: rate?,
        delay: delay?,
        bottleneck_rate: bottleneck_rate?,
        bottleneck_delay: bottleneck_delay?,
    })
}

fn fat_tree(table: &FatTreeTable, section: &mut Section<'_, '_>) -> Option<Topology> {
    let k = section.required("k", table.k, "8");
    let (rate, delay) = link(table.rate, table.delay, section);
    let k = k?;
    if k < 2 || k % 2 == 1 {
        section.error("k", format!("{k} ports; a fat-tree's switches have an even number of them, 2 or more"));
        return None;
    }
    let hosts_per_edge = table.hosts_per_edge.unwrap_or(k / 2);
    section.positive("hosts_per_edge", hosts_per_edge)?;
    let edges = u64::from(k) * u64::from(k / 2);
    let key = if table.hosts_per_edge.is_some() { "hosts_per_edge" } else { "k" };
    few_enough(edges.saturating_mul(u64::from(hosts_per_edge)), key, section)?;
    Some(Topology::FatTree { k, hosts_per_edge, rate: rate?, delay: delay? })
}

fn link(rate: Option<Rate>, delay: Option<Time>, section: &mut Section<'_, '_>) -> (Option<Rate>, Option<Time>) {
    let rate = section.required_positive("rate", rate, RATE);
    let delay = section.required("delay", delay, DELAY);
    if let Some(delay) = delay {
        section.span("delay", delay);
    }
    (rate, delay)
}

fn few_enough(hosts: u64, key: &str, section: &mut Section<'_, '_>) -> Option<()> {
    section.check(hosts <= MOST_HOSTS, key, format!("makes {hosts} hosts; at most {MOST_HOSTS} can be simulated"));
    (hosts <= MOST_HOSTS).then_some(())
}
