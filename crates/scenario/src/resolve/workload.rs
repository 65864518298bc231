//! Sources of flows: the settings that all kinds have, and how each kind fits into the scenario.

use linkpool_network::{Fabric, TierTraffic, uniform_traffic};
use linkpool_settings::{Kinds, Preset, Settings, nearest};
use linkpool_transport::Family;
use linkpool_workload::WorkloadKind;
use linkpool_workload::kinds::{Pairs, Place, TierShare};

use super::section::Section;
use super::settings::read_workload;
use super::{Period, inference, paths, program, trace};
use crate::errors::Report;
use crate::known::Known;
use crate::model::{Change, OTHERS, Role, Transport, Until, Workload};
use crate::tree::KeyPath;

/// What workloads are resolved in.
pub(super) struct Around<'a> {
    pub(super) known: &'a Known<'a>,
    pub(super) transports: &'a [Option<Transport>],
    pub(super) roles: Option<&'a [Role]>,
    pub(super) period: Option<Period>,
    /// Have ports queues of several priorities?
    pub(super) priorities: u8,
    /// The rack and the pod of each host.
    pub(super) racks_and_pods: Vec<(u32, u32)>,
}

/// The workloads.
#[derive(Default)]
pub(super) struct Workloads {
    pub(super) labels: Vec<String>,
    /// The transports that they use.
    pub(super) used: Vec<Option<usize>>,
    pub(super) resolved: Vec<Workload>,
    /// The links that traces take down.
    pub(super) failures: Vec<Change>,
}

pub(super) fn resolve_all(around: &Around<'_>, report: &mut Report<'_>) -> Workloads {
    let mut all = Workloads::default();
    let top = &mut Section::new(report, KeyPath::default());
    if top.has("workload") {
        top.within("workload", |section| {
            section.refuse_unknown(WorkloadKind::NAMES);
            for name in WorkloadKind::NAMES {
                for path in section.elements(name) {
                    all.add(name, around, &mut section.at(path));
                }
            }
        });
    }
    if all.resolved.is_empty() {
        let others = WorkloadKind::NAMES[1..WorkloadKind::NAMES.len() - 1].join(", ");
        let (first, last) = (WorkloadKind::NAMES[0], WorkloadKind::NAMES[WorkloadKind::NAMES.len() - 1]);
        let kinds = format!("[[workload.{first}]], {others} or {last}");
        report.error(&KeyPath::default().at("workload"), format!("missing, so that no flow starts; write {kinds}"));
    }
    all
}

impl Workloads {
    fn add(&mut self, kind: &str, around: &Around<'_>, section: &mut Section<'_, '_>) {
        let Some(kind) = WorkloadKind::named(kind) else { return };
        let mut workload = Workload { kind, ..Workload::defaults(Preset::Linux) };
        read_workload(&mut workload, around.known, section);
        check_role(&workload, around, section);
        if let WorkloadKind::Trace(trace) = &mut workload.kind {
            self.failures.extend(trace::read_file(trace, around.known, section));
        }
        if let WorkloadKind::Session(session) = &mut workload.kind {
            trace::read_messages(session, around.known, section);
        }
        if let WorkloadKind::Program(program) = &mut workload.kind {
            program::read(program, around.known, section);
        }
        if let WorkloadKind::Training(training) = &mut workload.kind {
            program::read_hosts(&mut training.placed, around.known, section);
        }
        if let WorkloadKind::Inference(inference) = &mut workload.kind {
            inference::read(inference, around.known, section);
        }
        if let (Some(fabric), Some(period)) = (around.known.fabric, around.period) {
            complete(&mut workload, around, (fabric, period), section);
        }
        let (first, second) = workload.labels();
        self.labels.extend([workload.label.clone(), first].into_iter().chain(second));
        self.used.extend([Some(workload.transport), workload.small.map(|small| small.transport)]);
        self.resolved.push(workload);
    }
}

/// Fits a workload into the scenario, if it is right so far.
fn complete(
    workload: &mut Workload,
    around: &Around<'_>,
    (fabric, period): (&Fabric, Period),
    section: &mut Section<'_, '_>,
) {
    let Period { duration, end } = period;
    let start = workload.start;
    let message = format!("{start} is not before `duration`, {duration}, after which no flow starts");
    section.check(start < duration, "start", message);
    let Some(senders) = senders(workload, around).filter(|_| section.is_good()) else { return };
    let mut place = Place {
        duration,
        end,
        start,
        hosts: fabric.hosts() as u32,
        senders,
        priorities: around.priorities,
        without_connections: family_without(workload, around, |family| family.facts().stays_open),
        without_priority: family_without(workload, around, |family| !family.facts().by_kind),
        racks_and_pods: &around.racks_and_pods,
        access_rate: fabric.access_rate(),
        // It takes a while in a large fabric.
        tiers: if section.has("load_of") { tiers(workload, fabric) } else { Vec::new() },
        keys: section.keys(),
        errors: Vec::new(),
    };
    workload.kind.settings_mut().complete(&mut place);
    place.errors.into_iter().for_each(|(key, message)| section.error(&key, message));
    if let WorkloadKind::Flow(flow) = &workload.kind {
        let transport = around.transports.get(workload.transport).and_then(Option::as_ref);
        paths::check(flow, transport, fabric, section);
    }
}

/// What the traffic of `workload`, if it is uniform, takes of each tier.
fn tiers(workload: &Workload, fabric: &Fabric) -> Vec<TierShare> {
    let in_rack = !matches!(workload.kind.settings().pairs(0), Pairs::Any { in_rack: false });
    let share = |tier: TierTraffic| TierShare {
        name: format!("{}->{}", tier.from.name(), tier.to.name()),
        rate: tier.capacity,
        passed: tier.passed,
    };
    uniform_traffic(fabric, in_rack).into_iter().map(share).collect()
}

/// The family of a transport of `workload` without a property, if there is one.
fn family_without(workload: &Workload, around: &Around<'_>, has: impl Fn(Family) -> bool) -> Option<&'static str> {
    let used = [Some(workload.transport), workload.small.map(|small| small.transport)];
    let found = used.into_iter().flatten().filter_map(|t| around.transports.get(t)?.as_ref());
    let mut families = found.map(|t| t.control.family());
    families.find(|family| !has(*family)).map(Family::title)
}

/// How many hosts send, if the kind does not say so.
fn senders(workload: &Workload, around: &Around<'_>) -> Option<u32> {
    let hosts = around.known.fabric?.hosts() as u32;
    let Some(role) = &workload.role else { return Some(hosts) };
    let roles = around.roles?;
    match roles.iter().find(|r| r.name == *role) {
        Some(role) => Some(role.hosts),
        None => hosts.checked_sub(roles.iter().map(|r| r.hosts).sum()),
    }
}

fn check_role(workload: &Workload, around: &Around<'_>, section: &mut Section<'_, '_>) {
    let Some(role) = &workload.role else { return };
    let kind = workload.kind.name();
    let message = format!("does not apply to {kind}, which says itself who sends; leave it out");
    section.check(workload.kind.settings().has_role(), "role", message);
    let Some(roles) = around.roles else { return };
    let names = roles.iter().map(|r| r.name.as_str()).chain([OTHERS]);
    if !names.clone().any(|name| name == role) {
        section.error("role", format!("no role is named {role:?} in [roles]; {}", nearest(role, names)));
    }
    let some = senders(workload, around) != Some(0);
    section.check(some, "role", "no host is left that has none of the [roles]; make one smaller");
}

/// The condition that ends the run early names a label of the workloads.
pub(super) fn check_until(until: &Until, labels: Option<&[String]>, top: &mut Section<'_, '_>) {
    let label = &until.label;
    if let Some(labels) = labels.filter(|labels| !labels.contains(label)) {
        let near = nearest(label, labels.iter().map(String::as_str));
        top.error("until.label", format!("no workload has the label {label:?}; {near}"));
    }
}
