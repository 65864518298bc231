//! A transport's table: its settings are declared beside the code that they are for, and listed nowhere else.

use std::borrow::Cow;
use std::fmt;

use linkpool_settings::{Preset, Setting, Settings, State, Visit, Written};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::ser::{Error, SerializeMap};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::model::{Control, Transport};
use crate::reference;
use crate::situation::Situation;

/// The table of a transport. What is read says only that it is there: `resolve` looks up each setting in it.
#[derive(Debug)]
pub(crate) struct TransportTable(pub(crate) Option<Box<Transport>>);

impl<'de> Deserialize<'de> for TransportTable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<TransportTable, D::Error> {
        deserializer.deserialize_struct("Transport", &[], Table)
    }
}

struct Table;

impl<'de> Visitor<'de> for Table {
    type Value = TransportTable;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<TransportTable, A::Error> {
        while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(TransportTable(None))
    }
}

/// Every setting that applies, with its value.
impl Serialize for TransportTable {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let transport = self.0.as_deref().ok_or_else(|| S::Error::custom("a table that was read"))?;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("preset", &transport.preset)?;
        map.serialize_entry("control", &transport.control)?;
        let mut writer = Writer { map, situation: Situation::of(transport), written: Vec::new(), error: None };
        transport.clone().each(&mut writer);
        writer.error.map_or(Ok(()), Err)?;
        writer.map.end()
    }
}

struct Writer<M: SerializeMap> {
    map: M,
    situation: Situation,
    written: Vec<&'static str>,
    error: Option<M::Error>,
}

impl<M: SerializeMap> Visit for Writer<M> {
    fn setting<T, W: Written<T>>(&mut self, setting: &Setting, value: &mut T, state: State) {
        // A key that does not apply would be an error in a file; both phases of MMPTCP may have one.
        let applies = state.applies && self.situation.unmet(setting.scope).is_none();
        if applies && !self.written.contains(&setting.key) && self.error.is_none() {
            self.error = self.map.serialize_entry(setting.key, &W::of(value)).err();
            self.written.push(setting.key);
        }
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
        json_schema!({
            "type": "object",
            "description": description,
            "properties": Value::Object(properties),
            "required": ["control"],
            "additionalProperties": false,
        })
    }
}
