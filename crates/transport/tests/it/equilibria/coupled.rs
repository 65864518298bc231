//! Coupled algorithms over two paths of given loss. Theory balances the growth by ACKs with the
//! cuts by losses.
//!
//! Losses are evenly spaced, so that an algorithm's estimate of them is right, and all windows are
//! sawteeth. The mean of a sawtooth is a constant part of where the balance is; so windows are told
//! in those of a TCP on the same path.

use super::close;
use super::ideal::{Hop, Ideal, Means};
use crate::common::FULLY_COUPLED;
use linkpool_transport::control::{ControlConfig, EwtcpConfig, EwtcpIncrease, SemiCoupledConfig};

const ACKS: u64 = 2_000_000;
const P: f64 = 1e-4;
/// How much worse the second path is. Not whole, or losses of the two would come together.
const RATIOS: [f64; 3] = [2.02, 4.04, 8.08];

fn even(control: ControlConfig, hops: &[Hop]) -> Means {
    Ideal::new(&control, hops, 11).under_even_losses(ACKS)
}

fn random(control: ControlConfig, hops: &[Hop]) -> Means {
    Ideal::new(&control, hops, 11).under_losses(2 * ACKS)
}

/// The window of a TCP on this path.
fn tcp(hop: Hop) -> f64 {
    even(ControlConfig::Reno(()), &[hop]).total()
}

fn two(ratio: f64) -> [Hop; 2] {
    [P, ratio * P].map(|loss| Hop { rtt_ms: 1.0, loss })
}

/// LIA: w_r in proportion to 1/p_r, and in all what a TCP gets on the best path (RFC 6356, section
/// 3; Wischik et al., NSDI 2011, section 2.5).
#[test]
fn lia_weighs_paths_by_the_inverse_of_their_loss() {
    for ratio in RATIOS {
        let hops = two(ratio);
        let got = even(ControlConfig::Lia(()), &hops);
        close(&format!("p2 = {ratio} p1, w1/w2"), got.rates[0] / got.rates[1], ratio, 0.05);
        close(&format!("p2 = {ratio} p1, all over TCP"), got.total(), tcp(hops[0]), 0.03);
        let got = random(ControlConfig::Lia(()), &hops);
        close(&format!("random, p2 = {ratio} p1, w1/w2"), got.rates[0] / got.rates[1], ratio, 0.2);
    }
}

/// OLIA: the best path only, with what a TCP gets there (Khalili et al., CoNEXT 2012, theorem 1);
/// on the other what is left after losses and grows until the next. With equal paths both.
#[test]
fn olia_takes_the_best_path_only() {
    let equal = even(ControlConfig::Olia(()), &two(1.0));
    close("equal paths, w1/w2", equal.rates[0] / equal.rates[1], 1.0, 0.05);
    for ratio in RATIOS {
        let hops = two(ratio);
        let got = even(ControlConfig::Olia(()), &hops);
        close(&format!("p2 = {ratio} p1, all over TCP"), got.total(), tcp(hops[0]), 0.03);
        assert!(got.rates[1] < 0.05 * got.total(), "{got:?}");
    }
}

/// Under random losses OLIA takes the longer of the last two distances between them for the mean,
/// and so the worse path often for the better: it moves less than theory says, yet more than LIA.
#[test]
fn olia_errs_where_losses_are_random() {
    for ratio in RATIOS {
        let (olia, lia) = (random(ControlConfig::Olia(()), &two(ratio)), random(ControlConfig::Lia(()), &two(ratio)));
        let share = |means: &Means| means.rates[1] / means.total();
        println!("p2 = {ratio} p1: {:.3} on the worse path, LIA {:.3}", share(&olia), share(&lia));
        assert!(share(&olia) < share(&lia));
    }
}

/// BALIA (Peng, Walid, Hwang, Low, ToN 2016): where alpha = w1/w2 > 1.5, balance on the worse path
/// asks for (1 + alpha) (4 + alpha) / 15 = p2/p1, and the sum is what a TCP gets on the better.
///
/// A window that losses quarter has its mean at sqrt(5/8) of its balance, one that they halve
/// (TCP's) at sqrt(3/4): the worse path gets sqrt(5/6) of what the balance says, when told in
/// windows of TCP.
#[test]
fn balia_is_between() {
    for ratio in RATIOS {
        let hops = two(ratio);
        let got = even(ControlConfig::Balia(()), &hops);
        let alpha = (-5.0 + (25.0 - 4.0 * (4.0 - 15.0 * ratio)).sqrt()) / 2.0;
        assert!(alpha > 1.5);
        let sawtooth = (5.0f64 / 6.0).sqrt();
        close(&format!("p2 = {ratio} p1, w1/w2"), got.rates[0] / got.rates[1], alpha / sawtooth, 0.15);
        close(&format!("p2 = {ratio} p1, all over TCP"), got.total(), tcp(hops[0]), 0.03);
    }
}

/// EWTCP: on each path half of a TCP (Wischik et al., NSDI 2011, section 2.1).
#[test]
fn ewtcp_is_half_a_tcp_on_each_path() {
    for hops in RATIOS.map(two) {
        let got = even(ControlConfig::Ewtcp(EwtcpConfig { increase: EwtcpIncrease::InverseSquare }), &hops);
        for (hop, rate) in hops.iter().zip(got.rates) {
            close(&format!("p = {}", hop.loss), rate, tcp(*hop) / 2.0, 0.05);
        }
    }
}

/// SEMICOUPLED: w_r = sqrt(2a) (1/p_r) / sqrt(sum 1/p) (Wischik et al., NSDI 2011, section 2.4),
/// against TCP's sqrt(2/p).
#[test]
fn semi_coupled_weighs_paths_and_is_not_fair() {
    for ratio in RATIOS {
        let hops = two(ratio);
        for a in [1.0, 0.5] {
            let algorithm = SemiCoupledConfig { aggressiveness: a };
            let got = even(ControlConfig::SemiCoupled(algorithm), &hops);
            close(&format!("p2 = {ratio} p1, w1/w2"), got.rates[0] / got.rates[1], ratio, 0.05);
            // sqrt(2a) (1/p1 + 1/p2) / sqrt(1/p1 + 1/p2) = sqrt(a (1 + p1/p2)) sqrt(2/p1)
            let over_tcp = (a * (1.0 + 1.0 / ratio)).sqrt();
            close(&format!("a = {a}, all over TCP"), got.total(), over_tcp * tcp(hops[0]), 0.03);
        }
    }
}

/// Fully coupled (Kelly and Voice 2005): the best path only. Near its floor the other one loses
/// less than the algorithm would take, half of the sum, so that it keeps some.
#[test]
fn fully_coupled_takes_the_best_path() {
    let shares = RATIOS.map(|ratio| {
        let hops = two(ratio);
        let got = even(ControlConfig::FullyCoupled(FULLY_COUPLED), &hops);
        close(&format!("p2 = {ratio} p1, all over TCP"), got.total(), tcp(hops[0]), 0.03);
        got.rates[1] / got.total()
    });
    println!("on the worse path: {shares:?}");
    assert!(shares.is_sorted_by(|a, b| a > b) && shares[0] < 0.15 && shares[2] < 0.05, "{shares:?}");
}

/// Wi-Fi and 3G of Wischik et al., NSDI 2011, section 2.5, with a hundredth of the losses, so that
/// windows are far from a packet: TCP has 5 times as much on Wi-Fi as on 3G. LIA takes of 3G what a
/// TCP would, and of Wi-Fi the rest of what a TCP would get there; EWTCP half of each: 40% less.
#[test]
fn wifi_and_3g() {
    let hops = [Hop { rtt_ms: 10.0, loss: 4.03e-4 }, Hop { rtt_ms: 100.0, loss: 1e-4 }];
    let (wifi, third) = (tcp(hops[0]), tcp(hops[1]));
    close("Wi-Fi over 3G", wifi / third, 5.0, 0.03);
    let lia = even(ControlConfig::Lia(()), &hops);
    close("LIA", lia.total(), wifi, 0.05);
    close("LIA on 3G", lia.rates[1], third, 0.05);
    close("LIA on Wi-Fi", lia.rates[0], wifi - third, 0.05);
    let ewtcp = even(ControlConfig::Ewtcp(EwtcpConfig { increase: EwtcpIncrease::InverseSquare }), &hops);
    close("EWTCP", ewtcp.total(), 0.6 * wifi, 0.05);
}
