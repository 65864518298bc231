//! From the transports of a scenario to what endpoints are made of.

use crate::plan::control::control;
use crate::plan::paths::PathRule;
use linkpool_scenario as scenario;
use linkpool_scenario::Fault;
use linkpool_transport::paths::{Balancing, PlbConfig, RepsConfig, Subflows};
use linkpool_transport::{Buffers, Config, Faults, Multipath, Recovery, RttConfig, Scheduler, ndp};
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
    /// Does a connection have as many subflows as there are paths, at most as many as its config says?
    pub auto_subflows: bool,
    /// Does the duplicate-ACK threshold of scattered packets follow from the number of paths?
    pub auto_dupack: bool,
    /// If it is NDP, its settings; those of `config` mean nothing then.
    pub ndp: Option<Arc<ndp::Config>>,
    /// Do its receivers know what to do with a header whose payload a switch has cut off?
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
        let is_ndp = t.control == scenario::Control::Ndp;
        let scatters_first = t.is_mmptcp();
        let subflows = t.subflows.most() + u32::from(scatters_first);
        let dupack_threshold = match t.dupack_threshold {
            scenario::DupackThreshold::Acks(n) => n,
            scenario::DupackThreshold::Auto | scenario::DupackThreshold::Adaptive => 3,
        };
        let config = Config {
            control: control(t),
            subflows: subflows as usize,
            mss: t.mss as u16,
            initial_window: t.initial_window,
            initial_ssthresh: t.initial_ssthresh.map_or(f64::INFINITY, |bytes| bytes as f64 / t.mss as f64),
            rtt: RttConfig {
                min_rto: t.min_rto,
                initial_rto: t.initial_rto,
                max_rto: t.max_rto,
                max_backoff: t.max_backoff,
                srtt_gain: t.srtt_gain,
                rttvar_gain: t.rttvar_gain,
            },
            handshake_sample: t.handshake_sample,
            syn_timeout: t.syn_timeout,
            syn_retries: t.syn_retries,
            fail_after: t.fail_after.unwrap_or(u32::MAX),
            recovery: match t.recovery {
                scenario::Recovery::NewReno => Recovery::NewReno,
                scenario::Recovery::Sack => Recovery::Sack,
                scenario::Recovery::Rack => Recovery::Rack,
            },
            undo: t.undo,
            cut_in_recovery: t.cut_in_recovery,
            dupack_threshold,
            adaptive_threshold: t.dupack_threshold == scenario::DupackThreshold::Adaptive,
            limited_transmit: t.limited_transmit,
            byte_counting: t.byte_counting,
            byte_counting_limit: t.byte_counting_limit.unwrap_or(u32::MAX),
            ack_every: t.ack_every,
            ack_delay: t.ack_delay,
            quickack: t.quickack && t.ack_every > 1,
            join_jitter: t.join_jitter,
            buffers: Buffers {
                send: t.send_buffer.unwrap_or(u64::MAX),
                receive: t.receive_buffer.unwrap_or(u64::MAX),
                read_rate: t.read_rate,
            },
            multipath: multipath(t),
            accept_ecn: t.accept_ecn,
        };
        let scatter = match t.paths {
            _ if is_ndp => Subflows::All,
            scenario::Paths::Scatter => Subflows::All,
            _ if scatters_first => Subflows::First,
            _ => Subflows::None,
        };
        PlannedTransport {
            name: t.name.clone(),
            control: t.control.name(),
            config: Arc::new(config),
            sizes: WireSizes { header: t.header as u16, ack: t.ack_size as u16 },
            paths: match t.paths {
                // An NDP sender knows all paths, and takes them in turns.
                _ if is_ndp => PathRule::Distinct,
                scenario::Paths::Distinct => PathRule::Distinct,
                scenario::Paths::Disjoint => PathRule::Disjoint,
                scenario::Paths::Placed => PathRule::Placed,
                scenario::Paths::Hash | scenario::Paths::Scatter | scenario::Paths::Plb | scenario::Paths::Reps => {
                    PathRule::Hash
                }
            },
            scatter,
            high: match t.priority {
                scenario::Priority::Low => Subflows::None,
                scenario::Priority::High => Subflows::All,
                scenario::Priority::Scatter => scatter,
            },
            balancing: balancing(t),
            auto_subflows: t.subflows == scenario::Subflows::Auto,
            auto_dupack: t.dupack_threshold == scenario::DupackThreshold::Auto,
            trimming: t.trimming || is_ndp,
            ndp: is_ndp.then(|| Arc::new(ndp_config(t))),
        }
    }
}

fn ndp_config(t: &scenario::Transport) -> ndp::Config {
    ndp::Config {
        mss: t.mss as u16,
        initial_window: t.initial_window,
        rto: t.min_rto,
        max_backoff: t.max_backoff,
        priority: t.pull_priority,
        penalties: t.path_penalties.then(ndp::Penalties::default),
    }
}

fn balancing(t: &scenario::Transport) -> Option<Balancing> {
    match t.paths {
        scenario::Paths::Plb => Some(Balancing::Plb(PlbConfig {
            rounds: t.plb_rounds,
            idle_rounds: t.plb_idle_rounds,
            congested: t.plb_congested,
            suspend: t.plb_suspend,
        })),
        scenario::Paths::Reps => Some(Balancing::Reps(RepsConfig { buffer: t.reps_buffer, freezing: t.reps_freezing })),
        _ => None,
    }
}

fn multipath(t: &scenario::Transport) -> Multipath {
    Multipath {
        scheduler: match t.scheduler {
            scenario::Scheduler::RoundRobin => Scheduler::RoundRobin,
            scenario::Scheduler::LowestRtt => Scheduler::LowestRtt,
            scenario::Scheduler::LowestTimeToSend => Scheduler::LowestTimeToSend,
        },
        backup: t.backup.iter().fold(0, |set, s| set | 1 << s),
        join_after: t.join_after,
        join_at: t.join_at.clone(),
        stale_after: t.stale_after.unwrap_or(u32::MAX),
        faults: Faults {
            join_syn_once: t.faults.contains(&Fault::JoinSynOnce),
            join_stall: t.faults.contains(&Fault::JoinStall),
            fin_reset: t.faults.contains(&Fault::FinReset),
        },
    }
}
