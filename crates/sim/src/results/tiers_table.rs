//! The table of tiers.

use crate::offered::{OfferedLoad, offered_loads};
use crate::plan::Plan;
use crate::results::column::table;
use crate::results::table::Table;
use linkpool_scenario::Scenario;
use parquet::errors::Result;
use std::path::Path;

table! {
    /// A row per pair of layers that links join, in the direction of these links: what all workloads with a rate of
    /// arrivals offer to them.
    "tiers" of OfferedLoad, unless "none of its workloads has a rate of arrivals", |row|
    /// Layer of the sending ports.
    layer: str, "" = row.from;
    /// Layer of the receiving nodes.
    to_layer: str, "" = row.to;
    /// Rate of these links together, as the topology has it.
    rate_bps: f64, "bit/s" = row.capacity;
    /// Payload that is to pass these links, over `rate_bps`, while all these workloads run: by the mean sizes and the
    /// shortest paths from every host to every other, or to those of other racks. Above 1, the links cannot carry it.
    load: f64, "" = row.load;
    /// The same of the link for which it is greatest, if switches divide the traffic evenly; from hosts, of which a role
    /// alone sends: of one of these.
    load_busiest: f64, "" = row.busiest;
}

/// Writes `tiers.parquet`, if some workload has a rate of arrivals.
pub(crate) fn write(directory: &Path, scenario: &Scenario, plan: &Plan) -> Result<()> {
    let loads = offered_loads(scenario, &plan.fabric);
    if loads.is_empty() { Ok(()) } else { Table::write(directory, loads) }
}
