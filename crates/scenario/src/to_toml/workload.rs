use linkpool_units::Bytes;
use linkpool_workload::{Cdf, Sizes};

use crate::file::{
    AllToAllTable, CdfSource, DistributionTable, FlowSize, FlowTable, Host, HotspotTable, IncastTable,
    InterpolationName, ManyToOneFlowsTable, ParetoTable, PermutationTable, PoissonTable, RandomTable, Size,
    StaggeredTable, StrideTable, WorkloadTable,
};
use crate::model::{Scenario, Workload, WorkloadKind};

pub(super) fn table(scenario: &Scenario) -> WorkloadTable {
    let fabric = scenario.topology.fabric();
    let host = |index: u32| Some(Host::Name(fabric.name(index).to_string()));
    let names = |path: &Vec<u32>| path.iter().map(|node| fabric.name(*node).to_string()).collect();
    let mut table = WorkloadTable::default();
    for Workload { label, transport, start, kind } in &scenario.workloads {
        let label = Some(label.clone());
        let transport = Some(scenario.transports[*transport].name.clone());
        let start = Some(*start);
        match kind.clone() {
            WorkloadKind::Flow { from, to, size: bytes, stop, count, paths } => table.flow.push(FlowTable {
                label,
                transport,
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
                    flows: Some(flows),
                    first: Some(first),
                    receiver: host(receiver),
                    size: size(bytes),
                    start,
                    stop: Some(stop),
                    spacing: Some(spacing),
                });
            }
            WorkloadKind::Permutation { size: bytes, stop, jitter } => table.permutation.push(PermutationTable {
                label,
                transport,
                size: size(bytes),
                start,
                stop: Some(stop),
                jitter: Some(jitter),
            }),
            WorkloadKind::Poisson { flows_per_second, size: bytes, stop } => table.poisson.push(PoissonTable {
                label,
                transport,
                flows_per_second: Some(flows_per_second),
                load: None,
                allow_overload: None,
                size: size(Some(bytes)),
                start,
                stop: Some(stop),
            }),
            WorkloadKind::Random { at_most, size: bytes, stop, jitter } => table.random.push(RandomTable {
                label,
                transport,
                at_most,
                size: size(bytes),
                start,
                stop: Some(stop),
                jitter: Some(jitter),
            }),
            WorkloadKind::Stride { step, size: bytes, stop, jitter } => table.stride.push(StrideTable {
                label,
                transport,
                step: Some(step),
                size: size(bytes),
                start,
                stop: Some(stop),
                jitter: Some(jitter),
            }),
            WorkloadKind::AllToAll { size: bytes, stop, jitter } => table.all_to_all.push(AllToAllTable {
                label,
                transport,
                size: size(bytes),
                start,
                stop: Some(stop),
                jitter: Some(jitter),
            }),
            WorkloadKind::Hotspot { flows, hosts, share, size: bytes, stop, jitter } => {
                table.hotspot.push(HotspotTable {
                    label,
                    transport,
                    flows: Some(flows),
                    hosts: Some(hosts.into_iter().filter_map(host).collect()),
                    share: Some(share),
                    size: size(bytes),
                    start,
                    stop: Some(stop),
                    jitter: Some(jitter),
                })
            }
            WorkloadKind::Staggered { rack, pod, size: bytes, stop, jitter } => table.staggered.push(StaggeredTable {
                label,
                transport,
                rack: Some(rack),
                pod: Some(pod),
                size: size(bytes),
                start,
                stop: Some(stop),
                jitter: Some(jitter),
            }),
        }
    }
    table
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
            // A published table by its name; any other in full, so that the scenario as run needs no other file.
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
