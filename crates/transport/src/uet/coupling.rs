//! What the subflows of a connection make of each other's windows: coupled increase.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the increases of subflows are coupled.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Coupling {
    /// By windows.
    #[default]
    Amp,
    /// By windows and round-trip times.
    Lia,
    /// Not at all.
    Uncoupled,
}

impl Coupling {
    /// The part of an additive increase that is made by a subflow whose window and round-trip time are `of`; `all`
    /// are those of all subflows that send, itself included.
    pub(super) fn part(self, of: (f64, f64), all: impl Iterator<Item = (f64, f64)>) -> f64 {
        match self {
            Coupling::Uncoupled => 1.0,
            // Kheirkhah and Lee, Algorithm 1, line 25: 1 / w_total instead of 1 / w_s.
            Coupling::Amp => of.0 / all.map(|(window, _)| window).sum::<f64>(),
            // RFC 6356, section 3: min(alpha / w_total, 1 / w_s), with alpha by equation 2, of which w_total cancels
            // out.
            Coupling::Lia => {
                let (mut best, mut sum) = (0.0_f64, 0.0);
                for (window, rtt) in all {
                    best = best.max(window / (rtt * rtt));
                    sum += window / rtt;
                }
                (of.0 * best / (sum * sum)).min(1.0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(coupling: Coupling, all: &[(f64, f64)]) -> Vec<f64> {
        all.iter().map(|of| coupling.part(*of, all.iter().copied())).collect()
    }

    /// Windows of 10, 30 and 60 kB.
    #[test]
    fn amp_shares_an_increase_by_windows() {
        let all = [(10e3, 12e-6), (30e3, 9e-6), (60e3, 40e-6)];
        assert_eq!(part(Coupling::Amp, &all), [0.1, 0.3, 0.6]);
        assert_eq!(part(Coupling::Uncoupled, &all), [1.0; 3]);
    }

    /// RFC 6356 by hand. Equal windows w and times r: alpha = 2w (w/r²) / (2w/r)² = 1/2, so 1/4 of 1/w is made by each.
    /// 4 at 100 us and 16 at 400 us: alpha / w_total = max(4e8, 1e8) / (8e4)² = 1/16: 4/16 of 1/4, and all of 1/16.
    /// 40 at 100 us and 2 at 10 us: alpha / w_total = 2e10 / (6e5)² = 1/18, above 1/40: nothing is taken from the first,
    /// and 2/18 of 1/2 is made by the second.
    #[test]
    fn lia_is_that_of_the_rfc() {
        let near = |found: Vec<f64>, expected: [f64; 2]| {
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?} {expected:?}");
        };
        near(part(Coupling::Lia, &[(5e4, 2e-5); 2]), [0.25; 2]);
        near(part(Coupling::Lia, &[(4.0, 1e-4), (16.0, 4e-4)]), [0.25, 1.0]);
        near(part(Coupling::Lia, &[(40.0, 1e-4), (2.0, 1e-5)]), [1.0, 1.0 / 9.0]);
    }

    #[test]
    fn one_subflow_is_not_held_back() {
        for coupling in [Coupling::Amp, Coupling::Lia, Coupling::Uncoupled] {
            assert!((part(coupling, &[(123_456.7, 1.3e-5)])[0] - 1.0).abs() < 1e-12);
        }
    }
}
