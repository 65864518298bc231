//! NDP, packet by packet, and over a channel that trims, returns, loses and reorders.

use linkpool_transport::ndp::{Config, Message, Output, Receiver, Sender};
use linkpool_transport::{SenderState, TurnQueue};
use linkpool_units::Time;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub(crate) const MSS: u16 = 1000;
pub(crate) const RTO: Time = Time::from_ms(1);

pub(crate) fn config(initial_window: u32) -> Arc<Config> {
    Arc::new(Config { mss: MSS, initial_window, rto: RTO, max_backoff: 64, priority: false, penalties: None })
}

/// Numbers that look random: a linear congruential generator (Knuth's MMIX).
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % n as u64) as usize
    }
}

/// The messages of an endpoint at an instant.
pub(crate) struct Said {
    pub(crate) messages: Vec<(Message, Option<usize>)>,
    pub(crate) wakes: Vec<Time>,
    /// When what is sent now will have left the host, if that is later than now.
    pub(crate) leaves: Time,
    pub(crate) rtts: Vec<Time>,
    random: Random,
}

impl Said {
    pub(crate) fn new() -> Said {
        Said { messages: Vec::new(), wakes: Vec::new(), leaves: Time::ZERO, rtts: Vec::new(), random: Random(7) }
    }

    /// Numbers of the data packets, with the path of each.
    pub(crate) fn data(&mut self) -> Vec<(u32, usize)> {
        let number = |(message, path): (Message, Option<usize>)| match message {
            Message::Data { number, .. } => (number, path.expect("data has a path")),
            other => panic!("not data: {other:?}"),
        };
        self.messages.drain(..).map(number).collect()
    }

    pub(crate) fn numbers(&mut self) -> Vec<u32> {
        self.data().into_iter().map(|(number, _)| number).collect()
    }
}

impl Output for Said {
    fn send(&mut self, message: Message, path: Option<usize>) -> Time {
        self.messages.push((message, path));
        self.leaves
    }
    fn wake(&mut self, at: Time) {
        self.wakes.push(at);
    }
    fn measured_rtt(&mut self, rtt: Time) {
        self.rtts.push(rtt);
    }
    fn random(&mut self, n: usize) -> usize {
        self.random.below(n)
    }
}

pub(crate) fn us(n: u64) -> Time {
    Time::from_us(n)
}

pub(crate) fn opened(window: u32, size: Option<u64>) -> (Sender, Said) {
    let (mut sender, mut said) = (Sender::new(config(window), size, 4), Said::new());
    sender.open(Time::ZERO, &mut said);
    (sender, said)
}

#[test]
fn a_first_window_without_a_handshake_then_a_packet_for_each_pull() {
    let (mut sender, mut said) = opened(4, None);
    let opens = |(message, _): &(Message, _)| matches!(message, Message::Data { opens: true, last: false, .. });
    assert!(said.messages.iter().all(opens));
    let mut paths: Vec<usize> = said.data().into_iter().map(|(_, path)| path).collect();
    paths.sort_unstable();
    assert_eq!(paths, [0, 1, 2, 3], "each path once");
    sender.on_ack(0, 1, us(10), &mut said);
    sender.on_ack(1, 2, us(11), &mut said);
    assert!(said.messages.is_empty(), "ACKs let nothing out");
    sender.on_pull(1, 2, us(12), &mut said);
    assert!(matches!(said.messages[0].0, Message::Data { number: 4, opens: false, .. }));
    said.messages.clear();
    // PULL 2 is lost; 3 makes up for it. An old one changes nothing.
    sender.on_pull(3, 2, us(13), &mut said);
    assert_eq!(said.numbers(), [5, 6]);
    sender.on_pull(2, 2, us(14), &mut said);
    assert_eq!(said.numbers(), [] as [u32; 0]);
    assert_eq!((sender.acked(), sender.in_flight()), (2000, 5));
}

#[test]
fn what_was_trimmed_is_sent_again_first_on_another_path_when_it_is_pulled() {
    let (mut sender, mut said) = opened(3, None);
    let first = said.data();
    sender.on_nack(1, 0, us(10), &mut said);
    assert!(said.messages.is_empty());
    sender.on_pull(1, 0, us(11), &mut said);
    let again = said.data();
    assert_eq!(again[0].0, 1);
    assert_ne!(again[0].1, first[1].1);
    sender.on_pull(2, 0, us(12), &mut said);
    assert_eq!(said.numbers(), [3]);
    // A second NACK of the first copy changes nothing while another copy flies: it stands for that
    // copy.
    sender.on_nack(1, 0, us(13), &mut said);
    sender.on_nack(1, 0, us(14), &mut said);
    sender.on_pull(4, 0, us(15), &mut said);
    assert_eq!(said.numbers(), [1, 4]);
    // Data that has arrived meanwhile is not sent.
    sender.on_nack(0, 0, us(16), &mut said);
    sender.on_ack(0, 1, us(17), &mut said);
    sender.on_pull(5, 1, us(18), &mut said);
    assert_eq!(said.numbers(), [5]);
}

#[test]
fn a_pull_that_overtakes_the_nack_is_answered_when_that_comes() {
    let (mut sender, mut said) = opened(3, Some(3 * 1000));
    assert!(matches!(said.messages[2].0, Message::Data { number: 2, last: true, .. }));
    said.messages.clear();
    sender.on_pull(1, 0, us(10), &mut said);
    assert!(said.messages.is_empty());
    sender.on_nack(2, 0, us(11), &mut said);
    assert_eq!(said.numbers(), [2]);
    for number in 0..3 {
        assert_eq!(sender.state(), SenderState::Open);
        sender.on_ack(number, number + 1, us(20), &mut said);
    }
    assert!(said.messages.is_empty(), "no packet says so");
    assert_eq!((sender.state(), sender.acked(), sender.ended()), (SenderState::Finished, 3000, Some(us(20))));
}

#[test]
fn the_last_packet_is_as_long_as_what_is_left() {
    for (size, lens) in [(1, vec![1]), (1000, vec![1000]), (2500, vec![1000, 1000, 500])] {
        let (_, said) = opened(8, Some(size));
        let len = |(message, _): &(Message, _)| match message {
            Message::Data { len, .. } => *len,
            _ => panic!("not data"),
        };
        assert_eq!(said.messages.iter().map(len).collect::<Vec<_>>(), lens);
    }
}

#[test]
fn a_returned_header_waits_unless_it_is_all_there_is() {
    let (mut sender, mut said) = opened(3, None);
    said.messages.clear();
    // Others are on their way: it waits for their PULLs.
    sender.on_returned(0, true, us(5), &mut said);
    sender.on_nack(1, 0, us(6), &mut said);
    // The NACK will be followed by a PULL.
    sender.on_returned(2, true, us(7), &mut said);
    assert!(said.messages.is_empty());
    sender.on_pull(1, 0, us(8), &mut said);
    assert_eq!(said.numbers(), [0]);
    // All that is on its way comes back, and all PULLs have come: sent at once.
    sender.on_returned(0, false, us(9), &mut said);
    assert_eq!(said.numbers(), [1]);
    assert_eq!(sender.counters().returned, 3);
}

#[test]
fn silence_sends_again_each_packet_and_waits_longer() {
    let (mut sender, mut said) = opened(3, None);
    assert_eq!(said.wakes, [RTO]);
    said.messages.clear();
    sender.on_ack(1, 0, us(10), &mut said);
    sender.on_timer(RTO, &mut said);
    assert_eq!(said.numbers(), [0, 2]);
    assert_eq!((sender.in_flight(), sender.counters().timeouts), (2, 2));
    assert_eq!(said.wakes.last(), Some(&(RTO * 3)), "twice the RTO from now");
    sender.on_timer(RTO * 2, &mut said);
    assert!(said.messages.is_empty());
    sender.on_timer(RTO * 3, &mut said);
    assert_eq!(said.numbers(), [0, 2]);
}

#[test]
fn lost_pulls_are_asked_for() {
    let (mut sender, mut said) = opened(2, None);
    said.messages.clear();
    sender.on_nack(0, 0, us(10), &mut said);
    sender.on_ack(1, 0, us(20), &mut said);
    sender.on_timer(us(20) + RTO * 64 - us(1), &mut said);
    assert!(said.messages.is_empty());
    sender.on_timer(us(20) + RTO * 64, &mut said);
    assert_eq!(said.numbers(), [0]);
}

#[test]
fn a_stopped_sender_ends_when_all_has_arrived() {
    let (mut sender, mut said) = opened(2, None);
    said.messages.clear();
    sender.stop(us(1));
    sender.on_ack(0, 1, us(10), &mut said);
    sender.on_pull(1, 1, us(11), &mut said);
    sender.on_nack(1, 1, us(11), &mut said);
    assert_eq!(said.numbers(), [1]);
    sender.on_ack(1, 2, us(12), &mut said);
    assert_eq!((sender.state(), sender.acked()), (SenderState::Finished, 2000));
}

#[test]
fn a_receiver_answers_at_once_and_owes_a_pull_for_all_that_comes() {
    let (mut receiver, mut said) = (Receiver::new(config(3)), Said::new());
    assert!(!receiver.on_data(1, (MSS, false), false, us(1), &mut said));
    assert!(!receiver.on_data(0, (MSS, false), true, us(1), &mut said));
    assert!(!receiver.on_data(0, (MSS, false), false, us(2), &mut said));
    let messages: Vec<Message> = said.messages.drain(..).map(|(message, _)| message).collect();
    let expected = [
        Message::Ack { number: 1, next: 0 },
        Message::Nack { number: 0, next: 0 },
        Message::Ack { number: 0, next: 2 },
    ];
    assert_eq!(messages, expected);
    for count in 1..=3 {
        assert!(receiver.pull(us(3), &mut said));
        assert_eq!(said.messages.pop(), Some((Message::Pull { count, next: 2 }, None)));
    }
    assert!(!receiver.owes() && !receiver.pull(us(3), &mut said));
    // The last packet is known by its header: four packets of which two are missing, so two PULLs
    // at most.
    for _ in 0..5 {
        receiver.on_data(3, (500, true), true, us(3), &mut said);
    }
    assert!(receiver.pull(us(3), &mut said) && receiver.pull(us(3), &mut said) && !receiver.pull(us(3), &mut said));
    assert!(!receiver.on_data(3, (500, true), false, us(4), &mut said));
    assert!(receiver.on_data(2, (MSS, false), false, us(4), &mut said));
    assert!(receiver.is_complete() && !receiver.owes());
    assert!(!receiver.on_data(2, (MSS, false), false, us(5), &mut said), "complete for the first time only");
    assert_eq!((receiver.delivered(), receiver.headers(), receiver.last_heard()), (3500, 6, us(5)));
}

/// The last PULL that is owed has brought nothing after a timeout: it is sent again, with the same
/// count, then after two and four. A packet, or its header, ends that; so does the last one.
#[test]
fn a_pull_without_effect_is_repeated() {
    let (mut receiver, mut said) = (Receiver::new(config(3)), Said::new());
    receiver.on_data(0, (MSS, false), false, us(1), &mut said);
    receiver.on_data(1, (MSS, false), false, us(1), &mut said);
    assert!(receiver.pull(us(2), &mut said));
    assert!(said.wakes.is_empty(), "the other PULL waits for its turn");
    assert!(receiver.pull(us(10), &mut said) && !receiver.owes());
    assert_eq!(said.wakes, [us(10) + RTO]);
    receiver.on_timer(us(10) + RTO - Time(1), &mut said);
    assert!(!receiver.owes());
    receiver.on_timer(us(10) + RTO, &mut said);
    assert!(receiver.owes());
    said.messages.clear();
    // Its turn comes 500 us later.
    assert!(receiver.pull(us(510) + RTO, &mut said) && !receiver.owes());
    assert_eq!(said.messages.pop(), Some((Message::Pull { count: 2, next: 2 }, None)));
    assert_eq!(said.wakes.last(), Some(&(us(510) + RTO * 3)), "twice the timeout");
    receiver.on_timer(us(510) + RTO * 3, &mut said);
    assert!(receiver.owes());
    receiver.on_data(2, (MSS, false), true, us(600) + RTO * 3, &mut said);
    assert!(receiver.pull(us(601) + RTO * 3, &mut said) && !receiver.owes(), "one PULL, for the header");
    assert_eq!(said.messages.pop(), Some((Message::Pull { count: 3, next: 2 }, None)));
    assert_eq!(said.wakes.last(), Some(&(us(601) + RTO * 4)), "one timeout again");
    assert!(receiver.on_data(2, (MSS, true), false, us(700) + RTO * 3, &mut said));
    let wakes = said.wakes.len();
    receiver.on_timer(us(601) + RTO * 4, &mut said);
    assert!(!receiver.owes() && said.wakes.len() == wakes, "all has come");
}

/// The wait doubles up to 64 timeouts.
#[test]
fn pulls_are_repeated_less_and_less_often() {
    let (mut receiver, mut said) = (Receiver::new(config(3)), Said::new());
    receiver.on_data(0, (MSS, false), false, Time::ZERO, &mut said);
    receiver.pull(Time::ZERO, &mut said);
    let (mut now, mut waits) = (Time::ZERO, Vec::new());
    for _ in 0..9 {
        let due = *said.wakes.last().unwrap();
        waits.push((due - now).0 / RTO.0);
        now = due;
        receiver.on_timer(now, &mut said);
        receiver.pull(now, &mut said);
    }
    assert_eq!(waits, [1, 2, 4, 8, 16, 32, 64, 64, 64]);
}

/// The next event, and its endpoint.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Event {
    /// At the receiver of a connection: data with its header only, or whole.
    Data {
        trimmed: bool,
        message: Message,
    },
    /// At the sender.
    Answer(Message),
    /// With whether it could have opened the connection.
    Returned(u32, bool),
    Wake,
    /// At the receiver.
    WakeReceiver,
    Pull,
}

/// So many senders, and a host with a receiver for each.
struct World {
    now: Time,
    events: BTreeMap<(Time, u64), (usize, Event)>,
    made: u64,
    senders: Vec<Sender>,
    receivers: Vec<Receiver>,
    enrolled: Vec<bool>,
    pulls: TurnQueue,
    pull_times: Vec<Time>,
    random: Random,
    fates: Fates,
    /// Numbers of packets that have arrived whole.
    arrived: Vec<BTreeSet<u32>>,
}

/// In percent.
#[derive(Clone, Copy, Debug)]
struct Fates {
    trimmed: usize,
    returned: usize,
    lost: usize,
    answers_lost: usize,
}

const PACKET_TIME: Time = Time::from_ns(800);

struct Out<'a> {
    messages: &'a mut Vec<Message>,
    wakes: &'a mut Vec<Time>,
    random: &'a mut Random,
}

impl Output for Out<'_> {
    fn send(&mut self, message: Message, _path: Option<usize>) -> Time {
        self.messages.push(message);
        Time::ZERO
    }
    fn wake(&mut self, at: Time) {
        self.wakes.push(at);
    }
    fn random(&mut self, n: usize) -> usize {
        self.random.below(n)
    }
}

impl World {
    fn new(config: &Arc<Config>, sizes: &[u64], fates: Fates, seed: u64) -> World {
        let sender = |size: &u64| Sender::new(config.clone(), Some(*size), 8);
        let n = sizes.len();
        World {
            now: Time::ZERO,
            events: BTreeMap::new(),
            made: 0,
            senders: sizes.iter().map(sender).collect(),
            receivers: (0..n).map(|_| Receiver::new(config.clone())).collect(),
            enrolled: vec![false; n],
            pulls: TurnQueue::default(),
            pull_times: Vec::new(),
            random: Random(seed),
            fates,
            arrived: vec![BTreeSet::new(); n],
        }
    }

    fn later(&mut self, after: Time, who: usize, event: Event) {
        self.made += 1;
        self.events.insert((self.now + after, self.made), (who, event));
    }

    /// Between 10 and 20 us.
    fn delay(&mut self) -> Time {
        Time::from_ns(10_000 + self.random.below(10_000) as u64)
    }

    fn at_sender(&mut self, who: usize, act: impl FnOnce(&mut Sender, Time, &mut Out<'_>)) {
        let (mut messages, mut wakes) = (Vec::new(), Vec::new());
        let mut out = Out { messages: &mut messages, wakes: &mut wakes, random: &mut self.random };
        act(&mut self.senders[who], self.now, &mut out);
        for message in messages {
            let Message::Data { number, opens, .. } = message else { continue };
            let (fate, delay) = (self.random.below(100), self.delay());
            let Fates { trimmed, returned, lost, .. } = self.fates;
            let event = match fate {
                _ if fate < trimmed => Event::Data { trimmed: true, message },
                _ if fate < trimmed + returned => Event::Returned(number, opens),
                _ if fate < trimmed + returned + lost => continue,
                _ => Event::Data { trimmed: false, message },
            };
            self.later(delay, who, event);
        }
        for at in wakes {
            self.later(at - self.now, who, Event::Wake);
        }
    }

    fn at_receiver(&mut self, who: usize, act: impl FnOnce(&mut Receiver, Time, &mut Out<'_>)) {
        let (mut messages, mut wakes) = (Vec::new(), Vec::new());
        let mut out = Out { messages: &mut messages, wakes: &mut wakes, random: &mut self.random };
        act(&mut self.receivers[who], self.now, &mut out);
        for message in messages {
            let delay = self.delay();
            if self.random.below(100) >= self.fates.answers_lost {
                self.later(delay, who, Event::Answer(message));
            }
        }
        for at in wakes {
            self.later(at - self.now, who, Event::WakeReceiver);
        }
        if self.receivers[who].owes() && !std::mem::replace(&mut self.enrolled[who], true) {
            self.pulls.add(who as u32, false);
            let due = self.pulls.due().unwrap().max(self.now);
            self.later(due - self.now, 0, Event::Pull);
        }
    }

    fn pull(&mut self) {
        while let Some(who) = self.pulls.next(self.now) {
            let who = who as usize;
            self.enrolled[who] = false;
            let mut sent = false;
            self.at_receiver(who, |receiver, now, out| sent = receiver.pull(now, out));
            if sent {
                self.pulls.spend(self.now, PACKET_TIME);
                self.pull_times.push(self.now);
            }
        }
        if let Some(due) = self.pulls.due() {
            self.later(due - self.now, 0, Event::Pull);
        }
    }

    fn run(&mut self) {
        for who in 0..self.senders.len() {
            self.at_sender(who, |sender, now, out| sender.open(now, out));
        }
        while let Some(((at, _), (who, event))) = self.events.pop_first() {
            assert!(at < Time::from_secs(100), "it never ends");
            self.now = at;
            match event {
                Event::Data { trimmed, message: Message::Data { number, len, last, .. } } => {
                    if !trimmed {
                        self.arrived[who].insert(number);
                    }
                    self.at_receiver(who, |receiver, now, out| {
                        receiver.on_data(number, (len, last), trimmed, now, out);
                    });
                }
                Event::Answer(Message::Ack { number, next }) => {
                    self.at_sender(who, |sender, now, out| sender.on_ack(number, next, now, out));
                }
                Event::Answer(Message::Nack { number, next }) => {
                    self.at_sender(who, |sender, now, out| sender.on_nack(number, next, now, out));
                }
                Event::Answer(Message::Pull { count, next }) => {
                    self.at_sender(who, |sender, now, out| sender.on_pull(count, next, now, out));
                }
                Event::Returned(number, opened) => {
                    self.at_sender(who, |sender, now, out| sender.on_returned(number, opened, now, out));
                }
                Event::Wake => self.at_sender(who, |sender, now, out| sender.on_timer(now, out)),
                Event::WakeReceiver => self.at_receiver(who, |receiver, now, out| receiver.on_timer(now, out)),
                Event::Pull => self.pull(),
                other => panic!("{other:?}"),
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..Default::default() })]

    #[test]
    fn all_data_arrives_whatever_the_channel_does(
        sizes in prop::collection::vec(1u64..200_000, 1..6),
        window in 1u32..40,
        (trimmed, returned, lost, answers_lost) in (0usize..60, 0usize..20, 0usize..10, 0usize..10),
        seed: u64,
    ) {
        let fates = Fates { trimmed, returned, lost, answers_lost };
        let mut world = World::new(&config(window), &sizes, fates, seed);
        world.run();
        for (who, size) in sizes.iter().enumerate() {
            let (sender, receiver) = (&world.senders[who], &world.receivers[who]);
            prop_assert_eq!(sender.state(), SenderState::Finished);
            prop_assert_eq!((sender.acked(), sender.in_flight()), (*size, 0));
            prop_assert!(receiver.is_complete());
            prop_assert_eq!(receiver.delivered(), *size);
            prop_assert_eq!(world.arrived[who].len() as u64, size.div_ceil(MSS.into()));
        }
        for pair in world.pull_times.windows(2) {
            prop_assert!(pair[1] - pair[0] >= PACKET_TIME, "PULLs are paced");
        }
    }

    /// On a channel that trims and loses nothing, each packet is sent once, and once more for each
    /// NACK.
    #[test]
    fn trimming_alone_needs_no_timeout(
        sizes in prop::collection::vec(1u64..200_000, 1..6), window in 1u32..40, trimmed in 0usize..60, seed: u64,
    ) {
        let fates = Fates { trimmed, returned: 0, lost: 0, answers_lost: 0 };
        let mut world = World::new(&config(window), &sizes, fates, seed);
        world.run();
        for (sender, size) in world.senders.iter().zip(&sizes) {
            let counters = sender.counters();
            prop_assert_eq!((counters.timeouts, counters.sent_again), (0, counters.nacks));
            prop_assert_eq!(counters.sent, size.div_ceil(MSS.into()) + counters.nacks);
        }
    }
}
