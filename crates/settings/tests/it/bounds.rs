//! Values at their bounds, and the schema of these.

use linkpool_settings::{Bounds, Even, Length, Limit, Wrong};
use linkpool_units::Time;
use schemars::json_schema;
use serde_json::{Value, json};

fn is_right(bounds: Bounds, value: f64) -> bool {
    bounds.wrong(&value).is_none()
}

#[test]
fn a_bound_is_within_or_not() {
    let above = Bounds::above(2.0, "");
    assert_eq!([1.9, 2.0, 2.1, 1e300].map(|x| is_right(above, x)), [false, false, true, true]);
    let from = Bounds::from(2.0, "");
    assert_eq!([1.9, 2.0, 2.1, 1e300].map(|x| is_right(from, x)), [false, true, true, true]);
    assert_eq!([4.9, 5.0, 5.1].map(|x| is_right(from.to(5.0), x)), [true, true, false]);
    assert_eq!([4.9, 5.0, 5.1].map(|x| is_right(from.below(5.0), x)), [true, false, false]);
    assert_eq!([4.9, 5.0].map(|x| is_right(from.to(9.0).below(5.0), x)), [true, false], "the last bound counts");
    assert_eq!([0.0, 0.5, 1.0, 1.5].map(|x| is_right(Bounds::GAIN, x)), [false, true, true, false]);
}

#[test]
fn a_message_names_the_value_and_its_place() {
    let gain = Bounds::GAIN;
    let message = "1.5 is no gain; it is above 0 and at most 1".to_string();
    assert_eq!(gain.wrong(&1.5), Some(Wrong { at: None, message: message.clone() }));
    assert_eq!(gain.wrong(&vec![0.5, 1.5, 2.5]), Some(Wrong { at: Some("1".to_string()), message }));
    assert_eq!(gain.wrong(&None::<f64>), None);
    assert_eq!(gain.wrong(&Some(0.5)), None);
    assert_eq!(gain.wrong(&Some(1.5)), gain.wrong(&1.5));
    // A million seconds, in picoseconds, and one more.
    assert_eq!(Bounds::SPAN.wrong(&Time::from_ps(10u64.pow(18))), None);
    assert!(Bounds::SPAN.wrong(&Time::from_ps(10u64.pow(18) + 1_000)).is_some());
}

/// Adds to the schema of a value of type `kind`.
fn described<T>(limit: impl Limit<T>, kind: &str) -> Value {
    let mut schema = json_schema!({ "type": kind });
    limit.describe(&mut schema);
    schema.to_value()
}

#[test]
fn a_schema_says_the_bounds_of_numbers() {
    let above = Bounds::above(2.0, "");
    assert_eq!(described::<u32>(above, "integer"), json!({ "type": "integer", "minimum": 3 }));
    assert_eq!(described::<f64>(above, "number"), json!({ "type": "number", "exclusiveMinimum": 2 }));
    let from = Bounds::from(0.5, "");
    assert_eq!(described::<f64>(from, "number"), json!({ "type": "number", "minimum": 0.5 }));
    let closed = json!({ "type": "integer", "minimum": 1, "maximum": 9 });
    assert_eq!(described::<u32>(Bounds::from(1.0, "").to(9.0), "integer"), closed);
    let open = json!({ "type": "number", "minimum": 0, "exclusiveMaximum": 1 });
    assert_eq!(described::<f64>(Bounds::from(0.0, "").below(1.0), "number"), open);
    assert_eq!(described::<Time>(Bounds::SPAN, "string"), json!({ "type": "string" }));
}

#[test]
fn lengths_and_even_numbers() {
    let three = Length::of(3, "three");
    assert_eq!([2, 3, 4].map(|n| three.wrong(&vec![0; n]).is_none()), [false, true, false]);
    let some = Length::from(2, "two");
    assert_eq!([1, 2, 9].map(|n| some.wrong(&vec![0; n]).is_none()), [false, true, true]);
    assert_eq!(some.wrong(&vec![0]), Some("two".into()));
    assert_eq!(described::<Vec<u32>>(three, "array"), json!({ "type": "array", "minItems": 3, "maxItems": 3 }));
    assert_eq!(described::<Vec<u32>>(some, "array"), json!({ "type": "array", "minItems": 2 }));
    assert_eq!(
        [None, Some(vec![0; 2]), Some(vec![0; 3])].map(|list| three.wrong(&list).is_none()),
        [true, false, true]
    );
    assert_eq!(described::<Option<Vec<u32>>>(some, "array"), json!({ "type": "array", "minItems": 2 }));
    assert_eq!(Even("{} is odd").wrong(&7), Some("7 is odd".into()));
    assert_eq!(Even("{} is odd").wrong(&8), None);
    assert_eq!(described::<u32>(Even(""), "integer"), json!({ "type": "integer", "multipleOf": 2 }));
}
