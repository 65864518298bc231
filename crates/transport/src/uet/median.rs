//! Median feedback (MNSCC; arXiv 2509.07907): a law hears the median of the last delays instead of the last
//! one. The source is the abstract, which names no number of delays.

use linkpool_units::Time;

/// The most delays of which a median is taken.
pub(super) const MOST: usize = 63;

/// The last delays of a sender.
#[derive(Clone, Debug)]
pub(super) struct Median {
    last: [Time; MOST],
    /// Those that are kept, those that there are, and the place of the next.
    kept: u8,
    count: u8,
    next: u8,
}

impl Median {
    /// Of `kept` delays.
    pub(super) fn new(kept: u8) -> Median {
        Median { last: [Time::ZERO; MOST], kept, count: 0, next: 0 }
    }

    /// The median of the last delays, `delay` included; of an even number the upper one.
    pub(super) fn of(&mut self, delay: Time) -> Time {
        self.last[usize::from(self.next)] = delay;
        self.next = (self.next + 1) % self.kept;
        self.count = (self.count + 1).min(self.kept);
        let mut all = self.last;
        let all = &mut all[..self.count.into()];
        let middle = all.len() / 2;
        *all.select_nth_unstable(middle).1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_three_is_in_the_middle() {
        let mut median = Median::new(3);
        let found = [5, 9, 1, 8, 8, 2].map(|us| median.of(Time::from_us(us)));
        assert_eq!(found, [5, 9, 5, 8, 8, 8].map(Time::from_us));
    }
}
