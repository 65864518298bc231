//! Flows between hosts that are named or counted, and arrivals.

use linkpool_units::Time;

use super::paths;
use super::workload::Entry;
use crate::file::{DestinationName, FlowTable, IncastTable, ManyToOneFlowsTable, PoissonTable};
use crate::model::WorkloadKind;

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
    let flows_per_second = match (table.flows_per_second, table.load) {
        (Some(_), Some(_)) => {
            entry
                .section
                .error("load", "a rate of arrivals is given by `flows_per_second` or by `load`; leave one out");
            None
        }
        (None, Some(load)) => entry.arrivals_of_load(load, table.allow_overload.unwrap_or(false), size.as_ref()),
        (rate, None) => entry.section.required("flows_per_second", rate, "1000, or else load = 0.5"),
    };
    if table.load.is_none() && table.allow_overload.is_some() {
        entry.section.error("allow_overload", "says something about `load`, which is not given; leave it out");
    }
    let flows_per_second = flows_per_second?;
    if !(flows_per_second > 0.0 && flows_per_second.is_finite()) {
        entry.section.error("flows_per_second", format!("{flows_per_second} is no rate; it must be above zero"));
        return None;
    }
    let arrivals = flows_per_second * entry.duration()?.saturating_sub(entry.start).secs();
    entry.few_flows(if table.load.is_some() { "load" } else { "flows_per_second" }, arrivals as u64);
    let to_permutation = table.to == Some(DestinationName::Permutation);
    Some(WorkloadKind::Poisson { flows_per_second, size: size?, to_permutation, stop: stop? })
}
