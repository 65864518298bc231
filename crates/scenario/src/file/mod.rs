//! The scenario file's tables and keys, as they are written. A key that is left out is none.
//!
//! The comments become the descriptions of the JSON Schema.

mod change;
mod controls;
mod gaps;
mod graph;
mod measure;
mod queue;
mod record;
mod roles;
mod routing;
mod settings;
mod sizes;
mod topology;
mod transport;
mod until;
mod values;
mod workload;

pub(crate) use change::{BurstLossTable, ChangeTable, Reconverge};
pub(crate) use controls::{ControlSource, ControlText};
pub(crate) use gaps::{Gap, GapTable, LogNormalTable};
pub(crate) use graph::{EdgeTable, GraphTable, NodeKind, NodeTable};
pub(crate) use linkpool_settings::Size;
pub(crate) use measure::MeasureTable;
pub(crate) use queue::QueueTable;
pub(crate) use record::{CounterSeriesTable, QueueSeriesTable, RecordTable, SeriesTable};
pub(crate) use roles::RoleSize;
pub(crate) use routing::{LinkWeightTable, PlacementTable, RoutingName, RoutingTable, WeightsName};
pub(crate) use settings::{AnyTable, keys, keys_of};
pub(crate) use sizes::{CdfSource, DistributionTable, FlowSize, InterpolationName, ParetoTable};
pub(crate) use topology::TopologyTable;
pub(crate) use transport::TransportTable;
pub(crate) use until::UntilTable;
pub(crate) use values::Host;
pub(crate) use workload::{
    AllToAllTable, AnyWorkload, BeyondEnd, CollectiveName, CollectiveTable, Common, DestinationName, FlowTable,
    HotspotTable, IncastTable, ManyToOneFlowsTable, MatrixKeys, PartitionAggregateTable, PermutationTable,
    PoissonTable, RandomTable, RepeatName, SmallTable, StaggeredTable, StrideTable, TraceFlowTable, TraceFormat,
    TraceTable, WorkloadTable,
};

use crate::model::Control;
use indexmap::IndexMap;
use linkpool_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A linkpool scenario: a fabric, its queues, named transports, a workload, and the time series to
/// record.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Scenario", extend("if" = with_controls(), "else" = known_control()))]
pub(crate) struct File {
    /// A title for tables and figures. Default: the file's name.
    pub(crate) name: Option<String>,
    /// The only source of randomness. Default: 1.
    pub(crate) seed: Option<u64>,
    /// Simulated time; no flow starts at or after it.
    #[schemars(required)]
    pub(crate) duration: Option<Time>,
    /// Time after `duration` in which started flows may still finish. Default: "0s".
    pub(crate) drain: Option<Time>,
    /// Python files with congestion control algorithms of your own, relative to the scenario.
    /// Default: none.
    pub(crate) controls: Option<Vec<ControlSource>>,
    /// A condition that ends the run early. Default: none.
    pub(crate) until: Option<UntilTable>,
    /// Which flows statistics are about.
    pub(crate) measure: Option<MeasureTable>,
    /// The fabric: exactly one kind.
    #[schemars(required)]
    pub(crate) topology: Option<TopologyTable>,
    /// How switches choose among links of equal cost.
    pub(crate) routing: Option<RoutingTable>,
    /// Every output port, of hosts and switches.
    pub(crate) queue: Option<QueueTable>,
    /// Changes of links during the run.
    pub(crate) change: Option<Vec<ChangeTable>>,
    /// Transports, by names of your own.
    #[schemars(required)]
    pub(crate) transport: Option<IndexMap<String, TransportTable>>,
    /// Roles of hosts, by names of your own: how many hosts each has, or their share. Default:
    /// none.
    pub(crate) roles: Option<IndexMap<String, RoleSize>>,
    /// Sources of flows: any number, of any kinds.
    #[schemars(required)]
    pub(crate) workload: Option<WorkloadTable>,
    /// Time series to record, only where asked.
    pub(crate) record: Option<RecordTable>,
}

/// The schema of a scenario that brings algorithms.
fn with_controls() -> serde_json::Value {
    serde_json::json!({ "required": ["controls"] })
}

/// The schema of a scenario whose transports have algorithms of linkpool.
fn known_control() -> serde_json::Value {
    let names: Vec<_> = Control::all().map(Control::name).collect();
    let control = serde_json::json!({ "enum": names, "description": "An algorithm of linkpool." });
    let table = serde_json::json!({ "properties": { "control": control } });
    let transport = serde_json::json!({ "additionalProperties": table, "description": "Without `controls`." });
    serde_json::json!({ "properties": { "transport": transport } })
}
