//! Counts the finished flows that count for the goal of the run.

use crate::host::component::{Component, Context};
use crate::plan::{FlowId, Goal, PlannedFlow};

/// Counts flows that have finished.
pub(crate) struct GoalCounter<'p>(pub(crate) &'p Goal);

impl Component for GoalCounter<'_> {
    fn on_flow_end(&mut self, _: FlowId, planned: &PlannedFlow, finished: bool, context: &mut Context) {
        let counts = self.0.labels[planned.label.index()];
        context.done += u64::from(counts && finished);
    }
}
