//! Graphs in JSON, in the node-link form that networkx writes.

use std::path::Path;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::file::{EdgeTable, NodeTable};

/// The nodes and edges of the graph in the file at `path`, or what is wrong with it.
pub(super) fn read(path: &Path) -> Result<(Vec<NodeTable>, Vec<EdgeTable>), String> {
    let text = std::fs::read_to_string(path).map_err(|why| format!("cannot be read: {why}"))?;
    let root: Value = serde_json::from_str(&text).map_err(|why| format!("line {}: not JSON: {why}", why.line()))?;
    if root.get("directed") == Some(&Value::Bool(true)) {
        return Err("a directed graph; links are full duplex, so write an undirected one".to_string());
    }
    // Older versions of networkx write "links", newer ones "edges".
    let list = |names: &[&str]| {
        let found = names.iter().find_map(|name| root.get(name)).and_then(Value::as_array);
        found.ok_or(format!("has no array {:?}; networkx.node_link_data writes one", names[0]))
    };
    let nodes = list(&["nodes"])?.iter().enumerate();
    let nodes = nodes.map(|(i, node)| {
        let what = format!("nodes[{i}], node {}", node.get("id").unwrap_or(&Value::Null));
        entry(node, &["id", "kind", "layer"], &["id"]).map_err(|why| format!("{what}: {why}"))
    });
    let edges = list(&["edges", "links"])?.iter().enumerate();
    let edges = edges.map(|(i, edge)| {
        let end = |key| edge.get(key).unwrap_or(&Value::Null);
        let what = format!("edges[{i}], edge {} to {}", end("source"), end("target"));
        entry(edge, &["source", "target", "rate", "delay"], &["source", "target"])
            .map_err(|why| format!("{what}: {why}"))
    });
    Ok((nodes.collect::<Result<_, _>>()?, edges.collect::<Result<_, _>>()?))
}

/// A node or an edge: of its attributes those that matter, as graphs carry others too. Nodes may be called by numbers.
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
    T::deserialize(Value::Object(kept)).map_err(|why| why.to_string())
}
