//! What a handler is shown for captures and traces: packets that pass, packets that were sent, and
//! those that were lost.

use crate::common::host;
use linkpool_network::topology::{Generator, ManyToOne};
use linkpool_network::{
    Cause, Egress, Envelope, Fabric, Flags, Handler, Kind, LinkChange, LinkId, Network, NodeId, Observer, Order,
    Packet, QueueLimit, QueuePolicy, Routes, Timetable, Trimming, run_partitions,
};
use linkpool_units::{Rate, Time};
use std::sync::Arc;

const S1: NodeId = NodeId::new(0);
const SWITCH: NodeId = NodeId::new(2);

/// S1, R and a switch: 10 Gbit/s and 2 us a link. A packet of 64 B needs 2,051.2 ns to the next
/// node, so windows are as long.
fn fabric() -> Fabric {
    ManyToOne { senders: 1, rate: Rate::gbps(10), delay: Time::from_us(2) }.fabric()
}

fn network(policy: QueuePolicy) -> Network {
    let fabric = fabric();
    let routes = Arc::new(Routes::new(&fabric, 1));
    Network::new(&fabric, policy, routes, 64)
}

/// The links from S1 to the switch, and from there to R.
fn links() -> (LinkId, LinkId) {
    let fabric = fabric();
    let link = |from, to| fabric.link(from, to).unwrap();
    (link(S1, SWITCH), link(SWITCH, NodeId::new(1)))
}

fn packet(seq: u32, size: u16, kind: Kind) -> Packet {
    Packet { envelope: Envelope::new(host(1), size, size - 64), seq, kind, ..Packet::default() }
}

/// Sends packets from S1, has a timer at the switch, and notes what it is shown.
#[derive(Default)]
struct Watcher {
    /// The last first.
    sends: Vec<(Time, Vec<Packet>)>,
    switch_timer: Option<Time>,
    passed: Vec<(LinkId, u32, Time)>,
    observed: Vec<Observer>,
    arrived: Vec<u32>,
}

impl Handler for Watcher {
    type Message = ();

    fn on_packet(&mut self, _: NodeId, _: Time, packet: &Packet, out: &mut Egress) {
        self.arrived.push(packet.seq);
        self.observed.push(out.take_observed());
    }

    fn on_timer(&mut self, node: NodeId, now: Time, out: &mut Egress) {
        if node == SWITCH {
            self.switch_timer = None;
            return;
        }
        let (_, packets) = self.sends.pop().unwrap();
        packets.into_iter().for_each(|packet| out.send(now, &packet));
    }

    fn next_timer(&self, node: NodeId) -> Time {
        match node {
            S1 => self.sends.last().map_or(Time::MAX, |(at, _)| *at),
            SWITCH => self.switch_timer.unwrap_or(Time::MAX),
            _ => Time::MAX,
        }
    }

    fn on_passing(
        &mut self,
        link: LinkId,
        packet: &Packet,
        _: Option<&linkpool_network::Trailer>,
        _: linkpool_network::Written<'_>,
    ) {
        self.passed.push((link, packet.seq, packet.arrival));
    }
}

fn run(mut network: Network, sends: Vec<(Time, Vec<Packet>)>, switch_timer: Option<Time>) -> Watcher {
    let mut watcher = Watcher { sends: sends.into_iter().rev().collect(), switch_timer, ..Watcher::default() };
    network.wake(S1, &watcher);
    if switch_timer.is_some() {
        network.wake(SWITCH, &watcher);
    }
    run_partitions(vec![(&mut network, &mut watcher)], Time::from_us(50), u64::MAX, 1000, &mut |_, _| true);
    watcher
}

fn fifo() -> QueuePolicy {
    QueuePolicy::drop_tail(QueueLimit::Packets(100))
}

/// 64, 2,500 and 64 B are 51.2, 2,000 and 51.2 ns: the packets arrive after 2,051.2 ns, which is a
/// window, after 4,051.2 ns, and after 4,102.4 ns, which is two. A tap on the second link sees the
/// SYN alone, 2,051.2 ns later.
#[test]
fn a_tap_shows_each_packet_of_its_flags_once() {
    let (first, second) = links();
    let mut network = network(fifo());
    assert_eq!(network.lookahead(), Time::from_ps(2_051_200));
    network.tap(first, Kind::SYN);
    network.tap(first, Kind::FIN);
    network.tap(second, Kind::SYN);
    let packets = vec![packet(1, 64, Kind::SYN), packet(2, 2500, Kind::FIN), packet(3, 64, Kind::FIN)];
    let untapped = vec![packet(4, 64, Kind::ACK)];
    let watcher = run(network, vec![(Time::ZERO, packets), (Time::from_us(9), untapped)], None);
    assert_eq!(watcher.arrived, [1, 2, 3, 4]);
    let shown = [(first, 1, 2_051_200), (second, 1, 4_102_400), (first, 2, 4_051_200), (first, 3, 4_102_400)];
    let mut passed = watcher.passed;
    passed.sort_by_key(|(_, seq, at)| (*seq, *at));
    assert_eq!(passed, shown.map(|(link, seq, at)| (link, seq, Time::from_ps(at))));
}

/// What hosts send is observed at plain links too, with the time of its arrival: of packets of 1,000
/// B, 800 ns each, and with the mark that the host's own queue sets from two waiting packets on.
/// What is dropped there is not sent.
#[test]
fn an_observer_tells_what_plain_links_accept() {
    let policy = QueuePolicy::drop_tail(QueueLimit::Packets(3)).marking(QueueLimit::Packets(2), false);
    let mut network = network(policy);
    network.watch(2);
    let packets = (0..6).map(|seq| Packet { flags: Flags::ECT, ..packet(seq, 1000, Kind::DATA) }).collect();
    let watcher = run(network, vec![(Time::ZERO, packets)], None);
    let sent = watcher.observed.iter().flat_map(|w| &w.sent).map(|(link, seen)| (*link, &seen.packet));
    let sent: Vec<_> = sent.map(|(link, p)| (link, p.seq, p.arrival, p.flags.has(Flags::CE))).collect();
    let at = |n: u64| Time::from_ns(800 * n + 2000);
    let first = links().0;
    assert_eq!(
        sent,
        [(0, false), (1, false), (2, false), (3, true)].map(|(n, ce)| (first, n, at(u64::from(n) + 1), ce))
    );
    let lost = watcher.observed.iter().flat_map(|w| &w.discarded);
    let lost: Vec<(u32, u32, Vec<u32>)> = lost
        .map(|d| (d.packet.packet.seq, d.loss.queued, d.queue.iter().map(|seen| seen.packet.seq).collect()))
        .collect();
    assert_eq!(lost, [4, 5].map(|seq| (seq, 4, vec![0, 1, 2, 3])));
}

/// Of a queue of three packets of 1,000 B, 800 ns each, the first has left when two more come just then: one finds room, and the
/// other one finds the packet in service and three that wait.
#[test]
fn a_packet_that_has_just_left_is_not_in_the_queue() {
    let mut network = network(QueuePolicy::drop_tail(QueueLimit::Packets(3)));
    network.watch(2);
    let burst = |numbers: std::ops::Range<u32>| numbers.map(|seq| packet(seq, 1000, Kind::DATA)).collect();
    let watcher = run(network, vec![(Time::ZERO, burst(0..4)), (Time::from_ns(800), burst(4..6))], None);
    let lost = watcher.observed.iter().flat_map(|w| &w.discarded);
    let lost: Vec<(u32, u32, Vec<u32>)> = lost
        .map(|d| (d.packet.packet.seq, d.loss.queued, d.queue.iter().map(|seen| seen.packet.seq).collect()))
        .collect();
    assert_eq!(lost, [(5, 4, vec![1, 2, 3, 4])]);
}

/// A timer at a switch does not keep the packets that come in the same window from going on.
#[test]
fn a_switch_may_have_a_timer() {
    let at = Time::from_ps(2_051_200 + 500);
    let sends = (0..3).map(|seq| (Time::from_us(7 * seq), vec![packet(seq as u32, 64, Kind::DATA)])).collect();
    let watcher = run(network(fifo()), sends, Some(at));
    assert_eq!((watcher.switch_timer, watcher.arrived), (None, vec![0, 1, 2]));
}

/// A port that trims has room for a packet in service and one more. Of four the third and fourth
/// lose their payload. The observer tells what S1 sent, not what the switch passed on.
#[test]
fn an_observer_tells_what_hosts_send_and_what_is_lost() {
    let trimming = Trimming {
        headers: Some(QueueLimit::Packets(100)),
        share: 10,
        trim_arriving: 1.0,
        return_to_sender: false,
        mark_min: None,
        mark_max: None,
    };
    let policy = QueuePolicy::drop_tail(QueueLimit::Packets(1)).ordered(Order::Trimming(trimming));
    let (first, second) = links();
    let plain = network(fifo());
    assert!(!plain.is_served(first) && !plain.is_served(second));
    let mut network = network(policy);
    assert!(network.is_served(first) && network.is_served(second));
    network.watch(2);
    let packets = (0..4).map(|seq| Packet { flags: Flags::TRIMMABLE, ..packet(seq, 1000, Kind::DATA) }).collect();
    let later = vec![packet(4, 64, Kind::DATA)];
    let watcher = run(network, vec![(Time::ZERO, packets), (Time::from_us(20), later)], None);
    let sent: Vec<(LinkId, u32)> =
        watcher.observed.iter().flat_map(|w| &w.sent).map(|(link, seen)| (*link, seen.packet.seq)).collect();
    assert_eq!(sent, [0, 1, 2, 3, 4].map(|seq| (first, seq)));
    let mut departed: Vec<(LinkId, u32)> =
        watcher.observed.iter().flat_map(|w| &w.departed).map(|(link, packet)| (*link, packet.seq)).collect();
    departed.sort_by_key(|(_, seq)| *seq);
    assert_eq!(departed, sent);
    let lost: Vec<(Cause, u32)> =
        watcher.observed.iter().flat_map(|w| &w.discarded).map(|d| (d.loss.cause, d.packet.packet.seq)).collect();
    assert_eq!(lost, [(Cause::Trimmed, 2), (Cause::Trimmed, 3)]);
}

/// Sends packets of these sizes at once, and asks when the last will have left.
struct Leaver {
    sizes: Vec<u16>,
    left: Option<Time>,
}

impl Handler for Leaver {
    type Message = ();

    fn on_packet(&mut self, _: NodeId, _: Time, _: &Packet, _: &mut Egress) {}

    fn on_timer(&mut self, _: NodeId, now: Time, out: &mut Egress) {
        let last = packet(9, self.sizes.pop().unwrap(), Kind::DATA);
        self.sizes.iter().for_each(|size| out.send(now, &packet(1, *size, Kind::DATA)));
        self.left = Some(out.send_last(now, last, None));
    }

    fn next_timer(&self, node: NodeId) -> Time {
        if node == S1 && self.left.is_none() { Time::from_us(3) } else { Time::MAX }
    }
}

/// A packet of 1,000 B leaves 800 ns after the one of 1,500 B and the one of 64 B before it, which take 1,200 and 51.2 ns. All
/// take twice as long where the link has had half its rate since the first microsecond.
#[test]
fn the_last_packet_leaves_after_all_before_it() {
    for (sizes, ps) in [(vec![1000], 800_000), (vec![1500, 64, 1000], 2_051_200)] {
        for (rate, times) in [(None, 1), (Some(Rate::gbps(5)), 2)] {
            let fabric = fabric();
            let mut timetable = Timetable::from(Arc::new(Routes::new(&fabric, 1)));
            if let Some(rate) = rate {
                timetable.links.insert(links().0, vec![(Time::from_us(1), LinkChange::Rate(rate))]);
            }
            let mut network = Network::new(&fabric, fifo(), timetable, 64);
            let mut leaver = Leaver { sizes: sizes.clone(), left: None };
            network.wake(S1, &leaver);
            run_partitions(vec![(&mut network, &mut leaver)], Time::from_us(50), u64::MAX, 1000, &mut |_, _| true);
            assert_eq!(leaver.left, Some(Time::from_us(3) + Time::from_ps(ps) * times), "{rate:?}");
        }
    }
}
