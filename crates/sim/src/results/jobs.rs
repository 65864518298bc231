//! Collective operations: each is done when all its flows are.

use crate::plan::{LabelId, Operation, Plan};
use crate::results::outcome::{FlowOutcome, JobOutcome};
use linkpool_units::Time;
use linkpool_workload::Job;
use std::collections::HashMap;

/// Operations under way, by label and number.
#[derive(Debug, Default)]
pub(crate) struct Operations(HashMap<(LabelId, u32), UnderWay>);

#[derive(Debug)]
struct UnderWay {
    not_started: u32,
    missing: u32,
    start: Time,
    /// The last message was delivered.
    delivered: Time,
    /// The last message was acknowledged.
    end: Time,
}

impl Operations {
    /// `flow` has ended. If it was the last flow of an operation, returns the operation.
    pub(crate) fn note(&mut self, plan: &Plan, flow: &FlowOutcome) -> Option<JobOutcome> {
        let label = flow.planned.label;
        let operation = plan.jobs[label.index()]?.operation?;
        let key = (label, flow.planned.flow.job?);
        let start = flow.planned.flow.start;
        let new = UnderWay {
            not_started: operation.flows,
            missing: operation.flows,
            start,
            delivered: Time::ZERO,
            end: Time::ZERO,
        };
        let under_way = self.0.entry(key).or_insert(new);
        under_way.not_started -= 1;
        under_way.start = under_way.start.min(start);
        under_way.delivered = under_way.delivered.max(flow.delivered?);
        under_way.end = under_way.end.max(flow.finished?);
        under_way.missing -= 1;
        if under_way.missing > 0 {
            return None;
        }
        let UnderWay { start, delivered, end, .. } = self.0.remove(&key)?;
        Some(outcome(key, &operation, (start, Some(delivered)), end, 0))
    }

    /// The operations that the end of the run, at `now`, cuts off.
    pub(crate) fn unfinished(&mut self, plan: &Plan, now: Time) -> impl Iterator<Item = JobOutcome> {
        self.0.drain().filter_map(move |(key, under_way)| {
            let operation = plan.jobs[key.0.index()]?.operation?;
            Some(outcome(key, &operation, (under_way.start, None), now, under_way.not_started))
        })
    }
}

fn outcome(
    (label, number): (LabelId, u32),
    operation: &Operation,
    (start, end): (Time, Option<Time>),
    active_until: Time,
    not_started: u32,
) -> JobOutcome {
    let job = Job { number, of: None, start, end, flows: operation.flows };
    JobOutcome { not_started: Some(not_started), ..JobOutcome::new(label, job, active_until) }
}
