//! What hosts have to do that no packet brings about.

use crate::plan::PlannedFlow;
use crate::start::placement::{Long, Report};
use linkpool_network::{LinkId, NodeId};
use linkpool_units::Time;
use linkpool_workload::{FlowEnd, Process};
use std::collections::{BTreeMap, HashMap};

/// Something to do at a host at a time.
#[derive(Debug)]
pub(crate) enum Notice {
    /// Start this flow, which has this number in the results.
    Start(u32, PlannedFlow),
    /// This process of the plan begins here.
    Begin(u32, Box<Process>),
    /// The flow of this number, of a process that is here, has ended elsewhere.
    Ended(u32, FlowEnd),
    /// The first flow, for which the second waits, which starts here, is over.
    Over(u32, u32),
    /// The flows of this host are looked at, for the scheduler that places them.
    Scan,
    /// What came of that at a host; for the scheduler, which is here.
    Report(NodeId, Report),
    /// All reports are in: the scheduler decides.
    Decide,
    /// A flow takes this path from now on.
    Place(Long, Vec<LinkId>),
}

impl Notice {
    /// The order of what is due at one time; no two are alike.
    fn order(&self) -> (u8, u32, u32) {
        match self {
            Notice::Start(flow, _) => (0, *flow, 0),
            Notice::Begin(process, _) => (1, *process, 0),
            Notice::Ended(flow, _) => (2, *flow, 0),
            Notice::Over(flow, follower) => (3, *flow, *follower),
            Notice::Place(long, _) => (4, long.flow(), 0),
            Notice::Scan => (5, 0, 0),
            Notice::Report(host, _) => (6, *host, 0),
            Notice::Decide => (7, 0, 0),
        }
    }
}

/// What a host has to do, and the processes that live there.
#[derive(Debug, Default)]
pub(crate) struct Agenda {
    entries: BTreeMap<(Time, (u8, u32, u32)), Notice>,
    /// Of flows that start here and wait: how many others are over.
    pub(crate) done: HashMap<u32, u32>,
    /// By their numbers in the plan.
    pub(crate) processes: HashMap<u32, Process>,
}

impl Agenda {
    pub(crate) fn insert(&mut self, at: Time, notice: Notice) {
        self.entries.insert((at, notice.order()), notice);
    }

    /// Takes the first entry, if it is due by `now`.
    pub(crate) fn due(&mut self, now: Time) -> Option<Notice> {
        let first = self.entries.first_entry().filter(|entry| entry.key().0 <= now)?;
        Some(first.remove())
    }
}
