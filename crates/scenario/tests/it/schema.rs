//! The JSON Schema accepts what is good and rejects what a schema can tell to be bad.

use jsonschema::Validator;
use serde_json::Value;

fn validator() -> Validator {
    let schema: Value = serde_json::from_str(&linkpool_scenario::schema()).unwrap();
    jsonschema::meta::validate(&schema).expect("the schema is a schema");
    jsonschema::validator_for(&schema).unwrap()
}

const GOOD: &str = r#"
name = "good"
duration = "20s"
[topology.many-to-one]
senders = 30
rate = "10Gbps"
delay = "2us"
[queue]
limit = "150KB"
mark = 10
exempt = ["syn"]
[transport.amp]
control = "amp"
initial_ssthresh = "unlimited"
beta = 4
[[workload.flow]]
transport = "amp"
from = 0
to = "R"
[record]
queue = { every = "10us", links = ["W->R"] }
"#;

fn is_valid(text: &str) -> bool {
    validator().is_valid(&toml_edit::de::from_str(text).unwrap())
}

#[test]
fn a_good_scenario_is_valid_and_as_it_is_run_too() {
    assert!(is_valid(GOOD));
    let scenario = linkpool_scenario::load(GOOD, "good.toml", None, &[]).unwrap();
    assert!(is_valid(&scenario.to_toml()));
}

#[test]
fn bad_ones_are_not() {
    for (good, bad) in [
        ("\"10Gbps\"", "10"),
        ("\"10Gbps\"", "\"10GB\""),
        ("\"2us\"", "\"2\""),
        ("senders = 30", "senders = 0"),
        ("senders = 30\n", ""),
        ("duration = \"20s\"", ""),
        ("name", "nam"),
        ("control = \"amp\"", "control = \"apm\""),
        ("beta = 4", "beta = 0.5"),
        ("beta = 4", "bta = 4"),
        ("limit = \"150KB\"", "limit = \"150\""),
        ("\"syn\"", "\"rst\""),
        ("to = \"R\"", ""),
        ("W->R", "W-R"),
        ("[queue]", "[topology.fat-tree]\nk = 4\nrate = \"1Gbps\"\ndelay = \"1us\"\n[queue]"),
    ] {
        assert!(!is_valid(&GOOD.replacen(good, bad, 1)), "{bad}");
    }
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
    let schema: Value = serde_json::from_str(&linkpool_scenario::schema()).unwrap();
    check("", &schema);
    assert!(!schema.to_string().contains("null"));
}
