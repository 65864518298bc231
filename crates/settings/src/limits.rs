//! Values that may be without limit.

use std::borrow::Cow;
use std::fmt;

use linkpool_units::{Bytes, Rate};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Written;
use crate::bounds::{Quantity, quantities};

/// A number that may be without limit: the type, how "without limit" is written, and what the
/// number counts.
macro_rules! numbers {
    ($($name:ident, $visitor:ident, $endless:literal, $what:literal;)*) => {$(
        #[doc = concat!("A whole number of ", $what, ", or \"", $endless, "\".")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name(
            /// None: without limit.
            pub Option<u32>,
        );

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self.0 {
                    Some(n) => serializer.serialize_u32(n),
                    None => serializer.serialize_str($endless),
                }
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<$name, D::Error> {
                deserializer.deserialize_any($visitor)
            }
        }

        struct $visitor;

        impl Visitor<'_> for $visitor {
            type Value = $name;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(concat!("a whole number of ", $what, ", such as 3, or \"", $endless, "\""))
            }

            fn visit_i64<E: Error>(self, n: i64) -> Result<$name, E> {
                u32::try_from(n).map(|n| $name(Some(n))).map_err(|_| E::invalid_value(Unexpected::Signed(n), &self))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<$name, E> {
                if text == $endless { Ok($name(None)) } else { Err(E::invalid_value(Unexpected::Str(text), &self)) }
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({
                    "description": concat!("A whole number of ", $what, ", or \"", $endless, "\"."),
                    "anyOf": [{ "type": "integer", "minimum": 1, "maximum": u32::MAX }, { "const": $endless }],
                })
            }
        }
    )*};
}

numbers! {
    Timeouts, TimeoutsVisitor, "never", "timeouts in a row";
    Packets, PacketsVisitor, "unlimited", "packets";
}

/// A rate, or "unlimited".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Speed(
    /// None: without limit.
    pub Option<Rate>,
);

impl Serialize for Speed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Some(rate) => rate.serialize(serializer),
            None => serializer.serialize_str("unlimited"),
        }
    }
}

impl<'de> Deserialize<'de> for Speed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Speed, D::Error> {
        deserializer.deserialize_str(SpeedVisitor)
    }
}

struct SpeedVisitor;

impl Visitor<'_> for SpeedVisitor {
    type Value = Speed;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a rate with its unit, such as \"10Gbps\", or \"unlimited\"")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Speed, E> {
        match text {
            "unlimited" => Ok(Speed(None)),
            _ if text.starts_with(|c: char| c.is_ascii_alphabetic()) => {
                Err(E::invalid_value(Unexpected::Str(text), &self))
            }
            _ => text.parse().map(|rate| Speed(Some(rate))).map_err(E::custom),
        }
    }
}

impl JsonSchema for Speed {
    fn schema_name() -> Cow<'static, str> {
        "Speed".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A rate, or \"unlimited\".",
            "anyOf": [generator.subschema_for::<Rate>(), { "const": "unlimited" }],
        })
    }
}

/// A size, or "unlimited".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(
    /// None: without limit.
    pub Option<Bytes>,
);

impl Size {
    /// Reads it from its text.
    ///
    /// # Errors
    ///
    /// The values that would be right.
    pub fn read<E: Error>(text: &str) -> Result<Size, E> {
        match text {
            "unlimited" => Ok(Size(None)),
            _ if text.starts_with(|c: char| c.is_ascii_alphabetic()) => {
                Err(E::invalid_value(Unexpected::Str(text), &SizeVisitor))
            }
            _ => text.parse().map(|bytes| Size(Some(bytes))).map_err(E::custom),
        }
    }
}

impl Serialize for Size {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Some(bytes) => bytes.serialize(serializer),
            None => serializer.serialize_str("unlimited"),
        }
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Size, D::Error> {
        deserializer.deserialize_str(SizeVisitor)
    }
}

struct SizeVisitor;

impl Visitor<'_> for SizeVisitor {
    type Value = Size;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a size with its unit, such as \"128KiB\", or \"unlimited\"")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Size, E> {
        Size::read(text)
    }
}

impl JsonSchema for Size {
    fn schema_name() -> Cow<'static, str> {
        "Size".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A size, or \"unlimited\".",
            "anyOf": [generator.subschema_for::<Bytes>(), { "const": "unlimited" }],
        })
    }
}

macro_rules! texts {
    ($($name:ident, $endless:literal;)*) => {$(
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match &self.0 {
                    Some(limit) => limit.fmt(f),
                    None => f.write_str($endless),
                }
            }
        }
    )*};
}

texts! {
    Size, "unlimited";
    Speed, "unlimited";
    Packets, "unlimited";
    Timeouts, "never";
}

/// How code holds a number that may be without limit: the largest number stands for "without
/// limit".
macro_rules! held_as {
    ($($form:ty => $type:ty: |$limit:ident| $held:expr, |$value:ident| $written:expr, $endless:expr;)*) => {$(
        impl Written<$type> for $form {
            fn of(value: &$type) -> $form {
                let $value = *value;
                Self(if $value == $endless { None } else { Some($written) })
            }
            fn value(self) -> $type {
                self.0.map_or($endless, |$limit| $held)
            }
        }
    )*};
}

held_as! {
    Size => u64: |bytes| bytes.0, |n| Bytes(n), u64::MAX;
    Packets => u32: |n| n, |n| n, u32::MAX;
    Packets => f64: |n| f64::from(n), |n| n as u32, f64::INFINITY;
    Timeouts => u32: |n| n, |n| n, u32::MAX;
}

impl Written<Option<Rate>> for Speed {
    fn of(value: &Option<Rate>) -> Speed {
        Speed(*value)
    }
    fn value(self) -> Option<Rate> {
        self.0
    }
}

/// Whole packets, in code that calculates with windows.
impl Written<f64> for u32 {
    fn of(value: &f64) -> u32 {
        *value as u32
    }
    fn value(self) -> f64 {
        f64::from(self)
    }
}

impl Written<u64> for Bytes {
    fn of(value: &u64) -> Bytes {
        Bytes(*value)
    }
    fn value(self) -> u64 {
        self.0
    }
}

/// A number that does not fit is larger than any packet, and bounds refuse it.
impl Written<u32> for Bytes {
    fn of(value: &u32) -> Bytes {
        Bytes((*value).into())
    }
    fn value(self) -> u32 {
        u32::try_from(self.0).unwrap_or(u32::MAX)
    }
}

/// As above.
impl Written<u16> for Bytes {
    fn of(value: &u16) -> Bytes {
        Bytes((*value).into())
    }
    fn value(self) -> u16 {
        u16::try_from(self.0).unwrap_or(u16::MAX)
    }
}

quantities! {
    Size: |x| x.0.map(|bytes| bytes.0 as f64);
    Speed: |x| x.0.map(|rate| rate.0 as f64);
    Packets: |x| x.0.map(f64::from);
    Timeouts: |x| x.0.map(f64::from);
}
