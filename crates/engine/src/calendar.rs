use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// How many windows ahead the calendar has a row of bits for; what is later waits in a heap.
const ROWS: u64 = 128;

/// Which inputs are due in which window.
///
/// An input is whatever can wake a node: one of its incoming links, or its timers. Inputs are numbered so that those
/// of a node are neighbours; a row of bits per window then lists the due inputs grouped by node. A second
/// level of bits skips empty words, a third empty windows, so that silence costs nothing.
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
    /// One bit per row that is not empty. In halves: a shift of 128 bits takes as long as all else that waking an input does.
    occupied: [u64; 2],
    /// (window, input) beyond the rows.
    far: BinaryHeap<Reverse<(u64, u32)>>,
    /// What is left of the word being drained, and its index in the row.
    word: u64,
    word_index: usize,
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
            word: 0,
            word_index: 0,
        }
    }

    /// The window being run.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Wakes `input` in `window`, which is the current one only if its inputs are not being drained yet. Waking twice is waking once.
    #[inline]
    pub fn schedule(&mut self, window: u64, input: u32) {
        debug_assert!(window >= self.now, "window {window} is over (now {})", self.now);
        if window - self.now < ROWS {
            self.set(window, input);
        } else {
            self.far.push(Reverse((window, input)));
        }
    }

    #[inline]
    fn set(&mut self, window: u64, input: u32) {
        let row = (window % ROWS) as usize;
        let word = input as usize / 64;
        self.bits[row * self.words + word] |= 1 << (input % 64);
        self.summary[row * self.summary_words + word / 64] |= 1 << (word % 64);
        self.occupied[row / 64] |= 1 << (row % 64);
    }

    /// The next window in which something is due. The inputs of the current one must have been drained.
    pub fn peek(&self) -> Option<u64> {
        debug_assert!(self.word == 0);
        let occupied = self.occupied[0] as u128 | (self.occupied[1] as u128) << 64;
        let in_rows = (occupied != 0).then(|| {
            let ahead = occupied.rotate_right((self.now % ROWS) as u32).trailing_zeros();
            self.now + ahead as u64
        });
        let in_far = self.far.peek().map(|Reverse((w, _))| *w);
        match (in_rows, in_far) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// Moves to `window`, before which nothing is due.
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

    /// Takes the lowest-numbered input that is due in the current window.
    #[inline]
    pub fn next_due(&mut self) -> Option<u32> {
        if self.word == 0 && !self.load_word() {
            return None;
        }
        let bit = self.word.trailing_zeros();
        self.word &= self.word - 1;
        Some(self.word_index as u32 * 64 + bit)
    }

    fn load_word(&mut self) -> bool {
        let row = (self.now % ROWS) as usize;
        let summary = &mut self.summary[row * self.summary_words..][..self.summary_words];
        for (i, s) in summary.iter_mut().enumerate() {
            if *s != 0 {
                self.word_index = i * 64 + s.trailing_zeros() as usize;
                *s &= *s - 1;
                self.word = std::mem::take(&mut self.bits[row * self.words + self.word_index]);
                return true;
            }
        }
        self.occupied[row / 64] &= !(1 << (row % 64));
        false
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
                while let Some(i) = calendar.next_due() {
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
    fn jumps_over_silence() {
        let mut c = Calendar::new(1);
        c.schedule(1_000_000_000, 0);
        assert_eq!(c.peek(), Some(1_000_000_000));
        c.advance_to(1_000_000_000);
        assert_eq!(c.next_due(), Some(0));
        assert_eq!(c.next_due(), None);
        assert_eq!(c.peek(), None);
    }
}
