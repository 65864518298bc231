//! The stages of the partitions of a divided network, which run windows at different times ([`crate::lookahead`] says when).

use std::sync::Arc;

/// The number of a stage of a partition. The packets of a stage that arrive in a window are processed together.
pub(crate) type Stage = u8;

/// The hosts.
pub(crate) const HOSTS: Stage = 0;
/// Where a network has no [`Stages`]: switches from which packets may go to another partition.
pub(crate) const BORDER: Stage = 1;
/// Where a network has no [`Stages`]: the other switches.
pub(crate) const INNER: Stage = 2;
/// The most stages that a partition has.
pub(crate) const MOST_STAGES: usize = 8;

/// The stages of all partitions of a network, which run windows at different times.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Stages {
    /// By link that leaves a switch: the stage in which packets are queued for it.
    pub(crate) queued: Box<[Stage]>,
    /// By link: the stage that packets join when they have come by it. Of the stages in which they may be queued
    /// next, it is the one that comes to the window first.
    pub(crate) joined: Arc<[Stage]>,
    /// The stages in the order in which they run.
    pub(crate) steps: Vec<StageStep>,
    /// The number of steps after which all packets are queued that go to other partitions; these steps need none from them.
    pub(crate) border: usize,
    /// The number of windows that a partition runs before it needs packets of the others again.
    pub(crate) windows: u64,
}

/// A stage where it runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct StageStep {
    pub(crate) stage: Stage,
    /// The windows by which it is behind the stages that are furthest ahead.
    pub(crate) behind: u64,
    /// Are packets that join it queued in other stages, too?
    pub(crate) passes_on: bool,
}

impl Stages {
    /// The windows by which `stage` is behind the stages that are furthest ahead.
    pub(crate) fn behind(&self, stage: Stage) -> u64 {
        self.steps.iter().find(|step| step.stage == stage).map_or(0, |step| step.behind)
    }

    /// By how many windows the last stage is behind the first.
    pub(crate) fn span(&self) -> u64 {
        self.steps.iter().map(|step| step.behind).max().unwrap_or(0)
    }
}
