//! Switches forward the packets of a window.

use super::ahead;
use super::balanced::Undecided;
use super::egress::Egress;
use super::order::{Arrivals, NONE, Step};
use super::run::{BATCH, Network};
use crate::chain::Chain;
use crate::fabric::LinkId;
use crate::headers::Headers;
use crate::in_flight::Incoming;
use crate::packet::Flags;
use crate::stages::{Stage, StageStep, Stages};
use linkpool_engine::prefetch_place;

impl Network {
    /// Routes the packets that come to switches, and then queues them. The order matters only of those that
    /// take the same link.
    pub(super) fn forward(&mut self) {
        if self.balancer.is_some() {
            self.route_without_choice();
            let Network { egress, balancer, latest, latest_on, to_switches, undecided, seen_queues, .. } = self;
            let (numbers, sees_queues) = (&undecided[..], !seen_queues.is_empty());
            let undecided = Undecided { numbers, arrivals: to_switches, egress, latest, latest_on, sees_queues };
            if let Some(balancer) = balancer {
                balancer.route(undecided);
            }
        } else {
            match (ahead::routes_are_far(self.latest_on.len()), self.egress.routes.spray()) {
                (false, false) => self.route::<false, false>(),
                (false, true) => self.route::<false, true>(),
                (true, false) => self.route::<true, false>(),
                (true, true) => self.route::<true, true>(),
            }
        }
        if self.egress.ports.return_packets()
            && !self.header_room.holds(&self.to_switches.packets, &self.egress.ports)
            && self.packets_may_go_back()
        {
            self.queue_one_by_one();
        } else {
            self.queue_routed();
        }
    }

    /// May a port send one of the packets that are routed back? Then it depends on the order of all packets at
    /// its switch what the other ports do.
    #[inline(never)]
    fn packets_may_go_back(&self) -> bool {
        let Network { egress, latest_on, to_switches: Arrivals { packets, steps, .. }, .. } = self;
        steps.iter().zip(0..).any(|(step, number)| {
            if latest_on[step.link.index()] != number {
                return false; // it is asked for with the latest of its chain
            }
            let Some(port) = egress.ports.of(step.link) else { return false };
            let (mut headers, mut number) = (Headers::default(), number);
            while number != NONE {
                headers.packets += 1;
                headers.bytes += u64::from(packets[number as usize].packet.header_size());
                number = steps[number as usize].before;
            }
            egress.ports.may_return(port, headers)
        })
    }

    /// Queues the packets that are routed in the order in which they have come, and those that ports send back
    /// among them. These are not counted in [`super::header_room`], which has found no room for more before.
    #[cold]
    fn queue_one_by_one(&mut self) {
        let Network { egress, latest_on, to_switches, .. } = self;
        let Arrivals { packets, steps, order, .. } = to_switches;
        steps.iter().for_each(|step| latest_on[step.link.index()] = NONE);
        for number in order.of_all(packets) {
            let packet = &packets[number].packet;
            egress.queue_alone(steps[number].link, packet.arrival, packet);
        }
        packets.clear();
    }

    /// The same, of the packets that have joined the stage of `step`.
    pub(super) fn forward_stage(&mut self, step: &StageStep, stages: &Stages) {
        if !step.passes_on {
            return self.forward();
        }
        if ahead::routes_are_far(self.latest_on.len()) {
            self.route_stage::<true>(step.stage, stages);
        } else {
            self.route_stage::<false>(step.stage, stages);
        }
        self.queue_routed();
    }

    /// Queues the packets that are routed. None of them goes back to its sender.
    #[inline]
    fn queue_routed(&mut self) {
        match (self.egress.ports.len() > 0, self.queues_are_far) {
            (false, false) => self.queue::<false>(),
            (false, true) => self.queue::<true>(),
            (true, far) => self.queue_at_ports(far),
        }
        self.to_switches.packets.clear();
    }

    /// Chooses the links that packets take from the switches to which they come, and chains the
    /// packets that take the same link. `FAR`: routes and the heads of the chains are
    /// prefetched. `SPRAY`: switches spray packets.
    #[inline(never)]
    fn route<const FAR: bool, const SPRAY: bool>(&mut self) {
        let Network { egress: Egress { routes, .. }, latest_on, to_switches, .. } = self;
        let Arrivals { packets, steps, .. } = to_switches;
        steps.clear();
        if !FAR {
            steps.extend(packets.iter_mut().zip(0..).map(|(incoming, number)| {
                let link = routes.at(incoming.node).onward::<SPRAY>(incoming.link, &mut incoming.packet);
                Step { link, before: std::mem::replace(&mut latest_on[link.index()], number) }
            }));
            return;
        }
        for batch in packets.chunks_mut(BATCH) {
            let first = steps.len();
            batch.iter().for_each(|incoming| routes.at(incoming.node).prefetch(&incoming.packet));
            steps.extend(batch.iter_mut().map(|incoming| {
                let link = routes.at(incoming.node).onward::<SPRAY>(incoming.link, &mut incoming.packet);
                prefetch_place(latest_on, link.index());
                Step { link, before: NONE }
            }));
            for (step, number) in steps[first..].iter_mut().zip(first as u32..) {
                step.before = std::mem::replace(&mut latest_on[step.link.index()], number);
            }
        }
    }

    /// As [`Network::route`], of the packets that have joined `stage`. Those that are queued in another stage, which comes to
    /// this window later, join that stage.
    #[inline(never)]
    fn route_stage<const FAR: bool>(&mut self, stage: Stage, stages: &Stages) {
        let Network { egress: Egress { routes, in_flight, .. }, latest_on, to_switches, hops, .. } = self;
        let Arrivals { packets, steps, .. } = to_switches;
        steps.clear();
        while let Some(incoming) = packets.get_mut(steps.len()) {
            let entropy = incoming.packet.entropy;
            let link = routes.at(incoming.node).next_link(&mut incoming.packet);
            let queued = stages.queued[link.index()];
            if queued == stage {
                steps.push(Step { link, before: NONE });
            } else {
                // Stages are numbered in this order.
                assert!(queued < stage, "a packet is on a way that no shortest path takes");
                incoming.packet.entropy = entropy; // of a pinned packet, a hop was taken off
                in_flight.push(queued, *incoming);
                *hops -= 1;
                packets.swap_remove(steps.len());
            }
            if FAR {
                prefetch_place(latest_on, link.index());
                let later = packets.get(steps.len() + BATCH);
                later.into_iter().for_each(|incoming| routes.at(incoming.node).prefetch(&incoming.packet));
            }
        }
        for (step, number) in steps.iter_mut().zip(0u32..) {
            step.before = std::mem::replace(&mut latest_on[step.link.index()], number);
        }
    }

    /// Queues packets that are routed, those of a chain in order; a packet's `arrival` is when it
    /// came. `FAR`: links and their queues are prefetched.
    #[inline(never)]
    fn queue<const FAR: bool>(&mut self) {
        let Network { egress, latest_on, to_switches, .. } = self;
        let Arrivals { packets, steps, order, .. } = to_switches;
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
            let Egress { links, kinds, in_flight, .. } = &mut *egress;
            let (link, packet) = (&mut links[step.link.index()], &incoming.packet);
            if step.before != NONE {
                egress.queue_chain(step.link, order.chain(packets, steps, number));
            } else if let Some(arrival) = link.enqueue(&kinds[link.kind as usize], packet.arrival, packet) {
                in_flight.add(step.link, link, arrival, packet);
            } else {
                egress.slow_path(step.link, packet.arrival, packet);
            }
        }
    }

    /// The same where links have ports: each is given all its packets at once. `far`: links and ports are prefetched.
    #[inline(never)]
    fn queue_at_ports(&mut self, far: bool) {
        let Network { egress, latest_on, to_switches, limit, .. } = self;
        let Arrivals { packets, steps, order, ends } = to_switches;
        ends.clear();
        for (step, number) in steps.iter().zip(0..) {
            let latest = &mut latest_on[step.link.index()];
            if *latest == number {
                *latest = NONE;
                ends.push((*step, number));
            }
        }
        for (place, (step, number)) in ends.iter().copied().enumerate() {
            if far {
                ahead::prefetch_ports((&egress.links, &egress.ports), ends, place);
            }
            let Egress { links, kinds, in_flight, .. } = &mut *egress;
            let (link, packet) = (&mut links[step.link.index()], &packets[number as usize].packet);
            if step.before != NONE {
                egress.pass_chain_to_port(step.link, order.chain(packets, steps, number), *limit);
            } else if let Some(arrival) = link.enqueue(&kinds[link.kind as usize], packet.arrival, packet) {
                in_flight.add(step.link, link, arrival, packet);
            } else {
                egress.pass_chain_to_port(step.link, Chain::new(packets, &[(packet.arrival, number)]), *limit);
            }
        }
    }

    /// By link: is it one of those whose queues the balancer sees? After routes have changed.
    pub(super) fn find_seen_queues(&mut self) {
        let Some(balancer) = &self.balancer else { return };
        let links = self.egress.links.len();
        if balancer.sees_all() {
            self.seen_queues = vec![true; links].into();
        } else if balancer.sees_queues() {
            self.seen_queues = self.egress.routes.choice_links(links);
        }
    }

    /// Where a balancer chooses: routes the packets that have one way, and chains the others by switch.
    #[inline(never)]
    fn route_without_choice(&mut self) {
        let Network { egress, latest, latest_on, to_switches, undecided, seen_queues, steers, .. } = self;
        let (routes, steers) = (&egress.routes, *steers);
        let Arrivals { packets, steps, .. } = to_switches;
        undecided.clear();
        steps.clear();
        steps.extend(packets.iter_mut().zip(0..).map(|(incoming, number)| {
            let node = incoming.node;
            let is_steered = steers && !incoming.packet.flags.has(Flags::PINNED);
            let way = (!is_steered).then(|| routes.at(node).way(&mut incoming.packet).ok()).flatten();
            let link = way.unwrap_or(LinkId::NONE);
            let is_seen = || seen_queues.get(link.index()).is_some_and(|is_seen| *is_seen);
            let latest = if link == LinkId::NONE || is_seen() {
                undecided.push(number);
                &mut latest[node.index()]
            } else {
                &mut latest_on[link.index()]
            };
            Step { link, before: std::mem::replace(latest, number) }
        }));
    }

    /// Forwards a packet on its own: at a switch, or at a host to which others' packets come.
    #[inline(never)]
    pub(super) fn pass_on(&mut self, mut incoming: Incoming) {
        let (node, now) = (incoming.node, incoming.packet.arrival);
        if node < self.hosts {
            return self.egress(node).send(now, &incoming.packet);
        }
        let link = match &mut self.balancer {
            None => self.egress.routes.onward(node, incoming.link, &mut incoming.packet),
            Some(balancer) => balancer.next_link(&mut self.egress, &mut incoming),
        };
        if !self.egress.ports.pause() {
            return self.egress.queue_alone(link, now, &incoming.packet);
        }
        // All links have ports that see all packets.
        self.egress.ports.come_by(incoming.link);
        self.egress.pass_to_port(link, now, &incoming.packet);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::NodeId;
    use crate::packet::{Envelope, Kind, Packet};
    use crate::policy::QueuePolicy;
    use crate::queue_limit::QueueLimit;
    use crate::routing::Routes;
    use crate::topology::fat_tree;
    use linkpool_units::{HostId, Rate, Time};
    use std::sync::Arc;

    /// Prefetching changes nothing: 300 packets come to 20 switches, and many take the same link.
    #[test]
    fn prefetching_changes_no_packet() {
        let fabric = fat_tree(4, 2, Rate::gbps(10), Time::from_us(1));
        let policy = QueuePolicy::drop_tail(QueueLimit::Packets(9)).marking(QueueLimit::Packets(3), false);
        let forwarded = |far: bool| {
            let mut network = Network::new(&fabric, policy.clone(), Arc::new(Routes::new(&fabric, 3)), 60);
            network.to_switches.packets = (0..300u32).map(|number| incoming(number, fabric.hosts())).collect();
            if far {
                network.route::<true, false>();
                network.queue::<true>();
            } else {
                network.route::<false, false>();
                network.queue::<false>();
            }
            assert!(network.latest_on.iter().all(|latest| *latest == NONE));
            let mut in_flight: Vec<String> = network.egress.in_flight.iter().map(|it| format!("{it:?}")).collect();
            in_flight.sort_unstable();
            in_flight
        };
        let near = forwarded(false);
        assert_eq!(near, forwarded(true));
        // Some were marked, and some dropped.
        assert!(near.iter().any(|packet| packet.contains("CE")) && near.len() < 300, "{}", near.len());
    }

    fn incoming(number: u32, hosts: usize) -> Incoming {
        let (node, dst) = (hosts + number as usize * 7 % 20, number as usize * 5 % hosts);
        let packet = Packet {
            arrival: Time::from_ns(number as u64 * 37 % 900),
            entropy: number % 3,
            envelope: Envelope::new(HostId::new(dst), 1500, 1438),
            flags: Flags::ECT,
            kind: Kind::DATA,
            ..Packet::default()
        };
        Incoming { packet, node: NodeId::new(node), link: LinkId::new(number as usize) }
    }
}
