//! The JSON Schema of the scenario file, for editors and other tools.

use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use serde_json::Value;

use crate::file::File;

/// The JSON Schema of a scenario file.
pub fn schema() -> String {
    let settings = SchemaSettings::draft2020_12().with_transform(RecursiveTransform(tidy));
    let schema = settings.into_generator().into_root_schema_for::<File>();
    serde_json::to_string_pretty(&schema).expect("a schema is JSON")
}

/// TOML has no null: what is optional is left out. And comments are wrapped for the source only.
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
