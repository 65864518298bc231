//! The JSON Schema describes every key. (That it accepts good scenarios and rejects bad ones:
//! `tests/test_schema.py`.)

use linkpool_scenario::Control;
use serde_json::{Value, json};

fn whole() -> Value {
    serde_json::from_str(&linkpool_scenario::schema()).unwrap()
}

#[test]
fn every_key_is_described() {
    fn check(path: &str, schema: &Value) {
        for (name, part) in schema.as_object().into_iter().flatten() {
            let path = format!("{path}/{name}");
            if path.rsplit('/').nth(1) == Some("properties") {
                let description = part["description"].as_str().unwrap_or_else(|| panic!("{path} has no description"));
                assert!(!description.contains('\n'), "{path}");
            }
            check(&path, part);
        }
    }
    let schema = whole();
    check("", &schema);
    assert!(!schema.to_string().contains("null"));
}

/// The classes of the Python package are named after the definitions.
#[test]
fn definitions_are_named_as_classes_are() {
    let schema = whole();
    let names: Vec<&String> = schema["$defs"].as_object().unwrap().keys().collect();
    for name in ["Control", "ControlFile", "LayerQueue", "Queue", "Tier", "Transport"] {
        assert!(names.iter().any(|known| *known == name), "{name} is missing");
    }
    for name in names {
        let is_class =
            name.starts_with(|c: char| c.is_ascii_uppercase()) && name.chars().all(|c| c.is_ascii_alphanumeric());
        assert!(is_class, "{name:?}");
    }
    assert_eq!(schema["title"], "Scenario");
}

/// These tables hold others by name, and are described where they stand.
#[test]
fn tables_of_tables_are_described_in_place() {
    let schema = whole();
    let table = |key: &str| schema["properties"][key].clone();
    assert_eq!(table("topology")["properties"]["fat-tree"]["$ref"], "#/$defs/FatTree");
    assert_eq!(table("workload")["properties"]["flow"]["items"]["$ref"], "#/$defs/Flow");
    assert_eq!(table("transport")["additionalProperties"]["$ref"], "#/$defs/Transport");
    assert_eq!(table("roles")["additionalProperties"]["$ref"], "#/$defs/RoleSize");
}

#[test]
fn what_must_be_said_is_required() {
    let schema = whole();
    assert_eq!(schema["required"], json!(["duration", "topology", "transport", "workload"]));
    let required = |name: &str| schema["$defs"][name].get("required").cloned();
    assert_eq!(required("Incast"), Some(json!(["transport", "senders", "receiver", "size"])));
    assert_eq!(required("FatTree"), Some(json!(["k", "rate", "delay"])));
    assert_eq!(required("Transport"), Some(json!(["control"])));
    // A layer has what `[queue]` says.
    assert_eq!((required("Queue"), required("LayerQueue")), (None, None));
}

/// The meaning of a key, to what it applies, and its defaults.
#[test]
fn descriptions_say_to_what_a_key_applies_and_its_default() {
    let schema = whole();
    let text = |table: &str, key: &str| schema["$defs"][table]["properties"][key]["description"].clone();
    for (key, sentence) in [
        ("mss", "Payload of a full segment. Default: \"1448B\"; paper-2013: \"1400B\"."),
        (
            "gamma",
            "Number of rounds with all windows at the minimum before subflows are suppressed. Applies to amp, with \
             `suppression = true`. Default: 2.",
        ),
    ] {
        assert_eq!(text("Transport", key), sentence);
    }
    assert!(
        text("Transport", "subflows").as_str().unwrap().ends_with(". Applies to several subflows, uet. Default: 1.")
    );
    assert!(text("LayerQueue", "limit").as_str().unwrap().ends_with("Default: that of `[queue]`."));
}

#[test]
fn values_of_several_forms_are_described() {
    let schema = whole();
    let form = |name: &str, key: &str| schema["$defs"][name][key].clone();
    let mut algorithms: Vec<Value> =
        form("Control", "oneOf").as_array().unwrap().iter().map(|one| one["const"].clone()).collect();
    // The last: the name of an algorithm of a file.
    assert_eq!(algorithms.pop(), Some(Value::Null));
    assert_eq!(algorithms, Control::all().map(|control| json!(control.name())).collect::<Vec<_>>());
    assert_eq!(form("Control", "oneOf")[algorithms.len()]["not"]["enum"], json!(algorithms));
    assert_eq!(form("ControlFile", "anyOf"), json!([{ "type": "string" }, { "$ref": "#/$defs/ControlSource" }]));
    assert_eq!(form("Reconverge", "anyOf"), json!([{ "$ref": "#/$defs/Time" }, { "const": "never" }]));
    assert_eq!(
        form("Tier", "pattern"),
        r"^\s*(host|nvlink|pcie|switch|edge|aggregation|core)\s*<?->\s*(host|nvlink|pcie|switch|edge|aggregation|core)\s*$"
    );
}
