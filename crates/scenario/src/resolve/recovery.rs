//! Jobs that fail must not go on before all their ranks have stopped.

use linkpool_network::Fabric;
use linkpool_settings::Kinds;
use linkpool_units::Time;
use linkpool_workload::WorkloadKind;

use crate::errors::Report;
use crate::model::Scenario;
use crate::tree::KeyPath;

/// Reports recoveries that are shorter than the smallest packet takes over the quickest link: ranks
/// on several threads know of each other's checkpoints after that time.
pub(super) fn check(scenario: &Scenario, fabric: &Fabric, report: &mut Report<'_>) {
    let workloads = &scenario.workloads;
    // Of data a header and a byte.
    let smallest = scenario.transports.iter().map(|t| t.wire.ack_size.min(t.wire.header + 1)).min().unwrap_or(1);
    let least = fabric.links().iter().map(|link| link.delay + link.rate.time_of(smallest.into())).min();
    let least = least.unwrap_or(Time::ZERO);
    for (i, workload) in workloads.iter().enumerate() {
        let failures = match &workload.kind {
            WorkloadKind::Program(program) => &program.failures,
            WorkloadKind::Training(training) => &training.failures,
            _ => continue,
        };
        let Some(failures) = failures.as_ref().filter(|failures| failures.recovery < least) else { continue };
        let kind = workload.kind.name();
        let place = workloads[..i].iter().filter(|other| other.kind.name() == kind).count();
        let path = KeyPath::default().at("workload").at(kind).at(place).at("failures").at("recovery");
        let message = format!(
            "{} is shorter than the smallest packet takes over a link, {least}; write a longer time",
            failures.recovery
        );
        report.error(&path, message);
    }
}
