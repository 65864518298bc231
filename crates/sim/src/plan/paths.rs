//! How the subflows of a connection get their paths.

use linkpool_network::topology::FatTree;
use linkpool_network::{
    Envelope, Fabric, HostId, LinkId, NodeId, Packet, Routes, ShortestPaths, disjoint_paths, reversed, source_route,
};
use linkpool_transport::SubflowId;
use linkpool_transport::paths::{PathSelector, reverse_ports};

/// Why flows cannot have the paths of their transport.
#[derive(Debug, thiserror::Error)]
pub enum PathError {
    /// Two hosts have a path that does not fit into a packet.
    #[error("a path from {0} to {1} has too many hops over too many ports to be pinned; use paths = \"hash\"")]
    Long(String, String),
}

impl PathError {
    /// A path between these hosts does not fit into a packet.
    pub(crate) fn of(fabric: &Fabric, (from, to): (NodeId, NodeId)) -> PathError {
        PathError::Long(fabric.name(from).to_string(), fabric.name(to).to_string())
    }
}

/// Which paths the subflows of a transport's connections take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathRule {
    /// The paths that ECMP chooses by addresses and ports.
    Hash,
    /// As `Hash`, until a central scheduler places the flow (`start::placement`).
    Placed,
    /// Subflow i takes the i-th of the shortest paths, from one on that is drawn for the connection.
    Distinct,
    /// Path i of a sender that spreads its packets is the i-th of the shortest paths.
    All,
    /// Subflow i takes the i-th of the paths without a cable in common.
    Disjoint,
    /// Subflow i, or entropy value i, leaves its host by the i-th of the ports that lead to the receiver,
    /// in both directions; switches choose by addresses and ports.
    Planes,
    /// Subflow i takes the path to address i of the other end, in both directions.
    TwoLevel(FatTree),
    /// Subflow i takes the i-th of these paths.
    Given(Vec<Vec<LinkId>>),
}

impl PathRule {
    /// Are all paths among the shortest?
    pub fn is_shortest(&self) -> bool {
        !matches!(self, PathRule::Disjoint | PathRule::Given(_))
    }

    /// The paths of `subflows` subflows from `src` to `dst`; none if switches choose them. `ports`:
    /// [`Plan::ports`](crate::Plan::ports) of the connection.
    pub fn paths(
        &self,
        (fabric, routes): (&Fabric, &Routes),
        (src, dst): (HostId, HostId),
        subflows: usize,
        ports: u32,
    ) -> Option<Vec<Vec<LinkId>>> {
        let shortest = |first: u32| {
            let mut paths = ShortestPaths::new(routes, fabric, dst);
            Some((0..subflows as u64).map(|i| paths.nth(src, u64::from(first) + i)).collect())
        };
        match self {
            PathRule::Hash | PathRule::Placed | PathRule::Planes => None,
            PathRule::Distinct => shortest(ports),
            PathRule::All => shortest(0),
            PathRule::Disjoint => {
                let paths = disjoint_paths(fabric, src, dst, subflows);
                Some((0..subflows).map(|i| paths[i % paths.len()].clone()).collect())
            }
            PathRule::TwoLevel(tree) => {
                let link = |ends: &[NodeId]| fabric.link(ends[0], ends[1]).expect("a path of the tree");
                let path = |address| tree.two_level_path(src, dst, address).windows(2).map(link).collect();
                Some((0..subflows as u32).map(path).collect())
            }
            PathRule::Given(paths) => Some(paths.clone()),
        }
    }

    /// The paths of a sender. None if one of them does not fit into a packet, there or back.
    pub(crate) fn there(
        &self,
        network: (&Fabric, &Routes),
        ends: (HostId, HostId),
        subflows: usize,
        ports: u32,
    ) -> Option<PathSelector> {
        match self.paths(network, ends, subflows, ports) {
            None if *self == PathRule::Planes => Some(by_port(network.1, ends, subflows, ports)),
            None => Some(PathSelector::hashed(ports)),
            Some(paths) => {
                pinned(network.0, paths.iter().map(|path| reversed(network.0, path)))?;
                pinned(network.0, paths)
            }
        }
    }

    /// The paths of a receiver; `ports` as at the sender. The first packet of its connection was of
    /// `subflow` and came with `entropy`. Packets take the same paths back, except where addresses
    /// decide.
    ///
    /// # Panics
    /// If a path does not fit into a packet: then its sender has not opened the connection.
    pub(crate) fn back(
        &self,
        network: (&Fabric, &Routes),
        ends: (HostId, HostId),
        (subflows, ports): (usize, u32),
        (entropy, subflow): (u32, SubflowId),
    ) -> PathSelector {
        const FIT: &str = "the sender has paths that fit into packets, there and back";
        if let PathRule::TwoLevel(_) = self {
            return self.there(network, (ends.1, ends.0), subflows, 0).expect(FIT);
        }
        match self.paths(network, ends, subflows, ports) {
            None if *self == PathRule::Planes => by_port(network.1, (ends.1, ends.0), subflows, !entropy),
            // In the other direction, addresses and ports are swapped.
            None => PathSelector::hashed(reverse_ports(entropy, subflow)),
            Some(paths) => pinned(network.0, paths.iter().map(|path| reversed(network.0, path))).expect(FIT),
        }
    }

    /// Checks the paths of this rule on `routes`, which avoid links that are down. Loading has
    /// checked them with all links up.
    ///
    /// # Errors
    /// A path does not fit into a packet.
    pub fn check(&self, (fabric, routes): (&Fabric, &Routes)) -> Result<(), PathError> {
        match self {
            PathRule::Hash | PathRule::Planes | PathRule::Given(_) | PathRule::Disjoint => Ok(()),
            PathRule::Distinct | PathRule::All | PathRule::Placed | PathRule::TwoLevel(_) => {
                match too_long(fabric, routes) {
                    Some((from, to)) => Err(PathError::of(fabric, (from.into(), to.into()))),
                    None => Ok(()),
                }
            }
        }
    }
}

/// A host binds subflow i to its i-th port of those that lead to the other end, round the end: an
/// entropy that its own hash sends there. The search begins at `ports`.
fn by_port(network: &Routes, ends: (HostId, HostId), subflows: usize, ports: u32) -> PathSelector {
    let leaving = Leaving::new(network, ends);
    let entropies = PathSelector::hashed(ports);
    let of_subflow = |i: usize| leaving.by(i, entropies.fixed(SubflowId::new(i)).entropy, STEP);
    PathSelector::of_each((0..subflows).map(of_subflow))
}

/// A host binds each of so many entropy values to one of its ports that lead to the other end: those of subflow
/// i to the i-th, and, where there is one window over all, value i to the i-th, round the end. A value
/// is the low bits of the entropies of its packets; the bits above it are searched, from `ports` on.
pub(crate) fn values_by_port(
    network: &Routes,
    ends: (HostId, HostId),
    (values, subflows): (usize, usize),
    ports: u32,
) -> PathSelector {
    let leaving = Leaving::new(network, ends);
    let of_subflow = if subflows > 1 { values / subflows } else { 1 };
    let of_value = |value: usize| {
        let first = ports & !(values as u32 - 1) | value as u32;
        leaving.by(value / of_subflow, first, STEP.wrapping_mul(values as u32))
    };
    PathSelector::of_each((0..values).map(of_value))
}

/// The links by which packets leave a host for another.
struct Leaving<'r> {
    routes: &'r Routes,
    ends: (HostId, HostId),
    links: Vec<LinkId>,
}

impl Leaving<'_> {
    fn new(routes: &Routes, ends: (HostId, HostId)) -> Leaving<'_> {
        Leaving { routes, ends, links: routes.links_towards(ends.0.into(), ends.1) }
    }

    /// An entropy that the hash of the host sends over its link `i`, round the end, in as many hashes as it has links
    /// on average: the first of `first`, `first` + `step` and so on.
    fn by(&self, i: usize, first: u32, step: u32) -> u32 {
        let Some(link) = self.links.get(i % self.links.len().max(1)) else { return first };
        let envelope = Envelope::new(self.ends.1, 0, 0);
        let taken = |entropy: u32| {
            self.routes.next_link(self.ends.0.into(), &mut Packet { envelope, entropy, ..Packet::default() })
        };
        let mut all = (0..MOST_TRIES).map(|tries| first.wrapping_add(tries.wrapping_mul(step)));
        all.find(|entropy| taken(*entropy) == *link).unwrap_or(first)
    }
}

/// As it is odd, it comes to all entropies.
const STEP: u32 = 0x6c07_8965;

/// With eight ports, (7/8)^4096 is below 10^-200: only a port of weight zero is not found.
const MOST_TRIES: u32 = 4096;

/// Two hosts with a shortest path between them that cannot be pinned.
fn too_long(fabric: &Fabric, routes: &Routes) -> Option<(HostId, HostId)> {
    // One host stands for its neighbours at the same switches.
    let first_hops = |host: HostId| fabric.links_from(host.into()).map(|l| fabric.links()[l.index()].to);
    let stands_for_others = |(before, host): &(HostId, HostId)| !first_hops(*host).eq(first_hops(*before));
    let all = || HostId::first(fabric.hosts());
    let others = all().zip(all().skip(1)).filter(stands_for_others).map(|(_, host)| host);
    let hosts: Vec<HostId> = all().take(1).chain(others).collect();
    hosts.iter().find_map(|to| {
        let mut paths = ShortestPaths::new(routes, fabric, *to);
        let from = hosts.iter().find(|from| !paths.can_be_pinned((**from).into()))?;
        Some((*from, *to))
    })
}

/// Pins subflow i to the i-th of `paths`, if all fit into packets.
pub(crate) fn pinned(fabric: &Fabric, paths: impl IntoIterator<Item = Vec<LinkId>>) -> Option<PathSelector> {
    let routes: Option<Vec<u32>> = paths.into_iter().map(|path| source_route(fabric, &path)).collect();
    routes.map(PathSelector::pinned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkpool_network::{FabricBuilder, Layer};
    use linkpool_units::{Rate, Time};

    /// Three spines between two leaves. Ports of 7 stand for path 1 of the three; two subflows take
    /// paths 1 and 2, and a third and a fourth go round the end. Who takes all begins with the first.
    #[test]
    fn subflows_begin_at_the_path_that_the_ports_draw() {
        let mut b = FabricBuilder::default();
        let [one, other] = ["a", "b"].map(|name| b.node(name, Layer::Host));
        let [left, right] = ["l0", "l1"].map(|name| b.node(name, Layer::Switch));
        let cable = |b: &mut FabricBuilder, from, to| b.cable(from, to, Rate::gbps(1), Time(1));
        cable(&mut b, one, left);
        cable(&mut b, other, right);
        let spines: Vec<NodeId> = (0..3).map(|i| b.node(format!("s{i}"), Layer::Switch)).collect();
        for spine in &spines {
            cable(&mut b, left, *spine);
            cable(&mut b, right, *spine);
        }
        let fabric = b.build();
        let routes = Routes::new(&fabric, 1);
        let ends = (HostId::from(one), HostId::from(other));
        let over = |rule: &PathRule, subflows: usize, ports: u32| -> Vec<usize> {
            let paths = rule.paths((&fabric, &routes), ends, subflows, ports).unwrap();
            let spine = |path: &Vec<LinkId>| spines.iter().position(|s| fabric.links()[path[1].index()].to == *s);
            paths.iter().map(|path| spine(path).unwrap()).collect()
        };
        assert_eq!(over(&PathRule::Distinct, 2, 7), [1, 2]);
        assert_eq!(over(&PathRule::Distinct, 2, 2), [2, 0]);
        assert_eq!(over(&PathRule::Distinct, 4, 7), [1, 2, 0, 1]);
        assert_eq!(over(&PathRule::Distinct, 1, u32::MAX), [0]);
        assert_eq!(over(&PathRule::All, 3, 7), [0, 1, 2]);
    }

    /// Eleven switches of 13 or 14 ports in a row, with a host at each end: a path has 13^10 ways to go,
    /// above 2^32. With a cable between the ends it has few.
    #[test]
    fn paths_that_no_packet_can_hold_are_refused() {
        let check = |rule: &PathRule, shortcut: bool| {
            let mut b = FabricBuilder::default();
            let [one, other] = ["a", "b"].map(|name| b.node(name, Layer::Host));
            let row: Vec<NodeId> = (0..11).map(|i| b.node(format!("w{i}"), Layer::Switch)).collect();
            let cable = |b: &mut FabricBuilder, from, to| b.cable(from, to, Rate::gbps(1), Time(1));
            row.windows(2).for_each(|two| cable(&mut b, two[0], two[1]));
            for (i, switch) in row.iter().enumerate() {
                for leaf in 0..12 {
                    let leaf = b.node(format!("l{i}.{leaf}"), Layer::Switch);
                    cable(&mut b, *switch, leaf);
                }
            }
            cable(&mut b, one, row[0]);
            cable(&mut b, other, row[10]);
            if shortcut {
                cable(&mut b, row[0], row[10]);
            }
            let fabric = b.build();
            rule.check((&fabric, &Routes::new(&fabric, 1)))
        };
        for rule in [PathRule::Distinct, PathRule::Placed] {
            let why = check(&rule, false).unwrap_err().to_string();
            assert!(why.starts_with("a path from ") && why.contains(" has too many hops"), "{why}");
            assert!(check(&rule, true).is_ok());
        }
        assert!(check(&PathRule::Hash, false).is_ok());
    }
}
