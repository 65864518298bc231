//! UET, packet by packet, and over a channel that trims, marks, loses and reorders.

use linkpool_settings::{Preset, Settings};
use linkpool_transport::uet::{
    Ack, Answers, BalancerKind, Below, Config, Coupling, Data, Nack, Network, NsccConfig, NsccSettings, Output, Probe,
    Progress, Receiver, Rounds, Sender, SenderLaw, Spraying, StrackHtsimTarget, StrackSettings, Subflow, SwiftTarget,
    Turn, Waits,
};
use linkpool_transport::{SenderState, SubflowId, TurnQueue};
use linkpool_units::{Rate, Time};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const MSS: u16 = 1_000;
const WIRE: i64 = 1_064;
const RTO: Time = Time::from_us(100);

/// Packet `psn` was trimmed before a link that is not the last.
fn nack(psn: u32, again: bool) -> Nack {
    Nack { psn, again, marked: false, at_last: false }
}

pub(crate) fn config(change: impl Fn(&mut Config)) -> Arc<Config> {
    let (base_rtt, rate) = (Time::from_us(12), Rate::gbps(100));
    let nscc = NsccSettings::defaults(Preset::Linux);
    let spraying = Spraying {
        entropies: 16,
        freezing: Time::from_ms(10),
        base_rtt,
        rehash_above: 0.05,
        rehash_after: 1,
        flowlet_gap: us(6),
        flowlet_rest: None,
        rss_subflows: 4,
        rss_period: us(15),
        rss_margin: 0.0,
        rss_heeds_timeouts: true,
        mp_rdma_probe: 0.01,
    };
    let mut config = Config {
        mss: MSS,
        header: 64,
        subflows: 1,
        coupling: Coupling::Amp,
        suppression: None,
        entropies: 16,
        balancer: BalancerKind::Oblivious,
        spraying,
        ack_bytes: 4 * WIRE as u32,
        rto: RTO,
        base_rtt,
        rate,
        most_products: 1.5,
        first_window: None,
        trimmable: true,
        law: SenderLaw::Nscc,
        median_of: 1,
        credit: false,
        credit_rules: None,
        sleek: false,
        by_order: false,
        nacks_lower_rtt: true,
        mp_rdma_delta: 32,
        nscc: NsccConfig::new(nscc, MSS, 64, &Network { base_rtt, rate }, true),
        swift: SwiftTarget { target: us(9), range: us(105), mtu: WIRE as f64 },
        strack: StrackSettings::defaults(Preset::Linux),
        strack_htsim: StrackHtsimTarget { target: us(9), below: Below::Assigned, base_rtt, mtu: WIRE as u32 },
    };
    change(&mut config);
    Arc::new(config)
}

pub(crate) fn us(n: u64) -> Time {
    Time::from_us(n)
}

/// Numbers that look random: a linear congruential generator (Knuth's MMIX).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, n: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(n)) as u32
    }
}

/// What a sender sends at an instant.
pub(crate) struct Said {
    pub(crate) data: Vec<(Data, u16)>,
    pub(crate) probes: Vec<(Probe, u16)>,
    asked: Vec<u32>,
    pub(crate) wakes: Vec<Time>,
    measured: Vec<(SubflowId, Time)>,
    /// Are the links free?
    free: bool,
    waits: bool,
    random: Random,
}

impl Said {
    pub(crate) fn new() -> Said {
        Said {
            data: Vec::new(),
            probes: Vec::new(),
            asked: Vec::new(),
            wakes: Vec::new(),
            measured: Vec::new(),
            free: true,
            waits: false,
            random: Random(7),
        }
    }
    fn psns(&mut self) -> Vec<u32> {
        self.data.drain(..).map(|(data, _)| data.psn).collect()
    }
}

impl Output for Said {
    fn send(&mut self, data: Data, entropy: u16) {
        self.data.push((data, entropy));
    }
    fn probe(&mut self, probe: Probe, entropy: u16) {
        self.probes.push((probe, entropy));
    }
    fn ask(&mut self, target: u32, _entropy: u16) {
        self.asked.push(target);
    }
    fn others(&self) -> usize {
        0
    }
    fn wake(&mut self, at: Time) {
        self.wakes.push(at);
    }
    fn measured_rtt(&mut self, subflow: SubflowId, rtt: Time) {
        self.measured.push((subflow, rtt));
    }
    fn is_free(&self) -> bool {
        self.free
    }
    fn queue_turn(&mut self) {
        assert!(!self.waits, "it waits already");
        self.waits = true;
    }
    fn random(&mut self, n: u32) -> u32 {
        self.random.below(n)
    }
}

/// The answers of a receiver.
#[derive(Default)]
pub(crate) struct Answered {
    pub(crate) acks: Vec<Ack>,
    pub(crate) nacks: Vec<Nack>,
    pulls: Vec<u32>,
    turns: Vec<Turn>,
}

impl Answers for Answered {
    fn ack(&mut self, ack: Ack) {
        self.acks.push(ack);
    }
    fn nack(&mut self, nack: Nack) {
        self.nacks.push(nack);
    }
    fn pull(&mut self, granted: u32) {
        self.pulls.push(granted);
    }
    fn queue_turn(&mut self, turn: Turn) {
        self.turns.push(turn);
    }
}

/// A sender of `size` bytes with a window of half a packet more than `packets`, opened.
fn opened(packets: i64, size: Option<u64>) -> (Sender, Said) {
    let config = config(|config| config.first_window = Some((packets * WIRE + WIRE / 2) as f64));
    let (mut sender, mut said) = (Sender::new(config, size, false, 5), Said::new());
    sender.open(Time::ZERO, &mut said);
    (sender, said)
}

/// An ACK of all below `cumulative`, caused by the last of these.
fn ack(cumulative: u32) -> Ack {
    Ack {
        cumulative,
        base: cumulative + 1,
        psn: cumulative - 1,
        received: u64::from(cumulative) * WIRE as u64,
        ..Ack::default()
    }
}

/// Four packets of 1,064 B fit into a window of 4.5; the last of them asks for an ACK, as the window is full.
/// An ACK of two lets two more out.
#[test]
fn a_window_is_sent_at_once_and_its_last_packet_asks_for_an_ack() {
    let (mut sender, mut said) = opened(4, None);
    let asks: Vec<bool> = said.data.iter().map(|(data, _)| data.ack_now).collect();
    assert_eq!(asks, [false, false, false, true]);
    assert!(said.data.iter().all(|(data, _)| data.len == MSS && !data.last && !data.again));
    let entropies: BTreeSet<u16> = said.data.iter().map(|(_, entropy)| *entropy).collect();
    assert!(entropies.len() == 4 && entropies.iter().all(|entropy| *entropy < 16));
    assert_eq!((said.psns(), sender.in_flight()), (vec![0, 1, 2, 3], 4 * WIRE));
    sender.on_ack(&ack(2), 3, us(20), &mut said);
    assert_eq!((said.psns(), sender.in_flight(), sender.acked()), (vec![4, 5], 4 * WIRE, 2_000));
}

/// The last packet holds what is left, asks for an ACK, and says that it is the last.
#[test]
fn the_last_packet_is_as_long_as_what_is_left() {
    for (size, lens) in [(1, vec![1]), (1_000, vec![1_000]), (2_500, vec![1_000, 1_000, 500])] {
        let (mut sender, mut said) = opened(8, Some(size));
        assert_eq!(said.data.iter().map(|(data, _)| data.len).collect::<Vec<_>>(), lens);
        let ends: Vec<bool> = said.data.iter().map(|(data, _)| data.last && data.ack_now).collect();
        assert_eq!(ends.iter().filter(|ends| **ends).count(), 1);
        assert!(ends[lens.len() - 1]);
        let packets = lens.len() as u32;
        sender.on_ack(&Ack { received: size + 64 * u64::from(packets), ..ack(packets) }, 0, us(20), &mut said);
        assert_eq!((sender.state(), sender.acked(), sender.ended()), (SenderState::Finished, size, Some(us(20))));
        assert_eq!(sender.in_flight(), 0);
    }
}

/// Where the links are busy it sends one packet a turn.
#[test]
fn senders_take_turns() {
    let (mut sender, mut said) = (Sender::new(config(|_| {}), Some(3_000), false, 5), Said::new());
    said.free = false;
    sender.open(Time::ZERO, &mut said);
    for psn in 0..3 {
        assert!(said.data.is_empty() && std::mem::take(&mut said.waits));
        assert!(sender.on_turn(us(1 + u64::from(psn)), &mut said));
        assert_eq!(said.psns(), [psn]);
    }
    assert!(!said.waits && !sender.on_turn(us(9), &mut said), "a turn without data is left to others");
    // The timer runs from the first packet.
    assert_eq!(said.wakes[0], us(1) + RTO);
}

/// Packets 3 and 1 are trimmed: 1 is sent again first, before new data, and asks for an ACK.
#[test]
fn the_lowest_psn_is_sent_again_first() {
    let (mut sender, mut said) = opened(5, None);
    said.psns();
    said.free = false;
    sender.on_nack(nack(3, false), 0, us(13), &mut said);
    sender.on_nack(nack(1, false), 0, us(13), &mut said);
    sender.on_nack(nack(1, false), 0, us(13), &mut said);
    assert_eq!((sender.counters().nacks, sender.in_flight()), (3, 3 * WIRE), "the second NACK of 1 is late");
    // 3 packets are in flight, and the window lost 2: an ACK of packet 0 makes room.
    sender.on_ack(&ack(1), 0, us(14), &mut said);
    assert!(std::mem::take(&mut said.waits) && sender.on_turn(us(15), &mut said));
    assert_eq!(said.data.len(), 1);
    assert!(said.data[0].0.psn == 1 && said.data[0].0.again && said.data[0].0.ack_now);
}

/// An ACK whose bitmap has packets 2 and 4: what was to be sent again is not.
#[test]
fn a_bitmap_acknowledges() {
    let (mut sender, mut said) = opened(6, Some(6_000));
    said.psns();
    said.free = false;
    sender.on_nack(nack(2, false), 0, us(13), &mut said);
    assert_eq!(sender.in_flight(), 5 * WIRE);
    let selective = Ack { cumulative: 1, base: 2, bitmap: 0b101, psn: 4, received: 3 * WIRE as u64, ..Ack::default() };
    sender.on_ack(&selective, 0, us(14), &mut said);
    // Three of six are in flight; packet 2 was taken twice, and is given back once.
    assert_eq!((sender.acked(), sender.in_order(), sender.in_flight()), (3_000, 1_000, 3 * WIRE));
    while std::mem::take(&mut said.waits) {
        sender.on_turn(us(15), &mut said);
    }
    assert!(said.psns().is_empty());
    sender.on_ack(&ack(6), 0, us(16), &mut said);
    assert_eq!((sender.state(), sender.in_flight()), (SenderState::Finished, 0));
}

/// The timeout is that of the oldest packet without an answer, and the next is as long.
#[test]
fn a_timeout_does_not_back_off() {
    let (mut sender, mut said) = opened(2, Some(2_000));
    said.psns();
    assert_eq!(said.wakes, [RTO]);
    sender.on_timer(RTO, &mut said);
    let window = sender.subflows()[0].window().bytes;
    assert_eq!((said.psns(), sender.subflows()[0].counters().timeouts, window), (vec![0], 2, WIRE as f64));
    assert_eq!(sender.in_flight(), WIRE);
    for i in 2..5 {
        assert_eq!(said.wakes.pop(), Some(RTO * i));
        sender.on_timer(RTO * i, &mut said);
        assert_eq!(said.psns(), [0]);
    }
}

/// A round-trip time counts if it is known which copy has come: of a packet sent again, if the ACK says
/// so, and if that was once.
#[test]
fn samples_are_of_known_copies() {
    let (mut sender, mut said) = opened(20, Some(8_000));
    sender.on_ack(&ack(1), 0, us(12), &mut said);
    assert_eq!(sender.subflows()[0].min_rtt(), Some(us(12)));
    sender.on_nack(nack(2, false), 0, us(13), &mut said);
    let of = |again| Ack { again, psn: 2, bitmap: 0, cumulative: 1, received: WIRE as u64, ..Ack::default() };
    let before = sender.subflows()[0].srtt();
    sender.on_ack(&of(false), 0, us(20), &mut said);
    assert_eq!(sender.subflows()[0].srtt(), before, "the first copy was trimmed");
    sender.on_ack(&of(true), 0, us(23), &mut said);
    assert!(sender.subflows()[0].srtt() != before && sender.subflows()[0].min_rtt() == Some(us(10)));
    // A NACK that comes late, of the first copy, is no sample of the second.
    sender.on_nack(nack(3, false), 0, us(24), &mut said);
    sender.on_nack(nack(3, false), 0, us(25), &mut said);
    assert_eq!(sender.subflows()[0].window().base_rtt, us(10));
    sender.on_nack(nack(4, false), 0, us(25), &mut said);
    sender.on_nack(nack(4, true), 0, us(33), &mut said);
    assert_eq!(sender.subflows()[0].window().base_rtt, us(8));
    assert_eq!(said.measured, [12, 10].map(|rtt| (SubflowId::FIRST, us(rtt))), "NACKs are not told");
}

/// The answer to a trimmed packet lowers the base RTT, or not.
#[test]
fn a_nack_lowers_the_base_rtt() {
    for (nacks_lower_rtt, base) in [(true, us(8)), (false, us(12))] {
        let config = config(|config| config.nacks_lower_rtt = nacks_lower_rtt);
        let (mut sender, mut said) = (Sender::new(config, None, false, 5), Said::new());
        sender.open(Time::ZERO, &mut said);
        sender.on_nack(nack(0, false), 0, us(8), &mut said);
        assert_eq!(sender.subflows()[0].window().base_rtt, base);
    }
}

/// What each packet makes a receiver say, with an ACK every 4 packets.
#[test]
fn a_receiver_acknowledges_by_its_rules() {
    let mut receiver = Receiver::new(config(|_| {}));
    let mut got = |psn, ack_now, marked| {
        let mut out = Answered::default();
        let data = Data { psn, subflow: SubflowId::FIRST, len: MSS, ack_now, again: false, last: psn == 20, target: 0 };
        let progress = receiver.on_data(data, marked, us(1), &mut out);
        assert!(out.acks.len() < 2 && out.nacks.is_empty());
        (out.acks.pop().map(|ack| (ack.cumulative, ack.base, ack.bitmap, ack.out_of_order)), progress)
    };
    assert_eq!(got(0, false, false), (Some((1, 2, 0, 0)), Progress::InOrder), "the first data");
    assert_eq!([1, 2, 3].map(|psn| got(psn, false, false).0), [None; 3]);
    assert_eq!(got(4, false, false).0, Some((5, 6, 0, 0)), "16 KB, here 4 packets");
    assert_eq!(got(7, false, true), (Some((5, 7, 1, 1)), Progress::None), "a mark: the bitmap begins with the packet");
    assert_eq!(got(6, false, false).0, None);
    assert_eq!(got(8, true, false).0, Some((5, 8, 1, 3)), "on request");
    assert_eq!(got(8, false, false).0, Some((5, 6, 0b111, 3)), "a duplicate");
    assert_eq!(got(10, false, false).0, None);
    assert_eq!(got(5, false, false), (None, Progress::InOrder), "a gap is left");
    assert_eq!(got(9, false, false).0, Some((11, 12, 0, 0)), "the last gap closes after a request");
    assert_eq!(got(11, false, false).0, None, "once");
    for psn in 12..20 {
        got(psn, false, false);
    }
    assert_eq!(got(20, false, false).1, Progress::Complete);
    assert_eq!(receiver.delivered(), 21_000);
}

/// The bitmap of an ACK by bytes ends with the packet that caused it, at most 64 packets above the gap.
#[test]
fn a_bitmap_ends_with_the_packet() {
    let mut receiver = Receiver::new(config(|config| config.ack_bytes = 1));
    let mut last = Ack::default();
    for psn in 1..=100 {
        let mut out = Answered::default();
        let data =
            Data { psn, subflow: SubflowId::FIRST, len: MSS, ack_now: false, again: true, last: false, target: 0 };
        receiver.on_data(data, false, us(1), &mut out);
        last = out.acks.pop().unwrap();
    }
    assert_eq!((last.cumulative, last.base, last.bitmap), (0, 37, u64::MAX));
    assert_eq!((last.psn, last.again, last.out_of_order, last.received), (100, true, 100, 100 * WIRE as u64));
}

/// The header of a packet that is missing has a NACK, of one that has come an ACK.
#[test]
fn a_trimmed_packet_has_a_nack() {
    let mut receiver = Receiver::new(config(|_| {}));
    let mut out = Answered::default();
    let trimmed =
        Data { psn: 0, subflow: SubflowId::FIRST, len: 5, ack_now: false, again: false, last: true, target: 0 };
    receiver.on_trimmed(trimmed, (true, false), us(1), &mut out);
    assert_eq!((out.nacks, out.acks.len()), (vec![Nack { psn: 0, again: false, marked: true, at_last: false }], 0));
    let mut out = Answered::default();
    receiver.on_trimmed(trimmed, (false, true), us(1), &mut out);
    assert_eq!(out.nacks, [Nack { psn: 0, again: false, marked: false, at_last: true }]);
    let mut out = Answered::default();
    receiver.on_data(
        Data { psn: 0, subflow: SubflowId::FIRST, len: 5, ack_now: false, again: true, last: true, target: 0 },
        false,
        us(2),
        &mut out,
    );
    receiver.on_trimmed(trimmed, (false, true), us(3), &mut out);
    assert_eq!((out.nacks.len(), out.acks.len(), receiver.delivered(), receiver.last_heard()), (0, 2, 5, us(3)));
}

/// A packet that was trimmed before its last link came over a path that is well: REPS uses its value again, unless it was marked.
/// The window is cut as for others, but where the receiver grants credit.
#[test]
fn the_last_link_is_no_part_of_a_path() {
    let after = |(marked, at_last), credit| {
        let config = config(|c| {
            (c.balancer, c.credit, c.first_window, c.spraying.entropies) =
                (BalancerKind::RepsLegacy, credit, Some(40_000.0), 4_096);
            c.entropies = 4_096;
        });
        let (mut sender, mut said) = (Sender::new(config, Some(60_000), false, 1), Said::new());
        sender.open(us(0), &mut said);
        let (sent, before) = (said.data.len(), sender.subflows()[0].window().bytes);
        let value = said.data[3].1;
        sender.on_nack(Nack { psn: 3, again: false, marked, at_last }, value, us(14), &mut said);
        let taken = before - sender.subflows()[0].window().bytes;
        sender.on_pull(4_000, us(14), &mut said);
        // All others have come: packet 3 is sent again.
        let others = Ack { cumulative: 3, base: 4, bitmap: (1 << 33) - 1, received: 36 * WIRE as u64, ..ack(3) };
        sender.on_ack(&others, 0, us(15), &mut said);
        (said.data[sent..].iter().any(|(_, entropy)| *entropy == value), taken)
    };
    let cut = WIRE as f64;
    assert_eq!(after((false, true), false), (true, cut));
    assert_eq!(after((true, true), false), (false, cut));
    assert_eq!(after((false, false), false), (false, cut));
    assert_eq!((after((false, true), true).1, after((false, false), true).1), (0.0, cut));
}

/// Two subflows: each is acknowledged after four packets of its own, and a bitmap ends with the packet that caused it
/// even if the sender asked or it was marked, as packets of the other subflow are missing.
#[test]
fn a_receiver_acknowledges_each_subflow() {
    let mut receiver = Receiver::new(config(|config| config.subflows = 2));
    let mut acks = |psn, subflow, ack_now, marked| {
        let data =
            Data { psn, subflow: SubflowId::new(subflow), len: MSS, ack_now, again: false, last: false, target: 0 };
        let mut out = Answered::default();
        receiver.on_data(data, marked, us(1), &mut out);
        out.acks
    };
    assert_eq!(acks(0, 0, false, false).len(), 1, "the first");
    let quiet = [(2, 0), (3, 1), (4, 0), (5, 1), (6, 0), (7, 1)].map(|(psn, subflow)| acks(psn, subflow, false, false));
    assert!(quiet.iter().all(Vec::is_empty));
    let fourth = acks(8, 0, false, false)[0];
    assert_eq!((fourth.psn, fourth.cumulative, fourth.base, fourth.bitmap), (8, 1, 2, 0b111_1111));
    assert_eq!(acks(9, 1, false, false)[0].psn, 9, "the fourth of subflow 1");
    for (psn, ack_now, marked) in [(10, true, false), (11, false, true)] {
        let ack = acks(psn, 1, ack_now, marked)[0];
        assert_eq!((ack.base, ack.bitmap.count_ones(), ack.marked), (2, psn - 1, marked));
    }
    assert!(acks(12, 1, false, false).is_empty(), "it counts anew");
}

/// Without the order of a path a gap names no loss. A receiver that grants credit takes its turn for what is wanted; probes
/// and requests count as signs of life, and the bitmap of their answers begins above the first packet that is missing.
#[test]
fn a_receiver_hears_all_that_a_sender_says() {
    let mut receiver = Receiver::new(config(|config| config.credit = true));
    let mut out = Answered::default();
    let data = |psn, target| Data {
        psn,
        subflow: SubflowId::FIRST,
        len: MSS,
        ack_now: false,
        again: false,
        last: false,
        target,
    };
    receiver.on_data(data(0, 0), false, us(1), &mut out);
    assert_eq!((out.turns.len(), receiver.last_heard()), (0, us(1)), "it wants nothing");
    receiver.on_data(data(9, 5), false, us(2), &mut out);
    assert_eq!((out.turns.len(), out.nacks.len(), receiver.last_heard()), (1, 0, us(2)));
    receiver.on_turn(&mut out);
    assert_eq!(out.pulls.len(), 1);
    out.acks.clear();
    receiver.on_probe(Probe { number: 7, section: 0, again: false }, true, us(3), &mut out);
    receiver.on_asked(5, us(4), &mut out);
    assert_eq!(receiver.last_heard(), us(4));
    receiver.on_probe(Probe { number: 8, section: 0, again: false }, false, us(5), &mut out);
    assert_eq!(receiver.last_heard(), us(5));
    let said = out.acks.iter().map(|ack| (ack.psn, ack.cumulative, ack.base, ack.bitmap, ack.probe, ack.marked));
    let bitmap = 1 << 7; // of packet 9, from 2 on
    assert_eq!(
        said.collect::<Vec<_>>(),
        [(7, 1, 2, bitmap, true, true), (u32::MAX, 1, 2, bitmap, false, false), (8, 1, 2, bitmap, true, false)]
    );
}

/// A connection that stays open carries messages of 2,500 B and 1 B: each ends a packet.
#[test]
fn messages_end_packets() {
    let (mut sender, mut said) = (Sender::new(config(|_| {}), Some(2_500), true, 5), Said::new());
    sender.open(Time::ZERO, &mut said);
    sender.extend(1, us(1), &mut said);
    let lens: Vec<u16> = said.data.iter().map(|(data, _)| data.len).collect();
    assert_eq!(lens, [1_000, 1_000, 500, 1]);
    assert!(said.data.iter().all(|(data, _)| !data.last));
    let mut receiver = Receiver::new(config(|_| {}));
    for place in [3, 0, 2, 1] {
        receiver.on_data(said.data[place].0, false, us(5), &mut Answered::default());
    }
    assert_eq!(receiver.delivered(), 2_501);
    sender.on_ack(&Ack { received: 2_501 + 4 * 64, ..ack(4) }, 0, us(13), &mut said);
    assert_eq!((sender.in_order(), sender.state(), sender.in_flight()), (2_501, SenderState::Open, 0));
    sender.stop(us(20));
    assert_eq!(sender.state(), SenderState::Finished);
}

/// A packet or an answer on its way.
#[derive(Clone, Copy, Debug)]
enum Travelling {
    Data(Data, u16, bool),
    Header(Data, u16),
    Probe(Probe, u16),
    Asked(u32, u16),
    Ack(Ack, u16),
    Nack(Nack, u16),
    Pull(u32),
    /// The receiver's turn to grant credit.
    Turn,
}

/// What holds a sender back, how it finds losses, and how it chooses entropy values.
fn kind() -> impl Strategy<Value = (SenderLaw, bool, bool, BalancerKind)> {
    let laws = prop_oneof![
        3 => Just((SenderLaw::Nscc, false, false)),
        1 => Just((SenderLaw::Nscc, false, true)),
        2 => Just((SenderLaw::None, true, false)),
        1 => Just((SenderLaw::Nscc, true, false)),
        1 => Just((SenderLaw::Constant, false, false)),
        1 => Just((SenderLaw::Fastflow, false, false)),
        1 => Just((SenderLaw::Dctcp, false, false)),
        1 => Just((SenderLaw::Swift, false, false)),
        1 => Just((SenderLaw::Strack, false, false)),
        1 => Just((SenderLaw::Strack, false, true)),
        1 => Just((SenderLaw::StrackHtsim, false, false)),
        1 => Just((SenderLaw::StrackHtsim, true, false)),
        1 => Just((SenderLaw::MpRdma, false, false)),
    ];
    use BalancerKind::{Bitmap, Flowbender, Flowlets, Mixed, MpRdma, Oblivious, Plb, Reps, RepsLegacy, Rss};
    let balancers = vec![Oblivious, Bitmap, Reps, RepsLegacy, Mixed, Flowbender, Plb, Flowlets, Rss, MpRdma];
    (laws, prop::sample::select(balancers)).prop_map(|((law, credit, sleek), balancer)| (law, credit, sleek, balancer))
}

/// How many subflows there are, and what their windows have to do with each other.
fn subflows() -> impl Strategy<Value = (u8, Coupling, Option<Rounds>)> {
    let couplings = prop::sample::select(vec![Coupling::Amp, Coupling::Lia, Coupling::Uncoupled]);
    let rounds = prop::option::of((1u32..4, 1u32..4).prop_map(|(suppress, release)| Rounds { suppress, release }));
    (prop::sample::select(vec![1, 2, 8, 16]), couplings, rounds)
}

/// The fate of a packet, by the thousandth.
#[derive(Clone, Copy, Debug)]
struct Channel {
    lost: u32,
    trimmed: u32,
    marked: u32,
    /// The longest delay of a packet, us.
    spread: u32,
}

fn channel() -> impl Strategy<Value = Channel> {
    (0u32..150, 0u32..400, 0u32..1_000, 1u32..80).prop_map(|(lost, trimmed, marked, spread)| Channel {
        lost,
        trimmed,
        marked,
        spread,
    })
}

proptest! {
    /// Whatever the channel does, all arrives, once in order, and nothing is in flight at the end.
    #[test]
    fn nothing_is_lost_and_nothing_comes_twice(
        channel in channel(),
        (law, credit, sleek, balancer) in kind(),
        median_of in prop_oneof![Just(1), Just(7)],
        (several, coupling, suppression) in subflows(),
        size in 1u64..200_000,
        window in 1i64..200,
        seed: u64,
    ) {
        let config = config(|config| {
            config.first_window = Some((window * WIRE) as f64);
            (config.law, config.credit, config.sleek, config.balancer) = (law, credit, sleek, balancer);
            config.median_of = median_of;
            config.trimmable = !sleek;
            let by_each_ack = [SenderLaw::MpRdma, SenderLaw::StrackHtsim].contains(&law);
            let alone = [BalancerKind::Rss, BalancerKind::MpRdma].contains(&balancer) || by_each_ack;
            if balancer == BalancerKind::MpRdma || by_each_ack {
                config.ack_bytes = 1;
            }
            if !credit && !sleek && !alone {
                (config.subflows, config.coupling, config.suppression) = (several, coupling, suppression);
                config.spraying.entropies = 16 / u16::from(several);
            }
        });
        let mut random = Random(seed);
        let (mut sender, mut receiver) = (Sender::new(config.clone(), Some(size), false, 1), Receiver::new(config));
        let mut turns = TurnQueue::default();
        let mut events: BTreeMap<(Time, u64), Option<Travelling>> = BTreeMap::new();
        let (mut number, mut completed, mut now) = (0, 0, Time::ZERO);
        let mut said = Said::new();
        said.free = false;
        sender.open(now, &mut said);
        loop {
            prop_assert!(sender.in_flight() <= 450 * WIRE);
            if sender.subflows().len() > 1 {
                prop_assert!(sender.subflows().iter().all(|subflow| subflow.in_flight() >= 0));
                prop_assert!(sender.subflows().iter().all(|subflow| subflow.window().bytes >= WIRE as f64));
            }
            let probes = said.probes.drain(..).map(|(probe, entropy)| Travelling::Probe(probe, entropy));
            for header in probes.chain(said.asked.drain(..).map(|target| Travelling::Asked(target, 0))) {
                number += 1;
                if random.below(1_000) >= channel.lost {
                    events.insert((now + us(u64::from(1 + random.below(channel.spread))), number), Some(header));
                }
            }
            for (data, entropy) in said.data.drain(..) {
                let fate = random.below(1_000);
                let at = now + us(u64::from(1 + random.below(channel.spread)));
                number += 1;
                if fate >= channel.lost + channel.trimmed {
                    let marked = random.below(1_000) < channel.marked;
                    events.insert((at, number), Some(Travelling::Data(data, entropy, marked)));
                } else if fate >= channel.lost {
                    events.insert((at, number), Some(Travelling::Header(data, entropy)));
                }
            }
            for at in said.wakes.drain(..) {
                number += 1;
                events.insert((at, number), None);
            }
            if std::mem::take(&mut said.waits) {
                turns.add(1, false);
            }
            if sender.state() == SenderState::Finished {
                break;
            }
            let event = events.first_key_value().map(|((at, _), _)| *at);
            if let Some(due) = turns.due().filter(|due| event.is_none_or(|at| *due <= at)) {
                now = due.max(now);
                turns.next(now);
                if sender.on_turn(now, &mut said) {
                    turns.spend(now, Time::from_ns(85));
                }
                continue;
            }
            let Some(((at, _), travelling)) = events.pop_first() else {
                prop_assert!(false, "nothing will happen any more");
                break;
            };
            // A window of 10 B sends a packet in a hundred round-trip times.
            let long = Time::from_secs(if law == SenderLaw::StrackHtsim { 60 } else { 2 });
            prop_assert!(at < long, "it takes too long");
            now = at;
            let mut out = Answered::default();
            let mut answers = 0;
            match travelling {
                None => sender.on_timer(now, &mut said),
                Some(Travelling::Data(data, entropy, marked)) => {
                    completed += u32::from(receiver.on_data(data, marked, now, &mut out) == Progress::Complete);
                    answers = entropy;
                }
                Some(Travelling::Header(data, entropy)) => {
                    receiver.on_trimmed(data, (false, false), now, &mut out);
                    answers = entropy;
                }
                Some(Travelling::Probe(probe, entropy)) => {
                    receiver.on_probe(probe, false, now, &mut out);
                    answers = entropy;
                }
                Some(Travelling::Asked(target, entropy)) => {
                    receiver.on_asked(target, now, &mut out);
                    answers = entropy;
                }
                Some(Travelling::Turn) => {
                    receiver.on_turn(&mut out);
                }
                Some(Travelling::Pull(granted)) => sender.on_pull(granted, now, &mut said),
                Some(Travelling::Ack(ack, entropy)) => {
                    sender.on_ack(&ack, entropy, now, &mut said);
                }
                Some(Travelling::Nack(Nack { psn, again, .. }, entropy)) => {
                    sender.on_nack(nack(psn, again), entropy, now, &mut said);
                }
            }
            for _ in out.turns {
                number += 1;
                events.insert((now + us(1), number), Some(Travelling::Turn));
            }
            let pulls = out.pulls.into_iter().map(Travelling::Pull);
            let back = out.acks.into_iter().map(|ack| Travelling::Ack(ack, answers));
            let back = back.chain(out.nacks.into_iter().map(|nack| Travelling::Nack(nack, answers))).chain(pulls);
            for answer in back.filter(|_| random.below(1_000) >= channel.lost).collect::<Vec<_>>() {
                let at = now + us(u64::from(1 + random.below(channel.spread)));
                number += 1;
                events.insert((at, number), Some(answer));
            }
        }
        prop_assert_eq!((receiver.delivered(), completed), (size, 1));
        prop_assert_eq!((sender.acked(), sender.in_order()), (size, size));
        prop_assert_eq!(sender.subflows().iter().map(Subflow::acked).sum::<u64>(), size);
        if sender.subflows().len() > 1 {
            prop_assert!(sender.subflows().iter().all(|subflow| subflow.in_flight() == 0));
        }
    }
}

/// A sender with credit alone, of 22,500 B at most: 22 packets go without a grant, the last on what is left,
/// and asks for an ACK. The ACK ends the speculation; a PULL lets out what it grants.
#[test]
fn credit_holds_a_sender_back() {
    let config = config(|config| {
        (config.law, config.credit, config.most_products) = (SenderLaw::None, true, 0.15);
    });
    let (mut sender, mut said) = (Sender::new(config, Some(100_000), false, 5), Said::new());
    sender.open(Time::ZERO, &mut said);
    assert_eq!(said.data.len(), 22);
    assert!(said.data[21].0.ack_now && said.data[..21].iter().all(|(data, _)| !data.ack_now));
    // After the first packet 21,436 B are left, and 22,500 B are the most: a packet, 5 quanta.
    assert_eq!(said.data[0].0.target, 5);
    // 908 B below 0: 23,408 B are wanted, 92 quanta.
    assert_eq!(said.data[21].0.target, 92);
    said.psns();
    sender.on_ack(&ack(1), 0, us(12), &mut said);
    assert!(said.psns().is_empty());
    sender.on_pull(4, us(13), &mut said);
    assert_eq!(said.psns(), [22], "1,024 B");
    sender.on_pull(4, us(14), &mut said);
    sender.on_pull(12, us(14), &mut said);
    assert_eq!(said.psns(), [23, 24], "2,048 B more");
    assert_eq!(sender.counters().pulls, 3);
}

/// Packets that timed out wait for credit: the sender asks for it, and again after a timeout without an
/// answer.
#[test]
fn a_sender_without_credit_asks() {
    let config = config(|config| {
        (config.law, config.credit, config.most_products) = (SenderLaw::None, true, 0.02);
    });
    let (mut sender, mut said) = (Sender::new(config, Some(10_000), false, 5), Said::new());
    sender.open(Time::ZERO, &mut said);
    assert_eq!(said.psns(), [0, 1, 2], "3,000 B");
    sender.on_timer(RTO, &mut said);
    // 192 B below 0: all of 10 packets would be 10,640 B, but 3,000 B are the most.
    assert_eq!((said.asked.pop(), said.psns().len()), (Some(13), 0));
    assert_eq!(said.wakes.pop(), Some(RTO * 2));
    sender.on_timer(RTO * 2, &mut said);
    assert_eq!((said.asked.len(), sender.counters().asked), (1, 2));
    sender.on_pull(13, RTO * 2, &mut said);
    assert_eq!(said.psns(), [0, 1, 2]);
}

/// All 4 packets that a window of 4.5 holds time out. When the first does, 3 are in flight, and 3.5 have no room for it: the sender
/// asks for an ACK. When the last has, one may go. Of two packets in the same window the first may go at once; and where a trimmed
/// one waits already, nobody asks.
#[test]
fn a_sender_asks_for_an_ack_if_its_window_holds_what_is_lost() {
    let of = |subflows, size| {
        let config = config(|config| {
            (config.first_window, config.subflows) = (Some(f64::from(subflows) * 4.5 * WIRE as f64), subflows);
            config.spraying.entropies = 16 / u16::from(subflows);
        });
        let (mut sender, mut said) = (Sender::new(config, size, false, 5), Said::new());
        sender.open(Time::ZERO, &mut said);
        said.psns();
        (sender, said)
    };
    let opened = |size| of(1, size);
    let (mut sender, mut said) = opened(None);
    sender.on_timer(RTO, &mut said);
    assert_eq!((said.psns(), said.asked.as_slice()), (vec![0], [0].as_slice()));
    assert_eq!(sender.counters().asked, 1);
    let (mut sender, mut said) = opened(Some(2_000));
    sender.on_timer(RTO, &mut said);
    assert_eq!((said.asked.len(), said.psns()), (0, vec![0, 1]));
    let (mut sender, mut said) = opened(None);
    sender.on_nack(nack(1, false), 0, us(13), &mut said);
    assert!(said.psns().is_empty());
    sender.on_timer(RTO, &mut said);
    assert_eq!(said.asked.len(), 0);
    let (mut sender, mut said) = of(2, None);
    sender.on_timer(RTO, &mut said);
    assert_eq!((said.asked.len(), said.psns().len()), (0, 2), "of two windows");
}

/// A sender asks once in a base RTT of 12 us, whatever is lost meanwhile.
#[test]
fn a_sender_asks_once_in_a_base_rtt() {
    for (at, asked) in [(11, 1), (12, 2)] {
        let (mut sender, mut said) = on_credit(20_000, false);
        sender.on_pull(13, us(at), &mut said);
        assert_eq!(said.psns(), [3, 4, 5], "3,136 B");
        sender.on_timer(RTO, &mut said);
        sender.on_timer(RTO + us(at), &mut said);
        assert_eq!((said.asked.len(), sender.counters().asked), (asked as usize, asked), "{at}");
    }
}

/// A sender with credit alone, 3,000 B at most: three packets of 1,064 B go without a grant.
fn on_credit(size: u64, stays_open: bool) -> (Sender, Said) {
    let config = config(|config| {
        (config.law, config.credit, config.most_products) = (SenderLaw::None, true, 0.02);
    });
    let (mut sender, mut said) = (Sender::new(config, Some(size), stays_open, 5), Said::new());
    sender.open(Time::ZERO, &mut said);
    assert_eq!(said.psns(), [0, 1, 2]);
    (sender, said)
}

/// A sender that waits while its receiver serves others does not ask at a wake-up that was for packets which have
/// arrived since; a packet that is lost is a reason at once.
#[test]
fn a_sender_asks_for_what_is_lost_and_else_waits() {
    let (mut sender, mut said) = on_credit(10_000, false);
    sender.on_ack(&ack(3), 0, us(12), &mut said);
    sender.on_timer(RTO, &mut said);
    assert_eq!(said.asked.len(), 0, "12 us ago the receiver was heard");
    assert_eq!(said.wakes.pop(), Some(us(12) + RTO));
    sender.on_timer(us(12) + RTO, &mut said);
    assert_eq!(said.asked.len(), 1, "its PULL is lost");
    let (mut sender, mut said) = on_credit(10_000, false);
    sender.on_ack(&ack(1), 0, us(12), &mut said);
    sender.on_timer(RTO, &mut said);
    assert_eq!(said.asked.len(), 1, "packets 1 and 2 are lost");
}

/// After a pause nobody knows of a message without credit: its sender asks at once, and the pause is no measure of its
/// patience. While packets are in flight it waits for what they bring.
#[test]
fn a_message_after_a_pause_asks_at_once() {
    let (mut sender, mut said) = on_credit(3_000, true);
    sender.extend(5_000, us(1), &mut said);
    assert_eq!(said.asked.len(), 0, "three packets are in flight");
    let (mut sender, mut said) = on_credit(3_000, true);
    sender.on_ack(&ack(3), 0, us(12), &mut said);
    sender.extend(5_000, us(1_000), &mut said);
    assert_eq!((said.asked.len(), said.psns().len()), (1, 0));
    // 5 quanta are 1,280 B, and 192 B were below 0. The packet arrives; there is no credit again.
    sender.on_pull(5, us(1_020), &mut said);
    assert_eq!(said.psns(), [3, 4], "1,088 B");
    sender.on_ack(&ack(5), 0, us(1_032), &mut said);
    sender.on_timer(us(1_020) + RTO, &mut said);
    assert_eq!(said.asked.len(), 1);
    assert_eq!(said.wakes.pop(), Some(us(1_032 + 2 * 20) + RTO), "a PULL took 20 us");
}

/// csg-htsim's STrack: the first ACK makes 469 B (2,250,000 / 4,788) of a window of 4.5 packets. A packet goes each 12 us x
/// 1,064 / 469, 27.223880 us, though three are in flight, and when there is nothing to send, nobody is woken for it.
#[test]
fn a_window_below_a_packet_sends_what_is_due() {
    let config = config(|config| {
        (config.law, config.ack_bytes) = (SenderLaw::StrackHtsim, 1);
        config.first_window = Some(4.5 * WIRE as f64);
    });
    let gap = Time(27_223_880);
    let (mut sender, mut said) = (Sender::new(config, Some(6_000), false, 5), Said::new());
    sender.open(Time::ZERO, &mut said);
    assert_eq!(said.psns(), [0, 1, 2, 3]);
    sender.on_ack(&ack(1), 0, us(12), &mut said);
    assert_eq!((said.psns().len(), said.wakes.pop(), sender.subflows()[0].window().bytes), (0, Some(gap), 469.0));
    sender.on_timer(us(27), &mut said);
    assert!(said.psns().is_empty());
    sender.on_timer(gap, &mut said);
    assert_eq!((said.psns(), said.wakes.pop()), (vec![4], Some(gap + gap)));
    sender.on_timer(gap + gap, &mut said);
    assert_eq!((said.psns(), said.wakes.pop()), (vec![5], Some(RTO)));
}

/// Without credit nothing goes when it is due, and nobody is woken for it again: it goes with the next PULL.
#[test]
fn what_is_due_waits_for_credit() {
    let config = config(|config| {
        (config.law, config.ack_bytes, config.credit) = (SenderLaw::StrackHtsim, 1, true);
        config.first_window = Some(4.5 * WIRE as f64);
    });
    let due = Time(27_223_880);
    let (mut sender, mut said) = (Sender::new(config, Some(6_000), false, 5), Said::new());
    sender.open(Time::ZERO, &mut said);
    sender.on_ack(&ack(1), 0, us(12), &mut said);
    assert_eq!((said.psns(), said.wakes.pop()), (vec![0, 1, 2, 3], Some(due)));
    sender.on_timer(due, &mut said);
    assert_eq!((said.psns().len(), said.wakes.pop()), (0, Some(RTO)));
    sender.on_pull(64, us(40), &mut said);
    assert_eq!((said.psns(), said.wakes.pop()), (vec![4], Some(us(40) + due)));
}

/// What is lost at the end is found by a probe: 12 + 9 us after the ACK it is sent, and its fast answer makes
/// the sender send again what has not arrived.
#[test]
fn a_probe_finds_a_lost_tail() {
    let config = config(|config| (config.sleek, config.trimmable) = (true, false));
    let (mut sender, mut said) = (Sender::new(config, Some(10_000), false, 5), Said::new());
    sender.open(Time::ZERO, &mut said);
    said.psns();
    sender.on_ack(&ack(8), 0, us(12), &mut said);
    assert_eq!(said.wakes.pop(), Some(us(33)));
    sender.on_timer(us(33), &mut said);
    assert_eq!((said.psns().len(), said.wakes.pop()), (0, Some(us(93))));
    assert_eq!(said.probes, [(Probe { number: 1, section: 0, again: false }, said.probes[0].1)]);
    let answer = Ack { probe: true, psn: 1, ..ack(8) };
    sender.on_ack(&Ack { psn: 0, ..answer }, 0, us(44), &mut said);
    assert!(said.psns().is_empty(), "of another probe");
    sender.on_ack(&answer, 0, us(45), &mut said);
    assert_eq!(
        (said.psns(), sender.subflows()[0].counters().sent_again, sender.subflows()[0].counters().timeouts),
        (vec![8, 9], 2, 0)
    );
}

/// A probe goes by the delay that the law holds: with Swift's target of 5 us it is sent 12 + 5 us after the ACK, and an answer
/// that took 5 us longer than 12 us met a queue, in which the rest may wait.
#[test]
fn a_probe_goes_by_the_target_of_the_law() {
    for (delay, again) in [(5, vec![]), (4, vec![8, 9])] {
        let config = config(|config| {
            (config.sleek, config.trimmable, config.law) = (true, false, SenderLaw::Swift);
            config.swift.target = us(5);
        });
        let (mut sender, mut said) = (Sender::new(config, Some(10_000), false, 5), Said::new());
        sender.open(Time::ZERO, &mut said);
        said.psns();
        sender.on_ack(&ack(8), 0, us(12), &mut said);
        assert_eq!(said.wakes.pop(), Some(us(29)));
        sender.on_timer(us(29), &mut said);
        sender.on_ack(&Ack { probe: true, psn: 1, ..ack(8) }, 0, us(29 + 12 + delay), &mut said);
        assert_eq!(said.psns(), again, "{delay}");
    }
}

/// NSCC and STrack have NSCC's, Swift and csg-htsim's STrack their own, FASTFLOW half a base RTT of 12 us; the others, which
/// have none, that of the network.
#[test]
fn each_law_has_its_target() {
    use SenderLaw::{Constant, Dctcp, Fastflow, MpRdma, Nscc, Strack, StrackHtsim, Swift};
    let of = |law| {
        let config = config(|config| {
            (config.law, config.nscc.target) = (law, us(8));
            (config.swift.target, config.strack_htsim.target) = (us(5), us(7));
        });
        config.target()
    };
    let laws = [Nscc, Strack, Swift, StrackHtsim, Fastflow, Dctcp, MpRdma, Constant];
    assert_eq!(laws.map(of), [8, 8, 5, 7, 6, 8, 8, 8].map(us));
}

/// Of 30 packets the first is lost: when 12 above it have come, with a window of 8, it is sent again.
#[test]
fn many_packets_above_a_gap_are_a_loss() {
    let config = config(|config| {
        (config.sleek, config.trimmable, config.law) = (true, false, SenderLaw::Constant);
        config.first_window = Some(8.5 * WIRE as f64);
    });
    let (mut sender, mut said) = (Sender::new(config, None, false, 5), Said::new());
    sender.open(Time::ZERO, &mut said);
    for above in 1..=13 {
        said.psns();
        let received = u64::from(above) * WIRE as u64;
        let ack = Ack { cumulative: 0, base: 1, bitmap: (1 << above) - 1, psn: above, received, ..Ack::default() };
        sender.on_ack(&Ack { out_of_order: above, ..ack }, 0, us(11 + u64::from(above)), &mut said);
        let again = said.data.iter().filter(|(data, _)| data.again).map(|(data, _)| data.psn).collect::<Vec<_>>();
        // 1.5 x 9,044 B over 1,000 B: 13 packets.
        assert_eq!(again, if above == 13 { vec![0] } else { vec![] }, "{above}");
    }
    // In recovery the timeouts of 0 and of the 7 packets in flight above send nothing and cut nothing: the next ACK
    // makes it send 0, which it had sent again, once more.
    said.psns();
    let window = sender.subflows()[0].window().bytes;
    sender.on_timer(us(200), &mut said);
    assert_eq!((said.psns(), sender.subflows()[0].window().bytes), (vec![], window));
    assert_eq!(sender.subflows()[0].counters().timeouts, 8);
    let ack = Ack { base: 1, bitmap: (1 << 14) - 1, psn: 14, received: 14 * WIRE as u64, ..Ack::default() };
    sender.on_ack(&Ack { out_of_order: 14, ..ack }, 0, us(201), &mut said);
    assert_eq!(said.data[0].0.psn, 0);
    assert!(said.data[1..].iter().all(|(data, _)| !data.again));
}

/// A turn, room in the window for new data or for what was trimmed, credit, or answers alone.
#[test]
fn a_sender_knows_what_it_waits_for() {
    assert_eq!(opened(4, None).0.waits(), Waits::Window);
    assert_eq!(opened(4, Some(3_000)).0.waits(), Waits::Answers);
    assert_eq!(on_credit(10_000, false).0.waits(), Waits::Credit);
    assert_eq!(on_credit(3_000, false).0.waits(), Waits::Answers);
    let (mut sender, mut said) = opened(4, Some(4_000));
    assert_eq!(sender.waits(), Waits::Answers);
    sender.on_nack(nack(1, false), 0, us(13), &mut said);
    assert_eq!((said.data.len(), sender.waits()), (4, Waits::Window), "of 3.5 packets, with 3 in flight");
    said.free = false;
    sender.on_ack(&ack(1), 0, us(14), &mut said);
    assert_eq!(sender.waits(), Waits::Turn);
}

/// It says whether the stream is acknowledged further: at the first ACK of two packets, not at its copy, and not for a
/// packet above a gap.
#[test]
fn an_ack_says_whether_it_is_in_order() {
    let (mut sender, mut said) = opened(6, None);
    let above = Ack { base: 3, bitmap: 1, psn: 3, received: 3 * WIRE as u64, ..ack(2) };
    let found = [ack(2), ack(2), above, ack(3)].map(|ack| sender.on_ack(&ack, 0, us(20), &mut said));
    assert_eq!((found, sender.in_order(), sender.acked()), ([true, false, false, true], 3_000, 4_000));
}

/// 22 of 30 packets went without a grant, and all timed out; then 20 arrive. 908 B below 0, the other 10 packets want
/// 11,548 B, 46 quanta, and so they do while two of them are sent again.
#[test]
fn a_sender_wants_credit_for_what_is_left() {
    let config = config(|config| {
        (config.law, config.credit, config.most_products) = (SenderLaw::None, true, 0.15);
    });
    let (mut sender, mut said) = (Sender::new(config, Some(30_000), false, 5), Said::new());
    sender.open(Time::ZERO, &mut said);
    assert_eq!(said.psns().len(), 22);
    sender.on_timer(RTO, &mut said);
    assert_eq!((said.asked.pop(), said.psns().len()), (Some(92), 0), "22,500 B are the most that it may have");
    sender.on_ack(&ack(20), 0, RTO + us(12), &mut said);
    // It had asked to be woken a timeout after its question; since then the receiver was heard.
    for _ in 0..2 {
        assert!(said.asked.is_empty());
        let at = said.wakes.pop().unwrap();
        sender.on_timer(at, &mut said);
    }
    assert_eq!(said.asked, [46]);
    sender.on_pull(8, us(1_000), &mut said);
    let sent: Vec<_> = said.data.iter().map(|(data, _)| (data.psn, data.again, data.target)).collect();
    assert_eq!(sent, [(20, true, 46), (21, true, 46)], "1,140 B");
}

/// The law begins when the sender opens: 5 us later it is not yet time for an increase.
#[test]
fn a_law_begins_when_its_sender_opens() {
    let config = config(|config| config.first_window = Some(4.5 * WIRE as f64));
    let (mut sender, mut said) = (Sender::new(config, None, false, 5), Said::new());
    sender.open(us(1_000), &mut said);
    sender.on_ack(&ack(1), 3, us(1_005), &mut said);
    assert_eq!(sender.subflows()[0].window().bytes, 4.5 * WIRE as f64);
    sender.on_ack(&ack(2), 3, us(1_013), &mut said);
    assert!(sender.subflows()[0].window().bytes > 4.5 * WIRE as f64);
}

/// A stream without end wants the most that it may have, as 100,000 B do.
#[test]
fn a_sender_without_end_wants_the_most() {
    let config = config(|config| {
        (config.law, config.credit, config.most_products) = (SenderLaw::None, true, 0.15);
    });
    let (mut sender, mut said) = (Sender::new(config, None, false, 5), Said::new());
    sender.open(Time::ZERO, &mut said);
    assert_eq!([0, 21].map(|psn: usize| said.data[psn].0.target), [5, 92]);
}

/// Of 3,000 B of credit one packet of 1,064 B leaves enough: the lost packet is sent again without a question.
#[test]
fn a_sender_with_credit_sends_again_and_does_not_ask() {
    let config = config(|config| {
        (config.law, config.credit, config.most_products) = (SenderLaw::None, true, 0.02);
    });
    let (mut sender, mut said) = (Sender::new(config, Some(1_000), false, 5), Said::new());
    sender.open(Time::ZERO, &mut said);
    assert_eq!(said.psns(), [0]);
    sender.on_timer(RTO, &mut said);
    assert_eq!((said.psns(), said.asked.len()), (vec![0], 0));
}

/// With more to send the probe waits three base RTTs, not one and the target.
#[test]
fn a_probe_waits_longer_while_there_is_more_to_send() {
    let config = config(|config| {
        (config.sleek, config.trimmable, config.law) = (true, false, SenderLaw::Constant);
        config.first_window = Some(8.5 * WIRE as f64);
    });
    let (mut sender, mut said) = (Sender::new(config, Some(11_000), false, 5), Said::new());
    sender.open(Time::ZERO, &mut said);
    sender.on_ack(&ack(2), 0, us(12), &mut said);
    assert_eq!((said.psns().len(), said.wakes.pop()), (10, Some(us(12 + 3 * 12))), "one packet is left");
    sender.on_ack(&ack(3), 0, us(13), &mut said);
    sender.on_ack(&ack(4), 0, us(14), &mut said);
    assert_eq!((said.psns().len(), said.wakes.pop()), (1, Some(us(14 + 12 + 9))), "nothing is left");
}

/// A subflow counts the ACKs that echo a mark, and a sender remembers when it began.
#[test]
fn marked_acks_are_counted() {
    let (mut sender, mut said) = (Sender::new(config(|_| ()), None, false, 5), Said::new());
    sender.open(us(3), &mut said);
    sender.on_ack(&Ack { marked: true, ..ack(1) }, 0, us(15), &mut said);
    sender.on_ack(&ack(2), 0, us(16), &mut said);
    assert_eq!((sender.started(), sender.subflows()[0].counters().marked_acks), (us(3), 1));
}
