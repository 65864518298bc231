//! Jobs: flows with a purpose.

use super::workload::Entry;
use crate::file::{FlowSize, PartitionAggregateTable, Size};
use crate::model::WorkloadKind;
use linkpool_units::Bytes;

pub(super) fn partition_aggregate(
    table: &PartitionAggregateTable,
    entry: &mut Entry<'_, '_, '_>,
) -> Option<WorkloadKind> {
    let servers = entry.section.required_positive("servers", table.servers, "10");
    if let (Some(servers), Some(hosts)) = (servers, entry.hosts()) {
        let message = format!("{servers} servers, but the topology has only {} hosts beside the client", hosts - 1);
        entry.section.check(servers < hosts, "servers", message);
    }
    let chains = entry.section.positive("chains", table.chains.unwrap_or(1));
    let size = |kilobytes: u64| Some(FlowSize::One(Size(Some(Bytes(1_000 * kilobytes)))));
    let request = entry.finite_size("request", table.request.clone().or(size(2)), "\"2KB\"");
    let answer = entry.finite_size("answer", table.answer.clone().or(size(64)), "\"64KB\"");
    let gap = entry.gap(table.gap.clone());
    let stop = entry.stop(table.stop.or(entry.duration()));
    entry.few_flows("chains", u64::from(chains?) * 2 * u64::from(servers?));
    Some(WorkloadKind::PartitionAggregate {
        servers: servers?,
        chains: chains?,
        request: request?,
        answer: answer?,
        gap: gap?,
        stop: stop?,
    })
}
