//! Penalties by entropy value (uec_mp.cpp, `UecMpBitmap`): values that were marked, trimmed or lost are
//! skipped for a while.

use super::{Feedback, oblivious::Oblivious};

/// The largest penalty (`_max_penalty`).
const MOST: u8 = 15;

/// The values of a round, with the penalty of each.
#[derive(Debug)]
pub struct Bitmap {
    rounds: Oblivious,
    penalties: Box<[u8]>,
}

impl Bitmap {
    pub(super) fn new(entropies: u16, drawn: u32) -> Bitmap {
        Bitmap { rounds: Oblivious::new(entropies, drawn), penalties: vec![0; entropies.into()].into() }
    }

    /// The next value without a penalty. The first value that has one loses 1 of it; those behind it are
    /// only skipped. If all have one, it is the value after a round.
    pub(super) fn next(&mut self, mut random: impl FnMut(u32) -> u32) -> u16 {
        let mut value = self.rounds.next(&mut random);
        if self.penalties[usize::from(value)] > 0 {
            self.penalties[usize::from(value)] -= 1;
            for _ in 0..self.penalties.len() {
                value = self.rounds.next(&mut random);
                if self.penalties[usize::from(value)] == 0 {
                    break;
                }
            }
        }
        value
    }

    pub(super) fn on_feedback(&mut self, entropy: u16, feedback: Feedback) {
        let more = match feedback {
            Feedback::Good => return,
            Feedback::Marked => 1,
            Feedback::Trimmed => 4,
            Feedback::Lost => MOST,
        };
        let penalty = &mut self.penalties[usize::from(entropy)];
        *penalty = (*penalty + more).min(MOST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the values 0 to 3 in order, 1 has a mark, 2 was trimmed.
    #[test]
    fn values_with_penalties_are_skipped() {
        let mut balancer = Bitmap::new(4, 0);
        balancer.on_feedback(1, Feedback::Marked);
        balancer.on_feedback(2, Feedback::Trimmed);
        balancer.on_feedback(0, Feedback::Good);
        let round = |balancer: &mut Bitmap, n| (0..n).map(|_| balancer.next(|_| 0)).collect::<Vec<_>>();
        // 1 is the first with a penalty, and has none afterwards; 2 behind it is skipped, and keeps its four.
        assert_eq!(round(&mut balancer, 2), [0, 3]);
        assert_eq!((balancer.penalties[1], balancer.penalties[2]), (0, 4));
        for left in (0..4).rev() {
            assert_eq!(round(&mut balancer, 3), [0, 1, 3]);
            assert_eq!(balancer.penalties[2], left);
        }
        assert_eq!(round(&mut balancer, 4), [0, 1, 2, 3]);
    }

    /// No penalty is above 15. If all values have one, one of them is taken all the same.
    #[test]
    fn a_value_is_found_if_all_have_penalties() {
        let mut balancer = Bitmap::new(2, 1);
        for entropy in [0, 1, 1] {
            balancer.on_feedback(entropy, Feedback::Lost);
        }
        assert_eq!(balancer.penalties[..], [15, 15]);
        let first = balancer.next(|_| 0);
        assert!(first < 2);
        assert_eq!(balancer.penalties.iter().sum::<u8>(), 29);
        for _ in 0..29 {
            balancer.next(|_| 0);
        }
        assert_eq!(balancer.penalties.iter().sum::<u8>(), 0);
    }
}
