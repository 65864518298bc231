//! AMP's suppression: the daemon's work for the senders of a test bed, on a thread of it, and what
//! controllers tell of connections.

use crate::address::{End, Side};
use crate::ends::HostEnd;
use anyhow::{Context as _, Result, anyhow};
use linkpool_linux_control::daemon::{Report, Rule, Server};
use linkpool_linux_control::instance::{self, Instance};
use linkpool_linux_control::intf::Conn;
use linkpool_linux_control::netlink::PathManager;
use linkpool_linux_control::realtime::hurry;
use linkpool_units::counted;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

/// Real-time priority: above that of hosts, whose sockets keep a core busy, and below the fabric's.
const PRIORITY: i32 = 6;

/// If 1% of the suppressions take longer, in microseconds, a run is doubtful: it is about a round
/// trip in the scenarios of the papers.
const LATE: f64 = 1000.0;

/// Suppresses and releases subflows while it lives.
#[derive(Debug)]
pub(crate) struct Suppression {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<Report>>>,
}

/// How fast subflows were suppressed and released.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct SuppressionSummary {
    /// Subflows that were made backups, or ordinary ones again.
    pub flags_set: u64,
    /// Commands that the kernel refused, other than for connections that had just ended.
    pub failed: u64,
    /// Events that the thread lost; it brought the connections in order within a second.
    pub events_lost: u64,
    /// Microseconds from the event to the last subflow of the connection: the median, null without
    /// events.
    pub median_us: Option<f64>,
    /// As before, 99% of them took no longer.
    pub p99_us: Option<f64>,
    /// As before, the longest.
    pub longest_us: Option<f64>,
}

impl Suppression {
    /// Begins, for the connections that controllers of these `names` have at the sending `hosts`.
    pub(crate) fn begin(names: &[String], hosts: &HashMap<End, HostEnd>) -> Result<Suppression> {
        let controllers = names.iter().map(|name| instance::find(name)).collect::<Result<Vec<_>>>()?;
        let sending = hosts.iter().filter(|(end, _)| end.side == Side::Sending);
        let manager = |(_, host): (&End, &HostEnd)| Ok((host.namespace.inode()?, host.namespace.path_manager()?));
        let managers = sending.map(manager).collect::<Result<HashMap<u32, PathManager>>>()?;
        let stop = Arc::new(AtomicBool::new(false));
        let until = stop.clone();
        let serve = move || {
            // The test bed says itself if it has no right to such priorities.
            let real_time = hurry(PRIORITY).is_ok();
            let mut server = Server::new(Rule::default(), managers, controllers)?;
            server.begin()?;
            Ok(Report { real_time, ..server.serve(&until)? })
        };
        Ok(Suppression { stop, thread: Some(thread::spawn(serve)) })
    }

    /// Ends, with what it has done.
    pub(crate) fn end(mut self, events_lost: u64) -> Result<SuppressionSummary> {
        self.stop.store(true, Ordering::Relaxed);
        let thread = self.thread.take().context("it ends once")?;
        let report = thread.join().map_err(|_| anyhow!("the thread that suppresses subflows has panicked"))?;
        let report = report.context("suppression of subflows")?;
        let [median_us, p99_us, longest_us] = [0.5, 0.99, 1.0].map(|q| report.latency.quantile(q));
        let Report { flags_set, failed, .. } = report;
        Ok(SuppressionSummary { flags_set, failed, events_lost, median_us, p99_us, longest_us })
    }
}

impl SuppressionSummary {
    /// Why the run is doubtful, if it is.
    pub(crate) fn doubt(&self) -> Option<String> {
        let late = self.p99_us.is_some_and(|us| us > LATE);
        (late || self.failed + self.events_lost > 0).then(|| {
            format!(
                "suppression: 99% of events had their effect within {:.0} us, {} failed, {} lost",
                self.p99_us.unwrap_or(0.0),
                counted(self.failed, "command"),
                counted(self.events_lost, "event")
            )
        })
    }
}

impl Drop for Suppression {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// What controllers of AMP tell of connections.
#[derive(Debug)]
pub(crate) struct Told {
    controllers: HashMap<String, Instance>,
}

/// A connection of a host, as path managers know it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Identity {
    pub(crate) netns: u32,
    pub(crate) token: u32,
    /// In its controller's map.
    key: Option<u64>,
}

impl Identity {
    pub(crate) fn new(netns: u32, token: u32) -> Identity {
        Identity { netns, token, key: None }
    }
}

impl Told {
    /// By controllers of these `names`.
    pub(crate) fn by(names: &[String]) -> Result<Told> {
        let controllers = names.iter().map(|name| Ok((name.clone(), instance::find(name)?)));
        Ok(Told { controllers: controllers.collect::<Result<_>>()? })
    }

    /// Do connections of this controller suppress subflows?
    pub(crate) fn suppresses(&self, controller: &str) -> bool {
        self.controllers.contains_key(controller)
    }

    /// What `controller` tells of a connection; none: nothing, for its first ACK has not come, or
    /// it has ended.
    pub(crate) fn of(&self, controller: &str, connection: &mut Option<Identity>) -> Option<Conn> {
        let (controller, connection) = (self.controllers.get(controller)?, connection.as_mut()?);
        let is_it = |conn: &Conn| (conn.netns, conn.token) == (connection.netns, connection.token);
        if connection.key.is_none() {
            let all = controller.connections().ok()?;
            connection.key = all.iter().find(|(_, entry)| is_it(&entry.conn)).map(|(key, _)| *key);
        }
        let entry = controller.connection(connection.key?).ok()??;
        is_it(&entry.conn).then_some(entry.conn)
    }

    /// Events that found no room in the ring buffers.
    pub(crate) fn events_lost(&self) -> Result<u64> {
        self.controllers.values().map(|controller| Ok(controller.counters()?[0])).sum()
    }
}

/// Is the subflow from this port of the sender suppressed? The kernel follows within the times of
/// [`SuppressionSummary`].
pub(crate) fn is_suppressed(conn: &Conn, port: u16) -> bool {
    let others = conn.established().filter(|(slot, _)| *slot != usize::from(conn.first));
    conn.suppressed != 0 && others.into_iter().any(|(_, path)| path.local.port == port)
}
