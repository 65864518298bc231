//! The parameters of algorithms on the command line.

use clap::{ArgAction, Args};
use linkpool_linux_control::settings::Settings;

#[derive(Debug, Args)]
pub(crate) struct Parameters {
    /// A mark cuts the window by 1/beta (amp, xmp, mptcp-cut) [default: 4].
    #[arg(long)]
    beta: Option<f64>,
    /// Floor of the window after a mark, packets (all with ECN) [default: 2].
    #[arg(long, value_name = "PACKETS")]
    cwnd_min: Option<u32>,
    /// Rounds with all windows at the floor before subflows are suppressed (amp) [default: 2].
    #[arg(long, value_name = "ROUNDS")]
    gamma: Option<u32>,
    /// Unmarked rounds before they are released (amp) [default: 8].
    #[arg(long, value_name = "ROUNDS")]
    tau: Option<u32>,
    /// Suppress subflows at all (amp) [default: true].
    #[arg(long, action = ArgAction::Set)]
    suppression: Option<bool>,
    /// What the release counts: rounds or acks (amp) [default: rounds].
    #[arg(long)]
    release: Option<String>,
    /// grow-then-cut or cut-instead-of-growth (amp, mptcp-cut, dctcp, dcm) [default:
    /// cut-instead-of-growth].
    #[arg(long)]
    ack_order: Option<String>,
    /// Initial alpha (dctcp, dcm) [default: 1].
    #[arg(long)]
    alpha0: Option<f64>,
    /// Gain of alpha (dctcp, dcm) [default: 0.0625].
    #[arg(long)]
    g: Option<f64>,
    /// Slow start threshold after a cut: w or w-1 (xmp) [default: w].
    #[arg(long)]
    ssthresh_after_cut: Option<String>,
    /// The constant a of its increase: 1/n^2 or 1/sqrt(n) (ewtcp) [default: 1/n^2].
    #[arg(long)]
    ewtcp_increase: Option<String>,
}

impl From<Parameters> for Settings {
    fn from(given: Parameters) -> Settings {
        Settings {
            beta: given.beta,
            cwnd_min: given.cwnd_min,
            gamma: given.gamma,
            tau: given.tau,
            suppression: given.suppression,
            release: given.release,
            ack_order: given.ack_order,
            alpha0: given.alpha0,
            g: given.g,
            ssthresh_after_cut: given.ssthresh_after_cut,
            ewtcp_increase: given.ewtcp_increase,
            observe: None,
            join_bytes: None,
        }
    }
}
