//! Reads settings from the table that they stand in, and checks them.

use linkpool_settings::{Declared, Fallback, Kinds, Names, Preset, Setting, Settings, State, Visit, Written, Wrong};

use super::section::Section;
use crate::descriptions::controls_with;
use crate::file::{keys, keys_of, workload_keys};
use crate::model::Workload;
use crate::situation::{Situation, Unmet};

/// Gives `settings` the values that the table says. It may have `others` as keys, too.
pub(super) fn read<S: Declared>(
    settings: &mut S,
    others: &[&'static str],
    names: &dyn Names,
    section: &mut Section<'_, '_>,
) {
    section.refuse_unknown(&[&keys::<S>()[..], others].concat());
    settings.each(&mut Reader { section, names, preset: Preset::Linux });
    settings.each(&mut Deriver { section });
}

/// The same of a kind.
pub(super) fn read_kind<K: Kinds>(kind: &mut K, names: &dyn Names, section: &mut Section<'_, '_>) {
    section.refuse_unknown(&keys_of(kind));
    kind.each(&mut Reader { section, names, preset: Preset::Linux });
    kind.each(&mut Deriver { section });
}

/// The same of a workload.
pub(super) fn read_workload(workload: &mut Workload, names: &dyn Names, section: &mut Section<'_, '_>) {
    section.refuse_unknown(&workload_keys(&workload.kind));
    workload.each_setting(&mut Reader { section, names, preset: Preset::Linux });
    workload.each_setting(&mut Deriver { section });
    workload.each_setting(&mut TableChecker { section });
}

/// The settings of the table `key`, read and checked; those by default if there is none.
pub(super) fn table<S: Declared>(key: &str, names: &dyn Names, section: &mut Section<'_, '_>) -> S {
    let mut settings = S::defaults(Preset::Linux);
    if section.has(key) {
        section.within(key, |section| {
            read(&mut settings, &[], names, section);
            check(&mut settings, section);
        });
    }
    settings
}

/// Checks the settings of a kind.
pub(super) fn check_kind<K: Kinds>(kind: &mut K, section: &mut Section<'_, '_>) {
    kind.each(&mut TableChecker { section });
}

/// Checks that each setting is within its bounds and, where it is written, applies.
pub(super) fn check<S: Settings>(settings: &mut S, section: &mut Section<'_, '_>) {
    settings.each(&mut TableChecker { section });
}

/// Gives each setting the value that the table says, if it does.
pub(super) struct Reader<'a, 's, 'r> {
    pub(super) section: &'a mut Section<'s, 'r>,
    pub(super) names: &'a dyn Names,
    pub(super) preset: Preset,
}

impl Visit for Reader<'_, '_, '_> {
    fn derives(&self, key: &str) -> bool {
        !self.section.has(key)
    }

    fn setting<T, W: Written<T>>(&mut self, setting: &Setting, value: &mut T, _: State) {
        if self.section.has(setting.key) {
            match self.section.read::<W>(setting.key).map(|written| written.find(self.names)) {
                Some(Ok(found)) => *value = found,
                Some(Err(wrong)) => wrong.into_iter().for_each(|wrong| refuse(setting.key, Some(wrong), self.section)),
                None => {}
            }
        } else if setting.fallback == Fallback::Required {
            let example = serde_json::to_string(&W::with_names(value, self.names)).expect("a setting is a TOML value");
            self.section.error(setting.key, format!("missing; write for example {} = {example}", setting.key));
        }
    }

    /// A separate table has the defaults for the keys that it leaves out, whatever was there
    /// before.
    fn table<S: Declared>(
        &mut self,
        key: &'static str,
        _: &'static [&'static str],
        value: &mut Option<S>,
        _: Option<Wrong>,
    ) {
        if self.section.has(key) {
            let mut inner = S::defaults(self.preset);
            if self.section.within(key, |section| read(&mut inner, &[], self.names, section)).is_some() {
                *value = Some(inner);
            }
        }
    }

    fn chosen<K: Kinds>(&mut self, _: &'static str, value: &mut K) {
        let name = value.name();
        if K::has_settings(name) && self.section.has(name) {
            *value = K::named(name).expect("it has this name");
            self.section.within(name, |section| read_kind(value, self.names, section));
        }
    }

    fn preset(&self) -> Preset {
        self.preset
    }
}

/// Derives settings again, as defaults may follow from settings that stand further down.
struct Deriver<'a, 's, 'r> {
    section: &'a Section<'s, 'r>,
}

impl Visit for Deriver<'_, '_, '_> {
    fn derives(&self, key: &str) -> bool {
        !self.section.has(key)
    }

    fn setting<T, W: Written<T>>(&mut self, _: &Setting, _: &mut T, _: State) {}

    fn table<S: Declared>(&mut self, _: &'static str, _: &'static [&'static str], _: &mut Option<S>, _: Option<Wrong>) {
    }

    fn chosen<K: Kinds>(&mut self, _: &'static str, _: &mut K) {}
}

/// Checks the settings of a table.
struct TableChecker<'a, 's, 'r> {
    section: &'a mut Section<'s, 'r>,
}

impl Visit for TableChecker<'_, '_, '_> {
    fn setting<T, W: Written<T>>(&mut self, setting: &Setting, _: &mut T, state: State) {
        if let (false, Some(to)) = (state.applies, state.condition) {
            let written = self.section.has(setting.key);
            self.section.check(!written, setting.key, format!("applies only to {to}; leave it out"));
        } else {
            refuse_setting(setting, state, self.section);
        }
    }

    fn table<S: Declared>(
        &mut self,
        key: &'static str,
        _: &'static [&'static str],
        value: &mut Option<S>,
        wrong: Option<Wrong>,
    ) {
        if let Some(inner) = value.as_mut().filter(|_| self.section.has(key)) {
            self.section.within(key, |section| check(inner, section));
        }
        refuse(key, wrong.filter(|_| self.section.is_read()), self.section);
    }

    fn chosen<K: Kinds>(&mut self, key: &'static str, value: &mut K) {
        for name in K::NAMES.iter().filter(|name| K::has_settings(name)) {
            let written = self.section.has(name);
            if written && *name == value.name() {
                self.section.within(name, |section| check_kind(value, section));
            } else {
                self.section.check(!written, name, format!("applies with {key} = {name:?}; leave it out"));
            }
        }
    }
}

/// An error about a setting that is wrong. A default that follows from a wrong value is no mistake
/// of its own, nor is a value that goes ill with one that could not be read.
fn refuse_setting(setting: &Setting, state: State, section: &mut Section<'_, '_>) {
    if setting.fallback == Fallback::Preset || section.is_good() || section.has(setting.key) {
        refuse(setting.key, state.wrong.or(state.refused.filter(|_| section.is_read())), section);
    }
}

/// An error about `key`, or an element of it, if something is wrong.
fn refuse(key: &str, wrong: Option<Wrong>, section: &mut Section<'_, '_>) {
    if let Some(Wrong { at, message }) = wrong {
        if message.is_empty() {
            return section.doubt();
        }
        section.error(&at.map_or(key.to_string(), |at| format!("{key}.{at}")), message);
    }
}

/// Checks that each setting is within its bounds and, where it is written, applies.
pub(super) struct Checker<'a, 's, 'r> {
    pub(super) section: &'a mut Section<'s, 'r>,
    /// Of the transport; none if that is unknown.
    pub(super) situation: Option<Situation>,
    /// The transport's algorithm, as messages name it.
    pub(super) algorithm: String,
    /// The keys that there are for it.
    pub(super) keys: Vec<&'static str>,
}

impl Visit for Checker<'_, '_, '_> {
    fn setting<T, W: Written<T>>(&mut self, setting: &Setting, _: &mut T, state: State) {
        let key = setting.key;
        self.keys.push(key);
        if let Some(situation) = self.situation.filter(|_| self.section.has(key)) {
            let condition = state.condition.filter(|_| !state.applies);
            match situation.unmet(setting).or(condition.map(Unmet::Only)) {
                Some(Unmet::Algorithm) => self.refuse(key),
                Some(Unmet::Only(to)) => self.section.error(key, format!("applies only to {to}; leave it out")),
                None => {}
            }
        }
        refuse_setting(setting, state, self.section);
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

impl Checker<'_, '_, '_> {
    /// Keys that the table has and the algorithm has not.
    pub(super) fn check_others(&mut self) {
        if self.situation.is_none() {
            return;
        }
        for key in self.section.keys() {
            if !self.keys.contains(&key.as_str()) {
                self.refuse(&key);
            }
        }
    }

    fn refuse(&mut self, key: &str) {
        // Unknown keys have been reported.
        let Some(others) = controls_with(key) else { return };
        // A single path is one subflow.
        if !(key == "subflows" && self.section.is(key, 1)) {
            let message = format!("does not apply to {}, only to {others}; leave it out", self.algorithm);
            self.section.error(key, message);
        }
    }
}
