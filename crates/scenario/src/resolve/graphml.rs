//! Graphs in GraphML (Brandes et al., Graph Drawing 2001), as networkx, igraph and yEd write it.

use std::collections::HashMap;

use roxmltree::{Document, Node};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::graph_file::GraphFile;
use crate::quote::{one_line, quoted};
use crate::tree::LineNumbers;

/// The declaration of a `<key>`: its name, and its default value.
struct Key<'t> {
    name: &'t str,
    default: Option<&'t str>,
}

pub(super) fn parse(text: &str) -> Result<GraphFile, String> {
    // The error of a file of another format would show its content.
    if !text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']).starts_with('<') {
        return Err("line 1: not XML: it begins with no <".to_string());
    }
    let document = Document::parse(text).map_err(|why| format!("line {}: not XML: {why}", why.pos().row))?;
    let root = document.root_element();
    let lines = LineNumbers::of(text);
    let line = |node: Node<'_, '_>| lines.at(node.range().start);
    let graph = children(root, "graph").next().filter(|_| root.tag_name().name() == "graphml");
    let graph = graph.ok_or("has no <graph> in a <graphml>")?;
    if graph.attribute("edgedefault") == Some("directed") {
        let line = line(graph);
        return Err(format!(
            "line {line}: a directed graph; links are full duplex, so write edgedefault=\"undirected\""
        ));
    }
    let mut keys = HashMap::new();
    for key in children(root, "key") {
        let attribute = |name| key.attribute(name).ok_or(format!("line {}: a <key> without `{name}`", line(key)));
        let default = children(key, "default").next().and_then(|default| default.text()).map(str::trim);
        keys.insert(
            (attribute("id")?, key.attribute("for").unwrap_or("all")),
            Key { name: attribute("attr.name")?, default },
        );
    }
    let mut file = GraphFile::default();
    for node in children(graph, "node") {
        let at = format!("line {}", line(node));
        let id = node.attribute("id").ok_or(format!("{at}: a <node> without `id`"))?;
        let fixed = [("id", id)];
        let table = entry(node, "node", &keys, &fixed, &["kind", "layer"]);
        let table = table.map_err(|why| format!("{at}, node {}: {why}", quoted(id)))?;
        file.nodes.push((at, table));
    }
    for edge in children(graph, "edge") {
        let at = format!("line {}", line(edge));
        let end = |name| edge.attribute(name).ok_or(format!("{at}: an <edge> without `{name}`"));
        let (source, target) = (end("source")?, end("target")?);
        let fixed = [("source", source), ("target", target)];
        let table = entry(edge, "edge", &keys, &fixed, &["rate", "delay"]);
        let table = table.map_err(|why| format!("{at}, edge {} to {}: {why}", quoted(source), quoted(target)))?;
        file.edges.push((at, table));
    }
    Ok(file)
}

fn children<'a, 't>(node: Node<'a, 't>, name: &'static str) -> impl Iterator<Item = Node<'a, 't>> {
    node.children().filter(move |child| child.tag_name().name() == name)
}

/// A node or an edge: its `fixed` attributes, and the `wanted` ones of its data, as graphs carry
/// other data too.
fn entry<T: DeserializeOwned>(
    element: Node<'_, '_>,
    kind: &str,
    keys: &HashMap<(&str, &str), Key<'_>>,
    fixed: &[(&str, &str)],
    wanted: &[&str],
) -> Result<T, String> {
    let mut kept = Map::new();
    let mut keep = |name: &str, value: &str| kept.insert(name.to_string(), Value::String(value.to_string()));
    fixed.iter().for_each(|(name, value)| drop(keep(name, value)));
    for ((_, of), key) in keys {
        if let Some(default) = key.default.filter(|_| [kind, "all"].contains(of) && wanted.contains(&key.name)) {
            keep(key.name, default);
        }
    }
    for data in children(element, "data") {
        let id = data.attribute("key").ok_or("a <data> without `key`")?;
        let key = keys.get(&(id, kind)).or_else(|| keys.get(&(id, "all")));
        let key = key.ok_or(format!("no <key> for {kind}s has the id {}", quoted(id)))?;
        if wanted.contains(&key.name) {
            keep(key.name, data.text().unwrap_or_default().trim());
        }
    }
    T::deserialize(Value::Object(kept)).map_err(|why| one_line(&why.to_string()))
}
