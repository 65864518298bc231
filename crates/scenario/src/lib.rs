//! The scenario file: a fabric, its queues, transports, a workload, and what to record.
//!
//! A file is parsed into a [`Scenario`] once, by [`load`]: every default is filled in, every
//! name is resolved and every value is checked, so that what reads a [`Scenario`] checks nothing
//! again. `docs/scenario.md` describes the file.

mod model;

pub use model::{
    Control, Exempt, MarkWhen, NonEct, Paths, Preset, Queue, QueueRecord, QueueSize, Record, Release, Scenario,
    SeriesRecord, SsthreshAfterCut, Topology, Transport, Workload, WorkloadKind,
};
