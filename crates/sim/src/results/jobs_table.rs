//! The table of jobs.

use crate::plan::{JobKind, Operation, Plan};
use crate::results::column::table;
use crate::results::outcome::JobOutcome;
use linkpool_scenario::Measure;
use linkpool_units::Time;
use linkpool_workload::Job;

/// A job, done or under way.
#[derive(Debug)]
pub(crate) struct JobRow<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) outcome: &'a JobOutcome,
}

table! {
    /// A row per job, collective operation or iteration of programs, in order of end; those that the
    /// end of the run cut off come last.
    "jobs" of JobRow<'_>, unless "no workload of its scenario has jobs", |row|
    /// Label of the workload.
    label: str, "" = row.plan.labels[row.outcome.label.index()].as_str();
    /// Number of the workload in workloads. With `job` it identifies the job, here and in flows; with
    /// `job` and `restart` the row.
    workload: u32, "" = row.plan.workloads[row.outcome.label.index()];
    /// `partition-aggregate`, `program`, or the algorithm of a collective operation.
    kind: str, "" = row.kind().name;
    /// Number among those of its workload; `job` in flows. Of an operation: the iteration times the
    /// number of groups, and the group. Of programs: the iteration.
    job: u32, "" = row.job().number;
    /// How often its job had failed and begun again before this iteration. An iteration that stands
    /// here again after a later restart was done twice, as its checkpoint was not whole.
    restart: u32, "" = row.outcome.restart;
    /// Of the chains side by side; null: not of `partition-aggregate`.
    chain: u32, "" = row.job().of.map(|(chain, _)| chain);
    /// Host; null: not of `partition-aggregate`.
    client: str, "" = row.job().of.map(|(_, client)| row.plan.fabric.name(client.into()));
    /// Hosts that take part in an operation; null: another job.
    ranks: u32, "" = row.operation().map(|operation| operation.ranks);
    /// Data of each rank; null: another job.
    size_bytes: u64, "B" = row.operation().map(|operation| operation.size);
    /// The client opens the connections of its requests; of an operation, the first start of its
    /// flows; of programs, the first rank begins the iteration.
    start_s: f64, "s" = row.job().start.secs();
    /// The last answer has arrived at the client; of an operation, its last message is delivered; of
    /// programs, the last receive, or calc of more than 0 units, of all ranks has ended. Null: under
    /// way at the end of the run.
    end_s: f64, "s" = row.job().end.map(Time::secs);
    /// `end_s - start_s`.
    jct_s: f64, "s" = row.job().end.map(|end| (end - row.job().start).secs());
    /// Algorithm bandwidth of an operation, as nccl-tests define it: `8 size_bytes / jct_s`.
    algorithm_bandwidth_bps: f64, "bit/s" = row.bandwidth();
    /// Bus bandwidth of an operation, as nccl-tests define it: the algorithm bandwidth, times 2 (n
    /// - 1) / n of an all-reduce of n ranks, (n - 1) / n of a reduce-scatter, an all-gather or an
    /// all-to-all, and 1 of a broadcast.
    bus_bandwidth_bps: f64, "bit/s" = row.bandwidth().zip(row.operation()).map(|(rate, o)| rate * o.bus_factor);
    /// Requests and answers, or messages.
    flows: u32, "" = row.job().flows;
    /// Messages of an operation that did not start before `duration`, or the earlier end of the
    /// run; null: another job, whose flows start whenever they can.
    not_started: u32, "" = row.outcome.not_started;
    /// Of the first iteration after a failure: what the failure cost, which is the time from when this iteration had begun
    /// before it to `start_s`. Computations in vain are in `lost_s - recovery_s`. Null: no failure was before it.
    lost_s: f64, "s" = row.outcome.lost.map(|lost| lost.all.secs());
    /// The part of `lost_s` for which the job stood still, from the failure on; of failures in a recovery from the first.
    recovery_s: f64, "s" = row.outcome.lost.map(|lost| lost.recovery.secs());
    /// The job counts in statistics: it started in the measured period, and no failure of the job cut
    /// it off.
    measured: bool, "" = row.measured();
}

impl<'a> JobRow<'a> {
    fn job(&self) -> &'a Job {
        &self.outcome.job
    }

    fn kind(&self) -> &'a JobKind {
        self.plan.jobs[self.outcome.label.index()].as_ref().expect("a job is of a kind")
    }

    fn measured(&self) -> bool {
        let Measure { warm_up, cut_off } = self.plan.measure;
        (warm_up..cut_off).contains(&self.job().start) && !self.outcome.failed
    }

    /// Of an operation that has ended.
    fn bandwidth(&self) -> Option<f64> {
        let jct = (self.job().end? - self.job().start).secs();
        self.operation().map(|operation| 8.0 * operation.size as f64 / jct)
    }

    fn operation(&self) -> Option<Operation> {
        self.kind().operation
    }
}
