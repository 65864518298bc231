use linkpool_network::topology::{self, BCube, FatTree, LeafSpine, Ring, Triangle, Vl2};
use linkpool_network::{Fabric, FabricBuilder, Layer, Wire};
use linkpool_units::{Rate, Time};

/// The fabric. Links are full duplex, with one rate and one propagation delay for both directions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Topology {
    /// Senders and one receiver around one switch (AMP, Figure 1).
    ManyToOne {
        /// Number of senders.
        senders: u32,
        /// Rate of every link.
        rate: Rate,
        /// Propagation delay of every link.
        delay: Time,
    },
    /// Two bottlenecks, and one connection with a path over each (AMP, Figure 5).
    TrafficShift {
        /// Rate of every link.
        rate: Rate,
        /// Propagation delay of every link.
        delay: Time,
    },
    /// Pairs of hosts that share one bottleneck between two switches.
    Dumbbell {
        /// Number of hosts on either side.
        pairs: u32,
        /// Rate of the hosts' links.
        rate: Rate,
        /// Propagation delay of the hosts' links.
        delay: Time,
        /// Rate of the link between the switches.
        bottleneck_rate: Rate,
        /// Propagation delay of the link between the switches.
        bottleneck_delay: Time,
    },
    /// A fat-tree of k-port switches.
    FatTree(FatTree),
    /// Leaf switches, each joined to every spine switch.
    LeafSpine(LeafSpine),
    /// Racks with two uplinks, and a mesh of fast links above them.
    Vl2(Vl2),
    /// Hosts that forward.
    BCube(BCube),
    /// Bottlenecks in a ring (XMP, Figure 5).
    Ring(Ring),
    /// Three bottlenecks, each on one flow's short way and two flows' long ways.
    Triangle(Triangle),
    /// Any graph.
    Graph(Graph),
}

/// A graph that the scenario gives node by node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    /// Names and layers, hosts first.
    pub nodes: Vec<(String, Layer)>,
    /// Two nodes, as indices, and the link between them.
    pub cables: Vec<(u32, u32, Wire)>,
}

impl Graph {
    fn fabric(&self) -> Fabric {
        let mut b = FabricBuilder::default();
        for (name, layer) in &self.nodes {
            b.node(name, *layer);
        }
        for (from, to, wire) in &self.cables {
            b.wire((*from).into(), (*to).into(), *wire);
        }
        b.build()
    }
}

impl Topology {
    /// Its hosts, switches and links. A host's number in a scenario is its number in the fabric.
    pub fn fabric(&self) -> Fabric {
        match self {
            Topology::ManyToOne { senders, rate, delay } => topology::many_to_one(*senders, *rate, *delay),
            Topology::TrafficShift { rate, delay } => topology::traffic_shift(*rate, *delay),
            Topology::Dumbbell { pairs, rate, delay, bottleneck_rate, bottleneck_delay } => {
                topology::dumbbell(*pairs, *rate, *delay, *bottleneck_rate, *bottleneck_delay)
            }
            Topology::FatTree(tree) => tree.fabric(),
            Topology::LeafSpine(tree) => tree.fabric(),
            Topology::Vl2(tree) => tree.fabric(),
            Topology::BCube(cube) => cube.fabric(),
            Topology::Ring(ring) => ring.fabric(),
            Topology::Triangle(triangle) => triangle.fabric(),
            Topology::Graph(graph) => graph.fabric(),
        }
    }
}
