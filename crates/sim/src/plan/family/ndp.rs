//! The settings of NDP in a plan.

use super::{Facts, FamilySettings};
use linkpool_scenario::{self as scenario, Control};
use linkpool_transport::ndp::{Config, Penalties};
use std::sync::Arc;

/// The most paths over which an NDP sender spreads its packets.
const MOST_PATHS: u64 = 256;

/// The measures that a sender reports: NACKs, headers that switches returned, and PULLs.
pub(crate) const METRICS: usize = 3;

/// The settings of NDP.
#[derive(Clone, Debug)]
pub struct Ndp {
    /// For both ends.
    pub config: Arc<Config>,
}

impl FamilySettings for Ndp {
    fn of(t: &scenario::Transport) -> Option<Ndp> {
        let config = || Config {
            mss: t.config.mss,
            initial_window: t.config.initial_window,
            rto: t.config.rtt.min_rto,
            max_backoff: t.config.rtt.max_backoff,
            priority: t.ndp.pull_priority,
            penalties: t.ndp.path_penalties.then(Penalties::default),
        };
        (t.control == Control::Ndp).then(|| Ndp { config: Arc::new(config()) })
    }

    /// There is no handshake: a flow waits for its last ACK only.
    fn facts(&self) -> Facts {
        Facts { spreads_over: Some(MOST_PATHS), trimming: true, fins: false, handshake: false, metrics: METRICS }
    }
}
