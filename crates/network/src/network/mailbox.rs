//! Packets that go from one partition to another at the end of a window.

use super::run::Network;
use crate::on_the_way::Incoming;
use crate::packet::{Flags, Trailer};
use linkpool_engine::prefetch;
use linkpool_units::Time;

/// Packets are prefetched this many ahead.
const AHEAD: usize = 16;

/// The packets that one partition of a network has sent to another in a window.
#[derive(Debug, Default)]
pub(crate) struct PacketMailbox {
    packets: Vec<Incoming>,
    /// The trailers of packets that have one.
    trailers: Vec<Trailer>,
}

impl Network {
    /// Puts into `mailbox` the packets sent to `partition` since the last time. Returns when the
    /// first of them arrives.
    pub(crate) fn hand_over(&mut self, partition: usize, mailbox: &mut PacketMailbox) -> Time {
        let mut first = Time::MAX;
        for incoming in self.egress.on_the_way.hand_over(partition) {
            if let Some(trailer) = self.egress.trailers.of(&incoming.packet) {
                mailbox.trailers.push(*trailer);
                self.egress.trailers.release(&incoming.packet);
            }
            first = first.min(incoming.packet.arrival);
            mailbox.packets.push(incoming);
        }
        first
    }

    /// Takes the packets that another partition has sent to this one: they are on their way here
    /// from now on.
    pub(crate) fn receive(&mut self, mailbox: &mut PacketMailbox) {
        let PacketMailbox { packets, trailers } = mailbox;
        // Another processor has just written this memory, so reading it is slow: prefetch it.
        packets.iter().take(AHEAD).for_each(prefetch);
        let mut trailers = trailers.drain(..);
        for (i, incoming) in packets.iter().enumerate() {
            packets.get(i + AHEAD).into_iter().for_each(prefetch);
            let mut incoming = *incoming;
            if incoming.packet.flags.has(Flags::TRAILER)
                && let Some(trailer) = trailers.next()
            {
                self.egress.trailers.attach(&mut incoming.packet, trailer);
            }
            self.egress.on_the_way.push(incoming.node >= self.hosts, incoming);
        }
        drop(trailers);
        packets.clear();
    }
}
