//! Graphs: their nodes and edges with the names that networkx gives them in its node-link form.
//! One file a format.

mod graphml;
mod hpcc;
mod htsim;
mod node_link;

use linkpool_network::Layer;
use linkpool_units::{Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// More cables of a graph than this are a slip of the pen: the scenario as run has each of them,
/// which takes 2 KB before the run.
pub const MOST_CABLES: u64 = 500_000;

/// More nodes than this would not be joined by so many cables.
const MOST_NODES: u64 = MOST_CABLES + 1;

/// Why an edge that is directed in a graph that is not cannot be one.
const DIRECTED: &str =
    "a directed edge, and links are full duplex; leave `directed` out, or write two links as one edge";

/// A graph as it is written; with each node and edge where it stands.
#[derive(Debug, Default)]
pub struct GraphFile {
    /// Hosts and switches.
    pub nodes: Vec<(String, NodeTable)>,
    /// Cables.
    pub edges: Vec<(String, EdgeTable)>,
}

/// A host or a switch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Node")]
pub struct NodeTable {
    /// Its name.
    pub id: String,
    /// A host, or a switch.
    pub kind: NodeKind,
    /// Where a switch stands, for queues and results by layer. Default: "switch".
    pub layer: Option<Layer>,
    /// Does a host pass on packets that are for others? Default: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forwards: Option<bool>,
    /// The name of the server that it is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The rail of a host of a server: packets to other servers leave by the rail of their
    /// destination.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rail: Option<u32>,
}

impl NodeTable {
    /// A node in no server.
    pub fn new(id: String, kind: NodeKind, layer: Option<Layer>) -> NodeTable {
        NodeTable { id, kind, layer, forwards: None, server: None, rail: None }
    }
}

/// The kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NodeKind {
    /// It sends and receives.
    Host,
    /// It forwards.
    Switch,
}

/// The format of a file that holds a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GraphFormat {
    /// JSON as networkx writes it.
    NodeLink,
    /// GraphML.
    #[serde(rename = "graphml")]
    GraphMl,
    /// A fat-tree of htsim.
    Htsim,
    /// A topology of HPCC's simulator.
    Hpcc,
}

/// A full-duplex link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Edge")]
pub struct EdgeTable {
    /// The `id` of one end.
    pub source: String,
    /// The `id` of the other.
    pub target: String,
    /// Rate. Default: that of the graph.
    pub rate: Option<Rate>,
    /// Propagation delay. Default: that of the graph.
    pub delay: Option<Time>,
}

/// The graph that `text` says in `format`.
///
/// # Errors
///
/// A message that names the line, and what would be right.
pub fn read(text: &str, format: GraphFormat) -> Result<GraphFile, String> {
    match format {
        GraphFormat::NodeLink => node_link::parse(text),
        GraphFormat::GraphMl => graphml::parse(text),
        GraphFormat::Htsim => htsim::parse(text),
        GraphFormat::Hpcc => hpcc::parse(text),
    }
}
