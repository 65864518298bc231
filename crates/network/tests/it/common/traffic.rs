//! Random packets between hosts, some answered, and a handler that writes down what arrives when.

use super::Rules;
use linkpool_network::{
    Egress, Ended, Envelope, Fabric, Flags, Handler, HostId, LinkChange, LinkId, LinkStats, Network, NodeId, Packet,
    Partitions, Routes, Routing, Timetable, run_partitions,
};
use linkpool_units::Time;
use proptest::prelude::*;
use std::cell::Cell;
use std::collections::HashSet;
use std::sync::Arc;

/// A packet to be sent; its place in the list is its number.
#[derive(Clone, Copy, Debug)]
pub struct Send {
    pub at: Time,
    pub from: HostId,
    pub packet: Packet,
}

/// Answers carry the number of what they answer, and this.
pub const ANSWER: u32 = 1 << 31;

/// Of a packet without its payload; what has no payload is all header.
pub const HEADER: u16 = 64;

/// Packets in bursts, with the numbers of their lists in `seq`, their senders in `endpoint` and
/// `ack`.
pub fn sends(hosts: usize) -> impl Strategy<Value = Vec<Send>> {
    let flags = prop_oneof![
        4 => Just(Flags::DATA | Flags::ECT),
        2 => Just(Flags::DATA),
        1 => Just(Flags::SYN),
        1 => Just(Flags::FIN),
        1 => Just(Flags::ACK),
        2 => Just(Flags::DATA | Flags::ECT | Flags::PRIORITY),
        1 => Just(Flags::DATA | Flags::PRIORITY),
        4 => Just(Flags::DATA | Flags::ECT | Flags::TRIMMABLE),
        4 => Just(Flags::DATA | Flags::TRIMMABLE | Flags::RETURNABLE),
    ];
    let burst = (0u64..40_000, 0..hosts, 0..hosts - 1, 0u32..3, any::<bool>(), flags, HEADER..1500, 1usize..30);
    prop::collection::vec(burst, 1..30).prop_map(move |bursts| {
        let mut sends = Vec::new();
        for (at, from, to, entropy, pinned, flags, size, n) in bursts {
            let to = if to >= from { to + 1 } else { to };
            let flags = flags.with_if(Flags::PINNED, pinned);
            let payload = if flags.has(Flags::DATA) { size - HEADER } else { 0 };
            let packet = Packet {
                envelope: Envelope::new(HostId::new(to), size, payload),
                entropy,
                ack: from as u32,
                endpoint: from as u32,
                flags,
                ..Packet::default()
            };
            let send = |i| Send { at: Time::from_ns(at + 50 * i as u64), from: HostId::new(from), packet };
            sends.extend((0..n).map(send));
        }
        sends.sort_by_key(|s| s.at);
        sends
    })
}

/// The answer to `packet`: an ACK back to its sender, if it carries data, or did before it was
/// trimmed.
pub fn answer(packet: &Packet) -> Option<Packet> {
    let to = HostId::from(packet.endpoint);
    (packet.flags.has(Flags::DATA) && !packet.is_returned()).then(|| Packet {
        envelope: Envelope::new(to, 64, 0),
        endpoint: packet.dst().into(),
        entropy: packet.seq % 3,
        seq: packet.seq | ANSWER,
        flags: Flags::ACK.with_if(Flags::PRIORITY, packet.flags.has(Flags::PRIORITY)),
        ..Packet::default()
    })
}

/// A packet at its destination.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Arrival {
    pub at: Time,
    pub number: u32,
    pub marked: bool,
    pub trimmed: bool,
    pub returned: bool,
}

impl Arrival {
    pub fn of(packet: &Packet, at: Time) -> Arrival {
        let has = |flag| packet.flags.has(flag);
        Arrival {
            at,
            number: packet.seq,
            marked: has(Flags::CE),
            trimmed: has(Flags::TRIMMED),
            returned: packet.is_returned(),
        }
    }
}

/// What came out of a simulation.
#[derive(Debug, PartialEq)]
pub struct Results {
    /// By host, in the order in which they were handed over.
    pub arrivals: Vec<Vec<Arrival>>,
    /// By link: counters, bytes on the wire by the end, packets queued or in flight.
    pub links: Vec<(LinkStats, u64, u32)>,
    /// Trailers of packets queued or in flight.
    pub trailers: usize,
}

#[derive(Clone)]
pub struct Traffic {
    /// By node: what is to be sent, the next one last.
    todo: Vec<Vec<Send>>,
    arrivals: Vec<Vec<Arrival>>,
    last_event: Vec<Time>,
    /// The packets for which each stage of prefetching was called; none: endpoints are at hand.
    prefetched: Option<[Cell<u64>; 4]>,
}

impl Traffic {
    fn new(fabric: &Fabric, sends: &[Send]) -> Traffic {
        let mut todo = vec![Vec::new(); fabric.nodes()];
        for send in sends.iter().rev() {
            todo[send.from.index()].push(*send);
        }
        Traffic {
            todo,
            arrivals: vec![Vec::new(); fabric.hosts()],
            last_event: vec![Time::ZERO; fabric.nodes()],
            prefetched: None,
        }
    }

    /// Time goes forward at each node.
    fn note(&mut self, node: NodeId, now: Time) {
        assert!(now >= self.last_event[node.index()], "node {node:?} goes back in time");
        self.last_event[node.index()] = now;
    }
}

/// Packets with odd numbers carry them in a trailer.
pub fn has_trailer(packet: &Packet) -> bool {
    packet.seq % 2 == 1
}

fn post(now: Time, packet: Packet, out: &mut Egress) {
    if has_trailer(&packet) { out.send_with(now, packet, [packet.seq; 12]) } else { out.send(now, &packet) }
}

/// `packet` with its number where [`post`] was told it.
fn unpack(packet: &Packet, out: &Egress) -> Packet {
    let Some(trailer) = out.trailer(packet) else {
        return *packet;
    };
    assert!(trailer.iter().all(|n| *n == trailer[0]), "a trailer in pieces: {trailer:?}");
    let packet = Packet { seq: trailer[0], ..*packet };
    assert!(has_trailer(&packet), "another packet's trailer");
    packet
}

impl Handler for Traffic {
    type Message = ();

    fn on_packet(&mut self, host: NodeId, now: Time, packet: &Packet, out: &mut Egress) {
        self.note(host, now);
        let packet = &unpack(packet, out);
        assert_eq!(NodeId::from(packet.dst()), host, "not for this host");
        assert_eq!(packet.arrival, now);
        self.arrivals[host.index()].push(Arrival::of(packet, now));
        if let Some(answer) = answer(packet) {
            post(now, answer, out);
        }
    }

    fn on_timer(&mut self, node: NodeId, now: Time, out: &mut Egress) {
        self.note(node, now);
        let send = self.todo[node.index()].pop().expect("nothing was due");
        assert_eq!(send.at, now);
        post(now, send.packet, out);
    }

    fn next_timer(&self, node: NodeId) -> Time {
        self.todo[node.index()].last().map_or(Time::MAX, |s| s.at)
    }

    fn sends_messages(&self) -> bool {
        false
    }

    fn endpoint_bytes(&self) -> usize {
        self.prefetched.as_ref().map_or(0, |_| usize::MAX)
    }

    fn prefetch(&self, _packet: &Packet, stage: usize) {
        let counts = self.prefetched.as_ref().expect("endpoints are at hand");
        counts[stage - 1].set(counts[stage - 1].get() + 1);
    }
}

/// Everything that a simulation needs.
#[derive(Clone, Debug)]
pub struct Scene {
    pub fabric: Fabric,
    pub rules: Rules,
    pub sends: Vec<Send>,
    pub end: Time,
    pub seed: u64,
    /// Of links, in order of time.
    pub changes: Vec<(Time, LinkId, LinkChange)>,
    /// From then on packets avoid these links.
    pub reroutes: Vec<(Time, HashSet<LinkId>)>,
    pub routing: Routing,
}

/// Scenes on `fabrics` without packets that have no way to go; ports are plain and nothing changes.
pub fn scenes(fabrics: impl Strategy<Value = Fabric>) -> impl Strategy<Value = Scene> {
    scenes_by(fabrics, super::rules())
}

/// Scenes with ports that trim; nothing changes.
pub fn trimming_scenes(fabrics: impl Strategy<Value = Fabric>) -> impl Strategy<Value = Scene> {
    scenes_by(fabrics, super::trimming())
}

/// Scenes with any ports, on links that change, between reroutes.
pub fn changing_scenes(fabrics: impl Strategy<Value = Fabric>) -> impl Strategy<Value = Scene> {
    let at = || prop_oneof![1 => Just(Time::ZERO), 9 => (0u64..60_000).prop_map(Time::from_ns)];
    let changes = prop::collection::vec((at(), any::<prop::sample::Index>(), super::change()), 0..40);
    let reroutes = prop::collection::vec((at(), prop::collection::vec(any::<prop::sample::Index>(), 0..6)), 0..4);
    let rules = prop_oneof![super::rules(), super::disciplines(), super::trimming()];
    (scenes_by(fabrics, rules), changes, reroutes).prop_map(|(mut scene, changes, reroutes)| {
        let links = scene.fabric.links().len();
        if links > 0 {
            let change = |(at, link, change): (Time, prop::sample::Index, LinkChange)| {
                (at, LinkId::new(link.index(links)), change)
            };
            scene.changes = changes.into_iter().map(change).collect();
            let reroute = |(at, links_down): (Time, Vec<prop::sample::Index>)| {
                (at, links_down.into_iter().map(|l| LinkId::new(l.index(links))).collect())
            };
            scene.reroutes = reroutes.into_iter().map(reroute).collect();
        }
        scene.changes.sort_by_key(|(at, ..)| *at);
        scene.reroutes.sort_by_key(|(at, _)| *at);
        scene
    })
}

fn scenes_by(
    fabrics: impl Strategy<Value = Fabric>,
    rules: impl Strategy<Value = Rules>,
) -> impl Strategy<Value = Scene> {
    let with_sends = |fabric: Fabric| {
        let sends = sends(fabric.hosts());
        (Just(fabric), sends)
    };
    let end = prop_oneof![3 => Just(Time::from_ms(50)), 1 => (1u64..100_000).prop_map(Time::from_ns)];
    (fabrics.prop_flat_map(with_sends), rules, end, any::<u64>()).prop_map(|((fabric, mut sends), rules, end, seed)| {
        let routes = Routes::new(&fabric, seed);
        sends.retain(|s| {
            routes.reachable(&fabric, s.from, s.packet.dst()) && routes.reachable(&fabric, s.packet.dst(), s.from)
        });
        for (i, s) in sends.iter_mut().enumerate() {
            s.packet.seq = i as u32;
            if s.packet.flags.has(Flags::PINNED) {
                s.packet.entropy = super::pinned(&fabric, &routes, s.from, s.packet.dst(), s.packet.entropy).entropy;
            }
        }
        Scene {
            fabric,
            rules,
            sends,
            end,
            seed,
            changes: Vec::new(),
            reroutes: Vec::new(),
            routing: Routing::default(),
        }
    })
}

impl Scene {
    pub fn routes(&self) -> Arc<Routes> {
        self.routes_without(&HashSet::new())
    }

    fn routes_without(&self, down: &HashSet<LinkId>) -> Arc<Routes> {
        Arc::new(Routes::with(&self.fabric, self.seed, &self.routing, down))
    }

    /// Routes from each time on.
    pub fn epochs(&self) -> Vec<(Time, Arc<Routes>)> {
        let avoiding = |(at, down): &(Time, HashSet<LinkId>)| (*at, self.routes_without(down));
        std::iter::once((Time::ZERO, self.routes())).chain(self.reroutes.iter().map(avoiding)).collect()
    }

    fn timetable(&self) -> Timetable {
        let mut timetable = Timetable { seed: self.seed, routes: self.epochs(), ..self.routes().into() };
        for (at, link, change) in &self.changes {
            timetable.links.entry(*link).or_default().push((*at, *change));
        }
        timetable
    }

    /// Runs it, and looks at the clock after each `windows` windows.
    pub fn run(&self, windows: u64) -> Results {
        self.run_with(windows, &mut Traffic::new(&self.fabric, &self.sends))
    }

    /// The same, and the packets for which each stage of prefetching was called.
    pub fn run_prefetching(&self) -> (Results, [u64; 4]) {
        let mut traffic = Traffic::new(&self.fabric, &self.sends);
        traffic.prefetched = Some(Default::default());
        let results = self.run_with(1000, &mut traffic);
        (results, traffic.prefetched.unwrap_or_default().map(Cell::into_inner))
    }

    fn run_with(&self, windows: u64, traffic: &mut Traffic) -> Results {
        let mut network = Network::new(&self.fabric, self.rules.policy(), self.timetable(), 64);
        for node in NodeId::first(self.fabric.nodes()) {
            network.wake(node, traffic);
        }
        let mut clock = (Time::ZERO, 0);
        let parts = vec![(&mut network, &mut *traffic)];
        let ended = run_partitions(parts, self.end, u64::MAX, windows, &mut |now, hops| {
            assert!(now >= clock.0 && hops >= clock.1, "the clock goes back");
            clock = (now, hops);
            true
        });
        let ended = match ended {
            Ended::End => self.end,
            Ended::Silent(at) => at,
            Ended::Done(_) | Ended::Stopped => unreachable!("nobody told it to"),
        };
        assert!(traffic.last_event.iter().all(|t| *t < self.end), "something at or after the end");
        let at = ended.max(self.end);
        let links = LinkId::first(self.fabric.links().len()).zip(network.on_the_way(at)).map(|(id, on_the_way)| {
            let (stats, sent) = network.link_outcome(id, at);
            (stats, sent, on_the_way)
        });
        Results {
            links: links.collect(),
            arrivals: std::mem::take(&mut traffic.arrivals),
            trailers: network.trailers(),
        }
    }

    /// `parts`, with switches split by output.
    pub fn splitting(&self, parts: &Partitions) -> Partitions {
        parts.clone().splitting(&self.fabric, self.rules.policy(), &self.timetable())
    }

    /// `parts`, with switches split by output, which run ahead of each other.
    pub fn running_ahead(&self, parts: &Partitions) -> Partitions {
        self.splitting(parts).running_ahead(&self.fabric, self.rules.policy(), &self.timetable())
    }

    /// Runs it in parts, each on a thread.
    pub fn run_in_parts(&self, parts: Partitions, n: u8) -> Results {
        let (timetable, parts) = (self.timetable(), Arc::new(parts));
        let mut runs: Vec<(Network, Traffic)> = (0..n)
            .map(|me| {
                let mut network =
                    Network::partition(&self.fabric, self.rules.policy(), timetable.clone(), 64, &parts, me);
                let mut traffic = Traffic::new(&self.fabric, &self.sends);
                for node in NodeId::first(self.fabric.nodes()) {
                    if parts.runs(me, node) {
                        network.wake(node, &traffic);
                    } else {
                        traffic.todo[node.index()].clear();
                    }
                }
                (network, traffic)
            })
            .collect();
        let ended =
            run_partitions(runs.iter_mut().map(|(n, t)| (n, t)).collect(), self.end, u64::MAX, 1000, &mut |_, _| true);
        assert_ne!(ended, Ended::Stopped);
        let mut results = Results { arrivals: vec![Vec::new(); self.fabric.hosts()], links: Vec::new(), trailers: 0 };
        for (me, (_, traffic)) in runs.iter_mut().enumerate() {
            for (host, arrivals) in traffic.arrivals.iter_mut().enumerate() {
                assert!(usize::from(parts.of_host(HostId::new(host))) == me || arrivals.is_empty());
                results.arrivals[host].append(arrivals);
            }
        }
        let on_the_way: Vec<Vec<u32>> = runs.iter_mut().map(|(network, _)| network.on_the_way(self.end)).collect();
        for id in LinkId::first(self.fabric.links().len()) {
            let (stats, sent) = runs[usize::from(parts.sender(id))].0.link_outcome(id, self.end);
            results.links.push((stats, sent, on_the_way.iter().map(|counts| counts[id.index()]).sum()));
        }
        results.trailers = runs.iter().map(|(network, _)| network.trailers()).sum();
        results
    }
}
