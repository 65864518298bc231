//! The operations of a handler on the network.

use crate::balancer::{Arrival, Balancer, Choice, Hop, Queues};
use crate::chain::Chain;
use crate::fabric::{LinkId, NodeId};
use crate::in_flight::{InFlight, Incoming};
use crate::link::{Fate, Link, LinkKind, LinkStats, OnWire, RareEvents};
use crate::observer::{Cause, Observer, PacketLoss, Seen};
use crate::packet::{Flags, Packet, Trailer};
use crate::ports::Ports;
use crate::routing::{Links, Routes};
use crate::telemetry::Written;
use crate::trailer::Trailers;
use crate::transmitter::Transmitter;
use linkpool_engine::{Calendar, Windows};
use linkpool_units::Time;
use std::sync::Arc;

/// The operations of a handler on the network while it runs: it sends from the node that is
/// running.
///
/// It is the part of a network that sends: links with their queues, routes, and the packets on their
/// way.
#[derive(Debug)]
pub struct Egress {
    /// The node that is running.
    pub(super) node: NodeId,
    pub(super) links: Vec<Link>,
    pub(super) kinds: Vec<LinkKind>,
    pub(super) rare: Vec<RareEvents>,
    pub(super) ports: Ports,
    pub(super) routes: Arc<Routes>,
    /// The windows in which nodes have timers, by node, and in which ports may transmit.
    pub(super) calendar: Calendar,
    pub(super) in_flight: InFlight,
    /// Where there is an observer: the packets that come to nodes in this window, as they are when it begins. Some may be
    /// queued still when a node has got them already, and given their trailers to other packets.
    pub(super) taken: Vec<(LinkId, Seen)>,
    /// The trailers of the packets in this partition.
    pub(super) trailers: Trailers,
    pub(super) windows: Windows,
    /// When the window that runs ends. Pause frames that come before are known.
    pub(super) limit: Time,
}

/// The queues of the links of a choice, for a balancer that asks for them, where some links have ports.
struct Backlogs<'a> {
    now: Time,
    way: Links<'a>,
    kinds: &'a [LinkKind],
    ports: &'a mut Ports,
    transmitter: Transmitter<'a>,
}

impl Queues for Backlogs<'_> {
    #[inline(always)]
    fn bytes(&mut self, number: u32) -> Option<u64> {
        let (id, now) = (self.way.link(number), self.now);
        if self.ports.of(id).is_some() {
            return self.ports.backlog(id, now, &mut self.transmitter);
        }
        let link = &self.transmitter.links[id.index()];
        Some(link.backlog_bytes(&self.kinds[link.kind as usize], now))
    }
}

/// The same where no link has a port.
struct Fifos<'a> {
    now: Time,
    way: Links<'a>,
    links: &'a [Link],
    kinds: &'a [LinkKind],
}

impl Queues for Fifos<'_> {
    #[inline(always)]
    fn bytes(&mut self, number: u32) -> Option<u64> {
        let link = &self.links[self.way.link(number).index()];
        Some(link.backlog_bytes(&self.kinds[link.kind as usize], self.now))
    }

    /// Of links that follow each other and are alike, the time until which each is busy says it; a division is needed only if
    /// none is idle.
    #[inline(always)]
    fn shortest(&mut self, links: u32, draw: impl FnOnce(u32) -> u32) -> u32 {
        let Some(first) = self.way.first_of_run() else { return self.shortest_one_by_one(links, draw) };
        let of = &self.links[first.index()..][..links as usize];
        let (number, now) = (of[0].kind, self.now);
        let kind = &self.kinds[number as usize];
        let idle_until = now + kind.longest_without_bytes();
        let (mut soonest, mut idle, mut differ) = (Time::MAX, 0, false);
        for link in of {
            soonest = soonest.min(link.busy_until());
            idle += u32::from(link.busy_until() <= idle_until);
            differ |= link.kind != number;
        }
        if differ {
            return self.shortest_one_by_one(links, draw);
        }
        let (mut latest, mut count) = (idle_until, idle);
        if idle == 0 {
            latest = Time(now.0.saturating_add(kind.longest_with_bytes_of(soonest - now).0));
            count = of.iter().map(|link| u32::from(link.busy_until() <= latest)).sum();
        }
        let mut before = if count == 1 { 0 } else { draw(count) };
        for (number, link) in (0..).zip(of) {
            if link.busy_until() <= latest {
                if before == 0 {
                    return number;
                }
                before -= 1;
            }
        }
        unreachable!("a link that is drawn is one of those counted")
    }
}

impl Egress {
    /// Sends `packet`: routes it at this node and queues it.
    #[inline(always)]
    pub fn send(&mut self, now: Time, packet: &Packet) {
        match self.routes.only_link(self.node) {
            Some(only) => self.send_on(only, now, packet),
            None => self.send_on_one_of_several(now, *packet),
        }
    }

    /// The same, where the node has several links.
    #[inline(never)]
    fn send_on_one_of_several(&mut self, now: Time, mut packet: Packet) {
        let id = self.routes.next_link(self.node, &mut packet);
        self.send_on(id, now, &packet);
    }

    /// Queues `packet`, which this node sends, for link `id`.
    #[inline(always)]
    fn send_on(&mut self, id: LinkId, now: Time, packet: &Packet) {
        match self.trailers.observer {
            None => _ = self.enqueue(id, now, packet),
            Some(_) => self.send_seen(id, now, packet),
        }
    }

    /// The same where the observer is told of each packet.
    #[cold]
    fn send_seen(&mut self, id: LinkId, now: Time, packet: &Packet) {
        if let Some(queued) = self.enqueue(id, now, packet) {
            self.trailers.note_sent(self.node, id, &queued);
        }
    }

    /// Sends `packet` with a trailer.
    pub fn send_with(&mut self, now: Time, mut packet: Packet, trailer: Trailer) {
        self.trailers.attach(&mut packet, trailer);
        self.send(now, &packet);
    }

    /// Sends `packet`, perhaps with a trailer. Returns when it will have left this node: after all that its
    /// port holds now, but for classes that are paused. Packets of high priority that come later may leave before it, and
    /// make it later.
    pub fn send_last(&mut self, now: Time, mut packet: Packet, trailer: Option<Trailer>) -> Time {
        if let Some(trailer) = trailer {
            self.trailers.attach(&mut packet, trailer);
        }
        let id = self.routes.next_link(self.node, &mut packet);
        self.send_on(id, now, &packet);
        let bytes = self.queue(id, now).1 - self.ports.held_by_class(id);
        let kind = &self.kinds[self.links[id.index()].kind as usize];
        now + self.ports.kind(id).unwrap_or(kind).time_of(bytes)
    }

    /// Gives `packet`, which this node will send, a trailer.
    pub fn attach(&mut self, packet: &mut Packet, trailer: Trailer) {
        self.trailers.attach(packet, trailer);
    }

    /// Lets switches write records on `packet`, which this node will send and which has its trailer.
    pub fn ask_for_telemetry(&mut self, packet: &mut Packet) {
        self.trailers.ask(packet);
    }

    /// Lets switches write a digest on `packet`, which this node will send and which has its trailer.
    pub fn ask_for_digest(&mut self, packet: &mut Packet) {
        self.trailers.ask_for_digest(packet);
    }

    /// Lets `packet`, which this node will send and which has its trailer, tell what switches wrote on
    /// `other`, which has just come to this node.
    pub fn tell_telemetry(&mut self, packet: &mut Packet, other: &Packet) {
        self.trailers.tell(packet, other);
    }

    /// What switches wrote on a packet that has just come to this node, or on the packet of which it
    /// tells.
    pub fn telemetry(&self, packet: &Packet) -> Written<'_> {
        self.trailers.written(packet)
    }

    /// A packet that has just come to this node as its host has sent it: `seq` is its own, unless it
    /// has a trailer.
    pub fn as_sent(&self, packet: &Packet) -> Packet {
        self.trailers.untagged(packet)
    }

    /// The trailer of a packet that has just come to this node.
    #[inline]
    pub fn trailer(&self, packet: &Packet) -> Option<&Trailer> {
        self.trailers.of(packet)
    }

    /// Queues a packet that comes alone. Out of line, as whole batches are queued in a loop of
    /// their own.
    #[inline(never)]
    pub(super) fn queue_alone(&mut self, id: LinkId, now: Time, packet: &Packet) {
        self.enqueue(id, now, packet);
    }

    /// Queues the packets of a `chain`, in order; they came at their `arrival`.
    #[inline(never)]
    pub(super) fn queue_chain(&mut self, id: LinkId, chain: Chain<'_>) {
        let mut packets = chain.iter();
        while let Some(packet) = self.fast_path(id, &mut packets) {
            self.slow_path(id, packet.arrival, packet);
        }
    }

    /// The same in a network with ports: a port gets all of them at once, if it can. No other packet comes to the link before `limit`,
    /// when the window ends, and none of these goes back to its sender.
    #[inline]
    pub(super) fn pass_chain_to_port(&mut self, id: LinkId, chain: Chain<'_>, limit: Time) {
        let (ports, mut transmitter) = self.ports();
        if !ports.take_chain(id, chain, limit, &mut transmitter) {
            self.queue_chain(id, chain);
        }
    }

    /// The fast path: the same up to a packet on which thresholds may act, which it returns.
    #[inline(always)]
    fn fast_path<'p>(&mut self, id: LinkId, packets: &mut impl Iterator<Item = &'p Packet>) -> Option<&'p Packet> {
        let Egress { links, kinds, in_flight, .. } = self;
        let link = &mut links[id.index()];
        let kind = &kinds[link.kind as usize];
        packets.find(|packet| match link.enqueue(kind, packet.arrival, packet) {
            Some(arrival) => {
                in_flight.add(id, link, arrival, packet);
                false
            }
            None => true,
        })
    }

    /// Queues a packet for link `id`. Returns it as it was queued here, marked perhaps.
    #[inline(always)]
    pub(super) fn enqueue(&mut self, id: LinkId, now: Time, packet: &Packet) -> Option<Packet> {
        let link = &mut self.links[id.index()];
        match link.enqueue(&self.kinds[link.kind as usize], now, packet) {
            Some(arrival) => {
                self.in_flight.add(id, link, arrival, packet);
                Some(Packet { arrival, ..*packet })
            }
            None => self.slow_path(id, now, packet),
        }
    }

    /// The slow path, of a packet that the link has not taken: to its port, or as thresholds say. Returns it as it was queued here,
    /// marked perhaps.
    #[inline]
    pub(super) fn slow_path(&mut self, id: LinkId, now: Time, packet: &Packet) -> Option<Packet> {
        if self.kinds[self.links[id.index()].kind as usize].thresholds.is_elsewhere() {
            self.pass_to_port(id, now, packet);
            return None;
        }
        self.admit(id, now, packet)
    }

    /// Queues, marks or drops a packet on which thresholds may act. Out of line, so that the fast path stays short.
    #[inline(never)]
    fn admit(&mut self, id: LinkId, now: Time, packet: &Packet) -> Option<Packet> {
        let link = &mut self.links[id.index()];
        let kind = &self.kinds[link.kind as usize];
        let mut packet = *packet;
        match link.admit(kind, &mut self.rare[id.index()], now, &mut packet) {
            Fate::Queued(arrival) => {
                self.in_flight.add(id, link, arrival, &packet);
                return Some(Packet { arrival, ..packet });
            }
            Fate::Dropped => self.dropped(id, now, &packet),
        }
        None
    }

    #[cold]
    #[inline(never)]
    fn dropped(&mut self, id: LinkId, at: Time, packet: &Packet) {
        let link = &self.links[id.index()];
        let loss = PacketLoss { at, link: id, cause: Cause::Full, queued: link.present() };
        let queue = if self.trailers.observer.is_some() { self.queued(id, at) } else { Vec::new() };
        self.trailers.discard(packet, loss, queue);
    }

    /// The packets in the FIFO queue of link `id` at `now`, the oldest first, with the packet in
    /// service. They are looked for among all packets on their way, and those that arrive in this window.
    fn queued(&self, id: LinkId, now: Time) -> Vec<Seen> {
        let wire = self.kinds[self.links[id.index()].kind as usize].delay;
        let is_queued = |link: LinkId, packet: &Packet| link == id && packet.arrival > now + wire;
        let later = self.in_flight.iter().filter(|i| is_queued(i.link, &i.packet));
        let mut queued: Vec<Seen> = later.map(|i| self.trailers.see(&i.packet)).collect();
        queued.extend(
            self.taken.iter().filter(|(link, seen)| is_queued(*link, &seen.packet)).map(|(_, seen)| seen.clone()),
        );
        queued.sort_unstable_by_key(|seen| seen.packet.arrival);
        queued
    }

    /// Gives a packet to the port of its link, which has service events of its own.
    #[inline(never)]
    pub(super) fn pass_to_port(&mut self, id: LinkId, now: Time, packet: &Packet) {
        let (ports, mut transmitter) = self.ports();
        let number = ports.of(id).expect("only links with a port leave the queue to it");
        if let Some((node, mut packet)) = ports.take(number, now, packet, &mut transmitter) {
            // It is for another switch, to which what was written on it means nothing.
            self.trailers.take_tag(&mut packet);
            let back = self.routes.next_link(node, &mut packet);
            self.queue_alone(back, now, &packet);
        }
    }

    /// The ports that are served packet by packet, and the state that they need. It is put together
    /// only where there are such ports, so that other nodes need only registers.
    #[inline]
    pub(super) fn ports(&mut self) -> (&mut Ports, Transmitter<'_>) {
        let Egress { links, in_flight, calendar, trailers, windows, ports, .. } = self;
        (ports, Transmitter { links, in_flight, calendar, trailers, windows: *windows })
    }

    /// The queue of a link that leaves this node: packets, counted as its policy counts, and all
    /// bytes not yet on the wire.
    pub fn queue(&mut self, link: LinkId, now: Time) -> (u32, u64) {
        let (ports, mut transmitter) = self.ports();
        if let Some(queue) = ports.queue(link, now, &mut transmitter) {
            return queue;
        }
        let link = &mut self.links[link.index()];
        let kind = &self.kinds[link.kind as usize];
        (link.queue_packets(kind, now), link.backlog_bytes(kind, now))
    }

    /// The link that a packet takes, which has come to a switch, as `balancer` chooses.
    #[inline(always)]
    pub(super) fn choose<B: Balancer>(&mut self, balancer: &mut B, incoming: &mut Incoming) -> LinkId {
        let Egress { links, kinds, in_flight, calendar, trailers, windows, ports, routes, .. } = self;
        let Incoming { packet, node, link: ingress } = incoming;
        let routes = routes.at(*node);
        let way = match routes.way(packet) {
            Ok(only) => return only,
            Err(links) => links,
        };
        let link = |number| way.link(number);
        let choice = Choice { node: *node, ingress: *ingress, salt: way.salt, links: way.count, link: &link };
        let now = packet.arrival;
        let chosen = if ports.len() == 0 {
            balancer.choose(choice, packet, &mut Fifos { now, way, links, kinds })
        } else {
            let transmitter = Transmitter { links, in_flight, calendar, trailers, windows: *windows };
            balancer.choose(choice, packet, &mut Backlogs { now, way, kinds, ports, transmitter })
        };
        way.link(chosen)
    }

    /// The link that a packet takes, which has come to a switch, as `balancer` steers it.
    pub(super) fn steer<B: Balancer>(&mut self, balancer: &mut B, incoming: &mut Incoming) -> LinkId {
        let Egress { links, kinds, in_flight, calendar, trailers, windows, ports, routes, .. } = self;
        let Incoming { packet, node, link: ingress } = incoming;
        let routes = routes.at(*node);
        if packet.flags.has(Flags::PINNED) {
            return routes.next_link(packet);
        }
        let tag = trailers.tag(packet);
        let transmitter = &mut Transmitter { links, in_flight, calendar, trailers, windows: *windows };
        let now = packet.arrival;
        let mut queue = |id: LinkId| {
            if ports.of(id).is_some() {
                return ports.backlog(id, now, transmitter);
            }
            let link = &transmitter.links[id.index()];
            Some(link.backlog_bytes(&kinds[link.kind as usize], now))
        };
        let (node, ingress) = (*node, *ingress);
        let towards = |host, choose: &mut dyn FnMut(Choice<'_>) -> u32| {
            let links = match routes.towards(host) {
                Ok(only) => return only,
                Err(links) => links,
            };
            let link = |number| links.link(number);
            links.link(choose(Choice { node, ingress, salt: links.salt, links: links.count, link: &link }))
        };
        let arrival = Arrival { node, ingress, salt: routes.salt(), towards: &towards, tag };
        let (link, later) = balancer.steer(arrival, packet, &mut queue);
        match later {
            Some(later) if Some(later) != tag => trailers.set_tag(packet, later),
            None if tag.is_some() => _ = trailers.take_tag(packet),
            _ => {}
        }
        link
    }

    /// Shows `balancer` that a switch sends a packet on over `link`.
    pub(super) fn show<B: Balancer>(&mut self, balancer: &mut B, incoming: &mut Incoming, link: LinkId) {
        let hop = Hop { node: incoming.node, ingress: incoming.link, egress: link };
        balancer.sends(hop, &mut incoming.packet, &mut self.trailers);
    }

    /// Have ports classes of data, so that what waits of one holds no other back?
    pub fn separates_classes(&self) -> bool {
        self.ports.separate()
    }

    /// Do packets wait at `now` at the port of this node that its switch has paused? Of a node with one link. Where ports have
    /// classes, data of this priority. If so, until when at least, whatever comes.
    pub fn held_until(&mut self, now: Time, priority: u8) -> Option<Time> {
        if !self.ports.pause() {
            return None;
        }
        let link = self.routes.only_link(self.node)?;
        let limit = self.limit;
        let (ports, mut transmitter) = self.ports();
        let until = ports.held_until((link, priority), now, &mut transmitter)?;
        Some(until.min(limit))
    }

    /// The counters of a link from this node by `now`, and what it has put on the wire.
    pub fn counters(&mut self, link: LinkId, now: Time) -> (LinkStats, OnWire) {
        self.outcome(link, now)
    }

    /// For how long the port of a link from this node was paused by `now`, if neighbours pause it.
    /// [`Egress::counters`] brings it up to date.
    pub fn paused(&self, link: LinkId, now: Time) -> Option<Time> {
        self.ports.pauses(link, now).map(|stats| stats.paused)
    }

    /// What happened to the packets of the whole network since the last call. It is kept after
    /// [`crate::Network::watch`].
    pub fn take_observed(&mut self) -> Observer {
        self.trailers.observer.as_mut().map(|observer| observer.take()).unwrap_or_default()
    }

    /// See [`crate::Network::link_outcome`].
    pub(super) fn outcome(&mut self, id: LinkId, now: Time) -> (LinkStats, OnWire) {
        let (ports, mut transmitter) = self.ports();
        if let Some(outcome) = ports.outcome(id, now, &mut transmitter) {
            return outcome;
        }
        let (rare, link) = (self.rare[id.index()], &self.links[id.index()]);
        let kind = &self.kinds[link.kind as usize];
        (link.stats(kind, rare), link.on_wire(kind, now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::NodeId;
    use crate::network::Network;
    use crate::packet::Envelope;
    use crate::policy::QueuePolicy;
    use crate::queue_limit::QueueLimit;
    use crate::topology::fat_tree;
    use linkpool_units::{HostId, Rate};
    use proptest::prelude::*;

    proptest! {
        /// Four links up from an edge switch of a fat-tree with k = 8, at 1 Gbit/s: a byte takes 8 ns. Times that differ by less
        /// may be as many bytes or one more. One of the links may be of another kind.
        #[test]
        fn links_that_are_alike_are_compared_by_time_as_by_bytes(
            busy in prop::array::uniform4(0u64..40_000),
            slower in prop::option::of(0usize..4),
        ) {
            let fabric = fat_tree(8, 4, Rate::gbps(1), Time::from_us(1));
            let policy = QueuePolicy::drop_tail(QueueLimit::Packets(9));
            let routes = Arc::new(Routes::new(&fabric, 3));
            let mut network = Network::new(&fabric, policy.clone(), routes.clone(), 60);
            let egress = &mut network.egress;
            let envelope = Envelope::new(HostId::new(fabric.hosts() - 1), 64, 0);
            let mut packet = Packet { envelope, ..Packet::default() };
            let at = routes.at(NodeId::new(fabric.hosts()));
            let way = at.way(&mut packet).expect_err("a choice");
            prop_assert_eq!(way.count, 4);
            egress.kinds.push(LinkKind::new(Rate::gbps(2), Time::ZERO, policy.thresholds));
            for (number, busy) in (0..).zip(busy) {
                let link = &mut egress.links[way.link(number).index()];
                link.belongs_to_port(false); // so that its end can be set
                link.begin(1, Time(1_000_000 + busy));
            }
            if let Some(slower) = slower {
                egress.links[way.link(slower as u32).index()].kind = egress.kinds.len() as u16 - 1;
            }
            let Egress { links, kinds, .. } = egress;
            let mut queues = Fifos { now: Time(1_004_000), way, links, kinds };
            for drawn in 0..4 {
                let (mut by_time, mut by_bytes) = (None, None);
                let draw = |count: u32, seen: &mut Option<u32>| {
                    *seen = Some(count);
                    drawn % count
                };
                let chosen = queues.shortest(4, |count| draw(count, &mut by_time));
                prop_assert_eq!(chosen, queues.shortest_one_by_one(4, |count| draw(count, &mut by_bytes)));
                prop_assert_eq!(by_time, by_bytes);
            }
        }
    }
}
