//! From the transports of a scenario to the configuration of endpoints.

use crate::plan::paths::PathRule;
use linkpool_scenario::{self as scenario, Control, Paths};
use linkpool_transport::paths::{Balancing, Subflows};
use linkpool_transport::{Config, DupackThreshold, ndp};
use std::sync::Arc;

/// A transport, ready to make endpoints of.
#[derive(Clone, Debug)]
pub struct PlannedTransport {
    /// The scenario's name for it.
    pub name: String,
    /// Its congestion control.
    pub control: &'static str,
    /// For both ends.
    pub config: Arc<Config>,
    /// On the wire.
    pub sizes: WireSizes,
    /// Which paths subflows take.
    pub paths: PathRule,
    /// Whose data packets take random paths?
    pub scatter: Subflows,
    /// Whose packets, and their ACKs, are of high priority?
    pub high: Subflows,
    /// How senders choose paths by their ACKs, if they do.
    pub balancing: Option<Balancing>,
    /// Does a connection have as many subflows as there are paths, at most as many as its config
    /// says?
    pub auto_subflows: bool,
    /// Does the duplicate-ACK threshold of scattered packets follow from the number of paths?
    pub auto_dupack: bool,
    /// The settings of NDP, if it is NDP; then `config` has no meaning.
    pub ndp: Option<Arc<ndp::Config>>,
    /// Do its receivers understand a header whose payload a switch has cut off?
    pub trimming: bool,
}

/// The most paths over which an NDP sender spreads its packets.
const MOST_PATHS: u64 = 256;

/// Bytes on the wire.
#[derive(Clone, Copy, Debug)]
pub struct WireSizes {
    /// Beside the payload of a data segment.
    pub header: u16,
    /// Of a segment without payload.
    pub ack: u16,
}

impl PlannedTransport {
    /// Over how many of `all` paths an NDP sender spreads its packets.
    pub(crate) fn ndp_paths(&self, all: u64) -> usize {
        all.clamp(1, MOST_PATHS) as usize
    }

    /// Plans `t`.
    pub(crate) fn new(t: &scenario::Transport) -> PlannedTransport {
        let is_ndp = t.control == Control::Ndp;
        let scatter = match t.paths.rule {
            _ if is_ndp => Subflows::All,
            Paths::Scatter => Subflows::All,
            _ if t.is_mmptcp() => Subflows::First,
            _ => Subflows::None,
        };
        PlannedTransport {
            name: t.name.clone(),
            control: t.control.name(),
            config: Arc::new(t.config.clone()),
            sizes: WireSizes { header: t.wire.header as u16, ack: t.wire.ack_size as u16 },
            paths: match t.paths.rule {
                // An NDP sender knows all paths, and takes them in turns.
                _ if is_ndp => PathRule::Distinct,
                Paths::Distinct => PathRule::Distinct,
                Paths::Disjoint => PathRule::Disjoint,
                Paths::Placed => PathRule::Placed,
                Paths::Hash | Paths::Scatter | Paths::Plb | Paths::Reps => PathRule::Hash,
            },
            scatter,
            high: match t.priority {
                scenario::Priority::Low => Subflows::None,
                scenario::Priority::High => Subflows::All,
                scenario::Priority::Scatter => scatter,
            },
            balancing: match t.paths.rule {
                Paths::Plb => Some(Balancing::Plb(t.paths.plb)),
                Paths::Reps => Some(Balancing::Reps(t.paths.reps)),
                _ => None,
            },
            auto_subflows: t.subflows == scenario::Subflows::Auto,
            auto_dupack: t.config.dupack_threshold == DupackThreshold::Auto,
            trimming: t.trimming || is_ndp,
            ndp: is_ndp.then(|| Arc::new(ndp_config(t))),
        }
    }
}

fn ndp_config(t: &scenario::Transport) -> ndp::Config {
    ndp::Config {
        mss: t.config.mss,
        initial_window: t.config.initial_window,
        rto: t.config.rtt.min_rto,
        max_backoff: t.config.rtt.max_backoff,
        priority: t.ndp.pull_priority,
        penalties: t.ndp.path_penalties.then(ndp::Penalties::default),
    }
}
