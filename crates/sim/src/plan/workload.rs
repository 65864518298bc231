//! The run in which a workload asks for flows.

use std::sync::Arc;

use linkpool_engine::stream;
use linkpool_network::HostId;
use linkpool_scenario::{Scenario, Workload};
use linkpool_settings::Kinds;
use linkpool_workload::kinds::Run;
use rand::seq::SliceRandom;

/// The run of `scenario` for its workload at place `i`.
pub(crate) fn run(scenario: &Scenario, i: usize, racks_and_pods: &Arc<[(u32, u32)]>) -> Run {
    let workload: &Workload = &scenario.workloads[i];
    let kind = workload.kind.name();
    // Numbered within its kind: one more workload of a kind does not shift the random numbers of
    // other kinds.
    let index = scenario.workloads[..i].iter().filter(|other| other.kind.name() == kind).count() as u64;
    Run {
        seed: scenario.seed,
        kind,
        index,
        start: workload.start,
        duration: scenario.duration,
        racks_and_pods: racks_and_pods.clone(),
        senders: workload.role.as_ref().map(|role| of_role(scenario, role, racks_and_pods.len())),
    }
}

/// The hosts that have `role`. Hosts stand in a random order; the first role has the first of
/// them, and so on.
fn of_role(scenario: &Scenario, role: &str, hosts: usize) -> Vec<HostId> {
    let mut order: Vec<HostId> = HostId::first(hosts).collect();
    order.shuffle(&mut stream(scenario.seed, "roles", 0));
    let mut order = order.into_iter();
    for r in &scenario.roles {
        let hosts: Vec<HostId> = order.by_ref().take(r.hosts as usize).collect();
        if r.name == role {
            return hosts;
        }
    }
    order.collect()
}
