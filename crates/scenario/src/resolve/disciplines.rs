//! Queues that are more than FIFO with a marking threshold.

use linkpool_network::{Envelope, QueueLimit, Red, SharedBuffer, Trimming};

use super::section::Section;
use super::transport::Transports;
use crate::file::{LayerQueueTable, RedTable, SharedBufferTable, TrimmingTable};
use crate::model::{Discipline, MarkAt, NonEct, Queue, QueueSize, RedAction};

/// The limit of the data queue of a port that trims, unless the scenario sets another (NDP paper, section 3.1).
pub(super) const TRIMMING_LIMIT: QueueSize = QueueSize::Packets(8);

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
    if queue.discipline == Discipline::Trimming {
        let message = "does not go with discipline = \"trimming\"; leave it out";
        section.check(queue.red.is_none(), "red", message);
        section.check(queue.shared_buffer.is_none(), "shared_buffer", message);
        section.check(queue.mark_at == MarkAt::Enqueue, "mark_at", message);
        section.check(queue.exempt.is_empty(), "exempt", message);
    }
    section.check(
        queue.shared_buffer.is_none() || queue.exempt.is_empty(),
        "exempt",
        "does not go with `shared_buffer`: what is never dropped would need room without end",
    );
}

/// How a port trims whose data queue has this `limit`.
pub(super) fn trimming(
    table: Option<&TrimmingTable>,
    limit: QueueSize,
    transports: &Transports,
    section: &mut Section<'_, '_>,
) -> Option<Trimming> {
    let none = TrimmingTable::default();
    let table = table.unwrap_or(&none);
    // As much memory as the data queue (NDP paper, section 3.1).
    let as_much = || match limit {
        QueueSize::Bytes(bytes) => Some(QueueSize::Bytes(bytes)),
        QueueSize::Packets(packets) => {
            transports.largest_packet().map(|largest| QueueSize::Bytes(largest * u64::from(packets)))
        }
    };
    let headers = match table.headers.or_else(as_much)? {
        QueueSize::Packets(packets) => QueueLimit::Packets(packets),
        QueueSize::Bytes(bytes) => QueueLimit::Bytes(bytes),
    };
    let share = table.share.unwrap_or(10);
    section.check(
        share > 0,
        "trimming.share",
        "with a share of 0 no header is sent while data waits; write for example 10",
    );
    let trim_arriving = table.trim_arriving.unwrap_or(0.5);
    let is_probability = (0.0..=1.0).contains(&trim_arriving);
    section.check(is_probability, "trimming.trim_arriving", format!("{trim_arriving} is no probability, 0 to 1"));
    let return_to_sender = table.return_to_sender.unwrap_or(true);
    section.is_good().then_some(Trimming { headers, share, trim_arriving, return_to_sender })
}

/// The ports of hosts where those of switches trim as `queue` says: a host does not trim its own packets, but sends headers and
/// control packets before data in the same proportion.
pub(super) fn hosts_of(queue: &Queue) -> Option<Queue> {
    let trimming = Trimming { headers: QueueLimit::Packets(u32::MAX), return_to_sender: false, ..queue.trimming? };
    Some(Queue { limit: QueueSize::Packets(u32::MAX), trimming: Some(trimming), ..queue.clone() })
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
    let most = u64::from(Envelope::LONGEST);
    section.check((1..=most).contains(&packet), "red.packet", format!("{packet} B is no packet; at most {most}B"));
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
