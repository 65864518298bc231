//! Reassembly of a stream from segments in any order.

use linkpool_engine::{prefetch, prefetch_place};
use thin_vec::ThinVec;

/// The bytes of a stream that have arrived: all bytes before `next`, and out-of-order ranges after
/// it.
///
/// It takes 16 bytes, so that those of all subflows share few cache lines.
#[derive(Debug, Default)]
pub struct Reassembly {
    /// The first byte that has not arrived, and [`GAP`].
    next: u64,
    /// The out-of-order ranges: sorted, disjoint, with a gap between any two, all after `next`.
    ranges: ThinVec<(u64, u64)>,
}

const _: () = assert!(size_of::<Reassembly>() == 16);

/// Set in `next` while there are ranges: where every segment looks, nothing else is read. No stream is so long.
const GAP: u64 = 1 << 63;

/// Lists with room for so many ranges keep their memory when they are empty.
const KEPT: usize = 8;

impl Reassembly {
    /// Creates an empty stream that begins at `first`.
    pub fn new(first: u64) -> Reassembly {
        Reassembly { next: first, ranges: ThinVec::new() }
    }

    /// The first byte that has not arrived.
    #[inline]
    pub fn next(&self) -> u64 {
        self.next & !GAP
    }

    /// Have bytes arrived after a gap?
    #[inline]
    pub fn has_gap(&self) -> bool {
        self.next & GAP != 0
    }

    /// Prefetches the ranges that the next segment may touch, in two stages as [`crate::Sender::prefetch`]: first their number,
    /// then the range that data beyond a gap joins.
    #[inline]
    pub(crate) fn prefetch_ranges(&self, stage: usize) {
        match stage {
            1 => prefetch_place(&self.ranges, 0),
            _ => self.ranges.last().into_iter().for_each(prefetch),
        }
    }

    /// The ranges that have arrived after the first gap, sorted, with a gap between any two.
    pub fn ranges(&self) -> &[(u64, u64)] {
        &self.ranges
    }

    /// The first part of `start..end` that has not arrived.
    pub fn first_gap(&self, start: u64, end: u64) -> Option<(u64, u64)> {
        let mut start = start.max(self.next());
        let beyond = self.ranges.partition_point(|(_, e)| *e <= start);
        let mut ranges = self.ranges[beyond..].iter();
        let mut next = ranges.next();
        if let Some((_, e)) = next.filter(|(s, _)| *s <= start) {
            start = *e;
            next = ranges.next();
        }
        let end = next.map_or(end, |(s, _)| end.min(*s));
        (start < end).then_some((start, end))
    }

    /// `start..end` has arrived. Returns whether any of it is new.
    #[inline]
    pub fn insert(&mut self, start: u64, end: u64) -> bool {
        if end <= self.next() {
            return false;
        }
        if start > self.next() {
            self.next |= GAP;
            return self.insert_range(start, end);
        }
        if self.has_gap() {
            self.join_ranges(end);
        } else {
            self.next = end;
        }
        true
    }

    /// All before `end` has arrived, where there are ranges.
    #[inline(never)]
    fn join_ranges(&mut self, end: u64) {
        let reached = self.ranges.iter().take_while(|(start, _)| *start <= end).count();
        let joined = self.ranges[..reached].last().map_or(end, |(_, last)| end.max(*last));
        if reached < self.ranges.len() {
            self.next = joined | GAP;
            self.ranges.drain(..reached);
            return;
        }
        self.next = joined;
        if self.ranges.capacity() > KEPT {
            self.ranges = ThinVec::new();
        } else {
            self.ranges.clear();
        }
    }

    fn insert_range(&mut self, mut start: u64, mut end: u64) -> bool {
        // Most data arrives at the end, so search from the end.
        let after = self.ranges.iter().rposition(|(s, _)| *s <= end).map_or(0, |i| i + 1);
        let first = self.ranges[..after].iter().rposition(|(_, e)| *e < start).map_or(0, |i| i + 1);
        if first == after {
            // At the end, nothing has to move.
            if first == self.ranges.len() {
                self.ranges.push((start, end));
            } else {
                self.ranges.insert(first, (start, end));
            }
            return true;
        }
        if after - first == 1 && self.ranges[first].0 <= start && end <= self.ranges[first].1 {
            return false;
        }
        start = start.min(self.ranges[first].0);
        end = end.max(self.ranges[after - 1].1);
        self.ranges[first] = (start, end);
        if after - first > 1 {
            self.ranges.drain(first + 1..after);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Compares with a plain set of bytes.
        #[test]
        fn is_a_set_of_bytes(ranges in prop::collection::vec((0u64..60, 1u64..12), 1..60)) {
            let mut r = Reassembly::new(0);
            let mut arrived = [false; 80];
            for (start, len) in ranges {
                let bytes = &mut arrived[start as usize..(start + len) as usize];
                let new = bytes.iter().any(|b| !*b);
                bytes.fill(true);
                prop_assert_eq!(r.insert(start, start + len), new);
                let next = arrived.iter().position(|b| !*b).unwrap() as u64;
                prop_assert_eq!(r.next(), next);
                let beyond = arrived[next as usize..].iter().any(|b| *b);
                let gap = arrived[30..70].iter().position(|b| !*b).map(|from| {
                    let len = arrived[30 + from..70].iter().position(|b| *b).unwrap_or(40 - from);
                    (30 + from as u64, (30 + from + len) as u64)
                });
                prop_assert_eq!(r.first_gap(30, 70), gap);
                prop_assert_eq!(r.has_gap(), beyond);
                for pair in r.ranges.windows(2) {
                    prop_assert!(pair[0].1 < pair[1].0);
                }
            }
        }
    }
}
