//! The scenario file: how its tables are described and written. Their settings are declared beside
//! the code that they are for, or in `model`.

mod as_run;
mod graph;
mod queue;
mod roles;
mod settings;
mod tables;
mod topology;
mod transport;
mod workload;

pub(crate) use graph::{GRAPH, Graph as GraphTable, topologies};
pub(crate) use queue::{CLASS, LAYER};
pub(crate) use roles::RoleSize;
pub(crate) use settings::{AnyTable, keys, keys_of};
pub(crate) use tables::{DESCRIBED, TABLES};
pub(crate) use transport::{PRESET, control_text};
pub(crate) use workload::workload_keys;

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Value, json};
use settings::schema;

use crate::model::{Control, Scenario};

/// The whole file.
pub(crate) struct File;

impl JsonSchema for File {
    fn schema_name() -> Cow<'static, str> {
        "Scenario".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut file = schema::<Scenario>(generator, None);
        let tables = tables::properties(generator);
        if let Some(Value::Object(properties)) = file.get_mut("properties") {
            properties.extend(tables);
        }
        if let Some(Value::Array(required)) = file.get_mut("required") {
            required.extend(DESCRIBED.iter().filter(|(_, required, _)| *required).map(|(key, ..)| Value::from(*key)));
        }
        file.insert("if".to_string(), json!({ "required": ["controls"] }));
        file.insert("else".to_string(), known_control());
        file
    }
}

/// The schema of a scenario whose transports have algorithms of linkpool.
fn known_control() -> Value {
    let names: Vec<_> = Control::all().map(Control::name).collect();
    let control = json!({ "enum": names, "description": "An algorithm of linkpool." });
    let table = json!({ "properties": { "control": control } });
    let transport = json!({ "additionalProperties": table, "description": "Without `controls`." });
    json!({ "properties": { "transport": transport } })
}
