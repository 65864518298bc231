//! Queues that are more than FIFO with a marking threshold.

use linkpool_network::{Red, SharedBuffer};

use super::section::Section;
use super::transport::Transports;
use crate::file::{LayerQueueTable, RedTable, SharedBufferTable};
use crate::model::{MarkAt, NonEct, Queue, QueueSize, RedAction};

/// Keys of one table that exclude each other.
pub(super) fn check(table: &LayerQueueTable, section: &mut Section<'_, '_>) {
    let (red, shared) = (table.red.is_some(), table.shared_buffer.is_some());
    section.check(!red || table.mark.is_none(), "red", "there is `mark` too; leave one out");
    section.check(!red || table.non_ect.is_none(), "non_ect", "applies to `mark`; `red` drops what it cannot mark");
    section.check(!red || table.mark_at.is_none(), "mark_at", "applies to `mark`; `red` marks what arrives");
    section.check(!shared || table.limit.is_none(), "shared_buffer", "there is `limit` too; leave one out");
}

/// What does not go together, some of it from `[queue]`.
pub(super) fn check_together(queue: &Queue, section: &mut Section<'_, '_>) {
    for key in ["mark_when", "mark_at", "non_ect"] {
        let good = queue.mark.is_some() || !section.has(key);
        section.check(good, key, "applies where there is a `mark`; leave it out");
    }
    section.check(
        queue.mark_at == MarkAt::Enqueue || queue.non_ect == NonEct::Queue,
        "mark_at",
        "what leaves is not dropped; write non_ect = \"queue\", or mark_at = \"enqueue\"",
    );
    section.check(
        queue.shared_buffer.is_none() || queue.exempt.is_empty(),
        "exempt",
        "does not go with `shared_buffer`: what is never dropped would need room without end",
    );
}

pub(super) fn red(table: &RedTable, transports: &Transports, section: &mut Section<'_, '_>) -> Option<Red> {
    let min = section.required("red.min", table.min, "5");
    let max = section.required("red.max", table.max, "15");
    let (min, max, in_bytes) = match (min?, max?) {
        (QueueSize::Packets(min), QueueSize::Packets(max)) => (f64::from(min), f64::from(max), false),
        (QueueSize::Bytes(min), QueueSize::Bytes(max)) => (min as f64, max as f64, true),
        _ => {
            section.error("red.max", "`min` and `max` must both be in packets or both be sizes");
            return None;
        }
    };
    section.check(max > min, "red.max", "must be above `min`");
    let max_probability = table.max_probability.unwrap_or(0.1);
    section.gain("red.max_probability", max_probability);
    let weight = table.weight.unwrap_or(0.002);
    section.gain("red.weight", weight);
    let packet = table.packet.map(|bytes| bytes.0).or(transports.largest_packet())?;
    section.check((1..=65_535).contains(&packet), "red.packet", format!("{packet} B is no packet; at most 65535B"));
    section.is_good().then_some(Red {
        min,
        max,
        in_bytes,
        max_probability,
        weight,
        gentle: table.gentle.unwrap_or(true),
        marks: table.action.unwrap_or(RedAction::Mark) == RedAction::Mark,
        typical_packet: packet as u16,
    })
}

pub(super) fn shared_buffer(
    table: &SharedBufferTable,
    transports: &Transports,
    section: &mut Section<'_, '_>,
) -> Option<SharedBuffer> {
    let size = section.required("shared_buffer.size", table.size, "\"4MB\"")?;
    let alpha = table.alpha.unwrap_or(1.0);
    section.check(alpha > 0.0 && alpha.is_finite(), "shared_buffer.alpha", format!("{alpha} is not above 0"));
    if let Some(packet) = transports.largest_packet() {
        let message = format!("the largest packet, {packet} B, does not fit in");
        section.check(size.0 >= packet, "shared_buffer.size", message);
    }
    section.is_good().then_some(SharedBuffer { bytes: size.0, alpha })
}
