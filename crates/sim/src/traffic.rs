//! From the workloads of a scenario to flows.

use linkpool_engine::Stream;
use linkpool_network::Fabric;
use linkpool_scenario::{Scenario, Workload, WorkloadKind};
use linkpool_units::Time;
use linkpool_workload::{self as workload, Flow, Sizes};

/// The flows of `w`. What is drawn comes from `random` in this order: who sends to whom, then of each flow its size and
/// its delay.
pub(crate) fn flows_of(w: &Workload, scenario: &Scenario, fabric: &Fabric, random: &mut Stream) -> Vec<Flow> {
    let hosts = fabric.hosts() as u16;
    let start = w.start;
    match &w.kind {
        WorkloadKind::Flow { from, to, size, stop, count, .. } => {
            let flow = |size| Flow { src: *from as u16, dst: *to as u16, size, start, stop: *stop, burst: 0 };
            (0..*count).map(|_| flow(draw(size, random))).collect()
        }
        WorkloadKind::Incast { senders, receiver, size, every, bursts, spacing } => {
            let others = (0..hosts).filter(|h| u32::from(*h) != *receiver);
            let senders: Vec<u16> = others.take(*senders as usize).collect();
            let mut flows = workload::incast(&senders, *receiver as u16, 0, (start, *every, *bursts), *spacing);
            flows.iter_mut().for_each(|flow| flow.size = Some(size.draw(random)));
            flows
        }
        WorkloadKind::ManyToOne { flows, first, receiver, size, stop, spacing } => {
            let flow = |i: u32| Flow {
                src: (first + i) as u16,
                dst: *receiver as u16,
                size: draw(size, random),
                start: start + *spacing * u64::from(i),
                stop: *stop,
                burst: 0,
            };
            (0..*flows).map(flow).collect()
        }
        WorkloadKind::Permutation { size, stop, jitter } => {
            let to = workload::permutation(hosts, random);
            matrix(pairs(&to), size, (start, *stop, *jitter), random)
        }
        WorkloadKind::Poisson { flows_per_second, size, stop } => {
            let times = workload::poisson_times(*flows_per_second, start, (*stop).min(scenario.duration), random);
            let flow = |start| {
                let (src, dst) = workload::random_pair(hosts, random);
                Flow { src, dst, size: Some(size.draw(random)), start, stop: Time::MAX, burst: 0 }
            };
            times.into_iter().map(flow).collect()
        }
        WorkloadKind::Random { at_most, size, stop, jitter } => {
            let to = workload::random_matrix(hosts, at_most.unwrap_or(u32::MAX), random);
            matrix(pairs(&to), size, (start, *stop, *jitter), random)
        }
        WorkloadKind::Stride { step, size, stop, jitter } => {
            matrix(pairs(&workload::stride(hosts, *step as u16)), size, (start, *stop, *jitter), random)
        }
        WorkloadKind::AllToAll { size, stop, jitter } => {
            let to = |src: u16| (0..hosts).filter(move |dst| *dst != src).map(move |dst| (src, dst));
            matrix((0..hosts).flat_map(to).collect(), size, (start, *stop, *jitter), random)
        }
        WorkloadKind::Hotspot { flows, hosts: hot, share, size, stop, jitter } => {
            let hot: Vec<u16> = hot.iter().map(|host| *host as u16).collect();
            let pairs = (0..*flows).map(|_| workload::hotspot_pair(hosts, &hot, *share, random)).collect();
            matrix(pairs, size, (start, *stop, *jitter), random)
        }
        WorkloadKind::Staggered { rack, pod, size, stop, jitter } => {
            let places = fabric.racks_and_pods();
            let to = |src| workload::staggered_destination(src, &places, (*rack, *pod), random);
            let to: Vec<u16> = (0..hosts).map(to).collect();
            matrix(pairs(&to), size, (start, *stop, *jitter), random)
        }
    }
}

/// Host i with entry i.
fn pairs(to: &[u16]) -> Vec<(u16, u16)> {
    (0..).zip(to.iter().copied()).collect()
}

/// A flow between each pair.
fn matrix(
    pairs: Vec<(u16, u16)>,
    size: &Option<Sizes>,
    (start, stop, jitter): (Time, Time, Time),
    random: &mut Stream,
) -> Vec<Flow> {
    let flow = |(src, dst)| {
        let size = draw(size, random);
        Flow { src, dst, size, start: start + workload::jitter(jitter, random), stop, burst: 0 }
    };
    pairs.into_iter().map(flow).collect()
}

fn draw(size: &Option<Sizes>, random: &mut Stream) -> Option<u64> {
    size.as_ref().map(|size| size.draw(random))
}
