//! From the file to the model: fills in the defaults, resolves the names and checks the values,
//! each error with its remedy.

mod balancing;
mod change;
mod controls;
mod entry;
mod failures;
mod flows;
mod graph;
mod graph_file;
mod graphml;
mod hosts;
mod htsim;
mod included;
mod jobs;
mod matrices;
mod measure;
mod multipath;
mod node_link;
mod paths;
mod queue;
mod reach;
mod record;
mod roles;
mod routing;
mod section;
mod settings;
mod size;
mod sizes;
mod topology;
mod trace;
mod trace_formats;
mod transport;
mod workload;

use linkpool_network::{Fabric, Layer, NodeId, Order, Queue};
use linkpool_units::Time;

use crate::compile::Compile;
use crate::errors::Report;
use crate::file::File;
use crate::model::{Change, Priority, Role, Scenario, Topology, Transport};
use crate::source::Path;
use controls::Controls;
use section::{LONGEST, Section};
use transport::Transports;

/// The seed of a scenario that names none.
const DEFAULT_SEED: u64 = 1;

/// The model of `file`, or errors in `report`. `title` is the name of a scenario that has none.
pub(crate) fn resolve(file: File, title: &str, compile: &dyn Compile, report: &mut Report<'_>) -> Option<Scenario> {
    let period = period(file.duration, file.drain, &mut Section::new(report, Path::default()));
    let measure = &mut Section::new(report, Path::default().at("measure"));
    let measure = measure::resolve(&file.measure.unwrap_or_default(), period, measure);
    // If tables could not be read, not all names are known.
    let transports_read = !report.unreadable("transport");
    let workloads_read = !report.unreadable("workload");
    let topology = topology::resolve(report);
    let fabric = topology.as_ref().map(Topology::fabric);
    let controls = Controls::resolve(&file.controls.unwrap_or_default(), compile, report);
    let transports = transport::resolve_all(file.transport.unwrap_or_default(), &controls, report);
    let routing = file.routing.unwrap_or_default();
    let reconverge = routing.reconverge;
    let routing = routing::resolve(routing, (topology.as_ref(), fabric.as_ref()), &transports.resolved, report);
    let queue = queue::resolve(&transports, fabric.as_ref(), report);
    check_priorities(&transports, queue.as_ref(), report);
    let names = transports_read.then_some(&transports.names[..]);
    let roles_at = &mut Section::new(report, Path::default().at("roles"));
    let roles = roles::resolve(file.roles.unwrap_or_default(), fabric.as_ref(), roles_at);
    let known = Known {
        fabric: fabric.as_ref(),
        transports: names,
        resolved: &transports.resolved,
        roles: roles.as_deref(),
        period,
    };
    let workload = file.workload.unwrap_or_default();
    let mut changes = file.change.unwrap_or_default();
    changes.extend(failures::of_traces(&workload.trace, fabric.as_ref(), report));
    let changes = change::resolve(changes, reconverge, &known, report);
    check_limits(&changes, queue.as_ref(), fabric.as_ref(), report);
    let workloads = workload::resolve_all(workload, &known, report);
    if let Some(names) = names {
        transport::check_overridden(names, &workloads, report);
    }
    let labels = workloads_read.then_some(&workloads.labels[..]);
    let until =
        file.until.map(|table| workload::until(table, labels, &mut Section::new(report, Path::default().at("until"))));
    let record = record::resolve(file.record.unwrap_or_default(), &known, labels, report);
    let Period { duration, end } = period?;
    let (queue, layer_queues) = queue?;
    let (changes, reconverge) = changes?;
    let transports: Vec<Transport> = transports.resolved.into_iter().collect::<Option<_>>()?;
    let scenario = Scenario {
        name: file.name.unwrap_or_else(|| title.to_string()),
        seed: file.seed.unwrap_or(DEFAULT_SEED),
        duration,
        drain: end - duration,
        until: until.map_or(Some(None), |until| until.map(Some))?,
        measure: measure?,
        topology: topology?,
        routing: routing?,
        queue,
        layer_queues,
        changes,
        reconverge,
        controls: controls.used_by(&transports),
        transports,
        workloads: workloads.resolved.into_iter().collect::<Option<_>>()?,
        record: record?,
        roles: roles?,
    };
    if report.is_good() {
        reach::check(&scenario, &fabric?, report);
    }
    Some(scenario)
}

/// Ports that share a buffer have no limit that could change.
fn check_limits(
    changes: &Option<(Vec<Change>, Option<Time>)>,
    queues: Option<&(Queue, Vec<(Layer, Queue)>)>,
    fabric: Option<&Fabric>,
    report: &mut Report<'_>,
) {
    let (Some((changes, _)), Some((queue, layers)), Some(fabric)) = (changes, queues, fabric) else { return };
    let shares = |node: NodeId| {
        let of_layer = layers.iter().find(|(layer, _)| *layer == fabric.layer(node));
        of_layer.map_or(queue, |(_, queue)| queue).shared_buffer.is_some()
    };
    for (i, change) in changes.iter().enumerate().filter(|(_, change)| change.limit.is_some()) {
        let all = fabric.links().iter().map(|l| (l.from, l.to));
        if let Some((from, to)) =
            all.into_iter().find(|(from, to)| change.of.concerns(fabric, *from, *to) && shares(*from))
        {
            let path = Path::default().at("change").at(i.to_string()).at("limit");
            let link = format!("{}->{}", fabric.name(from), fabric.name(to));
            report.error(
                &path,
                format!("the port of {link} has no `limit`: it shares a buffer; leave this link or the limit out"),
            );
        }
    }
}

/// A priority that no port knows is a mistake, and so is trimming.
fn check_priorities(transports: &Transports, queues: Option<&(Queue, Vec<(Layer, Queue)>)>, report: &mut Report<'_>) {
    let Some((queue, layers)) = queues else { return };
    let all = || std::iter::once(queue).chain(layers.iter().map(|(_, queue)| queue));
    if !all().any(|queue| matches!(queue.order, Order::Trimming(_))) {
        for t in transports.resolved.iter().flatten().filter(|t| t.trimming) {
            let path = Path::default().at("transport").at(&t.name).at("trimming");
            report.error(&path, "applies where ports trim; write discipline = \"trimming\" in [queue]");
        }
    }
    if all().any(|queue| queue.order == Order::Priority) {
        return;
    }
    for t in transports.resolved.iter().flatten().filter(|t| t.priority != Priority::Low) {
        let path = Path::default().at("transport").at(&t.name).at("priority");
        report.error(&path, "applies where ports have priorities; write discipline = \"priority\" in [queue]");
    }
}

/// The tables to which workloads and records refer; none if a table has an error.
struct Known<'a> {
    fabric: Option<&'a Fabric>,
    transports: Option<&'a [String]>,
    resolved: &'a [Option<Transport>],
    roles: Option<&'a [Role]>,
    period: Option<Period>,
}

impl<'a> Known<'a> {
    /// The transport called `name`, unless it is in error.
    fn transport(&self, name: Option<&str>) -> Option<&'a Transport> {
        self.resolved.iter().flatten().find(|t| Some(t.name.as_str()) == name)
    }
}

/// When flows start, and when the run ends.
#[derive(Clone, Copy)]
struct Period {
    duration: Time,
    end: Time,
}

fn period(duration: Option<Time>, drain: Option<Time>, section: &mut Section<'_, '_>) -> Option<Period> {
    let duration = section.required_positive("duration", duration, "\"20s\"");
    let end = duration?.saturating_add(drain.unwrap_or(Time::ZERO));
    let key = if duration? > LONGEST { "duration" } else { "drain" };
    section.check(end <= LONGEST, key, format!("a run is at most {} long", LONGEST));
    Some(Period { duration: duration?, end })
}
