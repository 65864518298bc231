//! Counts the finished flows that count for the goal of the run.

use crate::host::component::{Component, Context};
use crate::host::slots::Sending;
use crate::plan::Goal;

/// Counts flows that have finished.
pub(crate) struct GoalCounter<'p>(pub(crate) &'p Goal);

impl Component for GoalCounter<'_> {
    fn on_flow_end(&mut self, sending: &Sending, finished: bool, context: &mut Context) {
        let counts = self.0.labels[sending.planned.label.index()];
        context.done += u64::from(counts && finished);
    }
}
