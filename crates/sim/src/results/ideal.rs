//! The ideal completion time of a flow: the least that any transport can reach alone in the
//! network.

use crate::plan::{PathRule, Plan, PlannedFlow, PlannedTransport};
use linkpool_network::{Fabric, HostId, LinkId, NodeId, Routes, Spreading};
use linkpool_transport::paths::Subflows;
use linkpool_units::Time;
use std::collections::HashMap;

/// Picoseconds by which the simulator may send a packet early over a link, as it rounds.
const ROUNDING: f64 = 2.0;

/// Completion times that no transport with the flow's segments can better: the handshake if there
/// is one, then the data at line rate over all paths at once, headers included, stored and
/// forwarded at every hop, then the last ACK. No window holds it back.
///
/// Paths are the shortest ones, of the fabric as the run begins, or those that the flow names;
/// hosts with several NICs use all that lie on them.
#[derive(Debug)]
pub struct Ideal<'p> {
    plan: &'p Plan,
    routes: &'p Routes,
    /// Do switches send all packets of a subflow one way, during the whole run?
    switches_are_steady: bool,
    /// Between two switches, or hosts with several NICs.
    between: HashMap<(NodeId, NodeId), Box<[Hop]>>,
}

/// The links that may be the n-th of a path.
#[derive(Clone, Copy, Debug)]
struct Hop {
    /// The rate of all links together, bit/ps.
    capacity: f64,
    /// The rate of the fastest link, bit/ps.
    fastest: f64,
    /// Least propagation delay, ps.
    delay: f64,
}

impl Hop {
    fn new(fabric: &Fabric, links: &[LinkId]) -> Hop {
        let links = || links.iter().map(|l| &fabric.links()[l.index()]);
        Hop {
            capacity: links().map(|l| l.rate.0 as f64 / 1e12).sum(),
            fastest: links().map(|l| l.rate.0 as f64 / 1e12).fold(0.0, f64::max),
            delay: links().map(|l| l.delay.0 as f64).fold(f64::INFINITY, f64::min),
        }
    }
}

impl Hop {
    /// Paths of unlike lengths, which have no hops in common: the slowest links of all of them
    /// together, and the quickest way for a packet alone.
    fn of_unlike(fabric: &Fabric, paths: &[Vec<LinkId>]) -> Hop {
        let hops: Vec<Vec<Hop>> =
            paths.iter().map(|path| path.iter().map(|l| Hop::new(fabric, &[*l])).collect()).collect();
        let slowest = |path: &Vec<Hop>| path.iter().map(|h| h.capacity).fold(f64::INFINITY, f64::min);
        let byte = |path: &Vec<Hop>| stored_and_forwarded(1, path) / 8.0;
        Hop {
            capacity: hops.iter().map(slowest).sum(),
            fastest: 1.0 / hops.iter().map(byte).fold(f64::INFINITY, f64::min),
            delay: hops.iter().map(|path| propagation(path)).fold(f64::INFINITY, f64::min),
        }
    }
}

/// Picoseconds that a packet takes over `hops`, without propagation.
fn stored_and_forwarded(bytes: u64, hops: &[Hop]) -> f64 {
    hops.iter().map(|h| 8.0 * bytes as f64 / h.fastest).sum()
}

fn propagation(hops: &[Hop]) -> f64 {
    hops.iter().map(|h| h.delay).sum()
}

impl<'p> Ideal<'p> {
    /// For the flows of `plan`.
    pub fn new(plan: &'p Plan, routes: &'p Routes) -> Ideal<'p> {
        let switches_are_steady = plan.routing.spreading == Spreading::Flows && plan.changes.reroutes().is_empty();
        Ideal { plan, routes, switches_are_steady, between: HashMap::new() }
    }

    /// From the first SYN to the ACK of the last data, or without the handshake if the connection
    /// `is_open`; none for a flow without end.
    pub fn fct(&mut self, planned: &PlannedFlow, is_open: bool) -> Option<Time> {
        let size = planned.flow.size?;
        let transport = &self.plan.transports[planned.transport.index()];
        let (mss, header, ack) =
            (transport.config.mss as u64, transport.sizes.header as u64, transport.sizes.ack as u64);
        let packets = size.div_ceil(mss);
        let last = size - (packets - 1) * mss + header;
        let full = if packets > 1 { mss + header } else { last };
        let in_order = self.takes_one_path(transport);
        let hops = self.hops(planned);
        let control = stored_and_forwarded(ack, &hops) + propagation(&hops);
        // No hop is done before the first packet has come there, all have passed, and the last has
        // gone on from there.
        let data = (0..hops.len()).map(|i| {
            let (before, after) = (&hops[..i], &hops[i + 1..]);
            let ends = |first, last| stored_and_forwarded(first, before) + stored_and_forwarded(last, after);
            let ends = if in_order { ends(full, last) } else { ends(full, last).min(ends(last, full)) };
            8.0 * (size + packets * header) as f64 / hops[i].capacity + ends
        });
        // A full packet goes all the way, even if others overtake it.
        let data = data.fold(stored_and_forwarded(full, &hops), f64::max) + propagation(&hops);
        let rounding = ROUNDING * (packets as f64 + 4.0 * hops.len() as f64);
        // The last ACK is always waited for.
        let controls = if is_open { 1.0 } else { f64::from(transport.facts.control_packets) };
        Some(Time((controls * control + data - rounding).floor().max(1.0) as u64))
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

    /// The hops of a flow.
    fn hops(&mut self, planned: &PlannedFlow) -> Vec<Hop> {
        let fabric = &self.plan.fabric;
        let transport = &self.plan.transports[planned.transport.index()];
        let (src, dst) = (planned.flow.src, planned.flow.dst);
        match &transport.paths {
            PathRule::Hash | PathRule::Placed | PathRule::Distinct | PathRule::All | PathRule::Planes => {
                self.shortest(src, dst)
            }
            // Nothing is drawn for these.
            rule => match rule.paths((fabric, self.routes), (src, dst), transport.config.subflows, 0).as_deref() {
                Some([path]) => path.iter().map(|l| Hop::new(fabric, &[*l])).collect(),
                paths => vec![Hop::of_unlike(fabric, paths.unwrap_or_default())],
            },
        }
    }

    /// From one host to another.
    fn shortest(&mut self, src: HostId, dst: HostId) -> Vec<Hop> {
        let fabric = &self.plan.fabric;
        let only =
            |host: HostId| fabric.links_from(host.into()).next().filter(|_| fabric.links_from(host.into()).len() == 1);
        let end = |host: HostId| only(host).map_or(host.into(), |l| fabric.links()[l.index()].to);
        let (from, to) = (end(src), end(dst));
        let between = self.between.entry((from, to)).or_insert_with(|| {
            let levels = self.routes.levels(fabric, src, dst);
            let inner = only(src).is_some() as usize..levels.len() - only(dst).is_some() as usize;
            levels[inner].iter().map(|links| Hop::new(fabric, links)).collect()
        });
        let first = only(src).map(|l| Hop::new(fabric, &[l]));
        let last = only(dst).and_then(|_| fabric.link(to, dst.into())).map(|l| Hop::new(fabric, &[l]));
        first.into_iter().chain(between.iter().copied()).chain(last).collect()
    }
}
