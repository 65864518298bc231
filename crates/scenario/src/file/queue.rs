//! `[queue]`: the settings of all ports, and of layers that differ.

use std::borrow::Cow;

use linkpool_network::{Layer, Queue};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::ser::{Error, SerializeMap};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::settings::{AnyTable, Table, schema, write};

/// Reading notes only that the table is there: `resolve` looks up each setting in it.
#[derive(Debug)]
pub(crate) struct QueueTable(pub(crate) Option<(Queue, Vec<(Layer, Queue)>)>);

impl<'de> Deserialize<'de> for QueueTable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<QueueTable, D::Error> {
        AnyTable::deserialize(deserializer).map(|AnyTable| QueueTable(None))
    }
}

impl Serialize for QueueTable {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (queue, layers) = self.0.as_ref().ok_or_else(|| S::Error::custom("a table that was read"))?;
        let mut map = serializer.serialize_map(None)?;
        write(queue, None, &mut map)?;
        if !layers.is_empty() {
            map.serialize_entry("layer", &Layers(layers))?;
        }
        map.end()
    }
}

struct Layers<'q>(&'q [(Layer, Queue)]);

impl Serialize for Layers<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(layer, queue)| (layer.name(), Table(Some(queue.clone())))))
    }
}

impl JsonSchema for QueueTable {
    fn schema_name() -> Cow<'static, str> {
        "Queue".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut queue = schema::<Queue>(generator, None);
        let of_layer = generator.subschema_for::<LayerQueue>();
        let layer = |layer: Layer| {
            let mut schema = of_layer.clone();
            schema.insert("description".to_string(), format!("Ports of the layer \"{}\".", layer.name()).into());
            (layer.name().to_string(), schema.into())
        };
        let layers = json_schema!({
            "type": "object",
            "description": "Other values for the ports of one layer.",
            "properties": Value::Object(Map::from_iter(Layer::ALL.map(layer))),
            "additionalProperties": false,
        });
        if let Some(Value::Object(properties)) = queue.get_mut("properties") {
            properties.insert("layer".to_string(), layers.into());
        }
        queue
    }
}

/// The ports of one layer, towards hosts and core alike. Keys that are left out are as in
/// `[queue]`.
struct LayerQueue;

impl JsonSchema for LayerQueue {
    fn schema_name() -> Cow<'static, str> {
        "LayerQueue".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        schema::<Queue>(generator, Some("that of `[queue]`"))
    }
}
