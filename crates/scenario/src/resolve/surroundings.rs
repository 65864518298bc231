//! Settings of transports whose defaults follow from the network around them.

use linkpool_network::{Fabric, Layer, LinkSpec, NodeId, Queue, QueueLimit};
use linkpool_transport::Surroundings;
use linkpool_units::Rate;

use crate::model::Transport;

/// Does the link stay in a server, where flows to other servers do not pass it?
fn is_inner(fabric: &Fabric, link: &LinkSpec) -> bool {
    fabric.layer(link.to) == Layer::Nvlink
}

/// Fills in what the scenario leaves out of the transports' own settings.
pub(super) fn complete(transports: &mut [Option<Transport>], fabric: &Fabric, queue: &Queue) {
    let links = |host| fabric.links_from(host).map(|link| &fabric.links()[link.index()]);
    let rates = |host| links(host).filter(|link| !is_inner(fabric, link)).map(|link| link.rate.0);
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

/// The nodes by their distance in links from the nearest host, each once: of a large fabric a node
/// is reached over thousands of paths.
fn levels(fabric: &Fabric) -> Vec<Vec<NodeId>> {
    let links = fabric.links();
    let mut seen = vec![false; fabric.node_ids().len()];
    let mut reached: Vec<NodeId> = NodeId::first(fabric.hosts()).collect();
    let mut levels = Vec::new();
    loop {
        reached.retain(|node| !std::mem::replace(&mut seen[node.index()], true));
        if reached.is_empty() {
            return levels;
        }
        let next = reached.iter().flat_map(|node| fabric.links_from(*node)).map(|link| links[link.index()].to);
        let next = next.collect();
        levels.push(std::mem::replace(&mut reached, next));
    }
}

/// How many times as much the hosts send as the links carry from one tier to the next, where it is
/// most; 1 at least. The tier of a node is its distance from the nearest host in links. (uet-htsim
/// multiplies the ratios of tiers: `get_oversubscription_ratio`.)
fn oversubscription(fabric: &Fabric) -> f64 {
    let links = fabric.links();
    let mut tier = vec![usize::MAX; fabric.node_ids().len()];
    for (number, nodes) in levels(fabric).iter().enumerate() {
        nodes.iter().for_each(|node| tier[node.index()] = number);
    }
    let up = |number: usize| {
        let rises = |from: NodeId, to: NodeId| tier[from.index()] == number && tier[to.index()] == number + 1;
        links
            .iter()
            .filter(|link| rises(link.from, link.to) && !is_inner(fabric, link))
            .map(|link| link.rate.0 as f64)
            .sum::<f64>()
    };
    let sent = up(0);
    (1..).map(up).take_while(|rate| *rate > 0.0).map(|rate| sent / rate).fold(1.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkpool_network::FabricBuilder;
    use linkpool_network::topology::{Generator, GpuServers};
    use linkpool_settings::{Preset, Settings};
    use linkpool_units::Time;

    /// 16 GPUs with a NIC of 400 Gbit/s each, and 8 leaves with an uplink or two of 400. NVLink of
    /// 3.6 Tbit/s is no tier.
    #[test]
    fn servers_send_what_their_nics_send() {
        for (spines, expected) in [(1, 2.0), (2, 1.0)] {
            let rate = Rate::gbps(400);
            let sizes = GpuServers {
                groups: 2,
                servers_per_group: 2,
                gpus: 4,
                nics: 4,
                spines,
                ..Settings::defaults(Preset::Linux)
            };
            let fabric = GpuServers { rate, uplink_rate: rate, ..sizes }.fabric();
            assert_eq!(oversubscription(&fabric), expected);
        }
    }

    /// Two hosts with cables to both of two switches, which have two cables each to a third.
    #[test]
    fn each_node_is_in_one_level() {
        let mut builder = FabricBuilder::default();
        let hosts = ["a", "b"].map(|name| builder.node(name, Layer::Host));
        let below = ["s", "t"].map(|name| builder.node(name, Layer::Edge));
        let above = builder.node("u", Layer::Core);
        for switch in below {
            for to in [hosts[0], hosts[1], above, above] {
                builder.cable(switch, to, Rate::gbps(1), Time::from_us(1));
            }
        }
        assert_eq!(levels(&builder.build()), [hosts.to_vec(), below.to_vec(), vec![above]]);
    }
}
