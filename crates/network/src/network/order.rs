//! The packets that reach nodes in a window, and the order in which each node sees them.

use super::inputs::Input;
use crate::fabric::{LinkId, NodeId};
use crate::packet::Packet;
use linkpool_engine::hash_u64;
use linkpool_units::Time;

/// The bits of a packet's number.
const NUMBER_BITS: u32 = 24;

/// The packets that reach some nodes in a window, node by node.
///
/// Links of one rate and delay make ties common, and a fixed order of links would favour the same
/// port of every switch at every instant: a sender there would never lose a packet to the others.
/// Therefore the order is drawn for each instant, see [`tie_rank`].
///
/// Packets stay where they are put; only words of 64 bits are sorted.
#[derive(Debug, Default)]
pub(super) struct Arrivals {
    seed: u64,
    packets: Vec<Arrival>,
    /// In the order of the nodes, and for each node in the order in which it sees its packets: the
    /// time since the window began (at most a second: 40 bits) and the number of the packet; once
    /// the packet is routed, the link that it takes and the number.
    order: Vec<u64>,
    /// Each node, and the number of the packet after its last one.
    nodes: Vec<(NodeId, u32)>,
    /// Packets of one instant while they are put in order, with their ranks.
    tied: Vec<(u64, u64)>,
}

/// A packet, and the node and the link at which it arrives.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    packet: Packet,
    at: Input,
}

/// The number of the packet in a word of [`Arrivals::order`].
#[inline]
fn number(word: u64) -> usize {
    (word & ((1 << NUMBER_BITS) - 1)) as usize
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
        self.order.clear();
        self.nodes.clear();
    }

    /// Packets.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.packets.len()
    }

    /// `packet` arrives at an input of the node that ends next. Packets of one link are added in
    /// order.
    #[inline]
    pub(super) fn push(&mut self, at: Input, packet: &Packet) {
        self.packets.push(Arrival { packet: *packet, at });
    }

    /// All packets of `node` have been added since the node before.
    #[inline]
    pub(super) fn end(&mut self, node: NodeId) {
        self.nodes.push((node, self.packets.len() as u32));
    }

    /// Puts the packets of each node in order; the window began at `start`.
    #[inline(never)]
    pub(super) fn sort(&mut self, start: Time) {
        assert!(self.packets.len() < 1 << NUMBER_BITS, "fewer than 2^24 packets reach some nodes in a window");
        let word = |(i, arrival): (usize, &Arrival)| (arrival.packet.arrival - start).0 << NUMBER_BITS | i as u64;
        self.order.extend(self.packets.iter().enumerate().map(word));
        let mut rest = &mut self.order[..];
        let mut first = 0;
        for (_, end) in &self.nodes {
            let here;
            (here, rest) = rest.split_at_mut((end - first) as usize);
            first = *end;
            if here.len() > 1 {
                here.sort_unstable();
                if here.windows(2).any(|pair| is_tied(pair[0], pair[1])) {
                    break_ties(here, &self.packets, self.seed, start, &mut self.tied);
                }
            }
        }
    }

    /// All packets, in the order in which they were added.
    #[inline]
    pub(super) fn packets(&self) -> impl Iterator<Item = &Packet> + Clone {
        self.packets.iter().map(|arrival| &arrival.packet)
    }

    /// Takes the last node, and its packets in order.
    #[cold]
    pub(super) fn take_last(&mut self) -> Option<(NodeId, Vec<Packet>)> {
        let (node, _) = self.nodes.pop()?;
        let first = self.nodes.last().map_or(0, |(_, end)| *end as usize);
        Some((node, self.order.drain(first..).map(|word| self.packets[number(word)].packet).collect()))
    }

    /// Each node, with its packets in order.
    #[inline]
    pub(super) fn nodes(&self) -> impl Iterator<Item = (NodeId, impl Iterator<Item = &Packet>)> {
        let mut rest = &self.order[..];
        let mut first = 0;
        self.nodes.iter().map(move |(node, end)| {
            let here;
            (here, rest) = rest.split_at((end - std::mem::replace(&mut first, *end)) as usize);
            (*node, here.iter().map(|word| &self.packets[number(*word)].packet))
        })
    }

    /// Chooses the links that the packets take from the nodes at which they are.
    #[inline(always)]
    pub(super) fn route(&mut self, mut choose: impl FnMut(NodeId, &mut Packet) -> LinkId) {
        for word in &mut self.order {
            let number = number(*word);
            let Arrival { packet, at } = &mut self.packets[number];
            *word = u64::from(choose(at.node, packet)) << NUMBER_BITS | number as u64;
        }
    }

    /// The packets in order, once they are routed, with the link that each takes.
    #[inline]
    pub(super) fn routed(&self) -> impl Iterator<Item = (LinkId, &Packet)> {
        self.order.iter().map(|word| (taken(*word), &self.packets[number(*word)].packet))
    }

    /// The links that the packets take, in order, once they are routed.
    #[inline]
    pub(super) fn links(&self) -> impl Iterator<Item = LinkId> {
        self.order.iter().map(|word| taken(*word))
    }
}

/// Do two packets reach a node at the same instant?
#[inline]
fn is_tied(a: u64, b: u64) -> bool {
    a ^ b < 1 << NUMBER_BITS
}

/// Draws the order of the packets of a node that reach it at one instant.
#[cold]
#[inline(never)]
fn break_ties(order: &mut [u64], packets: &[Arrival], seed: u64, start: Time, tied: &mut Vec<(u64, u64)>) {
    for instant in order.chunk_by_mut(|a, b| is_tied(*a, *b)) {
        if instant.len() > 1 {
            let at = start + Time(instant[0] >> NUMBER_BITS);
            tied.clear();
            tied.extend(instant.iter().map(|word| (tie_rank(seed, at, packets[number(*word)].at.link), *word)));
            tied.sort_unstable();
            instant.iter_mut().zip(tied.iter()).for_each(|(word, (_, drawn))| *word = *drawn);
        }
    }
}

/// The link that a packet takes, in a word of [`Arrivals::order`].
#[inline]
fn taken(word: u64) -> LinkId {
    LinkId::from((word >> NUMBER_BITS) as u32)
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
        let [first, second] = [1, 2].map(NodeId::new);
        for (link, packet) in [(a, packet(1, 0)), (a, packet(5, 1)), (b, packet(3, 2))] {
            arrivals.push(Input { node: first, link }, &packet);
        }
        arrivals.end(first);
        for (link, packet) in [(a, packet(2, 3)), (b, packet(2, 4))] {
            arrivals.push(Input { node: second, link }, &packet);
        }
        arrivals.end(second);
        arrivals.sort(start);
        let at = start + Time::from_ns(2);
        let last = if tie_rank(7, at, a) < tie_rank(7, at, b) { [3, 4] } else { [4, 3] };
        let seen: Vec<_> = arrivals.nodes().flat_map(|(node, all)| all.map(move |p| (node.index(), p.seq))).collect();
        assert_eq!(seen, [(1, 0), (1, 2), (1, 1), (2, last[0]), (2, last[1])]);
        arrivals.route(|node, packet| LinkId::new(10 * node.index() + packet.seq as usize));
        let routed: Vec<_> = arrivals.routed().map(|(link, packet)| (link.index() as u32, packet.seq)).collect();
        assert_eq!(routed, [(10, 0), (12, 2), (11, 1), (20 + last[0], last[0]), (20 + last[1], last[1])]);
        let (node, packets) = arrivals.take_last().expect("two nodes");
        assert_eq!((node, packets.iter().map(|packet| packet.seq).collect::<Vec<_>>()), (second, last.into()));
        assert_eq!(arrivals.routed().count(), 3);
    }
}
