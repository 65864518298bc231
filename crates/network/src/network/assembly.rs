//! Builds a network, or a partition of it.

use super::egress::Egress;
use super::order::{Arrivals, NONE};
use super::run::Network;
use crate::change::Timetable;
use crate::fabric::{Fabric, LinkId, NodeId};
use crate::link::{Link, LinkKind, RareEvents};
use crate::on_the_way::{BY_NEXT_LINK, OnTheWay, Onward, list_elsewhere, list_here};
use crate::partition::Partitions;
use crate::policy::Policies;
use crate::ports::Ports;
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
        for (id, spec) in fabric.links().iter().enumerate() {
            let id = LinkId::new(id);
            let course = timetable.course(id, spec.rate);
            let mut policy = policies.of(fabric.layer(spec.from));
            policy.thresholds = course.limit.map_or(policy.thresholds, |limit| policy.thresholds.limited_to(limit));
            let sends = partitions.sender(id) == me;
            let is_plain = policy.is_plain() && course.is_plain();
            let kind = if is_plain {
                kinds.number(course.rate, spec.delay, policy.thresholds)
            } else {
                kinds.number(course.rate, spec.delay, Thresholds::elsewhere())
            };
            if sends && !is_plain {
                ports.add(id, spec, policy, &course, timetable.seed);
            }
            let to_switch = spec.to.index() >= fabric.hosts();
            let list = match partitions.of(spec.to) {
                None => BY_NEXT_LINK,
                Some(receiver) if sends && receiver != me => list_elsewhere(receiver),
                Some(_) => list_here(to_switch),
            };
            links.push(Link::new(kind, spec.to, list));
            let fastest = LinkKind::new(course.fastest(), spec.delay, policy.thresholds);
            lookahead = lookahead.min(fastest.serialisation(smallest) + spec.delay);
        }
        timetable.routes.reverse();
        let (_, routes) = timetable.routes.pop().expect("a timetable has routes from the start");
        let windows = Windows::new(lookahead);
        let onward = Onward { partitions: partitions.clone(), routes: routes.clone(), me };
        let chooser = routes.chooser(fabric);
        let egress = Egress {
            node: NodeId::default(),
            rare: vec![RareEvents::default(); links.len()],
            links,
            kinds: kinds.0,
            calendar: Calendar::new(fabric.nodes() + ports.len()),
            ports,
            routes,
            on_the_way: OnTheWay::new(windows, onward),
            trailers: Trailers::default(),
            windows,
        };
        Network {
            egress,
            chooser,
            later_routes: timetable.routes,
            timer_windows: vec![u64::MAX; fabric.nodes()],
            hosts: NodeId::new(fabric.hosts()),
            lookahead,
            partitions: partitions.clone(),
            hops: 0,
            ending: false,
            woken: Vec::new(),
            to_hosts: Arrivals::new(timetable.seed),
            to_switches: Arrivals::new(timetable.seed),
            latest: vec![NONE; fabric.nodes()].into(),
            taps: None,
            queues_are_far: false,
            ask_at: 0,
        }
    }
}

/// The kinds of links; equal links share one.
#[derive(Default)]
struct Kinds(Vec<LinkKind>);

impl Kinds {
    fn number(&mut self, rate: Rate, delay: Time, thresholds: Thresholds) -> u16 {
        let is_known = |k: &LinkKind| (k.rate, k.delay, k.thresholds) == (rate, delay, thresholds);
        let known = self.0.iter().position(is_known);
        known.unwrap_or_else(|| {
            self.0.push(LinkKind::new(rate, delay, thresholds));
            self.0.len() - 1
        }) as u16
    }
}
