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
}
