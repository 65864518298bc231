//! RoCE, packet by packet, and over a channel that loses, doubles, marks and reorders.

use linkpool_settings::{Preset, Settings};
use linkpool_transport::SenderState;
use linkpool_transport::roce::{
    CnpForm, Config, DcqcnConfig, LawConfig, Message, Output, PintConfig, Receiver, Retransmission, Sender, Told,
    Window,
};
use linkpool_units::{Rate, Time};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

const MSS: u16 = 1_000;

/// Packets of 1,250 B on the wire: 1 us at 10 Gbit/s.
fn config() -> Config {
    Config {
        mss: MSS,
        header: 250,
        rto: Time::from_ms(1),
        fail_after: 8,
        retransmission: Retransmission::GoBackN,
        reorder_window: 0,
        nack_interval: us(500),
        window: Window::Unlimited,
        window_by_rate: false,
        cnp: None,
        cnp_interval: us(50),
        law: LawConfig::Line,
        telemetry: None,
        sampled: 1.0,
    }
}

fn dcqcn() -> Config {
    Config { cnp: Some(CnpForm::Packet), law: LawConfig::Dcqcn(DcqcnConfig::defaults(Preset::Linux)), ..config() }
}

fn us(n: u64) -> Time {
    Time::from_us(n)
}

/// What an endpoint has sent and asked for.
#[derive(Default)]
struct Said {
    messages: Vec<Message>,
    wakes: Vec<Time>,
    turns: u32,
    rtts: Vec<Time>,
    /// What is drawn, the next last.
    drawn: Vec<f64>,
}

impl Output for Said {
    fn send(&mut self, message: Message) -> Time {
        self.messages.push(message);
        Time::ZERO
    }
    fn wake(&mut self, at: Time) {
        self.wakes.push(at);
    }
    fn queue_turn(&mut self) {
        self.turns += 1;
    }
    fn random(&mut self) -> f64 {
        self.drawn.pop().expect("nothing is drawn")
    }
    fn measured_rtt(&mut self, rtt: Time) {
        self.rtts.push(rtt);
    }
}

impl Said {
    fn psns(&mut self) -> Vec<u32> {
        let psn = |message| match message {
            Message::Data { psn, .. } => psn,
            other => panic!("not data: {other:?}"),
        };
        self.messages.drain(..).map(psn).collect()
    }
}

/// A sender with a link of 10 Gbit/s and a base RTT of 8 us, and what it has said.
struct Driven {
    sender: Sender,
    said: Said,
}

impl Driven {
    fn open(config: Config, size: Option<u64>) -> Driven {
        let sender = Sender::new(Arc::new(config), size, false, (Rate::gbps(10), us(8)));
        let mut driven = Driven { sender, said: Said::default() };
        driven.sender.open(Time::ZERO, &mut driven.said);
        driven
    }

    /// Gives it turns, and calls that are due, at each microsecond from `from` to before `to`.
    fn run(&mut self, from: u64, to: u64) -> Vec<u32> {
        for now in (from..to).map(us) {
            self.sender.on_timer(now, &mut self.said);
            while std::mem::take(&mut self.said.turns) > 0 {
                self.sender.on_turn(now, &mut self.said);
            }
        }
        self.said.psns()
    }

    fn ack(&mut self, psn: u32, at: Time) {
        self.sender.on_ack((psn, psn + 1), false, Told::default(), at, &mut self.said);
    }

    fn nack(&mut self, psn: u32, next: u32, at: Time) {
        self.sender.on_nack((psn, next), false, Told::default(), at, &mut self.said);
    }
}

/// At 10 Gbit/s one packet of 1,250 B each microsecond.
#[test]
fn packets_leave_at_the_rate_of_the_link() {
    let mut driven = Driven::open(config(), Some(4_500));
    assert_eq!(driven.run(0, 3), [0, 1, 2]);
    assert_eq!(driven.run(3, 20), [3, 4]);
    assert_eq!((driven.sender.in_flight(), driven.sender.counters().sent), (4_500, 5));
    for psn in 0..5 {
        assert_eq!(driven.sender.state(), SenderState::Open);
        driven.ack(psn, us(10 + u64::from(psn)));
    }
    assert_eq!((driven.sender.state(), driven.sender.ended()), (SenderState::Finished, Some(us(14))));
    assert_eq!((driven.sender.acked(), driven.said.rtts.clone()), (4_500, vec![us(10); 5]));
}

/// A packet each microsecond, each acknowledged 3 us later: the sender asks to be woken for each packet, and once for the end of
/// its timeout of 1 ms, whenever that is. When all stops, it is woken at the deadline of the last ACK.
#[test]
fn a_sender_asks_once_for_its_deadline() {
    let mut driven = Driven::open(config(), None);
    for now in 0..50 {
        driven.run(now, now + 1);
        if let Some(psn) = now.checked_sub(3) {
            driven.ack(psn as u32, us(now));
        }
    }
    let wakes = std::mem::take(&mut driven.said.wakes);
    let (late, soon): (Vec<Time>, Vec<Time>) = wakes.into_iter().partition(|at| *at >= us(100));
    assert_eq!((late, soon.len()), (vec![us(1_000)], 50));
    // That one comes too early, as ACKs have come since: it asks again. The packets 47, 48 and 49 are in flight.
    driven.sender.on_timer(us(1_000), &mut driven.said);
    assert!(driven.said.wakes.contains(&us(1_049)), "{:?}", driven.said.wakes);
    assert_eq!(driven.sender.counters().timeouts, 0);
    driven.sender.on_timer(us(1_049), &mut driven.said);
    assert_eq!(driven.sender.counters().timeouts, 1);
}

/// Until an answer comes any packet may open the connection, and they are counted.
#[test]
fn packets_open_until_the_receiver_is_heard() {
    let mut driven = Driven::open(config(), None);
    let opens = |message: &Message| matches!(message, Message::Data { opens: true, .. });
    driven.run(0, 0);
    for now in [0, 1, 2].map(us) {
        driven.sender.on_turn(now, &mut driven.said);
    }
    assert!(driven.said.messages.iter().all(opens));
    driven.sender.on_cnp(us(3), &mut driven.said);
    driven.said.messages.clear();
    driven.sender.on_turn(us(3), &mut driven.said);
    assert!(!opens(&driven.said.messages[0]));
    assert_eq!(driven.sender.openings(), 3);
}

/// A window of 2,500 B: packets go while less is in flight, so three.
#[test]
fn a_window_bounds_what_is_in_flight() {
    let mut driven = Driven::open(Config { window: Window::Bytes(2_500), ..config() }, None);
    assert_eq!(driven.run(0, 10), [0, 1, 2]);
    driven.ack(0, us(10));
    assert_eq!(driven.run(10, 20), [3]);
    // 10 Gbit/s times 8 us: 10,000 B.
    let mut driven = Driven::open(Config { window: Window::Bdp, ..config() }, None);
    assert_eq!(driven.sender.window(), Some(10_000));
    assert_eq!(driven.run(0, 30).len(), 10);
}

/// The window is the share of the line that the rate is. A first notification with alpha 1 halves both; at
/// 5 Gbit/s a packet leaves every 2 us.
#[test]
fn the_window_may_shrink_with_the_rate() {
    let mut driven = Driven::open(Config { window: Window::Bdp, window_by_rate: true, ..dcqcn() }, None);
    assert_eq!(driven.run(0, 4), [0, 1, 2, 3]);
    driven.sender.on_cnp(us(4), &mut driven.said);
    assert_eq!((driven.sender.rate(), driven.sender.window()), (5e9, Some(5_000)));
    assert_eq!(driven.run(4, 20), [4], "five packets are 5,000 B");
    driven.ack(1, us(20));
    assert_eq!(driven.run(20, 21), [5]);
    assert_eq!(driven.run(21, 22), [] as [u32; 0], "2 us at 5 Gbit/s");
    assert_eq!(driven.run(22, 23), [6]);
    assert_eq!(driven.sender.counters().cnps, 1);
}

/// A packet that waits leaves sooner when the rate rises. After a cut to 100 Mbit/s it would wait 100
/// us from its predecessor; at 55 us the rate rises.
#[test]
fn a_rise_of_the_rate_lets_a_packet_leave_sooner() {
    let mut driven = Driven::open(dcqcn(), None);
    driven.run(0, 1);
    for _ in 0..20 {
        driven.sender.on_cnp(Time::ZERO, &mut driven.said);
    }
    assert_eq!(driven.sender.rate(), 1e8);
    driven.said.wakes.clear();
    driven.sender.on_timer(us(1), &mut driven.said);
    assert!(driven.said.wakes.iter().all(|at| *at <= us(55)), "{:?}", driven.said.wakes);
    // Target and rate were 100 Mbit/s before the last cut: no rise in fast recovery.
    assert_eq!(driven.run(1, 100), [] as [u32; 0]);
    assert_eq!(driven.run(100, 101), [1]);
}

/// A NACK for packet 2 acknowledges 0 and 1, and all from 2 on goes again. A late NACK changes nothing.
#[test]
fn a_nack_goes_back() {
    let mut driven = Driven::open(config(), Some(8_000));
    assert_eq!(driven.run(0, 6), [0, 1, 2, 3, 4, 5]);
    driven.nack(3, 2, us(6));
    assert!(driven.sender.is_recovering());
    assert_eq!((driven.sender.acked(), driven.sender.in_flight()), (2_000, 0));
    assert_eq!(driven.run(6, 9), [2, 3, 4]);
    driven.nack(3, 1, us(9));
    assert_eq!(driven.run(9, 13), [5, 6, 7]);
    assert!(!driven.sender.is_recovering());
    let counters = driven.sender.counters();
    assert_eq!((counters.sent, counters.sent_again, counters.nacks), (12, 4, 2));
    // Karn: packet 3 had been sent once when the first NACK came; packet 2 was sent twice, packet 6 once.
    driven.ack(2, us(13));
    assert_eq!(driven.said.rtts, [us(3)]);
    driven.ack(6, us(14));
    assert_eq!(driven.said.rtts, [us(3), us(4)]);
}

/// No answer for 1 ms: the sender goes back. An answer begins the count of timeouts anew; eight in
/// a row end it.
#[test]
fn a_timeout_goes_back_and_eight_end_it() {
    let mut driven = Driven::open(config(), Some(2_000));
    assert_eq!(driven.run(0, 1_000), [0, 1]);
    assert_eq!(driven.run(1_000, 1_010), [0, 1]);
    driven.ack(0, us(1_500));
    assert_eq!(driven.run(1_500, 2_500), [] as [u32; 0], "progress sets the timer anew");
    assert_eq!(driven.run(2_500, 2_600), [1]);
    assert_eq!(driven.run(2_600, 8_500), [1; 5]);
    assert_eq!(driven.sender.state(), SenderState::Open);
    assert_eq!(driven.run(8_500, 9_600), [1]);
    assert_eq!(driven.sender.state(), SenderState::Failed);
    assert_eq!((driven.sender.counters().timeouts, driven.sender.ended()), (9, Some(us(9_500))));
}

/// A message more on a connection that stays open, after a silence, and its end.
#[test]
fn messages_follow_each_other() {
    let mut driven = Driven::open(config(), Some(1_500));
    driven.sender = Sender::new(Arc::new(config()), Some(1_500), true, (Rate::gbps(10), us(8)));
    driven.sender.open(Time::ZERO, &mut driven.said);
    assert_eq!(driven.run(0, 5), [0, 1]);
    [0, 1].into_iter().for_each(|psn| driven.ack(psn, us(10)));
    assert_eq!((driven.sender.state(), driven.sender.acked()), (SenderState::Open, 1_500));
    driven.sender.extend(700, us(9_000), &mut driven.said);
    driven.sender.on_turn(us(9_000), &mut driven.said);
    let expected = Message::Data { psn: 2, len: 700, place: 1_500, first: true, last: true, opens: false };
    assert_eq!(driven.said.messages, [expected]);
    driven.ack(2, us(9_010));
    driven.sender.stop(us(9_020));
    assert_eq!((driven.sender.state(), driven.sender.acked()), (SenderState::Finished, 2_200));
}

/// A sender that stops ends when what it has sent is acknowledged.
#[test]
fn a_sender_that_stops_finishes_what_it_has_sent() {
    let mut driven = Driven::open(config(), None);
    assert_eq!(driven.run(0, 3), [0, 1, 2]);
    driven.sender.stop(us(3));
    assert_eq!(driven.run(3, 20), [] as [u32; 0]);
    driven.ack(2, us(20));
    assert_eq!((driven.sender.state(), driven.sender.acked()), (SenderState::Finished, 3_000));
}

/// IRN: the first NACK says that 2 is missing and 3 is here; 2 goes again, and not 3. The next says
/// that 6 is here: 4 and 5 are lost. New packets go on.
#[test]
fn selective_repeat_sends_what_is_missing() {
    let mut driven = Driven::open(Config { retransmission: Retransmission::Selective, ..config() }, Some(12_000));
    assert_eq!(driven.run(0, 8), [0, 1, 2, 3, 4, 5, 6, 7]);
    driven.nack(3, 2, us(8));
    assert_eq!(driven.run(8, 10), [2, 8]);
    driven.nack(6, 2, us(10));
    assert_eq!(driven.run(10, 13), [4, 5, 9]);
    // Each goes once in a recovery.
    driven.nack(7, 2, us(13));
    assert_eq!(driven.run(13, 15), [10, 11]);
    driven.sender.on_ack((2, 4), false, Told::default(), us(15), &mut driven.said);
    assert_eq!(driven.run(15, 1_015), [] as [u32; 0]);
    // A timeout: all that is not known to have arrived is lost, from 4 on.
    assert_eq!(driven.run(1_015, 1_100), [4, 5, 8, 9, 10, 11]);
    driven.sender.on_ack((11, 12), false, Told::default(), us(1_100), &mut driven.said);
    assert_eq!(driven.sender.state(), SenderState::Finished);
    assert_eq!(driven.sender.counters().sent_again, 9);
}

fn ack(psn: u32, next: u32) -> Message {
    Message::Ack { psn, next, marked: false }
}

fn nack(psn: u32, next: u32) -> Message {
    Message::Nack { psn, next, marked: false }
}

/// Packets of 1,000 B to a receiver, one a microsecond from `from` on.
fn take(receiver: &mut Receiver, from: u64, psns: &[u32]) -> Vec<Message> {
    let mut said = Said::default();
    for (i, psn) in psns.iter().enumerate() {
        let data = (u64::from(*psn) * 1_000, 1_000, *psn == 9);
        let complete = receiver.on_data(*psn, data, false, us(from + i as u64), &mut said);
        assert_eq!(complete, receiver.delivered() == 10_000 && *psn == 9 - u32::from(psns.len() > 9));
    }
    said.messages
}

/// One NACK for a gap in 500 us, and another one then; duplicates are acknowledged. What is out of
/// order is thrown away.
#[test]
fn a_receiver_asks_once_in_an_interval() {
    let mut receiver = Receiver::new(Arc::new(config()));
    assert_eq!(take(&mut receiver, 0, &[0, 1, 3, 4, 5]), [ack(0, 1), ack(1, 2), nack(3, 2)]);
    assert_eq!(take(&mut receiver, 501, &[6]), [], "500 us from 2 us on");
    assert_eq!(take(&mut receiver, 502, &[7]), [nack(7, 2)]);
    assert_eq!(take(&mut receiver, 503, &[2, 1, 4]), [ack(2, 3), ack(1, 3), nack(4, 3)], "another gap asks at once");
    assert_eq!((receiver.delivered(), receiver.last_heard()), (3_000, us(505)));
}

/// A reordering window of 2: packets 3 and 4 are kept while 2 is missing, 5 is not.
#[test]
fn a_receiver_may_keep_what_comes_early() {
    let mut receiver = Receiver::new(Arc::new(Config { reorder_window: 2, ..config() }));
    assert_eq!(take(&mut receiver, 0, &[0, 1, 3, 4]), [ack(0, 1), ack(1, 2), ack(3, 2), ack(4, 2)]);
    assert_eq!(take(&mut receiver, 10, &[5, 2]), [nack(5, 2), ack(2, 5)]);
    assert_eq!(receiver.delivered(), 5_000);
}

#[test]
fn a_receiver_with_selective_repeat_keeps_all() {
    let mut receiver = Receiver::new(Arc::new(Config { retransmission: Retransmission::Selective, ..config() }));
    assert_eq!(take(&mut receiver, 0, &[0, 3, 2]), [ack(0, 1), nack(3, 1), nack(2, 1)]);
    assert_eq!(take(&mut receiver, 10, &[1]), [ack(1, 4)]);
}

/// A packet for marks at once, and none for 50 us; or a bit on each ACK.
#[test]
fn marks_come_back_in_both_ways() {
    let marked = |config: Config, times: &[u64]| {
        let (mut receiver, mut said) = (Receiver::new(Arc::new(config)), Said::default());
        for (psn, at) in times.iter().enumerate() {
            receiver.on_data(psn as u32, (psn as u64 * 1_000, 1_000, false), *at != 7, us(*at), &mut said);
        }
        said.messages
    };
    let by_packet = marked(dcqcn(), &[10, 30, 59, 60]);
    assert_eq!(by_packet, [Message::Cnp, ack(0, 1), ack(1, 2), ack(2, 3), Message::Cnp, ack(3, 4)]);
    let by_bit = marked(Config { cnp: Some(CnpForm::Ack), ..dcqcn() }, &[6, 7]);
    assert_eq!(by_bit, [Message::Ack { psn: 0, next: 1, marked: true }, ack(1, 2)]);
    assert_eq!(marked(config(), &[6]), [ack(0, 1)]);
}

/// The rate of a queue pair at the end of each of 24 rounds of 55 us, in Mbit/s, with notifications in rounds 0
/// to 3 and in round 16.
#[test]
fn the_rate_by_rounds() {
    let hpcc = {
        let mut law = DcqcnConfig::defaults(Preset::Linux);
        law.hpcc();
        Config { cnp: Some(CnpForm::Ack), law: LawConfig::Dcqcn(law), ..dcqcn() }
    };
    let rounds = |config: Config| {
        let mut driven = Driven::open(Config { rto: Time::from_secs(1), ..config }, None);
        let mut rates = Vec::new();
        for round in 0..24u64 {
            if round < 4 || round == 16 {
                driven.sender.on_cnp(us(55 * round + 1), &mut driven.said);
            }
            driven.run(55 * round + 1, 55 * round + 55);
            rates.push((driven.sender.rate() / 1e6).round() as u64);
        }
        rates
    };
    insta::assert_debug_snapshot!((rounds(dcqcn()), rounds(hpcc)));
}

/// A channel in both directions: each packet takes a microsecond and what the list says more.
struct Channel {
    events: BTreeMap<(Time, u32), Happens>,
    number: u32,
    fates: Vec<(u8, u8)>,
    at: usize,
}

#[derive(Clone, Copy, Debug)]
enum Happens {
    ToReceiver(Message, bool),
    ToSender(Message),
    Wake,
    Turn,
}

impl Channel {
    fn put(&mut self, at: Time, event: Happens) {
        self.number += 1;
        self.events.insert((at, self.number), event);
    }

    /// Sends `message` at `now`: lost, or late, or twice, or marked, as the next fate says. The list comes
    /// round, and a quarter of it is untroubled.
    fn send(&mut self, now: Time, message: Message) {
        let (fate, delay) = self.fates[self.at % self.fates.len()];
        let troubled = self.at < 3_000;
        self.at += 1;
        let event = |marked| match message {
            Message::Data { .. } => Happens::ToReceiver(message, marked),
            _ => Happens::ToSender(message),
        };
        let late = if troubled { us(u64::from(delay)) } else { Time::ZERO };
        match fate {
            0..40 if troubled => {}
            40..60 if troubled => {
                self.put(now + us(1) + late, event(false));
                self.put(now + us(2), event(true));
            }
            _ => self.put(now + us(1) + late, event(fate > 200)),
        }
    }
}

struct At<'c> {
    channel: &'c mut Channel,
    now: Time,
}

impl Output for At<'_> {
    fn send(&mut self, message: Message) -> Time {
        self.channel.send(self.now, message);
        self.now
    }
    fn wake(&mut self, at: Time) {
        self.channel.put(at.max(self.now), Happens::Wake);
    }
    fn random(&mut self) -> f64 {
        unreachable!("it draws nothing")
    }
    fn queue_turn(&mut self) {
        self.channel.put(self.now, Happens::Turn);
    }
}

/// Sends `sizes` as messages over a channel with these fates. Returns how many packets went again.
fn over(config: Config, sizes: &[u64], fates: Vec<(u8, u8)>) -> Result<u64, TestCaseError> {
    let config = Arc::new(config);
    let mut sender = Sender::new(config.clone(), Some(sizes[0]), sizes.len() > 1, (Rate::gbps(10), us(8)));
    let mut receiver = Receiver::new(config.clone());
    let mut channel = Channel { events: BTreeMap::new(), number: 0, fates, at: 0 };
    let total: u64 = sizes.iter().sum();
    let mut completed = 0;
    sender.open(Time::ZERO, &mut At { channel: &mut channel, now: Time::ZERO });
    for size in &sizes[1..] {
        sender.extend(*size, Time::ZERO, &mut At { channel: &mut channel, now: Time::ZERO });
    }
    let mut delivered = 0;
    while let Some(((now, _), event)) = channel.events.pop_first() {
        let out = &mut At { channel: &mut channel, now };
        match event {
            Happens::ToReceiver(Message::Data { psn, len, place, last, .. }, marked) => {
                completed += u32::from(receiver.on_data(psn, (place, len, last), marked, now, out));
                prop_assert!(receiver.delivered() >= delivered && receiver.delivered() <= total);
                delivered = receiver.delivered();
            }
            Happens::ToReceiver(..) => unreachable!("only data goes there"),
            Happens::ToSender(Message::Ack { psn, next, marked }) => {
                sender.on_ack((psn, next), marked, Told::default(), now, out)
            }
            Happens::ToSender(Message::Nack { psn, next, marked }) => {
                sender.on_nack((psn, next), marked, Told::default(), now, out)
            }
            Happens::ToSender(_) => sender.on_cnp(now, out),
            Happens::Wake => sender.on_timer(now, out),
            Happens::Turn => {
                sender.on_turn(now, out);
            }
        }
        prop_assert!(sender.acked() <= receiver.delivered(), "nothing is acknowledged that has not come");
        if sender.acked() == total {
            sender.stop(now);
        }
        prop_assert!(now < Time::from_secs(60), "it ends");
    }
    prop_assert_eq!((sender.state(), sender.acked(), receiver.delivered()), (SenderState::Finished, total, total));
    prop_assert!(completed >= 1 && (sizes.len() > 1 || completed == 1));
    Ok(sender.counters().sent_again)
}

fn configs() -> impl Strategy<Value = Config> {
    let law = prop_oneof![Just(config()), Just(dcqcn()), Just(Config { cnp: Some(CnpForm::Ack), ..dcqcn() })];
    let way = prop_oneof![
        Just((Retransmission::GoBackN, 0)),
        Just((Retransmission::GoBackN, 5)),
        Just((Retransmission::GoBackN, 64)),
        Just((Retransmission::Selective, 0)),
    ];
    let window = prop_oneof![Just(Window::Unlimited), Just(Window::Bdp), (1u64..20_000).prop_map(Window::Bytes)];
    (law, way, window, any::<bool>()).prop_map(|(config, (retransmission, reorder_window), window, by_rate)| Config {
        retransmission,
        reorder_window,
        window,
        window_by_rate: by_rate && config.cnp.is_some(),
        nack_interval: us(50),
        fail_after: u32::MAX,
        ..config
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever the channel loses, doubles, marks or delays, all bytes arrive, once and in order, and both ends
    /// know.
    #[test]
    fn all_arrives_once_and_in_order(
        config in configs(),
        sizes in prop::collection::vec(0u64..40_000, 1..4),
        fates in prop::collection::vec((any::<u8>(), 0u8..30), 1..200),
    ) {
        over(config, &sizes, fates)?;
    }

    /// On a calm channel nothing goes twice, in any way of recovery.
    #[test]
    fn a_calm_channel_needs_no_retransmission(config in configs(), size in 1u64..100_000) {
        prop_assert_eq!(over(config, &[size], vec![(100, 0)])?, 0);
    }
}

/// Round-trip times of 10 and 18 us: the second moves the mean by an eighth of the difference (RFC 6298, section 2).
#[test]
fn round_trip_times_are_smoothed() {
    let mut driven = Driven::open(config(), Some(2_000));
    driven.run(0, 2);
    assert_eq!((driven.sender.started(), driven.sender.srtt()), (Time::ZERO, None));
    driven.ack(0, us(10));
    driven.ack(1, us(19));
    assert_eq!((driven.sender.srtt(), driven.sender.min_rtt()), (Some(11e6), Some(us(10))));
}

/// The timeout counts from the first of five packets. When all are acknowledged there is none, though the queue pair
/// stays open.
#[test]
fn a_timeout_counts_from_the_oldest_packet() {
    let mut driven = Driven::open(config(), Some(5_000));
    assert_eq!(driven.run(0, 5), [0, 1, 2, 3, 4]);
    driven.sender.on_timer(us(999), &mut driven.said);
    assert_eq!(driven.sender.counters().timeouts, 0);
    driven.sender.on_timer(us(1_000), &mut driven.said);
    assert_eq!(driven.sender.counters().timeouts, 1);
    let sender = Sender::new(Arc::new(config()), Some(1_000), true, (Rate::gbps(10), us(8)));
    let mut open = Driven { sender, said: Said::default() };
    open.sender.open(Time::ZERO, &mut open.said);
    assert_eq!(open.run(0, 2), [0]);
    open.ack(0, us(10));
    open.sender.on_timer(us(1_010), &mut open.said);
    assert_eq!((open.sender.state(), open.sender.counters().timeouts), (SenderState::Open, 0));
}

/// All is sent when a NACK comes: the sender asks for its turn at once.
#[test]
fn a_nack_asks_for_a_turn() {
    let mut driven = Driven::open(config(), Some(3_000));
    assert_eq!(driven.run(0, 5), [0, 1, 2]);
    driven.nack(2, 0, us(10));
    assert_eq!(std::mem::take(&mut driven.said.turns), 1);
}

/// DCQCN that only counts bytes: a notification halves the rate, and after five packets of 1,250 B it is back at half of the way.
#[test]
fn bytes_that_are_sent_raise_the_rate() {
    let never = Time::from_secs(1_000);
    let law = DcqcnConfig { increase_timer: never, byte_counter: 5_000, ..DcqcnConfig::defaults(Preset::Linux) };
    let mut driven = Driven::open(Config { law: LawConfig::Dcqcn(law), ..dcqcn() }, None);
    driven.run(0, 2);
    driven.sender.on_cnp(us(2), &mut driven.said);
    let cut = driven.sender.rate();
    assert!(cut < 10e9, "{cut}");
    let sent = driven.run(2, 30).len();
    assert!(sent > 5 && driven.sender.rate() > cut, "{sent} packets, {}", driven.sender.rate());
}

/// Of five answers with a digest, those for which less than a quarter is drawn are heeded: the second begins the
/// first round, and the fourth says 1.05^128/512 = 1.00684, at which the window becomes that x 0.95/1.00684, and 5 B,
/// which 5 Mbit/s send in the base RTT of 8 us; the fifth brings none, so nothing is drawn. With probability 1 nothing
/// is drawn at all, and 1.05^200/512 = 33.77 makes it 286 B.
#[test]
fn a_sample_of_answers_is_heeded() {
    let with = |probability| {
        let pint = PintConfig { probability, ..Settings::defaults(Preset::Linux) };
        let law = LawConfig::HpccPint((Settings::defaults(Preset::Linux), pint));
        let mut driven = Driven::open(Config { law, sampled: probability, ..config() }, None);
        driven.run(0, 7);
        driven
    };
    let windows = |mut driven: Driven, drawn: &[f64]| {
        driven.said.drawn = drawn.iter().rev().copied().collect();
        let digests = [Some(200), Some(200), Some(128), Some(128), None];
        let windows: Vec<_> = (0..5)
            .map(|psn| {
                let told = Told { digest: digests[psn as usize], ..Told::default() };
                driven.sender.on_ack((psn, psn + 1), false, told, us(8 + u64::from(psn)), &mut driven.said);
                driven.sender.window().unwrap()
            })
            .collect();
        assert!(driven.said.drawn.is_empty());
        windows
    };
    let cut = (10_000.0 * 0.95 / 1.006_839_673 + 5.0) as u64;
    assert_eq!(windows(with(0.25), &[0.25, 0.249, 0.9, 0.0]), [10_000, 10_000, 10_000, cut, cut]);
    assert_eq!(windows(with(1.0), &[]), [10_000, 286, cut, cut, cut]);
}
