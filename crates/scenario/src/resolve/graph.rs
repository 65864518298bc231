//! Any graph, from a file or from the scenario itself.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;

use linkpool_network::{Cable, Layer, NodeId, cut_off};
use linkpool_units::{HostId, Rate, Time};

use super::section::Section;
use super::settings::table;
use super::size::fits;
use crate::file::{GRAPH, GraphTable};
use crate::included;
use crate::model::{Graph, Node};
use linkpool_formats::graph::{self, EdgeTable, GraphFile, GraphFormat, MOST_CABLES, NodeKind, NodeTable};
use linkpool_formats::quoted;
use linkpool_settings::{NoNames, nearest};

/// Longer names make tables of results unreadable.
const LONGEST_NAME: usize = 100;

/// Where nodes and edges stand, for messages about them.
enum Place {
    Scenario,
    /// The file, and in it each node and each edge.
    File(String, Vec<String>, Vec<String>),
}

impl Place {
    /// An error about entry `i` of `list`, which messages call `what`.
    fn error(&self, section: &mut Section<'_, '_>, (list, i): (&str, usize), what: &str, message: &str) {
        match self {
            Place::Scenario => section.error(&format!("{list}.{i}"), format!("{what}: {message}")),
            Place::File(file, nodes, edges) => {
                let at = if list == "nodes" { &nodes[i] } else { &edges[i] };
                section.error("file", format!("{file}: {at}, {what}: {message}"));
            }
        }
    }
}

pub(super) fn resolve(section: &mut Section<'_, '_>) -> Option<Graph> {
    let table: GraphTable = table(GRAPH, &NoNames, section);
    if section.is_good() { section.within(GRAPH, |section| graph(table, section))? } else { None }
}

fn graph(table: GraphTable, section: &mut Section<'_, '_>) -> Option<Graph> {
    let (place, nodes, edges) = match table.file {
        Some(file) => {
            let read = read(&section.beside(&file), table.format);
            let graph = read.map_err(|why| section.error("file", format!("{file}: {why}"))).ok()?;
            let (of_nodes, nodes) = graph.nodes.into_iter().unzip();
            let (of_edges, edges) = graph.edges.into_iter().unzip();
            (Place::File(file, of_nodes, of_edges), nodes, edges)
        }
        None => (Place::Scenario, table.nodes?, table.edges?),
    };
    let nodes = hosts_first(nodes, &place, section)?;
    let names: HashMap<&str, NodeId> =
        nodes.iter().map(|node| node.name.as_str()).zip(NodeId::first(nodes.len())).collect();
    let cables = cables(&edges, &names, (table.rate, table.delay), &place, section);
    let hosts = nodes.iter().filter(|node| node.layer == Layer::Host).count();
    let key = if matches!(place, Place::Scenario) { "nodes" } else { "file" };
    section.check(hosts >= 2, key, "has fewer than two hosts, so that no flow has two ends");
    fits(hosts as u64, cables.len() as u64, key, section)?;
    if cables.len() as u64 > MOST_CABLES {
        let number = cables.len();
        section.error(key, format!("makes {number} links; at most {MOST_CABLES} of a graph can be simulated"));
        return None;
    }
    let graph = Graph { nodes, cables };
    if !section.is_good() {
        return None;
    }
    let with_rails = graph.nodes.iter().filter(|node| node.rail.is_some()).filter_map(|node| node.server.as_deref());
    let with_rails: BTreeSet<&str> = with_rails.collect();
    if let Some(server) = with_rails.into_iter().find(|server| graph.needs_pcie(server)) {
        let why = format!(
            "the hosts of server {} reach each other over switches of layer pcie, and those of servers with a `rail` do so \
             over other links; join them, or leave `rail` out",
            quoted(server)
        );
        section.error(key, why);
        return None;
    }
    // Without servers every host reaches the first, or some do not.
    let targets = HostId::first(if graph.has_servers() { hosts } else { 1 });
    if let Some((host, target)) = cut_off(&graph.fabric(), targets) {
        let [target, host] = [target, host].map(|host| &graph.nodes[host.index()].name);
        let by_rail = graph.nodes.iter().any(|node| node.rail.is_some());
        let rules = match (graph.has_servers(), by_rail) {
            (true, true) => {
                ", for packets inside a server do not leave it, and others leave by the rail of their destination"
            }
            (true, false) => ", for packets inside a server do not leave it",
            (false, _) => "",
        };
        section.error(key, format!("no path leads from {target} to {host}{rules}; join them, or take one out"));
        return None;
    }
    Some(graph)
}

/// The graph in the file at `path`, in `format` or that of its ending, or its error.
fn read(path: &Path, format: Option<GraphFormat>) -> Result<GraphFile, String> {
    let text = included::read(path)?;
    let of_ending = || match path.extension().and_then(|ending| ending.to_str()) {
        Some("json") => Some(GraphFormat::NodeLink),
        Some("graphml") => Some(GraphFormat::GraphMl),
        Some("topo") => Some(GraphFormat::Htsim),
        _ => None,
    };
    match format.or_else(of_ending) {
        Some(format) => graph::read(&text, format),
        None => Err("has the ending of no known format: a graph is .json (node-link), .graphml or .topo (htsim), \
                     or write its `format`"
            .to_string()),
    }
}

fn hosts_first(nodes: Vec<NodeTable>, place: &Place, section: &mut Section<'_, '_>) -> Option<Vec<Node>> {
    let mut seen = HashSet::new();
    let mut all = Vec::new();
    for (i, NodeTable { id, kind, layer, forwards, server, rail }) in nodes.into_iter().enumerate() {
        if section.is_full() {
            break;
        }
        let what = format!("node {}", quoted(&id));
        let mut wrong = |message: &str| place.error(section, ("nodes", i), &what, message);
        if id.is_empty() || id.contains("->") || id.trim() != id {
            wrong("no name for a node: links are written FROM->TO");
        }
        if id.len() > LONGEST_NAME {
            wrong(&format!("a name has at most {LONGEST_NAME} bytes"));
        }
        if !seen.insert(id.clone()) {
            wrong("stands here twice; rename or remove one");
        }
        let layer = match (kind, layer) {
            (NodeKind::Host, None | Some(Layer::Host)) => Layer::Host,
            (NodeKind::Switch, None) => Layer::Switch,
            (NodeKind::Switch, Some(layer)) if layer != Layer::Host => layer,
            (_, Some(layer)) => {
                wrong(&format!("a node of its kind is not in the layer {}", layer.name()));
                layer
            }
        };
        let is_switch = kind == NodeKind::Switch;
        if is_switch && forwards.is_some() {
            wrong("is a switch, and switches forward; leave `forwards` out");
        }
        if server.as_deref() == Some("") {
            wrong("an empty `server`; name it, or leave `server` out");
        }
        if rail.is_some() && is_switch {
            wrong("is a switch, and hosts have rails; leave `rail` out");
        } else if rail.is_some() && server.is_none() {
            wrong("has a `rail` and no `server`; name its server, or leave `rail` out");
        }
        all.push(Node { name: id, layer, forwards: forwards.unwrap_or(is_switch), server, rail });
    }
    all.sort_by_key(|node| node.layer != Layer::Host); // stable: otherwise in the order of the file
    section.is_good().then_some(all)
}

fn cables(
    edges: &[EdgeTable],
    names: &HashMap<&str, NodeId>,
    (rate, delay): (Option<Rate>, Option<Time>),
    place: &Place,
    section: &mut Section<'_, '_>,
) -> Vec<(NodeId, NodeId, Cable)> {
    // By pair of nodes: the number of cables between them.
    let mut joined: HashMap<(NodeId, NodeId), u32> = HashMap::new();
    let mut cables = Vec::new();
    for (i, edge) in edges.iter().enumerate() {
        if section.is_full() {
            break;
        }
        let what = format!("edge {} to {}", quoted(&edge.source), quoted(&edge.target));
        let mut wrong = |message: &str| place.error(section, ("edges", i), &what, message);
        let ends = [&edge.source, &edge.target].map(|name| {
            let node = names.get(name.as_str()).copied();
            if node.is_none() {
                wrong(&format!("there is no node {}; {}", quoted(name), nearest(name, names.keys().copied())));
            }
            node
        });
        let [Some(from), Some(to)] = ends else { continue };
        if from == to {
            wrong("joins a node to itself");
        }
        let number = joined.entry((from.min(to), from.max(to))).or_default();
        *number += 1;
        // The cables are called FROM->TO#0, FROM->TO#1, and so on.
        for (name, member) in [&edge.source, &edge.target].into_iter().flat_map(|name| [(name, 0), (name, *number - 1)])
        {
            let cable = format!("{name}#{member}");
            if *number > 1 && names.contains_key(cable.as_str()) {
                wrong(&format!(
                    "the name of node {} is that of one of these parallel cables; rename it",
                    quoted(&cable)
                ));
                break;
            }
        }
        let rate = edge.rate.or(rate);
        match rate {
            None => wrong("has no `rate`; give it one, or the graph one for all"),
            Some(Rate(0)) => wrong("its `rate` must be above zero"),
            _ => {}
        }
        let delay = edge.delay.or(delay);
        match delay {
            None => wrong("has no `delay`; give it one, or the graph one for all"),
            Some(delay) if delay > super::section::LONGEST => wrong("its `delay` is too long"),
            _ => {}
        }
        cables.extend(rate.zip(delay).map(|(rate, delay)| (from, to, Cable { rate, delay })));
    }
    cables
}
