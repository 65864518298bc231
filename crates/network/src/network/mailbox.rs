//! Packets that go from one partition to another at the end of a window.

use super::run::Network;
use crate::fabric::LinkId;
use crate::link::Link;
use crate::packet::{Flags, Packet, Trailer};
use linkpool_engine::prefetch;
use linkpool_units::Time;

/// Links and packets are prefetched this many ahead.
const AHEAD: usize = 16;

/// The packets that one partition of a network has sent to another in a window.
#[derive(Debug, Default)]
pub(crate) struct PacketMailbox {
    /// Links, each with its number of packets.
    links: Vec<(LinkId, u32)>,
    /// Link by link, in order.
    packets: Vec<Packet>,
    /// The trailers of packets that have one.
    trailers: Vec<Trailer>,
}

impl Network {
    /// Puts into `mailbox` the packets sent to `partition` since the last time. Returns when the
    /// first of them arrives.
    pub(crate) fn hand_over(&mut self, partition: usize, mailbox: &mut PacketMailbox) -> Time {
        let mut first = Time::MAX;
        // Where there are more partitions than switches and hosts, some have none.
        let Some(handed) = self.handed.get_mut(partition) else { return first };
        for id in handed.drain(..) {
            let before = mailbox.packets.len();
            self.links[id.index()].hand_over(|packet| {
                if let Some(trailer) = self.trailers.of(packet) {
                    mailbox.trailers.push(*trailer);
                    self.trailers.release(packet);
                }
                mailbox.packets.push(*packet);
            });
            first = first.min(mailbox.packets[before].arrival);
            mailbox.links.push((id, (mailbox.packets.len() - before) as u32));
        }
        first
    }

    /// Takes the packets that another partition has sent to this one: they are in flight here from
    /// now on.
    pub(crate) fn receive(&mut self, mailbox: &mut PacketMailbox) {
        let PacketMailbox { links, packets, trailers } = mailbox;
        // Another processor has just written this memory, so reading it is slow: prefetch it.
        packets.iter().take(AHEAD).for_each(prefetch);
        let mut trailers = trailers.drain(..);
        let mut next = 0;
        for (i, (id, count)) in links.iter().enumerate() {
            let link = |ahead: usize| links.get(i + ahead).map(|(id, _)| &self.links[id.index()]);
            link(AHEAD).into_iter().for_each(prefetch);
            link(AHEAD / 2).into_iter().for_each(Link::prefetch_end);
            for _ in 0..*count {
                packets.get(next + AHEAD).into_iter().for_each(prefetch);
                self.take_over(*id, packets[next], &mut trailers);
                next += 1;
            }
        }
        drop(trailers);
        links.clear();
        packets.clear();
    }

    /// Puts `packet` on `id`, a link to this partition; if it has a trailer, that is the next of
    /// `trailers`.
    #[inline]
    fn take_over(&mut self, id: LinkId, mut packet: Packet, trailers: &mut impl Iterator<Item = Trailer>) {
        if packet.flags.has(Flags::TRAILER)
            && let Some(trailer) = trailers.next()
        {
            self.trailers.attach(&mut packet, trailer);
        }
        let link = &mut self.links[id.index()];
        if let Some(arrival) = link.carry(packet) {
            self.calendar.schedule(self.windows.of(arrival), link.input);
        }
    }
}
