//! How the subflows of a connection come by their paths.

use crate::plan::planned::PlannedProcess;
use linkpool_network::topology::FatTree;
use linkpool_network::{Fabric, HostId, LinkId, NodeId, Paths, Routes, disjoint_paths, reversed, source_route};
use linkpool_transport::paths::{PathSelector, reverse_ports};
use linkpool_workload::{ClosedLoop, Destinations, Process};
use std::collections::{BTreeSet, HashMap};

/// Why flows cannot have the paths that their transport is to give them.
#[derive(Debug, thiserror::Error)]
pub enum PathError {
    /// Two hosts have a path that does not fit into a packet.
    #[error("a path from {0} to {1} has too many hops over too many ports to be pinned; use paths = \"hash\"")]
    Long(String, String),
    /// Disjoint paths were asked for, and there are fewer than subflows.
    #[error(
        "from {0} to {1} there are {2} paths without a cable in common, fewer than the {3} subflows; lower `subflows`, or use paths = \"distinct\" or \"hash\""
    )]
    Few(String, String, usize, usize),
}

/// Which paths the subflows of a transport's connections take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathRule {
    /// Those that ECMP gives them by their addresses and ports.
    Hash,
    /// The same, until a scheduler places them ([`crate::start::placement`]).
    Placed,
    /// Subflow i the i-th of the shortest paths.
    Distinct,
    /// Subflow i the i-th of the paths without a cable in common.
    Disjoint,
    /// Subflow i that to address i of the other end, each way.
    TwoLevel(FatTree),
    /// Subflow i the i-th of these.
    Given(Vec<Vec<LinkId>>),
}

impl PathRule {
    /// The paths of `subflows` subflows from `src` to `dst`; none if switches choose.
    pub(crate) fn paths(
        &self,
        (fabric, routes): (&Fabric, &Routes),
        (src, dst): (HostId, HostId),
        subflows: usize,
    ) -> Option<Vec<Vec<LinkId>>> {
        match self {
            PathRule::Hash | PathRule::Placed => None,
            PathRule::Distinct => {
                let mut paths = Paths::new(routes, fabric, dst);
                Some((0..subflows as u64).map(|i| paths.nth(src, i)).collect())
            }
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

    /// What the sender of a connection writes into its packets; `ports` stand for its addresses and ports.
    pub(crate) fn there(
        &self,
        network: (&Fabric, &Routes),
        ends: (HostId, HostId),
        subflows: usize,
        ports: u32,
    ) -> PathSelector {
        match self.paths(network, ends, subflows) {
            None => PathSelector::hashed(ports),
            Some(paths) => pinned(network.0, paths),
        }
    }

    /// What the receiver writes, of a connection whose first packet is of `subflow` and has come with `entropy`: the way back is the same, except where
    /// addresses decide.
    pub(crate) fn back(
        &self,
        network: (&Fabric, &Routes),
        ends: (HostId, HostId),
        subflows: usize,
        (entropy, subflow): (u32, usize),
    ) -> PathSelector {
        if let PathRule::TwoLevel(_) = self {
            return self.there(network, (ends.1, ends.0), subflows, 0);
        }
        match self.paths(network, ends, subflows) {
            // Of the other direction addresses and ports are swapped.
            None => PathSelector::hashed(reverse_ports(entropy, subflow)),
            Some(paths) => pinned(network.0, paths.into_iter().map(|path| reversed(network.0, &path))),
        }
    }

    /// What is wrong with the paths of `flows` of this rule, with so many subflows.
    pub(crate) fn check(
        &self,
        (fabric, routes): (&Fabric, &Routes),
        flows: impl Iterator<Item = (HostId, HostId)>,
        subflows: usize,
    ) -> Result<(), PathError> {
        let name = |host: HostId| fabric.name(host as NodeId).to_string();
        let long = |from, to| Err(PathError::Long(name(from), name(to)));
        match self {
            PathRule::Hash | PathRule::Given(_) => {}
            PathRule::Distinct | PathRule::Placed | PathRule::TwoLevel(_) => {
                if let Some((from, to)) = too_long(fabric, routes) {
                    return long(from, to);
                }
            }
            PathRule::Disjoint => {
                for (from, to) in flows.collect::<BTreeSet<_>>() {
                    let paths = disjoint_paths(fabric, from, to, subflows);
                    if paths.len() < subflows {
                        return Err(PathError::Few(name(from), name(to), paths.len(), subflows));
                    }
                    let fits = |path: &Vec<LinkId>| {
                        source_route(fabric, path).and(source_route(fabric, &reversed(fabric, path))).is_some()
                    };
                    if !paths.iter().all(fits) {
                        return long(from, to);
                    }
                }
            }
        }
        Ok(())
    }
}

/// Two hosts of which a shortest path cannot be pinned.
fn too_long(fabric: &Fabric, routes: &Routes) -> Option<(HostId, HostId)> {
    // Of neighbours at the same switches, one stands for all.
    let first_hops = |host: HostId| fabric.links_from(host as NodeId).map(|l| fabric.links()[l as usize].to);
    let stands_for_others = |host: &HostId| *host == 0 || !first_hops(*host).eq(first_hops(host - 1));
    let hosts: Vec<HostId> = (0..fabric.hosts()).map(|h| h as HostId).filter(stands_for_others).collect();
    hosts.iter().find_map(|to| {
        let mut paths = Paths::new(routes, fabric, *to);
        let from = hosts.iter().find(|from| !paths.can_be_pinned(**from as NodeId))?;
        Some((*from, *to))
    })
}

/// Who may send to whom, of flows that processes start and `transport` carries. Of hosts at the same switches the first two stand for
/// all: their paths are alike.
pub(crate) fn pairs_of_processes(
    fabric: &Fabric,
    processes: &[PlannedProcess],
    transport: u16,
) -> BTreeSet<(HostId, HostId)> {
    let mut pairs = BTreeSet::new();
    let mut anyone = false;
    let carries = |p: &&PlannedProcess| p.transport == transport || p.small.is_some_and(|(_, t)| t == transport);
    for PlannedProcess { process, home, .. } in processes.iter().filter(carries) {
        match process {
            Process::ClosedLoop(ClosedLoop { to: Destinations::Fixed(dst), .. }) => _ = pairs.insert((*home, *dst)),
            _ => anyone = true,
        }
    }
    if anyone {
        let mut alike: HashMap<Vec<NodeId>, u32> = HashMap::new();
        let stands_for_others = |host: &HostId| {
            let switches = fabric.links_from(NodeId::from(*host)).map(|l| fabric.links()[l as usize].to).collect();
            let so_far = alike.entry(switches).or_default();
            *so_far += 1;
            *so_far <= 2
        };
        let hosts: Vec<HostId> = (0..fabric.hosts() as HostId).filter(stands_for_others).collect();
        let to_others = |a: HostId| hosts.iter().filter(move |b| **b != a).map(move |b| (a, *b));
        pairs.extend(hosts.iter().copied().flat_map(to_others));
    }
    pairs
}

/// What an endpoint writes into its packets so that subflow i takes the i-th of `paths`.
pub(crate) fn pinned(fabric: &Fabric, paths: impl IntoIterator<Item = Vec<LinkId>>) -> PathSelector {
    let route = |path: Vec<LinkId>| source_route(fabric, &path).expect("paths that are pinned fit into a packet");
    PathSelector::pinned(paths.into_iter().map(route))
}
