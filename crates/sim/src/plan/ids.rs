//! Ids of the things that a plan lists.
//!
//! Each has 32 bits. A scenario file has at most 256 MiB, so it cannot list more transports or
//! workloads than that. A workload starts at most 100,000,000 flows before the run.

linkpool_units::id! {
    /// A flow: its number in the results.
    ///
    /// The flows that are known before the run come first, in order of start. The messages of
    /// programs follow, then the flows of all processes, by turns (see [`Plan::id`](crate::Plan::id)).
    pub struct FlowId;
}

impl serde::Serialize for FlowId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32((*self).into())
    }
}

linkpool_units::id! {
    /// A place in [`Plan::transports`](crate::Plan::transports).
    pub struct TransportId;
}

linkpool_units::id! {
    /// A place in [`Plan::labels`](crate::Plan::labels).
    pub struct LabelId;
}

linkpool_units::id! {
    /// A place in [`Plan::processes`](crate::Plan::processes).
    pub struct ProcessId;
}
