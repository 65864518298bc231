//! Roles of hosts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A number of hosts, or their share.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "RoleSize")]
pub(crate) enum RoleSize {
    /// So many.
    Hosts(u32),
    /// So many of one.
    Share(f64),
}
