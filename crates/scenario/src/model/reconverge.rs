//! When routing follows failures.

use linkpool_settings::mixed::quantity;
use linkpool_settings::{Form, Mixed, mixed};
use linkpool_units::Time;
use schemars::{Schema, SchemaGenerator};

/// The time from a failure or repair of links until routing follows; `None`: routing never follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reconverge(pub Option<Time>);

impl Mixed for Reconverge {
    const NAME: &'static str = "Reconverge";
    const FORMS: &'static str = "a time with its unit, such as \"10ms\", or \"never\"";
    const WORDS: &'static [(&'static str, Reconverge)] = &[("never", Reconverge(None))];

    fn of_text(text: &str) -> Option<Result<Reconverge, String>> {
        Some(quantity(text)?.map(|time| Reconverge(Some(time))))
    }

    fn written(&self) -> Option<Form> {
        self.0.map(Form::text)
    }

    fn text_schema(generator: &mut SchemaGenerator) -> Option<Schema> {
        Some(generator.subschema_for::<Time>())
    }
}

mixed!(Reconverge);
