//! Oblivious spraying: each entropy value once a round, in another order each round (uec_mp.cpp,
//! `UecMpOblivious`).

/// The values of a round: a counter, with some of its bits turned over.
#[derive(Debug)]
pub struct Oblivious {
    entropies: u16,
    count: u16,
    turned: u16,
}

impl Oblivious {
    pub(super) fn new(entropies: u16, drawn: u32) -> Oblivious {
        debug_assert!(entropies.is_power_of_two());
        Oblivious { entropies, count: 0, turned: drawn as u16 & (entropies - 1) }
    }

    #[inline]
    pub(super) fn next(&mut self, mut random: impl FnMut(u32) -> u32) -> u16 {
        let value = self.count ^ self.turned;
        self.count += 1;
        if self.count == self.entropies {
            (self.count, self.turned) = (0, random(self.entropies.into()) as u16);
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With 8 values turned over by 5 and then by 3.
    #[test]
    fn each_value_comes_once_a_round() {
        let mut drawn = [3, 0].into_iter();
        let mut random = |n| {
            assert_eq!(n, 8);
            drawn.next().unwrap()
        };
        let mut balancer = Oblivious::new(8, 16 + 5);
        let values: Vec<u16> = (0..16).map(|_| balancer.next(&mut random)).collect();
        assert_eq!(values, [5, 4, 7, 6, 1, 0, 3, 2, 3, 2, 1, 0, 7, 6, 5, 4]);
    }
}
