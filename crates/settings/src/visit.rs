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

/// Which transports a setting is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All, of any family.
    Any,
    /// TCP and MPTCP; the default.
    Tcp,
    /// NDP.
    Ndp,
    /// Transports with an algorithm that heeds marks.
    Marks,
    /// Transports with an algorithm for several subflows.
    Multipath,
    /// Transports with several subflows.
    Several,
    /// The same, but not MMPTCP, whose switch opens the subflows.
    Joins,
}

/// The declaration of a setting.
#[derive(Clone, Copy)]
pub struct Setting {
    /// As the file writes it.
    pub key: &'static str,
    /// Its documentation, line by line.
    pub doc: &'static [&'static str],
    /// Which transports it is for.
    pub scope: Scope,
    /// Where its value comes from if the file says none.
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

/// Where the value of a setting comes from if the file says none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fallback {
    /// From the preset.
    Preset,
    /// From other settings, as said here.
    From(&'static str),
    /// From nowhere: it must be said.
    Required,
}

/// The condition of a setting, as messages name it: "applies only to ...".
pub type Condition = &'static str;

/// A setting as the values of others make it.
#[derive(Debug)]
pub struct State {
    /// Does it apply, beside the other settings of its struct?
    pub applies: bool,
    /// The condition of the setting.
    pub condition: Option<Condition>,
    /// The error of its value, if it has one.
    pub wrong: Option<Wrong>,
}

/// Settings, declared by [`settings!`](crate::settings).
pub trait Settings: Sized {
    /// Their defaults.
    fn defaults(preset: Preset) -> Self;
    /// Shows each to `visit`, in the order of their declaration.
    fn each<V: Visit>(&mut self, visit: &mut V);
}

/// Settings that may stand in a table of their own.
pub trait Declared: Settings + Clone {
    /// The name of their struct.
    const NAME: &'static str;
    /// Its documentation, line by line.
    const ABOUT: &'static [&'static str];
}

/// An algorithm that has none.
impl Settings for () {
    fn defaults(_: Preset) {}
    fn each<V: Visit>(&mut self, _: &mut V) {}
}

/// Somebody who looks at settings one by one, and may change them.
pub trait Visit {
    /// Does the value of `key` follow from other settings now, if it has such a default?
    fn derives(&self, _key: &str) -> bool {
        false
    }

    /// `value` is that of `setting`, which a file writes as a `W`.
    fn setting<T, W: Written<T>>(&mut self, setting: &Setting, value: &mut T, state: State);

    /// `value` stands in the table `key`, if it is there; `wrong` is why that is a mistake.
    fn table<S: Declared>(
        &mut self,
        key: &'static str,
        doc: &'static [&'static str],
        value: &mut Option<S>,
        wrong: Option<Wrong>,
    );

    /// The settings of `value`, which the setting `key` names, stand in the table of its name.
    fn chosen<K: Kinds>(&mut self, key: &'static str, value: &mut K);

    /// The defaults of the choices of settings.
    fn preset(&self) -> Preset {
        Preset::Linux
    }
}

/// How a file writes a `T`.
pub trait Written<T>: Serialize + DeserializeOwned + JsonSchema {
    /// `value` as it is written.
    fn of(value: &T) -> Self;
    /// The value that is written.
    fn value(self) -> T;

    /// [`Written::of`], of a value that refers to something of the scenario by its name.
    fn with_names(value: &T, _names: &dyn Names) -> Self {
        Self::of(value)
    }

    /// [`Written::value`], of a value that refers to something of the scenario by its name.
    ///
    /// # Errors
    ///
    /// What is wrong with the names.
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

/// Kinds, declared by [`kinds!`](crate::kinds).
pub trait Kinds: Clone + 'static {
    /// The name of the enum.
    const TITLE: &'static str;
    /// Its documentation, line by line.
    const ABOUT: &'static [&'static str];
    /// The names of all kinds, as a file writes them.
    const NAMES: &'static [&'static str];

    /// The kind of this name, with its defaults.
    fn named(name: &str) -> Option<Self>;
    /// Its name.
    fn name(&self) -> &'static str;
    /// Shows its settings.
    fn each<V: Visit>(&mut self, visit: &mut V);
    /// Shows all kinds, in the order of their declaration.
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

    fn plain(&mut self, _: &'static str, _: &'static [&'static str]) {}
}

/// Somebody who looks at all kinds.
pub trait EachKind {
    /// A kind with settings.
    fn kind<S: Declared>(&mut self, name: &'static str, doc: &'static [&'static str]);
    /// A kind without.
    fn plain(&mut self, name: &'static str, doc: &'static [&'static str]);
}

/// Documentation in one line.
pub fn one_line(doc: &[&str]) -> String {
    doc.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
}

/// A whole struct of settings that depends on others.
#[derive(Debug)]
pub struct Gated<'v, V> {
    /// Who looks at them.
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
