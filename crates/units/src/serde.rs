//! Quantities in any serde format are strings with their unit; a bare number is an error.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::ser::{Serialize, Serializer};

use crate::text::{Family, RATE, SIZE, TIME};
use crate::{Bytes, Rate, Time};

macro_rules! as_string {
    ($quantity:ident, $family:expr, $description:literal) => {
        impl Serialize for $quantity {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $quantity {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<$quantity, D::Error> {
                deserializer.deserialize_str(Quantity(&$family)).map($quantity)
            }
        }

        impl JsonSchema for $quantity {
            fn schema_name() -> Cow<'static, str> {
                stringify!($quantity).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({
                    "type": "string",
                    "description": $description,
                    "pattern": $family.pattern(),
                    "examples": $family.examples,
                })
            }
        }
    };
}

as_string!(Time, TIME, "A time with its unit, exact in picoseconds.");
as_string!(Rate, RATE, "A rate with its unit: bits per second; k, M, G, T are decimal.");
as_string!(Bytes, SIZE, "A size with its unit: KB = 1,000 B, KiB = 1,024 B.");

struct Quantity(&'static Family);

impl Visitor<'_> for Quantity {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.expected())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<u64, E> {
        self.0.parse(text).map_err(E::custom)
    }
}
