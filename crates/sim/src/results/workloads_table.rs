//! The table of workloads.

use crate::plan::Plan;
use crate::results::column::table;
use crate::results::table::Table;
use linkpool_scenario::{Scenario, Workload, WorkloadKind};
use linkpool_settings::Kinds;
use linkpool_workload::Sizes;
use linkpool_workload::kinds::{Collective, MatrixFlows, PartitionAggregate, Trace, Workload as _};
use parquet::errors::Result;
use std::path::Path;

/// The sizes of flows: the name of the distribution, how its table is read if it is one, and its
/// mean in bytes if it has one.
struct Distribution {
    name: String,
    interpolation: Option<&'static str>,
    mean: Option<f64>,
}

impl Distribution {
    fn of(sizes: &Sizes) -> Distribution {
        let interpolation = match sizes {
            Sizes::Cdf { interpolation, .. } => Some(interpolation.name()),
            _ => None,
        };
        Distribution { name: sizes.name(), interpolation, mean: Some(sizes.mean()) }
    }

    fn of_any(sizes: Option<&Sizes>) -> Distribution {
        sizes.map_or(Distribution { name: "unlimited".into(), interpolation: None, mean: None }, Distribution::of)
    }

    /// The distribution of listed flows.
    fn of_list(name: &str, sizes: impl ExactSizeIterator<Item = u64>) -> Distribution {
        let n = sizes.len() as f64;
        Distribution { name: name.into(), interpolation: None, mean: (n > 0.0).then(|| sizes.sum::<u64>() as f64 / n) }
    }
}

/// A workload, or the flows of one that answer others.
pub(super) struct WorkloadRow<'a> {
    scenario: &'a Scenario,
    plan: &'a Plan,
    workload: &'a Workload,
    label: &'a str,
    sizes: Distribution,
    /// The number of its listed flows that did not start; none if it lists none.
    not_started: Option<u32>,
}

table! {
    /// A row per workload: what it was asked for. Requests and answers of `partition-aggregate`
    /// have a row each.
    "workloads" of WorkloadRow<'_>, always, |row|
    /// `label` in flows.
    label: str, "" = row.label;
    /// Kind of the workload.
    kind: str, "" = row.workload.kind.name();
    /// Name of the transport in the scenario.
    transport: str, "" = row.scenario.transports[row.workload.transport].name.as_str();
    /// `constant`, `uniform`, `pareto`, the name of the table, `trace`, `messages` (of collective
    /// operations) or `unlimited`.
    sizes: str, "" = row.sizes.name.as_str();
    /// How a table is read: `linear` or `stair`; null: no table.
    interpolation: str, "" = row.sizes.interpolation;
    /// Mean of the distribution, not of what was drawn; null: unlimited.
    mean_bytes: f64, "B" = row.sizes.mean;
    /// Payload that arrivals at this rate offer with this mean, over what the links from all hosts
    /// carry; null: no rate of arrivals.
    load: f64, "" = load(row.workload, row.plan);
    /// Flows that did not start before `duration`, or the earlier end of the run, of those that the
    /// workload lists: of a trace, or the messages of collective operations. Null: it lists none.
    not_started: u32, "" = row.not_started;
}

/// Writes `workloads.parquet`; `started` has the number of flows of each label of the plan that
/// started.
pub(crate) fn write(directory: &Path, scenario: &Scenario, plan: &Plan, started: &[u32]) -> Result<()> {
    let mut table = Table::create::<WorkloadRow<'_>>(directory)?;
    let mut started = started.iter();
    for workload in &scenario.workloads {
        let (first, answers) = workload.labels();
        for ((label, sizes), started) in
            [first.as_str(), answers].into_iter().zip(distributions(workload)).zip(&mut started)
        {
            let not_started = listed(workload).map(|listed| listed - started);
            table.push(&WorkloadRow { scenario, plan, workload, label, sizes, not_started })?;
        }
    }
    table.close()
}

/// How many flows a workload lists; none if others start its flows, or chance.
fn listed(workload: &Workload) -> Option<u32> {
    match &workload.kind {
        WorkloadKind::Trace(Trace { flows, .. }) => Some(flows.len() as u32),
        WorkloadKind::Collective(Collective { algorithm, ranks, size, iterations, .. }) => {
            Some(algorithm.messages(*ranks, *size).len() as u32 * iterations)
        }
        _ => None,
    }
}

/// For the flows that the workload starts by itself, and for the flows that answer them if there
/// are any.
fn distributions(workload: &Workload) -> Vec<Distribution> {
    if let Some((_, MatrixFlows { size, .. })) = workload.kind.matrix() {
        return vec![Distribution::of_any(size.as_ref())];
    }
    match &workload.kind {
        WorkloadKind::Flow(flow) => vec![Distribution::of_any(flow.size.as_ref())],
        WorkloadKind::ManyToOne(flows) => vec![Distribution::of_any(flows.size.as_ref())],
        WorkloadKind::Incast(incast) => vec![Distribution::of(&incast.size)],
        WorkloadKind::Poisson(poisson) => vec![Distribution::of(&poisson.size)],
        WorkloadKind::PartitionAggregate(PartitionAggregate { request, answer, .. }) => {
            vec![Distribution::of(request), Distribution::of(answer)]
        }
        WorkloadKind::Trace(Trace { flows, .. }) => vec![Distribution::of_list("trace", flows.iter().map(|f| f.size))],
        WorkloadKind::Collective(Collective { algorithm, ranks, size, .. }) => {
            vec![Distribution::of_list("messages", algorithm.messages(*ranks, *size).iter().map(|m| m.size))]
        }
        _ => unreachable!("the others are matrices"),
    }
}

/// The load of the rate of arrivals and the mean size: payload over the capacity of the links from
/// all hosts.
fn load(workload: &Workload, plan: &Plan) -> Option<f64> {
    match &workload.kind {
        WorkloadKind::Poisson(poisson) => Some(8.0 * poisson.rate() * poisson.size.mean() / plan.fabric.access_rate()),
        _ => None,
    }
}
