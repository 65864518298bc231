//! Any graph: its nodes and edges with the names that networkx gives them in its node-link form.

use linkpool_formats::graph::{EdgeTable, GraphFormat, NodeKind, NodeTable};
use linkpool_network::{Cable, Layer, NodeId, topology};
use linkpool_settings::{Bounds, EachKind, Kinds, Preset, Settings, settings};
use linkpool_units::{Rate, Time};

use crate::model;

settings! {
    /// Any graph: either `file`, or `nodes` and `edges`.
    pub(crate) struct Graph {
        /// A file relative to the scenario's directory.
        file: Option<String> = None,
            refused |g| g.file.is_some() && (g.nodes.is_some() || g.edges.is_some())
                => "a graph is in a file or written here, not both; leave out `file`, or `nodes` and `edges`";
        /// The format of `file`: `"node-link"` (JSON as networkx writes it), `"graphml"`, `"htsim"`
        /// (a fat-tree, `.topo`) or `"hpcc"` (a topology file of HPCC's simulator).
        format: Option<GraphFormat>, from |_graph| None => "that of its ending: `.json`, `.graphml`, `.topo`",
            when |g| g.file.is_some() => "a graph in a `file`";
        /// Rate of edges that name none.
        rate: Option<Rate>, from |_graph| None => "every edge names its own", within Bounds::POSITIVE;
        /// Propagation delay of edges that name none.
        delay: Option<Time>, from |_graph| None => "every edge names its own", within Bounds::SPAN;
        /// Hosts and switches: `[{ id = "h0", kind = "host" }, { id = "s0", kind = "switch" }]`. A
        /// switch may have a `layer`, for queues and results by layer; without one it is in the
        /// layer `"switch"`. A host that passes on packets for others has `forwards = true`. Nodes
        /// inside a server have its name as their `server`, and hosts of servers may have a `rail`,
        /// a number.
        nodes: Option<Vec<NodeTable>> = None,
            refused |g| g.file.is_none() && g.nodes.is_none()
                => "missing; write for example nodes = [{ id = \"h0\", kind = \"host\" }], or name a `file`";
        /// Cables between the nodes, the same in both directions: `[{ source = "h0", target = "s0"
        /// }]`. An edge may have its own `rate` and `delay`. Several edges between two nodes are
        /// parallel cables.
        edges: Option<Vec<EdgeTable>> = None,
            refused |g| g.file.is_none() && g.nodes.is_some() && g.edges.is_none()
                => "missing; write for example edges = [{ source = \"h0\", target = \"s0\" }]";
    }
}

/// The name of graphs among the kinds of topologies.
pub(crate) const GRAPH: &str = "graph";

/// Shows all kinds of topologies: the kinds that settings draw, and graphs.
pub(crate) fn topologies<W: EachKind>(each: &mut W) {
    topology::Topology::kinds(each);
    each.kind::<Graph>(
        GRAPH,
        &["Any graph, from a file or written here: hosts and switches as named there, hosts first."],
    );
}

/// Node by node, so that the scenario as run needs no other file.
impl From<&model::Graph> for Graph {
    fn from(graph: &model::Graph) -> Graph {
        let name = |node: NodeId| graph.nodes[node.index()].name.clone();
        let node = |node: &model::Node| {
            let is_host = node.layer == Layer::Host;
            NodeTable {
                id: node.name.clone(),
                kind: if is_host { NodeKind::Host } else { NodeKind::Switch },
                layer: Some(node.layer),
                forwards: (is_host && node.forwards).then_some(true),
                server: node.server.clone(),
                rail: node.rail,
            }
        };
        let edge = |(from, to, wire): &(NodeId, NodeId, Cable)| EdgeTable {
            source: name(*from),
            target: name(*to),
            rate: Some(wire.rate),
            delay: Some(wire.delay),
        };
        Graph {
            nodes: Some(graph.nodes.iter().map(node).collect()),
            edges: Some(graph.cables.iter().map(edge).collect()),
            ..Graph::defaults(Preset::Linux)
        }
    }
}
