//! The table of workloads.

use crate::plan::Plan;
use crate::results::column::table;
use crate::results::table::Table;
use linkpool_scenario::{Scenario, Workload};
use linkpool_settings::Kinds;
use linkpool_workload::kinds::SizesOf;
use parquet::errors::Result;
use std::iter::once;
use std::path::Path;

/// A workload, or the flows of one that have a label of their own.
pub(super) struct WorkloadRow<'a> {
    scenario: &'a Scenario,
    plan: &'a Plan,
    workload: &'a Workload,
    number: u32,
    label: &'a str,
    sizes: SizesOf,
    /// The number of its listed flows that did not start; none if it lists none.
    not_started: Option<u32>,
}

table! {
    /// A row per workload: the flows that it was to start. Requests and answers of
    /// `partition-aggregate` have a row each, and so have keys and values and the tokens for experts
    /// of `inference`.
    "workloads" of WorkloadRow<'_>, always, |row|
    /// `label` in flows.
    label: str, "" = row.label;
    /// Number of the workload, from 0, in the order of the file; `workload` in flows, jobs and ranks.
    workload: u32, "" = row.number;
    /// Kind of the workload.
    kind: str, "" = row.workload.kind.name();
    /// Name of the transport in the scenario.
    transport: str, "" = row.scenario.transports[row.workload.transport].name.as_str();
    /// `constant`, `uniform`, `lognormal`, `pareto`, the name of the table, `trace`, `messages` (of collective
    /// operations and programs, and tokens for experts) or `unlimited`.
    sizes: str, "" = row.sizes.name.as_str();
    /// How a table is read: `linear` or `stair`; null: no table.
    interpolation: str, "" = row.sizes.interpolation;
    /// Mean of the distribution, not of what was drawn; null: unlimited, or not known before the run.
    mean_bytes: f64, "B" = row.sizes.mean;
    /// Payload that arrivals at this rate offer with this mean, over what the links from all hosts
    /// carry; null: no rate of arrivals.
    load: f64, "" = load(row.workload, row.plan);
    /// Flows that did not start before `duration`, or the earlier end of the run, of those that the
    /// workload lists: of a trace, or the messages of collective operations or programs. Null: it lists none.
    not_started: u32, "" = row.not_started;
}

/// Writes `workloads.parquet`; `started` has the number of flows of each label of the plan that
/// started.
pub(crate) fn write(directory: &Path, scenario: &Scenario, plan: &Plan, started: &[u32]) -> Result<()> {
    let mut table = Table::create::<WorkloadRow<'_>>(directory)?;
    let mut started = started.iter();
    for (number, workload) in (0..).zip(&scenario.workloads) {
        let settings = workload.kind.settings();
        let (first, second) = workload.labels();
        let sizes = once(settings.sizes()).chain(settings.second().map(|second| second.sizes));
        for ((label, sizes), started) in once(&first).chain(&second).zip(sizes).zip(&mut started) {
            let not_started = settings.listed().map(|listed| listed - started);
            table.push(&WorkloadRow { scenario, plan, workload, number, label, sizes, not_started })?;
        }
    }
    table.close()
}

/// The load of the rate of arrivals and the mean size: payload over the capacity of the links from
/// all hosts.
fn load(workload: &Workload, plan: &Plan) -> Option<f64> {
    let settings = workload.kind.settings();
    let offered = 8.0 * settings.arrival_rate()? * settings.sizes().mean?;
    Some(offered / plan.fabric.access_rate())
}
