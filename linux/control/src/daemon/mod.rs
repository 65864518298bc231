//! The daemon: opens subflows by rule, and suppresses and releases them when AMP says so.
//!
//! It holds no state that a connection needs. All is in the kernel's maps, so it may be killed and
//! started again at any time: what it finds there it brings in order first. While it is away
//! nothing is suppressed anew, and connections go on.

mod again;
mod events;
mod latency;
mod notes;
mod paths;
mod server;
mod takeover;

pub use latency::Latency;
pub use paths::Rule;
pub use server::Server;

use crate::instance::{self, Instance};
use crate::namespace::Namespace;
use crate::netlink::PathManager;
use crate::realtime::hurry;
use anyhow::{Context, Result, ensure};
use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use takeover::Takeover;

/// The lowest real-time priority: it goes before all threads that have none.
const PRIORITY: i32 = 1;

/// What the daemon does, and where.
#[derive(Clone, Debug)]
pub struct Config {
    /// In which network namespaces connections are served.
    pub namespaces: Vec<Namespace>,
    /// Which subflows connections get.
    pub rule: Rule,
}

/// What a daemon has done.
#[derive(Debug, Default)]
pub struct Report {
    /// Subflows suppressed or released.
    pub flags_set: u64,
    /// Subflows opened.
    pub opened: u64,
    /// Netlink commands that failed, other than for connections that have just ended.
    pub failed: u64,
    /// Its thread had real-time priority: other work of the machine does not delay it.
    pub real_time: bool,
    /// From the BPF event to the last subflow of the connection suppressed or released.
    pub latency: Latency,
}

/// Serves the controllers that are loaded now, until `stop` is set. `started` is called with their
/// names once everything is in order. From then on this thread has CAP_BPF, CAP_NET_ADMIN and
/// CAP_PERFMON, and no other capability, and real-time priority if it may.
pub fn run(config: &Config, stop: &Arc<AtomicBool>, started: impl FnOnce(&[String])) -> Result<Report> {
    ensure!(!config.namespaces.is_empty(), "no network namespace to serve");
    let controllers = instance::all()?;
    ensure!(!controllers.is_empty(), "no controller is loaded: load one first, e.g. `linkpool-linux load amp`");
    let _takeover = Takeover::of_all(&config.namespaces)?;
    let managers = config.namespaces.iter().map(|n| Ok((n.inode, PathManager::of(n)?))).collect::<Result<_>>()?;
    for controller in &controllers {
        config.rule.tell(controller)?;
    }
    let names: Vec<String> = controllers.iter().map(Instance::described).collect();
    let mut server = Server::new(config.rule.clone(), managers, controllers)?;
    let real_time = hurry(PRIORITY).is_ok();
    drop_rights()?;
    server.begin()?;
    started(&names);
    Ok(Report { real_time, ..server.serve(stop)? })
}

/// Everything is open: what is left to do takes no more than these.
fn drop_rights() -> Result<()> {
    let held = capabilities(None).context("capabilities")?;
    let needed = CapabilitySet::BPF | CapabilitySet::NET_ADMIN | CapabilitySet::PERFMON;
    let kept = held.permitted & needed;
    set_capabilities(None, CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() })
        .context("capabilities")
}

/// The connection or the subflow has ended since, or the subflow is not there yet.
fn is_gone(error: &anyhow::Error) -> bool {
    use rustix::io::Errno;
    matches!(error.downcast_ref::<Errno>(), Some(&Errno::SRCH | &Errno::NOTCONN | &Errno::INVAL | &Errno::NOENT))
}
