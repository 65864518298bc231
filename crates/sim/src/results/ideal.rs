//! The ideal completion time of a flow: the least that any transport can reach alone in the
//! network.

use crate::plan::{PathRule, Plan, PlannedFlow, PlannedTransport};
use crate::results::ways::{Cost, Costs, Part, Ways};
use linkpool_network::{Fabric, HostId, LinkId, NodeId, Routes, reversed};
use linkpool_transport::paths::Subflows;
use linkpool_units::Time;
use std::collections::HashMap;
use std::sync::Arc;

/// Picoseconds by which the simulator may send a packet early over a link, as it rounds.
const ROUNDING: f64 = 2.0;

/// Completion times that no transport with the flow's segments can better: the handshake if there
/// is one, then the data at line rate over all paths at once, headers included, stored and
/// forwarded at every hop, then the last ACK. No window holds it back.
///
/// Paths are the shortest ones, of the fabric as the run begins, or those that the flow names;
/// hosts with several NICs use all that lie on them. A packet alone takes the quickest path for its
/// size; data is shared among paths so that all end together. Where switches take other paths than the
/// shortest, a packet alone takes the quickest of all paths, and no more is known of what these carry than
/// of the hosts' links.
#[derive(Debug)]
pub struct Ideal<'p> {
    plan: &'p Plan,
    routes: &'p Routes,
    /// Do switches send all packets of a subflow one way, during the whole run?
    switches_are_steady: bool,
    /// Between two switches, or hosts with several NICs.
    between: HashMap<(NodeId, NodeId), Arc<Ways>>,
    /// From a switch, by node, where switches take other paths than the shortest.
    of_any_length: HashMap<NodeId, Vec<Arc<Ways>>>,
}

/// The paths of a flow in one direction.
struct Between {
    /// The only link of the sending host.
    first: Option<Cost>,
    ways: Arc<Ways>,
    /// The only link to the receiving host, unless it is the first too.
    last: Option<Cost>,
}

impl Between {
    fn paths(fabric: &Fabric, paths: &[Vec<LinkId>]) -> Between {
        Between { first: None, ways: Arc::new(Ways::by_paths(fabric, paths)), last: None }
    }

    fn hops(&self) -> usize {
        self.ways.hops + usize::from(self.first.is_some()) + usize::from(self.last.is_some())
    }

    /// Picoseconds of a packet alone.
    fn alone(&self, bytes: u64) -> f64 {
        self.before(&self.ways.whole, bytes) + self.last.unwrap_or_default().at(bytes)
    }

    fn before(&self, costs: &Costs, bytes: u64) -> f64 {
        self.first.unwrap_or_default().at(bytes) + costs.at(bytes)
    }

    fn after(&self, costs: &Costs, bytes: u64) -> f64 {
        costs.at(bytes) + self.last.unwrap_or_default().at(bytes)
    }
}

/// The packets of a flow.
struct Data {
    packets: u64,
    /// Bytes of a full packet, or of the only one; of the last.
    full: u64,
    last: u64,
    bytes: u64,
    /// Does none overtake another?
    in_order: bool,
}

impl Data {
    /// The least time, in picoseconds, to send all from one end of the paths to the other. No cut is
    /// done before the first packet has come there, all have passed, and the last has gone on.
    fn takes(&self, between: &Between) -> f64 {
        let Between { first, ways, last } = between;
        let on_first = first.map(|link| {
            let after = |bytes| link.delay + between.after(&ways.whole, bytes);
            self.one_link(1.0 / link.byte, |_, last| after(last))
        });
        let inside = ways.cuts.iter().map(|parts| {
            let ends =
                |part: &Part, first, last| between.before(&part.before, first) + between.after(&part.after, last);
            match &parts[..] {
                [part] if part.links == 1 || self.in_order => self.one_link(part.rate, |f, l| ends(part, f, l)),
                parts if self.in_order => shared(self.bytes, parts, |part| ends(part, self.full, self.last)),
                // The short packet may be the only one on its link: of the full ones alone, and of all as if all
                // were as short.
                parts => {
                    let full = (self.packets - 1) * self.full;
                    let full = shared(full, parts, |part| ends(part, self.full, self.full));
                    full.max(shared(self.bytes, parts, |part| ends(part, self.last, self.last)))
                }
            }
        });
        let on_last = last.map(|link| {
            let before = |bytes| between.before(&ways.whole, bytes) + link.delay;
            self.one_link(1.0 / link.byte, |first, _| before(first))
        });
        // A full packet goes all the way, even if others overtake it.
        on_first.into_iter().chain(inside).chain(on_last).fold(between.alone(self.full), f64::max)
    }

    /// The same of one link of so many bytes/ps, with the time `before_and_after` it of the first
    /// packet and of the last.
    fn one_link(&self, rate: f64, before_and_after: impl Fn(u64, u64) -> f64) -> f64 {
        let mut ends = before_and_after(self.full, self.last);
        if !self.in_order {
            ends = ends.min(before_and_after(self.last, self.full));
        }
        self.bytes as f64 / rate + ends
    }
}

/// The time by which the links of `parts` have sent so many bytes, if those of each part have its
/// time before and after them, and all end together.
fn shared(bytes: u64, parts: &[Part], before_and_after: impl Fn(&Part) -> f64) -> f64 {
    let least = parts.iter().map(&before_and_after).fold(f64::INFINITY, f64::min);
    let mut end = f64::INFINITY;
    loop {
        // Parts that cannot help before the end leave the rest to the others, and the end comes later.
        let helping = parts.iter().map(|part| (part.rate, before_and_after(part) - least)).filter(|(_, t)| *t < end);
        let (rate, late) = helping.fold((0.0, 0.0), |(rate, late), (r, t)| (rate + r, late + r * t));
        let next = (bytes as f64 + late) / rate;
        if next >= end || bytes == 0 {
            return least + if bytes == 0 { 0.0 } else { end };
        }
        end = next;
    }
}

impl<'p> Ideal<'p> {
    /// For the flows of `plan`.
    pub fn new(plan: &'p Plan, routes: &'p Routes) -> Ideal<'p> {
        let switches_are_steady = !plan.routing.spreading.moves_flows() && plan.changes.reroutes().is_empty();
        Ideal { plan, routes, switches_are_steady, between: HashMap::new(), of_any_length: HashMap::new() }
    }

    /// From the first SYN to the ACK of the last data, or without the handshake if the connection
    /// `is_open`; none for a flow without end, or without a path.
    pub fn fct(&mut self, planned: &PlannedFlow, is_open: bool) -> Option<Time> {
        let size = planned.flow.size?;
        let transport = &self.plan.transports[planned.transport.index()];
        let (mss, header, ack) =
            (transport.config.mss as u64, transport.sizes.header as u64, transport.sizes.ack as u64);
        let packets = size.div_ceil(mss);
        let last = size - (packets - 1) * mss + header;
        let full = if packets > 1 { mss + header } else { last };
        let in_order = self.takes_one_path(transport);
        let data = Data { packets, full, last, bytes: size + packets * header, in_order };
        let (there, back) = self.both_ways(planned)?;
        // SYN and SYN-ACK. The handshake's last ACK is on the sender's only link before the data;
        // with several, data may leave by another.
        let handshake = if transport.facts.handshake && !is_open {
            there.alone(ack)
                + back.alone(ack)
                + self.only(planned.flow.src).map_or(0.0, |link| self.cost(link).byte * ack as f64)
        } else {
            0.0
        };
        let rounding = ROUNDING * (packets as f64 + 4.0 * there.hops().max(back.hops()) as f64);
        let all = handshake + data.takes(&there) + back.alone(ack) - rounding;
        Some(Time(all.floor().max(1.0) as u64))
    }

    /// Does each flow of `transport` send all its packets over one path, on which none overtakes
    /// another?
    fn takes_one_path(&self, transport: &PlannedTransport) -> bool {
        let fixed_at_host = transport.config.subflows == 1
            && transport.scatter == Subflows::None
            && transport.balancing.is_none()
            && !(transport.paths == PathRule::Placed && self.plan.placement.is_some());
        fixed_at_host && self.switches_are_steady
    }

    /// The paths of a flow's data, and of its ACKs.
    fn both_ways(&mut self, planned: &PlannedFlow) -> Option<(Between, Between)> {
        let fabric = &self.plan.fabric;
        let transport = &self.plan.transports[planned.transport.index()];
        let (src, dst) = (planned.flow.src, planned.flow.dst);
        // Nothing is drawn for paths that do not depend on ports.
        let paths = |ends| transport.paths.paths((fabric, self.routes), ends, transport.config.subflows, 0);
        let (there, back) = match &transport.paths {
            PathRule::Hash | PathRule::Placed | PathRule::Distinct | PathRule::All | PathRule::Planes => {
                return Some((self.shortest(src, dst)?, self.shortest(dst, src)?));
            }
            PathRule::TwoLevel(_) => (paths((src, dst))?, paths((dst, src))?),
            PathRule::Disjoint | PathRule::Given(_) => {
                let there = paths((src, dst))?;
                let back = there.iter().map(|path| reversed(fabric, path)).collect();
                (there, back)
            }
        };
        Some((Between::paths(fabric, &there), Between::paths(fabric, &back)))
    }

    /// The shortest paths from one host to another.
    fn shortest(&mut self, src: HostId, dst: HostId) -> Option<Between> {
        let fabric = &self.plan.fabric;
        let spec = |link: LinkId| &fabric.links()[link.index()];
        let first = self.only(src);
        let from = first.map_or(NodeId::from(src), |link| spec(link).to);
        // The only link of the sender may lead to the receiver itself.
        let last = self.only(dst).filter(|_| from != dst.into());
        let last = last.map(|link| fabric.reverse(link));
        let to = last.map_or(NodeId::from(dst), |link| spec(link).from);
        let ways = match self.between.get(&(from, to)) {
            _ if self.plan.routing.spreading.leaves_shortest_paths() => self.of_any_length(from, to),
            Some(known) => known.clone(),
            None => {
                let levels = self.routes.levels(fabric, src, dst);
                let inner = usize::from(first.is_some())..levels.len().checked_sub(usize::from(last.is_some()))?;
                let ways = Arc::new(Ways::by_levels(fabric, levels.get(inner)?));
                self.between.insert((from, to), ways.clone());
                ways
            }
        };
        let cost = |link: Option<LinkId>| link.map(|link| self.cost(link));
        Some(Between { first: cost(first), ways, last: cost(last) })
    }

    /// All paths from one switch to another.
    fn of_any_length(&mut self, from: NodeId, to: NodeId) -> Arc<Ways> {
        let find = || Ways::of_any_length(&self.plan.fabric, from).into_iter().map(Arc::new).collect();
        self.of_any_length.entry(from).or_insert_with(find)[to.index()].clone()
    }

    fn cost(&self, link: LinkId) -> Cost {
        Cost::of(&self.plan.fabric.links()[link.index()])
    }

    /// The link of a host that has no other.
    fn only(&self, host: HostId) -> Option<LinkId> {
        let links = self.plan.fabric.links_from(host.into());
        if links.len() == 1 { links.into_iter().next() } else { None }
    }
}
