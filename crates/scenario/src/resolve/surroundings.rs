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
        };
        t.control.family().complete(&mut t.own, &around);
    }
}
