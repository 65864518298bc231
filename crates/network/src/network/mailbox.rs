//! Packets that go from one partition to another when partitions meet.

use super::run::Network;
use crate::in_flight::Incoming;
use crate::packet::Flags;
use crate::telemetry::Records;
use crate::trailer::Slot;
use linkpool_engine::prefetch;
use linkpool_units::Time;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard};

/// The packets of a mailbox that need no lock.
const FIRST: usize = 8;

/// Of further packets, so many are prefetched ahead.
const AHEAD: usize = 16;

/// The packets that one partition of a network has sent to another since they met.
///
/// The sender fills it before it comes to a barrier, and the receiver empties it after that. So the words need no
/// order among themselves. Each line that the other processor has written takes about as long as five hops, and a lock
/// is one more, for which the thread waits. So the first packets are beside their number, in words that need no lock.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct PacketMailbox {
    /// The number of packets in `first`.
    count: AtomicU32,
    /// Is there something in `rest`? Beside the number, as the receiver reads both each time.
    has_rest: AtomicBool,
    first: [[AtomicU64; Incoming::WORDS]; FIRST],
    rest: Mutex<Rest>,
}

/// What is not among the first packets.
#[derive(Debug, Default)]
struct Rest {
    packets: Vec<Incoming>,
    /// The trailers and tags of all packets that have one.
    trailers: Vec<Slot>,
    /// The records of all that have some.
    records: Vec<Records>,
}

impl PacketMailbox {
    /// Prefetches what another processor has written, the further packets apart.
    pub(crate) fn prefetch(&self) {
        prefetch(self);
    }
}

/// Locks what threads exchange.
pub(crate) fn lock<T>(exchanged: &Mutex<T>) -> MutexGuard<'_, T> {
    exchanged.lock().expect("a thread that fails takes the run with it")
}

impl Network {
    /// Puts into `mailbox` the packets sent to `partition` since the last time. Returns when the
    /// first of them arrives.
    pub(crate) fn hand_over(&mut self, partition: usize, mailbox: &PacketMailbox) -> Time {
        let (mut arrival, mut count, mut rest) = (Time::MAX, 0, None);
        for incoming in self.egress.in_flight.take_outbound(partition) {
            if let Some(slot) = self.egress.trailers.slot(&incoming.packet) {
                let rest = rest.get_or_insert_with(|| lock(&mailbox.rest));
                rest.trailers.push(*slot);
                if slot.has_records() {
                    rest.records.push(self.egress.trailers.records(&incoming.packet));
                }
                self.egress.trailers.release(&incoming.packet);
            }
            arrival = arrival.min(incoming.packet.arrival);
            match mailbox.first.get(count as usize) {
                Some(place) => {
                    place.iter().zip(incoming.to_words()).for_each(|(word, value)| word.store(value, Relaxed));
                    count += 1;
                }
                None => rest.get_or_insert_with(|| lock(&mailbox.rest)).packets.push(incoming),
            }
        }
        mailbox.count.store(count, Relaxed);
        mailbox.has_rest.store(rest.is_some(), Relaxed);
        arrival
    }

    /// Takes the packets that another partition has sent to this one: they are on their way here
    /// from now on.
    pub(crate) fn receive(&mut self, mailbox: &PacketMailbox) {
        let mut rest = mailbox.has_rest.load(Relaxed).then(|| lock(&mailbox.rest));
        let mut nothing = Rest::default();
        let Rest { packets, trailers, records } = rest.as_deref_mut().unwrap_or(&mut nothing);
        let mut trailers = (trailers.drain(..), records.drain(..));
        for place in &mailbox.first[..mailbox.count.load(Relaxed) as usize] {
            let words = place.each_ref().map(|word| word.load(Relaxed));
            self.take_over(Incoming::from_words(words), &mut trailers);
        }
        // Another processor has just written this memory, so reading it is slow: prefetch it.
        packets.iter().take(AHEAD).for_each(prefetch);
        for (i, incoming) in packets.iter().enumerate() {
            packets.get(i + AHEAD).into_iter().for_each(prefetch);
            self.take_over(*incoming, &mut trailers);
        }
        drop(trailers);
        packets.clear();
    }

    /// Takes one packet, and its trailer and its records if it has some.
    #[inline]
    fn take_over(
        &mut self,
        mut incoming: Incoming,
        (trailers, records): &mut (impl Iterator<Item = Slot>, impl Iterator<Item = Records>),
    ) {
        if incoming.packet.flags.has(Flags::TRAILER)
            && let Some(slot) = trailers.next()
        {
            self.egress.trailers.put(&mut incoming.packet, slot);
            if slot.has_records()
                && let Some(records) = records.next()
            {
                self.egress.trailers.set_records(&incoming.packet, &records);
            }
        }
        self.egress.in_flight.take_over(incoming);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::LinkId;
    use crate::in_flight::list_elsewhere;
    use crate::packet::Packet;
    use crate::partition::partition;
    use crate::policy::QueuePolicy;
    use crate::queue_limit::QueueLimit;
    use crate::routing::Routes;
    use crate::stages::{BORDER, INNER};
    use crate::telemetry::HopRecord;
    use crate::topology::fat_tree;
    use linkpool_units::Rate;
    use std::sync::Arc;

    /// Partition `me` of a fat-tree of two.
    fn network(me: u8) -> Network {
        let fabric = fat_tree(4, 2, Rate::gbps(10), Time::from_us(1));
        let policy = QueuePolicy::drop_tail(QueueLimit::Packets(9));
        let partitions = Arc::new(partition(&fabric, 2));
        Network::partition(&fabric, policy, Arc::new(Routes::new(&fabric, 1)), 42, &partitions, me)
    }

    /// Fewer packets than have a place without a lock, as many, more, and fewer again, one after another, each third with a
    /// trailer, each fourth with records, each fifth of the others with a digest: all come, once, with their own, and the first arrival is known.
    #[test]
    fn all_packets_come_once_with_their_trailers() {
        let (mut sender, mut receiver, mailbox) = (network(0), network(1), PacketMailbox::default());
        let elsewhere = |link: &crate::link::Link| link.list == list_elsewhere(1);
        let link = sender.egress.links.iter().position(elsewhere).expect("links lead from one partition to the other");
        let mut window = 0;
        for count in [0, 1, FIRST, 3 * FIRST + 40, 2, 0] {
            window += 1;
            for number in 0..count as u32 {
                let mut packet = Packet { ack: number, ..Packet::default() };
                if number % 3 == 0 {
                    sender.egress.trailers.attach(&mut packet, [number; 12]);
                }
                if number % 4 == 0 {
                    sender.egress.trailers.ask(&mut packet);
                    sender.egress.trailers.stamp(&packet, HopRecord { queue: number, ..HopRecord::default() });
                } else if number % 5 == 0 {
                    sender.egress.trailers.ask_for_digest(&mut packet);
                    sender.egress.trailers.write_digest(&packet, || number as u16);
                }
                let (arrival, egress) = (sender.start_of(window) + Time(u64::from(number)), &mut sender.egress);
                egress.in_flight.add(LinkId::new(link), &egress.links[link], arrival, &packet);
            }
            let first = sender.hand_over(1, &mailbox);
            assert_eq!(first, if count == 0 { Time::MAX } else { sender.start_of(window) });
            assert_eq!((sender.trailers(), sender.next_window()), (0, None));
            receiver.receive(&mailbox);
            receiver.egress.in_flight.advance_to(window);
            let mut came = Vec::new();
            for stage in [BORDER, INNER] {
                receiver.egress.in_flight.take(window, stage, &mut came);
            }
            let numbers: Vec<u32> = came.iter().map(|incoming| incoming.packet.ack).collect();
            assert_eq!(numbers, (0..count as u32).collect::<Vec<_>>());
            for Incoming { packet, link: by, .. } in came {
                let expected = (packet.ack % 3 == 0).then_some([packet.ack; 12]);
                assert_eq!((receiver.egress.trailers.of(&packet).copied(), by.index()), (expected, link));
                let written = receiver.egress.trailers.written(&packet);
                let hops: Vec<u32> = written.hops.iter().map(|hop| hop.queue).collect();
                assert_eq!(hops, if packet.ack % 4 == 0 { vec![packet.ack] } else { vec![] });
                let has_digest = packet.ack % 4 != 0 && packet.ack % 5 == 0;
                assert_eq!(written.digest, has_digest.then_some(packet.ack as u16));
                receiver.egress.trailers.release(&packet);
            }
            assert_eq!(receiver.trailers(), 0);
        }
    }
}
