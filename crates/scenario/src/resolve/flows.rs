//! Flows between hosts that are named or counted, and arrivals.

use linkpool_units::Time;
use linkpool_workload::Sizes;

use super::entry::Entry;
use super::paths;
use crate::file::{DestinationName, FlowTable, IncastTable, ManyToOneFlowsTable, PoissonTable};
use crate::model::{Destination, WorkloadKind};

pub(super) fn flow(table: &FlowTable, entry: &mut Entry<'_, '_, '_>) -> Option<WorkloadKind> {
    let from = entry.host("from", table.from.as_ref());
    let to = entry.host("to", table.to.as_ref());
    let same = from.is_some() && from == to;
    entry.section.check(!same, "to", "a flow goes from one host to another; `from` and `to` are the same");
    let size = entry.size(table.size.clone());
    let stop = entry.stop(table.stop);
    let count = table.count.unwrap_or(1);
    entry.section.positive("count", count);
    entry.few_flows("count", count.into());
    let (from, to) = (from?, to?);
    let transport = entry.known.transport(table.transport.as_deref());
    let paths = paths::resolve(table.paths.as_deref().unwrap_or_default(), (from, to), transport, entry)?;
    Some(WorkloadKind::Flow { from, to, size: size?, stop: stop?, count, paths })
}

pub(super) fn incast(table: &IncastTable, entry: &mut Entry<'_, '_, '_>) -> Option<WorkloadKind> {
    let senders = entry.section.required_positive("senders", table.senders, "30");
    let receiver = entry.host("receiver", table.receiver.as_ref());
    if let (Some(senders), Some(hosts)) = (senders, entry.hosts()) {
        let message = format!("{senders} senders, but the topology has only {} hosts beside the receiver", hosts - 1);
        entry.section.check(senders < hosts, "senders", message);
    }
    let size = entry.finite_size("size", table.size.clone(), "\"128KiB\"");
    let spacing = table.spacing.unwrap_or(Time::ZERO);
    // With one burst there is no next one to say anything about.
    let next = (table.bursts == Some(1)).then(|| entry.duration().unwrap_or(Time::MAX));
    let every = entry.section.required_positive("every", table.every.or(next), "\"1s\"");
    let bursts = entry.bursts(table.bursts, every?, senders?, spacing)?;
    entry.few_flows(if table.bursts.is_some() { "bursts" } else { "every" }, bursts.saturating_mul(senders?.into()));
    let bursts = u32::try_from(bursts).ok()?;
    Some(WorkloadKind::Incast { senders: senders?, receiver: receiver?, size: size?, every: every?, bursts, spacing })
}

pub(super) fn many_to_one(table: &ManyToOneFlowsTable, entry: &mut Entry<'_, '_, '_>) -> Option<WorkloadKind> {
    let flows = entry.section.required_positive("flows", table.flows, "30");
    let first = table.first.unwrap_or(0);
    let receiver = entry.host("receiver", table.receiver.as_ref());
    let size = entry.size(table.size.clone());
    let stop = entry.stop(table.stop);
    let spacing = table.spacing.unwrap_or(Time::ZERO);
    let flows = flows?;
    let past = u64::from(first) + u64::from(flows);
    if let Some(hosts) = entry.hosts() {
        let message = format!("{flows} flows from host {first} on need {past} hosts, but the topology has {hosts}");
        entry.section.check(past <= hosts.into(), "flows", message);
    }
    if let Some(receiver) = receiver.filter(|receiver| (first.into()..past).contains(&u64::from(*receiver))) {
        let senders = format!("the senders, hosts {first} to {}", past - 1);
        entry.section.error("receiver", format!("is host {receiver}, one of {senders}; change it, `first` or `flows`"));
    }
    let last = entry.after(flows.saturating_sub(1), spacing);
    entry.check_in_time(last, "spacing", "the last flow");
    Some(WorkloadKind::ManyToOne { flows, first, receiver: receiver?, size: size?, stop: stop?, spacing })
}

pub(super) fn poisson(table: &PoissonTable, entry: &mut Entry<'_, '_, '_>) -> Option<WorkloadKind> {
    let size = entry.finite_size("size", table.size.clone(), "\"100KB\"");
    let stop = entry.stop(table.stop.or(entry.duration()));
    let to = match table.to {
        None | Some(DestinationName::Random) => Destination::Any,
        Some(DestinationName::Permutation) => Destination::Permutation,
        Some(DestinationName::OtherRacks) => {
            entry.check_other_racks(u32::MAX);
            Destination::OtherRacks
        }
    };
    let flows_per_second = arrivals(table, size.as_ref(), entry);
    Some(WorkloadKind::Poisson { flows_per_second: flows_per_second?, size: size?, to, stop: stop? })
}

/// The rate of arrivals over the whole network, by whichever key gives it. A load is payload over
/// the capacity of the links from all hosts together; beside a rate it states the load that the
/// rate and the mean size must give.
fn arrivals(table: &PoissonTable, size: Option<&Sizes>, entry: &mut Entry<'_, '_, '_>) -> Option<f64> {
    let PoissonTable { flows_per_second, flows_per_second_per_host, load, .. } = *table;
    let keys = ["flows_per_second", "flows_per_second_per_host", "load"];
    let given = [flows_per_second, flows_per_second_per_host, load];
    let (key, value) = keys.into_iter().zip(given).find_map(|(key, value)| Some((key, value?))).unzip();
    if keys.iter().any(|key| entry.section.has(key)) && value.is_none() {
        return None; // It could not be read.
    }
    let key: &str = key.unwrap_or("flows_per_second");
    let value = entry.section.required(key, value, "1000, or else load = 0.5")?;
    for (key, value) in keys.into_iter().zip(given).filter_map(|(key, value)| Some((key, value?))) {
        let message = format!("{value} is no rate and no load; it must be above zero");
        entry.section.check(value > 0.0 && value.is_finite(), key, message);
    }
    let both = flows_per_second.is_some() && flows_per_second_per_host.is_some();
    entry.section.check(!both, "flows_per_second_per_host", "there is `flows_per_second` too; leave one out");
    let mean = size?.mean();
    // Flows a second at which the links from all hosts are full.
    let full = entry.known.fabric?.access_rate() / (8.0 * mean);
    let rate = match key {
        "load" => value * full,
        "flows_per_second" => value,
        _ => value * f64::from(entry.senders()?),
    };
    let all = rate * entry.duration()?.saturating_sub(entry.start).secs();
    entry.few_flows(key, all as u64);
    if !entry.section.is_good() {
        return None;
    }
    let offered = rate / full;
    if let Some(load) = load {
        let message = format!(
            "{load} is not the load of `{key}` with flows of {mean:.0}B in the mean, {offered:.3e}; change one, or leave `load` out"
        );
        entry.section.check((load - offered).abs() <= 0.01 * offered, "load", message);
    }
    let message = format!("offers a load of {offered:.3}, above 1; lower it, or write allow_overload = true");
    entry.section.check(offered <= 1.0 + 1e-9 || table.allow_overload == Some(true), key, message);
    Some(rate)
}
