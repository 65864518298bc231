//! XMP where a round is marked with a given probability (Cao et al., CoNEXT 2013, equations 3 to
//! 9).

use super::close;
use super::ideal::{Hop, Ideal};
use crate::common::{CUT, XMP};
use linkpool_transport::control::{ControlConfig, CutConfig, XmpConfig};

const ACKS: u64 = 6_000_000;

fn xmp(beta: f64, rtts_ms: &[f64], p: f64) -> f64 {
    let hops: Vec<Hop> = rtts_ms.iter().map(|rtt_ms| Hop { rtt_ms: *rtt_ms, loss: 0.0 }).collect();
    let control = ControlConfig::Xmp(XmpConfig { cut: CutConfig { beta, ..CUT }, ..XMP });
    Ideal::new(&control, &hops, 5).under_round_marks(ACKS, p).total()
}

/// Equation 3 with delta = 1: p = 1 / (1 + w/beta), so w = beta (1 - p) / p.
#[test]
fn one_subflow() {
    for beta in [2.0, 4.0, 6.0] {
        for p in [0.05, 0.02] {
            close(&format!("beta = {beta}, p = {p}"), xmp(beta, &[1.0], p), beta * (1.0 - p) / p, 0.1);
        }
    }
}

/// Equations 7 to 9: every path in use has p = 1 / (1 + y T / beta) with y the sum of the rates and
/// T the least RTT: y does not depend on the number of subflows.
#[test]
fn several_subflows_take_what_one_does() {
    for n in [2, 3, 4] {
        close(&format!("{n} subflows"), xmp(4.0, &vec![1.0; n], 0.02), 4.0 * 0.98 / 0.02, 0.1);
    }
    close("RTTs of 1, 2 ms", xmp(4.0, &[1.0, 2.0], 0.02), 4.0 * 0.98 / 0.02, 0.1);
}
