//! The condition that ends a run early.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The run ends when this many flows have finished.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Until")]
pub(crate) struct UntilTable {
    /// How many.
    #[schemars(required, range(min = 1))]
    pub(crate) flows: Option<u64>,
    /// The label of the flows that count.
    #[schemars(required)]
    pub(crate) label: Option<String>,
}
