/// Which bytes of a stream have arrived: all before `next`, and some islands beyond it.
#[derive(Debug, Default)]
pub struct Reassembly {
    next: u64,
    /// Disjoint, not touching, sorted; all beyond `next`.
    islands: Vec<(u64, u64)>,
}

impl Reassembly {
    /// Nothing has arrived; the stream begins at `first`.
    pub fn new(first: u64) -> Reassembly {
        Reassembly { next: first, islands: Vec::new() }
    }

    /// The first byte that has not arrived.
    #[inline]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Have bytes arrived beyond a gap?
    #[inline]
    pub fn has_gap(&self) -> bool {
        !self.islands.is_empty()
    }

    /// What has arrived beyond the first gap: ranges in order, not touching each other.
    pub fn islands(&self) -> &[(u64, u64)] {
        &self.islands
    }

    /// The first part of `start..end` that has not arrived.
    pub fn first_gap(&self, start: u64, end: u64) -> Option<(u64, u64)> {
        let mut start = start.max(self.next);
        let beyond = self.islands.partition_point(|(_, e)| *e <= start);
        let mut islands = self.islands[beyond..].iter();
        let mut next = islands.next();
        if let Some((_, e)) = next.filter(|(s, _)| *s <= start) {
            start = *e;
            next = islands.next();
        }
        let end = next.map_or(end, |(s, _)| end.min(*s));
        (start < end).then_some((start, end))
    }

    /// `start..end` has arrived. Returns whether any of it is new.
    #[inline]
    pub fn insert(&mut self, start: u64, end: u64) -> bool {
        if end <= self.next {
            return false;
        }
        if start > self.next {
            return self.insert_island(start, end);
        }
        self.next = end;
        if !self.islands.is_empty() {
            self.join_islands();
        }
        true
    }

    fn join_islands(&mut self) {
        let reached = self.islands.iter().take_while(|(start, _)| *start <= self.next).count();
        if reached > 0 {
            self.next = self.next.max(self.islands[reached - 1].1);
            self.islands.drain(..reached);
        }
    }

    fn insert_island(&mut self, mut start: u64, mut end: u64) -> bool {
        // Most arrive at the end: look from there.
        let after = self.islands.iter().rposition(|(s, _)| *s <= end).map_or(0, |i| i + 1);
        let first = self.islands[..after].iter().rposition(|(_, e)| *e < start).map_or(0, |i| i + 1);
        if first == after {
            self.islands.insert(first, (start, end));
            return true;
        }
        if after - first == 1 && self.islands[first].0 <= start && end <= self.islands[first].1 {
            return false;
        }
        start = start.min(self.islands[first].0);
        end = end.max(self.islands[after - 1].1);
        self.islands[first] = (start, end);
        self.islands.drain(first + 1..after);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a plain set of bytes.
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
                for pair in r.islands.windows(2) {
                    prop_assert!(pair[0].1 < pair[1].0);
                }
            }
        }
    }
}
