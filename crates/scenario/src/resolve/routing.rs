//! How packets find their way.

use linkpool_network::topology::{self, FatTree};
use linkpool_network::{Fabric, LinkId, Spreading};
use linkpool_settings::NoNames;
use linkpool_units::counted;

use super::section::Section;
use super::settings::table;
use crate::errors::Report;
use crate::known::no_such_link;
use crate::model::{LinkWeight, Paths, Routing, Topology, Transport, WeightRule};
use crate::tree::KeyPath;

/// More entries for a link than a switch has for a destination.
const MOST_WEIGHT: u32 = 64;

pub(super) fn resolve(
    (topology, fabric): (Option<&Topology>, Option<&Fabric>),
    transports: &[Option<Transport>],
    report: &mut Report<'_>,
) -> Routing {
    let top = &mut Section::new(report, KeyPath::default());
    let mut routing: Routing = table("routing", &NoNames, top);
    if top.has("routing") && !top.is_good() {
        return routing;
    }
    let section = &mut top.at(KeyPath::default().at("routing"));
    if routing.kind.needs_gap() == Some(true) {
        section.required("gap", routing.gap, "\"500us\"");
    }
    if let Some(why) = fabric.and_then(|fabric| routing.kind.misfit(fabric)) {
        section.error("kind", why);
    }
    if routing.kind == Spreading::TwoLevel {
        let most = topology.and_then(|topology| most_addresses(topology, section));
        let addresses = *routing.addresses.get_or_insert(most.unwrap_or(1));
        if let Some(most) = most {
            let message = format!("a host of this tree has 1 to {most} addresses with paths of their own");
            section.check((1..=most).contains(&addresses), "addresses", message);
            transports.iter().flatten().for_each(|t| check_addresses(t, addresses, section));
        }
    } else if routing.link.is_none() {
        routing.weights.get_or_insert(WeightRule::Equal);
    }
    if let (Some(links), Some(fabric)) = (&mut routing.link, fabric) {
        check_weights(links, fabric, section);
    }
    check_placement(&routing, transports, section);
    if routing.kind.moves_flows() {
        for t in transports.iter().flatten() {
            let Some(key) = t.needs_order() else { continue };
            let why = "goes by the order of packets with one entropy value, which these switches change; write kind = \"ecmp\" \
                       in [routing], or leave it out";
            section.at(KeyPath::default().at("transport").at(&t.name)).error(key, why);
        }
    }
    routing
}

/// Transports have flows placed, and a scheduler places flows: both or none.
fn check_placement(routing: &Routing, transports: &[Option<Transport>], section: &mut Section<'_, '_>) {
    let placed = transports.iter().flatten().find(|t| t.paths.rule == Paths::Placed);
    match (placed, &routing.placement) {
        (Some(t), None) => {
            let name = &t.name;
            let message = format!(
                "missing, and {name} has its flows placed; write for example placement = {{ period = \"10ms\" }}"
            );
            section.error("placement", message);
        }
        (None, Some(_)) if transports.iter().all(Option::is_some) => {
            let unused = "is for transports with paths = \"placed\", and there is none; leave it out";
            section.error("placement", unused);
        }
        _ => {}
    }
}

/// How many addresses with paths of their own a host has.
fn most_addresses(topology: &Topology, section: &mut Section<'_, '_>) -> Option<u32> {
    let Topology::Drawn(topology::Topology::FatTree(FatTree { k, nics: 1, .. })) = topology else {
        section.error("kind", "two-level routing is for fat-trees whose hosts have one NIC");
        return None;
    };
    Some(k / 2)
}

/// Paths follow from addresses, one for each subflow.
fn check_addresses(t: &Transport, addresses: u32, section: &mut Section<'_, '_>) {
    let mut section = section.at(KeyPath::default().at("transport").at(&t.name));
    if t.paths.rule != Paths::Hash || t.is_mmptcp() {
        let (key, instead) = if t.paths.rule == Paths::Hash {
            ("control", "take another algorithm than mmptcp, which scatters packets over paths")
        } else {
            ("paths", "leave it out, or route by \"ecmp\"")
        };
        section.error(key, format!("two-level routing gives each address its path; {instead}"));
    } else if t.subflows.most() > addresses {
        let (subflows, addresses) = (counted(t.subflows.most(), "subflow"), counted(addresses, "address"));
        let why = format!("{subflows}, but hosts have {addresses}, each with one path");
        section.error("subflows", format!("{why}; lower it, or route by \"ecmp\""));
    }
}

/// The weights, in the order of their links.
fn check_weights(links: &mut [LinkWeight], fabric: &Fabric, section: &mut Section<'_, '_>) {
    let mut seen: Vec<LinkId> = Vec::new();
    for (i, weight) in links.iter_mut().enumerate() {
        let links = weight.links(fabric);
        if links.is_empty() {
            let both = weight.name.contains("<->").then(|| weight.name.replace("<->", "->"));
            let one = both.map(|one| format!("a weight is of one direction: write \"{one}\", and the other by itself"));
            let why = one.unwrap_or_else(|| no_such_link(&weight.name, fabric));
            section.error(&format!("link.{i}.name"), why);
            continue;
        }
        if let [link] = links[..] {
            weight.name = fabric.link_name(link);
        }
        let good = (1..=MOST_WEIGHT).contains(&weight.weight);
        section.check(good, &format!("link.{i}.weight"), format!("must be 1 to {MOST_WEIGHT}"));
        let twice = links.iter().any(|link| seen.contains(link));
        section.check(!twice, &format!("link.{i}.name"), "stands here twice; leave one out");
        seen.extend(links);
    }
    links.sort_by_key(|weight| weight.links(fabric));
}
