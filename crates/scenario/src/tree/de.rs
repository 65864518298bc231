//! Nodes as a serde data format whose errors keep what serde knows: the unknown key and the known
//! ones, not a sentence about them.

use std::fmt;

use serde::de::value::{MapDeserializer, SeqDeserializer, StrDeserializer};
use serde::de::{Deserializer, Error, Expected, IntoDeserializer, Unexpected, Visitor};
use serde::forward_to_deserialize_any;

use super::node::{Node, Value};
use crate::foreign::{instead_of_key, instead_of_value};

/// Why a node does not have the expected type.
#[derive(Clone, Debug)]
pub(crate) enum ReadError {
    /// A table does not have this key.
    UnknownKey { key: String, known: Vec<&'static str> },
    /// A table stands where there may be several.
    NotSeveral,
    /// Anything else, with its remedy.
    Other(String),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::UnknownKey { key, known } => {
                write!(f, "unknown key `{key}`; {}", instead_of_key(key, known.iter().copied()))
            }
            ReadError::NotSeveral => write!(f, "expected an array, found a table"),
            ReadError::Other(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for ReadError {}

impl Error for ReadError {
    fn custom<T: fmt::Display>(message: T) -> ReadError {
        ReadError::Other(message.to_string())
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> ReadError {
        ReadError::Other(format!("expected {}, found {}", plain(expected), plain_found(found)))
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> ReadError {
        ReadError::invalid_type(found, expected)
    }

    fn unknown_variant(variant: &str, known: &'static [&'static str]) -> ReadError {
        ReadError::Other(format!("unknown value {variant:?}; {}", instead_of_value(variant, known.iter().copied())))
    }

    fn unknown_field(key: &str, known: &'static [&'static str]) -> ReadError {
        ReadError::UnknownKey { key: key.to_string(), known: known.to_vec() }
    }
}

/// Serde's names of Rust's types, in the words of the scenario file.
fn plain(expected: &dyn Expected) -> String {
    let expected = expected.to_string();
    match expected.as_str() {
        "u32" => format!("a whole number from 0 to {}", u32::MAX),
        // TOML's integers end here.
        "u64" => format!("a whole number from 0 to {}", i64::MAX),
        "f64" => "a number".to_string(),
        "a boolean" => "true or false".to_string(),
        "a sequence" => "an array".to_string(),
        _ => expected,
    }
}

fn plain_found(found: Unexpected<'_>) -> String {
    match found {
        Unexpected::Bool(value) => value.to_string(),
        Unexpected::Unsigned(value) => value.to_string(),
        Unexpected::Signed(value) => value.to_string(),
        Unexpected::Float(value) => format!("{value:?}"),
        Unexpected::Str(text) => format!("the string {text:?}"),
        Unexpected::Seq => "an array".to_string(),
        Unexpected::Map => "a table".to_string(),
        other => other.to_string(),
    }
}

impl Value {
    fn unexpected(&self) -> Unexpected<'_> {
        match self {
            Value::String(text) => Unexpected::Str(text),
            Value::Integer(n) => Unexpected::Signed(*n),
            Value::Float(x) => Unexpected::Float(*x),
            Value::Boolean(b) => Unexpected::Bool(*b),
            Value::Datetime => Unexpected::Other("a date or time of day"),
            Value::Array(_) => Unexpected::Seq,
            Value::Table(_) => Unexpected::Map,
        }
    }
}

impl<'de> IntoDeserializer<'de, ReadError> for &'de Node {
    type Deserializer = &'de Node;

    fn into_deserializer(self) -> &'de Node {
        self
    }
}

impl<'de> Deserializer<'de> for &'de Node {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match &self.value {
            Value::String(text) => visitor.visit_borrowed_str(text),
            Value::Integer(n) => visitor.visit_i64(*n),
            // No key takes it, and what is compared with it is neither right nor wrong.
            Value::Float(x) if !x.is_finite() => visitor
                .visit_f64::<ReadError>(*x)
                .and_then(|_| Err(ReadError::Other(format!("expected a finite number, found {x}").to_lowercase()))),
            Value::Float(x) => visitor.visit_f64(*x),
            Value::Boolean(b) => visitor.visit_bool(*b),
            Value::Datetime => Err(ReadError::invalid_type(self.value.unexpected(), &visitor)),
            Value::Array(items) => visitor.visit_seq(SeqDeserializer::new(items.iter())),
            Value::Table(entries) => {
                visitor.visit_map(MapDeserializer::new(entries.iter().map(|(key, node)| (key.as_str(), node))))
            }
        }
    }

    /// TOML has no null: a value that is there is something.
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        visitor.visit_some(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match &self.value {
            Value::Table(_) => Err(ReadError::NotSeveral),
            _ => self.deserialize_any(visitor),
        }
    }

    /// Derived visitors would take an array for the fields in their order.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        match &self.value {
            Value::Table(_) => self.deserialize_any(visitor),
            other => Err(ReadError::invalid_type(other.unexpected(), &"a table")),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        match &self.value {
            Value::String(text) => visitor.visit_enum(StrDeserializer::new(text)),
            other => {
                let one_of = format!("one of {}", variants.join(", "));
                Err(ReadError::invalid_type(other.unexpected(), &one_of.as_str()))
            }
        }
    }

    /// Ignored values are always right.
    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct newtype_struct tuple tuple_struct map identifier
    }
}
