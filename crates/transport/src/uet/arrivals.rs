//! The packets that a receiver has got, by PSN.

/// All packets below `next`, and some above.
#[derive(Debug)]
pub(super) struct Arrivals {
    /// The first packet that has not come.
    next: u32,
    /// The number of packets above it that have come.
    above: u32,
    /// A bit for each packet from `next` on, at its PSN modulo the number of bits, a power of two.
    /// Bits of packets below `next` are 0.
    bits: Box<[u64]>,
}

/// The bits at first: a window of 256 packets of 4 KB fills 100 Gb/s for 84 us.
const WORDS: usize = 4;

impl Arrivals {
    pub(super) fn new() -> Arrivals {
        Arrivals { next: 0, above: 0, bits: Box::new([0; WORDS]) }
    }

    /// The first packet that has not come.
    pub(super) fn next(&self) -> u32 {
        self.next
    }

    /// The number of packets that have come above a gap.
    pub(super) fn above(&self) -> u32 {
        self.above
    }

    #[inline]
    fn place(&self, psn: u32) -> (usize, u32) {
        ((psn >> 6) as usize & (self.bits.len() - 1), psn & 63)
    }

    /// Has packet `psn` come?
    pub(super) fn has(&self, psn: u32) -> bool {
        if psn < self.next {
            return true;
        }
        let (word, bit) = self.place(psn);
        u64::from(psn - self.next) < self.capacity() && self.bits[word] >> bit & 1 > 0
    }

    fn capacity(&self) -> u64 {
        64 * self.bits.len() as u64
    }

    /// Packet `psn`, which has not come before, has come.
    pub(super) fn insert(&mut self, psn: u32) {
        debug_assert!(!self.has(psn));
        if psn == self.next {
            self.next += 1;
            if self.above > 0 {
                self.advance();
            }
            return;
        }
        // The words of the first and the last packet must be two.
        while u64::from(psn - self.next) + 64 >= self.capacity() {
            self.grow();
        }
        let (word, bit) = self.place(psn);
        self.bits[word] |= 1 << bit;
        self.above += 1;
    }

    /// Takes the packets that continue those below `next`, a word at a time.
    fn advance(&mut self) {
        loop {
            let (word, bit) = self.place(self.next);
            let run = (!(self.bits[word] >> bit)).trailing_zeros().min(64 - bit);
            if run == 0 {
                return;
            }
            let taken = (u64::MAX >> (64 - run)) << bit;
            self.bits[word] &= !taken;
            self.next += run;
            self.above -= run;
            if bit + run < 64 || self.above == 0 {
                return;
            }
        }
    }

    #[cold]
    fn grow(&mut self) {
        let mut larger = Arrivals { next: self.next, above: self.above, bits: vec![0; 2 * self.bits.len()].into() };
        // From the word of `next` on, each word has its place in the larger ring.
        for offset in 0..self.bits.len() as u32 {
            let psn = (self.next & !63).wrapping_add(64 * offset);
            let ((from, _), (to, _)) = (self.place(psn), larger.place(psn));
            larger.bits[to] = self.bits[from];
        }
        *self = larger;
    }

    /// The packets from `base` on that have come and are not below [`Arrivals::next`], as bits.
    pub(super) fn bitmap(&self, base: u32) -> u64 {
        if self.above == 0 || base.wrapping_add(63) < self.next && base < self.next {
            return 0;
        }
        let (word, bit) = self.place(base);
        let low = self.word(base, word) >> bit;
        let high = if bit == 0 {
            0
        } else {
            let after = base.wrapping_add(64);
            self.word(after, self.place(after).0) << (64 - bit)
        };
        low | high
    }

    /// The word of `psn`, or 0 where it is out of the ring.
    fn word(&self, psn: u32, word: usize) -> u64 {
        let first = self.next & !63;
        let here = psn & !63;
        let offset = u64::from(here.wrapping_sub(first));
        if here >= first && offset < self.capacity() { self.bits[word] } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Below `most`, and 0 two times in three, so that packets follow one another and gaps are filled.
    fn often_0(most: u32) -> impl Strategy<Value = u32> {
        prop_oneof![2 => Just(0), 1 => 0..most]
    }

    proptest! {
        /// As a set of numbers does it, for any order of arrival and over word and ring borders.
        #[test]
        fn as_a_set(
            first in 0u32..2_000,
            jumps in prop::collection::vec((often_0(700), often_0(90)), 1..150),
            bases in prop::collection::vec(0u32..900, 1..8),
        ) {
            let (mut arrivals, mut set) = (Arrivals::new(), BTreeSet::new());
            (0..first).for_each(|psn| arrivals.insert(psn));
            let mut next = first;
            for (ahead, back) in jumps {
                let psn = arrivals.next().saturating_add(ahead).saturating_sub(back);
                prop_assert_eq!(arrivals.has(psn), psn < first || set.contains(&psn));
                if psn >= first && set.insert(psn) {
                    arrivals.insert(psn);
                }
                next = (next..).find(|n| !set.contains(n)).unwrap();
                prop_assert_eq!(arrivals.next(), next);
                prop_assert_eq!(arrivals.above() as usize, set.range(next..).count());
                for base in &bases {
                    let base = (next + base).saturating_sub(100);
                    let expected = (0..64).filter(|i| base + i >= next && set.contains(&(base + i)));
                    prop_assert_eq!(arrivals.bitmap(base), expected.fold(0, |all, i| all | 1u64 << i));
                }
            }
        }
    }

    /// After 1,000 packets in order, of 256 bits: a packet above a gap, what shares its bit one turn of the ring later,
    /// and all packets once the gap is filled.
    #[test]
    fn a_packet_above_a_gap_is_there_in_its_turn_alone() {
        let mut arrivals = Arrivals::new();
        (0..1_000).for_each(|psn| arrivals.insert(psn));
        arrivals.insert(1_005);
        let has = |arrivals: &Arrivals, all: [u32; 6]| all.map(|psn| arrivals.has(psn));
        assert_eq!(has(&arrivals, [999, 1_000, 1_004, 1_005, 1_006, 1_261]), [true, false, false, true, false, false]);
        assert_eq!((arrivals.next(), arrivals.above(), arrivals.bitmap(1_000)), (1_000, 1, 1 << 5));
        (1_000..1_005).for_each(|psn| arrivals.insert(psn));
        assert_eq!((arrivals.next(), arrivals.above(), arrivals.bitmap(1_000)), (1_006, 0, 0));
        assert_eq!(
            has(&arrivals, [999, 1_005, 1_006, 1_256, 1_261, u32::MAX]),
            [true, true, false, false, false, false]
        );
    }

    /// A packet that closes a gap brings all behind it into order, whole words of 64 too, up to the next gap.
    #[test]
    fn whole_words_come_into_order() {
        let mut arrivals = Arrivals::new();
        (1..300).chain(301..310).for_each(|psn| arrivals.insert(psn));
        assert_eq!((arrivals.next(), arrivals.above()), (0, 308));
        arrivals.insert(0);
        assert_eq!((arrivals.next(), arrivals.above(), arrivals.bitmap(300)), (300, 9, 0b11_1111_1110));
    }
}
