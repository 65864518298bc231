//! The table of jobs.

use crate::plan::Plan;
use crate::results::outcome::JobOutcome;
use crate::results::table::{Kind, Table};
use linkpool_network::NodeId;
use linkpool_units::Time;
use parquet::errors::Result;
use std::path::Path;

/// The table of jobs, if there are any to come.
pub(crate) fn create_jobs(directory: &Path, plan: &Plan) -> Result<Option<Table>> {
    use Kind::{F64, I64, Text, U32};
    let columns = [
        ("label", Text),
        ("kind", Text),
        ("job", U32),
        ("chain", U32),
        ("client", Text),
        ("ranks", U32),
        ("size_bytes", I64),
        ("start_s", F64),
        ("end_s", F64),
        ("jct_s", F64),
        ("flows", U32),
    ];
    let any = plan.jobs.iter().any(Option::is_some);
    any.then(|| Table::create(&directory.join("jobs.parquet"), &columns)).transpose()
}

pub(crate) fn push_job(table: &mut Table, plan: &Plan, JobOutcome { label, job, .. }: &JobOutcome) -> Result<()> {
    let kind = plan.jobs[*label as usize].as_ref().expect("a job is of a kind");
    table.push([
        plan.labels[*label as usize].as_str().into(),
        kind.name.into(),
        job.number.into(),
        job.of.map(|(chain, _)| chain).into(),
        job.of.map(|(_, client)| plan.fabric.name(client as NodeId)).into(),
        kind.operation.map(|operation| operation.ranks).into(),
        kind.operation.map(|operation| operation.size).into(),
        job.start.secs().into(),
        job.end.map(Time::secs).into(),
        job.end.map(|end| (end - job.start).secs()).into(),
        job.flows.into(),
    ])
}
