//! The descriptions of all settings, for the JSON Schema and the reference page.

use std::sync::LazyLock;

use linkpool_network::Queue;
use linkpool_settings::{
    Declared, EachKind, Fallback, Kinds, Preset, Scope, Setting, Settings, State, Visit, Written, Wrong, one_line,
};
use linkpool_workload::WorkloadKind;
use serde::Serialize;

use crate::file::{CONTROL, DESCRIBED, LAYER, PRESET, topologies};
use crate::model::{Change, Control, Measure, Record, Routing, Scenario, Transport, Workload};
use crate::situation;

/// A setting, as it is described.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) setting: Setting,
    /// Its condition beside the algorithm.
    condition: Option<&'static str>,
    /// Its defaults, as TOML, of the presets "linux" and "paper-2013".
    defaults: [String; 2],
    /// The algorithms that have it, with their default settings.
    controls: Vec<Control>,
}

/// Every setting of transports, once, in the order of the declarations.
pub(crate) fn transport() -> Vec<Entry> {
    let mut all = Collector::default();
    for control in Control::all() {
        all.control = Some(control);
        for (i, preset) in [Preset::Linux, Preset::Paper2013].into_iter().enumerate() {
            all.preset = i;
            Transport::of(control, preset).each(&mut all);
        }
    }
    all.entries
}

/// The keys of all transports.
pub(crate) fn transport_keys() -> &'static [&'static str] {
    static KEYS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
        let own = transport().into_iter().map(|entry| entry.setting.key);
        ["preset", "control"].into_iter().chain(own).collect()
    });
    &KEYS
}

/// The names of the algorithms that `key` is for, or none if it is no key at all.
pub(crate) fn controls_with(key: &str) -> Option<String> {
    let entry = transport().into_iter().find(|entry| entry.setting.key == key)?;
    Some(names(entry.controls()))
}

fn names(controls: impl IntoIterator<Item = Control>) -> String {
    controls.into_iter().map(Control::name).collect::<Vec<_>>().join(", ")
}

impl Entry {
    fn controls(&self) -> Vec<Control> {
        situation::controls(self.setting.scope).filter(|control| self.controls.contains(control)).collect()
    }

    /// To which transports it applies.
    fn applies_to(&self) -> String {
        let to = match self.setting.scope {
            Scope::Multipath | Scope::Several => "several subflows".to_string(),
            Scope::Joins => "several subflows, not mmptcp".to_string(),
            Scope::Any => "all".to_string(),
            scope if scope == Scope::Tcp && self.controls().len() == Control::all().count() - 1 => "TCP".to_string(),
            _ => names(self.controls()),
        };
        self.condition.map_or(to.clone(), |condition| format!("{to}, with {condition}"))
    }

    /// In a sentence or two.
    pub(crate) fn sentence(&self) -> String {
        let [linux, paper] = &self.defaults;
        let default = if linux == paper { linux.clone() } else { format!("{linux}; paper-2013: {paper}") };
        let to = self.applies_to();
        let applies = if to == "all" { String::new() } else { format!(" Applies to {to}.") };
        format!("{}{applies} Default: {default}.", self.setting.text())
    }

    /// As a row of the reference page.
    fn row(&self) -> String {
        let [linux, paper] = &self.defaults;
        let text = self.setting.text();
        let text = text.strip_suffix('.').unwrap_or(&text);
        format!("| `{}` | `{linux}` | `{paper}` | {} | {text} |", self.setting.key, self.applies_to())
    }
}

#[derive(Default)]
struct Collector {
    control: Option<Control>,
    preset: usize,
    entries: Vec<Entry>,
}

impl Visit for Collector {
    fn setting<T, W: Written<T>>(&mut self, setting: &Setting, value: &mut T, state: State) {
        let at = self.entries.iter().position(|entry| entry.setting.key == setting.key).unwrap_or_else(|| {
            let (defaults, controls) = (Default::default(), Vec::new());
            self.entries.push(Entry { setting: *setting, condition: state.condition, defaults, controls });
            self.entries.len() - 1
        });
        let entry = &mut self.entries[at];
        // The defaults of NDP are its own, and are listed elsewhere.
        if entry.defaults[self.preset].is_empty() {
            entry.defaults[self.preset] = written(&W::of(value));
        }
        entry.controls.extend(self.control.filter(|control| !entry.controls.contains(control)));
    }

    fn table<S: Declared>(
        &mut self,
        key: &'static str,
        _: &'static [&'static str],
        _: &mut Option<S>,
        _: Option<Wrong>,
    ) {
        unreachable!("a transport has no table such as {key}");
    }

    fn chosen<K: Kinds>(&mut self, key: &'static str, _: &mut K) {
        unreachable!("a transport has no kinds such as those of {key}");
    }
}

/// A value as TOML; "none" for a missing one.
fn written(value: &impl Serialize) -> String {
    let value = serde_json::to_value(value).expect("a setting is a TOML value");
    // A whole number needs no fraction.
    let whole = value.as_f64().filter(|x| value.is_f64() && x.fract() == 0.0);
    if value.is_null() { "none".to_string() } else { whole.map_or(value.to_string(), |x| format!("{x}")) }
}

/// The default of a setting, whose `value` is that; none if it must be said.
pub(crate) fn default_of<T, W: Written<T>>(setting: &Setting, value: &T) -> Option<String> {
    match setting.fallback {
        Fallback::Preset => Some(written(&W::of(value))),
        Fallback::From(text) => Some(text.to_string()),
        Fallback::Required => None,
    }
}

/// The keys of a table.
#[derive(Debug, Default)]
pub(crate) struct KeysOf(pub(crate) Vec<&'static str>);

impl Visit for KeysOf {
    fn setting<T, W: Written<T>>(&mut self, setting: &Setting, _: &mut T, _: State) {
        self.0.push(setting.key);
    }

    fn table<S: Declared>(
        &mut self,
        key: &'static str,
        _: &'static [&'static str],
        _: &mut Option<S>,
        _: Option<Wrong>,
    ) {
        self.0.push(key);
    }

    fn chosen<K: Kinds>(&mut self, _: &'static str, _: &mut K) {
        self.0.extend(K::NAMES.iter().filter(|name| K::has_settings(name)));
    }
}

/// The rows of a page about a table: key, default, meaning; and the rows of the tables in it.
#[derive(Default)]
struct Rows {
    /// The prefix of the keys of an inner table.
    prefix: String,
    rows: Vec<String>,
    inner: Vec<String>,
}

impl Rows {
    fn of<S: Declared>(prefix: &str) -> Rows {
        let mut rows = Rows { prefix: prefix.to_string(), ..Rows::default() };
        S::defaults(Preset::Linux).each(&mut rows);
        rows
    }

    /// The table `key`, of which `when` says when it applies.
    fn inner<S: Declared>(&mut self, key: &str, when: &str, about: &str) {
        self.rows.push(format!("| `{}{key}` | none | {when}{about} |", self.prefix));
        self.inner.extend(Rows::of::<S>(&format!("{}{key}.", self.prefix)).rows);
    }
}

/// A sentence without its full stop, as a cell of a table ends.
fn cell(text: &str) -> &str {
    text.strip_suffix('.').unwrap_or(text)
}

impl Visit for Rows {
    fn setting<T, W: Written<T>>(&mut self, setting: &Setting, value: &mut T, state: State) {
        let default = match (setting.fallback, default_of::<T, W>(setting, value)) {
            (Fallback::Preset, Some(value)) if value != "none" => format!("`{value}`"),
            (_, Some(text)) => text,
            (_, None) => "required".to_string(),
        };
        let to = state.condition.map_or(String::new(), |to| format!("{to}: "));
        let (key, text) = (setting.key, setting.text());
        self.rows.push(format!("| `{}{key}` | {default} | {to}{} |", self.prefix, cell(&text)));
    }

    fn table<S: Declared>(
        &mut self,
        key: &'static str,
        doc: &'static [&'static str],
        _: &mut Option<S>,
        _: Option<Wrong>,
    ) {
        let about = one_line(doc);
        self.inner::<S>(key, "", cell(&about));
    }

    fn chosen<K: Kinds>(&mut self, key: &'static str, _: &mut K) {
        K::kinds(&mut ChosenRows { key, rows: self });
    }
}

/// The tables of kinds that the setting `key` names.
struct ChosenRows<'r> {
    key: &'static str,
    rows: &'r mut Rows,
}

impl EachKind for ChosenRows<'_> {
    fn kind<S: Declared>(&mut self, name: &'static str, _: &'static [&'static str]) {
        let (when, about) = (format!("with `{} = {name:?}`: ", self.key), one_line(S::ABOUT));
        self.rows.inner::<S>(name, &when, cell(&about));
    }

    fn plain(&mut self, _: &'static str, _: &'static [&'static str]) {}
}

/// Rows about kinds: of each its name, its keys, and its documentation; and a row about each key.
#[derive(Default)]
struct KindRows {
    kinds: Vec<String>,
    keys: Vec<String>,
}

impl EachKind for KindRows {
    fn kind<S: Declared>(&mut self, name: &'static str, doc: &'static [&'static str]) {
        let mut keys = KeysOf::default();
        S::defaults(Preset::Linux).each(&mut keys);
        let keys: Vec<String> = keys.0.iter().map(|key| format!("`{key}`")).collect();
        self.kinds.push(format!("| `{name}` | {} | {} |", keys.join(", "), cell(&one_line(doc))));
        self.keys.extend(Rows::of::<S>(&format!("{name}.")).rows);
    }

    fn plain(&mut self, name: &'static str, doc: &'static [&'static str]) {
        self.kinds.push(format!("| `{name}` | | {} |", cell(&one_line(doc))));
    }
}

/// All keys of a table, with the keys of the tables in it.
fn page<S: Declared>() -> String {
    let Rows { rows, inner, .. } = Rows::of::<S>("");
    format!("{HEAD}{}", rows.into_iter().chain(inner).collect::<Vec<_>>().join("\n"))
}

const HEAD: &str = "| key | default | meaning |\n|---|---|---|\n";

/// The part of the reference page that follows from declarations: the text between the marks `<!--
/// NAME -->` and `<!-- end -->`.
pub fn reference(name: &str) -> Option<String> {
    match name {
        "transport settings" => {
            let head = "| key | `linux` | `paper-2013` | applies to | meaning |\n|---|---|---|---|---|\n\
                        | `control` | required | required | all |";
            let rows = transport().iter().map(Entry::row).collect::<Vec<_>>().join("\n");
            Some(format!("{head} {CONTROL} |\n| `preset` | | | all | {PRESET} |\n{rows}"))
        }
        "queue settings" => {
            let rows = Rows::of::<Queue>("").rows.join("\n");
            Some(format!("{HEAD}{rows}\n| `layer` | none | {LAYER} |"))
        }
        "top" => {
            let table = |(key, required, doc): &(&str, bool, &[&str])| {
                let default = if *required { "required" } else { "none" };
                format!("| `{key}` | {default} | {} |", cell(&one_line(doc)))
            };
            let rows = Rows::of::<Scenario>("").rows.into_iter().chain(DESCRIBED.iter().map(table));
            Some(format!("{HEAD}{}", rows.collect::<Vec<_>>().join("\n")))
        }
        "measure" => Some(page::<Measure>()),
        "routing" => Some(page::<Routing>()),
        "change" => Some(page::<Change>()),
        "record" => Some(page::<Record>()),
        "workloads" => {
            let mut kinds = KindRows::default();
            WorkloadKind::kinds(&mut kinds);
            Some(format!("| kind | keys | flows |\n|---|---|---|\n{}", kinds.kinds.join("\n")))
        }
        "workload keys" => {
            let mut kinds = KindRows::default();
            WorkloadKind::kinds(&mut kinds);
            let Rows { rows, inner, .. } = Rows::of::<Workload>("");
            let all = rows.into_iter().chain(inner).chain(kinds.keys);
            Some(format!("{HEAD}{}", all.collect::<Vec<_>>().join("\n")))
        }
        "topologies" => {
            let mut kinds = KindRows::default();
            topologies(&mut kinds);
            Some(format!("| kind | keys | hosts and switches |\n|---|---|---|\n{}", kinds.kinds.join("\n")))
        }
        "topology keys" => {
            let mut kinds = KindRows::default();
            topologies(&mut kinds);
            Some(format!("{HEAD}{}", kinds.keys.join("\n")))
        }
        "queue tables" => Some(format!("{HEAD}{}", Rows::of::<Queue>("").inner.join("\n"))),
        "algorithms" => {
            let row = |c: Control| {
                let ecn = if c.heeds_marks() { "yes" } else { "no" };
                format!("| `{}` | {} | {} | {ecn} |", c.name(), c.sentence(), c.source())
            };
            let rows = Control::all().map(row).collect::<Vec<_>>().join("\n");
            Some(format!("| `control` | algorithm | source | ECN |\n|---|---|---|---|\n{rows}"))
        }
        _ => None,
    }
}
