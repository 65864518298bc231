//! Kinds, each with settings of its own. A scenario chooses a kind by its name.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::visit::{Declared, EachKind, Kinds, Written, one_line};

/// The form of a kind in a file: its name.
#[derive(Clone, Debug)]
pub struct Name<K>(K);

impl<K: Kinds> Written<K> for Name<K> {
    fn of(value: &K) -> Name<K> {
        Name(value.clone())
    }
    fn value(self) -> K {
        self.0
    }
}

impl<K: Kinds> Serialize for Name<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name())
    }
}

impl<'de, K: Kinds> Deserialize<'de> for Name<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Name<K>, D::Error> {
        deserializer.deserialize_any(Names(PhantomData))
    }
}

struct Names<K>(PhantomData<K>);

impl<K: Kinds> Visitor<'_> for Names<K> {
    type Value = Name<K>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "one of {}", K::NAMES.join(", "))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Name<K>, E> {
        K::named(text).map(Name).ok_or_else(|| E::unknown_variant(text, K::NAMES))
    }
}

impl<K: Kinds> JsonSchema for Name<K> {
    fn schema_name() -> Cow<'static, str> {
        K::TITLE.into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let mut all = Described(Vec::new());
        K::kinds(&mut all);
        json_schema!({ "description": one_line(K::ABOUT), "oneOf": all.0 })
    }
}

/// The schema of each name.
struct Described(Vec<serde_json::Value>);

impl EachKind for Described {
    fn kind<S: Declared>(&mut self, name: &'static str, doc: &'static [&'static str]) {
        self.plain(name, doc);
    }

    fn plain(&mut self, name: &'static str, doc: &'static [&'static str]) {
        self.0.push(serde_json::json!({ "const": name, "description": one_line(doc) }));
    }
}
