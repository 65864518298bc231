//! The order in which a node sees the packets of a window.

use super::inputs::Input;
use crate::fabric::LinkId;
use crate::link::Link;
use linkpool_engine::hash_u64;
use linkpool_units::Time;

/// A place is the time since the window began (at most a second: 40 bits), then the link.
pub(super) const LINK_BITS: u32 = 24;

/// The order in which a node sees the packets that reach it in a window: by time of arrival.
///
/// Links of one rate and delay make ties common, and a fixed order of links would favour the same
/// port of every switch at every instant: a sender there would never lose a packet to the others.
/// Therefore the order is drawn for each instant, see [`tie_rank`].
#[derive(Debug)]
pub(super) struct VisitingOrder {
    seed: u64,
    places: Vec<u64>,
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
fn link_of(place: u64) -> LinkId {
    LinkId::new((place & ((1 << LINK_BITS) - 1)) as usize)
}

impl VisitingOrder {
    pub(super) fn new(seed: u64) -> VisitingOrder {
        VisitingOrder { seed, places: Vec::new(), tied: Vec::new() }
    }

    /// Puts the arrivals on the due links from `start` to before `limit` in order.
    #[inline]
    pub(super) fn sort(&mut self, links: &[Link], due: &[Input], (start, limit): (Time, Time)) {
        self.places.clear();
        for Input { link, .. } in due {
            for arrival in links[link.index()].arrivals_before(limit) {
                self.places.push((arrival - start).0 << LINK_BITS | u64::from(*link));
            }
        }
        if due.len() > 1 {
            self.places.sort_unstable();
            if self.places.windows(2).any(|pair| pair[0] >> LINK_BITS == pair[1] >> LINK_BITS) {
                self.break_ties(start);
            }
        }
    }

    #[cold]
    fn break_ties(&mut self, start: Time) {
        for instant in self.places.chunk_by_mut(|a, b| a >> LINK_BITS == b >> LINK_BITS) {
            if instant.len() > 1 {
                let at = start + Time(instant[0] >> LINK_BITS);
                self.tied.clear();
                self.tied.extend(instant.iter().map(|place| (tie_rank(self.seed, at, link_of(*place)), *place)));
                self.tied.sort_unstable();
                instant.iter_mut().zip(&self.tied).for_each(|(place, (_, drawn))| *place = *drawn);
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// The link on which the packet number `i` comes.
    #[inline]
    pub(super) fn link(&self, i: usize) -> usize {
        link_of(self.places[i]).index()
    }

    /// The links on which the packets come.
    #[inline]
    pub(super) fn links(&self) -> impl Iterator<Item = usize> {
        self.places.iter().map(|place| link_of(*place).index())
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
