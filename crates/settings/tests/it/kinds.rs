//! Kinds: their names, the schema of these, and their settings.

use linkpool_settings::{
    Declared, Gated, Kinds, Name, Preset, Setting, Settings, State, Visit, Written, Wrong, kinds, settings,
};
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{from_value, json};

settings! {
    /// Ports that mark.
    pub struct Marking {
        /// A threshold.
        from: u32 = 5;
        /// Another one.
        to: u32, from |m| 2 * m.from => "twice `from`";
    }
    tables {
        /// More of it.
        more: Inner;
    }
}

settings! {
    /// Inner settings.
    pub struct Inner {
        /// A share.
        share: u32 = 1;
    }
}

kinds! {
    /// What a port does
    /// with packets.
    pub enum Port {
        /// Nothing
        /// at all.
        Plain = "plain";
        /// It marks.
        Marks(Marking) = "marks";
    }
}

/// Notes what it is shown.
#[derive(Default)]
struct Shown {
    derives: bool,
    keys: Vec<&'static str>,
}

impl Visit for Shown {
    fn derives(&self, key: &str) -> bool {
        self.derives && key == "to"
    }

    fn setting<T, W: Written<T>>(&mut self, setting: &Setting, _: &mut T, _: State) {
        self.keys.push(setting.key);
    }

    fn table<S: Declared>(
        &mut self,
        key: &'static str,
        _: &'static [&'static str],
        _: &mut Option<S>,
        _: Option<Wrong>,
    ) {
        self.keys.push(key);
    }

    fn chosen<K: Kinds>(&mut self, key: &'static str, _: &mut K) {
        self.keys.push(key);
    }
}

/// A visitor that says nothing of its own.
struct Silent;

impl Visit for Silent {
    fn setting<T, W: Written<T>>(&mut self, _: &Setting, _: &mut T, _: State) {}
    fn table<S: Declared>(&mut self, _: &'static str, _: &'static [&'static str], _: &mut Option<S>, _: Option<Wrong>) {
    }
    fn chosen<K: Kinds>(&mut self, _: &'static str, _: &mut K) {}
}

#[test]
fn a_kind_is_written_by_its_name() {
    let marks = Port::Marks(Marking::defaults(Preset::Linux));
    assert_eq!(Written::<Port>::value(from_value::<Name<Port>>(json!("marks")).unwrap()), marks);
    assert_eq!(serde_json::to_value([Name::of(&Port::Plain), Name::of(&marks)]).unwrap(), json!(["plain", "marks"]));
    let unknown = from_value::<Name<Port>>(json!("drops")).unwrap_err().to_string();
    assert!(unknown.contains("drops") && unknown.contains("`plain` or `marks`"), "{unknown}");
    let number = from_value::<Name<Port>>(json!(3)).unwrap_err().to_string();
    assert!(number.contains("expected one of plain, marks"), "{number}");
}

#[test]
fn the_schema_of_kinds_describes_each() {
    assert_eq!(Name::<Port>::schema_name(), "Port");
    let schema = Name::<Port>::json_schema(&mut SchemaGenerator::default()).to_value();
    let kinds = json!([
        { "const": "plain", "description": "Nothing at all." },
        { "const": "marks", "description": "It marks." },
    ]);
    assert_eq!(schema, json!({ "description": "What a port does with packets.", "oneOf": kinds }));
}

#[test]
fn only_some_kinds_have_settings() {
    assert_eq!(["plain", "marks", "drops"].map(Port::has_settings), [false, true, false]);
}

/// Derived values change only where the visitor wants them, whether the settings are gated or not.
#[test]
fn a_visitor_is_asked_what_to_derive_and_for_the_preset() {
    let to = |visit: &mut Shown, gated: bool| {
        let mut marking = Marking { from: 7, ..Marking::defaults(Preset::Linux) };
        match gated {
            true => marking.each(&mut Gated { visit, applies: true, condition: "" }),
            false => marking.each(visit),
        }
        marking.to
    };
    for gated in [false, true] {
        let mut shown = Shown { derives: true, ..Shown::default() };
        assert_eq!(to(&mut shown, gated), 14);
        assert_eq!(shown.keys, ["from", "to", "more"]);
        assert_eq!(to(&mut Shown::default(), gated), 0);
    }
    let mut marking = Marking { to: 3, ..Marking::defaults(Preset::Linux) };
    marking.each(&mut Silent);
    assert_eq!(marking.to, 3);
    assert_eq!(Silent.preset(), Preset::Linux);
}

#[test]
fn a_gate_shows_the_kinds_behind_it() {
    let mut shown = Shown::default();
    Gated { visit: &mut shown, applies: false, condition: "" }.chosen("port", &mut Port::Plain);
    assert_eq!(shown.keys, ["port"]);
}
