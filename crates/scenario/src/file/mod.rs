//! The scenario file: how its tables are described and written. Their settings are declared beside
//! the code that they are for, or in `model`.

mod as_run;
mod graph;
mod queue;
mod settings;
mod topology;
mod transport;
mod workload;

pub(crate) use graph::{EdgeTable, GraphTable, NodeKind, NodeTable};
pub(crate) use settings::{AnyTable, keys, keys_of};
pub(crate) use workload::workload_keys;

use std::borrow::Cow;
use std::collections::HashMap;

use queue::QueueTable;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};
use settings::{Table, schema};
use topology::TopologyTable;
use transport::TransportTable;
use workload::WorkloadTables;

use crate::model::{Change, Control, Measure, Record, Routing, Scenario};

/// The tables of the file.
pub(crate) const TABLES: [&str; 9] =
    ["measure", "topology", "routing", "queue", "change", "transport", "roles", "workload", "record"];

/// The whole file.
pub(crate) struct File;

impl JsonSchema for File {
    fn schema_name() -> Cow<'static, str> {
        "Scenario".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut file = schema::<Scenario>(generator, None);
        let mut tables = Map::new();
        let mut table = |key: &str, mut schema: Schema, text: &str| {
            schema.insert("description".to_string(), text.into());
            tables.insert(key.to_string(), schema.into());
        };
        table("measure", generator.subschema_for::<Table<'_, Measure>>(), "Which flows statistics are about.");
        table("topology", TopologyTable::json_schema(generator), "The fabric: exactly one kind.");
        let text = "How switches choose among links of equal cost.";
        table("routing", generator.subschema_for::<Table<'_, Routing>>(), text);
        table("queue", generator.subschema_for::<QueueTable<'_>>(), "Every output port, of hosts and switches.");
        table("change", generator.subschema_for::<Vec<Table<'_, Change>>>(), "Changes of links during the run.");
        let transports = generator.subschema_for::<HashMap<String, TransportTable<'_>>>();
        table("transport", transports, "Transports, by names of your own.");
        let text = "Roles of hosts, by names of your own: how many hosts each has, or their share. Default: none.";
        table("roles", generator.subschema_for::<HashMap<String, RoleSize>>(), text);
        let text = "Sources of flows: any number, of any kinds.";
        table("workload", WorkloadTables::json_schema(generator), text);
        table("record", generator.subschema_for::<Table<'_, Record>>(), "Time series to record, only where asked.");
        if let Some(Value::Object(properties)) = file.get_mut("properties") {
            properties.extend(tables);
        }
        file.insert("if".to_string(), json!({ "required": ["controls"] }));
        file.insert("else".to_string(), known_control());
        file.insert("required".to_string(), json!(["duration", "topology", "transport", "workload"]));
        file
    }
}

/// A number of hosts, or their share.
#[derive(Clone, Copy, Debug, serde::Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum RoleSize {
    /// A number of hosts.
    Hosts(u32),
    /// A share of all hosts.
    Share(f64),
}

/// The schema of a scenario whose transports have algorithms of linkpool.
fn known_control() -> Value {
    let names: Vec<_> = Control::all().map(Control::name).collect();
    let control = json!({ "enum": names, "description": "An algorithm of linkpool." });
    let table = json!({ "properties": { "control": control } });
    let transport = json!({ "additionalProperties": table, "description": "Without `controls`." });
    json!({ "properties": { "transport": transport } })
}
