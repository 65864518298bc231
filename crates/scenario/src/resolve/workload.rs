//! Sources of flows: the keys that all kinds have; each kind is in a file of its sort.

use linkpool_units::Time;

use super::entry::Entry;
use super::section::Section;
use super::{Known, flows, jobs, matrices, trace};
use crate::errors::Report;
use crate::file::{AnyWorkload, Common, UntilTable, WorkloadTable};
use crate::model::{Until, Workload, WorkloadKind};
use crate::names::nearest;
use crate::source::Path;

/// The workloads; none for each in error.
#[derive(Default)]
pub(super) struct Workloads {
    pub(super) labels: Vec<String>,
    /// The transport of each workload.
    pub(super) transports: Vec<Option<usize>>,
    pub(super) resolved: Vec<Option<Workload>>,
}

pub(super) fn resolve_all(table: WorkloadTable, known: &Known<'_>, report: &mut Report<'_>) -> Workloads {
    let mut all = Workloads::default();
    all.add("flow", table.flow, flows::flow, known, report);
    all.add("incast", table.incast, flows::incast, known, report);
    all.add("many-to-one", table.many_to_one, flows::many_to_one, known, report);
    all.add("permutation", table.permutation, matrices::permutation, known, report);
    all.add("poisson", table.poisson, flows::poisson, known, report);
    all.add("random", table.random, matrices::random, known, report);
    all.add("stride", table.stride, matrices::stride, known, report);
    all.add("all-to-all", table.all_to_all, matrices::all_to_all, known, report);
    all.add("hotspot", table.hotspot, matrices::hotspot, known, report);
    all.add("staggered", table.staggered, matrices::staggered, known, report);
    all.add("partition-aggregate", table.partition_aggregate, jobs::partition_aggregate, known, report);
    all.add("trace", table.trace, trace::trace, known, report);
    all.add("collective", table.collective, jobs::collective, known, report);
    if all.resolved.is_empty() {
        let kinds = "[[workload.flow]], incast, many-to-one, permutation, poisson, random, stride, all-to-all, hotspot, staggered, partition-aggregate, trace or collective";
        report.error(&Path::default().at("workload"), format!("missing, so that no flow starts; write {kinds}"));
    }
    all
}

impl Workloads {
    /// Resolves the workloads of one kind.
    fn add<T: AnyWorkload>(
        &mut self,
        kind: &str,
        tables: Vec<T>,
        resolve: impl Fn(&T, &mut Entry<'_, '_, '_>) -> Option<WorkloadKind>,
        known: &Known<'_>,
        report: &mut Report<'_>,
    ) {
        let path = Path::default().at("workload").at(kind);
        for (i, table) in tables.iter().enumerate() {
            let Common { label, transport, small, role, start } = table.common();
            let start = start.unwrap_or(Time::ZERO);
            let mut entry = Entry { known, start, role: role.as_deref(), section: Section::new(report, path.at(i)) };
            entry.check_start();
            let transport = entry.transport("transport", transport.as_deref());
            let small = small.map(|small| entry.small(small));
            entry.check_role(kind);
            let resolved = resolve(table, &mut entry);
            let label = label.unwrap_or_else(|| kind.to_string());
            self.labels.push(label.clone());
            self.transports.push(transport);
            self.transports.extend(small.flatten().map(|small| Some(small.transport)));
            let small = small.flatten();
            let workload = |(transport, kind)| Workload { label, transport, small, role, start, kind };
            let resolved = transport.zip(resolved).map(workload);
            self.labels.extend(resolved.as_ref().map(|w| w.labels().0));
            self.resolved.push(resolved);
        }
    }
}

/// The condition that ends the run early.
pub(super) fn until(table: UntilTable, labels: Option<&[String]>, section: &mut Section<'_, '_>) -> Option<Until> {
    let flows = section.required_positive("flows", table.flows, "1000");
    let label = section.required("label", table.label, "\"long\"")?;
    if let Some(labels) = labels.filter(|labels| !labels.contains(&label)) {
        let near = nearest(&label, labels.iter().map(String::as_str));
        section.error("label", format!("no workload has the label {label:?}; {near}"));
    }
    Some(Until { flows: flows?, label })
}
