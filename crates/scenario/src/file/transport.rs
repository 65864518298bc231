//! A transport's table: its settings are declared beside the code that they are for, and listed
//! nowhere else.

use std::borrow::Cow;
use std::collections::HashMap;

use linkpool_settings::{NoNames, Preset, Settings};
use linkpool_transport::Family;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::settings::Writer;
use crate::descriptions;
use crate::model::{Control, Transport};
use crate::situation::Situation;

/// The transports, by their names.
pub(crate) struct Transports<'t>(pub(crate) &'t [Transport]);

impl Serialize for Transports<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|t| (&t.name, TransportTable(t))))
    }
}

impl JsonSchema for Transports<'_> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Transports".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        HashMap::<String, TransportTable<'_>>::json_schema(generator)
    }
}

/// The documentation of `preset`.
pub(crate) const PRESET: &str = "The set of defaults, `\"linux\"` or `\"paper-2013\"`";

/// The documentation of `control`.
pub(crate) fn control_text() -> String {
    let laws = Family::ALL.iter().flat_map(|family| family.laws());
    let others: Vec<_> = laws.map(|law| format!("`{:?}`", law.name)).collect();
    format!("The congestion control algorithm, or {}", others.join(", "))
}

/// The table of a transport.
struct TransportTable<'t>(&'t Transport);

/// Every setting that applies, with its value.
impl Serialize for TransportTable<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let transport = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("preset", &transport.preset)?;
        map.serialize_entry("control", &transport.control)?;
        let mut writer = Writer::new(&mut map, &NoNames, Some(Situation::of(transport)));
        transport.clone().each(&mut writer);
        writer.end()?;
        map.end()
    }
}

impl JsonSchema for TransportTable<'_> {
    fn schema_name() -> Cow<'static, str> {
        "Transport".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut properties = Map::new();
        let mut describe = |key: &str, mut schema: Schema, text: String| {
            schema.insert("description".to_string(), text.into());
            properties.insert(key.to_string(), schema.into());
        };
        describe("preset", generator.subschema_for::<Preset>(), format!("{PRESET}. Default: \"linux\"."));
        describe("control", generator.subschema_for::<Control>(), format!("{}.", control_text()));
        for entry in descriptions::transport() {
            describe(entry.setting.key, (entry.setting.schema)(generator), entry.sentence());
        }
        let description = "A transport protocol. Only `control` is required; `preset` sets the defaults of the rest.";
        let names: Vec<_> = Control::all().map(Control::name).collect();
        let known = json_schema!({ "enum": names, "description": "An algorithm of linkpool." });
        json_schema!({
            "type": "object",
            "description": description,
            "required": ["control"],
            // An algorithm of a file of `controls` brings keys of its own.
            "if": { "properties": { "control": known } },
            "then": { "propertyNames": { "enum": properties.keys().collect::<Vec<_>>() } },
            "properties": Value::Object(properties),
        })
    }
}
