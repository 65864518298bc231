//! Ports that wait for each other for ever are found, those that only wait are not.

use crate::common::{hashed, host};
use linkpool_network::{
    Egress, Ended, Envelope, Fabric, FabricBuilder, Flags, Handler, HostId, Intake, Kind, Layer, LinkId, Network,
    NodeId, Packet, Partitions, Pfc, QueueLimit, QueuePolicy, Routes, run_partitions, source_route,
};
use linkpool_settings::{Preset, Settings as _};
use linkpool_units::{Bytes, Rate, Time};
use std::sync::Arc;

const RING: usize = 4;

/// A ring of switches, at 1 Gbit/s, with a host at each, at 10 Gbit/s.
fn ring() -> Fabric {
    let mut b = FabricBuilder::default();
    let hosts: Vec<NodeId> = (0..RING).map(|i| b.node(format!("h{i}"), Layer::Host)).collect();
    let switches: Vec<NodeId> = (0..RING).map(|i| b.node(format!("s{i}"), Layer::Switch)).collect();
    for i in 0..RING {
        b.cable(hosts[i], switches[i], Rate::gbps(10), Time::from_us(1));
        b.cable(switches[i], switches[(i + 1) % RING], Rate::gbps(1), Time::from_us(1));
    }
    b.build()
}

fn link(fabric: &Fabric, from: &str, to: &str) -> LinkId {
    let [from, to] = [from, to].map(|name| fabric.node(name).expect("a node of this name"));
    fabric.link(from, to).expect("neighbours")
}

/// The link of the ring that leaves switch `i`, the way round.
fn onward(fabric: &Fabric, i: usize) -> LinkId {
    link(fabric, &format!("s{}", i % RING), &format!("s{}", (i + 1) % RING))
}

/// The hosts, which send all at once: each 60 packets to the host `away` switches further round.
struct Hosts<'f> {
    fabric: &'f Fabric,
    away: usize,
    next: Vec<Time>,
    came: usize,
    last: Time,
}

impl Handler for Hosts<'_> {
    type Message = ();

    fn on_packet(&mut self, _: NodeId, at: Time, _: &Packet, _: &mut Egress) {
        self.came += 1;
        self.last = self.last.max(at);
    }

    fn on_timer(&mut self, node: NodeId, now: Time, out: &mut Egress) {
        self.next[node.index()] = Time::MAX;
        let (from, to) = (node.index(), (node.index() + self.away) % RING);
        let first = link(self.fabric, &format!("h{from}"), &format!("s{from}"));
        let last = link(self.fabric, &format!("s{to}"), &format!("h{to}"));
        let round = (from..from + self.away).map(|i| onward(self.fabric, i));
        let path: Vec<LinkId> = [first].into_iter().chain(round).chain([last]).collect();
        let entropy = source_route(self.fabric, &path).expect("a path of few hops");
        let envelope = Envelope::new(host(to), 1_250, 1_186);
        let packet = Packet { envelope, kind: Kind::DATA, flags: Flags::PINNED, ..hashed(host(to), entropy) };
        (0..60).for_each(|_| out.send(now, &packet));
    }

    fn next_timer(&self, node: NodeId) -> Time {
        self.next.get(node.index()).copied().unwrap_or(Time::MAX)
    }
}

/// How it ends, and how many packets have come, the last when, with these parts by node.
fn run(away: usize, slow: Option<Intake>, part_of: &[u8]) -> (Ended, (usize, Option<Time>)) {
    let fabric = ring();
    let pfc = Pfc {
        buffer: 1_000_000,
        reserve: 0,
        headroom: Some(Bytes(30_000)),
        xoff: Some(Bytes(3_000)),
        resume: 1_000,
        ..Pfc::defaults(Preset::Linux)
    };
    let policy = QueuePolicy::drop_tail(QueueLimit::Packets(100)).pausing(pfc);
    let parts = Arc::new(Partitions::of_nodes(&fabric, part_of.into()));
    let routes = Arc::new(Routes::new(&fabric, 1));
    let count = part_of.iter().max().map_or(1, |last| last + 1);
    let network = |part| Network::partition(&fabric, policy.clone(), routes.clone(), 64, &parts, part);
    let mut networks: Vec<Network> = (0..count).map(network).collect();
    let hosts = || Hosts { fabric: &fabric, away, next: vec![Time::ZERO; RING], came: 0, last: Time::ZERO };
    let mut handlers: Vec<Hosts> = (0..count).map(|_| hosts()).collect();
    for (part, (network, handler)) in (0..).zip(networks.iter_mut().zip(&handlers)) {
        slow.into_iter().for_each(|intake| network.slow_down(link(&fabric, "s1", "h1"), intake, &fabric));
        let own = NodeId::first(RING).filter(|node| parts.of_host(HostId::new(node.index())) == part);
        own.for_each(|node| network.wake(node, handler));
    }
    let ended = run_partitions(
        networks.iter_mut().zip(&mut handlers).collect(),
        Time::from_us(9_000),
        u64::MAX,
        1_000,
        &mut |_, _| true,
    );
    let came = handlers.iter().map(|handler| handler.came).sum();
    (ended, (came, handlers.iter().map(|handler| handler.last).max()))
}

/// By node: one part, two halves, and a part for each switch with its host.
const PARTS: [[u8; 2 * RING]; 3] = [[0; 8], [0, 0, 1, 1, 0, 0, 1, 1], [0, 1, 2, 3, 0, 1, 2, 3]];

/// Packets of each host stand at the second switch, whose port waits for the third. The hosts' own ports are paused, too, but nobody waits
/// for them. Any parts find the same at the same time.
#[test]
fn a_ring_stands_still() {
    let (ended, came) = run(2, None, &PARTS[0]);
    let Ended::Deadlock(at, circle) = &ended else { panic!("{ended:?}") };
    assert!(*at > Time::from_us(20) && *at < Time::from_us(200) && came.0 < 60 * RING, "{at:?} {came:?}");
    let fabric = ring();
    let expected: Vec<LinkId> = (0..RING).map(|i| onward(&fabric, i)).collect();
    let first = circle.iter().position(|link| *link == expected[0]).expect("the link of the first switch");
    let from_first: Vec<LinkId> = circle[first..].iter().chain(&circle[..first]).copied().collect();
    assert_eq!(from_first, expected);
    for parts in &PARTS[1..] {
        assert_eq!(run(2, None, parts), (ended.clone(), came));
    }
}

/// Where packets go to the next host, ports are paused and go on. A host that takes nothing for
/// 2 ms stops one of its neighbours, and others behind that.
#[test]
fn what_only_waits_is_no_deadlock() {
    let slow =
        Intake { buffer: 70_000, rate: None, packet_time: Time::ZERO, from: Time::ZERO, until: Time::from_us(2_000) };
    for parts in &PARTS {
        for slow in [None, Some(slow)] {
            let (ended, (came, last)) = run(1, slow, parts);
            assert!(!matches!(ended, Ended::Deadlock(..)), "{ended:?}");
            assert_eq!((came, last > Some(Time::from_us(2_000))), (60 * RING, slow.is_some()));
        }
    }
}
