//! The description of a setting, and the visitors that read it.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::bounds::Wrong;
use crate::names::Names;

/// A set of defaults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Preset {
    /// Linux of today.
    #[default]
    #[serde(rename = "linux")]
    Linux,
    /// The papers' simulations.
    #[serde(rename = "paper-2013")]
    Paper2013,
}

/// The transports that have a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// TCP and MPTCP, and families that name its key among theirs; the default.
    Tcp,
    /// The family of this name alone.
    Own(&'static str),
    /// Transports of these values of `control` alone, of a family other than TCP.
    Laws(&'static [&'static str]),
    /// The same with an algorithm that heeds marks.
    Marks,
    /// With an algorithm for several subflows.
    Multipath,
    /// With several subflows.
    Several,
    /// With several subflows except MMPTCP, whose switch opens the subflows.
    Joins,
}

/// The declaration of a setting.
#[derive(Clone, Copy)]
pub struct Setting {
    /// Its name in the file.
    pub key: &'static str,
    /// Its documentation, line by line.
    pub doc: &'static [&'static str],
    /// The transports that have it.
    pub scope: Scope,
    /// The source of its value if the file leaves it out.
    pub fallback: Fallback,
    /// The JSON Schema of its value.
    pub schema: fn(&mut SchemaGenerator) -> Schema,
}

impl fmt::Debug for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Setting").field("key", &self.key).finish_non_exhaustive()
    }
}

impl Setting {
    /// Its documentation in one line.
    pub fn text(&self) -> String {
        one_line(self.doc)
    }
}

/// The source of the value of a setting if the file leaves it out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fallback {
    /// From the preset.
    Preset,
    /// From other settings; the text says how.
    From(&'static str),
    /// There is none: the file must have the setting.
    Required,
}

/// The condition of a setting, as messages name it: "applies only to ...".
pub type Condition = &'static str;

/// The state of a setting, which depends on the values of other settings.
#[derive(Debug)]
pub struct State {
    /// Does it apply, given the other settings of its struct?
    pub applies: bool,
    /// The condition of the setting.
    pub condition: Option<Condition>,
    /// The error of its value alone, if it has one.
    pub wrong: Option<Wrong>,
    /// The error of its value beside those of other settings, if it has one.
    pub refused: Option<Wrong>,
}

/// Settings, declared by [`settings!`](crate::settings).
pub trait Settings: Sized {
    /// Their defaults.
    fn defaults(preset: Preset) -> Self;
    /// Calls `visit` for each setting, in the order of their declaration.
    fn each<V: Visit>(&mut self, visit: &mut V);
}

/// Settings that may stand in a table of their own.
pub trait Declared: Settings + Clone {
    /// The name of their struct.
    const NAME: &'static str;
    /// Its documentation, line by line.
    const ABOUT: &'static [&'static str];
}

/// For algorithms without settings.
impl Settings for () {
    fn defaults(_: Preset) {}
    fn each<V: Visit>(&mut self, _: &mut V) {}
}

/// A visitor of settings: it gets them one by one, and may change them.
pub trait Visit {
    /// Is the value of `key` to be derived from other settings, if its default follows from them?
    fn derives(&self, _key: &str) -> bool {
        false
    }

    /// Visits `setting` with its value, which a file writes as a `W`.
    fn setting<T, W: Written<T>>(&mut self, setting: &Setting, value: &mut T, state: State);

    /// Visits settings that stand in the table `key`, if there is one. `wrong` is the error of such
    /// a table.
    fn table<S: Declared>(
        &mut self,
        key: &'static str,
        doc: &'static [&'static str],
        value: &mut Option<S>,
        wrong: Option<Wrong>,
    );

    /// Visits the settings of the kind `value`, which the setting `key` names. They stand in the
    /// table of that name.
    fn chosen<K: Kinds>(&mut self, key: &'static str, value: &mut K);

    /// The preset, which sets the defaults.
    fn preset(&self) -> Preset {
        Preset::Linux
    }
}

/// The form in which a file writes a `T`.
pub trait Written<T>: Serialize + DeserializeOwned + JsonSchema {
    /// The form of `value`.
    fn of(value: &T) -> Self;
    /// The value of this form.
    fn value(self) -> T;

    /// [`Written::of`] for a value that refers to a part of the scenario by name.
    fn with_names(value: &T, _names: &dyn Names) -> Self {
        Self::of(value)
    }

    /// [`Written::value`] for a value that refers to a part of the scenario by name.
    ///
    /// # Errors
    ///
    /// The errors of the names.
    fn find(self, _names: &dyn Names) -> Result<T, Vec<Wrong>> {
        Ok(self.value())
    }
}

impl<T: Clone + Serialize + DeserializeOwned + JsonSchema> Written<T> for T {
    fn of(value: &T) -> T {
        value.clone()
    }
    fn value(self) -> T {
        self
    }
}

/// Kinds, declared by [`kinds!`](crate::kinds!).
pub trait Kinds: Clone + 'static {
    /// The name of the enum.
    const TITLE: &'static str;
    /// Its documentation, line by line.
    const ABOUT: &'static [&'static str];
    /// The names of all kinds in a file.
    const NAMES: &'static [&'static str];

    /// The kind of this name, with its defaults.
    fn named(name: &str) -> Option<Self>;
    /// Its name.
    fn name(&self) -> &'static str;
    /// Calls `visit` for each setting.
    fn each<V: Visit>(&mut self, visit: &mut V);
    /// Calls `each` for each kind, in the order of their declaration.
    fn kinds<W: EachKind>(each: &mut W);

    /// Has the kind of this name settings?
    fn has_settings(name: &str) -> bool {
        let mut all = WithSettings(Vec::new());
        Self::kinds(&mut all);
        all.0.contains(&name)
    }
}

/// The names of kinds with settings.
struct WithSettings(Vec<&'static str>);

impl EachKind for WithSettings {
    fn kind<S: Declared>(&mut self, name: &'static str, _: &'static [&'static str]) {
        self.0.push(name);
    }
}

/// A visitor of kinds.
pub trait EachKind {
    /// A kind with settings.
    fn kind<S: Declared>(&mut self, name: &'static str, doc: &'static [&'static str]);
    /// A kind without settings.
    fn plain(&mut self, _name: &'static str, _doc: &'static [&'static str]) {}
}

/// Documentation in one line.
pub fn one_line(doc: &[&str]) -> String {
    doc.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
}

/// A visitor of the settings that one family of transports alone has.
#[derive(Debug)]
pub struct OfFamily<'v, V> {
    /// The visitor of these settings.
    pub visit: &'v mut V,
    /// The name of the family.
    pub family: &'static str,
}

impl<V: Visit> Visit for OfFamily<'_, V> {
    fn derives(&self, key: &str) -> bool {
        self.visit.derives(key)
    }

    fn setting<T, W: Written<T>>(&mut self, setting: &Setting, value: &mut T, state: State) {
        let scope = if let Scope::Laws(_) = setting.scope { setting.scope } else { Scope::Own(self.family) };
        let own = Setting { scope, ..*setting };
        self.visit.setting::<T, W>(&own, value, state);
    }

    fn table<S: Declared>(
        &mut self,
        key: &'static str,
        doc: &'static [&'static str],
        value: &mut Option<S>,
        wrong: Option<Wrong>,
    ) {
        self.visit.table(key, doc, value, wrong);
    }

    fn chosen<K: Kinds>(&mut self, key: &'static str, value: &mut K) {
        self.visit.chosen(key, value);
    }

    fn preset(&self) -> Preset {
        self.visit.preset()
    }
}

/// A visitor of a struct of settings that some laws of a family alone have.
#[derive(Debug)]
pub struct OfLaws<'v, V> {
    /// The visitor of these settings.
    pub visit: &'v mut V,
    /// The values of `control` that have them.
    pub laws: &'static [&'static str],
}

impl<V: Visit> Visit for OfLaws<'_, V> {
    fn derives(&self, key: &str) -> bool {
        self.visit.derives(key)
    }

    fn setting<T, W: Written<T>>(&mut self, setting: &Setting, value: &mut T, state: State) {
        let own = Setting { scope: Scope::Laws(self.laws), ..*setting };
        self.visit.setting::<T, W>(&own, value, state);
    }

    fn table<S: Declared>(
        &mut self,
        key: &'static str,
        doc: &'static [&'static str],
        value: &mut Option<S>,
        wrong: Option<Wrong>,
    ) {
        self.visit.table(key, doc, value, wrong);
    }

    fn chosen<K: Kinds>(&mut self, key: &'static str, value: &mut K) {
        self.visit.chosen(key, value);
    }

    fn preset(&self) -> Preset {
        self.visit.preset()
    }
}

/// A visitor of a struct of settings that applies only under a condition.
#[derive(Debug)]
pub struct Gated<'v, V> {
    /// The visitor of these settings.
    pub visit: &'v mut V,
    /// Do they apply?
    pub applies: bool,
    /// The condition of the setting.
    pub condition: Condition,
}

impl<V: Visit> Visit for Gated<'_, V> {
    fn derives(&self, key: &str) -> bool {
        self.visit.derives(key)
    }

    fn setting<T, W: Written<T>>(&mut self, setting: &Setting, value: &mut T, state: State) {
        let of_struct = !self.applies || state.condition.is_none();
        let condition = if of_struct { Some(self.condition) } else { state.condition };
        self.visit.setting::<T, W>(
            setting,
            value,
            State { applies: self.applies && state.applies, condition, ..state },
        );
    }

    fn table<S: Declared>(
        &mut self,
        key: &'static str,
        doc: &'static [&'static str],
        value: &mut Option<S>,
        wrong: Option<Wrong>,
    ) {
        self.visit.table(key, doc, value, wrong);
    }

    fn chosen<K: Kinds>(&mut self, key: &'static str, value: &mut K) {
        self.visit.chosen(key, value);
    }

    fn preset(&self) -> Preset {
        self.visit.preset()
    }
}
