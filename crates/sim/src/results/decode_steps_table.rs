//! The table of steps of decode instances.

use crate::plan::{Plan, PlannedServing};
use crate::results::column::table;
use crate::results::sample::DecodeStep;
use linkpool_units::Time;

/// A step, over or not.
#[derive(Debug)]
pub(crate) struct DecodeStepRow<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) at: Time,
    pub(crate) of: DecodeStep,
}

table! {
    /// A row for each step of a decode instance, in order of end; those that the end of the run cut off end there.
    "decode_steps" of DecodeStepRow<'_>,
    unless "to record it, write `steps = true` under [record], where a workload is of the kind `inference`", |row|
    /// Label of the workload.
    label: str, "" = row.plan.labels[row.served().label.index()].as_str();
    /// Number of the workload in workloads.
    workload: u32, "" = row.plan.workloads[row.served().label.index()];
    /// Host of the decode instance; `decode_host` in requests.
    host: str, "" = row.plan.fabric.name(row.served().serving.decode[row.of.instance as usize].into());
    /// Number of the step at the instance, from 0.
    step: u32, "" = row.of.step.number;
    /// It began.
    start_s: f64, "s" = row.of.start.secs();
    /// It was over; null: it was not at the end of the run.
    end_s: f64, "s" = row.of.over.then_some(row.at.secs());
    /// For how long the instance computed for it, for its own sequences and, as far as they came here, for tokens at its experts. The
    /// rest of the step it waited for tokens from other instances.
    computed_s: f64, "s" = row.computed().secs();
    /// Sequences of its batch. 0: it took part for its experts alone.
    sequences: u32, "" = row.of.step.sequences;
    /// Of these, those of which it was the first step.
    joined: u32, "" = row.of.step.joined;
    /// Tokens that it generated: one for each sequence, at its end.
    tokens: u32, "" = if row.of.over { row.of.step.sequences } else { 0 };
}

impl<'a> DecodeStepRow<'a> {
    fn served(&self) -> &'a PlannedServing {
        &self.plan.served[self.of.served as usize]
    }

    /// A computation that the end of the run cuts off counts until then.
    fn computed(&self) -> Time {
        self.of.computed.min(self.at - self.of.start)
    }
}
