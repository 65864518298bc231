//! Reads settings from the table that they stand in, and checks them.

use linkpool_settings::{Fallback, Preset, Setting, State, Visit, Written};

use super::section::Section;
use crate::reference::controls_with;
use crate::situation::{Situation, Unmet};

/// Gives each setting the value that the table says, if it does.
pub(super) struct Reader<'a, 's, 'r> {
    pub(super) section: &'a mut Section<'s, 'r>,
    pub(super) preset: Preset,
}

impl Visit for Reader<'_, '_, '_> {
    const READS: bool = true;

    fn setting<T, W: Written<T>>(&mut self, setting: &Setting, value: &mut T, _: State) {
        if self.section.has(setting.key) {
            if let Some(written) = self.section.read::<W>(setting.key) {
                *value = written.value();
            }
        } else if setting.fallback == Fallback::Required {
            let example = serde_json::to_string(&W::of(value)).expect("a setting is a TOML value");
            self.section.error(setting.key, format!("missing; write for example {} = {example}", setting.key));
        }
    }

    fn preset(&self) -> Preset {
        self.preset
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
            match situation.unmet(setting.scope).or(condition.map(Unmet::Only)) {
                Some(Unmet::Algorithm) => self.refuse(key),
                Some(Unmet::Only(to)) => self.section.error(key, format!("applies only to {to}; leave it out")),
                None => {}
            }
        }
        if let Some(wrong) = state.wrong {
            self.section.error(key, wrong);
        }
    }
}

impl Checker<'_, '_, '_> {
    /// Keys that the table has and the algorithm has not.
    pub(super) fn check_others(&mut self) {
        if self.situation.is_none() {
            return;
        }
        let node = self.section.node();
        let written: Vec<String> = node.into_iter().flat_map(|node| node.keys().map(str::to_string)).collect();
        for key in written {
            if !self.keys.contains(&key.as_str()) {
                self.refuse(&key);
            }
        }
    }

    fn refuse(&mut self, key: &str) {
        // What is no key at all has been reported.
        let Some(others) = controls_with(key) else { return };
        // One subflow is what a single path is.
        if !(key == "subflows" && self.section.is(key, 1)) {
            let message = format!("does not apply to {}, only to {others}; leave it out", self.algorithm);
            self.section.error(key, message);
        }
    }
}
