//! The scenario file: a fabric, its queues, transports, a workload, and the time series to record.
//!
//! A file is parsed into a [`Scenario`] once, by [`load`]: every default is filled in, every name
//! is resolved and every value is checked, so that users of a [`Scenario`] check nothing again.
//! `docs/scenario.md` describes the file.

mod compile;
mod errors;
mod file;
mod load;
mod model;
mod names;
mod quote;
mod reference;
mod resolve;
mod schema;
mod situation;
mod source;
mod to_toml;

pub use compile::{Compile, NoCompiler};
pub use errors::ScenarioError;
pub use linkpool_settings::Preset;
pub use linkpool_transport::control::Algorithm;
pub use load::{load, load_with};
pub use model::{
    Change, ChangeOf, Control, ControlFile, CounterRecord, Destination, Graph, LinkState, Measure, NdpConfig, OTHERS,
    PathConfig, Paths, Placement, Priority, QueueRecord, Record, Repeat, Role, Routing, RoutingKind, Scenario,
    SeriesRecord, Small, Subflows, Topology, TraceFlow, Transport, Until, WireConfig, Workload, WorkloadKind,
};
pub use reference::reference;
pub use schema::schema;
