//! A graph in a separate file, of any format.

use crate::file::{EdgeTable, NodeTable};

/// Why an edge that is directed in a graph that is not cannot be one.
pub(super) const DIRECTED: &str =
    "a directed edge, and links are full duplex; leave `directed` out, or write two links as one edge";

/// A graph as it is written; with each node and edge where it stands.
#[derive(Debug, Default)]
pub(super) struct GraphFile {
    pub(super) nodes: Vec<(String, NodeTable)>,
    pub(super) edges: Vec<(String, EdgeTable)>,
}
