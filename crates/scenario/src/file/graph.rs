//! Any graph: its nodes and edges with the names that networkx gives them in its node-link form.

use linkpool_network::Layer;
use linkpool_units::{Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Any graph: either `file`, or `nodes` and `edges`.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Graph")]
pub(crate) struct GraphTable {
    /// A file relative to the scenario's directory: .json (the node-link form that networkx writes), .graphml, or
    /// .topo (a fat-tree of htsim).
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
    pub(crate) layer: Option<LayerName>,
}

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum NodeKind {
    Host,
    Switch,
}

/// Where in the fabric a port's node stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LayerName {
    Host,
    Switch,
    Edge,
    Aggregation,
    Core,
}

impl LayerName {
    pub(crate) fn of(layer: Layer) -> LayerName {
        match layer {
            Layer::Host => LayerName::Host,
            Layer::Switch => LayerName::Switch,
            Layer::Edge => LayerName::Edge,
            Layer::Aggregation => LayerName::Aggregation,
            Layer::Core => LayerName::Core,
        }
    }

    pub(crate) fn layer(self) -> Layer {
        match self {
            LayerName::Host => Layer::Host,
            LayerName::Switch => Layer::Switch,
            LayerName::Edge => Layer::Edge,
            LayerName::Aggregation => Layer::Aggregation,
            LayerName::Core => Layer::Core,
        }
    }
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
