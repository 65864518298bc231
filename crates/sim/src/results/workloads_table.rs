//! The table of what each workload was asked for.

use crate::plan::Plan;
use crate::results::table::{Kind, Table};
use linkpool_scenario::{Scenario, Workload, WorkloadKind};
use linkpool_workload::{Interpolation, Sizes};
use parquet::errors::Result;
use std::path::Path;

/// What flows carry: the name of the distribution, how its table is read if it is one, and its mean in bytes if it has one.
struct Distribution {
    name: String,
    interpolation: Option<&'static str>,
    mean: Option<f64>,
}

impl Distribution {
    fn of(sizes: &Sizes) -> Distribution {
        let interpolation = match sizes {
            Sizes::Cdf { interpolation: Interpolation::Linear, .. } => Some("linear"),
            Sizes::Cdf { interpolation: Interpolation::Stair, .. } => Some("stair"),
            _ => None,
        };
        Distribution { name: sizes.name(), interpolation, mean: Some(sizes.mean()) }
    }

    fn of_any(sizes: Option<&Sizes>) -> Distribution {
        sizes.map_or(Distribution { name: "unlimited".into(), interpolation: None, mean: None }, Distribution::of)
    }

    /// Of flows that are listed.
    fn of_list(name: &str, sizes: impl ExactSizeIterator<Item = u64>) -> Distribution {
        let n = sizes.len() as f64;
        Distribution { name: name.into(), interpolation: None, mean: (n > 0.0).then(|| sizes.sum::<u64>() as f64 / n) }
    }
}

/// Writes `workloads.parquet`.
pub(crate) fn write(directory: &Path, scenario: &Scenario, plan: &Plan) -> Result<()> {
    use Kind::{F64, Text};
    let columns = [
        ("label", Text),
        ("kind", Text),
        ("transport", Text),
        ("sizes", Text),
        ("interpolation", Text),
        ("mean_bytes", F64),
        ("load", F64),
    ];
    let mut table = Table::create(&directory.join("workloads.parquet"), &columns)?;
    for workload in &scenario.workloads {
        let (first, answers) = workload.labels();
        for (label, sizes) in [first.as_str(), answers].into_iter().zip(distributions(workload)) {
            table.push([
                label.into(),
                workload.kind.name().into(),
                scenario.transports[workload.transport].name.as_str().into(),
                sizes.name.as_str().into(),
                sizes.interpolation.into(),
                sizes.mean.into(),
                load(workload, plan).into(),
            ])?;
        }
    }
    table.close()
}

/// Of the flows that the workload starts by itself, and of those that answer them if there are any.
fn distributions(workload: &Workload) -> Vec<Distribution> {
    match &workload.kind {
        WorkloadKind::Flow { size, .. } | WorkloadKind::ManyToOne { size, .. } | WorkloadKind::Matrix { size, .. } => {
            vec![Distribution::of_any(size.as_ref())]
        }
        WorkloadKind::Incast { size, .. } | WorkloadKind::Poisson { size, .. } => vec![Distribution::of(size)],
        WorkloadKind::PartitionAggregate { request, answer, .. } => {
            vec![Distribution::of(request), Distribution::of(answer)]
        }
        WorkloadKind::Trace { flows } => vec![Distribution::of_list("trace", flows.iter().map(|f| f.size))],
        WorkloadKind::Collective { algorithm, ranks, size, .. } => {
            vec![Distribution::of_list("messages", algorithm.messages(*ranks, *size).iter().map(|m| m.size))]
        }
    }
}

/// The load that the rate of arrivals and the mean size come to: payload over what the links from all hosts carry.
fn load(workload: &Workload, plan: &Plan) -> Option<f64> {
    match &workload.kind {
        WorkloadKind::Poisson { flows_per_second, size, .. } => {
            Some(8.0 * flows_per_second * size.mean() / plan.fabric.access_rate())
        }
        _ => None,
    }
}
