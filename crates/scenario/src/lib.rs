//! The scenario file: a fabric, its queues, transports, a workload, and the time series to record.
//!
//! A file is parsed into a [`Scenario`] once, by [`load`]: every default is filled in, every name
//! is resolved and every value is checked, so that users of a [`Scenario`] check nothing again.
//! `docs/scenario.md` describes the file.

mod compile;
mod convert;
mod descriptions;
mod errors;
mod file;
mod foreign;
mod hosts;
mod identity;
mod included;
mod known;
mod load;
mod model;
mod pausing;
mod reference;
mod resolve;
mod schema;
mod situation;
mod tree;

pub use compile::{Compile, NoCompiler};
pub use convert::convert;
pub use errors::ScenarioError;
pub use identity::NamedFile;
pub use included::sha256;
pub use linkpool_settings::Preset;
pub use linkpool_transport::control::Algorithm;
pub use linkpool_workload::WorkloadKind;
pub use load::{load, load_with};
pub use model::{
    BurstLoss, Capture, Change, ChangedLinks, Control, ControlFile, CounterSeries, Draw, Graph, LinkState, LinkWeight,
    Measure, Nic, NicPreset, OTHERS, PathConfig, Paths, PauseSeries, Placement, Priority, QueueSeries, Reconverge,
    Record, Repeat, Role, Routing, Scenario, Series, SlowHost, Small, Subflows, Tier, Topology, Transport, Until,
    WeightRule, Workload,
};
pub use pausing::{Headroom, SwitchBuffer, buffers, headrooms};
pub use reference::reference;
pub use schema::schema;
