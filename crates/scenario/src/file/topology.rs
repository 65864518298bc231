//! `[topology]`: one table, of the kind that it is named after.

use std::borrow::Cow;

use linkpool_network::topology;
use linkpool_settings::{Declared, EachKind, Kinds, NoNames, one_line};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::settings::{OfKind, Table};
use super::{GRAPH, GraphTable, topologies};
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
            Topology::Graph(graph) => {
                map.serialize_entry(GRAPH, &Table { settings: GraphTable::from(graph), names: &NoNames })?;
            }
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
        topologies(&mut kinds);
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

impl EachKind for Described<'_> {
    fn kind<S: Declared>(&mut self, name: &'static str, doc: &'static [&'static str]) {
        let mut schema = self.generator.subschema_for::<Table<'_, S>>();
        schema.insert("description".to_string(), one_line(doc).into());
        self.properties.insert(name.to_string(), schema.into());
    }
}
