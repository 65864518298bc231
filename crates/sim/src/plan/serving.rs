//! A model that is served: how its messages are carried.

use crate::plan::ids::{LabelId, TransportId};
use crate::plan::planned::{PlannedFlow, by_size};
use linkpool_network::HostId;
use linkpool_units::Time;
use linkpool_workload::Flow;
use linkpool_workload::serving::{Payload, Serving};
use std::sync::Arc;

/// A model that is served, and how its messages are carried.
#[derive(Clone, Debug)]
pub struct PlannedServing {
    /// Its requests and instances.
    pub serving: Arc<Serving>,
    /// The transport of messages.
    pub transport: TransportId,
    /// Messages below this many bytes have this other transport.
    pub small: Option<(u64, TransportId)>,
    /// The label of keys and values.
    pub label: LabelId,
    /// The label of tokens on the way to experts and back.
    pub experts_label: LabelId,
}

impl PlannedServing {
    /// The hosts of all instances: those of prefill first.
    pub fn hosts(&self) -> impl Iterator<Item = HostId> + '_ {
        self.serving.prefill.iter().chain(&self.serving.decode).copied()
    }

    /// The number of these.
    pub(crate) fn instances(&self) -> usize {
        self.serving.prefill.len() + self.serving.decode.len()
    }

    /// The flow of a message of `bytes` that starts at `start`. One without data has a byte, as
    /// something must arrive.
    pub(crate) fn flow(&self, ends: (HostId, HostId), bytes: u64, payload: Payload, start: Time) -> PlannedFlow {
        let size = Some(bytes.max(1));
        let (label, job) = match payload {
            Payload::Kv(request) => (self.label, Some(request)),
            Payload::Dispatch { .. } | Payload::Combine => (self.experts_label, None),
        };
        let flow = Flow { job, ..Flow::new(ends, size, start) };
        PlannedFlow { flow, transport: by_size(self.small, size, self.transport), label }
    }
}
