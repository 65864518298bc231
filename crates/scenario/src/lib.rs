//! The scenario file: a fabric, its queues, transports, a workload, and what to record.
//!
//! A file is parsed into a [`Scenario`] once, by [`load`]: every default is filled in, every
//! name is resolved and every value is checked, so that what reads a [`Scenario`] checks nothing
//! again. `docs/scenario.md` describes the file.

mod errors;
mod file;
mod load;
mod model;
mod presets;
mod quote;
mod resolve;
mod schema;
mod source;
mod to_toml;

pub use errors::ScenarioError;
pub use load::load;
pub use model::{
    Change, ChangeOf, Control, CounterRecord, Destination, Discipline, DupackThreshold, EwtcpIncrease, Exempt, Fault,
    Graph, LinkState, MarkAt, MarkWhen, Measure, NonEct, OTHERS, Paths, Placement, Preset, Priority, Queue,
    QueueRecord, QueueSize, Record, Recovery, Release, Repeat, Role, Routing, RoutingKind, ScatterControl, Scenario,
    Scheduler, SeriesRecord, Small, SsthreshAfterCut, Subflows, Topology, TraceFlow, Transport, Until, Workload,
    WorkloadKind,
};
pub use schema::schema;
