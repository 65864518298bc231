//! Paths that need not be the shortest: over a random group of a dragonfly, or over a random switch
//! of another fabric.

use super::one_of;
use crate::fabric::{Fabric, LinkId, NodeId};
use crate::trailer::Tag;
use linkpool_units::HostId;

/// The paths of a fabric each of whose switches has hosts.
///
/// In a fabric of groups, a minimal path takes one cable between groups and another path two, with a
/// link within a group before and after each where it needs one (Kim, Dally, Scott, Abts,
/// "Technology-driven, highly-scalable dragonfly topology", ISCA 2008, section 4.1). In other
/// fabrics a minimal path is a shortest one, and another path is two: to a random switch, and on
/// (Besta, Hoefler, "Slim Fly: a cost effective low-diameter network topology", SC 2014, section
/// IV).
#[derive(Debug)]
pub(super) struct Detours {
    /// Links before it leave hosts.
    first_of_switches: LinkId,
    /// By host: its switch.
    switch_of: Vec<NodeId>,
    /// By node: one of its hosts, to which routes lead that lead to it; of hosts without meaning.
    host_of: Vec<HostId>,
    /// By link: the node that it leaves, and the node to which it leads.
    ends: Vec<(NodeId, NodeId)>,
    over: Over,
}

/// Over what packets go.
#[derive(Debug)]
enum Over {
    Groups(Groups),
    Switches(Switches),
}

#[derive(Debug)]
struct Groups {
    /// By node; of hosts without meaning.
    of: Vec<u32>,
    count: u32,
    /// From group a to group b: `cables[first[a * count + b]..first[a * count + b + 1]]`.
    cables: Vec<LinkId>,
    first: Vec<u32>,
}

#[derive(Debug)]
struct Switches {
    /// The number of the first one; all nodes from it on are switches.
    first: usize,
    count: u32,
    /// From switch a to switch b: the links of a shortest path, `distances[a * count + b]`.
    distances: Vec<u16>,
}

/// What a packet has still to pass before it goes to its destination: two waypoints at most. Paths
/// between waypoints are the shortest ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Via([u32; 2]);

/// A waypoint that is none; others are links, or, with this bit, nodes.
const NONE: u32 = u32::MAX;
const NODE: u32 = 1 << 31;

impl Via {
    /// Nothing.
    pub(super) const NOTHING: Via = Via([NONE; 2]);

    fn links(links: [LinkId; 2]) -> Via {
        Via(links.map(u32::from))
    }

    /// As it is written on packets; none: nothing.
    pub(super) fn tag(self) -> Option<Tag> {
        let [a, b] = self.0.map(u32::to_le_bytes);
        (self != Via::NOTHING).then_some([a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3]])
    }

    pub(super) fn of([a, b, c, d, e, f, g, h]: Tag) -> Via {
        Via([u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h])])
    }

    /// Without the first waypoint.
    fn rest(self) -> Via {
        Via([self.0[1], NONE])
    }
}

impl Default for Via {
    fn default() -> Via {
        Via::NOTHING
    }
}

/// A path from a switch to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Path {
    pub(super) via: Via,
    /// Its links between switches.
    pub(super) links: u32,
}

/// Where a packet goes from a switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// Over this link.
    Over(LinkId),
    /// Over a link that leads nearer to this host.
    Towards(HostId),
}

impl Detours {
    /// Those of `fabric`, which is no [`misfit`].
    pub(super) fn new(fabric: &Fabric) -> Detours {
        let hosts = fabric.hosts();
        let spec = |link: LinkId| &fabric.links()[link.index()];
        let first_link = |node: NodeId| fabric.links_from(node).next().expect("hosts and switches have links");
        let switch_of: Vec<NodeId> = NodeId::first(hosts).map(|host| spec(first_link(host)).to).collect();
        let mut host_of = vec![HostId::new(0); fabric.nodes()];
        for (host, switch) in HostId::first(hosts).zip(&switch_of).rev() {
            host_of[switch.index()] = host;
        }
        let over = match fabric.group(NodeId::new(hosts)) {
            Some(_) => Over::Groups(Groups::new(fabric)),
            None => Over::Switches(Switches::new(fabric)),
        };
        Detours {
            first_of_switches: first_link(NodeId::new(hosts)),
            switch_of,
            host_of,
            ends: fabric.links().iter().map(|link| (link.from, link.to)).collect(),
            over,
        }
    }

    /// Does `link` lead from a host to its switch?
    pub(super) fn leaves_host(&self, link: LinkId) -> bool {
        link < self.first_of_switches
    }

    /// The switch of `host`.
    pub(super) fn switch_of(&self, host: HostId) -> NodeId {
        self.switch_of[host.index()]
    }

    /// A minimal path, one of several at random; `draw` draws 32 bits.
    pub(super) fn minimal(&self, from: NodeId, to: NodeId, mut draw: impl FnMut() -> u32) -> Path {
        match &self.over {
            Over::Groups(groups) => match (groups.of[from.index()], groups.of[to.index()]) {
                (a, b) if a == b => Path { via: Via::NOTHING, links: u32::from(from != to) },
                (a, b) => self.over_cables((from, to), [groups.cable(a, b, &mut draw), LinkId::NONE]),
            },
            Over::Switches(switches) => Path { via: Via::NOTHING, links: switches.distance(from, to) },
        }
    }

    /// Another path, at random. Over one of all groups: if it is that of `from` or of `to`, there is none. Nor is there between
    /// switches of one group, whose paths are all minimal. So it is in `ugal_dragonflynew` of BookSim 2 (src/networks/dragonfly.cpp,
    /// commit 0d815b7). Elsewhere over a switch that is neither `from` nor `to` (Besta, Hoefler, section IV), unless these are one.
    pub(super) fn other(&self, from: NodeId, to: NodeId, mut draw: impl FnMut() -> u32) -> Option<Path> {
        match &self.over {
            Over::Groups(groups) => {
                let (a, b) = (groups.of[from.index()], groups.of[to.index()]);
                let over = one_of(groups.count, draw());
                if a == b || over == a || over == b {
                    return None;
                }
                let cables = [groups.cable(a, over, &mut draw), groups.cable(over, b, &mut draw)];
                Some(self.over_cables((from, to), cables))
            }
            Over::Switches(switches) => {
                let [a, b] = [from, to].map(|node| (node.index() - switches.first) as u32);
                let over = (a != b).then(|| another(switches.count, a, b, draw()))?;
                let over = NodeId::new(switches.first + over as usize);
                let links = switches.distance(from, over) + switches.distance(over, to);
                Some(Path { via: Via([u32::from(over) | NODE, NONE]), links })
            }
        }
    }

    /// A path over these cables between groups, of which the second may be none.
    fn over_cables(&self, (from, to): (NodeId, NodeId), cables: [LinkId; 2]) -> Path {
        let mut links = 0;
        let mut at = from;
        for cable in cables.into_iter().filter(|cable| *cable != LinkId::NONE) {
            let (start, end) = self.ends[cable.index()];
            links += u32::from(at != start) + 1;
            at = end;
        }
        Path { via: Via::links(cables), links: links + u32::from(at != to) }
    }

    /// Where a packet to `dst` goes from `node`, and what it has to pass from there on.
    pub(super) fn step(&self, node: NodeId, dst: HostId, mut via: Via) -> (Step, Via) {
        if via.0[0] == u32::from(node) | NODE {
            via = via.rest();
        }
        let (first, ends) = (via.0[0], &self.ends);
        if first == NONE {
            return (Step::Towards(dst), via);
        }
        if first & NODE != 0 {
            return (Step::Towards(self.host_of[(first & !NODE) as usize]), via);
        }
        let (start, _) = ends[first as usize];
        if start == node {
            return (Step::Over(LinkId::from(first)), via.rest());
        }
        (Step::Towards(self.host_of[start.index()]), via)
    }
}

impl Groups {
    fn new(fabric: &Fabric) -> Groups {
        let of: Vec<u32> = fabric.node_ids().map(|node| fabric.group(node).unwrap_or(0)).collect();
        let count = of.iter().max().map_or(0, |last| last + 1);
        let pair = |link: LinkId| {
            let spec = &fabric.links()[link.index()];
            let [from, to] = [spec.from, spec.to].map(|node| fabric.group(node));
            from.zip(to).filter(|(a, b)| a != b).map(|(a, b)| a * count + b)
        };
        let mut cables: Vec<(u32, LinkId)> =
            LinkId::first(fabric.links().len()).filter_map(|link| Some((pair(link)?, link))).collect();
        cables.sort_unstable();
        let first = (0..=count * count).map(|number| cables.partition_point(|(pair, _)| *pair < number) as u32);
        Groups { of, count, first: first.collect(), cables: cables.into_iter().map(|(_, link)| link).collect() }
    }

    /// One of the cables from group `a` to group `b`.
    fn cable(&self, a: u32, b: u32, draw: &mut impl FnMut() -> u32) -> LinkId {
        let pair = (a * self.count + b) as usize;
        match &self.cables[self.first[pair] as usize..self.first[pair + 1] as usize] {
            [only] => *only,
            several => several[one_of(several.len() as u32, draw()) as usize],
        }
    }
}

impl Switches {
    fn new(fabric: &Fabric) -> Switches {
        let first = fabric.hosts();
        let of = |node| {
            let distances = fabric.distances_from(node);
            distances.into_iter().skip(first).map(|links| links.unwrap_or(0) as u16).collect::<Vec<_>>()
        };
        let distances: Vec<u16> = NodeId::first(fabric.nodes()).skip(first).flat_map(of).collect();
        Switches { first, count: (fabric.nodes() - first) as u32, distances }
    }

    fn distance(&self, from: NodeId, to: NodeId) -> u32 {
        let [from, to] = [from, to].map(|node| node.index() - self.first);
        self.distances[from * self.count as usize + to].into()
    }
}

/// One of `count` numbers that is neither `a` nor `b`, which differ.
fn another(count: u32, a: u32, b: u32, bits: u32) -> u32 {
    let drawn = one_of(count - 2, bits);
    let drawn = drawn + u32::from(drawn >= a.min(b));
    drawn + u32::from(drawn >= a.max(b))
}

/// Why packets of `fabric` cannot take such paths; none: they can.
pub(super) fn misfit(fabric: &Fabric) -> Option<&'static str> {
    let spec = |link: LinkId| &fabric.links()[link.index()];
    let hosts = fabric.hosts();
    let has_hosts = |node: NodeId| fabric.links_from(node).any(|link| spec(link).to.index() < hosts);
    let one_switch = |host: NodeId| {
        fabric.links_from(host).len() == 1 && fabric.links_from(host).all(|link| spec(link).to.index() >= hosts)
    };
    let mut switches = NodeId::first(fabric.nodes()).skip(hosts);
    if fabric.hosts_forward() || !NodeId::first(hosts).all(one_switch) || !switches.clone().all(has_hosts) {
        return Some(
            "sends packets over switches that have hosts, one NIC each, as in a dragonfly or a Slim Fly; here not all have",
        );
    }
    let first = switches.next()?;
    if fabric.distances_from(first).iter().any(Option::is_none) {
        return Some("sends packets over any switch, and here no path leads from some to others");
    }
    let groups = switches.clone().filter_map(|switch| fabric.group(switch)).max();
    match groups {
        Some(last) if last < 2 => Some("sends packets over a third group, and here are two"),
        None if switches.len() < 2 => Some("sends packets over a third switch, and here is none"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::{FabricBuilder, Layer};
    use crate::topology::{Dragonfly, Generator, SlimFly};
    use linkpool_units::{Rate, Time};

    /// Of a = 4, p = h = 2 and this number of groups.
    fn dragonfly(groups: u32) -> Fabric {
        let (rate, delay) = (Rate::gbps(10), Time::from_us(1));
        let fly = Dragonfly {
            routers_per_group: 4,
            hosts_per_router: 2,
            global_ports: 2,
            groups,
            rate,
            delay,
            local_rate: rate,
            local_delay: delay,
            global_rate: rate,
            global_delay: delay,
        };
        fly.fabric()
    }

    fn slim_fly() -> Fabric {
        let (rate, delay) = (Rate::gbps(10), Time::from_us(1));
        SlimFly { q: 4, hosts_per_router: 1, rate, delay, router_rate: rate, router_delay: delay }.fabric()
    }

    /// The switches on `path` to `to`, with shortest paths between its waypoints.
    fn followed(fabric: &Fabric, detours: &Detours, from: NodeId, to: NodeId, path: Path) -> Vec<NodeId> {
        let dst = detours.host_of[to.index()];
        let (mut switches, mut via) = (vec![from], path.via);
        loop {
            let node = switches[switches.len() - 1];
            assert_eq!(path.via.tag().map_or(Via::NOTHING, Via::of), path.via);
            let (step, later) = detours.step(node, dst, via);
            let ends = |link: LinkId| &fabric.links()[link.index()];
            let next = match step {
                Step::Over(link) => ends(link).to,
                Step::Towards(host) if detours.switch_of(host) == node => {
                    assert_eq!((host, later, node), (dst, Via::NOTHING, to));
                    return switches;
                }
                Step::Towards(host) => {
                    let distances = fabric.distances_from(detours.switch_of(host));
                    let nearer = |link: &LinkId| distances[ends(*link).to.index()] < distances[node.index()];
                    ends(fabric.links_from(node).find(nearer).expect("a link that leads nearer")).to
                }
            };
            switches.push(next);
            via = later;
        }
    }

    /// Paths are as long as they say, between any two switches, whatever is drawn; and there are paths over all groups, or switches, but
    /// those of the ends.
    #[test]
    fn paths_are_as_long_as_they_say() {
        for fabric in [dragonfly(9), dragonfly(3), slim_fly()] {
            let detours = Detours::new(&fabric);
            let switches = || fabric.node_ids().skip(fabric.hosts());
            for (from, to) in switches().step_by(3).flat_map(|from| switches().map(move |to| (from, to))) {
                let minimal = detours.minimal(from, to, || 7 << 29);
                assert_eq!(followed(&fabric, &detours, from, to, minimal).len(), minimal.links as usize + 1);
                let mut over = std::collections::BTreeSet::new();
                for i in 0..64u32 {
                    let mut drawn = i << 26 | 1 << 25;
                    let other = detours.other(from, to, || {
                        drawn = drawn.rotate_left(7);
                        drawn.rotate_right(7)
                    });
                    let Some(other) = other else { continue };
                    let path = followed(&fabric, &detours, from, to, other);
                    assert_eq!(path.len(), other.links as usize + 1);
                    match fabric.group(from) {
                        Some(_) => {
                            let mut groups: Vec<_> = path.iter().filter_map(|switch| fabric.group(*switch)).collect();
                            groups.dedup();
                            assert_eq!(groups.len(), 3, "two cables between groups");
                            over.insert(groups[1]);
                        }
                        None => _ = over.insert(other.via.0[0] & !NODE),
                    }
                }
                let alike = match fabric.group(from) {
                    Some(group) => fabric.group(to) == Some(group),
                    None => from == to,
                };
                let count = fabric.group(NodeId::new(fabric.nodes() - 1)).map_or(32, |last| last as usize + 1);
                assert_eq!(over.len(), if alike { 0 } else { count - 2 });
            }
        }
    }

    /// Of a number below four, none is one of the two that are not wanted; the others are drawn alike.
    #[test]
    fn another_number_is_neither_of_two() {
        let drawn = |a, b| [0, 1 << 30, 2 << 30, 3 << 30].map(|bits| another(4, a, b, bits));
        assert_eq!(
            [drawn(0, 1), drawn(3, 1), drawn(2, 1), drawn(0, 3), drawn(3, 2)],
            [[2, 2, 3, 3], [0, 0, 2, 2], [0, 0, 3, 3], [1, 1, 2, 2], [0, 0, 1, 1]]
        );
    }

    /// Two switches are too few, and switches that no cable joins.
    #[test]
    fn other_fabrics_have_their_reason() {
        let of = |switches: usize, cables: &[(usize, usize)]| {
            let mut b = FabricBuilder::default();
            let hosts: Vec<_> = (0..switches).map(|i| b.node(format!("h{i}"), Layer::Host)).collect();
            let all: Vec<_> = (0..switches).map(|i| b.node(format!("w{i}"), Layer::Switch)).collect();
            let cables = cables.iter().map(|(x, y)| (all[*x], all[*y]));
            for (x, y) in hosts.iter().copied().zip(all.iter().copied()).chain(cables) {
                b.cable(x, y, Rate::gbps(1), Time::from_us(1));
            }
            misfit(&b.build())
        };
        assert!(of(2, &[(0, 1)]).expect("refused").contains("over a third switch"));
        assert!(of(3, &[(0, 1)]).expect("refused").contains("no path leads"));
        assert_eq!(of(3, &[(0, 1), (1, 2)]), None);
        assert!(misfit(&dragonfly(2)).expect("refused").contains("over a third group"));
        assert_eq!(misfit(&dragonfly(3)), None);
    }
}
