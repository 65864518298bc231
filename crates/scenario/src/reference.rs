//! The parts of the reference pages that follow from declarations: of docs/scenario.md and of the
//! pages in docs/scenario/, docs/topologies/ and docs/workloads/.

use linkpool_network::{Queue, QueueClass, Spreading};
use linkpool_settings::{Declared, EachKind, Fallback, Kinds, Preset, Setting, State, Visit, Written, Wrong, one_line};
use linkpool_workload::WorkloadKind;

use crate::descriptions::{Entry, KeysOf, default_of, transport};
use crate::file::{CLASS, DESCRIBED, LAYER, PRESET, control_text, topologies};
use crate::model::{Change, Control, Measure, Nic, Record, Routing, Scenario, SlowHost, Workload};

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
}

/// Rows about kinds: of each its name, which leads to its page in `folder`, its keys, and its
/// documentation.
struct KindRows {
    folder: &'static str,
    rows: Vec<String>,
}

impl EachKind for KindRows {
    fn kind<S: Declared>(&mut self, name: &'static str, doc: &'static [&'static str]) {
        let mut keys = KeysOf::default();
        S::defaults(Preset::Linux).each(&mut keys);
        let keys: Vec<String> = keys.0.iter().map(|key| format!("`{key}`")).collect();
        let (folder, keys) = (self.folder, keys.join(", "));
        self.rows.push(format!("| [`{name}`]({folder}/{name}.md) | {keys} | {} |", cell(&one_line(doc))));
    }
}

/// The keys of one kind, for its own page.
struct KeysOfKind<'n> {
    kind: &'n str,
    page: Option<String>,
}

impl EachKind for KeysOfKind<'_> {
    fn kind<S: Declared>(&mut self, name: &'static str, _: &'static [&'static str]) {
        if name == self.kind {
            self.page = Some(page::<S>());
        }
    }
}

/// Rows about kinds: of each its name and its documentation.
struct Sentences(Vec<String>);

impl EachKind for Sentences {
    fn kind<S: Declared>(&mut self, name: &'static str, doc: &'static [&'static str]) {
        self.plain(name, doc);
    }

    fn plain(&mut self, name: &'static str, doc: &'static [&'static str]) {
        self.0.push(format!("| `{name}` | {} |", cell(&one_line(doc))));
    }
}

/// All keys of a table, with the keys of the tables in it.
fn page<S: Declared>() -> String {
    let Rows { rows, inner, .. } = Rows::of::<S>("");
    format!("{HEAD}{}", rows.into_iter().chain(inner).collect::<Vec<_>>().join("\n"))
}

const HEAD: &str = "| key | default | meaning |\n|---|---|---|\n";

/// The part of a reference page that follows from declarations: the text between the marks `<!--
/// NAME -->` and `<!-- end -->`. Links in it begin at `docs/`. `topology.KIND` and `workload.KIND`
/// are the keys of a kind.
pub fn reference(name: &str) -> Option<String> {
    if let Some((table @ ("topology" | "workload"), kind)) = name.split_once('.') {
        let mut keys = KeysOfKind { kind, page: None };
        match table {
            "topology" => topologies(&mut keys),
            _ => WorkloadKind::kinds(&mut keys),
        }
        return keys.page;
    }
    match name {
        "transport settings" => {
            let head = "| key | `linux` | `paper-2013` | applies to | meaning |\n|---|---|---|---|---|\n\
                        | `control` | required | required | all |";
            let control = control_text();
            let rows = transport().iter().map(Entry::row).collect::<Vec<_>>().join("\n");
            Some(format!("{head} {control} |\n| `preset` | | | all | {PRESET} |\n{rows}"))
        }
        "queue settings" => {
            let rows = Rows::of::<Queue>("").rows.join("\n");
            Some(format!("{HEAD}{rows}\n| `class` | none | {CLASS} |\n| `layer` | none | {LAYER} |"))
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
        "routing kinds" => {
            let mut kinds = Sentences(Vec::new());
            Spreading::kinds(&mut kinds);
            Some(format!("| `kind` | a switch chooses |\n|---|---|\n{}", kinds.0.join("\n")))
        }
        "change" => Some(page::<Change>()),
        "queue class" => Some(page::<QueueClass>()),
        "nic" => Some(page::<Nic>()),
        "slow_host" => Some(page::<SlowHost>()),
        "record" => Some(page::<Record>()),
        "workloads" => {
            let mut kinds = KindRows { folder: "workloads", rows: Vec::new() };
            WorkloadKind::kinds(&mut kinds);
            Some(format!("| kind | keys | flows |\n|---|---|---|\n{}", kinds.rows.join("\n")))
        }
        "workload keys" => Some(page::<Workload>()),
        "topologies" => {
            let mut kinds = KindRows { folder: "topologies", rows: Vec::new() };
            topologies(&mut kinds);
            Some(format!("| kind | keys | hosts and switches |\n|---|---|---|\n{}", kinds.rows.join("\n")))
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
