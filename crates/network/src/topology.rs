//! The fabrics of the papers.

use crate::fabric::{Fabric, FabricBuilder, Layer};
use linkpool_units::{Rate, Time};

/// `senders` hosts `S1..Sn` and one receiver `R` on one switch `W` (AMP, Figure 1).
pub fn many_to_one(senders: u32, rate: Rate, delay: Time) -> Fabric {
    let mut b = FabricBuilder::default();
    let mut hosts: Vec<_> = (1..=senders).map(|i| b.node(format!("S{i}"), Layer::Host)).collect();
    hosts.push(b.node("R", Layer::Host));
    let switch = b.node("W", Layer::Switch);
    for host in hosts {
        b.cable(host, switch, rate, delay);
    }
    b.build()
}

/// Two disjoint bottlenecks `A1->B1` and `A2->B2`; S1 and D1 are on the first, S3 and D3 on the second, S2
/// and D2 have a NIC on each (AMP, Figure 5).
pub fn traffic_shift(rate: Rate, delay: Time) -> Fabric {
    let mut b = FabricBuilder::default();
    let [s1, s2, s3, d1, d2, d3] = ["S1", "S2", "S3", "D1", "D2", "D3"].map(|n| b.node(n, Layer::Host));
    let [a1, b1, a2, b2] = ["A1", "B1", "A2", "B2"].map(|n| b.node(n, Layer::Switch));
    for (x, y) in [(s1, a1), (s2, a1), (s2, a2), (s3, a2), (a1, b1), (a2, b2), (b1, d1), (b1, d2), (b2, d2), (b2, d3)] {
        b.cable(x, y, rate, delay);
    }
    b.build()
}

/// `pairs` hosts `S1..Sn` on switch `L`, as many `D1..Dn` on switch `R`, and one cable between the switches.
pub fn dumbbell(pairs: u32, rate: Rate, delay: Time, bottleneck_rate: Rate, bottleneck_delay: Time) -> Fabric {
    let mut b = FabricBuilder::default();
    let sources: Vec<_> = (1..=pairs).map(|i| b.node(format!("S{i}"), Layer::Host)).collect();
    let sinks: Vec<_> = (1..=pairs).map(|i| b.node(format!("D{i}"), Layer::Host)).collect();
    let (left, right) = (b.node("L", Layer::Switch), b.node("R", Layer::Switch));
    sources.iter().for_each(|s| b.cable(*s, left, rate, delay));
    b.cable(left, right, bottleneck_rate, bottleneck_delay);
    sinks.iter().for_each(|d| b.cable(*d, right, rate, delay));
    b.build()
}

/// The k-ary fat-tree (Al-Fares, Loukissas, Vahdat, SIGCOMM 2008): k pods of k/2 edge and k/2 aggregation
/// switches, (k/2)^2 cores, `hosts_per_edge` hosts a rack (k/2: full bisection; more: oversubscribed).
/// Aggregation switch i of every pod is joined to cores `i * k/2 ..`.
pub fn fat_tree(k: u32, hosts_per_edge: u32, rate: Rate, delay: Time) -> Fabric {
    let half = k / 2;
    let mut b = FabricBuilder::default();
    let hosts: Vec<_> = (0..k * half * hosts_per_edge).map(|i| b.node(format!("h{i}"), Layer::Host)).collect();
    let mut layer = |letter: char, layer: Layer| -> Vec<Vec<_>> {
        (0..k).map(|pod| (0..half).map(|i| b.node(format!("{letter}{pod}.{i}"), layer)).collect()).collect()
    };
    let edges = layer('e', Layer::Edge);
    let aggregations = layer('a', Layer::Aggregation);
    let cores: Vec<_> = (0..half * half).map(|i| b.node(format!("c{i}"), Layer::Core)).collect();
    for (rack, hosts) in hosts.chunks(hosts_per_edge as usize).enumerate() {
        let edge = edges[rack / half as usize][rack % half as usize];
        hosts.iter().for_each(|h| b.cable(*h, edge, rate, delay));
    }
    for pod in 0..k as usize {
        for edge in &edges[pod] {
            aggregations[pod].iter().for_each(|a| b.cable(*edge, *a, rate, delay));
        }
        for (i, aggregation) in aggregations[pod].iter().enumerate() {
            let reach = &cores[i * half as usize..][..half as usize];
            reach.iter().for_each(|c| b.cable(*aggregation, *c, rate, delay));
        }
    }
    b.build()
}
