//! A graph that the scenario gives node by node.

use std::collections::{HashMap, HashSet};

use linkpool_network::{Cable, Fabric, FabricBuilder, Layer, NodeId, Place, Servers};

/// A graph that the scenario gives node by node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// Hosts first.
    pub nodes: Vec<Node>,
    /// Two nodes, and the link between them.
    pub cables: Vec<(NodeId, NodeId, Cable)>,
}

/// A node of a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// Its layer, which says whether it is a host.
    pub layer: Layer,
    /// Does it pass on packets that are for others? Switches do.
    pub forwards: bool,
    /// The server that it is in.
    pub server: Option<String>,
    /// The rail of a host.
    pub rail: Option<u32>,
}

impl Graph {
    /// The fabric.
    pub fn fabric(&self) -> Fabric {
        let mut b = FabricBuilder::default();
        for node in &self.nodes {
            let id = b.node(&node.name, node.layer);
            if node.layer == Layer::Host && node.forwards {
                b.forwards(id);
            }
        }
        for (from, to, wire) in &self.cables {
            b.lay(*from, *to, *wire);
        }
        if self.has_servers() {
            let by_rail = self.nodes.iter().any(|node| node.rail.is_some());
            b.servers(Servers::new(self.places(), by_rail));
        }
        b.build()
    }

    /// Are there nodes in servers?
    pub fn has_servers(&self) -> bool {
        self.nodes.iter().any(|node| node.server.is_some())
    }

    /// What each node is to its server. A host in no server is one by itself.
    fn places(&self) -> Vec<Place> {
        let mut numbers: HashMap<&str, u32> = HashMap::new();
        for server in self.nodes.iter().filter_map(|node| node.server.as_deref()) {
            let next = numbers.len() as u32;
            numbers.entry(server).or_insert(next);
        }
        let over_pcie: HashSet<&str> = numbers.keys().copied().filter(|server| self.needs_pcie(server)).collect();
        let place = |(i, node): (u32, &Node)| match (node.server.as_deref(), node.layer) {
            (None, Layer::Host) => Place::Host { server: numbers.len() as u32 + i, rail: None },
            (None, _) => Place::Outside,
            (Some(server), Layer::Host) => Place::Host { server: numbers[server], rail: node.rail },
            (Some(server), Layer::Pcie) if !over_pcie.contains(server) => Place::Shared { server: numbers[server] },
            (Some(server), _) => Place::Inner { server: numbers[server] },
        };
        (0..).zip(&self.nodes).map(place).collect()
    }

    /// Do some hosts of a server reach each other inside of it over PCIe switches alone?
    pub fn needs_pcie(&self, server: &str) -> bool {
        let is_inside = |node: NodeId| {
            let node = &self.nodes[node.index()];
            node.server.as_deref() == Some(server) && node.layer != Layer::Pcie
        };
        let mut joined: HashMap<NodeId, Vec<NodeId>> = HashMap::new();
        for (from, to, _) in self.cables.iter().filter(|(from, to, _)| is_inside(*from) && is_inside(*to)) {
            joined.entry(*from).or_default().push(*to);
            joined.entry(*to).or_default().push(*from);
        }
        let is_host = |node: &NodeId| self.nodes[node.index()].layer == Layer::Host;
        let hosts = || NodeId::first(self.nodes.len()).filter(|node| is_inside(*node) && is_host(node));
        hosts().any(|host| {
            let (mut reached, mut next) = (HashSet::from([host]), vec![host]);
            while let Some(node) = next.pop() {
                if node == host || self.nodes[node.index()].forwards {
                    next.extend(joined.get(&node).into_iter().flatten().filter(|to| reached.insert(**to)));
                }
            }
            !hosts().all(|other| reached.contains(&other))
        })
    }
}
