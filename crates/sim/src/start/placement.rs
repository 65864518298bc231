//! A central scheduler: long flows get the least loaded of their shortest paths.
//!
//! After every period each host reports which of its flows have got a share of what its links carry, and which of those no longer do or
//! are over. The scheduler, at the first host, forgets the latter, and gives each of the former in turn the path whose fullest link has
//! the fewest placed flows, of several the one whose next link has, and so on, and at last the first ("global first fit" of Al-Fares et al., NSDI 2010, section 4.1, with flows counted
//! instead of their demands, as Raiciu et al. simulate it, SIGCOMM 2011). Reports and decisions each take a lookahead, as all that hosts
//! learn of each other without a packet; so it is the same on any number of threads.

use crate::host::endpoint::Endpoint;
use crate::host::hosts::Hosts;
use crate::host::wire::Handle;
use crate::plan::paths::{PathChoice, PathRule};
use crate::start::agenda::Notice;
use linkpool_network::{Fabric, HostId, LinkId, NodeId, Paths, Routes};
use linkpool_units::Time;
use std::collections::{BTreeMap, HashMap};

/// Where the scheduler is.
const HOME: HostId = 0;

/// What the scheduler goes by.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Placement {
    /// From one report to the next.
    pub period: Time,
    /// A flow is long if it got at least this share of what the links of its host carry in a period.
    pub share: f64,
}

/// A flow that its host reports as long.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Long {
    flow: u32,
    handle: Handle,
    ends: (HostId, HostId),
}

/// What a host reports.
#[derive(Default, Debug)]
pub(crate) struct Report {
    long: Vec<Long>,
    /// Flows that were long, and no longer are.
    over: Vec<u32>,
}

/// How a sender whose flow may be placed stands.
#[derive(Default, Debug)]
pub(crate) struct Scanned {
    /// Bytes acknowledged at the last report.
    acked: u64,
    /// Has it been reported as long?
    long: bool,
}

/// What the scheduler knows.
#[derive(Default, Debug)]
pub(crate) struct Controller {
    /// Placed flows on each link.
    load: HashMap<LinkId, u32>,
    placed: HashMap<u32, Vec<LinkId>>,
    /// To be placed, by their numbers.
    waiting: BTreeMap<u32, Long>,
}

impl Controller {
    fn take(&mut self, report: Report) {
        for flow in report.over {
            self.waiting.remove(&flow);
            for link in self.placed.remove(&flow).unwrap_or_default() {
                *self.load.entry(link).or_default() -= 1;
            }
        }
        self.waiting.extend(report.long.into_iter().map(|long| (long.flow, long)));
    }

    /// Places the flows that wait, and returns where.
    fn decide(&mut self, fabric: &Fabric, routes: &Routes) -> Vec<(Long, Vec<LinkId>)> {
        let mut decided = Vec::new();
        for (flow, long) in std::mem::take(&mut self.waiting) {
            let (src, dst) = long.ends;
            let mut paths = Paths::new(routes, fabric, dst);
            let all = (0..paths.count(src.into())).map(|i| paths.nth(src, i)).collect::<Vec<_>>();
            // The fullest link first, then the next: a host's own link may be the fullest of all paths.
            let fullness = |path: &Vec<LinkId>| {
                let mut loads: Vec<u32> = path.iter().map(|l| self.load.get(l).copied().unwrap_or(0)).collect();
                loads.sort_unstable_by(|a, b| b.cmp(a));
                loads
            };
            let path = all.into_iter().min_by_key(fullness).expect("hosts are joined"); // the first of the least
            path.iter().for_each(|link| *self.load.entry(*link).or_default() += 1);
            self.placed.insert(flow, path.clone());
            decided.push((long, path));
        }
        decided
    }
}

impl Hosts<'_> {
    /// Reports on the flows of `host`, and does so again after a period.
    pub(crate) fn scan(&mut self, host: NodeId, now: Time) {
        let Some(Placement { period, share }) = self.plan.placement else { return };
        let links = self.plan.fabric.links_from(host).map(|l| self.plan.fabric.links()[l as usize].rate.0).sum::<u64>();
        let enough = share * links as f64 * period.secs() / 8.0;
        let h = &mut self.hosts[host as usize];
        let mut report = Report { long: Vec::new(), over: std::mem::take(&mut h.unplaced) };
        for (handle, endpoint) in h.endpoints() {
            let Endpoint::Sender(end) = endpoint else { continue };
            let Some(scanned) = &mut end.scanned else { continue };
            let got = end.sender.acked() - scanned.acked;
            scanned.acked += got;
            let long = got as f64 >= enough;
            let (flow, ends) = (end.address.flow, (host as HostId, end.address.peer_host));
            if long && !scanned.long {
                report.long.push(Long { flow, handle, ends });
            } else if scanned.long && !long {
                report.over.push(flow);
            }
            scanned.long = long;
        }
        if !(report.long.is_empty() && report.over.is_empty()) {
            let at = now + self.lookahead;
            self.notices.push((HOME.into(), at, Notice::Report(host, report)));
        }
        self.enter(host, now + period, Notice::Scan);
        if host == NodeId::from(HOME) {
            self.enter(host, now + self.lookahead, Notice::Decide);
        }
    }

    pub(crate) fn on_report(&mut self, report: Report) {
        self.controller.take(report);
    }

    /// All reports of a period are in.
    pub(crate) fn decide(&mut self, now: Time) {
        for (long, path) in self.controller.decide(&self.plan.fabric, self.routes) {
            let at = now + self.lookahead;
            self.notices.push((long.ends.0.into(), at, Notice::Place(long, path)));
        }
    }

    /// A flow of `host` takes `path` from now on, if it is still there.
    pub(crate) fn place(&mut self, host: NodeId, long: Long, path: Vec<LinkId>) {
        if let Some((Endpoint::Sender(end), _)) = self.hosts[host as usize].endpoint(long.handle)
            && end.address.flow == long.flow
        {
            end.address.path = PathChoice::pinned(&self.plan.fabric, std::iter::once(path));
        }
    }
}

impl Long {
    /// In what order decisions of one time are carried out.
    pub(crate) fn flow(&self) -> u32 {
        self.flow
    }
}

impl Scanned {
    /// That of a new sender, if its transport's flows are placed.
    pub(crate) fn of(rule: &PathRule) -> Option<Box<Scanned>> {
        (*rule == PathRule::Placed).then(Box::default)
    }

    /// Must the scheduler hear of the end of the flow?
    pub(crate) fn is_long(&self) -> bool {
        self.long
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkpool_network::{Wire, topology};
    use linkpool_units::Rate;

    /// Two leaves, three spines: three paths between hosts of different leaves, which part behind the first link.
    fn fabric() -> Fabric {
        let wire = Wire { rate: Rate(10_000_000_000), delay: Time::from_us(1) };
        topology::LeafSpine { leaves: 2, spines: 3, hosts_per_leaf: 4, host: wire, uplink: wire }.fabric()
    }

    fn long(flow: u32, ends: (HostId, HostId)) -> Long {
        Long { flow, handle: Handle::default(), ends }
    }

    #[test]
    fn flows_go_where_the_fewest_are() {
        let fabric = fabric();
        let routes = Routes::new(&fabric, 1);
        let mut controller = Controller::default();
        let mut place = |long: Vec<Long>, over: Vec<u32>| {
            controller.take(Report { long, over });
            let decided = controller.decide(&fabric, &routes);
            // The spine of each.
            decided.iter().map(|(l, path)| (l.flow, fabric.links()[path[1] as usize].to)).collect::<Vec<_>>()
        };
        // From four hosts to four: each spine gets one, the fourth goes to the first of three that are alike. By number, not as reported.
        let first = place(vec![long(9, (3, 7)), long(2, (0, 4)), long(5, (2, 6)), long(4, (1, 5))], vec![]);
        assert_eq!(first.iter().map(|(flow, _)| *flow).collect::<Vec<_>>(), [2, 4, 5, 9]);
        let spines: Vec<NodeId> = first.iter().map(|(_, spine)| *spine).collect();
        assert_eq!(spines[3], spines[0]);
        assert!(spines[0] != spines[1] && spines[1] != spines[2] && spines[0] != spines[2]);
        // What is over leaves room, in the period in which it is.
        assert_eq!(place(vec![long(11, (0, 4))], vec![4]), [(11, spines[1])]);
        // Two flows leave that host already, over each of its paths: the links beyond decide.
        assert_eq!(place(vec![long(12, (0, 5))], vec![5]), [(12, spines[2])]);
    }
}
