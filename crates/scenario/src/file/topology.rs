//! `[topology]`: one table, of the kind that it is named after.

use std::borrow::Cow;

use linkpool_network::topology;
use linkpool_settings::{Declared, EachKind, Kinds, NoNames, one_line};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::GraphTable;
use super::settings::{OfKind, Table};
use crate::model::Topology;

/// The topology, of one kind.
pub(crate) struct TopologyTable<'t>(pub(crate) &'t Topology);

impl Serialize for TopologyTable<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        match self.0 {
            Topology::Drawn(kind) => {
                map.serialize_entry(kind.name(), &OfKind { kind: kind.clone(), names: &NoNames })?;
            }
            Topology::Graph(graph) => map.serialize_entry("graph", &GraphTable::from(graph))?,
        }
        map.end()
    }
}

impl JsonSchema for TopologyTable<'_> {
    fn inline_schema() -> bool {
        true
    }

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
        self.add::<Table<'_, S>>(name, one_line(doc));
    }

    fn plain(&mut self, name: &'static str, _: &'static [&'static str]) {
        unreachable!("a topology has settings, and {name} has none");
    }
}
