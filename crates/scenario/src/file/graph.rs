//! Any graph: its nodes and edges with the names that networkx gives them in its node-link form.

use linkpool_network::{Cable, Layer};
use linkpool_units::{Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::Graph;

/// Any graph: either `file`, or `nodes` and `edges`.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Graph")]
pub(crate) struct GraphTable {
    /// A file relative to the scenario's directory: .json (the node-link form that networkx
    /// writes), .graphml, or .topo (a fat-tree of htsim).
    pub(crate) file: Option<String>,
    /// Rate of edges that name none. Default: every edge names its own.
    pub(crate) rate: Option<Rate>,
    /// Propagation delay of edges that name none. Default: every edge names its own.
    pub(crate) delay: Option<Time>,
    /// Hosts and switches.
    pub(crate) nodes: Option<Vec<NodeTable>>,
    /// Links between them, the same in both directions.
    pub(crate) edges: Option<Vec<EdgeTable>>,
}

/// A host or a switch.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Node")]
pub(crate) struct NodeTable {
    /// Its name.
    pub(crate) id: String,
    /// A host, or a switch.
    pub(crate) kind: NodeKind,
    /// Where a switch stands, for queues and results by layer. Default: "switch".
    pub(crate) layer: Option<Layer>,
}

/// The kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum NodeKind {
    Host,
    Switch,
}

/// A full-duplex link.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Edge")]
pub(crate) struct EdgeTable {
    /// The `id` of one end.
    pub(crate) source: String,
    /// The `id` of the other.
    pub(crate) target: String,
    /// Rate. Default: that of the graph.
    pub(crate) rate: Option<Rate>,
    /// Propagation delay. Default: that of the graph.
    pub(crate) delay: Option<Time>,
}

/// Node by node, so that the scenario as run needs no other file.
impl From<&Graph> for GraphTable {
    fn from(graph: &Graph) -> GraphTable {
        let name = |node: u32| graph.nodes[node as usize].0.clone();
        let node = |(id, layer): &(String, Layer)| NodeTable {
            id: id.clone(),
            kind: if *layer == Layer::Host { NodeKind::Host } else { NodeKind::Switch },
            layer: Some(*layer),
        };
        let edge = |(from, to, wire): &(u32, u32, Cable)| EdgeTable {
            source: name(*from),
            target: name(*to),
            rate: Some(wire.rate),
            delay: Some(wire.delay),
        };
        GraphTable {
            nodes: Some(graph.nodes.iter().map(node).collect()),
            edges: Some(graph.cables.iter().map(edge).collect()),
            ..GraphTable::default()
        }
    }
}
