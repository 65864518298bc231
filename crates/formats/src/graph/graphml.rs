//! Graphs in GraphML (Brandes et al., Graph Drawing 2001), as networkx, igraph and yEd write it.
//!
//! Of a `<key>` GraphML's core asks for `id` and `for` alone; a key without `attr.name` is data of
//! some program, and has no effect here. The default of a key for edges goes before that of a key
//! for all.

use roxmltree::{Document, Node};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{DIRECTED, GraphFile};
use crate::LineNumbers;
use crate::{one_line, quoted};

/// The declaration of a `<key>`: its name, if it is not data of some program, and its default
/// value.
struct Key<'t> {
    id: &'t str,
    of: &'t str,
    name: Option<&'t str>,
    default: Option<&'t str>,
}

/// What a `<key>` may be for.
const FOR: [&str; 7] = ["node", "edge", "all", "graph", "graphml", "port", "endpoint"];

pub(super) fn parse(text: &str) -> Result<GraphFile, String> {
    // The error of a file of another format would show its content.
    if !text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']).starts_with('<') {
        return Err("line 1: not XML: it begins with no <".to_string());
    }
    let document = Document::parse(text).map_err(|why| format!("line {}: not XML: {why}", why.pos().row))?;
    let root = document.root_element();
    let lines = LineNumbers::of(text);
    let line = |node: Node<'_, '_>| lines.at(node.range().start);
    let mut graphs = children(root, "graph").filter(|_| root.tag_name().name() == "graphml");
    let graph = graphs.next().ok_or("has no <graph> in a <graphml>")?;
    if let Some(second) = graphs.next() {
        return Err(format!("line {}: a second <graph>; a file has one", line(second)));
    }
    if graph.attribute("edgedefault") == Some("directed") {
        let line = line(graph);
        return Err(format!(
            "line {line}: a directed graph; links are full duplex, so write edgedefault=\"undirected\""
        ));
    }
    let mut keys: Vec<Key<'_>> = Vec::new();
    for key in children(root, "key") {
        let at = format!("line {}", line(key));
        let id = key.attribute("id").ok_or(format!("{at}: a <key> without `id`"))?;
        let (of, name) = (key.attribute("for").unwrap_or("all"), key.attribute("attr.name"));
        if !FOR.contains(&of) && of != "hyperedge" {
            return Err(format!("{at}: a <key> for {}; it is for {}", quoted(of), FOR.join(", ")));
        }
        if keys.iter().any(|known| (known.id, known.of) == (id, of)) {
            return Err(format!("{at}: a second <key> for {of} has the id {}", quoted(id)));
        }
        if let Some(name) = name.filter(|name| keys.iter().any(|known| (known.name, known.of) == (Some(name), of))) {
            return Err(format!("{at}: a second <key> for {of} has the attr.name {}", quoted(name)));
        }
        let default = children(key, "default").next().and_then(|default| default.text()).map(str::trim);
        keys.push(Key { id, of, name, default });
    }
    // The specific key goes before, so it comes last.
    keys.sort_by_key(|key| key.of != "all"); // stable
    if let Some(inner) = graph.descendants().find(|inner| *inner != graph && is(*inner, "graph")) {
        return Err(format!("line {}: a <graph> in a <graph>, such as a group; take its nodes out of it", line(inner)));
    }
    if let Some(hyper) = children(graph, "hyperedge").next() {
        return Err(format!("line {}: a <hyperedge>; a link joins two nodes, so write each as an <edge>", line(hyper)));
    }
    let mut file = GraphFile::default();
    for node in children(graph, "node") {
        let at = format!("line {}", line(node));
        let id = node.attribute("id").ok_or(format!("{at}: a <node> without `id`"))?;
        let fixed = [("id", id)];
        let table = entry(node, "node", &keys, &fixed, &["kind", "layer", "forwards", "server", "rail"]);
        let table = table.map_err(|why| format!("{at}, node {}: {why}", quoted(id)))?;
        file.nodes.push((at, table));
    }
    for edge in children(graph, "edge") {
        let at = format!("line {}", line(edge));
        let end = |name| edge.attribute(name).ok_or(format!("{at}: an <edge> without `{name}`"));
        let (source, target) = (end("source")?, end("target")?);
        if edge.attribute("directed") == Some("true") {
            return Err(format!("{at}, edge {} to {}: {DIRECTED}", quoted(source), quoted(target)));
        }
        let fixed = [("source", source), ("target", target)];
        let table = entry(edge, "edge", &keys, &fixed, &["rate", "delay"]);
        let table = table.map_err(|why| format!("{at}, edge {} to {}: {why}", quoted(source), quoted(target)))?;
        file.edges.push((at, table));
    }
    Ok(file)
}

fn children<'a, 't>(node: Node<'a, 't>, name: &'static str) -> impl Iterator<Item = Node<'a, 't>> {
    node.children().filter(move |child| is(*child, name))
}

fn is(node: Node<'_, '_>, name: &str) -> bool {
    node.tag_name().name() == name
}

/// The value of an attribute. networkx writes True and true; a word in place of a number is an
/// error of its own.
fn typed(name: &str, value: &str) -> Value {
    match (name, value) {
        ("forwards", "true" | "True") => Value::Bool(true),
        ("forwards", "false" | "False") => Value::Bool(false),
        ("rail", value) => value.parse().map_or_else(|_| value.into(), |rail: u32| rail.into()),
        _ => value.into(),
    }
}

/// A node or an edge: its `fixed` attributes, and the `wanted` ones of its data, as graphs carry
/// other data too.
fn entry<T: DeserializeOwned>(
    element: Node<'_, '_>,
    kind: &str,
    keys: &[Key<'_>],
    fixed: &[(&str, &str)],
    wanted: &[&str],
) -> Result<T, String> {
    let mut kept = Map::new();
    let mut keep = |name: &str, value: &str| kept.insert(name.to_string(), typed(name, value));
    fixed.iter().for_each(|(name, value)| drop(keep(name, value)));
    let wanted = |key: &Key<'_>| key.name.is_some_and(|name| wanted.contains(&name));
    for key in keys.iter().filter(|key| [kind, "all"].contains(&key.of) && wanted(key)) {
        if let (Some(name), Some(default)) = (key.name, key.default) {
            keep(name, default);
        }
    }
    let mut given = Vec::new();
    for data in children(element, "data") {
        let id = data.attribute("key").ok_or("a <data> without `key`")?;
        let mut known = keys.iter().rev().filter(|key| key.id == id && [kind, "all"].contains(&key.of));
        let key = known.next().ok_or(format!("no <key> for {kind}s has the id {}", quoted(id)))?;
        if let Some(name) = key.name.filter(|_| wanted(key)) {
            if given.contains(&name) {
                return Err(format!("has two <data> for {name}"));
            }
            given.push(name);
            keep(name, data.text().unwrap_or_default().trim());
        }
    }
    T::deserialize(Value::Object(kept)).map_err(|why| one_line(&why.to_string()))
}
