//! Workloads in which hosts send to each other by a rule.

use super::workload::Entry;
use crate::file::{AllToAllTable, HotspotTable, RandomTable, StaggeredTable, StrideTable};
use crate::model::WorkloadKind;

pub(super) fn random(table: &RandomTable, entry: &mut Entry<'_, '_, '_>) -> Option<WorkloadKind> {
    let (size, stop) = (entry.size(table.size.clone()), entry.stop(table.stop));
    let jitter = entry.jitter(table.jitter);
    if let Some(at_most) = table.at_most {
        entry.section.positive("at_most", at_most)?;
    }
    Some(WorkloadKind::Random { at_most: table.at_most, size: size?, stop: stop?, jitter })
}

pub(super) fn stride(table: &StrideTable, entry: &mut Entry<'_, '_, '_>) -> Option<WorkloadKind> {
    let (size, stop) = (entry.size(table.size.clone()), entry.stop(table.stop));
    let jitter = entry.jitter(table.jitter);
    let step = entry.section.required_positive("step", table.step, "16")?;
    if let Some(hosts) = entry.hosts() {
        let message = format!("{step} steps among {hosts} hosts; write 1 to {}", hosts - 1);
        entry.section.check(step < hosts, "step", message);
    }
    Some(WorkloadKind::Stride { step, size: size?, stop: stop?, jitter })
}

pub(super) fn all_to_all(table: &AllToAllTable, entry: &mut Entry<'_, '_, '_>) -> Option<WorkloadKind> {
    let (size, stop) = (entry.size(table.size.clone()), entry.stop(table.stop));
    let jitter = entry.jitter(table.jitter);
    let hosts = u64::from(entry.hosts()?);
    entry.few_flows("size", hosts * (hosts - 1));
    Some(WorkloadKind::AllToAll { size: size?, stop: stop?, jitter })
}

pub(super) fn hotspot(table: &HotspotTable, entry: &mut Entry<'_, '_, '_>) -> Option<WorkloadKind> {
    let (size, stop) = (entry.size(table.size.clone()), entry.stop(table.stop));
    let jitter = entry.jitter(table.jitter);
    let flows = entry.section.required_positive("flows", table.flows, "100");
    let share = entry.share("share", table.share, "0.5");
    let named = entry.section.required("hosts", table.hosts.as_ref(), "[0]")?;
    entry.section.check(!named.is_empty(), "hosts", "names no host; write for example hosts = [0]");
    let mut hosts = Vec::new();
    for (i, host) in named.iter().enumerate() {
        let key = format!("hosts.{i}");
        let host = entry.host(&key, Some(host))?;
        entry.section.check(!hosts.contains(&host), &key, "stands here twice; leave one out");
        hosts.push(host);
    }
    entry.few_flows("flows", flows?.into());
    Some(WorkloadKind::Hotspot { flows: flows?, hosts, share: share?, size: size?, stop: stop?, jitter })
}

pub(super) fn staggered(table: &StaggeredTable, entry: &mut Entry<'_, '_, '_>) -> Option<WorkloadKind> {
    let (size, stop) = (entry.size(table.size.clone()), entry.stop(table.stop));
    let jitter = entry.jitter(table.jitter);
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
    entry.section.is_good().then_some(WorkloadKind::Staggered { rack, pod, size: size?, stop: stop?, jitter })
}
