//! Messages between hosts, whichever partitions run them.

use crate::common::topologies::many_to_one;
use linkpool_network::{
    Egress, Handler, Network, NodeId, Packet, Partitions, QueueLimit, QueuePolicy, Routes, Timetable, run_partitions,
};
use linkpool_units::{Rate, Time};
use std::sync::Arc;

const HOSTS: usize = 4;
const LAST: u32 = 40;

/// Hosts pass a number on, round the ring: who gets it waits for a nanosecond, and tells the next
/// host the next number.
struct Ring {
    lookahead: Time,
    /// Of each host: the number that it passes on, and when.
    holds: [Option<(Time, u32)>; HOSTS],
    told: Vec<(NodeId, Time, u32)>,
    heard: Vec<(NodeId, Time, u32)>,
}

impl Handler for Ring {
    type Message = u32;

    fn on_packet(&mut self, _: NodeId, _: Time, _: &Packet, _: &mut Egress) {
        unreachable!("nobody sends a packet");
    }

    fn on_timer(&mut self, node: NodeId, now: Time, _: &mut Egress) {
        let (_, number) = self.holds[node.index()].take().expect("it holds a number");
        if number < LAST {
            self.told.push((NodeId::new((node.index() + 1) % HOSTS), now + self.lookahead, number + 1));
        }
    }

    fn next_timer(&self, node: NodeId) -> Time {
        self.holds.get(node.index()).copied().flatten().map_or(Time::MAX, |(at, _)| at)
    }

    fn take_message(&mut self) -> Option<(NodeId, Time, u32)> {
        self.told.pop()
    }

    fn on_message(&mut self, host: NodeId, at: Time, number: u32) {
        self.heard.push((host, at, number));
        self.holds[host.index()] = Some((at + Time::from_ns(1), number));
    }
}

/// The shortest packet, 64 B, takes 51.2 ns at 10 Gbit/s and 2 us on its way; so does a message, also if the run pauses
/// while it is on its way.
#[test]
fn messages_take_the_lookahead_to_any_host_of_any_partition() {
    let fabric = many_to_one(HOSTS as u32 - 1, Rate::gbps(10), Time::from_us(2));
    let timetable = Timetable::from(Arc::new(Routes::new(&fabric, 1)));
    let policy = QueuePolicy::drop_tail(QueueLimit::Packets(100));
    let hop = Time::from_ps(2_051_200);
    let expected: Vec<(NodeId, Time, u32)> = (0..=LAST)
        .map(|n| (NodeId::new(n as usize % HOSTS), hop * u64::from(n + 1) + Time::from_ns(u64::from(n)), n))
        .collect();
    let divisions = [[0, 0, 0, 0, 0], [0, 0, 1, 1, 0], [1, 0, 1, 0, 1], [2, 1, 0, 1, 2]];
    for (partitions, pauses) in divisions.into_iter().flat_map(|division| [(division, 0), (division, 120)]) {
        let count = partitions.iter().max().unwrap() + 1;
        let nodes = Arc::new(Partitions::of_nodes(&fabric, partitions.into()));
        let mut runs: Vec<(Network, Ring)> = (0..count)
            .map(|me| {
                let network = Network::partition(&fabric, policy.clone(), timetable.clone(), 64, &nodes, me);
                let lookahead = network.lookahead();
                assert_eq!(lookahead, hop);
                // Partition 0 begins, wherever the first host is.
                let told = if me == 0 { vec![(NodeId::new(0), lookahead, 0)] } else { Vec::new() };
                (network, Ring { lookahead, holds: [None; HOSTS], told, heard: Vec::new() })
            })
            .collect();
        for end in (1..=pauses).map(|pause| Time::from_ns(700 * pause)).chain([Time::from_ms(1)]) {
            let parts = runs.iter_mut().map(|(network, ring)| (network, ring)).collect();
            run_partitions(parts, end, u64::MAX, 1000, &mut |_, _| true);
        }
        let mut heard: Vec<_> = Vec::new();
        for (me, (_, ring)) in runs.iter_mut().enumerate() {
            assert!(ring.heard.iter().all(|(host, ..)| partitions[host.index()] as usize == me), "{partitions:?}");
            heard.append(&mut ring.heard);
        }
        heard.sort_by_key(|(_, at, _)| *at);
        assert_eq!(heard, expected, "{partitions:?} {pauses}");
    }
}
