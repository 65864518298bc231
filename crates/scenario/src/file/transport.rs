//! A transport's table: its settings are declared beside the code that they are for, and listed
//! nowhere else.

use std::borrow::Cow;

use linkpool_settings::Preset;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::ser::{Error, SerializeMap};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::settings::{AnyTable, write};
use crate::model::{Control, Transport};
use crate::reference;
use crate::situation::Situation;

/// The table of a transport. Reading notes only that it is there: `resolve` looks up each setting
/// in it.
#[derive(Debug)]
pub(crate) struct TransportTable(pub(crate) Option<Box<Transport>>);

impl<'de> Deserialize<'de> for TransportTable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<TransportTable, D::Error> {
        AnyTable::deserialize(deserializer).map(|AnyTable| TransportTable(None))
    }
}

/// Every setting that applies, with its value.
impl Serialize for TransportTable {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let transport = self.0.as_deref().ok_or_else(|| S::Error::custom("a table that was read"))?;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("preset", &transport.preset)?;
        map.serialize_entry("control", &transport.control)?;
        write(transport, Some(Situation::of(transport)), &mut map)?;
        map.end()
    }
}

impl JsonSchema for TransportTable {
    fn schema_name() -> Cow<'static, str> {
        "Transport".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut properties = Map::new();
        let mut describe = |key: &str, mut schema: Schema, text: String| {
            schema.insert("description".to_string(), text.into());
            properties.insert(key.to_string(), schema.into());
        };
        describe(
            "preset",
            generator.subschema_for::<Preset>(),
            "Where the defaults come from. Default: \"linux\".".into(),
        );
        describe("control", generator.subschema_for::<Control>(), "The congestion control algorithm.".into());
        for entry in reference::transport() {
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
