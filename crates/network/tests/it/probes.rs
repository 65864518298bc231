//! What handlers see of queues and counters while the network runs, and what a limit does that
//! changes then.

use crate::common::host;
use crate::common::topologies::many_to_one;
use linkpool_network::{
    Egress, Envelope, Flags, Handler, Kind, LinkChange, LinkId, LinkStats, Network, NodeId, Order, Packet, QueueLimit,
    QueuePolicy, Routes, Timetable, Trimming, run_partitions,
};
use linkpool_units::{Rate, Time};
use std::sync::Arc;

/// S1's link to the switch, 10 Gbit/s: a packet of 1,250 B takes a microsecond.
const LINK: LinkId = LinkId::new(0);

const S1: NodeId = NodeId::new(0);

/// What S1 does at a time.
#[derive(Clone, Copy)]
enum Act {
    Send(Packet),
    Look,
}

struct Probe {
    /// What is to be done, the last first.
    acts: Vec<(Time, Act)>,
    /// Packets and bytes of the queue, counters, and bytes on the wire.
    seen: Vec<((u32, u64), LinkStats, u64)>,
}

impl Handler for Probe {
    type Message = ();

    fn on_packet(&mut self, _: NodeId, _: Time, _: &Packet, _: &mut Egress) {}

    fn on_timer(&mut self, _: NodeId, now: Time, out: &mut Egress) {
        while let Some((_, act)) = self.acts.pop_if(|(at, _)| *at == now) {
            match act {
                Act::Send(packet) => out.send(now, &packet),
                Act::Look => {
                    let (stats, on_wire) = out.counters(LINK, now);
                    self.seen.push((out.queue(LINK, now), stats, on_wire.bytes()));
                }
            }
        }
    }

    fn next_timer(&self, node: NodeId) -> Time {
        self.acts.last().filter(|_| node == S1).map_or(Time::MAX, |(at, _)| *at)
    }
}

fn packet(size: u16, flags: Flags) -> Act {
    Act::Send(Packet {
        envelope: Envelope::new(host(1), size, size - 64),
        flags,
        kind: Kind::DATA,
        ..Packet::default()
    })
}

/// Runs `acts`, in order of time, at a port of `policy` with `changes`; returns what was seen.
fn run(
    policy: QueuePolicy,
    changes: &[(Time, LinkChange)],
    mut acts: Vec<(Time, Act)>,
) -> Vec<((u32, u64), LinkStats, u64)> {
    let fabric = many_to_one(1, Rate::gbps(10), Time::from_us(2));
    let mut timetable = Timetable::from(Arc::new(Routes::new(&fabric, 1)));
    timetable.links.insert(LINK, changes.to_vec());
    let mut network = Network::new(&fabric, policy, timetable, 64);
    acts.reverse();
    let mut probe = Probe { acts, seen: Vec::new() };
    network.wake(S1, &probe);
    run_partitions(vec![(&mut network, &mut probe)], Time::from_us(100), u64::MAX, 1000, &mut |_, _| true);
    probe.seen
}

/// Four packets at once, and half a microsecond later, and so on: whatever kind of port serves
/// them.
#[test]
fn a_queue_is_seen_as_it_drains() {
    let flags = [Flags::PRIORITY, Flags::default(), Flags::TRIMMED | Flags::PRIORITY, Flags::default()];
    let mut acts: Vec<(Time, Act)> = flags.map(|flags| (Time::ZERO, packet(1250, flags))).into();
    acts.extend([500, 1500, 2500, 3500, 4500].map(|ns| (Time::from_ns(ns), Act::Look)));
    let fifo = QueuePolicy::drop_tail(QueueLimit::Packets(100));
    let trimming = Trimming {
        headers: Some(QueueLimit::Packets(100)),
        share: 10,
        trim_arriving: 0.5,
        return_to_sender: false,
        mark_min: None,
        mark_max: None,
    };
    let later = (Time::from_us(90), LinkChange::Limit(QueueLimit::Packets(50)));
    for (policy, changes) in [
        (fifo.clone(), &[][..]),
        (fifo.clone(), &[later]),
        (fifo.clone().ordered(Order::Priority), &[]),
        (fifo.ordered(Order::Trimming(trimming)), &[]),
    ] {
        let seen = run(policy.clone(), changes, acts.clone());
        let queues: Vec<(u32, u64)> = seen.iter().map(|(queue, ..)| *queue).collect();
        assert_eq!(queues, [(3, 4375), (2, 3125), (1, 1875), (0, 625), (0, 0)], "{policy:?}, {changes:?}");
        for ((_, bytes), stats, sent) in seen {
            assert_eq!((stats.packets, stats.bytes, sent), (4, 5000, 5000 - bytes), "{policy:?}, {changes:?}");
        }
    }
}

/// Marks from 1,000 queued bytes on. Of five packets of 1,000 B, which find 0, 0, 1,000, 2,000 and
/// 3,000 B waiting, the last three are marked; when three packets fill the queue, or 3,000 B, the
/// fifth is dropped instead.
#[test]
fn marks_in_bytes_stay_when_a_limit_changes_during_the_run() {
    let policy = QueuePolicy::drop_tail(QueueLimit::Bytes(9000)).marking(QueueLimit::Bytes(1000), false);
    for limit in [QueueLimit::Packets(3), QueueLimit::Bytes(3000)] {
        let mut acts = Vec::new();
        for start in [0, 10].map(Time::from_us) {
            acts.extend([(start, packet(1000, Flags::ECT)); 5]);
            acts.push((start, Act::Look));
        }
        let seen = run(policy.clone(), &[(Time::from_us(5), LinkChange::Limit(limit))], acts);
        let counts: Vec<_> =
            seen.iter().map(|(_, stats, _)| (stats.packets, stats.rare.drops, stats.rare.marks)).collect();
        assert_eq!(counts, [(5, 0, 3), (9, 1, 5)], "{limit:?}");
    }
}
