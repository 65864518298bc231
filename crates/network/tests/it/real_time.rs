//! Packets that come from outside in real time meet the same network as those of handlers.

use crate::common::topologies::many_to_one;
use linkpool_network::{
    Egress, Envelope, Fabric, Flags, Handler, HostId, Kind, LinkId, Network, NodeId, Packet, QueueLimit, QueuePolicy,
    Routes, run_partitions, topology,
};
use linkpool_units::{Rate, Time};
use proptest::prelude::*;
use std::sync::Arc;

/// Host, time, number of the packet, marked?
type Arrival = (NodeId, Time, u32, bool);

/// Sends packets by timers, if it has any, and notes what arrives.
#[derive(Default)]
struct Notes {
    /// By host, the latest first.
    sends: Vec<Vec<(Time, Packet)>>,
    arrivals: Vec<Arrival>,
}

impl Handler for Notes {
    type Message = ();
    fn on_packet(&mut self, host: NodeId, now: Time, packet: &Packet, _: &mut Egress) {
        self.arrivals.push((host, now, packet.endpoint, packet.flags.has(Flags::CE)));
    }
    fn on_timer(&mut self, node: NodeId, now: Time, out: &mut Egress) {
        if let Some((_, packet)) = self.sends[node.index()].pop() {
            out.send(now, &packet);
        }
    }
    fn next_timer(&self, node: NodeId) -> Time {
        self.sends.get(node.index()).and_then(|sends| sends.last()).map_or(Time::MAX, |(at, _)| *at)
    }
}

fn network(fabric: &Fabric) -> Network {
    let policy = QueuePolicy::drop_tail(QueueLimit::Packets(20)).marking(QueueLimit::Packets(5), false);
    Network::new(fabric, policy, Arc::new(Routes::new(fabric, 7)), 60)
}

fn packet(number: u32, dst: usize, size: u16) -> Packet {
    let envelope = Envelope::new(HostId::new(dst), size, size);
    Packet { envelope, endpoint: number, entropy: number % 5, flags: Flags::ECT, kind: Kind::DATA, ..Packet::default() }
}

const HOSTS: usize = 16;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn injected_packets_arrive_as_sent_ones_do(
        sends in prop::collection::vec((0u64..400_000, 0..HOSTS, 1..HOSTS, 60u16..1500), 1..400),
        steps in 1u64..60_000,
    ) {
        let fabric = topology::fat_tree(4, 2, Rate::mbps(1000), Time::from_ns(700));
        let mut sends: Vec<_> = sends.into_iter().map(|(at, src, further, size)| (Time::from_ns(at), src, further, size)).collect();
        sends.sort_by_key(|(at, ..)| *at);
        let sends: Vec<(Time, HostId, Packet)> = (0..).zip(sends).map(|(number, (at, src, further, size))| {
            (at, HostId::new(src), packet(number, (src + further) % HOSTS, size))
        }).collect();

        let mut by_timers = Notes { sends: vec![Vec::new(); fabric.nodes()], ..Notes::default() };
        sends.iter().rev().for_each(|(at, src, packet)| by_timers.sends[src.index()].push((*at, *packet)));
        let mut simulated = network(&fabric);
        HostId::first(HOSTS).for_each(|host| simulated.wake(host.into(), &by_timers));
        run_partitions(vec![(&mut simulated, &mut by_timers)], Time::MAX, u64::MAX, 1 << 20, &mut |_, _| true);

        let (mut real, mut notes) = (network(&fabric), Notes::default());
        let (mut clock, mut lead) = (Time::ZERO, Time::ZERO);
        for (at, src, packet) in &sends {
            while clock + Time::from_ns(steps) < *at {
                clock += Time::from_ns(steps);
                let before = notes.arrivals.len();
                real.run_to(clock, &mut notes);
                // It learns of a packet before the packet is due, at most a lookahead before.
                let at = real.known_until().max(clock);
                LinkId::first(fabric.links().len()).for_each(|link| {
                    real.link_outcome(link, at);
                });
                lead = notes.arrivals[before..].iter().map(|a| a.1.saturating_sub(clock)).fold(lead, Time::max);
            }
            real.inject((*src).into(), *at, *packet);
        }
        prop_assert!(lead <= real.lookahead());
        real.run_to(Time::from_secs(1), &mut notes);
        by_timers.arrivals.sort();
        notes.arrivals.sort();
        prop_assert_eq!(&by_timers.arrivals, &notes.arrivals);
        prop_assert_eq!((real.trailers(), real.next_due()), (0, None));
    }
}

#[test]
fn a_place_is_free_again_when_its_packet_is_gone() {
    let fabric = many_to_one(2, Rate::mbps(100), Time::from_us(10));
    let (mut real, mut notes) = (network(&fabric), Notes::default());
    // 1 in service, 20 wait, 9 are dropped at the port of the host: their places go to those that
    // come later.
    let places: Vec<u32> =
        (0..30).map(|number| real.inject(NodeId::new(0), Time::ZERO, packet(number, 2, 1500))).collect();
    assert_eq!(places[..22], (0..22).collect::<Vec<u32>>());
    assert_eq!(places[22..], [21; 8]);
    real.run_to(Time::from_ms(100), &mut notes);
    assert_eq!((notes.arrivals.len(), real.trailers()), (21, 0));
    // Time does not go back.
    real.inject(NodeId::new(0), Time::ZERO, packet(30, 2, 1500));
    real.run_to(Time::from_ms(200), &mut notes);
    assert!(notes.arrivals[21].1 > notes.arrivals[20].1);
}

/// 60 B at 10 Gbit/s and 2 us make windows of 2,048 ns. The packet comes to the switch as the
/// second window begins, to its host as the third one does.
#[test]
fn when_something_is_due_next_is_known() {
    let fabric = many_to_one(1, Rate::gbps(10), Time::from_us(2));
    let mut network = network(&fabric);
    let mut notes = Notes::default();
    assert_eq!(network.next_due(), None);
    network.inject(NodeId::new(0), Time::ZERO, packet(7, 1, 60));
    for ns in [2_048, 4_096] {
        let due = Time::from_ns(ns);
        assert_eq!(network.next_due(), Some(due));
        network.run_to(due, &mut notes);
    }
    assert_eq!((network.next_due(), network.hops()), (None, 2));
    assert_eq!(notes.arrivals, [(NodeId::new(1), Time::from_ns(4_096), 7, false)]);
}
