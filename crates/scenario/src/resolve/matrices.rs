//! Workloads in which hosts send to each other by a rule.

use linkpool_network::HostId;
use linkpool_workload::Rule;

use super::entry::Entry;
use crate::file::{
    AllToAllTable, DestinationName, HotspotTable, MatrixKeys, PermutationTable, RandomTable, RepeatName,
    StaggeredTable, StrideTable,
};
use crate::model::{Repeat, WorkloadKind};

/// The settings that all matrices have; none of them depends on the rule.
fn matrix(keys: MatrixKeys, rule: Option<Rule>, entry: &mut Entry<'_, '_, '_>) -> Option<WorkloadKind> {
    let (stop, jitter) = (entry.stop(keys.stop), entry.jitter(keys.jitter));
    let gap = entry.gap(keys.gap.clone());
    let (size, repeat) = match keys.repeat {
        None => {
            entry.section.check(keys.gap.is_none(), "gap", "comes before a flow that `repeat` starts; leave it out");
            (entry.size(keys.size), None)
        }
        Some(repeat) => {
            let size = entry.finite_size("size", keys.size, "\"10MB\"");
            (size.map(Some), Some(Repeat { each: repeat == RepeatName::Each, gap: gap? }))
        }
    };
    Some(WorkloadKind::Matrix { rule: rule?, size: size?, stop: stop?, jitter, repeat })
}

pub(super) fn permutation(table: &PermutationTable, entry: &mut Entry<'_, '_, '_>) -> Option<WorkloadKind> {
    matrix(table.keys(), Some(Rule::Permutation), entry)
}

pub(super) fn random(table: &RandomTable, entry: &mut Entry<'_, '_, '_>) -> Option<WorkloadKind> {
    let at_most = table.at_most;
    let good = at_most.is_none_or(|at_most| entry.section.positive("at_most", at_most).is_some());
    let other_racks = match table.to {
        None | Some(DestinationName::Random) => false,
        Some(DestinationName::OtherRacks) => {
            entry.check_other_racks(at_most.unwrap_or(u32::MAX));
            true
        }
        Some(DestinationName::Permutation) => {
            let message = "is that of poisson; write \"random\" or \"other-racks\", or [[workload.permutation]]";
            entry.section.error("to", message);
            false
        }
    };
    matrix(table.keys(), good.then_some(Rule::Random { at_most, other_racks }), entry)
}

pub(super) fn stride(table: &StrideTable, entry: &mut Entry<'_, '_, '_>) -> Option<WorkloadKind> {
    let step = entry.section.required_positive("step", table.step, "16");
    if let (Some(step), Some(hosts)) = (step, entry.hosts()) {
        let message = format!("{step} steps among {hosts} hosts; write 1 to {}", hosts - 1);
        entry.section.check(step < hosts, "step", message);
    }
    matrix(table.keys(), step.map(|step| Rule::Stride { step }), entry)
}

pub(super) fn all_to_all(table: &AllToAllTable, entry: &mut Entry<'_, '_, '_>) -> Option<WorkloadKind> {
    if let Some(hosts) = entry.hosts().map(u64::from) {
        entry.few_flows("size", hosts * (hosts - 1));
    }
    matrix(table.keys(), Some(Rule::AllToAll), entry)
}

pub(super) fn hotspot(table: &HotspotTable, entry: &mut Entry<'_, '_, '_>) -> Option<WorkloadKind> {
    let flows = entry.section.required_positive("flows", table.flows, "100");
    entry.few_flows("flows", flows.unwrap_or(0).into());
    let share = entry.share("share", table.share, "0.5");
    let hosts = hot_hosts(table, entry);
    let rule = || Some(Rule::Hotspot { flows: flows?, hosts: hosts?, share: share? });
    matrix(table.keys(), rule(), entry)
}

fn hot_hosts(table: &HotspotTable, entry: &mut Entry<'_, '_, '_>) -> Option<Vec<HostId>> {
    let named = entry.section.required("hosts", table.hosts.as_ref(), "[0]")?;
    entry.section.check(!named.is_empty(), "hosts", "names no host; write for example hosts = [0]");
    let mut hosts = Vec::new();
    for (i, host) in named.iter().enumerate() {
        let key = format!("hosts.{i}");
        let host = HostId::from(entry.host(&key, Some(host))?);
        entry.section.check(!hosts.contains(&host), &key, "stands here twice; leave one out");
        hosts.push(host);
    }
    Some(hosts)
}

pub(super) fn staggered(table: &StaggeredTable, entry: &mut Entry<'_, '_, '_>) -> Option<WorkloadKind> {
    let rule = staggered_rule(table, entry);
    matrix(table.keys(), rule, entry)
}

fn staggered_rule(table: &StaggeredTable, entry: &mut Entry<'_, '_, '_>) -> Option<Rule> {
    let rack = entry.share("rack", table.rack, "0.5");
    let pod = entry.share("pod", table.pod, "0.3");
    let (rack, pod) = (rack?, pod?);
    let beyond = 1.0 - rack - pod;
    entry.section.check(beyond > -1e-9, "pod", format!("`rack` and `pod` add up to {}, above 1", rack + pod));
    let places = entry.known.fabric?.racks_and_pods();
    // Is there for every host another one with this relation to it?
    let all = |fits: &dyn Fn((u32, u32), (u32, u32)) -> bool| {
        (0..places.len()).all(|h| (0..places.len()).any(|o| o != h && fits(places[h], places[o])))
    };
    let own_rack = rack <= 0.0 || all(&|(rack, _), (other, _)| rack == other);
    entry.section.check(own_rack, "rack", "some hosts are alone in their racks; write rack = 0.0");
    let own_pod = pod <= 0.0 || all(&|(rack, pod), (r, p)| pod == p && rack != r);
    entry.section.check(own_pod, "pod", "the pods of this topology have one rack; write pod = 0.0");
    let other_pods = beyond < 1e-9 || all(&|(_, pod), (_, p)| pod != p);
    entry.section.check(other_pods, "pod", "this topology is one pod, so `rack` and `pod` must add up to 1");
    entry.section.is_good().then_some(Rule::Staggered { rack, pod })
}
