//! The stages of a partition that runs ahead of the others: which windows they run, and when.
//!
//! At a *front*, each stage runs one window: the window of the front's number, or one that is as far before it as the stage
//! is behind ([`crate::lookahead`]). The windows of a [`Stretch`] run so. All stages run the windows between two stretches
//! together, as they run each window in a network without stages.

use super::handler::Handler;
use super::run::Network;
use crate::stages::{HOSTS, StageStep, Stages};
use std::ops::Range;
use std::sync::Arc;

/// What all partitions run until they meet again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Turn {
    /// This window, by all stages together.
    Window(u64),
    /// These fronts.
    Fronts(Range<u64>),
}

/// Windows that stages run at different times. All partitions know the same.
#[derive(Clone, Debug)]
pub(crate) struct Stretch {
    /// Its windows. Before the first of them all windows are over.
    windows: Range<u64>,
    /// The front after the last one that has run.
    front: u64,
}

impl Stretch {
    /// What partitions run next. The first packet or timer is due in window `first`, and all stages run window
    /// `common` together: its switches have timers, or the run ends.
    pub(crate) fn next(stretch: &mut Option<Stretch>, stages: &Stages, first: u64, common: u64) -> Turn {
        if first >= common {
            *stretch = None;
            return Turn::Window(first);
        }
        let stretch = stretch.get_or_insert(Stretch { windows: first..common, front: first });
        let front = stretch.front.max(first);
        stretch.front = front + stages.windows;
        Turn::Fronts(front..stretch.front)
    }

    /// The front after the last one that has run. All events so far were before that window.
    pub(crate) fn front(&self) -> u64 {
        self.front
    }

    /// The window before which all windows are over at `front`.
    fn last_window(&self, front: u64, stages: &Stages) -> u64 {
        front.saturating_sub(stages.span()).clamp(self.windows.start, self.windows.end)
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

    /// Partitions have met, and run `front` next. Others may still run hosts at the front before.
    pub(crate) fn begin_fronts(&mut self, front: u64, stretch: &Stretch, stages: &Stages) {
        self.over = self.egress.windows.start(stretch.last_window(front.saturating_sub(1), stages));
    }

    /// Begins `front`.
    pub(crate) fn begin_front(&mut self, front: u64, stretch: &Stretch, stages: &Stages) {
        self.egress.on_the_way.advance_to(stretch.last_window(front, stages));
    }

    /// Runs the windows of these `steps` at `front`.
    pub(crate) fn run_steps<H: Handler>(
        &mut self,
        steps: &[StageStep],
        (front, stretch, stages): (u64, &Stretch, &Stages),
        handler: &mut H,
    ) {
        for step in steps {
            let Some(window) = front.checked_sub(step.behind).filter(|window| stretch.windows.contains(window)) else {
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
    fn fronts_follow_each_other_and_skip_silence() {
        let (stages, mut stretch) = (stages(), None);
        let mut next = |first, common| Stretch::next(&mut stretch, &stages, first, common);
        assert_eq!(next(5, 20), Turn::Fronts(5..9));
        assert_eq!(next(6, 20), Turn::Fronts(9..13), "window 6 is one that the last stage runs at front 9");
        assert_eq!(next(16, 20), Turn::Fronts(16..20), "nothing is due before");
        assert_eq!(next(19, 20), Turn::Fronts(20..24), "the last stage has yet to run window 19");
        assert_eq!(next(20, 20), Turn::Window(20));
        assert_eq!(next(21, 40), Turn::Fronts(21..25), "again from the first window");
        assert_eq!(next(50, 40), Turn::Window(50));
    }

    /// Windows 10 to 19: the last stage has run all before 10 at front 13, and none of 20 and after.
    #[test]
    fn windows_are_over_when_the_last_stage_has_run_them() {
        let (stages, stretch) = (stages(), Stretch { windows: 10..20, front: 0 });
        let last = [0, 10, 13, 14, 22, 23, 24, 90].map(|front| stretch.last_window(front, &stages));
        assert_eq!(last, [10, 10, 10, 11, 19, 20, 20, 20]);
    }
}
