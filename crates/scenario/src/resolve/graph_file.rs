//! A graph in a separate file, of any format.

use crate::file::{EdgeTable, NodeTable};

/// A graph as it is written; with each node and edge where it stands.
#[derive(Debug, Default)]
pub(super) struct GraphFile {
    pub(super) nodes: Vec<(String, NodeTable)>,
    pub(super) edges: Vec<(String, EdgeTable)>,
}
