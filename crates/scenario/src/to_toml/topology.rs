use linkpool_network::topology::{BCube, FatTree, Ring, Triangle};
use linkpool_network::{Layer, Wire};

use crate::file::{
    BCubeTable, DumbbellTable, EdgeTable, FatTreeTable, GraphTable, LayerName, LeafSpineTable, ManyToOneTable,
    NodeKind, NodeTable, RingTable, TopologyTable, TrafficShiftTable, TriangleTable, Vl2Table,
};
use crate::model::{Graph, Topology};

pub(super) fn table(topology: &Topology) -> TopologyTable {
    let mut table = TopologyTable::default();
    match topology {
        Topology::ManyToOne { senders, rate, delay } => {
            table.many_to_one =
                Some(ManyToOneTable { senders: Some(*senders), rate: Some(*rate), delay: Some(*delay) });
        }
        Topology::TrafficShift { rate, delay } => {
            table.traffic_shift = Some(TrafficShiftTable { rate: Some(*rate), delay: Some(*delay) });
        }
        Topology::Dumbbell { pairs, rate, delay, bottleneck_rate, bottleneck_delay } => {
            table.dumbbell = Some(DumbbellTable {
                pairs: Some(*pairs),
                rate: Some(*rate),
                delay: Some(*delay),
                bottleneck_rate: Some(*bottleneck_rate),
                bottleneck_delay: Some(*bottleneck_delay),
            });
        }
        Topology::FatTree(tree) => table.fat_tree = Some(fat_tree(tree)),
        Topology::LeafSpine(tree) => {
            table.leaf_spine = Some(LeafSpineTable {
                leaves: Some(tree.leaves),
                spines: Some(tree.spines),
                hosts_per_leaf: Some(tree.hosts_per_leaf),
                rate: Some(tree.host.rate),
                delay: Some(tree.host.delay),
                uplink_rate: Some(tree.uplink.rate),
                uplink_delay: Some(tree.uplink.delay),
            });
        }
        Topology::Vl2(tree) => {
            table.vl2 = Some(Vl2Table {
                aggregation_ports: Some(tree.aggregation_ports),
                intermediate_ports: Some(tree.intermediate_ports),
                hosts_per_rack: Some(tree.hosts_per_rack),
                rate: Some(tree.host.rate),
                delay: Some(tree.host.delay),
                core_rate: Some(tree.core.rate),
                core_delay: Some(tree.core.delay),
            });
        }
        Topology::BCube(BCube { n, k, wire }) => {
            table.bcube = Some(BCubeTable { n: Some(*n), k: Some(*k), rate: Some(wire.rate), delay: Some(wire.delay) });
        }
        Topology::Ring(Ring { bottlenecks, access }) => {
            table.ring = Some(RingTable {
                bottleneck_rates: Some(bottlenecks.iter().map(|wire| wire.rate).collect()),
                bottleneck_delays: Some(bottlenecks.iter().map(|wire| wire.delay).collect()),
                rate: Some(access.rate),
                delay: Some(access.delay),
            });
        }
        Topology::Triangle(Triangle { bottlenecks, access }) => {
            table.triangle = Some(TriangleTable {
                bottleneck_rates: Some(bottlenecks.iter().map(|wire| wire.rate).collect()),
                bottleneck_delays: Some(bottlenecks.iter().map(|wire| wire.delay).collect()),
                rate: Some(access.rate),
                delay: Some(access.delay),
            });
        }
        Topology::Graph(written) => table.graph = Some(graph(written)),
    }
    table
}

fn fat_tree(tree: &FatTree) -> FatTreeTable {
    // Of two tiers, there is no aggregation to speak of.
    let aggregation = (tree.tiers == 3).then_some(tree.aggregation);
    FatTreeTable {
        k: Some(tree.k),
        tiers: Some(tree.tiers),
        hosts_per_edge: Some(tree.hosts_per_edge),
        nics: Some(tree.nics),
        rate: Some(tree.host.rate),
        delay: Some(tree.host.delay),
        aggregation_rate: aggregation.map(|wire| wire.rate),
        aggregation_delay: aggregation.map(|wire| wire.delay),
        core_rate: Some(tree.core.rate),
        core_delay: Some(tree.core.delay),
    }
}

/// Node by node, so that the scenario as run needs no other file.
fn graph(graph: &Graph) -> GraphTable {
    let name = |node: u32| graph.nodes[node as usize].0.clone();
    let node = |(id, layer): &(String, Layer)| NodeTable {
        id: id.clone(),
        kind: if *layer == Layer::Host { NodeKind::Host } else { NodeKind::Switch },
        layer: Some(LayerName::of(*layer)),
    };
    let edge = |(from, to, wire): &(u32, u32, Wire)| EdgeTable {
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
