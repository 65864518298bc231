use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{Exempt, MarkWhen, NonEct, QueueSize};

/// Every output port, of hosts and switches. The queue length is the one that an arriving packet
/// finds; the packet itself does not count.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Queue")]
pub(crate) struct QueueTable {
    /// An arriving packet is dropped when this many packets, or bytes if written as a size, are
    /// queued. Default: 100.
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
}
