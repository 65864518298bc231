//! The calendar of due inputs: bits for near windows, a heap for the far future.

use crate::ones::ones;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The number of windows ahead for which the calendar has a row of bits; later inputs wait in a
/// heap.
const ROWS: u64 = 128;

/// Which inputs are due in which window.
///
/// An input can wake a node: it is one of its incoming links, or its timers. The inputs of a node
/// have neighbouring numbers, so that a row of bits per window lists the due inputs grouped by
/// node. A second level of bits skips empty words, a third level empty windows, so that silence
/// costs nothing.
#[derive(Debug)]
pub struct Calendar {
    /// The window being run.
    now: u64,
    words: usize,
    summary_words: usize,
    /// `ROWS` rows of one bit per input.
    bits: Vec<u64>,
    /// `ROWS` rows of one bit per word of `bits`.
    summary: Vec<u64>,
    /// One bit per row that is not empty. In halves: a shift of 128 bits would take as long as
    /// everything else that waking an input does.
    occupied: [u64; 2],
    /// (window, input) beyond the rows.
    far: BinaryHeap<Reverse<(u64, u32)>>,
}

impl Calendar {
    /// An empty calendar for inputs `0..inputs`, at window 0.
    pub fn new(inputs: usize) -> Calendar {
        let words = inputs.div_ceil(64).max(1);
        let summary_words = words.div_ceil(64);
        Calendar {
            now: 0,
            words,
            summary_words,
            bits: vec![0; words * ROWS as usize],
            summary: vec![0; summary_words * ROWS as usize],
            occupied: [0; 2],
            far: BinaryHeap::new(),
        }
    }

    /// The window being run.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Wakes `input` in `window`, which is the current one only if its inputs have not been taken
    /// yet. Waking twice is waking once.
    #[inline]
    pub fn schedule(&mut self, window: u64, input: u32) {
        debug_assert!(window >= self.now, "window {window} is over (now {})", self.now);
        if window - self.now < ROWS {
            self.set(window, input);
        } else {
            self.schedule_far(window, input);
        }
    }

    /// Out of line, so that the usual way stays short.
    #[cold]
    #[inline(never)]
    fn schedule_far(&mut self, window: u64, input: u32) {
        self.far.push(Reverse((window, input)));
    }

    #[inline]
    fn set(&mut self, window: u64, input: u32) {
        let row = (window % ROWS) as usize;
        let word = input as usize / 64;
        let bits = &mut self.bits[row * self.words + word];
        let was_empty = *bits == 0;
        *bits |= 1 << (input % 64);
        if was_empty {
            self.enter(row, word);
        }
    }

    /// Notes that `word` of `row` is not empty any more. In a busy network, most words have other
    /// bits already.
    #[inline(never)]
    fn enter(&mut self, row: usize, word: usize) {
        self.summary[row * self.summary_words + word / 64] |= 1 << (word % 64);
        self.occupied[row / 64] |= 1 << (row % 64);
    }

    /// The next window in which something is due. The inputs of the current one must have been
    /// taken.
    #[inline]
    pub fn peek(&self) -> Option<u64> {
        let in_rows = self.ahead().map(|ahead| self.now + ahead as u64);
        let in_far = self.far.peek().map(|Reverse((w, _))| *w);
        match (in_rows, in_far) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// How many windows ahead the first row is that is not empty.
    #[inline]
    fn ahead(&self) -> Option<u32> {
        let row = (self.now % ROWS) as u32;
        let (half, bit) = (row as usize / 64, row % 64);
        let (here, there) = (self.occupied[half], self.occupied[1 - half]);
        // In this half from this row on; in the other; in this one before the row, a turn later.
        if here >> bit != 0 {
            Some((here >> bit).trailing_zeros())
        } else if there != 0 {
            Some(64 - bit + there.trailing_zeros())
        } else {
            (here != 0).then(|| 128 - bit + here.trailing_zeros())
        }
    }

    /// Moves to `window`, before which nothing is due.
    #[inline]
    pub fn advance_to(&mut self, window: u64) {
        debug_assert!(self.peek().is_none_or(|next| window <= next));
        self.now = window;
        while let Some(Reverse((w, input))) = self.far.peek().copied() {
            if w - self.now >= ROWS {
                break;
            }
            self.far.pop();
            self.set(w, input);
        }
    }

    /// Takes the inputs that are due in the current window, in order.
    #[inline]
    pub fn take_due(&mut self, mut take: impl FnMut(u32)) {
        let row = (self.now % ROWS) as usize;
        self.occupied[row / 64] &= !(1 << (row % 64));
        let words = &mut self.bits[row * self.words..][..self.words];
        let summary = &mut self.summary[row * self.summary_words..][..self.summary_words];
        for (i, summary) in summary.iter_mut().enumerate() {
            for in_summary in ones(std::mem::take(summary)) {
                let index = i as u32 * 64 + in_summary;
                for bit in ones(std::mem::take(&mut words[index as usize])) {
                    take(index * 64 + bit);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// Against a set of pairs: every input comes up in its window, in order, once.
        #[test]
        fn is_an_ordered_set(ops in prop::collection::vec((0u64..400, 0u32..5000), 1..200)) {
            let mut calendar = Calendar::new(5000);
            let mut model = BTreeSet::new();
            let mut ops = ops.into_iter();
            for (w, i) in ops.by_ref().take(50) {
                calendar.schedule(w, i);
                model.insert((w, i));
            }
            while let Some(w) = calendar.peek() {
                calendar.advance_to(w);
                let mut due = Vec::new();
                calendar.take_due(|i| due.push(i));
                prop_assert!(!due.is_empty());
                for i in due {
                    prop_assert_eq!(model.pop_first(), Some((w, i)));
                    if let Some((ahead, j)) = ops.next() {
                        calendar.schedule(w + 1 + ahead, j);
                        model.insert((w + 1 + ahead, j));
                    }
                }
            }
            prop_assert!(model.is_empty());
        }
    }

    #[test]
    fn what_is_woken_in_the_current_window_is_due_in_it() {
        let mut c = Calendar::new(8);
        c.advance_to(100);
        assert_eq!(c.now(), 100);
        c.schedule(100, 7);
        let mut due = Vec::new();
        c.take_due(|input| due.push(input));
        assert_eq!(due, [7]);
    }

    /// The rows are a ring: window 130 has row 2, in the half of row 10 and before it.
    #[test]
    fn a_row_before_that_of_now_is_of_the_next_turn() {
        let mut c = Calendar::new(1);
        c.advance_to(10);
        c.schedule(130, 0);
        assert_eq!(c.peek(), Some(130));
    }

    #[test]
    fn jumps_over_silence() {
        let mut c = Calendar::new(1);
        c.schedule(1_000_000_000, 0);
        assert_eq!(c.peek(), Some(1_000_000_000));
        c.advance_to(1_000_000_000);
        let mut due = Vec::new();
        c.take_due(|input| due.push(input));
        assert_eq!(due, [0]);
        assert_eq!(c.peek(), None);
    }
}
