use linkpool_network::{Layer, QueueLimit, Red, SharedBuffer, Trimming};
use linkpool_units::Bytes;

use crate::file::{LayerQueueTable, LayersTable, QueueTable, RedTable, SharedBufferTable, TrimmingTable};
use crate::model::{Queue, QueueSize, RedAction, Scenario};

pub(super) fn table(scenario: &Scenario) -> QueueTable {
    let LayerQueueTable {
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
    } = layer_queue(&scenario.queue);
    let mut layers = LayersTable::default();
    for (layer, queue) in &scenario.layer_queues {
        let place = match layer {
            Layer::Host => &mut layers.host,
            Layer::Switch => &mut layers.switch,
            Layer::Edge => &mut layers.edge,
            Layer::Aggregation => &mut layers.aggregation,
            Layer::Core => &mut layers.core,
        };
        *place = Some(layer_queue(queue));
    }
    let layer = (!scenario.layer_queues.is_empty()).then_some(layers);
    QueueTable {
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
    }
}

/// Without keys that would not apply.
fn layer_queue(queue: &Queue) -> LayerQueueTable {
    LayerQueueTable {
        limit: queue.shared_buffer.is_none().then_some(queue.limit),
        mark: queue.mark,
        mark_when: queue.mark.map(|_| queue.mark_when),
        count_in_service: Some(queue.count_in_service),
        non_ect: queue.mark.map(|_| queue.non_ect),
        exempt: Some(queue.exempt.clone()),
        discipline: Some(queue.discipline),
        mark_at: queue.mark.map(|_| queue.mark_at),
        red: queue.red.as_ref().map(red),
        shared_buffer: queue.shared_buffer.as_ref().map(shared_buffer),
        trimming: queue.trimming.as_ref().map(trimming),
    }
}

fn red(red: &Red) -> RedTable {
    let size = |n: f64| if red.in_bytes { QueueSize::Bytes(n as u64) } else { QueueSize::Packets(n as u32) };
    RedTable {
        min: Some(size(red.min)),
        max: Some(size(red.max)),
        max_probability: Some(red.max_probability),
        weight: Some(red.weight),
        gentle: Some(red.gentle),
        action: Some(if red.marks { RedAction::Mark } else { RedAction::Drop }),
        packet: Some(Bytes(red.typical_packet.into())),
    }
}

fn shared_buffer(shared: &SharedBuffer) -> SharedBufferTable {
    SharedBufferTable { size: Some(Bytes(shared.bytes)), alpha: Some(shared.alpha) }
}

fn trimming(trimming: &Trimming) -> TrimmingTable {
    let headers = match trimming.headers {
        QueueLimit::Packets(packets) => QueueSize::Packets(packets),
        QueueLimit::Bytes(bytes) => QueueSize::Bytes(bytes),
    };
    TrimmingTable {
        headers: Some(headers),
        share: Some(trimming.share),
        trim_arriving: Some(trimming.trim_arriving),
        return_to_sender: Some(trimming.return_to_sender),
    }
}
