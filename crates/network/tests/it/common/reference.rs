//! The same network, simulated the plain way: one heap of events, a queue and a server at each
//! port. Slow, and simple enough to be right.

use super::serialisation;
use super::traffic::{Arrival, Lost, Observed, Passage, Results, Scene, answer, has_trailer, is_own};
use linkpool_engine::{Stream, Windows, stream};
use linkpool_network::{
    Flags, Kind, LinkChange, LinkId, LinkStats, Loss, NodeId, Packet, QueueLimit, Red, RedAction, Trimming, tie_rank,
};
use linkpool_units::{Rate, Time};
use rand::Rng;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// At one instant: departures, then changes, then the next transmissions, then arrivals in the
/// order drawn, then what hosts send by themselves.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// Of the transmission of this number.
    Departure(LinkId, u32),
    /// The change of this number.
    LinkChange(usize),
    Serve(LinkId),
    /// By rank among those of the instant, over this link; the packet is the first of those in
    /// flight on it.
    Arrival(u64, LinkId),
    /// The packet of this number.
    Send(u32),
}

/// The state of RED for one queue.
struct RedQueue {
    average: f64,
    count: i32,
    empty_since: Time,
    random: Stream,
}

struct Transmission {
    packet: Packet,
    class: usize,
    lost: bool,
    /// The part of the packet's bits, times picoseconds in a second, that was done at `since`.
    done: u128,
    since: Time,
}

struct Port {
    waiting: [VecDeque<Packet>; 2],
    in_service: Option<Transmission>,
    /// Transmissions begun, or given a new end.
    services: u32,
    in_flight: VecDeque<Packet>,
    stats: LinkStats,
    sent: u64,
    up: bool,
    rate: Rate,
    limit: QueueLimit,
    loss: Loss,
    bit_errors: f64,
    bad: bool,
    losses: Stream,
    red: [RedQueue; 2],
    /// Headers sent since the last data packet, while data waited.
    headers_in_a_row: u32,
    trims: Stream,
}

pub fn simulate(scene: &Scene) -> Results {
    let ports = scene.fabric.links().iter().enumerate().map(|(id, l)| {
        let red = |class| RedQueue {
            average: 0.0,
            count: -1,
            empty_since: Time::ZERO,
            // Without priority there is one class, the first.
            random: stream(scene.seed, "red", 2 * id as u64 + if scene.rules.priority { class } else { 0 }),
        };
        Port {
            waiting: Default::default(),
            in_service: None,
            services: 0,
            in_flight: VecDeque::new(),
            stats: LinkStats::default(),
            sent: 0,
            up: true,
            rate: l.rate,
            limit: scene.rules.limit,
            loss: Loss::NONE,
            bit_errors: 0.0,
            bad: false,
            losses: stream(scene.seed, "loss", id as u64),
            red: [red(0), red(1)],
            headers_in_a_row: 0,
            trims: stream(scene.seed, "trim", id as u64),
        }
    });
    let sends = scene.sends.iter().map(|s| Reverse((s.at, Event::Send(s.packet.seq))));
    let changes = scene.changes.iter().enumerate().map(|(i, c)| Reverse((c.0, Event::LinkChange(i))));
    let mut simulation = Simulation {
        scene,
        ports: ports.collect(),
        events: sends.chain(changes).collect(),
        arrivals: vec![Vec::new(); scene.fabric.hosts()],
        hops: 0,
        passed: Vec::new(),
        observed: Observed::default(),
    };
    simulation.run();
    simulation.results()
}

struct Simulation<'a> {
    scene: &'a Scene,
    ports: Vec<Port>,
    events: BinaryHeap<Reverse<(Time, Event)>>,
    arrivals: Vec<Vec<Arrival>>,
    hops: u64,
    passed: Vec<Passage>,
    observed: Observed,
}

impl Simulation<'_> {
    fn run(&mut self) {
        let (epochs, windows) = (self.scene.epochs(), self.windows());
        while let Some(Reverse((now, event))) = self.events.pop() {
            if now >= self.scene.end {
                return;
            }
            let (node, mut packet) = match event {
                Event::Departure(link, service) => {
                    self.depart(link, service, now);
                    continue;
                }
                Event::LinkChange(i) => {
                    self.change(self.scene.changes[i].1, self.scene.changes[i].2, now);
                    continue;
                }
                Event::Serve(link) => {
                    self.serve(link, now);
                    continue;
                }
                Event::Arrival(_, link) => {
                    let packet = self.ports[link.index()].in_flight.pop_front().unwrap();
                    let node = self.scene.fabric.links()[link.index()].to;
                    self.hops += 1;
                    let mut shown = self.scene.taps.iter().filter(|(tapped, _)| *tapped == link);
                    if shown.any(|(_, kinds)| packet.kind.has_any(*kinds)) {
                        self.passed.push((link, now, packet.seq, packet.flags.has(Flags::CE)));
                    }
                    if NodeId::from(packet.dst()) != node {
                        (node, packet)
                    } else {
                        self.arrivals[node.index()].push(Arrival::of(&packet, now));
                        let Some(answer) = answer(&packet) else { continue };
                        (node, answer)
                    }
                }
                Event::Send(number) => {
                    let send = &self.scene.sends[number as usize];
                    (send.from.into(), send.packet)
                }
            };
            // Routes change between windows.
            let window = windows.start(windows.of(now));
            let (_, routes) = epochs.iter().rfind(|(at, _)| *at <= window).unwrap();
            let link = routes.next_link(node, &mut packet);
            if let Some(mut back) = self.enqueue(link, now, packet) {
                let link = routes.next_link(node, &mut back);
                assert!(self.enqueue(link, now, back).is_none_or(|again| again.dst() != back.dst()), "returned twice");
            }
        }
    }

    /// Of the least time from a node to the next: of the smallest packet, 64 bytes, at the highest
    /// rate that a link ever has.
    fn windows(&self) -> Windows {
        let links = self.scene.fabric.links().iter().enumerate();
        let least = links.map(|(id, l)| {
            // What a link is built with does not count if it is changed from the start.
            let mut rates = vec![(Time::ZERO, l.rate)];
            for (at, link, change) in &self.scene.changes {
                if let (true, LinkChange::Rate(rate)) = (link.index() == id, change) {
                    rates.retain(|(before, _)| *before != Time::ZERO || *at != Time::ZERO);
                    rates.push((*at, *rate));
                }
            }
            rates.iter().map(|(_, rate)| serialisation(*rate, 64)).min().unwrap() + l.delay
        });
        Windows::new(least.min().unwrap_or(Windows::LONGEST).min(Windows::LONGEST))
    }

    /// Packets and bytes of a class that count, with the one in service if `in_service`.
    fn counted(&self, link: LinkId, class: usize, in_service: bool) -> (u32, u64) {
        let port = &self.ports[link.index()];
        let served = port.in_service.iter().filter(|s| in_service && s.class == class).map(|s| &s.packet);
        let sizes: Vec<u64> = served.chain(&port.waiting[class]).map(|p| p.size() as u64).collect();
        (sizes.len() as u32, sizes.iter().sum())
    }

    fn is_over(&self, (packets, bytes): (u32, u64)) -> bool {
        let above = |length: u64, k: u64| if self.scene.rules.above { length > k } else { length >= k };
        match self.scene.rules.mark {
            None => false,
            Some(QueueLimit::Packets(k)) => above(packets as u64, k as u64),
            Some(QueueLimit::Bytes(k)) => above(bytes, k),
        }
    }

    /// May the queue of `class` take `size` bytes more?
    fn has_room(&self, link: LinkId, class: usize, size: u64) -> bool {
        let rules = &self.scene.rules;
        if let Some(shared) = rules.shared {
            let of_switch = self.scene.fabric.links_from(self.scene.fabric.links()[link.index()].from);
            let used: u64 = of_switch.flat_map(|l| [self.counted(l, 0, true).1, self.counted(l, 1, true).1]).sum();
            let threshold = shared.alpha * (shared.bytes - used) as f64;
            return used + size <= shared.bytes && (self.counted(link, class, true).1 as f64) < threshold;
        }
        let (packets, bytes) = self.counted(link, class, rules.counts_in_service);
        match self.ports[link.index()].limit {
            QueueLimit::Packets(n) => packets < n,
            QueueLimit::Bytes(n) => bytes + size <= n,
        }
    }

    /// Figure 2 of Floyd and Jacobson's paper.
    fn red_signals(&mut self, red: &Red, link: LinkId, class: usize, now: Time) -> bool {
        let (packets, bytes) = self.counted(link, class, self.scene.rules.counts_in_service);
        let empty = self.counted(link, class, true).0 == 0;
        let port = &mut self.ports[link.index()];
        let state = &mut port.red[class];
        let (min, max, length) = match (red.min, red.max) {
            (QueueLimit::Packets(min), QueueLimit::Packets(max)) => (f64::from(min), f64::from(max), packets as f64),
            (QueueLimit::Bytes(min), QueueLimit::Bytes(max)) => (min as f64, max as f64, bytes as f64),
            _ => panic!("{red:?}"),
        };
        if red.leaving {
            state.average = length;
        } else if empty {
            let m =
                (now - state.empty_since).0 as f64 / serialisation(port.rate, red.packet.unwrap().0 as u16).0 as f64;
            state.average *= (1.0 - red.weight).powf(m);
        } else {
            state.average += red.weight * (length - state.average);
        }
        let average = state.average;
        if average < min {
            state.count = -1;
            return false;
        }
        let pb = if average < max {
            red.max_probability * (average - min) / (max - min)
        } else if red.gentle {
            red.max_probability + (1.0 - red.max_probability) * (average - max) / max
        } else {
            1.0
        };
        let forced = average >= if red.gentle { 2.0 * max } else { max };
        if !forced && !red.even {
            return state.random.random::<f64>() < pb;
        }
        if !forced {
            state.count += 1;
            let most = 1.0 - state.count as f64 * pb;
            let sure = most <= 0.0;
            if !sure && state.random.random::<f64>() >= pb / most {
                return false;
            }
        }
        state.count = 0;
        true
    }

    /// Queues `packet`, or drops it; returns what goes back to its sender.
    fn enqueue(&mut self, link: LinkId, now: Time, mut packet: Packet) -> Option<Packet> {
        let rules = self.scene.rules;
        if !self.ports[link.index()].up {
            self.ports[link.index()].stats.rare.drops_down += 1;
            return None;
        }
        if let Some(trimming) = rules.trimming {
            let control = packet.flags.has(Flags::TRIMMED) || !packet.kind.has(Kind::DATA);
            let room = self.has_room(link, 1, packet.size() as u64);
            if control || !room && packet.flags.has(Flags::TRIMMABLE) {
                return self.trim(&trimming, link, now, packet);
            }
        }
        let class = if rules.priority && packet.flags.has(Flags::PRIORITY) { 0 } else { 1 };
        let over = match &rules.red {
            Some(red) => !red.leaving && self.red_signals(red, link, class, now),
            None => !rules.marks_at_dequeue && self.is_over(self.counted(link, class, rules.counts_in_service)),
        };
        let full = !self.has_room(link, class, packet.size() as u64);
        let (syn, fin) = (packet.kind.has(Kind::SYN), packet.kind.has(Kind::FIN));
        let ack = !syn && !fin && !packet.kind.has(Kind::DATA);
        let exempt = rules.exempt.0 && syn || rules.exempt.1 && fin || rules.exempt.2 && ack;
        let markable = packet.flags.has(Flags::ECT) && rules.red.is_none_or(|red| red.action == RedAction::Mark);
        let port = &mut self.ports[link.index()];
        if (full || over && !markable && rules.drops_non_ect) && !exempt {
            port.stats.rare.drops += 1;
            port.stats.rare.drop_bytes += packet.size() as u64;
            if self.scene.watched {
                let in_service = port.in_service.iter().map(|service| service.packet.seq);
                let queue = in_service.chain(port.waiting[class].iter().map(|waiting| waiting.seq)).collect();
                self.observed.lost.push(Lost { at: now, link, number: packet.seq, queue });
            }
            return None;
        }
        if over && markable {
            port.stats.rare.marks += !packet.flags.has(Flags::CE) as u64;
            packet.flags = packet.flags.with(Flags::CE);
        }
        port.stats.packets += 1;
        port.stats.bytes += packet.size() as u64;
        port.waiting[class].push_back(packet);
        if self.scene.watched && is_own(&self.scene.fabric, link, &packet) {
            self.observed.sent.push((link, packet.seq, packet.flags.has(Flags::CE)));
        }
        self.serve(link, now);
        let length = self.counted(link, class, rules.counts_in_service).0;
        let port = &mut self.ports[link.index()];
        port.stats.max_queue = port.stats.max_queue.max(length);
        None
    }

    /// What has no payload, or no room for it: NDP, section 3.1. Returns what goes back to its
    /// sender.
    fn trim(&mut self, trimming: &Trimming, link: LinkId, now: Time, mut packet: Packet) -> Option<Packet> {
        let over = self.is_over(self.counted(link, 1, self.scene.rules.counts_in_service));
        let from_host = (self.scene.fabric.links()[link.index()].from.index()) < self.scene.fabric.hosts();
        let limit = self.ports[link.index()].limit;
        let counted = self.counted(link, 1, self.scene.rules.counts_in_service);
        let port = &mut self.ports[link.index()];
        let is_data = packet.kind.has(Kind::DATA) && !packet.flags.has(Flags::TRIMMED);
        if is_data {
            if over && packet.flags.has(Flags::ECT) {
                port.stats.rare.marks += !packet.flags.has(Flags::CE) as u64;
                packet.flags = packet.flags.with(Flags::CE);
            }
            let tail_goes = port.trims.random::<f64>() >= trimming.trim_arriving;
            let fits = |tail: &Packet| match limit {
                QueueLimit::Packets(n) => counted.0 <= n,
                QueueLimit::Bytes(n) => counted.1 - tail.size() as u64 + packet.size() as u64 <= n,
            };
            if tail_goes
                && let Some(tail) = port.waiting[1].back_mut()
                && tail.flags.has(Flags::TRIMMABLE)
                && fits(tail)
            {
                port.stats.bytes = port.stats.bytes + packet.size() as u64 - tail.size() as u64;
                std::mem::swap(tail, &mut packet);
            }
            port.stats.rare.trims += 1;
            packet.envelope = packet.envelope.with_size(packet.size() - packet.payload());
            packet.flags = packet.flags.with(Flags::TRIMMED);
        }
        let (packets, bytes) = self.counted(link, 0, false);
        let fits = match trimming.headers.unwrap() {
            QueueLimit::Packets(n) => packets < n,
            QueueLimit::Bytes(n) => bytes + packet.size() as u64 <= n,
        };
        let port = &mut self.ports[link.index()];
        if fits {
            port.stats.packets += 1;
            port.stats.bytes += packet.size() as u64;
            port.waiting[0].push_back(packet);
            self.serve(link, now);
            return None;
        }
        if trimming.return_to_sender && !from_host && packet.flags.has(Flags::TRIMMED | Flags::RETURNABLE) {
            port.stats.rare.returns += 1;
            return Some(packet.returned());
        }
        port.stats.rare.drops += 1;
        port.stats.rare.drop_bytes += packet.size() as u64;
        None
    }

    /// The class that is served next.
    fn next_class(&mut self, link: LinkId) -> Option<usize> {
        let trimming = self.scene.rules.trimming;
        let port = &mut self.ports[link.index()];
        let waits = [0, 1].map(|class| !port.waiting[class].is_empty());
        let class = match (waits, trimming) {
            ([false, false], _) => return None,
            ([true, true], Some(trimming)) => usize::from(port.headers_in_a_row == trimming.share),
            ([true, _], _) => 0,
            ([false, true], _) => 1,
        };
        port.headers_in_a_row = if class == 1 { 0 } else { port.headers_in_a_row + u32::from(waits[1]) };
        Some(class)
    }

    /// Begins to transmit the next packet if nothing is being transmitted.
    fn serve(&mut self, link: LinkId, now: Time) {
        if self.ports[link.index()].in_service.is_some() {
            return;
        }
        let Some(class) = self.next_class(link) else { return };
        let port = &mut self.ports[link.index()];
        let mut packet = port.waiting[class].pop_front().unwrap();
        let lost = port.loses_next(packet.size());
        port.in_service = Some(Transmission { packet, class, lost, done: 0, since: now });
        let rules = self.scene.rules;
        let marks = packet.flags.has(Flags::ECT)
            && match &rules.red {
                Some(red) => red.leaving && self.red_signals(red, link, class, now),
                None => rules.marks_at_dequeue && self.is_over(self.counted(link, class, rules.counts_in_service)),
            };
        if marks {
            let port = &mut self.ports[link.index()];
            port.stats.rare.marks += !packet.flags.has(Flags::CE) as u64;
            packet.flags = packet.flags.with(Flags::CE);
            port.in_service.as_mut().unwrap().packet = packet;
        }
        self.expect_departure(link);
    }

    fn expect_departure(&mut self, link: LinkId) {
        let port = &mut self.ports[link.index()];
        if let Some(service) = &port.in_service {
            port.services += 1;
            let left = work(service.packet.size()) - service.done;
            let ends = service.since + Time(left.div_ceil(port.rate.0 as u128) as u64);
            self.events.push(Reverse((ends, Event::Departure(link, port.services))));
        }
    }

    fn depart(&mut self, link: LinkId, service: u32, now: Time) {
        let port = &mut self.ports[link.index()];
        if port.services != service {
            return;
        }
        let Transmission { packet, class, lost, .. } = port.in_service.take().unwrap();
        port.red[class].empty_since = now;
        port.sent += packet.size() as u64;
        if lost {
            port.stats.rare.drops_loss += 1;
        } else {
            port.in_flight.push_back(packet);
            let delay = self.scene.fabric.links()[link.index()].delay;
            let at = now + delay;
            self.events.push(Reverse((at, Event::Arrival(tie_rank(self.scene.seed, at, link), link))));
        }
        self.events.push(Reverse((now, Event::Serve(link))));
    }

    fn change(&mut self, link: LinkId, change: LinkChange, now: Time) {
        let port = &mut self.ports[link.index()];
        match change {
            LinkChange::Up(true) => port.up = true,
            LinkChange::Up(false) => {
                port.up = false;
                port.services += 1;
                let in_service = port.in_service.take().map(|s| (s.class, s.packet));
                let waiting =
                    (0..2).flat_map(|c| std::mem::take(&mut port.waiting[c]).into_iter().map(move |p| (c, p)));
                let waiting: Vec<_> = waiting.collect();
                for (class, packet) in in_service.into_iter().chain(waiting) {
                    port.stats.rare.drops_down += 1;
                    port.stats.packets -= 1;
                    port.stats.bytes -= packet.size() as u64;
                    port.red[class].empty_since = now;
                }
            }
            LinkChange::Rate(rate) => {
                if let Some(service) = &mut port.in_service {
                    service.done += (now - service.since).0 as u128 * port.rate.0 as u128;
                    service.since = now;
                }
                port.rate = rate;
                self.expect_departure(link);
            }
            LinkChange::Limit(limit) => port.limit = limit,
            LinkChange::Loss(loss) => (port.loss, port.bad) = (loss, false),
            LinkChange::BitErrors(rate) => port.bit_errors = rate,
        }
    }

    fn results(self) -> Results {
        let end = self.scene.end;
        let links = self.ports.iter().map(|p| {
            let waiting = p.waiting[0].len() + p.waiting[1].len();
            let in_flight = waiting + p.in_flight.len() + p.in_service.is_some() as usize;
            // A packet in service has been put on the wire in part; half bytes are not counted yet.
            let part = p
                .in_service
                .as_ref()
                .map_or(0.0, |s| (s.done + (end - s.since).0 as u128 * p.rate.0 as u128) as f64 / work(1) as f64);
            (p.stats, p.sent + (part - 0.5).ceil() as u64, in_flight as u32)
        });
        let in_flight = self.ports.iter().flat_map(|p| {
            p.waiting.iter().flatten().chain(&p.in_flight).chain(p.in_service.as_ref().map(|s| &s.packet))
        });
        let trailers = in_flight.filter(|packet| has_trailer(packet)).count();
        let (links, Simulation { arrivals, hops, mut passed, mut observed, .. }) = (links.collect(), self);
        passed.sort();
        observed.lost.sort();
        observed.sent.sort();
        Results { links, arrivals, pauses: Vec::new(), trailers, hops, passed, observed }
    }
}

impl Port {
    fn loses_next(&mut self, size: u16) -> bool {
        let (loss, change) =
            if self.bad { (self.loss.in_bad, self.loss.to_good) } else { (self.loss.in_good, self.loss.to_bad) };
        let mut happens = |p: f64| p > 0.0 && self.losses.random::<f64>() < p;
        let lost = happens(loss);
        self.bad ^= happens(change);
        // Any of its bits is wrong.
        lost | happens(1.0 - (1.0 - self.bit_errors).powi(8 * i32::from(size)))
    }
}

/// Bits to send, times the picoseconds in a second: what a rate does in so many picoseconds is
/// their product.
fn work(size: u16) -> u128 {
    size as u128 * 8_000_000_000_000
}
