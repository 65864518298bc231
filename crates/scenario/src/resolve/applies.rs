//! Which keys of a transport apply to it: by its controller, and by its other settings.

use super::section::Section;
use crate::model::{Control, Paths, ScatterControl, Subflows, Transport};

pub(super) const MARKED: &[Control] = &[Control::Dctcp, Control::Dcm, Control::Xmp, Control::Amp, Control::MptcpCut];
const WITH_ALPHA: &[Control] = &[Control::Dctcp, Control::Dcm];
const CONSTANT_CUT: &[Control] = &[Control::Xmp, Control::Amp, Control::MptcpCut];

/// The controllers that a key applies to.
fn controls(key: &str) -> &'static [Control] {
    match key {
        "subflows" | "join_jitter" | "join_after" | "join_at" | "backup" | "scheduler" => Control::MULTIPATH,
        "stale_after" | "faults" => Control::MULTIPATH,
        "scatter_bytes" | "scatter_window" | "scatter_until_congestion" | "scatter_control" => Control::MULTIPATH,
        "cwnd_min" | "cut_in_recovery" | "accept_ecn" => MARKED,
        "plb_rounds" | "plb_idle_rounds" | "plb_congested" | "plb_suspend" => MARKED,
        "reps_buffer" | "reps_freezing" => MARKED,
        "alpha0" | "g" => WITH_ALPHA,
        "beta" => CONSTANT_CUT,
        "gamma" | "tau" | "suppression" | "release" => &[Control::Amp],
        "ssthresh_after_cut" => &[Control::Xmp],
        "ewtcp_increase" => &[Control::Ewtcp],
        "aggressiveness" => &[Control::SemiCoupled],
        "loss_floor" => &[Control::FullyCoupled],
        "cubic_c" | "cubic_beta" | "fast_convergence" => &[Control::Cubic],
        "pull_priority" | "path_penalties" => &[Control::Ndp],
        "preset" | "control" | "mss" | "header" | "ack_size" | "initial_window" | "min_rto" | "max_backoff" => {
            Control::ALL
        }
        _ => Control::TCP,
    }
}

/// Keys that apply only with other settings.
struct Condition {
    keys: &'static [&'static str],
    holds: fn(&Transport) -> bool,
    /// To what they apply.
    to: &'static str,
}

const CONDITIONS: &[Condition] = &[
    Condition {
        keys: &["join_jitter", "join_after", "join_at", "backup", "scheduler", "stale_after", "faults"],
        holds: |t| t.subflows.most() > 1 || t.is_mmptcp(),
        to: "several subflows, and this transport has `subflows = 1`",
    },
    Condition {
        keys: &["join_after", "join_at"],
        holds: |t| !t.is_mmptcp(),
        to: "transports other than MMPTCP, whose switch opens the subflows",
    },
    Condition {
        keys: &["backup"],
        holds: |t| !t.is_mmptcp(),
        to: "transports other than MMPTCP, so not beside the keys of its phase 1",
    },
    Condition {
        keys: &["scatter_control"],
        holds: Transport::is_mmptcp,
        to: "MMPTCP, with `scatter_bytes`, `scatter_window` or `scatter_until_congestion`",
    },
    Condition { keys: &["gamma", "tau", "release"], holds: |t| t.suppression, to: "`suppression = true`" },
    Condition { keys: &["byte_counting_limit"], holds: |t| t.byte_counting, to: "`byte_counting = true`" },
    Condition { keys: &["ack_delay", "quickack"], holds: |t| t.ack_every > 1, to: "delayed ACKs, `ack_every = 2`" },
    Condition {
        keys: &["plb_rounds", "plb_idle_rounds", "plb_congested", "plb_suspend"],
        holds: |t| t.paths == Paths::Plb,
        to: "`paths = \"plb\"`",
    },
    Condition { keys: &["reps_buffer", "reps_freezing"], holds: |t| t.paths == Paths::Reps, to: "`paths = \"reps\"`" },
    Condition { keys: &["read_rate"], holds: |t| t.receive_buffer.is_some(), to: "a limited `receive_buffer`" },
];

/// Does `key` apply to the controller of `t`, or to the law of its phase 1?
fn is_of_control(key: &str, t: &Transport) -> bool {
    let of_phase_1 = t.scatter_control == ScatterControl::Dctcp && controls(key).contains(&Control::Dctcp);
    controls(key).contains(&t.control) || of_phase_1
}

/// What of the other settings of `t` keeps `key` from applying.
fn unmet<'a>(key: &'a str, t: &'a Transport) -> impl Iterator<Item = &'static Condition> + 'a {
    CONDITIONS.iter().filter(move |condition| condition.keys.contains(&key) && !(condition.holds)(t))
}

/// Does `key` apply to `t`?
pub(crate) fn applies(key: &str, t: &Transport) -> bool {
    is_of_control(key, t) && unmet(key, t).next().is_none()
}

/// Each key that is written applies.
pub(super) fn check(t: &Transport, section: &mut Section<'_, '_>) {
    let keys: Vec<String> = section.node().into_iter().flat_map(|node| node.keys().map(str::to_string)).collect();
    for key in keys {
        // One subflow is what a single path is.
        let harmless = key == "subflows" && t.subflows == Subflows::Count(1);
        if !is_of_control(&key, t) && !harmless {
            let names: Vec<_> = controls(&key).iter().map(|control| control.name()).collect();
            let list = names.join(", ");
            section.error(&key, format!("does not apply to {}, only to {list}; leave it out", t.control.name()));
        } else if let Some(condition) = unmet(&key, t).next() {
            section.error(&key, format!("applies only to {}; leave it out", condition.to));
        }
    }
}
