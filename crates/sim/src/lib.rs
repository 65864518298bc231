//! Runs scenarios: builds the fabric, puts transport endpoints on its hosts, moves time, writes tables.

mod host;
mod measure;
mod plan;
mod record;
mod results;
mod run;
mod start;

pub use host::balancer::{Balancing, PlbConfig, RepsConfig};
pub use host::wire::{Handle, WireSizes};
pub use measure::{Measurement, measure};
pub use plan::changes::Changes;
pub use plan::flows::{Flows, Merged};
pub use plan::paths::PathRule;
pub use plan::transports::PlannedTransport;
pub use plan::{Goal, Plan, PlannedFlow, PlannedProcess, worthwhile_threads};
pub use record::sampling::{Sample, Value};
pub use results::ideal::Ideal;
pub use results::jobs::{JobKind, Operation};
pub use results::outcome::{FlowOutcome, JobOutcome, LinkOutcome, Outcome, SubflowOutcome};
pub use results::sink::Sink;
pub use run::{Progress, RunError, RunInfo, run_to_directory, simulate};
pub use start::placement::Placement;
pub use start::waits::Waits;
