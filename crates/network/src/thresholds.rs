//! The thresholds of a queue: when a packet that arrives is dropped, and when it is marked.

use crate::packet::{Envelope, Kind};
use crate::queue_limit::QueueLimit;

/// The fate of a packet that arrives at a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Admission {
    Queue,
    Mark,
    Drop,
}

/// When a queue drops and when it marks.
///
/// The queue length that counts is the one that an arriving packet finds, without itself. Both
/// units are always compared, the unused one against infinity; bytes are counted only if a
/// threshold is in bytes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Thresholds {
    pub(crate) limit_packets: u32,
    pub(crate) limit_bytes: u64,
    pub(crate) mark_packets: u32,
    pub(crate) mark_bytes: u64,
    /// Is any threshold in bytes?
    pub(crate) in_bytes: bool,
    /// 1 if the packet in service counts not towards the queue length.
    pub(crate) uncounted: u32,
    pub(crate) drop_non_ect: bool,
    pub(crate) exempt_syn: bool,
    pub(crate) exempt_fin: bool,
    pub(crate) exempt_ack: bool,
}

impl Thresholds {
    /// Drops a packet that finds `limit` packets queued, or would overfill `limit` bytes. The
    /// packet in service does not count.
    pub(crate) fn drop_tail(limit: QueueLimit) -> Thresholds {
        let (limit_packets, limit_bytes) = match limit {
            QueueLimit::Packets(n) => (n, u64::MAX),
            QueueLimit::Bytes(n) => (u32::MAX, n),
        };
        Thresholds {
            limit_packets,
            limit_bytes,
            mark_packets: u32::MAX,
            mark_bytes: u64::MAX,
            in_bytes: matches!(limit, QueueLimit::Bytes(_)),
            uncounted: 1,
            drop_non_ect: false,
            exempt_syn: false,
            exempt_fin: false,
            exempt_ack: false,
        }
    }

    /// The thresholds of a link whose packets a separate port queues: here, every queue is full.
    pub(crate) fn elsewhere() -> Thresholds {
        Thresholds::drop_tail(QueueLimit::Packets(0))
    }

    /// Is it [`Thresholds::elsewhere`]?
    #[inline]
    pub(crate) fn is_elsewhere(&self) -> bool {
        self.limit_packets == 0
    }

    /// Can a FIFO queue of a link hold what has room?
    pub(crate) fn can_be_held(&self) -> bool {
        self.limit_packets <= QueueLimit::HELD_PACKETS || self.limit_bytes <= QueueLimit::HELD
    }

    /// With `limit` instead of the one that it has.
    pub(crate) fn limited_to(self, limit: QueueLimit) -> Thresholds {
        let Thresholds { limit_packets, limit_bytes, .. } = Thresholds::drop_tail(limit);
        let in_bytes = limit_bytes != u64::MAX || self.mark_bytes != u64::MAX;
        Thresholds { limit_packets, limit_bytes, in_bytes, ..self }
    }

    /// Marks nothing.
    pub(crate) fn unmarking(self) -> Thresholds {
        let in_bytes = self.limit_bytes != u64::MAX;
        Thresholds { mark_packets: u32::MAX, mark_bytes: u64::MAX, in_bytes, ..self }
    }

    /// Marks a packet that finds at least `k` queued, or more than `k` if `above`.
    pub(crate) fn marking(mut self, k: QueueLimit, above: bool) -> Thresholds {
        self.in_bytes |= matches!(k, QueueLimit::Bytes(_));
        match k {
            QueueLimit::Packets(n) => self.mark_packets = n.saturating_add(above as u32),
            QueueLimit::Bytes(n) => self.mark_bytes = n.saturating_add(above as u64),
        }
        self
    }

    /// No threshold in packets acts on a packet that finds fewer packets present, the packet in
    /// service included.
    pub(crate) fn acts_from_present(&self) -> u32 {
        match self.mark_packets.min(self.limit_packets) {
            0 => 0,
            queued => queued.saturating_add(self.uncounted),
        }
    }

    /// No threshold in bytes acts on a packet that finds fewer bytes of which the wire has not got
    /// the last bit; `u64::MAX`: none ever does.
    pub(crate) fn acts_from_bytes(&self) -> u64 {
        if !self.in_bytes {
            return u64::MAX;
        }
        let longest = u64::from(Envelope::LONGEST);
        // All of the packet in service may count, of which a part is on the wire already.
        let in_service = if self.uncounted == 0 { longest } else { 0 };
        self.mark_bytes.min(self.limit_bytes.saturating_sub(longest)).saturating_sub(in_service)
    }

    /// May a threshold act on a packet that finds an empty queue?
    pub(crate) fn act_on_empty(&self) -> bool {
        self.is_over(0, 0) || self.is_full(0, Envelope::LONGEST.into())
    }

    /// Is a packet that finds this queue length marked?
    #[inline]
    pub(crate) fn is_over(&self, packets: u32, bytes: u64) -> bool {
        packets >= self.mark_packets || bytes >= self.mark_bytes
    }

    /// Is there no room for a packet that finds `packets` packets queued, and would make it `bytes`
    /// bytes?
    #[inline]
    pub(crate) fn is_full(&self, packets: u32, bytes: u64) -> bool {
        packets >= self.limit_packets || bytes > self.limit_bytes
    }

    /// The fate of a packet that finds the queue over the marking threshold, or full.
    #[inline]
    pub(crate) fn admission(&self, over: bool, full: bool, markable: bool, kind: Kind) -> Admission {
        let marked = over && markable;
        let drop = full || over && !marked && self.drop_non_ect;
        if drop && !self.exempts(kind) {
            return Admission::Drop;
        }
        if marked { Admission::Mark } else { Admission::Queue }
    }

    #[cold]
    pub(crate) fn exempts(&self, kind: Kind) -> bool {
        let (syn, data) = (kind.has(Kind::SYN), kind.has(Kind::DATA));
        // Of data this bit is one of its priority.
        let fin = kind.has(Kind::FIN) && !data;
        let pure_ack = !syn && !fin && !data;
        self.exempt_syn && syn || self.exempt_fin && fin || self.exempt_ack && pure_ack
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes are counted where a threshold is in bytes, and only there.
    #[test]
    fn a_changed_limit_leaves_the_marks_as_they_are() {
        let (packets, bytes) = (QueueLimit::Packets(7), QueueLimit::Bytes(900));
        for (mark, mark_packets, mark_bytes) in [(packets, 7, u64::MAX), (bytes, u32::MAX, 900)] {
            for (limit, limit_packets, limit_bytes) in
                [(QueueLimit::Packets(3), 3, u64::MAX), (QueueLimit::Bytes(500), u32::MAX, 500)]
            {
                let before = Thresholds::drop_tail(QueueLimit::Bytes(1)).marking(mark, false);
                let in_bytes = limit_bytes != u64::MAX || mark_bytes != u64::MAX;
                let expected = Thresholds { limit_packets, limit_bytes, mark_packets, mark_bytes, in_bytes, ..before };
                assert_eq!(before.limited_to(limit), expected);
            }
        }
    }
}
