//! Tables whose keys are settings: these are declared beside the code that they are for, and listed
//! nowhere else.

use std::borrow::Cow;
use std::fmt;

use linkpool_settings::{
    Declared, EachKind, Fallback, Kinds, Names, Preset, Setting, Settings, State, Visit, Written, Wrong, one_line,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Map;

use crate::descriptions::{KeysOf, default_of};
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

/// A table of settings, as the scenario as run has it.
pub(crate) struct Table<'n, S> {
    pub(crate) settings: S,
    pub(crate) names: &'n dyn Names,
}

impl<S: Settings + Clone> Serialize for Table<'_, S> {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        let mut map = serializer.serialize_map(None)?;
        let mut writer = Writer::new(&mut map, self.names, None);
        self.settings.clone().each(&mut writer);
        writer.end()?;
        map.end()
    }
}

impl<S: Declared> JsonSchema for Table<'_, S> {
    fn schema_name() -> Cow<'static, str> {
        S::NAME.into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        schema::<S>(generator, None)
    }
}

/// Writes every setting that applies, with its value.
pub(crate) struct Writer<'m, M: SerializeMap> {
    map: &'m mut M,
    names: &'m dyn Names,
    /// Which settings of a transport apply depends on it.
    situation: Option<Situation>,
    written: Vec<&'static str>,
    error: Option<M::Error>,
}

impl<'m, M: SerializeMap> Writer<'m, M> {
    pub(crate) fn new(map: &'m mut M, names: &'m dyn Names, situation: Option<Situation>) -> Writer<'m, M> {
        Writer { map, names, situation, written: Vec::new(), error: None }
    }

    /// The error of what has been written, if there was one.
    pub(crate) fn end(self) -> Result<(), M::Error> {
        self.error.map_or(Ok(()), Err)
    }

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
        if state.applies && self.situation.is_none_or(|situation| situation.unmet(setting).is_none()) {
            self.entry(setting.key, &W::with_names(value, self.names));
        }
    }

    fn table<S: Declared>(
        &mut self,
        key: &'static str,
        _: &'static [&'static str],
        value: &mut Option<S>,
        _: Option<Wrong>,
    ) {
        if let Some(settings) = value.clone() {
            self.entry(key, &Table { settings, names: self.names });
        }
    }

    fn chosen<K: Kinds>(&mut self, _: &'static str, value: &mut K) {
        if K::has_settings(value.name()) {
            self.entry(value.name(), &OfKind { kind: value.clone(), names: self.names });
        }
    }
}

/// The settings of a kind, as the scenario as run has them.
pub(crate) struct OfKind<'n, K> {
    pub(crate) kind: K,
    pub(crate) names: &'n dyn Names,
}

impl<K: Kinds> Serialize for OfKind<'_, K> {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        let mut map = serializer.serialize_map(None)?;
        let mut writer = Writer::new(&mut map, self.names, None);
        self.kind.clone().each(&mut writer);
        writer.end()?;
        map.end()
    }
}

/// The schema of a table of settings. `default` is said instead of the default of each.
pub(crate) fn schema<S: Declared>(generator: &mut SchemaGenerator, default: Option<&'static str>) -> Schema {
    let mut all = Properties::new(generator, default);
    S::defaults(Preset::Linux).each(&mut all);
    all.schema(S::ABOUT)
}

/// The schemas of the settings of a table.
pub(crate) struct Properties<'g> {
    generator: &'g mut SchemaGenerator,
    default: Option<&'static str>,
    properties: Map<String, serde_json::Value>,
    required: Vec<&'static str>,
}

impl<'g> Properties<'g> {
    pub(crate) fn new(generator: &'g mut SchemaGenerator, default: Option<&'static str>) -> Properties<'g> {
        Properties { generator, default, properties: Map::new(), required: Vec::new() }
    }

    /// The schema of a table of these settings.
    pub(crate) fn schema(self, about: &[&str]) -> Schema {
        let mut schema = json_schema!({
            "type": "object",
            "description": one_line(about),
            "properties": self.properties,
            "additionalProperties": false,
        });
        if !self.required.is_empty() && self.default.is_none() {
            schema.insert("required".to_string(), self.required.into());
        }
        schema
    }

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
        let schema = self.generator.subschema_for::<Table<'_, S>>();
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
        let schema = self.properties.generator.subschema_for::<Table<'_, S>>();
        let text = format!("{} Applies with `{} = {name:?}`.", one_line(S::ABOUT), self.key);
        self.properties.describe(name, schema, text);
    }
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
