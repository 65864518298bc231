//! Switches forward the packets of a window.

use super::ahead;
use super::egress::Egress;
use super::order::{Arrivals, NONE, Step};
use super::run::Network;
use crate::fabric::NodeId;
use crate::packet::Packet;
use crate::spreading::Chooser;

impl Network {
    /// Routes the packets that come to switches, and then queues them. The order matters only of those that
    /// take the same link.
    pub(super) fn forward(&mut self) {
        let mut arrivals = std::mem::take(&mut self.to_switches);
        self.route(&mut arrivals);
        if self.queues_are_far {
            self.queue::<true>(&mut arrivals);
        } else {
            self.queue::<false>(&mut arrivals);
        }
        arrivals.packets.clear();
        self.to_switches = arrivals;
    }

    /// Chooses the links that packets take from the switches to which they come, and chains the
    /// packets that take the same link.
    #[inline(never)]
    fn route(&mut self, arrivals: &mut Arrivals) {
        let Network { egress: Egress { routes, .. }, latest_on, .. } = self;
        let Arrivals { packets, steps, .. } = arrivals;
        steps.clear();
        steps.extend(packets.iter_mut().zip(0..).map(|(incoming, number)| {
            let link = routes.at(incoming.node).next_link(&mut incoming.packet);
            Step { link, before: std::mem::replace(&mut latest_on[link.index()], number) }
        }));
    }

    /// Queues packets that are routed, those of a chain in order; a packet's `arrival` is when it
    /// came. `FAR`: links and their queues are prefetched.
    #[inline(never)]
    fn queue<const FAR: bool>(&mut self, arrivals: &mut Arrivals) {
        let Network { egress, latest_on, .. } = self;
        let Arrivals { packets, steps, order } = arrivals;
        if FAR {
            ahead::prefetch_first(&egress.links, steps);
        }
        for ((step, incoming), number) in steps.iter().copied().zip(packets.iter()).zip(0u32..) {
            if FAR {
                ahead::prefetch_next(&egress.links, steps, number as usize);
            }
            let latest = &mut latest_on[step.link.index()];
            if *latest != number {
                continue; // it is queued with the latest of its chain
            }
            *latest = NONE;
            let Egress { links, kinds, on_the_way, .. } = &mut *egress;
            let (link, packet) = (&mut links[step.link.index()], &incoming.packet);
            if step.before != NONE {
                egress.enqueue_chain(step.link, packets, order.of(packets, steps, number));
            } else if let Some(arrival) = link.enqueue(&kinds[link.kind as usize], packet.arrival, packet) {
                on_the_way.add(step.link, link, arrival, packet);
            } else {
                egress.enqueue_by_thresholds(step.link, packet.arrival, *packet);
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
