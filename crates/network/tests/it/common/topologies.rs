//! Topologies by the cables of their layers.

use linkpool_network::topology::{
    BCube, Dragonfly, FatTree, Generator, GpuServers, LeafSpine, ManyToOne, MultiPlane, Ring, SlimFly, Triangle, Vl2,
    Xpander, fat_tree,
};
use linkpool_network::{Cable, Fabric};
use linkpool_units::{Rate, Time};
use proptest::prelude::*;

/// A fat-tree with cables to hosts, between edge and aggregation, and to the core.
pub fn fat_tree_of(k: u32, tiers: u32, hosts_per_edge: u32, nics: u32, wires: [Cable; 3]) -> FatTree {
    let [Cable { rate, delay }, aggregation, core] = wires;
    FatTree {
        k,
        tiers,
        hosts_per_edge,
        nics,
        rate,
        delay,
        aggregation_rate: aggregation.rate,
        aggregation_delay: aggregation.delay,
        core_rate: core.rate,
        core_delay: core.delay,
    }
}

/// A leaf-spine fabric with cables to hosts and to spines.
pub fn leaf_spine(leaves: u32, spines: u32, hosts_per_leaf: u32, wires: [Cable; 2]) -> LeafSpine {
    let [Cable { rate, delay }, Cable { rate: uplink_rate, delay: uplink_delay }] = wires;
    LeafSpine { leaves, spines, hosts_per_leaf, rate, delay, uplink_rate, uplink_delay }
}

/// VL2 with cables to hosts and between switches.
pub fn vl2(aggregation_ports: u32, intermediate_ports: u32, hosts_per_rack: u32, wires: [Cable; 2]) -> Vl2 {
    let [Cable { rate, delay }, Cable { rate: core_rate, delay: core_delay }] = wires;
    Vl2 { aggregation_ports, intermediate_ports, hosts_per_rack, rate, delay, core_rate, core_delay }
}

/// Several planes, with cables to hosts and to spines.
pub fn multi_plane(
    planes: u32,
    (leaves, spines, shared_spines): (u32, u32, bool),
    hosts_per_leaf: u32,
    wires: [Cable; 2],
) -> MultiPlane {
    let [Cable { rate, delay }, Cable { rate: uplink_rate, delay: uplink_delay }] = wires;
    MultiPlane { planes, leaves, spines, shared_spines, hosts_per_leaf, rate, delay, uplink_rate, uplink_delay }
}

/// A dragonfly of a, p, h and g, with cables to hosts, within groups and between groups.
pub fn dragonfly((a, p, h, groups): (u32, u32, u32, u32), wires: [Cable; 3]) -> Dragonfly {
    let [Cable { rate, delay }, local, global] = wires;
    Dragonfly {
        routers_per_group: a,
        hosts_per_router: p,
        global_ports: h,
        groups,
        rate,
        delay,
        local_rate: local.rate,
        local_delay: local.delay,
        global_rate: global.rate,
        global_delay: global.delay,
    }
}

/// A Slim Fly with cables to hosts and between routers.
pub fn slim_fly(q: u32, hosts_per_router: u32, wires: [Cable; 2]) -> SlimFly {
    let [Cable { rate, delay }, Cable { rate: router_rate, delay: router_delay }] = wires;
    SlimFly { q, hosts_per_router, rate, delay, router_rate, router_delay }
}

/// An Xpander of d, k and hosts at a switch, with cables to hosts and between switches.
pub fn xpander((degree, lift, hosts_per_switch): (u32, u32, u32), seed: u64, wires: [Cable; 2]) -> Xpander {
    let [Cable { rate, delay }, Cable { rate: switch_rate, delay: switch_delay }] = wires;
    Xpander { degree, lift, hosts_per_switch, seed, rate, delay, switch_rate, switch_delay }
}

/// A BCube.
pub fn bcube(n: u32, k: u32, Cable { rate, delay }: Cable) -> BCube {
    BCube { n, k, rate, delay }
}

/// A ring of this number of bottlenecks, with other cables to hosts.
pub fn ring(n: usize, bottleneck: Cable, Cable { rate, delay }: Cable) -> Ring {
    Ring { bottleneck_rates: vec![bottleneck.rate; n], bottleneck_delays: vec![bottleneck.delay; n], rate, delay }
}

/// A triangle.
pub fn triangle(bottleneck: Cable, Cable { rate, delay }: Cable) -> Triangle {
    Triangle { bottleneck_rates: vec![bottleneck.rate; 3], bottleneck_delays: vec![bottleneck.delay; 3], rate, delay }
}

/// Senders and one receiver.
pub fn many_to_one(senders: u32, rate: Rate, delay: Time) -> Fabric {
    ManyToOne { senders, rate, delay }.fabric()
}

/// Fabrics whose pods, or racks, can be divided among two partitions and among four, so that these run ahead of each other.
pub fn pods_and_racks() -> impl Strategy<Value = Fabric> {
    (any::<bool>(), 0usize..4, 1u64..10_000).prop_map(|(is_tree, rate, delay)| {
        let cable = Cable { rate: super::RATES[rate], delay: Time::from_ns(delay) };
        if is_tree {
            fat_tree(4, 2, cable.rate, cable.delay)
        } else {
            leaf_spine(4, 2, 3, [cable, Cable { rate: Rate::gbps(1), ..cable }]).fabric()
        }
    })
}

/// Two groups of four servers, each of eight GPUs with a NIC each on rails with shared spines.
pub fn gpu_servers() -> GpuServers {
    let [nvlink, nic] = [(3200, 150), (400, 500)].map(|(rate, delay)| (Rate::gbps(rate), Time::from_ns(delay)));
    GpuServers {
        groups: 2,
        servers_per_group: 4,
        gpus: 8,
        nics: 8,
        rails: true,
        pxn: false,
        shared_spines: true,
        spines: 4,
        nvlink_switches: 1,
        nvlink_rate: nvlink.0,
        nvlink_delay: nvlink.1,
        pcie_rate: nic.0,
        pcie_delay: nvlink.1,
        rate: nic.0,
        delay: nic.1,
        uplink_rate: nic.0,
        uplink_delay: nic.1,
    }
}
