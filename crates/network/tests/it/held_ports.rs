//! What a host knows of its own port: whether its switch has paused it and until when, for how long it was, when a packet will
//! have left, and trailers that it gives to packets.

use crate::common::{hashed, host};
use linkpool_network::{
    Cause, Egress, Envelope, Fabric, FabricBuilder, Handler, Intake, Kind, Layer, LinkId, Network, NodeId, Observer,
    Order, Packet, PauseFrame, PauseStats, Pfc, Queue, QueueClass, QueueLimit, QueuePolicy, Routes, SharedBuffer,
    Trailer, Written, run_partitions,
};
use linkpool_settings::{Preset, Settings as _};
use linkpool_units::{Bytes, Rate, Time};
use std::sync::Arc;

const A: NodeId = NodeId::new(0);
/// From a to the switch, 10 Gbit/s: 1,250 B take a microsecond.
const LINK: LinkId = LinkId::new(0);
/// The lookahead: 64 B at 10 Gbit/s and a microsecond.
const WINDOW: Time = Time::from_ps(1_051_200);

/// Host a at 10 Gbit/s and so many others at 1 Gbit/s of one switch.
fn fabric(others: usize) -> Fabric {
    let mut b = FabricBuilder::default();
    let a = b.node("a", Layer::Host);
    let others: Vec<NodeId> = (0..others).map(|i| b.node(format!("b{i}"), Layer::Host)).collect();
    let switch = b.node("w", Layer::Switch);
    b.cable(a, switch, Rate::gbps(10), Time::from_us(1));
    others.into_iter().for_each(|other| b.cable(other, switch, Rate::gbps(1), Time::from_us(1)));
    b.build()
}

/// The link of that fabric between nodes of these names.
pub(crate) fn link(others: usize, from: &str, to: &str) -> LinkId {
    let fabric = fabric(others);
    let [from, to] = [from, to].map(|name| fabric.node(name).expect("a node of this name"));
    fabric.link(from, to).expect("neighbours")
}

/// A switch pauses a link of which 3,000 B stand in it.
pub(crate) fn pfc() -> Pfc {
    let xoff = Some(Bytes(3_000));
    Pfc {
        buffer: 1_000_000,
        reserve: 0,
        headroom: Some(Bytes(30_000)),
        xoff,
        resume: 1_000,
        ..Pfc::defaults(Preset::Linux)
    }
}

/// The same of priority 3 alone.
fn classes() -> QueuePolicy {
    let mut queue = Queue { pfc: Some(pfc()), ..Queue::defaults(Preset::Linux) };
    queue.set_classes(vec![QueueClass {
        priorities: vec![3],
        limit: None,
        mark: None,
        weight: None,
        lossless: true,
        trim: false,
        red: None,
    }]);
    QueuePolicy::from(&queue)
}

/// What a sees of its port at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    at: Time,
    /// Of priority 3 and of priority 0.
    held: [Option<Time>; 2],
    paused: Option<Time>,
    sent: u64,
    waiting: u64,
}

/// Host a, with what it is told of the others. It sends `first` at once and each of `later` alone, and looks at its port every half microsecond.
#[derive(Default)]
pub(crate) struct Host {
    pub(crate) first: Vec<Packet>,
    pub(crate) later: Vec<(Time, Packet)>,
    pub(crate) next: Time,
    /// Does it look at its port only when it sends? Then nobody brings the port up to date meanwhile.
    pub(crate) is_blind: bool,
    /// When the run stops before its end, and goes on.
    pub(crate) stops: Vec<Time>,
    /// Of so many bytes is the answer that each other host gives to a packet; none: it gives none.
    pub(crate) answers: Option<u16>,
    pub(crate) separates: bool,
    pub(crate) looks: Vec<Look>,
    /// When the later ones will have left.
    pub(crate) leave: Vec<Time>,
    /// What came to the others: its number, and its trailer.
    pub(crate) came: Vec<(Time, u32, Option<Trailer>)>,
    /// What passed taps: is it a frame that pauses?
    pub(crate) passed: Vec<(LinkId, Time, bool)>,
    /// What the network's observer has seen, if it `is_watched`.
    pub(crate) is_watched: bool,
    pub(crate) seen: Observer,
    /// By link: pauses, and packets that were dropped.
    pub(crate) pauses: Vec<Option<PauseStats>>,
    pub(crate) drops: Vec<u64>,
}

pub(crate) fn packet(seq: u32, priority: u8) -> Packet {
    let mut packet =
        Packet { envelope: Envelope::new(host(1), 1250, 1186), seq, kind: Kind::DATA, ..hashed(host(1), 0) };
    packet.set_priority(priority);
    packet
}

pub(crate) fn to(seq: u32, dst: usize) -> Packet {
    let packet = packet(seq, 0);
    Packet { envelope: packet.envelope.with_dst(host(dst)), ..packet }
}

/// A trailer that tells its number.
fn trailer(number: u32) -> Trailer {
    [number; 12]
}

impl Handler for Host {
    type Message = ();

    fn on_packet(&mut self, node: NodeId, at: Time, packet: &Packet, out: &mut Egress) {
        assert_eq!(node, NodeId::from(packet.dst()));
        let trailer = out.trailer(packet).copied();
        // With a trailer, the number in the packet is the network's.
        let number = trailer.map_or(out.as_sent(packet).seq, |trailer| trailer[0]);
        self.came.push((at, number, trailer));
        if let Some(size) = self.answers.filter(|_| node != A) {
            out.send(at, &Packet { envelope: Envelope::new(host(0), size, size - 64), ..to(number, 0) });
        }
    }

    fn on_timer(&mut self, _: NodeId, now: Time, out: &mut Egress) {
        for mut packet in std::mem::take(&mut self.first) {
            let trailer = trailer(packet.seq);
            out.attach(&mut packet, trailer);
            out.send(now, &packet);
        }
        while let Some((_, packet)) = self.later.pop_if(|(at, _)| *at == now) {
            let trailer = packet.seq.is_multiple_of(2).then(|| trailer(packet.seq));
            self.leave.push(out.send_last(now, packet, trailer));
        }
        if self.is_watched {
            let Observer { discarded, sent, held, .. } = out.take_observed();
            self.seen.discarded.extend(discarded);
            self.seen.sent.extend(sent);
            self.seen.held.extend(held);
        }
        self.separates = out.separates_classes();
        // Asked first: what is asked then finds the port up to date.
        let held = [3, 0].map(|priority| out.held_until(now, priority));
        let sent = out.counters(LINK, now).1.bytes();
        let (paused, waiting) = (out.paused(LINK, now), out.queue(LINK, now).1);
        self.looks.push(Look { at: now, held, paused, sent, waiting });
        let later = self.later.last().map_or(Time::MAX, |(at, _)| *at);
        self.next = if self.is_blind { later } else { now + Time::from_ns(500) };
    }

    fn on_passing(&mut self, link: LinkId, packet: &Packet, _: Option<&Trailer>, _: Written<'_>) {
        self.passed.push((link, packet.arrival, PauseFrame::of(packet).is_some()));
    }

    fn next_timer(&self, node: NodeId) -> Time {
        if node == A { self.next } else { Time::MAX }
    }
}

/// Host a sends to `others` others, of which all that matters is known.
fn run(others: usize, policy: QueuePolicy, first: Vec<Packet>, later: Vec<(Time, Packet)>) -> Host {
    run_tapped((others, &[]), &[], policy, Host { first, later, ..Host::default() })
}

/// The same where `slow` hosts take what comes by a link, and with taps.
pub(crate) fn run_tapped(
    (others, slow): (usize, &[(LinkId, Intake)]),
    taps: &[(LinkId, Kind)],
    policy: QueuePolicy,
    mut host: Host,
) -> Host {
    let fabric = fabric(others);
    let mut network = Network::new(&fabric, policy, Arc::new(Routes::new(&fabric, 1)), 64);
    slow.iter().for_each(|(link, intake)| network.slow_down(*link, *intake, &fabric));
    taps.iter().for_each(|(link, kinds)| network.tap(*link, *kinds));
    host.later.reverse();
    if host.is_watched {
        network.watch(fabric.hosts());
    }
    network.wake(A, &host);
    let end = Time::from_us(400);
    for until in host.stops.clone().into_iter().chain([end]) {
        run_partitions(vec![(&mut network, &mut host)], until, u64::MAX, 1000, &mut |_, _| true);
    }
    assert_eq!(network.trailers(), 0, "nothing is left");
    host.pauses = LinkId::first(fabric.links().len()).map(|link| network.pauses(link, end)).collect();
    let drops = |link| network.link_outcome(link, end).0.rare.drops;
    host.drops = LinkId::first(fabric.links().len()).map(drops).collect();
    host.passed.sort_by_key(|(link, at, _)| (*at, *link));
    host
}

/// Twenty packets, and what a knows of its port every half microsecond: while it is held nothing leaves and it is
/// paused, and the time that it is told lies in this window. Where classes wait for themselves, priority 0 is not held.
#[test]
fn a_host_knows_when_its_port_is_held() {
    let plain = QueuePolicy::drop_tail(QueueLimit::Packets(9)).pausing(pfc());
    for (policy, priority, of_classes) in [(plain, 0, false), (classes(), 3, true)] {
        let host = run(1, policy, (0..20).map(|seq| packet(seq, priority)).collect(), Vec::new());
        assert_eq!(host.separates, of_classes);
        let sent: Vec<(u32, Option<Trailer>)> = (0..20).map(|seq| (seq, Some(trailer(seq)))).collect();
        assert_eq!(host.came.iter().map(|(_, seq, trailer)| (*seq, *trailer)).collect::<Vec<_>>(), sent);
        let mut steps = 0;
        for pair in host.looks.windows(2) {
            let [before, now] = [pair[0], pair[1]];
            let [first, other] = now.held;
            assert_eq!(other, first.filter(|_| !of_classes), "{now:?}");
            if let Some(until) = first {
                assert!(now.at < until && until <= now.at + WINDOW && now.waiting > 0, "{now:?}");
            }
            // Held twice, with no chance to send in between: the switch takes 10 us for a packet.
            if before.held[0].is_some() && first.is_some() && now.sent == before.sent {
                assert_eq!(now.paused, before.paused.map(|paused| paused + Time::from_ns(500)), "{now:?}");
                steps += 1;
            }
            if before.held[0].is_none() && before.waiting > 0 && first.is_none() {
                assert!(now.sent > before.sent, "a port that is not held sends: {before:?} {now:?}");
            }
        }
        // 25,000 B in all, of which some 3,000 and what comes meanwhile are sent at once, the others at 1 Gbit/s.
        assert!(steps > 100, "{steps}");
        let last = host.looks[host.looks.len() - 1];
        assert_eq!((last.held, last.waiting, last.sent), ([None; 2], 0, 25_000));
        assert!(last.paused > Some(Time::from_us(100)), "{last:?}");
    }
}

/// A port that nobody pauses is held never.
#[test]
fn a_port_without_pauses_is_not_held() {
    let fifo = QueuePolicy::drop_tail(QueueLimit::Packets(9));
    let host = run(1, fifo, (0..5).map(|seq| packet(seq, 3)).collect(), Vec::new());
    assert!(!host.separates);
    assert!(host.looks.iter().all(|look| look.held == [None; 2] && look.paused.is_none()));
}

/// Packets that are sent last leave a microsecond one after another. Beside twenty of priority 3 that are held, one of priority 0
/// does not wait for these: it leaves in a microsecond. Every other one has a trailer.
#[test]
fn a_host_knows_when_its_last_packet_leaves() {
    let us = Time::from_us;
    let later = || [(us(50), packet(20, 0)), (us(50), packet(21, 0)), (us(60), packet(22, 0))];
    let fifo = QueuePolicy::drop_tail(QueueLimit::Packets(99));
    let host = run(1, fifo, Vec::new(), later().to_vec());
    assert_eq!(host.leave, [us(51), us(52), us(61)]);
    let trailers: Vec<_> = host.came.iter().map(|(_, seq, trailer)| (*seq, *trailer)).collect();
    assert_eq!(trailers, [(20, Some(trailer(20))), (21, None), (22, Some(trailer(22)))]);
    let host = run(1, classes(), (0..20).map(|seq| packet(seq, 3)).collect(), later().to_vec());
    let look = host.looks.iter().find(|look| look.at == us(50)).expect("it looks at 50 us");
    assert!(look.held[0].is_some() && look.waiting > 2 * 1250, "{look:?}");
    assert_eq!(host.leave, [us(51), us(52), us(61)]);
}

/// Four packets of 1,250 B come to the switch at 2, 3, 4 and 5 us, each for another host, which takes until 12, 13, 14 and 15 us. With the
/// last, 5,000 B are there: the frame of 84 B is at a at 6.0672 us. None waits in the switch, and none comes. It resumes a when 1,000 B less
/// are there, at 12 us: a hears of it at 13.0672 us, and sends what it has had since 10 us.
#[test]
fn a_packet_that_leaves_alone_ends_a_pause() {
    let pfc = Pfc { xoff: Some(Bytes(5_000)), ..pfc() };
    let policy = QueuePolicy::drop_tail(QueueLimit::Packets(9)).pausing(pfc);
    let later = vec![(Time::from_us(10), to(5, 5))];
    // Frames are shown where a tap shows all kinds.
    let back = link(5, "w", "a");
    let host = || Host {
        first: (0..4).map(|seq| to(seq, seq as usize + 1)).collect(),
        later: later.clone(),
        ..Host::default()
    };
    let shows_data = run_tapped((5, &[]), &[(back, Kind::DATA)], policy.clone(), host());
    assert_eq!(shows_data.passed, []);
    let host = run_tapped((5, &[]), &[(back, Kind::ALL)], policy, host());
    let came: Vec<(Time, u32)> = host.came.iter().map(|(at, seq, _)| (*at, *seq)).collect();
    let us = |us: u64, ps: u64| Time::from_us(us) + Time(ps);
    assert_eq!(came, [(us(13, 0), 0), (us(14, 0), 1), (us(15, 0), 2), (us(16, 0), 3), (us(26, 67_200), 5)]);
    assert_eq!(host.looks[host.looks.len() - 1].paused, Some(Time::from_us(7)));
    assert_eq!(host.passed, [us(6, 67_200), us(13, 67_200)].map(|at| (back, at, true)));
}

/// The same with a fifth packet, which comes at 6 us, when the pause is told, and stands alone at its port until 16 us. The pause ends
/// when nothing is there: a hears of that at 17.0672 us.
#[test]
fn a_packet_that_comes_during_a_pause_ends_it() {
    let pfc = Pfc { xoff: Some(Bytes(5_000)), resume: 5_000, ..pfc() };
    let policy = QueuePolicy::drop_tail(QueueLimit::Packets(9)).pausing(pfc);
    let later = vec![(Time::from_us(10), to(6, 6))];
    let host = run(6, policy, (0..5).map(|seq| to(seq, seq as usize + 1)).collect(), later);
    assert_eq!(host.came.last().map(|(at, seq, _)| (*at, *seq)), Some((Time::from_us(30) + Time(67_200), 6)));
    assert_eq!(host.looks[host.looks.len() - 1].paused, Some(Time::from_us(11)));
}

/// The pause of [`a_packet_that_leaves_alone_ends_a_pause`] with frames of 40 quanta, 2.048 us at 10 Gbit/s, which are told again after
/// half of that, from 5 us until 12 us, or after all of it: a frame that comes as a pause ends makes it longer. Nothing else happens then.
#[test]
fn a_pause_is_told_again_until_it_ends() {
    for (refresh, step, frames) in [(0.5, 1_024, 7), (1.0, 2_048, 4)] {
        let pfc = Pfc { xoff: Some(Bytes(5_000)), quanta: 40, refresh, ..pfc() };
        let policy = QueuePolicy::drop_tail(QueueLimit::Packets(9)).pausing(pfc);
        let later = vec![(Time::from_us(10), to(5, 5))];
        let first = (0..4).map(|seq| to(seq, seq as usize + 1)).collect();
        let back = link(5, "w", "a");
        let host = Host { first, later, is_blind: true, ..Host::default() };
        let host = run_tapped((5, &[]), &[(back, Kind::ALL)], policy, host);
        let told = (0..frames).map(|number| 6_067_200 + step * 1_000 * number).chain([13_067_200]);
        assert_eq!(host.passed, told.map(|ps| (back, Time(ps), true)).collect::<Vec<_>>(), "{refresh}");
        let stats = host.pauses[LINK.index()].expect("a port that is paused");
        assert_eq!((stats.pauses, stats.lapsed, stats.paused), (1, 0, Time::from_us(7)), "{refresh}");
        assert_eq!(host.came.last().map(|(at, ..)| at.0), Some(26_067_200), "{refresh}");
    }
}

/// Four packets for b stand in the switch from 5 us until 42 us, and keep a paused. Frames of 2.048 us are told again as they end, but that
/// of 35.72 us waits until 36 us, for b's answer of 2,500 B, which came at 34 us. So the pause is over at 36.7872 us, when a sends what it
/// has had since 10 us, until the frame is there at 37.0672 us. That packet leaves the switch at 48.7872 us, which ends the pause: a
/// hears of it at 49.8544 us.
#[test]
fn a_pause_lapses_while_its_frame_waits() {
    let pfc = Pfc { xoff: Some(Bytes(5_000)), resume: 4_000, quanta: 40, refresh: 1.0, ..pfc() };
    let policy = QueuePolicy::drop_tail(QueueLimit::Packets(9)).pausing(pfc);
    let (first, later) = ((0..4).map(|seq| to(seq, 1)).collect(), vec![(Time::from_us(10), to(4, 2))]);
    let host = Host { first, later, is_blind: true, answers: Some(2_500), ..Host::default() };
    let host = run_tapped((2, &[]), &[], policy, host);
    let of = |is_answer: bool| {
        host.came.iter().filter(move |(at, ..)| is_answer == ANSWERED.contains(&at.0)).map(|(at, ..)| at.0)
    };
    const ANSWERED: [u64; 5] = [37_000_000, 57_000_000, 73_787_200, 77_000_000, 97_000_000];
    assert_eq!(of(true).collect::<Vec<_>>(), ANSWERED);
    assert_eq!(of(false).collect::<Vec<_>>(), [13_000_000, 23_000_000, 33_000_000, 43_000_000, 49_787_200]);
    let stats = host.pauses[LINK.index()].expect("a port that is paused");
    let paused = Time(36_787_200 - 6_067_200 + 49_854_400 - 37_067_200);
    assert_eq!((stats.pauses, stats.lapsed, stats.paused), (2, 1, paused));
}

/// As above with an answer of 9,000 B, which comes at 86 us and takes 7.2 us, and four packets for b that stand in the switch from 85 us on. The
/// frame that is at a at 86.0672 us pauses it for 2.048 us; the next one waits. Nothing else happens when the pause is over, at 88.1152 us, and
/// a sends what it has had since 87 us: that is at c 13 us later.
#[test]
fn a_pause_lapses_while_nothing_else_happens() {
    let pfc = Pfc { xoff: Some(Bytes(5_000)), resume: 4_000, quanta: 40, refresh: 1.0, ..pfc() };
    let policy = QueuePolicy::drop_tail(QueueLimit::Packets(9)).pausing(pfc);
    let mut later: Vec<_> = (1..5).map(|seq| (Time::from_us(80), to(seq, 1))).collect();
    later.push((Time::from_us(87), to(5, 2)));
    let host = Host { first: vec![to(0, 1)], later, is_blind: true, answers: Some(9_000), ..Host::default() };
    let host = run_tapped((2, &[]), &[], policy, host);
    assert!(host.came.iter().any(|(at, seq, _)| (at.0, *seq) == (101_115_200, 5)), "{:?}", host.came);
    assert!(host.pauses[LINK.index()].is_some_and(|stats| stats.lapsed > 0));
}

/// Of [`a_packet_that_leaves_alone_ends_a_pause`]: the packet that a has had since 10 us is held until 13.0672 us, in a pause that began at
/// 6.0672 us with 5,000 B, which are the threshold, or half of a buffer that all share. One that waits for others alone, without a pause, is not.
#[test]
fn an_observer_sees_what_a_pause_holds() {
    let fixed = Pfc { xoff: Some(Bytes(5_000)), ..pfc() };
    let half_of_the_buffer = Pfc { buffer: 10_000, headroom: Some(Bytes(0)), xoff: None, alpha: 1.0, ..pfc() };
    for pfc in [fixed, half_of_the_buffer] {
        let policy = QueuePolicy::drop_tail(QueueLimit::Packets(9)).pausing(pfc);
        let later = vec![(Time::from_us(10), to(5, 5))];
        let first = (0..4).map(|seq| to(seq, seq as usize + 1)).collect();
        let host = Host { first, later, is_watched: true, ..Host::default() };
        let host = run_tapped((5, &[]), &[], policy, host);
        let held: Vec<_> =
            host.seen.held.iter().map(|held| (held.at.0, held.link, held.paused.0, held.pause.since.0)).collect();
        assert_eq!(held, [(13_067_200, LINK, 3_067_200, 6_067_200)]);
        let pause = host.seen.held[0].pause;
        assert_eq!((pause.priority, pause.reason.shared, pause.reason.told), (0, 5_000, Time::from_us(5)));
        // As many wait for each of the four links: the first is told.
        assert_eq!((pause.reason.threshold, pause.reason.behind), (5_000, Some(link(5, "w", "b0"))));
        assert_eq!(host.seen.sent.iter().filter(|(link, _)| *link == LINK).count(), 5);
        assert!(host.seen.discarded.is_empty());
    }
}

/// The switch has room for two packets of each link and no headroom: of four, two are lost, which are seen and counted.
#[test]
fn what_finds_a_switch_full_is_lost() {
    let pfc = Pfc { buffer: 2_500, xoff: Some(Bytes(90_000)), headroom: Some(Bytes(0)), ..pfc() };
    let policy = QueuePolicy::drop_tail(QueueLimit::Packets(9)).pausing(pfc);
    let first = (0..4).map(|seq| to(seq, 1)).collect();
    let host = run_tapped((1, &[]), &[], policy, Host { first, is_watched: true, ..Host::default() });
    assert_eq!(
        host.came.iter().map(|(at, seq, _)| (at.0, *seq)).collect::<Vec<_>>(),
        [(13_000_000, 0), (23_000_000, 1)]
    );
    let link = link(1, "w", "b0");
    let lost: Vec<_> =
        host.seen.discarded.iter().map(|lost| (lost.loss.at.0, lost.loss.link, lost.loss.cause)).collect();
    assert_eq!(lost, [4_000_000, 5_000_000].map(|at| (at, link, Cause::Full)));
    assert_eq!((host.drops[link.index()], host.drops.iter().sum::<u64>()), (2, 2));
    assert_eq!(host.seen.sent.iter().filter(|(of, _)| *of == LINK).count(), 4);
}

/// Packets for four hosts are at the switch at 31.5, 32.5, 33.5 and 34.5 us, and with the last it pauses a. Its port to a is busy until 36 us
/// with the answer of another host, 2,500 B, which came at 34 us. So the frame is at a at 37.0672 us, and that which ends the pause, as the
/// first packet leaves at 41.5 us, at 42.5672 us.
#[test]
fn a_frame_waits_for_the_packet_in_service_and_not_longer() {
    let policy = QueuePolicy::drop_tail(QueueLimit::Packets(9)).pausing(Pfc { xoff: Some(Bytes(5_000)), ..pfc() });
    let later = (1..5).map(|seq| (Time::from_ns(29_500), to(seq, seq as usize + 1))).collect();
    let host = Host { first: vec![to(0, 1)], later, is_blind: true, answers: Some(2_500), ..Host::default() };
    let back = link(5, "w", "a");
    let host = run_tapped((5, &[]), &[(back, Kind::ALL)], policy, host);
    let passed: Vec<_> = host.passed[..3].iter().map(|(_, at, is_frame)| (at.0, *is_frame)).collect();
    assert_eq!(passed, [(37_000_000, false), (37_067_200, true), (42_567_200, true)]);
}

/// Twenty packets pass ports that pause, and ports with a discipline of their own, at the same times where the run stops in the middle of a
/// window and goes on.
#[test]
fn a_run_may_stop_in_the_middle_of_a_window() {
    let pausing = || QueuePolicy::drop_tail(QueueLimit::Packets(9)).pausing(pfc());
    let priority = || QueuePolicy::drop_tail(QueueLimit::Packets(99)).ordered(Order::Priority);
    let policies: [&dyn Fn() -> QueuePolicy; 2] = [&pausing, &priority];
    for policy in policies {
        let came = |stops: Vec<Time>| {
            let host =
                Host { first: (0..20).map(|seq| packet(seq, 0)).collect(), is_blind: true, stops, ..Host::default() };
            let host = run_tapped((1, &[]), &[], policy(), host);
            host.came.iter().map(|(at, seq, _)| (*at, *seq)).collect::<Vec<_>>()
        };
        let all = came(Vec::new());
        assert_eq!(all.len(), 20);
        for first in 0..30 {
            assert_eq!(came((0..60).map(|i| Time::from_ns(1_000 + first * 37 + i * 3_301)).collect()), all, "{first}");
        }
    }
}

/// Two switch ports share 2,600 B. The last packet for b has left at 22 us, when nobody looks at that port: from 102 us on, when three come for c,
/// there is room for two.
#[test]
fn what_has_left_another_port_is_not_in_a_shared_buffer() {
    let shared = SharedBuffer { bytes: 2_600, alpha: 100.0 };
    let policy = QueuePolicy::drop_tail(QueueLimit::Packets(9)).sharing(shared);
    let later = (2..5).map(|seq| (Time::from_us(98 + u64::from(seq)), to(seq, 2))).collect();
    let first = (0..2).map(|seq| to(seq, 1)).collect();
    let host = run_tapped((2, &[]), &[], policy, Host { first, later, is_blind: true, ..Host::default() });
    assert_eq!(host.came.iter().map(|(_, seq, _)| *seq).collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert_eq!(host.drops[link(2, "w", "b1").index()], 1);
}
