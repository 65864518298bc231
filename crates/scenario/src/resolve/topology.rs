use linkpool_network::topology::{Ring, Triangle};
use linkpool_network::{MOST_HOSTS, Wire};
use linkpool_units::{Rate, Time};

use super::section::Section;
use super::{graph, trees};
use crate::errors::Report;
use crate::file::{DumbbellTable, ManyToOneTable, RingTable, TopologyTable, TrafficShiftTable, TriangleTable};
use crate::model::Topology;
use crate::source::Path;

/// More cables than this are a slip of the pen: they would not fit into memory.
pub(super) const MOST_CABLES: u64 = 2_000_000;

const RATE: &str = "\"10Gbps\"";
const DELAY: &str = "\"2us\"";

const KINDS: &str =
    "[topology.many-to-one], traffic-shift, dumbbell, fat-tree, leaf-spine, vl2, bcube, ring, triangle or graph";

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
        trees::fat_tree(&table, &mut Section::new(report, path.at("fat-tree"))).map(Topology::FatTree)
    } else if let Some(table) = table.leaf_spine {
        trees::leaf_spine(&table, &mut Section::new(report, path.at("leaf-spine"))).map(Topology::LeafSpine)
    } else if let Some(table) = table.vl2 {
        trees::vl2(&table, &mut Section::new(report, path.at("vl2"))).map(Topology::Vl2)
    } else if let Some(table) = table.bcube {
        trees::bcube(&table, &mut Section::new(report, path.at("bcube"))).map(Topology::BCube)
    } else if let Some(table) = table.ring {
        ring(table, &mut Section::new(report, path.at("ring"))).map(Topology::Ring)
    } else if let Some(table) = table.triangle {
        triangle(table, &mut Section::new(report, path.at("triangle"))).map(Topology::Triangle)
    } else if let Some(table) = table.graph {
        graph::graph(table, &mut Section::new(report, path.at("graph"))).map(Topology::Graph)
    } else {
        report.error(&path, format!("missing; write exactly one of {KINDS}"));
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

fn ring(table: RingTable, section: &mut Section<'_, '_>) -> Option<Ring> {
    let (rate, delay) = link(table.rate, table.delay, section);
    let rates = section.required("bottleneck_rates", table.bottleneck_rates, "[\"300Mbps\", \"300Mbps\"]")?;
    section.check(rates.len() >= 2, "bottleneck_rates", "a ring has two bottlenecks or more");
    few_enough(4 * rates.len() as u64, "bottleneck_rates", section)?;
    let bottlenecks = bottlenecks(rates, table.bottleneck_delays, delay?, section);
    section.is_good().then_some(Ring { bottlenecks, access: Wire { rate: rate?, delay: delay? } })
}

fn triangle(table: TriangleTable, section: &mut Section<'_, '_>) -> Option<Triangle> {
    let (rate, delay) = link(table.rate, table.delay, section);
    let example = "[\"12Mbps\", \"12Mbps\", \"12Mbps\"]";
    let rates = section.required("bottleneck_rates", table.bottleneck_rates, example)?;
    let bottlenecks = bottlenecks(rates, table.bottleneck_delays, delay?, section);
    section.check(bottlenecks.len() == 3, "bottleneck_rates", "a triangle has three bottlenecks");
    let bottlenecks = <[Wire; 3]>::try_from(bottlenecks).ok()?;
    section.is_good().then_some(Triangle { bottlenecks, access: Wire { rate: rate?, delay: delay? } })
}

/// Bottlenecks of these rates, and of one delay if they have none of their own.
fn bottlenecks(rates: Vec<Rate>, delays: Option<Vec<Time>>, delay: Time, section: &mut Section<'_, '_>) -> Vec<Wire> {
    for (i, rate) in rates.iter().enumerate() {
        section.positive(&format!("bottleneck_rates.{i}"), *rate);
    }
    let delays = delays.unwrap_or_else(|| vec![delay; rates.len()]);
    let message = format!("{} delays for {} bottlenecks; write one each", delays.len(), rates.len());
    section.check(delays.len() == rates.len(), "bottleneck_delays", message);
    for (i, delay) in delays.iter().enumerate() {
        section.span(&format!("bottleneck_delays.{i}"), *delay);
    }
    rates.into_iter().zip(delays).map(|(rate, delay)| Wire { rate, delay }).collect()
}

pub(super) fn link(
    rate: Option<Rate>,
    delay: Option<Time>,
    section: &mut Section<'_, '_>,
) -> (Option<Rate>, Option<Time>) {
    let rate = section.required_positive("rate", rate, RATE);
    let delay = section.required("delay", delay, DELAY);
    if let Some(delay) = delay {
        section.span("delay", delay);
    }
    (rate, delay)
}

/// Are there few enough hosts and cables?
pub(super) fn fits(hosts: u64, cables: u64, key: &str, section: &mut Section<'_, '_>) -> Option<()> {
    few_enough(hosts, key, section)?;
    section.check(cables <= MOST_CABLES, key, format!("makes {cables} links; at most {MOST_CABLES} can be simulated"));
    (cables <= MOST_CABLES).then_some(())
}

fn few_enough(hosts: u64, key: &str, section: &mut Section<'_, '_>) -> Option<()> {
    section.check(
        hosts <= u64::from(MOST_HOSTS),
        key,
        format!("makes {hosts} hosts; at most {MOST_HOSTS} can be simulated"),
    );
    (hosts <= u64::from(MOST_HOSTS)).then_some(())
}
