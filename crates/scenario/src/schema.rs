//! The JSON Schema of the scenario file, for editors and other tools.

use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use serde_json::Value;
use std::sync::LazyLock;

use crate::file::File;

/// Made once: errors ask for it, and a file may have thousands.
static SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
    let settings = SchemaSettings::draft2020_12().with_transform(RecursiveTransform(tidy));
    settings.into_generator().into_root_schema_for::<File>()
});

/// The JSON Schema of a scenario file.
pub fn schema() -> String {
    serde_json::to_string_pretty(&*SCHEMA).expect("a schema is JSON")
}

/// The tables of a scenario file that have the key `key`, as their headers are written, the outer
/// ones first.
pub(crate) fn tables_with(key: &str) -> Vec<String> {
    let mut found = Vec::new();
    search(key, SCHEMA.as_value(), SCHEMA.as_value(), "", &mut found);
    found.sort_by_key(|table| table.matches('.').count());
    found
}

/// Searches the value at `path`, which is described by `part` of the schema `root`.
fn search(key: &str, part: &Value, root: &Value, path: &str, found: &mut Vec<String>) {
    let part = part.get("$ref").and_then(Value::as_str).and_then(|at| root.pointer(&at[1..])).unwrap_or(part);
    // `[[...]]` is an array of tables.
    if let Some(items) = part.get("items") {
        return search(key, items, root, &format!("[{path}]"), found);
    }
    if let Some(named) = part.get("additionalProperties").filter(|named| named.is_object()) {
        return search(key, named, root, &format!("{path}.NAME"), found);
    }
    let Some(properties) = part.get("properties").and_then(Value::as_object) else { return };
    if properties.contains_key(key) {
        found.push(match path {
            "" => "the top of the file".to_string(),
            path => format!("[{path}]"),
        });
    }
    for (name, below) in properties {
        let inner = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        search(key, below, root, &inner, found);
    }
}

/// TOML has no null: optional values are left out. And comments are wrapped for the source only.
fn tidy(schema: &mut Schema) {
    let Some(object) = schema.as_object_mut() else { return };
    if let Some(Value::String(description)) = object.get_mut("description") {
        *description = description.replace('\n', " ");
    }
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = &types[..] {
            let only = only.clone();
            object.insert("type".to_string(), only);
        }
    }
    if let Some(Value::Array(options)) = object.get_mut("anyOf") {
        options.retain(|option| option.get("type").is_none_or(|name| name != "null"));
        if let [Value::Object(only)] = &options[..] {
            let only = only.clone();
            object.remove("anyOf");
            object.extend(only);
        }
    }
}
