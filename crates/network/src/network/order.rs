//! The packets that reach nodes in a window, and the order of those whose order matters.

use crate::chain::Chain;
use crate::fabric::LinkId;
use crate::in_flight::Incoming;
use linkpool_engine::hash_u64;
use linkpool_units::Time;

/// Stands for no packet.
pub(crate) const NONE: u32 = u32::MAX;

/// The packets that reach some nodes in a window.
///
/// The order of packets matters only where they meet: at a host, or in the queue of a link. Most
/// meet no other packet in a window. So they are not sorted. Packets that may meet are chained: each
/// knows the number of the one before it, and the network knows that of the latest, by host and by
/// link. Only the packets of one chain are put in order of time.
///
/// Links of one rate and delay make ties common, and a fixed order of links would favour the same
/// port of every switch at every instant: a sender there would never lose a packet to the others.
/// Therefore the order is drawn for each instant, see [`tie_rank`].
#[derive(Debug, Default)]
pub(super) struct Arrivals {
    /// In any order.
    pub(super) packets: Vec<Incoming>,
    /// By packet: where it goes on from a switch, and its chain.
    pub(super) steps: Vec<Step>,
    /// Puts chains in order.
    pub(super) order: Order,
    /// While packets are queued at ports: the latest packet of each chain, with its number.
    pub(super) ends: Vec<(Step, u32)>,
}

/// Puts chains in order.
#[derive(Debug, Default)]
pub(super) struct Order {
    seed: u64,
    /// The packets of the chain that was put in order last, the last one first: their arrivals and
    /// numbers.
    chain: Vec<(Time, u32)>,
}

/// A packet's way on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Step {
    /// The link that it takes, if it is routed.
    pub(super) link: LinkId,
    /// The packet before it in its chain, or [`NONE`].
    pub(super) before: u32,
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
        Arrivals { order: Order { seed, chain: Vec::new() }, ..Arrivals::default() }
    }
}

impl Order {
    /// The packets of the chain of `latest`, in order.
    #[inline]
    pub(super) fn chain<'a>(&'a mut self, packets: &'a [Incoming], steps: &[Step], latest: u32) -> Chain<'a> {
        Chain::new(packets, self.of(packets, steps, latest))
    }

    /// The arrivals and numbers of the packets of the chain of `latest`, the last one first.
    #[inline(never)]
    pub(super) fn of(&mut self, packets: &[Incoming], steps: &[Step], latest: u32) -> &[(Time, u32)] {
        let chain = &mut self.chain;
        chain.clear();
        // A packet that was sent earlier mostly comes earlier, too. So most chains go back in time.
        let (mut number, mut later, mut goes_back) = (latest, Time::MAX, true);
        while number != NONE {
            let at = packets[number as usize].packet.arrival;
            chain.push((at, number));
            goes_back &= at < later;
            later = at;
            number = steps[number as usize].before;
        }
        if !goes_back {
            self.sort(packets);
        }
        &self.chain
    }

    /// The numbers of all `packets`, in order.
    pub(super) fn of_all(&mut self, packets: &[Incoming]) -> impl Iterator<Item = usize> + use<'_> {
        self.chain.clear();
        self.chain.extend(packets.iter().zip(0..).map(|(incoming, number)| (incoming.packet.arrival, number)));
        self.sort(packets);
        in_order(&self.chain)
    }

    fn sort(&mut self, packets: &[Incoming]) {
        let rank = |(at, number): (Time, u32)| tie_rank(self.seed, at, packets[number as usize].link);
        self.chain.sort_unstable_by(|a, b| b.0.cmp(&a.0).then_with(|| rank(*b).cmp(&rank(*a))));
    }
}

/// The numbers of the packets of a chain that is put in order.
#[inline]
pub(super) fn in_order(chain: &[(Time, u32)]) -> impl Iterator<Item = usize> + use<'_> {
    chain.iter().rev().map(|(_, number)| *number as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::NodeId;
    use crate::packet::Packet;
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

    /// 100 packets of ten instants in two chains, each in order of time and then of the ranks of
    /// their links.
    #[test]
    fn a_chain_is_in_the_order_of_time_and_ties_are_drawn() {
        let mut arrivals = Arrivals::new(7);
        let mut latest = [NONE; 2];
        for number in 0..100 {
            let packet = Packet { arrival: Time::from_ns(number * 7 % 10), ..Packet::default() };
            let link = LinkId::new(number as usize);
            arrivals.packets.push(Incoming { packet, node: NodeId::new(1), link });
            let before = std::mem::replace(&mut latest[usize::from(number % 3 == 0)], number as u32);
            arrivals.steps.push(Step { link: LinkId::NONE, before });
        }
        for (latest, length) in latest.into_iter().zip([66, 34]) {
            let Arrivals { packets, steps, order, .. } = &mut arrivals;
            let chain: Vec<Incoming> =
                in_order(order.of(packets, steps, latest)).map(|number| packets[number]).collect();
            assert_eq!(chain.len(), length);
            assert!(chain.is_sorted_by_key(|i| (i.packet.arrival, tie_rank(7, i.packet.arrival, i.link))));
        }
    }
}
