//! The same network, simulated the plain way: one heap of events, a queue and a server at each port. Slow, and simple enough to be right.

use super::serialisation;
use super::traffic::{Arrival, Results, Scene, answer, has_trailer};
use linkpool_network::{Flags, LinkId, LinkStats, Packet, QueueLimit};
use linkpool_units::Time;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// At one instant: departures, then arrivals by link, then what hosts send by themselves.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Departure(LinkId),
    /// Over this link; the packet is the first of those in flight on it.
    Arrival(LinkId),
    /// The packet of this number.
    Send(u32),
}

#[derive(Clone, Default)]
struct Port {
    waiting: VecDeque<Packet>,
    in_service: Option<Packet>,
    in_flight: VecDeque<Packet>,
    stats: LinkStats,
    sent: u64,
    service_began: Time,
}

pub fn simulate(scene: &Scene) -> Results {
    let mut simulation = Simulation {
        scene,
        ports: vec![Port::default(); scene.fabric.links().len()],
        events: scene.sends.iter().map(|s| Reverse((s.at, Event::Send(s.packet.seq)))).collect(),
        arrivals: vec![Vec::new(); scene.fabric.hosts()],
    };
    simulation.run();
    simulation.results()
}

struct Simulation<'a> {
    scene: &'a Scene,
    ports: Vec<Port>,
    events: BinaryHeap<Reverse<(Time, Event)>>,
    arrivals: Vec<Vec<Arrival>>,
}

impl Simulation<'_> {
    fn run(&mut self) {
        let routes = self.scene.routes();
        while let Some(Reverse((now, event))) = self.events.pop() {
            if now >= self.scene.end {
                return;
            }
            let (node, mut packet) = match event {
                Event::Departure(link) => {
                    self.depart(link, now);
                    continue;
                }
                Event::Arrival(link) => {
                    let packet = self.ports[link as usize].in_flight.pop_front().unwrap();
                    let node = self.scene.fabric.links()[link as usize].to;
                    if packet.dst as u32 != node {
                        (node, packet)
                    } else {
                        let marked = packet.flags.has(Flags::CE);
                        self.arrivals[node as usize].push(Arrival { at: now, number: packet.seq, marked });
                        let Some(answer) = answer(&packet) else { continue };
                        (node, answer)
                    }
                }
                Event::Send(number) => {
                    let send = &self.scene.sends[number as usize];
                    (send.from as u32, send.packet)
                }
            };
            let link = routes.next_link(node, &mut packet);
            self.enqueue(link, now, packet);
        }
    }

    fn enqueue(&mut self, link: LinkId, now: Time, mut packet: Packet) {
        let rules = &self.scene.rules;
        let port = &mut self.ports[link as usize];
        let counted: Vec<u16> = match rules.counts_in_service {
            true => port.in_service.iter().chain(&port.waiting).map(|p| p.size).collect(),
            false => port.waiting.iter().map(|p| p.size).collect(),
        };
        let packets = counted.len() as u32;
        let bytes: u64 = counted.iter().map(|s| *s as u64).sum();
        let full = match rules.limit {
            QueueLimit::Packets(n) => packets >= n,
            QueueLimit::Bytes(n) => bytes + packet.size as u64 > n,
        };
        let above = |length: u64, k: u64| if rules.above { length > k } else { length >= k };
        let over = match rules.mark {
            None => false,
            Some(QueueLimit::Packets(k)) => above(packets as u64, k as u64),
            Some(QueueLimit::Bytes(k)) => above(bytes, k),
        };
        let (syn, fin) = (packet.flags.has(Flags::SYN), packet.flags.has(Flags::FIN));
        let ack = !syn && !fin && !packet.flags.has(Flags::DATA);
        let exempt = rules.exempt.0 && syn || rules.exempt.1 && fin || rules.exempt.2 && ack;
        let ect = packet.flags.has(Flags::ECT);
        if (full || over && !ect && rules.drops_non_ect) && !exempt {
            port.stats.rare.drops += 1;
            port.stats.rare.drop_bytes += packet.size as u64;
            return;
        }
        if over && ect {
            port.stats.rare.marks += !packet.flags.has(Flags::CE) as u64;
            packet.flags = packet.flags.with(Flags::CE);
        }
        port.stats.packets += 1;
        port.stats.bytes += packet.size as u64;
        port.waiting.push_back(packet);
        self.serve(link, now);
        let port = &mut self.ports[link as usize];
        let in_service = rules.counts_in_service as u32;
        port.stats.max_queue = port.stats.max_queue.max(port.waiting.len() as u32 + in_service);
    }

    /// Begins to transmit the next packet if nothing is being transmitted.
    fn serve(&mut self, link: LinkId, now: Time) {
        let port = &mut self.ports[link as usize];
        if port.in_service.is_none()
            && let Some(packet) = port.waiting.pop_front()
        {
            port.in_service = Some(packet);
            port.service_began = now;
            let rate = self.scene.fabric.links()[link as usize].rate;
            self.events.push(Reverse((now + serialisation(rate, packet.size), Event::Departure(link))));
        }
    }

    fn depart(&mut self, link: LinkId, now: Time) {
        let port = &mut self.ports[link as usize];
        let packet = port.in_service.take().unwrap();
        port.sent += packet.size as u64;
        port.in_flight.push_back(packet);
        let delay = self.scene.fabric.links()[link as usize].delay;
        self.events.push(Reverse((now + delay, Event::Arrival(link))));
        self.serve(link, now);
    }

    fn results(self) -> Results {
        let end = self.scene.end;
        let links = self.ports.iter().zip(self.scene.fabric.links()).map(|(p, l)| {
            let on_the_way = p.waiting.len() + p.in_flight.len() + p.in_service.is_some() as usize;
            // A packet in service has been put on the wire in part; half bytes are not counted yet.
            let part =
                p.in_service.map_or(0.0, |_| (end - p.service_began).0 as f64 / serialisation(l.rate, 1).0 as f64);
            (p.stats, p.sent + (part - 0.5).ceil() as u64, on_the_way as u32)
        });
        let on_the_way = self.ports.iter().flat_map(|p| p.waiting.iter().chain(&p.in_flight).chain(&p.in_service));
        let trailers = on_the_way.filter(|packet| has_trailer(packet)).count();
        Results { links: links.collect(), arrivals: self.arrivals, trailers }
    }
}
