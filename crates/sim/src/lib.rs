//! Runs scenarios: builds the fabric, puts transport endpoints on its hosts, moves time, writes
//! tables.

mod by_id;
mod capture;
mod directory;
mod divided;
mod effort;
mod estimate;
mod host;
mod measure;
mod offered;
mod perfetto;
mod plan;
mod record;
mod results;
mod run;
mod session;
mod start;
mod trace;

pub use directory::{RunInfo, run_to_directory};
pub use divided::{Divided, Division, divided};
pub use effort::expected_hops;
pub use estimate::Estimate;
pub use host::family::packet_kinds;
pub use host::kinds::Role;
pub use host::measured::{Acked, MeasuredBytes};
pub use measure::{Measurement, measure};
pub use offered::{OfferedLoad, offered_loads};
pub use perfetto::{Lifetime, PerfettoError, perfetto};
pub use plan::{
    CapturePlan, FlowId, Flows, Goal, JobKind, LabelId, LinkChanges, Merged, Operation, PacketSizes, PathError,
    PathRule, Placement, Plan, PlannedFlow, PlannedProcess, PlannedServing, PlannedTransport, ProcessId, TransportId,
    View, Waits, worthwhile_threads,
};
pub use results::column::{Column, Kind, TableInfo};
pub use results::elsewhere::{Recorded, write_tables};
pub use results::event::{Event, Happened, Posted};
pub use results::ideal::Ideal;
pub use results::outcome::{
    FlowOutcome, JobOutcome, LinkOutcome, Lost, MeasuredLink, Outcome, RankOutcome, RequestOutcome, SubflowOutcome,
};
pub use results::passing::Passed;
pub use results::read::{TableCells, read_columns, read_numbers, table_columns};
pub use results::readable::check_table;
pub use results::sample::{DecodeStep, Sample, Value};
pub use results::sink::Sink;
pub use results::summary::summarise;
pub use results::tables::{Unknown, tables};
pub use results::timeline::{Doing, RankChange, RankEvent, RankSpan};
pub use run::{Progress, RunError, simulate};
pub use session::{Options, Session, SessionError};
pub use start::driver::{Here, React, Send, SendError, Timer};
pub use trace::{Because, End, Row, Sight, State, Traced, WaitsOn, What, to_json, trace};

/// The scenario of `text`, for unit tests.
#[cfg(test)]
fn scenario(text: &str) -> linkpool_scenario::Scenario {
    linkpool_scenario::load(text, "test.toml", None, &[]).expect("a scenario")
}
