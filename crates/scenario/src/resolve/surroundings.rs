//! Settings of transports whose defaults follow from the network around them.

use linkpool_network::{Fabric, NodeId, Queue, QueueLimit};
use linkpool_transport::Surroundings;
use linkpool_units::Rate;

use crate::model::Transport;

/// Fills in what the scenario leaves out of the transports' own settings.
pub(super) fn complete(transports: &mut [Option<Transport>], fabric: &Fabric, queue: &Queue) {
    let rates = |host| fabric.links_from(host).map(|link| fabric.links()[link.index()].rate.0);
    for t in transports.iter_mut().flatten() {
        let full = u64::from(t.config.mss) + u64::from(t.wire.header);
        let limit = match queue.limit {
            QueueLimit::Bytes(bytes) => Some(bytes),
            QueueLimit::Packets(u32::MAX) => None,
            QueueLimit::Packets(packets) => Some(u64::from(packets) * full),
        };
        let around = || Surroundings {
            base_rtt: fabric.longest_round_trip(full as u16, t.wire.ack_size as u16),
            rate: Rate(NodeId::first(fabric.hosts()).map(|host| rates(host).sum()).max().unwrap_or(0)),
            port_rate: Rate(NodeId::first(fabric.hosts()).flat_map(rates).min().unwrap_or(1)),
            queue: limit.filter(|_| queue.shared_buffer.is_none()),
        };
        t.control.family().complete(&mut t.own, &around);
    }
}
