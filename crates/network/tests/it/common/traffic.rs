//! Random packets between hosts, some answered, and a handler that writes down what arrives when.

use super::Rules;
use linkpool_network::{
    Cause, Egress, Ended, Envelope, Fabric, Flags, Handler, HostId, Kind, LinkChange, LinkId, LinkStats, Network,
    NodeId, Observer, Packet, Partitions, PauseChange, PauseEvent, PauseStats, QueueLimit, Routes, Routing, Seen,
    Timetable, Trailer, Written, run_partitions,
};
use linkpool_units::Time;
use proptest::prelude::*;
use proptest::sample::Index;
use std::cell::Cell;
use std::collections::{BTreeSet, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

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
    let kinds = prop_oneof![
        4 => Just((Kind::DATA, Flags::ECT)),
        2 => Just((Kind::DATA, Flags::default())),
        1 => Just((Kind::SYN, Flags::default())),
        1 => Just((Kind::FIN, Flags::default())),
        1 => Just((Kind::ACK, Flags::default())),
        2 => Just((Kind::DATA, Flags::ECT | Flags::PRIORITY)),
        1 => Just((Kind::DATA, Flags::PRIORITY)),
        4 => Just((Kind::DATA, Flags::ECT | Flags::TRIMMABLE)),
        4 => Just((Kind::DATA, Flags::TRIMMABLE | Flags::RETURNABLE)),
    ];
    let burst = (0u64..40_000, 0..hosts, 0..hosts - 1, 0u32..3, any::<bool>(), kinds, HEADER..1500, 1usize..30);
    prop::collection::vec(burst, 1..30).prop_map(move |bursts| {
        let mut sends = Vec::new();
        for (at, from, to, entropy, pinned, (kind, flags), size, n) in bursts {
            let to = if to >= from { to + 1 } else { to };
            let flags = flags.with_if(Flags::PINNED, pinned);
            let payload = if kind.has(Kind::DATA) { size - HEADER } else { 0 };
            let packet = Packet {
                envelope: Envelope::new(HostId::new(to), size, payload),
                entropy,
                ack: from as u32,
                endpoint: from as u32,
                flags,
                kind,
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
    (packet.kind.has(Kind::DATA) && !packet.is_returned()).then(|| Packet {
        envelope: Envelope::new(to, 64, 0),
        endpoint: packet.dst().into(),
        entropy: packet.seq % 3,
        seq: packet.seq | ANSWER,
        flags: Flags::default().with_if(Flags::PRIORITY, packet.flags.has(Flags::PRIORITY)),
        kind: Kind::ACK,
        ..Packet::default()
    })
}

/// Is `packet` on a link of the host that has sent it first?
pub fn is_own(fabric: &Fabric, link: LinkId, packet: &Packet) -> bool {
    fabric.links()[link.index()].from == NodeId::from(HostId::from(packet.endpoint))
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
    /// By link whose port neighbours pause: how often and how long.
    pub pauses: Vec<PauseStats>,
    /// Trailers of packets queued or in flight.
    pub trailers: usize,
    /// Packets that came to a node, counted at each.
    pub hops: u64,
    /// What taps showed, in order of link and time.
    pub passed: Vec<Passage>,
    /// What the observer of an undivided network saw.
    pub observed: Observed,
}

/// A packet that came through a link with a tap: when, its number, marked?
pub type Passage = (LinkId, Time, u32, bool);

/// Losses, in order of time and link, and what hosts have sent of their own: link, number, marked?
#[derive(Debug, Default, PartialEq)]
pub struct Observed {
    pub lost: Vec<Lost>,
    pub sent: Vec<(LinkId, u32, bool)>,
}

/// A lost packet, and the packets in the queue, the one in service included.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lost {
    pub at: Time,
    pub link: LinkId,
    pub number: u32,
    pub queue: Vec<u32>,
}

/// A message between hosts that arrived: the host, the time, the number of the packet of which it tells.
pub type Heard = (NodeId, Time, u32);

/// A queue of a switch: the link, the time, packets and bytes.
pub type Look = (LinkId, Time, (u32, u64));

/// How a run goes on and ends, beside its packets.
#[derive(Clone)]
pub struct Terms {
    /// Packets at hosts with which it ends.
    pub goal: u64,
    /// Windows after which progress is told.
    pub every: u64,
    /// Progress stops it when it is told for this time, counted from 1.
    pub stops: usize,
    /// The first host asks that progress be told after each window in which it gets a packet.
    pub asks: bool,
    /// A host that gets data tells the next host, by a message.
    pub tells: bool,
    /// The handler that gets the packet of this number panics.
    pub fails: Option<u32>,
    /// The run pauses at these times, which are in order.
    pub pauses: Vec<Time>,
}

impl Default for Terms {
    /// To the end.
    fn default() -> Terms {
        Terms {
            goal: u64::MAX,
            every: 1000,
            stops: usize::MAX,
            asks: false,
            tells: false,
            fails: None,
            pauses: Vec::new(),
        }
    }
}

/// A run under [`Terms`].
#[derive(Debug, PartialEq)]
pub struct Course {
    pub ended: Ended,
    /// The calls of progress.
    pub told: Vec<Told>,
    /// Packets that hosts have sent.
    pub sent: u64,
    /// In order of time.
    pub heard: Vec<Heard>,
    /// In order of link and time.
    pub looked: Vec<Look>,
    pub results: Results,
}

/// A call of progress: all before this time is said to be over, after so many hops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Told {
    pub over: Time,
    pub hops: u64,
    /// The packets that had come to hosts before that time.
    pub arrived: usize,
}

pub struct Traffic {
    /// By node: what is to be sent, the next one last.
    todo: Vec<Vec<Send>>,
    sent: u64,
    arrivals: Vec<Vec<Arrival>>,
    last_event: Vec<Time>,
    /// The packets for which each stage of prefetching was called; none: endpoints are at hand.
    prefetched: Option<[Cell<u64>; 4]>,
    /// When a packet came to any host of any partition.
    all: Arc<Mutex<Vec<Time>>>,
    terms: Terms,
    /// A message takes so long.
    lookahead: Time,
    messages: Vec<Heard>,
    /// By host: messages that are due.
    due: Vec<BTreeSet<(Time, u32)>>,
    heard: Vec<Heard>,
    /// Progress is to be told.
    is_full: Arc<AtomicBool>,
    passed: Vec<Passage>,
    /// By node: the times at which it is looked at, the next one last.
    looks: Vec<Vec<Time>>,
    /// By node: its links whose queues this partition has.
    links: Vec<Vec<LinkId>>,
    looked: Vec<Look>,
    seen: Observer,
    /// Pauses that it is told of.
    pauses: Vec<PauseChange>,
    /// It sends no more.
    is_over: bool,
}

impl Traffic {
    fn new(fabric: &Fabric, sends: &[Send], terms: &Terms) -> Traffic {
        let mut todo = vec![Vec::new(); fabric.nodes()];
        for send in sends.iter().rev() {
            todo[send.from.index()].push(*send);
        }
        Traffic {
            todo,
            sent: 0,
            arrivals: vec![Vec::new(); fabric.hosts()],
            last_event: vec![Time::ZERO; fabric.nodes()],
            prefetched: None,
            all: Arc::default(),
            terms: terms.clone(),
            lookahead: Time::ZERO,
            messages: Vec::new(),
            due: vec![BTreeSet::new(); fabric.nodes()],
            heard: Vec::new(),
            is_full: Arc::default(),
            passed: Vec::new(),
            looks: vec![Vec::new(); fabric.nodes()],
            links: vec![Vec::new(); fabric.nodes()],
            looked: Vec::new(),
            seen: Observer::default(),
            pauses: Vec::new(),
            is_over: false,
        }
    }

    fn post(&mut self, now: Time, packet: Packet, out: &mut Egress) {
        self.sent += 1;
        if has_trailer(&packet) {
            out.send_with(now, packet, [packet.seq; 12])
        } else {
            out.send(now, &packet)
        }
        self.look(out);
    }

    /// Takes what the observer has seen.
    fn look(&mut self, out: &mut Egress) {
        let Observer { discarded, sent, .. } = out.take_observed();
        self.seen.discarded.extend(discarded);
        self.seen.sent.extend(sent);
    }

    /// What was observed before `end`.
    fn observed(&self, fabric: &Fabric, end: Time) -> Observed {
        let number = |seen: &Seen| seen.trailer.map_or(seen.packet.seq, |trailer| trailer[0]);
        let before = self.seen.discarded.iter().filter(|discarded| discarded.loss.at < end);
        let mut lost: Vec<Lost> = before
            .map(|discarded| {
                let (loss, queue) = (&discarded.loss, discarded.queue.iter().map(number).collect::<Vec<_>>());
                assert_eq!((loss.cause, loss.queued as usize), (Cause::Full, queue.len()));
                Lost { at: loss.at, link: loss.link, number: number(&discarded.packet), queue }
            })
            .collect();
        lost.sort();
        let own = self.seen.sent.iter().filter(|(link, seen)| is_own(fabric, *link, &seen.packet));
        let mut sent: Vec<_> =
            own.map(|(link, seen)| (*link, number(seen), seen.packet.flags.has(Flags::CE))).collect();
        sent.sort();
        Observed { lost, sent }
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

/// What a handler was told of the pauses of `link` by `end`: pauses, those that were over by themselves, and the time for which a
/// class or several were paused.
fn told_of_pauses(told: &[PauseChange], link: LinkId, end: Time) -> (u64, u64, Time) {
    let (mut pauses, mut lapsed, mut paused) = (0, 0, Time::ZERO);
    let (mut closed, mut since) = (BTreeSet::new(), Time::ZERO);
    for change in told.iter().filter(|change| change.link == link) {
        let was_open = closed.is_empty();
        match change.event {
            PauseEvent::Pause => assert!(closed.insert(change.priority), "it was paused: {change:?}"),
            PauseEvent::Refresh => assert!(closed.contains(&change.priority), "it was not paused: {change:?}"),
            PauseEvent::Resume | PauseEvent::Lapse => assert!(closed.remove(&change.priority), "{change:?}"),
        }
        pauses += u64::from(change.event == PauseEvent::Pause);
        lapsed += u64::from(change.event == PauseEvent::Lapse);
        match (was_open, closed.is_empty()) {
            (true, false) => since = change.at,
            (false, true) => paused += change.at - since,
            _ => {}
        }
    }
    (pauses, lapsed, if closed.is_empty() { paused } else { paused + (end - since) })
}

impl Handler for Traffic {
    type Message = u32;

    fn on_pause(&mut self, change: &PauseChange) {
        self.pauses.push(*change);
    }

    fn on_packet(&mut self, host: NodeId, now: Time, packet: &Packet, out: &mut Egress) {
        self.note(host, now);
        let packet = &unpack(packet, out);
        assert!(self.terms.fails != Some(packet.seq), "as it was told to");
        assert_eq!(NodeId::from(packet.dst()), host, "not for this host");
        assert_eq!(packet.arrival, now);
        self.arrivals[host.index()].push(Arrival::of(packet, now));
        self.all.lock().expect("no handler fails").push(now);
        if self.terms.asks && host == NodeId::default() {
            self.is_full.store(true, Ordering::Relaxed);
        }
        if let Some(answer) = answer(packet).filter(|_| !self.is_over) {
            if self.terms.tells {
                let next = NodeId::new((host.index() + 1) % self.arrivals.len());
                self.messages.push((next, now + self.lookahead, packet.seq));
            }
            self.post(now, answer, out);
        }
        self.look(out);
    }

    fn on_timer(&mut self, node: NodeId, now: Time, out: &mut Egress) {
        self.note(node, now);
        if self.looks[node.index()].pop_if(|at| *at == now).is_some() {
            let links = self.links[node.index()].iter();
            self.looked.extend(links.map(|link| (*link, now, out.queue(*link, now))));
            return;
        }
        let due = &mut self.due[node.index()];
        while let Some((_, number)) = due.first().copied().filter(|(at, _)| *at == now) {
            due.pop_first();
            self.heard.push((node, now, number));
        }
        if let Some(send) = self.todo[node.index()].pop_if(|send| send.at == now) {
            self.post(now, send.packet, out);
        }
        self.look(out);
    }

    fn next_timer(&self, node: NodeId) -> Time {
        let look = self.looks[node.index()].last().copied().unwrap_or(Time::MAX);
        let send = self.todo[node.index()].last().map_or(look, |s| s.at.min(look));
        self.due[node.index()].first().map_or(send, |(at, _)| send.min(*at))
    }

    fn take_message(&mut self) -> Option<Heard> {
        self.messages.pop()
    }

    fn sends_messages(&self) -> bool {
        self.terms.tells
    }

    fn on_message(&mut self, host: NodeId, at: Time, number: u32) {
        assert!(at > self.last_event[host.index()], "a message that is late");
        self.due[host.index()].insert((at, number));
    }

    fn on_passing(&mut self, link: LinkId, packet: &Packet, trailer: Option<&Trailer>, _: Written<'_>) {
        let number = trailer.map_or(packet.seq, |trailer| trailer[0]);
        let before = self.passed.iter().rfind(|(other, ..)| *other == link);
        assert!(before.is_none_or(|(_, at, ..)| *at <= packet.arrival), "the packets of a link come in order");
        self.passed.push((link, packet.arrival, number, packet.flags.has(Flags::CE)));
    }

    fn is_full(&self) -> bool {
        self.is_full.load(Ordering::Relaxed)
    }

    fn done(&self) -> u64 {
        self.arrivals.iter().map(|arrivals| arrivals.len() as u64).sum()
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
    /// What is shown of which links.
    pub taps: Vec<(LinkId, Kind)>,
    /// Is there an observer? It needs a network that is not divided.
    pub watched: bool,
    /// Is it kept why ports are paused? That needs a network that is not divided, too.
    pub keeps_pauses: bool,
    /// When switches have timers, at which their queues are looked at; in order of time.
    pub looks: Vec<(Time, NodeId)>,
}

/// `scenes` with taps on links.
pub fn tapped(scenes: impl Strategy<Value = Scene>) -> impl Strategy<Value = Scene> {
    let kinds = prop::sample::select(vec![Kind::ALL, Kind::DATA, Kind::ACK, Kind::SYN | Kind::FIN]);
    (scenes, prop::collection::vec((any::<Index>(), kinds), 1..12)).prop_map(|(mut scene, taps)| {
        let links = scene.fabric.links().len();
        let taps = taps.into_iter().filter(|_| links > 0).map(|(link, kinds)| (LinkId::new(link.index(links)), kinds));
        scene.taps = taps.collect();
        scene
    })
}

/// Scenes on `fabrics` whose queues hold up to some hundreds of packets of several sizes, which come in bursts with pauses in which
/// many of them leave.
pub fn long_queues(fabrics: impl Strategy<Value = Fabric>) -> impl Strategy<Value = Scene> {
    let limit =
        || prop_oneof![(20u32..300).prop_map(QueueLimit::Packets), (10_000u64..150_000).prop_map(QueueLimit::Bytes),];
    let rules = (limit(), prop::option::of(limit()), any::<(bool, bool)>()).prop_map(
        |(limit, mark, (above, counts_in_service))| Rules { limit, mark, above, counts_in_service, ..Rules::default() },
    );
    let sizes = prop::collection::vec(prop::sample::select(vec![HEADER, HEADER, 700, 1462, 9000]), 1..6);
    let bursts = prop::collection::vec((0u64..300_000, 0u64..500, sizes, 20usize..120), 2..8);
    scenes_by_sends(fabrics, rules, move |hosts| {
        (prop::collection::vec((0..hosts, 0..hosts - 1), 8), bursts.clone()).prop_map(move |(ends, bursts)| {
            let mut sends = Vec::new();
            for ((from, to), (at, gap, sizes, n)) in ends.into_iter().zip(bursts) {
                let to = if to >= from { to + 1 } else { to };
                sends.extend((0..n).map(|i| {
                    let size = sizes[i % sizes.len()];
                    let packet = Packet {
                        envelope: Envelope::new(HostId::new(to), size, size - HEADER),
                        entropy: i as u32 % 3,
                        endpoint: from as u32,
                        flags: Flags::ECT,
                        kind: Kind::DATA,
                        ..Packet::default()
                    };
                    Send { at: Time::from_ns(at + gap * i as u64), from: HostId::new(from), packet }
                }));
            }
            sends.sort_by_key(|send| send.at);
            sends
        })
    })
}

/// Scenes on `fabrics` without packets that have no way to go; ports are plain and nothing changes.
pub fn scenes(fabrics: impl Strategy<Value = Fabric>) -> impl Strategy<Value = Scene> {
    scenes_by(fabrics, super::rules())
}

/// Scenes with ports that trim; nothing changes.
pub fn trimming_scenes(fabrics: impl Strategy<Value = Fabric>) -> impl Strategy<Value = Scene> {
    scenes_by(fabrics, super::trimming())
}

/// Scenes whose ports pause their neighbours; nothing changes.
pub fn pausing_scenes(fabrics: impl Strategy<Value = Fabric>) -> impl Strategy<Value = Scene> {
    // Of the bursts that may take the first of several paths, each goes to the first host, but for its own.
    let sends = |hosts| {
        sends(hosts).prop_map(|mut sends| {
            let first = HostId::new(0);
            let meet = sends.iter_mut().filter(|send| send.packet.entropy == 0 && send.from != first);
            meet.for_each(|Send { packet, .. }| {
                packet.envelope = Envelope::new(first, packet.size(), packet.payload());
            });
            sends
        })
    };
    scenes_by_sends(fabrics, super::pausing(), sends)
}

/// Scenes with any ports, on links that change, between reroutes.
pub fn changing_scenes(fabrics: impl Strategy<Value = Fabric>) -> impl Strategy<Value = Scene> {
    let at = || prop_oneof![1 => Just(Time::ZERO), 9 => (0u64..60_000).prop_map(Time::from_ns)];
    let changes = prop::collection::vec((at(), any::<Index>(), super::change()), 0..40);
    let reroutes = prop::collection::vec((at(), prop::collection::vec(any::<Index>(), 0..6)), 0..4);
    let rules = prop_oneof![super::rules(), super::disciplines(), super::trimming()];
    (scenes_by(fabrics, rules), changes, reroutes).prop_map(|(mut scene, changes, reroutes)| {
        let links = scene.fabric.links().len();
        if links > 0 {
            let change = |(at, link, change): (Time, Index, LinkChange)| (at, LinkId::new(link.index(links)), change);
            scene.changes = changes.into_iter().map(change).collect();
            let reroute = |(at, links_down): (Time, Vec<Index>)| {
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
    scenes_by_sends(fabrics, rules, sends)
}

fn scenes_by_sends<S: Strategy<Value = Vec<Send>>>(
    fabrics: impl Strategy<Value = Fabric>,
    rules: impl Strategy<Value = Rules>,
    sends: impl Fn(usize) -> S,
) -> impl Strategy<Value = Scene> {
    let with_sends = move |fabric: Fabric| {
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
        Scene { seed, ..Scene::new(fabric, rules, sends, end) }
    })
}

impl Scene {
    /// `sends` on `fabric`, where nothing changes.
    pub fn new(fabric: Fabric, rules: Rules, sends: Vec<Send>, end: Time) -> Scene {
        Scene {
            fabric,
            rules,
            sends,
            end,
            seed: 1,
            changes: Vec::new(),
            reroutes: Vec::new(),
            routing: Routing::default(),
            taps: Vec::new(),
            watched: false,
            keeps_pauses: false,
            looks: Vec::new(),
        }
    }

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
        let course = self.course(None, &Terms { every: windows, ..Terms::default() });
        assert!(course.told.is_sorted_by(|a, b| a.over <= b.over && a.hops <= b.hops), "the clock goes back");
        course.results
    }

    /// The same, and the packets for which each stage of prefetching was called.
    pub fn run_prefetching(&self) -> (Results, [u64; 4]) {
        let mut runs = self.parts(None, &Terms::default());
        runs[0].1.prefetched = Some(Default::default());
        let course = self.conduct(&mut runs, None, &Terms::default());
        (course.results, runs.swap_remove(0).1.prefetched.unwrap_or_default().map(Cell::into_inner))
    }

    /// Runs it in parts, each on a thread.
    pub fn run_in_parts(&self, parts: Partitions, n: u8) -> Results {
        self.course(Some((parts, n)), &Terms::default()).results
    }

    /// Runs it in so many parts, each on a thread, or as a whole.
    pub fn course(&self, parts: Option<(Partitions, u8)>, terms: &Terms) -> Course {
        let parts = parts.map(|(parts, n)| (Arc::new(parts), n));
        let mut runs = self.parts(parts.clone(), terms);
        self.conduct(&mut runs, parts.map(|(parts, _)| parts).as_deref(), terms)
    }

    /// The networks with their handlers.
    fn parts(&self, parts: Option<(Arc<Partitions>, u8)>, terms: &Terms) -> Vec<(Network, Traffic)> {
        let (parts, n) = parts.unwrap_or_else(|| (Arc::new(Partitions::whole(&self.fabric)), 1));
        let (timetable, all, is_full) = (self.timetable(), Arc::default(), Arc::default());
        let part = |me| {
            let mut network = Network::partition(&self.fabric, self.rules.policy(), timetable.clone(), 64, &parts, me);
            let mut traffic = Traffic::new(&self.fabric, &self.sends, terms);
            (traffic.all, traffic.is_full) = (Arc::clone(&all), Arc::clone(&is_full));
            traffic.lookahead = network.lookahead();
            self.taps.iter().for_each(|(link, flags)| network.tap(*link, *flags));
            if self.watched {
                network.watch(self.fabric.hosts());
            }
            if self.keeps_pauses {
                network.keep_pauses();
            }
            for (at, node) in self.looks.iter().rev().filter(|(_, node)| parts.runs(me, *node)) {
                traffic.looks[node.index()].push(*at);
                let own = self.fabric.links_from(*node).filter(|link| parts.sender(*link) == me);
                traffic.links[node.index()] = own.collect();
            }
            for node in NodeId::first(self.fabric.nodes()) {
                if parts.runs(me, node) {
                    network.wake(node, &traffic);
                } else {
                    traffic.todo[node.index()].clear();
                }
            }
            (network, traffic)
        };
        (0..n).map(part).collect()
    }

    fn conduct(&self, runs: &mut [(Network, Traffic)], parts: Option<&Partitions>, terms: &Terms) -> Course {
        let (all, is_full) = (runs[0].1.all.clone(), runs[0].1.is_full.clone());
        let arrived = |over| all.lock().expect("no handler fails").iter().filter(|at| **at < over).count();
        let mut told = Vec::new();
        let mut run_to = |end| {
            let ended = run_partitions(
                runs.iter_mut().map(|(n, t)| (n, t)).collect(),
                end,
                terms.goal,
                terms.every,
                &mut |over, hops| {
                    is_full.store(false, Ordering::Relaxed);
                    told.push(Told { over, hops, arrived: arrived(over) });
                    told.len() < terms.stops
                },
            );
            let latest = runs.iter().flat_map(|(_, traffic)| &traffic.last_event).max();
            assert!(latest.is_none_or(|at| *at < end), "something at or after the end");
            ended
        };
        terms.pauses.iter().for_each(|pause| _ = run_to(*pause));
        let ended = run_to(self.end);
        for Told { over, arrived: then, .. } in &told {
            assert_eq!(*then, arrived(*over), "all before {over:?} is over");
        }
        let mut results = Results {
            arrivals: vec![Vec::new(); self.fabric.hosts()],
            links: Vec::new(),
            pauses: Vec::new(),
            trailers: 0,
            hops: runs.iter().map(|(network, _)| network.hops()).sum(),
            passed: runs.iter_mut().flat_map(|(_, traffic)| traffic.passed.drain(..)).collect(),
            observed: Observed::default(),
        };
        results.passed.sort();
        for (me, (_, traffic)) in runs.iter_mut().enumerate() {
            assert!(traffic.last_event.iter().all(|t| *t < self.end), "something at or after the end");
            for (host, arrivals) in traffic.arrivals.iter_mut().enumerate() {
                let of_host = parts.map_or(0, |parts| parts.of_host(HostId::new(host)));
                assert!(usize::from(of_host) == me || arrivals.is_empty());
                results.arrivals[host].append(arrivals);
            }
        }
        let in_flight: Vec<Vec<u32>> = runs.iter_mut().map(|(network, _)| network.in_flight(self.end)).collect();
        for id in LinkId::first(self.fabric.links().len()) {
            let sender = parts.map_or(0, |parts| parts.sender(id));
            let (stats, on_wire) = runs[usize::from(sender)].0.link_outcome(id, self.end);
            let (network, traffic) = &runs[usize::from(sender)];
            let pauses = network.pauses(id, self.end);
            if let Some(pauses) = pauses.filter(|_| self.keeps_pauses && !matches!(ended, Ended::Deadlock(..))) {
                let told = told_of_pauses(&traffic.pauses, id, self.end);
                assert_eq!(told, (pauses.pauses, pauses.lapsed, pauses.paused), "what is told of {id:?}");
            }
            results.pauses.extend(pauses);
            results.links.push((stats, on_wire.bytes(), in_flight.iter().map(|counts| counts[id.index()]).sum()));
        }
        results.trailers = runs.iter().map(|(network, _)| network.trailers()).sum();
        let mut heard: Vec<Heard> = runs.iter().flat_map(|(_, traffic)| traffic.heard.iter().copied()).collect();
        heard.sort_by_key(|(host, at, number)| (*at, *host, *number));
        let sent = runs.iter().map(|(_, traffic)| traffic.sent).sum();
        if self.watched {
            results.observed = self.drain(&mut runs[0]);
        }
        let mut looked: Vec<Look> = runs.iter_mut().flat_map(|(_, traffic)| traffic.looked.drain(..)).collect();
        looked.sort();
        Course { ended, told, sent, heard, looked, results }
    }

    /// Takes what the observer has seen since a host looked last: a timer after the end lets the first host look again.
    fn drain(&self, (network, traffic): &mut (Network, Traffic)) -> Observed {
        traffic.terms.tells = false;
        traffic.todo.iter_mut().for_each(Vec::clear);
        traffic.looks.iter_mut().for_each(Vec::clear);
        traffic.is_over = true;
        let later = self.end.max(network.known_until());
        traffic.due.iter_mut().for_each(BTreeSet::clear);
        traffic.due[0].insert((later, 0));
        network.wake(NodeId::default(), traffic);
        network.run_to(later, traffic);
        traffic.observed(&self.fabric, self.end)
    }

    /// `parts`, with switches split by output.
    pub fn splitting(&self, parts: &Partitions) -> Partitions {
        parts.clone().splitting(&self.fabric, self.rules.policy(), &self.timetable())
    }

    /// `parts`, with switches split by output, which run ahead of each other.
    pub fn running_ahead(&self, parts: &Partitions) -> Partitions {
        self.splitting(parts).running_ahead(&self.fabric, self.rules.policy(), &self.timetable())
    }
}
