//! Do all flows that the workloads may start have the paths that they need? That is known before a
//! run, from the fabric: links that are down at time 0 only lose packets, as do links that fail
//! later.

use std::cell::OnceCell;
use std::collections::HashMap;

use linkpool_network::{
    self as network, Fabric, LinkId, NodeId, Routes, Spreading, always_fits, disjoint_paths, reversed, source_route,
};
use linkpool_settings::Kinds;
use linkpool_workload::{WorkloadKind, kinds};

use crate::errors::Report;
use crate::hosts::names_of;
use crate::model::{Paths, Scenario, Topology, Transport, Workload};
use crate::tree::KeyPath;

/// A sending and a receiving host.
type Pair = (NodeId, NodeId);

/// Reports the workloads some of whose flows cannot get through.
pub(super) fn check(scenario: &Scenario, fabric: &Fabric, report: &mut Report<'_>) {
    let joined = Joined::new(fabric);
    let pinnable = OnceCell::new();
    // Hosts of a fabric of one plane have one port, and that is meant.
    let planes = matches!(scenario.topology, Topology::Drawn(network::topology::Topology::MultiPlane(_)));
    for (i, workload) in scenario.workloads.iter().enumerate() {
        let kind = workload.kind.name();
        let place = scenario.workloads[..i].iter().filter(|other| other.kind.name() == kind).count();
        let path = KeyPath::default().at("workload").at(kind).at(place);
        let pairs = Pairs::of(workload, fabric);
        // Of many hosts there are too many pairs to look at each, and seldom a reason to.
        let lost = if joined.all { None } else { pairs.find(fabric, |pair| !joined.has(pair)) };
        if let Some((from, to)) = lost {
            report.error(&blamed(&path, &workload.kind), no_path(fabric, (from, to), &pairs, &joined));
            continue;
        }
        let small = workload.small.map(|small| small.transport);
        let given = matches!(&workload.kind, WorkloadKind::Flow(flow) if flow.paths.is_some());
        let transports = std::iter::once((workload.transport, "transport")).filter(|_| !given);
        for (transport, key) in transports.chain(small.map(|small| (small, "small"))) {
            let transport = &scenario.transports[transport];
            let by_address = scenario.routing.kind == Spreading::TwoLevel;
            let wrong = match transport.paths.rule {
                Paths::Disjoint => few_or_long(fabric, &pairs, transport),
                Paths::Planes if planes => None,
                Paths::Planes => one_port(fabric, &pairs),
                Paths::Hash | Paths::Scatter | Paths::Plb | Paths::Reps if !by_address => None,
                _ => too_long(pinnable.get_or_init(|| unpinnable(fabric)), fabric),
            };
            if let Some(message) = wrong {
                report.error(&path.at(key), message);
            }
        }
    }
}

/// The key that names the receiver, or the whole table.
fn blamed(path: &KeyPath, kind: &WorkloadKind) -> KeyPath {
    kind.settings().receiver().map_or_else(|| path.clone(), |key| path.at(key))
}

fn no_path(fabric: &Fabric, (from, to): Pair, pairs: &Pairs, joined: &Joined) -> String {
    let reached = NodeId::first(fabric.hosts()).filter(|host| *host != from && joined.has((from, *host)));
    let reached = names_of(reached.map(|host| fabric.name(host)));
    let (from, to) = (fabric.name(from), fabric.name(to));
    let only = if reached.is_empty() { "to no host".to_string() } else { format!("only to {reached}") };
    let why = format!("no path leads from {from} to {to}, {only}");
    match pairs {
        Pairs::Listed(_) => format!("{why}; change the flow or the topology"),
        Pairs::Any { .. } => {
            format!(
                "{why}, and these flows may go from any host to any; write [[workload.flow]] for hosts that are joined"
            )
        }
    }
}

/// The components that switches and cables between them form, and the components to which hosts are
/// joined: most hosts do not forward.
struct Joined {
    /// By host.
    components: Vec<Vec<u32>>,
    /// Cables between two hosts.
    cables: Vec<Pair>,
    /// One component joins all hosts.
    all: bool,
}

impl Joined {
    fn new(fabric: &Fabric) -> Joined {
        let hosts = fabric.hosts();
        let forwards = |node: NodeId| fabric.forwards(node);
        let neighbours = |node: NodeId| fabric.links_from(node).map(|link| fabric.links()[link.index()].to);
        let mut component = vec![u32::MAX; fabric.nodes()];
        let mut count = 0;
        for first in NodeId::first(fabric.nodes()).filter(|node| forwards(*node)) {
            if component[first.index()] != u32::MAX {
                continue;
            }
            component[first.index()] = count;
            let mut next = vec![first];
            while let Some(node) = next.pop() {
                for to in neighbours(node).filter(|to| forwards(*to)) {
                    if std::mem::replace(&mut component[to.index()], count) == u32::MAX {
                        next.push(to);
                    }
                }
            }
            count += 1;
        }
        let of_host = |host: NodeId| {
            let mut all: Vec<u32> = if forwards(host) {
                vec![component[host.index()]]
            } else {
                neighbours(host).filter(|to| forwards(*to)).map(|to| component[to.index()]).collect()
            };
            all.sort_unstable();
            all.dedup();
            all
        };
        let components: Vec<Vec<u32>> = NodeId::first(hosts).map(of_host).collect();
        let between_hosts = |host: NodeId| neighbours(host).filter(|to| to.index() < hosts).map(move |to| (host, to));
        let cables = NodeId::first(hosts).flat_map(between_hosts).collect();
        let all = (0..count).any(|c| components.iter().all(|of_host| of_host.contains(&c)));
        Joined { components, cables, all }
    }

    /// Does a path lead from one host to the other?
    fn has(&self, (from, to): Pair) -> bool {
        let [a, b] = [from, to].map(|host| &self.components[host.index()]);
        a.iter().any(|component| b.contains(component)) || self.cables.contains(&(from, to))
    }
}

/// Who may send to whom.
enum Pairs {
    Listed(Vec<Pair>),
    /// Every host to every other, or only to hosts of other racks.
    Any {
        in_rack: bool,
    },
}

impl Pairs {
    fn of(workload: &Workload, fabric: &Fabric) -> Pairs {
        let pairs = match workload.kind.settings().pairs(fabric.hosts() as u32) {
            kinds::Pairs::Listed(pairs) => pairs,
            kinds::Pairs::Any { in_rack } => return Pairs::Any { in_rack },
        };
        let mut pairs: Vec<Pair> = pairs.into_iter().map(|(from, to)| (from.into(), to.into())).collect();
        pairs.sort_unstable();
        pairs.dedup();
        Pairs::Listed(pairs)
    }

    /// As [`Pairs::find`], in both directions of each pair, and no host stands for others
    /// elsewhere. If this is more than `most` pairs, it is `find`.
    fn find_both_ways(&self, fabric: &Fabric, most: usize, is_wrong: impl Fn(Pair) -> bool) -> Option<Pair> {
        let Pairs::Any { in_rack } = self else { return self.find(fabric, is_wrong) };
        let alike = alike(fabric);
        if alike.len() > FEW && alike.len() * (alike.len() - 1) > most {
            return self.find(fabric, is_wrong);
        }
        let in_racks = alike.iter().filter(|_| *in_rack).filter_map(|hosts| Some((hosts[0], *hosts.get(1)?)));
        let first = |i: usize| alike[i][0];
        let between = (0..alike.len()).flat_map(|i| (0..i).map(move |j| (first(j), first(i))));
        in_racks.chain(between).flat_map(|(a, b)| [(a, b), (b, a)]).find(|pair| is_wrong(*pair))
    }

    /// The first pair of which `is_wrong` is true. Of hosts at the same switches the first two
    /// stand for all, as their paths are alike.
    fn find(&self, fabric: &Fabric, is_wrong: impl Fn(Pair) -> bool) -> Option<Pair> {
        match self {
            Pairs::Listed(pairs) => pairs.iter().copied().find(|pair| is_wrong(*pair)),
            Pairs::Any { in_rack } => {
                let alike = alike(fabric);
                let in_racks = alike.iter().filter(|_| *in_rack).filter_map(|hosts| Some((hosts[0], *hosts.get(1)?)));
                let first = |i: usize| alike[i][0];
                let one_for_all = one_stands_for_all(fabric, alike.len());
                let others = |i: usize| 0..if one_for_all { i.min(1) } else { i };
                let between = (0..alike.len()).flat_map(|i| others(i).map(move |j| (first(j), first(i))));
                in_racks.chain(between).find(|pair| is_wrong(*pair))
            }
        }
    }
}

/// Among so many groups of hosts all pairs are looked at.
const FEW: usize = 32;

/// Links that the search for disjoint paths between all pairs may visit: about a second.
const MOST_VISITS: usize = 1 << 23;

/// Is it enough to look at the paths from one host to all others? Where all that paths meet passes
/// packets on, no pair has fewer disjoint paths than the fewer of (a, c) and (c, b) (Menger's
/// theorem: a cut between a and b is one between c and a or c and b).
fn one_stands_for_all(fabric: &Fabric, groups: usize) -> bool {
    let one_cable = |host| fabric.links_from(host).len() == 1;
    let forwards = |host| fabric.forwards(host);
    groups > FEW && (NodeId::first(fabric.hosts()).all(forwards) || NodeId::first(fabric.hosts()).all(one_cable))
}

/// Hosts by the switches that they are joined to.
fn alike(fabric: &Fabric) -> Vec<Vec<NodeId>> {
    let mut groups: Vec<Vec<NodeId>> = Vec::new();
    let mut places: HashMap<Vec<NodeId>, usize> = HashMap::new();
    for host in NodeId::first(fabric.hosts()) {
        let switches = fabric.links_from(host).map(|link| fabric.links()[link.index()].to).collect();
        let place = *places.entry(switches).or_insert(groups.len());
        if place == groups.len() {
            groups.push(Vec::new());
        }
        groups[place].push(host);
    }
    groups
}

/// Why the subflows of `transport` cannot have paths without a cable in common, if they cannot.
fn few_or_long(fabric: &Fabric, pairs: &Pairs, transport: &Transport) -> Option<String> {
    let subflows = transport.subflows.most() as usize;
    let paths = |(from, to): Pair| disjoint_paths(fabric, from.into(), to.into(), subflows);
    let fits = |path: &[LinkId]| match pairs {
        Pairs::Listed(_) => source_route(fabric, path).is_some(),
        Pairs::Any { .. } => always_fits(fabric, path),
    };
    let is_wrong = |pair| {
        let paths = paths(pair);
        paths.len() < subflows || !paths.iter().all(|path| fits(path) && fits(&reversed(fabric, path)))
    };
    // Another pair than those from the first host may have long paths, and the way back of a pair
    // may be another one, where several are as short.
    let most = MOST_VISITS / (subflows * fabric.links().len());
    let (from, to) = pairs.find_both_ways(fabric, most, is_wrong)?;
    let there_are = paths((from, to)).len();
    let (name, [from, to]) = (&transport.name, [from, to].map(|host| fabric.name(host)));
    Some(if there_are < subflows {
        format!(
            "{name} has {subflows} subflows for disjoint paths, and there {} from {from} to {to}; lower `subflows`, or use paths = \"distinct\" or \"hash\"",
            if there_are == 1 { "is 1".to_string() } else { format!("are {there_are}") }
        )
    } else {
        long(from, to)
    })
}

/// Why subflows cannot leave by ports of their own: a host has one alone.
fn one_port(fabric: &Fabric, pairs: &Pairs) -> Option<String> {
    let has_one = |host: &NodeId| fabric.links_from(*host).len() == 1;
    let (from, to) = pairs.find(fabric, |(from, to)| has_one(&from) || has_one(&to))?;
    let host = fabric.name(if has_one(&from) { from } else { to });
    Some(format!("{host} has one port, and paths = \"planes\" is for hosts with several; use paths = \"hash\""))
}

fn long(from: &str, to: &str) -> String {
    format!("a path from {from} to {to} has too many hops over too many ports to be pinned; use paths = \"hash\"")
}

fn too_long(unpinnable: &Option<Pair>, fabric: &Fabric) -> Option<String> {
    unpinnable.map(|(from, to)| long(fabric.name(from), fabric.name(to)))
}

/// Two hosts of which a shortest path does not fit into a packet.
fn unpinnable(fabric: &Fabric) -> Option<Pair> {
    // Which link a hash would choose does not matter.
    let routes = Routes::new(fabric, 0);
    let hosts: Vec<NodeId> = alike(fabric).into_iter().map(|group| group[0]).collect();
    hosts.iter().find_map(|to| {
        let mut paths = network::ShortestPaths::new(&routes, fabric, (*to).into());
        let from = hosts.iter().find(|from| *from != to && !paths.can_be_pinned(**from))?;
        Some((*from, *to))
    })
}
