//! Queues: the settings of all ports, and of layers that differ.

use linkpool_network::{Fabric, Layer, NodeId, Queue, QueueLimit};
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
    let queue = queue(Queue::defaults(Preset::Linux), &["layer"], transports, section);
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
            let base = base?.clone();
            let own = section.within(layer.name(), |section| queue(base, &[], transports, section))??;
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
    check(&mut queue, section);
    if let (Some(buffer), Some(largest)) = (queue.shared_buffer, transports.largest_packet()) {
        let message = format!("the largest packet, {largest} B, does not fit in");
        section.check(buffer.bytes >= largest, "shared_buffer.size", message);
    }
    // A shared buffer's threshold moves.
    if let (Some(mark), None, true) = (queue.mark, &queue.shared_buffer, section.is_good()) {
        check_mark(mark, &queue, transports, section);
    }
    section.is_good().then_some(queue)
}

fn check_mark(mark: QueueLimit, queue: &Queue, transports: &Transports, section: &mut Section<'_, '_>) {
    // The longest queue that the limit allows, in the unit of the threshold.
    let (mark, longest) = match (mark, queue.limit) {
        (QueueLimit::Packets(mark), QueueLimit::Packets(limit)) => (mark.into(), limit.into()),
        (QueueLimit::Bytes(mark), QueueLimit::Bytes(limit)) => (mark, limit),
        (QueueLimit::Packets(mark), QueueLimit::Bytes(limit)) => {
            (mark.into(), transports.least_packet().map_or(u64::MAX, |least| limit / least))
        }
        (QueueLimit::Bytes(mark), QueueLimit::Packets(limit)) => {
            (mark, transports.largest_packet().map_or(u64::MAX, |largest| largest * u64::from(limit)))
        }
    };
    let message = "above `limit`, so that packets are dropped and none is ever marked; \
                   lower `mark` or raise `limit`";
    section.check(mark <= longest, "mark", message);
}
