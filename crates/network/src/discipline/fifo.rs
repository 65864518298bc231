//! One queue, first come, first served, that drops at its tail and marks packets as they arrive or
//! leave.

use super::waiting::{Arrival, Discipline, Verdict, Waiting, mark};
use crate::link::RareEvents;
use crate::packet::{Flags, Packet};
use crate::thresholds::Thresholds;
use linkpool_units::Time;

/// One FIFO queue with a limit and a marking threshold.
#[derive(Debug)]
pub(super) struct Fifo {
    waiting: Waiting,
    marks_at_dequeue: bool,
}

impl Fifo {
    pub(super) fn new(marks_at_dequeue: bool) -> Fifo {
        Fifo { waiting: Waiting::default(), marks_at_dequeue }
    }
}

impl Fifo {
    /// The size of the packet that is next, if one waits.
    pub(super) fn first_size(&self) -> Option<u16> {
        self.waiting.first_size()
    }

    /// Shows the packets that wait, the first first.
    pub(super) fn each(&self, visit: &mut dyn FnMut(&Packet)) {
        self.waiting.each(visit);
    }

    /// Has it room for a packet of `size`?
    pub(super) fn has_room(&self, size: u16, arrival: &Arrival<'_>) -> bool {
        self.waiting.has_room(size, arrival)
    }
}

impl Discipline for Fifo {
    #[inline(always)]
    fn enqueue(&mut self, packet: Packet, arrival: &Arrival<'_>, events: &mut RareEvents) -> Verdict {
        let (over, full) = self.waiting.meets(packet.size(), arrival);
        let admission = (over && !self.marks_at_dequeue, full, packet.flags.has(Flags::ECT));
        self.waiting.admit(packet, admission, arrival, events)
    }

    fn dequeue(&mut self, thresholds: &Thresholds, events: &mut RareEvents) -> Option<Packet> {
        let mut packet = self.waiting.take()?;
        if self.marks_at_dequeue && packet.flags.has(Flags::ECT) {
            // The queue behind the packet; the packet itself counts if the packet in service
            // counts.
            let (packets, bytes) = self.waiting.counted(thresholds);
            if thresholds.is_over(packets, bytes) {
                mark(&mut packet, events);
            }
        }
        Some(packet)
    }

    fn sent(&mut self, _now: Time) {
        self.waiting.sent();
    }

    /// As it leaves, a packet in service that counts counts for itself.
    fn leaves_at_once(&self, thresholds: &Thresholds) -> bool {
        !thresholds.act_on_empty() && (thresholds.uncounted > 0 || !self.marks_at_dequeue)
    }

    fn serve(&mut self, packet: &Packet) {
        self.waiting.serve(packet.size());
    }

    fn give_up(&mut self, _now: Time) -> Option<Packet> {
        self.waiting.take_unsent()
    }

    fn prefetch(&self) {
        self.waiting.prefetch();
    }

    fn waiting(&self) -> (u32, u64) {
        self.waiting.length()
    }

    fn counted(&self, thresholds: &Thresholds) -> u32 {
        self.waiting.counted(thresholds).0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discipline::priority::Priority;
    use crate::link::LinkKind;
    use crate::packet::Kind;
    use crate::queue_limit::QueueLimit;
    use linkpool_units::{HostId, Rate};

    /// Where a threshold acts on packets that find nobody, or that in service counts, none passes the port. A queue with
    /// priorities is as its queues are.
    #[test]
    fn packets_pass_unless_a_threshold_acts_on_the_first() {
        let passes = |thresholds: Thresholds| {
            let by_marking = [false, true].map(|marks| {
                let (fifo, priority) = (Fifo::new(marks), Priority::new([(); 2].map(|()| Fifo::new(marks))));
                [fifo.passes(&thresholds), priority.passes(&thresholds)]
            });
            assert_eq!(by_marking, [[by_marking[0][0]; 2]; 2]);
            by_marking[0][0]
        };
        let roomy = Thresholds::drop_tail(QueueLimit::Packets(9));
        assert!(passes(roomy));
        assert!(passes(roomy.marking(QueueLimit::Packets(1), false)));
        assert!(!passes(roomy.marking(QueueLimit::Packets(0), false)), "the first is marked");
        assert!(!passes(Thresholds::drop_tail(QueueLimit::Bytes(100))), "long packets have no room");
        assert!(!passes(Thresholds { uncounted: 0, ..roomy }), "the packet in service counts");
    }

    /// A queue with room for one packet, which marks from one on: of a lossless class the second and third are queued and marked.
    #[test]
    fn a_lossless_packet_that_finds_no_room_is_marked() {
        let thresholds = Thresholds::drop_tail(QueueLimit::Packets(1)).marking(QueueLimit::Packets(1), false);
        let kind = LinkKind::new(Rate::gbps(10), Time::ZERO, thresholds);
        let (now, to) = (Time::ZERO, HostId::new(0).into());
        let arrival = Arrival { now, to, kind: &kind, thresholds: &thresholds, buffer: None, lossless: true };
        let packet = Packet { flags: Flags::ECT, kind: Kind::DATA, ..Packet::default() };
        let (mut fifo, mut events) = (Fifo::new(false), RareEvents::default());
        (0..3).for_each(|_| assert!(matches!(fifo.enqueue(packet, &arrival, &mut events), Verdict::Queued)));
        let mut marked = Vec::new();
        fifo.each(&mut |packet| marked.push(packet.flags.has(Flags::CE)));
        assert_eq!((marked, events.marks), (vec![false, true, true], 2));
    }

    /// One queue waits for all classes, and holds none of them back.
    #[test]
    fn one_queue_has_no_classes() {
        let mut fifo = Fifo::new(false);
        assert_eq!((fifo.waits(3), fifo.held()), (false, 0));
        fifo.waiting.put(Packet::default());
        assert_eq!((fifo.waits(3), fifo.waits(0), fifo.held()), (true, true, 0));
    }
}
