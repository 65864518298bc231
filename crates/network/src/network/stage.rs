//! The stages of a partition that runs ahead of the others: which windows they run, and when.
//!
//! At an *epoch*, each stage runs one window: the window of the epoch's number, or one that is as far before it as the stage
//! is behind ([`crate::lookahead`]). The windows of a [`Phase`] run so. All stages run the windows between two phases
//! together, as they run each window in a network without stages.

use super::handler::Handler;
use super::run::Network;
use crate::stages::{HOSTS, StageStep, Stages};
use std::ops::Range;
use std::sync::Arc;

/// What all partitions run until they meet again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Round {
    /// This window, by all stages together.
    Window(u64),
    /// These epochs.
    Epochs(Range<u64>),
}

/// Windows that stages run at different times. All partitions know the same.
#[derive(Clone, Debug)]
pub(crate) struct Phase {
    /// Its windows. Before the first of them all windows are over.
    windows: Range<u64>,
    /// The epoch after the last one that has run.
    epoch: u64,
}

impl Phase {
    /// What partitions run next. The first packet or timer is due in window `first`, and all stages run window
    /// `common` together: its switches have timers, or the run ends.
    pub(crate) fn next(phase: &mut Option<Phase>, stages: &Stages, first: u64, common: u64) -> Round {
        if first >= common {
            *phase = None;
            return Round::Window(first);
        }
        let phase = phase.get_or_insert(Phase { windows: first..common, epoch: first });
        let epoch = phase.epoch.max(first);
        phase.epoch = epoch + stages.windows;
        Round::Epochs(epoch..phase.epoch)
    }

    /// The epoch after the last one that has run. All events so far were before that window.
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The window before which all windows are over at `epoch`.
    fn last_window(&self, epoch: u64, stages: &Stages) -> u64 {
        epoch.saturating_sub(stages.span()).clamp(self.windows.start, self.windows.end)
    }
}

impl Network {
    /// The stages, if the network may run ahead of others.
    pub(crate) fn stages(&self) -> Option<&Arc<Stages>> {
        // Packets that pass a tap are shown window by window.
        self.stages.as_ref().filter(|_| self.taps.is_none())
    }

    /// The first window in which switches have timers.
    pub(crate) fn first_timer_of_switches(&self) -> u64 {
        let timers = &self.timer_windows[self.hosts.index()..];
        timers.iter().copied().min().unwrap_or(u64::MAX)
    }

    /// Partitions have met, and run `epoch` next. Others may still run hosts at the epoch before.
    pub(crate) fn begin_epochs(&mut self, epoch: u64, phase: &Phase, stages: &Stages) {
        self.over = self.egress.windows.start(phase.last_window(epoch.saturating_sub(1), stages));
    }

    /// Begins `epoch`.
    pub(crate) fn begin_epoch(&mut self, epoch: u64, phase: &Phase, stages: &Stages) {
        self.egress.in_flight.advance_to(phase.last_window(epoch, stages));
    }

    /// Runs the windows of these `steps` at `epoch`.
    pub(crate) fn run_steps<H: Handler>(
        &mut self,
        steps: &[StageStep],
        (epoch, phase, stages): (u64, &Phase, &Stages),
        handler: &mut H,
    ) {
        for step in steps {
            let Some(window) = epoch.checked_sub(step.behind).filter(|window| phase.windows.contains(window)) else {
                continue;
            };
            if step.stage == HOSTS {
                self.begin_hosts(window, self.egress.windows.end(window));
                assert!(
                    self.woken.last().is_none_or(|node| *node < self.hosts),
                    "all stages run timers of switches together"
                );
                self.visit_hosts(handler);
            } else {
                self.take(window, step.stage);
                self.forward_stage(step, stages);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stages::Stage;

    /// Two stages, of which one is three windows behind the other; partitions meet every four windows.
    fn stages() -> Stages {
        let step = |stage: Stage, behind| StageStep { stage, behind, passes_on: false };
        let steps = vec![step(2, 0), step(1, 3)];
        Stages { queued: Box::default(), joined: Arc::new([]), steps, border: 1, windows: 4 }
    }

    /// All stages run windows 20 and 40 together.
    #[test]
    fn epochs_follow_each_other_and_skip_silence() {
        let (stages, mut phase) = (stages(), None);
        let mut next = |first, common| Phase::next(&mut phase, &stages, first, common);
        assert_eq!(next(5, 20), Round::Epochs(5..9));
        assert_eq!(next(6, 20), Round::Epochs(9..13), "window 6 is one that the last stage runs at epoch 9");
        assert_eq!(next(16, 20), Round::Epochs(16..20), "nothing is due before");
        assert_eq!(next(19, 20), Round::Epochs(20..24), "the last stage has yet to run window 19");
        assert_eq!(next(20, 20), Round::Window(20));
        assert_eq!(next(21, 40), Round::Epochs(21..25), "again from the first window");
        assert_eq!(next(50, 40), Round::Window(50));
    }

    /// Windows 10 to 19: the last stage has run all before 10 at epoch 13, and none of 20 and after.
    #[test]
    fn windows_are_over_when_the_last_stage_has_run_them() {
        let (stages, phase) = (stages(), Phase { windows: 10..20, epoch: 0 });
        let last = [0, 10, 13, 14, 22, 23, 24, 90].map(|epoch| phase.last_window(epoch, &stages));
        assert_eq!(last, [10, 10, 10, 11, 19, 20, 20, 20]);
    }
}
