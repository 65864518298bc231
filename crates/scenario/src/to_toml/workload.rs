//! Writes the workloads of the scenario as run.

use linkpool_network::NodeId;
use linkpool_units::Bytes;
use linkpool_workload::{Cdf, Collective, Gaps, Rule, Sizes};

use crate::file::{
    BeyondEnd, CdfSource, CollectiveName, CollectiveTable, Common, DestinationName, DistributionTable, FlowSize,
    FlowTable, Gap, GapTable, Host, HotspotTable, IncastTable, InterpolationName, LogNormalTable, ManyToOneFlowsTable,
    MatrixKeys, ParetoTable, PartitionAggregateTable, PoissonTable, RandomTable, RepeatName, Size, SmallTable,
    StaggeredTable, StrideTable, TraceFlowTable, TraceTable, UntilTable, WorkloadTable,
};
use crate::model::{Destination, Scenario, TraceFlow, Until, Workload, WorkloadKind};

pub(super) fn table(scenario: &Scenario) -> WorkloadTable {
    let fabric = scenario.topology.fabric();
    let host = |index: u32| Some(Host::Name(fabric.name(index.into()).to_string()));
    let names = |path: &Vec<NodeId>| path.iter().map(|node| fabric.name(*node).to_string()).collect();
    let mut table = WorkloadTable::default();
    for Workload { label, transport, small, role, start, kind } in &scenario.workloads {
        let label = Some(label.clone());
        let transport = Some(scenario.transports[*transport].name.clone());
        let start = Some(*start);
        let role = role.clone();
        let small = small.map(|small| SmallTable {
            below: Some(Bytes(small.below)),
            transport: Some(scenario.transports[small.transport].name.clone()),
        });
        match kind.clone() {
            WorkloadKind::Flow { from, to, size: bytes, stop, count, paths } => table.flow.push(FlowTable {
                label,
                transport,
                small,
                role,
                from: host(from),
                to: host(to),
                size: size(bytes),
                start,
                stop: Some(stop),
                count: Some(count),
                paths: (!paths.is_empty()).then(|| paths.iter().map(names).collect()),
            }),
            WorkloadKind::Incast { senders, receiver, size: bytes, every, bursts, spacing } => {
                table.incast.push(IncastTable {
                    label,
                    transport,
                    small,
                    role,
                    senders: Some(senders),
                    receiver: host(receiver),
                    size: size(Some(bytes)),
                    start,
                    every: Some(every),
                    bursts: Some(bursts),
                    spacing: Some(spacing),
                });
            }
            WorkloadKind::ManyToOne { flows, first, receiver, size: bytes, stop, spacing } => {
                table.many_to_one.push(ManyToOneFlowsTable {
                    label,
                    transport,
                    small,
                    role,
                    flows: Some(flows),
                    first: Some(first),
                    receiver: host(receiver),
                    size: size(bytes),
                    start,
                    stop: Some(stop),
                    spacing: Some(spacing),
                });
            }
            WorkloadKind::Poisson { flows_per_second, size: bytes, to, stop } => {
                let load = 8.0 * bytes.mean() * flows_per_second / fabric.access_rate();
                table.poisson.push(PoissonTable {
                    label,
                    transport,
                    small,
                    role,
                    flows_per_second: Some(flows_per_second),
                    flows_per_second_per_host: None,
                    load: None,
                    allow_overload: (load > 1.0).then_some(true),
                    to: Some(match to {
                        Destination::Any => DestinationName::Random,
                        Destination::OtherRacks => DestinationName::OtherRacks,
                        Destination::Permutation => DestinationName::Permutation,
                    }),
                    size: size(Some(bytes)),
                    start,
                    stop: Some(stop),
                })
            }
            WorkloadKind::Matrix { rule, size: bytes, stop, jitter, repeat } => {
                let keys = MatrixKeys {
                    common: Common { label, transport, small, role, start },
                    size: size(bytes),
                    stop: Some(stop),
                    jitter: Some(jitter),
                    repeat: repeat.map(|r| if r.each { RepeatName::Each } else { RepeatName::All }),
                    gap: repeat.map(|r| gap(r.gap)),
                };
                matrix(rule, keys, &host, &mut table);
            }
            WorkloadKind::Collective { algorithm, ranks, size, iterations, compute } => {
                table.collective.push(CollectiveTable {
                    label,
                    transport,
                    small,
                    role,
                    start,
                    algorithm: Some(match algorithm {
                        Collective::RingAllReduce => CollectiveName::RingAllReduce,
                        Collective::TreeAllReduce => CollectiveName::TreeAllReduce,
                        Collective::AllToAll => CollectiveName::AllToAll,
                    }),
                    ranks: Some(ranks),
                    size: Some(Bytes(size)),
                    iterations: Some(iterations),
                    compute: Some(compute),
                });
            }
            WorkloadKind::Trace { flows, drop_beyond_end } => table.trace.push(TraceTable {
                label,
                transport,
                small,
                role,
                start,
                file: None,
                format: None,
                flows: Some(flows.into_iter().map(|flow| trace_flow(flow, &host)).collect()),
                beyond_end: drop_beyond_end.then_some(BeyondEnd::Drop),
            }),
            WorkloadKind::PartitionAggregate { servers, chains, request, answer, gap: between, stop } => {
                table.partition_aggregate.push(PartitionAggregateTable {
                    label,
                    transport,
                    small,
                    role,
                    start,
                    servers: Some(servers),
                    chains: Some(chains),
                    request: size(Some(request)),
                    answer: size(Some(answer)),
                    gap: Some(gap(between)),
                    stop: Some(stop),
                });
            }
        }
    }
    table
}

fn matrix(rule: Rule, keys: MatrixKeys, host: &dyn Fn(u32) -> Option<Host>, table: &mut WorkloadTable) {
    match rule {
        Rule::Permutation => table.permutation.push(keys.into()),
        Rule::Random { at_most, other_racks } => {
            let to = if other_racks { DestinationName::OtherRacks } else { DestinationName::Random };
            table.random.push(RandomTable { at_most, to: Some(to), ..keys.into() });
        }
        Rule::Stride { step } => table.stride.push(StrideTable { step: Some(step), ..keys.into() }),
        Rule::AllToAll => table.all_to_all.push(keys.into()),
        Rule::Hotspot { flows, hosts, share } => table.hotspot.push(HotspotTable {
            flows: Some(flows),
            hosts: Some(hosts.into_iter().filter_map(|h| host(h.into())).collect()),
            share: Some(share),
            ..keys.into()
        }),
        Rule::Staggered { rack, pod } => {
            table.staggered.push(StaggeredTable { rack: Some(rack), pod: Some(pod), ..keys.into() });
        }
    }
}

fn trace_flow(flow: TraceFlow, host: &dyn Fn(u32) -> Option<Host>) -> TraceFlowTable {
    let TraceFlow { from, to, size, start, after, enough } = flow;
    let enough = (enough < after.len() as u32).then_some(enough);
    let name = |index| host(index).unwrap_or(Host::Index(index));
    TraceFlowTable { from: name(from), to: name(to), size: Bytes(size), start: Some(start), after, enough }
}

pub(super) fn until(until: &Until) -> UntilTable {
    UntilTable { flows: Some(until.flows), label: Some(until.label.clone()) }
}

fn gap(gaps: Gaps) -> Gap {
    match gaps {
        Gaps::Constant(gap) => Gap::One(gap),
        Gaps::Exponential { mean } => Gap::Drawn(GapTable { exponential: Some(mean), lognormal: None }),
        Gaps::LogNormal { mean, sigma } => {
            Gap::Drawn(GapTable { exponential: None, lognormal: Some(LogNormalTable { mean, sigma }) })
        }
    }
}

fn size(sizes: Option<Sizes>) -> Option<FlowSize> {
    let drawn = |table| Some(FlowSize::Drawn(Box::new(table)));
    match sizes {
        None => Some(FlowSize::One(Size(None))),
        Some(Sizes::Constant(bytes)) => Some(FlowSize::One(Size(Some(Bytes(bytes))))),
        Some(Sizes::Uniform { min, max }) => {
            drawn(DistributionTable { uniform: Some(vec![Bytes(min), Bytes(max)]), ..DistributionTable::default() })
        }
        Some(Sizes::Pareto { shape, mean, max }) => {
            let pareto = ParetoTable { shape, mean: Bytes(mean as u64), max: max.map(Bytes) };
            drawn(DistributionTable { pareto: Some(pareto), ..DistributionTable::default() })
        }
        Some(Sizes::Cdf { table, interpolation }) => {
            let mean = table.mean(interpolation).round() as u64;
            // A published table by its name; any other in full, so that the scenario as run needs
            // no other file.
            let published = Cdf::named(&table.name).as_ref() == Some(&*table);
            let points = || CdfSource::Points(table.points().to_vec());
            drawn(DistributionTable {
                cdf: Some(if published { CdfSource::Named(table.name.clone()) } else { points() }),
                name: (!published).then(|| table.name.clone()),
                interpolation: Some(InterpolationName::of(interpolation)),
                mean: Some(Bytes(mean)),
                ..DistributionTable::default()
            })
        }
    }
}
