//! The packets that reach nodes in a window, and the order in which each node sees them.

use crate::fabric::{LinkId, NodeId};
use crate::packet::Packet;
use linkpool_engine::hash_u64;
use linkpool_units::Time;
use std::ops::Range;

/// The bits of a packet's number.
const NUMBER_BITS: u32 = 24;

/// The packets that reach some nodes in a window, node by node.
///
/// Links of one rate and delay make ties common, and a fixed order of links would favour the same
/// port of every switch at every instant: a sender there would never lose a packet to the others.
/// Therefore the order is drawn for each instant, see [`tie_rank`].
#[derive(Debug, Default)]
pub(super) struct Arrivals {
    seed: u64,
    packets: Vec<Packet>,
    arrivals: Vec<Arrival>,
    /// Each node, and how many packets come before its first one.
    nodes: Vec<(NodeId, u32)>,
    /// Packets of one instant while they are put in order, with their ranks.
    tied: Vec<(u64, Arrival)>,
}

/// The arrival of a packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    /// The time since the window began (at most a second: 40 bits), then the number of the packet.
    key: u64,
    from: LinkId,
    /// The link that it takes, once it is routed.
    to: LinkId,
}

impl Arrival {
    #[inline]
    fn number(self) -> usize {
        (self.key & ((1 << NUMBER_BITS) - 1)) as usize
    }
}

/// Of the packets that reach a node at the instant `at`, that with the least rank among the links
/// comes first: a random order that depends on nothing else, so that it is the same whichever
/// thread runs the node.
#[inline]
pub fn tie_rank(seed: u64, at: Time, link: LinkId) -> u64 {
    hash_u64(hash_u64(seed ^ at.0) ^ u64::from(link))
}

impl Arrivals {
    pub(super) fn new(seed: u64) -> Arrivals {
        Arrivals { seed, ..Arrivals::default() }
    }

    /// Forgets all packets.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.packets.clear();
        self.arrivals.clear();
        self.nodes.clear();
    }

    /// Packets.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.arrivals.len()
    }

    /// The packets of `node` follow.
    #[inline]
    pub(super) fn begin(&mut self, node: NodeId) {
        self.nodes.push((node, self.arrivals.len() as u32));
    }

    /// `packet` comes on the link `from` to the node that began last, in a window that began at
    /// `start`. Packets of one link are added in order.
    #[inline]
    pub(super) fn push(&mut self, start: Time, from: LinkId, packet: &Packet) {
        let key = (packet.arrival - start).0 << NUMBER_BITS | self.packets.len() as u64;
        // Copies from place to place, where `push` would copy to the stack first.
        self.packets.extend_from_slice(std::slice::from_ref(packet));
        self.arrivals.push(Arrival { key, from, to: LinkId::NONE });
    }

    /// Puts the packets of the node that began last in order.
    #[inline]
    pub(super) fn sort_last(&mut self, start: Time) {
        assert!(self.packets.len() < 1 << NUMBER_BITS, "fewer than 2^24 packets reach a node in a window");
        let Some((_, first)) = self.nodes.last() else { return };
        let arrivals = &mut self.arrivals[*first as usize..];
        arrivals.sort_unstable_by_key(|arrival| arrival.key);
        if arrivals.windows(2).any(|pair| pair[0].key >> NUMBER_BITS == pair[1].key >> NUMBER_BITS) {
            break_ties(arrivals, self.seed, start, &mut self.tied);
        }
    }

    /// Packet number `i` in order.
    #[inline]
    pub(super) fn packet(&self, i: usize) -> Packet {
        self.packets[self.arrivals[i].number()]
    }

    /// Each node, and the numbers of its packets in order.
    #[inline]
    pub(super) fn node(&self, i: usize) -> Option<(NodeId, Range<usize>)> {
        let (node, first) = self.nodes.get(i)?;
        let end = self.nodes.get(i + 1).map_or(self.arrivals.len(), |(_, next)| *next as usize);
        Some((*node, *first as usize..end))
    }

    /// Chooses the links that `some` packets take, of which the numbers in order are given.
    #[inline(always)]
    pub(super) fn route(&mut self, some: Range<usize>, mut choose: impl FnMut(&mut Packet) -> LinkId) {
        for arrival in &mut self.arrivals[some] {
            arrival.to = choose(&mut self.packets[arrival.number()]);
        }
    }

    /// The link that packet number `i` in order takes, if there is such a packet.
    #[inline]
    pub(super) fn link(&self, i: usize) -> Option<LinkId> {
        self.arrivals.get(i).map(|arrival| arrival.to)
    }

    /// The packets in order, with the link that each takes.
    #[inline]
    pub(super) fn routed(&self) -> impl Iterator<Item = (LinkId, &Packet)> {
        self.arrivals.iter().map(|arrival| (arrival.to, &self.packets[arrival.number()]))
    }
}

#[cold]
fn break_ties(arrivals: &mut [Arrival], seed: u64, start: Time, tied: &mut Vec<(u64, Arrival)>) {
    for instant in arrivals.chunk_by_mut(|a, b| a.key >> NUMBER_BITS == b.key >> NUMBER_BITS) {
        if instant.len() > 1 {
            let at = start + Time(instant[0].key >> NUMBER_BITS);
            tied.clear();
            tied.extend(instant.iter().map(|arrival| (tie_rank(seed, at, arrival.from), *arrival)));
            tied.sort_unstable_by_key(|(rank, arrival)| (*rank, arrival.key));
            instant.iter_mut().zip(tied.iter()).for_each(|(arrival, (_, drawn))| *arrival = *drawn);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn every_order_of_three_links_is_as_likely() {
        let mut counts = HashMap::new();
        for instant in 0..6000 {
            let mut links = [6, 7, 8].map(LinkId::new);
            links.sort_by_key(|link| tie_rank(1, Time::from_ns(1200) * instant, *link));
            *counts.entry(links).or_insert(0) += 1;
        }
        // Binomial: 1000 of 6000 with a standard deviation of 29.
        assert_eq!(counts.len(), 6);
        assert!(counts.values().all(|n| (880..1120).contains(n)), "{counts:?}");
    }

    /// Two nodes: at the first, packets 0 and 1 of one link, and 2 between them in time; at the
    /// second, two at once.
    #[test]
    fn each_node_sees_its_packets_in_the_order_of_time_and_ties_are_drawn() {
        let mut arrivals = Arrivals::new(7);
        let (start, [a, b]) = (Time::from_us(10), [3, 4].map(LinkId::new));
        let packet = |ns, seq| Packet { arrival: start + Time::from_ns(ns), seq, ..Packet::default() };
        arrivals.begin(NodeId::new(1));
        for (link, packet) in [(a, packet(1, 0)), (a, packet(5, 1)), (b, packet(3, 2))] {
            arrivals.push(start, link, &packet);
        }
        arrivals.sort_last(start);
        arrivals.begin(NodeId::new(2));
        for (link, packet) in [(a, packet(2, 3)), (b, packet(2, 4))] {
            arrivals.push(start, link, &packet);
        }
        arrivals.sort_last(start);
        let at = start + Time::from_ns(2);
        let last = if tie_rank(7, at, a) < tie_rank(7, at, b) { [3, 4] } else { [4, 3] };
        for i in 0..2 {
            let (node, packets) = arrivals.node(i).unwrap();
            arrivals.route(packets, |packet| LinkId::new(10 * node.index() + packet.seq as usize));
        }
        assert!(arrivals.node(2).is_none());
        let routed: Vec<_> = arrivals.routed().map(|(link, packet)| (link.index() as u32, packet.seq)).collect();
        assert_eq!(routed, [(10, 0), (12, 2), (11, 1), (20 + last[0], last[0]), (20 + last[1], last[1])]);
    }
}
