//! `[queue]`: the settings of all ports, and of layers that differ.

use std::borrow::Cow;

use linkpool_network::{Layer, Queue, QueueClass};
use linkpool_settings::{NoNames, Settings};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::settings::{Table, Writer, schema};

/// The documentation of `layer`.
pub(crate) const LAYER: &str = "Other values of the keys of `[queue]` for the ports of one layer, as in `[queue.layer.core]`; a key that is \
                                left out has its value in `[queue]`";

/// The documentation of `class`.
pub(crate) const CLASS: &str =
    "Classes of data with queues of their own, as in `[[queue.class]]`, instead of `discipline`";

/// The settings of all ports, and of layers that differ.
pub(crate) struct QueueTable<'q>(pub(crate) &'q Queue, pub(crate) &'q [(Layer, Queue)]);

impl Serialize for QueueTable<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let QueueTable(queue, layers) = self;
        let mut map = serializer.serialize_map(None)?;
        write(queue, &mut map)?;
        if !layers.is_empty() {
            map.serialize_entry("layer", &Layers(layers))?;
        }
        map.end()
    }
}

struct Layers<'q>(&'q [(Layer, Queue)]);

impl Serialize for Layers<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(layer, queue)| (layer.name(), OfLayer(queue))))
    }
}

struct OfLayer<'q>(&'q Queue);

impl Serialize for OfLayer<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        write(self.0, &mut map)?;
        map.end()
    }
}

/// Writes the keys of `queue`, and its classes.
fn write<M: SerializeMap>(queue: &Queue, map: &mut M) -> Result<(), M::Error> {
    let mut writer = Writer::new(map, &NoNames, None);
    queue.clone().each(&mut writer);
    writer.end()?;
    if !queue.classes.is_empty() {
        let classes = queue.classes.iter().map(|class| Table { settings: class.clone(), names: &NoNames });
        map.serialize_entry("class", &classes.collect::<Vec<_>>())?;
    }
    Ok(())
}

/// The schema of a queue, with its classes.
fn with_classes(mut queue: Schema, generator: &mut SchemaGenerator) -> Schema {
    let mut classes = generator.subschema_for::<Vec<Table<'_, QueueClass>>>();
    classes.insert("description".to_string(), format!("{CLASS}.").into());
    if let Some(Value::Object(properties)) = queue.get_mut("properties") {
        properties.insert("class".to_string(), classes.into());
    }
    queue
}

impl JsonSchema for QueueTable<'_> {
    fn schema_name() -> Cow<'static, str> {
        "Queue".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let queue = schema::<Queue>(generator, None);
        let mut queue = with_classes(queue, generator);
        let of_layer = generator.subschema_for::<LayerQueue>();
        let layer = |layer: Layer| {
            let mut schema = of_layer.clone();
            schema.insert("description".to_string(), format!("Ports of the layer \"{}\".", layer.name()).into());
            (layer.name().to_string(), schema.into())
        };
        let layers = json_schema!({
            "type": "object",
            "description": format!("{LAYER}."),
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
        let queue = schema::<Queue>(generator, Some("that of `[queue]`"));
        with_classes(queue, generator)
    }
}
