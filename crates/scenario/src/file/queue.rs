use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use linkpool_units::Bytes;

use crate::model::{Discipline, Exempt, MarkAt, MarkWhen, NonEct, QueueSize, RedAction};

/// Every output port, of hosts and switches. The queue length is the one that an arriving packet
/// finds; the packet itself does not count.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Queue")]
pub(crate) struct QueueTable {
    /// An arriving packet is dropped when this many packets, or bytes if written as a size, are
    /// queued; with trimming, a data packet is trimmed. Default: 100; with trimming 8.
    pub(crate) limit: Option<QueueSize>,
    /// ECN marking threshold K, in packets or as a size. Default: no marking.
    pub(crate) mark: Option<QueueSize>,
    /// ">=": mark at queue length >= K; ">": only above K. Default: ">=".
    pub(crate) mark_when: Option<MarkWhen>,
    /// Does the packet being transmitted count towards the queue length that `limit` and `mark`
    /// see? Default: false.
    pub(crate) count_in_service: Option<bool>,
    /// What happens to packets that are not ECN-capable where an ECN-capable one would be
    /// marked. Default: "queue".
    pub(crate) non_ect: Option<NonEct>,
    /// Kinds of packets never dropped. Unlike real networks; some published simulations did so.
    /// Default: none.
    pub(crate) exempt: Option<Vec<Exempt>>,
    /// "fifo"; "priority": two queues, of which the one of high priority goes first, each with
    /// this limit and marking; "trimming": a data packet that finds no room loses its payload.
    /// Default: "fifo".
    pub(crate) discipline: Option<Discipline>,
    /// "enqueue": mark what arrives; "dequeue": what leaves, by the queue that it leaves behind
    /// (ECN*). Default: "enqueue".
    pub(crate) mark_at: Option<MarkAt>,
    /// Random early detection, instead of `mark`.
    pub(crate) red: Option<RedTable>,
    /// A buffer that all ports of a switch share, instead of `limit`.
    pub(crate) shared_buffer: Option<SharedBufferTable>,
    /// How ports with `discipline = "trimming"` trim.
    pub(crate) trimming: Option<TrimmingTable>,
    /// Other values for the ports of one layer.
    pub(crate) layer: Option<LayersTable>,
}

/// Queues of layers that differ from the others.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "QueueLayers")]
pub(crate) struct LayersTable {
    /// Ports of hosts.
    pub(crate) host: Option<LayerQueueTable>,
    /// Ports of switches without layers.
    pub(crate) switch: Option<LayerQueueTable>,
    /// Ports of edge, leaf and top-of-rack switches.
    pub(crate) edge: Option<LayerQueueTable>,
    /// Ports of aggregation switches.
    pub(crate) aggregation: Option<LayerQueueTable>,
    /// Ports of core, spine and intermediate switches.
    pub(crate) core: Option<LayerQueueTable>,
}

/// The ports of one layer, towards hosts and core alike. What is left out is as in `[queue]`.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "LayerQueue")]
pub(crate) struct LayerQueueTable {
    /// An arriving packet is dropped when this many packets, or bytes if written as a size, are
    /// queued. Default: that of `[queue]`.
    pub(crate) limit: Option<QueueSize>,
    /// ECN marking threshold K, in packets or as a size. Default: that of `[queue]`.
    pub(crate) mark: Option<QueueSize>,
    /// ">=": mark at queue length >= K; ">": only above K. Default: that of `[queue]`.
    pub(crate) mark_when: Option<MarkWhen>,
    /// Does the packet being transmitted count towards the queue length that `limit` and `mark`
    /// see? Default: that of `[queue]`.
    pub(crate) count_in_service: Option<bool>,
    /// What happens to packets that are not ECN-capable where an ECN-capable one would be
    /// marked. Default: that of `[queue]`.
    pub(crate) non_ect: Option<NonEct>,
    /// Kinds of packets never dropped. Unlike real networks; some published simulations did so.
    /// Default: that of `[queue]`.
    pub(crate) exempt: Option<Vec<Exempt>>,
    /// "fifo"; "priority": two queues, of which the one of high priority goes first, each with
    /// this limit and marking; "trimming": a data packet that finds no room loses its payload.
    /// Default: that of `[queue]`.
    pub(crate) discipline: Option<Discipline>,
    /// "enqueue": mark what arrives; "dequeue": what leaves, by the queue that it leaves behind
    /// (ECN*). Default: that of `[queue]`.
    pub(crate) mark_at: Option<MarkAt>,
    /// Random early detection, instead of `mark`.
    pub(crate) red: Option<RedTable>,
    /// A buffer that all ports of a switch share, instead of `limit`.
    pub(crate) shared_buffer: Option<SharedBufferTable>,
    /// How ports with `discipline = "trimming"` trim.
    pub(crate) trimming: Option<TrimmingTable>,
}

/// Random early detection (Floyd and Jacobson, 1993).
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Red")]
pub(crate) struct RedTable {
    /// Average queue at which marks (or drops) begin, in packets or as a size.
    #[schemars(required)]
    pub(crate) min: Option<QueueSize>,
    /// Average queue at which all are marked, in the unit of `min`.
    #[schemars(required)]
    pub(crate) max: Option<QueueSize>,
    /// Probability of a mark as the average comes to `max`. Default: 0.1.
    pub(crate) max_probability: Option<f64>,
    /// Weight of a new sample in the average. Default: 0.002.
    pub(crate) weight: Option<f64>,
    /// From `max` to twice `max`, does the probability grow to 1 rather than jump? Default: true.
    pub(crate) gentle: Option<bool>,
    /// What happens to packets that are ECN-capable: "mark" or "drop". Others are dropped.
    /// Default: "mark".
    pub(crate) action: Option<RedAction>,
    /// While the queue is idle, the average falls as if packets of this size went by. Default: the
    /// largest packet of the transports.
    pub(crate) packet: Option<Bytes>,
}

/// A buffer for all ports of a switch, with dynamic thresholds (Choudhury and Hahne, 1998).
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "SharedBuffer")]
pub(crate) struct SharedBufferTable {
    /// Its size.
    #[schemars(required)]
    pub(crate) size: Option<Bytes>,
    /// A queue may be as long as `alpha` times what is free. Default: 1.
    pub(crate) alpha: Option<f64>,
}

/// How a port trims (Handley et al., NDP, SIGCOMM 2017, section 3.1). `limit` is that of its data queue.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Trimming")]
pub(crate) struct TrimmingTable {
    /// Limit of the queue for headers and control packets, in packets or as a size. Default: as
    /// many bytes as `limit` packets of the largest size.
    pub(crate) headers: Option<QueueSize>,
    /// While both queues hold packets, so many of the header queue are served for one of the
    /// data queue. Default: 10.
    pub(crate) share: Option<u32>,
    /// Probability that the packet that arrives is trimmed, rather than the last one of the data
    /// queue. Default: 0.5.
    pub(crate) trim_arriving: Option<f64>,
    /// Does a header that finds no room go back to its sender, if the transport wants that?
    /// Default: true.
    pub(crate) return_to_sender: Option<bool>,
}
