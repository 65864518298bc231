//! Helpers for tests of the transport: settings, a scripted peer, a hostile channel.

pub mod channel;
pub mod ledger;
pub mod opened;
pub mod script;

use linkpool_settings::Preset;
use linkpool_transport::control::{
    AckOrder, Algorithm, AmpConfig, ControlConfig, CubicConfig, CubicRules, CutConfig, DctcpConfig, EwtcpConfig,
    EwtcpIncrease, Floor, FullyCoupledConfig, Release, SemiCoupledConfig, Signal, XmpConfig,
};
use linkpool_transport::{Buffers, Config, DupackThreshold, LossRecovery, Multipath, Pacing, RttConfig, SubflowId};
use linkpool_units::Time;

/// The numbers of subflows.
pub const S: [SubflowId; 6] =
    [SubflowId::FIRST, SubflowId::new(1), SubflowId::new(2), SubflowId::new(3), SubflowId::new(4), SubflowId::new(5)];

pub const FLOOR: Floor = Floor { cwnd_min: 2.0 };
pub const DCTCP: DctcpConfig =
    DctcpConfig { alpha0: 0.0, g: 1.0 / 16.0, floor: FLOOR, ack_order: AckOrder::CutInsteadOfGrowth };
pub const CUT: CutConfig = CutConfig { beta: 4.0, floor: FLOOR, ack_order: AckOrder::CutInsteadOfGrowth };
pub const XMP: XmpConfig = XmpConfig { cut: CUT, ssthresh_below: false };
pub const AMP: AmpConfig =
    AmpConfig { cut: CUT, gamma: 2, tau: 8, suppression: true, release: Release::Rounds, signal: Signal::Marks };
pub const FULLY_COUPLED: FullyCoupledConfig = FullyCoupledConfig { loss_floor: 2.0 };
pub const SEMI_COUPLED: SemiCoupledConfig = SemiCoupledConfig { aggressiveness: 1.0 };
pub const CUBIC: CubicConfig =
    CubicConfig { c: 0.4, beta: 0.7, fast_convergence: true, hystart: false, rules: CubicRules::Rfc9438 };

/// Every algorithm of windows of whole packets, with the papers' parameters.
pub fn algorithms() -> Vec<(&'static str, ControlConfig)> {
    vec![
        ("reno", ControlConfig::Reno(())),
        ("dctcp", ControlConfig::Dctcp(DCTCP)),
        ("lia", ControlConfig::Lia(())),
        ("dcm", ControlConfig::Dcm(DCTCP)),
        ("mptcp-cut", ControlConfig::MptcpCut(CUT)),
        ("xmp", ControlConfig::Xmp(XMP)),
        ("amp", ControlConfig::Amp(AMP)),
        ("olia", ControlConfig::Olia(())),
        ("balia", ControlConfig::Balia(())),
        ("ewtcp", ControlConfig::Ewtcp(EwtcpConfig { increase: EwtcpIncrease::InverseSquare })),
        ("fully-coupled", ControlConfig::FullyCoupled(FULLY_COUPLED)),
        ("semi-coupled", ControlConfig::SemiCoupled(SEMI_COUPLED)),
        ("uncoupled", ControlConfig::Uncoupled(())),
        ("cubic", ControlConfig::Cubic(CUBIC)),
    ]
}

/// These, and the algorithms that pace.
pub fn with_rates() -> Vec<(&'static str, ControlConfig)> {
    let [swift, bbr] = [Algorithm::Swift, Algorithm::Bbr].map(|it| (it.name(), ControlConfig::of(it, Preset::Linux)));
    algorithms().into_iter().chain([swift, bbr]).collect()
}

/// Round numbers: 1,000 B segments, an initial window of 1, an ACK per packet, constants of RFC
/// 6298.
pub fn config(control: ControlConfig) -> Config {
    Config {
        control,
        subflows: 1,
        mss: 1000,
        initial_window: 1,
        initial_ssthresh: u64::MAX,
        rtt: RttConfig {
            min_rto: Time::from_ms(200),
            initial_rto: Time::from_secs(1),
            max_rto: Time::from_secs(60),
            max_backoff: 64,
            srtt_gain: 0.125,
            rttvar_gain: 0.25,
            rto_above_srtt: false,
        },
        handshake_sample: true,
        syn_timeout: Time::from_secs(1),
        slow_start_after_idle: true,
        syn_retries: 6,
        fail_after: u32::MAX,
        recovery: LossRecovery::NewReno,
        undo: false,
        cut_in_recovery: true,
        dupack_threshold: DupackThreshold::Acks(3),
        limited_transmit: false,
        byte_counting: false,
        byte_counting_limit: u32::MAX,
        ack_every: 1,
        ack_delay: Time::from_ms(40),
        quickack: false,
        push_acks: false,
        join_jitter: Time::ZERO,
        buffers: Buffers::default(),
        multipath: Multipath::default(),
        accept_ecn: true,
        pacing: Pacing::Control,
    }
}

pub fn reno() -> Config {
    config(ControlConfig::Reno(()))
}

/// `cases` random cases, 200 times as many if `LINKPOOL_LONG=1`, or as many as `LINKPOOL_CASES` (or
/// proptest's own `PROPTEST_CASES`) says. A case that fails is printed, and replayed from
/// `tests/proptest-regressions` from then on.
pub fn cases(cases: u32) -> proptest::test_runner::Config {
    let asked = ["LINKPOOL_CASES", "PROPTEST_CASES"].iter().find_map(|name| std::env::var(name).ok());
    let long = std::env::var("LINKPOOL_LONG").is_ok_and(|long| long == "1");
    let usual = if long { 200 * cases } else { cases };
    let cases = asked.map_or(usual, |n| n.parse().expect("LINKPOOL_CASES is a number"));
    proptest::test_runner::Config { cases, ..Default::default() }
}

/// SplitMix64: a random source that is the same everywhere.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// True once in `1/p`.
    pub fn chance(&mut self, p: f64) -> bool {
        ((self.next() >> 11) as f64) < p * (1u64 << 53) as f64
    }

    /// Uniform in `0..=most`.
    pub fn time(&mut self, most: Time) -> Time {
        Time(self.next() % (most.0 + 1))
    }
}
