//! Roles of hosts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A number of hosts, or their share.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "RoleSize")]
pub(crate) enum RoleSize {
    /// A number of hosts.
    Hosts(u32),
    /// A share of all hosts.
    Share(f64),
}
