//! Fabrics: hosts, switches and the links between them.

use crate::packet::Envelope;
use crate::servers::Servers;
use linkpool_units::{HostId, Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, VecDeque};

linkpool_units::id! {
    /// A host or a switch. Hosts come first: the node of host i is node i.
    pub struct NodeId;
}

impl From<HostId> for NodeId {
    #[inline]
    fn from(host: HostId) -> NodeId {
        NodeId(host.into())
    }
}

impl From<NodeId> for HostId {
    /// The host that this node is.
    #[inline]
    fn from(node: NodeId) -> HostId {
        HostId::from(node.0)
    }
}

/// The most hosts of a fabric: a packet's destination has a fixed number of bits.
pub const MOST_HOSTS: u32 = 1 << Envelope::HOST_BITS;

linkpool_units::id! {
    /// One direction of a cable.
    pub struct LinkId;
}

/// The layer of a node in the fabric; results report its output ports under this layer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// A host.
    Host,
    /// A switch that joins the GPUs of a server.
    Nvlink,
    /// A switch between GPUs of a server and their NIC.
    Pcie,
    /// A switch of a fabric without layers.
    Switch,
    /// Top of rack.
    Edge,
    /// Between edge and core.
    Aggregation,
    /// The top of the tree.
    Core,
}

impl Layer {
    /// All of them.
    pub const ALL: [Layer; 7] =
        [Layer::Host, Layer::Nvlink, Layer::Pcie, Layer::Switch, Layer::Edge, Layer::Aggregation, Layer::Core];

    /// As written in results.
    pub fn name(self) -> &'static str {
        match self {
            Layer::Host => "host",
            Layer::Nvlink => "nvlink",
            Layer::Pcie => "pcie",
            Layer::Switch => "switch",
            Layer::Edge => "edge",
            Layer::Aggregation => "aggregation",
            Layer::Core => "core",
        }
    }
}

/// The properties of a cable, in both directions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cable {
    /// Rate.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Time,
}

/// One direction of a cable, as drawn.
#[derive(Clone, Debug)]
pub struct LinkSpec {
    /// Sending node.
    pub from: NodeId,
    /// Receiving node.
    pub to: NodeId,
    /// Rate.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Time,
}

/// Hosts, switches and the links between them: hosts come first, links come sorted by sending node.
#[derive(Clone, Debug)]
pub struct Fabric {
    nodes_by_name: HashMap<String, NodeId>,
    names: Vec<String>,
    layers: Vec<Layer>,
    hosts: usize,
    links: Vec<LinkSpec>,
    /// Links of node n are `first_link[n]..first_link[n + 1]`.
    first_link: Vec<LinkId>,
    /// By link: the other direction of its cable.
    reverse: Vec<LinkId>,
    /// By link, if several cables join some two nodes: which of those of its two nodes it is; none, if it is the only one.
    members: Vec<u32>,
    /// By node, in a fabric of groups: the number of its group, or [`NO_GROUP`].
    groups: Vec<u32>,
    /// By node: does it pass on packets that are for others? Switches do.
    forwards: Vec<bool>,
    hosts_forward: bool,
    servers: Option<Servers>,
}

/// The node is in no group.
const NO_GROUP: u32 = u32::MAX;

/// The link is the only one from its node to the other.
const ALONE: u32 = u32::MAX;

impl Fabric {
    /// Number of hosts; they are nodes `0..hosts`.
    pub fn hosts(&self) -> usize {
        self.hosts
    }
    /// Number of hosts and switches.
    pub fn nodes(&self) -> usize {
        self.names.len()
    }
    /// All hosts, then all switches.
    pub fn node_ids(&self) -> impl DoubleEndedIterator<Item = NodeId> + ExactSizeIterator + Clone + use<> {
        NodeId::first(self.nodes())
    }
    /// Does `node` pass on packets that are for others? Switches do.
    pub fn forwards(&self, node: NodeId) -> bool {
        self.forwards[node.index()]
    }
    /// Does any host pass on packets that are for others?
    pub fn hosts_forward(&self) -> bool {
        self.hosts_forward
    }
    /// The servers, in a fabric whose servers have several hosts.
    pub fn servers(&self) -> Option<&Servers> {
        self.servers.as_ref()
    }
    /// The group of a switch, in a fabric of groups such as a dragonfly; they are numbered from 0.
    pub fn group(&self, switch: NodeId) -> Option<u32> {
        self.groups.get(switch.index()).copied().filter(|group| *group != NO_GROUP)
    }
    /// All links, sorted by sending node.
    pub fn links(&self) -> &[LinkSpec] {
        &self.links
    }
    /// The links that leave `node`.
    pub fn links_from(
        &self,
        node: NodeId,
    ) -> impl DoubleEndedIterator<Item = LinkId> + ExactSizeIterator + Clone + use<> {
        let [first, end] = [node.index(), node.index() + 1].map(|n| self.first_link[n].index());
        (first..end).map(LinkId::new)
    }
    /// The place of `link` among the links of its sending node.
    pub fn port(&self, link: LinkId) -> usize {
        link.index() - self.first_link[self.links[link.index()].from.index()].index()
    }
    /// The name of `node`.
    pub fn name(&self, node: NodeId) -> &str {
        &self.names[node.index()]
    }
    /// The layer of `node`.
    pub fn layer(&self, node: NodeId) -> Layer {
        self.layers[node.index()]
    }
    /// The node called `name`.
    pub fn node(&self, name: &str) -> Option<NodeId> {
        self.nodes_by_name.get(name).copied()
    }
    /// The link from one node to another; the first one, if several cables join them.
    pub fn link(&self, from: NodeId, to: NodeId) -> Option<LinkId> {
        self.links_between(from, to).next()
    }
    /// The links from one node to another: several, if several cables join them.
    pub fn links_between(&self, from: NodeId, to: NodeId) -> impl Iterator<Item = LinkId> {
        self.links_from(from).filter(move |l| self.links[l.index()].to == to)
    }
    /// The links that go `from` one node `to` another, by name. Of several all, or only number n (from 0) if `to` ends
    /// with `#n`.
    pub fn links_named(&self, from: &str, to: &str) -> Vec<LinkId> {
        let Some(from) = self.node(from) else { return Vec::new() };
        match (self.node(to), split_member(to)) {
            (Some(to), _) => self.links_between(from, to).collect(),
            (None, Some((to, member))) => {
                let links = self.node(to).into_iter().flat_map(|to| self.links_between(from, to));
                links.filter(|link| self.member(*link) == Some(member)).collect()
            }
            (None, None) => Vec::new(),
        }
    }
    /// The node that a step of a path names: `NODE`, or `NODE#n` for one of the cables to it.
    pub fn step(&self, name: &str) -> Option<NodeId> {
        self.node(name).or_else(|| self.node(split_member(name)?.0))
    }
    /// If several cables join the two nodes of `link`: its number among its node's links to the other, from 0.
    pub fn member(&self, link: LinkId) -> Option<u32> {
        self.members.get(link.index()).copied().filter(|member| *member != ALONE)
    }
    /// The other direction of a cable.
    pub fn reverse(&self, link: LinkId) -> LinkId {
        self.reverse[link.index()]
    }
    /// The capacity of the links from all hosts together, bit/s; where servers have several hosts, of those
    /// that leave servers.
    pub fn access_rate(&self) -> f64 {
        let is_access = |l: &&LinkSpec| match &self.servers {
            None => l.from.index() < self.hosts,
            Some(servers) => {
                let [from, to] = [l.from, l.to].map(|node| servers.place(node.index()).server());
                from.is_some() && from != to
            }
        };
        self.links.iter().filter(is_access).map(|l| l.rate.0 as f64).sum()
    }

    /// By node: the number of links from `node` to it, on the shortest way; none, if there is no way.
    pub fn distances_from(&self, node: NodeId) -> Vec<Option<u32>> {
        let mut distances = vec![None; self.nodes()];
        distances[node.index()] = Some(0);
        let mut next = VecDeque::from([node]);
        while let Some(node) = next.pop_front() {
            for link in self.links_from(node) {
                let to = self.links[link.index()].to;
                if distances[to.index()].is_none() {
                    distances[to.index()] = distances[node.index()].map(|links| links + 1);
                    next.push_back(to);
                }
            }
        }
        distances
    }

    /// The rack and the pod of each host: the nearest switch, by its first NIC, and the switches joined
    /// to that one without core switches or hosts between them; each by the number of its first
    /// switch. Hosts that cables join, and that no switch is joined to, are a rack and a pod, by the
    /// number of the first of them.
    /// A server is a rack, and in the pod of its first NIC.
    pub fn racks_and_pods(&self) -> Vec<(u32, u32)> {
        let mut pods: Vec<NodeId> = NodeId::first(self.nodes()).collect();
        let is_below_core = |node: NodeId| node.index() >= self.hosts && self.layer(node) != Layer::Core;
        let mut seen = vec![false; self.nodes()];
        for first in NodeId::first(self.nodes()).filter(|n| is_below_core(*n)) {
            let mut next = if seen[first.index()] { vec![] } else { vec![first] };
            seen[first.index()] = true;
            while let Some(node) = next.pop() {
                pods[node.index()] = first;
                for link in self.links_from(node) {
                    let to = self.links[link.index()].to;
                    if is_below_core(to) && !std::mem::replace(&mut seen[to.index()], true) {
                        next.push(to);
                    }
                }
            }
        }
        let of_server = self.servers.as_ref().map(|servers| self.racks_of_servers(servers, &pods));
        let place = |host: NodeId| match (&self.servers, &of_server) {
            (Some(servers), Some(racks)) => servers.place(host.index()).server().map_or((host, host), |s| racks[&s]),
            _ => (self.rack(host), pods[self.rack(host).index()]),
        };
        NodeId::first(self.hosts).map(place).map(|(rack, pod)| (rack.into(), pod.into())).collect()
    }

    /// By server: its first switch, or its first host; and the pod of the first switch that a link leads to from it.
    fn racks_of_servers(&self, servers: &Servers, pods: &[NodeId]) -> HashMap<u32, (NodeId, NodeId)> {
        let mut racks = HashMap::new();
        let server = |node: NodeId| servers.place(node.index()).server();
        for node in self.node_ids().skip(self.hosts).chain(NodeId::first(self.hosts)) {
            if let Some(server) = server(node) {
                racks.entry(server).or_insert((node, node));
            }
        }
        // Of several links that lead out the first is the last to be seen.
        for link in self.links.iter().rev().filter(|link| link.to.index() >= self.hosts) {
            if let Some(from) = server(link.from).filter(|from| server(link.to) != Some(*from))
                && let Some((_, pod)) = racks.get_mut(&from)
            {
                *pod = pods[link.to.index()];
            }
        }
        racks
    }

    /// The switch that is nearest to a host, where hosts pass packets on; the first of the hosts that are
    /// joined if there is none.
    fn rack(&self, host: NodeId) -> NodeId {
        let mut joined = vec![host];
        let mut next = 0;
        while let Some(&node) = joined.get(next) {
            for link in self.links_from(node) {
                let to = self.links[link.index()].to;
                if to.index() >= self.hosts {
                    return to;
                }
                if !joined.contains(&to) {
                    joined.push(to);
                }
            }
            next += 1;
        }
        joined.into_iter().min().unwrap_or(host)
    }

    /// `FROM->TO`; if several cables join the two, `FROM->TO#0` and so on, in their order.
    pub fn link_name(&self, link: LinkId) -> String {
        let (from, to) = self.link_ends(link);
        format!("{from}->{to}")
    }

    /// The two parts of [`Fabric::link_name`].
    pub fn link_ends(&self, link: LinkId) -> (String, String) {
        let l = &self.links[link.index()];
        let member = self.member(link).map(|member| format!("#{member}")).unwrap_or_default();
        (self.name(l.from).to_string(), format!("{}{member}", self.name(l.to)))
    }
}

/// The node and the number in `NODE#n`.
pub fn split_member(name: &str) -> Option<(&str, u32)> {
    let (node, member) = name.rsplit_once('#')?;
    // 01 and +1 are no names of a cable.
    Some((node, member.parse().ok().filter(|n: &u32| n.to_string() == member)?))
}

/// Puts a [`Fabric`] together.
#[derive(Debug, Default)]
pub struct FabricBuilder {
    names: Vec<String>,
    layers: Vec<Layer>,
    links: Vec<LinkSpec>,
    groups: Vec<Vec<NodeId>>,
    forwarding: Vec<NodeId>,
    hosts_forward: bool,
    servers: Option<Servers>,
}

impl FabricBuilder {
    /// Adds a host or a switch. All hosts must come before the first switch.
    pub fn node(&mut self, name: impl Into<String>, layer: Layer) -> NodeId {
        let last = self.layers.last();
        assert!(layer != Layer::Host || last.is_none_or(|l| *l == Layer::Host), "hosts come before switches");
        self.names.push(name.into());
        self.layers.push(layer);
        NodeId::new(self.names.len() - 1)
    }

    /// Joins two nodes in both directions.
    pub fn cable(&mut self, a: NodeId, b: NodeId, rate: Rate, delay: Time) {
        self.links.push(LinkSpec { from: a, to: b, rate, delay });
        self.links.push(LinkSpec { from: b, to: a, rate, delay });
    }

    /// Joins two nodes by a cable with the properties of `cable`.
    pub fn lay(&mut self, a: NodeId, b: NodeId, cable: Cable) {
        self.cable(a, b, cable.rate, cable.delay);
    }

    /// These switches, of which a cable joins any two, are the next group.
    pub fn group(&mut self, switches: Vec<NodeId>) {
        self.groups.push(switches);
    }

    /// Lets all hosts forward packets for other hosts, as in server-centric fabrics.
    pub fn hosts_forward(&mut self) {
        self.hosts_forward = true;
    }

    /// Lets this host forward packets for other hosts.
    pub fn forwards(&mut self, host: NodeId) {
        self.forwarding.push(host);
    }

    /// These nodes are servers.
    pub fn servers(&mut self, servers: Servers) {
        self.servers = Some(servers);
    }

    /// The number of nodes so far.
    pub fn nodes(&self) -> usize {
        self.names.len()
    }

    /// The finished fabric.
    ///
    /// # Panics
    /// With more hosts than [`MOST_HOSTS`].
    pub fn build(self) -> Fabric {
        let hosts = self.layers.iter().filter(|l| **l == Layer::Host).count();
        assert!(hosts <= MOST_HOSTS as usize, "at most {MOST_HOSTS} hosts");
        // The two directions of cable i are directions 2i and 2i + 1.
        let mut directions: Vec<usize> = (0..self.links.len()).collect();
        directions.sort_by_key(|d| self.links[*d].from); // stable: a node's links keep the order in which they were added
        let mut places = vec![LinkId::NONE; directions.len()];
        LinkId::first(directions.len()).zip(&directions).for_each(|(link, direction)| places[*direction] = link);
        let reverse = directions.iter().map(|direction| places[direction ^ 1]).collect();
        let links: Vec<LinkSpec> = directions.iter().map(|direction| self.links[*direction].clone()).collect();
        let first_link =
            (0..=self.names.len()).map(|n| LinkId::new(links.partition_point(|l| l.from.index() < n))).collect();
        let mut nodes_by_name = HashMap::with_capacity(self.names.len());
        for (name, node) in self.names.iter().zip(NodeId::first(self.names.len())) {
            nodes_by_name.entry(name.clone()).or_insert(node);
        }
        let mut forwards: Vec<bool> = self.layers.iter().map(|l| *l != Layer::Host || self.hosts_forward).collect();
        self.forwarding.iter().for_each(|host| forwards[host.index()] = true);
        let mut groups = if self.groups.is_empty() { Vec::new() } else { vec![NO_GROUP; self.names.len()] };
        for (number, group) in (0..).zip(&self.groups) {
            group.iter().for_each(|switch| groups[switch.index()] = number);
        }
        Fabric {
            nodes_by_name,
            groups,
            names: self.names,
            layers: self.layers,
            hosts,
            members: members(&links),
            links,
            first_link,
            reverse,
            hosts_forward: forwards[..hosts].contains(&true),
            forwards,
            servers: self.servers,
        }
    }
}

/// By link, sorted by sending node: its number among those to the same node; of no use if no node has several to one.
fn members(links: &[LinkSpec]) -> Vec<u32> {
    let mut by_ends: Vec<usize> = (0..links.len()).collect();
    by_ends.sort_by_key(|link| (links[*link].from, links[*link].to)); // stable
    let mut members = vec![ALONE; links.len()];
    for of_pair in by_ends.chunk_by(|a, b| (links[*a].from, links[*a].to) == (links[*b].from, links[*b].to)) {
        if of_pair.len() > 1 {
            (0..).zip(of_pair).for_each(|(member, link)| members[*link] = member);
        }
    }
    if members.iter().all(|member| *member == ALONE) { Vec::new() } else { members }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_have_their_names() {
        assert_eq!(Layer::ALL.map(Layer::name), ["host", "nvlink", "pcie", "switch", "edge", "aggregation", "core"]);
    }

    /// Three cables between two switches, of which the second was laid from the other end.
    #[test]
    fn parallel_cables_have_names_of_their_own() {
        let mut b = FabricBuilder::default();
        let [a, h] = ["a", "b#1"].map(|name| b.node(name, Layer::Host));
        let [s, t] = ["s", "t"].map(|name| b.node(name, Layer::Switch));
        b.cable(a, s, Rate::gbps(1), Time(1));
        b.cable(s, t, Rate::gbps(1), Time(1));
        b.cable(t, s, Rate::gbps(2), Time(1));
        b.cable(h, t, Rate::gbps(1), Time(1));
        b.cable(s, t, Rate::gbps(3), Time(1));
        let fabric = b.build();
        let names: Vec<String> = LinkId::first(10).map(|link| fabric.link_name(link)).collect();
        let expected = ["a->s", "b#1->t", "s->a", "s->t#0", "s->t#1", "s->t#2", "t->s#0", "t->s#1", "t->b#1", "t->s#2"];
        assert_eq!(names, expected);
        for link in LinkId::first(10) {
            let (there, back) = (&fabric.links()[link.index()], &fabric.links()[fabric.reverse(link).index()]);
            assert_eq!((there.from, there.to, there.rate), (back.to, back.from, back.rate));
            assert_eq!(fabric.member(link), fabric.member(fabric.reverse(link)));
        }
        let rates = |from: &str, to: &str| -> Vec<u64> {
            let links = fabric.links_named(from, to).into_iter();
            links.map(|link| fabric.links()[link.index()].rate.0 / 1_000_000_000).collect()
        };
        assert_eq!((rates("s", "t"), rates("t", "s")), (vec![1, 2, 3], vec![1, 2, 3]));
        assert_eq!((rates("t", "s#1"), rates("s", "t#2")), (vec![2], vec![3]));
        assert_eq!((rates("a", "s"), rates("t", "b#1")), (vec![1], vec![1]));
        for (from, to) in [("s", "t#3"), ("s", "t#01"), ("s", "t#"), ("a", "s#0"), ("s", "u"), ("u", "s")] {
            assert_eq!(rates(from, to), Vec::<u64>::new(), "{from}->{to}");
        }
        assert_eq!(fabric.link(s, t), Some(LinkId::new(3)));
    }

    /// Two racks below one aggregation switch are a pod; a third, joined to them by a core switch
    /// and by a host with two NICs, is another.
    #[test]
    fn racks_are_pods_together_below_the_core() {
        let mut b = FabricBuilder::default();
        let hosts: Vec<NodeId> = (0..5).map(|i| b.node(format!("h{i}"), Layer::Host)).collect();
        let [e0, e1, e2] = ["e0", "e1", "e2"].map(|name| b.node(name, Layer::Edge));
        let aggregation = b.node("a", Layer::Aggregation);
        let core = b.node("c", Layer::Core);
        let mut cable = |x, y, mbps| b.cable(x, y, Rate::mbps(mbps), Time::from_us(1));
        for (host, edge) in hosts.iter().zip([e0, e0, e1, e2, e1]) {
            cable(*host, edge, 10);
        }
        cable(hosts[4], e2, 20);
        cable(e0, aggregation, 1000);
        cable(e1, aggregation, 1000);
        cable(aggregation, core, 1000);
        cable(core, e2, 1000);
        let fabric = b.build();
        let places = [(e0, e0), (e0, e0), (e1, e0), (e2, e2), (e1, e0)];
        assert_eq!(fabric.racks_and_pods(), places.map(|(rack, pod)| (rack.into(), pod.into())));
        // Five NICs of 10 Mbit/s, one of 20.
        assert_eq!(fabric.access_rate(), 70e6);
    }

    /// Three hosts in a row, of which the last two are at switches; and two hosts that one cable joins.
    #[test]
    fn hosts_at_other_hosts_have_racks() {
        let mut b = FabricBuilder::default();
        let hosts: Vec<NodeId> = (0..5).map(|i| b.node(format!("h{i}"), Layer::Host)).collect();
        let [e0, e1] = ["e0", "e1"].map(|name| b.node(name, Layer::Edge));
        let cables = [(hosts[0], hosts[1]), (hosts[1], hosts[2]), (hosts[1], e0), (hosts[2], e1), (hosts[4], hosts[3])];
        for (x, y) in cables {
            b.cable(x, y, Rate::mbps(10), Time::from_us(1));
        }
        let places = [(e0, e0), (e0, e0), (e1, e1), (hosts[3], hosts[3]), (hosts[3], hosts[3])];
        assert_eq!(b.build().racks_and_pods(), places.map(|(rack, pod)| (rack.into(), pod.into())));
    }
}
