//! A link: an output port with one FIFO queue, and the line to the next node.

mod kind;
mod stats;

pub use kind::LinkKind;
pub use stats::{LinkStats, OnWire, RareEvents};

use crate::fabric::NodeId;
use crate::packet::{Flags, Packet};
use crate::thresholds::Admission;
use linkpool_engine::prefetch_place;
use linkpool_units::Time;
use std::hint::select_unpredictable;

/// An output port with its FIFO queue.
///
/// When a packet joins a FIFO queue, its departure is known: `max(now, busy_until) +
/// serialisation`. Its arrival at the other end is known too. So the packet itself goes at once to
/// the list of those that arrive in that window ([`crate::in_flight`]). The link keeps the size of each packet that
/// may still be queued: from these and `busy_until` follows which packets have departed. The queue needs no service events.
#[derive(Debug)]
#[repr(align(64))]
pub struct Link {
    /// The sizes of the packets that may be queued, from number `departed` on, in a ring.
    queue: Box<[u16]>,
    /// The packets that it has accepted: the number of the next one.
    packets: u64,
    busy_until: Time,
    bytes: u64,
    /// The lower bits of the number of the first packet that is not known to have departed.
    departed: u32,
    /// The lower bits of the number of bytes that it had accepted before that packet. A queue is shorter than 2 GiB
    /// ([`crate::queue_limit::QueueLimit::HELD`]).
    departed_bytes: u32,
    /// If fewer packets are present, one more may join before the queue must be looked at: it is shorter
    /// than ever, than any threshold in packets, and than the ring.
    room: u32,
    /// The most packets that were queued at once, the packet in service included.
    max_present: u32,
    /// The receiving node.
    pub(crate) to: NodeId,
    pub(crate) kind: u16,
    /// The list that its packets join, see [`crate::in_flight::InFlight`].
    pub(crate) list: u16,
}

/// A link that looks for the packet in service passes so many of those that are present before it asks whether that is enough.
const STEPS: u32 = 15;

/// The fate of a packet on which thresholds may act.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fate {
    /// It was queued, and arrives at the other end at this time.
    Queued(Time),
    /// It was dropped.
    Dropped,
}

const _: () = assert!(size_of::<Link>() == 64);

impl Link {
    /// A link to the node `to`, whose packets join `list` when they are on their way.
    pub(crate) fn new(kind: u16, to: NodeId, list: u16) -> Link {
        Link {
            queue: Box::default(),
            packets: 0,
            busy_until: Time::ZERO,
            bytes: 0,
            departed: 0,
            departed_bytes: 0,
            room: 0,
            max_present: 0,
            to,
            kind,
            list,
        }
    }

    /// The queue of this link is in a port ([`crate::ports`]). If it `passes` packets, one that finds nobody at the port takes
    /// the link as if there were none: packets that find the link idle join it by [`Link::enqueue`], all others by
    /// [`Link::begin`] when the port begins to send them.
    pub(crate) fn belongs_to_port(&mut self, passes: bool) {
        self.queue = vec![0; 1].into_boxed_slice();
        self.let_pass(passes);
    }

    /// May a packet that finds the link idle take it as if there were no port?
    #[inline]
    pub(crate) fn let_pass(&mut self, passes: bool) {
        self.room = passes.into();
    }

    /// The port begins to send a packet of `size` bytes, whose last bit leaves at `ends`.
    #[inline]
    pub(crate) fn begin(&mut self, size: u16, ends: Time) {
        let place = self.place(self.next());
        self.queue[place] = size;
        self.busy_until = ends;
        self.packets += 1;
        self.bytes += u64::from(size);
    }

    /// The port has begun to send a packet of `size` bytes that does not count: the link has failed meanwhile.
    pub(crate) fn uncount(&mut self, size: u16) {
        self.packets -= 1;
        self.bytes -= u64::from(size);
    }

    /// When all packets have left that it has accepted.
    #[inline]
    pub(crate) fn busy_until(&self) -> Time {
        self.busy_until
    }

    /// The size of the packet that it accepted last, of a link with a port.
    pub(crate) fn last_size(&self) -> u16 {
        self.queue.first().copied().unwrap_or(0)
    }

    /// The packets that it has accepted, and their bytes.
    pub(crate) fn accepted(&self) -> (u64, u64) {
        (self.packets, self.bytes)
    }

    /// The place in the ring of the packet whose number has these lower bits.
    #[inline]
    fn place(&self, number: u32) -> usize {
        number as usize & self.queue.len().wrapping_sub(1)
    }

    /// The lower bits of the number of the next packet.
    #[inline]
    fn next(&self) -> u32 {
        self.packets as u32
    }

    /// Advances `departed` past the packets that have left the queue by `now`.
    #[inline]
    fn settle(&mut self, kind: &LinkKind, now: Time) {
        self.settle_idle(now);
        self.settle_busy(0, kind, now);
    }

    /// The same unless all have left, until fewer than `enough` are present.
    #[inline(always)]
    fn settle_busy(&mut self, enough: u32, kind: &LinkKind, now: Time) {
        // Packets follow each other without a gap since the queue was last empty. So the link has begun to send a packet if
        // all bytes from that packet on take as long as is left until all have departed.
        let unsent = kind.bytes_that_take(self.busy_until.saturating_sub(now));
        let certain = unsent + kind.rounding(self.present());
        let mut left = self.present_bytes();
        loop {
            let first = self.departed;
            for _ in 0..STEPS.min(self.present().saturating_sub(1)) {
                let after = left - u32::from(self.size(self.departed));
                if after < certain {
                    break;
                }
                self.departed = self.departed.wrapping_add(1);
                left = after;
            }
            if self.departed.wrapping_sub(first) < STEPS || self.present() < enough {
                break;
            }
        }
        self.departed_bytes = (self.bytes as u32).wrapping_sub(left);
        if certain > unsent {
            self.settle_rounded(unsent, kind, now);
        }
    }

    /// The rest of [`Link::settle_busy`] where serialisations are rounded down: `departed` may be some packets too low.
    #[cold]
    fn settle_rounded(&mut self, unsent: u32, kind: &LinkKind, now: Time) {
        while self.present() > 1 {
            let (size, second) = (self.size(self.departed), self.departed.wrapping_add(1));
            if self.present_bytes() - u32::from(size) < unsent || self.begins(second, kind) > now {
                break;
            }
            self.departed = second;
            self.departed_bytes = self.departed_bytes.wrapping_add(size.into());
        }
    }

    /// The size of packet `number`, one of those that are present.
    #[inline]
    fn size(&self, number: u32) -> u16 {
        self.queue[self.place(number)]
    }

    /// The bytes of the packets that are present.
    #[inline]
    fn present_bytes(&self) -> u32 {
        (self.bytes as u32).wrapping_sub(self.departed_bytes)
    }

    /// When the link begins to send packet `number`, one of those that are present: each serialisation is rounded.
    fn begins(&self, number: u32, kind: &LinkKind) -> Time {
        let numbers = (0..self.next().wrapping_sub(number)).map(|i| number.wrapping_add(i));
        numbers.fold(self.busy_until, |begins, number| begins - kind.serialisation(self.size(number)))
    }

    /// Packets that are not known to have departed: at least the queued packets; after [`Link::settle`] these.
    #[inline]
    pub(crate) fn present(&self) -> u32 {
        self.next().wrapping_sub(self.departed)
    }

    /// Bytes queued, with the packet in service if the thresholds count it.
    fn queued_bytes(&self, kind: &LinkKind) -> u64 {
        let uncounted = kind.thresholds.uncounted;
        if uncounted >= self.present() {
            return 0;
        }
        let in_service = (0..uncounted).map(|i| u32::from(self.size(self.departed.wrapping_add(i)))).sum::<u32>();
        (self.present_bytes() - in_service).into()
    }

    /// Queues `packet` at `now`, and returns when it arrives at the other end; none if thresholds
    /// may act on it, see [`Link::admit`].
    ///
    /// Most packets need only two comparisons: those that have room, where the queue is shorter than
    /// any threshold that acts.
    #[inline(always)]
    pub(crate) fn enqueue(&mut self, kind: &LinkKind, now: Time, packet: &Packet) -> Option<Time> {
        self.settle_idle(now);
        if (self.present() < self.room) & self.is_short(kind, now) {
            return Some(self.accept(kind, now, packet));
        }
        (!kind.thresholds.is_elsewhere() && self.look(kind, now)).then(|| self.accept(kind, now, packet))
    }

    /// Settles the queue if all packets have left by `now`.
    #[inline(always)]
    fn settle_idle(&mut self, now: Time) {
        // No branch, since no processor can predict it.
        let is_idle = self.busy_until <= now;
        self.departed = select_unpredictable(is_idle, self.next(), self.departed);
        self.departed_bytes = select_unpredictable(is_idle, self.bytes as u32, self.departed_bytes);
    }

    /// Is the time until all packets have left shorter than any threshold that acts?
    #[inline(always)]
    fn is_short(&self, kind: &LinkKind, now: Time) -> bool {
        self.busy_until.max(now) - now < kind.acts_from_backlog
    }

    /// Makes room for one packet more, and returns true, unless a threshold may act on it: then the queue is settled. If the
    /// queue is longer than ever, notes its length with that packet.
    #[inline(never)]
    fn look(&mut self, kind: &LinkKind, now: Time) -> bool {
        let is_short = self.is_short(kind, now);
        self.settle_busy(if is_short { self.room } else { 0 }, kind, now);
        if !is_short || self.present() >= kind.acts_from {
            return false;
        }
        if self.present() < self.room {
            return true;
        }
        self.make_room(kind);
        true
    }

    /// Queues, marks or drops `packet` at `now`, as the thresholds say, after [`Link::enqueue`] has returned none.
    pub(crate) fn admit(&mut self, kind: &LinkKind, rare: &mut RareEvents, now: Time, packet: &mut Packet) -> Fate {
        // The packet in service is the first that has not departed.
        let queued = self.present() - kind.thresholds.uncounted.min(self.present());
        match self.admission(kind, queued, packet) {
            Admission::Drop => {
                rare.drops += 1;
                rare.drop_bytes += packet.size() as u64;
                return Fate::Dropped;
            }
            Admission::Mark => {
                // An earlier switch may have marked it; only the first mark counts.
                rare.marks += !packet.flags.has(Flags::CE) as u64;
                packet.flags = packet.flags.with(Flags::CE);
            }
            Admission::Queue => {}
        }
        self.make_room(kind);
        Fate::Queued(self.accept(kind, now, packet))
    }

    /// Puts `packet` at the end of the queue, whose ring has a place. Returns when it arrives at the
    /// other end.
    #[inline(always)]
    fn accept(&mut self, kind: &LinkKind, now: Time, packet: &Packet) -> Time {
        let departure = self.busy_until.max(now) + kind.serialisation(packet.size());
        let place = self.place(self.next());
        self.queue[place] = packet.size();
        self.busy_until = departure;
        self.packets += 1;
        self.bytes += packet.size() as u64;
        departure + kind.delay
    }

    /// The decision on `packet`, which meets `queued` packets, enough for the thresholds to act.
    fn admission(&self, kind: &LinkKind, queued: u32, packet: &Packet) -> Admission {
        let thresholds = &kind.thresholds;
        let bytes = if thresholds.in_bytes { self.queued_bytes(kind) } else { 0 };
        let (over, full) =
            (thresholds.is_over(queued, bytes), thresholds.is_full(queued, bytes + packet.size() as u64));
        let markable = packet.flags.has(Flags::ECT);
        thresholds.admission(over, full, markable, packet.kind)
    }

    /// One packet more will join the queue. If the ring is full, all packets in it are still queued.
    fn make_room(&mut self, kind: &LinkKind) {
        self.max_present = self.max_present.max(self.present() + 1);
        if self.present() as usize == self.queue.len() {
            self.grow();
        }
        self.room = self.max_present.min(kind.acts_from).min(self.queue.len() as u32);
    }

    /// Makes the full ring larger.
    #[cold]
    fn grow(&mut self) {
        let mut larger = vec![0; (self.queue.len() * 2).max(4)].into_boxed_slice();
        let mask = larger.len() - 1;
        for number in (0..self.present()).map(|i| self.departed.wrapping_add(i)) {
            larger[number as usize & mask] = self.size(number);
        }
        self.queue = larger;
    }

    /// Its bytes, with those of its ring.
    pub(crate) fn memory(&self) -> usize {
        size_of::<Link>() + size_of_val(&*self.queue)
    }

    /// Prefetches the place of the next packet, and that from which [`Link::settle_busy`] reads if the queue may be longer than
    /// ever.
    #[inline]
    pub(crate) fn prefetch_end(&self) {
        prefetch_place(&self.queue, self.place(self.next()));
        // No branch, since no processor can predict it.
        let is_looked_at = self.present() >= self.room;
        let first = select_unpredictable(is_looked_at, self.departed, self.next());
        prefetch_place(&self.queue, self.place(first));
    }

    /// Length of the queue at `now`, counted as the thresholds say.
    pub(crate) fn queue_packets(&mut self, kind: &LinkKind, now: Time) -> u32 {
        self.settle(kind, now);
        self.present() - kind.thresholds.uncounted.min(self.present())
    }

    /// Bytes not yet sent at `now`, with the rest of the packet in service.
    #[inline]
    pub(crate) fn backlog_bytes(&self, kind: &LinkKind, now: Time) -> u64 {
        kind.bytes_in(self.busy_until.saturating_sub(now))
    }

    /// What it has put on the wire by `now`.
    pub(crate) fn on_wire(&self, kind: &LinkKind, now: Time) -> OnWire {
        OnWire::all(self.bytes).since(OnWire::at_rate(kind.rate, self.busy_until.saturating_sub(now)))
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
    use crate::in_flight::Incoming;
    use crate::packet::Envelope;
    use crate::packet::Kind;
    use crate::policy::QueuePolicy;
    use crate::queue_limit::QueueLimit;
    use linkpool_units::Rate;
    use std::collections::VecDeque;

    fn packet(size: u16) -> Packet {
        Packet {
            envelope: Envelope::default().with_size(size),
            flags: Flags::ECT,
            kind: Kind::DATA,
            ..Packet::default()
        }
    }

    /// A link with its counters, and the packets that it has accepted and nobody has taken.
    struct Port(Link, LinkKind, RareEvents, VecDeque<Packet>);

    impl Port {
        fn new(kind: LinkKind) -> Port {
            Port(Link::new(0, NodeId::new(0), 0), kind, RareEvents::default(), VecDeque::new())
        }
        fn offer(&mut self, now: Time, packet: Packet) -> Fate {
            match self.0.enqueue(&self.1, now, &packet) {
                Some(arrival) => self.accepted(Fate::Queued(arrival), packet),
                None => self.judge(now, packet),
            }
        }
        /// By the thresholds, whatever the link knows of its queue: as the network does after [`Link::enqueue`].
        fn judge(&mut self, now: Time, mut packet: Packet) -> Fate {
            let fate = self.0.admit(&self.1, &mut self.2, now, &mut packet);
            self.accepted(fate, packet)
        }
        fn admit(&mut self, now: Time, packet: Packet) -> Fate {
            self.0.settle(&self.1, now);
            self.judge(now, packet)
        }
        fn accepted(&mut self, fate: Fate, packet: Packet) -> Fate {
            if let Fate::Queued(arrival) = fate {
                self.3.push_back(Packet { arrival, ..packet });
            }
            fate
        }
        fn pop(&mut self) -> Packet {
            self.3.pop_front().expect("a packet on its way")
        }
        fn stats(&self) -> LinkStats {
            self.0.stats(&self.1, self.2)
        }
    }

    fn link(policy: QueuePolicy) -> Port {
        Port::new(LinkKind::new(Rate::gbps(10), Time::from_us(2), policy.thresholds))
    }

    /// Of docs/engine.md, "Memory".
    #[test]
    fn a_link_and_a_packet_take_so_many_bytes() {
        assert_eq!((size_of::<Link>(), size_of::<RareEvents>()), (64, 56));
        assert_eq!(size_of::<Incoming>(), 40);
    }

    #[test]
    fn departure_and_arrival_are_known_at_once() {
        let mut l = link(QueuePolicy::drop_tail(QueueLimit::Packets(100)));
        // 1,462 B at 10 Gbps: 1,169.6 ns.
        let first = Time::from_ps(1_169_600 + 2_000_000);
        assert_eq!(l.offer(Time::ZERO, packet(1462)), Fate::Queued(first));
        let second = Time::from_ps(2 * 1_169_600 + 2_000_000);
        assert_eq!(l.offer(Time::from_ns(100), packet(1462)), Fate::Queued(second));
    }

    #[test]
    fn the_packet_in_service_does_not_count_unless_told() {
        for (counts, accepted) in [(false, 101), (true, 100)] {
            let policy = QueuePolicy::drop_tail(QueueLimit::Packets(100)).counting_in_service(counts);
            let mut l = link(policy);
            for _ in 0..150 {
                l.offer(Time::ZERO, packet(1462));
            }
            assert_eq!((l.stats().packets, l.stats().rare.drops), (accepted, 150 - accepted));
            assert_eq!(l.stats().max_queue, 100);
            // One leaves; one more fits.
            l.offer(Time::from_ns(1170), packet(1462));
            assert_eq!(l.stats().packets, accepted + 1);
        }
    }

    #[test]
    fn marks_at_k_or_above_k() {
        for (above, first) in [(false, 11), (true, 12)] {
            let policy = QueuePolicy::drop_tail(QueueLimit::Packets(100)).marking(QueueLimit::Packets(10), above);
            let mut l = link(policy);
            for _ in 0..20 {
                l.offer(Time::ZERO, packet(1462));
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
            l.offer(Time::ZERO, packet(1000));
        }
        // In service 1, queued 3 = 3,000 B: full.
        l.offer(Time::ZERO, packet(1000));
        assert_eq!((l.stats().packets, l.stats().rare.drops, l.stats().rare.marks), (4, 1, 2));
        assert_eq!(l.0.backlog_bytes(&l.1, Time::from_ns(400)), 3500);
    }

    #[test]
    fn packets_without_ect_are_dropped_queued_or_exempt() {
        let k = QueueLimit::Packets(1);
        let base = QueuePolicy::drop_tail(QueueLimit::Packets(3)).marking(k, false);
        let ack = Packet { flags: Flags::default(), kind: Kind::ACK, ..packet(42) };
        for (policy, carried) in [
            (base.clone(), 4),
            (base.clone().dropping_non_ect(true), 2),
            (base.dropping_non_ect(true).exempting(false, false, true), 10),
        ] {
            let mut l = link(policy);
            for _ in 0..10 {
                l.offer(Time::ZERO, ack);
            }
            assert_eq!(l.stats().packets, carried);
        }
    }

    /// A queue of up to 400 packets: those that have departed are those whose departure has come.
    #[test]
    fn the_ring_grows_and_keeps_order() {
        let mut l = link(QueuePolicy::drop_tail(QueueLimit::Packets(1000)));
        for number in 0..500u64 {
            let now = Time::from_ns(number * 300);
            l.offer(now, packet(1462));
            let unsent = l.3.iter().filter(|packet| packet.arrival > now + Time::from_us(2)).count();
            assert_eq!(l.0.queue_packets(&l.1, now) + 1, unsent as u32);
        }
        assert_eq!(l.0.queue.len(), 512);
    }

    /// Of 1,000 packets each departs before the next one comes: the ring stays at four places.
    #[test]
    fn the_ring_is_used_again() {
        let mut l = link(QueuePolicy::drop_tail(QueueLimit::Packets(1000)));
        (0..1000).for_each(|i| _ = l.offer(Time::from_us(10 * i), packet(1462)));
        assert_eq!((l.0.queue.len(), l.stats().packets, l.stats().max_queue), (4, 1000, 0));
    }

    /// A queue of 4 packets of 1,250 B at 10 Gbit/s, a microsecond each: with and without the
    /// packet in service.
    #[test]
    fn the_queue_is_as_long_as_what_has_not_departed() {
        for (counts, lengths) in [(false, [3, 2, 1, 0, 0]), (true, [4, 3, 2, 1, 0])] {
            let mut l = link(QueuePolicy::drop_tail(QueueLimit::Packets(100)).counting_in_service(counts));
            for _ in 0..4 {
                l.offer(Time::ZERO, packet(1250));
            }
            let found = [0, 1, 2, 3, 4].map(|us| l.0.queue_packets(&l.1, Time::from_us(us)));
            assert_eq!(found, lengths, "{counts}");
        }
    }

    /// At rates at which a byte takes a whole number of picoseconds (the first two and 1.6 Tbps), and at others: the packets and bytes that wait are those
    /// of the departures that have not come. The queue is looked at a picosecond before a departure, and just then.
    #[test]
    fn the_queue_is_that_of_the_departures_at_any_rate() {
        for bits in [100, 10_000, 7_000, 333_000, 1_600_000, 17_000_000, 99_999_999].map(|mbps| mbps * 1_000_000) {
            let policy = QueuePolicy::drop_tail(QueueLimit::Bytes(600_000)).counting_in_service(true);
            let mut l = Port::new(LinkKind::new(Rate(bits), Time::ZERO, policy.thresholds));
            let (mut departures, mut now, mut most, mut looks) = (VecDeque::<(Time, u16)>::new(), Time::ZERO, 0, 0);
            let mut random = 1u64;
            for _ in 0..20_000 {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let size = [42, 42, 1462, 9000][(random >> 60) as usize % 4];
                // On average as long as it takes to send 2,500 B, less than a packet, now and then long enough to run empty.
                let bytes = (random >> 40) % 5_000 * if (random >> 20).is_multiple_of(500) { 300 } else { 1 };
                let arrival = now + Time(l.1.serialisation(6_000).0 * bytes / 6_000);
                while let Some((departure, _)) = departures.front().copied().filter(|(d, _)| *d <= arrival) {
                    for now in [Time(departure.0 - 1).max(now), departure] {
                        let waits = || departures.iter().filter(|(d, _)| *d > now);
                        assert_eq!(l.0.queue_packets(&l.1, now), waits().count() as u32, "{bits} {now:?}");
                        assert_eq!(l.0.queued_bytes(&l.1), waits().map(|(_, size)| u64::from(*size)).sum::<u64>());
                        looks += 1;
                    }
                    now = departure;
                    departures.pop_front();
                }
                now = arrival;
                if let Fate::Queued(departure) = l.offer(now, packet(size)) {
                    departures.push_back((departure, size));
                    most = most.max(departures.len() as u32);
                }
            }
            assert_eq!(l.stats().max_queue, most);
            assert!(most > 200 && looks > 20_000, "{bits} {most} {looks}");
        }
    }

    /// As in `byte_limits_count_waiting_bytes`, four packets of 1,000 B with marks from 1,000
    /// queued bytes on. Here the limit in bytes became a limit in packets before the start.
    #[test]
    fn marks_in_bytes_stay_when_the_limit_changes() {
        let policy = QueuePolicy::drop_tail(QueueLimit::Bytes(9000)).marking(QueueLimit::Bytes(1000), false);
        for limit in [QueueLimit::Packets(3), QueueLimit::Bytes(3000)] {
            let kind = LinkKind::new(Rate::gbps(10), Time::from_us(2), policy.thresholds.limited_to(limit));
            let mut l = Port::new(kind);
            for _ in 0..5 {
                l.offer(Time::ZERO, packet(1000));
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
                let (mut quick, mut judged) = (link(policy.clone()), link(policy));
                for i in 0..3000u64 {
                    // Bursts of packets of several sizes, and gaps in which the queue runs empty.
                    let now = Time::from_ns(300 * i + 30_000 * (i / 16));
                    let packet = packet([42, 1462, 1000, 9000][(i as usize * 7 + i as usize / 5) % 4]);
                    let fate = judged.admit(now, packet);
                    assert_eq!(quick.offer(now, packet), fate, "{limit:?} {mark:?} {counts} {i}");
                }
                assert_eq!(quick.stats(), judged.stats());
                assert!(judged.stats().rare.drops > 0 && judged.stats().rare.marks > 0, "{limit:?} {mark:?}");
            }
        }
    }

    /// A picosecond is less than half a byte at these rates, though each serialisation is rounded down to one.
    #[test]
    fn the_bytes_sent_in_a_serialisation_are_those_of_the_packet() {
        for bits in [300, 7, 333, 1_100].map(|gbps| gbps * 1_000_000_000) {
            let kind = LinkKind::new(Rate(bits), Time::ZERO, QueuePolicy::drop_tail(QueueLimit::Packets(9)).thresholds);
            for size in [1, 40, 64, 1462, 9000] {
                assert_eq!(kind.bytes_in(kind.serialisation(size)), u64::from(size), "{bits} {size}");
            }
        }
    }

    /// 8 us a byte; 20 s are more than 64 bits hold with their fractions.
    #[test]
    fn long_times_have_their_bytes_too() {
        let policy = QueuePolicy::drop_tail(QueueLimit::Packets(9));
        let kind = LinkKind::new(Rate(1_000_000), Time::ZERO, policy.thresholds);
        for (seconds, bytes) in [(1, 125_000), (10, 1_250_000), (20, 2_500_000)] {
            let time = Time::from_ms(1000 * seconds);
            assert_eq!(
                (kind.bytes_in(time), kind.bytes_that_take(time), kind.time_of(bytes)),
                (bytes, bytes as u32, time)
            );
        }
    }

    /// A byte takes 8 us at 1 Mbit/s and 10,000.0 ps at 800 Mbit/s; the number of bytes is rounded to the nearest, a half up.
    #[test]
    fn the_longest_time_with_as_many_bytes_is_half_a_byte_longer_less_a_picosecond() {
        let kind =
            |bits| LinkKind::new(Rate(bits), Time::ZERO, QueuePolicy::drop_tail(QueueLimit::Packets(9)).thresholds);
        for (span, longest) in [(0, 4_999), (4_999, 4_999), (5_000, 14_999), (20_001, 24_999)] {
            assert_eq!(kind(800_000_000).longest_with_bytes_of(Time(span)), Time(longest), "{span}");
        }
        // 20 s and 2,500,000 bytes: more than 64 bits hold with their fractions.
        let (seconds, half) = (Time::from_ms(20_000), Time::from_us(4));
        assert_eq!(kind(1_000_000).longest_with_bytes_of(seconds), seconds + half - Time(1));
        assert_eq!(kind(1_000_000).longest_with_bytes_of(Time::MAX), Time::MAX);
    }

    proptest::proptest! {
        #[test]
        fn no_longer_time_has_as_few_bytes(bits in 1_000_000u64..2_000_000_000_000, span in 0u64..1 << 50) {
            let kind = LinkKind::new(Rate(bits), Time::ZERO, QueuePolicy::drop_tail(QueueLimit::Packets(9)).thresholds);
            let (bytes, longest) = (kind.bytes_in(Time(span)), kind.longest_with_bytes_of(Time(span)));
            proptest::prop_assert!(longest >= Time(span));
            proptest::prop_assert_eq!(kind.bytes_in(longest), bytes);
            proptest::prop_assert_eq!(kind.bytes_in(longest + Time(1)) > bytes, true);
        }
    }

    /// 64 B take 1,706.67 ps at 300 Gbit/s, and 1,706 as a packet. So 1,000 waiting packets, and a picosecond of the one in
    /// service, take less time than their 64,000 B would: 1,706.0 ns instead of 1,706.7. They mark all the same.
    #[test]
    fn rounded_packets_that_wait_mark_by_their_bytes() {
        let thresholds =
            QueuePolicy::drop_tail(QueueLimit::Packets(9000)).marking(QueueLimit::Bytes(64_000), false).thresholds;
        let mut l = Port::new(LinkKind::new(Rate::gbps(300), Time::ZERO, thresholds));
        (0..1001).for_each(|_| _ = l.offer(Time::ZERO, packet(64)));
        assert_eq!(l.stats().rare.marks, 0);
        l.offer(Time(1705), packet(64));
        assert_eq!(l.stats().rare.marks, 1);
    }

    /// Of 46 packets, where 30 waiting ones mark, 25 have left when the next one comes: it finds 20 waiting. So
    /// long a queue is passed in steps, of which one ends where the mark would act.
    #[test]
    fn a_queue_that_has_become_short_does_not_mark() {
        let limit = QueueLimit::Packets(150);
        let mut l = link(QueuePolicy::drop_tail(limit).marking(QueueLimit::Packets(30), false));
        (0..46).for_each(|_| _ = l.offer(Time::ZERO, packet(1462)));
        assert_eq!((l.stats().rare.marks, l.stats().max_queue), (15, 45));
        // 1,169.6 ns a packet.
        l.offer(Time::from_ps(25 * 1_169_600), packet(1462));
        assert_eq!((l.stats().rare.marks, l.0.present()), (15, 22));
    }

    /// The same in queues of more packets than a link passes at once: bursts of 100 packets of 42 and 1,462 B with pauses, of
    /// which the short ones let some tens of packets leave.
    #[test]
    fn the_quick_way_agrees_with_the_thresholds_in_long_queues() {
        let (packets, bytes) = (QueueLimit::Packets, QueueLimit::Bytes);
        for (limit, mark) in [
            (packets(150), packets(60)),
            (bytes(60_000), bytes(30_000)),
            (bytes(60_000), packets(40)),
            (packets(150), bytes(30_000)),
        ] {
            for counts in [false, true] {
                let policy = QueuePolicy::drop_tail(limit).marking(mark, false).counting_in_service(counts);
                let (mut quick, mut judged) = (link(policy.clone()), link(policy));
                let mut now = Time::ZERO;
                for i in 0..6000u64 {
                    let pause = [15_000, 40_000, 5_000, 130_000, 25_000][i as usize / 100 % 5];
                    now += Time::from_ns(if i % 100 == 0 { pause } else { 20 });
                    let packet = packet([42, 1462][(i as usize * 7 + i as usize / 5) % 2]);
                    let fate = judged.admit(now, packet);
                    assert_eq!(quick.offer(now, packet), fate, "{limit:?} {mark:?} {counts} {i}");
                }
                assert_eq!(quick.stats(), judged.stats());
                assert!(judged.stats().rare.drops > 0 && judged.stats().rare.marks > 0, "{limit:?} {mark:?}");
                assert!(judged.stats().max_queue > 60, "{limit:?} {mark:?}");
            }
        }
    }
}
