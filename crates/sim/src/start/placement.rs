//! The central scheduler of flows: it gives long flows the least loaded of their shortest paths.
//!
//! After every period each host reports its long flows: the flows that got at least a share of the
//! capacity of its links. It also reports the flows that were long and no longer are. The scheduler
//! runs at the first host. It removes the latter flows from its links, and places the former in
//! order of number. A flow gets the path whose fullest link has the fewest placed flows. Among
//! several such paths the next fullest links decide, and at last the order of paths ("global first
//! fit" of Al-Fares et al., NSDI 2010, section 4.1, with flows counted instead of their demands, as
//! Raiciu et al. simulate it, SIGCOMM 2011). Reports and decisions each take a lookahead, as any
//! message between hosts does; so the result is the same on any number of threads.

use crate::host::component::{Component, Context};
use crate::host::endpoint::Sending as _;
use crate::host::message::{Long, Message, Report};
use crate::host::slots::{Occupant, Sending};
use crate::plan::paths::pinned;
use crate::plan::{FlowId, PathRule, Placement, Plan};
use linkpool_network::{Fabric, HostId, LinkId, NodeId, Routes, ShortestPaths};
use std::collections::{BTreeMap, HashMap};

/// The host at which the scheduler runs.
const HOME: HostId = HostId::new(0);

/// A flow that may be placed, at its host.
#[derive(Default, Debug)]
struct Scanned {
    /// Bytes acknowledged by the last report.
    acked: u64,
    /// Has it been reported as long?
    long: bool,
}

/// The reports of the hosts, and at one host the scheduler.
pub(crate) struct Placer<'p> {
    plan: &'p Plan,
    routes: &'p Routes,
    placement: Placement,
    /// The flows that may be placed.
    scanned: HashMap<FlowId, Scanned>,
    /// By host: long flows that have ended since the last report.
    unplaced: HashMap<NodeId, Vec<FlowId>>,
    controller: Controller,
}

/// The state of the scheduler.
#[derive(Default, Debug)]
struct Controller {
    /// Placed flows on each link.
    load: HashMap<LinkId, u32>,
    placed: HashMap<FlowId, Vec<LinkId>>,
    /// Flows to be placed, in order of number.
    waiting: BTreeMap<FlowId, Long>,
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

    /// Places the waiting flows, and returns the path of each.
    fn decide(&mut self, fabric: &Fabric, routes: &Routes) -> Vec<(Long, Vec<LinkId>)> {
        let mut decided = Vec::new();
        for (flow, long) in std::mem::take(&mut self.waiting) {
            let (src, dst) = long.ends;
            let mut paths = ShortestPaths::new(routes, fabric, dst);
            let all = (0..paths.count(src.into())).map(|i| paths.nth(src, i)).collect::<Vec<_>>();
            // Loads in falling order: a host's own link may be the fullest link of all paths.
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

impl<'p> Placer<'p> {
    /// The placement of flows of `plan`, with the settings `placement`.
    pub(crate) fn new(plan: &'p Plan, routes: &'p Routes, placement: Placement) -> Placer<'p> {
        let (scanned, unplaced) = (HashMap::new(), HashMap::new());
        Placer { plan, routes, placement, scanned, unplaced, controller: Controller::default() }
    }

    /// Sends the report of `host`, and sets the time of the next one.
    fn scan(&mut self, host: NodeId, context: &mut Context) {
        let Placement { period, share } = self.placement;
        let links = self.plan.fabric.links_from(host).map(|l| self.plan.fabric.links()[l.index()].rate.0).sum::<u64>();
        let enough = share * links as f64 * period.secs() / 8.0;
        let mut report = Report { long: Vec::new(), over: self.unplaced.remove(&host).unwrap_or_default() };
        for (handle, sending) in context.hosts[host.index()].senders() {
            let Some(scanned) = self.scanned.get_mut(&sending.flow) else { continue };
            let got = sending.end.acked() - scanned.acked;
            scanned.acked += got;
            let long = got as f64 >= enough;
            let (flow, ends) = (sending.flow, (HostId::from(host), sending.planned.flow.dst));
            if long && !scanned.long {
                report.long.push(Long { flow, handle, ends });
            } else if scanned.long && !long {
                report.over.push(flow);
            }
            scanned.long = long;
        }
        let told = context.now + context.lookahead;
        if !(report.long.is_empty() && report.over.is_empty()) {
            context.send(HOME.into(), told, Message::Report(host, report));
        }
        context.leave(host, context.now + period, Message::Scan);
        if host == NodeId::from(HOME) {
            context.leave(host, told, Message::Decide);
        }
    }

    /// All reports of a period have arrived: the scheduler decides.
    fn decide(&mut self, context: &mut Context) {
        for (long, path) in self.controller.decide(&self.plan.fabric, self.routes) {
            let at = context.now + context.lookahead;
            context.send(long.ends.0.into(), at, Message::Place(long, path));
        }
    }

    /// Moves a flow of `host` to `path`, if the flow has not ended.
    fn place(&self, host: NodeId, long: Long, path: Vec<LinkId>, context: &mut Context) {
        if let Some((Occupant::Sender(sending), _)) = context.hosts[host.index()].endpoint(long.handle)
            && sending.flow == long.flow
        {
            let path = pinned(&self.plan.fabric, [path]).expect("shortest paths are checked before the run");
            sending.end.take_paths(path);
        }
    }
}

impl Component for Placer<'_> {
    fn on_start(&mut self, context: &mut Context) {
        for host in context.my_hosts() {
            context.leave(host, self.placement.period, Message::Scan);
        }
    }

    fn on_message(&mut self, host: NodeId, message: Message, context: &mut Context) -> Option<Message> {
        match message {
            Message::Scan => self.scan(host, context),
            Message::Report(_, report) => self.controller.take(report),
            Message::Decide => self.decide(context),
            Message::Place(long, path) => self.place(host, long, path, context),
            other => return Some(other),
        }
        None
    }

    fn on_flow_start(&mut self, sending: &mut Sending, _: &mut Context) {
        if self.plan.transports[sending.planned.transport.index()].paths == PathRule::Placed {
            self.scanned.insert(sending.flow, Scanned::default());
        }
    }

    /// The next report says that a long flow has ended.
    fn on_close(&mut self, sending: &Sending, _: &mut Context) {
        if self.scanned.remove(&sending.flow).is_some_and(|scanned| scanned.long) {
            self.unplaced.entry(sending.planned.flow.src.into()).or_default().push(sending.flow);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::handle::Handle;
    use linkpool_network::topology::{self, Generator};
    use linkpool_units::{Rate, Time};

    /// Two leaves, three spines: three paths between hosts of different leaves, which differ after
    /// the first link.
    fn fabric() -> Fabric {
        let (rate, delay) = (Rate(10_000_000_000), Time::from_us(1));
        let (uplink_rate, uplink_delay) = (rate, delay);
        topology::LeafSpine { leaves: 2, spines: 3, hosts_per_leaf: 4, rate, delay, uplink_rate, uplink_delay }.fabric()
    }

    fn long(flow: usize, (from, to): (usize, usize)) -> Long {
        let flow = FlowId::new(flow);
        Long { flow, handle: Handle::default(), ends: (HostId::new(from), HostId::new(to)) }
    }

    #[test]
    fn flows_go_where_the_fewest_are() {
        let fabric = fabric();
        let routes = Routes::new(&fabric, 1);
        let mut controller = Controller::default();
        let mut place = |long: Vec<Long>, over: Vec<usize>| {
            let over = over.into_iter().map(FlowId::new).collect();
            controller.take(Report { long, over });
            let decided = controller.decide(&fabric, &routes);
            // The spine of each.
            decided.iter().map(|(l, path)| (l.flow.index(), fabric.links()[path[1].index()].to)).collect::<Vec<_>>()
        };
        // From four hosts to four: each spine gets one flow, and the fourth flow goes to the first
        // of three equal spines. Flows are placed in order of number, not of report.
        let first = place(vec![long(9, (3, 7)), long(2, (0, 4)), long(5, (2, 6)), long(4, (1, 5))], vec![]);
        assert_eq!(first.iter().map(|(flow, _)| *flow).collect::<Vec<_>>(), [2, 4, 5, 9]);
        let spines: Vec<NodeId> = first.iter().map(|(_, spine)| *spine).collect();
        assert_eq!(spines[3], spines[0]);
        assert!(spines[0] != spines[1] && spines[1] != spines[2] && spines[0] != spines[2]);
        // A flow that has ended leaves room in the same period.
        assert_eq!(place(vec![long(11, (0, 4))], vec![4]), [(11, spines[1])]);
        // Two flows leave this host already, so all its paths have that load: the other links
        // decide.
        assert_eq!(place(vec![long(12, (0, 5))], vec![5]), [(12, spines[2])]);
    }
}
