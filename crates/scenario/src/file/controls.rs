//! Files of congestion control algorithms: where each stands, or its source.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A Python file with congestion control algorithms.
#[derive(Clone, Debug)]
pub(crate) enum ControlSource {
    /// Where it stands.
    File(String),
    /// What it says.
    Text(ControlText),
}

/// The text of a file of algorithms, as the scenario as run has it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ControlSource")]
pub(crate) struct ControlText {
    /// The name of the file, for messages.
    pub(crate) file: String,
    /// Its text, in Python.
    pub(crate) source: String,
}

impl Serialize for ControlSource {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            ControlSource::File(name) => name.serialize(serializer),
            ControlSource::Text(text) => text.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for ControlSource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ControlSource, D::Error> {
        deserializer.deserialize_any(ControlVisitor)
    }
}

struct ControlVisitor;

impl<'de> Visitor<'de> for ControlVisitor {
    type Value = ControlSource;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a Python file, such as \"my_control.py\", or a table of `file` and `source`")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<ControlSource, E> {
        Ok(ControlSource::File(name.to_string()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ControlSource, A::Error> {
        ControlText::deserialize(MapAccessDeserializer::new(map)).map(ControlSource::Text)
    }
}

impl JsonSchema for ControlSource {
    fn schema_name() -> Cow<'static, str> {
        "ControlFile".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A Python file with congestion control algorithms: its name, relative to the scenario, or \
                            its text.",
            "anyOf": [{ "type": "string" }, generator.subschema_for::<ControlText>()],
        })
    }
}
