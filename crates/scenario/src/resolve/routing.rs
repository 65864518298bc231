//! How packets find their way.

use linkpool_network::topology::{self, FatTree};
use linkpool_network::{Fabric, Weights};
use linkpool_units::Time;
use std::collections::BTreeMap;

use super::record::no_such_link;
use super::section::Section;
use crate::errors::Report;
use crate::file::{LinkWeightTable, PlacementTable, RoutingName, RoutingTable, WeightsName};
use crate::model::{Paths, Placement, Routing, RoutingKind, Topology, Transport};
use crate::source::Path;

/// More entries for a link than a switch has for a destination.
const MOST_WEIGHT: u32 = 64;

pub(super) fn resolve(
    table: RoutingTable,
    (topology, fabric): (Option<&Topology>, Option<&Fabric>),
    transports: &[Option<Transport>],
    report: &mut Report<'_>,
) -> Option<Routing> {
    let section = &mut Section::new(report, Path::default().at("routing"));
    let name = table.kind.unwrap_or(RoutingName::Ecmp);
    let only = |key: &str, given: bool, kind: &str, section: &mut Section<'_, '_>| {
        section.check(!given, key, format!("applies only to kind = \"{kind}\"; leave it out"));
    };
    if name != RoutingName::Flowlets {
        only("gap", table.gap.is_some(), "flowlets", section);
    }
    if name != RoutingName::TwoLevel {
        only("addresses", table.addresses.is_some(), "two-level", section);
    }
    let kind = match name {
        RoutingName::Ecmp => Some(RoutingKind::Ecmp),
        RoutingName::Spray => Some(RoutingKind::Spray),
        RoutingName::Flowlets => flowlets(table.gap, section),
        RoutingName::TwoLevel => two_level(&table, topology, section),
    };
    let weights = weights(table.weights, table.link, fabric, section);
    if let Some(RoutingKind::TwoLevel { addresses }) = kind {
        transports.iter().flatten().for_each(|t| check_addresses(t, addresses, report));
    }
    let placement = placement(table.placement, transports, report);
    Some(Routing { kind: kind?, weights: weights?, placement: placement? })
}

/// The scheduler of transports whose flows it places: both or none.
fn placement(
    table: Option<PlacementTable>,
    transports: &[Option<Transport>],
    report: &mut Report<'_>,
) -> Option<Option<Placement>> {
    let placed = transports.iter().flatten().find(|t| t.paths.rule == Paths::Placed);
    let known = transports.iter().all(Option::is_some);
    let section = &mut Section::new(report, Path::default().at("routing"));
    let Some(PlacementTable { period, share }) = table else {
        if let Some(t) = placed {
            let name = &t.name;
            let message = format!(
                "missing, and {name} has its flows placed; write for example placement = {{ period = \"10ms\" }}"
            );
            section.error("placement", message);
        }
        return section.is_good().then_some(None);
    };
    let unused = "is for transports with paths = \"placed\", and there is none; leave it out";
    section.check(placed.is_some() || !known, "placement", unused);
    let period = section.required_positive("placement.period", period, "\"10ms\"");
    period.into_iter().for_each(|period| section.span("placement.period", period));
    let share = share.unwrap_or(0.1);
    let message = format!("{share} is no share of a link; it is above 0 and at most 1");
    section.check(share > 0.0 && share <= 1.0, "placement.share", message);
    section.is_good().then_some(Some(Placement { period: period?, share }))
}

fn flowlets(gap: Option<Time>, section: &mut Section<'_, '_>) -> Option<RoutingKind> {
    let gap = section.required_positive("gap", gap, "\"500us\"")?;
    section.span("gap", gap);
    Some(RoutingKind::Flowlets { gap })
}

fn two_level(table: &RoutingTable, topology: Option<&Topology>, section: &mut Section<'_, '_>) -> Option<RoutingKind> {
    let given = table.weights.is_some() || table.link.is_some();
    let key = if table.weights.is_some() { "weights" } else { "link" };
    section.check(!given, key, "two-level routing leaves no choice that could be weighted; leave it out");
    let Topology::Drawn(topology::Topology::FatTree(FatTree { k, nics: 1, .. })) = topology? else {
        section.error("kind", "two-level routing is for fat-trees whose hosts have one NIC");
        return None;
    };
    let addresses = table.addresses.unwrap_or(k / 2);
    let message = format!("a host of this tree has 1 to {} addresses with paths of their own", k / 2);
    section.check((1..=k / 2).contains(&addresses), "addresses", message);
    Some(RoutingKind::TwoLevel { addresses })
}

/// Paths follow from addresses, one for each subflow.
fn check_addresses(t: &Transport, addresses: u32, report: &mut Report<'_>) {
    let path = Path::default().at("transport").at(&t.name);
    if t.paths.rule != Paths::Hash || t.is_mmptcp() {
        let key = if t.paths.rule == Paths::Hash { "control" } else { "paths" };
        report.error(
            &path.at(key),
            "two-level routing gives each address its path; leave it out, or take another algorithm than mmptcp",
        );
    } else if t.subflows.most() > addresses {
        let why = format!("{} subflows, but hosts have {addresses} addresses, each with one path", t.subflows.most());
        report.error(&path.at("subflows"), format!("{why}; lower it, or route by \"ecmp\""));
    }
}

fn weights(
    rule: Option<WeightsName>,
    links: Option<Vec<LinkWeightTable>>,
    fabric: Option<&Fabric>,
    section: &mut Section<'_, '_>,
) -> Option<Weights> {
    let Some(links) = links else {
        return Some(if rule == Some(WeightsName::Capacity) { Weights::Capacity } else { Weights::Equal });
    };
    section.check(rule.is_none(), "weights", "links have weights by rule or one by one; leave out `weights` or `link`");
    let fabric = fabric?;
    let name = |node| fabric.name(node).to_string();
    let all: Vec<(String, String)> = fabric.links().iter().map(|l| (name(l.from), name(l.to))).collect();
    let mut given = BTreeMap::new();
    for (i, LinkWeightTable { name, weight }) in links.iter().enumerate() {
        let ends = name.split_once("->").map(|(from, to)| (from.trim(), to.trim()));
        let link = ends.and_then(|(from, to)| fabric.link(fabric.node(from)?, fabric.node(to)?));
        let Some(link) = link else {
            section.error(&format!("link.{i}.name"), no_such_link(name, &all));
            continue;
        };
        let good = (1..=MOST_WEIGHT).contains(weight);
        section.check(good, &format!("link.{i}.weight"), format!("must be 1 to {MOST_WEIGHT}"));
        let first = given.insert(link, *weight).is_none();
        section.check(first, &format!("link.{i}.name"), "stands here twice; leave one out");
    }
    Some(Weights::Given(given))
}
