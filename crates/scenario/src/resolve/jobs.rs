//! Jobs: flows with a purpose.

use super::entry::Entry;
use crate::file::{CollectiveName, CollectiveTable, FlowSize, PartitionAggregateTable, Size};
use crate::model::WorkloadKind;
use linkpool_units::{Bytes, Time};
use linkpool_workload::Collective;

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

pub(super) fn collective(table: &CollectiveTable, entry: &mut Entry<'_, '_, '_>) -> Option<WorkloadKind> {
    let algorithm = entry.section.required("algorithm", table.algorithm, "\"ring-all-reduce\"");
    let size = entry.section.required_positive("size", table.size, "\"100MB\"");
    let iterations = entry.section.positive("iterations", table.iterations.unwrap_or(1));
    let compute = table.compute.unwrap_or(Time::ZERO);
    entry.section.span("compute", compute);
    let hosts = entry.hosts()?;
    let ranks = table.ranks.unwrap_or(hosts);
    let message = format!("{ranks} ranks among {hosts} hosts; write 2 to {hosts}");
    entry.section.check((2..=hosts).contains(&ranks), "ranks", message);
    let (algorithm, steps) = match algorithm? {
        CollectiveName::RingAllReduce => (Collective::RingAllReduce, 2 * u64::from(ranks)),
        CollectiveName::AllToAll => (Collective::AllToAll, u64::from(ranks)),
        CollectiveName::TreeAllReduce => {
            let message = format!("recursive halving needs a power of 2, not {ranks}");
            entry.section.check(ranks.is_power_of_two(), "ranks", message);
            (Collective::TreeAllReduce, 64)
        }
    };
    let (Bytes(size), iterations) = (size?, iterations?);
    // Waiting flows are held in memory by pairs.
    entry.few_flows("iterations", 4 * steps * u64::from(ranks) * u64::from(iterations));
    entry.section.is_good().then_some(WorkloadKind::Collective { algorithm, ranks, size, iterations, compute })
}
