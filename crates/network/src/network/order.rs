//! The order in which a node sees the packets of a window.

use crate::fabric::LinkId;
use crate::packet::Packet;
use linkpool_engine::hash_u64;
use linkpool_units::Time;

/// The bits of a packet's number among the packets of a window at a node.
const NUMBER_BITS: u32 = 24;

/// The packets that reach a node in a window on several links, by time of arrival.
///
/// Links of one rate and delay make ties common, and a fixed order of links would favour the same
/// port of every switch at every instant: a sender there would never lose a packet to the others.
/// Therefore the order is drawn for each instant, see [`tie_rank`].
#[derive(Debug)]
pub(super) struct Arrivals {
    seed: u64,
    packets: Vec<(LinkId, Packet)>,
    /// A key a packet: the time since the window began (at most a second: 40 bits), then its number among `packets`.
    keys: Vec<u64>,
    /// Packets of one instant while they are put in order, with their ranks.
    tied: Vec<(u64, u64)>,
}

/// Of the packets that reach a node at the instant `at`, that with the least rank among the links
/// comes first: a random order that depends on nothing else, so that it is the same whichever
/// thread runs the node.
#[inline]
pub fn tie_rank(seed: u64, at: Time, link: LinkId) -> u64 {
    hash_u64(hash_u64(seed ^ at.0) ^ u64::from(link))
}

#[inline]
fn number_of(key: u64) -> usize {
    (key & ((1 << NUMBER_BITS) - 1)) as usize
}

impl Arrivals {
    pub(super) fn new(seed: u64) -> Arrivals {
        Arrivals { seed, packets: Vec::new(), keys: Vec::new(), tied: Vec::new() }
    }

    /// Forgets the packets of the last window.
    pub(super) fn clear(&mut self) {
        self.packets.clear();
        self.keys.clear();
    }

    /// `packet` comes on `link`, in a window that began at `start`. Packets of one link are added in order.
    #[inline]
    pub(super) fn push(&mut self, start: Time, link: LinkId, packet: &Packet) {
        self.keys.push((packet.arrival - start).0 << NUMBER_BITS | self.packets.len() as u64);
        self.packets.push((link, *packet));
    }

    /// Puts the packets of the window that began at `start` in order.
    #[inline]
    pub(super) fn sort(&mut self, start: Time) {
        assert!(self.packets.len() < 1 << NUMBER_BITS, "fewer than 2^24 packets reach a node in a window");
        self.keys.sort_unstable();
        if self.keys.windows(2).any(|pair| pair[0] >> NUMBER_BITS == pair[1] >> NUMBER_BITS) {
            self.break_ties(start);
        }
    }

    #[cold]
    fn break_ties(&mut self, start: Time) {
        for instant in self.keys.chunk_by_mut(|a, b| a >> NUMBER_BITS == b >> NUMBER_BITS) {
            if instant.len() > 1 {
                let at = start + Time(instant[0] >> NUMBER_BITS);
                let rank = |key: u64| tie_rank(self.seed, at, self.packets[number_of(key)].0);
                self.tied.clear();
                self.tied.extend(instant.iter().map(|key| (rank(*key), *key)));
                self.tied.sort_unstable();
                instant.iter_mut().zip(&self.tied).for_each(|(key, (_, drawn))| *key = *drawn);
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Packet number `i` in the order of arrival.
    #[inline]
    pub(super) fn packet(&self, i: usize) -> Packet {
        self.packets[number_of(self.keys[i])].1
    }

    /// The packets in the order of arrival.
    #[inline]
    pub(super) fn in_order(&self) -> impl Iterator<Item = &Packet> {
        self.keys.iter().map(|key| &self.packets[number_of(*key)].1)
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
}
