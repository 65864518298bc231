//! Divides a fabric among partitions.

use crate::change::Timetable;
use crate::fabric::{Fabric, LinkId, NodeId};
use crate::packet::{Flags, Packet};
use crate::pods::{Exchange, whole_pods};
use crate::policy::Policies;
use crate::routing::Routes;
use crate::stages::Stages;
use linkpool_units::HostId;
use std::sync::Arc;

/// The partitions of a fabric, one per thread.
///
/// A partition runs some nodes. A switch may be *split by output*: each partition runs it for the packets
/// that go on to a node of the partition. So a packet that comes to a core switch from one pod is from then
/// on in the partition of the pod to which it goes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Partitions {
    /// By node: the partition that runs it, or [`SPLIT`].
    nodes: Vec<u8>,
    /// By link: the partition that queues packets for it.
    senders: Vec<u8>,
    /// By host, if switches are split: the partition that runs all of them for packets to the host whose path
    /// is not pinned, or [`SPLIT`] if that depends on the switch or on the packet.
    destined: Vec<u8>,
    /// How far they run ahead of each other; none: they meet in each window.
    stages: Option<Arc<Stages>>,
}

/// Stands for all partitions.
const SPLIT: u8 = u8::MAX;

impl Partitions {
    /// One partition runs the whole `fabric`.
    pub fn whole(fabric: &Fabric) -> Partitions {
        Partitions::of_nodes(fabric, vec![0; fabric.nodes()])
    }

    /// By node of `fabric`: the partition that runs it.
    pub fn of_nodes(fabric: &Fabric, nodes: Vec<u8>) -> Partitions {
        let senders = fabric.links().iter().map(|link| nodes[link.from.index()]).collect();
        Partitions { nodes, senders, destined: Vec::new(), stages: None }
    }

    /// With switches split by output that have neighbours in several partitions. Only switches are split
    /// whose packets do not depend on each other: they choose links by hash, by routes that do not change,
    /// and have FIFO queues that do not change.
    #[must_use]
    pub fn splitting(mut self, fabric: &Fabric, policies: impl Into<Policies>, timetable: &Timetable) -> Partitions {
        let Some(routes) = timetable.hashed() else { return self };
        let policies = policies.into();
        // The packet goes on to a node that one partition runs. In a tree the switches at the top are the
        // last ones, and most of all are between partitions.
        for switch in NodeId::first(fabric.nodes()).skip(fabric.hosts()).rev() {
            let links = || fabric.links_from(switch).map(|link| (link, &fabric.links()[link.index()]));
            let neighbours = || links().map(|(_, spec)| self.nodes[spec.to.index()]);
            let first = neighbours().next();
            let splits = neighbours().any(|one| Some(one) != first) && neighbours().all(|one| one != SPLIT);
            if splits && timetable.are_plain(fabric, &policies, fabric.links_from(switch)) {
                links().for_each(|(link, spec)| self.senders[link.index()] = self.nodes[spec.to.index()]);
                self.nodes[switch.index()] = SPLIT;
            }
        }
        self.destined = self.by_destination(fabric, routes);
        self
    }

    /// Partitions whose `stages` run ahead of each other; none: they meet in each window.
    #[must_use]
    pub(crate) fn with_stages(self, stages: Option<Stages>) -> Partitions {
        Partitions { stages: stages.map(Arc::new), ..self }
    }

    /// The number of windows that partitions run before they meet again.
    pub fn windows_apart(&self) -> u64 {
        self.stages.as_ref().map_or(1, |stages| stages.windows)
    }

    /// When a packet is processed that comes by `link` in `window`: in this window, or, if partitions run ahead, at the
    /// epoch of this number.
    pub fn epoch(&self, link: LinkId, window: u64) -> u64 {
        self.stages.as_ref().map_or(window, |stages| window + stages.behind(stages.joined[link.index()]))
    }

    /// The stages of each partition, if they run ahead of each other.
    pub(crate) fn stages(&self) -> Option<&Arc<Stages>> {
        self.stages.as_ref()
    }

    /// Finds [`Partitions::destined`].
    fn by_destination(&self, fabric: &Fabric, routes: &Routes) -> Vec<u8> {
        let split: Vec<NodeId> = NodeId::first(fabric.nodes()).filter(|node| self.of(*node).is_none()).collect();
        let mut neighbours = split.iter().flat_map(|switch| fabric.links_from(*switch));
        if neighbours.any(|link| fabric.links()[link.index()].to.index() < fabric.hosts()) {
            // Its hosts share a column, and may be in several partitions.
            return vec![SPLIT; fabric.hosts()];
        }
        routes.by_column(|host| {
            let links = split.iter().flat_map(|switch| routes.links_towards(*switch, host));
            let mut partitions = links.map(|link| self.sender(link));
            let first = partitions.next().unwrap_or(SPLIT);
            if partitions.all(|one| one == first) { first } else { SPLIT }
        })
    }

    /// The number of partitions; where there are more partitions than nodes, the last have none.
    pub(crate) fn count(&self) -> usize {
        self.nodes.iter().filter(|partition| **partition != SPLIT).max().map_or(0, |last| usize::from(*last) + 1)
    }

    /// Does `partition` run `node`, for some packets at least?
    pub fn runs(&self, partition: u8, node: NodeId) -> bool {
        [partition, SPLIT].contains(&self.nodes[node.index()])
    }

    /// The partition that runs `host`.
    pub fn of_host(&self, host: HostId) -> u8 {
        self.nodes[host.index()]
    }

    /// The partition that queues packets for `link`.
    pub fn sender(&self, link: LinkId) -> u8 {
        self.senders[link.index()]
    }

    /// Does a link of `fabric` lead from one partition to a host of another?
    pub(crate) fn lead_to_hosts(&self, fabric: &Fabric) -> bool {
        let mut to_hosts = fabric.links().iter().enumerate().filter(|(_, spec)| spec.to.index() < fabric.hosts());
        to_hosts.any(|(id, spec)| self.of(spec.to) != Some(self.sender(LinkId::new(id))))
    }

    /// The partition that runs `node`; none if it is split.
    pub(crate) fn of(&self, node: NodeId) -> Option<u8> {
        Some(self.nodes[node.index()]).filter(|partition| *partition != SPLIT)
    }

    /// The partition that runs `node` for `packet`, which goes on by `routes` if the node is split.
    #[inline]
    pub fn receiver(&self, routes: &Routes, node: NodeId, packet: &Packet) -> u8 {
        match self.of(node) {
            Some(one) => one,
            None if packet.flags.has(Flags::PINNED) => self.onward(routes, node, *packet),
            None => match self.destined[packet.dst().index()] {
                SPLIT => self.onward(routes, node, *packet),
                one => one,
            },
        }
    }

    /// The partition that queues `packet` for the link by which it goes on from `node`.
    #[inline(never)]
    fn onward(&self, routes: &Routes, node: NodeId, mut packet: Packet) -> u8 {
        self.sender(routes.next_link(node, &mut packet))
    }
}

/// Divides `fabric` among `n` partitions.
///
/// Hosts are split into runs of neighbours, as fabrics number them rack by rack and pod by pod. Pods stay whole if
/// no partition gets more than 1.25 of its even share for that.
/// Then each switch joins the partition of most of its neighbours, from the edge upwards; at a tie,
/// as at the core of a tree, the partition with the fewest links so far. So few links cross
/// partitions, and the work is spread evenly.
pub fn partition(fabric: &Fabric, n: u8) -> Partitions {
    partition_for(fabric, n, [])
}

/// The same for hosts that are expected to have these `exchanges`: whole pods are divided so that partitions have as even
/// work, and as few packets to each other, as exchanges of two pods can achieve.
pub fn partition_for(fabric: &Fabric, n: u8, exchanges: impl IntoIterator<Item = Exchange>) -> Partitions {
    const NONE: u8 = u8::MAX;
    let hosts = fabric.hosts();
    let shares = whole_pods(fabric, n, exchanges)
        .unwrap_or_else(|| (0..hosts).map(|host| (host * n as usize / hosts) as u8).collect());
    let mut part = vec![NONE; fabric.nodes()];
    let mut links = vec![0usize; n as usize];
    for (host, share) in shares.into_iter().enumerate() {
        part[host] = share;
        links[share as usize] += fabric.links_from(NodeId::new(host)).len();
    }
    // Switches are numbered from the edge upwards; a switch without any neighbour placed yet has
    // its turn again.
    let mut waiting: Vec<NodeId> = NodeId::first(fabric.nodes()).skip(hosts).collect();
    while !waiting.is_empty() {
        let mut still = Vec::new();
        for node in waiting.iter().copied() {
            let mut votes = vec![0usize; n as usize];
            for link in fabric.links_from(node) {
                let neighbour = part[fabric.links()[link.index()].to.index()];
                if neighbour != NONE {
                    votes[neighbour as usize] += 1;
                }
            }
            let most = votes.iter().max().copied().unwrap_or(0);
            if most == 0 && still.len() + 1 < waiting.len() {
                still.push(node);
                continue;
            }
            let candidates = (0..n).filter(|p| votes[*p as usize] == most);
            let chosen = candidates.min_by_key(|p| links[*p as usize]).unwrap_or(0);
            part[node.index()] = chosen;
            links[chosen as usize] += fabric.links_from(node).len();
        }
        waiting = still;
    }
    Partitions::of_nodes(fabric, part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::balancer::Spreading;
    use crate::fabric::{FabricBuilder, Layer};
    use crate::packet::Envelope;
    use crate::policy::QueuePolicy;
    use crate::queue_limit::QueueLimit;
    use crate::topology::fat_tree;
    use linkpool_units::{Rate, Time};

    fn tree() -> Fabric {
        fat_tree(8, 4, Rate::gbps(10), Time::from_us(1))
    }

    fn is_core(fabric: &Fabric, node: NodeId) -> bool {
        fabric.name(node).starts_with('c')
    }

    #[test]
    fn pods_stay_together_and_cores_are_shared_out() {
        let fabric = tree();
        for n in [2, 4] {
            let part = partition(&fabric, n);
            for l in fabric.links() {
                let core = is_core(&fabric, l.from) || is_core(&fabric, l.to);
                assert!(core || part.of(l.from) == part.of(l.to));
            }
            for p in 0..n {
                let own = NodeId::first(fabric.nodes()).filter(|node| part.of(*node) == Some(p));
                assert_eq!(own.count(), fabric.nodes() / n as usize);
            }
        }
    }

    /// Eight pods of 16 hosts. Six partitions would have one or two pods: the even share is 21.3 hosts, of which 32 is too much.
    #[test]
    fn pods_stay_whole_if_shares_stay_even() {
        let fabric = tree();
        let hosts_of = |n: u8| {
            let part = partition(&fabric, n);
            (0..n)
                .map(|p| HostId::first(fabric.hosts()).filter(|host| part.of_host(*host) == p).count())
                .collect::<Vec<_>>()
        };
        assert_eq!(hosts_of(3), [48, 48, 32]);
        assert_eq!(hosts_of(5), [32, 32, 16, 32, 16]);
        assert_eq!(hosts_of(6), [22, 21, 21, 22, 21, 21]);
        assert_eq!(hosts_of(16), [8; 16], "pods are halved");
        // Six pods of nine hosts: two pods are 18 hosts, 1.33 times the even share of four partitions.
        let part = partition(&fat_tree(6, 3, Rate::gbps(10), Time::from_us(1)), 4);
        let shares = [0, 1, 2, 3].map(|p| HostId::first(54).filter(|host| part.of_host(*host) == p).count());
        assert_eq!(shares, [14, 13, 14, 13]);
    }

    /// Of the four hosts the first two are in one partition. A switch goes where most of its neighbours are, though the other
    /// partition has fewer links; one with as many neighbours in both goes where there are fewer links.
    #[test]
    fn a_switch_is_where_most_of_its_neighbours_are() {
        let mut b = FabricBuilder::default();
        let hosts = ["a", "b", "c", "d"].map(|name| b.node(name, Layer::Host));
        let [most, even] = ["most", "even"].map(|name| b.node(name, Layer::Switch));
        for (host, switch) in [(0, most), (2, most), (3, most), (1, even), (2, even)] {
            b.cable(hosts[host], switch, Rate::gbps(1), Time(1));
        }
        let part = partition(&b.build(), 2);
        assert_eq!(hosts.map(|host| part.of(host)), [0, 0, 1, 1].map(Some));
        assert_eq!((part.of(most), part.of(even)), (Some(1), Some(0)));
    }

    /// Of three hosts two are in the first partition. So a switch with a neighbour in each goes where one link is, not two.
    #[test]
    fn links_of_hosts_count_as_well() {
        let mut b = FabricBuilder::default();
        let hosts = ["a", "b", "c"].map(|name| b.node(name, Layer::Host));
        let [even, other] = ["even", "other"].map(|name| b.node(name, Layer::Switch));
        for (host, switch) in [(1, even), (2, even), (0, other)] {
            b.cable(hosts[host], switch, Rate::gbps(1), Time(1));
        }
        let part = partition(&b.build(), 2);
        assert_eq!(hosts.map(|host| part.of(host)), [0, 0, 1].map(Some));
        assert_eq!((part.of(even), part.of(other)), (Some(1), Some(0)));
    }

    /// A core that is numbered before its three edges, of which two are in the second partition. One without any cable ends
    /// somewhere, too.
    #[test]
    fn a_switch_waits_for_its_neighbours() {
        let mut b = FabricBuilder::default();
        let hosts = ["a", "b", "c", "d"].map(|name| b.node(name, Layer::Host));
        let [core, x, y, z, alone] = ["core", "x", "y", "z", "alone"].map(|name| b.node(name, Layer::Switch));
        for (one, other) in
            [(hosts[0], x), (hosts[1], x), (hosts[2], y), (hosts[3], z), (x, core), (y, core), (z, core)]
        {
            b.cable(one, other, Rate::gbps(1), Time(1));
        }
        let part = partition(&b.build(), 2);
        assert_eq!([x, y, z, core].map(|switch| part.of(switch)), [0, 1, 1, 1].map(Some));
        assert!(part.of(alone).is_some());
    }

    /// The first switch is a neighbour of those that are split, and no host.
    #[test]
    fn destinations_tell_where_all_but_the_leaves_are_split() {
        use crate::topology::{Generator, LeafSpine};
        let (rate, delay) = (Rate::gbps(10), Time::from_us(1));
        let shape =
            LeafSpine { leaves: 2, spines: 2, hosts_per_leaf: 2, rate, delay, uplink_rate: rate, uplink_delay: delay };
        let fabric = shape.fabric();
        let (policy, timetable) = plain(&fabric);
        let part = partition(&fabric, 2).splitting(&fabric, policy, &timetable);
        assert_eq!(part.destined, [0, 0, 1, 1]);
    }

    /// A packet whose path is pinned may go on elsewhere than its destination says: up to a core switch, down to another pod of
    /// the sender's partition, and up to the next core switch, which leads to the last pod.
    #[test]
    fn a_pinned_packet_is_where_its_path_goes_on() {
        let fabric = fat_tree(4, 2, Rate::gbps(10), Time::from_us(1));
        let (policy, timetable) = plain(&fabric);
        let part = partition(&fabric, 2).splitting(&fabric, policy.clone(), &timetable);
        let names = ["h0", "e0.0", "a0.0", "c0", "a1.0", "c1", "a3.0", "e3.1", "h15"];
        let nodes = names.map(|name| fabric.node(name).expect("a node of this name"));
        let path: Vec<LinkId> = nodes.windows(2).map(|ends| fabric.link(ends[0], ends[1]).expect("a link")).collect();
        let entropy = crate::source_route::source_route(&fabric, &path).expect("a path of few ports");
        let envelope = Envelope::new(HostId::new(15), 1500, 1438);
        let mut packet = Packet { envelope, entropy, flags: Flags::PINNED, ..Packet::default() };
        let mut receivers = Vec::new();
        for (node, link) in nodes.iter().zip(&path) {
            receivers.push(part.receiver(&timetable.routes[0].1, *node, &packet));
            assert_eq!(timetable.routes[0].1.next_link(*node, &mut packet), *link);
            assert_eq!(receivers.last(), Some(&part.sender(*link)));
        }
        assert_eq!(receivers, [0, 0, 0, 0, 0, 1, 1, 1]);
    }

    fn plain(fabric: &Fabric) -> (QueuePolicy, Timetable) {
        (QueuePolicy::drop_tail(QueueLimit::Packets(9)), Timetable::from(Arc::new(Routes::new(fabric, 1))))
    }

    /// Core switches are split, and no others. Then a packet changes its partition where it comes to the
    /// core, if its destination is in another one, and nowhere else.
    #[test]
    fn packets_cross_at_most_once_where_cores_are_split() {
        let fabric = tree();
        let (policy, timetable) = plain(&fabric);
        let (routes, hosts) = (&timetable.routes[0].1, fabric.hosts());
        for n in [2, 4] {
            let part = partition(&fabric, n).splitting(&fabric, policy.clone(), &timetable);
            assert!(NodeId::first(fabric.nodes()).all(|node| part.of(node).is_none() == is_core(&fabric, node)));
            let mut crossed = 0;
            for (from, to) in (0..hosts).map(|host| (HostId::new(host), HostId::new((host * 37 + 5) % hosts))) {
                let envelope = Envelope::new(to, 1500, 1438);
                let mut packet = Packet { envelope, entropy: from.index() as u32 * 77, ..Packet::default() };
                let (mut node, mut crossings) = (NodeId::from(from), 0);
                while node != NodeId::from(to) {
                    let link = routes.next_link(node, &mut packet);
                    node = fabric.links()[link.index()].to;
                    let receiver = part.receiver(routes, node, &packet);
                    crossings += u32::from(part.sender(link) != receiver);
                    if is_core(&fabric, node) {
                        assert_eq!(part.sender(routes.next_link(node, &mut { packet })), receiver);
                        assert_eq!(part.destined[to.index()], receiver, "found without a route");
                    }
                }
                assert_eq!(crossings, u32::from(part.of_host(from) != part.of_host(to)));
                crossed += crossings;
            }
            assert!(crossed > 0);
        }
    }

    /// A host behind d, from s over c1, x and e, and from w over c2, y and e. The switches e, c1 and c2 are split: c1 sends to the
    /// host by partition 0, in which x is, and c2 by 1, in which y is.
    #[test]
    fn a_destination_does_not_tell_where_split_switches_differ() {
        let mut builder = FabricBuilder::default();
        let hosts = ["of d", "of s", "of w"].map(|name| builder.node(name, Layer::Host));
        let names = ["d", "s", "w", "x", "y", "e", "c1", "c2"];
        let [d, s, w, x, y, e, c1, c2] = names.map(|name| builder.node(name, Layer::Switch));
        let cables = [(d, e), (e, x), (e, y), (x, c1), (c1, s), (y, c2), (c2, w)];
        for (one, other) in hosts.into_iter().zip([d, s, w]).chain(cables) {
            builder.cable(one, other, Rate::gbps(10), Time::from_us(1));
        }
        let fabric = builder.build();
        let (policy, timetable) = plain(&fabric);
        let nodes = vec![0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1];
        let part = Partitions::of_nodes(&fabric, nodes).splitting(&fabric, policy.clone(), &timetable);
        assert!(fabric.node_ids().all(|node| part.of(node).is_none() == [e, c1, c2].contains(&node)));
        let to_host = |host| Packet { envelope: Envelope::new(HostId::new(host), 1500, 1438), ..Packet::default() };
        let receiver = |node, host| part.receiver(&timetable.routes[0].1, node, &to_host(host));
        assert_eq!([c1, c2, e].map(|node| receiver(node, 0)), [0, 1, 0]);
        assert_eq!((part.destined[0], receiver(e, 1), receiver(e, 2)), (SPLIT, 0, 1));
    }

    #[test]
    fn nothing_is_split_whose_packets_depend_on_each_other() {
        use crate::change::LinkChange;
        use crate::routing::Routing;
        use std::collections::HashSet;
        let fabric = tree();
        let (policy, plain) = plain(&fabric);
        let whole = partition(&fabric, 2);
        let split = |policy: QueuePolicy, timetable: &Timetable| {
            let part = whole.clone().splitting(&fabric, policy, timetable);
            NodeId::first(fabric.nodes()).filter(|node| part.of(*node).is_none()).count()
        };
        assert_eq!(split(policy.clone(), &plain), 16);
        let spraying = Routing { spreading: Spreading::Spray, ..Routing::default() };
        let sprayed = Arc::new(Routes::with(&fabric, 1, &spraying, &HashSet::new()));
        assert_eq!(split(policy.clone(), &Timetable::from(sprayed)), 0);
        let mut later = plain.clone();
        later.routes.push((Time::from_us(1), later.routes[0].1.clone()));
        assert_eq!(split(policy.clone(), &later), 0);
        let of_core = LinkId::first(fabric.links().len()).find(|l| is_core(&fabric, fabric.links()[l.index()].from));
        let mut fails = plain.clone();
        fails.links.insert(of_core.unwrap(), vec![(Time::from_us(1), LinkChange::Up(false))]);
        assert_eq!(split(policy.clone(), &fails), 15);
        assert_eq!(split(policy.marking_at_dequeue(), &plain), 0);
    }
}
