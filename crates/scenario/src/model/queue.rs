use linkpool_network::{Red, SharedBuffer, Trimming};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Every output port, of hosts and switches.
#[derive(Clone, Debug, PartialEq)]
pub struct Queue {
    /// An arriving packet is dropped when this much is queued.
    pub limit: QueueSize,
    /// ECN marking threshold K; none: no marking.
    pub mark: Option<QueueSize>,
    /// At or only above K?
    pub mark_when: MarkWhen,
    /// Does the packet being transmitted count towards the queue length?
    pub count_in_service: bool,
    /// What becomes of packets that cannot be marked where others would be.
    pub non_ect: NonEct,
    /// Kinds of packets never dropped; sorted, each at most once.
    pub exempt: Vec<Exempt>,
    /// Which packet goes next.
    pub discipline: Discipline,
    /// Is marked what comes or what leaves?
    pub mark_at: MarkAt,
    /// Random early detection, instead of `mark`.
    pub red: Option<Red>,
    /// All ports of a switch share a buffer, instead of `limit`.
    pub shared_buffer: Option<SharedBuffer>,
    /// With [`Discipline::Trimming`], how.
    pub trimming: Option<Trimming>,
}

/// Which packet of a port goes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Discipline {
    /// The first that came.
    Fifo,
    /// The first of high priority that came, and others when there is none.
    Priority,
    /// Headers and control packets before data, in proportion; data that finds no room is trimmed.
    Trimming,
}

/// When packets are marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MarkAt {
    /// As they arrive.
    Enqueue,
    /// As they leave.
    Dequeue,
}

/// What RED does to ECN-capable packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RedAction {
    /// It marks them.
    Mark,
    /// It drops them.
    Drop,
}

/// A queue length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueSize {
    /// In packets.
    Packets(u32),
    /// In bytes on the wire.
    Bytes(u64),
}

/// At which queue length a packet is marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum MarkWhen {
    /// At queue length >= K.
    #[serde(rename = ">=")]
    AtLeast,
    /// Only above K.
    #[serde(rename = ">")]
    Above,
}

/// What happens to a packet that is not ECN-capable where an ECN-capable one would be marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NonEct {
    /// It is queued, unmarked.
    Queue,
    /// It is dropped.
    Drop,
}

/// A kind of packet that queues may be told never to drop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Exempt {
    /// SYN and SYN-ACK.
    Syn,
    /// FIN.
    Fin,
    /// An ACK without payload.
    Ack,
}
