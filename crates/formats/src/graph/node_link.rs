//! Graphs in JSON, in the node-link form that networkx writes.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::{DIRECTED, GraphFile};
use crate::LineNumbers;
use crate::{one_line, quoted};

/// The required keys of the file; nodes and edges are kept as text, to report their places.
#[derive(Deserialize)]
struct Graph<'t> {
    directed: Option<bool>,
    #[serde(borrow)]
    nodes: Option<Vec<&'t RawValue>>,
    // Older versions of networkx write "links", newer ones "edges".
    #[serde(borrow, alias = "links")]
    edges: Option<Vec<&'t RawValue>>,
}

pub(super) fn parse(text: &str) -> Result<GraphFile, String> {
    // A file that is not JSON is reported as such, and not as a mistake in the form.
    serde_json::from_str::<serde::de::IgnoredAny>(text)
        .map_err(|why| format!("line {}: not JSON: {why}", why.line()))?;
    // Other content is not quoted: the file may be of another format.
    let form = "expected an object with the arrays \"nodes\" and \"edges\", as networkx.node_link_data writes it";
    let graph: Graph = serde_json::from_str(text).map_err(|why| format!("line {}: {form}", why.line()))?;
    if graph.directed == Some(true) {
        return Err("a directed graph; links are full duplex, so write an undirected one".to_string());
    }
    let missing = |name| format!("has no array {name:?}; networkx.node_link_data writes one");
    let lines = LineNumbers::of(text);
    let place = |list: &str, i: usize, entry: &RawValue| {
        let before = entry.get().as_ptr() as usize - text.as_ptr() as usize;
        format!("line {}: {list}[{i}]", lines.at(before))
    };
    let mut file = GraphFile::default();
    for (i, node) in graph.nodes.ok_or_else(|| missing("nodes"))?.into_iter().enumerate() {
        let (at, node) = (place("nodes", i, node), value(node));
        let what = format!("{at}, node {}", name(&node, "id"));
        let table = entry(&node, &["id", "kind", "layer", "forwards", "server", "rail"], &["id", "server"])
            .map_err(|why| format!("{what}: {why}"))?;
        file.nodes.push((at, table));
    }
    for (i, edge) in graph.edges.ok_or_else(|| missing("edges"))?.into_iter().enumerate() {
        let (at, edge) = (place("edges", i, edge), value(edge));
        let what = format!("{at}, edge {} to {}", name(&edge, "source"), name(&edge, "target"));
        if edge.get("directed") == Some(&Value::Bool(true)) {
            return Err(format!("{what}: {DIRECTED}"));
        }
        let keys = ["source", "target", "rate", "delay"];
        let table = entry(&edge, &keys, &["source", "target"]).map_err(|why| format!("{what}: {why}"))?;
        file.edges.push((at, table));
    }
    Ok(file)
}

/// The name that stands under `key`, as messages show it.
fn name(entry: &Value, key: &str) -> String {
    match entry.get(key) {
        Some(Value::String(name)) => quoted(name),
        Some(Value::Number(n)) => n.to_string(),
        _ => "(none)".to_string(),
    }
}

fn value(text: &RawValue) -> Value {
    serde_json::from_str(text.get()).expect("it has been read once")
}

/// A node or an edge, with the attributes that matter, as graphs carry others too. Nodes may have
/// numbers as names.
fn entry<T: DeserializeOwned>(value: &Value, keys: &[&str], names: &[&str]) -> Result<T, String> {
    let object = value.as_object().ok_or("not an object")?;
    let mut kept = Map::new();
    for key in keys {
        let value = match object.get(*key) {
            None | Some(Value::Null) => continue,
            Some(Value::Number(n)) if names.contains(key) => Value::String(n.to_string()),
            Some(value) => value.clone(),
        };
        kept.insert(key.to_string(), value);
    }
    T::deserialize(Value::Object(kept)).map_err(|why| one_line(&why.to_string()))
}
