//! Runs scenarios: builds the fabric, puts transport endpoints on its hosts, moves time, writes tables.

mod agenda;
mod balancer;
mod changes;
mod changes_table;
mod endpoint;
mod host;
mod hosts;
mod ideal;
mod measure;
mod outcome;
mod paths;
mod plan;
mod processes;
mod run;
mod sampling;
mod series;
mod sink;
mod table;
mod tables;
mod traffic;
mod waits;
mod wire;

pub use balancer::{Balancing, PlbConfig, RepsConfig};
pub use changes::Changes;
pub use ideal::Ideal;
pub use measure::{Measurement, measure};
pub use outcome::{FlowOutcome, JobOutcome, LinkOutcome, Outcome, SubflowOutcome};
pub use paths::PathRule;
pub use plan::{Goal, Plan, PlannedFlow, PlannedProcess, PlannedTransport, worthwhile_threads};
pub use run::{Progress, RunError, RunInfo, run_to_directory, simulate};
pub use sampling::{Sample, Value};
pub use sink::Sink;
pub use waits::Waits;
pub use wire::{Handle, WireSizes};
