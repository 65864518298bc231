//! Switches forward the packets of a window.

use super::egress::Egress;
use super::order::{Arrivals, NONE, Step};
use super::run::{BATCH, Network};
use crate::fabric::NodeId;
use crate::link::Link;
use crate::on_the_way::Incoming;
use crate::packet::Packet;
use crate::routing::Routes;
use crate::spreading::Chooser;
use linkpool_engine::prefetch_place;

impl Network {
    /// Routes the packets that come to switches, and then queues them. The order matters only of those that
    /// take the same link.
    pub(super) fn forward(&mut self) {
        let mut arrivals = std::mem::take(&mut self.to_switches);
        self.route(&mut arrivals);
        self.queue(&mut arrivals);
        arrivals.packets.clear();
        self.to_switches = arrivals;
    }

    /// Chooses the links that packets take from the switches to which they come, and chains the
    /// packets that take the same link.
    #[inline(never)]
    fn route(&mut self, arrivals: &mut Arrivals) {
        let Network { egress: Egress { links, routes, .. }, queues_are_far, .. } = self;
        let Arrivals { packets, steps, .. } = arrivals;
        steps.clear();
        if !*queues_are_far {
            return route_near(routes, links, packets, steps);
        }
        for batch in packets.chunks_mut(BATCH) {
            let first = steps.len();
            steps.extend(batch.iter_mut().map(|incoming| {
                let link = routes.at(incoming.node).next_link(&mut incoming.packet);
                prefetch_place(links, link.index());
                Step { link, before: NONE }
            }));
            for (step, number) in steps[first..].iter_mut().zip(first as u32..) {
                step.before = std::mem::replace(&mut links[step.link.index()].latest, number);
            }
        }
    }

    /// Queues packets that are routed, those of a chain in order; a packet's `arrival` is when it
    /// came.
    #[inline(never)]
    fn queue(&mut self, arrivals: &mut Arrivals) {
        let queues_are_far = self.queues_are_far;
        let egress = self.egress(NodeId::default());
        let Arrivals { packets, steps, order } = arrivals;
        for first in (0..packets.len()).step_by(BATCH) {
            let last = packets.len().min(first + BATCH);
            let batch = &steps[first..last];
            if queues_are_far {
                batch.iter().for_each(|step| egress.links[step.link.index()].prefetch_end());
            }
            for ((step, incoming), number) in batch.iter().copied().zip(&packets[first..last]).zip(first as u32..) {
                let Egress { links, kinds, on_the_way, .. } = &mut *egress;
                let (link, packet) = (&mut links[step.link.index()], &incoming.packet);
                if link.latest != number {
                    continue; // it is queued with the latest of its chain
                }
                link.latest = NONE;
                if step.before != NONE {
                    egress.enqueue_chain(step.link, packets, order.of(packets, steps, number));
                } else if let Some(arrival) = link.enqueue(&kinds[link.kind as usize], packet.arrival, packet) {
                    on_the_way.add(step.link, link, arrival, packet);
                } else {
                    egress.enqueue_by_thresholds(step.link, packet.arrival, *packet);
                }
            }
        }
    }

    /// Sends `packet`, which has come to the switch `node`, over the link with the shortest queue.
    #[inline(never)]
    fn forward_by_queues(&mut self, node: NodeId, mut packet: Packet) {
        let Chooser::LeastQueue(mut chooser) = std::mem::replace(&mut self.chooser, Chooser::Flows) else { return };
        let (routes, now) = (self.egress.routes.clone(), packet.arrival);
        let egress = self.egress(node);
        let link = routes.at(node).forward_by(&mut packet, |by, packet, link| {
            chooser.choose(node, by, packet, |i| egress.backlog(link(i), now))
        });
        egress.enqueue_one(link, now, &packet);
        self.chooser = Chooser::LeastQueue(chooser);
    }

    /// Forwards `packet` on its own: at a switch, or at a host to which others' packets come.
    #[inline(never)]
    pub(super) fn pass_on(&mut self, node: NodeId, mut packet: Packet) {
        if node < self.hosts {
            self.egress(node).send(packet.arrival, &packet);
        } else if matches!(self.chooser, Chooser::LeastQueue(_)) {
            self.forward_by_queues(node, packet);
        } else {
            let link = self.egress.routes.at(node).forward(node, &mut packet, &mut self.chooser);
            self.egress(node).enqueue_one(link, packet.arrival, &packet);
        }
    }
}

/// As [`Network::route`], where the links are at hand.
#[inline(never)]
fn route_near(routes: &Routes, links: &mut [Link], packets: &mut [Incoming], steps: &mut Vec<Step>) {
    steps.extend(packets.iter_mut().zip(0..).map(|(incoming, number)| {
        let link = routes.at(incoming.node).next_link(&mut incoming.packet);
        Step { link, before: std::mem::replace(&mut links[link.index()].latest, number) }
    }));
}
