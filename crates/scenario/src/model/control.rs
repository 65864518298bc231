//! The control of a transport: an algorithm of TCP and MPTCP, or another family.

use std::borrow::Cow;
use std::fmt;
use std::sync::LazyLock;

use linkpool_transport::control::Algorithm;
use linkpool_transport::{Family, Law};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The control of a transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// TCP or MPTCP with this congestion control algorithm.
    Tcp(Algorithm),
    /// Another family, with this law.
    Of(Family, &'static Law),
}

impl Control {
    /// All there are.
    pub fn all() -> impl Iterator<Item = Control> {
        let laws = Family::ALL.iter().flat_map(|family| family.laws().iter().map(|law| Control::Of(*family, law)));
        Algorithm::ALL.iter().copied().map(Control::Tcp).chain(laws)
    }

    /// Its family.
    pub const fn family(self) -> Family {
        match self {
            Control::Tcp(_) => Family::Tcp,
            Control::Of(family, _) => family,
        }
    }

    /// As a scenario writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Control::Tcp(algorithm) => algorithm.name(),
            Control::Of(_, law) => law.name,
        }
    }

    /// How it works, in a sentence.
    pub const fn sentence(self) -> &'static str {
        match self {
            Control::Tcp(algorithm) => algorithm.sentence(),
            Control::Of(_, law) => law.sentence,
        }
    }

    /// Where it is defined.
    pub const fn source(self) -> &'static str {
        match self {
            Control::Tcp(algorithm) => algorithm.source(),
            Control::Of(_, law) => law.source,
        }
    }

    /// Does it heed marks, with its default settings?
    pub fn heeds_marks(self) -> bool {
        match self {
            Control::Tcp(algorithm) => algorithm.heeds_marks(),
            Control::Of(_, law) => law.heeds_marks,
        }
    }
}

fn names() -> &'static [&'static str] {
    static NAMES: LazyLock<Vec<&'static str>> = LazyLock::new(|| Control::all().map(Control::name).collect());
    &NAMES
}

impl Serialize for Control {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Control {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Control, D::Error> {
        deserializer.deserialize_any(Name)
    }
}

struct Name;

impl Visitor<'_> for Name {
    type Value = Control;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "one of {}", names().join(", "))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Control, E> {
        let known = Control::all().find(|control| control.name() == text);
        known.ok_or_else(|| E::unknown_variant(text, names()))
    }
}

impl JsonSchema for Control {
    fn schema_name() -> Cow<'static, str> {
        "Control".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let one = |control: Control| {
            let description = format!("{} ({})", control.sentence(), control.source());
            serde_json::json!({ "const": control.name(), "description": description })
        };
        let own = serde_json::json!({
            "type": "string",
            "not": { "enum": names() },
            "description": "an algorithm that a file of `controls` defines",
        });
        let all: Vec<_> = Control::all().map(one).chain([own]).collect();
        json_schema!({ "description": "What runs the connections of a transport.", "oneOf": all })
    }
}
