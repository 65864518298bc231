//! `[[workload.KIND]]`: the settings that all workloads have and the settings of a kind, in one
//! table.

use linkpool_settings::{Declared, EachKind, Kinds, Names, Preset, Settings, one_line};
use linkpool_workload::WorkloadKind;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::marker::PhantomData;

use super::settings::{Properties, Writer, keys, keys_of};
use crate::model::Workload;

/// All workloads of a scenario, by their kinds.
pub(crate) struct WorkloadTables<'w> {
    pub(crate) workloads: &'w [Workload],
    pub(crate) names: &'w dyn Names,
}

/// A workload.
struct WorkloadTable<'w> {
    workload: &'w Workload,
    names: &'w dyn Names,
}

impl Serialize for WorkloadTables<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for name in WorkloadKind::NAMES {
            let of_kind = self.workloads.iter().filter(|workload| workload.kind.name() == *name);
            let tables: Vec<_> = of_kind.map(|workload| WorkloadTable { workload, names: self.names }).collect();
            if !tables.is_empty() {
                map.serialize_entry(name, &tables)?;
            }
        }
        map.end()
    }
}

impl Serialize for WorkloadTable<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let mut writer = Writer::new(&mut map, self.names, None);
        self.workload.clone().each_setting(&mut writer);
        writer.end()?;
        map.end()
    }
}

/// The keys of a workload of this kind.
pub(crate) fn workload_keys(kind: &WorkloadKind) -> Vec<&'static str> {
    [keys::<Workload>(), keys_of(kind)].concat()
}

impl JsonSchema for WorkloadTables<'_> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Workload".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut kinds = Described { generator, properties: Map::new() };
        WorkloadKind::kinds(&mut kinds);
        json_schema!({
            "type": "object",
            "description": one_line(WorkloadKind::ABOUT),
            "properties": Value::Object(kinds.properties),
            "additionalProperties": false,
            "minProperties": 1,
        })
    }
}

/// The schema of the tables of each kind.
struct Described<'g> {
    generator: &'g mut SchemaGenerator,
    properties: Map<String, Value>,
}

impl EachKind for Described<'_> {
    fn kind<S: Declared>(&mut self, name: &'static str, doc: &'static [&'static str]) {
        let of_kind = self.generator.subschema_for::<OfKind<S>>();
        let schema = json_schema!({ "type": "array", "description": one_line(doc), "items": of_kind });
        self.properties.insert(name.to_string(), schema.into());
    }
}

/// A workload whose kind has the settings `S`.
struct OfKind<S>(PhantomData<S>);

impl<S: Declared> JsonSchema for OfKind<S> {
    fn schema_name() -> Cow<'static, str> {
        S::NAME.into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut all = Properties::new(generator, None);
        Workload::defaults(Preset::Linux).each(&mut all);
        S::defaults(Preset::Linux).each(&mut all);
        all.schema(S::ABOUT)
    }
}
