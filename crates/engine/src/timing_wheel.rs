//! A timing wheel: events of several kinds, listed by the window in which they are due.

use crate::prefetch::{prefetch_all, prefetch_place};
use std::collections::BTreeMap;

/// The number of windows ahead for which the wheel has a row; events due later wait elsewhere.
const ROWS: u64 = 1024;

/// Windows of later events are grouped. All events of a group enter the rows before the first of
/// them is due.
const GROUP: u64 = ROWS / 2;

/// The places of a chunk.
const CHUNK: u32 = 32;

/// Chunks of so many bytes are at hand without prefetching, in the second cache of most processors.
const NEAR: usize = 1 << 20;

/// While an event is added to a row, the place so many events further on is prefetched.
const AHEAD: usize = 3;

/// Events of `KINDS` kinds by the window in which they are due (a timing wheel: Varghese and Lauck,
/// "Hashed and hierarchical timing wheels", SOSP 1987).
///
/// An event is written once, at the end of the row of its window and kind. When the window comes,
/// the row is read once, from its first event to its last. So memory is written and read in order,
/// whatever the number of sources that events come from. Rows consist of chunks that are used again
/// at once.
#[derive(Debug)]
pub struct TimingWheel<T, const KINDS: usize> {
    /// The current window.
    now: u64,
    /// A row per kind and window.
    rows: Box<[[Row; ROWS as usize]; KINDS]>,
    /// Per window: the number of kinds that have events.
    kinds: [u8; ROWS as usize],
    /// One bit per window that has events.
    occupied: [u64; ROWS as usize / 64],
    /// The chunks of all rows, one after another.
    places: Vec<T>,
    /// Do the chunks take more than [`NEAR`]?
    is_far: bool,
    /// By chunk: the chunk that follows it in its row.
    following: Vec<u32>,
    /// Chunks that belong to no row.
    free: Vec<u32>,
    /// Events beyond the rows, each with its window and kind, by group of windows.
    later: BTreeMap<u64, Vec<(u64, usize, T)>>,
    /// The first window of the events in `later`; `u64::MAX`: there are none.
    first_later: u64,
}

/// The events of a kind in a window.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    /// The first chunk.
    first: u32,
    /// The place after the last event. Where a chunk ends, or at first, that is no place of the
    /// row.
    end: u32,
}

impl<T: Copy + Default, const KINDS: usize> TimingWheel<T, KINDS> {
    /// An empty wheel, at window 0.
    pub fn new() -> TimingWheel<T, KINDS> {
        TimingWheel {
            now: 0,
            rows: Box::new([[Row::default(); ROWS as usize]; KINDS]),
            kinds: [0; ROWS as usize],
            occupied: [0; ROWS as usize / 64],
            places: Vec::new(),
            is_far: false,
            following: Vec::new(),
            free: Vec::new(),
            later: BTreeMap::new(),
            first_later: u64::MAX,
        }
    }

    /// Adds an event of `kind` that is due in `window`, the current one or a later one; the caller
    /// fills its place.
    #[inline(always)]
    pub fn push(&mut self, window: u64, kind: usize) -> &mut T {
        debug_assert!(window >= self.now, "window {window} is over (now {})", self.now);
        if window - self.now >= ROWS {
            return self.push_later(window, kind);
        }
        let row = (window % ROWS) as usize;
        let end = self.rows[kind][row].end;
        if end.is_multiple_of(CHUNK) {
            return self.push_to_new_chunk(row, kind);
        }
        self.rows[kind][row].end = end + 1;
        if self.is_far {
            prefetch_place(&self.places, end as usize + AHEAD);
        }
        &mut self.places[end as usize]
    }

    /// Adds an event to a row that has no place left.
    #[inline(never)]
    fn push_to_new_chunk(&mut self, row: usize, kind: usize) -> &mut T {
        let chunk = self.free.pop().unwrap_or_else(|| {
            self.places.resize(self.places.len() + CHUNK as usize, T::default());
            self.is_far = size_of_val(&*self.places) > NEAR;
            self.following.push(0);
            self.following.len() as u32 - 1
        });
        let Row { first, end } = &mut self.rows[kind][row];
        if *end == 0 {
            *first = chunk;
            self.kinds[row] += 1;
            self.occupied[row / 64] |= 1 << (row % 64);
        } else {
            self.following[(*end as usize - 1) / CHUNK as usize] = chunk;
        }
        *end = chunk * CHUNK + 1;
        if self.is_far {
            // The next row that needs a chunk gets this one.
            let next = self.free.last().map_or(0, |chunk| (chunk * CHUNK) as usize);
            (next..next + AHEAD).for_each(|place| prefetch_place(&self.places, place));
        }
        &mut self.places[(chunk * CHUNK) as usize]
    }

    #[cold]
    #[inline(never)]
    fn push_later(&mut self, window: u64, kind: usize) -> &mut T {
        self.first_later = self.first_later.min(window);
        let group = self.later.entry(window / GROUP).or_default();
        group.push((window, kind, T::default()));
        let last = group.len() - 1;
        &mut group[last].2
    }

    /// Moves to `window`, before which nothing is due.
    #[inline]
    pub fn advance_to(&mut self, window: u64) {
        debug_assert!(self.peek().is_none_or(|next| window <= next));
        self.now = window;
        if self.first_later != u64::MAX {
            self.enter_later();
        }
    }

    /// Moves the events of the groups that begin soon to their rows.
    #[inline(never)]
    fn enter_later(&mut self) {
        while let Some(group) = self.later.first_entry().filter(|group| *group.key() <= self.now / GROUP + 1) {
            group.remove().into_iter().for_each(|(window, kind, event)| *self.push(window, kind) = event);
            let first = self.later.first_key_value();
            self.first_later = first.and_then(|(_, events)| events.iter().map(|(w, ..)| *w).min()).unwrap_or(u64::MAX);
        }
    }

    /// The first window in which an event is due.
    #[inline]
    pub fn peek(&self) -> Option<u64> {
        let first = self.ahead().map_or(u64::MAX, |ahead| self.now + ahead).min(self.first_later);
        (first != u64::MAX).then_some(first)
    }

    /// How many windows ahead the first row is that is not empty.
    #[inline]
    fn ahead(&self) -> Option<u64> {
        let row = self.now % ROWS;
        let words = self.occupied.len() as u64;
        // From this row on to the end of its word, then word by word, at last the rest of its word.
        (0..=words).find_map(|i| {
            let word = (row / 64 + i) % words;
            let after = u64::MAX << (row % 64);
            let bits = self.occupied[word as usize]
                & if i == 0 {
                    after
                } else if i == words {
                    !after
                } else {
                    u64::MAX
                };
            (bits != 0).then(|| (word * 64 + u64::from(bits.trailing_zeros()) + ROWS - row) % ROWS)
        })
    }

    /// Takes the events of `kind` of `window`, the current one or one soon after it, in the order
    /// in which they were added, to the end of `events`.
    #[inline]
    pub fn take(&mut self, window: u64, kind: usize, events: &mut Vec<T>) {
        debug_assert!(window >= self.now && window - self.now < GROUP, "later events are not in rows");
        let row = (window % ROWS) as usize;
        let Row { first, end } = std::mem::take(&mut self.rows[kind][row]);
        if end == 0 {
            return;
        }
        self.kinds[row] -= 1;
        if self.kinds[row] == 0 {
            self.occupied[row / 64] &= !(1 << (row % 64));
        }
        let last = (end - 1) / CHUNK;
        let mut chunk = first;
        while chunk != last {
            let next = self.following[chunk as usize];
            if self.is_far {
                prefetch_all(&self.places[(next * CHUNK) as usize..][..CHUNK as usize]);
            }
            events.extend_from_slice(&self.places[(chunk * CHUNK) as usize..][..CHUNK as usize]);
            self.free.push(chunk);
            chunk = next;
        }
        events.extend_from_slice(&self.places[(last * CHUNK) as usize..end as usize]);
        self.free.push(last);
    }

    /// All events, in no order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        let in_rows = self.rows.iter().flatten().filter(|row| row.end > 0).flat_map(|row| self.of(*row));
        in_rows.chain(self.later.values().flatten().map(|(.., event)| event))
    }

    /// The events of `row`, which is not empty.
    fn of(&self, row: Row) -> impl Iterator<Item = &T> {
        let last = (row.end - 1) / CHUNK;
        let follows = move |chunk: &u32| (*chunk != last).then(|| self.following[*chunk as usize]);
        std::iter::successors(Some(row.first), follows).flat_map(move |chunk| {
            let end = if chunk == last { row.end } else { (chunk + 1) * CHUNK };
            &self.places[(chunk * CHUNK) as usize..end as usize]
        })
    }
}

impl<T: Copy + Default, const KINDS: usize> Default for TimingWheel<T, KINDS> {
    fn default() -> TimingWheel<T, KINDS> {
        TimingWheel::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// Against lists by window and kind: every event comes up in its window, in the order in
        /// which it was added, once, while others are added for windows near and far.
        #[test]
        fn is_a_list_of_events_for_each_window(
            starts in prop::collection::vec(prop_oneof![0u64..40, 0u64..5000], 1..120),
            later in prop::collection::vec(prop_oneof![1u64..40, 1u64..5000], 0..240),
        ) {
            let (mut wheel, mut model) = (TimingWheel::<usize, 2>::new(), BTreeMap::<u64, [Vec<usize>; 2]>::new());
            let mut numbers = 0..;
            let mut add = |wheel: &mut TimingWheel<usize, 2>, model: &mut BTreeMap<u64, [Vec<usize>; 2]>, window| {
                let number: usize = numbers.next().unwrap();
                let kind = number / 3 % 2;
                *wheel.push(window, kind) = number;
                model.entry(window).or_default()[kind].push(number);
            };
            starts.into_iter().for_each(|window| add(&mut wheel, &mut model, window));
            let mut later = later.into_iter();
            while let Some(window) = wheel.peek() {
                prop_assert_eq!(Some(&window), model.keys().next());
                wheel.advance_to(window);
                let mut all: Vec<usize> = wheel.iter().copied().collect();
                all.sort_unstable();
                let mut expected: Vec<usize> = model.values().flatten().flatten().copied().collect();
                expected.sort_unstable();
                prop_assert_eq!(all, expected);
                let due = [0, 1].map(|kind| {
                    let mut due = Vec::new();
                    wheel.take(window, kind, &mut due);
                    due.sort_unstable(); // those from beyond the rows may come after others
                    due
                });
                prop_assert_eq!(Some(due), model.remove(&window));
                for ahead in later.by_ref().take(3) {
                    add(&mut wheel, &mut model, window + ahead);
                }
            }
            prop_assert!(model.is_empty());
        }
    }

    /// Of 10,000 windows each has 40 events, which are added 20 windows before: that is 800 events
    /// at a time, two chunks a window.
    #[test]
    fn chunks_are_used_again() {
        let (mut wheel, mut due) = (TimingWheel::<u64, 1>::new(), Vec::new());
        for window in 0..10_000 {
            wheel.advance_to(window);
            due.clear();
            wheel.take(window, 0, &mut due);
            assert_eq!(due, vec![window; if window < 20 { 0 } else { 40 }]);
            (0..40).for_each(|_| *wheel.push(window + 20, 0) = window + 20);
        }
        assert_eq!(wheel.following.len(), 40);
    }

    /// Kind 1 is four windows ahead of kind 0, which decides the current window. The first events
    /// are beyond the rows.
    #[test]
    fn a_kind_may_be_taken_some_windows_ahead() {
        let mut wheel = TimingWheel::<u64, 2>::new();
        for window in 5_000..8_000 {
            (0..2).for_each(|kind| *wheel.push(window, kind) = window);
        }
        for now in 4_990..8_000 {
            wheel.advance_to(now);
            let mut due = Vec::new();
            wheel.take(now, 0, &mut due);
            wheel.take(now + 4, 1, &mut due);
            let expected = [now, now + 4].into_iter().filter(|window| (5_000..8_000).contains(window));
            assert_eq!(due, expected.collect::<Vec<_>>());
        }
        assert_eq!(wheel.peek(), None);
    }

    /// The row of an event that is not due before the run ends is that of its window still.
    #[test]
    fn events_may_come_back_in_the_current_window() {
        let mut wheel = TimingWheel::<char, 2>::new();
        *wheel.push(3000, 1) = 'a';
        assert_eq!(wheel.peek(), Some(3000));
        wheel.advance_to(3000);
        let mut due = Vec::new();
        wheel.take(3000, 1, &mut due);
        assert_eq!((due, wheel.peek()), (vec!['a'], None));
        *wheel.push(3000, 1) = 'b';
        assert_eq!(wheel.peek(), Some(3000));
    }
}
