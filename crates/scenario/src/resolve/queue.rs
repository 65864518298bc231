//! Queues: the settings of all ports, and of layers that differ.

use linkpool_network::{Fabric, Layer, NodeId, Queue, QueueClass, QueueLimit};
use linkpool_settings::{Kinds, NoNames, Preset, Settings};

use super::section::Section;
use super::settings::{check, read};
use super::transport::Transports;
use crate::errors::Report;
use crate::file::AnyTable;
use crate::tree::KeyPath;

/// The queue of every port, and of layers that differ.
pub(super) fn resolve(
    transports: &Transports,
    fabric: Option<&Fabric>,
    report: &mut Report<'_>,
) -> Option<(Queue, Vec<(Layer, Queue)>)> {
    let top = &mut Section::new(report, KeyPath::default());
    if top.has("queue") {
        top.read::<AnyTable>("queue")?;
    }
    let section = &mut top.at(KeyPath::default().at("queue"));
    let queue = queue(Queue::defaults(Preset::Linux), &["layer", "class"], transports, section);
    let mut layers = Vec::new();
    if section.has("layer") {
        let read = |section: &mut Section<'_, '_>| layer_queues(queue.as_ref(), transports, fabric, section);
        layers = section.within("layer", read)??;
    }
    if !layers.iter().any(|(layer, _)| *layer == Layer::Host) {
        layers.splice(0..0, queue.as_ref().and_then(Queue::at_hosts).map(|queue| (Layer::Host, queue)));
    }
    let mut queue = queue?;
    if let Some(largest) = transports.largest_packet() {
        queue.complete(largest);
        layers.iter_mut().for_each(|(_, queue)| queue.complete(largest));
    }
    Some((queue, layers))
}

fn layer_queues(
    base: Option<&Queue>,
    transports: &Transports,
    fabric: Option<&Fabric>,
    section: &mut Section<'_, '_>,
) -> Option<Vec<(Layer, Queue)>> {
    section.refuse_unknown(&Layer::ALL.map(Layer::name));
    let mut queues = Vec::new();
    for layer in Layer::ALL.into_iter().filter(|layer| section.has(layer.name())).collect::<Vec<_>>() {
        if let Some(message) = fabric.and_then(|fabric| lacks(fabric, layer)) {
            section.error(layer.name(), message);
        } else {
            // Keys that are left out are as in `[queue]`.
            let mut base = base?.clone();
            let own = section.within(layer.name(), |section| {
                // Hosts do not trim, but for classes of their own.
                if layer == Layer::Host && !section.has("class") {
                    base.trim_no_more();
                }
                queue(base, &["class"], transports, section)
            });
            let own = own??;
            queues.push((layer, own));
        }
    }
    section.is_good().then_some(queues)
}

/// The error for the ports of `layer` in a fabric without this layer.
pub(super) fn lacks(fabric: &Fabric, layer: Layer) -> Option<String> {
    let is_there = |layer| NodeId::first(fabric.nodes()).any(|node| fabric.layer(node) == layer);
    let there = || Layer::ALL.into_iter().filter(|layer| is_there(*layer)).map(Layer::name).collect::<Vec<_>>();
    let message = || format!("no port of the topology is in this layer; its layers are {}", there().join(", "));
    (!is_there(layer)).then(message)
}

fn queue(
    mut queue: Queue,
    others: &[&'static str],
    transports: &Transports,
    section: &mut Section<'_, '_>,
) -> Option<Queue> {
    let before = queue.order.name();
    read(&mut queue, others, &NoNames, section);
    // Of two keys that take each other's place, a layer's own takes that of `[queue]`.
    for (key, other) in [("red", "mark"), ("shared_buffer", "limit")] {
        let both = section.has(key) && section.has(other);
        section.check(!both, key, format!("there is `{other}` too; leave one out"));
    }
    if section.has("mark") {
        queue.red = None;
    } else if section.has("red") {
        queue.mark = None;
    }
    if section.has("limit") {
        queue.shared_buffer = None;
    } else if queue.order.name() != before {
        queue.limit = queue.order.default_limit().unwrap_or(queue.limit);
    }
    let classes = match section.has("class") {
        true => classes(section),
        false => queue.classes.clone(),
    };
    queue.set_classes(classes);
    check(&mut queue, section);
    check_classes(&queue, transports, section);
    if let (Some(buffer), Some(largest)) = (queue.shared_buffer, transports.largest_packet()) {
        let message = format!("the largest packet, {largest} B, does not fit in");
        section.check(buffer.bytes >= largest, "shared_buffer.size", message);
    }
    // A shared buffer's threshold moves.
    if let (Some(mark), None, true) = (queue.mark, &queue.shared_buffer, section.is_good()) {
        section.check(is_reached(mark, queue.limit, transports), "mark", ABOVE_LIMIT);
    }
    section.is_good().then_some(queue)
}

/// The classes of `[[queue.class]]`, or of a layer.
fn classes(section: &mut Section<'_, '_>) -> Vec<QueueClass> {
    let places = section.elements("class");
    let mut classes: Vec<QueueClass> = Vec::new();
    for path in places {
        let section = &mut section.at(path);
        let mut class = QueueClass::defaults(Preset::Linux);
        read(&mut class, &[], &NoNames, section);
        check(&mut class, section);
        if section.is_good() {
            let known = |priority: &&u32| classes.iter().any(|class| class.priorities.contains(priority));
            let twice = class
                .priorities
                .iter()
                .enumerate()
                .find(|(i, priority)| known(priority) || class.priorities[..*i].contains(priority));
            let message = |priority: u32| format!("priority {priority} is named twice; write it in one class, once");
            if let Some((_, priority)) = twice {
                section.error("priorities", message(*priority));
            }
            classes.push(class);
        }
    }
    classes
}

/// What the classes of `queue` need of its other keys.
fn check_classes(queue: &Queue, transports: &Transports, section: &mut Section<'_, '_>) {
    if !section.is_good() {
        return;
    }
    if !section.has("class") {
        // A layer may have changed what classes of `[queue]` leave out.
        let all = queue.classes.iter().all(|class| can_mark(class, queue, transports));
        for (key, why) in [("limit", NEVER_MARKED), ("mark", ABOVE_A_LIMIT)] {
            section.check(all || !section.has(key), key, why);
        }
        return;
    }
    for (path, class) in section.elements("class").into_iter().zip(&queue.classes) {
        let section = &mut section.at(path);
        let message = "ports pause their neighbours where [queue.pfc] says how; write it, or leave `lossless` out";
        section.check(!class.lossless || queue.pfc.is_some(), "lossless", message);
        match (class.mark, class.limit) {
            (Some(_), _) => section.check(can_mark(class, queue, transports), "mark", ABOVE_LIMIT),
            (None, Some(_)) => section.check(can_mark(class, queue, transports), "limit", NEVER_MARKED),
            (None, None) => {}
        }
    }
}

const ABOVE_LIMIT: &str =
    "above `limit`, so that packets are dropped and none is ever marked; lower `mark` or raise `limit`";
const ABOVE_A_LIMIT: &str = "above the `limit` of a class, so that packets are dropped and none is ever marked; lower `mark`, or raise that `limit`";
const NEVER_MARKED: &str = "below the `mark` of a class, so that packets are dropped and none is ever marked; raise `limit`, or write a lower `mark` in the class";

/// Can a queue of `class` be so long that it marks, if it has a threshold?
fn can_mark(class: &QueueClass, queue: &Queue, transports: &Transports) -> bool {
    let mark = class.mark.or(queue.mark).filter(|_| class.red.is_none() && !class.lossless);
    mark.is_none_or(|mark| is_reached(mark, class.limit.unwrap_or(queue.limit), transports))
}

/// Can a queue with this limit be as long as `mark`?
fn is_reached(mark: QueueLimit, limit: QueueLimit, transports: &Transports) -> bool {
    // The longest queue that the limit allows, in the unit of the threshold.
    let (mark, longest) = match (mark, limit) {
        (QueueLimit::Packets(mark), QueueLimit::Packets(limit)) => (mark.into(), limit.into()),
        (QueueLimit::Bytes(mark), QueueLimit::Bytes(limit)) => (mark, limit),
        (QueueLimit::Packets(mark), QueueLimit::Bytes(limit)) => {
            (mark.into(), transports.least_packet().map_or(u64::MAX, |least| limit / least))
        }
        (QueueLimit::Bytes(mark), QueueLimit::Packets(limit)) => {
            (mark, transports.largest_packet().map_or(u64::MAX, |largest| largest * u64::from(limit)))
        }
    };
    mark <= longest
}
