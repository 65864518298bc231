use linkpool_network::{Fabric, Layer, NodeId};

use super::disciplines;
use super::section::Section;
use super::transport::Transports;
use crate::errors::Report;
use crate::file::{LayerQueueTable, LayersTable, QueueTable};
use crate::model::{Discipline, MarkAt, MarkWhen, NonEct, Queue, QueueSize};
use crate::source::Path;

const DEFAULT_LIMIT: QueueSize = QueueSize::Packets(100);

/// The queue of every port, and of those of layers that differ.
pub(super) fn resolve(
    table: QueueTable,
    transports: &Transports,
    fabric: Option<&Fabric>,
    report: &mut Report<'_>,
) -> Option<(Queue, Vec<(Layer, Queue)>)> {
    let path = Path::default().at("queue");
    let (keys, layer) = split(table);
    let queue = queue(keys, default(), transports, &mut Section::new(report, path.clone()));
    let layers = layer.unwrap_or_default();
    let mut differing = Vec::new();
    if let (Some(queue), None) = (&queue, &layers.host) {
        differing.extend(disciplines::hosts_of(queue).map(|hosts| (Layer::Host, hosts)));
    }
    for (layer, table) in [
        (Layer::Host, layers.host),
        (Layer::Switch, layers.switch),
        (Layer::Edge, layers.edge),
        (Layer::Aggregation, layers.aggregation),
        (Layer::Core, layers.core),
    ] {
        let Some(table) = table else { continue };
        let section = &mut Section::new(report, path.at("layer"));
        if let Some(message) = fabric.and_then(|fabric| lacks(fabric, layer)) {
            section.error(layer.name(), message);
            continue;
        }
        let section = &mut Section::new(report, path.at("layer").at(layer.name()));
        let base = queue.clone()?;
        differing.push((layer, self::queue(table, base, transports, section)?));
    }
    Some((queue?, differing))
}

/// The keys of all ports, and the layers.
fn split(table: QueueTable) -> (LayerQueueTable, Option<LayersTable>) {
    let QueueTable {
        limit,
        mark,
        mark_when,
        count_in_service,
        non_ect,
        exempt,
        discipline,
        mark_at,
        red,
        shared_buffer,
        trimming,
        layer,
    } = table;
    let keys = LayerQueueTable {
        limit,
        mark,
        mark_when,
        count_in_service,
        non_ect,
        exempt,
        discipline,
        mark_at,
        red,
        shared_buffer,
        trimming,
    };
    (keys, layer)
}

/// What is wrong with the ports of `layer` in a fabric without it.
pub(super) fn lacks(fabric: &Fabric, layer: Layer) -> Option<String> {
    let is_there = |layer| NodeId::first(fabric.nodes()).any(|node| fabric.layer(node) == layer);
    let there = || Layer::ALL.into_iter().filter(|layer| is_there(*layer)).map(Layer::name).collect::<Vec<_>>();
    let message = || format!("no port of the topology is in this layer; its layers are {}", there().join(", "));
    (!is_there(layer)).then(message)
}

fn default() -> Queue {
    Queue {
        limit: DEFAULT_LIMIT,
        mark: None,
        mark_when: MarkWhen::AtLeast,
        count_in_service: false,
        non_ect: NonEct::Queue,
        exempt: Vec::new(),
        discipline: Discipline::Fifo,
        mark_at: MarkAt::Enqueue,
        red: None,
        shared_buffer: None,
        trimming: None,
    }
}

fn queue(
    table: LayerQueueTable,
    default: Queue,
    transports: &Transports,
    section: &mut Section<'_, '_>,
) -> Option<Queue> {
    disciplines::check(&table, section);
    // Of two keys that take each other's place, a layer's own takes that of `[queue]`.
    let red = table.red.as_ref().map(|red| disciplines::red(red, transports, section));
    let mark = table.mark.or(if red.is_some() { None } else { default.mark });
    let red = if table.mark.is_some() { None } else { red.map_or(default.red, |red| red) };
    let shared = table.shared_buffer.as_ref().map(|shared| disciplines::shared_buffer(shared, transports, section));
    let shared_buffer =
        if table.limit.is_some() { None } else { shared.map_or(default.shared_buffer, |shared| shared) };
    let mark_at = table.mark_at.unwrap_or(default.mark_at);
    let discipline = table.discipline.unwrap_or(default.discipline);
    let default_limit = match (default.discipline, discipline) {
        (Discipline::Fifo | Discipline::Priority, Discipline::Trimming) => disciplines::TRIMMING_LIMIT,
        _ => default.limit,
    };
    let limit = table.limit.unwrap_or(default_limit);
    let trims = discipline == Discipline::Trimming;
    section.check(trims || table.trimming.is_none(), "trimming", "applies with discipline = \"trimming\"");
    let trimming = trims.then(|| disciplines::trimming(table.trimming.as_ref(), limit, transports, section));
    let mut exempt = table.exempt.unwrap_or(default.exempt);
    exempt.sort();
    exempt.dedup();
    let queue = Queue {
        limit: if shared_buffer.is_some() { DEFAULT_LIMIT } else { limit },
        mark,
        mark_when: table.mark_when.unwrap_or(default.mark_when),
        count_in_service: table.count_in_service.unwrap_or(default.count_in_service),
        non_ect: if red.is_some() { NonEct::Queue } else { table.non_ect.unwrap_or(default.non_ect) },
        exempt,
        discipline,
        mark_at: if mark.is_some() { mark_at } else { MarkAt::Enqueue },
        red,
        shared_buffer,
        trimming: match trimming {
            Some(trimming) => Some(trimming?),
            None => None,
        },
    };
    disciplines::check_together(&queue, section);
    if matches!(queue.limit, QueueSize::Packets(0) | QueueSize::Bytes(0)) {
        section.error("limit", "a queue with a limit of 0 drops every packet; write for example limit = 100");
        return None;
    }
    // A shared buffer's threshold moves.
    if let (Some(mark), None) = (queue.mark, &queue.shared_buffer) {
        check_mark(mark, &queue, transports, section);
    }
    Some(queue)
}

fn check_mark(mark: QueueSize, queue: &Queue, transports: &Transports, section: &mut Section<'_, '_>) {
    if matches!(mark, QueueSize::Packets(0) | QueueSize::Bytes(0)) && queue.mark_when == MarkWhen::AtLeast {
        section.error(
            "mark",
            "a threshold of 0 marks every packet; for no marking leave `mark` out, \
             for marking at any queue write mark_when = \">\"",
        );
        return;
    }
    // The longest queue that the limit allows, in the unit of the threshold.
    let (mark, longest) = match (mark, queue.limit) {
        (QueueSize::Packets(mark), QueueSize::Packets(limit)) => (mark.into(), limit.into()),
        (QueueSize::Bytes(mark), QueueSize::Bytes(limit)) => (mark, limit),
        (QueueSize::Packets(mark), QueueSize::Bytes(limit)) => {
            (mark.into(), transports.least_packet().map_or(u64::MAX, |least| limit / least))
        }
        (QueueSize::Bytes(mark), QueueSize::Packets(limit)) => {
            (mark, transports.largest_packet().map_or(u64::MAX, |largest| largest * u64::from(limit)))
        }
    };
    let message = "above `limit`, so that packets are dropped and none is ever marked; \
                   lower `mark` or raise `limit`";
    section.check(mark <= longest, "mark", message);
}
