//! Experts of a mixture-of-experts model, spread over the decode instances.

use linkpool_engine::Stream;
use rand::Rng;

/// The experts of each layer, and what tokens cost on their way to them and back.
#[derive(Clone, PartialEq, Debug)]
pub struct Experts {
    /// By expert: how much more often a token chooses it than one of weight 1. Expert e is on
    /// decode instance e mod D of D.
    pub weights: Vec<f64>,
    /// The different experts that each token chooses.
    pub top_k: u32,
    /// Layers with experts: exchanges of a step.
    pub layers: u32,
    /// Bytes of a token on the way to an expert.
    pub dispatch: u64,
    /// Bytes of a token on the way back.
    pub combine: u64,
    /// The computation of a host for each token that comes to one of its experts.
    pub per_token: linkpool_units::Time,
}

/// The weights of `number` experts by Zipf's law with this exponent: expert e, from 0, has (e +
/// 1)^-exponent. An exponent of 0 makes all alike.
pub fn zipf(number: u32, exponent: f64) -> Vec<f64> {
    (1..=number).map(|rank| f64::from(rank).powf(-exponent)).collect()
}

impl Experts {
    /// By decode instance of `instances`: how often one of its experts is chosen by `tokens`
    /// tokens. Each token draws one expert after another by their weights, none twice.
    pub fn choose(&self, tokens: u32, instances: usize, random: &mut Stream) -> Vec<u32> {
        let mut chosen = vec![0; instances];
        let all: f64 = self.weights.iter().sum();
        let mut taken = Vec::with_capacity(self.top_k as usize);
        for _ in 0..tokens {
            taken.clear();
            let mut left = all;
            for _ in 0..self.top_k {
                let expert = self.draw(random.random::<f64>() * left, &taken);
                left -= self.weights[expert];
                taken.push(expert);
                chosen[expert % instances] += 1;
            }
        }
        chosen
    }

    /// The expert at which the sum of the weights of those that are not `taken` passes `at`.
    /// Rounding may leave `at` above all sums: then it is the last.
    fn draw(&self, mut at: f64, taken: &[usize]) -> usize {
        let mut last = 0;
        for (expert, weight) in self.weights.iter().enumerate() {
            if *weight > 0.0 && !taken.contains(&expert) {
                last = expert;
                at -= weight;
                if at < 0.0 {
                    break;
                }
            }
        }
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkpool_engine::stream;
    use linkpool_units::Time;
    use proptest::prelude::*;

    fn experts(weights: Vec<f64>, top_k: u32) -> Experts {
        Experts { weights, top_k, layers: 1, dispatch: 1, combine: 1, per_token: Time::ZERO }
    }

    /// 1, 1/2, 1/3, 1/4; squares; and all alike.
    #[test]
    fn weights_follow_zipfs_law() {
        assert_eq!(zipf(4, 1.0), [1.0, 1.0 / 2.0, 1.0 / 3.0, 1.0 / 4.0]);
        assert_eq!(zipf(3, 2.0), [1.0, 0.25, 1.0 / 9.0]);
        assert_eq!(zipf(3, 0.0), [1.0; 3]);
    }

    /// With one expert a token and Zipf's law, the shares are the weights over their sum, 25/12 for
    /// four: 12/25, 6/25, 4/25, 3/25. Experts 0 and 2 are on host 0 of two: 16/25.
    #[test]
    fn tokens_choose_experts_by_their_weights() {
        let mut random = stream(1, "experts", 0);
        let tokens = 250_000;
        for (hosts, shares) in [(4, vec![12.0, 6.0, 4.0, 3.0]), (2, vec![16.0, 9.0])] {
            let chosen = experts(zipf(4, 1.0), 1).choose(tokens, hosts, &mut random);
            assert_eq!(chosen.iter().sum::<u32>(), tokens);
            for (found, share) in chosen.iter().zip(shares) {
                let expected = share / 25.0 * f64::from(tokens);
                // Five standard deviations of a share of a half.
                assert!((f64::from(*found) - expected).abs() < 1_250.0, "{found} of {expected}");
            }
        }
    }

    /// Two of three experts with weights 2, 1, 1: expert 0 is left out if the two draws are 1 and 2
    /// in either order, each 1/4 of 1/3 (the others then have 2 and 1): 1/6. So it has 5/6, and the
    /// others share 2 - 5/6: 7/12 each.
    #[test]
    fn a_token_chooses_different_experts() {
        let tokens = 120_000;
        let chosen = experts(vec![2.0, 1.0, 1.0], 2).choose(tokens, 3, &mut stream(2, "experts", 0));
        for (found, share) in chosen.iter().zip([10.0, 7.0, 7.0]) {
            assert!((f64::from(*found) - share * 10_000.0).abs() < 900.0, "{chosen:?}");
        }
    }

    proptest! {
        /// All experts, if a token chooses as many; none without weight; and top_k a token in all.
        #[test]
        fn choices_add_up(weights in prop::collection::vec(0u8..4, 1..12), tokens in 0u32..20, hosts in 1usize..5, seed: u64) {
            let weights: Vec<f64> = weights.into_iter().map(f64::from).collect();
            let some = weights.iter().filter(|weight| **weight > 0.0).count();
            prop_assume!(some > 0);
            for top_k in [1, some] {
                let experts = experts(weights.clone(), top_k as u32);
                let chosen = experts.choose(tokens, weights.len(), &mut stream(seed, "experts", 0));
                prop_assert_eq!(chosen.iter().sum::<u32>(), tokens * top_k as u32);
                for (of, weight) in chosen.iter().zip(&weights) {
                    prop_assert!(*of <= tokens && (*weight > 0.0 || *of == 0));
                    prop_assert!(top_k < some || *weight == 0.0 || *of == tokens);
                }
                let by_host = experts.choose(tokens, hosts, &mut stream(seed, "experts", 0));
                for (host, of) in by_host.iter().enumerate() {
                    prop_assert_eq!(*of, chosen.iter().skip(host).step_by(hosts).sum::<u32>());
                }
            }
        }
    }
}
