//! A link: an output port with one FIFO queue, and the line to the next node.

mod kind;
mod stats;

pub use kind::LinkKind;
pub use stats::{LinkStats, RareEvents};

use crate::packet::{Flags, Packet};
use crate::thresholds::Admission;
use linkpool_engine::prefetch_place;
use linkpool_units::Time;
use std::hint::select_unpredictable;

/// An output port with its FIFO queue and the line to the next node, in one ring of packets sorted
/// by arrival time.
///
/// When a packet joins a FIFO queue, its departure is known: `max(now, busy_until) +
/// serialisation`. Its arrival is known too. So one ring holds the queued packets and the packets
/// in flight. The queue is the part of the ring that has not departed. It needs no service events.
#[derive(Debug)]
#[repr(align(64))]
pub struct Link {
    ring: Box<[Packet]>,
    packets: u64,
    busy_until: Time,
    bytes: u64,
    /// Next packet to arrive (advanced by the receiving node).
    head: u32,
    /// First packet that had not departed at the last [`Link::settle`] (advanced by the sending
    /// node).
    departed: u32,
    /// Next free place.
    tail: u32,
    /// The most packets that were queued at once, the packet in service included.
    max_present: u32,
    /// The calendar's number of this link at its receiving node.
    pub(crate) input: u32,
    pub(crate) kind: u16,
    /// The partition of the receiving node; [`LOCAL`] if the sending node is in the same one.
    pub(crate) remote: u8,
}

/// The place of a packet that a link has accepted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Queued {
    /// It is the next to arrive at the other end, which must be woken for it.
    Next(Time),
    /// Other packets arrive before it.
    Behind,
}

/// The fate of a packet on which thresholds may act.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fate {
    Queued(Queued),
    /// It was dropped.
    Dropped,
    /// The link has a port with a queue discipline of its own; nothing was queued here.
    Elsewhere,
}

/// See [`Link::remote`].
pub(crate) const LOCAL: u8 = u8::MAX;

const _: () = assert!(size_of::<Link>() == 64);

impl Link {
    pub(crate) fn new(kind: u16, input: u32, remote: u8) -> Link {
        Link {
            ring: Box::default(),
            busy_until: Time::ZERO,
            packets: 0,
            bytes: 0,
            head: 0,
            departed: 0,
            tail: 0,
            max_present: 0,
            input,
            kind,
            remote,
        }
    }

    #[inline]
    fn at(&self, index: u32) -> usize {
        index as usize & self.ring.len().wrapping_sub(1)
    }

    /// Advances `departed` past the packets that have left the queue by `now`.
    #[inline]
    fn settle(&mut self, kind: &LinkKind, now: Time) {
        if self.busy_until <= now {
            self.departed = self.tail;
            return;
        }
        let arrives_by = now + kind.delay;
        while self.departed != self.tail && self.ring[self.at(self.departed)].arrival <= arrives_by {
            self.departed = self.departed.wrapping_add(1);
        }
    }

    /// Packets that had not departed at the last [`Link::settle`]: at least the queued packets.
    #[inline]
    fn present(&self) -> u32 {
        self.tail.wrapping_sub(self.departed)
    }

    /// Bytes queued, with the packet in service if the thresholds count it. The packets behind it
    /// are sent between its departure and `busy_until`.
    fn queued_bytes(&self, kind: &LinkKind) -> u64 {
        if self.departed == self.tail {
            return 0;
        }
        let first = &self.ring[self.at(self.departed)];
        let in_service = if kind.thresholds.uncounted == 1 { 0 } else { first.size() as u64 };
        kind.bytes_in(self.busy_until - (first.arrival - kind.delay)) + in_service
    }

    /// Queues `packet` at `now`; none if thresholds may act on it, see
    /// [`Link::enqueue_by_thresholds`].
    ///
    /// It settles the queue only when the queue may be longer than ever before; otherwise the queue
    /// is shorter than any threshold that acts.
    #[inline(always)]
    pub(crate) fn enqueue(&mut self, kind: &LinkKind, now: Time, packet: &Packet) -> Option<Queued> {
        if self.present() >= self.max_present {
            if self.busy_until <= now && self.max_present > 0 {
                self.departed = self.tail; // all have left, so one packet more is no record
            } else {
                self.settle_at_most(kind, now);
            }
        }
        self.passes(kind, now).then(|| self.accept(kind, now, packet))
    }

    /// The queue may be longer than ever before: settles it, and notes its length with one packet
    /// more if no threshold may act on that packet.
    #[inline(never)]
    fn settle_at_most(&mut self, kind: &LinkKind, now: Time) {
        self.settle(kind, now);
        if self.passes(kind, now) {
            self.max_present = self.max_present.max(self.present() + 1);
        }
    }

    /// Is the queue at `now` shorter than any threshold that acts?
    #[inline(always)]
    fn passes(&self, kind: &LinkKind, now: Time) -> bool {
        let backlog = self.busy_until.max(now) - now;
        self.present() < kind.acts_from && backlog < kind.acts_from_backlog
    }

    /// Queues, marks or drops `packet` at `now`, as the thresholds say.
    pub(crate) fn enqueue_by_thresholds(
        &mut self,
        kind: &LinkKind,
        rare: &mut RareEvents,
        now: Time,
        packet: &Packet,
    ) -> Fate {
        self.settle(kind, now);
        // The packet in service is the first that has not departed.
        let queued = self.present() - kind.thresholds.uncounted.min(self.present());
        let mut packet = *packet;
        match self.admission(kind, queued, &packet) {
            None => return Fate::Elsewhere,
            Some(Admission::Drop) => {
                rare.drops += 1;
                rare.drop_bytes += packet.size() as u64;
                return Fate::Dropped;
            }
            Some(Admission::Mark) => {
                // An earlier switch may have marked it; only the first mark counts.
                rare.marks += !packet.flags.has(Flags::CE) as u64;
                packet.flags = packet.flags.with(Flags::CE);
            }
            Some(Admission::Queue) => {}
        }
        self.max_present = self.max_present.max(self.present() + 1);
        Fate::Queued(self.accept(kind, now, &packet))
    }

    /// Puts `packet` at the end of the queue.
    #[inline(always)]
    fn accept(&mut self, kind: &LinkKind, now: Time, packet: &Packet) -> Queued {
        let departure = self.busy_until.max(now) + kind.serialisation(packet.size());
        self.busy_until = departure;
        self.packets += 1;
        self.bytes += packet.size() as u64;
        let arrival = departure + kind.delay;
        let alone = self.head == self.tail;
        let place = self.next_place(kind, now);
        *place = *packet;
        place.arrival = arrival;
        if alone { Queued::Next(arrival) } else { Queued::Behind }
    }

    /// The decision on `packet`, which meets `queued` packets, enough for the thresholds to act.
    /// None: the link has a port with a queue discipline of its own, which decides.
    fn admission(&self, kind: &LinkKind, queued: u32, packet: &Packet) -> Option<Admission> {
        let thresholds = &kind.thresholds;
        let bytes = if thresholds.in_bytes { self.queued_bytes(kind) } else { 0 };
        let (over, full) =
            (thresholds.is_over(queued, bytes), thresholds.is_full(queued, bytes + packet.size() as u64));
        let markable = packet.flags.has(Flags::ECT);
        (!thresholds.is_elsewhere()).then(|| thresholds.admission(over, full, markable, packet.flags))
    }

    /// Adds a place at the end of the ring; the caller fills it.
    #[inline]
    fn next_place(&mut self, kind: &LinkKind, now: Time) -> &mut Packet {
        if self.present().max(self.on_the_way()) as usize == self.ring.len() {
            self.make_room(kind, now);
        }
        self.take_place()
    }

    /// The place at the end of the ring, which has room; the caller fills it.
    #[inline]
    fn take_place(&mut self) -> &mut Packet {
        let place = self.at(self.tail);
        self.tail = self.tail.wrapping_add(1);
        &mut self.ring[place]
    }

    /// Gives the packets sent since the last call to `give`, for another partition. They still
    /// count in the queue here.
    #[inline]
    pub(crate) fn hand_over(&mut self, mut give: impl FnMut(&Packet)) {
        while self.head != self.tail {
            give(&self.ring[self.at(self.head)]);
            self.head = self.head.wrapping_add(1);
        }
    }

    /// Takes `packet`, which has left a queue elsewhere: that of a port with a queue discipline of
    /// its own, or that of the sending partition. Returns its arrival if no other packet is in
    /// flight.
    #[inline]
    pub(crate) fn carry(&mut self, packet: Packet) -> Option<Time> {
        self.departed = self.head; // this ring has no queue
        let alone = self.head == self.tail;
        if self.on_the_way() as usize == self.ring.len() {
            self.grow();
        }
        *self.take_place() = packet;
        alone.then_some(packet.arrival)
    }

    /// The first place that is still needed, by the receiver or by [`Link::settle`].
    #[inline]
    fn oldest(&self) -> u32 {
        if self.head.wrapping_sub(self.departed) as i32 > 0 { self.departed } else { self.head }
    }

    /// The ring is full, unless more has departed than is known.
    #[cold]
    fn make_room(&mut self, kind: &LinkKind, now: Time) {
        self.settle(kind, now);
        if self.tail.wrapping_sub(self.oldest()) as usize == self.ring.len() {
            self.grow();
        }
    }

    #[cold]
    fn grow(&mut self) {
        let oldest = self.oldest();
        let mut larger = vec![Packet::default(); (self.ring.len() * 2).max(4)].into_boxed_slice();
        let mask = larger.len() - 1;
        for i in 0..self.ring.len() as u32 {
            let index = oldest.wrapping_add(i);
            larger[index as usize & mask] = self.ring[self.at(index)];
        }
        self.ring = larger;
    }

    /// Prefetches the next packet for the receiver, and the arrival of the packet behind it.
    #[inline]
    pub(crate) fn prefetch_head(&self) {
        prefetch_place(&self.ring, self.at(self.head));
        // It may be in another cache line.
        prefetch_place(&self.ring, self.at(self.head.wrapping_add(1)));
    }

    /// Prefetches the place of the next packet, and the packet that [`Link::settle`] reads first if
    /// the queue may be longer than ever.
    #[inline]
    pub(crate) fn prefetch_end(&self) {
        prefetch_place(&self.ring, self.at(self.tail));
        let settles = self.present() >= self.max_present;
        // No branch, since no processor can predict it.
        prefetch_place(&self.ring, self.at(select_unpredictable(settles, self.departed, self.tail)));
    }

    /// Removes the packets that arrive before `limit` and gives them to `take`. Returns the arrival
    /// of the next one, if there is one.
    #[inline(always)]
    pub(crate) fn take_before(&mut self, limit: Time, mut take: impl FnMut(&Packet)) -> Option<Time> {
        let (mut head, tail) = (self.head, self.tail);
        let mut next = None;
        while head != tail {
            let first = &self.ring[self.at(head)];
            if first.arrival >= limit {
                next = Some(first.arrival);
                break;
            }
            take(first);
            head = head.wrapping_add(1);
        }
        self.head = head;
        next
    }

    /// The packets that arrive before `limit`, in order.
    pub(crate) fn arriving_before(&self, limit: Time) -> impl Iterator<Item = &Packet> {
        let all = (0..self.on_the_way()).map(|i| &self.ring[self.at(self.head.wrapping_add(i))]);
        all.take_while(move |packet| packet.arrival < limit)
    }

    /// The packets that had not departed at the last [`Link::settle`]: the packet in service, and
    /// the waiting packets.
    pub(crate) fn queued(&self) -> impl Iterator<Item = &Packet> {
        (0..self.present()).map(|i| &self.ring[self.at(self.departed.wrapping_add(i))])
    }

    /// The place that the next packet will take, for [`Link::since`].
    pub(crate) fn mark(&self) -> u32 {
        self.tail
    }

    /// The packets queued since `mark`, which was taken at this instant.
    pub(crate) fn since(&self, mark: u32) -> impl Iterator<Item = &Packet> {
        (0..self.tail.wrapping_sub(mark)).map(move |i| &self.ring[self.at(mark.wrapping_add(i))])
    }

    /// Length of the queue at `now`, counted as the thresholds say.
    pub(crate) fn queue_packets(&mut self, kind: &LinkKind, now: Time) -> u32 {
        self.settle(kind, now);
        self.present() - kind.thresholds.uncounted.min(self.present())
    }

    /// Bytes not yet sent at `now`, with the rest of the packet in service.
    pub(crate) fn backlog_bytes(&self, kind: &LinkKind, now: Time) -> u64 {
        kind.bytes_in(self.busy_until.saturating_sub(now))
    }

    /// Packets queued or in flight.
    #[inline]
    pub(crate) fn on_the_way(&self) -> u32 {
        self.tail.wrapping_sub(self.head)
    }

    /// The counters of the link: packets carried, dropped and marked.
    pub(crate) fn stats(&self, kind: &LinkKind, rare: RareEvents) -> LinkStats {
        let max_queue = self.max_present - kind.thresholds.uncounted.min(self.max_present);
        LinkStats { packets: self.packets, bytes: self.bytes, max_queue, rare }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Envelope;
    use crate::policy::QueuePolicy;
    use crate::queue_limit::QueueLimit;
    use linkpool_units::Rate;

    fn packet(size: u16) -> Packet {
        Packet { envelope: Envelope::default().with_size(size), flags: Flags::DATA | Flags::ECT, ..Packet::default() }
    }

    struct Port(Link, LinkKind, RareEvents);

    impl Port {
        fn enqueue(&mut self, now: Time, packet: Packet) -> Fate {
            match self.0.enqueue(&self.1, now, &packet) {
                Some(queued) => Fate::Queued(queued),
                None => self.0.enqueue_by_thresholds(&self.1, &mut self.2, now, &packet),
            }
        }
        fn pop(&mut self) -> Packet {
            let first = *self.0.arriving_before(Time::MAX).next().expect("a packet on its way");
            self.0.head += 1;
            first
        }
        fn stats(&self) -> LinkStats {
            self.0.stats(&self.1, self.2)
        }
    }

    fn link(policy: QueuePolicy) -> Port {
        let kind = LinkKind::new(Rate::gbps(10), Time::from_us(2), policy.thresholds);
        Port(Link::new(0, 0, LOCAL), kind, RareEvents::default())
    }

    #[test]
    fn departure_and_arrival_are_known_at_once() {
        let mut l = link(QueuePolicy::drop_tail(QueueLimit::Packets(100)));
        // 1,462 B at 10 Gbps: 1,169.6 ns.
        assert_eq!(
            l.enqueue(Time::ZERO, packet(1462)),
            Fate::Queued(Queued::Next(Time::from_ps(1_169_600 + 2_000_000)))
        );
        assert_eq!(l.enqueue(Time::from_ns(100), packet(1462)), Fate::Queued(Queued::Behind));
        assert_eq!(l.pop().arrival, Time::from_ps(3_169_600));
        assert_eq!(l.pop().arrival, Time::from_ps(2 * 1_169_600 + 2_000_000));
    }

    #[test]
    fn the_packet_in_service_does_not_count_unless_told() {
        for (counts, accepted) in [(false, 101), (true, 100)] {
            let policy = QueuePolicy::drop_tail(QueueLimit::Packets(100)).counting_in_service(counts);
            let mut l = link(policy);
            for _ in 0..150 {
                l.enqueue(Time::ZERO, packet(1462));
            }
            assert_eq!((l.stats().packets, l.stats().rare.drops), (accepted, 150 - accepted));
            assert_eq!(l.stats().max_queue, 100);
            // One leaves; one more fits.
            l.enqueue(Time::from_ns(1170), packet(1462));
            assert_eq!(l.stats().packets, accepted + 1);
        }
    }

    #[test]
    fn marks_at_k_or_above_k() {
        for (above, first) in [(false, 11), (true, 12)] {
            let policy = QueuePolicy::drop_tail(QueueLimit::Packets(100)).marking(QueueLimit::Packets(10), above);
            let mut l = link(policy);
            for _ in 0..20 {
                l.enqueue(Time::ZERO, packet(1462));
            }
            let marked = (0..20).filter(|_| l.pop().flags.has(Flags::CE)).count();
            // Of 20, the first is in service, and the one that finds 10 queued is the twelfth.
            assert_eq!(marked, 20 - first);
            assert_eq!(l.stats().rare.marks as usize, marked);
        }
    }

    #[test]
    fn byte_limits_count_waiting_bytes() {
        let mut l = link(QueuePolicy::drop_tail(QueueLimit::Bytes(3000)).marking(QueueLimit::Bytes(1000), false));
        for _ in 0..4 {
            l.enqueue(Time::ZERO, packet(1000));
        }
        // In service 1, queued 3 = 3,000 B: full.
        l.enqueue(Time::ZERO, packet(1000));
        assert_eq!((l.stats().packets, l.stats().rare.drops, l.stats().rare.marks), (4, 1, 2));
        assert_eq!(l.0.backlog_bytes(&l.1, Time::from_ns(400)), 3500);
    }

    #[test]
    fn packets_without_ect_are_dropped_queued_or_exempt() {
        let k = QueueLimit::Packets(1);
        let base = QueuePolicy::drop_tail(QueueLimit::Packets(3)).marking(k, false);
        let ack = Packet { flags: Flags::ACK, ..packet(42) };
        for (policy, carried) in [
            (base, 4),
            (base.dropping_non_ect(true), 2),
            (base.dropping_non_ect(true).exempting(false, false, true), 10),
        ] {
            let mut l = link(policy);
            for _ in 0..10 {
                l.enqueue(Time::ZERO, ack);
            }
            assert_eq!(l.stats().packets, carried);
        }
    }

    #[test]
    fn the_ring_grows_and_keeps_order() {
        let mut l = link(QueuePolicy::drop_tail(QueueLimit::Packets(1000)));
        let mut expected = 0;
        for seq in 0..500 {
            l.enqueue(Time::from_ns(seq as u64 * 300), Packet { seq, ..packet(1462) });
            if seq % 3 == 0 {
                assert_eq!(l.pop().seq, expected);
                expected += 1;
            }
        }
        while l.0.on_the_way() > 0 {
            assert_eq!(l.pop().seq, expected);
            expected += 1;
        }
        assert_eq!(expected, 500);
    }

    /// Of 1,000 packets each leaves before the fourth behind it comes: the ring stays at four
    /// places.
    #[test]
    fn the_ring_is_used_again() {
        let mut l = link(QueuePolicy::drop_tail(QueueLimit::Packets(1000)));
        for seq in 0..1000 {
            l.enqueue(Time::from_us(10 * seq as u64), Packet { seq, ..packet(1462) });
            if seq >= 3 {
                assert_eq!(l.pop().seq, seq - 3);
            }
        }
        assert_eq!((l.0.ring.len(), l.0.on_the_way()), (4, 3));
    }

    /// A queue of 4 packets of 1,250 B at 10 Gbit/s, a microsecond each: with and without the
    /// packet in service.
    #[test]
    fn the_queue_is_as_long_as_what_has_not_departed() {
        for (counts, lengths) in [(false, [3, 2, 1, 0, 0]), (true, [4, 3, 2, 1, 0])] {
            let mut l = link(QueuePolicy::drop_tail(QueueLimit::Packets(100)).counting_in_service(counts));
            for _ in 0..4 {
                l.enqueue(Time::ZERO, packet(1250));
            }
            let found = [0, 1, 2, 3, 4].map(|us| l.0.queue_packets(&l.1, Time::from_us(us)));
            assert_eq!(found, lengths, "{counts}");
        }
    }

    #[test]
    fn packets_are_taken_when_they_arrive() {
        let mut l = link(QueuePolicy::drop_tail(QueueLimit::Packets(100)));
        let take = |l: &mut Port, limit| {
            let mut taken = Vec::new();
            let next = l.0.take_before(Time::from_us(limit), |packet| taken.push(packet.seq));
            (taken, next)
        };
        assert_eq!(take(&mut l, 100), (vec![], None));
        for seq in [7, 8, 9] {
            l.enqueue(Time::ZERO, Packet { seq, ..packet(1250) });
        }
        // Each packet takes 1 us to send and 2 us to arrive.
        assert_eq!(take(&mut l, 3), (vec![], Some(Time::from_us(3))));
        assert_eq!(take(&mut l, 5), (vec![7, 8], Some(Time::from_us(5))));
        assert_eq!(take(&mut l, 6), (vec![9], None));
    }

    /// As in `byte_limits_count_waiting_bytes`, four packets of 1,000 B with marks from 1,000
    /// queued bytes on. Here the limit in bytes became a limit in packets before the start.
    #[test]
    fn marks_in_bytes_stay_when_the_limit_changes() {
        let policy = QueuePolicy::drop_tail(QueueLimit::Bytes(9000)).marking(QueueLimit::Bytes(1000), false);
        for limit in [QueueLimit::Packets(3), QueueLimit::Bytes(3000)] {
            let kind = LinkKind::new(Rate::gbps(10), Time::from_us(2), policy.thresholds.limited_to(limit));
            let mut l = Port(Link::new(0, 0, LOCAL), kind, RareEvents::default());
            for _ in 0..5 {
                l.enqueue(Time::ZERO, packet(1000));
            }
            assert_eq!((l.stats().packets, l.stats().rare.drops, l.stats().rare.marks), (4, 1, 2), "{limit:?}");
        }
    }

    /// The quick way leaves a packet to the thresholds before any of them acts: against the same
    /// link whose every packet is judged by them, with limits and marks in packets and in bytes,
    /// the packet in service counted or not.
    #[test]
    fn the_quick_way_agrees_with_the_thresholds() {
        let (packets, bytes) = (QueueLimit::Packets, QueueLimit::Bytes);
        for (limit, mark) in [(packets(4), packets(2)), (bytes(6000), bytes(2500)), (bytes(20_000), packets(3))] {
            for counts in [false, true] {
                let policy = QueuePolicy::drop_tail(limit).marking(mark, false).counting_in_service(counts);
                let (mut quick, mut judged) = (link(policy), link(policy));
                for i in 0..3000u64 {
                    // Bursts of packets of several sizes, and gaps in which the queue runs empty.
                    let now = Time::from_ns(300 * i + 30_000 * (i / 16));
                    let packet = packet([42, 1462, 1000, 9000][(i as usize * 7 + i as usize / 5) % 4]);
                    let fate = judged.0.enqueue_by_thresholds(&judged.1, &mut judged.2, now, &packet);
                    assert_eq!(quick.enqueue(now, packet), fate, "{limit:?} {mark:?} {counts} {i}");
                }
                assert_eq!(quick.stats(), judged.stats());
                assert!(judged.stats().rare.drops > 0 && judged.stats().rare.marks > 0, "{limit:?} {mark:?}");
            }
        }
    }
}
