//! Values that a file writes in several forms: a whole number, text such as a quantity, or a word.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserializer, Serializer};
use serde_json::Value;

/// A value that a file writes as a whole number, as text, or as one of a few words.
/// [`mixed!`](crate::mixed!) makes such a type readable, writable, and gives it a JSON Schema.
pub trait Mixed: Clone + PartialEq + 'static {
    /// The name of its schema.
    const NAME: &'static str;
    /// All its forms, for messages and the schema, such as `a whole number of packets, such as 3,
    /// or "unlimited"`.
    const FORMS: &'static str;
    /// The words, and the values that they mean.
    const WORDS: &'static [(&'static str, Self)] = &[];
    /// The whole numbers that it may be, for the schema; `None`: no number.
    const NUMBERS: Option<(u32, u32)> = None;

    /// The value of a whole number. Only called if there are [`Mixed::NUMBERS`].
    fn of_number(_number: u32) -> Option<Self> {
        None
    }

    /// The value of a text that is no word. `None`: a text is none of the forms. An error is a
    /// message.
    fn of_text(_text: &str) -> Option<Result<Self, String>> {
        None
    }

    /// How it is written; `None`: as the word that means it.
    fn written(&self) -> Option<Form>;

    /// The schema of the texts that are no words.
    fn text_schema(_generator: &mut SchemaGenerator) -> Option<Schema> {
        None
    }
}

/// A value as a file writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// A whole number.
    Number(u32),
    /// A text.
    Text(String),
}

impl Form {
    /// A text, such as a quantity with its unit.
    pub fn text(value: impl fmt::Display) -> Form {
        Form::Text(value.to_string())
    }
}

/// Writes `value`.
///
/// # Errors
///
/// Those of the format.
pub fn serialize<T: Mixed, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    match value.written() {
        Some(Form::Number(number)) => serializer.serialize_u32(number),
        Some(Form::Text(text)) => serializer.serialize_str(&text),
        None => match T::WORDS.iter().find(|(_, meaning)| meaning == value) {
            Some((word, _)) => serializer.serialize_str(word),
            None => Err(serde::ser::Error::custom(format!("no word of {} means this value", T::NAME))),
        },
    }
}

/// Reads a value.
///
/// # Errors
///
/// The forms that would be right.
pub fn deserialize<'de, T: Mixed, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    deserializer.deserialize_any(Reader(PhantomData))
}

/// Reads a text.
///
/// # Errors
///
/// The forms that would be right.
pub fn read_text<T: Mixed, E: Error>(text: &str) -> Result<T, E> {
    Reader::<T>(PhantomData).visit_str(text)
}

/// The schema of a value.
pub fn schema<T: Mixed>(generator: &mut SchemaGenerator) -> Schema {
    let numbers =
        T::NUMBERS.map(|(least, most)| json_schema!({ "type": "integer", "minimum": least, "maximum": most }));
    let words: Vec<&str> = T::WORDS.iter().map(|(word, _)| *word).collect();
    let words = match words[..] {
        [] => None,
        [word] => Some(json_schema!({ "const": word })),
        _ => Some(json_schema!({ "enum": words })),
    };
    let forms: Vec<Value> =
        [numbers, T::text_schema(generator), words].into_iter().flatten().map(Value::from).collect();
    let mut description = format!("{}.", T::FORMS);
    description[..1].make_ascii_uppercase();
    json_schema!({ "description": description, "anyOf": forms })
}

/// The name of the schema.
pub fn schema_name<T: Mixed>() -> Cow<'static, str> {
    T::NAME.into()
}

struct Reader<T>(PhantomData<T>);

impl<T: Mixed> Visitor<'_> for Reader<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::FORMS)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
        let value = u32::try_from(number).ok().and_then(T::of_number);
        value.ok_or_else(|| E::invalid_value(Unexpected::Signed(number), &self))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        if let Some((_, value)) = T::WORDS.iter().find(|(word, _)| *word == text) {
            return Ok(value.clone());
        }
        match T::of_text(text) {
            Some(value) => value.map_err(E::custom),
            None => Err(E::invalid_value(Unexpected::Str(text), &self)),
        }
    }
}

/// The quantity in `text`; `None` if the text begins with a letter, so that it was meant as a word.
pub fn quantity<Q: std::str::FromStr<Err: ToString>>(text: &str) -> Option<Result<Q, String>> {
    let is_word = text.starts_with(|c: char| c.is_ascii_alphabetic());
    (!is_word).then(|| text.parse().map_err(|error: Q::Err| error.to_string()))
}

/// Implements serde's traits and [`JsonSchema`](schemars::JsonSchema) for types that are [`Mixed`].
#[macro_export]
macro_rules! mixed {
    ($($type:ty),+ $(,)?) => {$(
        impl ::serde::Serialize for $type {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> ::core::result::Result<S::Ok, S::Error> {
                $crate::mixed::serialize(self, serializer)
            }
        }

        impl<'de> ::serde::Deserialize<'de> for $type {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> ::core::result::Result<Self, D::Error> {
                $crate::mixed::deserialize(deserializer)
            }
        }

        impl ::schemars::JsonSchema for $type {
            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                $crate::mixed::schema_name::<$type>()
            }

            fn json_schema(generator: &mut ::schemars::SchemaGenerator) -> ::schemars::Schema {
                $crate::mixed::schema::<$type>(generator)
            }
        }
    )+};
}

pub(crate) use mixed;
