//! PINT's digest of a path's utilisation: what the ports of switches keep for it, and what they
//! write (Ben Basat et al., "PINT: Probabilistic In-band Network Telemetry", SIGCOMM 2020).
//!
//! "HPCC's repository" is alibaba-edu/High-Precision-Congestion-Control, commit 9f4be2a, of which
//! `pint.cc` and `switch-node.cc` in `simulation/src/point-to-point/model` have both.

use linkpool_engine::Stream;
use linkpool_units::{Rate, Time};
use rand::Rng;
use std::iter::successors;
use std::sync::Arc;

/// A digest of 0 says a utilisation of one by so many (`max_concurrent` of `pint.h`).
pub const LEAST_UTILISATION: f64 = 512.0;

/// How the digests of a network say utilisations.
#[derive(Clone, PartialEq, Debug)]
pub struct Digests {
    /// The time over which ports average.
    base_rtt: Time,
    /// The powers of the base, from 1 on, for as many as digests count.
    powers: Vec<f64>,
}

impl Digests {
    /// Digests of so many `bits`, at most 16, which count powers of `base`. Ports average over
    /// `base_rtt`.
    pub fn new(base: f64, bits: u32, base_rtt: Time) -> Digests {
        let powers = successors(Some(1.0), |power| Some(power * base));
        Digests { base_rtt, powers: powers.take(1 << bits).take_while(|power: &f64| power.is_finite()).collect() }
    }

    /// The digest that says `utilisation`: of the powers below and above, that with the mean that is
    /// right over all `draw`s from 0 to below 1 (`encode_u`). Above the largest power it is that.
    fn of(&self, utilisation: f64, draw: f64) -> u16 {
        let value = (utilisation * LEAST_UTILISATION).ceil().max(1.0);
        let above = self.powers.partition_point(|power| *power <= value);
        let lower = self.powers[above - 1];
        let rounds_up = self.powers.get(above).is_some_and(|upper| draw < (value - lower) / (upper - lower));
        (above - 1 + usize::from(rounds_up)) as u16
    }
}

/// The utilisation of a port's link, its queue included: an average over the base round-trip time.
#[derive(Debug)]
pub(crate) struct Utilisation {
    digests: Arc<Digests>,
    average: f64,
    /// When the last packet began to leave, and its bytes.
    last: (Time, u16),
    random: Stream,
}

impl Utilisation {
    pub(crate) fn new(digests: Arc<Digests>, random: Stream) -> Utilisation {
        Utilisation { digests, average: 0.0, last: (Time::ZERO, 0), random }
    }

    /// A packet of `size` bytes begins to leave at `now` on a link of `rate`, and leaves `queue` bytes
    /// behind. With T the base round-trip time, t the time since the packet before, B the rate, the
    /// average U becomes U (T - t)/T + bytes of the packet before/(B T) + queue t/(B T^2), with t no
    /// more than T: the comments of `SwitchNotifyDequeue`, which approximates this with logarithms
    /// of 15 binary digits, a queue in units of 256 bytes, and U in units of 1/8192.
    pub(crate) fn note(&mut self, (now, size): (Time, u16), queue: u64, rate: Rate) {
        let base_rtt = self.digests.base_rtt.0 as f64;
        let (last, bytes) = self.last;
        let part = ((now - last).0 as f64 / base_rtt).min(1.0);
        // Of what the link sends in T.
        let share = |bytes: f64| bytes * 8e12 / (rate.0 as f64 * base_rtt);
        self.average = self.average * (1.0 - part) + share(bytes.into()) + share(queue as f64) * part;
        self.last = (now, size);
    }

    /// A digest of it.
    pub(crate) fn digest(&mut self) -> u16 {
        self.digests.of(self.average, self.random.random())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkpool_engine::stream;
    use proptest::prelude::*;

    const T: Time = Time::from_us(10);

    fn digests() -> Digests {
        Digests::new(1.05, 8, T)
    }

    /// By hand: 512 x 0.5 = 256, between 1.05^113 = 247.97 and 1.05^114 = 260.36: rounded up in 8.03 of 12.40
    /// cases. 512 x 0.0001 is rounded up to 1, the power 0, and so is an idle link. 2 is between 1.05^14 = 1.97993
    /// and 1.05^15 = 2.07893: up in 0.02007 of 0.09900. Of 8 bits the largest digest is 255: 1.05^255/512 = 494.
    #[test]
    fn digests_are_powers_of_the_base() {
        let digests = digests();
        assert_eq!(digests.powers.len(), 256);
        let at = |utilisation, draw| digests.of(utilisation, draw);
        assert_eq!([at(0.5, 0.0), at(0.5, 0.648), at(0.5, 0.649), at(0.5, 0.999)], [114, 114, 113, 113]);
        assert_eq!([at(0.0, 0.0), at(1e-4, 0.0), at(1.0 / 512.0, 0.0)], [0; 3]);
        assert_eq!([at(2.0 / 512.0, 0.202), at(2.0 / 512.0, 0.203)], [15, 14]);
        // 1.01 of 512 is 2 of 512.
        assert_eq!([at(1.01 / 512.0, 0.202), at(1.01 / 512.0, 0.203)], [15, 14]);
        assert_eq!([at(490.0, 0.0), at(490.0, 0.999), at(495.0, 0.0), at(1e9, 0.0)], [255, 254, 255, 255]);
    }

    /// Whole powers of two are said as they are; a digest of two bits has no more than four.
    #[test]
    fn bits_bound_digests() {
        let digests = Digests::new(8.0, 2, T);
        assert_eq!(digests.powers, [1.0, 8.0, 64.0, 512.0]);
        let at = |utilisation| [0.0, 0.999].map(|draw| digests.of(utilisation, draw));
        assert_eq!([at(1.0 / 64.0), at(1.0 / 8.0), at(1.0), at(3.0)], [[1; 2], [2; 2], [3; 2], [3; 2]]);
        assert_eq!([digests.of(0.5, 0.428), digests.of(0.5, 0.429)], [3, 2], "192 of 448");
        // Powers that no number holds are left out.
        assert_eq!(Digests::new(16.0, 16, T).powers.len(), 256);
    }

    /// By hand, at 100 Gbit/s with T = 10 us, in which the link sends 125,000 B. The first packet, of 1,250 B, has only
    /// its queue: 2,500 B for all of T, 0.02. 1 us later the next adds 1,250 B and a queue of 25,000 B for a tenth:
    /// 0.02 x 0.9 + 0.01 + 0.2 x 0.1 = 0.048. 4 us later: 0.048 x 0.6 + 0.02 (2,500 B) + 0 = 0.0488. After 30 us all
    /// is forgotten but the packet before, 100 B, and the queue: 0.0008 + 0.1.
    #[test]
    fn a_port_averages_over_the_base_round_trip_time() {
        let rate = Rate::gbps(100);
        let mut port = Utilisation::new(digests().into(), stream(1, "pint", 0));
        let mut at = |us, size, queue| {
            port.note((Time::from_us(us), size), queue, rate);
            port.average
        };
        let found = [at(20, 1_250, 2_500), at(21, 2_500, 25_000), at(25, 100, 0), at(55, 9, 12_500)];
        for (found, expected) in found.into_iter().zip([0.02, 0.048, 0.0488, 0.1008]) {
            assert!((found / expected - 1.0_f64).abs() < 1e-12, "{found} {expected}");
        }
        // A link of a quarter of the rate is used four times as much.
        let mut slow = Utilisation::new(digests().into(), stream(1, "pint", 0));
        slow.note((Time::from_us(20), 1_250), 2_500, Rate::gbps(25));
        assert!((slow.average - 0.08).abs() < 1e-12, "{}", slow.average);
    }

    /// A full link without a queue has 1, whatever its packets; with a queue of half of the product 1.5.
    #[test]
    fn a_full_link_has_one() {
        for (queue, expected) in [(0, 1.0), (62_500, 1.5)] {
            let mut port = Utilisation::new(digests().into(), stream(1, "pint", 0));
            let mut now = Time::ZERO;
            for packet in 0..2_000u64 {
                let size = 64 + (packet * 937 % 1_400) as u16;
                port.note((now, size), queue, Rate::gbps(100));
                now += Rate::gbps(100).time_of(size.into());
            }
            assert!((port.average - expected).abs() < 0.001, "{} {expected}", port.average);
        }
    }

    /// Digests drawn by a port have the mean that is right, to four standard errors.
    #[test]
    fn the_mean_of_digests_is_right() {
        for (base, bits) in [(1.05, 8), (2.0, 5), (8.0, 2)] {
            let digests = Arc::new(Digests::new(base, bits, T));
            for utilisation in [0.013, 0.37, 0.95, 0.999] {
                let mut port = Utilisation::new(digests.clone(), stream(7, "pint", 1));
                port.average = utilisation;
                let said: Vec<f64> = (0..40_000).map(|_| base.powi(port.digest().into())).collect();
                let mean = said.iter().sum::<f64>() / 4e4;
                let variance = said.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / 4e4;
                let right = (utilisation * 512.0_f64).ceil();
                assert!(
                    (mean - right).abs() <= 4.0 * (variance / 4e4).sqrt() + 1e-9,
                    "{base} {utilisation}: {mean} {right}"
                );
            }
        }
    }

    proptest! {
        /// More utilisation has no smaller digest, for each draw; a digest is within one power of what it says.
        #[test]
        fn digests_grow_with_utilisation(
            (base, bits) in (1.001..4.0, 1u32..=16), (one, other) in (0.0..600.0, 0.0..600.0), draw in 0.0..1.0,
        ) {
            let digests = Digests::new(base, bits, T);
            let (less, more) = if one < other { (one, other) } else { (other, one) };
            prop_assert!(digests.of(less, draw) <= digests.of(more, draw));
            let (digest, value) = (usize::from(digests.of(one, draw)), (one * 512.0_f64).ceil().max(1.0));
            let power = digests.powers[digest];
            let largest = *digests.powers.last().unwrap();
            prop_assert!(power < value * base || power == 1.0);
            prop_assert!(power * base > value || power == largest);
        }
    }
}
