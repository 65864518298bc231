//! What the tests of the network share: random fabrics, queues and traffic, and a second simulator to compare with.
#![allow(dead_code)]

pub mod reference;
pub mod traffic;

use linkpool_network::{
    Fabric, FabricBuilder, Flags, HostId, Layer, LinkId, NodeId, Packet, Paths, QueueLimit, QueuePolicy, Routes,
    source_route,
};
use linkpool_units::{Rate, Time};
use proptest::prelude::*;

/// `cases` random cases, or as many as `PROPTEST_CASES` says.
pub fn cases(cases: u32) -> proptest::test_runner::Config {
    let cases = std::env::var("PROPTEST_CASES").map_or(cases, |n| n.parse().expect("PROPTEST_CASES is a number"));
    proptest::test_runner::Config { cases, failure_persistence: None, ..Default::default() }
}

/// A packet whose path is a hash of `entropy`.
pub fn hashed(dst: HostId, entropy: u32) -> Packet {
    Packet { dst, entropy, ..Packet::default() }
}

/// A packet on the shortest path numbered `i`.
pub fn pinned(fabric: &Fabric, routes: &Routes, from: HostId, to: HostId, i: u32) -> Packet {
    let path = Paths::new(routes, fabric, to).nth(from, i.into());
    let entropy = source_route(fabric, &path).expect("a path of few hops");
    Packet { dst: to, entropy, flags: Flags::PINNED, ..Packet::default() }
}

/// Rates for which serialisation is a whole number of picoseconds a byte.
pub const RATES: [Rate; 4] = [Rate::gbps(1), Rate::gbps(10), Rate::gbps(25), Rate::gbps(100)];

fn cables(nodes: usize) -> impl Strategy<Value = (usize, usize, Rate, Time)> {
    let delay = prop_oneof![Just(0u64), 1u64..5_000, 1u64..50_000].prop_map(Time::from_ns);
    (0..nodes, 0..nodes, prop::sample::select(&RATES[..]), delay)
}

/// Hosts with one, two or three NICs on a random graph of switches, connected or not.
pub fn fabrics() -> impl Strategy<Value = Fabric> {
    let hosts = prop::collection::vec(prop::collection::vec(cables(8), 1..=3), 2..=7);
    let switches = prop::collection::vec(cables(8), 1..16);
    // Most hosts have one NIC, and seldom they forward for others.
    (hosts, switches, 1usize..=8, any::<u32>(), 0..4).prop_map(|(hosts, switches, n, several, forward)| {
        let mut b = FabricBuilder::default();
        if forward == 0 {
            b.hosts_forward();
        }
        let host_ids: Vec<NodeId> = (0..hosts.len()).map(|i| b.node(format!("h{i}"), Layer::Host)).collect();
        let switch_ids: Vec<NodeId> = (0..n).map(|i| b.node(format!("w{i}"), Layer::Switch)).collect();
        for (i, nics) in hosts.iter().enumerate() {
            let nics = if several >> (2 * i) & 3 == 0 { &nics[..] } else { &nics[..1] };
            for (_, to, rate, delay) in nics {
                b.cable(host_ids[i], switch_ids[to % n], *rate, *delay);
            }
        }
        for (x, y, rate, delay) in switches {
            if x % n != y % n {
                b.cable(switch_ids[x % n], switch_ids[y % n], rate, delay);
            }
        }
        b.build()
    })
}

/// How a queue behaves, in the open: [`QueuePolicy`] hides it.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    pub limit: QueueLimit,
    pub mark: Option<QueueLimit>,
    pub above: bool,
    pub counts_in_service: bool,
    pub drops_non_ect: bool,
    pub exempt: (bool, bool, bool),
}

impl Rules {
    pub fn policy(&self) -> QueuePolicy {
        let (syn, fin, ack) = self.exempt;
        let policy = QueuePolicy::drop_tail(self.limit)
            .counting_in_service(self.counts_in_service)
            .dropping_non_ect(self.drops_non_ect)
            .exempting(syn, fin, ack);
        self.mark.map_or(policy, |k| policy.marking(k, self.above))
    }
}

pub fn rules() -> impl Strategy<Value = Rules> {
    let limit =
        || prop_oneof![(1u32..30).prop_map(QueueLimit::Packets), (1_500u64..30_000).prop_map(QueueLimit::Bytes)];
    let exempt = prop_oneof![2 => Just((false, false, false)), 1 => any::<(bool, bool, bool)>()];
    (limit(), prop::option::of(limit()), any::<bool>(), any::<bool>(), any::<bool>(), exempt).prop_map(
        |(limit, mark, above, counts_in_service, drops_non_ect, exempt)| Rules {
            limit,
            mark,
            above,
            counts_in_service,
            drops_non_ect,
            exempt,
        },
    )
}

/// How long `size` bytes take on a link of one of [`RATES`].
pub fn serialisation(rate: Rate, size: u16) -> Time {
    Time(size as u64 * (8_000_000_000_000 / rate.0))
}

/// Links on a shortest path from one host to another, over switches only unless hosts forward, by breadth-first search.
pub fn distance(fabric: &Fabric, from: HostId, to: HostId) -> Option<usize> {
    let mut reached = vec![false; fabric.nodes()];
    let mut frontier = vec![from as NodeId];
    for distance in 0.. {
        if frontier.contains(&(to as NodeId)) {
            return Some(distance);
        }
        let mut next = Vec::new();
        for node in frontier {
            let is_host = (node as usize) < fabric.hosts();
            if node != from as NodeId && is_host && !fabric.hosts_forward() {
                continue;
            }
            for link in fabric.links_from(node) {
                let to = fabric.links()[link as usize].to;
                if !std::mem::replace(&mut reached[to as usize], true) {
                    next.push(to);
                }
            }
        }
        if next.is_empty() {
            return None;
        }
        frontier = next;
    }
    unreachable!()
}

/// The nodes along a path, the first one included.
pub fn nodes(fabric: &Fabric, from: HostId, path: &[LinkId]) -> Vec<NodeId> {
    let mut nodes = vec![from as NodeId];
    for link in path {
        let l = &fabric.links()[*link as usize];
        assert_eq!(l.from, *nodes.last().unwrap(), "a path without a gap");
        nodes.push(l.to);
    }
    nodes
}
