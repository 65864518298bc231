//! Graphs in files of their own.

use std::path::Path;

use super::{graphml, htsim, included, node_link};
use crate::file::{EdgeTable, NodeTable};

/// A graph as it is written; with each node and edge where it stands.
#[derive(Debug, Default)]
pub(super) struct GraphFile {
    pub(super) nodes: Vec<(String, NodeTable)>,
    pub(super) edges: Vec<(String, EdgeTable)>,
}

/// The graph in the file at `path`, in the format that its ending says, or what is wrong with it.
pub(super) fn read(path: &Path) -> Result<GraphFile, String> {
    let text = included::read(path)?;
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("graphml") => graphml::parse(&text),
        Some("topo") => htsim::parse(&text),
        Some("json") => node_link::parse(&text),
        _ => Err("is no known format: a graph is .json (node-link), .graphml or .topo (htsim)".to_string()),
    }
}
