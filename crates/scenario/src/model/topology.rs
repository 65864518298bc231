//! The topology, as a fabric.

use linkpool_network::{Fabric, Layer, topology};

use super::graph::Graph;

/// The fabric. Links are full duplex, with one rate and one propagation delay for both directions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Topology {
    /// One that its settings draw.
    Drawn(topology::Topology),
    /// Any graph.
    Graph(Graph),
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
            Topology::Graph(graph) => graph.nodes.iter().filter(|node| node.layer == Layer::Host).count(),
        }
    }
}
