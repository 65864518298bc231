//! What switches write on packets, and what answers tell of it.

use crate::common::host;
use linkpool_network::{
    Digests, Egress, Envelope, FabricBuilder, Handler, HopRecord, Kind, Layer, Network, NodeId, Packet, Policies,
    QueueLimit, QueuePolicy, Routes, Timetable, run_partitions,
};
use linkpool_units::{Rate, Time};
use std::sync::Arc;

const SENDER: NodeId = NodeId::new(0);

/// The sender sends three packets at once, of which the first two ask; the receiver answers each.
#[derive(Default)]
struct Asked {
    is_begun: bool,
    /// The numbers of packets as their hosts have sent them, with the records that they brought.
    came: Vec<(u32, Vec<HopRecord>)>,
    answers: Vec<(u32, Vec<HopRecord>)>,
}

fn packet(to: usize, seq: u32) -> Packet {
    Packet { envelope: Envelope::new(host(to), 1000, 0), seq, kind: Kind::FIN, ..Packet::default() }
}

impl Handler for Asked {
    type Message = ();

    fn on_packet(&mut self, node: NodeId, now: Time, packet_in: &Packet, out: &mut Egress) {
        let seen = (out.as_sent(packet_in).seq, out.telemetry(packet_in).hops.to_vec());
        if node == SENDER {
            return self.answers.push(seen);
        }
        let mut answer = packet(0, seen.0 + 100);
        self.came.push(seen);
        out.tell_telemetry(&mut answer, packet_in);
        out.send(now, &answer);
    }

    fn on_timer(&mut self, _: NodeId, now: Time, out: &mut Egress) {
        self.is_begun = true;
        for seq in 7..10 {
            let mut sent = packet(1, seq);
            if seq < 9 {
                out.ask_for_telemetry(&mut sent);
            }
            out.send(now, &sent);
        }
    }

    fn next_timer(&self, node: NodeId) -> Time {
        if node == SENDER && !self.is_begun { Time::ZERO } else { Time::MAX }
    }
}

/// What comes to the receiver, to which the switch has a link of `rate`, and what the sender is told of it: by packet the time, the bytes
/// sent before and those that wait.
fn records(rate: Rate, expected: [Option<(u64, u64, u32)>; 3]) {
    let mut b = FabricBuilder::default();
    let [sender, receiver] = ["sender", "receiver"].map(|name| b.node(name, Layer::Host));
    let switch = b.node("W", Layer::Switch);
    b.cable(sender, switch, Rate::gbps(10), Time::from_us(1));
    b.cable(receiver, switch, rate, Time::from_us(1));
    let fabric = b.build();
    let policies = Policies::from(QueuePolicy::drop_tail(QueueLimit::Packets(100))).stamping(None);
    let timetable = Timetable::from(Arc::new(Routes::new(&fabric, 1)));
    let mut network = Network::new(&fabric, policies, timetable, 64);
    let mut asked = Asked::default();
    network.wake(SENDER, &asked);
    run_partitions(vec![(&mut network, &mut asked)], Time::from_us(100), u64::MAX, 1000, &mut |_, _| true);
    let link = fabric.link(switch, receiver).expect("neighbours");
    let record = |(at, sent, queue)| HopRecord { at: Time::from_ns(at), sent, rate, queue, link };
    let records = expected.map(|one| one.into_iter().map(record).collect::<Vec<_>>());
    let told = |first: u32| (first..).zip(records.clone()).collect::<Vec<_>>();
    assert_eq!(asked.came, told(7));
    assert_eq!(asked.answers, told(107));
    assert_eq!(network.trailers(), 0, "nothing is left");
}

/// A packet of 1,000 B takes 0.8 us at 10 Gbit/s, and 1 us on each link: the first is at the switch at 1.8 us, where the port to
/// the receiver has sent nothing, the second 0.8 us later. A packet that does not ask gets no record, and answers get none
/// of their own.
#[test]
fn answers_tell_what_switches_wrote() {
    records(Rate::gbps(10), [Some((1_800, 0, 0)), Some((2_600, 1_000, 0)), None]);
}

/// At 1 Gbit/s the first leaves until 9.8 us. Then the second leaves the third behind.
#[test]
fn a_record_tells_what_waits_behind_its_packet() {
    records(Rate::gbps(1), [Some((1_800, 0, 0)), Some((9_800, 1_000, 1_000)), None]);
}

/// Sends packets of these sizes at once, of which those ask for digests that shall; the receiver answers each.
struct Digested {
    sizes: Vec<(u16, bool)>,
    is_begun: bool,
    came: Vec<Option<u16>>,
    answers: Vec<Option<u16>>,
}

impl Handler for Digested {
    type Message = ();

    fn on_packet(&mut self, node: NodeId, now: Time, packet_in: &Packet, out: &mut Egress) {
        let digest = out.telemetry(packet_in).digest;
        if node == SENDER {
            return self.answers.push(digest);
        }
        self.came.push(digest);
        let mut answer = packet(0, 1);
        out.tell_telemetry(&mut answer, packet_in);
        out.send(now, &answer);
    }

    fn on_timer(&mut self, _: NodeId, now: Time, out: &mut Egress) {
        self.is_begun = true;
        for (size, asks) in self.sizes.clone() {
            let mut sent = Packet { envelope: Envelope::new(host(1), size, 0), ..packet(1, 7) };
            if asks {
                out.ask_for_digest(&mut sent);
            }
            out.send(now, &sent);
        }
    }

    fn next_timer(&self, node: NodeId) -> Time {
        if node == SENDER && !self.is_begun { Time::ZERO } else { Time::MAX }
    }
}

/// The digests that come to the receiver, over two switches with a link of 1 Gbit/s between them, and the last over one of 10; they
/// are those that come back. Ports average over 8 us, in which the slow link sends 1,000 B.
fn digests(base: f64, sizes: &[(u16, bool)]) -> Vec<Option<u16>> {
    let mut b = FabricBuilder::default();
    let [sender, receiver] = ["sender", "receiver"].map(|name| b.node(name, Layer::Host));
    let [w, v] = ["W", "V"].map(|name| b.node(name, Layer::Switch));
    for (from, to, rate) in [(sender, w, 10), (w, v, 1), (receiver, v, 10)] {
        b.cable(from, to, Rate::gbps(rate), Time::from_us(1));
    }
    let fabric = b.build();
    let digests = Digests::new(base, 16, Time::from_us(8));
    let policies = Policies::from(QueuePolicy::drop_tail(QueueLimit::Packets(100))).stamping(Some(digests));
    let timetable = Timetable::from(Arc::new(Routes::new(&fabric, 1)));
    let mut network = Network::new(&fabric, policies, timetable, 64);
    let mut seen = Digested { sizes: sizes.to_vec(), is_begun: false, came: Vec::new(), answers: Vec::new() };
    network.wake(SENDER, &seen);
    run_partitions(vec![(&mut network, &mut seen)], Time::from_us(200), u64::MAX, 1000, &mut |_, _| true);
    assert_eq!(seen.came, seen.answers);
    assert_eq!(network.trailers(), 0, "nothing is left");
    seen.came
}

/// At 1 Gbit/s a packet of 1,000 B takes 8 us. When the first begins, W->V has sent nothing, and nothing waits: the least,
/// 1/512, the power 0. When the second begins, that was 8 us ago, and the third waits: 1 + 1 = 2, which is 1,024/512, the power 10 of
/// two. At the third nothing waits: 1, the power 9. V->R, which is idle for most of the time, has less, and does not lower it.
#[test]
fn the_busiest_port_is_told() {
    assert_eq!(digests(2.0, &[(1_000, true); 3]), [Some(0), Some(10), Some(9)]);
}

/// A port averages over all packets, and writes on those that ask. When the third begins, 500 B have left in 4 us: 2/2 + 0.5 = 1.5,
/// which is 768/512 and between the powers 136 and 137 of 1.05. Without the packet before it, it would be 1.
#[test]
fn packets_that_do_not_ask_are_counted() {
    let came = digests(1.05, &[(1_000, true), (500, false), (1_000, true)]);
    assert_eq!(came[..2], [Some(0), None]);
    assert!(matches!(came[2], Some(136 | 137)), "{came:?}");
}
