use super::section::Section;
use super::transport::Transports;
use crate::errors::Report;
use crate::file::QueueTable;
use crate::model::{MarkWhen, NonEct, Queue, QueueSize};
use crate::source::Path;

const DEFAULT_LIMIT: QueueSize = QueueSize::Packets(100);

pub(super) fn resolve(table: QueueTable, transports: &Transports, report: &mut Report<'_>) -> Option<Queue> {
    let section = &mut Section::new(report, Path::default().at("queue"));
    let mut exempt = table.exempt.unwrap_or_default();
    exempt.sort();
    exempt.dedup();
    let queue = Queue {
        limit: table.limit.unwrap_or(DEFAULT_LIMIT),
        mark: table.mark,
        mark_when: table.mark_when.unwrap_or(MarkWhen::AtLeast),
        count_in_service: table.count_in_service.unwrap_or(false),
        non_ect: table.non_ect.unwrap_or(NonEct::Queue),
        exempt,
    };
    if matches!(queue.limit, QueueSize::Packets(0) | QueueSize::Bytes(0)) {
        section.error("limit", "a queue with a limit of 0 drops every packet; write for example limit = 100");
        return None;
    }
    if let Some(mark) = queue.mark {
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
