//! Which subflows a connection gets, and when.

use super::{Report, is_gone};
use crate::address;
use crate::instance::Instance;
use crate::intf::{Conn, SUBFLOWS, kind};
use crate::netlink::PathManager;
use crate::settings::Settings;
use anyhow::{Result, ensure};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

/// Which subflows connections get that this machine has opened.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rule {
    /// How many in all; 0 or 1: no more are opened.
    pub subflows: u8,
    /// Local addresses of the further ones, in turns; none: that of the first.
    pub locals: Vec<IpAddr>,
    /// Local ports of the further ones, in turns; none: those that differ from the first's in their
    /// lowest bits only, so that a hash that keeps the low bits apart takes other paths.
    pub ports: Vec<u16>,
    /// Time after the first subflow at which it is opened.
    pub after: Duration,
    /// Bytes that the first subflow must have sent before it is opened (MMPTCP's switch); 0: it is
    /// opened by time.
    pub after_bytes: u64,
}

impl Rule {
    /// Errors: more subflows than are coupled.
    pub fn check(&self) -> Result<()> {
        ensure!(usize::from(self.subflows) <= SUBFLOWS, "{} subflows: at most {SUBFLOWS} are coupled", self.subflows);
        ensure!(self.after_bytes == 0 || self.after.is_zero(), "open subflows after a time or after bytes, not both");
        Ok(())
    }

    /// Tells a controller after how many bytes an event is wanted. Without such a rule all events
    /// do: the daemon of another namespace may want them after its own number of bytes.
    pub(super) fn tell(&self, controller: &Instance) -> Result<()> {
        if self.after_bytes != 0 && !controller.draining && controller.params()?.join_bytes != self.after_bytes {
            controller.set(&Settings { join_bytes: Some(self.after_bytes), ..Settings::default() })?;
        }
        Ok(())
    }

    /// The local end of the `k`-th further subflow, at its `attempt`-th.
    fn local(&self, first: SocketAddr, k: u16, attempt: u16) -> SocketAddr {
        let ip = match self.locals.len() {
            0 => first.ip(),
            n => self.locals[(usize::from(k) - 1) % n],
        };
        let port = match self.ports.len() {
            // 1 to 7 in the lowest bits; other bits change when a port is taken.
            0 => first.port() ^ k ^ (attempt << 3),
            n => self.ports[(usize::from(k) - 1 + usize::from(attempt)) % n],
        };
        SocketAddr::new(ip, port)
    }
}

/// The address identifier of the `k`-th further subflow, at its `attempt`-th. The kernel keeps the
/// address of a subflow that has died, and refuses its identifier with another address: other
/// attempts have others.
fn identifier(subflows: u8, k: u16, attempt: u16) -> u8 {
    let place = u32::from(k) - 1 + u32::from(attempt) * u32::from(subflows);
    (1 + place % u32::from(u8::MAX)) as u8
}

/// Opening subflows of one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Due {
    at: Instant,
    pub(super) controller: u32,
    pub(super) key: u64,
    attempt: u16,
    /// Subflows before the first attempt, and those that all attempts have begun to open.
    had: u8,
    begun: u8,
}

/// What is to be opened, and when. A connection is in it once at most.
#[derive(Debug, Default)]
pub(super) struct Openings {
    queue: BinaryHeap<Reverse<Due>>,
    waiting: HashMap<u64, ()>,
}

/// The first subflow is not fully established before data is acknowledged: asked again so soon.
const FIRST_RETRY: Duration = Duration::from_millis(1);
const LAST_RETRY: Duration = Duration::from_secs(10);
/// The time from the loss of a subflow until another is opened.
const REOPEN: Duration = Duration::from_secs(1);
/// The time in which a subflow that was begun is established, also if its first SYN is lost.
const SETTLE: Duration = Duration::from_secs(2);
/// How often subflows are begun again that were not established: the peer may refuse them.
const MOST_CHECKS: u16 = 5;

impl Openings {
    /// After an event of the connection: is something to be opened?
    pub(super) fn consider(&mut self, rule: &Rule, controller: u32, key: u64, conn: &Conn, event: u8) {
        let initiated = conn.established().any(|(_, path)| path.initiated != 0);
        let due = match event {
            kind::DOWN => Some(REOPEN),
            _ if rule.after_bytes == 0 => Some(rule.after),
            _ => (conn.join_told != 0).then_some(Duration::ZERO),
        };
        let Some(wait) = due else { return };
        if initiated && conn.subflows > 0 && conn.subflows < rule.subflows && self.waiting.insert(key, ()).is_none() {
            let at = Instant::now() + wait;
            self.queue.push(Reverse(Due { at, controller, key, attempt: 0, had: conn.subflows, begun: 0 }));
        }
    }

    /// When something is due next.
    pub(super) fn next(&self) -> Option<Instant> {
        self.queue.peek().map(|Reverse(due)| due.at)
    }

    pub(super) fn due(&mut self) -> Option<Due> {
        if self.next()? > Instant::now() {
            return None;
        }
        self.queue.pop().map(|Reverse(due)| due)
    }

    pub(super) fn forget(&mut self, key: u64) {
        self.waiting.remove(&key);
    }

    /// Opens what the connection lacks. What fails is tried again, later each time.
    pub(super) fn open(
        &mut self,
        rule: &Rule,
        manager: &mut PathManager,
        mut due: Due,
        conn: &Conn,
        report: &mut Report,
    ) {
        let Some((_, path)) = conn.established().min_by_key(|(slot, _)| *slot != usize::from(conn.first)) else {
            return self.forget(due.key);
        };
        let (first, remote) = (address::of(path.family, &path.local), address::of(path.family, &path.remote));
        let taken: Vec<u16> = conn.established().map(|(_, p)| p.local.id.into()).collect();
        if conn.subflows < due.had {
            (due.had, due.begun) = (conn.subflows, 0);
        }
        // A subflow that was begun by an earlier attempt may not be established yet.
        let mut missing = rule.subflows.saturating_sub(conn.subflows.max(due.had.saturating_add(due.begun)));
        let mut failed = false;
        // There is one more than further subflows, since the subflow with identifier 0 may have
        // gone.
        for k in 1..=u16::from(rule.subflows) {
            let id = identifier(rule.subflows, k, due.attempt);
            if missing == 0 {
                break;
            }
            if taken.contains(&id.into()) {
                continue;
            }
            let local = rule.local(first, k, due.attempt);
            match manager.create(conn.token, local, id, remote) {
                Ok(()) => {
                    report.opened += 1;
                    due.begun += 1;
                    missing -= 1;
                }
                Err(error) => {
                    failed = true;
                    report.failed += u64::from(!is_gone(&error));
                }
            }
        }
        if failed && missing > 0 {
            let wait = (FIRST_RETRY * 2u32.saturating_pow(due.attempt.into())).min(LAST_RETRY);
            self.queue.push(Reverse(Due {
                at: Instant::now() + wait,
                attempt: due.attempt.saturating_add(1).min(1000),
                ..due
            }));
        } else if due.begun > 0 && due.attempt < MOST_CHECKS {
            // Until then events of the connection open nothing: they would count the begun ones as
            // missing.
            let at = Instant::now() + SETTLE;
            self.queue.push(Reverse(Due { at, attempt: due.attempt + 1, had: 0, begun: 0, ..due }));
        } else {
            self.forget(due.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_differ_in_their_lowest_bits() {
        let first: SocketAddr = "10.0.0.1:40961".parse().unwrap();
        let ports: Vec<u16> = (1..8).map(|k| Rule::default().local(first, k, 0).port()).collect();
        let mut low: Vec<u16> = ports.iter().map(|p| p & 7).collect();
        low.push(first.port() & 7);
        low.sort_unstable();
        assert_eq!(low, [0, 1, 2, 3, 4, 5, 6, 7]);
        assert!(ports.iter().all(|p| p >> 3 == first.port() >> 3));
        assert_ne!(Rule::default().local(first, 1, 1), Rule::default().local(first, 1, 0));
    }

    #[test]
    fn identifiers_are_never_0_and_differ_within_an_attempt_and_from_those_of_the_last() {
        for subflows in 1..=SUBFLOWS as u8 {
            for attempt in 0..1000 {
                let of = |attempt| (1..=u16::from(subflows)).map(move |k| identifier(subflows, k, attempt));
                let ids: std::collections::HashSet<u8> = of(attempt).chain(of(attempt + 1)).collect();
                assert_eq!((ids.len(), ids.contains(&0)), (2 * usize::from(subflows), false), "{attempt}");
            }
        }
        assert_eq!((1..=4).map(|k| identifier(4, k, 0)).collect::<Vec<_>>(), [1, 2, 3, 4]);
    }

    #[test]
    fn given_addresses_and_ports_come_in_turns() {
        let rule = Rule {
            locals: vec!["10.0.1.1".parse().unwrap(), "10.0.2.1".parse().unwrap()],
            ports: vec![7000],
            ..Rule::default()
        };
        let first: SocketAddr = "10.0.0.1:40961".parse().unwrap();
        let all: Vec<String> = (1..4).map(|k| rule.local(first, k, 0).to_string()).collect();
        assert_eq!(all, ["10.0.1.1:7000", "10.0.2.1:7000", "10.0.1.1:7000"]);
    }
}
