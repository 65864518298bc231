//! What serves connections: a loop over the events of controllers.

use super::again::Again;
use super::events::Events;
use super::paths::{Openings, Rule};
use super::{Report, is_gone};
use crate::instance::Instance;
use crate::intf::{Conn, Event, kind};
use crate::netlink::PathManager;
use anyhow::{Context, Result};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often it looks whether events were lost.
const REVIEW: Duration = Duration::from_secs(1);

/// Serves connections of controllers in namespaces: opens subflows by a rule, suppresses and
/// releases them.
#[derive(Debug)]
pub struct Server {
    rule: Rule,
    managers: HashMap<u32, PathManager>,
    controllers: HashMap<u32, Instance>,
    events: Events,
    openings: Openings,
    again: Again,
    lost: HashMap<u32, u64>,
    report: Report,
}

impl Server {
    /// For the connections of `controllers` in the namespaces of `managers`, which are by the
    /// namespaces' inode numbers.
    pub fn new(rule: Rule, managers: HashMap<u32, PathManager>, controllers: Vec<Instance>) -> Result<Server> {
        Ok(Server {
            rule,
            managers,
            events: Events::of(controllers.iter())?,
            controllers: controllers.into_iter().map(|i| (i.id, i)).collect(),
            openings: Openings::default(),
            again: Again::default(),
            lost: HashMap::new(),
            report: Report::default(),
        })
    }

    /// Brings all connections that there are in order.
    pub fn begin(&mut self) -> Result<()> {
        // What happened before is in the maps.
        self.events.discard();
        self.review()
    }

    /// Serves until `stop` is set. Returns what it has done.
    pub fn serve(mut self, stop: &AtomicBool) -> Result<Report> {
        let mut next_review = Instant::now() + REVIEW;
        while !stop.load(Ordering::Relaxed) {
            let now = Instant::now();
            if now >= next_review {
                self.review()?;
                next_review = now + REVIEW;
            }
            let next = [Some(next_review), self.openings.next(), self.again.next()];
            let until = next.into_iter().flatten().min().expect("a review is always next");
            self.events.wait(until.saturating_duration_since(Instant::now()));
            while let Some((controller, event)) = self.events.next() {
                self.take(controller, &event);
            }
            self.set_flags_again();
            self.open_what_is_due();
        }
        Ok(self.report)
    }

    /// Brings connections in order: of all controllers at first, then of those that have lost
    /// events.
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
                self.set_flags(controller, key, conn);
            }
            self.openings.consider(&self.rule, controller, key, conn, kind::UP);
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
                self.set_flags(controller, event.conn, &entry.conn);
                self.report.latency.note(event.time);
            }
            kind::UP | kind::DOWN | kind::JOIN_BYTES => {
                if entry.conn.suppressed != 0 && event.kind == kind::UP {
                    self.set_flags(controller, event.conn, &entry.conn);
                }
                self.openings.consider(&self.rule, controller, event.conn, &entry.conn, event.kind);
            }
            _ => {}
        }
    }

    /// Suppressed: all subflows but the first are backups. Otherwise none is.
    fn set_flags(&mut self, controller: u32, key: u64, conn: &Conn) {
        // The key may be that of another connection by now, in a namespace of others.
        let Some(manager) = self.managers.get_mut(&conn.netns) else { return self.again.forget(key) };
        let mut taken = true;
        for (slot, path) in conn.established() {
            let (first, suppressed) = (slot == usize::from(conn.first), conn.suppressed != 0);
            // The first has never been a backup, unless it became the first by the loss of another,
            // which releases.
            if first && suppressed {
                continue;
            }
            match manager.set_backup(conn.token, path, suppressed) {
                Ok(()) => self.report.flags_set += 1,
                Err(error) if is_gone(&error) => taken = false,
                Err(_) => self.report.failed += 1,
            }
        }
        self.again.note(controller, key, taken, Instant::now());
    }

    /// For connections with subflows whose flags the kernel has refused.
    fn set_flags_again(&mut self) {
        let now = Instant::now();
        while let Some((controller, key)) = self.again.due(now) {
            match self.controllers.get(&controller).map(|c| c.connection(key)) {
                Some(Ok(Some(entry))) => self.set_flags(controller, key, &entry.conn),
                _ => self.again.forget(key),
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
            self.openings.open(&self.rule, manager, due, &entry.conn, &mut self.report);
        }
    }
}
