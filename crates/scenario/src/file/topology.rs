//! `[topology]`: one table, of the kind that it is named after.

use std::borrow::Cow;

use linkpool_network::topology;
use linkpool_settings::{Declared, EachKind, Kinds, one_line};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::ser::{Error, SerializeMap};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::GraphTable;
use super::settings::{AnyTable, OfKind, Table};
use crate::model::Topology;

/// Reading notes only that the table is there: `resolve` looks up the kind and its settings.
#[derive(Debug)]
pub(crate) struct TopologyTable(pub(crate) Option<Topology>);

impl<'de> Deserialize<'de> for TopologyTable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<TopologyTable, D::Error> {
        AnyTable::deserialize(deserializer).map(|AnyTable| TopologyTable(None))
    }
}

impl Serialize for TopologyTable {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        match self.0.as_ref().ok_or_else(|| S::Error::custom("a table that was read"))? {
            Topology::Drawn(kind) => map.serialize_entry(kind.name(), &OfKind(kind.clone()))?,
            Topology::Graph(graph) => map.serialize_entry("graph", &GraphTable::from(graph))?,
        }
        map.end()
    }
}

impl JsonSchema for TopologyTable {
    fn schema_name() -> Cow<'static, str> {
        "Topology".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut kinds = Described { generator, properties: Map::new() };
        topology::Topology::kinds(&mut kinds);
        kinds.add::<GraphTable>("graph", "Any graph, from a file or written here.".to_string());
        json_schema!({
            "type": "object",
            "description": one_line(topology::Topology::ABOUT),
            "properties": Value::Object(kinds.properties),
            "additionalProperties": false,
            "minProperties": 1,
            "maxProperties": 1,
        })
    }
}

/// The schema of each kind.
struct Described<'g> {
    generator: &'g mut SchemaGenerator,
    properties: Map<String, Value>,
}

impl Described<'_> {
    fn add<T: JsonSchema>(&mut self, name: &str, text: String) {
        let mut schema = self.generator.subschema_for::<T>();
        schema.insert("description".to_string(), text.into());
        self.properties.insert(name.to_string(), schema.into());
    }
}

impl EachKind for Described<'_> {
    fn kind<S: Declared>(&mut self, name: &'static str, doc: &'static [&'static str]) {
        self.add::<Table<S>>(name, one_line(doc));
    }

    fn plain(&mut self, name: &'static str, _: &'static [&'static str]) {
        unreachable!("a topology has settings, and {name} has none");
    }
}
