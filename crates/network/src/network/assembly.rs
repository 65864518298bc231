//! Builds a network, or a partition of it.

use super::balanced::MakeBalanced;
use super::egress::Egress;
use super::header_room::HeaderRoom;
use super::order::{Arrivals, NONE};
use super::run::Network;
use crate::change::Timetable;
use crate::discipline::FRAME;
use crate::fabric::{Fabric, LinkId, NodeId};
use crate::in_flight::{BY_NEXT_LINK, InFlight, Onward, list_elsewhere};
use crate::link::{Link, LinkKind, RareEvents};
use crate::partition::Partitions;
use crate::policy::Policies;
use crate::ports::Ports;
use crate::stages::{BORDER, HOSTS, INNER, Stage};
use crate::thresholds::Thresholds;
use crate::trailer::Trailers;
use linkpool_engine::{Calendar, Windows};
use linkpool_units::{Rate, Time};
use std::sync::Arc;

impl Network {
    /// The network of `fabric`, with `policies` at its output ports. `smallest` is the size in
    /// bytes of the smallest packet that will be sent: with the delays it sets the lookahead.
    /// `timetable` has the changes, or routes that stay.
    pub fn new(
        fabric: &Fabric,
        policies: impl Into<Policies>,
        timetable: impl Into<Timetable>,
        smallest: u16,
    ) -> Network {
        Network::partition(fabric, policies, timetable, smallest, &Arc::new(Partitions::whole(fabric)), 0)
    }

    /// The partition number `me` of the network: it runs the nodes that `partitions` gives to it.
    pub fn partition(
        fabric: &Fabric,
        policies: impl Into<Policies>,
        timetable: impl Into<Timetable>,
        smallest: u16,
        partitions: &Arc<Partitions>,
        me: u8,
    ) -> Network {
        let (policies, mut timetable) = (policies.into(), timetable.into());
        let mut kinds = Kinds::default();
        let mut ports = Ports::new(fabric.links().len(), fabric.nodes());
        let mut links = Vec::with_capacity(fabric.links().len());
        let mut lookahead = Windows::LONGEST;
        let stages = partitions.stages().cloned();
        let joined: Arc<[Stage]> = match &stages {
            Some(stages) => stages.joined.clone(),
            None => joined(fabric, partitions, me).into(),
        };
        for (id, spec) in fabric.links().iter().enumerate() {
            let id = LinkId::new(id);
            let course = timetable.course(id, spec.rate);
            let policy = course.limited(policies.at(fabric, spec));
            let sends = partitions.sender(id) == me;
            let is_plain = course.is_plain(&policy);
            let kind = if is_plain {
                kinds.number(course.rate, spec.delay, policy.thresholds)
            } else {
                kinds.number(course.rate, spec.delay, Thresholds::elsewhere())
            };
            let passes = sends && !is_plain && ports.add(id, spec, &policy, &course, timetable.seed);
            let list = match partitions.of(spec.to) {
                None => BY_NEXT_LINK,
                Some(receiver) if sends && receiver != me => list_elsewhere(receiver),
                Some(_) => joined[id.index()].into(),
            };
            let mut link = Link::new(kind, spec.to, list);
            if !is_plain {
                link.belongs_to_port(passes);
            }
            links.push(link);
            let fastest = LinkKind::new(course.fastest(), spec.delay, policy.thresholds);
            let smallest = if policy.pfc.is_some() { smallest.min(FRAME) } else { smallest };
            lookahead = lookahead.min(fastest.serialisation(smallest) + spec.delay);
        }
        ports.join(fabric);
        timetable.routes.reverse();
        let (_, routes) = timetable.routes.pop().expect("a timetable has routes from the start");
        let windows = Windows::new(lookahead);
        let onward = Onward { partitions: partitions.clone(), routes: routes.clone(), joined, me };
        let balancer = routes.balancer(fabric, MakeBalanced);
        let egress = Egress {
            node: NodeId::default(),
            rare: vec![RareEvents::default(); links.len()],
            links,
            kinds: kinds.0,
            calendar: Calendar::new(fabric.nodes() + ports.len()),
            ports,
            routes,
            in_flight: InFlight::new(windows, onward),
            taken: Vec::new(),
            trailers: Trailers::default(),
            windows,
            limit: Time::ZERO,
        };
        let mut network = Network {
            steers: balancer.as_ref().is_some_and(|balancer| balancer.steers()),
            balancer,
            seen_queues: Box::default(),
            header_room: HeaderRoom::new(if egress.ports.return_packets() { fabric.nodes() } else { 0 }),
            undecided: Vec::new(),
            is_divided: partitions.count() > 1,
            mail_to_hosts: partitions.lead_to_hosts(fabric),
            stages,
            later_routes: timetable.routes,
            timer_windows: vec![u64::MAX; fabric.nodes()],
            hosts: NodeId::new(fabric.hosts()),
            lookahead,
            partitions: partitions.clone(),
            hops: 0,
            over: Time::ZERO,
            limit: Time::ZERO,
            ending: false,
            woken: Vec::new(),
            to_hosts: Arrivals::new(timetable.seed),
            to_switches: Arrivals::new(timetable.seed),
            inner_waits: false,
            egress,
            latest: vec![NONE; fabric.nodes()].into(),
            latest_on: vec![NONE; fabric.links().len()].into(),
            taps: None,
            aside: Vec::new(),
            queues_are_far: false,
            ask_at: 0,
            look_at: Time::ZERO,
        };
        network.find_seen_queues();
        network.look(Time::ZERO);
        network
    }
}

/// By link of `fabric`: the stage of partition `me` that packets join when they have come by it, if partitions meet in
/// each window.
fn joined(fabric: &Fabric, partitions: &Partitions, me: u8) -> Vec<Stage> {
    let stages = stages_of_nodes(fabric, partitions, me);
    fabric.links().iter().map(|spec| stages[spec.to.index()]).collect()
}

/// By node of `fabric`: its stage in partition `me`, if partitions meet in each window.
fn stages_of_nodes(fabric: &Fabric, partitions: &Partitions, me: u8) -> Vec<Stage> {
    let mut stages: Vec<Stage> =
        (0..fabric.nodes()).map(|node| if node < fabric.hosts() { HOSTS } else { INNER }).collect();
    for (id, spec) in fabric.links().iter().enumerate() {
        let stage = &mut stages[spec.from.index()];
        if *stage == INNER && partitions.sender(LinkId::new(id)) == me && partitions.of(spec.to) != Some(me) {
            *stage = BORDER;
        }
    }
    stages
}

/// The kinds of links; equal links share one.
#[derive(Default)]
struct Kinds(Vec<LinkKind>);

impl Kinds {
    fn number(&mut self, rate: Rate, delay: Time, thresholds: Thresholds) -> u16 {
        let kind = LinkKind::new(rate, delay, thresholds);
        let known = self.0.iter().position(|known| known.is_like(&kind));
        known.unwrap_or_else(|| {
            self.0.push(kind);
            self.0.len() - 1
        }) as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::partition::partition;
    use crate::policy::QueuePolicy;
    use crate::queue_limit::QueueLimit;
    use crate::routing::Routes;
    use crate::topology::fat_tree;

    /// The names of the switches at the border of partition `me` of `n` of a fat-tree of 16 hosts.
    fn border(n: u8, me: u8) -> Vec<String> {
        let fabric = fat_tree(4, 2, Rate::gbps(10), Time::from_us(1));
        let policy = QueuePolicy::drop_tail(QueueLimit::Packets(9));
        let timetable = Timetable::from(Arc::new(Routes::new(&fabric, 1)));
        let partitions = partition(&fabric, n).splitting(&fabric, policy, &timetable);
        let stages = stages_of_nodes(&fabric, &partitions, me);
        assert!((0..fabric.nodes()).all(|node| (node < fabric.hosts()) == (stages[node] == HOSTS)));
        let nodes = NodeId::first(fabric.nodes()).filter(|node| stages[node.index()] == BORDER);
        nodes.map(|node| fabric.name(node).to_string()).collect()
    }

    /// Of pods that are whole, the aggregation switches send to others: by way of cores, which are split.
    #[test]
    fn switches_at_the_border_are_those_that_send_to_others() {
        assert!(border(1, 0).is_empty());
        assert_eq!(border(2, 0), ["a0.0", "a0.1", "a1.0", "a1.1"]);
        assert_eq!(border(4, 3), ["a3.0", "a3.1"]);
    }
}
