//! The table of what ranks do over time.

use crate::plan::{Plan, PlannedPrograms};
use crate::results::column::table;
use crate::results::timeline::RankSpan;

/// A time for which a rank does the same.
#[derive(Debug)]
pub(crate) struct RankSpanRow<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) span: RankSpan,
}

table! {
    /// A row for each time for which a rank does the same; those of a rank in order of time.
    "rank_spans" of RankSpanRow<'_>,
    unless "to record it, write `ranks = true` under [record], where a workload is of the kind `program` or `training`", |row|
    /// Label of the workload.
    label: str, "" = row.plan.labels[row.programs().label.index()].as_str();
    /// Number of the workload in workloads.
    workload: u32, "" = row.plan.workloads[row.programs().label.index()];
    /// The rank.
    rank: u32, "" = row.span.rank;
    /// Host of the rank.
    host: str, "" = row.plan.fabric.name(row.programs().hosts[row.span.rank as usize].into());
    /// The iteration, from 0; of `checkpoint` the one before it, of `recovery` the one that the failure cut off,
    /// and the last one when the rank is done and others are not.
    iteration: u32, "" = row.span.iteration;
    /// How often the job had failed and begun again before this iteration.
    restart: u32, "" = row.span.restart;
    /// `computation`; `straggling`: a computation goes on that would be over, were the rank no straggler;
    /// `communication`: no computation, but a message from it or to it is under way; `wait`: neither; `checkpoint`: it
    /// writes one; `recovery`: from a failure of the job until it goes on.
    doing: str, "" = row.span.doing.name();
    /// From when.
    start_s: f64, "s" = row.span.start.secs();
    /// Until when: the next row of the rank begins there.
    end_s: f64, "s" = row.span.end.secs();
}

impl<'a> RankSpanRow<'a> {
    fn programs(&self) -> &'a PlannedPrograms {
        &self.plan.programs[self.span.programs as usize]
    }
}
