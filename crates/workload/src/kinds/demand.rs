//! The flows that a workload asks for, and the run in which it asks.

use std::fmt;
use std::sync::Arc;

use linkpool_engine::{Stream, stream};
use linkpool_units::{HostId, Time};
use rand::seq::SliceRandom;

use crate::flow::Flow;
use crate::process::Process;
use crate::program::Programs;
use crate::restarts::Restarts;
use crate::serving::Serving;
use crate::slow_ranks::SlowRanks;

/// The run in which a workload asks for flows.
#[derive(Clone, Debug)]
pub struct Run {
    /// The seed of the run.
    pub seed: u64,
    /// The name of the workload's kind.
    pub kind: &'static str,
    /// The number of the workload among those of its kind.
    pub index: u64,
    /// The start of the workload.
    pub start: Time,
    /// The time from which on no flow starts.
    pub duration: Time,
    /// The rack and the pod of each host.
    pub racks_and_pods: Arc<[(u32, u32)]>,
    /// The hosts that have the role of the workload; `None` if it has no role.
    pub senders: Option<Vec<HostId>>,
}

impl Run {
    /// The number of hosts.
    pub(super) fn hosts(&self) -> usize {
        self.racks_and_pods.len()
    }

    /// The random numbers of the workload.
    pub(super) fn random(&self) -> Stream {
        stream(self.seed, self.kind, self.index)
    }

    /// All hosts in a random order of the workload.
    pub(super) fn shuffled(&self) -> Vec<HostId> {
        let mut all: Vec<HostId> = HostId::first(self.hosts()).collect();
        all.shuffle(&mut self.random());
        all
    }

    /// The random numbers of its process `i`.
    pub(super) fn random_of_process(&self, i: u32) -> Stream {
        stream(self.seed, &format!("{} process", self.kind), self.index << 32 | u64::from(i))
    }
}

/// The flows that a workload asks for: listed before the run, drawn when they are needed, or
/// started by processes during the run.
#[derive(Debug, Default)]
pub struct Demand {
    /// The listed flows.
    pub listed: Vec<Flow>,
    /// Which listed flows wait for which.
    pub waits: Vec<Wait>,
    /// Flows that wait for some of these only: their places, and the number of flows for which they
    /// wait.
    pub enough: Vec<(u32, u32)>,
    /// The flows that are drawn.
    pub drawn: Option<Box<dyn Draw>>,
    /// The processes.
    pub processes: Vec<ProcessStart>,
    /// The programs of ranks.
    pub programs: Option<RankPrograms>,
    /// A model that is served.
    pub serving: Option<Serving>,
}

/// Programs of ranks, and the hosts that run them.
#[derive(Clone, Debug)]
pub struct RankPrograms {
    /// The programs, matched.
    pub programs: Arc<Programs>,
    /// By rank: its host.
    pub hosts: Vec<HostId>,
    /// How often each rank runs its program.
    pub iterations: u32,
    /// The time of a unit of computation.
    pub unit: Time,
    /// Ranks that compute slower than that, if there are any.
    pub slow: Option<SlowRanks>,
    /// When the job fails, and from where it goes on, if it does.
    pub restarts: Option<Restarts>,
}

/// A listed flow waits for another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wait {
    /// The flow for which it waits, by its place.
    pub before: u32,
    /// The flow that waits.
    pub after: u32,
    /// The event for which it waits.
    pub on: WaitsFor,
    /// From that event until the wait is over; the flow that waits starts at an end of the other.
    pub delay: Time,
}

/// The event of a flow for which another flow waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaitsFor {
    /// Its end: all data has arrived, if that is known where the other flow starts; or is
    /// acknowledged, if both start at the same host.
    End,
    /// Its start; both start at the same host.
    Start,
}

impl Wait {
    /// `after` waits for the end of `before`.
    pub fn for_end(before: u32, after: u32) -> Wait {
        Wait { before, after, on: WaitsFor::End, delay: Time::ZERO }
    }

    /// `after` waits for the start of `before`.
    pub fn for_start(before: u32, after: u32) -> Wait {
        Wait { on: WaitsFor::Start, ..Wait::for_end(before, after) }
    }
}

/// A process, with the host and the time at which it begins.
#[derive(Clone, Debug)]
pub struct ProcessStart {
    /// Its first state.
    pub process: Process,
    /// The host at which it begins.
    pub home: HostId,
    /// Time at which it begins, counted from the start of the workload.
    pub after: Time,
    /// It starts no flow at or after this.
    pub until: Time,
}

/// Flows that are drawn one by one, in order of start: memory does not grow with their number.
pub trait Draw: Iterator<Item = Flow> + fmt::Debug + Send + Sync {
    /// A copy, which draws the same flows.
    fn copy(&self) -> Box<dyn Draw>;
}

impl<D: Iterator<Item = Flow> + Clone + fmt::Debug + Send + Sync + 'static> Draw for D {
    fn copy(&self) -> Box<dyn Draw> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn Draw> {
    fn clone(&self) -> Box<dyn Draw> {
        (**self).copy()
    }
}
