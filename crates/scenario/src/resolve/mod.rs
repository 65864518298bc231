//! Reads a scenario: fills in the defaults, looks up the names and checks the values, each error
//! with its remedy.

mod balancing;
mod change;
mod controls;
mod failures;
mod graph;
mod inference;
mod measure;
mod multipath;
mod nic;
mod paths;
mod program;
mod queue;
mod reach;
mod record;
mod recovery;
mod roles;
mod routing;
mod section;
mod settings;
mod size;
mod slow_host;
mod surroundings;
mod topology;
mod trace;
mod transport;
mod workload;

use crate::pausing::{queue_of, set_aside};
use linkpool_network::{Fabric, Layer, LinkId, MOST_HOPS, NodeId, Order, Queue};
use linkpool_settings::{Kinds, NoNames, Preset, Settings};
use linkpool_transport::Telemetry;
use linkpool_units::Time;
use linkpool_workload::FlowPriority;
use linkpool_workload::kinds::{OF_CLASSES, WITHOUT_PRIORITIES, WorkloadKind};

use crate::compile::Compile;
use crate::errors::Report;
use crate::file::TABLES;
use crate::known::Known;
use crate::model::{Change, Priority, Record, Routing, Scenario, Topology, Transport, Workload};
use crate::tree::KeyPath;
use controls::Controls;
use section::{LONGEST, Section};
use transport::Transports;
use workload::Around;

/// The scenario that `report` has, with its errors; what is in error is left as it is by default.
/// `title` is the name of a scenario that has none.
pub(crate) fn resolve(title: &str, compile: &dyn Compile, report: &mut Report<'_>) -> Scenario {
    let mut scenario = Scenario::defaults(Preset::Linux);
    let top = &mut Section::new(report, KeyPath::default());
    settings::read(&mut scenario, TABLES, &NoNames, top);
    settings::check(&mut scenario, top);
    if !top.has("name") {
        scenario.name = title.to_string();
    }
    let period = period(&scenario, top);
    scenario.measure = measure::resolve(period, top);
    let topology = topology::resolve(report);
    let fabric = topology.as_ref().map(Topology::fabric);
    let controls = Controls::resolve(scenario.controls.take(), compile, report);
    let mut transports = transport::resolve_all(&controls, report);
    let names = (!report.unreadable("transport")).then(|| transports.names.clone());
    let known = Known { fabric: fabric.as_ref(), transports: names, directory: report.directory() };
    scenario.routing = routing::resolve((topology.as_ref(), fabric.as_ref()), &transports.resolved, report);
    let queue = queue::resolve(&transports, fabric.as_ref(), report);
    if let (Some((queue, _)), Some(fabric)) = (&queue, &fabric) {
        surroundings::complete(&mut transports.resolved, fabric, queue);
    }
    check_priorities(&transports, queue.as_ref(), report);
    check_telemetry(&transports.resolved, (fabric.as_ref(), &scenario.routing), report);
    check_digests(&transports.resolved, report);
    check_pauses(queue.as_ref(), fabric.as_ref(), report);
    let roles = roles::resolve(fabric.as_ref(), &mut Section::new(report, KeyPath::default()));
    let around = Around {
        known: &known,
        transports: &transports.resolved,
        roles: roles.as_deref(),
        period,
        // Where the table of queues is wrong, that alone is said.
        priorities: queue.as_ref().map_or(8, priorities),
        racks_and_pods: fabric.as_ref().map(Fabric::racks_and_pods).unwrap_or_default(),
    };
    let workloads = workload::resolve_all(&around, report);
    if known.transports.is_some() {
        transport::check_overridden(&transports.names, &workloads.used, report);
    }
    scenario.changes = change::resolve(workloads.failures, &scenario.routing, &known, period, report);
    if !scenario.changes.is_empty() && queue.as_ref().is_some_and(|(queue, _)| queue.pfc.is_some()) {
        let why = "links do not change in this version where ports pause their neighbours; leave `pfc` in [queue] or the changes out";
        report.error(&KeyPath::default().at("change"), why);
    }
    check_longer_paths(&scenario, queue.as_ref(), report);
    check_limits(&scenario.changes, queue.as_ref(), fabric.as_ref(), report);
    let labels = (!report.unreadable("workload")).then_some(&workloads.labels[..]);
    let top = &mut Section::new(report, KeyPath::default());
    if let Some(until) = &scenario.until {
        workload::check_until(until, labels, top);
    }
    scenario.nic = nic::resolve(&transports.resolved, known.fabric, queue.as_ref(), top);
    scenario.slow_hosts = slow_host::resolve(&known, period, queue.as_ref(), top);
    scenario.record = record::resolve(&known, period, labels, &transports.resolved, top);
    check_records(&scenario.record, queue.as_ref(), report);
    check_ranks(&scenario.record, &workloads.resolved, report);
    check_steps(&scenario.record, &workloads.resolved, report);
    if let Some((queue, layers)) = queue {
        (scenario.queue, scenario.layer_queues) = (queue, layers);
    }
    scenario.topology = topology.unwrap_or(scenario.topology);
    scenario.transports = transports.resolved.into_iter().flatten().collect();
    scenario.controls = controls.used_by(&scenario.transports);
    scenario.workloads = workloads.resolved;
    scenario.roles = roles.unwrap_or_default();
    if let Some(fabric) = fabric.filter(|_| report.is_good()) {
        reach::check(&scenario, &fabric, report);
        recovery::check(&scenario, &fabric, report);
    }
    scenario
}

/// Paths that are not the shortest must be free of deadlocks, and are drawn from links that work.
fn check_longer_paths(scenario: &Scenario, queues: Option<&(Queue, Vec<(Layer, Queue)>)>, report: &mut Report<'_>) {
    let kind = scenario.routing.kind;
    if !kind.leaves_shortest_paths() {
        return;
    }
    let (name, path) = (kind.name(), KeyPath::default().at("routing").at("kind"));
    if queues.is_some_and(|(queue, layers)| queue.pfc.is_some() || layers.iter().any(|(_, queue)| queue.pfc.is_some()))
    {
        let why = format!(
            "\"{name}\" takes paths on which ports that pause their neighbours may wait for each other for ever, as there are no \
             virtual channels; leave `pfc` in [queue] out, or take another kind"
        );
        report.error(&path, why);
    }
    if scenario.changes.iter().any(|change| change.state.is_some()) {
        let why = format!(
            "\"{name}\" draws paths over all links, and does not follow failures in this version; leave `state` in [[change]] out, or \
             take another kind"
        );
        report.error(&path, why);
    }
}

/// Ports that share a buffer have no limit that could change.
fn check_limits(
    changes: &[Change],
    queues: Option<&(Queue, Vec<(Layer, Queue)>)>,
    fabric: Option<&Fabric>,
    report: &mut Report<'_>,
) {
    let (Some((queue, layers)), Some(fabric)) = (queues, fabric) else { return };
    let why = |node: NodeId| {
        let of = queue_of((queue, layers), fabric.layer(node));
        let shares = of.shared_buffer.is_some().then_some("it shares a buffer");
        shares.or((!of.classes.is_empty()).then_some("its classes have limits of their own"))
    };
    for (i, change) in changes.iter().enumerate().filter(|(_, change)| change.limit.is_some()) {
        // All among which chance chooses, if it chooses any.
        let mut concerned = change.changed().victims(fabric);
        let none = change.draw().is_some_and(|draw| draw.of(concerned.len()) == 0);
        concerned.truncate(if none { 0 } else { concerned.len() });
        let mut links: Vec<LinkId> = concerned.concat();
        links.sort_unstable();
        let refused = links.into_iter().find_map(|link| Some((link, why(fabric.links()[link.index()].from)?)));
        if let Some((link, why)) = refused {
            let path = KeyPath::default().at("change").at(i.to_string()).at("limit");
            let link = fabric.link_name(link);
            report.error(&path, format!("the port of {link} has no `limit`: {why}; leave this link or the limit out"));
        }
    }
}

/// A priority that no port knows is a mistake, and so is trimming.
fn check_priorities(transports: &Transports, queues: Option<&(Queue, Vec<(Layer, Queue)>)>, report: &mut Report<'_>) {
    let Some(queues) = queues else { return };
    let (queue, layers) = queues;
    let all = || std::iter::once(queue).chain(layers.iter().map(|(_, queue)| queue));
    let trims =
        |queue: &Queue| matches!(queue.order, Order::Trimming(_)) || queue.classes.iter().any(|class| class.trim);
    if !all().any(trims) {
        for t in transports.resolved.iter().flatten() {
            let Some(key) = t.needs_trimming() else { continue };
            let path = KeyPath::default().at("transport").at(&t.name).at(key);
            report.error(
                &path,
                "applies where ports trim; write discipline = \"trimming\" in [queue], or trim = true in a class",
            );
        }
    }
    let most = priorities(queues);
    for t in transports.resolved.iter().flatten() {
        let family = t.control.family();
        let path = KeyPath::default().at("transport").at(&t.name).at("priority");
        let by_kind = family.facts().by_kind;
        match (t.priority, most) {
            (Priority::Of(of), _) if of.number() == 0 => {}
            (Priority::Of(FlowPriority::High) | Priority::Scatter, _) if by_kind => report.error(
                &path,
                format!(
                    "does not apply to {}, whose packets have priorities by their kind; leave it out, or write the \
                     number of a class, [[queue.class]]",
                    family.title()
                ),
            ),
            (_, 1) => report.error(&path, WITHOUT_PRIORITIES),
            (Priority::Of(of), 2) if by_kind || !of.is_one_of_two() => report.error(&path, OF_CLASSES),
            _ => {}
        }
    }
}

/// Where ports pause, all do, and each switch has room for what comes after it has told its
/// neighbours.
fn check_pauses(queues: Option<&(Queue, Vec<(Layer, Queue)>)>, fabric: Option<&Fabric>, report: &mut Report<'_>) {
    let (Some((queue, layers)), Some(fabric)) = (queues, fabric) else { return };
    let path = KeyPath::default().at("queue").at("pfc");
    if queue.pfc.is_none() {
        if layers.iter().any(|(_, queue)| queue.pfc.is_some()) {
            report.error(
                &KeyPath::default().at("queue").at("layer"),
                "ports of all layers pause, or none; write pfc in [queue]",
            );
        }
        return;
    }
    let lossless = |queue: &Queue| queue.pausing().map(|pfc| pfc.lossless_numbers());
    let differs = |layer: &Queue| layer.order != queue.order || layer.classes.is_empty() != queue.classes.is_empty();
    let of_others = |layer: &Queue| !layer.classes.is_empty() && lossless(layer) != lossless(queue);
    if layers.iter().any(|(_, layer)| differs(layer) || of_others(layer)) {
        let why = "with pfc, ports of all layers have the same priorities, and the same of them are lossless; write discipline, or the classes, in [queue]";
        return report.error(&KeyPath::default().at("queue").at("layer"), why);
    }
    if fabric.hosts_forward() {
        return report
            .error(&path, "hosts of this topology forward packets, and hosts take all that comes; leave it out");
    }
    for node in NodeId::first(fabric.nodes()).skip(fabric.hosts()) {
        let Some(pfc) = queue_of((queue, layers), fabric.layer(node)).pausing() else { continue };
        if pfc.lossless_priorities() == 0 {
            return report.error(&path, "no priority of the ports is lossless; write low = true, or lossless = true in a class, or leave pfc out");
        }
        let needs = set_aside(&pfc, fabric, node);
        if needs >= pfc.buffer {
            let name = fabric.name(node);
            let buffer = pfc.buffer;
            let message = format!(
                "the headroom and the reserve of the links to {name} take {needs} B, and the buffer of a switch has {buffer} B; write a \
                 larger one, for example {} B",
                2 * needs
            );
            return report.error(&path.at("buffer"), message);
        }
    }
}

/// What ranks do is recorded where there are some.
fn check_ranks(record: &Record, workloads: &[Workload], report: &mut Report<'_>) {
    let has_ranks = |workload: &Workload| matches!(workload.kind, WorkloadKind::Program(_) | WorkloadKind::Training(_));
    if record.ranks && report.is_good() && !workloads.iter().any(has_ranks) {
        let why = "there is no rank; write [[workload.program]] or [[workload.training]], or leave it out";
        report.error(&KeyPath::default().at("record").at("ranks"), why);
    }
}

/// Steps of decode instances are recorded where there are some.
fn check_steps(record: &Record, workloads: &[Workload], report: &mut Report<'_>) {
    let is_served = |workload: &Workload| matches!(workload.kind, WorkloadKind::Inference(_));
    if record.steps && report.is_good() && !workloads.iter().any(is_served) {
        let why = "there is no decode instance; write [[workload.inference]], or leave it out";
        report.error(&KeyPath::default().at("record").at("steps"), why);
    }
}

/// Pauses are recorded where there are some.
fn check_records(record: &Record, queues: Option<&(Queue, Vec<(Layer, Queue)>)>, report: &mut Report<'_>) {
    if queues.is_none_or(|(queue, _)| queue.pfc.is_some()) {
        return;
    }
    let path = KeyPath::default().at("record");
    if record.pauses.is_some() {
        report.error(&path.at("pauses"), "no port is paused; write pfc in [queue], or leave it out");
    }
    if record.capture.as_ref().is_some_and(|capture| !capture.packets) {
        let why = "nothing is left to record, as no port sends pause frames; write pfc in [queue], or packets = true";
        report.error(&path.at("capture").at("packets"), why);
    }
}

/// What switches write must have room in a packet.
fn check_telemetry(
    transports: &[Option<Transport>],
    (fabric, routing): (Option<&Fabric>, &Routing),
    report: &mut Report<'_>,
) {
    let Some(fabric) = fabric else { return };
    for t in transports.iter().flatten().filter(|t| t.telemetry() == Some(Telemetry::Records)) {
        let shortest = fabric.most_switches();
        // There and on, over a switch that is counted once.
        let switches = if routing.kind.leaves_shortest_paths() { (2 * shortest).saturating_sub(1) } else { shortest };
        if switches as usize > MOST_HOPS {
            let path = KeyPath::default().at("transport").at(&t.name).at("control");
            let message = format!(
                "{} has packets with room for what {MOST_HOPS} switches write, and paths of this topology have {switches}; \
                 take another control, or a topology with shorter paths",
                t.control.name()
            );
            report.error(&path, message);
        }
    }
}

/// Ports write digests of one form, by one average.
fn check_digests(transports: &[Option<Transport>], report: &mut Report<'_>) {
    let mut with_digests = transports.iter().flatten().filter_map(|t| match t.telemetry() {
        Some(Telemetry::Digest(form)) => Some((t, form)),
        _ => None,
    });
    let Some((first, form)) = with_digests.next() else { return };
    for (t, other) in with_digests {
        let differs = [
            ("pint_base", other.base != form.base, form.base.to_string()),
            ("pint_bits", other.bits != form.bits, form.bits.to_string()),
            ("pint_base_rtt", other.base_rtt != form.base_rtt, format!("\"{}\"", form.base_rtt)),
        ];
        for (key, _, value) in differs.into_iter().filter(|(_, differs, _)| *differs) {
            let path = KeyPath::default().at("transport").at(&t.name).at(key);
            let message = format!(
                "ports write one kind of digest, and that of transport \"{}\" differs; write {key} = {value} in both",
                first.name
            );
            report.error(&path, message);
        }
    }
}

/// How many priorities of data the ports of some layer know: 1, 2 or 8.
fn priorities((queue, layers): &(Queue, Vec<(Layer, Queue)>)) -> u8 {
    let of = |queue: &Queue| match queue.order {
        _ if !queue.classes.is_empty() => 8,
        Order::Priority => 2,
        _ => 1,
    };
    std::iter::once(queue).chain(layers.iter().map(|(_, queue)| queue)).map(of).max().unwrap_or(1)
}

/// When flows start, and when the run ends.
#[derive(Clone, Copy)]
struct Period {
    duration: Time,
    end: Time,
}

fn period(scenario: &Scenario, top: &mut Section<'_, '_>) -> Option<Period> {
    let duration = scenario.duration;
    if !top.is_good() {
        return None;
    }
    let end = duration.saturating_add(scenario.drain);
    top.check(end <= LONGEST, "drain", format!("a run is at most {LONGEST} long"));
    Some(Period { duration, end })
}
