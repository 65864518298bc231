//! Values that may be without limit: read, written, and held as numbers.

use linkpool_settings::{Packets, Size, Speed, Timeouts, Written};
use linkpool_units::{Bytes, Rate};
use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde::de::value::Error;
use serde::de::{DeserializeOwned, IntoDeserializer};
use std::fmt::{Debug, Display};

/// `text`, in JSON, is read as `value` and written so again; people see it without quotes.
fn is_written<T: Serialize + DeserializeOwned + Display + Debug + PartialEq>(text: &str, value: T) {
    assert_eq!(serde_json::from_str::<T>(text).unwrap(), value);
    assert_eq!(serde_json::to_string(&value).unwrap(), text);
    assert_eq!(value.to_string(), text.trim_matches('"'));
}

fn error<T: DeserializeOwned + Debug>(text: &str) -> String {
    serde_json::from_str::<T>(text).unwrap_err().to_string()
}

#[test]
fn they_are_read_and_written() {
    is_written("\"unlimited\"", Speed(None));
    is_written("\"10Gbps\"", Speed(Some(Rate::gbps(10))));
    is_written("\"unlimited\"", Size(None));
    is_written("\"1500B\"", Size(Some(Bytes(1_500))));
    is_written("\"unlimited\"", Packets(None));
    is_written("\"never\"", Timeouts(None));
}

/// TOML has signed numbers.
#[test]
fn whole_numbers_are_signed_where_they_are_read() {
    fn read<T: DeserializeOwned>(number: i64) -> Result<T, Error> {
        T::deserialize(number.into_deserializer())
    }
    assert_eq!(read(7), Ok(Packets(Some(7))));
    assert_eq!(read(3), Ok(Timeouts(Some(3))));
    assert_eq!(serde_json::to_string(&Timeouts(Some(3))).unwrap(), "3");
    for number in [-1, 1 << 32] {
        let wrong = read::<Timeouts>(number).unwrap_err().to_string();
        assert!(wrong.contains(&number.to_string()) && wrong.contains("or \"never\""), "{wrong}");
    }
}

/// A word may be a slip of "unlimited", so the message offers that; a number lacks its unit.
#[test]
fn an_error_says_what_would_be_right() {
    assert!(error::<Speed>("\"endless\"").contains("such as \"10Gbps\", or \"unlimited\""));
    assert!(error::<Size>("\"endless\"").contains("such as \"128KiB\", or \"unlimited\""));
    for wrong in [error::<Speed>("\"10 parsecs\""), error::<Size>("\"10 parsecs\"")] {
        assert!(wrong.contains("parsecs") && !wrong.contains("or \"unlimited\""), "{wrong}");
    }
    assert!(error::<Speed>("3").contains("a rate with its unit"));
    assert!(error::<Size>("3").contains("a size with its unit"));
    assert!(error::<Timeouts>("\"often\"").contains("or \"never\""));
}

#[test]
fn the_largest_number_stands_for_no_limit() {
    fn held<T: PartialEq + Debug, W: Written<T> + PartialEq + Debug + Copy>(written: W, value: T) {
        assert_eq!(W::of(&value), written);
        assert_eq!(written.value(), value);
    }
    held::<u64, _>(Size(None), u64::MAX);
    held::<u64, _>(Size(Some(Bytes(9))), 9);
    held::<u32, _>(Packets(None), u32::MAX);
    held::<u32, _>(Packets(Some(9)), 9);
    held::<f64, _>(Packets(None), f64::INFINITY);
    held::<f64, _>(Packets(Some(9)), 9.0);
    held::<u32, _>(Timeouts(None), u32::MAX);
    held::<u32, _>(Timeouts(Some(9)), 9);
    held::<Option<Rate>, _>(Speed(None), None);
    held::<Option<Rate>, _>(Speed(Some(Rate::gbps(9))), Some(Rate::gbps(9)));
    held::<f64, _>(9_u32, 9.0);
    held::<u64, _>(Bytes(9), 9);
    held::<u32, _>(Bytes(9), 9);
    held::<u16, _>(Bytes(9), 9);
    assert_eq!(Written::<u32>::value(Bytes(1 << 32)), u32::MAX);
    assert_eq!(Written::<u16>::value(Bytes(1 << 16)), u16::MAX);
}

#[test]
fn a_schema_offers_both() {
    fn offers<T: JsonSchema>(name: &str, endless: &str) {
        let schema = T::json_schema(&mut SchemaGenerator::default());
        assert_eq!(T::schema_name(), name);
        let choices = schema.get("anyOf").and_then(|choices| choices.as_array()).unwrap();
        assert_eq!(choices.len(), 2);
        assert_eq!(choices[1], serde_json::json!({ "const": endless }));
    }
    offers::<Speed>("Speed", "unlimited");
    offers::<Size>("Size", "unlimited");
    offers::<Packets>("Packets", "unlimited");
    offers::<Timeouts>("Timeouts", "never");
}
