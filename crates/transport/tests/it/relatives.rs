//! Any coupled algorithm over a single subflow is its single-path relative, to the last digit of
//! the window: the same segments at the same times, over channels that lose, mark and delay.

use crate::common::channel::{Crossing, Pair};
use crate::common::{AMP, CUT, DCTCP, FULLY_COUPLED, Random, S, SEMI_COUPLED, config};
use linkpool_transport::control::{CongestionControl, ControlConfig, EwtcpConfig, EwtcpIncrease};
use linkpool_transport::{Config, CongestionState};
use linkpool_units::Time;
use proptest::prelude::*;

/// All but XMP and CUBIC, which have no other relative than themselves.
fn relatives() -> Vec<(&'static str, ControlConfig, ControlConfig)> {
    let reno = || ControlConfig::Reno(());
    vec![
        ("lia", ControlConfig::Lia(()), reno()),
        ("olia", ControlConfig::Olia(()), reno()),
        ("balia", ControlConfig::Balia(()), reno()),
        ("ewtcp, 1/n^2", ControlConfig::Ewtcp(EwtcpConfig { increase: EwtcpIncrease::InverseSquare }), reno()),
        ("ewtcp, 1/sqrt(n)", ControlConfig::Ewtcp(EwtcpConfig { increase: EwtcpIncrease::InverseRoot }), reno()),
        ("fully coupled", ControlConfig::FullyCoupled(FULLY_COUPLED), reno()),
        ("semi-coupled", ControlConfig::SemiCoupled(SEMI_COUPLED), reno()),
        ("uncoupled", ControlConfig::Uncoupled(()), reno()),
        ("dcm", ControlConfig::Dcm(DCTCP), ControlConfig::Dctcp(DCTCP)),
        ("amp", ControlConfig::Amp(AMP), ControlConfig::MptcpCut(CUT)),
    ]
}

/// The segments that cross the channel in the first two seconds of an endless flow.
fn trace(control: ControlConfig, byte_counting: bool, seed: u64, loss: f64, mark: f64, jitter: Time) -> Vec<Crossing> {
    let mut random = Random(seed);
    // The handshake gets through, or there is no trace to speak of.
    let channel = move |c: &Crossing| {
        if c.nth > 0 && random.chance(loss) {
            return vec![];
        }
        vec![(Time::from_us(500) + random.time(jitter), random.chance(mark))]
    };
    let mut config = Config { byte_counting, initial_ssthresh: 32_000, ..config(control) };
    config.rtt.min_rto = Time::from_ms(5);
    let mut pair = Pair::new(config, None, channel);
    let mut crossings = pair.wire.sent.clone();
    while pair.next_event().is_some_and(|at| at < Time::from_secs(2)) {
        pair.step();
        crossings.extend(&pair.wire.sent);
    }
    crossings
}

/// The window after `acked` packets in congestion avoidance.
fn grown(control: &ControlConfig, cwnd: f64, srtt: f64, acked: u32) -> f64 {
    let mut states = [CongestionState {
        cwnd,
        ssthresh: 2.0,
        srtt,
        snd_una: 1,
        snd_nxt: 1,
        cut_until: 0,
        established: true,
        in_recovery: false,
        hops: 0,
    }];
    control.build(1).cong_avoid(&mut states, S[0], acked as f64);
    states[0].cwnd
}

proptest! {
    #![proptest_config(crate::common::cases(1000))]

    /// A window of 2 grows by 4 packets acknowledged to 4, not to a rounding less, which is room
    /// for 3.
    #[test]
    fn a_single_window_grows_alike_to_the_last_digit(
        cwnd in prop_oneof![(2u32..100).prop_map(f64::from), 2.0f64..1000.0],
        srtt in prop_oneof![Just(0.0), 1e6f64..1e12],
        acked in 1u32..10,
    ) {
        for (name, algorithm, relative) in relatives() {
            prop_assert_eq!(grown(&algorithm, cwnd, srtt, acked), grown(&relative, cwnd, srtt, acked), "{}", name);
        }
    }
}

proptest! {
    #![proptest_config(crate::common::cases(20))]

    #[test]
    fn a_single_subflow_is_a_single_path(
        seed in any::<u64>(),
        byte_counting in any::<bool>(),
        loss in 0.002f64..0.05,
        mark in 0.002f64..0.5,
        jitter in (0u64..100).prop_map(Time::from_us),
    ) {
        for (name, algorithm, relative) in relatives() {
            let (one, other) = [algorithm, relative].map(|algorithm| trace(algorithm, byte_counting, seed, loss, mark, jitter)).into();
            prop_assert!(one.len() > 500, "{} segments are no trace", one.len());
            prop_assert_eq!(one, other, "{}", name);
        }
    }
}
