use linkpool_network::Fabric;
use linkpool_units::Time;
use linkpool_workload::Sizes;

use super::section::Section;
use super::{Known, matrices, paths, sizes};
use crate::errors::{Report, nearest};
use crate::file::{
    FlowSize, FlowTable, Host, IncastTable, ManyToOneFlowsTable, PermutationTable, PoissonTable, Size, WorkloadTable,
};
use crate::model::{Workload, WorkloadKind};
use crate::source::Path;

/// More flows than this are a slip of the pen: they would not fit into memory.
const MOST_FLOWS: u64 = 100_000_000;

/// The workloads; none for each in error.
#[derive(Default)]
pub(super) struct Workloads {
    pub(super) labels: Vec<String>,
    /// The transport of each workload.
    pub(super) transports: Vec<Option<usize>>,
    pub(super) resolved: Vec<Option<Workload>>,
}

pub(super) fn resolve_all(table: WorkloadTable, known: &Known<'_>, report: &mut Report<'_>) -> Workloads {
    let mut all = Workloads::default();
    all.add("flow", table.flow, |t| (&t.label, &t.transport, t.start), flow, known, report);
    all.add("incast", table.incast, |t| (&t.label, &t.transport, t.start), incast, known, report);
    all.add("many-to-one", table.many_to_one, |t| (&t.label, &t.transport, t.start), many_to_one, known, report);
    all.add("permutation", table.permutation, |t| (&t.label, &t.transport, t.start), permutation, known, report);
    all.add("poisson", table.poisson, |t| (&t.label, &t.transport, t.start), poisson, known, report);
    all.add("random", table.random, |t| (&t.label, &t.transport, t.start), matrices::random, known, report);
    all.add("stride", table.stride, |t| (&t.label, &t.transport, t.start), matrices::stride, known, report);
    all.add("all-to-all", table.all_to_all, |t| (&t.label, &t.transport, t.start), matrices::all_to_all, known, report);
    all.add("hotspot", table.hotspot, |t| (&t.label, &t.transport, t.start), matrices::hotspot, known, report);
    all.add("staggered", table.staggered, |t| (&t.label, &t.transport, t.start), matrices::staggered, known, report);
    if all.resolved.is_empty() {
        let kinds = "[[workload.flow]], incast, many-to-one, permutation, poisson, random, stride, all-to-all, hotspot or staggered";
        report.error(&Path::default().at("workload"), format!("missing, so that no flow starts; write {kinds}"));
    }
    all
}

/// What workloads of all kinds have: label, transport, start.
type Common<'t> = (&'t Option<String>, &'t Option<String>, Option<Time>);

impl Workloads {
    /// Resolves the workloads of one kind.
    fn add<T>(
        &mut self,
        kind: &str,
        tables: Vec<T>,
        common: impl Fn(&T) -> Common<'_>,
        resolve: impl Fn(&T, &mut Entry<'_, '_, '_>) -> Option<WorkloadKind>,
        known: &Known<'_>,
        report: &mut Report<'_>,
    ) {
        let path = Path::default().at("workload").at(kind);
        for (i, table) in tables.iter().enumerate() {
            let (label, transport, start) = common(table);
            let start = start.unwrap_or(Time::ZERO);
            let mut entry = Entry { known, start, section: Section::new(report, path.at(i)) };
            entry.check_start();
            let transport = entry.transport(transport.as_deref());
            let resolved = resolve(table, &mut entry);
            let label = label.as_deref().unwrap_or(kind).to_string();
            self.labels.push(label.clone());
            self.transports.push(transport);
            let workload = |(transport, kind)| Workload { label, transport, start, kind };
            self.resolved.push(transport.zip(resolved).map(workload));
        }
    }
}

fn flow(table: &FlowTable, entry: &mut Entry<'_, '_, '_>) -> Option<WorkloadKind> {
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

fn incast(table: &IncastTable, entry: &mut Entry<'_, '_, '_>) -> Option<WorkloadKind> {
    let senders = entry.section.required_positive("senders", table.senders, "30");
    let receiver = entry.host("receiver", table.receiver.as_ref());
    if let (Some(senders), Some(hosts)) = (senders, entry.hosts()) {
        let message = format!("{senders} senders, but the topology has only {} hosts beside the receiver", hosts - 1);
        entry.section.check(senders < hosts, "senders", message);
    }
    let size = entry.finite_size(table.size.clone(), "\"128KiB\"");
    let spacing = table.spacing.unwrap_or(Time::ZERO);
    // With one burst there is no next one to say anything about.
    let next = (table.bursts == Some(1)).then(|| entry.duration().unwrap_or(Time::MAX));
    let every = entry.section.required_positive("every", table.every.or(next), "\"1s\"");
    let bursts = entry.bursts(table.bursts, every?, senders?, spacing)?;
    entry.few_flows(if table.bursts.is_some() { "bursts" } else { "every" }, bursts.saturating_mul(senders?.into()));
    let bursts = u32::try_from(bursts).ok()?;
    Some(WorkloadKind::Incast { senders: senders?, receiver: receiver?, size: size?, every: every?, bursts, spacing })
}

fn many_to_one(table: &ManyToOneFlowsTable, entry: &mut Entry<'_, '_, '_>) -> Option<WorkloadKind> {
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

fn permutation(table: &PermutationTable, entry: &mut Entry<'_, '_, '_>) -> Option<WorkloadKind> {
    let size = entry.size(table.size.clone());
    let stop = entry.stop(table.stop);
    let jitter = entry.jitter(table.jitter);
    Some(WorkloadKind::Permutation { size: size?, stop: stop?, jitter })
}

fn poisson(table: &PoissonTable, entry: &mut Entry<'_, '_, '_>) -> Option<WorkloadKind> {
    let size = entry.finite_size(table.size.clone(), "\"100KB\"");
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
    Some(WorkloadKind::Poisson { flows_per_second, size: size?, stop: stop? })
}

/// One workload that is being resolved.
pub(super) struct Entry<'k, 's, 'r> {
    pub(super) known: &'k Known<'k>,
    start: Time,
    pub(super) section: Section<'s, 'r>,
}

impl Entry<'_, '_, '_> {
    fn duration(&self) -> Option<Time> {
        self.known.period.map(|period| period.duration)
    }

    pub(super) fn hosts(&self) -> Option<u32> {
        self.known.fabric.map(|fabric| fabric.hosts() as u32)
    }

    /// Arrivals per second that offer `load`: payload over what the links from all hosts carry together.
    fn arrivals_of_load(&mut self, load: f64, overload: bool, size: Option<&Sizes>) -> Option<f64> {
        if !(load > 0.0 && load.is_finite()) {
            self.section.error("load", format!("{load} is no load; it must be above zero"));
            return None;
        }
        if load > 1.0 && !overload {
            let message =
                format!("{load} is more than the hosts' links carry; lower it, or write allow_overload = true");
            self.section.error("load", message);
        }
        let access = self.known.fabric?.access_rate() as f64;
        Some(load * access / (8.0 * size?.mean()))
    }

    /// A share, from 0 to 1.
    pub(super) fn share(&mut self, key: &str, share: Option<f64>, example: &str) -> Option<f64> {
        let share = self.section.required(key, share, example)?;
        let good = (0.0..=1.0).contains(&share);
        self.section.check(good, key, format!("{share} is no share; it goes from 0 to 1"));
        good.then_some(share)
    }

    /// When flows start at the latest after `start`.
    pub(super) fn jitter(&mut self, jitter: Option<Time>) -> Time {
        let jitter = jitter.unwrap_or(Time::ZERO);
        self.check_in_time(self.after(1, jitter), "jitter", "the last flow");
        jitter
    }

    fn check_start(&mut self) {
        if let Some(duration) = self.duration().filter(|duration| self.start >= *duration) {
            let message = format!("{} is not before `duration`, {duration}, after which no flow starts", self.start);
            self.section.error("start", message);
        }
    }

    /// `n` times `span` after the start of the workload, in picoseconds, which may be far away.
    fn after(&self, n: u32, span: Time) -> u128 {
        u128::from(self.start.0) + u128::from(n) * u128::from(span.0)
    }

    /// An error about `key`, which delays the start of `what` to `ps`, if that is too late.
    fn check_in_time(&mut self, ps: u128, key: &str, what: &str) {
        let Some(duration) = self.duration().filter(|duration| self.start < *duration) else { return };
        let at = Time(u64::try_from(ps).unwrap_or(u64::MAX));
        let message = format!("{what} would start at {at}, and no flow starts at or after `duration`, {duration}");
        self.section.check(at < duration, key, message);
    }

    pub(super) fn few_flows(&mut self, key: &str, flows: u64) {
        self.section.check(
            flows <= MOST_FLOWS,
            key,
            format!("makes {flows} flows; at most {MOST_FLOWS} can be simulated"),
        );
    }

    fn transport(&mut self, name: Option<&str>) -> Option<usize> {
        let names = self.known.transports;
        let example = format!("{:?}", names.and_then(<[_]>::first).map_or("amp", String::as_str));
        let name = self.section.required("transport", name, &example)?;
        let names = names?;
        let index = names.iter().position(|known| known == name);
        if index.is_none() {
            let message = match names {
                [] => format!("no transport is defined; write [transport.{name}] with its `control`"),
                _ => format!("no transport is named {name:?}; {}", nearest(name, names.iter().map(String::as_str))),
            };
            self.section.error("transport", message);
        }
        index
    }

    pub(super) fn host(&mut self, key: &str, host: Option<&Host>) -> Option<u32> {
        let fabric = self.known.fabric;
        let example = format!("{:?}", fabric.map_or("S1", |fabric| fabric.name(0)));
        let host = self.section.required(key, host, &example)?;
        let fabric = fabric?;
        let hosts = fabric.hosts() as u32;
        let (index, written) = match host {
            Host::Index(index) => (Some(*index).filter(|index| *index < hosts), index.to_string()),
            Host::Name(name) => (fabric.node(name).filter(|node| *node < hosts), format!("{name:?}")),
        };
        if index.is_none() {
            let (names, last) = (names_of_hosts(fabric), hosts - 1);
            self.section
                .error(key, format!("there is no host {written}; hosts are {names}, or their indices 0 to {last}"));
        }
        index
    }

    /// A size that may be "unlimited", which is the default.
    pub(super) fn size(&mut self, size: Option<FlowSize>) -> Option<Option<Sizes>> {
        match size {
            None | Some(FlowSize::One(Size(None))) => Some(None),
            Some(size) => sizes::resolve(size, &mut self.section).map(Some),
        }
    }

    /// A size that has an end.
    fn finite_size(&mut self, size: Option<FlowSize>, example: &str) -> Option<Sizes> {
        match self.section.required("size", size, example)? {
            FlowSize::One(Size(None)) => {
                self.section.error("size", format!("these flows must end; write for example size = {example}"));
                None
            }
            size => sizes::resolve(size, &mut self.section),
        }
    }

    /// When flows stop: by default at the end of the run.
    pub(super) fn stop(&mut self, stop: Option<Time>) -> Option<Time> {
        if let Some(stop) = stop {
            let message = format!("{stop} is not after the start of the workload at {}", self.start);
            self.section.check(stop > self.start, "stop", message);
        }
        stop.or(self.known.period.map(|period| period.end))
    }

    /// Number of bursts: those asked for, or as many as start in time, to their last flow.
    fn bursts(&mut self, asked: Option<u32>, every: Time, senders: u32, spacing: Time) -> Option<u64> {
        let first = self.after(senders - 1, spacing);
        self.check_in_time(first, "spacing", "the last flow of the first burst");
        match asked {
            Some(bursts) => {
                self.section.positive("bursts", bursts);
                let last = first + u128::from(bursts.saturating_sub(1)) * u128::from(every.0);
                self.check_in_time(last, "bursts", "the last flow of the last burst");
                Some(bursts.into())
            }
            None => {
                let left = u128::from(self.duration()?.0).saturating_sub(first + 1);
                u64::try_from(1 + left / u128::from(every.0)).ok()
            }
        }
    }
}

/// `S1 to S30 and R`: runs of numbered names by their ends.
fn names_of_hosts(fabric: &Fabric) -> String {
    let numbered = |name: &str| {
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        Some((stem.to_string(), name[stem.len()..].parse::<u64>().ok()?))
    };
    let mut runs: Vec<(&str, &str)> = Vec::new();
    for name in (0..fabric.hosts() as u32).map(|host| fabric.name(host)) {
        let next = runs.last().and_then(|(_, last)| numbered(last)).map(|(stem, n)| (stem, n + 1));
        match runs.last_mut() {
            Some((_, last)) if next.is_some() && next == numbered(name) => *last = name,
            _ => runs.push((name, name)),
        }
    }
    let run =
        |(first, last): &(&str, &str)| if first == last { first.to_string() } else { format!("{first} to {last}") };
    let mut names: Vec<String> = runs.iter().take(8).map(run).collect();
    match names.pop() {
        Some(last) if runs.len() > 8 => format!("{}, {last}, ...", names.join(", ")),
        Some(last) if !names.is_empty() => format!("{} and {last}", names.join(", ")),
        last => last.unwrap_or_default(),
    }
}
