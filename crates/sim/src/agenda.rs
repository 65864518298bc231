//! What hosts have to do that no packet brings about.

use crate::plan::PlannedFlow;
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
}

impl Notice {
    /// The order of what is due at one time; no two are alike.
    fn order(&self) -> u64 {
        match self {
            Notice::Start(flow, _) => u64::from(*flow),
            Notice::Begin(process, _) => 1 << 32 | u64::from(*process),
            Notice::Ended(flow, _) => 2 << 32 | u64::from(*flow),
        }
    }
}

/// What a host has to do, and the processes that live there.
#[derive(Debug, Default)]
pub(crate) struct Agenda {
    entries: BTreeMap<(Time, u64), Notice>,
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
