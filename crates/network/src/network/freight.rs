use super::{AHEAD, Network};
use crate::fabric::LinkId;
use crate::link::Link;
use crate::packet::{Flags, Packet};
use crate::trailer::Trailer;
use linkpool_engine::prefetch;
use linkpool_units::Time;

/// The packets that one part of a network has sent to another in a window.
#[derive(Debug, Default)]
pub(crate) struct Freight {
    /// Links, and how many packets are on each.
    links: Vec<(LinkId, u32)>,
    /// Link by link, in order.
    packets: Vec<Packet>,
    /// Of those packets that have one.
    trailers: Vec<Trailer>,
}

impl Network {
    /// Puts into `freight` what has been sent to `part` since the last time. Returns when the first of it arrives.
    pub(crate) fn hand_over(&mut self, part: usize, freight: &mut Freight) -> Time {
        let mut first = Time::MAX;
        // Where there are more parts than switches and hosts, some have none.
        let Some(handed) = self.handed.get_mut(part) else { return first };
        for id in handed.drain(..) {
            let before = freight.packets.len();
            self.links[id as usize].hand_over(|packet| {
                if let Some(trailer) = self.trailers.of(packet) {
                    freight.trailers.push(*trailer);
                    self.trailers.release(packet);
                }
                freight.packets.push(*packet);
            });
            first = first.min(freight.packets[before].arrival);
            freight.links.push((id, (freight.packets.len() - before) as u32));
        }
        first
    }

    /// Takes what another part has sent to this one: it is on its way here from now on.
    pub(crate) fn receive(&mut self, freight: &mut Freight) {
        let Freight { links, packets, trailers } = freight;
        // What another processor has just written is far away.
        packets.iter().take(AHEAD).for_each(prefetch);
        let mut trailers = trailers.drain(..);
        let mut next = 0;
        for (i, (id, count)) in links.iter().enumerate() {
            let link = |ahead: usize| links.get(i + ahead).map(|(id, _)| &self.links[*id as usize]);
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

    /// Puts `packet` on `id`, a link to this part; if it has a trailer, that is the next of `trailers`.
    #[inline]
    fn take_over(&mut self, id: LinkId, mut packet: Packet, trailers: &mut impl Iterator<Item = Trailer>) {
        if packet.flags.has(Flags::TRAILER)
            && let Some(trailer) = trailers.next()
        {
            self.trailers.attach(&mut packet, trailer);
        }
        let link = &mut self.links[id as usize];
        if let Some(arrival) = link.carry(packet) {
            self.calendar.schedule(self.windows.of(arrival), link.input);
        }
    }
}
