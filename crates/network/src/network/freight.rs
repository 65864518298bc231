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
            freight.packets.extend(self.links[id as usize].hand_over());
            let packets = &freight.packets[before..];
            freight.links.push((id, packets.len() as u32));
            for packet in packets {
                first = first.min(packet.arrival);
                freight.trailers.extend(self.trailers.of(packet));
                self.trailers.release(packet);
            }
        }
        first
    }

    /// Takes what another part has sent to this one: it is on its way here from now on.
    pub(crate) fn receive(&mut self, freight: &mut Freight) {
        let (mut packets, mut trailers) = (freight.packets.drain(..), freight.trailers.drain(..));
        for (i, (id, count)) in freight.links.iter().enumerate() {
            let link = |ahead: usize| freight.links.get(i + ahead).map(|(id, _)| &self.links[*id as usize]);
            link(AHEAD).into_iter().for_each(prefetch);
            link(AHEAD / 2).into_iter().for_each(Link::prefetch_tail);
            for mut packet in packets.by_ref().take(*count as usize) {
                if packet.flags.has(Flags::TRAILER)
                    && let Some(trailer) = trailers.next()
                {
                    self.trailers.attach(&mut packet, trailer);
                }
                let link = &mut self.links[*id as usize];
                if let Some(arrival) = link.carry(packet) {
                    self.calendar.schedule(self.windows.of(arrival), link.input);
                }
            }
        }
        drop((packets, trailers));
        freight.links.clear();
    }
}
