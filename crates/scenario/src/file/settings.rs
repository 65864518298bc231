//! Tables whose keys are settings: these are declared beside the code that they are for, and listed
//! nowhere else.

use std::borrow::Cow;
use std::fmt;

use linkpool_settings::{
    Declared, EachKind, Fallback, Kinds, Preset, Setting, Settings, State, Visit, Written, Wrong, one_line,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::ser::{Error, SerializeMap};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Map;

use crate::reference::{KeysOf, default_of};
use crate::situation::Situation;

/// That there is a table: `resolve` looks up its keys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AnyTable;

impl<'de> Deserialize<'de> for AnyTable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<AnyTable, D::Error> {
        deserializer.deserialize_struct("Table", &[], Entries)
    }
}

struct Entries;

impl<'de> Visitor<'de> for Entries {
    type Value = AnyTable;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<AnyTable, A::Error> {
        while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(AnyTable)
    }
}

/// A table of settings. Reading notes only that it is there: `resolve` looks up each setting in it.
#[derive(Debug)]
pub(crate) struct Table<S>(pub(crate) Option<S>);

impl<'de, S> Deserialize<'de> for Table<S> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Table<S>, D::Error> {
        AnyTable::deserialize(deserializer).map(|AnyTable| Table(None))
    }
}

impl<S: Settings + Clone> Serialize for Table<S> {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        let settings = self.0.as_ref().ok_or_else(|| Z::Error::custom("a table that was read"))?;
        let mut map = serializer.serialize_map(None)?;
        write(settings, None, &mut map)?;
        map.end()
    }
}

impl<S: Declared> JsonSchema for Table<S> {
    fn schema_name() -> Cow<'static, str> {
        S::NAME.into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        schema::<S>(generator, None)
    }
}

/// Writes every setting that applies, with its value. Which settings of a transport apply depends
/// on its `situation`.
pub(crate) fn write<S: Settings + Clone, M: SerializeMap>(
    settings: &S,
    situation: Option<Situation>,
    map: &mut M,
) -> Result<(), M::Error> {
    let mut writer = Writer { map, situation, written: Vec::new(), error: None };
    settings.clone().each(&mut writer);
    writer.error.map_or(Ok(()), Err)
}

struct Writer<'m, M: SerializeMap> {
    map: &'m mut M,
    situation: Option<Situation>,
    written: Vec<&'static str>,
    error: Option<M::Error>,
}

impl<M: SerializeMap> Writer<'_, M> {
    fn entry(&mut self, key: &'static str, value: &impl Serialize) {
        if !self.written.contains(&key) && self.error.is_none() {
            self.error = self.map.serialize_entry(key, value).err();
            self.written.push(key);
        }
    }
}

impl<M: SerializeMap> Visit for Writer<'_, M> {
    fn setting<T, W: Written<T>>(&mut self, setting: &Setting, value: &mut T, state: State) {
        // A key that does not apply would be an error in a file; both phases of MMPTCP may have
        // one.
        if state.applies && self.situation.is_none_or(|situation| situation.unmet(setting.scope).is_none()) {
            self.entry(setting.key, &W::of(value));
        }
    }

    fn table<S: Declared>(
        &mut self,
        key: &'static str,
        _: &'static [&'static str],
        value: &mut Option<S>,
        _: Option<Wrong>,
    ) {
        if value.is_some() {
            self.entry(key, &Table(value.clone()));
        }
    }

    fn chosen<K: Kinds>(&mut self, _: &'static str, value: &mut K) {
        if K::has_settings(value.name()) {
            self.entry(value.name(), &OfKind(value.clone()));
        }
    }
}

/// The settings of a kind.
#[derive(Debug)]
pub(crate) struct OfKind<K>(pub(crate) K);

impl<K: Kinds> Serialize for OfKind<K> {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        let mut map = serializer.serialize_map(None)?;
        let mut writer = Writer { map: &mut map, situation: None, written: Vec::new(), error: None };
        self.0.clone().each(&mut writer);
        writer.error.map_or(Ok(()), Err)?;
        map.end()
    }
}

/// The schema of a table of settings. `default` is said instead of the default of each.
pub(crate) fn schema<S: Declared>(generator: &mut SchemaGenerator, default: Option<&'static str>) -> Schema {
    let (properties, required) = (Map::new(), Vec::new());
    let mut all = Properties { generator, default, properties, required };
    S::defaults(Preset::Linux).each(&mut all);
    let Properties { properties, required, .. } = all;
    let mut schema = json_schema!({
        "type": "object",
        "description": one_line(S::ABOUT),
        "properties": properties,
        "additionalProperties": false,
    });
    if !required.is_empty() && default.is_none() {
        schema.insert("required".to_string(), required.into());
    }
    schema
}

struct Properties<'g> {
    generator: &'g mut SchemaGenerator,
    default: Option<&'static str>,
    properties: Map<String, serde_json::Value>,
    required: Vec<&'static str>,
}

impl Properties<'_> {
    fn describe(&mut self, key: &str, mut schema: Schema, text: String) {
        schema.insert("description".to_string(), text.into());
        self.properties.insert(key.to_string(), schema.into());
    }
}

impl Visit for Properties<'_> {
    fn setting<T, W: Written<T>>(&mut self, setting: &Setting, value: &mut T, state: State) {
        let applies = state.condition.map_or(String::new(), |to| format!(" Applies to {to}."));
        let default = self.default.map(str::to_string).or_else(|| default_of::<T, W>(setting, value));
        let default = default.map_or(String::new(), |default| format!(" Default: {default}."));
        if setting.fallback == Fallback::Required {
            self.required.push(setting.key);
        }
        let schema = (setting.schema)(self.generator);
        self.describe(setting.key, schema, format!("{}{applies}{default}", setting.text()));
    }

    fn table<S: Declared>(
        &mut self,
        key: &'static str,
        doc: &'static [&'static str],
        _: &mut Option<S>,
        _: Option<Wrong>,
    ) {
        let schema = self.generator.subschema_for::<Table<S>>();
        self.describe(key, schema, one_line(doc));
    }

    fn chosen<K: Kinds>(&mut self, key: &'static str, _: &mut K) {
        K::kinds(&mut Chosen { key, properties: self });
    }
}

/// The tables of kinds that the setting `key` names.
struct Chosen<'p, 'g> {
    key: &'static str,
    properties: &'p mut Properties<'g>,
}

impl EachKind for Chosen<'_, '_> {
    fn kind<S: Declared>(&mut self, name: &'static str, _: &'static [&'static str]) {
        let schema = self.properties.generator.subschema_for::<Table<S>>();
        let text = format!("{} Applies with `{} = {name:?}`.", one_line(S::ABOUT), self.key);
        self.properties.describe(name, schema, text);
    }

    fn plain(&mut self, _: &'static str, _: &'static [&'static str]) {}
}

/// The keys of a table of settings.
pub(crate) fn keys<S: Declared>() -> Vec<&'static str> {
    let mut keys = KeysOf::default();
    S::defaults(Preset::Linux).each(&mut keys);
    keys.0
}

/// The settings of a kind.
pub(crate) fn keys_of<K: Kinds>(kind: &K) -> Vec<&'static str> {
    let mut keys = KeysOf::default();
    kind.clone().each(&mut keys);
    keys.0
}
