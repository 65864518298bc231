//! The segments of a subflow that have been sent and not acknowledged. With thousands of windows of
//! hundreds of segments, they take most of a simulation's memory. So a segment takes 16 bytes, and
//! the list shrinks when it has fewer segments.

use crate::seq::Seq;
use linkpool_engine::{prefetch, prefetch_place};
use linkpool_units::Time;
use std::collections::VecDeque;
use std::ops::{Index, IndexMut, RangeFrom};

/// A data segment that has been sent and not acknowledged. It begins at the end of the segment
/// before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    /// The time of sending, in picoseconds, in the bits above the marks.
    at_and_marks: u64,
    /// Its end in the subflow's stream.
    pub(crate) end: Seq,
    /// Its start in the connection's stream.
    pub(crate) data_seq: Seq,
}

/// The state of a segment, one bit each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark(u64);

impl Mark {
    /// Sent more than once: no RTT sample (Karn).
    pub(crate) const AGAIN: Mark = Mark(1);
    /// A SACK has reported it: it has arrived after a gap.
    pub(crate) const SACKED: Mark = Mark(2);
    /// The sender considers it lost.
    pub(crate) const LOST: Mark = Mark(4);
    /// It has been sent again and is in flight.
    pub(crate) const RESENT: Mark = Mark(8);
    /// The time is stored above this many bits. The remaining bits hold 13 days, more than any run
    /// takes.
    const BITS: u32 = 4;
}

impl Sent {
    const NONE: Sent = Sent { at_and_marks: 0, end: Seq(0), data_seq: Seq(0) };

    /// New data.
    #[inline]
    pub(crate) fn new(at: Time, end: Seq, data_seq: Seq) -> Sent {
        let mut sent = Sent { end, data_seq, ..Sent::NONE };
        sent.set_at(at);
        sent
    }

    #[inline]
    pub(crate) fn at(&self) -> Time {
        Time(self.at_and_marks >> Mark::BITS)
    }

    #[inline]
    pub(crate) fn set_at(&mut self, at: Time) {
        debug_assert!(at.0 < 1 << (u64::BITS - Mark::BITS), "13 days are over");
        self.at_and_marks = at.0 << Mark::BITS | self.at_and_marks & ((1 << Mark::BITS) - 1);
    }

    #[inline]
    pub(crate) fn is(&self, mark: Mark) -> bool {
        self.at_and_marks & mark.0 != 0
    }

    #[inline]
    pub(crate) fn mark(&mut self, mark: Mark) {
        self.at_and_marks |= mark.0;
    }

    #[inline]
    pub(crate) fn unmark(&mut self, mark: Mark) {
        self.at_and_marks &= !mark.0;
    }
}

/// The least capacity of a list that is not empty: four cache lines.
const LEAST: usize = 16;

/// Sent segments in order. The capacity grows by half when it is full, and shrinks when three
/// quarters of it are unused. So a window of nearly constant size does not allocate.
#[derive(Debug, Default)]
pub(crate) struct Outstanding {
    segments: VecDeque<Sent>,
}

const _: () = assert!(size_of::<Sent>() == 16 && size_of::<Outstanding>() == 32);

impl Outstanding {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.segments.len()
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    #[inline]
    pub(crate) fn front(&self) -> Option<&Sent> {
        self.segments.front()
    }

    #[inline]
    pub(crate) fn pop_front(&mut self) {
        self.segments.pop_front();
        let room = self.segments.capacity();
        if self.len() <= room / 4 && room > LEAST {
            self.shrink();
        }
    }

    #[inline]
    pub(crate) fn push_back(&mut self, segment: Sent) {
        if self.len() == self.segments.capacity() {
            self.grow();
        }
        self.segments.push_back(segment);
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        self.segments.reserve_exact((self.len() / 2).max(LEAST / 2));
    }

    #[cold]
    #[inline(never)]
    fn shrink(&mut self) {
        self.segments.shrink_to((self.len() + self.len() / 2).max(LEAST));
    }

    pub(crate) fn clear(&mut self) {
        *self = Outstanding::default();
    }

    /// Prefetches the first segment, and the place that follows the last one in memory, where the next one goes unless the ring
    /// begins anew.
    #[inline]
    pub(crate) fn prefetch_ends(&self) {
        self.segments.front().into_iter().for_each(prefetch);
        self.segments.back().into_iter().for_each(|last| prefetch_place(std::slice::from_ref(last), 1));
    }

    /// The segments from number `from` on.
    pub(crate) fn range(&self, from: RangeFrom<usize>) -> impl Iterator<Item = &Sent> {
        self.segments.range(from)
    }

    /// The same segments, mutable.
    pub(crate) fn range_mut(&mut self, from: RangeFrom<usize>) -> impl Iterator<Item = &mut Sent> {
        self.segments.range_mut(from)
    }

    /// The number of segments at the front for which `come_first` returns true. It returns false
    /// for all segments after them.
    pub(crate) fn partition_point(&self, come_first: impl Fn(&Sent) -> bool) -> usize {
        self.segments.partition_point(come_first)
    }
}

impl Index<usize> for Outstanding {
    type Output = Sent;

    #[inline]
    fn index(&self, i: usize) -> &Sent {
        &self.segments[i]
    }
}

impl IndexMut<usize> for Outstanding {
    #[inline]
    fn index_mut(&mut self, i: usize) -> &mut Sent {
        &mut self.segments[i]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Sends and acknowledges this many segments; the outstanding segments stay in order.
    fn burst(sent: &mut Outstanding, next: &mut u32, (pushed, popped): (usize, usize)) {
        for _ in 0..pushed {
            sent.push_back(Sent::new(Time(1), Seq(*next), Seq(0)));
            *next += 1;
        }
        (0..popped.min(sent.len())).for_each(|_| sent.pop_front());
        let first = *next - sent.len() as u32;
        assert!(sent.range(0..).map(|segment| segment.end.0).eq(first..*next));
    }

    proptest! {
        /// While windows grow and shrink, the capacity is at most four times the length.
        #[test]
        fn has_room_for_what_there_is(bursts in prop::collection::vec((0usize..500, 0usize..500), 1..30)) {
            let (mut sent, mut next) = (Outstanding::default(), 0);
            for counts in bursts {
                burst(&mut sent, &mut next, counts);
                let room = sent.segments.capacity();
                prop_assert!(room <= LEAST || sent.len() > room / 4, "{} of {room}", sent.len());
            }
        }

        #[test]
        fn time_and_marks_do_not_touch(at in 0u64..1 << 60, later in 0u64..1 << 60, bits in 0u64..16) {
            let all = [Mark::AGAIN, Mark::SACKED, Mark::LOST, Mark::RESENT];
            let mut sent = Sent::new(Time(at), Seq(1), Seq(2));
            prop_assert!(all.iter().all(|mark| !sent.is(*mark)));
            all.iter().filter(|mark| mark.0 & bits != 0).for_each(|mark| sent.mark(*mark));
            prop_assert_eq!(sent.at(), Time(at));
            sent.set_at(Time(later));
            prop_assert_eq!(sent.at(), Time(later));
            prop_assert!(all.iter().all(|mark| sent.is(*mark) == (mark.0 & bits != 0)));
            all.iter().for_each(|mark| sent.unmark(*mark));
            prop_assert_eq!(sent.at_and_marks, later << 4);
        }
    }

    /// A window that grows by a quarter and falls back, or that halves, does not change the
    /// capacity.
    #[test]
    fn a_window_that_stays_about_as_it_is_keeps_its_room() {
        for window in [4, 16, 100, 1000] {
            let (mut sent, mut next) = (Outstanding::default(), 0);
            burst(&mut sent, &mut next, (window + window / 4, window / 4));
            let room = sent.segments.capacity();
            for _ in 0..20 {
                burst(&mut sent, &mut next, (window / 4, window / 4));
                burst(&mut sent, &mut next, (0, window / 2));
                burst(&mut sent, &mut next, (window / 2, 0));
                assert_eq!(sent.segments.capacity(), room);
            }
        }
    }

    /// The capacity grows by half, and by at least eight. An emptied list keeps no memory.
    #[test]
    fn room_grows_by_a_half_and_shrinks_to_a_half_more() {
        let (mut sent, mut rooms) = (Outstanding::default(), Vec::new());
        for n in 0..60u32 {
            sent.push_back(Sent::new(Time(1), Seq(n), Seq(0)));
            if rooms.last() != Some(&sent.segments.capacity()) {
                rooms.push(sent.segments.capacity());
            }
        }
        assert_eq!(rooms, [8, 16, 24, 36, 54, 81]);
        while sent.segments.capacity() == 81 {
            sent.pop_front();
        }
        assert_eq!((sent.len(), sent.segments.capacity()), (20, 30)); // a quarter of 81, and a half more
        sent.clear();
        assert_eq!((sent.len(), sent.segments.capacity()), (0, 0));
    }
}
