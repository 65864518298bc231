//! HPCC with PINT: a window by the most utilised link of the path, of which each packet brings a
//! digest in place of all that its switches know.

use super::target_window::{TargetWindow, TargetWindowConfig};
use super::{Ack, Path, RateLaw};
use linkpool_settings::{Bounds, settings};
use linkpool_units::Time;

/// A digest of 0 says a utilisation of one by so many (`max_concurrent` of `pint.h` in HPCC's
/// repository).
pub const LEAST_UTILISATION: f64 = 512.0;

settings! {
    /// Parameters of PINT's digests.
    pub struct PintConfig {
        /// Digests count powers of this: 1.05, which is (1 + the error)^2 for an error of 2.5%
        /// (`PINT_LOG_BASE` of HPCC's repository).
        base "pint_base": f64 = 1.05,
            within Bounds::from(1.001, "{} is no base; it is at least 1.001 and at most 16").to(16.0);
        /// Bits of a digest: as many as say up to a utilisation of 512 (`get_n_bits` of HPCC's
        /// repository): 8 for 1.05, 11 for 1.01. A packet has 2 B for it, whatever its bits.
        bits "pint_bits": Option<u32>, from |p| Some(bits_of(p.base)) => "of `pint_base`",
            within Bounds::from(1.0, "{} bits are no digest; it has 1 to 16").to(16.0),
            refused |p| p.base > 1.0 && p.most() < 1.0 => format!(
                "digests of {} bits with the base {} say utilisations of {:.2} at most, and a full link has 1; write at least {} \
                 bits, or leave it out for {}",
                p.bits(), p.base, p.most(), p.fewest(), bits_of(p.base)
            );
        /// The probability with which a sender heeds the digest of an answer: 1 (`PINT_PROB` of HPCC's
        /// repository).
        probability "pint_probability": f64 = 1.0,
            within Bounds::above(0.0, "{} is no probability of an answer; it is above 0 and at most 1").to(1.0);
        /// The base round-trip time of switches, T, over which each port averages its utilisation. By
        /// default that of a full packet and its ACK between the hosts that are farthest apart, on idle
        /// links (`MaxRtt` of HPCC's repository).
        base_rtt "pint_base_rtt": Option<Time>, from |_p| None => "of the topology", within Bounds::POSITIVE_SPAN;
    }
}

/// The bits of digests with this base: those of the largest, which says 512 (`get_n_bits`). A base that is refused has some, too.
fn bits_of(base: f64) -> u32 {
    ((LEAST_UTILISATION * LEAST_UTILISATION).ln() / base.ln()).log2().ceil().clamp(1.0, 16.0) as u32
}

impl PintConfig {
    /// The bits of a digest.
    pub fn bits(&self) -> u32 {
        self.bits.unwrap_or(bits_of(self.base))
    }

    /// The largest utilisation that a digest says.
    fn most(&self) -> f64 {
        self.base.powf(f64::from(self.bits()).exp2() - 1.0) / LEAST_UTILISATION
    }

    /// The fewest bits with which a digest says that a link is full.
    fn fewest(&self) -> u32 {
        (LEAST_UTILISATION.ln() / self.base.ln() + 1.0).log2().ceil() as u32
    }
}

/// HPCC by digests at the sender (`HandleAckHpPint` and `UpdateRateHpPint` of HPCC's repository; Ben
/// Basat et al., "PINT", SIGCOMM 2020). The window is [`TargetWindow`], as HPCC's; U is what the
/// latest digest says, which switches have averaged.
#[derive(Debug)]
pub struct HpccPint {
    to: TargetWindow,
    /// The base of digests.
    base: f64,
}

impl HpccPint {
    pub(super) fn new((window, config): (TargetWindowConfig, PintConfig), path: Path) -> HpccPint {
        HpccPint { to: TargetWindow::new(&window, path), base: config.base }
    }
}

impl RateLaw for HpccPint {
    fn rate(&self) -> f64 {
        self.to.rate()
    }

    fn window(&self) -> Option<u64> {
        Some(self.to.bytes())
    }

    /// The first digest is only remembered.
    fn on_ack(&mut self, ack: &Ack<'_>) {
        let Some(digest) = ack.digest else { return };
        if self.to.updated_at.is_none() {
            return self.to.begin(ack);
        }
        // `decode_u`.
        let utilisation = self.base.powi(digest.into()) / LEAST_UTILISATION;
        self.to.step(utilisation, ack, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkpool_settings::{Preset, Settings};
    use linkpool_units::Rate;

    /// At 100 Gbit/s with T = 10 us: W begins at 125,000 B, and W_AI is 62.5 B.
    fn law(stages: u32) -> HpccPint {
        let window = TargetWindowConfig { stages, ..Settings::defaults(Preset::Linux) };
        HpccPint::new((window, Settings::defaults(Preset::Linux)), Path::of(Rate::gbps(100), Time::from_us(10)))
    }

    /// An ACK that makes `next` the first missing packet, when `next_new` is the next new one.
    fn ack(law: &mut HpccPint, next: u32, next_new: u32, digest: Option<u16>) {
        law.on_ack(&Ack { next, next_new, digest, ..Ack::default() });
    }

    fn close(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
    }

    /// By hand: 1.05^128/512 = 1.00684 and 1.05^126/512 = 0.913233. The first is above 0.95: W = 125,000 x 0.95/1.00684 +
    /// 62.5 = 118,005.8. The second is below, and adds 62.5 B to the reference.
    #[test]
    fn the_window_follows_digests() {
        let mut law = law(5);
        assert_eq!((law.rate(), law.window()), (1e11, Some(125_000)));
        ack(&mut law, 1, 100, Some(200));
        assert_eq!((law.window(), law.to.updated_at), (Some(125_000), Some(100)), "the first is only remembered");
        // Within the round the window moves, and the reference stays.
        ack(&mut law, 100, 150, Some(128));
        close(law.to.window, 118_005.806_340_3);
        assert_eq!((law.to.reference, law.to.stage, law.to.updated_at), (125_000.0, 0, Some(100)));
        ack(&mut law, 100, 150, Some(126));
        close(law.to.window, 125_000.0);
        ack(&mut law, 101, 190, Some(128));
        close(law.to.reference, 118_005.806_340_3);
        assert_eq!((law.window(), law.to.updated_at), (Some(118_005), Some(190)));
        close(law.rate(), 118_005.806_340_3 * 8e5);
        ack(&mut law, 191, 260, Some(126));
        close(law.to.window, 118_005.806_340_3 + 62.5);
        assert_eq!((law.to.stage, law.to.updated_at), (1, Some(260)));
        // An answer without a digest, or one that is not heeded, tells nothing.
        ack(&mut law, 400, 500, None);
        assert_eq!((law.to.stage, law.to.updated_at), (1, Some(260)));
    }

    /// As HPCC's repository ships it, each answer goes to the target: 0.913233 lets the window grow by 0.95/0.913233, to
    /// its bound. 0 says 1/512.
    #[test]
    fn without_stages_the_window_goes_both_ways() {
        let mut law = law(0);
        (law.to.window, law.to.reference) = (80_000.0, 80_000.0);
        ack(&mut law, 1, 10, Some(0));
        ack(&mut law, 11, 20, Some(126));
        close(law.to.window, 80_000.0 * 0.95 / 0.913_233_263_58 + 62.5);
        ack(&mut law, 21, 30, Some(0));
        assert_eq!(law.window(), Some(125_000));
        ack(&mut law, 31, 40, Some(u16::MAX));
        assert_eq!(law.window(), Some(125), "the window of the least rate");
    }

    /// By hand: ln(512^2)/ln(1.05) = 255.7, 8 bits; with 1.01 1,254, 11 bits; with 16 4.5, 3 bits. For 1 a digest of 1.05 counts
    /// to 127.9, which are 8 bits (127 = 2^7 - 1 is not enough); of 1.3 to 23.8, 5 bits; of 16 to 2.25, 2 bits.
    #[test]
    fn bits_follow_from_the_base() {
        let with = |base, bits| PintConfig { base, bits, ..Settings::defaults(Preset::Linux) };
        assert_eq!([1.05, 1.01, 2.0, 16.0].map(|base| with(base, None).bits()), [8, 11, 5, 3]);
        assert_eq!([1.05, 1.3, 16.0].map(|base| with(base, Some(1)).fewest()), [8, 5, 2]);
        for base in [1.05, 1.3, 16.0] {
            let fewest = with(base, None).fewest();
            assert!(with(base, Some(fewest)).most() >= 1.0 && with(base, Some(fewest - 1)).most() < 1.0, "{base}");
        }
        close(with(1.05, None).most(), 494.312_168_754_4);
        close(with(2.0, Some(4)).most(), 64.0);
    }
}
