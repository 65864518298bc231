//! `[measure]`: the measured period.

use linkpool_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which flows statistics are about.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Measure")]
pub(crate) struct MeasureTable {
    /// Flows that start before this are left out of statistics. Default: "0s".
    pub(crate) warm_up: Option<Time>,
    /// Flows that start at or after this are left out of statistics. Default: `duration`.
    pub(crate) cut_off: Option<Time>,
}
