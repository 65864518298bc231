//! The JSON Schema describes every key. (That it accepts good scenarios and rejects bad ones:
//! `tests/test_schema.py`.)

use serde_json::Value;

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
    let schema: Value = serde_json::from_str(&linkpool_scenario::schema()).unwrap();
    check("", &schema);
    assert!(!schema.to_string().contains("null"));
}
