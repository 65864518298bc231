//! The family NDP: its names, its settings and its facts.

use super::config::{Config, Penalties};
use crate::config::Config as Common;
use crate::declaration::{Declaration, Declare, Facts, Keys, Law, Spread};
use crate::wire::WireConfig;
use linkpool_settings::settings;
use linkpool_units::Time;
use std::sync::Arc;

/// NDP.
#[derive(Clone, Copy, Debug)]
pub struct Ndp;

/// The most paths over which a sender spreads its packets.
const MOST_PATHS: u64 = 256;

settings! {
    /// The settings of NDP.
    #[derive(Copy)]
    pub struct NdpSettings {
        /// Does the receiving host send PULLs of its connections before other PULLs?
        pull_priority: bool = false;
        /// Does a sender leave out paths for some time if their share of NACKs and losses is above
        /// twice that of the other paths?
        path_penalties: bool = true;
    }
}

impl Declare for Ndp {
    const DECLARATION: Declaration = Declaration {
        name: "ndp",
        title: "NDP",
        laws: &[Law {
            name: "ndp",
            sentence: "no congestion control: receivers pull, switches trim",
            source: "Handley et al., SIGCOMM 2017",
            heeds_marks: false,
        }],
        keys: Keys::Only(&["mss", "initial_window", "min_rto", "max_backoff", "header", "ack_size", "priority"]),
        facts: Facts {
            spread: Spread::Paths(MOST_PATHS),
            trimming: true,
            returns: true,
            fins: false,
            handshake: false,
            stays_open: false,
            captures: false,
            pulled: true,
            by_kind: true,
            turns: false,
        },
    };
    type Settings = NdpSettings;
    type Config = Arc<Config>;

    /// Jumbo packets of 9,000 B with headers of 64 B, 30 packets in the first window (section 6 of
    /// the paper), timeouts of 1 ms as queues are short (section 3.2).
    fn defaults(_: &Law, _: &mut NdpSettings, config: &mut Common, wire: &mut WireConfig) {
        *wire = WireConfig { header: 64, ack_size: 64 };
        (config.mss, config.initial_window, config.rtt.min_rto) = (8_936, 30, Time::from_ms(1));
    }

    fn config(own: &NdpSettings, config: &Common, _: WireConfig) -> Arc<Config> {
        Arc::new(Config {
            mss: config.mss,
            initial_window: config.initial_window,
            rto: config.rtt.min_rto,
            max_backoff: config.rtt.max_backoff,
            priority: own.pull_priority,
            penalties: own.path_penalties.then(Penalties::default),
        })
    }

    /// An ACK, and a PULL for each packet after the first window.
    fn answers(config: &Arc<Config>, _: &Common, packets: f64) -> f64 {
        1.0 + (1.0 - f64::from(config.initial_window) / packets).max(0.0)
    }

    /// NACKs, headers that switches returned, and PULLs.
    fn metrics(_: &Common) -> usize {
        3
    }
}
