//! `[roles]`: the sizes of roles, by their names.

use std::borrow::Cow;
use std::collections::HashMap;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize, Serializer};

use crate::model::Role;

/// The roles of hosts.
pub(crate) struct Roles<'s>(pub(crate) &'s [Role]);

/// A number of hosts, or their share.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum RoleSize {
    /// A number of hosts.
    Hosts(u32),
    /// A share of all hosts.
    Share(f64),
}

/// As numbers: the scenario as run says how many hosts a share was.
impl Serialize for Roles<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|role| (&role.name, role.hosts)))
    }
}

impl JsonSchema for Roles<'_> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Roles".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        HashMap::<String, RoleSize>::json_schema(generator)
    }
}
