//! Files of congestion control algorithms: where each stands, or its source.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A Python file with congestion control algorithms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlFile {
    /// Its name: relative to the scenario, or without its directory if the text is known.
    pub file: String,
    /// Its text, in Python; `None`: it stands in the file.
    pub source: Option<String>,
}

/// The text of a file of algorithms, as the scenario as run has it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ControlSource")]
struct ControlText {
    /// The name of the file, for messages.
    file: String,
    /// Its text, in Python.
    source: String,
}

impl Serialize for ControlFile {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let file = self.file.clone();
        match self.source.clone() {
            None => file.serialize(serializer),
            Some(source) => ControlText { file, source }.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for ControlFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ControlFile, D::Error> {
        deserializer.deserialize_any(ControlVisitor)
    }
}

struct ControlVisitor;

impl<'de> Visitor<'de> for ControlVisitor {
    type Value = ControlFile;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a Python file, such as \"my_control.py\", or a table of `file` and `source`")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<ControlFile, E> {
        Ok(ControlFile { file: name.to_string(), source: None })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ControlFile, A::Error> {
        let ControlText { file, source } = ControlText::deserialize(MapAccessDeserializer::new(map))?;
        Ok(ControlFile { file, source: Some(source) })
    }
}

impl JsonSchema for ControlFile {
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
