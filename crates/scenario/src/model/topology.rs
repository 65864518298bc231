//! The topology, as a fabric.

use linkpool_network::{Cable, Fabric, FabricBuilder, Layer, NodeId, topology};

/// The fabric. Links are full duplex, with one rate and one propagation delay for both directions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Topology {
    /// One that its settings draw.
    Drawn(topology::Topology),
    /// Any graph.
    Graph(Graph),
}

/// A graph that the scenario gives node by node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// Names and layers, hosts first.
    pub nodes: Vec<(String, Layer)>,
    /// Two nodes, and the link between them.
    pub cables: Vec<(NodeId, NodeId, Cable)>,
}

impl Graph {
    fn fabric(&self) -> Fabric {
        let mut b = FabricBuilder::default();
        for (name, layer) in &self.nodes {
            b.node(name, *layer);
        }
        for (from, to, wire) in &self.cables {
            b.lay(*from, *to, *wire);
        }
        b.build()
    }
}

impl Topology {
    /// Its hosts, switches and links. A host's number in a scenario is its number in the fabric.
    pub fn fabric(&self) -> Fabric {
        match self {
            Topology::Drawn(topology) => topology.generator().fabric(),
            Topology::Graph(graph) => graph.fabric(),
        }
    }

    /// The number of hosts, without drawing the fabric.
    pub fn hosts(&self) -> usize {
        match self {
            Topology::Drawn(topology) => topology.generator().hosts() as usize,
            Topology::Graph(graph) => graph.nodes.iter().filter(|(_, layer)| *layer == Layer::Host).count(),
        }
    }
}
