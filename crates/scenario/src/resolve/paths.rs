//! Paths that flows name, node by node.

use linkpool_network::{Fabric, NodeId, reversed, source_route};
use linkpool_settings::nearest;
use linkpool_units::counted;
use linkpool_workload::kinds::Flow;

use super::section::Section;
use crate::model::{Paths, Subflows, Transport};

/// Checks the paths of a flow, if it names some.
pub(super) fn check(flow: &Flow, transport: Option<&Transport>, fabric: &Fabric, section: &mut Section<'_, '_>) {
    let Some(paths) = &flow.paths else { return };
    if let Some(transport) = transport {
        check_transport(paths.len(), transport, section);
    }
    let (from, to) = (NodeId::from(flow.from), NodeId::from(flow.to));
    for (i, names) in paths.iter().enumerate() {
        if let Err((place, why)) = check_path(names, (from, to), fabric) {
            let key = place.map_or(format!("paths.{i}"), |place| format!("paths.{i}.{place}"));
            section.error(&key, why);
        }
    }
}

/// An error is the place of the wrong node, if it is one, and a message.
fn check_path(names: &[String], (from, to): (NodeId, NodeId), fabric: &Fabric) -> Result<(), (Option<usize>, String)> {
    let mut nodes = Vec::new();
    for (i, name) in names.iter().enumerate() {
        let Some(node) = fabric.step(name) else {
            let all = NodeId::first(fabric.nodes()).map(|node| fabric.name(node));
            return Err((Some(i), format!("there is no node {name:?}; {}", nearest(name, all))));
        };
        if nodes.contains(&node) {
            return Err((Some(i), format!("{name} stands here twice; a path comes to a node once")));
        }
        nodes.push(node);
    }
    if (nodes.first(), nodes.last()) != (Some(&from), Some(&to)) {
        let (from, to) = (fabric.name(from), fabric.name(to));
        return Err((None, format!("must go from {from} to {to}, both included")));
    }
    let mut links = Vec::new();
    for (i, ends) in nodes.windows(2).enumerate() {
        let [a, b] = [ends[0], ends[1]].map(|node| fabric.name(node));
        let named = fabric.links_named(a, &names[i + 1]);
        let link = match named[..] {
            [link] => link,
            [] => {
                let mut to: Vec<_> =
                    fabric.links_from(ends[0]).map(|l| fabric.name(fabric.links()[l.index()].to)).collect();
                to.dedup();
                let why = match fabric.links_between(ends[0], ends[1]).count() {
                    0 => format!("no link leads from {a} to {b}, only to {}", to.join(", ")),
                    1 => format!("one cable leads from {a} to {b}; write {b}"),
                    n => format!("{n} cables lead from {a} to {b}; write {b}#0 to {b}#{}", n - 1),
                };
                return Err((Some(i + 1), why));
            }
            [_, .., _] => {
                let last = named.len() - 1;
                let why = format!("{} cables lead from {a} to {b}; say which: {b}#0 to {b}#{last}", named.len());
                return Err((Some(i + 1), why));
            }
        };
        if ends[1] != to && !fabric.forwards(ends[1]) {
            return Err((Some(i + 1), format!("{b} is a host, and it does not forward")));
        }
        links.push(link);
    }
    if source_route(fabric, &links).and(source_route(fabric, &reversed(fabric, &links))).is_none() {
        let why =
            "has too many hops over nodes of too many ports: it must fit into the 32 bits that a packet has for it";
        return Err((None, why.to_string()));
    }
    Ok(())
}

/// A flow that names paths names one for each subflow, and its transport does not choose others.
fn check_transport(paths: usize, t: &Transport, section: &mut Section<'_, '_>) {
    if matches!(t.paths.rule, Paths::Scatter | Paths::Plb | Paths::Reps) || t.is_mmptcp() {
        section.error("paths", format!("packets of {} take random paths; leave one of the two out", t.name));
    }
    if t.control.family().facts().spread.is_any() {
        section.error("paths", format!("packets of {} take many paths in turns; leave `paths` out", t.name));
    }
    let placed = format!("the flows of {} are placed by a scheduler; leave one of the two out", t.name);
    section.check(t.paths.rule != Paths::Placed, "paths", placed);
    let (fits, has) = match t.subflows {
        Subflows::Count(n) => (paths == n as usize, counted(n, "subflow")),
        Subflows::Auto => (false, "\"auto\" subflows".to_string()),
    };
    let named = counted(paths, "path");
    section.check(fits, "paths", format!("{named}, but {} has {has}; write a path for each", t.name));
}
