//! TCP's algorithm: throughput goes with 1/(RTT sqrt(p)).

use super::close;
use super::ideal::{Hop, Ideal};
use crate::common::channel::Pair;
use crate::common::{Random, reno};
use linkpool_transport::Config;
use linkpool_transport::control::ControlConfig;
use linkpool_units::Time;

/// Of the window with independent losses: throughput = 1.3098 / (RTT sqrt(p)) (Ott, Kemperman,
/// Mathis 1996; in closed form Dumas, Guillemin, Robert, Adv. Appl. Prob. 2002: sqrt(2/pi) prod (1
/// - 4^-n) / (1 - 2 4^-n)).
pub fn random_losses() -> f64 {
    let product: f64 = (1..30).map(|n| 0.25f64.powi(n)).map(|q| (1.0 - q) / (1.0 - 2.0 * q)).product();
    (2.0 / std::f64::consts::PI).sqrt() * product
}

#[test]
fn the_constants() {
    assert!((random_losses() - 1.3098).abs() < 1e-4);
}

#[test]
fn one_loss_every_so_many_packets() {
    // Mathis, Semke, Mahdavi, Ott 1997, equation 3: sqrt(3/2) / (RTT sqrt(p)).
    for n in [1_000, 10_000, 100_000] {
        let mut ideal = Ideal::new(&ControlConfig::Reno(()), &[Hop { rtt_ms: 1.0, loss: 1.0 / n as f64 }], 1);
        let rate = ideal.under_even_losses(50 * n).total();
        close(&format!("every {n}"), rate, (1.5 * n as f64).sqrt(), 0.03);
    }
}

#[test]
fn independent_losses() {
    for p in [1e-3, 3e-4, 1e-4] {
        let mut ideal = Ideal::new(&ControlConfig::Reno(()), &[Hop { rtt_ms: 1.0, loss: p }], 7);
        let rate = ideal.under_losses(4_000_000).total();
        close(&format!("p = {p}"), rate, random_losses() / p.sqrt(), 0.05);
    }
}

/// Packets per RTT of the whole sender over a channel that loses data packets at random, and takes
/// 10 ms there and back.
fn sender_rate(config: Config, p: f64, seconds: u64) -> f64 {
    let mut random = Random(3);
    let mut pair = Pair::new(config, None, move |crossing| {
        let lost = crossing.to_receiver && crossing.nth > 1 && random.chance(p);
        if lost { vec![] } else { vec![(Time::from_ms(5), false)] }
    });
    let warm = Time::from_secs(seconds / 10);
    pair.run_until(warm);
    let before = pair.sender.acked();
    pair.run_until(warm + Time::from_secs(seconds));
    (pair.sender.acked() - before) as f64 / 1000.0 / (seconds as f64 / 0.01)
}

/// Padhye, Firoiu, Towsley, Kurose 1998, equation 32, with b = 1, in packets per RTT. There a loss
/// takes all that follows it in its round, so that more of them end in timeouts than where losses
/// are independent.
fn padhye(p: f64, rtt: f64, t0: f64) -> f64 {
    let timeouts = t0 * 1f64.min(3.0 * (3.0 * p / 8.0).sqrt()) * p * (1.0 + 32.0 * p * p);
    rtt / (rtt * (2.0 * p / 3.0).sqrt() + timeouts)
}

/// Where windows are small some losses end in timeouts: less than the square root says, more than
/// if losses came in rows.
#[test]
fn the_whole_sender_with_timeouts() {
    for p in [0.01, 0.02, 0.05] {
        let rate = sender_rate(reno(), p, 2_000);
        let (least, most) = (padhye(p, 0.01, 0.2), random_losses() / p.sqrt());
        println!("p = {p}: {rate:.3}, theory {least:.3} to {most:.3}");
        assert!(least < rate && rate < most, "{least} {rate} {most}");
    }
}

#[test]
fn the_whole_sender() {
    for p in [3e-3, 1e-3, 3e-4] {
        let rate = sender_rate(reno(), p, 400);
        close(&format!("p = {p}"), rate, random_losses() / p.sqrt(), 0.1);
    }
}
