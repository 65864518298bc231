//! The queues of a port by class of packets: one of control packets, which is served first, and those of
//! data by its priority.

use super::fifo::Fifo;
use super::red::RedQueue;
use super::round_robin::RoundRobin;
use super::waiting::{Arrival, Discipline, Verdict};
use super::{Marking, red_stream};
use crate::class::{CLASSES, CONTROL, ClassSet, class_of};
use crate::fabric::LinkId;
use crate::link::RareEvents;
use crate::packet::{Flags, Packet};
use crate::thresholds::Thresholds;
use linkpool_units::Time;

/// A class of packets with data, as a port has it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct ClassPolicy {
    /// Its priorities.
    pub(crate) priorities: ClassSet,
    pub(crate) thresholds: Thresholds,
    pub(crate) marking: Marking,
    /// Is none of its packets dropped here?
    pub(crate) lossless: bool,
    /// Are packets trimmed that have no room?
    pub(crate) trims: bool,
    /// Bytes of a turn in which it sends; none: it has strict priority.
    pub(crate) quantum: Option<u32>,
}

impl ClassPolicy {
    /// Classes of which that with the larger priority is served first; a class that is lossless has no other priority.
    pub(super) fn strict(lossless: ClassSet, thresholds: Thresholds, marking: Marking) -> [ClassPolicy; 2] {
        use crate::class::{HIGH, LOW};
        let of = |bits, priority| ClassPolicy {
            priorities: ClassSet::of(bits),
            thresholds,
            marking,
            lossless: lossless.has(priority),
            trims: false,
            quantum: None,
        };
        [of(0x7f, LOW), of(0x80, HIGH)]
    }
}

/// A queue for each class. Queues with a larger number are served first, but for the first ones, which take turns.
/// Classes that are closed wait.
#[derive(Debug)]
pub(super) struct Classes {
    queues: Vec<Queue>,
    /// By class: the number of its queue.
    queue_of: [u8; CLASSES],
    /// The queues in which packets wait.
    waiting: ClassSet,
    /// The queues that are closed.
    closed: ClassSet,
    packets: u32,
    bytes: u64,
    /// Those of the first queues that take turns.
    in_turn: ClassSet,
    turns: RoundRobin,
    /// Which queue gave the packet that is being transmitted.
    in_service: usize,
}

/// The queue of a class.
#[derive(Debug)]
struct Queue {
    packets: Packets,
    thresholds: Thresholds,
    lossless: bool,
    trims: bool,
}

/// Packets that wait, by how they are marked.
#[derive(Debug)]
enum Packets {
    Fifo(Fifo),
    Red(RedQueue),
}

/// What is asked of either kind.
macro_rules! either {
    ($of:expr, $packets:ident => $asked:expr) => {
        match $of {
            Packets::Fifo($packets) => $asked,
            Packets::Red($packets) => $asked,
        }
    };
}

impl Queue {
    fn new(of: &ClassPolicy, name: u8, (link, seed): (LinkId, u64)) -> Queue {
        let packets = match of.marking {
            Marking::AtEnqueue => Packets::Fifo(Fifo::new(false)),
            Marking::AtDequeue => Packets::Fifo(Fifo::new(true)),
            Marking::Red(red) => Packets::Red(RedQueue::new(red, red_stream(name, link, seed))),
        };
        Queue { packets, thresholds: of.thresholds, lossless: of.lossless, trims: of.trims }
    }

    fn waits(&self) -> bool {
        self.waiting().0 > 0
    }

    fn passes(&self) -> bool {
        either!(&self.packets, packets => packets.passes(&self.thresholds))
    }

    fn leaves_at_once(&self) -> bool {
        either!(&self.packets, packets => packets.leaves_at_once(&self.thresholds))
    }

    fn waiting(&self) -> (u32, u64) {
        either!(&self.packets, packets => packets.waiting())
    }

    fn counted(&self) -> u32 {
        either!(&self.packets, packets => packets.counted(&self.thresholds))
    }

    fn first_size(&self) -> u16 {
        either!(&self.packets, packets => packets.first_size()).unwrap_or(0)
    }

    /// Is `packet`, which is refused, to be cut to its header? Not if it is refused early, while there is room.
    fn cuts(&self, packet: &Packet, arrival: &Arrival<'_>) -> bool {
        let arrival = Arrival { thresholds: &self.thresholds, ..*arrival };
        let has_room = || either!(&self.packets, packets => packets.has_room(packet.size(), &arrival));
        self.trims && packet.flags.has(Flags::TRIMMABLE) && !has_room()
    }

    fn enqueue(&mut self, packet: Packet, arrival: &Arrival<'_>, events: &mut RareEvents) -> Verdict {
        let arrival = Arrival { lossless: self.lossless, thresholds: &self.thresholds, ..*arrival };
        either!(&mut self.packets, packets => packets.enqueue(packet, &arrival, events))
    }
}

impl Classes {
    /// The queues of `classes`, which have all priorities, at a port with `thresholds`, of which control packets heed
    /// none.
    pub(super) fn new(classes: &[ClassPolicy], thresholds: Thresholds, place: (LinkId, u64)) -> Classes {
        let mut classes = classes.to_vec();
        // Those that take turns come first, and of the others those with the larger priority come last.
        classes.sort_by_key(|class| (class.quantum.is_none(), class.priorities.last()));
        let quanta: Vec<u32> = classes.iter().filter_map(|class| class.quantum).collect();
        let control = ClassPolicy {
            priorities: ClassSet::of(1 << CONTROL),
            lossless: true,
            trims: false,
            quantum: None,
            thresholds: thresholds.unmarking(),
            marking: Marking::AtEnqueue,
        };
        classes.push(control);
        let mut queue_of = [0; CLASSES];
        for (number, class) in (0..).zip(&classes) {
            (0..CLASSES as u8).filter(|of| class.priorities.has(*of)).for_each(|of| queue_of[usize::from(of)] = number);
        }
        let none = ClassSet::default();
        Classes {
            queues: classes
                .iter()
                .map(|class| Queue::new(class, class.priorities.first().unwrap_or(0), place))
                .collect(),
            queue_of,
            waiting: none,
            closed: none,
            packets: 0,
            bytes: 0,
            in_turn: ClassSet::of((1 << quanta.len()) - 1),
            turns: RoundRobin::new(&quanta),
            in_service: 0,
        }
    }

    /// Does `change` at the queue with this number, and counts what waits then.
    #[inline]
    fn at<T>(&mut self, number: u8, change: impl FnOnce(&mut Queue) -> T) -> T {
        let queue = &mut self.queues[usize::from(number)];
        let before = queue.waiting();
        let done = change(queue);
        let after = queue.waiting();
        self.packets = self.packets + after.0 - before.0;
        self.bytes = self.bytes + after.1 - before.1;
        self.waiting.set(number, after.0 > 0);
        done
    }
}

impl Discipline for Classes {
    fn enqueue(&mut self, packet: Packet, arrival: &Arrival<'_>, events: &mut RareEvents) -> Verdict {
        let number = self.queue_of[usize::from(class_of(&packet))];
        let verdict = self.at(number, |queue| queue.enqueue(packet, arrival, events));
        match verdict {
            Verdict::Dropped(packet) if self.queues[usize::from(number)].cuts(&packet, arrival) => {
                events.trims += 1;
                let header = arrival.trim(packet);
                let control = self.queue_of[usize::from(CONTROL)];
                self.at(control, |queue| queue.enqueue(header, arrival, events));
                Verdict::Trimmed(header)
            }
            verdict => verdict,
        }
    }

    fn dequeue(&mut self, _: &Thresholds, events: &mut RareEvents) -> Option<Packet> {
        let ready = self.closed.missing(self.waiting);
        let mut number = ready.last()?;
        if self.in_turn.has(number) {
            let queues = &self.queues;
            number = self.turns.next(ready, |queue| queues[queue].first_size()) as u8;
        }
        self.in_service = usize::from(number);
        let packet = self.at(
            number,
            |Queue { packets, thresholds, .. }| either!(packets, packets => packets.dequeue(thresholds, events)),
        )?;
        if self.in_turn.has(number) {
            self.turns.spend(packet.size(), !self.waiting.has(number));
        }
        Some(packet)
    }

    /// Where queues take turns, a packet that finds nobody takes part in them, too.
    fn leaves_at_once(&self, _: &Thresholds) -> bool {
        self.in_turn.is_empty() && self.queues.iter().all(Queue::leaves_at_once)
    }

    fn passes(&self, _: &Thresholds) -> bool {
        self.in_turn.is_empty() && self.queues.iter().all(Queue::passes)
    }

    fn serve(&mut self, packet: &Packet) {
        self.in_service = usize::from(self.queue_of[usize::from(class_of(packet))]);
        either!(&mut self.queues[self.in_service].packets, packets => packets.serve(packet));
    }

    fn close(&mut self, closed: ClassSet) {
        self.closed = ClassSet::default();
        for class in (0..CLASSES as u8).filter(|class| closed.has(*class)) {
            self.closed.set(self.queue_of[usize::from(class)], true);
        }
    }

    fn waits(&self, class: u8) -> bool {
        self.queues[usize::from(self.queue_of[usize::from(class)])].waits()
    }

    fn each_waiting(&self, class: u8, visit: &mut dyn FnMut(&Packet)) {
        let queue = &self.queues[usize::from(self.queue_of[usize::from(class)])];
        either!(&queue.packets, packets => packets.each(visit));
    }

    fn held(&self) -> u64 {
        (0..).zip(&self.queues).filter(|(number, _)| self.closed.has(*number)).map(|(_, queue)| queue.waiting().1).sum()
    }

    fn sent(&mut self, now: Time) {
        either!(&mut self.queues[self.in_service].packets, packets => packets.sent(now));
    }

    fn give_up(&mut self, now: Time) -> Option<Packet> {
        let number = self.waiting.last()?;
        self.at(number, |queue| either!(&mut queue.packets, packets => packets.give_up(now)))
    }

    fn waiting(&self) -> (u32, u64) {
        (self.packets, self.bytes)
    }

    fn counted(&self, _: &Thresholds) -> u32 {
        self.queues.iter().map(Queue::counted).sum()
    }

    fn longest(&self, _: &Thresholds) -> u32 {
        self.queues.iter().map(Queue::counted).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Red;
    use super::*;
    use crate::link::LinkKind;
    use crate::packet::{Envelope, Kind};
    use crate::queue_limit::QueueLimit;
    use linkpool_settings::{Preset, Settings as _};
    use linkpool_units::{HostId, Rate};
    use proptest::prelude::*;

    const HEADER: u16 = 64;

    /// A class of these priorities, strict, with a limit of `limit` packets.
    fn class(priorities: &[u8], limit: u32) -> ClassPolicy {
        let bits = priorities.iter().fold(0, |bits, priority| bits | 1 << priority);
        ClassPolicy {
            priorities: ClassSet::of(bits),
            thresholds: Thresholds::drop_tail(QueueLimit::Packets(limit)),
            marking: Marking::AtEnqueue,
            lossless: false,
            trims: false,
            quantum: None,
        }
    }

    /// Data of 1,500 B with this priority, which may be marked and trimmed.
    fn data(seq: u32, priority: u8) -> Packet {
        sized(seq, priority, 1_500)
    }

    fn sized(seq: u32, priority: u8, size: u16) -> Packet {
        let mut packet = Packet {
            seq,
            envelope: Envelope::new(HostId::new(7), size, size - HEADER),
            flags: Flags::ECT | Flags::TRIMMABLE,
            kind: Kind::DATA,
            ..Packet::default()
        };
        packet.set_priority(priority);
        packet
    }

    fn ack(seq: u32) -> Packet {
        Packet { seq, envelope: Envelope::default().with_size(HEADER), kind: Kind::ACK, ..Packet::default() }
    }

    /// The queues of a port, with its link.
    struct Port {
        queues: Classes,
        kind: LinkKind,
        events: RareEvents,
    }

    impl Port {
        fn new(classes: &[ClassPolicy]) -> Port {
            // What control packets must not heed.
            let thresholds = Thresholds::drop_tail(QueueLimit::Packets(1)).marking(QueueLimit::Packets(0), false);
            let kind = LinkKind::new(Rate::gbps(10), Time::ZERO, thresholds);
            let place = (LinkId::new(3), 1);
            Port { queues: Classes::new(classes, thresholds, place), kind, events: RareEvents::default() }
        }

        fn offer(&mut self, packet: Packet) -> Verdict {
            let (kind, thresholds) = (&self.kind, &self.kind.thresholds);
            let to = HostId::new(0).into();
            let arrival = Arrival { now: Time::ZERO, to, kind, thresholds, buffer: None, lossless: false };
            self.queues.enqueue(packet, &arrival, &mut self.events)
        }

        fn queues(&mut self, packet: Packet) -> bool {
            matches!(self.offer(packet), Verdict::Queued)
        }

        fn begin(&mut self) -> Option<Packet> {
            self.queues.dequeue(&self.kind.thresholds, &mut self.events)
        }

        /// The numbers of all packets in the order in which they are sent; those of headers are negative.
        fn drain(&mut self) -> Vec<i64> {
            let number = |packet: Packet| if packet.is_control() { -1 } else { 1 } * i64::from(packet.seq);
            let mut next = || {
                let packet = self.begin();
                self.queues.sent(Time::ZERO);
                packet
            };
            std::iter::from_fn(|| next().map(number)).collect()
        }
    }

    /// Control packets, then classes without weight, the larger priority first, then those with a weight in turn, whatever
    /// the order in which they are declared.
    #[test]
    fn classes_are_served_by_their_rank() {
        let turns = |priorities, packets: u32| ClassPolicy { quantum: Some(packets * 1_500), ..class(priorities, 9) };
        let mut port = Port::new(&[class(&[0, 3], 9), turns(&[7], 2), class(&[1, 2], 9), turns(&[4, 5, 6], 1)]);
        for (number, priority) in (1..).zip([7, 7, 7, 7, 4, 6, 0, 2, 3, 1]) {
            assert!(port.queues(data(number, priority)));
        }
        assert!(port.queues(ack(11)) && port.queues(ack(12)));
        assert_eq!((port.queues.waiting(), port.queues.longest(&port.kind.thresholds)), ((12, 15_000 + 128), 4));
        // That of 0 and 3 goes by 3, before that of 1 and 2. The first turn is that of 4 to 6, by its priority.
        assert_eq!(port.drain(), [-11, -12, 7, 9, 8, 10, 5, 1, 2, 6, 3, 4]);
        assert_eq!(port.queues.waiting(), (0, 0));
    }

    /// A class that has become empty has its next turn after the others, though three quarters of its quantum were left.
    #[test]
    fn a_class_that_becomes_empty_waits_for_the_others() {
        let turns = |priority, packets: u32| ClassPolicy { quantum: Some(packets * 1_500), ..class(&[priority], 9) };
        let mut port = Port::new(&[turns(1, 4), turns(2, 1)]);
        assert!(port.queues(data(1, 1)) && port.begin().is_some_and(|packet| packet.seq == 1));
        assert!(port.queues(data(2, 1)) && port.queues(data(3, 1)) && port.queues(data(4, 2)));
        assert_eq!(port.drain(), [4, 2, 3]);
    }

    /// Each class has its limit, and counts what is in service of its own alone, if at all.
    #[test]
    fn classes_have_room_of_their_own() {
        let counts = |of: ClassPolicy| ClassPolicy { thresholds: Thresholds { uncounted: 0, ..of.thresholds }, ..of };
        let mut port = Port::new(&[counts(class(&[1], 2)), counts(class(&[2], 3))]);
        assert!((0..2).all(|number| port.queues(data(number, 1))) && !port.queues(data(2, 1)));
        assert!((0..3).all(|number| port.queues(data(number, 2))) && !port.queues(data(3, 2)));
        // One of priority 2 is in service, and takes room in its class until it is sent.
        assert_eq!(port.begin().map(|packet| packet.priority()), Some(2));
        assert!(!port.queues(data(3, 2)) && !port.queues(data(2, 1)));
        assert_eq!(port.queues.counted(&port.kind.thresholds), 5);
        port.queues.sent(Time::ZERO);
        assert!(port.queues(data(3, 2)) && !port.queues(data(4, 2)) && !port.queues(data(2, 1)));
        (0..3).for_each(|_| _ = (port.begin(), port.queues.sent(Time::ZERO)));
        assert_eq!(port.begin().map(|packet| packet.priority()), Some(1));
        // One waits, and one in service counts.
        assert!(!port.queues(data(2, 1)));
        port.queues.sent(Time::ZERO);
        assert!(port.queues(data(2, 1)));
        // Any number of control packets have room.
        assert!((0..100).all(|number| port.queues(ack(number))));
    }

    /// A packet that finds no room in a class that trims is cut to its header, which waits with control packets, and is not
    /// marked there, nor when it leaves.
    #[test]
    fn a_class_trims_what_has_no_room() {
        let marks = class(&[1], 2).thresholds.marking(QueueLimit::Packets(1), false);
        let mut port = Port::new(&[ClassPolicy { trims: true, thresholds: marks, ..class(&[1], 2) }, class(&[2], 2)]);
        let cut = |verdict| matches!(verdict, Verdict::Trimmed(header) if header.size() == HEADER && header.seq == 3);
        assert!(port.queues(data(1, 1)) && port.queues(data(2, 1)) && cut(port.offer(data(3, 1))));
        assert!(port.queues(ack(4)) && port.queues(data(5, 2)) && port.queues(data(6, 2)));
        // Not one of a class that does not, nor one whose receiver would not understand it.
        assert!(matches!(port.offer(data(7, 2)), Verdict::Dropped(packet) if packet.seq == 7));
        let mut plain = data(8, 1);
        plain.flags = Flags::ECT;
        assert!(matches!(port.offer(plain), Verdict::Dropped(packet) if packet.seq == 8 && packet.size() == 1_500));
        assert_eq!((port.events.trims, port.events.marks, port.queues.waiting()), (1, 1, (6, 6_000 + 128)));
        let sent: Vec<_> = std::iter::from_fn(|| port.begin()).collect();
        let marked: Vec<_> = sent.iter().map(|packet| (packet.seq, packet.flags.has(Flags::CE))).collect();
        assert_eq!(marked, [(3, false), (4, false), (5, false), (6, false), (1, false), (2, true)]);
        assert_eq!((sent[0].priority(), sent[0].payload()), (1, 1_500 - HEADER));
        // The port leads to host 0: the header of a packet to it says that it was trimmed before its last link.
        let last = Envelope::new(HostId::new(0), 1_500, 1_500 - HEADER);
        let mut port = Port::new(&[ClassPolicy { trims: true, ..class(&[1], 0) }]);
        for (packet, at_last) in [(data(1, 1), false), (Packet { envelope: last, ..data(2, 1) }, true)] {
            let verdict = port.offer(packet);
            assert!(
                matches!(verdict, Verdict::Trimmed(header) if header.is_trimmed_at_last() == at_last),
                "{verdict:?}"
            );
        }
    }

    /// A packet that is refused early, while there is room, is dropped and not cut: by RED, or as it cannot be marked.
    #[test]
    fn a_class_does_not_trim_what_has_room() {
        let red = Red { weight: 1.0, action: super::super::RedAction::Drop, ..Red::defaults(Preset::Linux) };
        let red = Red { min: QueueLimit::Packets(1), max: QueueLimit::Packets(2), gentle: false, ..red };
        let trims = ClassPolicy { trims: true, ..class(&[1], 4) };
        let thresholds = Thresholds { drop_non_ect: true, ..trims.thresholds };
        let mut port = Port::new(&[ClassPolicy { marking: Marking::Red(red), thresholds, ..trims }]);
        assert!((0..2).all(|number| port.queues(data(number, 1))));
        assert!(matches!(port.offer(data(2, 1)), Verdict::Dropped(packet) if packet.size() == 1_500));
        let thresholds = Thresholds { drop_non_ect: true, ..trims.thresholds.marking(QueueLimit::Packets(1), false) };
        let mut port = Port::new(&[ClassPolicy { thresholds, ..trims }]);
        let unmarkable = |number| Packet { flags: Flags::TRIMMABLE, ..data(number, 1) };
        assert!(port.queues(unmarkable(0)) && matches!(port.offer(unmarkable(1)), Verdict::Dropped(_)));
        assert!((1..4).all(|number| port.queues(data(number, 1))));
        assert!(matches!(port.offer(unmarkable(4)), Verdict::Trimmed(_)));
        assert_eq!(port.events.trims, 1);
    }

    /// Classes that are closed wait, and what they hold is known; others go on.
    #[test]
    fn closed_classes_wait() {
        let lossless = |priority| ClassPolicy { lossless: true, ..class(&[priority], 1) };
        let mut port = Port::new(&[lossless(3), lossless(5), class(&[0, 1, 2, 4, 6, 7], 9)]);
        for (number, priority) in (1..).zip([3, 3, 5, 7, 0]) {
            assert!(port.queues(data(number, priority)));
        }
        port.queues.close(ClassSet::of(1 << 3));
        assert_eq!((port.queues.held(), port.queues.waits(3), port.queues.waits(1)), (3_000, true, true));
        assert_eq!(port.drain(), [4, 5, 3]);
        assert_eq!((port.queues.held(), port.queues.waits(5), port.queues.waiting()), (3_000, false, (2, 3_000)));
        port.queues.close(ClassSet::of(1 << 5));
        assert_eq!((port.queues.held(), port.drain()), (0, vec![1, 2]));
    }

    /// A leaving packet is marked by the queue of its own class.
    #[test]
    fn leaving_packets_are_marked_by_their_class() {
        let of = |priority| {
            let thresholds = class(&[priority], 9).thresholds.marking(QueueLimit::Packets(2), false);
            ClassPolicy { thresholds, marking: Marking::AtDequeue, ..class(&[priority], 9) }
        };
        let mut port = Port::new(&[of(1), of(2)]);
        for (number, priority) in (1..).zip([1, 1, 1, 1, 2, 2]) {
            assert!(port.queues(data(number, priority)));
        }
        let sent: Vec<_> = std::iter::from_fn(|| port.begin()).map(|p| (p.seq, p.flags.has(Flags::CE))).collect();
        assert_eq!(sent, [(5, false), (6, false), (1, true), (2, true), (3, false), (4, false)]);
        assert_eq!(port.events.marks, 2);
    }

    #[derive(Clone, Copy, Debug)]
    enum Step {
        Data { priority: u8, size: u16 },
        Ack,
        Begin,
        Sent,
        Close(u16),
        GiveUp,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            8 => (0u8..8, 100u16..1_500).prop_map(|(priority, size)| Step::Data { priority, size }),
            1 => Just(Step::Ack),
            4 => Just(Step::Begin),
            4 => Just(Step::Sent),
            1 => (0u16..256).prop_map(Step::Close),
            1 => Just(Step::GiveUp),
        ]
    }

    proptest! {
        /// Each packet is sent, dropped, given up or still there, once; those of a class leave in the order in which they came;
        /// none leaves while its class is closed or while one of a larger rank may go; the sums are those of the queues.
        #[test]
        fn nothing_is_lost_and_nothing_comes_twice(
            limits in prop::collection::vec((1u32..9, any::<bool>(), prop::option::of(1u32..4)), 4),
            steps in prop::collection::vec(step(), 1..300),
        ) {
            // Classes of two priorities each: 0 and 1, and so on.
            let classes: Vec<ClassPolicy> = (0..4)
                .zip(&limits)
                .map(|(number, (limit, trims, weight))| ClassPolicy {
                    trims: *trims,
                    quantum: weight.map(|weight| weight * 1_500),
                    ..class(&[2 * number, 2 * number + 1], *limit)
                })
                .collect();
            let mut port = Port::new(&classes);
            let queue_of = |packet: &Packet| if packet.is_control() { 4 } else { usize::from(packet.priority() / 2) };
            let mut inside: [Vec<u32>; 5] = Default::default();
            let (mut closed, mut gone, mut came) = (0u16, 0, 0);
            for (number, step) in (0..).zip(&steps) {
                let packet = match *step {
                    Step::Data { priority, size } => sized(number, priority, size),
                    Step::Ack => ack(number),
                    Step::Begin => {
                        let is_open = |queue: usize| closed >> (2 * queue) & 3 == 0;
                        let ready: Vec<usize> = (0..4).filter(|q| is_open(*q) && !inside[*q].is_empty()).collect();
                        let Some(packet) = port.begin() else {
                            prop_assert!(ready.is_empty() && inside[4].is_empty());
                            continue;
                        };
                        let queue = queue_of(&packet);
                        let strict = ready.iter().rev().find(|q| limits[**q].2.is_none());
                        match (inside[4].is_empty(), strict) {
                            (false, _) => prop_assert_eq!(queue, 4),
                            (true, Some(strict)) => prop_assert_eq!(queue, *strict),
                            (true, None) => prop_assert!(ready.contains(&queue)),
                        }
                        prop_assert_eq!(inside[queue].remove(0), packet.seq);
                        gone += 1;
                        continue;
                    }
                    Step::Sent => {
                        port.queues.sent(Time::ZERO);
                        continue;
                    }
                    Step::Close(classes) => {
                        closed = classes;
                        port.queues.close(ClassSet::of(classes));
                        continue;
                    }
                    Step::GiveUp => {
                        let Some(packet) = port.queues.give_up(Time::ZERO) else {
                            prop_assert!(inside.iter().all(Vec::is_empty));
                            continue;
                        };
                        prop_assert_eq!(inside[queue_of(&packet)].remove(0), packet.seq);
                        gone += 1;
                        continue;
                    }
                };
                came += 1;
                let queue = queue_of(&packet);
                match port.offer(packet) {
                    Verdict::Queued => inside[queue].push(number),
                    Verdict::Trimmed(header) => {
                        prop_assert!(limits[queue].1 && header.is_control() && header.seq == number);
                        inside[4].push(number);
                    }
                    Verdict::Dropped(packet) => {
                        prop_assert!(!limits[queue].1 && packet.seq == number);
                        gone += 1;
                    }
                    Verdict::Returned(_) => prop_assert!(false, "nothing goes back"),
                }
                prop_assert!(queue == 4 || inside[queue].len() as u32 <= limits[queue].0);
                let waiting: usize = inside.iter().map(Vec::len).sum();
                prop_assert_eq!((port.queues.waiting().0 as usize, gone + waiting), (waiting, came));
            }
            while port.queues.give_up(Time::ZERO).is_some() {}
            prop_assert_eq!(port.queues.waiting(), (0, 0));
        }
    }
}
