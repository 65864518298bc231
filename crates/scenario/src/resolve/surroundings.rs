//! Settings of transports whose defaults follow from the network around them.

use linkpool_network::{Fabric, NodeId, Queue, QueueLimit};
use linkpool_transport::Surroundings;
use linkpool_units::Rate;

use crate::model::Transport;

/// Fills in what the scenario leaves out of the transports' own settings.
pub(super) fn complete(transports: &mut [Option<Transport>], fabric: &Fabric, queue: &Queue) {
    let rates = |host| fabric.links_from(host).map(|link| fabric.links()[link.index()].rate.0);
    let port_rate = NodeId::first(fabric.hosts()).flat_map(rates).min().unwrap_or(1);
    for t in transports.iter_mut().flatten() {
        let full = u64::from(t.config.mss) + u64::from(t.wire.header);
        // Of its own class, where ports have classes.
        let limit = match queue.limit_of(t.priority.number()) {
            Some(QueueLimit::Bytes(bytes)) => Some(bytes),
            None | Some(QueueLimit::Packets(u32::MAX)) => None,
            Some(QueueLimit::Packets(packets)) => Some(u64::from(packets) * full),
        };
        let (own, all) = queue.share_of(t.priority.number());
        let around = || Surroundings {
            base_rtt: fabric.longest_round_trip(full as u16, t.wire.ack_size as u16),
            rate: Rate(NodeId::first(fabric.hosts()).map(|host| rates(host).sum()).max().unwrap_or(0)),
            port_rate: Rate(port_rate * u64::from(own) / u64::from(all)),
            queue: limit,
            oversubscription: oversubscription(fabric),
        };
        t.control.family().complete(&mut t.own, &around);
    }
}

/// How many times as much the hosts send as the links carry from one tier to the next, where it is
/// most; 1 at least. The tier of a node is its distance from the nearest host in links. (uet-htsim
/// multiplies the ratios of tiers: `get_oversubscription_ratio`.)
fn oversubscription(fabric: &Fabric) -> f64 {
    let links = fabric.links();
    let mut tier = vec![usize::MAX; fabric.node_ids().len()];
    let mut reached: Vec<NodeId> = NodeId::first(fabric.hosts()).collect();
    for number in 0.. {
        reached.retain(|node| tier[node.index()] == usize::MAX);
        reached.iter().for_each(|node| tier[node.index()] = number);
        let next = reached.iter().flat_map(|node| fabric.links_from(*node)).map(|link| links[link.index()].to);
        reached = next.collect();
        if reached.is_empty() {
            break;
        }
    }
    let up = |number: usize| {
        let rises = |from: NodeId, to: NodeId| tier[from.index()] == number && tier[to.index()] == number + 1;
        links.iter().filter(|link| rises(link.from, link.to)).map(|link| link.rate.0 as f64).sum::<f64>()
    };
    let sent = up(0);
    (1..).map(up).take_while(|rate| *rate > 0.0).map(|rate| sent / rate).fold(1.0, f64::max)
}
