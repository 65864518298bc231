//! The daemon: opens subflows by rule, and suppresses and releases them when AMP says so.
//!
//! It holds no state that a connection needs. All is in the kernel's maps, so it may be killed and started again at any time:
//! what it finds there it brings in order first. While it is away nothing is suppressed anew, and connections go on.

mod events;
mod latency;
mod paths;
mod takeover;

pub use latency::Latency;
pub use paths::Rule;

use crate::instance::{self, Instance};
use crate::intf::{Conn, Event, kind};
use crate::namespace::Namespace;
use crate::netlink::PathManager;
use crate::realtime::hurry;
use anyhow::{Context, Result, ensure};
use events::Events;
use paths::Openings;
use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use takeover::Takeover;

/// How often it looks whether events were lost.
const REVIEW: Duration = Duration::from_secs(1);

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

/// Serves the controllers that are loaded now, until `stop` is set. `started` is called once everything is in order. From then on
/// this thread has CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON, and no other capability, and real-time priority if it may.
pub fn run(config: &Config, stop: &Arc<AtomicBool>, started: impl FnOnce()) -> Result<Report> {
    ensure!(!config.namespaces.is_empty(), "no network namespace to serve");
    let _takeover = config.namespaces.iter().map(Takeover::of).collect::<Result<Vec<_>>>()?;
    let mut daemon = Daemon::new(config)?;
    for controller in daemon.controllers.values() {
        config.rule.tell(controller)?;
    }
    daemon.report.real_time = hurry(PRIORITY).is_ok();
    drop_rights()?;
    // What happened before is in the maps.
    daemon.events.discard();
    daemon.review()?;
    started();
    let mut next_review = Instant::now() + REVIEW;
    while !stop.load(Ordering::Relaxed) {
        let now = Instant::now();
        if now >= next_review {
            daemon.review()?;
            next_review = now + REVIEW;
        }
        let until = daemon.openings.next().map_or(next_review, |at| at.min(next_review));
        daemon.events.wait(until.saturating_duration_since(Instant::now()));
        while let Some((controller, event)) = daemon.events.next() {
            daemon.take(controller, &event);
        }
        daemon.open_what_is_due();
    }
    Ok(daemon.report)
}

struct Daemon<'a> {
    config: &'a Config,
    managers: HashMap<u32, PathManager>,
    controllers: HashMap<u32, Instance>,
    events: Events,
    openings: Openings,
    lost: HashMap<u32, u64>,
    report: Report,
}

impl Daemon<'_> {
    fn new(config: &Config) -> Result<Daemon<'_>> {
        let open = |n: &Namespace| Ok((n.inode, PathManager::of(n)?));
        let controllers: HashMap<u32, Instance> = instance::all()?.into_iter().map(|i| (i.id, i)).collect();
        ensure!(!controllers.is_empty(), "no controller is loaded: load one first, e.g. `linkpool-linux load amp`");
        Ok(Daemon {
            config,
            managers: config.namespaces.iter().map(open).collect::<Result<_>>()?,
            events: Events::of(controllers.values())?,
            controllers,
            openings: Openings::default(),
            lost: HashMap::new(),
            report: Report::default(),
        })
    }

    /// Brings connections in order: of all controllers at first, then of those that have lost events.
    fn review(&mut self) -> Result<()> {
        let ids: Vec<u32> = self.controllers.keys().copied().collect();
        for id in ids {
            let controller = &self.controllers[&id];
            let lost = controller.counters()?[0];
            if self.lost.insert(id, lost) != Some(lost) {
                for (key, entry) in controller.connections().context("connections")? {
                    self.bring_in_order(id, key, &entry.conn);
                }
            }
        }
        Ok(())
    }

    fn bring_in_order(&mut self, controller: u32, key: u64, conn: &Conn) {
        if self.managers.contains_key(&conn.netns) && conn.token != 0 {
            if conn.suppressions > 0 {
                self.set_flags(conn);
            }
            self.openings.consider(&self.config.rule, controller, key, conn, kind::UP);
        }
    }

    fn take(&mut self, controller: u32, event: &Event) {
        if event.token == 0 || !self.managers.contains_key(&event.netns) {
            return;
        }
        // What holds now, which may be more than what held when the event was written.
        let Some(Ok(Some(entry))) = self.controllers.get(&controller).map(|c| c.connection(event.conn)) else { return };
        match event.kind {
            kind::SUPPRESS | kind::RELEASE => {
                self.set_flags(&entry.conn);
                self.report.latency.note(event.time);
            }
            kind::UP | kind::DOWN | kind::JOIN_BYTES => {
                if entry.conn.suppressed != 0 && event.kind == kind::UP {
                    self.set_flags(&entry.conn);
                }
                self.openings.consider(&self.config.rule, controller, event.conn, &entry.conn, event.kind);
            }
            _ => {}
        }
    }

    /// Suppressed: all subflows but the first are backups. Otherwise none is.
    fn set_flags(&mut self, conn: &Conn) {
        let Some(manager) = self.managers.get_mut(&conn.netns) else { return };
        for (slot, path) in conn.established() {
            let backup = conn.suppressed != 0 && slot != usize::from(conn.first);
            // The first has never been a backup, unless it became the first by the loss of another.
            if slot == usize::from(conn.first) && path.backup == 0 {
                continue;
            }
            match manager.set_backup(conn.token, path, backup) {
                Ok(()) => self.report.flags_set += 1,
                Err(error) => self.report.failed += u64::from(!is_gone(&error)),
            }
        }
    }

    fn open_what_is_due(&mut self) {
        while let Some(due) = self.openings.due() {
            let Some(Ok(Some(entry))) = self.controllers.get(&due.controller).map(|c| c.connection(due.key)) else {
                self.openings.forget(due.key);
                continue;
            };
            let Some(manager) = self.managers.get_mut(&entry.conn.netns) else { continue };
            self.openings.open(&self.config.rule, manager, due, &entry.conn, &mut self.report);
        }
    }
}

/// Everything is open: what is left to do takes no more than these.
fn drop_rights() -> Result<()> {
    let held = capabilities(None).context("capabilities")?;
    let needed = CapabilitySet::BPF | CapabilitySet::NET_ADMIN | CapabilitySet::PERFMON;
    let kept = held.permitted & needed;
    set_capabilities(None, CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() })
        .context("capabilities")
}

/// The connection or the subflow has ended since.
fn is_gone(error: &anyhow::Error) -> bool {
    use rustix::io::Errno;
    matches!(error.downcast_ref::<Errno>(), Some(&Errno::SRCH | &Errno::NOTCONN | &Errno::INVAL | &Errno::NOENT))
}
