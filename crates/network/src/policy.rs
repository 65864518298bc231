use crate::fabric::Layer;
use crate::packet::Flags;
use crate::ports::{Red, SharedBuffer};

/// A queue length, in packets or in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QueueLimit {
    /// So many packets.
    Packets(u32),
    /// So many bytes on the wire.
    Bytes(u64),
}

/// What an output port does beyond one FIFO queue that drops and marks at its entrance. By default nothing; else it has queues of
/// its own, served packet by packet (see [`crate::ports`]).
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Discipline {
    /// Two queues, of which the one for [`Flags::PRIORITY`] goes first.
    pub(crate) priority: bool,
    /// Marks what leaves rather than what comes.
    pub(crate) mark_at_dequeue: bool,
    /// Marks or drops early, instead of the marking threshold.
    pub(crate) red: Option<Red>,
    /// A buffer for all ports of a switch, instead of the limit.
    pub(crate) shared: Option<SharedBuffer>,
}

/// What becomes of a packet that arrives at a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    Queue,
    Mark,
    Drop,
}

/// When an output port drops and when it marks.
///
/// The queue length that counts is the one that an arriving packet finds, without itself. Both units are always
/// compared, the unused one against infinity; bytes are counted only if a threshold is in bytes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct QueuePolicy {
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
    pub(crate) discipline: Discipline,
}

impl QueuePolicy {
    /// Drops what finds `limit` queued (packets), or would overfill it (bytes). The packet in service does not count.
    pub fn drop_tail(limit: QueueLimit) -> QueuePolicy {
        let (limit_packets, limit_bytes) = match limit {
            QueueLimit::Packets(n) => (n, u64::MAX),
            QueueLimit::Bytes(n) => (u32::MAX, n),
        };
        QueuePolicy {
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
            discipline: Discipline::default(),
        }
    }

    /// That of a link whose packets a port of its own queues: here, every queue is full.
    pub(crate) fn elsewhere() -> QueuePolicy {
        QueuePolicy::drop_tail(QueueLimit::Packets(0))
    }

    /// Is it [`QueuePolicy::elsewhere`]?
    #[inline]
    pub(crate) fn is_elsewhere(&self) -> bool {
        self.limit_packets == 0
    }

    /// With `limit` instead of the one that it has.
    pub(crate) fn limited_to(self, limit: QueueLimit) -> QueuePolicy {
        let QueuePolicy { limit_packets, limit_bytes, .. } = QueuePolicy::drop_tail(limit);
        let in_bytes = limit_bytes != u64::MAX || self.mark_bytes != u64::MAX;
        QueuePolicy { limit_packets, limit_bytes, in_bytes, ..self }
    }

    /// Strict priority: packets with [`Flags::PRIORITY`] have a queue of their own, which is served first. Limit and marking are those
    /// of either queue.
    pub fn prioritised(mut self) -> QueuePolicy {
        self.discipline.priority = true;
        self
    }

    /// Marks a packet as it leaves, by the queue that it leaves behind (ECN*: Wu et al., "Tuning ECN for data center networks", CoNEXT
    /// 2012).
    pub fn marking_at_dequeue(mut self) -> QueuePolicy {
        self.discipline.mark_at_dequeue = true;
        self
    }

    /// Random early detection instead of a marking threshold; what cannot be marked is dropped.
    pub fn with_red(mut self, red: Red) -> QueuePolicy {
        self.discipline.red = Some(red);
        self.dropping_non_ect(true)
    }

    /// All ports of a switch share a buffer, which takes the place of the limit; nothing may be exempt.
    pub fn sharing(mut self, buffer: SharedBuffer) -> QueuePolicy {
        self.discipline.shared = Some(buffer);
        self
    }

    /// Marks what finds at least `k` queued, or more than `k` if `above`.
    pub fn marking(mut self, k: QueueLimit, above: bool) -> QueuePolicy {
        self.in_bytes |= matches!(k, QueueLimit::Bytes(_));
        match k {
            QueueLimit::Packets(n) => self.mark_packets = n.saturating_add(above as u32),
            QueueLimit::Bytes(n) => self.mark_bytes = n.saturating_add(above as u64),
        }
        self
    }

    /// Does the packet being transmitted count towards the queue length?
    pub fn counting_in_service(mut self, counts: bool) -> QueuePolicy {
        self.uncounted = !counts as u32;
        self
    }

    /// Are packets that are not ECN-capable dropped where others would be marked, rather than queued?
    pub fn dropping_non_ect(mut self, drop: bool) -> QueuePolicy {
        self.drop_non_ect = drop;
        self
    }

    /// Never drops SYNs, FINs, pure ACKs (each as told), as some published simulations did.
    pub fn exempting(mut self, syn: bool, fin: bool, ack: bool) -> QueuePolicy {
        (self.exempt_syn, self.exempt_fin, self.exempt_ack) = (syn, fin, ack);
        self
    }

    /// What finds fewer packets queued is let in as it is.
    pub(crate) fn acts_from(&self) -> u32 {
        if self.in_bytes { 0 } else { self.mark_packets.min(self.limit_packets) }
    }

    /// Is a packet that finds so much queued marked?
    #[inline]
    pub(crate) fn is_over(&self, packets: u32, bytes: u64) -> bool {
        packets >= self.mark_packets || bytes >= self.mark_bytes
    }

    /// Is there no room for a packet that finds so many `packets` queued, and would make it so many `bytes`?
    #[inline]
    pub(crate) fn is_full(&self, packets: u32, bytes: u64) -> bool {
        packets >= self.limit_packets || bytes > self.limit_bytes
    }

    /// What becomes of a packet that finds the queue over the marking threshold, or full.
    #[inline]
    pub(crate) fn verdict(&self, over: bool, full: bool, markable: bool, flags: Flags) -> Verdict {
        let marked = over && markable;
        let drop = full || over && !marked && self.drop_non_ect;
        if drop && !self.exempts(flags) {
            return Verdict::Drop;
        }
        if marked { Verdict::Mark } else { Verdict::Queue }
    }

    #[cold]
    pub(crate) fn exempts(&self, flags: Flags) -> bool {
        let syn = flags.has(Flags::SYN);
        let fin = flags.has(Flags::FIN);
        let pure_ack = !syn && !fin && !flags.has(Flags::DATA);
        self.exempt_syn && syn || self.exempt_fin && fin || self.exempt_ack && pure_ack
    }
}

/// The policies of the output ports of a network, by the layer of the node whose port it is.
#[derive(Clone, Copy, Debug)]
pub struct Policies([QueuePolicy; Layer::ALL.len()]);

impl Policies {
    /// With `policy` at the ports of `layer`.
    pub fn with(mut self, layer: Layer, policy: QueuePolicy) -> Policies {
        self.0[layer as usize] = policy;
        self
    }

    /// At the ports of `layer`.
    pub fn of(&self, layer: Layer) -> QueuePolicy {
        self.0[layer as usize]
    }
}

impl From<QueuePolicy> for Policies {
    /// The same everywhere.
    fn from(policy: QueuePolicy) -> Policies {
        Policies([policy; Layer::ALL.len()])
    }
}
